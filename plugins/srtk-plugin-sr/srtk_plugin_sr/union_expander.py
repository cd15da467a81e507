"""The ``union`` expander: one subgraph out of several expanders' subgraphs, by their ranks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import attrs

from srtk_framework.graph import finish
from srtk_framework.roles import Expander, KnowledgeGraph
from srtk_framework.values import Budget, Question, RankedPath, SettingsError, Subgraph, Triple, each, positive, rounded

# Differences between far ranks would be below the fourth decimal.
_SCALE = 100

# The constant of Cormack et al. 2009; a greater constant makes ranks more alike.
_CONSTANT = 60

# With equal weights a worse expander takes the place of every second triple of a better one.
_BEHIND = 0.2


@attrs.define(eq=False)
class UnionExpander(Expander):
    """Unite the triples of several expanders by reciprocal rank fusion (Cormack et al. 2009).

    A triple's score is 100 times the sum of weight / (60 + rank) over the expanders that found it, with ranks from 1;
    ties keep the order of the expanders. The expanders' own scores are not compared. A question without links goes to
    the expanders that need none. Paths, meetings and searches of all expanders are kept, and the traces under
    ``parts``.

    With the default weights the first expander leads: its first 245 triples come before triples of other expanders
    alone, which fill the room that it leaves. With equal weights, a worse expander takes the place of every second
    triple of a better expander.

    Attributes:
        expanders: At least two expanders, the best first: its path of a triple has precedence.
        graph: Graph from which origins and qualifiers are read.
        budget: Limits on the result; the expanders have their own.
        weights: Weight of each expander; by default 1 for the first, and 0.2 for each further expander.
    """

    expanders: Sequence[Expander]
    graph: KnowledgeGraph
    budget: Budget = attrs.field(factory=Budget)
    weights: list[float] | None = attrs.field(default=None, validator=each(positive))

    def __attrs_post_init__(self) -> None:
        count = len(self.expanders)
        if count < 2:
            raise SettingsError(
                [(("expanders",), f"union has {count} expanders; name at least two under `expanders:`")]
            )
        if self.weights is not None and len(self.weights) != count:
            text = f"union has {len(self.weights)} weights for {count} expanders; give one for each"
            raise SettingsError([(("weights",), text)])

    def needs_links(self) -> bool:
        """Return whether all expanders need links."""
        return all(expander.needs_links() for expander in self.expanders)

    def expand(self, questions: Sequence[Question]) -> list[Subgraph]:
        """Expand by each, and unite."""
        if not questions:
            return []
        found: list[list[Subgraph]] = []
        for expander in self.expanders:
            asked = [i for i, q in enumerate(questions) if q.links or not expander.needs_links()]
            rows = [Subgraph(trace={"reason": "the question has no link"})] * len(questions)
            for i, subgraph in zip(asked, expander.expand([questions[i] for i in asked]), strict=True):
                rows[i] = subgraph
            found.append(rows)
        return finish(self.graph, [self._united(row) for row in zip(*found, strict=True)], self.budget)

    def _united(self, parts: Sequence[Subgraph]) -> Subgraph:
        """Unite the subgraphs of one question."""
        sums: dict[Triple, float] = {}
        path: dict[Triple, int] = {}
        paths: list[RankedPath] = []
        joins = []
        weights = self.weights or [1.0] + [_BEHIND] * (len(parts) - 1)
        for part, weight in zip(parts, weights, strict=True):
            before = len(paths)
            paths += part.paths
            joins += [attrs.evolve(join, paths=tuple(before + at for at in join.paths)) for join in part.joins]
            for rank, triple in enumerate(part.triples, 1):
                sums[triple] = sums.get(triple, 0.0) + weight / (_CONSTANT + rank)
                at = part.path_of[rank - 1] if part.path_of else -1
                if at >= 0:
                    path.setdefault(triple, before + at)
        scores = {triple: rounded(_SCALE * value) for triple, value in sums.items()}
        # The sort is stable: ties keep the order of the expanders.
        order = sorted(scores, key=lambda triple: -scores[triple])
        trace: dict[str, Any] = {"parts": [dict(part.trace) for part in parts]}
        cut: Counter[str] = Counter()
        for part in parts:
            cut.update(part.trace.get("cut", {}))
        if cut:
            trace["cut"] = dict(cut)
        if not order:
            trace["reason"] = "; ".join(dict.fromkeys(str(part.trace.get("reason", "nothing found")) for part in parts))
        return Subgraph(
            triples=tuple(order),
            scores=tuple(scores[triple] for triple in order),
            paths=tuple(paths),
            path_of=tuple(path.get(triple, -1) for triple in order),
            trace=trace,
            joins=tuple(joins),
            searches=tuple(search for part in parts for search in part.searches),
        )
