"""Relational message passing over the label vectors of subgraphs, and the two linear heads of the common space.

Importing it imports torch, which takes seconds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch

from srtk_plugin_septa.shape import Arrays, Ints, Shape


class Batch(NamedTuple):
    """Subgraphs laid end to end.

    Attributes:
        nodes: Label vectors of the nodes of all subgraphs, [nodes, input].
        relations: Label vectors of relations, [relations, input].
        of_relation: Place of each triple's relation in ``relations``.
        subjects: Place of each triple's subject in ``nodes``.
        objects: Place of each triple's object in ``nodes``.
        of_node: Number of each node's subgraph.
        of_triple: Number of each triple's subgraph.
        centres: Place of each subgraph's centre in ``nodes``.
    """

    nodes: torch.Tensor
    relations: torch.Tensor
    of_relation: torch.Tensor
    subjects: torch.Tensor
    objects: torch.Tensor
    of_node: torch.Tensor
    of_triple: torch.Tensor
    centres: torch.Tensor

    @classmethod
    def of(
        cls, subgraphs: Sequence[Arrays], nodes: torch.Tensor, relations: torch.Tensor, of_relation: Ints | None = None
    ) -> Batch:
        """Lay subgraphs end to end.

        ``of_relation`` is the place of each triple's relation among the relations; None if each triple has a
        row of its own.
        """
        sizes = np.array([len(one.nodes) for one in subgraphs])
        counts = np.array([len(one.triples) for one in subgraphs])
        before = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)
        ends = np.concatenate([one.triples[:, ::2] + start for one, start in zip(subgraphs, before, strict=True)])
        at = nodes.device
        places = np.arange(len(relations)) if of_relation is None else of_relation
        return cls(
            nodes,
            relations,
            torch.from_numpy(places).to(at),
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
        # Relations repeat: each is transformed once.
        there, back = (
            one(batch.relations)[batch.of_relation] for one in (self.forward_relation, self.backward_relation)
        )
        to_objects = self.forward_end(states)[batch.subjects] + there
        to_subjects = self.backward_end(states)[batch.objects] + back
        places = torch.cat([batch.objects, batch.subjects])
        taken = means(torch.relu(torch.cat([to_objects, to_subjects])), places, len(states))
        result: torch.Tensor = self.norm(states + torch.relu(self.own(states) + taken))
        return result


class GraphNetwork(torch.nn.Module):
    """Encodes subgraphs.

    The linear head reads five vectors: the mean label of all triples, the mean label of the triples at the centre, the
    label of the centre, its state, and the mean of all states. A text that is cut is about the triples at the centre.
    The head begins with the first vector alone, so that an untrained network gives the mean of the labels: there graph
    and text already agree in part, and training goes on from there.
    """

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.first = torch.nn.Linear(shape.input, shape.hidden)
        self.mark = torch.nn.Parameter(torch.randn(shape.hidden) * 0.1)
        self.layers = torch.nn.ModuleList(_Layer(shape.hidden, shape.input) for _ in range(shape.layers))
        self.head = torch.nn.Linear(3 * shape.input + 2 * shape.hidden, shape.dimensions)
        begin_as_identity(self.head)

    def forward(self, batch: Batch) -> torch.Tensor:
        """Return a row for each subgraph, [subgraphs, dimensions]."""
        size = len(batch.centres)
        states = self.first(batch.nodes)
        states = states.index_add(0, batch.centres, self.mark.expand(size, -1))
        for layer in self.layers:
            states = layer(states, batch)
        words = (batch.nodes[batch.subjects] + batch.relations[batch.of_relation] + batch.nodes[batch.objects]) / 3
        labels = means(words, batch.of_triple, size)
        middles = batch.centres[batch.of_triple]
        near = (batch.subjects == middles) | (batch.objects == middles)
        own = means(words[near], batch.of_triple[near], size)
        # A subgraph without triples is its centre.
        bare, centres = torch.bincount(batch.of_triple, minlength=size)[:, None] == 0, batch.nodes[batch.centres]
        labels = torch.where(bare, centres, labels)
        # Of the length of label vectors: an update of the head would drown the labels otherwise.
        states = states / math.sqrt(states.shape[1])
        parts = [labels, own, centres, states[batch.centres], means(states, batch.of_node, size)]
        result: torch.Tensor = self.head(torch.cat(parts, dim=1))
        return result


def begin_as_identity(head: torch.nn.Linear) -> None:
    """Let a linear layer pass on its first inputs as they are."""
    torch.nn.init.eye_(head.weight)
    torch.nn.init.zeros_(head.bias)


def means(rows: torch.Tensor, of: torch.Tensor, size: int) -> torch.Tensor:
    """Return the mean of the rows of each group; 0 for a group without any."""
    sums = rows.new_zeros(size, rows.shape[1]).index_add(0, of, rows)
    return sums / torch.bincount(of, minlength=size).clamp(min=1)[:, None]
