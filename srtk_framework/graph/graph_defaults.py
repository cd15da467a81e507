"""Default hooks of KnowledgeGraph, built on its required methods."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import attrs

from srtk_framework.text.id_spellings import own_spellings, shortened
from srtk_framework.values import Budget, DriverError, Frontier, GraphLike, Neighbourhood, Pattern, Step, Triple


def match(graph: GraphLike, patterns: Sequence[Pattern]) -> list[list[Triple]]:
    """Answer patterns by following steps from the bound end; sorted, without duplicates."""
    for pattern in patterns:
        # The required hooks start from nodes, and cannot list a whole graph.
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
        Per frontier its triples, with counts of the cuts: ``hub`` counts omitted neighbours of a node along a step,
        ``nodes`` the nodes of a hop that were not expanded. ``triples`` counts the triples that were read but exceeded
        the limit, and each node that was not read because of the limit.
    """
    most = budget.triples if budget.triples is not None else float("inf")
    around = [_Surroundings(frontier, most, set(frontier.ids())) for frontier in frontiers]
    for hop in range(hops):
        open_ = [one for one in around if one.frontier.size and not one.is_full]
        if not open_:
            break
        steps = graph.steps([one.frontier for one in open_], True)
        pairs = [(one, step) for one, row in zip(open_, steps, strict=True) for step in row]
        at, along = [one.frontier for one, _ in pairs], [step for _, step in pairs]
        read = graph.triples(at, along, budget.hub)
        reached = graph.follow(at, along, budget.hub)
        for (one, _), triples, nodes in zip(pairs, read, reached, strict=True):
            one.add(triples, nodes)
        fresh = [one.next_nodes(budget.nodes, hop == hops - 1) for one in around]
        for one, frontier in zip(around, graph.frontiers(fresh), strict=True):
            one.frontier = frontier
    return [Neighbourhood(one.found, {**one.cut, "triples": one.cut["triples"] + len(one.left_out)}) for one in around]


@attrs.define
class _Surroundings:
    """The triples read around one frontier.

    Attributes:
        frontier: The nodes of the current hop.
        most: Maximum number of triples.
        seen: Nodes of this hop and of those before.
        found: The triples, in order.
        left_out: Triples that were read beyond the maximum.
        following: Nodes that the current hop leads to.
        cut: Counts of the cuts, by limit.
    """

    frontier: Frontier
    most: float
    seen: set[str]
    found: dict[Triple, None] = attrs.field(factory=dict)
    left_out: set[Triple] = attrs.field(factory=set)
    following: set[str] = attrs.field(factory=set)
    cut: dict[str, int] = attrs.field(factory=lambda: dict.fromkeys(("hub", "nodes", "triples"), 0))

    @property
    def is_full(self) -> bool:
        return len(self.found) >= self.most

    def add(self, triples: Sequence[Triple], reached: Frontier) -> None:
        """Add the triples read along one step."""
        for triple in triples:
            if not self.is_full:
                self.found.setdefault(triple)
            elif triple not in self.found:
                self.left_out.add(triple)
        self.following.update(reached.ids())
        self.cut["hub"] += reached.cut

    def next_nodes(self, most: int | None, is_last: bool) -> list[str]:
        """Return the nodes of the next hop, and begin it."""
        fresh = sorted(self.following - self.seen)
        kept = fresh[:most]
        if not is_last:
            self.cut["nodes"] += len(fresh) - len(kept)
            self.cut["triples"] += len(kept) if self.is_full else 0
        self.seen.update(kept)
        self.following = set()
        return kept


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
