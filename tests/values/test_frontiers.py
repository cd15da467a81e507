from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from srtk_framework.values import NodeSet, Ragged

ROWS = [["a", "b"], [], ["c"]]


def test_a_node_set_is_sorted_by_code_point_without_duplicates():
    nodes = NodeSet(["b", "Z", "a", "b", "ä"], cut=3)
    assert (nodes.ids(), nodes.size, nodes.cut) == (("Z", "a", "b", "ä"), 4, 3)


@given(st.lists(st.lists(st.integers())))
def test_a_ragged_array_equals_the_lists_it_was_built_from(rows):
    ragged = Ragged.of(rows)
    assert ragged == rows
    assert [list(row) for row in ragged] == rows
    assert [list(ragged[i]) for i in range(len(ragged))] == rows


def test_a_negative_index_counts_rows_from_the_end():
    assert Ragged.of(ROWS)[-1] == ["c"]


@pytest.mark.parametrize("index", [3, -4])
def test_an_index_beyond_the_rows_is_refused(index):
    with pytest.raises(IndexError):
        Ragged.of(ROWS)[index]


def test_a_slice_of_a_ragged_array_is_a_list_of_rows():
    assert Ragged.of(ROWS)[::-1] == [["c"], [], ["a", "b"]]


def test_rows_of_an_array_are_views_of_it():
    values = np.arange(5)
    ragged = Ragged([0, 2, 2, 5], values)
    assert np.shares_memory(ragged[2], values)
    assert ragged.offsets.dtype == np.int64
    assert ragged == [[0, 1], [], [2, 3, 4]]


@pytest.mark.parametrize("other", [[["a", "b"], []], [["a", "b"], ["c"], []], [["a"], ["b"], ["c"]]])
def test_a_ragged_array_differs_from_lists_divided_otherwise(other):
    assert Ragged.of(ROWS) != other


def test_a_ragged_array_does_not_equal_a_number():
    assert Ragged.of(ROWS) != 3


def test_a_ragged_array_shows_its_rows():
    assert repr(Ragged.of(ROWS)) == "Ragged([['a', 'b'], [], ['c']])"
