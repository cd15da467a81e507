"""Texts of parts of subgraphs, and which subgraphs hold the same part."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence

import attrs
import numpy as np
import numpy.typing as npt

from srtk_framework.values import Entry, Triple
from srtk_plugin_septa.shape import Arrays, Ints

_AT_CENTRE = 0.6  # Share of the texts whose clauses are about the centre
_OF_CENTRE = 0.5  # Share of the names that are the centre's
_WHOLE, _WITHOUT_OBJECT, _WITHOUT_SUBJECT = 0.4, 0.6, 0.8
"""Up to which number between 0 and 1 a text is a clause, one without its object, one without its subject; else it is
two or three clauses."""


@attrs.frozen(eq=False)
class Views:
    """Texts of parts of subgraphs: clauses, clauses that lack an end, and names of nodes.

    A part consists of items: a node by its row among the labels, a triple, a subject with a relation, or a relation
    with an object. A subgraph holds a part if it has all its items.

    Attributes:
        texts: Vectors of the texts, [pairs, views, input]; for an encoder that learns, their token ids, [pairs, views].
        items: Per pair and view the items of the text.
        nodes: Per pair the rows of its nodes among the labels, the centre first.
        labels: Vectors of the labels, or their token ids.
        held: Per pair all items of its subgraph, sorted.
    """

    texts: np.ndarray
    items: Sequence[Sequence[tuple[int, ...]]]
    nodes: Sequence[Ints]
    labels: np.ndarray
    held: Sequence[Ints]

    @classmethod
    def of(
        cls,
        entries: Sequence[Entry],
        nodes: Sequence[Ints],
        labels: np.ndarray,
        words: Callable[[str], str],
        read: Callable[[Sequence[str]], np.ndarray],
        count: int,
    ) -> Views:
        """Draw texts of each entry, by its centre alone, and read each of them once.

        Per entry, ``nodes`` has the rows of its nodes among the labels, the centre first, then by id. Each
        entry gets ``count`` texts.
        """
        number: dict[tuple[str, ...], int] = {}

        def item(*part: str) -> int:
            return number.setdefault(part, len(labels) + len(number))

        def parts(triple: Triple) -> tuple[int, int, int]:
            subject, relation, object_ = triple
            return item(*triple), item("subject", subject, relation, ""), item("object", relation, object_, "")

        texts: list[str] = []
        items: list[list[tuple[int, ...]]] = []
        held: list[Ints] = []
        for place, entry in enumerate(entries):
            rng = np.random.default_rng([*hashlib.sha256(entry.id.encode("utf-8", "surrogatepass")).digest()])
            some = [_drawn(entry, rng) for _ in range(count)]
            texts += [". ".join(_clause(triple, lacks, words) for triple in triples) for triples, lacks in some]
            items.append([tuple(parts(triple)[lacks] for triple in triples) for triples, lacks in some])
            own = {one for triple in entry.triples for one in parts(triple)}
            held.append(np.array(sorted({*own, *nodes[place].tolist()}), dtype=np.int64))
        rows = read(texts)
        return cls(rows.reshape(len(entries), count, *rows.shape[1:]), items, nodes, labels, held)

    def drawn(self, numbers: Ints, rng: np.random.Generator) -> list[tuple[np.ndarray, npt.NDArray[np.bool_]]]:
        """Draw a text and the name of a node for each of some pairs.

        Returns for the texts and for the names: vectors, [n, input], or token ids, [n], and whether the subgraph of a
        row holds the part of a column, [n, n].
        """
        at = rng.integers(self.texts.shape[1], size=len(numbers))
        texts = [self.items[i][view] for i, view in zip(numbers, at, strict=True)]
        centre = rng.random(len(numbers)) < _OF_CENTRE
        other = rng.random(len(numbers))
        named = [
            int(rows[0] if own else rows[int(place * len(rows))])
            for rows, own, place in zip((self.nodes[i] for i in numbers), centre, other, strict=True)
        ]
        return [
            (self.texts[numbers, at], self.holding(numbers, texts)),
            (self.labels[named], self.holding(numbers, [(name,) for name in named])),
        ]

    def holding(self, numbers: Ints, parts: Sequence[tuple[int, ...]]) -> npt.NDArray[np.bool_]:
        """Return whether the subgraph of a row holds all items of the part of a column."""
        known = np.unique(np.concatenate([np.array(part, dtype=np.int64) for part in parts]))
        has = np.zeros((len(numbers), len(known)), dtype=np.float32)
        for row, number in enumerate(numbers):
            has[row, np.isin(known, self.held[number], assume_unique=True)] = 1
        needs = np.zeros((len(parts), len(known)), dtype=np.float32)
        for row, part in enumerate(parts):
            needs[row, np.searchsorted(known, np.array(part, dtype=np.int64))] = 1
        whole: npt.NDArray[np.bool_] = has @ needs.T >= needs.sum(axis=1) - 0.5
        return whole


def _drawn(entry: Entry, rng: np.random.Generator) -> tuple[list[Triple], int]:
    """Draw the triples of a text, and its gap: 0 for none, 1 for the object, 2 for the subject."""
    near = [t for t in entry.triples if entry.id in (t.subject, t.object)]
    pool: Sequence[Triple] = near if near and rng.random() < _AT_CENTRE else entry.triples
    kind = rng.random()
    size = 1 if kind < _WITHOUT_SUBJECT else min(int(rng.integers(2, 4)), len(pool))
    triples = [pool[i] for i in rng.choice(len(pool), size, replace=False).tolist()]
    lacks = 0 if kind < _WHOLE or kind >= _WITHOUT_SUBJECT else 1 if kind < _WITHOUT_OBJECT else 2
    return triples, lacks


def _clause(triple: Triple, lacks: int, words: Callable[[str], str]) -> str:
    said = [words(part) for part in triple]
    return " ".join(said[:2] if lacks == 1 else said[1:] if lacks == 2 else said)


def neighbours(subgraphs: Sequence[Arrays]) -> list[Ints]:
    """Return for each subgraph the numbers of the others whose centre is among its nodes."""
    place = {one.nodes[0]: number for number, one in enumerate(subgraphs)}
    return [np.array([place[n] for n in one.nodes[1:] if n in place], dtype=np.int64) for one in subgraphs]


def side_by_side(numbers: Ints, near: Sequence[Ints], most: int, rng: np.random.Generator) -> Ints:
    """Shuffle pairs so that up to ``most`` neighbours stand after a pair, as its hardest negatives."""
    left = set(numbers.tolist())
    order: list[int] = []
    for number in rng.permutation(numbers).tolist():
        if number not in left:
            continue
        some = [one for one in near[number].tolist() if one in left and one != number]
        if len(some) > most:
            some = [some[i] for i in rng.choice(len(some), most, replace=False).tolist()]
        order += [number, *some]
        left.difference_update((number, *some))
    return np.array(order, dtype=np.int64)
