"""The spotlight linker against a loopback server that speaks Spotlight's protocol."""

from __future__ import annotations

import contextlib
import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from srtk_plugin_dbpedia.offsets import span
from srtk_plugin_dbpedia.spotlight import SpotlightLimits, SpotlightLinker
from srtk_plugin_sparql.vocabulary import Ids
from srtk_plugin_web import (
    CircuitOpenError,
    DeadlineError,
    MalformedError,
    PartialError,
    RefusedError,
    RequestError,
    ThrottledError,
    UnavailableError,
)

from srtk_framework.testing import EntityLinkerConformance
from srtk_framework.values import DriverError

RESOURCE = "http://dbpedia.org/resource/"
QUICK = SpotlightLimits(per_second=1000.0, burst=100, wait=0.01, wait_most=0.02, deadline=5.0)
TITLES: dict[str, list[tuple[str, str]]] = {
    "Riga": [("Riga", "0.9"), ("Riga_(album)", "0.0731")],
    "Café": [("Caf%C3%A9", "1.0")],
    "AC/DC": [("AC/DC", "NaN")],
    "100% Love": [("100%25_Love", "7.5E-1")],
    "الرياض": [("Riyadh", "0.5")],
    "ha\u0301kata": [("Hakata-ku,_Fukuoka", "0.8")],
}


def units(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def spotted(text: str) -> list[tuple[str, int]]:
    return sorted(
        ((name, units(text[: found.start()])) for name in TITLES for found in re.finditer(re.escape(name), text)),
        key=lambda item: item[1],
    )


def annotate(text: str) -> dict[str, Any]:
    resources = [
        {
            "@URI": RESOURCE + TITLES[name][0][0],
            "@support": "10",
            "@types": "",
            "@surfaceForm": name,
            "@offset": str(offset),
            "@similarityScore": TITLES[name][0][1],
            "@percentageOfSecondRank": "1.0E-3",
        }
        for name, offset in spotted(text)
    ]
    head: dict[str, Any] = {"@text": text, "@confidence": "0.5", "@policy": "whitelist"}
    return head | ({"Resources": resources} if resources else {})


def candidates(text: str) -> dict[str, Any]:
    def one_or_all(items: list[Any]) -> Any:
        return items[0] if len(items) == 1 else items

    forms = [
        {
            "@name": name,
            "@offset": str(offset),
            "resource": one_or_all(
                [{"@label": uri, "@uri": uri, "@finalScore": score, "@types": ""} for uri, score in TITLES[name]]
            ),
        }
        for name, offset in spotted(text)
    ]
    return {"annotation": {"@text": text} | ({"surfaceForm": one_or_all(forms)} if forms else {})}


Answer = tuple[int, dict[str, str], bytes]


class Server:
    """Answers as Spotlight does, or as planned; remembers what it was asked."""

    def __init__(self) -> None:
        self.plan: list[Answer | Callable[[], Answer]] = []
        self.seen: list[tuple[str, dict[str, str], dict[str, str]]] = []
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                form = {key: values[0] for key, values in parse_qs(body.decode(), keep_blank_values=True).items()}
                status, headers, answer = server.answer(
                    self.path, form, {key.lower(): value for key, value in self.headers.items()}
                )
                self.send_response(status)
                for name, value in {"Content-Length": str(len(answer)), **headers}.items():
                    self.send_header(name, value)
                with contextlib.suppress(OSError):  # who waited too long is gone
                    self.end_headers()
                    self.wfile.write(answer)

            def log_message(self, *_: object) -> None:
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}/en"
        threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True).start()

    def answer(self, path: str, form: dict[str, str], headers: dict[str, str]) -> Answer:
        self.seen.append((path, form, headers))
        if self.plan:
            planned = self.plan.pop(0)
            return planned() if callable(planned) else planned
        made = (annotate if path.endswith("/annotate") else candidates)(form["text"])
        return 200, {"Content-Type": "application/json;charset=utf-8"}, json.dumps(made).encode()

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()


@pytest.fixture
def server() -> Iterator[Server]:
    running = Server()
    yield running
    running.close()


@pytest.fixture
def opened(server: Server) -> Iterator[Callable[..., SpotlightLinker]]:
    made: list[SpotlightLinker] = []

    def make(**settings: Any) -> SpotlightLinker:
        linker = SpotlightLinker(**{"endpoint": server.url, "limits": QUICK, **settings})
        linker.open()
        made.append(linker)
        return linker

    yield make
    for linker in made:
        linker.close()


class TestSpotlight(EntityLinkerConformance):
    name = "spotlight"

    @pytest.fixture
    def driver(self, opened: Callable[..., SpotlightLinker]) -> SpotlightLinker:
        return opened()

    @pytest.fixture
    def faulty(self) -> SpotlightLinker:
        return SpotlightLinker(endpoint="ftp://example.org")


class TestSpotlightCandidates(EntityLinkerConformance):
    name = "spotlight"

    @pytest.fixture
    def driver(self, opened: Callable[..., SpotlightLinker]) -> SpotlightLinker:
        return opened(n_best=3)

    @pytest.fixture
    def faulty(self) -> SpotlightLinker:
        return SpotlightLinker(endpoint="http://127.0.0.1:9", n_best=3, limits=SpotlightLimits(attempts=1))


def test_annotate_is_asked_with_the_settings_and_its_answer_becomes_links(
    server: Server, opened: Callable[..., SpotlightLinker]
) -> None:
    linker = opened(confidence=0.3, support=5, types=["DBpedia:Place", "DBpedia:City"], policy="blacklist")
    (link,) = linker.link(["Is Riga old?"])[0]
    assert (link.entity, link.score, link.start, link.end, link.name) == ("dbr:Riga", 0.9, 3, 7, "Riga")
    path, form, headers = server.seen[0]
    assert path == "/en/annotate"
    assert form == {
        "text": "Is Riga old?",
        "confidence": "0.3",
        "support": "5",
        "types": "DBpedia:Place,DBpedia:City",
        "policy": "blacklist",
    }
    assert headers["accept"] == "application/json"
    assert "srtk" in headers["user-agent"]


def test_a_sparql_filter_is_passed_on(server: Server, opened: Callable[..., SpotlightLinker]) -> None:
    opened(sparql="SELECT ?x WHERE { ?x a dbo:City }").link(["Riga"])
    assert server.seen[0][1]["sparql"] == "SELECT ?x WHERE { ?x a dbo:City }"
    assert server.seen[0][1]["policy"] == "whitelist"


def test_n_best_asks_candidates_and_keeps_so_many_per_span(
    server: Server, opened: Callable[..., SpotlightLinker]
) -> None:
    links = opened(n_best=2).link(["Riga and Café"])[0]
    assert [(link.entity, link.score) for link in links] == [
        ("dbr:Riga", 0.9),
        ("dbr:Riga_(album)", 0.0731),
        ("dbr:Café", 1.0),
    ]
    assert server.seen[0][0] == "/en/candidates"


def test_an_answer_without_resources_is_nothing_found(opened: Callable[..., SpotlightLinker]) -> None:
    assert opened().link(["Who wrote this?"]) == [[]]
    assert opened(n_best=2).link(["Who wrote this?"]) == [[]]


def test_a_text_of_blanks_is_not_sent(server: Server, opened: Callable[..., SpotlightLinker]) -> None:
    assert opened().link(["", " \n"]) == [[], []]
    assert server.seen == []


@pytest.mark.parametrize(
    ("text", "entity"),
    [
        ("Café", "dbr:Café"),
        ("AC/DC", "dbr:AC/DC"),
        ("100% Love", "dbr:100%25_Love"),
    ],
)
def test_ids_are_those_of_the_dbpedia_graph(text: str, entity: str, opened: Callable[..., SpotlightLinker]) -> None:
    from srtk_plugin_dbpedia.vocabulary import vocabulary

    for linker in (opened(), opened(n_best=2)):
        (link,) = linker.link([text])[0]
        assert link.entity == entity
    ids = Ids(vocabulary(("ontology",), ("en",)))
    assert ids.iri(entity) is not None


def test_entities_of_another_edition_keep_their_iri(server: Server, opened: Callable[..., SpotlightLinker]) -> None:
    told = {"annotation": {"surfaceForm": {"@name": "Köln", "@offset": "0", "resource": {"@uri": "K%C3%B6ln"}}}}
    told["annotation"]["surfaceForm"]["resource"]["@finalScore"] = "0.7"  # type: ignore[index]
    server.plan = [(200, {"Content-Type": "application/json"}, json.dumps(told).encode())]
    assert opened(language="de", n_best=2).link(["Köln"])[0][0].entity == "http://de.dbpedia.org/resource/Köln"


def test_the_public_endpoint_is_that_of_the_language() -> None:
    assert "https://api.dbpedia-spotlight.org/de" in SpotlightLinker(language="de").fingerprint()


def test_a_score_that_is_no_number_counts_least(opened: Callable[..., SpotlightLinker]) -> None:
    assert opened().link(["AC/DC"])[0][0].score == 0.0001
    assert opened(min_score=0.1).link(["AC/DC"]) == [[]]


@pytest.mark.parametrize(
    ("before", "name"),
    [("👩‍🚀🇱🇻 to ", "Riga"), ("e\u0301a\u0308 ", "ha\u0301kata"), ("אני גר ב", "الرياض"), ("\U0001d50a", "Café")],
)
def test_spans_are_characters_also_after_emoji_marks_and_right_to_left_text(
    before: str, name: str, opened: Callable[..., SpotlightLinker]
) -> None:
    text = f"{before}{name} 😀?"
    (link,) = opened().link([text])[0]
    assert text[link.start : link.end] == name


@given(st.text(max_size=12), st.text(st.characters(codec="utf-8"), min_size=1, max_size=5), st.text(max_size=5))
def test_utf16_offsets_lead_to_the_mention_in_any_text(before: str, name: str, after: str) -> None:
    text = before + name + after
    found = span(text, units(before), name)
    if name.strip():
        assert found is not None
        start, end = found
        assert text[start:end] == name.strip()
        assert start == len(before) + len(name) - len(name.lstrip())
    else:
        assert found is None


def test_a_mention_that_was_composed_on_the_way_has_the_span_of_the_original() -> None:
    text = "in ha\u0301kata"
    assert span(text, 3, "hákata") == (3, len(text))


def test_a_mention_that_the_text_lacks_has_no_span(server: Server, opened: Callable[..., SpotlightLinker]) -> None:
    told = annotate("Riga")
    told["Resources"][0]["@surfaceForm"] = "Rome"
    server.plan = [(200, {"Content-Type": "application/json"}, json.dumps(told).encode())]
    (link,) = opened().link(["Riga"])[0]
    assert (link.start, link.end) == (None, None)


JSON = {"Content-Type": "application/json"}


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        ((401, {}, b"who are you"), RefusedError),
        ((403, {}, b"no"), RefusedError),
        ((301, {"Location": "https://example.org/"}, b""), RefusedError),
        ((400, {}, b"no text"), RequestError),
        ((429, {"Retry-After": "0"}, b""), ThrottledError),
        ((500, {}, b"oops"), UnavailableError),
        ((503, {}, b"<html>down</html>"), UnavailableError),
        ((504, {}, b""), DeadlineError),
        ((200, JSON, b""), MalformedError),
        ((200, {"Content-Type": "text/html"}, b"<html>hello</html>"), MalformedError),
        ((200, JSON, b'{"@text": "Ri'), PartialError),
        ((200, JSON, b"[]"), MalformedError),
        ((200, JSON, b'{"error": "x"}'), MalformedError),
        ((200, JSON, b'{"@text": "x", "Resources": [{"@URI": "y"}]}'), MalformedError),
        ((200, JSON, b'{"@text": "x", "Resources": ["y"]}'), MalformedError),
    ],
)
def test_what_is_no_answer_is_an_error_that_says_so(
    answer: Answer, error: type[RequestError], server: Server, opened: Callable[..., SpotlightLinker]
) -> None:
    server.plan = [answer] * QUICK.attempts
    with pytest.raises(error) as caught:
        opened().link(["Riga"])
    assert server.url in str(caught.value)
    assert len(server.seen) == (QUICK.attempts if error.transient else 1)


@pytest.mark.parametrize("told", [b"{}", b'{"annotation": "none"}', b'{"annotation": {"surfaceForm": [1]}}'])
def test_what_are_no_candidates_is_an_error(
    told: bytes, server: Server, opened: Callable[..., SpotlightLinker]
) -> None:
    server.plan = [(200, JSON, told)] * QUICK.attempts
    with pytest.raises(MalformedError, match="candidates"):
        opened(n_best=2).link(["Riga"])


def test_a_server_that_asks_to_wait_is_waited_for(server: Server, opened: Callable[..., SpotlightLinker]) -> None:
    server.plan = [(429, {"Retry-After": "0"}, b""), (503, {"Retry-After": "0"}, b"")]
    assert opened().link(["Riga"])[0][0].entity == "dbr:Riga"
    assert len(server.seen) == 3


def test_a_server_that_is_too_slow_is_given_up(server: Server, opened: Callable[..., SpotlightLinker]) -> None:
    def late() -> Answer:
        time.sleep(0.5)
        return 200, JSON, b"{}"

    server.plan = [late]
    limits = SpotlightLimits(deadline=0.1, attempts=1)
    with pytest.raises(DeadlineError, match=r"0\.1 s"):
        opened(limits=limits).link(["Riga"])


def test_a_server_that_is_down_is_left_alone_after_some_failures(opened: Callable[..., SpotlightLinker]) -> None:
    limits = SpotlightLimits(per_second=1000.0, attempts=1, failures=2)
    linker = opened(endpoint="http://127.0.0.1:9/", limits=limits)
    for _ in range(2):
        with pytest.raises(UnavailableError):
            linker.link(["Riga"])
    with pytest.raises(CircuitOpenError):
        linker.link(["Riga"])


def test_a_text_is_asked_about_once(server: Server, opened: Callable[..., SpotlightLinker]) -> None:
    linker = opened()
    linker.link(["Riga", "Riga"])
    linker.link(["Riga"])
    assert len(server.seen) == 1


def test_kept_answers_are_used_again(server: Server, opened: Callable[..., SpotlightLinker], tmp_path: Path) -> None:
    cache = str(tmp_path / "spotlight.db")
    first = opened(cache=cache)
    wanted = first.link(["Riga"])
    first.close()
    assert opened(cache=cache).link(["Riga"]) == wanted
    assert len(server.seen) == 1


def test_a_record_answers_without_the_server(
    server: Server, opened: Callable[..., SpotlightLinker], tmp_path: Path
) -> None:
    texts = ["Is Riga 😀 old?", "nothing"]
    wanted = opened(record=str(tmp_path)).link(texts)
    assert opened(replay=str(tmp_path), endpoint="http://127.0.0.1:9/").link(texts) == wanted
    with pytest.raises(RequestError, match="record the run again"):
        opened(replay=str(tmp_path)).link(["another"])


def test_secrets_stay_out_of_sight(opened: Callable[..., SpotlightLinker], server: Server) -> None:
    linker = opened(headers={"Authorization": "Bearer s3cret"})
    linker.link(["Riga"])
    assert server.seen[0][2]["authorization"] == "Bearer s3cret"
    assert "s3cret" not in repr(linker) + linker.fingerprint()


@pytest.mark.parametrize("settings", [{"confidence": 2.0}, {"n_best": 0}, {"language": "../x"}, {"min_score": 2.0}])
def test_settings_out_of_range_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(settings))):
        SpotlightLinker(**settings)


def test_a_linker_that_is_not_open_says_so() -> None:
    with pytest.raises(DriverError, match="not open"):
        SpotlightLinker().link(["Riga"])


@given(st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Co", "Cn"]), min_size=1, max_size=8))
def test_a_title_has_the_same_id_plain_and_percent_encoded(title: str) -> None:
    linker = SpotlightLinker()
    assert linker._id(RESOURCE + quote(title, safe="")) == linker._id(RESOURCE + quote(title, safe="/,()'"))
