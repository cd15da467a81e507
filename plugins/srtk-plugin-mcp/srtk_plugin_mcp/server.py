"""The server: six tools around one session, which is opened at the first call."""

from __future__ import annotations

import asyncio
import inspect
import json
import threading
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Annotated, Any, TypeVar

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import CallToolResult, TextContent, ToolAnnotations
from pydantic import ValidationError

from srtk_framework.host import __version__
from srtk_framework.run import Result, Session, aresult_of
from srtk_framework.values import Link, Question, Retrieval, SrtkError, redacted, shortened
from srtk_plugin_mcp.results import Answered, Described, Entity, Found, Linked, answered, entities, found, text_of

F = TypeVar("F", bound=Callable[..., Any])

SECONDS = 60.0
"""Seconds of a call: agents give up after about as many."""

_MOST, _DEEPEST = 1_000, 5
_INSTRUCTIONS = (
    "Ask the knowledge graph instead of answering from memory. `ask` answers a question in words; `link` finds the ids"
    " of entities; `expand_entity` and `find_paths` look around by ids. Cite triples by their numbers and sources."
)


class _Lazy:
    """A session that is made and opened at the first call, whatever thread or task comes first."""

    def __init__(self, make: Callable[[], Session]) -> None:
        self._make = make
        self._lock = threading.Lock()
        self._session: Session | None = None

    async def get(self) -> Session:
        return await asyncio.to_thread(self._get)

    def _get(self) -> Session:
        with self._lock:
            if self._session is None:
                self._session = self._make().open()
            return self._session

    def close(self) -> None:
        if self._session is not None:
            self._session.close()


class _Server(MCPServer[Any]):
    """A server whose tools say in a sentence what is wrong with an argument."""

    async def call_tool(self, name: str, arguments: dict[str, Any], context: Any = None) -> Any:
        tools = {tool.name: tool.input_schema["properties"] for tool in await self.list_tools()}
        if name not in tools:
            raise ToolError(f"there is no tool {shortened(repr(name))}; the tools are {', '.join(tools)}")
        taken = tools[name]
        if strange := sorted(arguments.keys() - taken):  # the package drops them
            others = ", ".join(taken) or "none"
            raise ToolError(f"{shortened(', '.join(strange))}: {name} has no such argument; it takes {others}")
        for argument, value in arguments.items():
            if isinstance(value, bool):  # the package takes true for 1
                raise ToolError(_mistaken(argument, value, taken[argument]))
        try:
            return await super().call_tool(name, arguments, context)
        except ToolError as error:
            if isinstance(cause := error.__cause__, ValidationError):
                fault = cause.errors()[0]
                argument, *place = map(str, fault["loc"])
                if fault["type"] == "missing":
                    raise ToolError(f"{argument}: {name} needs it; give {_kind(taken[argument])}") from error
                if place:
                    raise ToolError(_mistaken(f"{argument}[{place[0]}]", fault["input"], _TEXT)) from error
                raise ToolError(_mistaken(argument, fault["input"], taken[argument])) from error
            if isinstance(cause, ToolError):  # the sentence alone
                raise cause from None
            raise


_TEXT = {"type": "string"}
_KINDS = {"string": "a text", "integer": "a whole number", "array": "a list of texts"}


def _kind(schema: Mapping[str, Any]) -> str:
    """Return what an argument is, in words; one that may be null is named by its other kind."""
    kinds = [one["type"] for one in schema.get("anyOf", [schema])]
    return _KINDS[kinds[0]] + (", or leave it out" if "null" in kinds else "")


def _mistaken(place: str, value: Any, schema: Mapping[str, Any]) -> str:
    given = json.dumps(value, ensure_ascii=False, default=str)
    return redacted(f"{place}: it is {shortened(given)}; give {_kind(schema)}")


def mcp_server(make: Callable[[], Session]) -> MCPServer[Any]:
    """Make the server.

    Args:
        make: Makes the session at the first call of a tool.

    Returns:
        A server of the package ``mcp``, to be run over stdio or HTTP.
    """
    lazy = _Lazy(make)

    @asynccontextmanager
    async def closing(server: MCPServer[Any]) -> AsyncIterator[None]:
        try:
            yield
        finally:
            await asyncio.to_thread(lazy.close)

    server = _Server("srtk", instructions=_INSTRUCTIONS, version=__version__, lifespan=closing, log_level="WARNING")
    reads = ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)

    def tool(function: F) -> F:
        server.add_tool(function, description=inspect.getdoc(function), annotations=reads)
        return function

    async def retrieve(question: str, ids: list[str] | None, read: bool, limits: dict[str, Any]) -> Result:
        links = tuple(Link(_text(f"entities[{place}]", id_)) for place, id_ in enumerate(ids or ()))
        asked = Question("0", _text("question", question), links)
        session = await _session(lazy)
        [retrieval] = await _call(session.aretrieve([asked], read=read, timeout=SECONDS, limits=limits or None))
        return await aresult_of(session, retrieval)

    @tool
    async def ask(
        question: str, entities: list[str] | None = None, triples: int | None = None
    ) -> Annotated[CallToolResult, Answered]:
        """Answer a question from the graph, with the triples the answer rests on.

        question: in words, about things that the graph names.
        entities: ids of the entities it is about, to correct wrong links; see the tool link.
        triples: most triples to search with and return; by default as many as the recipe allows.
        """
        limits = {} if triples is None else {"triples": _within("triples", triples, _MOST)}
        content = answered(await retrieve(question, entities, True, limits))
        support = " ".join(f"[{number}]" for number in content["support"])
        head = [f"Answer: {content['answer']} {support}".rstrip() if content["answer"] else "No answer."]
        if content["certainty"]:
            head.append(f"Certainty: {content['certainty']}")
        # What the answer rests on is shown first: the text may have no room for all.
        facts = sorted(content["facts"], key=lambda one: one["number"] not in content["support"])
        return _written(content, text_of([*head, *_about(content)], facts, content["left_out"]))

    @tool
    async def retrieve_subgraph(
        question: str, entities: list[str] | None = None, triples: int | None = None, depth: int | None = None
    ) -> Annotated[CallToolResult, Found]:
        """Retrieve the triples of the graph that bear on a question, best first, without an answer.

        question: in words, about things that the graph names.
        entities: ids of the entities it is about, to correct wrong links.
        triples: most triples to return; by default as many as the recipe allows.
        depth: most steps of a path.
        """
        limits = {} if triples is None else {"triples": _within("triples", triples, _MOST)}
        if depth is not None:
            limits["depth"] = _within("depth", depth, _DEEPEST)
        content = found(await retrieve(question, entities, False, limits))
        return _result(content, _about(content))

    @tool
    async def link(text: str) -> Annotated[CallToolResult, Linked]:
        """Find the entities of the graph that a text names, and near names where it names none."""
        session = await _session(lazy)
        question = Question("0", _text("text", text))

        def linked() -> Result:
            [one] = session.labelled(session.linked([question]))
            near = session.suggest([text], 5)[0] if one.error is None and not one.question.links else ()
            return Result(one, tuple(near))

        one = await _call(session.aturn(linked, timeout=SECONDS))
        if one.error is not None:
            raise ToolError(redacted(one.error))
        content = Linked(entities=entities(one.links, one.labels), near=entities(one.near))
        lines = [f"{item['entity']}: {item['name']}" for item in content["entities"]] or ["No entity was found."]
        if content["near"]:
            lines.append("Near names: " + _names(content["near"]))
        return _written(content, text_of(lines, [], {}))

    @tool
    async def expand_entity(entity: str, triples: int = 20) -> Annotated[CallToolResult, Found]:
        """Read triples around an entity, of as many relations as possible, with the number left out of each.

        entity: its id.
        triples: most triples to return.
        """
        session = await _session(lazy)
        many = _within("triples", triples, _MOST)
        [one] = await _call(session.aturn(session.neighbours, [_text("entity", entity)], many, timeout=SECONDS))
        return _shown(one)

    @tool
    async def find_paths(start: str, end: str, depth: int = 3, triples: int = 50) -> Annotated[CallToolResult, Found]:
        """Find the triples that connect two entities, the shortest paths first.

        start: id of the first entity.
        end: id of the last entity.
        depth: most steps of a path.
        triples: most triples to return.
        """
        session = await _session(lazy)
        ends = _text("start", start), _text("end", end)
        limits = _within("depth", depth, _DEEPEST), _within("triples", triples, _MOST)
        return _shown(await _call(session.aturn(session.paths, *ends, *limits, timeout=SECONDS)))

    @tool
    async def describe_graph() -> Annotated[CallToolResult, Described]:
        """Describe the graph: its data, its namespaces, and the drivers that answer."""
        session = await _session(lazy)

        def described() -> Described:
            graph = session.graph
            return Described(
                graph=graph.source() if graph is not None else "",
                namespaces=dict(graph.schema().prefixes) if graph is not None else {},
                drivers=dict(session.drivers),
                most_triples=session.recipe.options.budget.triples or 0,
                methods=list(session.methods),
            )

        content = await _call(session.aturn(described, timeout=SECONDS))
        lines = [f"Graph: {content['graph']}", *(f"{role}: {name}" for role, name in content["drivers"].items())]
        return _written(content, text_of(lines, [], {}))

    return server


async def _session(lazy: _Lazy) -> Session:
    """Return the session; a failed opening is the error of the tool."""
    try:
        return await lazy.get()
    except SrtkError as error:
        raise ToolError(redacted(str(error))) from error


async def _call(call: Any) -> Any:
    """Await a call of the session; its errors are sentences for the agent."""
    try:
        return await call
    except (SrtkError, ValueError, TypeError) as error:
        raise ToolError(redacted(str(error))) from error


def _within(name: str, value: int, most: int) -> int:
    if not 1 <= value <= most:
        raise ToolError(f"{name}: it is {value}; give a number from 1 to {most:,}")
    return value


def _text(name: str, value: str) -> str:
    if not value.strip():
        raise ToolError(f"{name}: it is empty; give a text")
    return value


def _names(items: list[Entity]) -> str:
    return ", ".join(f"{item['name']} ({item['entity']})" for item in items)


def _about(content: Found) -> list[str]:
    """Write the lines above the triples of a question."""
    lines = [f"Note: {note}" for note in content["notes"]]
    if content["entities"]:
        lines.append(f"About: {_names(content['entities'])}")
    if content["error"]:
        lines.append(f"Reason: {content['error']}")
    if content["near"]:
        lines.append(f"Near names: {_names(content['near'])}")
    return lines


def _shown(retrieval: Retrieval) -> CallToolResult:
    content = found(Result(retrieval))
    return _result(content, _about(content))


def _result(content: Found, head: list[str]) -> CallToolResult:
    return _written(content, text_of(head, content["facts"], content["left_out"]))


def _written(content: Any, text: str) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=dict(content))
