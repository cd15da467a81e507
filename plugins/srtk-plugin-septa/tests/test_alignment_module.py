"""The parts of a training: batches, losses, validation, rates, and pairs in numbers."""

from __future__ import annotations

import math
from types import SimpleNamespace

import attrs
import numpy as np
import pytest
from srtk_plugin_local.memory import MemoryGraph
from srtk_plugin_septa.fit_settings import SeptaFitSettings
from srtk_plugin_septa.label_vectors import LabelVectors
from srtk_plugin_septa.model import SeptaModel
from srtk_plugin_septa.pairs import Pairs, recall
from srtk_plugin_septa.shape import Arrays, Shape
from srtk_plugin_septa.views import _drawn, side_by_side

from srtk_framework.testing import ToyEncoder
from srtk_framework.values import Entry, Triple

torch = pytest.importorskip("torch")
pytest.importorskip("lightning")

WIDTH = 16
FACTS = [Triple("hub", "has", f"leaf{n}") for n in range(9)]
ENTRIES = [
    Entry("hub", "a hub of many", tuple(FACTS)),
    *(Entry(f"leaf{n}", f"leaf {n} of it" if n else "a hub of many", (FACTS[n],)) for n in range(9)),
]


@pytest.fixture
def graph():
    made = MemoryGraph(triples=FACTS, labels={"hub": "Hub", "has": "owns"})
    made.open()
    return made


@pytest.fixture
def encoder():
    made = ToyEncoder(dimensions=WIDTH)
    made.open()
    return made


def module_of(pairs, folder, learning=10, text=None, epoch=0, devices=1, **changes):
    from srtk_plugin_septa.alignment import AlignmentModule

    class Alone(AlignmentModule):
        trainer = SimpleNamespace(world_size=devices)
        current_epoch = epoch

    settings = SeptaFitSettings(**{"batch_size": 3, "epochs": 4, **changes})
    numbers = np.arange(len(pairs))
    return Alone(Shape(WIDTH, WIDTH, 8), pairs, numbers[:learning], numbers[learning:], settings, folder, 5, text)


def test_pairs_have_the_vectors_of_their_labels_and_texts(graph, encoder, monkeypatch):
    pairs = Pairs.of(ENTRIES, graph, encoder)
    for entry, one, nodes, relations in zip(ENTRIES, pairs.subgraphs, pairs.nodes, pairs.relations, strict=True):
        names = ["Hub" if node == "hub" else node for node in one.nodes]
        assert np.array_equal(pairs.labels[nodes], encoder.encode(names))
        assert np.array_equal(pairs.labels[relations], encoder.encode(["owns"] * len(entry.triples)))
    assert np.array_equal(pairs.texts, encoder.encode([entry.text for entry in ENTRIES]))
    same = pairs.same[:, None] == pairs.same[None, :]
    assert same.tolist() == [[one.text == other.text for other in ENTRIES] for one in ENTRIES]
    monkeypatch.setattr("srtk_plugin_septa.pairs._AT_ONCE", 2)
    parts = Pairs.of(ENTRIES, graph, encoder)
    assert np.array_equal(parts.labels, pairs.labels)
    assert np.array_equal(parts.texts, pairs.texts)


@pytest.mark.parametrize("columns", [None, 1, 2, 3, 99])
def test_recall_is_counted_each_way_whatever_is_compared_at_a_time(columns):
    graphs = np.array([[1, 0.1], [1, 0], [0, 2]], dtype=np.float32)
    texts = np.array([[1, 1], [3, 0.5], [0, 0.1]], dtype=np.float32)
    # The texts nearest to the subgraphs are 1, 1 and 2; the subgraphs nearest to the texts are 0, 0 and 2.
    there, back = recall(graphs, texts, np.array([0, 1, 2]), columns)
    assert (there, back) == pytest.approx((2 / 3, 2 / 3))
    assert recall(graphs, texts, np.array([0, 0, 2]), columns) == pytest.approx((1, 1))
    assert recall(graphs[:0], texts[:0], np.array([], dtype=np.int64), columns) == (0.0, 0.0)


def test_recall_of_one_way_may_differ_from_that_of_the_way_back():
    graphs = np.array([[1, 0], [0.9, 0.5]], dtype=np.float32)
    texts = np.array([[1, 0.1], [1, 0.2]], dtype=np.float32)
    assert recall(graphs, texts, np.array([0, 1])) == pytest.approx((1.0, 0.5))


def test_batches_have_all_pairs_in_an_order_of_their_own_for_each_epoch_but_no_last_pair_alone(
    graph, encoder, tmp_path
):
    pairs = Pairs.of(ENTRIES, graph, encoder)
    batches = [batch.tolist() for batch in module_of(pairs, tmp_path).batches()]
    assert [len(batch) for batch in batches] == [3, 3, 3]  # the tenth would be alone
    order = side_by_side(np.arange(10), pairs.near, 3, np.random.default_rng((5, 0))).tolist()
    assert [number for batch in batches for number in batch] == order[:9]
    assert [len(batch) for batch in module_of(pairs, tmp_path, devices=2).batches()] == [6, 4]
    assert [len(batch) for batch in module_of(pairs, tmp_path, learning=8).batches()] == [3, 3, 2]
    assert [batch.tolist() for batch in module_of(pairs, tmp_path, epoch=1).batches()] != batches


def test_devices_get_equal_parts_of_a_batch_by_repeating_its_last_pair():
    from srtk_plugin_septa.alignment import part_of

    assert [part_of(np.arange(5), rank, 2).tolist() for rank in range(2)] == [[0, 1, 2], [3, 4, 4]]
    assert [part_of(np.arange(3), rank, 4).tolist() for rank in range(4)] == [[0], [1], [2], [2]]
    assert [part_of(np.arange(4), rank, 2).tolist() for rank in range(2)] == [[0, 1], [2, 3]]


def cross_entropy(scores, own):
    return math.log(sum(map(math.exp, scores))) - scores[own]


def test_the_loss_is_the_mean_of_both_ways_by_the_temperature_and_views_add_theirs(graph, encoder, tmp_path):
    pairs = Pairs.of(ENTRIES, graph, encoder, views=2)
    module = module_of(attrs.evolve(pairs, views=None), tmp_path)
    e, h = torch.tensor([[1.0, 0.0], [0.6, 0.8]]), torch.tensor([[2.0, 0.0], [1.6, 1.2]])
    rows = [[1 / 0.07, 0.8 / 0.07], [0.6 / 0.07, 0.96 / 0.07]]
    there = [cross_entropy(row, at) for at, row in enumerate(rows)]
    back = [cross_entropy(row, at) for at, row in enumerate(zip(*rows, strict=True))]
    found = module.loss(np.array([1, 2]), e, h, np.random.default_rng(0))
    assert float(found) == pytest.approx((sum(there) + sum(back)) / 4, abs=1e-5)

    from srtk_plugin_septa.alignment import info_nce

    numbers = np.array([1, 2, 3])
    viewed = module_of(pairs, tmp_path)
    graphs, texts = viewed.encoded(numbers)
    parts = [(texts, np.eye(3, dtype=bool))]
    parts += [(viewed.head(torch.from_numpy(r)), held) for r, held in pairs.views.drawn(numbers, rng())]
    losses = [info_nce(graphs, some, 0.07, torch.from_numpy(held)) for some, held in parts]
    assert len(losses) == 3
    wanted = sum(float((one + other).detach()) / 2 for one, other in losses)
    assert float(viewed.loss(numbers, graphs, texts, rng()).detach()) == pytest.approx(wanted, abs=1e-5)


def rng():
    return np.random.default_rng(1)


def test_views_are_drawn_anew_for_each_batch_of_each_epoch(graph, encoder, tmp_path):
    pairs = Pairs.of(ENTRIES, graph, encoder, views=9)
    numbers = np.arange(10)
    losses = {
        (epoch, number): float(module_of(pairs, tmp_path, epoch=epoch).loss_of(numbers, number)[0].detach())
        for epoch in (0, 1)
        for number in (0, 1)
    }
    assert len(set(losses.values())) == 4
    again, weight = module_of(pairs, tmp_path).loss_of(numbers, 0)
    assert (float(again.detach()), weight) == (losses[0, 0], 1)


def test_validation_pairs_have_figures_whatever_is_encoded_at_a_time_and_one_alone_has_none(
    graph, encoder, tmp_path, monkeypatch
):
    pairs = Pairs.of(ENTRIES, graph, encoder, views=3)
    module = module_of(pairs, tmp_path, learning=2)
    whole = module.validated()
    numbers = np.arange(2, 10)
    e, h = module.encoded(numbers)
    there, back = recall(e.detach().numpy(), h.detach().numpy(), pairs.same[numbers])
    loss = float(module.loss(numbers, e, h, np.random.default_rng(5)).detach())
    assert there != back
    assert whole == pytest.approx({"held_out_loss": loss, "graph_to_text": there, "text_to_graph": back})
    monkeypatch.setattr("srtk_plugin_septa.alignment._AT_ONCE", 3)
    assert module.validated() == pytest.approx(whole, abs=1e-5)
    assert module_of(pairs, tmp_path, learning=9).validated() == {}
    assert len(module_of(pairs, tmp_path, learning=8).validated()) == 3


def test_rates_fall_by_equal_steps_and_those_of_the_text_encoder_with_them(graph, encoder, tmp_path):
    text = torch.nn.Linear(2, 2)
    module = module_of(Pairs.of(ENTRIES, graph, encoder), tmp_path, text=text, learning_rate=0.8, encoder_rate=0.4)
    (adam,), (schedule,) = module.configure_optimizers()
    rates = []
    for _ in range(6):
        rates.append([group["lr"] for group in adam.param_groups])
        adam.step()
        schedule.step()
    assert rates == [pytest.approx([0.8 * part, 0.4 * part]) for part in (1, 0.75, 0.5, 0.25, 0.25, 0.25)]
    sizes = [sum(one.numel() for one in group["params"]) for group in adam.param_groups]
    assert sizes == [sum(one.numel() for one in [*module.graph.parameters(), *module.head.parameters()]), 6]
    names = {name.partition(".")[0] for name in module.weights()}
    assert names == {"graph", "weight", "bias", "text"}
    alone = module_of(Pairs.of(ENTRIES, graph, encoder), tmp_path)
    assert len(alone.configure_optimizers()[0][0].param_groups) == 1
    assert {name for name in alone.weights() if not name.startswith("graph.")} == {"weight", "bias"}


def test_equal_seeds_begin_with_equal_weights_and_an_untrained_head_passes_vectors_on(graph, encoder, tmp_path):
    pairs = Pairs.of(ENTRIES, graph, encoder)
    one, other = (module_of(pairs, tmp_path) for _ in range(2))
    for name, value in one.weights().items():
        assert torch.equal(value, other.weights()[name])
    torch.testing.assert_close(one.encoded(np.arange(10))[1].detach(), torch.from_numpy(pairs.texts))


def test_parts_are_drawn_in_their_shares():
    facts = tuple(Triple("c", "r", f"n{n}") for n in range(3)) + tuple(Triple("n0", "s", f"m{n}") for n in range(7))
    random = np.random.default_rng(0)
    drawn = [_drawn(Entry("c", "", facts), random) for _ in range(6000)]
    single = [(triples[0], lacks) for triples, lacks in drawn if len(triples) == 1]
    shares = [sum(lacks == kind for _, lacks in single) / 6000 for kind in range(3)]
    assert shares == pytest.approx([0.4, 0.2, 0.2], abs=0.03)
    sizes = [sum(len(triples) == size for triples, _ in drawn) / 6000 for size in (2, 3)]
    assert sizes == pytest.approx([0.1, 0.1], abs=0.03)
    assert all(lacks == 0 and len(set(triples)) == len(triples) for triples, lacks in drawn if len(triples) > 1)
    # 0.6 of them, and three of ten of the rest.
    assert sum(t.subject == "c" for t, _ in single) / len(single) == pytest.approx(0.72, abs=0.03)
    assert {triple for triple, _ in single} == set(facts)
    assert {len(_drawn(Entry("c", "", facts[:2]), random)[0]) for _ in range(200)} == {1, 2}
    assert {t for _ in range(99) for t in _drawn(Entry("far", "", facts), random)[0]} == set(facts)


def test_half_of_the_names_are_the_centres_and_all_nodes_are_named(graph, encoder):
    pairs = Pairs.of(ENTRIES, graph, encoder, views=4)
    random = np.random.default_rng(0)
    names = np.concatenate([pairs.views.drawn(np.zeros(50, dtype=np.int64), random)[1][0] for _ in range(40)])
    rows = pairs.labels[pairs.nodes[0]]
    counts = [np.sum(np.all(names == row, axis=1)) / len(names) for row in rows]
    assert counts[0] == pytest.approx(0.55, abs=0.05)  # and one of ten of the other half
    assert counts[1:] == [pytest.approx(0.05, abs=0.02)] * 9
    texts = np.concatenate([pairs.views.drawn(np.zeros(50, dtype=np.int64), random)[0][0] for _ in range(9)])
    assert len(np.unique(texts, axis=0)) == len(np.unique(pairs.views.texts[0], axis=0))


def test_recall_of_a_vector_without_direction_hides_no_other():
    graphs, texts = np.array([[0, 0], [0, 1]], dtype=np.float32), np.eye(2, dtype=np.float32)
    assert recall(graphs, texts, np.arange(2)) == (1.0, 1.0)


def test_a_subgraph_without_triples_has_the_label_of_its_centre_and_no_relation(graph, encoder):
    [(nodes, relations)] = LabelVectors(graph, encoder).of([Arrays.of([], "hub")])
    assert np.array_equal(nodes, encoder.encode(["Hub"]))
    assert (relations.shape, relations.dtype) == ((0, WIDTH), np.float32)


def test_a_network_for_use_neither_learns_nor_drops_out(encoder):
    network = SeptaModel.untrained(encoder).network()
    assert not network.training
    assert not any(one.requires_grad for one in network.parameters())
