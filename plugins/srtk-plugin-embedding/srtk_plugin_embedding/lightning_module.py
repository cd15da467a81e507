"""Lightning module that trains an embedding by the cross-entropy of answers against other entities.

Importing it imports lightning and torch, which takes seconds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path as FilePath
from typing import Any

import lightning
import numpy as np
import numpy.typing as npt
import torch

from srtk_framework.values import DriverError
from srtk_plugin_embedding.fit_settings import EmbeddingFitSettings
from srtk_plugin_embedding.query_answers import Ints, QueryAnswers
from srtk_plugin_embedding.scoring import Kind, entity_scores, query_vectors, relation_width

_LEAST_GAIN = 0.0005
"""Difference of the MRR that counts as better."""
_SPREAD: Mapping[Kind, float] = {"complex": 1e-3, "hole": 1e-3, "rotate": 0.1}
"""Standard deviation of the first vectors."""

Vectors = npt.NDArray[np.float32]
Validate = Callable[[Vectors, Vectors], Mapping[str, float]]


class EpochLoader:
    """Data loader over the batches of one epoch."""

    def __init__(self, order: Ints, size: int) -> None:
        self._order, self._size = order, size

    def __len__(self) -> int:
        return -(-len(self._order) // self._size)

    def __iter__(self) -> Iterator[Ints]:
        return (self._order[start : start + self._size] for start in range(0, len(self._order), self._size))


class EmbeddingModule(lightning.LightningModule):
    """Vectors of entities and relations, learnt from the queries of a table.

    The loss of a triple is the negative logarithm of the softmax share of its answer among all entities (1-N scoring
    with cross-entropy, Lacroix et al. 2018, section 4.1), plus the regulariser. Triples with the same query stand in
    the same batch, so that their scores are computed once. With ``negatives`` the other entities' part of the sum is
    estimated from a sample.

    Args:
        kind: The scoring function.
        queries: Queries with their answers.
        entities: Number of entities.
        relations: Number of relations.
        settings: Settings of the training.
        validate: Called with the vectors of entities and relations; returns metrics, among them ``mrr``. None for no
            validation.
        folder: Folder for the best weights.
        seed: Seed of the first vectors, of the order of queries and of the negatives.
    """

    def __init__(
        self,
        kind: Kind,
        queries: QueryAnswers,
        entities: int,
        relations: int,
        settings: EmbeddingFitSettings,
        validate: Validate | None,
        folder: FilePath,
        seed: int,
    ) -> None:
        super().__init__()
        drawn = torch.Generator().manual_seed(seed)
        width = settings.dimensions
        first = torch.randn(entities, width, generator=drawn) * _SPREAD[kind]
        shape = (2 * relations, relation_width(kind, width))
        if kind == "rotate":
            steps = (torch.rand(shape, generator=drawn) * 2 - 1) * math.pi
        else:
            steps = torch.randn(shape, generator=drawn) * _SPREAD[kind]
        self.entities, self.relations = torch.nn.Parameter(first), torch.nn.Parameter(steps)
        self.best, self.waited, self.stopped = -math.inf, 0, False
        self.figures: dict[str, float] = {}
        self._kind, self._queries, self._settings = kind, queries, settings
        self._validate, self._folder, self._seed = validate, folder, seed
        self._losses: list[tuple[float, int]] = []

    def train_dataloader(self) -> EpochLoader:
        """Return the batches of this epoch, in an order that depends on the seed and the epoch alone."""
        order = np.random.default_rng((self._seed, self.current_epoch)).permutation(len(self._queries))
        return EpochLoader(order, self._settings.batch_size)

    def on_train_epoch_start(self) -> None:
        """Start the mean of the losses anew."""
        self._losses = []

    def training_step(self, batch: Ints, batch_idx: int) -> torch.Tensor:
        """Return the mean loss of the triples of a batch of queries.

        Raises:
            DriverError: If it is not finite.
        """
        answers, rows = self._queries.of_queries(batch)
        loss = self._loss(batch, answers, rows, np.random.default_rng((self._seed, self.current_epoch, batch_idx)))
        value = float(loss.detach())
        if not math.isfinite(value):
            raise DriverError(
                f"the loss is {value} in epoch {self.current_epoch + 1}; lower learning_rate or raise regulariser"
            )
        self._losses.append((value, len(answers)))
        return loss

    def _loss(self, batch: Ints, answers: Ints, rows: Ints, random: np.random.Generator) -> torch.Tensor:
        ends = self.entities[self._tensor(self._queries.ends[batch])]
        relations = self.relations[self._tensor(self._queries.steps[batch])]
        queries = query_vectors(torch, self._kind, ends, relations)
        answered = np.unique(answers)
        columns, shift = self._columns(answered, random)
        of_answers = self._tensor(np.searchsorted(answered, answers) if columns is not None else answers)
        compared = self.entities if columns is None else self.entities[self._tensor(columns)]
        scores = entity_scores(torch, self._kind, queries, compared)
        counts = torch.bincount(self._tensor(rows), minlength=len(batch)).to(scores.dtype)
        own = scores[self._tensor(rows), of_answers]
        shifted = scores if shift is None else scores + self._tensor(shift)
        total = (counts * torch.logsumexp(shifted, dim=1)).sum() - own.sum()
        if self._settings.regulariser:
            times = self._tensor(np.bincount(np.searchsorted(answered, answers)).astype(np.float32))
            cubes = (counts * (self._cubes(ends) + self._relation_cubes(relations))).sum()
            cubes = cubes + (times * self._cubes(self.entities[self._tensor(answered)])).sum()
            total = total + self._settings.regulariser * cubes
        loss: torch.Tensor = total / len(answers)
        return loss

    def _columns(self, answered: Ints, random: np.random.Generator) -> tuple[Ints | None, Vectors | None]:
        """Draw the entities that are scored: the batch's answers, then others, none twice; None for all entities.

        The second value is added to the scores of the sum: each drawn entity stands for several that were not.
        """
        others = len(self.entities) - len(answered)
        wanted = self._settings.negatives
        if wanted is None or wanted >= others:
            return None, None
        free = np.ones(len(self.entities), dtype=bool)
        free[answered] = False
        drawn = random.choice(np.flatnonzero(free), wanted, replace=False)
        shift = np.zeros(len(answered) + wanted, dtype=np.float32)
        shift[len(answered) :] = math.log(others / wanted)
        return np.concatenate([answered, drawn]), shift

    def _cubes(self, vectors: torch.Tensor) -> torch.Tensor:
        """Return the sum of the cubed moduli of each row."""
        if self._kind == "hole":
            return vectors.abs().pow(3).sum(dim=1)
        half = vectors.shape[1] // 2
        squares = vectors[:, :half].square() + vectors[:, half:].square()
        return (squares + 1e-12).pow(1.5).sum(dim=1)

    def _relation_cubes(self, relations: torch.Tensor) -> torch.Tensor | float:
        return 0.0 if self._kind == "rotate" else self._cubes(relations)

    def _tensor(self, array: npt.NDArray[Any]) -> torch.Tensor:
        return torch.from_numpy(array).to(self.device)

    def on_train_epoch_end(self) -> None:
        """Validate every few epochs, keep the best vectors, and stop when they no longer improve."""
        done = self.current_epoch + 1
        triples = sum(count for _, count in self._losses)
        mean = sum(value * count for value, count in self._losses) / max(1, triples)
        self.log("loss", mean, prog_bar=True, batch_size=1)
        if done % self._settings.validate_every and done < self._settings.epochs:
            return
        figures = {} if self._validate is None else dict(self._validate(*self.vectors()))
        for name, value in figures.items():
            self.log(name, value, prog_bar=name == "mrr", batch_size=1)
        if not figures or figures["mrr"] > self.best + _LEAST_GAIN:
            self.best, self.waited = figures.get("mrr", 0.0), 0
            self.figures = {"epochs": float(done), "loss": mean, **figures}
            save_vectors(*self.vectors(), self._folder)
        else:
            self.waited += 1
        patience = self._settings.patience
        if (patience is not None and self.waited >= patience) or done >= self._settings.epochs:
            self.stopped = self.trainer.should_stop = True

    def vectors(self) -> tuple[Vectors, Vectors]:
        """Return the vectors of entities and relations."""
        entities, relations = (one.detach().cpu().numpy() for one in (self.entities, self.relations))
        return entities, relations

    def on_save_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        """Add the state of the validations to a checkpoint."""
        checkpoint["srtk"] = {name: getattr(self, name) for name in ("best", "waited", "stopped", "figures")}

    def on_load_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        """Restore the state of the validations from a checkpoint."""
        for name, value in checkpoint["srtk"].items():
            setattr(self, name, value)

    def configure_optimizers(self) -> torch.optim.Optimizer:
        """Return Adagrad, whose steps suit entities of few and of many triples."""
        return torch.optim.Adagrad(self.parameters(), lr=self._settings.learning_rate)


def save_vectors(entities: Vectors, relations: Vectors, folder: FilePath) -> None:
    """Write the best vectors so far, to a temporary file that is then renamed."""
    from safetensors.numpy import save_file

    part = folder / "best.safetensors.part"
    save_file({"entities": entities, "relations": relations}, part)
    part.replace(folder / "best.safetensors")
