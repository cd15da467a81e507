"""The expander ``index``: the triples of the entries that fit a question best."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from srtk_framework.graph import finish
from srtk_framework.roles import Expander, Index, KnowledgeGraph
from srtk_framework.values import Budget, DriverError, Hit, Pattern, Question, Subgraph, Triple

REFUSE, KEEP = "refuse", "keep"


@attrs.define(eq=False)
class IndexExpander(Expander):
    """Search an index for the text of each question, and keep the triples of the best entries.

    No links are needed. A triple has the score of the first entry that has it; the triples of an entry keep their
    order. Only triples that the graph holds are kept: others are counted in the trace as ``missing``. The trace has
    the hits whose triples are kept, each with id and score.

    Attributes:
        index: Index that searches texts, such as one over the corpus ``triples``.
        graph: Graph that the triples are of.
        budget: Limits of a question.
        k: Number of entries to retrieve.
        stale: ``refuse`` an index that was built from another graph, or ``keep`` what of it the graph holds.
    """

    index: Index
    graph: KnowledgeGraph
    budget: Budget = attrs.field(factory=Budget)
    k: int = attrs.field(default=100, validator=attrs.validators.ge(1))
    stale: str = attrs.field(default=REFUSE, validator=attrs.validators.in_((REFUSE, KEEP)))

    def open(self) -> None:
        """Refuse an index of vectors alone, and one of another graph."""
        if not self.index.searches_texts():
            raise DriverError("the index searches vectors, not texts; name one that searches texts, such as `bm25`")
        known, now = list(self.index.sources()), self.graph.source()
        if self.stale == REFUSE and known and now not in known:
            raise DriverError(
                f"the index was built from {', '.join(known)}, and the graph is {now}; build it again with"
                f" `srtk index build RECIPE`, or set `stale: {KEEP}` to use what of it the graph holds"
            )

    def needs_links(self) -> bool:
        """Return False: a question is searched by its text."""
        return False

    def expand(self, questions: Sequence[Question]) -> list[Subgraph]:
        """Search, and keep the triples that the graph holds."""
        found = self.index.search([question.text for question in questions], self.k)
        wanted = sorted({triple for hits in found for hit in hits for triple in hit.entry.triples})
        held: Mapping[Triple, Triple] = {
            triple: row[0]
            for triple, row in zip(wanted, self.graph.match([Pattern(*triple) for triple in wanted]), strict=True)
            if row
        }
        return finish(self.graph, [_subgraph(hits, held) for hits in found], self.budget)


def _subgraph(hits: Sequence[Hit], held: Mapping[Triple, Triple]) -> Subgraph:
    """Unite the triples of the hits, best first."""
    scores: dict[Triple, float] = {}
    missing: dict[Triple, None] = {}
    used: list[list[Any]] = []
    for hit in hits:
        before = len(scores)
        for triple in hit.entry.triples:
            if triple in held:
                scores.setdefault(held[triple], hit.score)
            else:
                missing[triple] = None
        if len(scores) > before:
            used.append([hit.entry.id, hit.score])
    trace: dict[str, Any] = {"entries": len(hits)}
    if used:
        trace["hits"] = used
    if missing:
        trace["missing"] = len(missing)
    if not scores:
        trace["reason"] = _reason(len(hits), len(missing))
    return Subgraph(triples=tuple(scores), scores=tuple(scores.values()), path_of=(-1,) * len(scores), trace=trace)


def _reason(entries: int, missing: int) -> str:
    """Return why a subgraph is empty."""
    if missing:
        return f"none of the {missing} triples of {entries} entries is in the graph; build the index again"
    return f"the {entries} entries found have no triples" if entries else "no entry of the index fits the question"
