"""A linker that looks up every run of words of a text among the labels and aliases of the graph."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence

import attrs

from srtk_framework.specs import Encoder, EntityLinker, KnowledgeGraph
from srtk_framework.text import fold
from srtk_framework.types import Link, rounded
from srtk_plugin_local import surroundings
from srtk_plugin_local.mentions import Words
from srtk_plugin_local.stopwords import STOP_WORDS

WEIGHTS = {"match": 2.0, "popularity": 1.0, "length": 1.0, "context": 1.0}
"""What a score is made of, with default weights; context counts where there is an encoder."""

LABEL, FOLDED_LABEL, ALIAS = 1.0, 0.7, 0.6
"""How well a text matches a name: letter by letter, but for case and marks, by another name."""

ECHO = 0.35
"""Factor for a word that names a relation of another mention, as ``director`` in ``who was the director of jaws``."""

PART_OF_NAME = 0.7
"""Factor for a mention beside a word in capitals that belongs to no mention."""

LENGTH_POWER = 1.5
"""Overlapping mentions weigh their score times their length to this power: above 1, one long name beats two short."""

SHARPNESS = 10.0
"""How fast likeness to the question falls below that of the best candidate: exp(-SHARPNESS * difference of cosines)."""

LEAST = 0.0001
"""The smallest score after rounding."""


@attrs.define
class _Candidate:
    entity: str
    label: str
    match: float
    popularity: float
    context: float = 1.0
    score: float = 0.0


@attrs.define
class _Mention:
    words: Words
    start: int
    end: int
    first: int
    last: int
    names: list[str] = attrs.field(factory=list)
    candidates: list[_Candidate] = attrs.field(factory=list)
    looks: float = attrs.field(init=False)
    length: float = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self.looks = self.words.looks(self.first, self.last)
        self.length = self.words.length(self.first, self.last)

    @property
    def score(self) -> float:
        return self.candidates[0].score

    def match(self, label: str) -> float:
        text = self.words.text[self.start : self.end]
        if label in (text, text.replace("_", " ")):
            return LABEL
        return FOLDED_LABEL if fold(label) in self.names else ALIAS


@attrs.define(eq=False)
class DictionaryLinker(EntityLinker):
    """Link the names that a graph has: labels and aliases, compared as ``text.fold`` does.

    A score is the weighted mean of match, popularity among the entities of the name, length in words and
    (with an encoder) likeness to the question, times how much the mention looks like a name in its text.

    Attributes:
        graph: Whose labels and aliases are looked up.
        encoder: Ranks the entities of one name by the likeness of the question to their facts.
        max_words: Most words of a name.
        n_best: Most entities for one mention.
        candidates: Most entities of one name that are compared, those with most triples first.
        min_score: Links with a lower score are dropped.
        keep: Mentions are dropped whose score is below this share of the best score in the text.
        longest: Of overlapping mentions, keep those that together cover the text best; if false, all.
        languages: Whose function words, in small letters, are no names: de, en, es, fr, it, nl, pt.
        stop_words: Words to use in place of these languages' function words.
        weights: Weights of `match`, `popularity`, `length` and `context`, where they are not the default.
    """

    graph: KnowledgeGraph
    encoder: Encoder | None = None
    max_words: int = 12
    n_best: int = 1
    candidates: int = 50
    min_score: float = 0.0
    keep: float = 0.5
    longest: bool = True
    languages: Sequence[str] = ("en",)
    stop_words: Sequence[str] | None = None
    weights: Mapping[str, float] = attrs.field(factory=dict)
    _stop: frozenset[str] = attrs.field(init=False, repr=False)
    _weights: dict[str, float] = attrs.field(init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        for name, known in (("languages", STOP_WORDS), ("weights", WEIGHTS)):
            if unknown := sorted(set(getattr(self, name)) - known.keys()):
                raise ValueError(f"{name} has {unknown[0]!r}; known are {', '.join(sorted(known))}")
        for name in ("max_words", "n_best", "candidates"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, not {getattr(self, name)}")
        words = self.stop_words
        if words is None:
            words = [word for language in self.languages for word in sorted(STOP_WORDS[language])]
        self._stop = frozenset(word.lower() for word in words)
        self._weights = {**WEIGHTS, **self.weights}
        if self.encoder is None:
            self._weights["context"] = 0.0
        if min(self._weights.values()) < 0 or not any(self._weights.values()):
            raise ValueError("weights must not be negative, and one must be above 0")

    def link(self, texts: Sequence[str]) -> list[list[Link]]:
        """Find names, choose among overlapping ones, and rank the entities of each."""
        parsed = [Words(text, self._stop) for text in texts]
        found = self._mentions(parsed)
        if self.longest:
            found = [_cover(mentions) for mentions in found]
        self._lower_parts(found)
        self._lower_echoes(found)
        if self.encoder is not None:
            self._compare_contexts(self.encoder, texts, found)
        return [self._links(mentions) for mentions in found]

    def _mentions(self, parsed: Sequence[Words]) -> list[list[_Mention]]:
        """Look up all spans of all texts at once; score what is found."""
        spans = [words.spans(self.max_words) for words in parsed]
        names = list({span[0]: None for row in spans for span in row})
        known = {name: ids for name, ids in zip(names, self.graph.find(names), strict=True) if len(ids)}
        found = []
        for words, row in zip(parsed, spans, strict=True):
            mentions: dict[tuple[int, int], _Mention] = {}
            for name, start, end, first, last in row:
                if name in known:
                    mention = mentions.setdefault((start, end), _Mention(words, start, end, first, last))
                    mention.names.append(name)
            found.append(list(mentions.values()))
        every = [mention for mentions in found for mention in mentions]
        self._add_candidates(every, known)
        return found

    def _add_candidates(self, mentions: Sequence[_Mention], known: Mapping[str, Sequence[str]]) -> None:
        """Give each mention the entities of its names, the most connected ones, with their scores."""
        rows = [list(dict.fromkeys(id_ for name in m.names for id_ in known[name])) for m in mentions]
        ids = list(dict.fromkeys(id_ for row in rows for id_ in row))
        degrees = dict(zip(ids, self.graph.degrees(ids), strict=True))
        rows = [sorted(row, key=lambda id_: (-degrees[id_], id_))[: self.candidates] for row in rows]
        ids = list(dict.fromkeys(id_ for row in rows for id_ in row))
        labels = dict(zip(ids, self.graph.labels(ids), strict=True))
        for mention, row in zip(mentions, rows, strict=True):
            most = math.log1p(degrees[row[0]]) or 1.0
            mention.candidates = [
                _Candidate(id_, labels[id_], mention.match(labels[id_]), math.log1p(degrees[id_]) / most) for id_ in row
            ]
            self._score(mention)

    def _score(self, mention: _Mention) -> None:
        """Score the candidates of a mention and put the best first."""
        weights = self._weights
        length = mention.length / (mention.length + 1)
        for candidate in mention.candidates:
            total = (
                weights["match"] * candidate.match
                + weights["popularity"] * candidate.popularity
                + weights["length"] * length
                + weights["context"] * candidate.context
            )
            candidate.score = max(rounded(mention.looks * total / sum(weights.values())), LEAST)
        mention.candidates.sort(key=lambda candidate: (-candidate.score, candidate.entity))

    def _lower_echoes(self, found: Sequence[Sequence[_Mention]]) -> None:
        """Where capitals tell no names, lower the score of words that name a relation of another mention."""
        rows = [mentions for mentions in found if len(mentions) > 1 and not mentions[0].words.marked]
        ids = list(dict.fromkeys(mention.candidates[0].entity for mentions in rows for mention in mentions))
        if not ids:
            return
        stems = dict(zip(ids, surroundings.relation_stems(self.graph, ids), strict=True))
        for mentions in rows:
            around = [stems[mention.candidates[0].entity] for mention in mentions]
            for place, mention in enumerate(mentions):
                own = surroundings.stems(mention.names[0])
                if own and any(own <= other for other in around[:place] + around[place + 1 :]):
                    mention.looks *= ECHO
        for mention in (mention for mentions in rows for mention in mentions):
            self._score(mention)

    def _lower_parts(self, found: Sequence[Sequence[_Mention]]) -> None:
        """Lower the score of what seems part of a longer name that the graph lacks: Rick, in Rick Elice."""
        for mentions in found:
            covered = {word for mention in mentions for word in range(mention.first, mention.last + 1)}
            for mention in mentions:
                beside = mention.words.names_beside(mention.first, mention.last)
                if any(word not in covered for word in beside):
                    mention.looks *= PART_OF_NAME
                    self._score(mention)

    def _compare_contexts(self, encoder: Encoder, texts: Sequence[str], found: Sequence[Sequence[_Mention]]) -> None:
        """Rank the candidates of ambiguous mentions by the cosine of their description with the text."""
        import numpy as np

        open_ = [(place, m) for place, mentions in enumerate(found) for m in mentions if len(m.candidates) > 1]
        ids = list(dict.fromkeys(c.entity for _, mention in open_ for c in mention.candidates))
        if not ids:
            return
        asked = list(dict.fromkeys(texts[place] for place, _ in open_))
        matrix = encoder.encode([*asked, *surroundings.descriptions(self.graph, ids)])
        matrix = matrix / np.maximum(np.linalg.norm(matrix, axis=1, keepdims=True), 1e-9)
        row_of_text = {text: row for row, text in enumerate(asked)}
        row_of_id = {id_: row for row, id_ in enumerate(ids, start=len(asked))}
        for place, mention in open_:
            rows = matrix[[row_of_id[c.entity] for c in mention.candidates]]
            likeness = (rows * matrix[row_of_text[texts[place]]]).sum(axis=1)
            for candidate, value in zip(mention.candidates, likeness - likeness.max(), strict=True):
                candidate.context = rounded(math.exp(SHARPNESS * float(value)))
            self._score(mention)

    def _links(self, mentions: Sequence[_Mention]) -> list[Link]:
        least = max(self.min_score, self.keep * max((mention.score for mention in mentions), default=0.0))
        links = [
            Link(candidate.entity, candidate.score, mention.start, mention.end, candidate.label)
            for mention in mentions
            if mention.score >= least
            for candidate in mention.candidates[: self.n_best]
            if candidate.score >= self.min_score
        ]
        return sorted(links, key=lambda link: (link.start or 0, -link.score, link.entity, link.end or 0))


def _cover(mentions: Sequence[_Mention]) -> list[_Mention]:
    """Choose mentions that do not overlap and weigh most together (weighted interval scheduling).

    Ties go to what covers more characters, then to what ends earlier.
    """
    ordered = sorted(mentions, key=lambda mention: (mention.end, mention.start))
    ends = [mention.end for mention in ordered]
    best: list[tuple[float, int, int]] = [(0.0, 0, -1)]  # weight, characters, last mention chosen
    before: list[int] = [0]
    for place, mention in enumerate(ordered):
        free = bisect_right(ends, mention.start, 0, place)
        weight = rounded(best[free][0] + mention.score * mention.length**LENGTH_POWER)
        taken = (weight, best[free][1] + mention.end - mention.start)
        if taken > best[-1][:2]:
            best.append((*taken, place))
            before.append(free)
        else:
            best.append(best[-1])
            before.append(before[-1])
    chosen = []
    at = len(best) - 1
    while best[at][2] >= 0:
        chosen.append(ordered[best[at][2]])
        at = before[at]
    return chosen[::-1]
