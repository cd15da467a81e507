"""What the linkers do when a service refuses, throttles, hangs, breaks off or talks nonsense."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import attrs
import pytest
from srtk_plugin_rel.rel import RelLinker
from srtk_plugin_rel.tagme import TagMeLinker
from srtk_plugin_rel.wat import WatLinker
from srtk_plugin_rel.wikipedia_map import WikipediaMap
from srtk_plugin_web import (
    CircuitOpenError,
    CredentialError,
    DeadlineError,
    EmptyError,
    Limits,
    MalformedError,
    NotCachedError,
    RefusedError,
    RequestError,
    ThrottledError,
    UnavailableError,
)

from srtk_framework.run import Session, open_session
from srtk_framework.values import DriverError, Link, Question, Retrieval

Start = Callable[[str], Any]
Fault = Callable[..., Callable[[BaseHTTPRequestHandler], None]]
TEXT = "Where is Hakata Ward?"
WARD = Link("Hakata-ku,_Fukuoka", 0.75, 9, 20, "Hakata-ku, Fukuoka")
DRIVERS = {"rel-lists": RelLinker, "rel-objects": RelLinker, "tagme": TagMeLinker, "wat": WatLinker}


@pytest.fixture
def linked(quick: Limits) -> Iterator[Callable[..., Any]]:
    """Return what opens a linker on a service."""
    opened: list[Any] = []

    def make(service: Any, **settings: Any) -> Any:
        linker = DRIVERS[service.form](**{"endpoint": service.url, "limits": quick, **settings})
        opened.append(linker)
        linker.open()
        return linker

    yield make
    for linker in opened:
        linker.close()


@pytest.mark.parametrize("form", DRIVERS)
def test_each_form_of_answer_gives_the_same_link(service: Start, linked: Any, form: str) -> None:
    assert linked(service(form)).link([TEXT, "nothing here", " "]) == [[WARD], [], []]


@pytest.mark.parametrize(
    ("form", "method", "place"),
    [("rel-lists", "POST", "header"), ("tagme", "POST", "form"), ("wat", "GET", "query")],
)
def test_the_token_goes_where_the_service_wants_it(
    service: Start, linked: Any, form: str, method: str, place: str
) -> None:
    here = service(form)
    here.token = "s3cret"
    assert linked(here, token="s3cret").link([TEXT]) == [[WARD]]
    (seen,) = here.seen
    assert seen[0] == method
    assert ("s3cret" in seen[1]) == (place == "query")
    assert (seen[2].get("gcube-token") == "s3cret") == (place == "header")
    assert "srtk-plugin-rel" in seen[2]["User-Agent"]


@pytest.mark.parametrize("form", DRIVERS)
def test_a_wrong_token_is_named_but_not_shown_and_not_sent_again(service: Start, linked: Any, form: str) -> None:
    here = service(form)
    here.token = "right"
    linker = linked(here, token="wr0ng")
    with pytest.raises(CredentialError, match=r"refuses the token \(401\).*set `token`") as caught:
        linker.link([TEXT])
    assert "wr0ng" not in str(caught.value)
    assert here.url in str(caught.value)
    with pytest.raises(CredentialError):
        linker.link(["another text"])
    assert len(here.seen) == 1


def test_the_token_is_neither_in_the_fingerprint_nor_in_the_repr(service: Start, linked: Any) -> None:
    linker = linked(service("wat"), token="s3cret")
    assert "s3cret" not in linker.fingerprint() + repr(linker)


def test_a_token_that_a_service_echoes_is_not_shown(service: Start, linked: Any, reply: Fault) -> None:
    here = service("wat")
    here.plan = [reply(200, "<p>welcome, to/ken</p>"), reply(500, "/tag?gcube-token=to%2Fken"), reply(200, "to/ken")]
    with pytest.raises(MalformedError) as caught:
        linked(here, token="to/ken").link([TEXT])
    shown: BaseException | None = caught.value
    while shown is not None:
        assert "ken" not in str(shown).replace("token", "")
        shown = shown.__context__


def test_a_refusal_without_a_token_names_the_token(service: Start, linked: Any) -> None:
    here = service("tagme")
    here.token = "right"
    with pytest.raises(CredentialError, match="no token is set"):
        linked(here).link([TEXT])


@pytest.mark.parametrize("form", DRIVERS)
def test_too_many_requests_are_sent_again_after_the_rest_that_is_asked_for(
    service: Start, linked: Any, reply: Fault, form: str
) -> None:
    here = service(form)
    here.plan = [reply(429, "slow down", Retry_After="1")]
    assert linked(here).link([TEXT]) == [[WARD]]
    assert here.moments[1] - here.moments[0] >= 0.9


def test_a_rest_until_a_date_is_kept(service: Start, linked: Any, reply: Fault) -> None:
    here = service("wat")
    here.plan = [reply(503, "", Retry_After=format_datetime(datetime.now(UTC) + timedelta(seconds=2), usegmt=True))]
    assert linked(here).link([TEXT]) == [[WARD]]
    assert here.moments[1] - here.moments[0] >= 0.5


def test_a_rest_beyond_patience_is_not_waited_for(service: Start, linked: Any, reply: Fault, quick: Limits) -> None:
    here = service("tagme")
    here.plan = [reply(429, "", Retry_After="3600")]
    with pytest.raises(ThrottledError, match=r"429, with 3600 s of rest"):
        linked(here).link([TEXT])
    assert len(here.seen) == 1


def drip(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.send_header("Content-Length", "100")
    handler.end_headers()
    for _ in range(40):
        handler.wfile.write(b" ")
        handler.wfile.flush()
        time.sleep(0.05)
    handler.close_connection = True


def hang(handler: BaseHTTPRequestHandler) -> None:
    time.sleep(1.0)
    handler.close_connection = True


def break_off(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.send_header("Content-Length", "100")
    handler.end_headers()
    handler.wfile.write(b"[[9, 11,")
    handler.close_connection = True


def reset(handler: BaseHTTPRequestHandler) -> None:
    handler.close_connection = True


@pytest.mark.parametrize(
    ("form", "fault"), [("rel-lists", drip), *((form, hang) for form in DRIVERS)], ids=lambda value: str(value)[:13]
)
def test_an_answer_that_takes_too_long_is_a_deadline(
    service: Start, linked: Any, quick: Limits, form: str, fault: Any
) -> None:
    here = service(form)
    here.plan = [fault]
    limits = attrs.evolve(quick, deadline=0.3, attempts=1)
    with pytest.raises(DeadlineError, match=r"no whole answer within 0.3 s; the text was: Where is Hakata Ward\?"):
        linked(here, limits=limits).link([TEXT])


@pytest.mark.parametrize(("fault", "kind"), [(break_off, MalformedError), (reset, UnavailableError)])
def test_an_answer_that_breaks_off_is_asked_for_again(
    service: Start, linked: Any, quick: Limits, fault: Any, kind: type[RequestError]
) -> None:
    here = service("rel-lists")
    here.plan = [fault, fault, None]
    assert linked(here).link([TEXT]) == [[WARD]]
    here.plan = [fault]
    with pytest.raises(kind):
        linked(here, limits=attrs.evolve(quick, attempts=1)).link([TEXT])


@pytest.mark.parametrize("form", DRIVERS)
def test_an_empty_answer_is_no_answer(service: Start, linked: Any, reply: Fault, form: str) -> None:
    here = service(form)
    here.plan = [reply(200, " \n")] * 3
    with pytest.raises(EmptyError, match="the answer is empty"):
        linked(here).link([TEXT])
    assert len(here.seen) == 3


@pytest.mark.parametrize(
    ("form", "body", "said"),
    [
        ("rel-lists", "<html>Bad gateway</html>", "not JSON"),
        ("rel-lists", "[[9, 11", "not JSON"),
        ("rel-lists", '{"detail": "error"}', "an object with detail, and holds no mentions"),
        ("rel-lists", '"x"', "mentions are str, not a list"),
        ("rel-lists", "[[1, 2]]", "fewer than 4 parts"),
        ("rel-lists", '[["a", 4, "Riga", "Riga", 0.5, 0.5, "LOC"]]', "not understood"),
        ("rel-lists", '[[-1, 4, "Riga", "Riga", 0.5, 0.5, "LOC"]]', "no start and length"),
        ("rel-lists", '[[0, 4, "Riga", "Riga", NaN, 0.5, "LOC"]]', "not a number"),
        ("rel-lists", '[[0, 4, "Riga", 7, 0.5, 0.5, "LOC"]]', "not a text"),
        ("rel-objects", '[{"prediction": "Riga"}]', "neither a place nor a text"),
        (
            "rel-objects",
            '[{"mention": "Riga", "entity": "Riga", "candidates": ["Riga"], "scores": [1, 2]}]',
            "2 scores",
        ),
        ("tagme", '{"errors": 1}', "no list `annotations`"),
        ("tagme", "[]", "no list `annotations`"),
        ("tagme", '{"annotations": null}', "NoneType, not a list"),
        ("wat", '{"annotations": [3]}', "not an object"),
        ("wat", '{"annotations": [{"title": "Riga", "spot": "Riga"}]}', "rho is None"),
        ("wat", '{"annotations": [{"title": "Riga", "spot": "Riga", "start": 0.5, "rho": 1}]}', "not a whole number"),
        ("wat", '{"annotations": [{"title": "Riga", "rho": 1}]}', "neither a place nor a spot"),
    ],
)
def test_a_malformed_answer_is_reported_as_malformed(
    service: Start, linked: Any, reply: Fault, form: str, body: str, said: str
) -> None:
    here = service(form)
    here.plan = [reply(200, body)] * 3
    with pytest.raises(MalformedError, match=said):
        linked(here).link([TEXT])


@pytest.mark.parametrize(
    ("status", "kind", "said"),
    [
        (301, RefusedError, "has moved"),
        (400, RefusedError, "does not answer"),
        (414, RefusedError, "too long"),
        (500, UnavailableError, "failed"),
    ],
)
def test_a_status_has_its_error(
    service: Start, linked: Any, reply: Fault, status: int, kind: type[RequestError], said: str
) -> None:
    here = service("wat")
    here.plan = [reply(status, "because", Location="http://elsewhere/")] * 3
    with pytest.raises(kind, match=said):
        linked(here).link([TEXT])


def test_a_service_that_is_not_there_is_named(linked: Any, quick: Limits) -> None:
    linker = RelLinker(endpoint="http://user:pass@127.0.0.1:9/", limits=attrs.evolve(quick, attempts=1))
    linker.open()
    with pytest.raises(UnavailableError, match=r"REL at http://127.0.0.1:9/: no connection"):
        linker.link([TEXT])
    linker.close()


def test_a_service_that_fails_in_a_row_is_left_alone(service: Start, linked: Any, quick: Limits, reply: Fault) -> None:
    here = service("wat")
    here.plan = [reply(500)] * 9
    linker = linked(here, limits=attrs.evolve(quick, failures=2, attempts=1))
    for text in ("a", "b"):
        with pytest.raises(UnavailableError):
            linker.link([text])
    with pytest.raises(CircuitOpenError, match="failed 2 times in a row"):
        linker.link(["c"])
    assert len(here.seen) == 2


@pytest.fixture
def session(service: Start) -> Iterator[tuple[Any, Session]]:
    here = service("rel-lists")
    limits = {"attempts": 1, "per_second": None, "failures": 100}
    recipe = {
        "srtk": 1,
        "knowledge_graph": {"use": "memory", "triples": [["Riga", "in", "Latvia"], [WARD.entity, "in", "Japan"]]},
        "entity_linker": {"use": "rel", "endpoint": here.url, "limits": limits},
        "expander": {"use": "bfs"},
    }  # fmt: skip
    with open_session(recipe) as one:
        yield here, one


def test_one_text_that_fails_spoils_no_other_and_nothing_is_sent_twice(session: tuple[Any, Session]) -> None:
    here, one = session
    here.bad = {"Is Riga bad?"}
    texts = ["Is Riga bad?", "Is Riga good?", TEXT]
    done = one.link([Question(str(i), text) for i, text in enumerate(texts)])
    assert isinstance(done[0], Retrieval)
    assert "rel: REL at" in str(done[0].error)
    assert "failed (500)" in str(done[0].error)
    assert [link.entity for link in done[1].links] == ["Riga"]  # type: ignore[union-attr]
    assert [link.entity for link in done[2].links] == ["Hakata-ku,_Fukuoka"]  # type: ignore[union-attr]
    assert sorted(seen[3] for seen in here.seen) == sorted(texts)


def test_a_text_that_failed_is_asked_about_again_in_the_next_batch(session: tuple[Any, Session]) -> None:
    here, one = session
    here.bad = {TEXT}
    questions = [Question("0", TEXT), Question("1", "Is Riga good?")]
    assert isinstance(one.link(questions)[0], Retrieval)
    here.bad = set()
    assert all(isinstance(answer, Question) for answer in one.link(questions))
    assert len(here.seen) == 3


def test_only_so_many_requests_are_in_flight(service: Start, linked: Any, quick: Limits) -> None:
    here = service("wat")
    here.slow = 0.02
    linked(here, limits=attrs.evolve(quick, at_once=2)).link([f"text {number}" for number in range(12)])
    assert len(here.seen) == 12
    assert here.most == 2


def test_an_answer_in_the_cache_is_used_by_a_later_run_and_offline(service: Start, linked: Any, tmp_path: Path) -> None:
    here = service("tagme")
    cache = str(tmp_path / "folder" / "answers.db")
    assert linked(here, cache=cache).link([TEXT]) == [[WARD]]
    assert linked(here, cache=cache, token="other").link([TEXT]) == [[WARD]]
    offline = linked(here, cache=cache, offline=True)
    assert offline.link([TEXT]) == [[WARD]]
    with pytest.raises(NotCachedError, match="run once online"):
        offline.link(["Is Riga new?"])
    assert len(here.seen) == 1
    assert b"other" not in Path(cache).read_bytes()


def test_a_bad_endpoint_and_offline_without_a_file_are_refused() -> None:
    with pytest.raises(DriverError, match="not an http or https URL"):
        RelLinker(endpoint="localhost:1235").open()
    with pytest.raises(DriverError, match="name it by `cache`"):
        RelLinker(offline=True).open()
    with pytest.raises(ValueError, match="n_best must be at least 1"):
        RelLinker(n_best=0)


def test_candidates_of_rel_are_alternatives_behind_its_choice(service: Start, linked: Any) -> None:
    (links,) = linked(service("rel-objects"), n_best=2).link(["Riga"])
    assert [(link.entity, link.score, link.start, link.end) for link in links] == [
        ("Riga", 0.75, 0, 4), ("Riga_Black_Balsam", 0.2, 0, 4)
    ]  # fmt: skip


def test_rel_without_confidence_gives_a_middling_score_and_nil_gives_none(
    service: Start, linked: Any, reply: Fault
) -> None:
    here = service("rel-lists")
    rows = [[0, 4, "Riga", "Riga", 0, 0, "NULL"], [5, 4, "Rīga", "NIL", 0.9, 0.9, "LOC"], [5, 4, "Rīga", "R", 0.0, 0.3]]
    here.plan = [reply(200, json.dumps(rows))]
    (links,) = linked(here).link(["Riga Rīga"])
    assert [(link.entity, link.score) for link in links] == [("Riga", 0.5), ("R", 0.3)]


def test_links_below_the_least_score_are_dropped(service: Start, linked: Any) -> None:
    assert linked(service("tagme"), min_score=0.8).link([TEXT]) == [[]]


def test_the_language_and_the_text_are_sent(service: Start, linked: Any) -> None:
    here = service("wat")
    linked(here, language="de").link(["a & b=c?"])
    assert here.seen[0][1] == "/tag?lang=de&text=a+%26+b%3Dc%3F"


@pytest.mark.parametrize("form", DRIVERS)
@pytest.mark.parametrize("count", ["characters", "utf16", "bytes"])
@pytest.mark.parametrize(
    ("text", "spans"),
    [
        ("👩\u200d🚀🇱🇻 Riga, Hakata Ward 😀?", [(6, 10), (12, 23)]),
        ("Ri\u0304ga e\u0301e\u0301 Riga", [(11, 15)]),
        ("האם ירושלים עתיקה?", [(4, 11)]),
        ("\u202bأين ירושלים\u202c 日本国", [(5, 12), (14, 17)]),
    ],
)
def test_emoji_combining_marks_and_right_to_left_text_keep_spans(
    service: Start, linked: Any, form: str, count: str, text: str, spans: list[tuple[int, int]]
) -> None:
    here = service(form)
    here.count = count
    assert [(link.start, link.end) for link in linked(here).link([text])[0]] == spans


def test_a_half_character_is_sent_as_one_character(service: Start, linked: Any) -> None:
    here = service("tagme")
    (links,) = linked(here).link(["\ud83d Riga"])
    assert [(link.entity, link.start, link.end) for link in links] == [("Riga", 2, 6)]
    assert here.seen[0][3] == "\ufffd Riga"


def test_a_text_that_stands_twice_is_sent_once(service: Start, linked: Any) -> None:
    here = service("wat")
    assert linked(here).link([TEXT, TEXT]) == [[WARD], [WARD]]
    assert len(here.seen) == 1


@pytest.mark.parametrize("linker", [RelLinker(), TagMeLinker(), WatLinker(), WikipediaMap(RelLinker(), "titles.db")])
def test_a_linker_that_is_not_open_is_refused(linker: Any) -> None:
    with pytest.raises(DriverError, match="not open"):
        linker.link([TEXT])
