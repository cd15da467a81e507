"""Default hooks of KnowledgeGraph, built on its required methods."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from srtk_framework.text.id_spellings import own_spellings, shortened
from srtk_framework.values import Budget, DriverError, Frontier, GraphLike, Neighbourhood, Pattern, Step, Triple


def match(graph: GraphLike, patterns: Sequence[Pattern]) -> list[list[Triple]]:
    """Answer patterns by following steps from the bound end; sorted, without duplicates."""
    for pattern in patterns:
        if pattern.subject is None and pattern.object is None:
            raise DriverError(f"{pattern} binds neither subject nor object; bind at least one of them")
    starts = graph.frontiers([[p.subject if p.subject is not None else str(p.object)] for p in patterns])
    every = graph.steps(starts, True)
    pairs = [
        (i, step)
        for i, (pattern, steps) in enumerate(zip(patterns, every, strict=True))
        for step in steps
        if step.inverse == (pattern.subject is None) and pattern.relation in (None, step.relation)
    ]
    read = graph.triples([starts[i] for i, _ in pairs], [step for _, step in pairs], None)
    found: list[set[Triple]] = [set() for _ in patterns]
    for (i, _), triples in zip(pairs, read, strict=True):
        wanted = patterns[i].object
        found[i].update(t for t in triples if wanted is None or t.object == wanted)
    return [sorted(triples) for triples in found]


def neighbourhood(graph: GraphLike, frontiers: Sequence[Frontier], hops: int, budget: Budget) -> list[Neighbourhood]:
    """Read all triples within ``hops`` breadth first, both directions, up to ``budget.triples`` each.

    Returns:
        Per frontier its triples, with what the limits cut: ``hub`` counts omitted neighbours of a node along a step,
        ``nodes`` the nodes of a hop that were not expanded, and ``triples`` the triples that were read but exceeded
        the limit, plus one for each node that was not read because of it.
    """
    most = budget.triples if budget.triples is not None else float("inf")
    found: list[dict[Triple, None]] = [{} for _ in frontiers]
    left_out: list[set[Triple]] = [set() for _ in frontiers]
    cuts = [dict.fromkeys(("hub", "nodes", "triples"), 0) for _ in frontiers]
    seen = [set(frontier.ids()) for frontier in frontiers]
    current: list[Frontier] = list(frontiers)
    for hop in range(hops):
        open_ = [i for i in range(len(current)) if current[i].size and len(found[i]) < most]
        if not open_:
            break
        steps = graph.steps([current[i] for i in open_], True)
        pairs = [(i, step) for i, row in zip(open_, steps, strict=True) for step in row]
        at = [current[i] for i, _ in pairs]
        read = graph.triples(at, [step for _, step in pairs], budget.hub)
        reached = graph.follow(at, [step for _, step in pairs], budget.hub)
        following: list[set[str]] = [set() for _ in frontiers]
        for (i, _), triples, nodes in zip(pairs, read, reached, strict=True):
            for triple in triples:
                if len(found[i]) < most:
                    found[i].setdefault(triple)
                elif triple not in found[i]:
                    left_out[i].add(triple)
            following[i].update(nodes.ids())
            cuts[i]["hub"] += nodes.cut
        fresh = [sorted(new - old) for new, old in zip(following, seen, strict=True)]
        if hop < hops - 1:
            for cut, nodes_, triples_ in zip(cuts, fresh, found, strict=True):
                kept = nodes_[: budget.nodes]
                cut["nodes"] += len(nodes_) - len(kept)
                cut["triples"] += len(kept) if len(triples_) >= most else 0
        fresh = [nodes_[: budget.nodes] for nodes_ in fresh]
        for old, new in zip(seen, fresh, strict=True):
            old.update(new)
        current = list(graph.frontiers(fresh))
    for cut, triples_left in zip(cuts, left_out, strict=True):
        cut["triples"] += len(triples_left)
    return [Neighbourhood(triples, cut) for triples, cut in zip(found, cuts, strict=True)]


def own_ids(graph: GraphLike, prefixes: Mapping[str, str], ids: Sequence[str], relations: bool) -> list[str]:
    """Return the spelling of each entity that has a frontier; a relation is shortened by the prefixes alone."""
    if relations:
        return [shortened(id_, prefixes, relation=True) for id_ in ids]

    def known(some: Sequence[str]) -> set[str]:
        frontiers = graph.frontiers([[id_] for id_ in some])
        return {id_ for id_, frontier in zip(some, frontiers, strict=True) if frontier.size}

    return own_spellings(ids, prefixes, False, known)


def degrees(graph: GraphLike, ids: Sequence[str]) -> list[int]:
    """Count the triples at each node by reading them; a triple from a node to itself counts once."""
    starts = graph.frontiers([[id_] for id_ in ids])
    steps = graph.steps(starts, True)
    pairs: list[tuple[int, Step]] = [(i, step) for i, row in enumerate(steps) for step in row]
    read = graph.triples([starts[i] for i, _ in pairs], [step for _, step in pairs], None)
    # A triple from a node to itself is read from either end.
    found: list[set[Triple]] = [set() for _ in ids]
    for (i, _), triples in zip(pairs, read, strict=True):
        found[i].update(triples)
    return [len(triples) for triples in found]
