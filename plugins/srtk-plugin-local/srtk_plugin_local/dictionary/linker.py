"""The ``dictionary`` linker: every run of words of a text, looked up among the labels and aliases of the graph."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar, Literal

import attrs

from srtk_framework.roles import Encoder, EntityLinker, KnowledgeGraph, MentionDetector, TrainingTask, absent
from srtk_framework.values import (
    DriverError,
    Link,
    SettingsError,
    at_least,
    batched,
    between,
    each,
    keys_of,
    link_order,
    one_of,
    rounded,
    share,
)
from srtk_plugin_local.dictionary import context_features, entity_context, fuzzy_match, suggestions, weight_fit
from srtk_plugin_local.dictionary.candidate_lookup import LookupLimits, look_up
from srtk_plugin_local.dictionary.candidates import Mention, cover
from srtk_plugin_local.dictionary.context_features import Vectors
from srtk_plugin_local.dictionary.coordination import raise_coordinated
from srtk_plugin_local.dictionary.learnt_weights import EVERYWHERE, LEAST, LearntWeights
from srtk_plugin_local.dictionary.relation_phrases import RelationPhrases
from srtk_plugin_local.dictionary.stop_words import STOP_WORDS, FunctionWords
from srtk_plugin_local.dictionary.weight_fit import LinkerTraining

# Default weights of the features of a score; context counts only with an encoder.
WEIGHTS = {"match": 2.0, "popularity": 1.0, "length": 1.0, "context": 1.0}

# Factor for words of a relation of another mention, as ``director`` in ``who was the director of jaws``.
ECHO = 0.35

# Factor for a mention next to a capitalised word that is in no mention.
PART_OF_NAME = 0.7

# Minimum score of a mention relative to the best in the text, without learnt weights.
KEEP = 0.5

_PROBE = "What is the capital of the country that borders it?"


@attrs.define(eq=False)
class DictionaryLinker(EntityLinker):
    """Link names of the graph, its labels and aliases, after folding of case, diacritics and marks.

    Without learnt weights, a score only ranks links. It is the weighted mean of match, popularity among the entities of
    the name, length in words and (with an encoder) context. The factor is how much the mention looks like a name in its
    text. With learnt weights, it is the probability that the link is right, and a mention that is unlikely to refer to
    any candidate gets no link.

    Attributes:
        graph: Graph whose labels and aliases are looked up.
        encoder: Encoder that compares the sentence of a mention with the descriptions and facts of its candidates.
        detector: Mention detector that selects the spans to look up; by default, every run of words is looked up.
        detected: `only` looks up detected spans, `also` every run of words as well.
        fuzzy: Minimum similarity, from 0 to 1, of names one slip or ending away from the words of a text without a sure
            name. With 1 only exact names link, without initials and parts of names either. By default 0.75, and with
            learnt weights 1, unless a `monitor` of their training chose the threshold.
        max_words: Maximum number of words of a name.
        n_best: Maximum number of entities of a mention: the best entity and its alternatives.
        alternatives: Minimum score of an alternative relative to the best entity of its mention, from 0 to 1.
        candidates: Maximum number of entities of one name; those with the most triples are kept.
        min_score: Minimum score of a link. By default the learnt threshold for the best link of a mention, 0 for its
            alternatives, and 0 without learnt weights.
        keep: Minimum score of a mention relative to the best in the text; by default 0.5, 0 with learnt weights.
        longest: Of overlapping mentions, keep those that together cover the text best; if false, keep all.
        languages: Languages of function words, which are not names in lower case: de, en, es, fr, it, nl, pt; by
            default the language of each text, by its function words. Of several the first is the language of the
            texts. Also the languages of descriptions, in order of preference, by default English.
        stop_words: Function words, in the place of the languages' words.
        weights: Weights of `match` (2), `popularity`, `length` and `context` (1 each) that differ from the default.
            With learnt weights they only choose among overlapping mentions.
        model: Folder of learnt weights: `training/model` in the folder of a run. A recipe that trains needs none.
    """

    learns: ClassVar[str] = "links"

    graph: KnowledgeGraph
    encoder: Encoder | None = None
    detector: MentionDetector | None = None
    detected: Literal["only", "also"] = attrs.field(default="only", validator=one_of(("only", "also")))
    fuzzy: float | None = attrs.field(default=None, validator=between(above=0, most=1))
    max_words: int = attrs.field(default=12, validator=at_least(1))
    n_best: int = attrs.field(default=1, validator=at_least(1))
    alternatives: float = attrs.field(default=0.0, validator=share)
    candidates: int = attrs.field(default=50, validator=at_least(1))
    min_score: float | None = attrs.field(default=None, validator=share)
    keep: float | None = attrs.field(default=None, validator=share)
    longest: bool = True
    languages: Sequence[str] | None = attrs.field(default=None, validator=keys_of(tuple(STOP_WORDS)))
    stop_words: Sequence[str] | None = None
    weights: Mapping[str, float] = attrs.field(factory=dict, validator=[keys_of(tuple(WEIGHTS)), each(at_least(0))])
    model: str | None = None
    _words: FunctionWords = attrs.field(init=False, repr=False)
    _weights: dict[str, float] = attrs.field(init=False, repr=False)
    _learnt: LearntWeights | None = attrs.field(init=False, default=None, repr=False)
    _vectors: Vectors | None = attrs.field(init=False, default=None, repr=False)
    _relations: RelationPhrases | None = attrs.field(init=False, default=None, repr=False)

    def __attrs_post_init__(self) -> None:
        self._words = FunctionWords(self.languages, self.stop_words)
        self._weights = {**WEIGHTS, **self.weights}
        if self.encoder is None:
            self._weights["context"] = 0.0
        if not any(self._weights.values()):
            text = "weights are all 0; set one above 0 (context counts only with an encoder)"
            raise SettingsError([(("weights",), text)])

    def preflight(self) -> list[tuple[str, str]]:
        """Check that the folder of the learnt weights exists."""
        return absent("model", self.model)

    def open(self) -> None:
        """Read the learnt weights of the setting ``model``."""
        if self.model is not None:
            self.load(Path(self.model).expanduser())

    def close(self) -> None:
        """Release the cached vectors and the phrases of relations."""
        self._vectors = self._relations = None

    def fingerprint(self) -> str:
        """Identify the inner drivers, the settings and the learnt weights."""
        apart = attrs.evolve(self, model=None) if self.model is not None else self
        learnt = self._learnt.fingerprint() if self._learnt else "untrained"
        return f"{EntityLinker.fingerprint(apart)}, {learnt}"

    def link(self, texts: Sequence[str]) -> list[list[Link]]:
        """Find names, choose among overlapping mentions, and rank the entities of each."""
        found = self._chosen(self._mentions(texts, self._learnt is None or self._learnt.near))
        if self.encoder is not None and (self._learnt is not None or self._weights["context"]):
            self._compare(self.encoder, found, self._learnt is not None)
        if self._learnt is not None:
            self._learnt.score(found)
        elif self.encoder is not None:
            for mention in (mention for mentions in found for mention in mentions):
                self._score(mention)
        return [self._links(mentions) for mentions in found]

    def suggest(self, texts: Sequence[str], limit: int) -> list[list[Link]]:
        """Suggest entities whose names are one slip away from words of a text, or hold them."""
        return suggestions.suggest(self.graph, [self._words.parse(text) for text in texts], limit)

    def fit(self, task: TrainingTask, training: LinkerTraining) -> Mapping[str, float]:
        """Fit the weights to the gold links of the questions, or to their given links if they have none.

        An empty list of gold links is an example of a text without entities.
        """
        asked = ((example, example.question) for example in task.examples)
        examples = [example for example, question in asked if question.gold_links is not None or question.links]
        # The best F1 wants names that are sure; what is monitored, such as a retrieval, loses more by a missing link.
        near = training.monitor is not None
        found: list[weight_fit.Case] = []
        for start in range(0, len(examples), training.batch):
            some = examples[start : start + training.batch]
            texts, gold = [example.question.text for example in some], [weight_fit.gold_of(example) for example in some]
            every = self._mentions(texts, near)
            chosen = self._chosen(every)
            concerned = weight_fit.concerned(every, chosen, gold)
            if self.encoder is not None:
                self._compare(self.encoder, concerned, True)
            found += weight_fit.cases(texts, concerned, chosen, gold, training.folds)
        wanted_links = sum(weight_fit.wanted(weight_fit.gold_of(example)) for example in examples)
        self._learnt, fitted = weight_fit.learn(found, wanted_links, training, self._probe(), self._places, near)
        figures = {**fitted, "links": float(wanted_links)}
        if training.monitor is not None:
            figures.update(self._choose_threshold(task, training, training.monitor))
        elif task.validate is not None:
            figures.update(task.validate())
        return figures

    def _choose_threshold(self, task: TrainingTask, training: LinkerTraining, monitor: str) -> dict[str, float]:
        """Keep the threshold with which a metric of the validation is best, of equals the one nearest to the best F1.

        Returns:
            The metrics of the validation with that threshold, and the threshold.

        Raises:
            DriverError: If the validation has no such metric, or the threshold has no effect.
        """
        learnt = self._learnt
        assert learnt is not None
        if task.validate is None:
            raise DriverError(f"monitor: {monitor} needs questions to validate with; add `validation:`")
        if self.min_score is not None:
            raise DriverError("monitor chooses the threshold, which min_score replaces; omit one of them")
        self._learnt = attrs.evolve(learnt, threshold=0.0)
        texts = [example.question.text for example in task.examples]
        found = [links for some in batched(texts, training.batch) for links in self.link(some)]
        tried: dict[float, Mapping[str, float]] = {}
        for threshold in weight_fit.threshold_choices(found, learnt.threshold, training.thresholds):
            self._learnt = attrs.evolve(learnt, threshold=threshold)
            tried[threshold] = task.validate()
            if monitor not in tried[threshold]:
                needs = "those of a retrieval need an expander in the recipe and validation questions with answers"
                raise DriverError(f"monitor is {monitor!r}; use {', '.join(sorted(tried[threshold]))} ({needs})")
        chosen = min(tried, key=lambda one: (-rounded(tried[one][monitor]), abs(one - learnt.threshold), one))
        self._learnt = attrs.evolve(learnt, threshold=chosen)
        return {**tried[chosen], "threshold": chosen, "threshold_of_best_f1": learnt.threshold}

    def save(self, folder: Path) -> None:
        """Write the learnt weights."""
        if self._learnt is None:
            raise DriverError("there are no learnt weights to save; train the linker first")
        self._learnt.save(folder)

    def load(self, folder: Path) -> None:
        """Read the weights that ``save`` wrote; encoder and detector must be the same as in training."""
        learnt = LearntWeights.load(folder)
        learnt.check_places(self._places, folder)
        learnt.check_encoder(self._probe(), folder)
        self._learnt = learnt

    def _compare(self, encoder: Encoder, found: Sequence[Sequence[Mention]], every: bool) -> None:
        """Fill in the context features of every mention, or of those with several candidates."""
        if self._vectors is None or self._vectors.encoder is not encoder:
            self._vectors = Vectors(encoder)
        context_features.compare(self.graph, self._vectors, self.languages or ("en",), found, every)

    def _phrases(self) -> RelationPhrases:
        """Return the phrases of the graph's relations, read at the first use."""
        if self._relations is None:
            self._relations = RelationPhrases(self.graph)
        return self._relations

    @property
    def _places(self) -> str:
        return EVERYWHERE if self.detector is None else self.detected

    def _probe(self) -> list[float] | None:
        """Return the encoder's vector of a fixed text, by which ``load`` recognises the encoder."""
        if self.encoder is None:
            return None
        vector = self.encoder.encode([_PROBE])[0].astype(float)
        return [round(float(value), 4) for value in vector / max(math.sqrt(float(vector @ vector)), 1e-9)]

    def _mentions(self, texts: Sequence[str], near: bool) -> list[list[Mention]]:
        """Look up the spans of all texts at once, and score the mentions by the unlearnt weights.

        Args:
            texts: The texts.
            near: Whether near names are looked up, where the setting ``fuzzy`` leaves it open.
        """
        parsed = [self._words.parse(text) for text in texts]
        places = self.detector.detect(texts) if self.detector is not None else None
        least = (fuzzy_match.LEAST if near else 1.0) if self.fuzzy is None else self.fuzzy
        fuzzy = least if least < 1 else None
        limits = LookupLimits(self.max_words, self.candidates, fuzzy, self.detected == "only", self._phrases)
        found = look_up(self.graph, parsed, places, limits)
        raise_coordinated(self.graph, found)
        for mention in (mention for mentions in found for mention in mentions):
            self._score(mention)
        return found

    def _score(self, mention: Mention) -> None:
        """Score the candidates of a mention and sort them, best first."""
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
        mention.candidates.sort(key=link_order)

    def _chosen(self, found: Sequence[Sequence[Mention]]) -> Sequence[Sequence[Mention]]:
        """Choose among overlapping mentions, and lower the scores of parts of names and of relation words."""
        if self.longest:
            found = [cover(mentions) for mentions in found]
        for mentions in found:
            # A part of a longer name that the graph lacks: Rick, in Rick Elice.
            covered = {word for mention in mentions for word in range(mention.first, mention.last + 1)}
            for mention in mentions:
                if not covered.issuperset(mention.words.names_beside(mention.first, mention.last)):
                    mention.looks *= PART_OF_NAME
                    self._score(mention)
        self._lower_echoes(found)
        return found

    def _lower_echoes(self, found: Sequence[Sequence[Mention]]) -> None:
        """Lower the score of words of another mention's relation, in texts that do not capitalise names."""
        rows = [mentions for mentions in found if len(mentions) > 1 and not mentions[0].words.marked]
        ids = list(dict.fromkeys(mention.candidates[0].entity for mentions in rows for mention in mentions))
        if not ids:
            return
        stems = dict(zip(ids, entity_context.relation_stems(self.graph, ids), strict=True))
        for mentions in rows:
            counts = Counter(mention.candidates[0].entity for mention in mentions)
            holding: dict[str, set[str]] = {}
            for entity in counts:
                for stem in stems[entity]:
                    holding.setdefault(stem, set()).add(entity)
            known: dict[frozenset[str], tuple[set[str], int]] = {}  # a text can repeat a word thousands of times
            for mention in mentions:
                own = frozenset(entity_context.stems(mention.names[0]))
                if own not in known:
                    # Entities with relations of all of these words, and their mentions.
                    holders = set.intersection(*(holding.get(stem, set()) for stem in own)) if own else set()
                    known[own] = holders, sum(counts[entity] for entity in holders)
                holders, total = known[own]
                if total > (mention.candidates[0].entity in holders):
                    mention.looks *= ECHO
        for mention in (mention for mentions in rows for mention in mentions):
            self._score(mention)

    def _links(self, mentions: Sequence[Mention]) -> list[Link]:
        """Return the links of the mentions whose score is high enough, in itself and relative to the best mention."""
        keep = self.keep
        if keep is None:
            keep = 0.0 if self._learnt else KEEP
        lowest = self.min_score or 0.0
        least = self._learnt.threshold if self.min_score is None and self._learnt else lowest
        least = max(least, keep * max((mention.score for mention in mentions), default=0.0))
        links = [
            Link(candidate.entity, candidate.score, mention.start, mention.end, candidate.label)
            for mention in mentions
            if mention.score >= least
            for candidate in mention.candidates[: self.n_best]
            if candidate.score >= max(lowest, self.alternatives * mention.score)
        ]
        return sorted(links, key=lambda link: (link.start or 0, -link.score, link.entity, link.end or 0))
