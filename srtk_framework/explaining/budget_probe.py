"""Repeated expansion with budget limits lifted, to find the limit that cut an answer."""

from __future__ import annotations

import copy
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import attrs

from srtk_framework.explaining.findings import Cut
from srtk_framework.graph.path_instances import names_of
from srtk_framework.host.ports import Port, driver_of, port
from srtk_framework.roles import Expander, Explainable, KnowledgeGraph
from srtk_framework.text.verbalise import subgraph_tokens
from srtk_framework.values import Budget, Retrieval, Subgraph

_ORDER = ("mass", "tokens", "triples", "nodes", "hub", "seconds")
_TRIPLES = 100_000
_FACTOR = 10
"""Factor by which ``nodes`` and ``hub`` are raised; a graph may be too large to lift them entirely."""
_DOUBLINGS = 8


def setting(expander: Expander, name: str) -> Any:
    """Read a setting of an expander, or of an expander that it holds; None where there is no such setting."""
    settings = expander.settings()
    if name in settings:
        return settings[name]
    return next((setting(inner, name) for _, inner in _held(driver_of(expander))), None)


def limits_of(expander: Expander) -> Budget | None:
    """Return the limits of an expander, or of the first expander that it holds and that has some."""
    found = expander.limits()
    if found is not None:
        return found
    inner = (limits_of(held) for _, held in _held(driver_of(expander)))
    return next((limits for limits in inner if limits is not None), None)


def chooser(expander: Expander) -> Explainable | None:
    """Return the driver of an expander, or of an expander within it, that reports its choices; None if none does."""
    driver = driver_of(expander)
    if isinstance(driver, Explainable):
        return driver
    return next((found for _, inner in _held(driver) if (found := chooser(inner)) is not None), None)


def _fields(driver: Any) -> list[tuple[str, Any]]:
    fields = attrs.fields(type(driver)) if attrs.has(type(driver)) else ()
    return [(field.name, getattr(driver, field.name)) for field in fields]


def _held(driver: Any) -> list[tuple[str, Expander]]:
    return [(name, value) for name, value in _fields(driver) if isinstance(value, Expander)]


def lifted(expander: Expander, limits: Mapping[str, int | None]) -> Expander:
    """Copy an open expander, including expanders within it, with other budget limits."""
    driver = copy.copy(driver_of(expander))
    for field, value in _fields(driver):
        if isinstance(value, Expander):
            setattr(driver, field, lifted(value, limits))
        elif isinstance(value, Budget):
            setattr(driver, field, attrs.evolve(value, **limits))
    name = expander.name if isinstance(expander, Port) else type(driver).__name__
    copied: Expander = port(driver, Expander.role, name)
    return copied


def cut_of(graph: KnowledgeGraph, expander: Expander, retrieval: Retrieval, missing: Collection[str]) -> Cut | None:
    """Find the limits that cut answers: the first limit that restores an answer when lifted, else a set of limits.

    Returns:
        None if no limit cut anything. ``places`` is empty if lifting the limits restores no answer.
    """
    dropped = retrieval.subgraph.trace.get("cut", {})
    budget = limits_of(expander)
    # Of the paths that a full subgraph leaves no room for, the triples are not read, so none of them is counted.
    full = {"triples"} if budget and budget.triples and len(retrieval.subgraph.triples) >= budget.triples else set()
    limits = [name for name in _ORDER if dropped.get(name) or name in full]
    if not limits or budget is None:
        return None
    for some in _tries(limits, budget):
        more = {name: _more(name, getattr(budget, name)) for name in some}
        subgraph = lifted(expander, more).expand([retrieval.question])[0]
        places = _places(subgraph, missing)
        if places:
            counts = {name: dropped[name] for name in some if name in dropped}
            return Cut(tuple(some), counts, places, _needed(graph, expander, retrieval, some, subgraph, places))
    return Cut(tuple(limits), {name: dropped[name] for name in limits if name in dropped})


def _tries(limits: Sequence[str], budget: Budget) -> list[list[str]]:
    """List the sets of limits to lift: each limit that cut something, then sets with the limits on output size."""
    rest = [name for name in ("tokens", "triples") if getattr(budget, name) is not None]
    wider = [rest] if "triples" in limits else []
    every = [[name] for name in limits] + [*wider, [name for name in _ORDER if name in limits or name in rest]]
    return [some for i, some in enumerate(every) if some not in every[:i]]


def _more(limit: str, value: Any) -> Any:
    if value is None or limit in ("mass", "tokens", "seconds"):
        return None
    return max(value, _TRIPLES) if limit == "triples" else value * _FACTOR


def _places(subgraph: Subgraph, missing: Collection[str]) -> dict[str, int]:
    places: dict[str, int] = {}
    for place, triple in enumerate(subgraph.triples, 1):
        for name in sorted(names_of(triple.subject) | names_of(triple.object)):
            if name in missing:
                places.setdefault(name, place)
    return places


def _needed(
    graph: KnowledgeGraph,
    expander: Expander,
    retrieval: Retrieval,
    limits: Sequence[str],
    subgraph: Subgraph,
    places: Mapping[str, int],
) -> dict[str, int]:
    """Find values of ``triples`` and ``tokens`` that retain all answers.

    The first values follow from the positions of the answers. They are tried and doubled until all answers are
    retained, as an expander may order its triples differently under other limits.
    """
    if not set(limits) <= {"triples", "tokens"}:
        return {}
    kept = subgraph.first(max(places.values()))
    rows = [*kept.triples, *(pair for pairs in kept.qualifiers for pair in pairs)]
    ids = sorted({id_ for row in rows for id_ in row})
    tokens = subgraph_tokens(kept, dict(zip(ids, graph.labels(ids), strict=True)))
    values = {name: len(kept.triples) if name == "triples" else tokens for name in limits}
    for _ in range(_DOUBLINGS):
        found = lifted(expander, values).expand([retrieval.question])[0]
        if _places(found, places).keys() >= places.keys():
            return values
        values = {name: 2 * value for name, value in values.items()}
    return {}
