"""Losses of the dense scorer, worked by hand, and how its training goes on."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")

import torch
from srtk_plugin_sr.fit_settings import ScorerFitSettings
from srtk_plugin_sr.lightning_module import ScorerModule, candidate_batch, cross_entropy, listwise, nt_xent
from srtk_plugin_sr.samples import IndexedSample, TrainingSet

# Two queries; the second has a candidate less, which is padded.
SAMPLES = [
    IndexedSample(0, (2, 3, 4), (1.0, 0.5, 0.0), (0.0, 0.25, 0.5)),
    IndexedSample(1, (3, 4), (0.0, 1.0)),
]
LOGITS = torch.tensor([[2.0, 1.0, 0.5], [1.5, -1.0, 9.0]])
CPU = torch.device("cpu")


def batch() -> Any:
    return candidate_batch(SAMPLES, {text: text for text in range(5)}, CPU)


def log_sum(*values: float) -> float:
    return math.log(sum(map(math.exp, values)))


def test_candidates_are_padded_by_the_first_of_their_sample_at_no_cost() -> None:
    found = batch()
    assert found.columns.tolist() == [[2, 3, 4], [3, 4, 3]]
    assert found.targets.tolist() == [[1.0, 0.5, 0.0], [0.0, 1.0, 0.0]]
    assert found.costs.tolist() == [[0.0, 0.25, 0.5], [0.0, 0.0, 0.0]]
    assert found.mask.tolist() == [[True] * 3, [True, True, False]]


def test_a_list_is_compared_with_the_qualities_as_shares() -> None:
    one = log_sum(2.0, 1.0, 0.5) - (2.0 * 1.0 + 1.0 * 0.5) / 1.5
    other = log_sum(1.5, -1.0) + 1.0
    assert float(listwise(LOGITS, batch())) == pytest.approx((one + other) / 2, abs=1e-5)


def test_a_right_candidate_is_compared_with_the_wrong_ones_of_its_sample() -> None:
    one = ((log_sum(2.0, 0.5) - 2.0) * 1.0 + (log_sum(1.0, 0.5) - 1.0) * 0.5) / 1.5
    other = log_sum(1.5, -1.0) + 1.0
    assert float(cross_entropy(LOGITS, batch())) == pytest.approx((one + other) / 2, abs=1e-5)


def test_it_is_compared_with_the_candidates_of_other_samples_too() -> None:
    cosines = torch.tensor([[0.1, 0.2, 0.3, 0.4, 0.5], [0.5, 0.4, 0.3, 0.2, 0.1]])
    others = torch.tensor([[False] * 5, [False, False, True, False, False]])
    one = ((log_sum(2.0, 0.5) - 2.0) * 1.0 + (log_sum(1.0, 0.5) - 1.0) * 0.5) / 1.5
    # Of the second sample, text 2 is a candidate of the first alone; its cosine is .3.
    other = log_sum(1.5, -1.0, 0.3 / 0.2) + 1.0
    found = nt_xent(LOGITS, batch(), cosines, others, 0.2)
    assert float(found) == pytest.approx((one + other) / 2, abs=1e-5)


class Table(torch.nn.Module):
    """Gives each text, a row with its number and as many tokens as it likes, a vector that is learnt."""

    def __init__(self) -> None:
        super().__init__()
        values = np.random.default_rng(0).normal(size=(5, 3)).astype(np.float32)
        self.rows = torch.nn.Parameter(torch.from_numpy(values))
        self.bias = torch.nn.Parameter(torch.zeros(3))

    def forward(self, rows: list[list[int]]) -> Any:
        return self.rows[[row[0] for row in rows]] + self.bias


def module(folder: Path, **settings: Any) -> ScorerModule:
    # Of very different lengths, so that several passes encode a batch, in another order.
    rows = [[0] * 9, [1], [2] * 30, [3], [4] * 9]
    data = TrainingSet([f"text {i}" for i in range(5)], SAMPLES)
    chosen = ScorerFitSettings(**settings)
    made = ScorerModule(Table(), data, rows, chosen, 0.2, None, folder, 0)
    made.rounds(1)
    return made


@pytest.mark.parametrize("loss", ["listwise", "cross-entropy", "nt-xent"])
def test_the_loss_of_a_batch_is_by_cosines_over_the_temperature_less_the_costs(loss: Any, tmp_path: Path) -> None:
    made = module(tmp_path, loss=loss)
    vectors = torch.nn.functional.normalize(made.network.rows.detach(), dim=-1)
    cosines = vectors[[0, 1]] @ vectors.T
    candidates = batch()
    logits = cosines.gather(1, candidates.columns) / 0.2 - candidates.costs
    others = torch.tensor([[False] * 5, [False, False, True, False, False]])
    wanted = {
        "listwise": lambda: listwise(logits, candidates),
        "cross-entropy": lambda: cross_entropy(logits, candidates),
        "nt-xent": lambda: nt_xent(logits, candidates, cosines, others, 0.2),
    }[loss]()
    assert float(made._loss(SAMPLES).detach()) == pytest.approx(float(wanted), abs=1e-5)


@pytest.mark.parametrize(("warmup", "rates"), [(0.5, [0.5, 1.0, 1.0, 0.55]), (0.0, [1.0, 1.0, 0.7, 0.4])])
def test_the_rate_rises_over_the_warm_up_and_falls_to_a_tenth(
    warmup: float, rates: list[float], tmp_path: Path
) -> None:
    made = module(tmp_path, warmup=warmup, batch_size=2, epochs=4, learning_rate=0.02)
    found = made.configure_optimizers()
    assert found["lr_scheduler"]["interval"] == "step"
    rate = found["lr_scheduler"]["scheduler"].lr_lambdas[0]
    assert [rate(step) for step in range(4)] == pytest.approx(rates)
    assert rate(4) == pytest.approx(0.1)
    assert rate(99) == 0.1
    groups = found["optimizer"].param_groups
    assert [(len(group["params"]), group["weight_decay"]) for group in groups] == [(1, 0.01), (1, 0.0)]
    assert groups[0]["initial_lr"] == 0.02


def test_weights_are_better_by_the_metric_and_among_equals_by_a_hundredth_fewer_triples(tmp_path: Path) -> None:
    made = module(tmp_path)
    steps = [
        ((0.5, 100.0), True),
        ((0.5, 99.0), False),
        ((0.5, 98.9), True),
        ((0.5004, 98.0), False),
        ((0.5006, 200.0), True),
        ((0.5005, 1.0), False),
    ]
    for (recall, triples), better in steps:
        assert made.improves({"answer_recall": recall, "triples": triples}) is better
    assert made.improves({"answer_recall": 0.6})
    # A gain as large as the least is none yet.
    assert not made.improves({"answer_recall": made.best + made.least_gain})


def test_a_gradient_is_clipped_at_the_norm_of_one(tmp_path: Path) -> None:
    made = module(tmp_path)
    for parameter in made.network.parameters():
        parameter.grad = torch.full_like(parameter, 3.0)
    made.on_before_optimizer_step(None)
    norms = [float(one.grad.pow(2).sum()) for one in made.network.parameters()]
    assert sum(norms) == pytest.approx(1.0, abs=1e-4)


def test_updates_are_counted_by_rounds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = module(tmp_path, batch_size=1, epochs=3, validate_every=4)
    counts = []
    for epoch in (0, 1):
        monkeypatch.setattr(ScorerModule, "current_epoch", epoch)
        counts.append(made.progress())
    assert counts == [{"steps": 4.0}, {"steps": 6.0}]


@pytest.mark.parametrize(("minutes", "stops"), [(None, False), (1.0, True), (1.1, False)])
def test_no_round_begins_that_would_exceed_the_minutes(
    minutes: float | None, stops: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from srtk_plugin_sr import lightning_module
    from srtk_plugin_training.learner import Learner

    made = module(tmp_path, minutes=minutes)
    made.stopped = False
    made.trainer = trainer = type("Trainer", (), {"should_stop": False})()
    monkeypatch.setattr(ScorerModule, "trainer", trainer, raising=False)
    monkeypatch.setattr(Learner, "on_train_epoch_end", lambda self: None)
    # Two rounds of 21 seconds each; a third would end after 63.
    made.seconds, made._began = 21.0, 100.0
    monkeypatch.setattr(lightning_module.time, "process_time", lambda: 121.0)
    made.on_train_epoch_end()
    assert made.seconds == 42.0
    assert (made.stopped, trainer.should_stop) == (stops, stops)


def test_a_batch_that_fails_is_written_with_its_texts(tmp_path: Path) -> None:
    said = module(tmp_path).fault([1], "the loss is nan")
    assert said.startswith(f"the loss is nan at update 1; the batch is in {tmp_path}")
    assert (tmp_path / "broken-batch.json").read_text() == (
        '[\n {\n  "query": "text 1",\n  "candidates": [\n   "text 3",\n   "text 4"\n  ],\n'
        '  "targets": [\n   0.0,\n   1.0\n  ]\n }\n]\n'
    )
