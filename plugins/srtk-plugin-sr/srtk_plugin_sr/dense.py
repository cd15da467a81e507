"""Score the next step of a path by the likeness of texts, as a text encoder sees it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path as FilePath
from typing import Any, Literal

import attrs
import numpy as np
import numpy.typing as npt

from srtk_framework.roles import Course, Encoder, KnowledgeGraph, PathScorer
from srtk_framework.values import END, SCORE_DIGITS, DriverError, Path, Sample, Step
from srtk_plugin_sr.fit_settings import Item, Material, Texts, Training
from srtk_plugin_sr.samples import decisions, teachable
from srtk_plugin_sr.templates import Wording, wording
from srtk_plugin_sr.vectors import Matrix, VectorStore, default_folder, unit

_RECENT = 4096
_BLOCK = 8192

Rule = Literal["log-softmax", "srtk-sum", "gain"]


@attrs.define(eq=False)
class DenseScorer(PathScorer):
    """Compare the question with what each candidate would make of the path (SR, Zhang et al. 2022, section 4.1).

    The text of the question, with the steps so far, and the text of each candidate become vectors; a candidate's
    logit is their cosine over ``temperature``. Texts of candidates are encoded once and kept.

    Attributes:
        encoder: Gives the vectors.
        graph: Gives the labels of relations.
        rule: What a step scores: `log-softmax` (log-probability among the candidates and END), `srtk-sum` (the plain
            logit, as SRTK adds it up), or `gain` (how much nearer to the question the step brings the path).
        compare: Text of a candidate: `step` (its relation, against the question with the steps so far) or `path`
            (the path with it, against the question; END is the path as it stands). Default: for `gain` `path`.
        temperature: Divides cosines.
        step_cost: Taken off the logit of every candidate but END; favours short paths, where it is above 0.
        return_cost: Taken off the logit of a step that walks the last step back.
        text: Name of a text form (`plain`, `srtk`), or templates (query, path_query, join, relation, inverse,
            candidate, end) that replace those of `plain`.
        inverse_text: Template for a step against its direction, with {label}; the form's own by default.
        end_text: Text of END; the form's own by default.
        readable: Split labels written like identifiers (`placeOfBirth`, `place_of_birth`); by default as the form does.
        cache: Folder that keeps candidate vectors between runs; the user's cache folder by default, "" for none.
    """

    encoder: Encoder
    graph: KnowledgeGraph
    rule: Rule = "log-softmax"
    compare: Literal["step", "path"] | None = None
    temperature: float = 0.07
    step_cost: float = 0.0
    return_cost: float = 0.0
    text: str | dict[str, str] = "plain"
    inverse_text: str | None = None
    end_text: str | None = None
    readable: bool | None = None
    cache: str | None = None
    _words: Wording = attrs.field(init=False, default=Wording(), repr=False)
    _by_path: bool = attrs.field(init=False, default=False, repr=False)
    _store: VectorStore | None = attrs.field(init=False, default=None, repr=False)
    _phrases: dict[Step, str] = attrs.field(init=False, factory=dict, repr=False)
    _recent: dict[str, Matrix] = attrs.field(init=False, factory=dict, repr=False)

    def open(self) -> None:
        """Check the settings and read the vectors that an earlier run kept."""
        if self.rule not in ("log-softmax", "srtk-sum", "gain"):
            raise DriverError(f"rule is {self.rule!r}; use log-softmax, srtk-sum or gain")
        if self.compare not in (None, "step", "path"):
            raise DriverError(f"compare is {self.compare!r}; use step or path")
        if self.rule == "gain" and self.compare == "step":
            raise DriverError("the rule gain compares whole paths; leave compare out, or set it to path")
        if not self.temperature > 0:
            raise DriverError(f"temperature is {self.temperature}; it must be above 0")
        self._words = wording(self.text, self.inverse_text, self.end_text, self.readable)
        self._by_path = (self.compare or ("path" if self.rule == "gain" else "step")) == "path"
        self._renew(kept=True)

    def close(self) -> None:
        """Keep the new vectors for the next run."""
        if self._store:
            self._store.save()

    def fingerprint(self) -> str:
        """Identify model, graph and settings; the cache changes no score."""
        settings = {
            field.name: getattr(self, field.name)
            for field in attrs.fields(type(self))
            if field.init and field.name not in ("encoder", "graph", "cache")
        }
        return f"dense({self.encoder.fingerprint()}, {self.graph.fingerprint()}, {settings!r})"

    def scores_end(self) -> bool:
        """Return False: under each rule, ending costs nothing where nothing else is left."""
        return False

    def fit(self, course: Course, training: Training) -> Mapping[str, float]:
        """Train the encoder on the decisions that lead to the lessons' paths, worded and weighed as in scoring."""
        from srtk_plugin_sr.trainer import learn

        encoder = teachable(self.encoder)
        network = encoder.learner()

        def validated() -> Mapping[str, float]:
            assert course.validate is not None
            encoder.take(network)
            self._renew(kept=False)
            return course.validate()

        figures = learn(
            network,
            self._material(decisions(self.graph, course.lessons, training, course.seed)),
            training,
            temperature=training.temperature or self.temperature,
            validate=None if course.validate is None else validated,
            folder=course.folder,
            seed=course.seed,
        )
        encoder.take(network)
        self._renew(kept=True)
        return figures

    def save(self, folder: FilePath) -> None:
        """Write the encoder as a Hugging Face folder."""
        teachable(self.encoder).save(folder)

    def load(self, folder: FilePath) -> None:
        """Take over an encoder that ``save`` wrote."""
        teachable(self.encoder).load(folder)
        if self._store is not None:
            self._renew(kept=True)

    def _renew(self, kept: bool) -> None:
        """Start with the vectors of the encoder as it is now; those of other weights are never mixed in."""
        if self._store is not None:
            self._store.save()
        folder = default_folder() if self.cache is None else FilePath(self.cache).expanduser() if self.cache else None
        self._store = VectorStore(folder if kept else None, self.encoder.fingerprint() if kept else "")
        self._recent = {}

    def _material(self, samples: Sequence[Sample]) -> Material:
        """Put samples into the words and costs that they have in scoring."""
        self._word([sample.path for sample in samples], [sample.candidates for sample in samples])
        texts = Texts()
        items = []
        for sample in samples:
            path = self._words.join.join(self._phrases[step] for step in sample.path)
            steps = [step for step in sample.candidates if step != END]
            worded = dict(zip([*steps, END], self._texts(path, steps), strict=True))
            costs = dict(zip([*steps, END], (-self._lowered(sample.path, steps)).tolist(), strict=True))
            items.append(
                Item(
                    query=texts.number(self._words.query_text(sample.text, "" if self._by_path else path)),
                    candidates=tuple(texts.number(worded[step]) for step in sample.candidates),
                    targets=sample.targets,
                    costs=tuple(costs[step] for step in sample.candidates),
                )
            )
        return Material(texts.all(), items)

    def score(
        self, questions: Sequence[str], paths: Sequence[Path], candidates: Sequence[Sequence[Step]]
    ) -> list[list[float]]:
        """Score each candidate, with at most one call to the encoder; scores are rounded to four decimals."""
        if self._store is None:
            raise DriverError("the scorer is not open; call open() first")
        self._word(paths, candidates)
        options = [list(dict.fromkeys(step for step in row if step != END)) for row in candidates]
        # Ending is certain where nothing else is left; only SRTK's rule has a number for it.
        asked = [i for i, steps in enumerate(options) if steps or (self.rule == "srtk-sum" and candidates[i])]
        walked = [self._words.join.join(self._phrases[step] for step in paths[i]) for i in asked]
        queries = [
            self._words.query_text(questions[i], "" if self._by_path else path)
            for i, path in zip(asked, walked, strict=True)
        ]
        texts = [self._texts(path, options[i]) for i, path in zip(asked, walked, strict=True)]
        scored = [[0.0] * len(row) for row in candidates]
        for i, logits in zip(asked, self._logits(self._store, queries, texts), strict=True):
            values = np.round(self._ruled(paths[i], options[i], logits), SCORE_DIGITS) + 0.0
            by_step = dict(zip([*options[i], END], values.tolist(), strict=True))
            scored[i] = [by_step[step] for step in candidates[i]]
        return scored

    def _word(self, paths: Sequence[Path], candidates: Sequence[Sequence[Step]]) -> None:
        """Put the steps that are new into words."""
        new = sorted({step for row in (*paths, *candidates) for step in row} - self._phrases.keys() - {END})
        if new:
            relations = list(dict.fromkeys(step.relation for step in new))
            labels = dict(zip(relations, self.graph.labels(relations), strict=True))
            self._phrases.update((step, self._words.step(step, labels[step.relation])) for step in new)

    def _texts(self, path: str, steps: Sequence[Step]) -> list[str]:
        """Word the candidates of one path, and END last, whether it is a candidate or not."""
        words = self._words
        texts = [self._phrases[step] for step in steps]
        end = words.end
        if self._by_path and path:
            texts, end = [path + words.join + text for text in texts], path
        return [words.candidate_text(text) for text in (*texts, end)]

    def _logits(self, store: VectorStore, queries: Sequence[str], texts: Sequence[list[str]]) -> list[Any]:
        """Return one float64 array for each path: the logits of its candidates, END last."""
        distinct = list(dict.fromkeys(queries))
        columns = {text: i for i, text in enumerate(dict.fromkeys(text for row in texts for text in row))}
        if not distinct:
            return []
        left = self._encode(store, distinct, list(columns)).astype(np.float64)
        right = store.rows(list(columns))
        # In float64, sums of float32 products differ between shapes of the batch by 1e-15: far under the rounding.
        cosines = np.empty((len(left), len(right)))
        for start in range(0, len(right), _BLOCK):
            cosines[:, start : start + _BLOCK] = left @ right[start : start + _BLOCK].astype(np.float64).T
        cosines /= self.temperature
        place = {text: i for i, text in enumerate(distinct)}
        return [
            cosines[place[query], [columns[text] for text in row]] for query, row in zip(queries, texts, strict=True)
        ]

    def _encode(self, store: VectorStore, queries: Sequence[str], texts: Sequence[str]) -> Matrix:
        """Return the vectors of the queries; encode what is not known yet, candidates too, in one call."""
        if len(self._recent) > _RECENT:
            # A new one, not an emptied one: another thread may be reading it.
            self._recent = {}
        recent = self._recent
        asked = [text for text in queries if text not in recent]
        missing = store.missing(texts)
        together = list(dict.fromkeys([*asked, *missing]))
        if together:
            vectors = unit(self.encoder.encode(together))
            at = {text: i for i, text in enumerate(together)}
            store.add(missing, vectors[[at[text] for text in missing]])
            recent.update((text, vectors[at[text]]) for text in asked)
        return np.stack([recent[text] for text in queries])

    def _ruled(self, path: Path, steps: Sequence[Step], logits: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        values = logits + self._lowered(path, steps)
        if self.rule == "srtk-sum":
            return values
        if self.rule == "gain":
            values -= logits[-1] if path else 0.0
            values[-1] = 0.0
            return values
        most = float(values.max())
        total: float = np.exp(values - most).sum()
        return values - (most + math.log(total))

    def _lowered(self, path: Path, steps: Sequence[Step]) -> npt.NDArray[np.float64]:
        """Return what the costs take off the logits of the steps, and of END, which is last: numbers up to 0."""
        values = np.full(len(steps) + 1, -self.step_cost)
        values[-1] = 0.0
        if self.return_cost and path:
            back = Step(path[-1].relation, not path[-1].inverse)
            if back in steps:
                values[list(steps).index(back)] -= self.return_cost
        return values
