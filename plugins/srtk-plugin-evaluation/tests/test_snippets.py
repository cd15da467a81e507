"""Measures of ranked snippets, by kind of query."""

from __future__ import annotations

import pytest
from srtk_plugin_evaluation.snippets import (
    comparable_precision_at,
    coverage_weighted_recall_at,
    mean_precision_at,
    precision_at,
    relations_won,
    snippet_table,
)

from srtk_framework.values import InputError

A = [[True, False, True], [False], []]
B = [[False, True, True], [True, True, False], [True]]


def test_precision_is_a_mean_over_the_queries_with_enough_snippets() -> None:
    assert [mean_precision_at(A, k) for k in (1, 3, 10)] == [1 / 2, 2 / 3, None]
    assert [mean_precision_at(B, k) for k in (1, 3)] == [2 / 3, 2 / 3]


def test_recall_is_weighted_by_the_share_of_queries_with_enough_snippets() -> None:
    assert [coverage_weighted_recall_at(A, k) for k in (1, 3, 10)] == [1 / 3, pytest.approx(2 / 9), 0]
    assert coverage_weighted_recall_at([], 1) is None


def test_variants_are_compared_where_all_of_them_have_enough_snippets() -> None:
    assert comparable_precision_at({"A": A, "B": B}, 1) == {"A": 0.5, "B": 0.5}
    assert comparable_precision_at({"A": A, "B": B}, 3) == {"A": pytest.approx(2 / 3), "B": pytest.approx(2 / 3)}
    assert comparable_precision_at({"A": A, "B": B}, 10) == {"A": None, "B": None}


def test_the_published_precision_and_coverage_give_the_published_recall() -> None:
    right = 2284  # .19 of the first ten snippets of 1202 queries
    each = [right // 1202 + (i < right % 1202) for i in range(1202)]
    queries = [[place < some for place in range(10)] for some in each] + [[True] * 9] * (2548 - 1202)
    assert mean_precision_at(queries, 10) == pytest.approx(0.19, abs=2e-5)
    assert coverage_weighted_recall_at(queries, 10) == pytest.approx(0.19 * 1202 / 2548, abs=1e-5)
    assert round(coverage_weighted_recall_at(queries, 10) or 0, 4) == 0.0896


def test_a_tie_is_won_by_all_of_its_variants() -> None:
    relations = ["r", "s", "s"]
    variants = {"A": A, "B": [[True], [True], [False]], "C": [[False], [False], [True, True]]}
    assert relations_won(variants, relations, 1) == {"A": ["r"], "B": ["r", "s"], "C": ["s"]}
    assert relations_won(variants, relations, 3) == {"A": ["r"], "B": [], "C": []}


def test_variants_without_their_queries_or_relations_are_named() -> None:
    with pytest.raises(InputError, match="A has 3, B has 2"):
        comparable_precision_at({"A": A, "B": B[:2]}, 1)
    with pytest.raises(InputError, match="A has 3, and there are 1 relations"):
        relations_won({"A": A}, ["r"], 1)
    with pytest.raises(ValueError, match="k is 0"):
        precision_at([True], 0)


def test_the_table_has_all_measures_of_each_variant() -> None:
    table = snippet_table({"A": A, "B": B}, ["r", "r", "s"], cuts=(1, 3))
    assert table["A"] == {
        "queries": 3,
        "answered_at_1": 2,
        "precision_at_1": 0.5,
        "recall_at_1": pytest.approx(1 / 3),
        "comparable_at_1": 0.5,
        "relations_won_at_1": 1,
        "answered_at_3": 1,
        "precision_at_3": pytest.approx(2 / 3),
        "recall_at_3": pytest.approx(2 / 9),
        "comparable_at_3": pytest.approx(2 / 3),
        "relations_won_at_3": 1,
    }
    assert table["B"]["relations_won_at_1"] == 2
    assert "relations_won_at_1" not in snippet_table({"A": A})["A"]
