"""Variants of an open session: its expander, graph or linker with other settings, to try the remedies."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, TypeVar

import attrs

from srtk_framework.host import Port, driver_of, port
from srtk_framework.recipe import Block
from srtk_framework.roles import EntityLinker, Expander, Explainable, GraphView, KnowledgeGraph, Role
from srtk_framework.run import Pipeline, Session
from srtk_framework.values import Budget, DriverError, Link, Question, Retrieval, Schema

T = TypeVar("T")

NOISE = "knowledge_graph.noise"
TOPICS = "question_entities"  # A field of the question, since no setting of the recipe can link by hand.
# Changes that are no setting of the expander or its budget: of the graph, of the question, of the run.
RELINK = "relink"

# New values by key, written as for ``--set``; ``question_entities`` is a field of the question.
Changes = Mapping[str, Any]


@attrs.frozen
class Place:
    """An expander of a recipe, the main one of a method or one within it.

    Attributes:
        key: Key in the recipe, such as ``expander.inner``.
        driver: The driver itself, without its port.
        written: Settings in the recipe.
    """

    key: str
    driver: Any
    written: Mapping[str, Any] = attrs.field(factory=dict)

    def inner(self) -> list[tuple[str, Expander, Place]]:
        """Return the expanders that this one holds, each with the name of its field."""
        found = []
        for name, value in _fields(self.driver):
            if isinstance(value, Expander):
                block = self.written.get(name)
                key = f"expanders.{block}" if isinstance(block, str) else f"{self.key}.{name}"
                written = block if isinstance(block, Mapping) else {}
                found.append((name, value, Place(key, driver_of(value), written)))
        return found

    def budget_key(self, name: str) -> str:
        """Return the key of the budget in a field: the block's own, or the recipe's."""
        return f"{self.key}.{name}" if name in self.written else "budget"


def _fields(driver: Any) -> list[tuple[str, Any]]:
    """Return the settings and needs of a driver by the names that a recipe uses."""
    fields = attrs.fields(type(driver)) if attrs.has(type(driver)) else ()
    return [(field.alias, getattr(driver, field.name)) for field in fields if field.init]


def place_of(session: Session, method: str) -> Place:
    """Return the place of a method's expander in the recipe."""
    recipe = session.recipe
    main = recipe.blocks.get("expander")
    block: Block | None = main if next(iter(session.methods)) == method else None
    if block is None:
        beside = (one for stage in recipe.stages.values() for one in stage.beside())
        named = [one for one in beside if str(one.settings.get("name", one.name)) == method]
        block = named[0] if named else main
    key = ".".join(map(str, block.where)) if block is not None else "expander"
    return Place(key, driver_of(session.methods[method]), block.settings if block is not None else {})


def key_of(place: Place, name: str) -> str | None:
    """Return the key of a setting of an expander, or of one within it; None where there is no such setting.

    Args:
        place: Place of the expander.
        name: Name of the setting, or its keys in a block of settings, such as ``search.margin``.
    """
    if _read(dict(_fields(place.driver)), name) is not None:
        return f"{place.key}.{name}"
    return next((key for *_, inner in place.inner() if (key := key_of(inner, name)) is not None), None)


def budget_keys(place: Place) -> dict[str, Budget]:
    """Return the budgets of an expander and of those within it, by their keys."""
    found = {place.budget_key(name): value for name, value in _fields(place.driver) if isinstance(value, Budget)}
    for *_, inner in place.inner():
        found = {**budget_keys(inner), **found}
    return found


def setting(expander: Expander, name: str) -> Any:
    """Read a setting of an expander, or of an expander that it holds; None where there is no such setting."""
    found = _first(expander, lambda one: _read(one.settings_in_force(), name))
    return None if found is None else found[0]


def _read(settings: Mapping[str, Any], name: str) -> tuple[Any] | None:
    """Read a setting by its keys; None where there is no such setting."""
    value: Any = settings
    for key in name.split("."):
        if attrs.has(type(value)):
            value = attrs.asdict(value, recurse=False)
        if not isinstance(value, Mapping) or key not in value:
            return None
        value = value[key]
    return (value,)


def limits_of(expander: Expander) -> Budget | None:
    """Return the limits of an expander, or of the first expander that it holds and that has some."""
    return _first(expander, lambda one: one.limits())


def chooser(expander: Expander) -> Explainable | None:
    """Return the driver of an expander, or of an expander within it, that reports its choices; None if none does."""
    return _first(expander, lambda one: found if isinstance(found := driver_of(one), Explainable) else None)


def _first(expander: Expander, read: Callable[[Expander], T | None]) -> T | None:
    """Return the first value that is not None, of an expander and then of the expanders that it holds."""
    found = read(expander)
    if found is not None:
        return found
    inner = (value for _, value in _fields(driver_of(expander)) if isinstance(value, Expander))
    return next((found for one in inner if (found := _first(one, read)) is not None), None)


@attrs.define(eq=False)
class QuietGraph(GraphView):
    """A graph with fewer noise relations.

    Attributes:
        noise: The patterns that are left.
    """

    noise: tuple[str, ...] = ()

    def schema(self) -> Schema:
        """Return the schema of the graph with the noise that is left."""
        return attrs.evolve(self.graph.schema(), noise=self.noise)

    def settings(self) -> dict[str, Any]:
        """Return the settings of the graph."""
        return self.graph.settings()


@attrs.frozen
class Variant:
    """An open expander with changed settings, and the graph that it searches."""

    expander: Expander
    graph: KnowledgeGraph


@contextmanager
def varied(
    session: Session, place: Place, expander: Expander, graph: KnowledgeGraph, changes: Changes
) -> Iterator[Variant]:
    """Open an expander with other settings beside the session's own; graph and models are shared.

    Drivers with changed settings are made anew, so that they check and prepare as usual. A driver that the recipe
    trains loads its model.

    Args:
        session: The open session.
        place: Place of the expander in the recipe.
        expander: The expander, behind its port.
        graph: Its graph.
        changes: The changes.

    Raises:
        DriverError: If a driver refuses a setting, or cannot be opened with it.
    """
    with ExitStack() as stack:
        other = graph
        if NOISE in changes:
            other = port(QuietGraph(graph, tuple(changes[NOISE])), KnowledgeGraph.role, "quiet")
        yield Variant(_varied(session, stack, place, expander, changes, graph, other), other)


def _varied(
    session: Session,
    stack: ExitStack,
    place: Place,
    expander: Expander,
    changes: Changes,
    graph: KnowledgeGraph,
    other: KnowledgeGraph,
) -> Expander:
    new: dict[str, Any] = {}
    inner = {name: _varied(session, stack, held, value, changes, graph, other) for name, value, held in place.inner()}
    for name, value in _fields(place.driver):
        key = f"{place.key}.{name}"
        if name in inner:
            if inner[name] is not value:
                new[name] = inner[name]
        elif isinstance(value, Budget):
            begin = f"{place.budget_key(name)}."
            limits = {key.removeprefix(begin): most for key, most in changes.items() if key.startswith(begin)}
            own = attrs.evolve(value, **limits)
            if own != value:
                new[name] = own
        elif isinstance(value, KnowledgeGraph):
            if other is not graph and driver_of(value) is driver_of(graph):
                new[name] = other
        elif key in changes and changes[key] != value:
            new[name] = changes[key]
        elif inside := {one.removeprefix(f"{key}."): changes[one] for one in changes if one.startswith(f"{key}.")}:
            new[name] = attrs.evolve(value, **inside)
    return _made_anew(session, stack, expander, new) if new else expander


def _made_anew(session: Session, stack: ExitStack, one: Any, new: Mapping[str, Any]) -> Any:
    """Make an open driver anew with other settings, and open it until the stack is closed."""
    driver: Role = driver_of(one)
    name = one.name if isinstance(one, Port) else type(driver).__name__
    try:
        made: Any = attrs.evolve(driver, **new)  # type: ignore[misc]
    except (TypeError, ValueError) as error:
        raise DriverError(str(error), name) from error
    opened: Any = port(made, driver.role, name)
    stack.callback(opened.close_driver)
    opened.open_driver()
    trained = trained_by(session)
    if trained is not None and trained[0] is driver:
        made.load(trained[1])
    return opened


def trained_by(session: Session) -> tuple[Any, Path] | None:
    """Return the driver that the recipe trains, without its port, and the folder of its model."""
    stages = session.recipe.stages.values()
    found = next((one for stage in stages if (one := stage.learnt(session.recipe.output)) is not None), None)
    return None if found is None else (driver_of(found[0]), found[1])


def linked_anew(session: Session, question: Question, changes: Changes) -> tuple[Link, ...]:
    """Link a question from its text by the recipe's linker with other settings."""
    linker = session.linker
    if linker is None:
        return ()
    new = {key.partition(".")[2]: value for key, value in changes.items() if key.startswith("entity_linker.")}
    with ExitStack() as stack:
        other: EntityLinker = _made_anew(session, stack, linker, new) if new else linker
        return tuple(other.link([question.text])[0])


def links_under(session: Session, question: Question, used: Sequence[Link], changes: Changes) -> tuple[Link, ...]:
    """Return the links that a question has under changed settings.

    Args:
        session: The open session.
        question: The question as in the input.
        used: The links that it has without the changes.
        changes: The changes.
    """
    if TOPICS in changes:
        return tuple(Link(entity) for entity in changes[TOPICS])
    if changes.get(RELINK) is False:
        return question.links
    if any(key.startswith("entity_linker.") for key in changes):
        return linked_anew(session, question, changes)
    return tuple(used)


def retrieved(variant: Variant, question: Question, links: Sequence[Link]) -> Retrieval:
    """Retrieve the subgraph of a question with given links."""
    asked = attrs.evolve(question, links=tuple(links))
    return Pipeline(variant.graph, None, None, False).retrieve([asked], variant.expander, read=False)[0]
