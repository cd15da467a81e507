"""Context features of candidates: similarity of their descriptions and facts to the text, and coherence."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from srtk_framework.roles import Encoder, KnowledgeGraph
from srtk_framework.values import rounded
from srtk_plugin_local.dictionary import entity_context
from srtk_plugin_local.dictionary.candidates import Mention

# The context feature falls by exp(-SHARPNESS * difference) below the best candidate.
SHARPNESS = 10.0

# Weight of coherence beside the mean of the two cosines.
COHERENCE = 0.1

# Other mentions of the text, nearest first, that coherence looks at.
MOST_OTHERS = 12

# Candidates of another mention that coherence looks at.
MOST_COHERENT = 5

# Capacity of the cache of entity texts; it is emptied when it is full.
MOST_KEPT = 20_000

Vector = npt.NDArray[np.float32]

# Characters of a text that is read whole, and around a mention in a longer one: an encoder cuts what is longer.
_WHOLE = 240
_AROUND = 160
_SENTENCE_END = re.compile(r"(?<=[.?!…。！？])\s+|\n+")


@attrs.define
class Vectors:
    """Unit vectors of texts; entity texts are cached, since they repeat.

    Attributes:
        encoder: Encoder of the texts.
        kept: Cached vectors by text.
    """

    encoder: Encoder
    kept: dict[str, Vector] = attrs.field(factory=dict, repr=False)

    def of(self, sentences: Sequence[str], entity_texts: Sequence[str]) -> dict[str, Vector]:
        """Return the vector of each text, with at most one call of the encoder.

        Args:
            sentences: Texts that are not cached.
            entity_texts: Texts that are cached.
        """
        found = {text: self.kept[text] for text in entity_texts if text in self.kept}
        missing = [text for text in dict.fromkeys([*entity_texts, *sentences]) if text not in found]
        if missing:
            matrix: Any = self.encoder.encode(missing)
            matrix = matrix / np.maximum(np.linalg.norm(matrix, axis=1, keepdims=True), 1e-9)
            found.update(zip(missing, matrix, strict=True))
            if len(self.kept) + len(entity_texts) > MOST_KEPT:
                self.kept.clear()
            # A view would keep the whole matrix in memory.
            self.kept.update({text: found[text].copy() for text in entity_texts if text not in self.kept})
        return found


def compare(
    graph: KnowledgeGraph, vectors: Vectors, languages: Sequence[str], found: Sequence[Sequence[Mention]], every: bool
) -> None:
    """Fill in the context features of candidates, with at most one call of the encoder.

    Args:
        graph: Graph of the candidates.
        vectors: Vectors of texts.
        languages: Languages of descriptions, in order of preference.
        found: Mentions of each text.
        every: Include mentions with a single candidate, which learnt weights need.
    """
    open_ = [m for mentions in found for m in mentions if every or len(m.candidates) > 1]
    ids = list(dict.fromkeys(c.entity for mention in open_ for c in mention.candidates))
    if not ids:
        return
    sentences = [sentence(m.words.text, m.start, m.end) for m in open_]
    context = dict(zip(ids, entity_context.texts(graph, ids, languages), strict=True))
    vector = vectors.of(sentences, [text for pair in context.values() for text in pair])
    for mention, text in zip(open_, sentences, strict=True):
        own, facts = zip(*(context[c.entity] for c in mention.candidates), strict=True)
        own_cosines = (np.stack([vector[one] for one in own]) * vector[text]).sum(axis=1)
        facts_cosines = (np.stack([vector[one] for one in facts]) * vector[text]).sum(axis=1)
        for candidate, one, other in zip(mention.candidates, own_cosines.tolist(), facts_cosines.tolist(), strict=True):
            candidate.own, candidate.facts = rounded(one), rounded(other)
    _connect(graph, found, {id(mention) for mention in open_})
    for mention in open_:
        values = [(c.own + c.facts) / 2 + COHERENCE * c.coherence for c in mention.candidates]
        for candidate, value in zip(mention.candidates, values, strict=True):
            candidate.context = rounded(math.exp(SHARPNESS * (value - max(values))))


def sentence(text: str, start: int, end: int) -> str:
    """Return the sentence of a mention, shortened if it is long; a short text is returned whole."""
    if len(text) <= _WHOLE:
        return text
    low, high = 0, len(text)
    for match in _SENTENCE_END.finditer(text):
        if match.end() <= start:
            low = match.end()
        elif match.start() >= end:
            high = match.start()
            break
    if start - low > _AROUND:
        low = text.find(" ", start - _AROUND, start) + 1 or start - _AROUND
    if high - end > _AROUND:
        high = max(text.rfind(" ", end, end + _AROUND), end)
    return text[low:high]


def _connect(graph: KnowledgeGraph, found: Sequence[Sequence[Mention]], wanted: set[int]) -> None:
    """Fill in the coherence of candidates with the candidates of other mentions of the text.

    Two entities cohere by an edge and by their shared neighbours, weighted by the inverse logarithm of their degrees
    (Adamic and Adar 2003). Of another mention, the candidate with the strongest tie counts, divided by the number of
    its candidates.
    """
    rows = [mentions for mentions in found if len(mentions) > 1 and any(id(m) in wanted for m in mentions)]
    near = {id(m): _others(m, mentions) for mentions in rows for m in mentions if id(m) in wanted}
    concerned = [m for mentions in rows for m in mentions if near.get(id(m))]
    ids = [c.entity for m in concerned for c in m.candidates]
    ids += [c.entity for m in concerned for other in near[id(m)] for c in other.candidates[:MOST_COHERENT]]
    if not ids:
        return
    pairs = {
        (c.entity, o.entity) for m in concerned for other in near[id(m)]
        for c in m.candidates for o in other.candidates[:MOST_COHERENT]
    }  # fmt: skip
    ties = _Ties.of(graph, list(dict.fromkeys(ids)), pairs)
    for mention in concerned:
        for candidate in mention.candidates:
            total = 0.0
            for other in near[id(mention)]:
                best = max(ties.between(candidate.entity, o.entity) for o in other.candidates[:MOST_COHERENT])
                total += best / len(other.candidates)
            candidate.coherence = rounded(math.log1p(total))


@attrs.frozen
class _Ties:
    """How entities cohere.

    Attributes:
        around: Neighbours of each entity.
        shared: Shared neighbours of each pair, in order.
        weight: Weight of each shared neighbour.
    """

    around: Mapping[str, set[str]]
    shared: Mapping[tuple[str, str], Sequence[str]]
    weight: Mapping[str, float]

    @classmethod
    def of(cls, graph: KnowledgeGraph, ids: Sequence[str], pairs: Collection[tuple[str, str]]) -> _Ties:
        """Read the neighbours of entities, and how many triples those have that pairs share."""
        around = dict(zip(ids, entity_context.neighbours(graph, ids), strict=True))
        shared = {(one, other): sorted(around[one] & around[other]) for one, other in pairs}
        every = sorted(set().union(*shared.values()))
        degrees = graph.degrees(every) if every else ()
        return cls(around, shared, {id_: 1 / math.log(2 + n) for id_, n in zip(every, degrees, strict=True)})

    def between(self, one: str, other: str) -> float:
        """Return the strength of the tie of a pair."""
        if one == other:
            return 0.0
        around = self.around
        total = sum(self.weight[id_] for id_ in self.shared[one, other])
        direct = float(one in around[other] or other in around[one])
        return direct + total / math.sqrt(1 + min(len(around[one]), len(around[other])))


def _others(mention: Mention, mentions: Sequence[Mention]) -> list[Mention]:
    """Return the nearest other mentions with another text that do not overlap."""
    apart = [
        m for m in mentions
        if (m.end <= mention.start or m.start >= mention.end) and m.text != mention.text and m.looks > 0
    ]  # fmt: skip
    return sorted(apart, key=lambda m: (abs(m.start - mention.start), m.start, m.end))[:MOST_OTHERS]
