"""Pairs of subgraphs and texts to train on, with the vectors of their labels and texts."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import attrs
import numpy as np

from srtk_framework.roles import Encoder, KnowledgeGraph
from srtk_framework.text import name, relation_words
from srtk_framework.values import Entry
from srtk_plugin_septa.shape import Arrays, Ints, Vectors
from srtk_plugin_septa.views import Views, neighbours

_AT_ONCE = 4096  # Texts that the encoder gets at a time, so that it can group them by length


@attrs.frozen(eq=False)
class Pairs:
    """Subgraphs with their texts. Labels are encoded once, and so are texts unless their encoder learns.

    Attributes:
        subgraphs: The subgraphs in numbers.
        nodes: Per subgraph, the row of each node in ``labels``.
        relations: Per subgraph, the row of each triple's relation in ``labels``.
        labels: Vectors of all labels, [labels, input].
        texts: Vectors of the texts, [pairs, input]; for an encoder that learns, their token ids, [pairs].
        same: Number of each text; equal texts have equal numbers.
        near: Per subgraph, the numbers of those whose centre is one of its nodes.
        views: Texts of parts of the subgraphs; None to train on the whole texts alone.
    """

    subgraphs: Sequence[Arrays]
    nodes: Sequence[Ints]
    relations: Sequence[Ints]
    labels: Vectors
    texts: np.ndarray
    same: Ints
    near: Sequence[Ints]
    views: Views | None = None

    def __len__(self) -> int:
        return len(self.subgraphs)

    @classmethod
    def of(
        cls,
        entries: Sequence[Entry],
        graph: KnowledgeGraph,
        encoder: Encoder,
        views: int = 0,
        tokenize: Callable[[Sequence[str]], list[list[int]]] | None = None,
    ) -> Pairs:
        """Encode each label and each text once, and ``views`` texts of parts of each subgraph.

        With ``tokenize``, texts become the token ids of an encoder that learns.
        """

        def read(texts: Sequence[str]) -> np.ndarray:
            return _encoded(texts, encoder) if tokenize is None else _rows(tokenize(texts))

        subgraphs = [Arrays.of(entry.triples, entry.id) for entry in entries]
        nodes = sorted({node for one in subgraphs for node in one.nodes})
        relations = sorted({relation for one in subgraphs for relation in one.relations})
        ids = [*nodes, *relations]
        labels = dict(zip(ids, graph.labels(ids), strict=True))
        of_node = {node: place for place, node in enumerate(nodes)}
        of_relation = {relation: len(nodes) + place for place, relation in enumerate(relations)}
        words = [name(node, labels) for node in nodes] + [relation_words(r, labels[r]) for r in relations]
        said = dict(zip(ids, words, strict=True))
        texts = sorted({entry.text for entry in entries})
        number = {text: place for place, text in enumerate(texts)}
        same = np.array([number[entry.text] for entry in entries], dtype=np.int64)
        rows = [np.array([of_node[node] for node in one.nodes], dtype=np.int64) for one in subgraphs]
        vectors = _encoded(words, encoder)
        return cls(
            subgraphs,
            rows,
            [np.array([of_relation[r] for r in one.relations], dtype=np.int64) for one in subgraphs],
            vectors,
            read(texts)[same],
            same,
            neighbours(subgraphs),
            Views.of(entries, rows, vectors if tokenize is None else read(words), said.__getitem__, read, views)
            if views
            else None,
        )


def _rows(tokens: list[list[int]]) -> np.ndarray:
    rows = np.empty(len(tokens), dtype=object)
    rows[:] = tokens
    return rows


def _encoded(texts: Sequence[str], encoder: Encoder) -> Vectors:
    distinct = list(dict.fromkeys(texts))
    parts = [encoder.encode(distinct[start : start + _AT_ONCE]) for start in range(0, len(distinct), _AT_ONCE)]
    place = {text: at for at, text in enumerate(distinct)}
    rows: Vectors = np.concatenate(parts)[[place[text] for text in texts]]
    return rows


def recall(graphs: Vectors, texts: Vectors, same: Ints, columns: int | None = None) -> tuple[float, float]:
    """Return the share of rows whose own partner is the nearest by cosine: of graphs to texts, and back.

    A partner whose text is equal counts as the own partner. ``same`` numbers the texts, with equal numbers for
    equal texts; ``columns`` are compared at a time.
    """
    e, h = (one / np.maximum(np.linalg.norm(one, axis=1, keepdims=True), 1e-12) for one in (graphs, texts))
    return _hits(e, h, same, columns or len(e)), _hits(h, e, same, columns or len(e))


def _hits(rows: Vectors, others: Vectors, same: Ints, step: int) -> float:
    nearest = [np.argmax(rows[start : start + step] @ others.T, axis=1) for start in range(0, len(rows), max(step, 1))]
    return float(np.mean(same[np.concatenate(nearest)] == same)) if nearest else 0.0
