"""The ``calibrated`` completer: another completer's completions, with probabilities learnt on held-out facts."""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal

import attrs
from srtk_plugin_patterns.twins import OVERLAP, without_held_out

from srtk_framework.graph import TripleTable
from srtk_framework.records import read_model, write_model
from srtk_framework.roles import Completer, KnowledgeGraph, TrainingTask, absent
from srtk_framework.values import (
    Completion,
    DriverError,
    Pattern,
    Step,
    Triple,
    at_least,
    batched,
    between,
    completion_order,
    confidence,
    open_end,
)
from srtk_plugin_completers.calibration import Calibration, draw
from srtk_plugin_completers.held_out_patterns import completer_over, facts_of, graph_without, patterns_of
from srtk_plugin_completers.lacking_shares import LackingShares, stored_numbers

FILE = "calibration.json"
_BATCH = 256  # Patterns of one call of the inner completer.


@attrs.frozen
class CalibrationTraining:
    """Settings of the training.

    Attributes:
        most: Proposals of each pattern from which the probabilities are learnt.
        twins: Least overlap of a relation with its twins, inverses and near-duplicates: a triple by which a twin says a
            held-out fact again is held out too. null keeps these. The completer must be trained with the same.
    """

    most: int = attrs.field(default=10, validator=at_least(1))
    twins: float | None = attrs.field(default=OVERLAP, validator=between(above=0, most=1))


@attrs.define(eq=False)
class CalibratedCompleter(Completer):
    """Give the completions of another completer probabilities in place of its confidences.

    Training asks the completer for the facts that were held out, in a graph without them, and learns how often its
    proposals of a confidence are right: by relation and end from 50 held-out facts on, else for all together. The order
    of a pattern's completions stays as it was. The probabilities hold for patterns that lack a fact, as the held-out
    facts' do; with ``missing`` they are multiplied by the probability that a pattern lacks a fact. With ``alpha`` the
    completions outside of a conformal answer set are dropped: the set holds the right entity with probability 1 -
    alpha, if facts are drawn as the held-out facts were. Relations with fewer than 50 held-out facts share a cut that
    is learnt from them alone, so this holds for rare relations too; with too few such facts, nothing is cut. A
    completer that learns from the graph is trained before, by itself: with the same graph, ``held_out`` and seed, so
    that it has not seen these facts.

    Attributes:
        completer: Completer whose confidences are calibrated.
        graph: Its graph.
        method: isotonic: a step function that never decreases. platt: a logistic function, for few held-out facts.
        alpha: Share of right entities that the answer sets may lose; by default nothing is dropped.
        missing: Believed share of all facts that the graph lacks, from which the probability that a pattern lacks a
            fact is derived. The graph must be able to list its triples.
        empty: Believed share of the patterns without any stored fact that lack a fact, where ``missing`` is given.
        path: Folder of a trained model; by default the model that this run trains.
    """

    learns: ClassVar[str] = "graph"

    completer: Completer
    graph: KnowledgeGraph
    method: Literal["isotonic", "platt"] = "isotonic"
    alpha: float | None = attrs.field(default=None, validator=between(above=0, below=1))
    missing: float | None = attrs.field(default=None, validator=between(above=0, below=1))
    empty: float = attrs.field(default=1.0, validator=between(above=0, most=1))
    path: str | None = None
    _learnt: Calibration | None = attrs.field(init=False, default=None, repr=False)
    _lacking: LackingShares | None = attrs.field(init=False, default=None, repr=False)
    _table: TripleTable | None = attrs.field(init=False, default=None, repr=False)

    def preflight(self) -> list[tuple[str, str]]:
        """Check that the model exists."""
        return [] if self.path is None else absent("path", str(Path(self.path) / FILE))

    def open(self) -> None:
        """Read the model in ``path``, and the graph where ``missing`` is given."""
        if self.missing is not None:
            self._table = TripleTable.of(self.graph)
        if self.path is not None:
            self.load(Path(self.path))

    def close(self) -> None:
        """Release the model and the graph's table."""
        self._learnt = self._lacking = self._table = None

    @property
    def _open(self) -> Calibration:
        if self._learnt is None:
            raise DriverError(
                "the completer calibrated has learnt nothing; train it (`train: {driver: completer, held_out: {share:"
                " 0.05}}`) or name a trained model as `path`"
            )
        return self._learnt

    def fingerprint(self) -> str:
        """Identify the completer, the settings and the model."""
        learnt = "" if self._learnt is None else json.dumps(self._learnt.to_json(), sort_keys=True)
        believed = []
        if self.missing is not None:
            believed = [f"{self.missing} {self.empty}"]
            learnt += "" if self._lacking is None else json.dumps(self._lacking.to_json(), sort_keys=True)
        named = [self.method, str(self.alpha), *believed, self.completer.fingerprint()]
        return f"CalibratedCompleter({', '.join(named)}) {hashlib.sha256(learnt.encode()).hexdigest()[:16]}"

    # Hooks

    def complete(self, patterns: Sequence[Pattern], limit: int | None) -> list[list[Completion]]:
        """Return the completions of the inner completer with their probabilities."""
        learnt = self._open
        answers: list[list[Completion]] = [[] for _ in patterns]
        left, wanted = list(range(len(patterns))), None if limit is None else limit + 1
        while left:
            rows = self.completer.complete([patterns[place] for place in left], wanted)
            again = []
            for place, row in zip(left, rows, strict=True):
                answers[place] = self._calibrated(learnt, patterns[place], row)[:limit]
                if wanted is not None and len(row) == wanted and not self._ends(learnt, patterns[place], row, limit):
                    again.append(place)
            left, wanted = again, None if wanted is None else 2 * wanted
        return answers

    def _ends(self, learnt: Calibration, pattern: Pattern, row: Sequence[Completion], limit: int | None) -> bool:
        """Return whether further completions of the inner completer cannot change the first completions."""
        step, last = open_end(pattern)[1], row[-1].confidence
        lacks = self._lacks(pattern)
        cut = learnt.cut_of(step)
        if cut is not None and last < cut.rate:
            return True
        found = self._calibrated(learnt, pattern, row)
        # What follows may be as confident as the last one, and come before it by its triple.
        after = confidence(lacks * float(learnt.probabilities(step, last)))
        return limit is not None and len(found) >= limit and (limit == 0 or found[limit - 1].confidence > after)

    def _calibrated(self, learnt: Calibration, pattern: Pattern, row: Sequence[Completion]) -> list[Completion]:
        step = open_end(pattern)[1]
        cut = learnt.cut_of(step)
        kept = [one for one in row if cut is None or cut.keeps(one.confidence, one.triple)]
        shares = (self._lacks(pattern) * learnt.probabilities(step, [one.confidence for one in kept])).tolist()
        found = [one._replace(confidence=confidence(share)) for one, share in zip(kept, shares, strict=True)]
        return sorted(found, key=completion_order)

    def _lacks(self, pattern: Pattern) -> float:
        """Return the probability that a pattern lacks a fact; 1 without ``missing``."""
        if self.missing is None or self._lacking is None or self._table is None:
            return 1.0
        (stored,) = stored_numbers(self._table, [pattern])
        return self._lacking.share(open_end(pattern)[1], stored, self.missing, self.empty)

    def rate(self, patterns: Sequence[Pattern], candidates: Sequence[Sequence[str]]) -> list[list[float]]:
        """Return the probabilities of candidates; 0 for candidates rated 0, or outside the answer set."""
        learnt = self._open
        answers = []
        rows = self.completer.rate(patterns, candidates)
        for pattern, ids, rates in zip(patterns, candidates, rows, strict=True):
            step = open_end(pattern)[1]
            cut = learnt.cut_of(step)
            shares = (self._lacks(pattern) * learnt.probabilities(step, rates)).tolist()
            answers.append(
                [
                    confidence(share) if rate and (cut is None or cut.keeps(rate, pattern.filled(id_))) else 0.0
                    for id_, rate, share in zip(ids, rates, shares, strict=True)
                ]
            )
        return answers

    def offers(self, node_sets: Sequence[Sequence[str]], inverse: bool) -> Sequence[Sequence[Step]]:
        """Offer the steps of the inner completer."""
        return self.completer.offers(node_sets, inverse)

    # Answer sets

    def in_sets(self, patterns: Sequence[Pattern], candidates: Sequence[Sequence[str]]) -> list[list[bool]]:
        """Return whether each candidate is in its pattern's answer set; all are without ``alpha``.

        Candidates that the inner completer does not propose are in the set where it misses so many right candidates
        that no smaller set would do.
        """
        learnt = self._open
        answers = []
        for pattern, ids, rates in zip(patterns, candidates, self.completer.rate(patterns, candidates), strict=True):
            cut = learnt.cut_of(open_end(pattern)[1])
            pairs = zip(ids, rates, strict=True)
            answers.append([cut is None or cut.keeps(rate, pattern.filled(id_)) for id_, rate in pairs])
        return answers

    # Training

    def fit(self, task: TrainingTask, training: CalibrationTraining) -> Mapping[str, float]:
        """Calibrate the inner completer's confidences on held-out facts, in a graph without them."""
        hidden = facts_of(task)
        whole = TripleTable.of(self.graph) if self._table is None else self._table
        _, again = without_held_out(whole, hidden, training.twins)
        with contextlib.ExitStack() as stack:
            masked = graph_without(self.graph, [*hidden, *again], stack)
            proposals, fillers = _read(completer_over(self.completer, masked, stack), hidden, training.most)
        if not any(good for _, _, good in proposals):
            raise DriverError(
                f"the completer proposed none of {len(hidden)} held-out facts, so its confidences say nothing; hold"
                " out more, or choose another completer"
            )
        self._learnt = Calibration.learn(self.method, self.alpha, proposals, fillers)
        self._lacking = LackingShares.learn(whole.without(hidden), hidden)
        figures = {
            "held_out": float(len(hidden)),
            "twin_triples": float(len(again)),
            "proposals": float(len(proposals)),
            "right": float(sum(good for _, _, good in proposals)),
            "relations_apart": float(len({step.relation for step in self._learnt.maps})),
        }
        if task.validate is not None:
            figures.update(task.validate())
        return figures

    def save(self, folder: Path) -> None:
        """Write the model as JSON."""
        data = {"method": self.method, **self._open.to_json()}
        if self._lacking is not None:
            data["lacking"] = self._lacking.to_json()
        write_model(folder / FILE, data)

    def load(self, folder: Path) -> None:
        """Read a saved model, which must have the same method and alpha."""

        def parse(data: Any) -> tuple[str, Calibration, LackingShares | None]:
            lacking = LackingShares.from_json(data["lacking"]) if "lacking" in data else None
            return data["method"], Calibration.from_json(data), lacking

        file = folder / FILE
        method, learnt, lacking = read_model(file, "calibrated", parse)
        if (method, learnt.alpha) != (self.method, self.alpha):
            raise DriverError(
                f"{file} was trained with method {method} and alpha {learnt.alpha}; use these, or train again"
            )
        if self.missing is not None and lacking is None:
            raise DriverError(f"{file} does not know which patterns lack a fact; train it again, or omit `missing`")
        self._learnt, self._lacking = learnt, lacking


def _read(
    completer: Completer, hidden: Sequence[Triple], most: int
) -> tuple[list[tuple[Step, float, bool]], list[tuple[Step, float, float]]]:
    """Ask a completer for hidden facts: its proposals, and its ratings of the right entities."""
    right, of_pattern = set(hidden), patterns_of(hidden)
    proposals, fillers = [], []
    for patterns in batched(list(of_pattern), _BATCH):
        steps = [open_end(pattern)[1] for pattern in patterns]
        for step, row in zip(steps, completer.complete(patterns, most), strict=True):
            proposals += [(step, one.confidence, one.triple in right) for one in row]
        ends = [
            [fact.subject if step.inverse else fact.object for fact in of_pattern[pattern]]
            for pattern, step in zip(patterns, steps, strict=True)
        ]
        for pattern, step, rates in zip(patterns, steps, completer.rate(patterns, ends), strict=True):
            pairs = zip(of_pattern[pattern], rates, strict=True)
            fillers += [(step, float(rate), draw(fact)) for fact, rate in pairs]
    return proposals, fillers
