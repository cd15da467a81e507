"""The routes of questions, links, neighbours, paths and explanations."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from typing import Any

import attrs
from litestar import MediaType, Request, Response, get, post
from litestar.datastructures import State
from litestar.exceptions import NotFoundException
from litestar.openapi import ResponseSpec
from litestar.params import JSONBody
from litestar.response import Stream

from srtk_framework.records import dumps
from srtk_framework.run import Result, Session, aresult_of
from srtk_framework.values import DriverError, Link, Question, Retrieval, SrtkError, redacted
from srtk_plugin_serve.bodies import Around, Asked, Between, Fault, Many, Missing, Texts
from srtk_plugin_serve.gone import STOPPED, while_here

REASONS = {
    400: "the request is wrong",
    401: "the token is missing",
    403: "a page of another origin, or another name than the service has",
    404: "there is nothing of this name, or at this place",
    408: "the body did not come in time",
    413: "the body is too large",
    415: "the body is no JSON",
    500: "the service failed",
    503: "too many calls wait, or the service was stopped",
    504: "the time limit passed",
}


def faults_as(kind: type) -> dict[int, ResponseSpec]:
    """Describe the errors of a route, as bodies of a kind."""
    return {status: ResponseSpec(kind, False, reason) for status, reason in REASONS.items()}


FAULTS = faults_as(Fault)

OPEN = "open_to_all"
"""Option of a route that needs no token."""

_Request = Request[Any, Any, State]


@post("/ask", status_code=200, responses=FAULTS)
async def ask(data: JSONBody[Asked], request: _Request, state: State) -> dict[str, Any]:
    """Answer a question: the record that `srtk run` writes, and the same as text.

    A question that cannot be answered has `error` with the reason, and `near` with entities of similar names.
    """
    return _record(await answered(data, request, state.session))


@post("/ask-many", status_code=200, responses=FAULTS, media_type="application/jsonl")
async def ask_many(data: JSONBody[Many], request: _Request, state: State) -> Stream:
    """Answer questions in order: a line of JSON each, as soon as it is there; a line with `error` alone ends early."""
    session: Session = state.session
    questions = data.as_questions()
    _check_method(session, data.method)
    limits = None if data.triples is None else {"triples": data.triples}
    stream = session.astream(questions, data.method, data.read, timeout=data.timeout, limits=limits)
    # What is wrong with the first batch is an error of the request; later the answer has begun.
    first = await while_here(request, anext(stream, None))

    async def lines() -> AsyncIterator[str]:
        try:
            if first is not None:
                yield dumps(_record(await aresult_of(session, first))) + "\n"
            async for retrieval in stream:
                yield dumps(_record(await aresult_of(session, retrieval))) + "\n"
        except SrtkError as error:
            yield dumps({"error": redacted(str(error))}) + "\n"
        except asyncio.CancelledError:
            yield dumps({"error": STOPPED}) + "\n"

    return Stream(lines(), media_type="application/jsonl")


@post("/link", status_code=200, responses=FAULTS)
async def link(data: JSONBody[Texts], request: _Request, state: State) -> list[dict[str, Any]]:
    """Find the entities of the graph in texts: their ids, names, scores and places in the text."""
    session: Session = state.session

    def linked() -> list[dict[str, Any]]:
        questions = [Question(str(i), text) for i, text in enumerate(data.texts)]
        found = session.linked(questions)
        if data.names:
            found = [named(session, one) for one in found]
        found = session.labelled(found)
        lost = [i for i, one in enumerate(found) if data.names or not one.question.links]
        near = session.suggest([data.texts[i] for i in lost], data.near) if lost and data.near > 0 else []
        names = dict(zip(lost, near, strict=False))
        return [
            {
                "text": one.question.text,
                "links": [_link(one, link) for link in one.question.links],
                "near": [_link(one, link) for link in names.get(i, ())],
                **({"error": redacted(one.error)} if one.error is not None else {}),
            }
            for i, one in enumerate(found)
        ]

    return await while_here(request, session.aturn(linked, timeout=data.timeout))


@post("/expand", status_code=200, responses=FAULTS)
async def expand(data: JSONBody[Around], request: _Request, state: State) -> list[dict[str, Any]]:
    """Read triples around entities, of as many relations as possible, and count the rest of each."""
    return [one.to_record() for one in await around(data, request, state.session)]


@post("/paths", status_code=200, responses=FAULTS)
async def paths(data: JSONBody[Between], request: _Request, state: State) -> dict[str, Any]:
    """Read the triples that connect two entities, the shortest paths first."""
    session: Session = state.session
    call = session.aturn(session.paths, data.start, data.end, data.depth, data.triples, timeout=data.timeout)
    return Result(await while_here(request, call)).to_record()


@post("/explain", status_code=200, responses=FAULTS)
async def explain(data: JSONBody[Missing], request: _Request, state: State) -> dict[str, Any]:
    """Find where the answers to a question were lost, and the setting that brings them back."""
    try:
        from srtk_plugin_explaining import explain_question
    except ImportError as error:
        raise NotFoundException(
            "explanations are not installed here; run: pip install srtk-plugin-explaining"
        ) from error
    session: Session = state.session
    call = session.aturn(explain_question, session, data.question, data.answers, timeout=data.timeout)
    return await while_here(request, call)


@get("/health", opt={OPEN: True})
async def health(state: State) -> dict[str, Any]:
    """Tell that the service runs, and how busy it is."""
    return {"status": "ok", **attrs.asdict(state.session.load)}


@get("/metrics", media_type=MediaType.TEXT)
async def metrics(state: State) -> Response[bytes]:
    """Return the counts of the service in the text format of Prometheus."""
    return Response(state.metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")


HANDLERS = [ask, ask_many, link, expand, paths, explain, health, metrics]


async def answered(data: Asked, request: _Request, session: Session) -> Result:
    """Answer a question, as long as its client is there."""
    _check_method(session, data.method)

    async def answer() -> Result:
        end = time.monotonic() + data.timeout
        question, limits = data.as_question(), data.limits
        [retrieval] = await session.aretrieve([question], data.method, data.read, timeout=data.timeout, limits=limits)
        return await aresult_of(session, retrieval, max(0.0, end - time.monotonic()))

    return await while_here(request, answer())


async def around(data: Around, request: _Request, session: Session) -> list[Result]:
    """Read triples around entities, as long as the client is there."""
    call = session.aturn(session.neighbours, data.entities, data.triples, timeout=data.timeout)
    return [Result(one) for one in await while_here(request, call)]


def _record(result: Result) -> dict[str, Any]:
    """Return the record of an answer with its text, and near names where nothing was linked."""
    near = [{"entity": link.entity, "name": link.name} for link in result.near]
    return {**result.to_record(), "text": result.to_text(), **({"near": near} if near else {})}


def _check_method(session: Session, name: str | None) -> None:
    """Refuse a method that the recipe does not have.

    Raises:
        NotFoundException: With the names of the methods.
    """
    if name is not None and name not in session.methods:
        raise NotFoundException(f"method: there is no method {name!r}; the recipe has {', '.join(session.methods)}")


def named(session: Session, linked: Retrieval) -> Retrieval:
    """Return a name, or an id, with links to all entities that have it, those with the most triples first.

    Where the graph fails, the linker's links stay, with the reason.
    """
    graph, text = session.graph, linked.question.text.strip()
    if graph is None or not text:
        return linked
    links = {link.entity: link for link in linked.question.links}
    try:
        [found], [own] = graph.find([text]), graph.own_ids([text], False)
        links |= {id_: Link(id_) for id_ in [own, *found]}
        degrees = dict(zip(links, graph.degrees([*links]), strict=True))
    except DriverError as error:
        return attrs.evolve(linked, error=linked.error or str(error))
    ranked = sorted((-degree, id_) for id_, degree in degrees.items() if degree)
    return attrs.evolve(linked, question=attrs.evolve(linked.question, links=tuple(links[id_] for _, id_ in ranked)))


def _link(retrieval: Retrieval, link: Any) -> dict[str, Any]:
    found = {"entity": link.entity, "name": link.name or retrieval.labels.get(link.entity, link.entity)}
    return {**found, **{key: value for key in ("score", "start", "end") if (value := getattr(link, key)) is not None}}
