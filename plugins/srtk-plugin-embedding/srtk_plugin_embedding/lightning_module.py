"""Lightning module that trains an embedding by the cross-entropy of answers against other entities.

Importing it imports lightning and torch, which takes seconds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path as FilePath
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import torch
from srtk_plugin_training.learner import Learner

from srtk_framework.graph import TripleTable
from srtk_plugin_embedding.fit_settings import EmbeddingFitSettings
from srtk_plugin_embedding.query_answers import Ints, QueryAnswers
from srtk_plugin_embedding.scoring import Kind, entity_scores, query_vectors, relation_width

# Standard deviation of the first vectors; for products as small as Lacroix et al. (2018) begin.
_SPREAD: Mapping[Kind, float] = {"complex": 1e-3, "hole": 1e-3, "rotate": 0.1}

Vectors = npt.NDArray[np.float32]
Validate = Callable[[Vectors, Vectors], Mapping[str, float]]


class EmbeddingModule(Learner):
    """Vectors of entities and relations, learnt from the queries of a table.

    The loss of a triple is the negative logarithm of the softmax share of its answer among all entities (1-N scoring
    with cross-entropy, Lacroix et al. 2018, section 4.1), plus the regulariser. Triples with the same query stand in
    the same batch, so that their scores are computed once. With ``negatives`` the other entities' part of the sum is
    estimated from a sample.

    Args:
        kind: The scoring function.
        queries: Queries with their answers.
        table: Table that the queries were made from.
        settings: Settings of the training.
        validate: Called with the vectors of entities and relations; returns metrics, among them ``mrr``. None for no
            validation.
        folder: Folder for the best weights.
        seed: Seed of the first vectors, of the order of queries and of the negatives.
    """

    monitor: ClassVar[str] = "mrr"
    higher_is_better: ClassVar[bool] = True
    _settings: EmbeddingFitSettings

    def __init__(
        self,
        kind: Kind,
        queries: QueryAnswers,
        table: TripleTable,
        settings: EmbeddingFitSettings,
        validate: Validate | None,
        folder: FilePath,
        seed: int,
    ) -> None:
        super().__init__(settings, folder, seed)
        drawn = torch.Generator().manual_seed(seed)
        width = settings.dimensions
        first = torch.randn(len(table.entities), width, generator=drawn) * _SPREAD[kind]
        shape = (2 * len(table.relations), relation_width(kind, width))
        if kind == "rotate":
            steps = (torch.rand(shape, generator=drawn) * 2 - 1) * math.pi
        else:
            steps = torch.randn(shape, generator=drawn) * _SPREAD[kind]
        self.entities, self.relations = torch.nn.Parameter(first), torch.nn.Parameter(steps)
        self._kind, self._queries, self._validate = kind, queries, validate

    @property
    def every(self) -> int:
        """Epochs from one validation to the next."""
        return self._settings.validate_every

    def batches(self) -> list[Ints]:
        """Return the batches of this epoch, in an order that depends on the seed and the epoch alone."""
        order = np.random.default_rng((self._seed, self.current_epoch)).permutation(len(self._queries))
        size = self._settings.batch_size
        return [order[start : start + size] for start in range(0, len(order), size)]

    def loss_of(self, batch: Ints, number: int) -> tuple[torch.Tensor, int]:
        """Return the mean loss of the triples of a batch of queries, and their number."""
        answers, rows = self._queries.of_queries(batch)
        loss = self._loss(batch, answers, rows, np.random.default_rng((self._seed, self.current_epoch, number)))
        return loss, len(answers)

    def fault(self, batch: Ints, what: str) -> str:
        """Advise a stronger regulariser as well."""
        return f"{super().fault(batch, what)} or raise regulariser"

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
            # RotatE's relations are angles, which have no modulus to keep small.
            of_relations = 0.0 if self._kind == "rotate" else self._cubes(relations)
            cubes = (counts * (self._cubes(ends) + of_relations)).sum()
            cubes = cubes + (times * self._cubes(self.entities[self._tensor(answered)])).sum()
            total = total + self._settings.regulariser * cubes
        loss: torch.Tensor = total / len(answers)
        return loss

    def _columns(self, answered: Ints, random: np.random.Generator) -> tuple[Ints | None, Vectors | None]:
        """Draw the entities that are scored: the batch's answers, then further entities; None for all entities.

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
        # The root of 0 has no gradient.
        return (squares + 1e-12).pow(1.5).sum(dim=1)

    def _tensor(self, array: npt.NDArray[Any]) -> torch.Tensor:
        return torch.from_numpy(array).to(self.device)

    def validated(self) -> Mapping[str, float]:
        """Rank the held-out facts."""
        return {} if self._validate is None else self._validate(*self.vectors())

    def vectors(self) -> tuple[Vectors, Vectors]:
        """Return the vectors of entities and relations."""
        entities, relations = (one.detach().cpu().numpy() for one in (self.entities, self.relations))
        return entities, relations

    def configure_optimizers(self) -> torch.optim.Optimizer:
        """Return Adagrad, whose steps suit entities of few and of many triples."""
        return torch.optim.Adagrad(self.parameters(), lr=self._settings.learning_rate)
