"""The triples by which the body of a rule holds."""

from __future__ import annotations

import pytest
from srtk_plugin_patterns.rule_evidence import _step_instance, path_triples
from srtk_plugin_patterns.rules import NOTHING

from srtk_framework.graph import TripleTable
from srtk_framework.values import Triple

TABLE = TripleTable.from_triples(
    [Triple(*row.split()) for row in ("a r b", "a r x", "c r b", "c r x", "a r a", "a r d")]
)
A, B, C, D, X = (TABLE.entity_numbers[name] for name in "abcdx")
R, BACK = 0, 1


def test_the_path_of_a_rule_visits_no_node_twice() -> None:
    # Over x and back to a would be the first by number.
    assert path_triples(TABLE, (A, B), [R, BACK, R]) == [(A, 0, X), (C, 0, X), (C, 0, B)]
    with pytest.raises(ValueError, match="no path"):
        path_triples(TABLE, (D, B), [BACK, R, R])


def test_a_step_to_any_entity_shows_neither_the_constant_nor_the_variable() -> None:
    assert _step_instance(TABLE, A, B, R, NOTHING) == [(A, 0, D)]
    assert _step_instance(TABLE, X, A, BACK, NOTHING) == [(C, 0, X)]
    assert _step_instance(TABLE, A, B, R, X) == [(A, 0, X)]
    assert _step_instance(TABLE, A, B, NOTHING, NOTHING) == []
