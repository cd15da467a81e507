"""Lightning module that drivers derive theirs from: it keeps the best weights, stops, and resumes.

Importing it imports lightning and torch, which takes seconds.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import lightning
import torch

from srtk_framework.values import DriverError
from srtk_plugin_training.lightning_fit import BEST, save_best


class Batches:
    """Data loader over the batches of a round."""

    def __init__(self, batches: Sequence[Any]) -> None:
        self._batches = batches

    def __len__(self) -> int:
        return len(self._batches)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._batches)


class Learner(lightning.LightningModule):
    """Trains in rounds: an epoch of Lightning is one round, so checkpoints lie between rounds.

    A derived class defines the batches of a round, the loss of a batch, and the validation of the weights. Each must
    depend on the seed and the number of the round alone, so that a resumed training equals an uninterrupted training.

    Args:
        settings: Settings of the training, among them ``patience``: validations without a better one before the
            training stops; None for never.
        folder: Folder for the best weights.
        seed: Seed of everything random.
    """

    monitor: ClassVar[str] = "held_out_loss"
    """Figure that selects the best weights."""
    higher_is_better: ClassVar[bool] = False
    """Whether a higher figure is better."""
    least_gain: ClassVar[float] = 0.0005
    """Difference of the figure that counts as better."""
    mean_loss: ClassVar[str] = "loss"
    """Name of a round's mean loss in the log."""
    state: ClassVar[tuple[str, ...]] = ("best", "waited", "stopped", "done", "figures")
    """Attributes that a checkpoint keeps."""

    def __init__(self, settings: Any, folder: Path, seed: int) -> None:
        super().__init__()
        self.best, self.waited, self.stopped, self.done = -math.inf, 0, False, 0
        self.figures: dict[str, float] = {}
        self._settings, self._folder, self._seed = settings, folder, seed
        self._losses: list[tuple[float, int]] = []

    def rounds(self, devices: int) -> int:
        """Return the most rounds of a training on several devices."""
        return int(self._settings.epochs)

    @property
    def every(self) -> int:
        """Rounds from one validation, and checkpoint, to the next."""
        return 1

    def batches(self) -> Sequence[Any]:
        """Return the batches of this round for this device."""
        raise NotImplementedError

    def loss_of(self, batch: Any, number: int) -> tuple[torch.Tensor, int]:
        """Return the loss of the batch of a number within the round, and its weight in the mean of the round."""
        raise NotImplementedError

    def fault(self, batch: Any, what: str) -> str:
        """Describe a loss that is not finite, with a remedy."""
        return f"{what} in epoch {self.current_epoch + 1}; lower learning_rate"

    def validated(self) -> Mapping[str, float]:
        """Return figures of the weights; nothing where there is nothing to validate with, and the last ones count."""
        return {}

    def monitored(self, figures: Mapping[str, float]) -> str:
        """Return the name of the figure that selects the best weights."""
        return self.monitor

    def improves(self, figures: Mapping[str, float]) -> bool:
        """Return whether a validation is the best so far, and note its value."""
        value = figures[self.monitored(figures)]
        value = value if self.higher_is_better else -value
        if not value > self.best + self.least_gain:  # a figure that is no number is never the best
            return False
        self.best = value
        return True

    def progress(self) -> dict[str, float]:
        """Return how far the training is, for the figures."""
        return {"epochs": float(self.current_epoch + 1)}

    def weights(self) -> Mapping[str, torch.Tensor]:
        """Return the weights to keep."""
        found: Mapping[str, torch.Tensor] = self.state_dict()
        return found

    def train_dataloader(self) -> Batches:
        """Return the batches of this round for this device."""
        return Batches(self.batches())

    def on_train_epoch_start(self) -> None:
        """Start the mean of the losses anew."""
        self._losses = []

    def training_step(self, batch: Any, batch_idx: int) -> torch.Tensor:
        """Return the loss of a batch.

        Raises:
            DriverError: If it is not finite.
        """
        loss, weight = self.loss_of(batch, batch_idx)
        value = float(loss.detach())
        if not math.isfinite(value):
            raise DriverError(self.fault(batch, f"the loss is {value}"))
        self._losses.append((value, weight))
        return loss

    def on_train_epoch_end(self) -> None:
        """Validate, keep the best weights, and stop when they no longer improve."""
        self.done = self.current_epoch + 1
        last = self.done >= self.rounds(self.trainer.world_size)
        mean = sum(value * weight for value, weight in self._losses) / max(1, sum(weight for _, weight in self._losses))
        self.log(self.mean_loss, mean, prog_bar=True, batch_size=1, sync_dist=self.trainer.world_size > 1)
        if self.done % self.every and not last:
            return
        # One device decides for all, so that rounding never lets them differ.
        figures = self.trainer.strategy.broadcast(dict(self.validated()) if self.global_rank == 0 else {})
        for name, value in figures.items():
            self.log(name, value, prog_bar=name == self.monitored(figures), batch_size=1)
        if not figures or self.improves(figures):
            self.waited, self.figures = 0, {**self.progress(), "loss": mean, **figures}
            if self.global_rank == 0:
                self.keep()
        else:
            self.waited += 1
        if last or (self._settings.patience is not None and self.waited >= self._settings.patience):
            self.stopped = self.trainer.should_stop = True

    def keep(self) -> None:
        """Write the best weights so far, to a temporary file that is then renamed."""
        part = self._folder / f"{BEST}.part"
        # Tied tensors share their memory, which the format refuses.
        save_best({name: one.detach().cpu().clone().contiguous() for name, one in self.weights().items()}, part)
        part.replace(self._folder / BEST)

    def on_save_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        """Add the state of the validations to a checkpoint."""
        checkpoint["srtk"] = {name: getattr(self, name) for name in self.state}

    def on_load_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        """Restore the state of the validations from a checkpoint."""
        for name, value in checkpoint["srtk"].items():
            setattr(self, name, value)
