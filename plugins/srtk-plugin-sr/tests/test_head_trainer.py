"""Training of the head of ``rerank``: its loss, its calibration, and how weights are selected."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")

from srtk_plugin_sr.fit_settings import HeadFitSettings
from srtk_plugin_sr.head import HeadInput
from srtk_plugin_sr.head_trainer import (
    HeadModule,
    TrainingQuestion,
    _draw,
    mean_f,
    mean_loss,
    platt_scaling,
    train_head,
)

from srtk_framework.values import Triple

VECTORS = np.eye(2, dtype=np.float32)


def question(targets: Sequence[float], total: float | None = None, text: str = "who", feature: float = 0.0) -> Any:
    """Make a question whose candidates start at its link, in the order of their targets."""
    count = len(targets)
    given = HeadInput(
        0, np.zeros((count, 2), np.int64), np.linspace(feature, 1 + feature, count)[:, None], np.zeros(count)
    )
    triples = [Triple("a", f"r{n}", f"b{n}") for n in range(count)]
    sure = np.array(targets, dtype=np.float32)
    return TrainingQuestion(text, text, given, sure, sum(targets) if total is None else total, triples, ["a"])


def test_means_are_of_rankings_that_are_cut_where_the_expected_f_is_greatest() -> None:
    # Two of three are kept, of which one is right; then one, which is right, of two that are needed.
    rows = [question([1.0, 0.0, 0.0]), question([1.0, 0.0], total=2.0)]
    scored = [[math.log(0.8), math.log(0.7), math.log(0.01)], [math.log(0.9), math.log(0.01)]]
    found = mean_f(rows, scored, 1.0)
    assert found == pytest.approx(
        {
            "held_f": (2 * 1 / (2 + 1) + 2 * 1 / (1 + 2)) / 2,
            "held_recall": (1 + 0.5) / 2,
            "held_precision": (0.5 + 1) / 2,
            "held_triples": 1.5,
        }
    )
    # With a beta of 2 recall weighs four times.
    assert mean_f(rows[1:], scored[1:], 2.0)["held_f"] == pytest.approx(5 * 1 / (1 + 4 * 2))
    assert mean_f([question([0.0], total=0.0)], [[-1.0]], 1.0) == {
        "held_f": 0.0,
        "held_recall": 0.0,
        "held_precision": 0.0,
        "held_triples": 1.0,
    }
    assert mean_f([question([], total=0.0)], [[]], 1.0)["held_precision"] == 0.0


def test_the_loss_is_the_mean_over_questions_of_the_mean_over_their_candidates() -> None:
    rows = [question([1.0, 0.0]), question([0.5])]
    found = mean_loss(rows, [[math.log(0.8), math.log(0.4)], [math.log(0.25)]])
    one = -(math.log(0.8) + math.log(0.6)) / 2
    other = -(0.5 * math.log(0.25) + 0.5 * math.log(0.75))
    assert found == pytest.approx((one + other) / 2)
    # A probability of one for what is wrong costs the logarithm of a millionth.
    assert mean_loss([question([0.0])], [[0.0]]) == pytest.approx(-math.log(1e-6))


def test_no_scaling_close_by_has_a_smaller_loss_with_the_prior() -> None:
    random = np.random.default_rng(3)
    logits = [random.normal(size=n) * 3 for n in (4, 9, 30)]
    rows = [question((random.random(len(row)) < 1 / (1 + np.exp(1.5 - 0.4 * row))).astype(float)) for row in logits]

    def loss(slope: float, offset: float) -> float:
        sums = 0.1 * ((slope - 1) ** 2 + offset**2) / 2
        for one, row in zip(rows, logits, strict=True):
            values = slope * row + offset
            sums += float(np.mean(np.logaddexp(0, values) - one.targets * values))
        return sums

    slope, offset = platt_scaling(rows, logits)
    best = loss(slope, offset)
    for step in (1e-3, -1e-3):
        assert loss(slope + step, offset) > best
        assert loss(slope, offset + step) > best
    assert (round(slope, 6), round(offset, 6)) == (slope, offset)
    # What is wrongly ordered is turned into even probabilities, never into the opposite order.
    assert platt_scaling([question([0.0, 1.0])] * 90, [np.array([9.0, -9.0])] * 90)[0] == 0.05


def module(rows: Sequence[Any], folder: Path, **settings: Any) -> HeadModule:
    norm = {"mean": np.zeros(1), "spread": np.ones(1)}
    return HeadModule(rows, rows, VECTORS, norm, HeadFitSettings(**{"hidden": 4, **settings}), 1.0, folder, 0)


def test_all_questions_of_a_batch_weigh_the_same_whatever_their_candidates(tmp_path: Path) -> None:
    rows = [question([1.0, 0.0, 0.0, 0.0]), question([0.0], total=1.0)]
    made = module(rows, tmp_path)
    made.network.eval()
    alone = [(float(loss.detach()), number) for loss, number in (made.loss_of([one], 0) for one in rows)]
    both, count = made.loss_of(rows, 0)
    assert ([number for _, number in alone], count) == ([1, 1], 2)
    assert float(both.detach()) == pytest.approx(sum(loss for loss, _ in alone) / 2)
    logits = made._logits({name: value.detach().numpy() for name, value in made.weights().items()})
    each = [float(np.mean(np.logaddexp(0, row) - one.targets * row)) for one, row in zip(rows, logits, strict=True)]
    assert [loss for loss, _ in alone] == pytest.approx(each, abs=1e-6)


def test_each_epoch_deals_all_questions_once_in_an_order_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [question([1.0], text=f"q{n}") for n in range(40)]
    made, orders = module(rows, tmp_path, batch_size=16), []
    for epoch in (0, 0, 1):
        monkeypatch.setattr(HeadModule, "current_epoch", epoch)
        batches = made.batches()
        assert [len(batch) for batch in batches] == [16, 16, 8]
        orders.append([one.name for batch in batches for one in batch])
    assert orders[0] == orders[1] != orders[2]
    assert sorted(orders[0]) == sorted(orders[2]) == sorted(one.name for one in rows)


def test_weights_are_better_by_f_and_where_it_is_equal_by_the_loss(tmp_path: Path) -> None:
    made = module([question([1.0])], tmp_path)
    steps = [
        ((0.5, 2.0), True),
        ((0.5 + 2e-4, 3.0), True),
        ((0.5 + 2e-4, 3.0), False),
        ((0.5 + 2e-4 + 5e-5, 2.9), True),
        ((0.5, 2.0), False),
        ((0.5 + 1e-4, 3.5), False),
    ]
    for (f, loss), better in steps:
        assert made.improves({"held_f": f, "held_loss": loss}) is better
    made.best, made.least_loss = 0.0, 1.0
    assert not made.improves({"held_f": made.least_gain, "held_loss": 1.0})
    assert made.improves({"held_f": made.least_gain, "held_loss": 0.9})


def test_the_rate_of_learning_falls_to_a_tenth_over_the_epochs(tmp_path: Path) -> None:
    from srtk_plugin_training import fit, quiet_lightning

    rates: list[float] = []

    class Watched(HeadModule):
        def loss_of(self, batch: list[Any], number: int) -> Any:
            rates.append(self.trainer.optimizers[0].param_groups[0]["lr"])
            return super().loss_of(batch, number)

    rows = [question([1.0, 0.0])]
    norm = {"mean": np.zeros(1), "spread": np.ones(1)}
    with quiet_lightning():
        settings = HeadFitSettings(epochs=4, hidden=2, learning_rate=0.01, patience=None)
        fit(Watched(rows, rows, VECTORS, norm, settings, 1.0, tmp_path, 0), tmp_path, None, accelerator="cpu")
    assert rates == pytest.approx([0.01, 0.00775, 0.0055, 0.00325])


@pytest.mark.parametrize(("count", "apart"), [(40, False), (140, True)])
def test_so_many_questions_select_the_weights_and_are_not_learnt_from(count: int, apart: bool, tmp_path: Path) -> None:
    rows = [question([1.0, 0.0], text=f"what is {n}") for n in range(count)]
    head, figures = train_head(rows, VECTORS, HeadFitSettings(epochs=1, hidden=2), 1.0, {}, tmp_path, 0)
    if apart:
        # 0.15 of them, by a hash of the text.
        assert 10 <= count - figures["questions"] <= 0.25 * count
    else:
        assert figures["questions"] == count
        assert (head.slope, head.offset) == (1.0, 0.0)
    assert set(figures) == {"held_f", "held_recall", "held_precision", "held_triples", "questions", "best_epoch"}


def test_features_are_scaled_by_those_of_the_questions_that_are_learnt_from(tmp_path: Path) -> None:
    rows = [question([1.0, 0.0], feature=float(n)) for n in range(3)]
    head, _ = train_head(rows, VECTORS, HeadFitSettings(epochs=1, hidden=2), 1.0, {}, tmp_path, 0)
    values = np.concatenate([one.given.features for one in rows])
    np.testing.assert_allclose(head.weights["mean"], values.mean(axis=0))
    np.testing.assert_allclose(head.weights["spread"], values.std(axis=0))
    same = [question([1.0]), question([0.0])]
    head, _ = train_head(same, VECTORS, HeadFitSettings(epochs=1, hidden=2), 1.0, {}, tmp_path / "same", 0)
    assert head.weights["spread"].tolist() == [1e-3]


@pytest.mark.parametrize(("held", "apart"), [(10, True), (9, False)])
def test_ten_questions_are_enough_to_select_the_weights(held: int, apart: bool, tmp_path: Path) -> None:
    texts = [f"what is {n}" for n in range(400)]
    drawn = [text for text in texts if _draw(text, 0) < 0.15][:held]
    rows = [question([1.0, 0.0], text=text) for text in [*drawn, *[t for t in texts if _draw(t, 0) >= 0.15][:20]]]
    _, figures = train_head(rows, VECTORS, HeadFitSettings(epochs=1, hidden=2), 1.0, {}, tmp_path, 0)
    assert figures["questions"] == (20 if apart else 29)
