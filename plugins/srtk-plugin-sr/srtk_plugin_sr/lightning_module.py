"""Lightning module and losses for training the dense scorer.

Importing it imports lightning and torch, which takes seconds.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path as FilePath
from typing import Any, ClassVar, NamedTuple

import numpy as np
import torch
from srtk_plugin_training.learner import Learner

from srtk_framework.values import DriverError
from srtk_plugin_sr.fit_settings import ScorerFitSettings
from srtk_plugin_sr.samples import IndexedSample, Schedule, TrainingSet, forward_passes

# Of weights with an equal metric, those that retrieve clearly fewer triples are better.
_LEAST_SAVING = 0.01
_FINAL_RATE = 0.1
"""Share of the learning rate that is left at the end."""
_CLIP = 1.0
"""Largest norm of the gradient."""
# AdamW's own default; biases and norms have none, as for BERT.
_WEIGHT_DECAY = 0.01

Validate = Callable[[], Mapping[str, float]]

# An infinity would make gradients NaN where a sample has no negative.
_MASKED = -1e9


class CandidateBatch(NamedTuple):
    """Candidates of a batch, padded to tensors of shape [samples, candidates].

    Attributes:
        columns: Position of each candidate's text among the texts of the batch.
        targets: Quality of each candidate; 0 for padding.
        costs: Number subtracted from each logit.
        mask: True for candidates, False for padding.
    """

    columns: torch.Tensor
    targets: torch.Tensor
    costs: torch.Tensor
    mask: torch.Tensor


def listwise(logits: torch.Tensor, candidates: CandidateBatch) -> torch.Tensor:
    """Return the cross-entropy of the candidates' distribution against their qualities as soft targets."""
    shares = candidates.targets / candidates.targets.sum(1, keepdim=True)
    logs = torch.log_softmax(logits.masked_fill(~candidates.mask, _MASKED), dim=1)
    return -(shares * logs.masked_fill(~candidates.mask, 0.0)).sum(1).mean()


def cross_entropy(logits: torch.Tensor, candidates: CandidateBatch) -> torch.Tensor:
    """Return the loss of each positive against the negatives of its sample (SR, Zhang et al. 2022, section 4.1)."""
    return _contrastive_loss(logits, candidates, None)


def nt_xent(
    logits: torch.Tensor, candidates: CandidateBatch, cosines: torch.Tensor, others: torch.Tensor, temperature: float
) -> torch.Tensor:
    """Return the loss of each positive against the negatives of its sample and of the other samples in the batch.

    Args:
        logits: Logits of each sample's own candidates [samples, candidates].
        candidates: Those candidates.
        cosines: Cosines of each query with each text of the batch [samples, texts].
        others: True for texts that are candidates only of other samples [samples, texts].
        temperature: Divides cosines.
    """
    elsewhere = (cosines / temperature).masked_fill(~others, _MASKED)
    return _contrastive_loss(logits, candidates, torch.logsumexp(elsewhere, dim=1))


def _contrastive_loss(logits: torch.Tensor, candidates: CandidateBatch, further: torch.Tensor | None) -> torch.Tensor:
    """Average -log of each positive's softmax share against the negatives, weighted by the positive's quality."""
    positive = candidates.targets > 0
    negatives = torch.logsumexp(logits.masked_fill(positive | ~candidates.mask, _MASKED), dim=1)
    if further is not None:
        negatives = torch.logaddexp(negatives, further)
    each = torch.nn.functional.softplus(negatives[:, None] - logits).masked_fill(~positive, 0.0)
    shares = candidates.targets / candidates.targets.sum(1, keepdim=True)
    return (shares * each).sum(1).mean()


class ScorerModule(Learner):
    """A network that learns to rank the steps of paths, on the batches of a ``Schedule``.

    Args:
        network: Maps token rows to vectors.
        data: Samples to train on.
        rows: Token rows, by number of their text.
        settings: Settings of the training.
        temperature: Divides cosines.
        validate: Called after each round on the first device; None for no validation.
        folder: Folder for the best weights, and for a batch whose loss is not finite.
        seed: Seed of the order of samples and of dropout.
    """

    mean_loss: ClassVar[str] = "mean_loss"
    state: ClassVar[tuple[str, ...]] = (*Learner.state, "size", "seconds")
    _settings: ScorerFitSettings

    def __init__(
        self,
        network: torch.nn.Module,
        data: TrainingSet,
        rows: Sequence[Sequence[int]],
        settings: ScorerFitSettings,
        temperature: float,
        validate: Validate | None,
        folder: FilePath,
        seed: int,
    ) -> None:
        super().__init__(settings, folder, seed)
        self.network = network
        self.size = math.inf
        self.seconds = 0.0
        self._data, self._rows, self._temperature, self._validate = data, rows, temperature, validate
        self._current: list[int] = []
        self._began = 0.0
        self._start = [p.detach().clone() for p in network.parameters()] if settings.pull else []

    def on_fit_start(self) -> None:
        """Bring the weights of the start to the device of the network."""
        self._start = [start.to(self.device) for start in self._start]

    def rounds(self, devices: int) -> int:
        """Return the number of rounds of the schedule for several devices."""
        self._devices = devices
        return self._schedule.rounds

    @cached_property
    def _schedule(self) -> Schedule:
        lengths = [len(row) for row in self._rows]
        return Schedule(self._data.samples, lengths, self._settings, self._devices, self._seed)

    def batches(self) -> list[list[int]]:
        """Return the batches of this round for this device."""
        return self._schedule.round(self.current_epoch, self.global_rank)

    def on_train_epoch_start(self) -> None:
        """Seed by the round alone, so that a resumed training computes the same as an uninterrupted training."""
        # Primes apart, so that no rounds and devices of two small seeds share their dropout.
        torch.manual_seed(self._seed * 1_000_003 + self.current_epoch * 101 + self.global_rank)
        super().on_train_epoch_start()
        self._began = time.process_time()

    def loss_of(self, batch: list[int], number: int) -> tuple[torch.Tensor, int]:
        """Return the loss of one batch; all batches weigh the same in the mean."""
        self._current = batch
        loss = self._loss([self._data.samples[i] for i in batch])
        self.log("loss", float(loss.detach()), prog_bar=True, batch_size=len(batch))
        return loss, 1

    def on_before_optimizer_step(self, optimizer: torch.optim.Optimizer) -> None:
        """Clip the gradient, and refuse infinities."""
        norm = float(torch.nn.utils.clip_grad_norm_([p for p in self.parameters() if p.requires_grad], _CLIP))
        if not math.isfinite(norm):
            raise DriverError(self.fault(self._current, f"the gradient's norm is {norm}"))

    def optimizer_step(self, epoch: int, batch_idx: int, optimizer: Any, optimizer_closure: Any = None) -> None:
        """Update the weights, and pull them back towards the start."""
        super().optimizer_step(epoch, batch_idx, optimizer, optimizer_closure)
        share = min(1.0, optimizer.param_groups[0]["lr"] * self._settings.pull)
        with torch.no_grad():
            for weight, start in zip(self.network.parameters() if self._start else (), self._start, strict=True):
                weight.lerp_(start, share)

    def progress(self) -> dict[str, float]:
        """Return the number of updates done."""
        return {"steps": float(min((self.current_epoch + 1) * self._schedule.every, self._schedule.total))}

    def on_train_epoch_end(self) -> None:
        """Stop, too, where another round would take more than the minutes of the settings."""
        super().on_train_epoch_end()
        last = time.process_time() - self._began
        self.seconds += last
        if self._settings.minutes is not None and self.seconds + last > 60 * self._settings.minutes:
            self.stopped = self.trainer.should_stop = True

    def monitored(self, figures: Mapping[str, float]) -> str:
        """Return the name of the metric that selects the best weights."""
        return self._settings.monitored(figures)

    def improves(self, figures: Mapping[str, float]) -> bool:
        """Return whether a validation is the best so far, by its metric, and among equals by fewer triples."""
        value, size = figures[self.monitored(figures)], figures.get("triples", 0.0)
        smaller = value >= self.best and size < self.size * (1 - _LEAST_SAVING)
        if not (smaller or value > self.best + self.least_gain):
            return False
        self.best, self.size = value, size
        return True

    def weights(self) -> Mapping[str, torch.Tensor]:
        """Return the weights of the network."""
        return self.network.state_dict()

    def configure_optimizers(self) -> Any:
        """Return AdamW with a learning rate that rises and then falls linearly."""
        settings = self._settings
        trained = [p for p in self.parameters() if p.requires_grad]
        groups = [
            {"params": [p for p in trained if p.ndim >= 2], "weight_decay": _WEIGHT_DECAY},
            {"params": [p for p in trained if p.ndim < 2], "weight_decay": 0.0},
        ]
        optimizer = torch.optim.AdamW(groups, lr=settings.learning_rate, fused=True)
        total = self._schedule.total
        warmup = max(1, round(settings.warmup * total))

        def rate(step: int) -> float:
            if step < warmup:
                return (step + 1) / warmup
            return max(_FINAL_RATE, 1 - (1 - _FINAL_RATE) * (step - warmup) / max(1, total - warmup))

        schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, rate)
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": schedule, "interval": "step"}}

    def _loss(self, samples: Sequence[IndexedSample]) -> torch.Tensor:
        """Encode each distinct text of the batch once, and return the loss."""
        used = list(dict.fromkeys(t for sample in samples for t in (sample.query, *sample.candidates)))
        column = {text: i for i, text in enumerate(used)}
        rows = [self._rows[text] for text in used]
        groups = forward_passes([len(row) for row in rows])
        parts = [self.network([rows[i] for i in group]) for group in groups]
        back = torch.empty(len(used), dtype=torch.long)
        back[[i for group in groups for i in group]] = torch.arange(len(used))
        vectors = torch.nn.functional.normalize(torch.cat(parts).float(), dim=-1)[back.to(parts[0].device)]
        # Half precision rounds logits of ten and more by as much as candidates differ.
        with torch.autocast(vectors.device.type, enabled=False):
            return self._loss_of_vectors(samples, column, vectors)

    def _loss_of_vectors(
        self, samples: Sequence[IndexedSample], column: Mapping[int, int], vectors: torch.Tensor
    ) -> torch.Tensor:
        device = vectors.device
        candidates = candidate_batch(samples, column, device)
        queries = vectors[torch.tensor([column[sample.query] for sample in samples], device=device)]
        cosines = queries @ vectors.T
        logits = cosines.gather(1, candidates.columns) / self._temperature - candidates.costs
        if self._settings.loss == "listwise":
            return listwise(logits, candidates)
        if self._settings.loss == "cross-entropy":
            return cross_entropy(logits, candidates)
        some = torch.zeros(len(column), dtype=torch.bool, device=device)
        some[candidates.columns[candidates.mask]] = True
        others = some.repeat(len(samples), 1)
        others.scatter_(1, candidates.columns, False)
        return nt_xent(logits, candidates, cosines, others, self._temperature)

    def validated(self) -> Mapping[str, float]:
        """Validate the network."""
        if self._validate is None:
            return {}
        self.network.eval()
        figures = self._validate()
        self.network.train()
        monitor = self.monitored(figures)
        if monitor not in figures:
            known = ", ".join(sorted(figures)) or "none"
            raise DriverError(f"the validation has no metric {monitor!r}; monitor one of {known}")
        return figures

    def fault(self, batch: list[int], what: str) -> str:
        """Write a batch to a file, and name the file."""
        file = self._folder / "broken-batch.json"
        texts = self._data.texts
        content = [
            {
                "query": texts[sample.query],
                "candidates": [texts[t] for t in sample.candidates],
                "targets": list(sample.targets),
            }
            for sample in (self._data.samples[i] for i in batch)
        ]
        file.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        return (
            f"{what} at update {self.global_step + 1}; the batch is in {file}; lower learning_rate, or look for"
            " unusual texts in the batch"
        )


def candidate_batch(
    samples: Sequence[IndexedSample], column: Mapping[int, int], device: torch.device
) -> CandidateBatch:
    """Pad the candidates of samples to tensors.

    Args:
        samples: Samples of the batch.
        column: Position of each text of the batch, by number of the text.
        device: Device of the tensors.
    """
    most = max(len(sample.candidates) for sample in samples)
    columns = np.zeros((len(samples), most), dtype=np.int64)
    targets, costs = np.zeros((len(samples), most), np.float32), np.zeros((len(samples), most), np.float32)
    mask = np.zeros((len(samples), most), dtype=bool)
    for i, sample in enumerate(samples):
        size = len(sample.candidates)
        columns[i, :size] = [column[text] for text in sample.candidates]
        # Padding points at a candidate of its own row, so that nt-xent does not count it as another sample's.
        columns[i, size:] = columns[i, 0]
        targets[i, :size] = sample.targets
        costs[i, :size] = sample.costs or 0.0
        mask[i, :size] = True
    return CandidateBatch(*(torch.from_numpy(array).to(device) for array in (columns, targets, costs, mask)))
