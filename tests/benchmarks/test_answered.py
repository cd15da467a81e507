"""Rankings of the answers to several patterns, against values computed by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks.knowlybert.answered import Answered, Curve, read, write


def answer(name: str, sought: int, *rated: tuple[float, bool]) -> Answered:
    """Make the answer to a pattern from the confidence of each completion, and whether it is right."""
    sure, right = zip(*rated, strict=True) if rated else ((), ())
    return Answered(0, "object", "frequency", name, "r", "1-1", sought, 1, 1, name, sure, right)


SOME = [answer("a", 2, (0.9, True), (0.5, False)), answer("b", 1, (0.5, True), (0.1, False)), answer("c", 1)]
ONCE = np.ones(3)


def test_the_area_is_the_precision_where_right_completions_are_told_over_all_that_are_sought() -> None:
    # 1 of 1 at .9; both of .5 are told together, 2 of 3; of four sought ones two are never told.
    assert Curve(SOME).area(ONCE) == pytest.approx((1 + 2 / 3) / 4)


def test_a_pattern_that_is_drawn_twice_counts_twice() -> None:
    assert Curve(SOME).area(np.array([2.0, 1.0, 0.0])) == pytest.approx((2 * 1 + 1 * 3 / 5) / 5)


def test_precision_is_read_at_the_first_cut_that_finds_enough() -> None:
    assert Curve(SOME).read(ONCE) == pytest.approx((1.0, 0.5))
    assert np.isnan(Curve([answer("c", 1)]).read(np.ones(1))[0])


def test_answers_are_read_as_they_were_written(tmp_path: Path) -> None:
    write(tmp_path / "answers.jsonl", SOME)
    assert read(tmp_path / "answers.jsonl") == SOME
