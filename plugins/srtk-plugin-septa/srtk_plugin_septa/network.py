"""Relational message passing over the label vectors of subgraphs, and the two linear heads of the common space.

Importing it imports torch, which takes seconds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch

from srtk_plugin_septa.shape import Arrays, Shape


class Batch(NamedTuple):
    """Subgraphs laid end to end.

    Attributes:
        nodes: Label vectors of the nodes of all subgraphs, [nodes, input].
        relations: Label vectors of the relations of all triples, [triples, input].
        subjects: Place of each triple's subject in ``nodes``.
        objects: Place of each triple's object in ``nodes``.
        of_node: Number of each node's subgraph.
        of_triple: Number of each triple's subgraph.
        centres: Place of each subgraph's centre in ``nodes``.
    """

    nodes: torch.Tensor
    relations: torch.Tensor
    subjects: torch.Tensor
    objects: torch.Tensor
    of_node: torch.Tensor
    of_triple: torch.Tensor
    centres: torch.Tensor

    @classmethod
    def of(cls, subgraphs: Sequence[Arrays], nodes: torch.Tensor, relations: torch.Tensor) -> Batch:
        """Lay subgraphs end to end, given the vectors of their nodes and relations."""
        sizes = np.array([len(one.nodes) for one in subgraphs])
        counts = np.array([len(one.triples) for one in subgraphs])
        before = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)
        ends = np.concatenate([one.triples[:, ::2] + start for one, start in zip(subgraphs, before, strict=True)])
        at = nodes.device
        return cls(
            nodes,
            relations,
            torch.from_numpy(np.ascontiguousarray(ends[:, 0])).to(at),
            torch.from_numpy(np.ascontiguousarray(ends[:, 1])).to(at),
            torch.from_numpy(np.repeat(np.arange(len(subgraphs)), sizes)).to(at),
            torch.from_numpy(np.repeat(np.arange(len(subgraphs)), counts)).to(at),
            torch.from_numpy(before).to(at),  # the centre is the first node
        )


class _Layer(torch.nn.Module):
    """Each node takes the mean of the messages of its triples, which depend on the other end and on the relation."""

    def __init__(self, width: int, labels: int) -> None:
        super().__init__()
        self.forward_end = torch.nn.Linear(width, width, bias=False)
        self.backward_end = torch.nn.Linear(width, width, bias=False)
        self.forward_relation = torch.nn.Linear(labels, width)
        self.backward_relation = torch.nn.Linear(labels, width)
        self.own = torch.nn.Linear(width, width)
        self.norm = torch.nn.LayerNorm(width)

    def forward(self, states: torch.Tensor, batch: Batch) -> torch.Tensor:
        to_objects = self.forward_end(states)[batch.subjects] + self.forward_relation(batch.relations)
        to_subjects = self.backward_end(states)[batch.objects] + self.backward_relation(batch.relations)
        places = torch.cat([batch.objects, batch.subjects])
        taken = means(torch.relu(torch.cat([to_objects, to_subjects])), places, len(states))
        result: torch.Tensor = self.norm(states + torch.relu(self.own(states) + taken))
        return result


class GraphNetwork(torch.nn.Module):
    """Encodes subgraphs.

    The linear head reads three vectors: the mean of the labels of all triples, the state of the centre, and the mean of
    all states. It begins with the first alone, so that an untrained network gives the mean of the labels: there graph
    and text already agree in part, and training goes on from there.
    """

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.first = torch.nn.Linear(shape.input, shape.hidden)
        self.mark = torch.nn.Parameter(torch.randn(shape.hidden) * 0.1)
        self.layers = torch.nn.ModuleList(_Layer(shape.hidden, shape.input) for _ in range(shape.layers))
        self.head = torch.nn.Linear(shape.input + 2 * shape.hidden, shape.dimensions)
        begin_as_identity(self.head)

    def forward(self, batch: Batch) -> torch.Tensor:
        """Return a row for each subgraph, [subgraphs, dimensions]."""
        size = len(batch.centres)
        states = self.first(batch.nodes)
        states = states.index_add(0, batch.centres, self.mark.expand(size, -1))
        for layer in self.layers:
            states = layer(states, batch)
        words = (batch.nodes[batch.subjects] + batch.relations + batch.nodes[batch.objects]) / 3
        labels = means(words, batch.of_triple, size)
        # A subgraph without triples is its centre.
        bare = torch.bincount(batch.of_triple, minlength=size)[:, None] == 0
        labels = torch.where(bare, batch.nodes[batch.centres], labels)
        # Of the length of label vectors: an update of the head would drown the labels otherwise.
        states = states / math.sqrt(states.shape[1])
        pooled = torch.cat([labels, states[batch.centres], means(states, batch.of_node, size)], dim=1)
        result: torch.Tensor = self.head(pooled)
        return result


def begin_as_identity(head: torch.nn.Linear) -> None:
    """Let a linear layer pass on its first inputs as they are."""
    torch.nn.init.eye_(head.weight)
    torch.nn.init.zeros_(head.bias)


def means(rows: torch.Tensor, of: torch.Tensor, size: int) -> torch.Tensor:
    """Return the mean of the rows of each group; 0 for a group without any."""
    sums = rows.new_zeros(size, rows.shape[1]).index_add(0, of, rows)
    return sums / torch.bincount(of, minlength=size).clamp(min=1)[:, None]
