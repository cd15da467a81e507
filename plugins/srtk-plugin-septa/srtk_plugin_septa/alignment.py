"""Lightning module that aligns subgraphs with their texts by the two-way InfoNCE loss (SEPTA).

Importing it imports lightning and torch, which takes seconds.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path as FilePath
from typing import Any

import lightning
import numpy as np
import torch

from srtk_framework.values import DriverError
from srtk_plugin_septa.fit_settings import SeptaFitSettings
from srtk_plugin_septa.model import tensors
from srtk_plugin_septa.network import Batch, GraphNetwork, begin_as_identity
from srtk_plugin_septa.pairs import Pairs, recall
from srtk_plugin_septa.shape import Ints, Shape
from srtk_plugin_septa.views import side_by_side

_LEAST_GAIN = 0.0005
"""Difference of the loss that counts as better."""
_AT_ONCE = 256


def info_nce(
    graphs: torch.Tensor, texts: torch.Tensor, temperature: float, held: torch.Tensor | None = None
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the InfoNCE losses from graph to text and back, by cosine, with the others of the batch as negatives.

    Args:
        graphs: Vectors of subgraphs, [n, d].
        texts: Vectors of their texts, [n, d].
        temperature: Divides the cosines.
        held: Whether the text of a column is true of the subgraph of a row, too, so that they are no negatives of each
            other, [n, n]. None if each is true of its own alone.
    """
    e, h = torch.nn.functional.normalize(graphs, dim=1), torch.nn.functional.normalize(texts, dim=1)
    scores = e @ h.T / temperature
    if held is not None:
        others = held & ~torch.eye(len(held), dtype=torch.bool, device=held.device)
        scores = scores.masked_fill(others, -math.inf)
    own = torch.arange(len(scores), device=scores.device)
    return torch.nn.functional.cross_entropy(scores, own), torch.nn.functional.cross_entropy(scores.T, own)


class EpochLoader:
    """Data loader over the batches of one epoch; a last pair alone, which has no negatives, is left out."""

    def __init__(self, order: Ints, size: int) -> None:
        starts = range(0, len(order), size)
        self._batches = [order[start : start + size] for start in starts if len(order) - start > 1]

    def __len__(self) -> int:
        return len(self._batches)

    def __iter__(self) -> Iterator[Ints]:
        return iter(self._batches)


def part_of(numbers: Ints, rank: int, count: int) -> Ints:
    """Return the part of a batch that a device encodes; all are equally long, by repeating the last number."""
    size = -(-len(numbers) // count)
    own = numbers[rank * size : (rank + 1) * size]
    return np.concatenate([own, np.repeat(numbers[-1:], size - len(own))])


class AlignmentModule(lightning.LightningModule):
    """The graph network and the text head, trained on pairs of subgraphs and texts.

    Args:
        shape: Sizes of the network.
        pairs: All pairs.
        learning: Numbers of the pairs to train on.
        validation: Numbers of those whose recall chooses the best epoch; none for the last epoch.
        settings: Settings of the training.
        folder: Folder for the best weights.
        seed: Seed of the first weights and of the order of pairs.
    """

    def __init__(
        self,
        shape: Shape,
        pairs: Pairs,
        learning: Ints,
        validation: Ints,
        settings: SeptaFitSettings,
        folder: FilePath,
        seed: int,
    ) -> None:
        super().__init__()
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.graph = GraphNetwork(shape)
            self.head = torch.nn.Linear(shape.input, shape.dimensions)
        begin_as_identity(self.head)
        self.best, self.waited, self.stopped = -math.inf, 0, False
        self.figures: dict[str, float] = {}
        self._pairs, self._learning, self._validation = pairs, learning, validation
        self._settings, self._folder, self._seed = settings, folder, seed
        self._losses: list[float] = []

    def train_dataloader(self) -> EpochLoader:
        """Return the batches of this epoch, in an order that depends on the seed and the epoch alone.

        Each is that of all devices, which divide it among them.
        """
        rng = np.random.default_rng((self._seed, self.current_epoch))
        order = side_by_side(self._learning, self._pairs.near, self._settings.neighbours, rng)
        return EpochLoader(order, self._settings.batch_size * self.trainer.world_size)

    def encoded(self, numbers: Ints) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the vectors of some pairs' subgraphs, and of their texts."""
        return self._subgraphs(numbers), self.head(self._tensor(self._pairs.texts[numbers]))

    def encoded_by_all(self, numbers: Ints) -> tuple[torch.Tensor, torch.Tensor]:
        """Return what ``encoded`` does, where each device encodes an equal part of the subgraphs.

        The gradient of a vector is the sum of those on all devices. Each has the whole loss, so that the mean of their
        gradients, which DDP takes, is that of the whole batch.
        """
        count = self.trainer.world_size
        if count == 1:
            return self.encoded(numbers)
        own = self._subgraphs(part_of(numbers, self.global_rank, count))
        found: Any = self.all_gather(own, sync_grads=True)
        return found.flatten(0, 1)[: len(numbers)], self.head(self._tensor(self._pairs.texts[numbers]))

    def _subgraphs(self, numbers: Ints) -> torch.Tensor:
        pairs = self._pairs
        nodes = pairs.labels[np.concatenate([pairs.nodes[i] for i in numbers])]
        relations, places = np.unique(np.concatenate([pairs.relations[i] for i in numbers]), return_inverse=True)
        subgraphs = [pairs.subgraphs[i] for i in numbers]
        batch = Batch.of(subgraphs, self._tensor(nodes), self._tensor(pairs.labels[relations]), places)
        found: torch.Tensor = self.graph(batch)
        return found

    def _tensor(self, array: Any) -> torch.Tensor:
        return torch.from_numpy(array).to(self.device)

    def on_train_epoch_start(self) -> None:
        """Start the mean of the losses anew."""
        self._losses = []

    def training_step(self, batch: Ints, batch_idx: int) -> torch.Tensor:
        """Return the loss of a batch.

        Raises:
            DriverError: If it is not finite.
        """
        loss = self.loss(
            batch, *self.encoded_by_all(batch), np.random.default_rng((self._seed, self.current_epoch, batch_idx))
        )
        value = float(loss.detach())
        if not math.isfinite(value):
            raise DriverError(f"the loss is {value} in epoch {self.current_epoch + 1}; lower learning_rate")
        self._losses.append(value)
        return loss

    def loss(self, numbers: Ints, graphs: torch.Tensor, texts: torch.Tensor, rng: np.random.Generator) -> torch.Tensor:
        """Return the mean of both losses, with those of drawn views added, given the vectors of pairs."""
        same = self._pairs.same[numbers]
        found = [(texts, same[:, None] == same[None, :])]
        if self._pairs.views is not None:
            views = self._pairs.views.drawn(numbers, rng)
            found += [(self.head(self._tensor(vectors)), held) for vectors, held in views]
        losses = [
            info_nce(graphs, some, self._settings.temperature, torch.from_numpy(held).to(self.device))
            for some, held in found
        ]
        return torch.stack([(there + back) / 2 for there, back in losses]).sum()

    def on_train_epoch_end(self) -> None:
        """Validate, keep the best weights, and stop when they no longer improve."""
        done = self.current_epoch + 1
        mean = sum(self._losses) / max(1, len(self._losses))
        self.log("loss", mean, prog_bar=True, batch_size=1)
        # One device decides for all, so that rounding never lets them differ.
        figures = self.trainer.strategy.broadcast(self.validated() if self.global_rank == 0 else {})
        for name, value in figures.items():
            self.log(name, value, batch_size=1)
        # Not the recall, which is near 1 after an epoch where subgraphs are easy to tell apart.
        now = -figures.get("held_out_loss", 0.0)
        if not figures or now > self.best + _LEAST_GAIN:
            self.best, self.waited = now, 0
            self.figures = {"epochs": float(done), "loss": mean, **figures}
            if self.global_rank == 0:
                self._keep()
        else:
            self.waited += 1
        patience = self._settings.patience
        if (patience is not None and self.waited >= patience) or done >= self._settings.epochs:
            self.stopped = self.trainer.should_stop = True

    def validated(self) -> dict[str, float]:
        """Return the loss and the recall@1 of the validation pairs in both directions; nothing without any."""
        if len(self._validation) < 2:
            return {}
        graphs: list[torch.Tensor] = []
        texts: list[torch.Tensor] = []
        with torch.no_grad():
            for start in range(0, len(self._validation), _AT_ONCE):
                e, h = self.encoded(self._validation[start : start + _AT_ONCE])
                graphs.append(e)
                texts.append(h)
            rows, columns = torch.cat(graphs), torch.cat(texts)
            # The same views after each epoch.
            loss = float(self.loss(self._validation, rows, columns, np.random.default_rng(self._seed)))
        numbers = self._pairs.same[self._validation]
        there, back = recall(rows.cpu().numpy(), columns.cpu().numpy(), numbers)
        return {"held_out_loss": loss, "graph_to_text": there, "text_to_graph": back}

    def _keep(self) -> None:
        """Write the best weights so far, to a temporary file that is then renamed."""
        from safetensors.numpy import save_file

        graph = {f"graph.{name}": value for name, value in tensors(self.graph).items()}
        part = self._folder / "best.safetensors.part"
        save_file({**graph, **tensors(self.head)}, part)
        part.replace(self._folder / "best.safetensors")

    def on_save_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        """Add the state of the validations to a checkpoint."""
        checkpoint["srtk"] = {name: getattr(self, name) for name in ("best", "waited", "stopped", "figures")}

    def on_load_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        """Restore the state of the validations from a checkpoint."""
        for name, value in checkpoint["srtk"].items():
            setattr(self, name, value)

    def configure_optimizers(self) -> Any:
        """Return Adam, and the learning rate of each epoch as a share of the first one."""
        adam = torch.optim.Adam(self.parameters(), lr=self._settings.learning_rate)
        epochs = self._settings.epochs
        return [adam], [torch.optim.lr_scheduler.LambdaLR(adam, lambda epoch: max(1 / epochs, 1 - epoch / epochs))]
