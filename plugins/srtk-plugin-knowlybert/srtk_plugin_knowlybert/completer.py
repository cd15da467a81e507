"""The ``masked-lm`` completer: labels that a language model puts into sentences of a relation."""

from __future__ import annotations

import hashlib
import json
import logging
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar, Literal

import attrs
import numpy as np
from srtk_plugin_patterns.twins import without_held_out

from srtk_framework.graph import TripleTable
from srtk_framework.records import place
from srtk_framework.roles import Completer, Corpus, Index, KnowledgeGraph, MaskFiller, TrainingTask, absent
from srtk_framework.values import (
    Completion,
    DriverError,
    Evidence,
    Pattern,
    Step,
    Triple,
    at_least,
    batched,
    confidence,
    open_end,
    rounded,
)
from srtk_plugin_knowlybert.candidates import Candidate, candidates_of
from srtk_plugin_knowlybert.context import Paragraph, paragraphs
from srtk_plugin_knowlybert.filler_types import TYPES, FillerTypes, Types
from srtk_plugin_knowlybert.fit_settings import MaskedLMFitSettings
from srtk_plugin_knowlybert.label_search import LabelSearch, Sentences
from srtk_plugin_knowlybert.label_trie import LabelTrie
from srtk_plugin_knowlybert.names import all_names, read_names
from srtk_plugin_knowlybert.soft_prior import SoftPrior, features
from srtk_plugin_knowlybert.state import State, tokenizer_hash
from srtk_plugin_knowlybert.template_choice import chosen_templates
from srtk_plugin_knowlybert.templates import Template, read_templates
from srtk_plugin_knowlybert.thresholds import dynamic_threshold, static_threshold
from srtk_plugin_knowlybert.variants import RULES, VARIANTS, Rules, Variant

logger = logging.getLogger(__name__)

_BATCH = 256  # Patterns whose candidates are in memory at once.
MOST_TEMPLATES = 5  # Templates of a relation that are asked, the best ones.
PRIOR_FACTS = 2000  # Held-out facts from which the prior of ``types: soft`` is learnt.


@attrs.frozen
class _Asked:
    """A pattern as it is put to the language model."""

    end: str
    step: Step
    sentences: Sentences
    paragraph: Paragraph


@attrs.define(eq=False)
class MaskedLMCompleter(Completer):
    """Complete patterns with labels that a masked language model puts into sentences (KnowlyBERT, Kalo et al. 2020).

    The name of the known entity is put into the templates of the relation, with one or more gaps in place of the open
    end. The tokens of the gaps are joined to labels of the graph. A label has its best score over the templates.
    Filters drop labels on whose score the templates disagree, and entities that do not fit the relation; of
    entities with the same label the most popular is taken. A relation without templates is asked by its label.

    Attributes:
        graph: Graph to complete; it must be able to list its triples.
        filler: Fills gaps of texts.
        corpus: Texts with mentions, from which training makes templates; not needed with ``templates``.
        templates: File or folder of templates (LAMA, ParaRel, or a mapping), in place of mined templates.
        path: Folder of a trained model; not needed in a recipe that trains it.
        names: File of ids and further names with a tab between; entities without a triple are found by them too.
        index: Searches texts; their first sentences about the known entity stand beside each sentence.
        context: Sentences of this kind.
        masks: Most tokens of a label.
        top: Tokens of each gap that are joined to labels; null to rate all labels that fit the relation.
        variant: Rules of scores, filters and thresholds: ``default``, ``published`` (the paper's) or ``code`` (of the
            published code).
        types: Which entities may fill the open end: those with an expected class (``classes``, else as by signatures);
            with a step in common with known fillers (``signatures``); known fillers (``seen``); any (``none``).
            ``soft`` drops nothing: all of this is weighed against the score, as learnt on held-out facts, and the
            confidence is the probability that the triple is true. By default ``soft`` for the variant ``default``,
            else ``classes``.
        homonyms: ``popular``: only the most popular entity of a label; ``all``.
    """

    learns: ClassVar[str] = "graph"
    reuse: ClassVar[str] = "completer: {use: masked-lm, filler: {use: masked-lm, model: MODEL}, path: FOLDER}"

    graph: KnowledgeGraph
    filler: MaskFiller
    corpus: Corpus | None = None
    templates: str | None = None
    path: str | None = None
    names: str | None = None
    index: Index | None = None
    context: int = attrs.field(default=5, validator=at_least(1))
    masks: int = attrs.field(default=3, validator=at_least(1))
    top: int | None = attrs.field(default=100, validator=at_least(1))
    variant: Variant = attrs.field(default="default", validator=attrs.validators.in_(VARIANTS))
    types: Types | None = attrs.field(default=None, validator=attrs.validators.optional(attrs.validators.in_(TYPES)))
    homonyms: Literal["popular", "all"] = attrs.field(
        default="popular", validator=attrs.validators.in_(("popular", "all"))
    )
    _rules: Rules = attrs.field(init=False, repr=False)
    _table: TripleTable | None = attrs.field(init=False, default=None, repr=False)
    _known: FillerTypes | None = attrs.field(init=False, default=None, repr=False)
    _search: LabelSearch | None = attrs.field(init=False, default=None, repr=False)
    _given: Mapping[str, tuple[Template, ...]] = attrs.field(init=False, factory=dict, repr=False)
    _names: dict[str, Sequence[str]] = attrs.field(init=False, factory=dict, repr=False)
    _state: State = attrs.field(init=False, factory=State, repr=False)
    _said: set[str] = attrs.field(init=False, factory=set, repr=False)

    def __attrs_post_init__(self) -> None:
        rules = RULES[self.variant]
        self._rules = rules if self.types is None else attrs.evolve(rules, types=self.types)

    def preflight(self) -> list[tuple[str, str]]:
        """Check that folders and files exist."""
        return [
            *absent("path", self.path, "train the completer, or correct the path"),
            *absent("templates", self.templates, "name a file or folder of templates"),
            *absent("names", self.names, "name a file of ids and names"),
        ]

    def open(self) -> None:
        """Read the graph, the names of its entities, the templates, and the model.

        Raises:
            DriverError: If the graph cannot list its triples, the filler cannot find tokens, the index searches no
                texts, or the model cannot be read or is of another tokenizer.
            InputError: If templates or names cannot be read.
        """
        if self.top is not None and not self.filler.fills():
            raise DriverError(
                "the filler only rates given labels; set `top: null`, so that labels are rated, and `types: seen` or"
                " `signatures`, so that these are few"
            )
        if self.index is not None and not self.index.searches_texts():
            raise DriverError("the index searches vectors, not texts; name one that searches texts, such as `bm25`")
        self._given = {} if self.templates is None else read_templates(Path(self.templates).expanduser())
        self._table = TripleTable.of(self.graph)
        self._known = FillerTypes(self._table, self.graph.schema(), of_answers=self._rules.classes_of_answers)
        further = {} if self.names is None else read_names(Path(self.names).expanduser())
        self._names = all_names(self.graph, self._table, further)
        trie = LabelTrie.of(self._names, self.filler, self.masks)
        if trie.too_long or trie.unwritten:
            logger.info(
                "%s names have more than %s tokens and %s none, so these entities are not found by them",
                f"{trie.too_long:,}",
                self.masks,
                f"{trie.unwritten:,}",
            )
        self._search = LabelSearch(self.filler, trie, self.masks, self.top, self._rules.mean, self._rules.over)
        if self.path is not None:
            self.load(Path(self.path).expanduser())

    def close(self) -> None:
        """Release graph, names and model."""
        self._table = self._known = self._search = None
        self._state = State()

    def fingerprint(self) -> str:
        """Identify the graph, the filler, the texts, the settings and the model."""
        needs = [one.fingerprint() for one in (self.graph, self.filler, self.index) if one is not None]
        settings = [
            f"{field.name}={getattr(self, field.name)!r}"
            for field in attrs.fields(type(self))
            if field.init and field.name not in ("graph", "filler", "corpus", "index", "path", "templates", "names")
        ]
        learnt = [self._state.to_json(), {k: [t.text for t in v] for k, v in self._given.items()}, self._names]
        digest = hashlib.sha256(json.dumps(learnt, sort_keys=True, default=list).encode()).hexdigest()[:16]
        return f"masked-lm({', '.join([*needs, *settings])}, {digest})"

    # Hooks

    def complete(self, patterns: Sequence[Pattern], limit: int | None) -> list[list[Completion]]:
        """Propose the entities whose labels the language model puts into the sentences."""
        known = self._opened()[1]
        answers: list[list[Completion]] = []
        for part in batched(list(patterns), _BATCH):
            for pattern, (asked, candidates) in zip(part, self._candidates(part, known), strict=True):
                if asked is None:
                    answers.append([])
                    continue
                candidates = self._cut(candidates)
                shares = self._shares(asked, candidates, known)
                held = {asked.end, *known.known(asked.end, asked.step)}
                rated = [
                    (-share, one.entity, one)
                    for one, share in zip(candidates, shares, strict=True)
                    if one.entity not in held
                ]
                best = sorted(rated, key=lambda row: (row[0], pattern.filled(row[1])))[:limit]
                answers.append(
                    [Completion(pattern.filled(id_), -share, self._evidence(asked, one)) for share, id_, one in best]
                )
        return answers

    def offers(self, node_sets: Sequence[Sequence[str]], inverse: bool) -> list[list[Step]]:
        """Offer the steps that entities of the same classes, or with a step in common, have."""
        return self._opened()[1].signatures.offers(node_sets, inverse)

    # Asking

    def _candidates(
        self, patterns: Sequence[Pattern], known: FillerTypes
    ) -> list[tuple[_Asked | None, list[Candidate]]]:
        """Return how each pattern is asked, and its candidates before the threshold; None for an unknown end."""
        table, _, search = self._opened()
        rows: list[_Asked | None] = []
        ends = [open_end(pattern) for pattern in patterns]
        asked = [end in self._names and step.relation in table.relation_numbers for end, step in ends]
        named = [self._names[end][0] for (end, _), is_asked in zip(ends, asked, strict=True) if is_asked]
        about = iter(
            paragraphs(self.index, named, self.context) if self.index is not None else [Paragraph() for _ in named]
        )
        templates = self._templates(
            [step.relation for (_, step), is_asked in zip(ends, asked, strict=True) if is_asked]
        )
        for (end, step), is_asked in zip(ends, asked, strict=True):
            if not is_asked:
                rows.append(None)
                continue
            paragraph = next(about)
            text = Sentences(templates[step.relation], self._names[end][0], step.inverse, paragraph.text)
            rows.append(_Asked(end, step, text, paragraph))
        some = [row for row in rows if row is not None]
        labels = None
        if self.top is None:
            labels = [self._rated_labels(row, known) for row in some]
        found = iter(search.search([row.sentences for row in some], labels))
        answers: list[tuple[_Asked | None, list[Candidate]]] = []
        for row in rows:
            if row is None:
                answers.append((None, []))
                continue
            every = self.homonyms == "all"
            answers.append(
                (row, candidates_of(next(found), search.trie, known, row.end, row.step, self._rules, homonyms=every))
            )
        return answers

    def _rated_labels(self, asked: _Asked, known: FillerTypes) -> list[tuple[str, ...]]:
        """Return the labels of entities that may fill the open end."""
        trie = self._opened()[2].trie
        ids = list(trie.labels)
        fits = known.allowed(self._rules.types, asked.end, asked.step, ids)
        return sorted({label for id_, fit in zip(ids, fits, strict=True) if fit for label in trie.labels[id_]})

    def _cut(self, candidates: list[Candidate]) -> list[Candidate]:
        """Drop the candidates of a pattern below the threshold."""
        if self._rules.threshold == "none":
            return candidates
        scores = [self._scaled(one) for one in candidates]
        least = (
            -math.inf if self._state.threshold is None or self._rules.threshold == "dynamic" else self._state.threshold
        )
        if self._rules.threshold != "static":
            least = dynamic_threshold(scores, least)
        return [one for one, score in zip(candidates, scores, strict=True) if score >= least]

    def _shares(self, asked: _Asked, candidates: Sequence[Candidate], known: FillerTypes) -> list[float]:
        """Return the confidence of each candidate."""
        if self._rules.types != "soft" or self._state.prior is None:
            return [confidence(one.found.score) for one in candidates]
        rows = self._features(asked, candidates, known)
        return [confidence(share) for share in self._state.prior.probabilities(rows)]

    def _features(self, asked: _Asked, candidates: Sequence[Candidate], known: FillerTypes) -> np.ndarray:
        prior = known.prior(asked.step, [one.entity for one in candidates])
        return features(candidates, prior, len(asked.sentences.templates))

    def _evidence(self, asked: _Asked, one: Candidate) -> tuple[Evidence, ...]:
        """Return the filled sentence, and the paragraph beside it, if any."""
        trie = self._opened()[2].trie
        template = asked.sentences.templates[one.found.best]
        name, label = asked.sentences.name, trie.names[one.label]
        filled = template.filled(*((label, name) if asked.step.inverse else (name, label)))
        score = rounded(math.log(max(one.found.greatest, 1e-12)))
        found = [Evidence("template", filled, template.text, score)]
        if asked.paragraph.text:
            found.append(Evidence("snippet", asked.paragraph.text, asked.paragraph.source, score))
        return tuple(found)

    def _templates(self, relations: Sequence[str]) -> dict[str, tuple[Template, ...]]:
        """Return the templates of each relation; without any, a template of its label."""
        found: dict[str, tuple[Template, ...]] = {}
        without = []
        for relation in sorted(set(relations)):
            some = self._state.templates.get(relation) or self._given.get(relation)
            if some:
                found[relation] = some[:MOST_TEMPLATES]
            else:
                without.append(relation)
        if without:
            for relation, label in zip(without, self.graph.labels(without), strict=True):
                found[relation] = (Template.of_label(label or relation),)
            if fresh := set(without) - self._said:
                self._said |= fresh
                logger.info("%s relations have no template and are asked by their labels", f"{len(self._said):,}")
        return found

    # Training

    def fit(self, task: TrainingTask, training: MaskedLMFitSettings) -> Mapping[str, float]:
        """Make and rank templates, count expected classes, and learn the static threshold and the soft prior.

        Facts held out and their twins are in no count and make no template; the prior is learnt on these facts.

        Raises:
            DriverError: If there is neither corpus nor templates, or scikit-learn is not installed for ``types: soft``.
        """
        table, _, search = self._opened()
        if self.corpus is None and not self._given:
            raise DriverError(
                "there is nothing to learn templates from; give a `corpus` of annotated texts, or a file as `templates`"
            )
        # Entities of held-out facts alone are as unknown here as those of facts that the graph lacks.
        left, again = without_held_out(table, task.held_out, training.twins)
        left = left.compact()
        known = FillerTypes(left, self.graph.schema(), of_answers=self._rules.classes_of_answers)
        templates = dict(self._given)
        if not templates and self.corpus is not None:
            templates = chosen_templates(self.corpus.read(), left, search, self._names, training, task.seed)
        self._state = State(templates=templates)
        found = {
            "relations": float(len(table.relations)),
            "relations with templates": float(sum(relation in templates for relation in table.relations)),
            "templates": float(sum(map(len, templates.values()))),
            "held_out": float(len(task.held_out)),
            "twin_triples": float(len(again)),
        }
        threshold = self._learnt_threshold(left, known, training, task.seed)
        self._state = attrs.evolve(self._state, threshold=threshold)
        if threshold is not None:
            found["threshold"] = threshold
        if self._rules.types == "soft":
            prior, counts = self._learnt_prior(left, known, task.held_out, training, task.seed)
            self._state = attrs.evolve(self._state, prior=prior)
            found.update(counts)
        self._state = attrs.evolve(self._state, tokenizer=tokenizer_hash(self.filler))
        if task.validate is not None:
            found.update(task.validate())
        return found

    def _learnt_threshold(
        self, left: TripleTable, known: FillerTypes, training: MaskedLMFitSettings, seed: int
    ) -> float | None:
        """Return the mean score of answers that the graph holds, over some of its patterns."""
        patterns = sorted({one for fact in left.named(left.triples) for one in _both(fact)}, key=str)
        drawn = sorted(patterns, key=lambda one: (place("\t".join(map(str, one)), seed), str(one)))[: training.queries]
        held: list[list[float]] = []
        for part in batched(drawn, _BATCH):
            for asked, candidates in self._candidates(part, known):
                if asked is not None:
                    answers = set(known.known(asked.end, asked.step))
                    held.append([self._scaled(one) for one in candidates if one.entity in answers])
        return static_threshold(held)

    def _scaled(self, one: Candidate) -> float:
        return math.log(max(one.found.score, 1e-12)) if self._rules.scale == "logarithm" else one.found.score

    def _learnt_prior(
        self,
        left: TripleTable,
        known: FillerTypes,
        held_out: Sequence[Triple],
        training: MaskedLMFitSettings,
        seed: int,
    ) -> tuple[SoftPrior | None, dict[str, float]]:
        """Learn the prior on patterns of held-out facts; None without a right and a wrong candidate."""
        facts = sorted(held_out, key=lambda fact: (place("\t".join(fact), seed), fact))[:PRIOR_FACTS]
        out = set(held_out)
        rows: list[np.ndarray] = []
        right: list[bool] = []
        for part in batched(sorted({one for fact in facts for one in _both(fact)}, key=str), _BATCH):
            for pattern, (asked, candidates) in zip(part, self._candidates(part, known), strict=True):
                if asked is None:
                    continue
                held = {asked.end, *known.known(asked.end, asked.step)}
                some = [one for one in candidates if one.entity not in held]
                if some:
                    rows.append(
                        self._features(asked, candidates, known)[[one.entity not in held for one in candidates]]
                    )
                    right += [pattern.filled(one.entity) in out for one in some]
        counts = {"prior candidates": float(len(right)), "prior right": float(sum(right))}
        if not any(right) or all(right):
            logger.warning(
                "no prior is learnt: of %s candidates of held-out facts %s are right; give `held_out: {share: 0.1}`",
                f"{len(right):,}",
                f"{sum(right):,}",
            )
            return None, counts
        return SoftPrior.learn(np.vstack(rows), np.array(right)), counts

    def save(self, folder: Path) -> None:
        """Write the model as JSON."""
        self._state.save(folder)

    def load(self, folder: Path) -> None:
        """Read what ``save`` wrote."""
        self._state = State.read(folder, self.filler)

    def _opened(self) -> tuple[TripleTable, FillerTypes, LabelSearch]:
        if self._table is None or self._known is None or self._search is None:
            raise DriverError("the completer is not open; call open() first")
        return self._table, self._known, self._search


def _both(fact: Triple) -> tuple[Pattern, Pattern]:
    return Pattern(fact.subject, fact.relation), Pattern(None, fact.relation, fact.object)
