"""What any graph can answer through its required methods: the defaults of KnowledgeGraph."""

from __future__ import annotations

from collections.abc import Sequence

from srtk_framework.values import Budget, DriverError, Frontier, GraphLike, Pattern, Step, Triple


def match(graph: GraphLike, patterns: Sequence[Pattern]) -> list[list[Triple]]:
    """Answer patterns by walking from the bound end; sorted, without duplicates."""
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


def neighbourhood(graph: GraphLike, frontiers: Sequence[Frontier], hops: int, budget: Budget) -> list[list[Triple]]:
    """Read all triples within ``hops`` breadth first, both directions, up to ``budget.triples`` each."""
    most = budget.triples if budget.triples is not None else float("inf")
    found: list[dict[Triple, None]] = [{} for _ in frontiers]
    seen = [set(frontier.ids()) for frontier in frontiers]
    current: list[Frontier] = list(frontiers)
    for _ in range(hops):
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
                if len(found[i]) >= most:
                    break
                found[i].setdefault(triple)
            following[i].update(nodes.ids())
        fresh = [sorted(new - old)[: budget.nodes] for new, old in zip(following, seen, strict=True)]
        for old, new in zip(seen, fresh, strict=True):
            old.update(new)
        current = list(graph.frontiers(fresh))
    return [list(triples) for triples in found]


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
