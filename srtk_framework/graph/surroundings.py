"""The triples around an entity, and those that connect two entities, for someone who looks around in a graph."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence

import attrs

from srtk_framework.graph.path_instances import instance_triples
from srtk_framework.graph.path_search import find_paths
from srtk_framework.values import Budget, GraphLike, Literal, Path, RankedPath, Step, Subgraph, Triple

LEFT_OUT = "left_out"
"""Field of a trace: step to how many of its triples are not shown; a ``+`` where the graph was not read to the end."""

_WAYS = 100
"""Most instances of a path that are looked at: a page of them is more than anyone reads."""


def neighbours(graph: GraphLike, entities: Sequence[str], most: int, hub: int) -> list[Subgraph]:
    """Read some triples around each entity, of as many relations as possible.

    Relations take turns, the relation with the fewest triples first: it describes the entity best. Of a relation,
    the neighbours with the most triples come first, since these are known best.

    Args:
        graph: Graph to read.
        entities: Entities; an unknown id has no triples.
        most: Most triples of an entity.
        hub: Most triples that are read of a relation.

    Returns:
        Per entity its triples. ``trace["left_out"]`` counts the triples of each relation that are not among them, and
        ``trace["reason"]`` says of an unknown id that the graph lacks it.
    """
    frontiers = graph.frontiers([[entity] for entity in entities])
    found = []
    for entity, frontier, steps in zip(entities, frontiers, graph.steps(frontiers, True), strict=True):
        read = dict(zip(steps, graph.triples([frontier] * len(steps), steps, hub), strict=True))
        found.append(_around(graph, read, most, hub, {} if frontier.size else {"reason": unknown_entities([entity])}))
    return found


def unknown_entities(entities: Sequence[str]) -> str:
    """Say that a graph lacks all of some entities."""
    return f"the graph has none of the entities {', '.join(entities)}; check their ids"


def _around(
    graph: GraphLike, read: Mapping[Step, Sequence[Triple]], most: int, hub: int, told: Mapping[str, object]
) -> Subgraph:
    """Choose among the triples of each step from an entity."""
    ends = sorted({end for step, row in read.items() for end in _entities(step, row)})
    degrees = dict(zip(ends, graph.degrees(ends), strict=True)) if ends else {}

    def rows() -> Iterator[tuple[Step, list[Triple]]]:
        for step, row in sorted(read.items(), key=lambda one: (len(one[1]), one[0])):
            known = {triple: degrees.get(_end(step, triple), 0) for triple in row}
            yield step, sorted(row, key=lambda triple: (-known[triple], triple))

    ranked = dict(rows())
    turns = itertools.chain.from_iterable(itertools.zip_longest(*ranked.values()))
    shown = list(itertools.islice(dict.fromkeys(triple for triple in turns if triple is not None), most))
    left = {step: len(set(row) - set(shown)) for step, row in ranked.items()}
    trace: dict[str, object] = {
        LEFT_OUT: {
            str(step): f"{left[step]}+" if len(row) >= hub else str(left[step])
            for step, row in ranked.items()
            if left[step] or len(row) >= hub
        },
        **told,
    }
    return _subgraph(graph, shown, trace)


def connections(graph: GraphLike, start: str, end: str, hops: int, budget: Budget) -> Subgraph:
    """Read the triples that connect two entities, on the shortest paths first.

    Args:
        graph: Graph to read.
        start: Entity at which the paths begin.
        end: Entity at which they end.
        hops: Most steps of a path.
        budget: ``triples``, ``hub`` and ``nodes`` apply.

    Returns:
        The paths with their triples. The score of a path is its number of steps below zero; ``trace["cut"]`` counts
        the triples that limits hid.
    """
    [found] = find_paths(graph, [[start]], [[end]], hops, budget, shortest=False)
    cut = dict(found.cut)
    paths: list[RankedPath] = []
    place: dict[Triple, int] = {}
    for path in found.paths:
        ways = list(itertools.islice(_ways(graph, start, end, path, budget.hub), _WAYS))
        new = [triple for triple in dict.fromkeys(itertools.chain.from_iterable(ways)) if triple not in place]
        if not ways:
            continue  # it visits a node twice
        if budget.triples is not None and len(place) + len(new) > budget.triples:
            # A path is shown whole or not at all: a part of it connects nothing.
            cut["triples"] = cut.get("triples", 0) + len(new)
            continue
        place.update((triple, len(paths)) for triple in new)
        paths.append(RankedPath(start, path, float(-len(path))))
    trace: dict[str, object] = {"paths": len(paths), **({"cut": cut} if cut else {})}
    if not found.paths:
        trace["reason"] = f"no path of at most {hops} step{'' if hops == 1 else 's'} connects them"
        known = graph.frontiers([[start], [end]])
        if strangers := [one for one, frontier in zip((start, end), known, strict=True) if not frontier.size]:
            trace["reason"] = unknown_entities(strangers)
    if start == end:
        trace["reason"] = "both are the same entity"
    subgraph = _subgraph(graph, list(place), trace)
    scores = tuple(paths[number].score for number in place.values())
    return attrs.evolve(subgraph, scores=scores, paths=tuple(paths), path_of=tuple(place.values()))


def _ways(graph: GraphLike, start: str, end: str, path: Path, hub: int | None) -> Iterator[tuple[Triple, ...]]:
    """Yield the instances of a path between two entities that visit no node twice, in order of their triples."""

    def read(nodes: Sequence[str], step: Step) -> Sequence[Triple]:
        return graph.triples(graph.frontiers([nodes]), [step], hub)[0]

    triples = instance_triples(read, start, path, [end])
    ways: list[tuple[str, tuple[str, ...], tuple[Triple, ...]]] = [(start, (start,), ())]
    while ways:
        node, visited, way = ways.pop()
        if len(way) == len(path):
            yield way
            continue
        step, last = path[len(way)], len(way) + 1 == len(path)
        for triple in reversed(triples):
            begin, next_ = (triple.object, triple.subject) if step.inverse else (triple.subject, triple.object)
            if triple.relation == step.relation and begin == node and next_ not in visited and (next_ == end) == last:
                ways.append((next_, (*visited, next_), (*way, triple)))


def _end(step: Step, triple: Triple) -> str:
    return triple.subject if step.inverse else triple.object


def _entities(step: Step, row: Sequence[Triple]) -> list[str]:
    """Return the entities behind a step; literals have no triples of their own."""
    return [end for triple in row if not isinstance(end := _end(step, triple), Literal)]


def _subgraph(graph: GraphLike, triples: Sequence[Triple], trace: dict[str, object]) -> Subgraph:
    """Make a subgraph of triples, with where each was read."""
    origins = graph.origins(triples) if triples else []
    return Subgraph(
        tuple(triples),
        scores=(0.0,) * len(triples),
        provenance=tuple(origin.source for origin in origins),
        confidences=tuple(origin.confidence for origin in origins),
        trace=trace,
    )
