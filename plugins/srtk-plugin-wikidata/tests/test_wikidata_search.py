"""The wikidata-search linker against a loopback server that speaks the action API's protocol."""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import attrs
import pytest
from srtk_plugin_web import (
    DeadlineError,
    MalformedError,
    PartialError,
    RefusedError,
    RequestError,
    ThrottledError,
    UnavailableError,
)
from srtk_plugin_wikidata.search import SearchLimits, WikidataSearchLinker

import srtk_framework
from srtk_framework.host import Tracing
from srtk_framework.roles import MentionDetector
from srtk_framework.testing import EntityLinkerConformance, OracleGraph
from srtk_framework.values import DriverError, Mention, Question, RecipeError

QUICK = SearchLimits(per_second=1000.0, burst=100, wait=0.01, wait_most=0.02, deadline=5.0)
JSON = {"Content-Type": "application/json; charset=utf-8"}
ITEMS: dict[str, list[tuple[str, str, str, str]]] = {
    # language: (id, label, kind of match, name that matches), in the order of the search
    "en": [
        ("Q1773", "Riga", "label", "Riga"),
        ("Q9", "Riga Peak", "alias", "Riga"),
        ("Q8", "Rigaer", "label", "Rigaer"),
        ("Q15228", "The Lord of the Rings", "alias", "Lord of the Rings"),
        ("Q142", "France", "label", "France"),
        ("Q183", "Germany", "label", "Germany"),
        ("Q5", "Łódź", "label", "Łódź"),
        ("Q6", "مصر", "label", "مصر"),
        ("Q7", "AT&T", "label", "AT&T"),
    ],
    "lv": [("Q193", "Jūrmala", "label", "Jūrmala"), ("Q1773", "Rīga", "label", "Rīga")],
}
Answer = tuple[int, dict[str, str], bytes]


class Server:
    """Answers as the API does, or as planned; remembers what it was asked, and how much at once."""

    def __init__(self) -> None:
        self.plan: list[Answer | Callable[[], Answer]] = []
        self.seen: list[dict[str, str]] = []
        self.headers: list[dict[str, str]] = []
        self.most = 0
        self.slow = 0.0
        self._now = 0
        self._lock = threading.Lock()
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                asked = parse_qs(urlsplit(self.path).query, keep_blank_values=True)
                server.headers.append({key.lower(): value for key, value in self.headers.items()})
                status, headers, answer = server.answer({key: values[0] for key, values in asked.items()})
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
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}/w/api.php"
        threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True).start()

    def answer(self, form: dict[str, str]) -> Answer:
        with self._lock:
            self.seen.append(form)
            self._now += 1
            self.most = max(self.most, self._now)
        time.sleep(self.slow)
        with self._lock:
            self._now -= 1
            planned = self.plan.pop(0) if self.plan else None
        if planned is not None:
            return planned() if callable(planned) else planned
        wanted = form["search"].casefold()
        hits = [
            {
                "id": id_,
                "label": label,
                "concepturi": f"http://www.wikidata.org/entity/{id_}",
                "match": {"type": kind, "language": form["language"], "text": name},
            }
            for id_, label, kind, name in ITEMS.get(form["language"], [])
            if name.casefold().startswith(wanted)
        ]
        made = {"searchinfo": {"search": form["search"]}, "search": hits[: int(form["limit"])], "success": 1}
        return 200, JSON, json.dumps(made).encode()

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()


@pytest.fixture
def server() -> Iterator[Server]:
    running = Server()
    yield running
    running.close()


@pytest.fixture
def opened(server: Server) -> Iterator[Callable[..., WikidataSearchLinker]]:
    made: list[WikidataSearchLinker] = []

    def make(**settings: Any) -> WikidataSearchLinker:
        linker = WikidataSearchLinker(**{"endpoint": server.url, "limits": QUICK, **settings})
        linker.open()
        made.append(linker)
        return linker

    yield make
    for linker in made:
        linker.close()


@attrs.define(eq=False)
class Listed(MentionDetector):
    """Finds some names, letter by letter."""

    names: tuple[str, ...]

    def __init__(self, *names: str) -> None:
        self.names = names

    def detect(self, texts: Sequence[str]) -> list[list[Mention]]:
        return [
            sorted((Mention(text.index(n), text.index(n) + len(n)) for n in self.names if n in text), key=attrs.astuple)
            for text in texts
        ]


def told(linker: WikidataSearchLinker, text: str) -> list[tuple[str, str]]:
    return [(text[link.start : link.end], link.entity) for link in linker.link([text])[0]]


class TestWikidataSearch(EntityLinkerConformance):
    name = "wikidata-search"

    @pytest.fixture
    def driver(self, opened: Callable[..., WikidataSearchLinker]) -> WikidataSearchLinker:
        return opened(n_best=2)

    @pytest.fixture
    def faulty(self) -> WikidataSearchLinker:
        return WikidataSearchLinker(endpoint="example.org")


def test_a_mention_is_asked_as_the_api_wants_it(server: Server, opened: Callable[..., WikidataSearchLinker]) -> None:
    linker = opened(hits=5)
    (link,) = linker.link(["Is Riga old?"])[0]
    assert (link.entity, link.score, link.start, link.end, link.name) == ("Q1773", 1.0, 3, 7, "Riga")
    assert server.seen == [
        {
            "action": "wbsearchentities",
            "search": "Riga",
            "language": "en",
            "uselang": "en",
            "limit": "5",
            "type": "item",
            "format": "json",
            "formatversion": "2",
            "maxlag": "5",
        }
    ]
    assert "srtk" in server.headers[0]["user-agent"]


def test_scores_fall_with_rank_and_match_and_beginnings_do_not_count(
    opened: Callable[..., WikidataSearchLinker],
) -> None:
    links = opened(n_best=5).link(["Riga"])[0]
    assert [(link.entity, link.score) for link in links] == [("Q1773", 1.0), ("Q9", 0.5333)]
    assert opened().link(["RIGA"])[0][0].score == 0.9
    assert opened(min_score=0.95).link(["RIGA"]) == [[]]


def test_a_mention_that_nothing_has_the_name_of_is_not_linked(opened: Callable[..., WikidataSearchLinker]) -> None:
    assert opened().link(["Where is Atlantis?", "who wrote this", ""]) == [[], [], []]


def test_a_mention_that_finds_nothing_is_divided(server: Server, opened: Callable[..., WikidataSearchLinker]) -> None:
    text = "Do France and Germany like Lord of the Rings by Old Riga?"
    assert told(opened(), text) == [
        ("France", "Q142"),
        ("Germany", "Q183"),
        ("Lord of the Rings", "Q15228"),
        ("Riga", "Q1773"),
    ]
    assert told(opened(shorten=0), text) == [("Lord of the Rings", "Q15228")]


def test_the_next_language_is_asked_where_the_first_has_nothing(
    server: Server, opened: Callable[..., WikidataSearchLinker]
) -> None:
    assert told(opened(languages=["en", "lv"]), "From Jūrmala via Riga") == [("Jūrmala", "Q193"), ("Riga", "Q1773")]
    assert sorted((form["language"], form["search"]) for form in server.seen if form["language"] == "lv") == [
        ("lv", "Jūrmala")
    ]


def test_a_detector_says_what_is_looked_up(server: Server, opened: Callable[..., WikidataSearchLinker]) -> None:
    assert told(
        opened(detector=Listed("lord of the rings", "france")), "is lord of the rings known in france? Riga"
    ) == [
        ("lord of the rings", "Q15228"),
        ("france", "Q142"),
    ]
    assert sorted(form["search"] for form in server.seen) == ["france", "lord of the rings"]


def test_the_longest_of_overlapping_mentions_is_looked_up_first(
    server: Server, opened: Callable[..., WikidataSearchLinker]
) -> None:
    linker = opened(detector=Listed("lord of the rings", "rings"))
    assert told(linker, "is the lord of the rings known?") == [("lord of the rings", "Q15228")]
    assert [form["search"] for form in server.seen] == ["lord of the rings"]


def test_mentions_within_one_that_finds_nothing_are_looked_up_before_its_parts(
    server: Server, opened: Callable[..., WikidataSearchLinker]
) -> None:
    one_by_one = attrs.evolve(QUICK, at_once=1)
    linker = opened(detector=Listed("old song of riga and france", "song", "france"), shorten=1, limits=one_by_one)
    assert told(linker, "an old song of riga and france") == [("france", "Q142")]
    assert [form["search"] for form in server.seen] == ["old song of riga and france", "song", "france"]


def test_a_mention_with_a_better_score_goes_before_a_longer_one(
    server: Server, opened: Callable[..., WikidataSearchLinker]
) -> None:
    listed = Listed("france now", "france")
    (row,) = listed.detect(["is france now old"])
    better = [attrs.evolve(mention, score=0.9 if mention.end == 9 else 0.5) for mention in row]

    @attrs.define(eq=False)
    class Rated(MentionDetector):
        def detect(self, texts: Sequence[str]) -> list[list[Mention]]:
            return [better for _ in texts]

    assert told(opened(detector=Rated()), "is france now old") == [("france", "Q142")]
    assert [form["search"] for form in server.seen] == ["france"]


def test_a_mention_that_finds_nothing_gives_way_to_others_and_to_its_parts(
    server: Server, opened: Callable[..., WikidataSearchLinker]
) -> None:
    linker = opened(detector=Listed("old riga and france", "riga", "riga and france"))
    assert told(linker, "an old riga and france") == [("riga", "Q1773"), ("france", "Q142")]
    asked = [form["search"] for form in server.seen]
    assert asked[:2] == ["old riga and france", "riga and france"]
    assert sorted(asked[2:]) == ["france", "riga"]


def test_a_recipe_names_the_detector(server: Server, tmp_path: Path) -> None:
    (tmp_path / "names.txt").write_text("Lord of the Rings\nFrance\n", encoding="utf-8")
    detector = {"use": "names", "path": str(tmp_path / "names.txt")}
    recipe = {
        "srtk": 1,
        "knowledge_graph": {"use": "memory", "triples": [["Q142", "in", "Q46"]]},
        "entity_linker": {"use": "wikidata-search", "endpoint": server.url, "detector": detector},
    }
    with srtk_framework.open(recipe) as session:
        (linked,) = session.link([Question("1", "is france in lord of the rings?")])
    assert [(link.entity, link.start, link.end) for link in linked.links] == [("Q142", 3, 9), ("Q15228", 13, 30)]


def test_a_graph_keeps_strangers_out(opened: Callable[..., WikidataSearchLinker]) -> None:
    graph = OracleGraph()
    graph.open()
    assert opened(graph=graph).link(["Is Riga in France?"]) == [[]]


@pytest.mark.parametrize("text", ["👩‍🚀🇱🇻 Łódź?", "e\u0301e\u0301 “Łódź”", "\U0001d50a: Łódź's mayor", 'מי "مصر" 😀'])
def test_spans_are_characters_of_the_original_text(text: str, opened: Callable[..., WikidataSearchLinker]) -> None:
    assert [mention for mention, _ in told(opened(), text)] in (["Łódź"], ["مصر"])


def test_a_batch_asks_each_mention_once_and_three_at_most_at_the_same_time(
    server: Server, opened: Callable[..., WikidataSearchLinker]
) -> None:
    server.slow = 0.02
    texts = [f"Is Riga near Place{number}?" for number in range(12)]
    linker = opened()
    assert [len(links) for links in linker.link(texts)] == [1] * 12
    assert len(server.seen) == 13
    assert server.most <= 3
    linker.link(texts)
    assert len(server.seen) == 13


def api_error(code: str, status: int = 200, **headers: str) -> Answer:
    return status, {**JSON, **headers}, json.dumps({"error": {"code": code, "info": "no", "lag": 7.2}}).encode()


def test_servers_that_lag_behind_are_waited_for(server: Server, opened: Callable[..., WikidataSearchLinker]) -> None:
    server.plan = [api_error("maxlag", **{"Retry-After": "0"}), api_error("maxlag", 503, **{"Retry-After": "0"})]
    assert told(opened(), "Riga") == [("Riga", "Q1773")]
    assert len(server.seen) == 3


def test_lag_without_a_moment_to_come_back_is_waited_for_as_long_as_recommended(
    server: Server, opened: Callable[..., WikidataSearchLinker]
) -> None:
    server.plan = [api_error("maxlag")]
    with pytest.raises(ThrottledError) as caught:
        opened(limits=SearchLimits(attempts=1)).link(["Riga"])
    assert caught.value.retry_after == 5


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        ((401, {}, b""), RefusedError),
        ((403, {}, b"set a user agent"), RefusedError),
        ((429, {"Retry-After": "0"}, b"slow down"), ThrottledError),
        (api_error("ratelimited", 429, **{"Retry-After": "0"}), ThrottledError),
        (api_error("internal_api_error_DBQueryError"), UnavailableError),
        (api_error("unrecognized_language"), RefusedError),
        ((500, {}, b"<html>"), UnavailableError),
        ((503, JSON, b"{"), UnavailableError),
        ((200, JSON, b""), MalformedError),
        ((200, {"Content-Type": "text/html"}, b"<html>"), MalformedError),
        ((200, JSON, b'{"search": [{"id'), PartialError),
        ((200, JSON, b'{"success": 1}'), MalformedError),
        ((200, JSON, b"[]"), MalformedError),
        ((200, JSON, b'{"search": [{"label": "Riga"}]}'), MalformedError),
        ((200, JSON, b'{"search": ["Riga"]}'), MalformedError),
    ],
)
def test_what_is_no_answer_is_an_error_that_says_so(
    answer: Answer, error: type[RequestError], server: Server, opened: Callable[..., WikidataSearchLinker]
) -> None:
    server.plan = [answer] * QUICK.attempts
    with pytest.raises(error) as caught:
        opened().link(["Riga"])
    assert server.url in str(caught.value)
    assert len(server.seen) == (QUICK.attempts if error.transient else 1)


def test_a_server_that_is_too_slow_is_given_up(server: Server, opened: Callable[..., WikidataSearchLinker]) -> None:
    server.slow = 0.5
    with pytest.raises(DeadlineError):
        opened(limits=SearchLimits(deadline=0.1, attempts=1)).link(["Riga"])


def test_one_failure_is_the_failure_of_its_batch_and_what_was_answered_is_not_asked_again(
    server: Server, opened: Callable[..., WikidataSearchLinker]
) -> None:
    linker = opened(limits=SearchLimits(per_second=1000.0, at_once=1))
    server.plan = [(200, JSON, b'{"search": []}'), (401, {}, b"")]
    with pytest.raises(RefusedError):
        linker.link(["Riga", "France"])
    asked = len(server.seen)
    linker.link(["Riga"])
    assert len(server.seen) == asked


def test_kept_answers_are_used_again_and_a_record_needs_no_server(
    server: Server, opened: Callable[..., WikidataSearchLinker], tmp_path: Path
) -> None:
    cache, record = str(tmp_path / "search.db"), str(tmp_path / "record")
    texts = ["Is Riga in France?"]
    wanted = opened(cache=cache, record=record).link(texts)
    asked = len(server.seen)
    assert opened(cache=cache).link(texts) == wanted
    assert opened(replay=record, endpoint="http://127.0.0.1:9/api.php").link(texts) == wanted
    assert len(server.seen) == asked


def test_secrets_stay_out_of_sight(server: Server, opened: Callable[..., WikidataSearchLinker]) -> None:
    linker = opened(headers={"Authorization": "Bearer s3cret"})
    linker.link(["Riga"])
    assert server.headers[0]["authorization"] == "Bearer s3cret"
    assert "s3cret" not in repr(linker) + linker.fingerprint()


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"hits": 51}, "hits"),
        ({"n_best": 0}, "n_best"),
        ({"shorten": -1}, "shorten"),
        ({"languages": []}, "languages"),
        ({"min_score": 2.0}, "min_score must be from 0 to 1"),
        ({"limits": SearchLimits(at_once=4)}, "at most 3 for Wikidata"),
    ],
)
def test_settings_that_cannot_be_are_refused(settings: dict[str, Any], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        WikidataSearchLinker(**settings)


def test_a_linker_that_is_not_open_says_so() -> None:
    with pytest.raises(DriverError, match="not open"):
        WikidataSearchLinker().link(["Riga"])


def test_a_run_goes_on_with_the_next_linker_when_the_api_is_down_and_the_trace_shows_it(
    server: Server, tmp_path: Path
) -> None:
    server.plan = [(403, {}, b"no")] * 2
    recipe = {
        "srtk": 1,
        "knowledge_graph": {"use": "memory", "triples": [["Riga", "capital of", "Latvia"]]},
        "entity_linker": {
            "use": "fallback",
            "linkers": [
                {"use": "wikidata-search", "endpoint": server.url, "limits": {"deadline": 5.0}},
                {"use": "dictionary"},
            ],
        },
    }
    tracing = Tracing(str(tmp_path / "trace.jsonl"))
    with srtk_framework.open(recipe, observers=[tracing]) as session:
        linked = session.link([Question("1", "Where is Riga?")])
    assert [link.entity for link in linked[0].links] == ["Riga"]  # type: ignore[union-attr]
    lines = [json.loads(line) for line in (tmp_path / "trace.jsonl").read_text(encoding="utf-8").splitlines()]
    calls = {line["driver"]: line.get("error", "") for line in lines if line["method"] == "link"}
    assert list(calls) == ["wikidata-search", "dictionary", "fallback"]
    assert "(403)" in calls["wikidata-search"]
    assert not calls["dictionary"] + calls["fallback"]


def test_a_limit_that_means_nothing_here_is_refused() -> None:
    block = {"use": "wikidata-search", "limits": {"rows": 5}}
    with pytest.raises(RecipeError, match="rows"):
        srtk_framework.open({"srtk": 1, "entity_linker": block})
