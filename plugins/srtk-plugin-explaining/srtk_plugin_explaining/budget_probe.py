"""Repeated expansion with budget limits lifted, to find the limit that cut an answer."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

from srtk_framework.graph import names_of
from srtk_framework.roles import Expander, KnowledgeGraph
from srtk_framework.text import subgraph_tokens
from srtk_framework.values import Budget, Retrieval, Subgraph
from srtk_plugin_explaining.findings import Cut
from srtk_plugin_explaining.variants import limits_of

_ORDER = ("recall", "price", "mass", "tokens", "triples", "nodes", "hub", "seconds")
_TRIPLES = 100_000  # As good as no limit, but a hub cannot fill the memory.
_FACTOR = 10  # Factor by which ``nodes`` and ``hub`` are raised; a graph may be too large to lift them entirely.
_FRONTIER = ("hub", "nodes")  # Limits on frontiers.
_DOUBLINGS = 8  # Values of a limit that are tried, each twice the one before.


Lift = Callable[[Mapping[str, Any]], AbstractContextManager[Expander]]  # Opens the expander with other limits, by name.


def cut_of(
    graph: KnowledgeGraph, expander: Expander, lift: Lift, retrieval: Retrieval, missing: Collection[str]
) -> Cut | None:
    """Find the limits that cut answers: the first limit that restores an answer when lifted, else a set of limits.

    Args:
        graph: The graph.
        expander: The expander.
        lift: Opens it with other limits.
        retrieval: Its retrieval.
        missing: The answers that are not in the subgraph.

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
        more = {name: raised(name, getattr(budget, name)) for name in some}
        with lift(more) as other:
            subgraph = other.expand([retrieval.question])[0]
        places = _places(subgraph, missing)
        if places:
            counts = {name: dropped[name] for name in some if name in dropped}
            return Cut(tuple(some), counts, places, _needed(graph, lift, budget, retrieval, more, subgraph, places))
    return Cut(tuple(limits), {name: dropped[name] for name in limits if name in dropped})


def _tries(limits: Sequence[str], budget: Budget) -> list[list[str]]:
    """List the sets of limits to lift: each limit that cut something, then sets with the limits on output size."""
    rest = [name for name in ("tokens", "triples") if getattr(budget, name) is not None]
    wider = [rest] if "triples" in limits else []
    # What a limit cut may hide what another one would have cut.
    hidden = [name for name in _FRONTIER if getattr(budget, name) is not None] if set(limits) & set(_FRONTIER) else []
    every = [[name] for name in limits] + [
        *wider,
        [name for name in _ORDER if name in limits or name in rest],
        [name for name in _ORDER if name in limits or name in rest or name in hidden],
    ]
    return [some for i, some in enumerate(every) if some not in every[:i]]


def raised(limit: str, value: Any) -> Any:
    """Return the value at which a limit counts as lifted; None for no limit."""
    if limit == "recall":
        return 1.0  # None is what suits the search
    if limit == "price":
        return 0.0
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
    lift: Lift,
    budget: Budget,
    retrieval: Retrieval,
    lifted: Mapping[str, Any],
    subgraph: Subgraph,
    places: Mapping[str, int],
) -> dict[str, int]:
    """Find values of the lifted limits that retain all answers; without those that have to be lifted entirely.

    The first values of ``triples`` and ``tokens`` follow from the positions of the answers; ``hub`` and ``nodes``
    start at twice their values. They are tried and doubled until all answers are retained, as an expander may
    order its triples differently under other limits.
    """
    open_ended = {
        name: value
        for name, value in lifted.items()
        if name in ("recall", "price") or (value is None and name not in ("triples", "tokens"))
    }
    kept = subgraph.first(max(places.values()))
    values: dict[str, int] = {}
    for name in lifted.keys() - open_ended.keys():
        if name == "triples":
            values[name] = len(kept.triples)
        elif name == "tokens":
            values[name] = _tokens(graph, kept)
        else:
            values[name] = 2 * getattr(budget, name)
    values = dict(sorted(values.items()))
    for _ in range(_DOUBLINGS if values else 0):
        with lift({**open_ended, **values}) as other:
            found = other.expand([retrieval.question])[0]
        if _places(found, places).keys() >= places.keys():
            return values
        values = {name: 2 * value for name, value in values.items()}
    return {}


def _tokens(graph: KnowledgeGraph, subgraph: Subgraph) -> int:
    """Return the number of tokens of a subgraph's text form."""
    rows = [*subgraph.triples, *(pair for pairs in subgraph.qualifiers for pair in pairs)]
    ids = sorted({id_ for row in rows for id_ in row})
    return subgraph_tokens(subgraph, dict(zip(ids, graph.labels(ids), strict=True)))


def blocked_by(
    expander: Expander, lift: Lift, dropped: Mapping[str, int], follows: Callable[[Expander], bool]
) -> tuple[tuple[str, ...], dict[str, int]]:
    """Find the limits on frontiers that keep a search from going on along a path.

    A frontier that ``hub`` or ``nodes`` cut may lack the only node from which the next step leaves, so that the search
    never sees this step.

    Args:
        expander: The expander.
        lift: Opens it with other limits.
        dropped: Cuts of the retrieval, by limit.
        follows: Returns whether the search sees the step.

    Returns:
        The limits, and values that have been tried; both empty if no limit is the cause.
    """
    budget = limits_of(expander)
    names = [name for name in _FRONTIER if getattr(budget, name, None) is not None]
    cutting = [name for name in names if dropped.get(name)]
    # What one limit cut may hide what the other one would have cut.
    for some in [*([name] for name in cutting), *([names] if cutting and len(names) > 1 else [])]:
        values = {name: 2 * getattr(budget, name) for name in some}
        for _ in range(_DOUBLINGS):
            with lift(values) as other:
                if follows(other):
                    return tuple(some), values
            values = {name: 2 * value for name, value in values.items()}
    return (), {}
