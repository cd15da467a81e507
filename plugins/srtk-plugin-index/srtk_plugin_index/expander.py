"""The expander ``index``: the triples of the entries that fit a question best."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from srtk_framework.graph import finish
from srtk_framework.roles import EntityLinker, Expander, Index, KnowledgeGraph
from srtk_framework.values import (
    Budget,
    DriverError,
    Hit,
    Pattern,
    Question,
    Search,
    Subgraph,
    Triple,
    at_least,
    hit_order,
    one_of,
)
from srtk_plugin_index.enhancement import Enhancement

REFUSE, KEEP = "refuse", "keep"
NONE, JOINS = "none", "joins"
_log = logging.getLogger(__name__)


@attrs.define(eq=False)
class IndexExpander(Expander):
    """Search an index for the text of each question, and keep the triples of the best entries.

    No links are needed. For a question with options, the index is searched for the question with each option, for the
    question alone, and for each option alone, and all entries are united. A triple has the score of the best entry that
    has it; the triples of an entry keep their order. Only triples that the graph holds are kept; the trace counts the
    rest as ``missing``. The subgraph has the searches, with the id and score of each entry that was found.

    Attributes:
        index: Index that searches texts, such as an index over the corpus ``triples``.
        graph: Graph of the triples.
        budget: Limits of a question.
        k: Number of entries to retrieve, for each option if there are options.
        alone: Also search for the question alone and for each option alone, whose entries may meet in between.
        stale: ``refuse`` an index that was built from another graph, or ``keep`` its triples that the graph holds.
        enhance: ``joins`` adds triples in words to the text of each option's search: triples between an entity of the
            question and an entity of the option. ``none`` adds nothing.
        linker: Finds these entities; needed for ``enhance: joins``.
        joins: Most triples that are added to a search; the trace counts the rest, as ``joins`` under ``cut``.
    """

    index: Index
    graph: KnowledgeGraph
    budget: Budget = attrs.field(factory=Budget)
    k: int = attrs.field(default=100, validator=at_least(1))
    alone: bool = True
    stale: str = attrs.field(default=REFUSE, validator=one_of((REFUSE, KEEP)))
    enhance: str = attrs.field(default=NONE, validator=one_of((NONE, JOINS)))
    linker: EntityLinker | None = None
    joins: int = attrs.field(default=10, validator=at_least(1))

    def open(self) -> None:
        """Refuse an index of vectors alone, one of another graph, and an enhancement without a linker."""
        if not self.index.searches_texts():
            raise DriverError("the index searches vectors, not texts; name one that searches texts, such as `bm25`")
        known, now = list(self.index.sources()), self.graph.source()
        if self.stale == REFUSE and known and now not in known:
            raise DriverError(
                f"the index was built from {', '.join(known)}, and the graph is {now}; build it again with"
                f" `srtk index build RECIPE`, or set `stale: {KEEP}` to use what of it the graph holds"
            )
        if self.enhance == JOINS and self.linker is None:
            raise DriverError(f"`enhance: {JOINS}` links questions and options; add `linker: {{use: dictionary}}`")
        size = self.index.size()
        if 0 < size < self.k:
            _log.warning("k is %d, above the %d in the index: a search may find all entries; lower `k`", self.k, size)

    def needs_links(self) -> bool:
        """Return False: a question is searched by its text."""
        return False

    def expand(self, questions: Sequence[Question]) -> list[Subgraph]:
        """Search, and keep the triples that the graph holds."""
        texts, cuts = self._texts(questions)
        rows = iter(self.index.search([text for row in texts for text in row], self.k))
        found = [[next(rows) for _ in row] for row in texts]
        wanted = sorted({triple for row in found for hits in row for hit in hits for triple in hit.entry.triples})
        held: Mapping[Triple, Triple] = {
            triple: own
            for triple, row in zip(wanted, self.graph.match([Pattern(*triple) for triple in wanted]), strict=True)
            for own in row
        }
        parts = [_subgraph(*row, held) for row in zip(texts, found, cuts, strict=True)]
        return finish(self.graph, parts, self.budget)

    def _texts(self, questions: Sequence[Question]) -> tuple[list[list[str]], list[int]]:
        """Return the texts to search for, and how many joins each question left out.

        The texts are the question with each option, or the question; then, if there are options, both alone.
        """
        texts = [[f"{q.text} {option}" for option in q.options] or [q.text] for q in questions]
        cuts = [0] * len(texts)
        if self.enhance == JOINS and self.linker is not None:
            added, cuts = Enhancement(self.graph, self.linker, self.joins).texts(questions)
            texts = [
                [f"{text}. {words}" if words else text for text, words in zip(row, more, strict=True)] if more else row
                for row, more in zip(texts, added, strict=True)
            ]
        alone = [[q.text, *q.options] if q.options and self.alone else [] for q in questions]
        return [row + more for row, more in zip(texts, alone, strict=True)], cuts


def _subgraph(
    texts: Sequence[str], found: Sequence[Sequence[Hit]], cut: int, held: Mapping[Triple, Triple]
) -> Subgraph:
    """Unite the triples of the hits of all searches, best first."""
    pairs = zip(texts, found, strict=True)
    searches = tuple(Search(text, tuple((hit.entry.id, hit.score) for hit in hits)) for text, hits in pairs)
    scores: dict[Triple, float] = {}
    missing: dict[Triple, None] = {}
    best: dict[str, Hit] = {}
    for hit in sorted((hit for hits in found for hit in hits), key=hit_order):
        best.setdefault(hit.entry.id, hit)
    for hit in best.values():
        for triple in hit.entry.triples:
            if triple in held:
                scores.setdefault(held[triple], hit.score)
            else:
                missing[triple] = None
    trace: dict[str, Any] = {"entries": len(best)}
    if missing:
        trace["missing"] = len(missing)
    if cut:
        trace["cut"] = {JOINS: cut}
    if not scores:
        trace["reason"] = _reason(len(best), len(missing))
    return Subgraph(
        triples=tuple(scores),
        scores=tuple(scores.values()),
        path_of=(-1,) * len(scores),
        trace=trace,
        searches=searches,
    )


def _reason(entries: int, missing: int) -> str:
    """Return why a subgraph is empty."""
    if missing:
        return f"none of the {missing} triples of {entries} entries is in the graph; build the index again"
    return f"the {entries} entries found have no triples" if entries else "no entry of the index fits the question"
