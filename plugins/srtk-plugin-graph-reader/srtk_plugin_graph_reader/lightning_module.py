"""Lightning module that trains the network on the answers of questions.

Importing it imports lightning and torch, which takes seconds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from srtk_plugin_training.learner import Learner

from srtk_framework.values import batched
from srtk_plugin_graph_reader.decision import Decision, Rated
from srtk_plugin_graph_reader.fit_settings import GraphFitSettings
from srtk_plugin_graph_reader.inputs import Floats, Lesson
from srtk_plugin_graph_reader.network import GraphBatch, GraphNetwork, loss_of, rated


class GraphModule(Learner):
    """The network, learnt by the cross-entropy of the nodes of each question; all questions have equal weight.

    Args:
        network: The network as it begins.
        lessons: Questions to learn from.
        held_out: Questions whose F1 selects the best epoch; without any, the last epoch counts.
        vectors: Vectors of the texts and labels.
        settings: Settings of the training.
        folder: Folder for the best weights.
        seed: Seed of the order of the questions.
    """

    monitor: ClassVar[str] = "held_out_f1"
    higher_is_better: ClassVar[bool] = True
    _settings: GraphFitSettings

    def __init__(
        self,
        network: GraphNetwork,
        lessons: Sequence[Lesson],
        held_out: Sequence[Lesson],
        vectors: Mapping[str, Floats],
        settings: GraphFitSettings,
        folder: Path,
        seed: int,
    ) -> None:
        super().__init__(settings, folder, seed)
        self.network = network
        self._lessons, self._held_out, self._vectors = lessons, held_out, vectors

    def batches(self) -> list[list[int]]:
        """Return the batches of this epoch, in an order that depends on the seed and the epoch alone."""
        order = np.random.default_rng((self._seed, self.current_epoch)).permutation(len(self._lessons))
        return [list(some) for some in batched(order.tolist(), self._settings.batch_size)]

    def loss_of(self, batch: list[int], number: int) -> tuple[torch.Tensor, int]:
        """Return the mean loss of the questions of a batch, and their number."""
        lessons = [self._lessons[place] for place in batch]
        joined = GraphBatch.of([one.given for one in lessons], self._vectors).to(self.device)
        gold = torch.from_numpy(np.concatenate([one.gold for one in lessons])).to(self.device)
        ratings, _ = self.network(joined)
        return loss_of(ratings, gold, joined.owner, len(lessons)), len(lessons)

    def validated(self) -> Mapping[str, float]:
        """Return the mean F1 on the questions held out, at the best threshold for them."""
        if not self._held_out:
            return {}
        found = self.rated(self._held_out)
        best = Decision.best(found)
        return {"held_out_f1": sum(map(best.f1, found)) / len(found)}

    def rated(self, lessons: Sequence[Lesson]) -> list[Rated]:
        """Rate the nodes of questions."""
        self.network.eval()
        found = [
            Rated(rated(self.network, one.given, self._vectors, self.device)[0], one.gold, one.missing)
            for one in lessons
        ]
        self.network.train()
        return found

    def weights(self) -> Mapping[str, torch.Tensor]:
        """Return the weights of the network."""
        found: Mapping[str, torch.Tensor] = self.network.state_dict()
        return found

    def configure_optimizers(self) -> Any:
        """Return Adam, with a learning rate that falls by equal steps."""
        adam = torch.optim.Adam(self.parameters(), lr=self._settings.learning_rate)
        epochs = self._settings.epochs
        return [adam], [torch.optim.lr_scheduler.LambdaLR(adam, lambda epoch: max(1 / epochs, 1 - epoch / epochs))]
