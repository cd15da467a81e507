"""The cutoff of ``rerank``: expected F against every choice of triples, and orders whose prefixes are connected."""

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from srtk_plugin_sr.cutoff import best_count, connected_order

from srtk_framework.values import Literal, Triple

CHANCES = st.lists(st.floats(0.01, 1.0), min_size=1, max_size=9).map(lambda row: sorted(row, reverse=True))


def kept(chances, beta):
    return best_count([math.log(chance) for chance in chances], beta)


def expected_f(chosen, every, beta):
    return (1 + beta**2) * sum(chosen) / (len(chosen) + beta**2 * sum(every))


@given(CHANCES, st.sampled_from([0.5, 1.0, 2.0]))
def test_no_choice_of_triples_has_a_greater_expected_f(chances, beta):
    some_kept = chances[: kept(chances, beta)]
    sizes = range(1, len(chances) + 1)
    best = max(expected_f(some, chances, beta) for n in sizes for some in itertools.combinations(chances, n))
    assert expected_f(some_kept, chances, beta) == pytest.approx(best)


@pytest.mark.parametrize(
    ("chances", "count"),
    [([0.99, 0.98, 0.02, 0.01], 2), ([0.9] * 100, 100), ([0.1], 1), ([], 0), ([0.6, 0.6, 0.6, 0.01], 3)],
)
def test_certain_probabilities_keep_few_triples_and_even_ones_many(chances, count):
    assert kept(chances, 1.0) == count


@given(CHANCES)
def test_more_weight_on_recall_never_keeps_less(chances):
    assert kept(chances, 0.5) <= kept(chances, 1.0) <= kept(chances, 2.0)


CHAIN = [Triple("a", "r", "b"), Triple("c", "r", "b"), Triple("c", "r", "d")]


def test_the_chain_to_a_triple_comes_first_and_scores_no_less():
    order, scores = connected_order(CHAIN, [-3.0, -2.0, -1.0], ["a"])
    assert order == [0, 1, 2]
    assert scores == [-1.0, -1.0, -1.0]


def test_of_two_chains_the_more_probable_is_raised():
    triples = [Triple("a", "weak", "b"), Triple("a", "strong", "b"), Triple("b", "r", "c")]
    order, scores = connected_order(triples, [-3.0, -0.5, -0.1], ["a"])
    assert order == [1, 2, 0]
    assert scores == [-0.1, -0.1, -3.0]


def test_a_shared_literal_connects_nothing():
    triples = [Triple("a", "born", Literal('"1990"')), Triple("x", "born", Literal('"1990"'))]
    assert connected_order(triples, [-5.0, -1.0], ["a"]) == ([1, 0], [-1.0, -5.0])


def test_what_lies_beyond_the_neighbours_of_a_literal_is_connected():
    triples = [Triple("a", "born", Literal('"1990"')), Triple("a", "r", "b"), Triple("b", "r", "c")]
    assert connected_order(triples, [-0.1, -3.0, -1.0], ["a"]) == ([0, 1, 2], [-0.1, -1.0, -1.0])


@st.composite
def graphs(draw):
    ends = st.sampled_from("abcdef")
    pairs = draw(st.lists(st.tuples(ends, st.sampled_from("rs"), ends), min_size=1, max_size=12, unique=True))
    scores = draw(st.lists(st.floats(-9, 0), min_size=len(pairs), max_size=len(pairs)))
    return [Triple(*pair) for pair in pairs], [round(score, 4) for score in scores]


@given(graphs())
def test_every_prefix_of_the_order_is_connected(case):
    triples, scores = case
    order, raised = connected_order(triples, scores, ["a"])
    assert sorted(order) == list(range(len(triples)))
    assert raised == sorted(raised, reverse=True)
    assert all(after >= scores[i] for i, after in zip(order, raised, strict=True))
    joined = reachable([triples[i] for i in order])
    reached = {"a"}
    for i in order:
        ends = {triples[i].subject, triples[i].object}
        if triples[i] in joined:
            assert ends & reached
            reached |= ends


def reachable(triples):
    """Return the triples that some chain joins to "a"."""
    reached, found = {"a"}, set()
    while new := {t for t in triples if {t.subject, t.object} & reached} - found:
        found |= new
        reached |= {end for t in new for end in (t.subject, t.object)}
    return found


def test_scores_are_logarithms_of_probabilities():
    assert best_count([-0.01, -0.02, -6.0], 1.0) == 2
