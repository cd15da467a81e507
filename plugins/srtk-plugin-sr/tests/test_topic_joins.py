"""What the topics of a question are worth to each other's triples in a subgraph."""

import math

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from srtk_plugin_sr.topic_joins import topic_joins
from srtk_plugin_sr.topic_support import BACKGROUND

from srtk_framework.values import Join, RankedPath, Step, Subgraph, Triple

# Two clubs of a town, and the countries that their players come from.
ANN, BOB, CID = (Triple(who, "plays for", club) for who, club in (("ann", "reds"), ("bob", "reds"), ("cid", "blues")))
PERU, CHILE, MALI = (Triple(who, "from", land) for who, land in (("ann", "peru"), ("cid", "peru"), ("bob", "mali")))
PLAYS, FROM = Step("plays for", inverse=True), Step("from", inverse=True)
PATHS = (RankedPath("reds", (PLAYS,), 0.0), RankedPath("peru", (FROM,), 0.0))
FOUND = Subgraph(triples=(ANN, BOB, PERU, CHILE), paths=PATHS)
TWO = {"reds": 0, "peru": 1}
STARTS = {"reds": ("reds",), "peru": ("peru",)}
WHOLE = (BACKGROUND + 1) / BACKGROUND
"""The factor of a node at which another topic is sure to arrive."""


def test_the_triples_of_both_ways_to_a_node_are_raised_and_no_others():
    assert topic_joins(FOUND, TWO, STARTS).factors == {ANN: pytest.approx(WHOLE), PERU: pytest.approx(WHOLE)}


def test_the_joins_name_the_paths_that_meet_and_their_node():
    assert topic_joins(FOUND, TWO, STARTS).joins == (Join((0, 1), ("ann",)),)


def test_alternatives_of_one_topic_and_a_single_link_raise_nothing():
    assert topic_joins(FOUND, {"reds": 0, "peru": 0}, STARTS) == ({}, ())
    assert topic_joins(FOUND, {"reds": 0}, {"reds": ("reds",)}) == ({}, ())


def test_triples_without_paths_raise_nothing():
    assert topic_joins(attrs.evolve(FOUND, paths=()), TWO, STARTS) == ({}, ())


def test_a_triple_on_the_way_to_a_node_where_topics_meet_is_raised():
    paths = (RankedPath("town", (Step("club"), PLAYS), 0.0), PATHS[1])
    club, other = Triple("town", "club", "reds"), Triple("town", "club", "blues")
    found = Subgraph(triples=(club, other, ANN, BOB, PERU), paths=paths)
    factors, joins = topic_joins(found, {"town": 0, "peru": 1}, {"town": ("town",), "peru": ("peru",)})
    assert set(factors) == {club, ANN, PERU}
    assert joins == (Join((0, 1), ("ann",)),)


def test_only_what_is_among_the_triples_supports():
    assert topic_joins(attrs.evolve(FOUND, triples=(ANN, BOB, CHILE)), TWO, STARTS) == ({}, ())


def test_a_path_starts_at_the_nodes_that_the_graph_has_for_its_entity():
    paths = (attrs.evolve(PATHS[0], entity="the reds"), PATHS[1])
    found = topic_joins(
        attrs.evolve(FOUND, paths=paths), {"the reds": 0, "peru": 1}, {"the reds": ("reds",), "peru": ("peru",)}
    )
    assert set(found.factors) == {ANN, PERU}


def test_a_triple_that_is_not_certain_supports_less():
    unsure = attrs.evolve(FOUND, confidences=(1.0, 1.0, 0.4, 1.0))
    assert topic_joins(unsure, TWO, STARTS).factors[ANN] == pytest.approx((BACKGROUND + 0.4) / BACKGROUND)


@pytest.mark.parametrize("fits", [0.1, BACKGROUND / 2])
def test_a_topic_of_which_no_path_fits_supports_less_than_the_other(fits):
    paths = (PATHS[0], attrs.evolve(PATHS[1], score=math.log(fits)))
    factors = topic_joins(attrs.evolve(FOUND, paths=paths), TWO, STARTS).factors
    assert factors == {ANN: pytest.approx((BACKGROUND + fits) / BACKGROUND), PERU: pytest.approx(WHOLE)}


@given(
    rows=st.lists(st.tuples(*[st.sampled_from("abcde"), st.sampled_from("pq"), st.sampled_from("abcde")]), max_size=12),
    scores=st.lists(st.floats(-3, 3), min_size=4, max_size=4),
)
def test_factors_are_above_one_and_those_of_triples_found(rows, scores):
    triples = tuple(dict.fromkeys(Triple(*row) for row in rows))
    steps = [(Step("p"),), (Step("q", True),), (Step("p"), Step("q")), (Step("q"), Step("p", True))]
    paths = tuple(RankedPath("ab"[i % 2], one, score) for i, (one, score) in enumerate(zip(steps, scores, strict=True)))
    factors, joins = topic_joins(Subgraph(triples=triples, paths=paths), {"a": 0, "b": 1}, {"a": ("a",), "b": ("b",)})
    assert set(factors) <= set(triples)
    assert all(factor > 1 for factor in factors.values())
    assert all({paths[rank].entity for rank in join.paths} == {"a", "b"} for join in joins)


def test_a_triple_of_several_instances_is_raised_as_the_one_that_is_raised_most():
    club = Triple("town", "club", "reds")
    paths = (RankedPath("town", (Step("club"), PLAYS), 0.0), PATHS[1])
    found = Subgraph(triples=(club, ANN, BOB, PERU, Triple("bob", "from", "peru")), paths=paths)
    unsure = attrs.evolve(found, confidences=(1.0, 1.0, 1.0, 1.0, 0.4))
    factors = topic_joins(unsure, {"town": 0, "peru": 1}, {"town": ("town",), "peru": ("peru",)}).factors
    assert factors[club] == factors[ANN] == pytest.approx(WHOLE)
    assert factors[BOB] == pytest.approx((BACKGROUND + 0.4) / BACKGROUND)


def test_the_joins_come_by_factor_probability_and_confidence():
    far = Step("visits", inverse=True)
    visit = Triple("ann", "visits", "reds")
    paths = (PATHS[0], RankedPath("reds", (far,), 0.0), PATHS[1])
    found = Subgraph(triples=(ANN, visit, PERU), paths=paths, confidences=(0.6, 0.9, 1.0))
    assert topic_joins(found, TWO, STARTS).joins == (Join((1, 2), ("ann",)), Join((0, 2), ("ann",)))


def test_of_two_nodes_the_one_that_both_topics_reach_rather_surely_comes_first():
    triples = (ANN, PERU, Triple("cid", "plays for", "reds"), CHILE)
    found = Subgraph(triples=triples, paths=PATHS, confidences=(0.5, 1.0, 0.75, 0.75))
    assert topic_joins(found, TWO, STARTS).joins == (Join((0, 1), ("cid", "ann")),)
