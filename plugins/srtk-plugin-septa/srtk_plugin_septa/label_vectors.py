"""Vectors of the labels of a graph, computed once for each label."""

from __future__ import annotations

from collections.abc import Sequence

import attrs
import numpy as np

from srtk_framework.roles import Encoder, KnowledgeGraph
from srtk_framework.text import name, relation_words
from srtk_plugin_septa.shape import Arrays, Vectors

_MOST_KEPT = 100_000  # Vectors; then all are forgotten


@attrs.define(eq=False)
class LabelVectors:
    """Label vectors of entities and relations; the latest are kept in memory.

    Attributes:
        graph: An open graph.
        encoder: Encodes labels.
    """

    graph: KnowledgeGraph
    encoder: Encoder
    _known: dict[str, Vectors] = attrs.field(init=False, factory=dict)

    def of(self, subgraphs: Sequence[Arrays]) -> list[tuple[Vectors, Vectors]]:
        """Return the vectors of each subgraph's nodes, and of its relations."""
        nodes = sorted({node for one in subgraphs for node in one.nodes})
        relations = sorted({relation for one in subgraphs for relation in one.relations})
        ids = [*nodes, *relations]
        labels = dict(zip(ids, self.graph.labels(ids), strict=True))
        words = {node: name(node, labels) for node in nodes}
        said = {relation: relation_words(relation, labels[relation]) for relation in relations}
        vectors = self._vectors({*words.values(), *said.values()})
        width = len(next(iter(vectors.values())))
        return [
            (
                np.stack([vectors[words[node]] for node in one.nodes]),
                np.stack([vectors[said[relation]] for relation in one.relations])
                if one.relations
                else np.zeros((0, width), dtype=np.float32),
            )
            for one in subgraphs
        ]

    def _vectors(self, texts: set[str]) -> dict[str, Vectors]:
        # Another thread may empty what is kept; so what is needed is held apart.
        known = self._known
        found = {text: known[text] for text in texts & known.keys()}
        new = sorted(texts - found.keys())
        if new:
            if len(known) + len(new) > _MOST_KEPT:
                self._known = known = {}
            fresh = dict(zip(new, self.encoder.encode(new), strict=True))
            known.update(fresh)
            found |= fresh
        return found
