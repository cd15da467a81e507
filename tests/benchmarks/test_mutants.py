"""What the mutation run leaves alone, and which tests it chooses."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import mutants

ROOT = Path(__file__).resolve().parents[2]


SOURCE = '''\
"""Doc."""
SIZE: int | None = 3


def sizes(values: list[int | None], most: int = 4) -> int | str:
    if (
        values
        and most
    ):
        return sum(
            len(row)
            for row in zip(values, values, strict=True)
        )
    return 0
'''


def test_a_statement_is_chosen_whole_and_of_a_compound_one_its_head() -> None:
    spans = mutants.Spans(SOURCE)
    found = {line: spans.statement(line) for line in (2, 5, 8, 11, 14, 99)}
    assert {line: (span.start, span.stop - 1) for line, span in found.items()} == {
        2: (2, 2), 5: (5, 5), 8: (6, 9), 11: (10, 13), 14: (14, 14), 99: (99, 99),
    }  # fmt: skip


def test_annotations_and_the_strict_of_zip_are_left_alone() -> None:
    spans = mutants.Spans(SOURCE)
    rows = SOURCE.splitlines()

    def inert(line: int, text: str) -> bool:
        return spans.is_inert((line, rows[line - 1].index(text)))

    assert inert(2, "|")
    assert inert(5, "|")
    assert inert(5, "int | str")
    assert inert(12, "True")
    assert not inert(2, "3")
    assert not inert(5, "4")
    assert not inert(12, "values")


@pytest.mark.parametrize(
    ("operator", "taken"),
    [
        ("core/ReplaceBinaryOperator_Add_Sub", True),
        ("core/ReplaceBinaryOperator_Add_BitOr", False),
        ("core/ReplaceComparisonOperator_Lt_LtE", True),
        ("core/ReplaceComparisonOperator_Lt_Is", False),
        ("core/ReplaceComparisonOperator_Is_IsNot", True),
        ("core/NumberReplacer", True),
        ("core/ZeroIterationForLoop", True),
    ],
)
def test_operators_are_exchanged_for_their_nearest(operator: str, taken: bool) -> None:
    assert mutants.sensible(operator) is taken


def test_a_mutant_meets_the_tests_of_its_lines_quickest_first() -> None:
    seconds = {"slow": 2.0, "quick": 0.1, "other": 1.0}
    chosen = mutants.Selection({1: {""}, 2: {"slow", "quick"}, 3: {"", "other"}}, seconds)
    assert chosen.of(range(2, 4)) == ["quick", "other", "slow"]
    assert chosen.of(range(2, 3)) == ["quick", "slow"]
    assert chosen.of(range(1, 2)) == ["quick", "other", "slow"], "what an import runs belongs to all"
    assert chosen.of(range(7, 9)) == []


def test_a_change_is_told_by_what_it_takes_and_puts() -> None:
    diff = "--- mutation diff ---\n--- a/x.py\n+++ b/x.py\n@@ -1,3 +1,3 @@\n a\n-    b  + 1\n+    b  - 1\n c"
    assert mutants.change(diff) == ("b + 1", "b - 1")


def test_a_fork_returns_the_status_of_its_work_or_none_beyond_its_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mutants, "OUT", tmp_path)
    assert mutants.forked(lambda: 3, 60) == 3
    assert mutants.forked(lambda: 1 // 0, 60) == 70
    assert mutants.forked(lambda: __import__("time").sleep(60), 0.2) is None


def test_every_module_and_test_of_the_list_exists() -> None:
    for module in mutants.MODULES.values():
        assert all((ROOT / path).exists() for path in (module.file, *module.tests))
