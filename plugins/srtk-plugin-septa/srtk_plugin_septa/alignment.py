"""Lightning module that aligns subgraphs with their texts by the two-way InfoNCE loss (SEPTA).

Importing it imports lightning and torch, which takes seconds.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path as FilePath
from typing import Any

import numpy as np
import torch
from srtk_plugin_training.learner import Learner

from srtk_plugin_septa.fine_tuning import half
from srtk_plugin_septa.fit_settings import SeptaFitSettings
from srtk_plugin_septa.model import GRAPH, TEXT
from srtk_plugin_septa.network import Batch, GraphNetwork, begin_as_identity
from srtk_plugin_septa.pairs import Pairs, recall
from srtk_plugin_septa.shape import Ints, Shape
from srtk_plugin_septa.views import side_by_side

TEMPERATURE = 0.07  # Divides the cosines of the loss
# Most subgraphs around its nodes that stand beside a subgraph in a batch, as they are its hardest negatives.
NEIGHBOURS = 3
_AT_ONCE = 256  # Pairs of a validation batch, which are its negatives


def info_nce(
    graphs: torch.Tensor, texts: torch.Tensor, temperature: float, held: torch.Tensor | None = None
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the InfoNCE losses from graph to text and back, by cosine, with the others of the batch as negatives.

    ``held`` [n, n] says whether the text of a column is also true of the subgraph of a row; such pairs are no
    negatives. By default each text is true of its own subgraph alone.
    """
    e, h = torch.nn.functional.normalize(graphs, dim=1), torch.nn.functional.normalize(texts, dim=1)
    scores = e @ h.T / temperature
    if held is not None:
        others = held & ~torch.eye(len(held), dtype=torch.bool, device=held.device)
        scores = scores.masked_fill(others, -math.inf)
    own = torch.arange(len(scores), device=scores.device)
    return torch.nn.functional.cross_entropy(scores, own), torch.nn.functional.cross_entropy(scores.T, own)


def part_of(numbers: Ints, rank: int, count: int) -> Ints:
    """Return the part of a batch that a device encodes; all are equally long, by repeating the last number."""
    size = -(-len(numbers) // count)
    own = numbers[rank * size : (rank + 1) * size]
    return np.concatenate([own, np.repeat(numbers[-1:], size - len(own))])


class AlignmentModule(Learner):
    """The graph network and the text head, trained on pairs of subgraphs and texts; ``text`` learns too, if given.

    The loss of the validation pairs chooses the best epoch; without such pairs it is the last epoch.
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
        text: Any = None,
    ) -> None:
        super().__init__(settings, folder, seed)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.graph = GraphNetwork(shape)
            self.head = torch.nn.Linear(shape.input, shape.dimensions)
        begin_as_identity(self.head)
        self.text = text
        self._pairs, self._learning, self._validation = pairs, learning, validation

    def batches(self) -> list[Ints]:
        """Return the batches of this epoch for all devices, by the seed and the epoch alone; devices divide each."""
        rng = np.random.default_rng((self._seed, self.current_epoch))
        order = side_by_side(self._learning, self._pairs.near, NEIGHBOURS, rng)
        size = self._settings.batch_size * self.trainer.world_size
        # A last pair alone has no negatives.
        return [order[start : start + size] for start in range(0, len(order), size) if len(order) - start > 1]

    def encoded(self, numbers: Ints) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the vectors of some pairs' subgraphs, and of their texts."""
        return self._subgraphs(numbers), self._texts(self._pairs.texts[numbers])

    def encoded_by_all(self, numbers: Ints) -> tuple[torch.Tensor, torch.Tensor]:
        """Encode pairs like ``encoded``; each device encodes an equal part of the subgraphs.

        Each device computes the whole loss, and the gradient of a vector is summed over devices. So the mean that DDP
        takes is the gradient of the whole batch.
        """
        count = self.trainer.world_size
        if count == 1:
            return self.encoded(numbers)
        own = self._subgraphs(part_of(numbers, self.global_rank, count))
        found: Any = self.all_gather(own, sync_grads=True)
        return found.flatten(0, 1)[: len(numbers)], self._texts(self._pairs.texts[numbers])

    def _texts(self, rows: np.ndarray) -> torch.Tensor:
        if self.text is None:
            vectors = self._tensor(rows)
        else:
            with half(self.device):
                vectors = self.text(rows.tolist())
        found: torch.Tensor = self.head(vectors)
        return found

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

    def loss_of(self, batch: Ints, number: int) -> tuple[torch.Tensor, int]:
        """Return the loss of a batch; all batches weigh the same in the mean."""
        rng = np.random.default_rng((self._seed, self.current_epoch, number))
        return self.loss(batch, *self.encoded_by_all(batch), rng), 1

    def loss(self, numbers: Ints, graphs: torch.Tensor, texts: torch.Tensor, rng: np.random.Generator) -> torch.Tensor:
        """Return the mean of both losses, plus the losses of drawn views, given the vectors of pairs."""
        same = self._pairs.same[numbers]
        found = [(texts, same[:, None] == same[None, :])]
        if self._pairs.views is not None:
            views = self._pairs.views.drawn(numbers, rng)
            found += [(self._texts(rows), held) for rows, held in views]
        losses = [info_nce(graphs, some, TEMPERATURE, torch.from_numpy(held).to(self.device)) for some, held in found]
        return torch.stack([(there + back) / 2 for there, back in losses]).sum()

    def validated(self) -> dict[str, float]:
        """Return the loss and the recall@1 of the validation pairs in both directions; nothing without any.

        The recall selects nothing: it is near 1 after an epoch where subgraphs differ much.
        """
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

    def weights(self) -> Mapping[str, torch.Tensor]:
        """Return the weights of the graph network, of the text head, and of the text encoder if it learns."""
        parts = {GRAPH: self.graph, "": self.head} | ({} if self.text is None else {TEXT: self.text})
        return {f"{begin}{name}": one for begin, part in parts.items() for name, one in part.state_dict().items()}

    def configure_optimizers(self) -> Any:
        """Return Adam, with a learning rate that falls by equal steps."""
        own = [*self.graph.parameters(), *self.head.parameters()]
        text = [] if self.text is None else [{"params": self.text.parameters(), "lr": self._settings.encoder_rate}]
        adam = torch.optim.Adam([{"params": own}, *text], lr=self._settings.learning_rate)
        epochs = self._settings.epochs
        return [adam], [torch.optim.lr_scheduler.LambdaLR(adam, lambda epoch: max(1 / epochs, 1 - epoch / epochs))]
