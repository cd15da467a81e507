"""Questions to a graph from Python, without a recipe: ``Retriever`` and ``ask``.

This file imports values alone, so that a program which imports ``Retriever`` starts at once; the functions import what
they need.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

import attrs

from srtk_framework.values import Question, RecipeError
from srtk_framework.values.budget import WAITING

if TYPE_CHECKING:
    from srtk_framework.host.observers import Observer
    from srtk_framework.roles import Role
    from srtk_framework.run.graph_source import Graph
    from srtk_framework.run.result import Result
    from srtk_framework.run.session import Session

_ROLES = {
    "linker": "entity_linker",
    "scorer": "path_scorer",
    "encoder": "encoder",
    "expander": "expander",
    "reader": "reader",
}


class Retriever:
    """Asks a graph questions, by the default drivers or given drivers.

    It opens its drivers at the first question, from whatever thread, and closes them at the end of a ``with`` block, by
    ``close``, or when it and its session are collected. As a session does, it may be used from several threads, and is
    copied and pickled as its recipe.

    Args:
        graph: A ``Graph``, or whatever ``Graph.open`` takes.
        depth: Most steps of a path; by default the expander's.
        triples: Most triples of a result; 0 for no limit.
        linker: Entity linker: a name, a mapping of settings (of the default driver where it has no ``use``), a class
            or an object; by default the linker that suits the graph.
        scorer: Path scorer, likewise.
        encoder: Encoder, likewise: ``{"model": "intfloat/e5-small-v2"}``.
        expander: Search, likewise: ``{"width": 30}``, ``"bfs"``.
        reader: Reader, likewise: ``"paths"`` answers each question; by default none.
        observers: Are notified of every hook call.
        waiting: Most calls that may wait; see ``Session``.
        keys: Further keys of a recipe, such as ``batch``.

    Attributes:
        graph: The graph.
        session: The session of the drivers.

    Raises:
        PluginError: If drivers are not installed; names all of them.
        RecipeError: Naming every setting that does not fit.
    """

    def __init__(
        self,
        graph: Any,
        *,
        depth: int | None = None,
        triples: int | None = None,
        linker: Any = None,
        scorer: Any = None,
        encoder: Any = None,
        expander: Any = None,
        reader: Any = None,
        observers: Sequence[Observer] = (),
        waiting: int | None = WAITING,
        **keys: Any,
    ) -> None:
        from srtk_framework.run.graph_source import Graph

        self.graph = Graph.open(graph)
        values = {"linker": linker, "scorer": scorer, "encoder": encoder, "expander": expander, "reader": reader}
        given = {_ROLES[name]: value for name, value in values.items() if value is not None}
        self._compose(_recipe(self.graph, depth, triples, given, keys), observers, waiting)

    def _compose(self, recipe: Mapping[str, Any], observers: Sequence[Observer], waiting: int | None) -> None:
        from srtk_framework.recipe.recipe import VERSION
        from srtk_framework.run.session import open_session

        self._recipe = recipe
        self.session: Session = open_session({"srtk": VERSION, **recipe}, (), observers, waiting)
        self._numbers = itertools.count(1)

    def ask(self, question: str | Question) -> Result:
        """Answer one question; a question that fails raises nothing, and its result has the reason under ``error``."""
        return self.ask_all([question])[0]

    def ask_all(self, questions: Iterable[str | Question]) -> list[Result]:
        """Answer many questions, in order; several at once are faster than one by one."""
        return list(self.stream(questions))

    def stream(self, questions: Iterable[str | Question]) -> Iterator[Result]:
        """Answer questions one by one as they are finished; reads no more of them than the next batch needs."""
        from srtk_framework.run.result import result_of

        self.open()
        return (result_of(self.session, one) for one in self.session.stream(map(self._question, questions)))

    async def aask(self, question: str | Question) -> Result:
        """Answer one question without holding up the event loop."""
        import asyncio  # which loads ssl and sockets

        from srtk_framework.run.result import aresult_of

        await asyncio.to_thread(self.open)
        [retrieval] = await self.session.aretrieve([self._question(question)])
        return await aresult_of(self.session, retrieval)

    def open(self) -> Retriever:
        """Open the drivers; does nothing where they are open."""
        if not self.session.is_open:
            with self.session.turn(opened=False), self.graph.built_alone():
                if not self.session.is_open:
                    self.session.open()
        return self

    def close(self) -> None:
        """Close the drivers."""
        self.session.close()

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy or pickle the graph and the recipe; see ``Session``."""
        from srtk_framework.recipe.recipe import located

        self.session.__reduce__()
        graph = attrs.evolve(self.graph, block=located(self.graph.block))
        return _arrived, (type(self), graph, located(self._recipe), self.session.waiting)

    def to_yaml(self) -> str:
        """Write the recipe, which gives the same triples; with ``questions:`` and ``exporters:`` it can be run.

        Raises:
            RecipeError: If a driver or a setting is an object that no text names.
        """
        import yaml

        from srtk_framework.recipe.recipe import VERSION

        data = {"srtk": VERSION, **{key: _written(key, value) for key, value in self._recipe.items()}}
        return yaml.safe_dump(data, sort_keys=False, allow_unicode=True, width=100)

    def _question(self, asked: str | Question) -> Question:
        """Make a question of a text, numbered from 1 over all questions asked."""
        if isinstance(asked, Question):
            return asked
        return Question(str(next(self._numbers)), asked)

    def __enter__(self) -> Retriever:
        return self.open()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        names = ", ".join(f"{role}={name}" for role, name in self.session.drivers if role != "knowledge_graph")
        return f"<Retriever of {self.graph.name}: {names}>"


def ask(graph: Any, question: str | Question, **settings: Any) -> Result:
    """Answer one question about a graph; to ask several, make a ``Retriever``, which loads its drivers once.

    Args:
        graph: A ``Graph``, or whatever ``Graph.open`` takes: a file, a folder, an address, ``wikidata``.
        question: In words.
        settings: Keyword arguments of ``Retriever``, such as ``depth`` or ``triples``.

    Raises:
        SrtkError: If drivers are missing, a setting does not fit, or a driver cannot be opened.
    """
    with Retriever(graph, **settings) as retriever:
        return retriever.ask(question)


def _arrived(kind: type[Retriever], graph: Graph, recipe: Mapping[str, Any], waiting: int | None) -> Retriever:
    """Compose a retriever that was copied or pickled; it opens at its first question."""
    retriever = kind.__new__(kind)
    retriever.graph, retriever._numbers = graph, itertools.count(1)
    retriever._compose(recipe, (), waiting)
    return retriever


def _recipe(
    graph: Graph, depth: int | None, triples: int | None, given: Mapping[str, Any], keys: Mapping[str, Any]
) -> dict[str, Any]:
    """Write the recipe of a retriever, without its version.

    Raises:
        RecipeError: If a depth is given for an expander that is an object.
    """
    from srtk_framework.roles import Role
    from srtk_framework.run.default_drivers import default_drivers, suited_to

    given = dict(given)
    if depth is not None:
        expander = given.get("expander", {})
        if isinstance(expander, Role):
            raise RecipeError([f"depth: {type(expander).__name__} is an object, so give it its own depth"])
        given["expander"] = {**(expander if isinstance(expander, Mapping) else {"use": expander}), "depth": depth}
    recipe = default_drivers(graph.block, given)
    rest = dict(keys)
    limits = rest.pop("budget", {})
    if not isinstance(limits, Mapping):
        limits = attrs.asdict(limits)
    budget = {**suited_to(graph.block).get("budget", {}), **limits}
    if triples is not None:
        budget["triples"] = triples or None
    return {**recipe, **({"budget": budget} if budget else {}), **rest}


def _written(where: str, value: Any) -> Any:
    """Write a value of a recipe as plain data; a driver as its name and the settings that differ from the defaults.

    Raises:
        RecipeError: If no text names it.
    """
    from srtk_framework.roles import Role

    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, str | Path):
        return str(value)
    if isinstance(value, Mapping):
        return {str(key): _written(f"{where}.{key}", item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_written(f"{where}.{i}", item) for i, item in enumerate(value)]
    if isinstance(value, type) and issubclass(value, Role):
        return _name_of(where, value)
    if attrs.has(type(value)):
        named = {"use": _name_of(where, type(value))} if isinstance(value, Role) else {}
        return named | {
            field.alias: _written(f"{where}.{field.alias}", getattr(value, field.name))
            for field in attrs.fields(type(value))
            if field.init and getattr(value, field.name) != _default(field)
        }
    raise RecipeError([f"{where}: {type(value).__name__} is an object that cannot be written into a recipe"])


def _default(field: Any) -> Any:
    """Return the default of a field; ``NOTHING`` where it has none, or where it depends on other fields."""
    if isinstance(field.default, attrs.Factory):  # type: ignore[arg-type]
        return attrs.NOTHING if field.default.takes_self else field.default.factory()
    return field.default


def _name_of(where: str, cls: type[Role]) -> str:
    """Return the name of a driver's class in recipes: its entry point, else its place.

    Raises:
        RecipeError: If another process cannot import it.
    """
    from srtk_framework.host.discovery import find

    target = f"{cls.__module__}:{cls.__qualname__}"
    name = next((plugin.name for plugin in find(cls.role) if plugin.target == target), target)
    if cls.__module__ == "__main__" or "<locals>" in target:
        raise RecipeError([f"{where}: {cls.__qualname__} stands in no module that a recipe could name; move it to one"])
    return name
