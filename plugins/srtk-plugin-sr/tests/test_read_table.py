"""A table numbers the nodes and triples of instances, whether the graph has numbers or not."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from srtk_plugin_sr import read_table
from srtk_plugin_sr.read_table import Interned, ReadTable, distinct, first_places, numbered

from srtk_framework.graph import Instance, NumberedInstances
from srtk_framework.values import RankedPath, Step, Triple

PATHS = [RankedPath("a", (Step("r"),), 0.0), RankedPath("a", (Step("r"), Step("s", True)), -1.0)]
READ = {
    0: [Instance((Triple("a", "r", "b"),), "b")],
    1: [
        Instance((Triple("a", "r", "b"), Triple("c", "s", "b")), "c", 0.5),
        Instance((Triple("a", "r", "b"), Triple("d", "s", "b")), "d"),
    ],
}


class Numbers:
    """Nodes a to d have the numbers 10 to 13."""

    def ids(self, numbers):
        return ["abcd"[number - 10] for number in numbers.tolist()]


def read_by_number():
    nodes = (np.array([[10, 11]]), np.array([[10, 11, 12], [10, 11, 13]]))
    return {
        rank: NumberedInstances(Numbers(), path.steps, row)
        for rank, (path, row) in enumerate(zip(PATHS, nodes, strict=True))
    }


def test_the_triples_of_instances_are_each_numbered_once_and_named_again():
    for read in (READ, read_by_number()):
        table = ReadTable.of(PATHS, read, Interned())
        whole = [table.named(row[row >= 0]) for row in table.triples]
        assert whole == [list(one.triples) for one in (*READ[0], *READ[1])]
        assert len(table.subjects) == 3
        assert table.graph.ids(table.numbers[table.ends]) == ["b", "c", "d"]
        assert table.rows.tolist() == [0, 1, 1]
        assert table.nodes[0].tolist() == [*table.nodes[1, :2].tolist(), -1]
        assert (table.triples[0].tolist()[1], table.triples.shape) == (-1, (3, 2))
    assert ReadTable.of(PATHS, READ, Interned()).confidences.tolist() == [1.0, 0.5, 1.0]


def test_a_larger_table_of_the_same_graph_finds_the_triples_of_a_smaller_one():
    for read in (READ, read_by_number()):
        interned = Interned()
        less = ReadTable.of(PATHS[1:], {0: read[1]}, interned)
        more = ReadTable.of([*PATHS, RankedPath("a", (Step("q"),), 0.0)], read, interned)
        every = np.arange(len(less.subjects))
        assert more.named(more.find(less, every)) == less.named(every)


def test_of_equal_numbers_the_first_comes_for_the_first_time():
    assert first_places(np.array([3, 1, 3, 0, 1]), 5).tolist() == [True, True, False, True, False]


def test_numbers_have_their_places_among_the_distinct_ones_whatever_their_size():
    for base in (0, 1 << 45):
        every, places, first = numbered(np.array([7, 3, 7, 5, 3]) + base)
        assert (every - base).tolist() == [3, 5, 7]
        assert places.tolist() == [2, 0, 2, 1, 0]
        assert first.tolist() == [1, 3, 0]


@given(st.lists(st.sampled_from([0, 1, 2, 5, 1 << 59, (1 << 60) - 1, 1 << 60, 1 << 61, 1 << 62]), max_size=9))
def test_numbers_are_told_apart_however_many_and_however_large(values):
    bits, read_table._BITS = read_table._BITS, 2
    try:
        every, places, first = numbered(np.array(values, dtype=np.int64))
    finally:
        read_table._BITS = bits
    known = sorted(set(values))
    assert every.tolist() == distinct(np.array(values, dtype=np.int64)).tolist() == known
    assert places.tolist() == [known.index(value) for value in values]
    assert first.tolist() == [values.index(value) for value in known]


def test_a_table_of_no_paths_has_no_nodes_and_names_no_triples():
    table = ReadTable.of([], {}, Interned())
    assert (table.size, table.ranks, len(table.rows)) == (0, [], 0)
    assert (table.nodes.shape, table.triples.shape) == ((0, 1), (0, 0))
    assert table.named(np.empty(0, dtype=np.int64)) == []


def test_triples_of_several_paths_from_several_nodes_are_found_by_subject_relation_and_object():
    steps = [(Step("r"),), (Step("s"),), (Step("r", True),), (Step("r"), Step("s"))]
    paths = [RankedPath("a", row, 0.0) for row in steps]
    triples = [Triple(*row) for row in ("ara", "asa", "arb", "asb", "bra", "bsb")]
    own = {
        0: [Instance((one,), one.object) for one in (triples[0], triples[2])],
        1: [Instance((one,), one.object) for one in (triples[1], triples[3])],
        2: [Instance((one,), one.subject) for one in (triples[0], triples[4])],
        3: [Instance((triples[2], triples[5]), "b")],
    }
    interned = Interned()
    more = ReadTable.of(paths, own, interned)
    assert sorted(more.named(np.arange(len(more.subjects)))) == sorted(triples)
    for ranks in ([2, 1], [3], [0, 2]):
        less = ReadTable.of(paths, {rank: own[rank] for rank in ranks}, interned)
        every = np.arange(len(less.subjects))
        assert less.ranks == sorted(ranks)
        assert more.named(more.find(less, every[::-1])) == less.named(every)[::-1]
