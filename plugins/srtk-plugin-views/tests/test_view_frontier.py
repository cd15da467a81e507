"""Frontiers of views, and limits of neighbours."""

from __future__ import annotations

import pytest
from srtk_plugin_views.view_frontier import ViewFrontier, end_of, first_of_each, inner_frontiers, start_of

from srtk_framework.values import NodeSet, Step, Triple

FACT = Triple("Latvia", "capital", "Riga")


def test_a_step_leads_from_subject_to_object_and_its_inverse_back() -> None:
    assert (start_of(FACT, Step("capital")), end_of(FACT, Step("capital"))) == ("Latvia", "Riga")
    assert (start_of(FACT, Step("capital", True)), end_of(FACT, Step("capital", True))) == ("Riga", "Latvia")


@pytest.mark.parametrize(
    ("limit", "inverse", "kept"),
    [
        (None, False, [0, 1, 2, 3]),
        (3, False, [0, 1, 2, 3]),
        (2, False, [0, 1, 3]),
        (1, False, [0, 3]),
        (0, False, []),
        (1, True, [0, 1, 2]),
    ],
)
def test_a_limit_keeps_the_first_triples_of_each_start(limit: int | None, inverse: bool, kept: list[int]) -> None:
    rows = [Triple(start, "r", end) for start, end in ("ap", "aq", "as", "bp")]
    assert first_of_each(rows, Step("r", inverse), limit) == [rows[place] for place in kept]


def test_a_frontier_has_the_nodes_of_its_inner_one_and_its_own_counts() -> None:
    inner = NodeSet(["c", "a", "b"], cut=7)
    frontier = ViewFrontier(inner, 4)
    assert (frontier.ids(), frontier.size, frontier.cut, frontier.fan) == (("a", "b", "c"), 3, 4, 7)
    assert ViewFrontier(inner, 4, 0).fan == 0
    assert ViewFrontier(inner, 0).fan == 3


def test_the_inner_frontier_is_the_same_object() -> None:
    one, two = NodeSet(["a"]), NodeSet(["b"])
    found = inner_frontiers([ViewFrontier(one, 1), two])
    assert found[0] is one
    assert found[1] is two
