"""Features of the place of triples, worked by hand."""

import numpy as np
from srtk_plugin_sr.features import FAR, FEATURE_COUNT, directed_distances, hops, index_nodes, triple_features

from srtk_framework.values import RankedPath, Step, Subgraph, Triple

# a -> b -> c, d -> b, and x -> y apart
TRIPLES = (Triple("a", "r", "b"), Triple("b", "s", "c"), Triple("d", "r", "b"), Triple("x", "r", "y"))


def by_node(places, values):
    return {node: values[i].tolist() for node, i in places.number.items()}


def test_distances_along_and_against_edges_are_means_over_neighbours():
    places = index_nodes(TRIPLES, {"a": 1.0})
    near = by_node(places, directed_distances(places, 2))
    #         start, along: 1 round, 2 rounds, against: 1 round, 2 rounds
    assert near["a"] == [1.0, 0.0, 0.0, 0.0, 0.0]
    assert near["b"] == [0.0, 0.5, 0.0, 0.0, 0.0]
    assert near["c"] == [0.0, 0.0, 0.5, 0.0, 0.0]
    assert near["d"] == [0.0, 0.0, 0.0, 0.0, 0.0]
    assert near["x"] == near["y"] == [0.0] * 5


def test_distances_against_edges_reach_the_nodes_that_point_at_a_link():
    places = index_nodes(TRIPLES, {"c": 0.8})
    near = by_node(places, directed_distances(places, 2))
    assert near["c"] == [0.8, 0.0, 0.0, 0.0, 0.0]
    assert near["b"] == [0.0, 0.0, 0.0, 0.8, 0.0]
    assert near["a"] == near["d"] == [0.0, 0.0, 0.0, 0.0, 0.8]


def test_the_score_of_a_link_is_its_start():
    places = index_nodes(TRIPLES, {"a": 0.7, "d": 0.3})
    assert by_node(places, directed_distances(places, 1))["b"] == [0.0, 0.5, 0.0]


def test_hops_are_counted_both_ways_from_the_nearest_link():
    places = index_nodes(TRIPLES, {"a": 1.0})
    found = {node: hops(places)[i] for node, i in places.number.items()}
    assert found == {"a": 0, "b": 1, "c": 2, "d": 2, "x": FAR + 1, "y": FAR + 1}


def test_hops_beyond_the_greatest_distance_count_as_far():
    line = tuple(Triple(str(i), "r", str(i + 1)) for i in range(FAR + 3))
    assert hops(index_nodes(line, {"0": 1.0})).tolist() == [*range(FAR + 1), FAR + 1, FAR + 1, FAR + 1]


def test_each_triple_has_the_announced_number_of_finite_features():
    paths = (RankedPath("a", (Step("r"), Step("s")), -0.5), RankedPath("a", (Step("r"),), -1.5))
    found = Subgraph(TRIPLES, (-0.5, -0.5, -1.5, -2.0), paths, (0, 0, 1, -1))
    table = triple_features(found, index_nodes(TRIPLES, {"a": 1.0}))
    assert table.shape == (4, FEATURE_COUNT)
    assert np.isfinite(table).all()


def test_no_triples_give_no_rows():
    assert triple_features(Subgraph(), index_nodes((), {"a": 1.0})).shape == (0, FEATURE_COUNT)
