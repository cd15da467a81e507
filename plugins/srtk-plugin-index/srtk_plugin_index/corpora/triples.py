"""The corpus ``triples``: each triple of a graph in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import attrs

from srtk_framework.roles import Corpus, KnowledgeGraph
from srtk_framework.text import Templates, triple_text
from srtk_framework.values import DriverError, Entry, Literal, Pattern, Triple

# Ids or triples whose labels are read at once, so that a whole graph's labels are never in memory together.
AT_ONCE = 8192


def all_triples(graph: KnowledgeGraph) -> Sequence[Triple]:
    """Return all triples of a graph, sorted.

    Raises:
        DriverError: If the graph cannot list them.
    """
    try:
        (found,) = graph.match([Pattern()])
    except DriverError as error:
        raise DriverError(
            f"the triples of {graph.source()} cannot be listed ({error}); make a snapshot of the graph with"
            " `srtk graph build` from its files, or `srtk graph pull` from a server, and index that"
        ) from error
    return found


@attrs.define(eq=False)
class TripleCorpus(Corpus):
    """Verbalise each triple of a graph by the labels of its parts.

    The id of an entry is its triple, joined by tabs; the entry carries the triple.

    Attributes:
        graph: Graph that can list its triples: a snapshot, or a graph in memory.
        template: Text of a triple, with ``{subject}``, ``{relation}`` and ``{object}``.
        relations: Ids of the relations to take; null for all.
        literals: Also take triples whose object is a literal.
    """

    graph: KnowledgeGraph
    template: str = "{subject} {relation} {object}"
    relations: list[str] | None = None
    literals: bool = True

    def open(self) -> None:
        """Check the template."""
        Templates(triple=self.template)

    def read(self) -> Iterator[Entry]:
        """Yield the triples in their order."""
        templates = Templates(triple=self.template)
        kept = [triple for triple in all_triples(self.graph) if self._wanted(triple)]
        for start in range(0, len(kept), AT_ONCE):
            batch = kept[start : start + AT_ONCE]
            ids = sorted({id_ for triple in batch for id_ in triple})
            labels = dict(zip(ids, self.graph.labels(ids), strict=True))
            for triple in batch:
                yield Entry("\t".join(triple), triple_text(triple, labels, templates), (triple,))

    def _wanted(self, triple: Triple) -> bool:
        if self.relations is not None and triple.relation not in self.relations:
            return False
        return self.literals or not isinstance(triple.object, Literal)

    def fingerprint(self) -> str:
        """Identify the triples by the data of the graph, wherever it stands, and by the settings."""
        settings = (self.template, self.relations, self.literals)
        return f"corpus:triples{settings!r} of {self.graph.source()}"
