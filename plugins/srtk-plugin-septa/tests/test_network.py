"""The graph network: its parts one by one, against sums over single triples."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from srtk_plugin_septa.network import Batch, GraphNetwork, means
from srtk_plugin_septa.shape import Arrays, Shape

from srtk_framework.values import Triple

WIDTH = 3
TRIPLES = [Triple("a", "r", "b"), Triple("c", "s", "a"), Triple("b", "r", "c"), Triple("b", "s", "b")]
SUBGRAPHS = [Arrays.of(TRIPLES, "a"), Arrays.of([], "d"), Arrays.of(TRIPLES[2:], "c")]
NAMES = ["r", "s"]
LABELS = {name: torch.randn(WIDTH, generator=torch.Generator().manual_seed(i)) for i, name in enumerate("abcdrs")}


def batch_of(subgraphs):
    nodes = torch.stack([LABELS[node] for one in subgraphs for node in one.nodes])
    places = np.array([NAMES.index(r) for one in subgraphs for r in one.relations], dtype=np.int64)
    return Batch.of(subgraphs, nodes, torch.stack([LABELS[name] for name in NAMES]), places)


def triples_of(one):
    return [
        (one.nodes[subject], relation, one.nodes[object_])
        for (subject, _, object_), relation in zip(one.triples.tolist(), one.relations, strict=True)
    ]


def words(triples):
    """Return the mean label of the parts of some triples."""
    rows = [(LABELS[s] + LABELS[r] + LABELS[o]) / 3 for s, r, o in triples]
    return torch.stack(rows).mean(0) if rows else torch.zeros(WIDTH)


def test_means_are_those_of_each_group_and_0_of_a_group_without_rows():
    rows = torch.tensor([[2.0, 4.0], [4.0, 8.0], [1.0, 1.0]])
    assert means(rows, torch.tensor([0, 0, 2]), 3).tolist() == [[3.0, 6.0], [0.0, 0.0], [1.0, 1.0]]


def test_an_untrained_network_gives_the_mean_of_the_labels_and_of_a_bare_centre_its_label():
    found = GraphNetwork(Shape(WIDTH, WIDTH, 8))(batch_of(SUBGRAPHS))
    wanted = torch.stack([words(triples_of(SUBGRAPHS[0])), LABELS["d"], words(triples_of(SUBGRAPHS[2]))])
    torch.testing.assert_close(found, wanted)


def read_by_the_head(part, **changes):
    """Return what the head reads at one of its five places, of a network whose states begin as labels."""
    network = GraphNetwork(Shape(WIDTH, WIDTH, WIDTH, **changes))
    with torch.no_grad():
        network.first.weight.copy_(torch.eye(WIDTH))
        network.first.bias.zero_()
        network.mark.copy_(torch.tensor([1.0, 2.0, 3.0]))
        network.head.weight.zero_()
        network.head.weight[:, WIDTH * part : WIDTH * (part + 1)] = torch.eye(WIDTH)
        return network, network(batch_of(SUBGRAPHS))


def test_the_head_reads_triples_at_the_centre_its_label_its_state_and_the_mean_state():
    triples, centres = [triples_of(one) for one in SUBGRAPHS], [one.nodes[0] for one in SUBGRAPHS]
    at_centre = [words([t for t in row if c in (t[0], t[2])]) for row, c in zip(triples, centres, strict=True)]
    torch.testing.assert_close(read_by_the_head(1)[1], torch.stack(at_centre))
    torch.testing.assert_close(read_by_the_head(2)[1], torch.stack([LABELS[c] for c in centres]))
    mark, root = torch.tensor([1.0, 2.0, 3.0]), math.sqrt(WIDTH)
    states = [[LABELS[n] + (mark if n == one.nodes[0] else 0) for n in one.nodes] for one in SUBGRAPHS]
    torch.testing.assert_close(read_by_the_head(3, layers=0)[1], torch.stack([row[0] for row in states]) / root)
    wanted = torch.stack([torch.stack(row).mean(0) for row in states]) / root
    torch.testing.assert_close(read_by_the_head(4, layers=0)[1], wanted)


def test_a_layer_adds_the_mean_of_the_messages_of_a_nodes_triples():
    torch.manual_seed(0)
    network, found = read_by_the_head(4, layers=1)
    (layer,) = network.layers
    wanted = []
    for one in SUBGRAPHS:
        states = {n: LABELS[n] + (network.mark if n == one.nodes[0] else 0) for n in one.nodes}
        new = []
        for node in one.nodes:
            heard = []
            for s, r, o in triples_of(one):
                if o == node:
                    heard.append(torch.relu(layer.forward_end(states[s]) + layer.forward_relation(LABELS[r])))
                if s == node:
                    heard.append(torch.relu(layer.backward_end(states[o]) + layer.backward_relation(LABELS[r])))
            taken = torch.stack(heard).mean(0) if heard else torch.zeros(WIDTH)
            new.append(layer.norm(states[node] + torch.relu(layer.own(states[node]) + taken)))
        wanted.append(torch.stack(new).mean(0) / math.sqrt(WIDTH))
    torch.testing.assert_close(found, torch.stack(wanted))


def test_the_mark_of_a_centre_begins_small_and_the_sizes_are_those_of_the_shape():
    torch.manual_seed(0)
    network = GraphNetwork(Shape(4, 5, 512, 3))
    assert float(network.mark.detach().std()) == pytest.approx(0.1, rel=0.15)
    assert (len(network.layers), network.head.weight.shape) == (3, (5, 3 * 4 + 2 * 512))
    assert len(GraphNetwork(Shape(4, 5)).layers) == 2


def test_of_a_message_the_relation_alone_has_a_bias():
    names = set(dict(GraphNetwork(Shape(WIDTH, WIDTH, 8, 1)).layers[0].named_parameters()))
    biased = {"forward_relation", "backward_relation", "own", "norm"}
    assert names == {f"{one}.{part}" for one in biased for part in ("weight", "bias")} | {
        "forward_end.weight",
        "backward_end.weight",
    }
