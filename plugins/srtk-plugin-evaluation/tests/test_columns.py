"""All tables take their columns from one list."""

from __future__ import annotations

import pytest
from srtk_plugin_evaluation import columns
from srtk_plugin_evaluation.tables import table, tables


def report(name):
    found = {"mean": 0.5, "low": 0.4, "high": 0.6, "n": 9}
    return {
        "methods": {"beam": {name: found}},
        "questions": 9,
        "links": "linked",
        "failed": {},
        "differences": {},
    }


@pytest.mark.parametrize("column", [one for one in columns.COLUMNS if one.head or one.answers_head])
def test_a_column_stands_in_the_tables_that_its_heads_name(column):
    heads = [head.header for laid in tables(report(column.name)) for head in laid.columns]
    assert (column.head or column.answers_head) in heads


def test_names_are_distinct_and_sizes_need_no_gold():
    names = [column.name for column in columns.COLUMNS]
    assert len(set(names)) == len(names) == len(columns.TITLES)
    assert not [column.name for column in columns.COLUMNS if column.size and column.gold]


def test_the_main_table_fits_eighty_columns():
    shown = {column.name: {"mean": 0.5, "low": 0.4, "high": 0.6, "n": 9} for column in columns.COLUMNS if column.head}
    laid = table({**report("triples"), "methods": {"beam": shown}})
    heads = [max(map(len, str(column.header).split("\n"))) for column in laid.columns]
    assert sum(heads) <= 80
