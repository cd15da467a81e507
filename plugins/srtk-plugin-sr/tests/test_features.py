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


def columns(found, starts):
    """Return the features of each triple by their parts."""
    table = triple_features(found, index_nodes(found.triples, starts))
    ends = np.cumsum([7, 7, FAR + 2, 2, 10, 3, 6])
    assert ends[-1] == FEATURE_COUNT
    return dict(
        zip(("head", "tail", "hop", "side", "path", "rank", "count"), np.split(table, ends[:-1], 1), strict=True)
    )


def test_the_features_of_each_triple_are_those_worked_by_hand():
    paths = (RankedPath("a", (Step("r"), Step("s")), -0.5), RankedPath("a", (Step("r"),), -1.5))
    found = columns(Subgraph(TRIPLES, (-0.5, -0.5, -1.5, -2.0), paths, (0, 0, 1, -1)), {"a": 1.0})
    nothing, at_b = [0.0] * 7, [0.0, 0.5, 0.0, 0.0, 0.0, 0.0, 0.0]
    assert found["head"].tolist() == [[1.0, *nothing[1:]], at_b, nothing, nothing]
    assert found["tail"].tolist() == [at_b, [0.0, 0.0, 0.5, 0.0, 0.0, 0.0, 0.0], at_b, nothing]
    # The nearer end is 0, 1, 1 and too many steps away; it is the head, the head, the tail, and neither.
    assert found["hop"].argmax(1).tolist() == [0, 1, 1, FAR + 1]
    assert found["hop"].sum(1).tolist() == [1.0] * 4
    assert found["side"].tolist() == [[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 0.0]]
    best, other = -np.log1p(np.exp(-1.0)), -np.log1p(np.exp(1.0))
    wanted = [
        [1.0, 0.0, best, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0],
        [1.0, 0.0, best, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0],
        [1.0, -1.0, other, 0.5, np.log(2), 1.0, 0.0, 0.0, 0.0, 1.0],
        [0.0] * 10,
    ]
    np.testing.assert_allclose(found["path"], wanted)
    np.testing.assert_allclose(
        found["rank"], [[0, 0, 0], [0, np.log(2), 0.25], [-1, np.log(3), 0.5], [-1.5, np.log(4), 0.75]]
    )
    # Triples of the path, of the relation, at head and tail, of the head with the relation, and all.
    counts = [[2, 3, 1, 3, 1, 4], [2, 1, 3, 1, 1, 4], [1, 3, 1, 3, 1, 4], [1, 3, 1, 1, 1, 4]]
    np.testing.assert_allclose(found["count"], np.log1p(counts))


def test_paths_longer_than_four_steps_and_shares_below_a_millionth_have_the_last_feature():
    lengths = (0, 1, 3, 4, 6)
    paths = tuple(RankedPath("a", (Step("r"),) * n, 0.0 if n == 4 else -99.0) for n in lengths)
    triples = tuple(Triple("a", f"r{n}", "b") for n in lengths)
    found = columns(Subgraph(triples, (0.0,) * 5, paths, (0, 1, 2, 3, 4)), {"a": 1.0})["path"]
    assert found[:, 5:9].argmax(1).tolist() == [0, 0, 2, 3, 3]
    assert found[:, 5:9].sum(1).tolist() == [1.0] * 5
    np.testing.assert_allclose(found[:, 2], [np.log(1e-6)] * 3 + [0.0, np.log(1e-6)], atol=1e-12)
    # The nearer end is the link itself: all but paths of one step go on.
    assert found[:, 9].tolist() == [1.0, 1.0, 0.0, 0.0, 0.0]
