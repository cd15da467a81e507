"""The LightningModule of the dense scorer; needs lightning and torch, so it is imported only when wanted."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path as FilePath
from typing import Any

import lightning
import numpy as np
import torch

from srtk_framework.values import DriverError
from srtk_plugin_sr import losses
from srtk_plugin_sr.batching import Schedule, passes
from srtk_plugin_sr.fit_settings import Item, Material, Training

_LEAST_GAIN = 0.0005
_LEAST_SAVING = 0.01
_FLOOR = 0.1
_CLIP = 1.0

Validate = Callable[[], Mapping[str, float]]


class Round:
    """The batches of one round, as Lightning reads them."""

    def __init__(self, rows: Sequence[list[int]]) -> None:
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[list[int]]:
        return iter(self._rows)


class ScorerModule(lightning.LightningModule):
    """Learns in rounds; what Lightning calls an epoch is a round, so that every checkpoint lies between two of them.

    Args:
        network: Token rows to vectors.
        material: What is learnt from.
        training: The settings.
        schedule: The batches.
        temperature: Divides cosines.
        validate: Asked after each round on the first device; None for no validation.
        folder: For the best weights, and for a batch that breaks the training.
        seed: Of dropout.
    """

    def __init__(
        self,
        network: torch.nn.Module,
        material: Material,
        rows: Sequence[Sequence[int]],
        training: Training,
        schedule: Schedule,
        temperature: float,
        validate: Validate | None,
        folder: FilePath,
        seed: int,
    ) -> None:
        super().__init__()
        self.network = network
        self.best = -math.inf
        self.size = math.inf
        self.best_round = -1
        self.waited = 0
        self.figures: dict[str, float] = {}
        self.history: list[dict[str, float]] = []
        self._material, self._rows, self._training, self._schedule = material, rows, training, schedule
        self._temperature, self._validate, self._folder, self._seed = temperature, validate, folder, seed
        self._losses: list[float] = []
        self._doing: list[int] = []

    def train_dataloader(self) -> Round:
        """Return the batches of this round for this device."""
        return Round(self._schedule.round(self.current_epoch, self.global_rank))

    def on_train_epoch_start(self) -> None:
        """Seed what is random by the round alone, so that a training that was stopped goes on as it would have."""
        torch.manual_seed(self._seed * 1_000_003 + self.current_epoch * 101 + self.global_rank)
        self._losses = []

    def training_step(self, batch: list[int], batch_idx: int) -> torch.Tensor:
        """Return the loss of one batch."""
        self._doing = batch
        loss = self._loss([self._material.items[i] for i in batch])
        value = float(loss.detach())
        if not math.isfinite(value):
            self._broken(f"the loss is {value}")
        self._losses.append(value)
        self.log("loss", value, prog_bar=True, batch_size=len(batch))
        return loss

    def on_before_optimizer_step(self, optimizer: torch.optim.Optimizer) -> None:
        """Clip the gradient, and refuse one that is not finite."""
        norm = float(torch.nn.utils.clip_grad_norm_([p for p in self.parameters() if p.requires_grad], _CLIP))
        if not math.isfinite(norm):
            self._broken(f"the gradient's norm is {norm}")

    def on_train_epoch_end(self) -> None:
        """Validate, keep the best weights, and stop when it gets no better."""
        mean = float(np.mean(self._losses)) if self._losses else 0.0
        done = min((self.current_epoch + 1) * self._schedule.every, self._schedule.total)
        self.log("mean_loss", mean, sync_dist=self.trainer.world_size > 1, batch_size=1)
        figures = self._validated()
        for name, value in figures.items():
            self.log(name, value, batch_size=1, prog_bar=name == self._training.monitor)
        self.log("round", float(self.current_epoch), batch_size=1)
        self.history.append({"steps": float(done), "loss": mean, **figures})
        value = figures.get(self._training.monitor, float(self.current_epoch))
        size = figures.get("triples", 0.0)
        if self._better(value, size):
            self.best, self.size, self.best_round, self.waited = value, size, self.current_epoch, 0
            self.figures = {"steps": float(done), "loss": mean, **figures}
            if self.global_rank == 0:
                save_weights(self.network, self._folder)
        else:
            self.waited += 1
        if figures and self._training.patience is not None and self.waited >= self._training.patience:
            self.trainer.should_stop = True

    def _better(self, value: float, size: float) -> bool:
        """Tell whether a validation beats the best: by its metric, or as good with clearly fewer triples."""
        if value > self.best + _LEAST_GAIN:
            return True
        return value >= self.best and size < self.size * (1 - _LEAST_SAVING)

    def on_save_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        """Keep what tells the best round."""
        checkpoint["srtk"] = {
            "best": self.best,
            "size": self.size,
            "best_round": self.best_round,
            "waited": self.waited,
            "figures": self.figures,
            "history": self.history,
        }

    def on_load_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        """Take it up again."""
        for name, value in checkpoint["srtk"].items():
            setattr(self, name, value)

    def configure_optimizers(self) -> Any:
        """Return AdamW, and a learning rate that rises, then falls in a straight line."""
        settings = self._training
        learnt = [(name, p) for name, p in self.named_parameters() if p.requires_grad]
        plain = [p for _, p in learnt if p.ndim < 2]
        groups = [
            {"params": [p for _, p in learnt if p.ndim >= 2], "weight_decay": settings.weight_decay},
            {"params": plain, "weight_decay": 0.0},
        ]
        optimizer = torch.optim.AdamW(groups, lr=settings.learning_rate, fused=True)
        total = self._schedule.total
        rising = max(1, round(settings.warmup * total))

        def rate(step: int) -> float:
            if step < rising:
                return (step + 1) / rising
            return max(_FLOOR, 1 - (1 - _FLOOR) * (step - rising) / max(1, total - rising))

        schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, rate)
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": schedule, "interval": "step"}}

    def _loss(self, items: Sequence[Item]) -> torch.Tensor:
        """Encode each distinct text of the batch once, and compare."""
        used = list(dict.fromkeys(t for item in items for t in (item.query, *item.candidates)))
        column = {text: i for i, text in enumerate(used)}
        rows = [self._rows[text] for text in used]
        groups = passes([len(row) for row in rows])
        parts = [self.network([rows[i] for i in group]) for group in groups]
        back = torch.empty(len(used), dtype=torch.long)
        back[[i for group in groups for i in group]] = torch.arange(len(used))
        vectors = torch.nn.functional.normalize(torch.cat(parts).float(), dim=-1)[back.to(parts[0].device)]
        # Half precision would round logits of ten and more to what decides between candidates.
        with torch.autocast(vectors.device.type, enabled=False):
            return self._compared(items, column, vectors)

    def _compared(self, items: Sequence[Item], column: Mapping[int, int], vectors: torch.Tensor) -> torch.Tensor:
        device = vectors.device
        choices = _choices(items, column, device)
        queries = vectors[torch.tensor([column[item.query] for item in items], device=device)]
        cosines = queries @ vectors.T
        logits = cosines.gather(1, choices.columns) / self._temperature - choices.costs
        if self._training.loss == "listwise":
            return losses.listwise(logits, choices)
        if self._training.loss == "cross-entropy":
            return losses.cross_entropy(logits, choices)
        some = torch.zeros(len(column), dtype=torch.bool, device=device)
        some[choices.columns[choices.there]] = True
        others = some.repeat(len(items), 1)
        others.scatter_(1, choices.columns, False)
        return losses.nt_xent(logits, choices, cosines, others, self._temperature)

    def _validated(self) -> dict[str, float]:
        """Validate on the first device, and tell the others."""
        if self._validate is None:
            return {}
        found: list[Any] = [None]
        if self.global_rank == 0:
            self.network.eval()
            found = [dict(self._validate())]
            self.network.train()
        if self.trainer.world_size > 1:
            torch.distributed.broadcast_object_list(found, src=0)
        figures: dict[str, float] = found[0]
        if self._training.monitor not in figures:
            known = ", ".join(sorted(figures)) or "none"
            raise DriverError(f"the validation has no metric {self._training.monitor!r}; monitor one of {known}")
        return figures

    def _broken(self, what: str) -> None:
        """Save the batch in hand and stop."""
        file = self._folder / "broken-batch.json"
        texts = self._material.texts
        items = [self._material.items[i] for i in self._doing]
        content = [
            {
                "query": texts[item.query],
                "candidates": [texts[t] for t in item.candidates],
                "targets": list(item.targets),
            }
            for item in items
        ]
        file.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        raise DriverError(
            f"{what} at update {self.global_step + 1}; its batch is in {file}; lower learning_rate, or look for odd"
            " texts in the batch"
        )


def _choices(items: Sequence[Item], column: Mapping[int, int], device: torch.device) -> losses.Choices:
    most = max(len(item.candidates) for item in items)
    columns = np.zeros((len(items), most), dtype=np.int64)
    targets, costs = np.zeros((len(items), most), np.float32), np.zeros((len(items), most), np.float32)
    there = np.zeros((len(items), most), dtype=bool)
    for i, item in enumerate(items):
        size = len(item.candidates)
        columns[i, :size] = [column[text] for text in item.candidates]
        # Padding points at a candidate of its own row.
        columns[i, size:] = columns[i, 0]
        targets[i, :size] = item.targets
        costs[i, :size] = item.costs or 0.0
        there[i, :size] = True
    return losses.Choices(*(torch.from_numpy(array).to(device) for array in (columns, targets, costs, there)))


def save_weights(network: torch.nn.Module, folder: FilePath) -> None:
    """Write the weights as the best so far; complete before the file gets its name."""
    from safetensors.torch import save_file

    part = folder / "best.safetensors.part"
    state = {name: value.detach().cpu().contiguous().clone() for name, value in network.state_dict().items()}
    save_file(state, part)
    part.replace(folder / "best.safetensors")


def load_weights(network: torch.nn.Module, folder: FilePath) -> None:
    """Read the best weights back."""
    from safetensors.torch import load_file

    network.load_state_dict(load_file(folder / "best.safetensors"))
