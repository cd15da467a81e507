"""A table of owners by key: what was written is found, however it is cut, and nearly nothing else is sought."""

from __future__ import annotations

import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from srtk_plugin_local.snapshot import name_table
from srtk_plugin_local.snapshot.layout import FILTER_BLOCK
from srtk_plugin_local.snapshot.name_table import NameTable, write_table

HEADS = st.sampled_from([0, 1, 7, 8, 9, 1 << 60, 3 << 60, (1 << 64) - 9, (1 << 64) - 1])
PAIRS = st.lists(st.tuples(HEADS, st.sampled_from([-1, 0, 1, 5, (1 << 32) - 1, 1 << 32])), max_size=12)


def rows(pairs: list[tuple[int, int]]) -> name_table.Rows:
    return np.array([key for key, _ in pairs], dtype=np.uint64), np.array([owner for _, owner in pairs], dtype=np.int64)


@given(PAIRS, st.lists(st.tuples(st.integers(0, 2), HEADS), max_size=8), st.integers(0, 3))
def test_a_table_gives_the_distinct_owners_of_the_keys_of_each_row(
    pairs: list[tuple[int, int]], wanted: list[tuple[int, int]], cut: int
) -> None:
    table = NameTable.of([rows(pairs[:cut]), rows(pairs[cut:])])
    asked = rows([(key, 0) for _, key in wanted])[0]
    found = table.owners(asked, np.array([row for row, _ in wanted], dtype=np.int64), 3)
    owned = [(key, owner) for key, owner in pairs if owner >= 0]
    assert [some.tolist() for some in found] == [
        sorted({owner for key, owner in owned if (row, key) in wanted}) for row in range(3)
    ]
    assert table.have_owners(asked).tolist() == [key in dict(owned) for _, key in wanted]
    assert {asked.tolist()[place] for place in table.maybe(asked)} >= {key for _, key in wanted} & dict(pairs).keys()


def test_the_filter_has_its_keys_and_few_others() -> None:
    keys = np.random.default_rng(0).integers(0, 1 << 64, 6000, dtype=np.uint64)
    table = NameTable.of([(keys[:1000], np.arange(1000)), (keys[1000:3000], np.full(2000, -1))])
    found = table.maybe(keys)
    assert found[:3000].tolist() == list(range(3000))
    assert len(found) < 3000 + 0.03 * 3000


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(-1, 3)), max_size=60), st.integers(1, 9), st.integers(1, 9))
def test_a_table_has_the_same_bytes_however_its_rows_are_cut(
    some: list[tuple[int, int]], count: int, at_once: int
) -> None:
    pairs = sorted((key << 58 | key << 20, owner) for key, owner in some)
    whole, cut = name_table._Memory(), name_table._Memory()
    write_table(whole, [rows(pairs)] if pairs else [], 3, io.BytesIO())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(name_table, "ROWS", at_once)
        write_table(cut, (rows(pairs[at : at + count]) for at in range(0, len(pairs), count)), 3, io.BytesIO())
    assert {name: part.tobytes() for name, part in whole.arrays.items()} == {
        name: part.tobytes() for name, part in cut.arrays.items()
    }
    assert whole.arrays["near.keys"].tolist() == sorted({key for key, owner in pairs if owner >= 0})
    size = len(whole.arrays["near.filter"]) // FILTER_BLOCK
    assert size == max(1, -(-len(dict(pairs)) // 32))
    assert whole.arrays["near.buckets"].tolist() == [
        sum(key >> 32 < -(-(block << 32) // size) for key in whole.arrays["near.keys"].tolist())
        for block in range(size + 1)
    ]


def test_the_owners_of_many_keys_begin_where_those_before_end() -> None:
    """There are more than 256 owners, and none, one or several of a key."""
    pairs = [(key << 40, owner) for key in range(400) for owner in range(-1, key % 4 - 1)]
    table = NameTable.of([rows(pairs)])
    keys = np.arange(400, dtype=np.uint64) << np.uint64(40)
    assert [len(some) for some in table.owners(keys, np.arange(400), 400)] == [
        max(key % 4 - 1, 0) for key in range(400)
    ]
