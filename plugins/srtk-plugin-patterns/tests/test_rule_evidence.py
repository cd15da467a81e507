"""The triples by which the body of a rule holds."""

from __future__ import annotations

import numpy as np
import pytest
from srtk_plugin_patterns.rule_application import RuleApplication
from srtk_plugin_patterns.rule_evidence import _step_instance, evidence, path_triples
from srtk_plugin_patterns.rules import NOTHING, ConstantRules, PathRules, Rules

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


def test_a_rule_is_told_in_words_with_its_support_its_confidence_and_its_triples() -> None:
    table = TripleTable.from_triples(
        [Triple(*row.split()) for row in ("a r b", "a s c", "c s d", "b s d", "d r e", "a r f")]
    )
    number = table.entity_numbers
    steps = [[2, 2, -1], [0, 2, 0], [2, -1, -1], [1, -1, -1]]
    paths = PathRules(np.zeros(4, np.int64), np.array(steps), np.array([1995, 1, 2, 3]), np.array([1995, 5, 3, 5]))
    # r(X, e) <- s(X, d); r(X, e) <- s(X, A); r(X, e) <- X occurs there; r(a, Y) <- s(Y, d).
    rows = [(False, "e", 2, "d"), (False, "e", 2, ""), (False, "e", -1, ""), (True, "a", 2, "d")]
    columns = [
        [0] * 4,
        [at for at, *_ in rows],
        [number[constant] for _, constant, *_ in rows],
        [step for *_, step, _ in rows],
        [number.get(value, NOTHING) for *_, value in rows],
        [1, 2, 3, 4],
        [5, 5, 5, 5],
    ]
    constants = ConstantRules(*map(np.array, columns))
    application = RuleApplication(table, Rules(table.entities, table.relations, paths, constants, "", ""))

    def told(subject: str, object_: str, *rules: int) -> list[tuple[str, float, list[str]]]:
        pair = (number[subject], number[object_])
        found = evidence(application, 0, pair, rules, str.upper, "here")
        assert {(one.kind, one.source) for one in found} == {("path", "here")}
        return [(one.text, one.score, [" ".join(triple) for triple in one.triples]) for one in found]

    assert told("a", "d", 0) == [("R(X, Y) ← S(X, A), S(A, Y) (1,995 of 1,995)", 0.9975, ["a s c", "c s d"])]
    assert told("a", "e", 1) == [("R(X, Y) ← R(X, A), S(A, B), R(B, Y) (1 of 5)", 0.1, ["a r b", "b s d", "d r e"])]
    assert told("a", "c", 2) == [("R(X, Y) ← S(X, Y) (2 of 3)", 0.25, ["a s c"])]
    assert told("b", "a", 3) == [("R(X, Y) ← R(Y, X) (3 of 5)", 0.3, ["a r b"])]
    assert told("c", "e", 4, 5, 6) == [
        ("R(X, E) ← S(X, D) (1 of 5)", 0.1, ["c s d"]),
        ("R(X, E) ← S(X, A) (2 of 5)", 0.2, ["c s d"]),
        ("R(X, E) ← X occurs there (3 of 5)", 0.3, []),
    ]
    assert told("a", "b", 7) == [("R(A, Y) ← S(Y, D) (4 of 5)", 0.4, ["b s d"])]
