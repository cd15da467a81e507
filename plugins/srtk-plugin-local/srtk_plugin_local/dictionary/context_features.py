"""Compares the candidates of mentions with their text: by what the graph says about them, and by each other."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

import numpy as np

from srtk_framework.roles import KnowledgeGraph
from srtk_framework.values import rounded
from srtk_plugin_local.dictionary import entity_context
from srtk_plugin_local.dictionary.candidates import Candidate, Mention
from srtk_plugin_local.dictionary.text_vectors import Vectors

SHARPNESS = 10.0
"""How fast likeness to the question falls below that of the best candidate: exp(-SHARPNESS * difference)."""

COHERENCE = 0.1
"""What coherence counts beside the two cosines."""

MOST_OTHERS = 12
"""Mentions of the text, the nearest ones, with which a candidate may be connected."""

MOST_COHERENT = 5
"""Candidates of another mention that are looked at."""

_WHOLE = 240
_AROUND = 160
_SENTENCE_END = re.compile(r"(?<=[.?!…。！？])\s+|\n+")


def compare(
    graph: KnowledgeGraph, vectors: Vectors, about: Sequence[str], languages: Sequence[str],
    found: Sequence[Sequence[Mention]], every: bool,
) -> None:  # fmt: skip
    """Fill in how the candidates of mentions fit their text; what is new is encoded by one call.

    Args:
        graph: Tells about the candidates.
        vectors: Compares texts.
        about: Relations whose values describe an entity.
        languages: Of descriptions, the best first.
        found: Mentions of each text.
        every: Also compare mentions with a single candidate, as learnt weights want it.
    """
    open_ = [m for mentions in found for m in mentions if every or len(m.candidates) > 1]
    ids = list(dict.fromkeys(c.entity for mention in open_ for c in mention.candidates))
    if not ids:
        return
    asked = [sentence(m.words.text, m.start, m.end) for m in open_]
    told = dict(zip(ids, entity_context.texts(graph, ids, about, languages), strict=True))
    vector = vectors.of(asked, [text for pair in told.values() for text in pair])
    for mention, text in zip(open_, asked, strict=True):
        own, facts = zip(*(told[c.entity] for c in mention.candidates), strict=True)
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
    """Return the sentence of a mention, cut where it is long; a short text as a whole."""
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
    """Fill in the coherence of candidates: what connects them with those of other mentions of the text.

    Two entities are connected by an edge, and by the neighbours that they share, each of which counts the less the
    better known it is (Adamic and Adar 2003). Of another mention the best connected candidate counts, by its chance.
    """
    rows = [mentions for mentions in found if len(mentions) > 1 and any(id(m) in wanted for m in mentions)]
    near = {id(m): _others(m, mentions) for mentions in rows for m in mentions if id(m) in wanted}
    concerned = [m for mentions in rows for m in mentions if id(m) in near and near[id(m)]]
    ids = [c.entity for m in concerned for c in m.candidates]
    ids += [c.entity for m in concerned for other in near[id(m)] for c in other.candidates[:MOST_COHERENT]]
    ids = list(dict.fromkeys(ids))
    if not ids:
        return
    around = dict(zip(ids, entity_context.neighbours(graph, ids), strict=True))
    pairs = {
        (c.entity, o.entity) for m in concerned for other in near[id(m)]
        for c in m.candidates for o in other.candidates[:MOST_COHERENT]
    }  # fmt: skip
    between = {pair: around[pair[0]] & around[pair[1]] for pair in pairs}
    shared = sorted(set().union(*between.values()))
    degrees = graph.degrees(shared) if shared else ()
    weight = {id_: 1 / math.log(2 + degree) for id_, degree in zip(shared, degrees, strict=True)}
    for mention in concerned:
        for candidate in mention.candidates:
            total = 0.0
            for other in near[id(mention)]:
                best = max(_tie(candidate, o, around, between, weight) for o in other.candidates[:MOST_COHERENT])
                total += best / len(other.candidates)
            candidate.coherence = rounded(math.log1p(total))


def _others(mention: Mention, mentions: Sequence[Mention]) -> list[Mention]:
    """List the nearest other mentions that do not overlap and do not say the same."""
    apart = [
        m for m in mentions
        if (m.end <= mention.start or m.start >= mention.end) and m.text != mention.text and m.looks > 0
    ]  # fmt: skip
    return sorted(apart, key=lambda m: (abs(m.start - mention.start), m.start, m.end))[:MOST_OTHERS]


def _tie(
    one: Candidate, other: Candidate, around: Mapping[str, set[str]],
    between: Mapping[tuple[str, str], set[str]], weight: Mapping[str, float],
) -> float:  # fmt: skip
    a, b = one.entity, other.entity
    if a == b:
        return 0.0
    direct = float(a in around[b] or b in around[a])
    total = sum(weight[id_] for id_ in sorted(between[a, b]))
    return direct + total / math.sqrt(1 + min(len(around[a]), len(around[b])))
