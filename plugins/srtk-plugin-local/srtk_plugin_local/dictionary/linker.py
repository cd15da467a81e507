"""A linker that looks up every run of words of a text among the labels and aliases of the graph."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

import attrs

from srtk_framework.roles import Course, Encoder, EntityLinker, KnowledgeGraph, MentionDetector
from srtk_framework.values import DriverError, Link, rounded
from srtk_plugin_local.dictionary import context_features, entity_context, fuzzy_match, weight_fit
from srtk_plugin_local.dictionary.candidate_lookup import Wanted, look_up
from srtk_plugin_local.dictionary.candidates import Mention, cover
from srtk_plugin_local.dictionary.learnt_weights import EVERYWHERE, LEAST, LearntWeights
from srtk_plugin_local.dictionary.stop_words import STOP_WORDS
from srtk_plugin_local.dictionary.text_vectors import Vectors
from srtk_plugin_local.dictionary.weight_fit import LinkerTraining
from srtk_plugin_local.dictionary.word_spans import Words

WEIGHTS = {"match": 2.0, "popularity": 1.0, "length": 1.0, "context": 1.0}
"""What a score is made of, with default weights; context counts where there is an encoder."""

ECHO = 0.35
"""Factor for a word that names a relation of another mention, as ``director`` in ``who was the director of jaws``."""

PART_OF_NAME = 0.7
"""Factor for a mention beside a word in capitals that belongs to no mention."""

KEEP = 0.5
"""Share of the best score in the text that a mention needs, without learnt weights."""

_PROBE = "What is the capital of the country that borders it?"


@attrs.define(eq=False)
class DictionaryLinker(EntityLinker):
    """Link the names that a graph has: labels and aliases, compared as ``text.fold`` does.

    Without learnt weights a score orders links: it is the weighted mean of match, popularity among the entities of the
    name, length in words and (with an encoder) fit to the text, times how much the mention looks like a name in its
    text. With learnt weights it is the probability that the link is right, and a mention that seems to stand for
    nothing gets no link.

    Attributes:
        graph: Whose labels and aliases are looked up.
        encoder: Compares the sentence of a mention with what the graph says about its entities: descriptions and facts.
        detector: Says where a text may name something; without one, every run of words is looked up.
        detected: `only` looks up detected places alone, `also` them and every run of words.
        fuzzy: Least likeness, such as 0.85, of a name one slip away (a letter, a mark, an ending) from words that look
            like a name and are none; no such names by default. Needs rapidfuzz.
        max_words: Most words of a name.
        n_best: Most entities for one mention; the others are alternatives to the best.
        candidates: Most entities of one name that are compared, those with most triples first.
        min_score: Links with a lower score are dropped. By default that is the learnt threshold for the best link of a
            mention, and 0 for its alternatives and without learnt weights.
        keep: Mentions are dropped whose score is below this share of the best score in the text; 0.5 by default, 0
            with learnt weights.
        longest: Of overlapping mentions, keep those that together cover the text best; if false, all.
        languages: Whose function words, in small letters, are no names: de, en, es, fr, it, nl, pt. Descriptions are
            taken in these languages, the first before the others.
        stop_words: Words to use in place of these languages' function words.
        weights: Weights of `match` (2), `popularity`, `length` and `context` (1 each), where they are to differ. With
            learnt weights they only choose among overlapping mentions.
        about: Relations whose values describe an entity in words, for the encoder.
        model: Folder of learnt weights, `training/model` in that of a run; a recipe that trains needs none.
    """

    graph: KnowledgeGraph
    encoder: Encoder | None = None
    detector: MentionDetector | None = None
    detected: Literal["only", "also"] = "only"
    fuzzy: float | None = None
    max_words: int = 12
    n_best: int = 1
    candidates: int = 50
    min_score: float | None = None
    keep: float | None = None
    longest: bool = True
    languages: Sequence[str] = ("en",)
    stop_words: Sequence[str] | None = None
    weights: Mapping[str, float] = attrs.field(factory=dict)
    about: Sequence[str] = entity_context.ABOUT
    model: str | None = None
    _stop: frozenset[str] = attrs.field(init=False, repr=False)
    _weights: dict[str, float] = attrs.field(init=False, repr=False)
    _learnt: LearntWeights | None = attrs.field(init=False, default=None, repr=False)
    _vectors: Vectors | None = attrs.field(init=False, default=None, repr=False)

    def __attrs_post_init__(self) -> None:
        self._check()
        words = self.stop_words
        if words is None:
            words = [word for language in self.languages for word in sorted(STOP_WORDS[language])]
        self._stop = frozenset(word.lower() for word in words)
        self._weights = {**WEIGHTS, **self.weights}
        if self.encoder is None:
            self._weights["context"] = 0.0
        if not any(self._weights.values()):
            raise ValueError("weights are all 0; one must be above 0, and context counts only with an encoder")

    def _check(self) -> None:
        """Refuse settings that make no sense."""
        for name, known in (("languages", STOP_WORDS), ("weights", WEIGHTS)):
            if unknown := sorted(set(getattr(self, name)) - known.keys()):
                raise ValueError(f"{name} has {unknown[0]!r}; known are {', '.join(sorted(known))}")
        for name in ("max_words", "n_best", "candidates"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, not {getattr(self, name)}")
        if self.detected not in ("only", "also"):
            raise ValueError(f"detected is {self.detected!r}; use only or also")
        for name in ("min_score", "keep"):
            share = getattr(self, name)
            if share is not None and not 0 <= share <= 1:
                raise ValueError(f"{name} must be from 0 to 1, not {share}")
        if any(not weight >= 0 for weight in self.weights.values()):
            raise ValueError("weights must not be negative")
        if self.fuzzy is not None and not 0 < self.fuzzy < 1:
            raise ValueError(f"fuzzy is a likeness between 0 and 1, such as 0.85, not {self.fuzzy}")

    def open(self) -> None:
        """Read the learnt weights, if a folder of them is named."""
        if self.fuzzy is not None:
            fuzzy_match.check()
        if self.model is not None:
            self.load(Path(self.model).expanduser())

    def close(self) -> None:
        """Let go of the vectors of entities."""
        self._vectors = None

    def fingerprint(self) -> str:
        """Identify the drivers within, the settings and the learnt weights."""
        apart = attrs.evolve(self, model=None) if self.model is not None else self
        learnt = self._learnt.fingerprint() if self._learnt else "untrained"
        return f"{EntityLinker.fingerprint(apart)}, {learnt}"

    def link(self, texts: Sequence[str]) -> list[list[Link]]:
        """Find names, choose among overlapping ones, and rank the entities of each."""
        found = self._chosen(self._mentions(texts))
        if self.encoder is not None and (self._learnt is not None or self._weights["context"]):
            self._compare(self.encoder, found, self._learnt is not None)
        if self._learnt is not None:
            self._learnt.score(found)
        elif self.encoder is not None:
            for mention in (mention for mentions in found for mention in mentions):
                self._score(mention)
        return [self._links(mentions) for mentions in found]

    def fit(self, course: Course, training: LinkerTraining) -> Mapping[str, float]:
        """Learn weights from the gold links of the lessons' questions, or their given links where they have none.

        A question whose gold links are an empty list teaches that nothing in it is meant.
        """
        lessons = [lesson for lesson in course.lessons if weight_fit.is_annotated(lesson)]
        found: list[weight_fit.Case] = []
        for start in range(0, len(lessons), training.batch):
            some = lessons[start : start + training.batch]
            texts, gold = [lesson.question.text for lesson in some], [weight_fit.gold_of(lesson) for lesson in some]
            every = self._mentions(texts)
            chosen = self._chosen(every)
            concerned = weight_fit.concerned(every, chosen, gold)
            if self.encoder is not None:
                self._compare(self.encoder, concerned, True)
            found += weight_fit.cases(texts, concerned, chosen, gold, training.folds)
        wanted_links = sum(weight_fit.wanted(weight_fit.gold_of(lesson)) for lesson in lessons)
        self._learnt, told = weight_fit.learn(found, wanted_links, training, self._probe(), self._places)
        figures = {**told, "links": float(wanted_links)}
        if course.validate is not None:
            figures.update(course.validate())
        return figures

    def save(self, folder: Path) -> None:
        """Write the learnt weights."""
        if self._learnt is None:
            raise DriverError("there are no learnt weights to save; train first")
        self._learnt.save(folder)

    def load(self, folder: Path) -> None:
        """Take over weights that ``save`` wrote; encoder and detector must be there as they were in training."""
        learnt = LearntWeights.load(folder)
        learnt.check_places(self._places, folder)
        learnt.check_encoder(self._probe(), folder)
        self._learnt = learnt

    def _compare(self, encoder: Encoder, found: Sequence[Sequence[Mention]], every: bool) -> None:
        """Compare candidates with their texts: of every mention, or of those with several candidates."""
        if self._vectors is None or self._vectors.encoder is not encoder:
            self._vectors = Vectors(encoder)
        context_features.compare(self.graph, self._vectors, self.about, self.languages, found, every)

    @property
    def _places(self) -> str:
        return EVERYWHERE if self.detector is None else self.detected

    def _probe(self) -> list[float] | None:
        """Return the encoder's vector of one text, by which ``load`` knows the encoder again."""
        if self.encoder is None:
            return None
        vector = self.encoder.encode([_PROBE])[0].astype(float)
        return [round(float(value), 4) for value in vector / max(math.sqrt(float(vector @ vector)), 1e-9)]

    def _mentions(self, texts: Sequence[str]) -> list[list[Mention]]:
        """Look up all spans of all texts at once, and score what is found by the weights that are not learnt."""
        parsed = [Words(text, self._stop) for text in texts]
        places = self.detector.detect(texts) if self.detector is not None else None
        wanted = Wanted(self.max_words, self.candidates, self.fuzzy, self.detected == "only")
        found = look_up(self.graph, parsed, places, wanted)
        for mention in (mention for mentions in found for mention in mentions):
            self._score(mention)
        return found

    def _score(self, mention: Mention) -> None:
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

    def _chosen(self, found: Sequence[Sequence[Mention]]) -> Sequence[Sequence[Mention]]:
        """Choose among overlapping mentions, and lower the score of those that the others speak against."""
        if self.longest:
            found = [cover(mentions) for mentions in found]
        self._lower_parts(found)
        self._lower_echoes(found)
        return found

    def _lower_echoes(self, found: Sequence[Sequence[Mention]]) -> None:
        """Where capitals tell no names, lower the score of words that name a relation of another mention."""
        rows = [mentions for mentions in found if len(mentions) > 1 and not mentions[0].words.marked]
        ids = list(dict.fromkeys(mention.candidates[0].entity for mentions in rows for mention in mentions))
        if not ids:
            return
        stems = dict(zip(ids, entity_context.relation_stems(self.graph, ids), strict=True))
        for mentions in rows:
            around = [stems[mention.candidates[0].entity] for mention in mentions]
            for place, mention in enumerate(mentions):
                own = entity_context.stems(mention.names[0])
                if own and any(own <= other for other in around[:place] + around[place + 1 :]):
                    mention.looks *= ECHO
        for mention in (mention for mentions in rows for mention in mentions):
            self._score(mention)

    def _lower_parts(self, found: Sequence[Sequence[Mention]]) -> None:
        """Lower the score of what seems part of a longer name that the graph lacks: Rick, in Rick Elice."""
        for mentions in found:
            covered = {word for mention in mentions for word in range(mention.first, mention.last + 1)}
            for mention in mentions:
                beside = mention.words.names_beside(mention.first, mention.last)
                if any(word not in covered for word in beside):
                    mention.looks *= PART_OF_NAME
                    self._score(mention)

    def _links(self, mentions: Sequence[Mention]) -> list[Link]:
        """Write the links of mentions that score enough: by themselves, and beside the best one of the text."""
        keep = self.keep
        if keep is None:
            keep = 0.0 if self._learnt else KEEP
        least = max(self._least, keep * max((mention.score for mention in mentions), default=0.0))
        lowest = self.min_score or 0.0
        links = [
            Link(candidate.entity, candidate.score, mention.start, mention.end, candidate.label)
            for mention in mentions
            if mention.score >= least
            for candidate in mention.candidates[: self.n_best]
            if candidate.score >= lowest
        ]
        return sorted(links, key=lambda link: (link.start or 0, -link.score, link.entity, link.end or 0))

    @property
    def _least(self) -> float:
        """The score that the best entity of a mention needs; its other entities are alternatives to that."""
        if self.min_score is not None:
            return self.min_score
        return self._learnt.threshold if self._learnt else 0.0
