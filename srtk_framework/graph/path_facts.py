"""Triples along ranked paths, read within a budget."""

from __future__ import annotations

import functools
import heapq
import itertools
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import attrs

from srtk_framework.graph.instance import Instance, PathKey
from srtk_framework.values import (
    Budget,
    Frontier,
    GraphLike,
    Origin,
    RankedPath,
    RatedTriples,
    Step,
    Subgraph,
    Triple,
    rounded,
)

_ROUNDING = 1e-9
"""Relative tolerance for reaching a share of the mass."""


def path_order(path: RankedPath) -> tuple[float, tuple[str, ...], str]:
    """Order paths best first; ties are broken by the text of the steps, then by entity."""
    return (-rounded(path.score), tuple(map(_step_text, path.steps)), path.entity)


# Paths are compared very often, and a graph has few steps.
_step_text = functools.lru_cache(maxsize=1 << 16)(str)


def facts(
    graph: GraphLike,
    paths: Sequence[Sequence[RankedPath]],
    budget: Budget,
    known: Sequence[Mapping[PathKey, Frontier]] | None = None,
    traces: Sequence[Mapping[str, Any]] | None = None,
) -> list[Subgraph]:
    """Read the triples along ranked paths, best path first, within the budget.

    A triple is kept if it lies on a complete instance of its path, from the linked entity to the last step. The
    instances of a path follow one another, so that a cut leaves connected triples. Of a graph whose triples are not all
    certain (``RatedTriples``), the most confident instances of a path come first.

    Args:
        graph: Graph to read.
        paths: For each question its paths, best first. Paths without steps are skipped.
        budget: ``triples``, ``tokens``, ``mass``, ``hub`` and ``nodes`` apply. Paths beyond the mass are not read.
        known: For each question the frontiers of its search, which are not read again.
        traces: For each question its trace so far.

    Returns:
        One subgraph per question.
    """
    gathered: list[dict[Triple, int]] = [{} for _ in paths]
    cut: list[dict[str, int]] = [dict((trace or {}).get("cut", {})) for trace in traces or [{} for _ in paths]]
    frontiers: list[dict[PathKey, Frontier]] = [dict(k) for k in (known or [{} for _ in paths])]
    wanted = [row[: paths_within(row, budget.mass)] for row in paths]
    for rank in range(max((len(row) for row in wanted), default=0)):
        turn = [
            i
            for i, row in enumerate(wanted)
            if rank < len(row) and row[rank].steps and (budget.triples is None or len(gathered[i]) < budget.triples)
        ]
        chosen = [paths[i][rank] for i in turn]
        hops = _read_path_triples(graph, chosen, [frontiers[i] for i in turn], budget, [cut[i] for i in turn])
        for i, path, levels in zip(turn, chosen, hops, strict=True):
            _add_instances(path, levels, rank, gathered[i], cut[i], budget.triples)
    subgraphs = [
        _subgraph(row, len(within), found, lost, trace, budget.triples)
        for row, within, found, lost, trace in zip(
            paths, wanted, gathered, cut, traces or [{} for _ in paths], strict=True
        )
    ]
    return finish(graph, subgraphs, budget)


def _subgraph(
    paths: Sequence[RankedPath],
    within: int,
    found: Mapping[Triple, int],
    cut: dict[str, int],
    trace: Mapping[str, Any],
    most: int | None,
) -> Subgraph:
    """Return the triples along the paths of a question, and count the paths that were not read.

    Args:
        paths: Its paths, best first.
        within: How many of them the mass reaches.
        found: Its triples, with the rank of the path of each.
        cut: Counts of the cuts, by limit.
        trace: Its trace so far.
        most: Maximum number of triples.
    """
    reached = max(found.values(), default=-1) + 1 if most is not None and len(found) >= most else within
    _count(cut, "paths", sum(1 for path in paths[reached:within] if path.steps))
    _count(cut, "mass", sum(1 for path in paths[within:] if path.steps))
    return Subgraph(
        triples=tuple(found),
        scores=tuple(rounded(paths[rank].score) for rank in found.values()),
        paths=tuple(attrs.evolve(path, score=rounded(path.score)) for path in paths),
        path_of=tuple(found.values()),
        trace={**trace, "cut": dict(sorted(cut.items()))} if cut else dict(trace),
    )


def instances(
    graph: GraphLike,
    paths: Sequence[RankedPath],
    known: Sequence[Mapping[PathKey, Frontier]],
    budget: Budget,
    cuts: Sequence[dict[str, int]],
) -> Sequence[Sequence[Instance]]:
    """Read the complete instances of each path, the most confident first, else depth first.

    Args:
        graph: Graph to read.
        paths: Paths with at least one step.
        known: For each path the frontiers of its question's search, which are not read again.
        budget: ``triples`` is the maximum number of instances of a path; ``hub`` and ``nodes`` apply.
        cuts: For each path, where the nodes left out are counted, by limit.

    Returns:
        Per path its instances.
    """
    if (arrays := graph.arrays()) is not None:
        from srtk_framework.graph.path_arrays import instances_by_number  # numpy is not needed without arrays

        before = [_before_steps(path, row) for path, row in zip(paths, known, strict=True)]
        if lacking := [i for i, row in enumerate(before) if None in row]:
            own = [dict(known[i]) for i in lacking]
            _follow_paths(graph, [paths[i] for i in lacking], own, budget, [cuts[i] for i in lacking])
            for i, row in zip(lacking, own, strict=True):
                before[i] = _before_steps(paths[i], row)
        return instances_by_number(arrays, paths, before, known, budget, cuts)
    frontiers = [dict(row) for row in known]
    levels = _read_path_triples(graph, paths, frontiers, budget, cuts)
    return [_chains(path, row, budget.triples) for path, row in zip(paths, levels, strict=True)]


def _before_steps(path: RankedPath, known: Mapping[PathKey, Frontier]) -> list[Any]:
    """Return the frontier before each step of a path; None for one that is not known."""
    return [known.get((path.entity, path.steps[:depth])) for depth in range(len(path.steps))]


def instances_among(
    triples: Sequence[Triple], path: RankedPath, starts: Collection[str], most: int | None
) -> list[Instance]:
    """Find the complete instances of a path among some triples, in the order of ``instances``.

    Args:
        triples: The triples, in the order of the instances.
        path: A path with at least one step.
        starts: Nodes at which the instances start.
        most: Maximum number of instances.
    """
    confidences = RatedTriples.confidences_of(triples)
    levels = [RatedTriples((t for t in triples if t.relation == step.relation), confidences) for step in path.steps]
    levels[0] = RatedTriples((t for t in levels[0] if _ends(t, path.steps[0])[0] in starts), confidences)
    return _chains(path, levels, most)


def _chains(path: RankedPath, levels: Sequence[Sequence[Triple]], most: int | None) -> list[Instance]:
    onward = _onward(path, levels)
    if confidences := _confidences(levels):
        return list(itertools.islice(_most_confident_first(path, onward, confidences), most))
    chains: list[Instance] = []
    # The first hop starts at the linked entity, which the graph may know by another id (the target of a redirect).
    stack: list[tuple[Triple, ...]] = [(t,) for t in reversed(list(itertools.chain(*onward[0].values())))]
    while stack and (most is None or len(chains) < most):
        chain = stack.pop()
        depth = len(chain)
        end = _ends(chain[-1], path.steps[depth - 1])[1]
        if depth == len(path.steps):
            chains.append(Instance(chain, end))
            continue
        stack.extend((*chain, t) for t in reversed(onward[depth].get(end, ())))
    return chains


def _confidences(levels: Sequence[Sequence[Triple]]) -> dict[Triple, float]:
    """Return the confidence of the triples that are not certain."""
    found: dict[Triple, float] = {}
    for triples in levels:
        for triple, confidence in RatedTriples.confidences_of(triples).items():
            found[triple] = max(confidence, found.get(triple, 0.0))
    return found


def _most_confident_first(
    path: RankedPath, onward: Sequence[Mapping[str, Sequence[Triple]]], confidences: Mapping[Triple, float]
) -> Iterator[Instance]:
    """Yield the complete instances by confidence; equal ones depth first, as without confidences."""
    first = enumerate(itertools.chain(*onward[0].values()))
    # No instance is more confident than its beginning, so that the best beginning is always the next to go on.
    heap: list[tuple[float, tuple[int, ...], tuple[Triple, ...]]]
    heap = [(-confidences.get(triple, 1.0), (place,), (triple,)) for place, triple in first]
    heapq.heapify(heap)
    while heap:
        negative, places, chain = heapq.heappop(heap)
        end = _ends(chain[-1], path.steps[len(chain) - 1])[1]
        if len(chain) == len(path.steps):
            yield Instance(chain, end, -negative)
            continue
        for place, triple in enumerate(onward[len(chain)].get(end, ())):
            heapq.heappush(heap, (negative * confidences.get(triple, 1.0), (*places, place), (*chain, triple)))


def _read_path_triples(
    graph: GraphLike,
    paths: Sequence[RankedPath],
    frontiers: Sequence[dict[PathKey, Frontier]],
    budget: Budget,
    cuts: Sequence[dict[str, int]],
) -> list[list[Sequence[Triple]]]:
    """Read the triples of each hop of each path; add missing frontiers to ``frontiers`` and cuts to ``cuts``."""
    _follow_paths(graph, paths, frontiers, budget, cuts)
    pairs = [(i, depth) for i, path in enumerate(paths) for depth in range(len(path.steps))]
    inner = [(i, d) for i, d in pairs if d + 1 < len(paths[i].steps)]
    last = [(i, d) for i, d in pairs if d + 1 == len(paths[i].steps)]
    # At the last hop, a node needs no more triples than the budget has room for, plus one to detect the cut.
    most = min((n + 1 for n in (budget.hub, budget.triples) if n is not None), default=None)
    levels: list[list[Sequence[Triple]]] = [[()] * len(path.steps) for path in paths]
    for wanted, limit in ((inner, budget.hub), (last, most)):
        if not wanted:
            continue
        at = [frontiers[i][paths[i].entity, paths[i].steps[:d]] for i, d in wanted]
        for (i, d), triples in zip(
            wanted, graph.triples(at, [paths[i].steps[d] for i, d in wanted], limit), strict=True
        ):
            levels[i][d] = triples
    if budget.hub is not None and most == budget.hub + 1:
        for i, d in last:
            levels[i][d], dropped = _within_hub(levels[i][d], paths[i].steps[d], budget.hub)
            if (paths[i].entity, paths[i].steps) not in frontiers[i]:  # else ``follow`` has counted it
                _count(cuts[i], "hub", dropped)
    return levels


def _follow_paths(
    graph: GraphLike,
    paths: Sequence[RankedPath],
    frontiers: Sequence[dict[PathKey, Frontier]],
    budget: Budget,
    cuts: Sequence[dict[str, int]],
) -> None:
    """Add the frontier before each step of each path, where it is missing."""
    lacking = [i for i, path in enumerate(paths) if (path.entity, ()) not in frontiers[i]]
    begun = graph.frontiers([[paths[i].entity] for i in lacking]) if lacking else ()
    for i, frontier in zip(lacking, begun, strict=True):
        frontiers[i][paths[i].entity, ()] = frontier
    for depth in range(1, max((len(path.steps) for path in paths), default=0)):
        live = [
            i
            for i, path in enumerate(paths)
            if depth < len(path.steps) and (path.entity, path.steps[:depth]) not in frontiers[i]
        ]
        if not live:
            continue
        at = [frontiers[i][paths[i].entity, paths[i].steps[: depth - 1]] for i in live]
        reached = graph.follow(at, [paths[i].steps[depth - 1] for i in live], budget.hub)
        for i, frontier in zip(live, reached, strict=True):
            frontiers[i][paths[i].entity, paths[i].steps[:depth]] = frontier
            _count(cuts[i], "hub", frontier.cut)


def _within_hub(triples: Sequence[Triple], step: Step, hub: int) -> tuple[list[Triple], int]:
    """Keep the first ``hub`` triples of each start node; return them and the number of dropped triples."""
    kept = RatedTriples((), RatedTriples.confidences_of(triples))
    for _, group in itertools.groupby(triples, key=lambda triple: _ends(triple, step)[0]):
        kept += itertools.islice(group, hub)
    return kept, len(triples) - len(kept)


def _count(cut: dict[str, int], limit: str, dropped: int) -> None:
    if dropped:
        cut[limit] = cut.get(limit, 0) + dropped


def _ends(triple: Triple, step: Step) -> tuple[str, str]:
    return (triple.object, triple.subject) if step.inverse else (triple.subject, triple.object)


def _onward(path: RankedPath, levels: Sequence[Sequence[Triple]]) -> list[dict[str, list[Triple]]]:
    """Return, per hop, the triples of complete instances by the node that they start from."""
    onward: list[dict[str, list[Triple]]] = []
    alive: set[str] | None = None
    for step, triples in zip(reversed(path.steps), reversed(levels), strict=True):
        by_start: dict[str, list[Triple]] = {}
        for triple in triples:
            start, end = _ends(triple, step)
            if alive is None or end in alive:
                by_start.setdefault(start, []).append(triple)
        alive = set(by_start)
        onward.append(by_start)
    onward.reverse()
    return onward


def _add_instances(
    path: RankedPath,
    levels: Sequence[Sequence[Triple]],
    rank: int,
    found: dict[Triple, int],
    cut: dict[str, int],
    most: int | None,
) -> None:
    """Add the triples of the path's complete instances, in their order, up to ``most`` triples in total."""
    onward = _onward(path, levels)
    if confidences := _confidences(levels):
        lacking = {triple for hop in onward for row in hop.values() for triple in row} - found.keys()
        for instance in _most_confident_first(path, onward, confidences):
            if not lacking or (most is not None and len(found) >= most):
                break
            fresh = dict.fromkeys(triple for triple in instance.triples if triple in lacking)
            if most is None or len(found) + len(fresh) <= most:
                found.update(dict.fromkeys(fresh, rank))
                lacking -= fresh.keys()
        _count(cut, "triples", len(lacking))
        return
    visited: set[tuple[int, str]] = set()
    # The first hop starts at the linked entity, which the graph may know by another id (the target of a redirect).
    stack: list[tuple[int, Triple]] = [(0, t) for t in reversed(list(itertools.chain(*onward[0].values())))]
    dropped = 0
    while stack:
        depth, triple = stack.pop()
        if triple not in found:
            if most is not None and len(found) >= most:
                dropped += 1
                continue
            found[triple] = rank
        node = (depth + 1, _ends(triple, path.steps[depth])[1])
        if depth + 1 < len(path.steps) and node not in visited:
            visited.add(node)
            stack.extend((depth + 1, t) for t in reversed(onward[depth + 1].get(node[1], ())))
    _count(cut, "triples", dropped)


def reaching(scores: Sequence[float], mass: float | None) -> int:
    """Return how many of the scores, in descending order, reach a share of their mass ``sum(exp(score))``.

    Scores are logarithmic: log-probabilities or their sums, or logits.
    """
    if mass is None or mass >= 1 or not scores:
        return len(scores)
    best = max(scores)
    sums = list(itertools.accumulate(math.exp(score - best) for score in scores))
    return 1 + next(i for i, reached in enumerate(sums) if reached >= mass * sums[-1] * (1 - _ROUNDING))


def paths_within(paths: Sequence[RankedPath], mass: float | None) -> int:
    """Return how many of the ranked paths hold a share of the score mass; paths without steps have no mass."""
    with_steps = [i for i, path in enumerate(paths) if path.steps]
    if mass is None or not with_steps:
        return len(paths)
    most = reaching([rounded(paths[i].score) for i in with_steps], mass)
    return len(paths) if most == len(with_steps) else with_steps[most - 1] + 1


def within_mass(subgraph: Subgraph, mass: float | None) -> Subgraph:
    """Drop the triples beyond a share of the score mass (see ``Budget``); count them in ``trace["cut"]["mass"]``.

    The mass is summed over all paths if every triple has the score of its path, else over the triples.
    """
    if mass is None or not subgraph.triples:
        return subgraph
    rows = zip(subgraph.path_of, subgraph.scores, strict=True)
    if not all(rank >= 0 and score == rounded(subgraph.paths[rank].score) for rank, score in rows):
        return subgraph.first(reaching(subgraph.scores, mass), "mass")
    most = paths_within(subgraph.paths, mass)
    kept = [i for i, rank in enumerate(subgraph.path_of) if rank < most]
    order = [*kept, *(i for i, rank in enumerate(subgraph.path_of) if rank >= most)]
    return subgraph.ordered(order).first(len(kept), "mass")


def finish(graph: GraphLike, subgraphs: Sequence[Subgraph], budget: Budget) -> list[Subgraph]:
    """Cut subgraphs to the budget's mass, triples and tokens; add origins and qualifiers where they have none."""
    from srtk_framework.text.verbalise import within_tokens

    massive = [within_mass(s, budget.mass) for s in subgraphs]
    cut = [s.first(budget.triples) if budget.triples is not None else s for s in massive]
    bare, unplaced = [s.triples for s in cut if not s.qualifiers], [s.triples for s in cut if not s.provenance]
    qualified = list(dict.fromkeys(itertools.chain.from_iterable(bare)))
    qualifiers = dict(zip(qualified, map(tuple, graph.qualifiers(qualified)), strict=True))
    placed = qualified if unplaced == bare else list(dict.fromkeys(itertools.chain.from_iterable(unplaced)))
    origins = dict(zip(placed, graph.origins(placed), strict=True))
    whole = [
        attrs.evolve(
            s,
            **({} if s.provenance else _origin_fields(list(map(origins.__getitem__, s.triples)))),
            qualifiers=s.qualifiers or tuple(map(qualifiers.__getitem__, s.triples)),
        )
        for s in cut
    ]
    if budget.tokens is None:
        return whole
    # The text includes the qualifiers, so they are read before the cut.
    rows = [row for s in whole for row in (*s.triples, *(pair for pairs in s.qualifiers for pair in pairs))]
    ids = sorted({id_ for row in rows for id_ in row})
    labels = dict(zip(ids, graph.labels(ids), strict=True))
    return [within_tokens(s, labels, budget.tokens) for s in whole]


def _origin_fields(origins: list[Origin]) -> dict[str, Any]:
    """Return the fields of the triples' origins; confidences and evidence only where some triple is completed."""
    if origins and origins.count(origins[0]) == len(origins):  # most graphs have a single one, compared by identity
        one, size = origins[0], len(origins)
        return {
            "provenance": (one.provenance,) * size,
            "confidences": (one.confidence,) * size if one.confidence < 1 else (),
            "evidence": (one.evidence,) * size if one.evidence else (),
        }
    completed = any(origin.confidence < 1 for origin in origins)
    reasons = any(origin.evidence for origin in origins)
    return {
        "provenance": tuple(origin.provenance for origin in origins),
        "confidences": tuple(origin.confidence for origin in origins) if completed else (),
        "evidence": tuple(origin.evidence for origin in origins) if reasons else (),
    }
