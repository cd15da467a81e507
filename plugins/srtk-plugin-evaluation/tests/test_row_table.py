"""Rows in columns: exact numbers in few bytes, and reports that need no rows."""

from __future__ import annotations

import tracemalloc

import attrs
import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from kit.placed import rows
from srtk_plugin_evaluation import compare, intervals, numbers
from srtk_plugin_evaluation.curves import Ranks
from srtk_plugin_evaluation.metrics import report_of
from srtk_plugin_evaluation.numbers import Numbers
from srtk_plugin_evaluation.row_table import MOST_GROUPS, RowTable
from srtk_plugin_evaluation.rows import Row
from srtk_plugin_evaluation.selective_answers import Judged

VALUES = st.one_of(st.none(), st.integers(0, 300).map(float), st.floats(0, 1), st.floats(allow_nan=False))


@given(st.lists(VALUES, max_size=12), st.integers(0, 3))
def test_numbers_come_back_exactly_whatever_their_size(values, more) -> None:
    block, numbers._BLOCK = numbers._BLOCK, 4
    try:
        kept = Numbers()
        for place, value in enumerate(values):
            if value is not None:
                kept.put(place, value)
        found = kept.values(len(values) + more)
    finally:
        numbers._BLOCK = block
    np.testing.assert_array_equal(found, [*(np.nan if v is None else v for v in values), *[np.nan] * more])


def judged(place: int) -> Row:
    right = float(place % 2)
    metrics = {
        "answer_coverage": right,
        "answer_recall": right / 3,
        "triples": 2.0,
        "tokens": 25.0,
        "answer_hit": right,
    }
    return Row(
        f"question {place}", metrics, links="linked", seconds=place / 7, text=f"Who is {place}?", topics=1,
        ranks=Ranks(2, 1, (1,)), fields={"kind": (str(place),)}, judged=Judged(bool(right), True, None, "sure"),
    )  # fmt: skip


def test_a_question_takes_few_bytes_of_a_table_whatever_its_texts() -> None:
    tracemalloc.start()
    try:
        table = RowTable(map(judged, range(20_000)))
        used, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert table.size == 20_000
    assert used / table.size < 100


def test_a_field_of_too_many_kinds_is_no_slice_and_stops_growing() -> None:
    table = RowTable(map(judged, range(1000)))
    assert len(table.groups("kind")) == MOST_GROUPS + 1
    assert "kind" not in report_of({"m": table})["slices"]


def test_the_report_of_a_part_is_that_of_its_rows_alone() -> None:
    made = [attrs.evolve(row, ranks=Ranks(3 + i, 2, (1,) * (i % 3))) for i, row in enumerate(rows(9))]
    places = [1, 2, 5, 7]
    assert report_of({"m": RowTable(made).take(places)})["at"] == compare({"m": [made[i] for i in places]})["at"]


def test_columns_of_long_runs_are_estimated_in_several_groups_as_in_one(monkeypatch) -> None:
    drawn = np.random.default_rng(1).random((7, 30))
    pairs = list(zip(drawn, drawn[::-1], strict=True))
    whole, apart = intervals.bootstrap_many(list(drawn)), intervals.paired_many(pairs)
    monkeypatch.setattr(intervals, "_HELD", 100)
    assert intervals.bootstrap_many(list(drawn)) == whole
    assert intervals.paired_many(pairs) == apart
