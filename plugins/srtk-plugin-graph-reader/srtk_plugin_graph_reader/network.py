"""The network: message passing from the topics of a question over the relations that its words attend to.

Importing it imports torch, which takes seconds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import attrs
import numpy as np
import torch
from torch.nn import functional

from srtk_plugin_graph_reader.inputs import FEATURES, Floats, GraphInput


@attrs.frozen(eq=False)
class GraphBatch:
    """Several questions with their subgraphs, as one graph.

    Attributes:
        words: Vectors of the question's words, [questions, words, d], 0 behind the last.
        lengths: Number of words, [questions].
        whole: Vectors of the whole questions, [questions, d].
        relations: Vectors of the relations, once for each direction, [steps, d].
        inverse: Whether a step goes against its triple's direction, [steps].
        asked: Question of each step, [steps].
        edges: Source, step and target, [edges, 3].
        features: What is known of each node, [nodes, FEATURES].
        owner: Question of each node, [nodes].
    """

    words: torch.Tensor
    lengths: torch.Tensor
    whole: torch.Tensor
    relations: torch.Tensor
    inverse: torch.Tensor
    asked: torch.Tensor
    edges: torch.Tensor
    features: torch.Tensor
    owner: torch.Tensor

    @classmethod
    def of(cls, inputs: Sequence[GraphInput], vectors: Mapping[str, Floats]) -> GraphBatch:
        """Join the inputs of questions, given the vectors of their texts and of the labels of their relations."""
        most = max(len(one.texts) - 1 for one in inputs) or 1
        width = len(vectors[inputs[0].texts[0]])
        words = np.zeros((len(inputs), most, width), dtype=np.float32)
        for row, one in zip(words, inputs, strict=True):
            for place, text in enumerate(one.texts[1:]):
                row[place] = vectors[text]
        relations = [vectors[relation] for one in inputs for relation in one.relations * 2]
        inverse = [side for one in inputs for side in (0, 1) for _ in one.relations]
        node, step, edges = 0, 0, []
        for one in inputs:
            edges.append(one.edges + np.array([node, step, node]))
            node, step = node + len(one.nodes), step + 2 * len(one.relations)
        places = range(len(inputs))
        return cls(
            torch.from_numpy(words),
            torch.tensor([max(1, len(one.texts) - 1) for one in inputs]),
            torch.from_numpy(np.stack([vectors[one.texts[0]] for one in inputs])),
            torch.from_numpy(np.stack(relations)),
            torch.tensor(inverse),
            torch.tensor([at for at in places for _ in range(2 * len(inputs[at].relations))]),
            torch.from_numpy(np.concatenate(edges)),
            torch.from_numpy(np.concatenate([one.features for one in inputs])),
            torch.tensor([at for at in places for _ in inputs[at].nodes]),
        )

    def to(self, device: torch.device) -> GraphBatch:
        """Move the tensors to a device."""
        return GraphBatch(**{field.name: getattr(self, field.name).to(device) for field in attrs.fields(GraphBatch)})


class GraphNetwork(torch.nn.Module):
    """Rate each node of a subgraph as an answer.

    In each round, an instruction is read from the question's words by attention. It opens or closes each step, a
    relation in a direction: its gate is the attention. Nodes have a state and a reach: the probability that a walk of
    as many steps with open gates leads there from a topic. The rating of a node is read from its states and reaches of
    all rounds. Nothing depends on which entity a node is, so that the network works on other graphs.

    Args:
        width: Dimensions of the encoder.
        hidden: Dimensions of the states, an even number.
        rounds: Number of rounds.
    """

    def __init__(self, width: int, hidden: int, rounds: int) -> None:
        super().__init__()
        self.rounds = rounds
        self.word = torch.nn.Linear(width, hidden)
        self.order = torch.nn.GRU(hidden, hidden // 2, batch_first=True, bidirectional=True)
        self.question = torch.nn.Linear(width, hidden)
        self.asks = torch.nn.ModuleList(torch.nn.Linear(2 * hidden, hidden) for _ in range(rounds))
        self.relation = torch.nn.Linear(width, hidden)
        self.direction = torch.nn.Parameter(torch.zeros(2, hidden).normal_(std=0.3))
        self.gate = torch.nn.Sequential(
            torch.nn.Linear(3 * hidden, hidden), torch.nn.ReLU(), torch.nn.Linear(hidden, 1)
        )
        self.start = torch.nn.Linear(FEATURES, hidden)
        self.carry = torch.nn.Linear(hidden, hidden)
        self.along = torch.nn.Linear(hidden, hidden)
        self.update = torch.nn.Linear(2 * hidden + 1, hidden)
        self.norm = torch.nn.LayerNorm(hidden)
        known = FEATURES + rounds
        self.rate = torch.nn.Sequential(
            torch.nn.Linear(hidden * (rounds + 1) + known, hidden), torch.nn.ReLU(), torch.nn.Linear(hidden, 1)
        )

    def forward(self, batch: GraphBatch) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the log-odds that each node is an answer, [nodes], and the gates, [rounds, steps]."""
        source, step, target = batch.edges.T
        whole = torch.tanh(self.question(batch.whole))
        packed = torch.nn.utils.rnn.pack_padded_sequence(
            torch.tanh(self.word(batch.words)), batch.lengths.cpu(), batch_first=True, enforce_sorted=False
        )
        words, _ = torch.nn.utils.rnn.pad_packed_sequence(self.order(packed)[0], batch_first=True)
        beyond = torch.arange(words.shape[1], device=words.device)[None] >= batch.lengths[:, None]
        relation = torch.tanh(self.relation(batch.relations) + self.direction[batch.inverse])
        state = torch.tanh(self.start(batch.features))
        reach = batch.features[:, 0]
        states, reaches, gates, told = [], [], [], whole
        for ask in self.asks:
            query = ask(torch.cat([whole, told], dim=1))
            weights = (words @ query[:, :, None]).squeeze(2) / words.shape[2] ** 0.5
            weights = weights.masked_fill(beyond, -torch.inf).softmax(dim=1)
            told = (weights[:, None] @ words).squeeze(1)
            asked = told[batch.asked]
            gate = torch.sigmoid(self.gate(torch.cat([relation * asked, relation, asked], dim=1))).squeeze(1)
            flow = gate[step] * reach[source]
            message = flow[:, None] * torch.relu(self.carry(state)[source] + self.along(relation * asked)[step])
            total = torch.zeros_like(reach).index_add(0, target, flow)
            taken = torch.zeros_like(state).index_add(0, target, message) / (total[:, None] + 1e-3)
            # A node is not reached where none of its walks is: a sum of logarithms, cut where a gate is wide open.
            missed = torch.zeros_like(reach).index_add(0, target, torch.log1p(-flow.clamp(max=0.999)))
            reach = 1 - torch.exp(missed)
            state = self.norm(torch.relu(self.update(torch.cat([state, taken, reach[:, None]], dim=1))))
            states.append(state * reach[:, None])
            reaches.append(reach[:, None])
            gates.append(gate)
        known = torch.cat([whole[batch.owner], *states, batch.features, *reaches], dim=1)
        return self.rate(known).squeeze(1), torch.stack(gates)


def loss_of(ratings: torch.Tensor, gold: torch.Tensor, owner: torch.Tensor, questions: int) -> torch.Tensor:
    """Return the binary cross-entropy: answers and other nodes of a question have equal weight together."""
    each = functional.binary_cross_entropy_with_logits(ratings, gold, reduction="none")
    zero = torch.zeros(questions, device=each.device)
    parts = []
    for side in (gold, 1 - gold):
        count = zero.index_add(0, owner, side)
        parts.append(zero.index_add(0, owner, each * side) / count.clamp(min=1))
    return (parts[0] + parts[1]).mean()


def rated(
    network: GraphNetwork, given: GraphInput, vectors: Mapping[str, Floats], device: torch.device | None = None
) -> tuple[Floats, Floats]:
    """Rate the nodes of one question, which is rated alone: in a batch, sums would round otherwise.

    Returns:
        The log-odds of each node, minus infinity for a topic; and the gates of each round, [rounds, steps].
    """
    with torch.no_grad():
        batch = GraphBatch.of([given], vectors)
        ratings, gates = network(batch if device is None else batch.to(device))
    found: Floats = ratings.cpu().numpy()
    found[given.topics] = -np.inf
    return found, gates.cpu().numpy()
