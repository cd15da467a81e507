"""Views: the texts of parts of a subgraph, and which subgraphs hold them."""

from __future__ import annotations

import numpy as np
import pytest
from srtk_plugin_local.memory import MemoryGraph
from srtk_plugin_septa.pairs import Pairs
from srtk_plugin_septa.shape import Arrays
from srtk_plugin_septa.views import neighbours, side_by_side

from srtk_framework.testing import ToyEncoder
from srtk_framework.values import Entry, Triple

FACTS = [
    Triple("riga", "capital of", "latvia"),
    Triple("latvia", "currency", "euro"),
    Triple("euro", "used in", "oslo"),
]
ENTRIES = [
    Entry("riga", "riga is the capital of latvia", tuple(FACTS[:2])),
    Entry("latvia", "latvia has the euro", tuple(FACTS[:2])),
    Entry("oslo", "oslo has the euro", tuple(FACTS[2:])),
]


class Listening(ToyEncoder):
    """Keeps what it was given."""

    def open(self):
        super().open()
        self.given = []

    def encode(self, texts):
        self.given.extend(texts)
        return super().encode(texts)


@pytest.fixture
def encoder():
    driver = Listening(dimensions=16)
    driver.open()
    return driver


@pytest.fixture
def pairs(encoder):
    graph = MemoryGraph(triples=FACTS)
    graph.open()
    return Pairs.of(ENTRIES, graph, encoder, views=40)


def test_texts_are_clauses_that_may_lack_an_end(pairs, encoder):
    clauses = {"riga capital of latvia", "latvia currency euro", "euro used in oslo"}
    lacking = {
        "riga capital of",
        "capital of latvia",
        "latvia currency",
        "currency euro",
        "euro used in",
        "used in oslo",
    }
    both = {"riga capital of latvia. latvia currency euro", "latvia currency euro. riga capital of latvia"}
    labels = {"riga", "latvia", "euro", "oslo", "capital of", "currency", "used in"}
    assert set(encoder.given) - {e.text for e in ENTRIES} - labels == clauses | lacking | both


def test_each_text_is_encoded_once(pairs, encoder):
    assert len(encoder.given) == len(set(encoder.given))


def test_a_subgraph_holds_the_parts_of_its_own_and_of_no_other(pairs):
    views = pairs.views
    for vectors, held in views.drawn(np.arange(3), np.random.default_rng(0)):
        assert vectors.shape == (3, 16)
        assert held.diagonal().all()
    # The first two subgraphs have the same triples, so each holds every text of the other.
    texts = [views.items[0][0], views.items[1][0], views.items[2][0]]
    held = views.holding(np.arange(3), texts)
    assert held.tolist() == [[True, True, False], [True, True, False], [False, False, True]]


def test_a_part_of_several_clauses_is_held_by_subgraphs_with_all_of_them(pairs):
    views = pairs.views
    riga, euro = int(pairs.nodes[0][0]), int(pairs.nodes[2][0])
    shared = next(row for row in pairs.nodes[0].tolist() if row in pairs.nodes[2].tolist())
    assert riga != euro
    assert views.holding(np.arange(3), [(riga,), (shared,), (riga, shared)]).tolist() == [
        [True, True, True],
        [True, True, True],
        [False, True, False],
    ]


def test_views_of_a_subgraph_depend_on_it_alone(pairs, encoder):
    graph = MemoryGraph(triples=FACTS)
    graph.open()
    turned = Pairs.of(ENTRIES[::-1], graph, encoder, views=40)
    assert np.array_equal(turned.views.texts, pairs.views.texts[::-1])


def test_without_views_there_are_none(encoder):
    graph = MemoryGraph(triples=FACTS)
    graph.open()
    assert Pairs.of(ENTRIES, graph, encoder).views is None


def test_neighbours_stand_side_by_side_and_all_come_once():
    near = [np.array([1, 2, 3]), np.array([0]), np.array([0]), np.array([0]), np.array([], dtype=np.int64)]
    numbers = np.array([0, 1, 2, 4])
    for seed in range(20):
        order = side_by_side(numbers, near, 1, np.random.default_rng(seed)).tolist()
        assert sorted(order) == [0, 1, 2, 4]
        at = order.index(0)
        beside = order[at + 1] if at + 1 < len(order) else None
        before = order[at - 1] if at else None
        assert {beside, before} & {1, 2}
    apart = side_by_side(np.arange(5), near, 0, np.random.default_rng(3))
    assert apart.tolist() == np.random.default_rng(3).permutation(5).tolist()


def test_pairs_are_near_if_one_is_the_centre_of_a_node_of_the_other(pairs):
    assert [sorted(row.tolist()) for row in pairs.near] == [[1], [0], []]


def test_parts_of_triples_have_numbers_of_their_own_beyond_those_of_the_labels(pairs):
    views = pairs.views
    used = {one for row in views.items for parts in row for one in parts}
    every = sorted({one for row in views.held for one in row.tolist()})
    labels = {one for row in views.nodes for one in row.tolist()}
    # Each of three triples has three parts.
    assert [one for one in every if one not in labels] == list(range(len(views.labels), len(views.labels) + 9))
    assert used <= set(every) - labels


def test_neighbours_are_found_at_each_place_but_the_centres_own():
    facts = [Triple("a", "r", "b"), Triple("a", "r", "c")]
    subgraphs = [Arrays.of(facts, "a"), Arrays.of(facts[:1], "b"), Arrays.of(facts[1:], "c"), Arrays.of(facts, "d")]
    assert [row.tolist() for row in neighbours(subgraphs)] == [[1, 2], [0], [0], [0, 1, 2]]


@pytest.mark.parametrize("seed", range(9))
def test_of_many_neighbours_some_are_drawn_without_repetition_and_few_stand_as_they_are(seed):
    near = [np.arange(1, 9), *[np.array([], dtype=np.int64)] * 8]
    order = side_by_side(np.arange(9), near, 3, np.random.default_rng(seed)).tolist()
    assert sorted(order) == list(range(9))
    left = 8 - order.index(0)
    whole = side_by_side(np.arange(9), near, 8, np.random.default_rng(seed)).tolist()
    at = whole.index(0)
    assert whole[at + 1 :] == sorted(whole[at + 1 :])
    assert (len(whole[at + 1 :]), at) == (left, order.index(0))
