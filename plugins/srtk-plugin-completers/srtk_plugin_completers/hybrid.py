"""The ``hybrid`` completer: several completers' completions, with one probability learnt on held-out facts."""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal

import attrs
import numpy as np
from srtk_plugin_patterns.twins import OVERLAP, without_held_out

from srtk_framework.graph import TripleTable
from srtk_framework.host import driver_of
from srtk_framework.records import place, read_model, write_model
from srtk_framework.roles import Completer, KnowledgeGraph, TrainingTask, absent, not_open
from srtk_framework.values import (
    Completion,
    DriverError,
    Pattern,
    Step,
    at_least,
    batched,
    between,
    completion_order,
    confidence,
    not_empty,
    one_of,
)
from srtk_plugin_completers.candidate_pool import CandidatePool, candidate_pools
from srtk_plugin_completers.completer_union import all_offers, united
from srtk_plugin_completers.held_out_patterns import completer_over, facts_of, graph_without, patterns_of
from srtk_plugin_completers.hybrid_model import IsotonicModel, LogisticModel
from srtk_plugin_completers.lacking_shares import LackingShares, stored_numbers

logger = logging.getLogger(__name__)

FILE = "hybrid.json"
_BATCH = 256  # Patterns whose pools are in memory at once.


@attrs.frozen
class HybridTraining:
    """Settings of the training.

    Attributes:
        patterns: Most patterns to learn from, chosen by the smallest hashes.
        twins: Least overlap of a relation with its twins, inverses and near-duplicates: a triple by which a twin says a
            held-out fact again is held out too. null keeps these. The completers must be trained with the same.
    """

    patterns: int = attrs.field(default=10_000, validator=at_least(1))
    twins: float | None = attrs.field(default=OVERLAP, validator=between(above=0, most=1))


@attrs.frozen
class _Learnt:
    """The model, how often patterns lack a fact, and both as text."""

    model: LogisticModel | IsotonicModel
    lacking: LackingShares
    text: str


@attrs.define(eq=False)
class HybridCompleter(Completer):
    """Propose the first completions of several completers, with one probability from all ratings of each.

    Training asks the completers for facts that were held out, in a graph without them; each rates the candidates of
    all. The features of a candidate are the confidences and ranks of all completers, and the number that propose it.
    Its relation and end count too, and the number of such facts in the graph. Completers that learn from the
    graph are trained before, each by itself: with the same graph, ``held_out`` and seed, so that they have not seen
    these facts.

    Attributes:
        completers: The completers, over one graph; the evidence of the most confident comes first.
        graph: Their graph; it must be able to list its triples.
        method: logistic: a logistic regression over all features, with weights by relation and end as far as there are
            examples. isotonic: a step function makes each completer's confidences probabilities, and another function
            calibrates 1 - the product of their doubts.
        depth: First completions of each completer that are candidates.
        missing: Believed share of all facts that the graph lacks, for patterns that lack a fact or not; by default
            probabilities hold for patterns that lack a fact.
        empty: Believed share of the patterns without any stored fact that lack a fact, where ``missing`` is given.
        path: Folder of a trained model; by default the model that this run trains.
    """

    learns: ClassVar[str] = "graph"

    completers: Sequence[Completer] = attrs.field(validator=not_empty("name at least one"))
    graph: KnowledgeGraph
    method: Literal["logistic", "isotonic"] = attrs.field(
        default="logistic", validator=one_of(("logistic", "isotonic"))
    )
    depth: int = attrs.field(default=100, validator=at_least(1))
    missing: float | None = attrs.field(default=None, validator=between(above=0, below=1))
    empty: float = attrs.field(default=1.0, validator=between(above=0, most=1))
    path: str | None = None
    _table: TripleTable | None = attrs.field(init=False, default=None, repr=False)
    _learnt: _Learnt | None = attrs.field(init=False, default=None, repr=False)

    def preflight(self) -> list[tuple[str, str]]:
        """Check that the model exists."""
        return [] if self.path is None else absent("path", str(Path(self.path) / FILE))

    def open(self) -> None:
        """Read the graph, and the model in ``path``."""
        self._table = TripleTable.of(self.graph)
        if self.path is not None:
            self.load(Path(self.path))

    def close(self) -> None:
        """Release the graph's table and the model."""
        self._table = self._learnt = None

    @property
    def _open(self) -> tuple[TripleTable, _Learnt]:
        learnt = self._trained
        if self._table is None:
            raise not_open(self)
        return self._table, learnt

    @property
    def _trained(self) -> _Learnt:
        if self._learnt is None:
            raise DriverError(
                "the completer hybrid has learnt nothing; train it (`train: {driver: completer, held_out: {share:"
                " 0.05}}`) or name a trained model as `path`, and call open() first"
            )
        return self._learnt

    def fingerprint(self) -> str:
        """Identify the completers, the settings and the model."""
        learnt = "" if self._learnt is None else self._learnt.text
        settings = [self.method, self.depth, self.missing, self.empty, *(one.fingerprint() for one in self.completers)]
        named = ", ".join(map(str, settings))
        return f"HybridCompleter({named}) {hashlib.sha256(learnt.encode()).hexdigest()[:16]}"

    # Hooks

    def complete(self, patterns: Sequence[Pattern], limit: int | None) -> list[list[Completion]]:
        """Return the first completions of all completers with their probabilities, and the evidence of all."""
        table, learnt = self._open
        answers: list[list[Completion]] = []
        for batch in batched(list(patterns), _BATCH):
            pools, rows = candidate_pools(self.completers, batch, self.depth, stored_numbers(table, batch))
            for pool, found in zip(pools, rows, strict=True):
                sure = dict(zip(pool.ids, self._confidences(learnt, pool), strict=True))
                rated = [
                    one._replace(confidence=sure[one.triple.subject if pool.step.inverse else one.triple.object])
                    for one in united(found)
                ]
                answers.append(sorted(rated, key=completion_order)[:limit])
        return answers

    def rate(self, patterns: Sequence[Pattern], candidates: Sequence[Sequence[str]]) -> list[list[float]]:
        """Return the probabilities of candidates; 0 if all completers rate them 0.

        Candidates outside the first completions of all completers are rated at most as high as the least of these.
        """
        table, learnt = self._open
        answers: list[list[float]] = []
        for batch in batched(list(zip(patterns, candidates, strict=True)), _BATCH):
            asked = [pattern for pattern, _ in batch]
            wanted = [ids for _, ids in batch]
            pools, _ = candidate_pools(self.completers, asked, self.depth, stored_numbers(table, asked), wanted)
            for pool, ids in zip(pools, wanted, strict=True):
                sure = dict(zip(pool.ids, self._confidences(learnt, pool), strict=True))
                answers.append([sure[id_] for id_ in ids])
        return answers

    def _confidences(self, learnt: _Learnt, pool: CandidatePool) -> list[float]:
        """Return the confidence of each candidate of a pool."""
        if not pool.ids:
            return []
        shares = learnt.model.probabilities(pool)
        if self.missing is not None:
            shares = shares * learnt.lacking.share(pool.step, pool.stored, self.missing, self.empty)
        shares[~(pool.rates > 0).any(axis=1)] = 0.0
        least = shares[: pool.size].min() if pool.size else 0.0
        shares[pool.size :] = np.minimum(shares[pool.size :], least)
        distinct, places = np.unique(shares, return_inverse=True)
        found: list[float] = np.array([confidence(one) for one in distinct.tolist()])[places].tolist()
        return found

    def offers(self, node_sets: Sequence[Sequence[str]], inverse: bool) -> list[list[Step]]:
        """Offer the steps of all completers."""
        return all_offers(self.completers, node_sets, inverse)

    # Training

    def fit(self, task: TrainingTask, training: HybridTraining) -> Mapping[str, float]:
        """Learn the probabilities of the completers' answers for held-out facts, in a graph without them.

        Raises:
            DriverError: If no fact was held out, or no completer proposes any of those held out.
        """
        hidden = facts_of(task)
        whole = TripleTable.of(self.graph) if self._table is None else self._table
        left, again = without_held_out(whole, hidden, training.twins)
        asked = patterns_of(hidden)
        chosen = sorted(asked, key=lambda pattern: (place(str(pattern), task.seed), str(pattern)))[: training.patterns]
        pools: list[CandidatePool] = []
        with contextlib.ExitStack() as stack:
            masked = graph_without(self.graph, [*hidden, *again], stack)
            parts = [completer_over(one, masked, stack) for one in self.completers]
            for batch in batched(chosen, _BATCH):
                pools += candidate_pools(parts, batch, self.depth, stored_numbers(left, batch))[0]
        for column, name in enumerate(self._names()):
            # Proposals alone are candidates, so that what it knows of these patterns would be lost.
            if silent := sum(bool(pool.rates[:, column].any() and not pool.ranks[:, column].any()) for pool in pools):
                logger.warning(
                    "%s proposes nothing for %s of %s patterns, though it rates what others propose there, such as for"
                    " entities that the graph lacks; give `frequency` the setting `unknown: true`",
                    name,
                    f"{silent:,}",
                    f"{len(pools):,}",
                )
        right = [
            np.isin(pool.ids, [fact.subject if pool.step.inverse else fact.object for fact in asked[pattern]]).astype(
                np.float64
            )
            for pattern, pool in zip(chosen, pools, strict=True)
        ]
        found = sum(float(good.sum()) for good in right)
        if not found:
            raise DriverError(
                f"the completers proposed none of {len(hidden)} held-out facts, so their confidences say nothing; hold"
                " out more, or choose other completers"
            )
        kept = [at for at, pool in enumerate(pools) if pool.ids]
        kind = LogisticModel if self.method == "logistic" else IsotonicModel
        model = kind.learn([pools[at] for at in kept], [right[at] for at in kept])
        self._use(model, LackingShares.learn(whole.without(hidden), hidden))
        figures = {
            "held_out": float(len(hidden)),
            "twin_triples": float(len(again)),
            "patterns": float(len(chosen)),
            "candidates": float(sum(len(pool.ids) for pool in pools)),
            "right": found,
            "share_found": found / sum(len(asked[pattern]) for pattern in chosen),
        }
        if task.validate is not None:
            figures.update(task.validate())
        return figures

    def _names(self) -> tuple[str, ...]:
        return tuple(type(driver_of(one)).__name__ for one in self.completers)

    def _use(self, model: LogisticModel | IsotonicModel, lacking: LackingShares) -> None:
        data = {
            "method": self.method,
            "depth": self.depth,
            "completers": list(self._names()),
            "model": model.to_json(),
            "lacking": lacking.to_json(),
        }
        self._learnt = _Learnt(model, lacking, json.dumps(data, sort_keys=True))

    def save(self, folder: Path) -> None:
        """Write the model as JSON."""
        write_model(folder / FILE, json.loads(self._trained.text))

    def load(self, folder: Path) -> None:
        """Read a saved model, which must have the same completers, method and depth."""
        kind = LogisticModel if self.method == "logistic" else IsotonicModel
        mine = self.method, self.depth, self._names()

        def parse(data: Any) -> tuple[Any, LogisticModel | IsotonicModel | None, LackingShares]:
            before = data["method"], data["depth"], tuple(data["completers"])
            model = kind.from_json(data["model"]) if before == mine else None
            return before, model, LackingShares.from_json(data["lacking"])

        file = folder / FILE
        before, model, lacking = read_model(file, "hybrid", parse)
        if model is None:
            raise DriverError(
                f"{file} was trained with method {before[0]} and depth {before[1]} over {', '.join(before[2])}, in this"
                " order; use these, or train again"
            )
        self._use(model, lacking)
