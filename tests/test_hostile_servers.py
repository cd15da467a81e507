"""Five clients of web services before servers that misbehave: the right answer, or a typed error that says where."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from srtk_plugin_dbpedia import spotlight_client
from srtk_plugin_openai.completions import Completion, completion_of
from srtk_plugin_rel.rel import RelLinker
from srtk_plugin_rel.service_linker import Annotation
from srtk_plugin_rel.tagme import TagMeLinker
from srtk_plugin_sparql import answers
from srtk_plugin_web import Client, Limits, Request, RequestError, Response
from srtk_plugin_wikidata import search_client

from benchmarks.reliability import hostile_servers as bench

FINE = {bench.RIGHT, bench.TYPED}


@pytest.mark.parametrize("kind", ["protocol", "answer"])
@pytest.mark.parametrize("name", bench.ASKERS)
def test_a_broken_answer_is_read_right_or_refused_with_its_place(name: str, kind: str) -> None:
    assert {fault: came for fault, came in bench.tried(name, kind) if came not in FINE} == {}


@pytest.mark.parametrize("name", bench.ASKERS)
def test_no_status_but_200_is_an_answer(name: str) -> None:
    assert {fault: came for fault, came in bench.tried(name, "status") if came != bench.TYPED} == {}


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["time", "size"])
@pytest.mark.parametrize("name", bench.ASKERS)
def test_what_takes_too_long_or_is_too_large_is_given_up(name: str, kind: str) -> None:
    assert {fault: came for fault, came in bench.tried(name, kind) if came != bench.TYPED} == {}


@pytest.mark.slow
@pytest.mark.parametrize("name", bench.ASKERS)
def test_no_redirect_leads_a_request_to_another_place(name: str) -> None:
    assert {fault: came for fault, came in bench.redirected(name) if came != bench.TYPED} == {}


# Replies drawn at random: what is taken must be what a reader of the format's definition takes.

SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
)


def mutated(valid: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Draw valid data in which some values are others, are missing, or come twice."""

    @st.composite
    def change(draw: Callable[..., Any]) -> Any:
        return _changed(draw, draw(valid), draw(st.integers(0, 3)))

    return change()


def _changed(draw: Callable[..., Any], data: Any, times: int) -> Any:
    for _ in range(times):
        data = _once(draw, data)
    return data


def _once(draw: Callable[..., Any], data: Any) -> Any:
    if isinstance(data, (dict, list)) and data and draw(st.integers(0, 5)):
        keys = list(data) if isinstance(data, dict) else list(range(len(data)))
        key = draw(st.sampled_from(keys))
        copy: Any = dict(data) if isinstance(data, dict) else list(data)
        what = draw(st.sampled_from(("inside", "inside", "inside", "gone", "twice")))
        if what == "gone":
            del copy[key]
        elif what == "twice" and isinstance(copy, list):
            copy.insert(key, copy[key])
        else:
            copy[key] = _once(draw, copy[key])
        return copy
    return draw(VALUES)


TEXTS = st.text(max_size=12)
CELLS = st.fixed_dictionaries(
    {"type": st.sampled_from(("uri", "literal", "bnode", "typed-literal")), "value": TEXTS},
    optional={"xml:lang": st.sampled_from(("en", "de")), "datatype": TEXTS},
)
TABLES = st.builds(
    lambda rows: {"head": {"vars": ["a", "b"]}, "results": {"bindings": rows}},
    st.lists(st.dictionaries(st.sampled_from("ab"), CELLS, max_size=2), max_size=4),
)
HITS = st.fixed_dictionaries(
    {"id": st.from_regex(r"Q[1-9]{1,3}", fullmatch=True)},
    optional={"label": TEXTS, "match": st.fixed_dictionaries({}, optional={"type": TEXTS, "text": TEXTS})},
)
RESOURCES = st.fixed_dictionaries(
    {"@URI": TEXTS, "@similarityScore": st.just("0.5"), "@surfaceForm": TEXTS, "@offset": st.just("3")}
)
MENTIONS = st.tuples(st.integers(0, 9), st.integers(0, 9), TEXTS, TEXTS, st.floats(0, 1)).map(list)
TAGGED = st.fixed_dictionaries({"spot": TEXTS, "title": TEXTS, "rho": st.floats(0, 1), "start": st.integers(0, 9)})
REPLIES = st.builds(
    lambda text, finish: {"choices": [{"message": {"content": text}, "finish_reason": finish}], "usage": {}},
    TEXTS,
    st.sampled_from(("stop", "length")),
)


def response(data: Any, kind: str = "application/json") -> Response:
    return Response(200, {"content-type": kind}, json.dumps(data).encode())


def taken(read: Callable[[], Any]) -> Any:
    """Return what a reader makes of a reply, or the error; any other error fails."""
    try:
        return read()
    except RequestError as error:
        return error


MANY = settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@MANY
@given(mutated(TABLES) | VALUES)
def test_any_table_of_results_is_read_as_it_is_or_refused(data: Any) -> None:
    found = taken(lambda: answers.read(response(data), ()))
    if isinstance(found, RequestError):
        return
    rows = data["results"]["bindings"]
    assert found.sent == len(rows)
    kinds = {"uri": "iri", "literal": "literal", "typed-literal": "literal", "bnode": "blank"}
    told = [{name: (kinds[cell["type"]], cell["value"]) for name, cell in row.items()} for row in rows]
    assert [row for number, row in enumerate(told) if rows[number] not in rows[:number]] or not rows
    assert {(name, *map(str, cell[:2])) for row in found.rows for name, cell in row.items()} == {
        (name, *cell) for row in told for name, cell in row.items()
    }
    assert all(isinstance(part, str) for row in found.rows for cell in row.values() for part in cell)


@MANY
@given(mutated(st.builds(lambda hits: {"search": hits}, st.lists(HITS, max_size=3))) | VALUES)
def test_any_hits_of_the_search_are_read_as_they_are_or_refused(data: Any) -> None:
    found = taken(lambda: search_client._read(response(data)))
    if not isinstance(found, RequestError):
        assert [row["id"].value for row in found] == [hit["id"] for hit in data["search"]]
        assert [row["label"].value for row in found] == [hit.get("label", "") for hit in data["search"]]


@MANY
@given(
    mutated(st.builds(lambda found: {"@text": "x", "Resources": found}, st.lists(RESOURCES, min_size=1, max_size=3)))
    | VALUES
)
def test_any_annotations_of_spotlight_are_read_as_they_are_or_refused(data: Any) -> None:
    found = taken(lambda: spotlight_client._read(response(data), spotlight_client.ANNOTATE))
    if not isinstance(found, RequestError):
        rows = data.get("Resources") or []
        rows = rows if isinstance(rows, list) else [rows]
        assert [row["uri"].value for row in found] == [item["@URI"] for item in rows]
        assert [row["surface"].value for row in found] == [item["@surfaceForm"] for item in rows]
        assert all(int(row["offset"].value) == int(item["@offset"]) for row, item in zip(found, rows, strict=True))
        assert all(isinstance(float(row["score"].value), float) for row in found)


@pytest.mark.parametrize(
    ("linker", "valid"),
    [
        (RelLinker(), st.lists(MENTIONS, max_size=3)),
        (TagMeLinker(), st.builds(lambda found: {"annotations": found}, st.lists(TAGGED, max_size=3))),
    ],
    ids=["rel", "tagme"],
)
def test_any_mentions_are_read_as_they_are_or_refused(linker: Any, valid: Any) -> None:
    @MANY
    @given(mutated(valid) | VALUES)
    def holds(data: Any) -> None:
        try:
            found = linker._read(json.loads(json.dumps(data)))
        except ValueError:
            return  # The service makes an error with its place of it.
        for one in found:
            assert isinstance(one, Annotation)
            assert all(isinstance(entity.title, str) and entity.score == entity.score for entity in one.entities)
            assert isinstance(one.claim.spot, str)

    holds()


@MANY
@given(mutated(REPLIES) | VALUES)
def test_any_reply_of_a_model_is_read_as_it_is_or_refused(data: Any) -> None:
    found = taken(lambda: completion_of("application/json", json.dumps(data).encode()))
    if not isinstance(found, RequestError):
        assert isinstance(found, Completion)
        content = data["choices"][0]["message"].get("content")
        assert isinstance(found.text, str)
        if isinstance(content, str) and "<think>" not in content:
            assert found.text == content


@MANY
@given(st.lists(mutated(REPLIES.map(lambda data: {"choices": [{"delta": {"content": "a"}}]})) | VALUES, max_size=3))
def test_any_streamed_reply_is_read_as_it_is_or_refused(parts: Any) -> None:
    body = "".join(f"data: {json.dumps(part)}\n\n" for part in parts) + "data: [DONE]\n\n"
    found = taken(lambda: completion_of("text/event-stream", body.encode()))
    assert isinstance(found, (Completion, RequestError))


@MANY
@given(st.binary(max_size=200), st.sampled_from(("application/sparql-results+json", "text/event-stream", "", "x/json")))
def test_any_bytes_are_read_or_refused(body: bytes, kind: str) -> None:
    sent = Response(200, {"content-type": kind}, body)
    taken(lambda: answers.read(sent, ()))
    taken(lambda: search_client._read(sent))
    taken(lambda: spotlight_client._read(sent, spotlight_client.CANDIDATES))
    taken(lambda: completion_of(kind, body))


@settings(max_examples=60, deadline=None)
@given(
    st.integers(100, 999).filter(lambda status: status not in (100, 101, 102, 103)),
    st.dictionaries(st.sampled_from(("Retry-After", "Retry-After-Ms", "Location", "X-SPARQL-MaxRows")), TEXTS),
    st.binary(max_size=60),
)
def test_any_status_and_headers_end_in_an_error_with_a_place_or_an_answer(
    status: int, headers: dict[str, str], body: bytes
) -> None:
    lines = [
        f"{name}: {''.join(c for c in text if c.isprintable() and ord(c) < 256)}" for name, text in headers.items()
    ]
    head = "\r\n".join([f"HTTP/1.1 {status} Odd", f"Content-Length: {len(body)}", "Connection: close", *lines])
    asker = bench.ASKERS["sparql"]
    limits = Limits(attempts=1, deadline=2.0, patience=2.0)
    with bench.hostile(asker, lambda sock, _: sock.sendall(head.encode("latin-1") + b"\r\n\r\n" + body)) as server:
        client = Client(server.url, limits, "tests/1.0")
        request = Request(server.url, "what", "POST", {}, b"")
        found = taken(lambda: client.ask(request, lambda got: answers.read(got, ())))
        client.close()
    if isinstance(found, RequestError):
        assert str(found).startswith(server.url)
        assert "what" in str(found)
