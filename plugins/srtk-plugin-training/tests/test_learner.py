"""Training of a learner with Lightning, on one weight."""

from __future__ import annotations

from types import SimpleNamespace
from typing import ClassVar

import pytest

from srtk_framework.values import DriverError

torch = pytest.importorskip("torch")
pytest.importorskip("lightning")

from srtk_plugin_training import fit, quiet_lightning  # noqa: E402
from srtk_plugin_training.learner import Learner  # noqa: E402


class Weight(Learner):
    """Adds one to a weight in each round; its figures are given."""

    values: ClassVar[list[float]] = []
    rounds_between: ClassVar[int] = 1

    def __init__(self, folder, epochs=5, patience=None):
        super().__init__(SimpleNamespace(epochs=epochs, patience=patience), folder, 0)
        self.weight = torch.nn.Parameter(torch.zeros(1))

    @property
    def every(self):
        return self.rounds_between

    def batches(self):
        return [1.0]

    def loss_of(self, batch, number):
        return -batch * self.weight.sum(), 1

    def validated(self):
        return {"held_out_loss": self.values[self.current_epoch]} if self.values else {}

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=1.0)


def trained(module, folder):
    with quiet_lightning():
        return float(fit(module, folder, None, accelerator="cpu", devices=1)["weight"])


def test_the_weights_of_the_lowest_loss_are_kept_and_training_stops_without_a_lower_one(tmp_path, monkeypatch):
    monkeypatch.setattr(Weight, "values", [0.5, 0.2, 0.1999, 0.3, 0.1])
    module = Weight(tmp_path, patience=2)
    assert trained(module, tmp_path) == 2
    assert (module.done, module.figures["epochs"], module.figures["held_out_loss"]) == (4, 2, 0.2)


def test_the_last_weights_are_kept_where_nothing_is_validated(tmp_path):
    assert trained(Weight(tmp_path), tmp_path) == 5


def test_validations_lie_rounds_apart_and_the_last_round_has_one(tmp_path, monkeypatch):
    monkeypatch.setattr(Weight, "rounds_between", 2)
    monkeypatch.setattr(Weight, "values", [0.1, 0.5, 0.1, 0.6, 0.4])
    assert trained(Weight(tmp_path), tmp_path) == 5


def test_a_training_that_has_stopped_is_not_trained_further(tmp_path):
    assert trained(Weight(tmp_path, epochs=2), tmp_path) == 2
    logs = len(list((tmp_path / "log").iterdir()))
    module = Weight(tmp_path, epochs=2)
    assert trained(module, tmp_path) == 2
    assert module.done == 2
    assert len(list((tmp_path / "log").iterdir())) == logs


def test_a_stopped_training_goes_on_after_its_newest_checkpoint(tmp_path, monkeypatch):
    def stop(module):
        if module.current_epoch == 3:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Weight, "on_train_epoch_start", stop)
        with pytest.raises(KeyboardInterrupt):
            trained(Weight(tmp_path), tmp_path)
    assert [file.name for file in (tmp_path / "checkpoints").iterdir()] == ["epoch-000002.ckpt"]
    seen = []
    monkeypatch.setattr(Weight, "on_train_epoch_start", lambda module: seen.append(module.current_epoch))
    assert trained(Weight(tmp_path), tmp_path) == 5
    assert seen == [3, 4]


def test_a_loss_that_is_not_finite_is_told_with_its_epoch(tmp_path, monkeypatch):
    monkeypatch.setattr(Weight, "batches", lambda module: [float("inf")])
    with pytest.raises(DriverError, match=r"the loss is nan in epoch 1; lower learning_rate"):
        trained(Weight(tmp_path), tmp_path)


def test_a_figure_that_is_no_number_is_never_the_best(tmp_path, monkeypatch):
    monkeypatch.setattr(Weight, "values", [float("nan"), 2.0, float("nan"), 3.0, 3.0])
    assert trained(Weight(tmp_path), tmp_path) == 2
