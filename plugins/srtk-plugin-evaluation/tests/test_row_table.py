"""Rows in columns: exact numbers in few bytes, and reports that need no rows."""

from __future__ import annotations

import tracemalloc

import attrs
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kit.placed import rows
from srtk_plugin_evaluation import compare, intervals, numbers
from srtk_plugin_evaluation.completion import Completed
from srtk_plugin_evaluation.curves import Ranks
from srtk_plugin_evaluation.metrics import report_of
from srtk_plugin_evaluation.numbers import Numbers
from srtk_plugin_evaluation.row_table import LINKS, MOST_GROUPS, RowTable
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


@pytest.mark.parametrize(
    ("values", "size"),
    [
        ([0, 254, np.nan], 1), ([255], 4), ([0, 255, np.nan], 4), ([-1], 4), ([256], 4), ([0.5, np.nan], 4),
        ([1 / 3], 8), ([16_777_217], 8), ([1e300], 8), ([np.nan], 1),
    ],
)  # fmt: skip
def test_numbers_take_the_fewest_bytes_that_keep_them_exact(values: list[float], size: int) -> None:
    assert numbers._packed(np.array(values, dtype=np.float64)).itemsize == size


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


MIXED = [
    Row("a", {"answer_coverage": 1.0, "answer_hit": 1.0, "triples": 2.0}, links="given", seconds=0.5, hops=1),
    Row("b", {"answer_coverage": 0.0, "triples": None}, failed=True, links="linked", walks=True, topics=2),
    Row("c", {"triples": 300.0}, failed=True, seconds=1 / 3, hops=1, completion=Completed({"mrr": (1.0, 2.0)})),
    Row("d", {}, failed=True, links="mixed", fields={"answer_values": ("7",), "kind": ("who", "when")}, topics=1),
    Row("e", {"answer_hit": 0.5}, links="linked", completion=Completed({"mrr": (0.0, 1.0)}), fields={"kind": ("who",)}),
]


@pytest.mark.parametrize("places", [[0], [3, 1], [4, 2, 2], [0, 1, 2, 3, 4], []])
def test_a_part_has_the_numbers_of_its_rows(places: list[int]) -> None:
    part, alone = RowTable(MIXED).take(places), RowTable([MIXED[place] for place in places])
    assert part.size == alone.size == len(places)
    assert (part.failed, part.walks, part.completion) == (alone.failed, alone.walks, alone.completion)
    assert part.links.tolist() == [LINKS.index(MIXED[place].links) for place in places]
    np.testing.assert_array_equal(part.seconds, alone.seconds)
    for metric in ("answer_coverage", "answer_hit", "triples", "tokens"):
        assert part.has(metric) == alone.has(metric)
        np.testing.assert_array_equal(part._column(metric), alone._column(metric))


def test_only_failed_questions_with_gold_answers_have_zero_for_metrics_of_answers() -> None:
    table = RowTable(MIXED)
    np.testing.assert_array_equal(table._column("answer_hit"), [1, 0, np.nan, 0, 0.5])
    np.testing.assert_array_equal(table._column("triples"), [2, np.nan, 300, np.nan, np.nan])
    assert np.isnan(table._column("answer_f1")).all()


def test_a_failed_question_with_gold_answers_counts_as_one_without_an_answer() -> None:
    made = [*MIXED, attrs.evolve(MIXED[1], judged=Judged(True, True, 0.25, "unsure")), judged(7)]
    right, answered, confidence, _ = RowTable(made).answers.counted()
    assert (right.tolist(), answered.tolist()) == ([0, 0, 1, 1], [0, 0, 1, 1])
    np.testing.assert_array_equal(confidence, [np.nan, np.nan, 0.25, np.nan])


def test_the_questions_of_a_slice_are_those_that_have_its_values() -> None:
    table = RowTable(MIXED)
    found = {name: {k: list(v) for k, v in table.groups(name).items()} for name in ("hops", "topics", "kind", "none")}
    assert found == {
        "hops": {"1": [0, 2]}, "topics": {"2": [1], "1": [3]}, "kind": {"who": [3, 4], "when": [3]}, "none": {},
    }  # fmt: skip
    assert table.field_names == {"answer_values", "kind"}


def test_a_chosen_field_has_all_of_its_groups_and_others_go_on_with_those_they_have() -> None:
    fields = [str(place) for place in (*range(60), 3, 55)]
    made = [Row("q", {}, fields={"kind": (field,), "of": (field,)}) for field in fields]
    table = RowTable(made, fields=("of",))
    assert len(table.groups("of")) == 60
    assert list(table.groups("of")["55"]) == [55, 61]
    assert list(table.groups("kind")["3"]) == [3, 60]
    assert "55" not in table.groups("kind")


def test_columns_of_long_runs_are_estimated_in_several_groups_as_in_one(monkeypatch) -> None:
    drawn = np.random.default_rng(1).random((7, 30))
    pairs = list(zip(drawn, drawn[::-1], strict=True))
    whole, apart = intervals.bootstrap_many(list(drawn)), intervals.paired_many(pairs)
    monkeypatch.setattr(intervals, "_HELD", 100)
    assert intervals.bootstrap_many(list(drawn)) == whole
    assert intervals.paired_many(pairs) == apart
