"""The ``dense`` path scorer: similarity of text vectors between a question and the next step of a path."""

from __future__ import annotations

import copy
import logging
import math
from collections.abc import Callable, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path as FilePath
from typing import ClassVar, get_args

import attrs
import numpy as np
import numpy.typing as npt
from srtk_plugin_training import require_packages

from srtk_framework.roles import PLAIN, Encoder, GraphExamples, KnowledgeGraph, PathScorer, SearchSettings, TrainingTask
from srtk_framework.values import (
    END,
    SCORE_DIGITS,
    DriverError,
    InputError,
    Path,
    RankedPath,
    RunError,
    Sample,
    Step,
    TrainingExample,
    finite,
    one_of,
    positive,
)
from srtk_plugin_sr.fit_settings import ScorerFitSettings
from srtk_plugin_sr.made_questions import MadeQuestions
from srtk_plugin_sr.samples import IndexedSample, RankedPaths, TrainingSet, make_samples
from srtk_plugin_sr.scorer_form import UNTRAINED, Rule, ScorerForm, read_form, write_form
from srtk_plugin_sr.search_settings import GAIN, TOPIC_BACKGROUNDS, TRAINED
from srtk_plugin_sr.templates import Templates, make_templates
from srtk_plugin_sr.trainer import train_encoder, trainable_encoder
from srtk_plugin_sr.vectors import Matrix, TextIndex, VectorStore, default_folder, unit

Floats = npt.NDArray[np.float64]
_LOGGER = logging.getLogger(__name__)

# Questions up to which a training is helped by made ones, by default: with fewer, most relations of a graph are in no
# question, and what is learnt of the others counts against them.
ENOUGH = 500
MADE_DEPTH = 2
"""Most steps of a made question's path where a training does not limit its depth."""
_RECENT = 4096
"""Queries whose vectors are kept in memory."""
_PREPARED = 4096
"""Texts of a call that prepares paths, after which their vectors are on disk."""
# A product of all candidates at once would hold a float64 copy of all vectors.
_BLOCK = 8192


@attrs.define(eq=False)
class DenseScorer(PathScorer):
    """Score a step by the cosine of the question and the step (SR, Zhang et al. 2022, section 4.1).

    The encoder maps the question with the steps so far, and each candidate, to vectors. The logit of a candidate is
    their cosine over ``temperature``. Candidates are encoded once and cached.

    Training writes rule, costs and texts beside the weights, and the weights are scored by these. Other weights are
    scored by the rule ``gain`` with small costs. Settings of the recipe have precedence.

    Attributes:
        encoder: Encodes the texts.
        graph: Graph that has the labels of relations.
        rule: Score of a step: `log-softmax` (log-probability among the candidates), `log-sigmoid` (log-probability
            against END alone, SR's own), `srtk-sum` (the logit itself, as SRTK). Or `gain`: the increase of the path's
            similarity to the question. By default the training's, and `gain` without training. Under `gain`
            a candidate is the path including it, compared with the question; else its relation, compared with the
            question and the steps so far.
        temperature: Divides cosines; by default the training's, else 0.07.
        step_cost: Subtracted from the logit of every candidate but END; above 0 it favours short paths. By default
            the training's, 0.5 for `gain` without training, else 0.
        return_cost: Subtracted from the logit of a step that reverses the last step; by default as `step_cost`.
        text: Name of a text form (`plain`, `srtk`), or templates (query, path_query, join, relation, inverse,
            candidate, end) that replace templates of `plain`. By default the training's, else `plain`.
        inverse_text: Template for a step against its direction, with {label}; by default the form's, and `{label} of`
            for `gain` without training.
        cache: Folder that keeps candidate vectors between runs; by default in the user's cache folder, "" for none.
    """

    learns: ClassVar[str] = "paths"
    several_graphs: ClassVar[bool] = True
    reuse: ClassVar[str] = "encoder: {use: transformers, model: FOLDER}"

    encoder: Encoder
    graph: KnowledgeGraph
    rule: Rule | None = attrs.field(default=None, validator=attrs.validators.optional(one_of(get_args(Rule))))
    temperature: float | None = attrs.field(default=None, validator=positive)
    step_cost: float | None = attrs.field(default=None, validator=finite)
    return_cost: float | None = attrs.field(default=None, validator=finite)
    text: str | dict[str, str] | None = None
    inverse_text: str | None = None
    cache: str | None = None
    _fitted: ScorerForm | None = attrs.field(init=False, default=None, repr=False)
    _form: ScorerForm = attrs.field(init=False, default=UNTRAINED, repr=False)
    _templates: Templates = attrs.field(init=False, default=Templates(), repr=False)
    _store: VectorStore | None = attrs.field(init=False, default=None, repr=False)
    _weights_form: tuple[ScorerForm | None] | None = attrs.field(init=False, default=None, repr=False)
    _step_texts: dict[Step, str] = attrs.field(init=False, factory=dict, repr=False)
    _recent: dict[str, Matrix] = attrs.field(init=False, factory=dict, repr=False)
    _offers: dict[tuple[Path, tuple[Step, ...]], tuple[list[str], Floats]] = attrs.field(
        init=False, factory=dict, repr=False
    )

    def open(self) -> None:
        """Read the vectors that earlier runs cached.

        Raises:
            DriverError: If a template is wrong, or a cached file is broken.
        """
        self._reset_cache(on_disk=True)
        self._take_form(self._form_of(self._trained_form()))
        if self._store and self._store.kept:
            _LOGGER.info("vectors of %s texts by this encoder are in %s", f"{self._store.kept:,}", self._store.folder)

    def close(self) -> None:
        """Write the new vectors to the cache."""
        if self._store:
            self._store.save()

    def fingerprint(self) -> str:
        """Identify the encoder, the graph and the settings, but not the cache, which changes no score."""
        form = self._form_of(self._trained_form())
        return f"dense({self.encoder.fingerprint()}, {self.graph.fingerprint()}, {form!r})"

    def search_settings(self) -> SearchSettings:
        """Return the settings of a search that suit the scores, log-odds: margins for trained weights only."""
        trained = self._trained_form()
        suitable = PLAIN
        if trained is not None and self._form.rule == trained.rule == "log-softmax":
            suitable = attrs.evolve(TRAINED, mention=trained.mention)
        elif self._form.rule == "gain" and (trained is None or trained.rule == "gain"):
            suitable = GAIN if trained is None else attrs.evolve(GAIN, mention=trained.mention)
        if trained is not None:
            suitable = attrs.evolve(suitable, topic_background=trained.topic_background)
        return suitable

    def scores_end(self) -> bool:
        """Return False: under every rule a path with no other continuation ends at no cost."""
        return False

    @property
    def form(self) -> ScorerForm:
        """Rule, costs and texts of the scores."""
        return self._form

    @property
    def path_join(self) -> str:
        """Separator between the steps in the text of a path."""
        return self._templates.join

    def with_encoder(self, encoder: Encoder) -> DenseScorer:
        """Return an open scorer of the same form about the same graph, with another encoder and no vectors yet."""
        # A new instance would have to be opened, and would read the cache of vectors.
        other = copy.copy(self)
        other.encoder, other._store, other._recent = encoder, VectorStore(None, ""), {}
        other._weights_form = None
        return other

    def is_trained(self) -> bool:
        """Return whether the encoder has weights of a path scorer that has learnt from questions."""
        trained = self._trained_form()
        return trained is not None and not trained.adapted

    def training_faults(self) -> list[str]:
        """Return why the encoder cannot be trained, if so."""
        try:
            trainable_encoder(self.encoder)
        except DriverError as error:
            return [str(error)]
        return []

    def fit(self, task: TrainingTask, training: ScorerFitSettings) -> Mapping[str, float]:
        """Train the encoder on the decisions along the examples' paths, with the texts and costs of scoring.

        Examples of other graphs have the labels of their own graph.

        Raises:
            DriverError: If a package for training is missing, the encoder cannot be trained, there is no sample, or the
                loss is not finite.
        """
        require_packages("srtk-plugin-sr", "lightning", "torch")
        encoder = trainable_encoder(self.encoder)
        network = encoder.learner()
        before = self._trained_form()
        if before is None or before.adapted:
            before = ScorerForm(rule=self.rule or "log-softmax")
        if training.mention == "auto":
            training = attrs.evolve(training, mention=before.mention)
        # From here on the search, which validates too, scores as the training does.
        self._fitted = attrs.evolve(self._form_of(before), mention=training.mention)
        self._take_form(self._fitted)

        def validated() -> Mapping[str, float]:
            assert task.validate is not None
            encoder.take(network)
            self._reset_cache(on_disk=False)
            return task.validate()

        made = self._made_examples(task, training)
        figures = train_encoder(
            network,
            self._task_samples(attrs.evolve(task, examples=[*task.examples, *made]), training),
            training,
            temperature=training.temperature or self._form.temperature,
            validate=None if task.validate is None else validated,
            folder=task.folder,
            seed=task.seed,
        )
        figures["made_questions"] = float(len(made))
        encoder.take(network)
        if task.validate_topics is not None:
            self._reset_cache(on_disk=False)
            # The rank of a path does not depend on what paths of other topics add to nodes.
            monitor = "answer_recall" if training.monitor in (None, "path_mrr") else training.monitor
            figures |= self._choose_topic_background(task.validate_topics, monitor)
        self._reset_cache(on_disk=True)
        return figures

    def _choose_topic_background(self, validate: Callable[[], Mapping[str, float]], monitor: str) -> dict[str, float]:
        """Keep the background whose search is best on questions of several topics; return it, 0 for no support.

        Among equals the start wins. Where the search does not depend on the background, two trials show it.
        """
        assert self._fitted is not None
        before = self._fitted
        start = before.topic_background
        found: dict[float | None, Mapping[str, float]] = {}
        for background in dict.fromkeys((start, None, *TOPIC_BACKGROUNDS)):
            self._fitted = attrs.evolve(before, topic_background=background)
            found[background] = validate()
            if len(found) == 2 and found[background] == found[start]:
                break
        values = {one: round(found[one].get(monitor, 0.0), 6) for one in (start, *TOPIC_BACKGROUNDS) if one in found}
        best = max(values, key=values.__getitem__)
        self._fitted = attrs.evolve(before, topic_background=best)
        return {"topic_background": best or 0.0, f"several_topics_{monitor}": values[best]}

    def save(self, folder: FilePath) -> None:
        """Write the encoder as a folder that Hugging Face loads, with the form of its training."""
        trainable_encoder(self.encoder).save(folder)
        if (trained := self._trained_form()) is not None:
            write_form(trained, folder)

    def load(self, folder: FilePath) -> None:
        """Load an encoder that ``save`` wrote."""
        trainable_encoder(self.encoder).load(folder)
        self._fitted = None
        if self._store is not None:
            self._reset_cache(on_disk=True)
            self._take_form(self._form_of(self._trained_form()))

    def _trained_form(self) -> ScorerForm | None:
        """Return the form of the present weights' training; None if no path scorer was trained."""
        if self._fitted is not None or self._store is None:
            return self._fitted or read_form(self.encoder)
        if self._weights_form is None:  # of an open scorer, a search asks several times for each question
            self._weights_form = (read_form(self.encoder),)
        return self._weights_form[0]

    def _form_of(self, trained: ScorerForm | None) -> ScorerForm:
        """Put this scorer's settings over the form of its weights."""
        if trained is not None:
            base = trained if self.rule is None else attrs.evolve(trained, rule=self.rule)
        else:
            base = UNTRAINED if self.rule in (None, "gain") else ScorerForm(rule=self.rule or "gain")
        if self.text is not None and self.text != base.text:
            # The base's template belongs to another text form.
            base = attrs.evolve(base, text=self.text, inverse_text=None)
        names = ("temperature", "step_cost", "return_cost", "inverse_text")
        own = {name: getattr(self, name) for name in names}
        return attrs.evolve(base, **{name: value for name, value in own.items() if value is not None})

    def _take_form(self, form: ScorerForm) -> None:
        """Score in a form from now on.

        Raises:
            DriverError: If a template is wrong.
        """
        self._form = form
        self._templates = make_templates(form.text, form.inverse_text)
        self._step_texts, self._offers = {}, {}

    def _reset_cache(self, on_disk: bool) -> None:
        """Start a cache for the encoder's present weights, so that vectors of different weights are never mixed."""
        if self._store is not None:
            self._store.save()
        folder = default_folder() if self.cache is None else FilePath(self.cache).expanduser() if self.cache else None
        self._store = VectorStore(folder if on_disk else None, self.encoder.fingerprint() if on_disk else "")
        self._recent = {}
        self._weights_form = None

    def _made_examples(self, task: TrainingTask, training: ScorerFitSettings) -> list[TrainingExample]:
        """Make questions from the graph's own paths: the number that is set, or as many as the examples lack."""
        count = max(0, ENOUGH - len(task.examples)) if training.made is None else training.made
        if not task.examples:
            if training.made:
                raise RunError(
                    "`fit: made` asks for questions about the recipe's own graph, and all are of `sets`; omit it"
                )
            return []
        if not count:
            return []
        dataset = MadeQuestions(self.graph, count=count, depth=training.depth or MADE_DEPTH, seed=task.seed)
        try:
            questions = list(dataset.read())
        except (DriverError, InputError) as error:
            if training.made is None:
                _LOGGER.warning("no questions are made beside the %d given: %s", len(task.examples), error)
                return []
            raise
        return [
            TrainingExample(one, tuple(RankedPath(one.links[0].entity, path, 1.0) for path in one.gold_paths or ()))
            for one in questions
        ]

    def _task_samples(self, task: TrainingTask, training: ScorerFitSettings) -> TrainingSet:
        """Make the samples of a task, each with the labels of its own graph."""
        texts = TextIndex()
        made: list[IndexedSample] = []
        for one in (GraphExamples(self.graph, task.examples), *task.elsewhere):
            drawn = make_samples(one.graph, one.examples, training, task.seed)
            made += self._on(one.graph)._indexed(drawn, texts)
        return TrainingSet(texts.texts(), made)

    def _on(self, graph: KnowledgeGraph) -> DenseScorer:
        """Return a scorer of the same form with the labels of another graph."""
        other = copy.copy(self)
        other.graph, other._step_texts, other._offers = graph, {}, {}
        return other

    def ranking_set(self, rankings: Sequence[RankedPaths]) -> TrainingSet:
        """Give paths to rank the texts that they have in scoring; those that are right share the target."""
        texts = TextIndex()
        self._add_step_texts([path for one in rankings for path in one.paths], [])
        made = []
        for one in rankings:
            walked = [self._templates.join.join(self._step_texts[step] for step in path) for path in one.paths]
            made.append(
                IndexedSample(
                    query=texts.number(self._templates.query_text(one.text, "")),
                    candidates=tuple(texts.number(self._templates.candidate_text(path)) for path in walked),
                    targets=tuple(map(float, one.right)),
                    costs=one.costs,
                )
            )
        return TrainingSet(texts.texts(), made)

    def _indexed(self, samples: Sequence[Sample], texts: TextIndex) -> list[IndexedSample]:
        self._add_step_texts([sample.path for sample in samples], [sample.candidates for sample in samples])
        indexed = []
        for sample in samples:
            path = self._templates.join.join(self._step_texts[step] for step in sample.path)
            steps = [step for step in sample.candidates if step != END]
            by_step = dict(zip([*steps, END], self._texts(path, steps), strict=True))
            costs = dict(zip([*steps, END], (self._costs(sample.path, steps)).tolist(), strict=True))
            indexed.append(
                IndexedSample(
                    query=texts.number(self._templates.query_text(sample.text, "" if self._form.by_path else path)),
                    candidates=tuple(texts.number(by_step[step]) for step in sample.candidates),
                    targets=sample.targets,
                    costs=tuple(costs[step] for step in sample.candidates),
                )
            )
        return indexed

    def score(
        self, questions: Sequence[str], paths: Sequence[Path], candidates: Sequence[Sequence[Step]]
    ) -> list[list[float]]:
        """Score each candidate, with at most one call to the encoder; scores are rounded to four decimals.

        Raises:
            DriverError: If the scorer is not open.
        """
        store = self._opened()
        self._add_step_texts(paths, candidates)
        options = [_without_end(row) for row in candidates]
        # END without a rival scores 0, except that SRTK's rule gives it its logit.
        scorable = [i for i, steps in enumerate(options) if steps or (self._form.rule == "srtk-sum" and candidates[i])]
        if len(self._offers) > _RECENT:
            self._offers = {}
        offers = [self._offer(paths[i], options[i]) for i in scorable]
        queries = [
            self._templates.query_text(questions[i], "" if self._form.by_path else self._walked(paths[i]))
            for i in scorable
        ]
        scored = [[0.0] * len(row) for row in candidates]
        if not scorable:
            return scored
        logits = self._logits(store, queries, [texts for texts, _ in offers])
        values = self._apply_rule(
            [paths[i] for i in scorable], [costs for _, costs in offers], [candidates[i] for i in scorable], logits
        )
        # Adding 0 turns -0.0 into 0.0, which is written otherwise.
        found = iter((np.round(values, SCORE_DIGITS) + 0.0).tolist())
        for i in scorable:
            row, offered = candidates[i], [*options[i], END]
            by_place = list(islice(found, len(offered)))
            if offered[: len(row)] == list(row):  # as a search offers them
                scored[i] = by_place[: len(row)]
            else:
                by_step = dict(zip(offered, by_place, strict=True))
                scored[i] = [by_step[step] for step in row]
        return scored

    def prepare(self, paths: Sequence[Path]) -> Mapping[str, int]:
        """Encode the candidate texts of paths, which no question changes, and keep them in the cache.

        These are the paths themselves under `gain`, else only their relations.

        Raises:
            DriverError: If the scorer is not open.
        """
        store = self._opened()
        self._add_step_texts(paths, [])
        texts = [[self._step_texts[step] for step in path] for path in paths]
        whole = [self._templates.join.join(row) if self._form.by_path else row[-1] for row in texts]
        known = list(dict.fromkeys(map(self._templates.candidate_text, [self._templates.end, *whole])))
        missing = store.missing(known)
        for start in range(0, len(missing), _PREPARED):
            some = missing[start : start + _PREPARED]
            store.add(some, unit(self.encoder.encode(some)))
        store.save()
        return {"texts": len(known), "encoded": len(missing), "bytes": store.row_bytes * len(known)}

    def _opened(self) -> VectorStore:
        if self._store is None:
            raise DriverError("the scorer is not open; call open() first")
        return self._store

    def _add_step_texts(self, paths: Sequence[Path], candidates: Sequence[Sequence[Step]]) -> None:
        """Add the texts of new steps."""
        new = sorted(set[Step]().union(*paths, *candidates) - self._step_texts.keys() - {END})
        if new:
            relations = list(dict.fromkeys(step.relation for step in new))
            labels = dict(zip(relations, self.graph.labels(relations), strict=True))
            self._step_texts.update((step, self._templates.step(step, labels[step.relation])) for step in new)

    def _walked(self, path: Path) -> str:
        """Return the text of a path."""
        return self._templates.join.join(self._step_texts[step] for step in path)

    def _offer(self, path: Path, steps: Sequence[Step]) -> tuple[list[str], Floats]:
        """Return the texts and the costs of one path's candidates, which many questions share; END's are last."""
        offers, key = self._offers, (path, tuple(steps))
        found = offers.get(key)
        if found is None:
            found = offers[key] = self._texts(self._walked(path), steps), self._costs(path, steps)
        return found

    def _texts(self, path: str, steps: Sequence[Step]) -> list[str]:
        """Return the texts of one path's candidates, and END last, whether it is a candidate or not."""
        templates = self._templates
        texts = [self._step_texts[step] for step in steps]
        end = templates.end
        if self._form.by_path and path:
            texts, end = [path + templates.join + text for text in texts], path
        return [templates.candidate_text(text) for text in (*texts, end)]

    def _logits(self, store: VectorStore, queries: Sequence[str], texts: Sequence[list[str]]) -> Floats:
        """Return the logits of each path's candidates, END last, path by path [candidates + paths]."""
        distinct = list(dict.fromkeys(queries))
        columns = {text: i for i, text in enumerate(dict.fromkeys(chain.from_iterable(texts)))}
        left = self._encode(store, distinct, list(columns)).astype(np.float64)
        right = store.rows(list(columns))
        # In float64, sums of float32 products differ between batch shapes by 1e-15, far less than the rounding.
        cosines = np.empty((len(left), len(right)))
        for start in range(0, len(right), _BLOCK):
            cosines[:, start : start + _BLOCK] = left @ right[start : start + _BLOCK].astype(np.float64).T
        cosines /= self._form.temperature
        place = {text: i for i, text in enumerate(distinct)}
        rows = np.repeat([place[query] for query in queries], list(map(len, texts)))
        some = np.fromiter(map(columns.__getitem__, chain.from_iterable(texts)), np.int64, len(rows))
        return np.asarray(cosines[rows, some])

    def _encode(self, store: VectorStore, queries: Sequence[str], texts: Sequence[str]) -> Matrix:
        """Return the vectors of the queries; new queries and new candidates are encoded in one call."""
        if len(self._recent) > _RECENT:
            # Replaced rather than cleared, because another thread may be reading it.
            self._recent = {}
        recent = self._recent
        new = [text for text in queries if text not in recent]
        missing = store.missing(texts)
        together = list(dict.fromkeys([*new, *missing]))
        if together:
            vectors = unit(self.encoder.encode(together))
            at = {text: i for i, text in enumerate(together)}
            store.add(missing, vectors[[at[text] for text in missing]])
            recent.update((text, vectors[at[text]]) for text in new)
        return np.stack([recent[text] for text in queries])

    def _apply_rule(
        self, paths: Sequence[Path], costs: Sequence[Floats], offered: Sequence[Sequence[Step]], logits: Floats
    ) -> Floats:
        """Return the scores of each path's candidates, given their costs; END's is last, whether offered or not."""
        sizes = list(map(len, costs))
        ends = np.cumsum(sizes)
        values: Floats = logits - np.concatenate(costs)
        if self._form.rule == "srtk-sum":
            return values
        if self._form.rule == "gain":
            values -= np.repeat(np.where(list(map(bool, paths)), logits[ends - 1], 0.0), sizes)
            values[ends - 1] = 0.0
            return values
        for row, end, size in zip(offered, ends.tolist(), sizes, strict=True):
            own = values[end - size : end]
            if self._form.rule == "log-sigmoid":
                own[:] = _log_sigmoid(own - own[-1])
                continue
            # What is offered shares the whole probability, so that that of all paths of a search sums to one.
            shared = own if END in row else own[:-1]
            most = float(shared.max())
            total: float = np.exp(shared - most).sum()
            own -= most + math.log(total)
        return values

    def _costs(self, path: Path, steps: Sequence[Step]) -> Floats:
        """Return the cost of each step, and of END, which is last and costs 0."""
        values = np.full(len(steps) + 1, self._form.step_cost)
        values[-1] = 0.0
        if self._form.return_cost and path:
            back = Step(path[-1].relation, not path[-1].inverse)
            if back in steps:
                values[list(steps).index(back)] += self._form.return_cost
        return values


def _without_end(row: Sequence[Step]) -> list[Step]:
    """Return the distinct steps of a row, without END."""
    steps = dict.fromkeys(row)
    steps.pop(END, None)
    return list(steps)


def _log_sigmoid(differences: Floats) -> Floats:
    """Return log p(r) for p(r) = 1 / (1 + exp(s(END) - s(r))), SR's probability of a relation r.

    The formula is from Zhang et al. 2022, section 4.1, as their retriever notes it beside its score
    (RUCKBReasoning/SubgraphRetrievalKBQA, ``retrieve_subgraph.py``); the section itself was not at hand. That
    retriever sums the plain scores s, as ``srtk-sum`` does. END has the probability 1/2 by the same formula: a relation
    is worth a step if it is above.

    Args:
        differences: s(r) - s(END) of each candidate.
    """
    logs: Floats = -np.logaddexp(0.0, -differences)
    return logs
