"""The corpus ``entities``: the names of each entity of a graph."""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from srtk_framework.roles import Corpus, KnowledgeGraph
from srtk_framework.text import name
from srtk_framework.values import Entry, Literal
from srtk_plugin_index.corpora.triples import AT_ONCE, all_triples


@attrs.define(eq=False)
class EntityCorpus(Corpus):
    """One entry for each entity of a graph: its label, its other names, and the values of relations that name it.

    An entry has the id of its entity; entries carry no triples.

    Attributes:
        graph: Graph that can list its triples: a snapshot, or a graph in memory.
        naming: Ids of relations whose literals name or describe an entity, such as ``skos:altLabel`` where the graph
            keeps it as triples; their values follow the label.
    """

    graph: KnowledgeGraph
    naming: list[str] = attrs.field(factory=list)

    def read(self) -> Iterator[Entry]:
        """Yield the entities in order of their ids."""
        entities: set[str] = set()
        names: dict[str, list[str]] = {}
        for triple in all_triples(self.graph):
            entities.add(triple.subject)
            if not isinstance(triple.object, Literal):
                entities.add(triple.object)
            elif triple.relation in self.naming:
                names.setdefault(triple.subject, []).append(triple.object.lexical)
        ordered = sorted(entities)
        for start in range(0, len(ordered), AT_ONCE):
            ids = ordered[start : start + AT_ONCE]
            aliases = self.graph.other_names(ids)
            labels = dict(zip(ids, self.graph.labels(ids), strict=True))
            for id_, others in zip(ids, aliases, strict=True):
                texts = dict.fromkeys((name(id_, labels), *others, *names.get(id_, ())))
                yield Entry(id_, "; ".join(texts))

    def fingerprint(self) -> str:
        """Identify the entities by the data of the graph, wherever it stands, and by the settings."""
        return f"corpus:entities({self.naming!r}) of {self.graph.source()}"
