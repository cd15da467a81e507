"""The ``union`` expander: one subgraph out of what several expanders find, by the ranks that they give."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import attrs

from srtk_framework.graph import finish
from srtk_framework.roles import Expander, KnowledgeGraph
from srtk_framework.values import Budget, Question, RankedPath, SettingsError, Subgraph, Triple, each, positive, rounded

_SCALE = 100
"""Factor of the sums, whose differences between far ranks are below the fourth decimal otherwise."""

_CONSTANT = 60
"""Makes ranks more alike the greater it is (Cormack et al. 2009)."""

_BEHIND = 0.2
"""Weight of all expanders but the first, by default."""


@attrs.define(eq=False)
class UnionExpander(Expander):
    """Unite the triples of several expanders by reciprocal rank fusion (Cormack et al. 2009).

    A triple's score is 100 times the sum of weight / (60 + rank) over the expanders that found it, ranks
    counted from 1; equal ones come in the order of the expanders. The scores of the expanders themselves are not
    compared. A question without links is given to those that need none. Paths, meetings and searches of all expanders
    are kept, and the traces under ``parts``.

    With the default weights the first expander leads: its first 245 triples come before any that only
    others found, and these fill what room it leaves. With equal weights, what a worse expander finds takes the place of
    every second triple of a better one.

    Attributes:
        expanders: At least two expanders, the best first: its path of a triple counts where several have one.
        graph: Graph from which origins and qualifiers are read.
        budget: Limits on the result; those of the expanders are their own.
        weights: Weight of each expander; by default 1 for the first, and 0.2 for each of the others.
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
