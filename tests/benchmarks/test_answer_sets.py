"""The question sets of benchmarks/answers, and the score by which readers of answers are judged."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.answers import check, scoring

ROOM = Path(__file__).resolve().parents[2] / "benchmarks" / "answers"


@pytest.mark.parametrize("name", check.SETS)
def test_pandas_gives_each_gold_answer_on_tables(name: str) -> None:
    wrong, checked, _ = check.wrong_answers(ROOM / name)
    assert checked
    assert not wrong


@pytest.mark.parametrize(
    ("answer", "gold"),
    [
        ({"entities": ["b", "a"]}, {"entities": ["a", "b"]}),
        ({"value": '"19.40"^^xsd:decimal', "unit": "€"}, {"number": 19.4, "unit": "EUR"}),
        ({"value": "21.11.2001"}, {"value": "2001-11-21", "unit": "date"}),
        ({"entities": ["Groceries"]}, {"value": "Groceries"}),
        (None, None),
    ],
)
def test_an_answer_in_another_spelling_is_exact(answer: scoring.Answer, gold: scoring.Answer) -> None:
    assert scoring.is_exact(answer, gold)


@pytest.mark.parametrize(
    ("answer", "gold"),
    [
        ({"entities": ["a"]}, {"entities": ["a", "b"]}),
        ({"number": 3, "unit": "m"}, {"number": 3, "unit": "EUR"}),
        ({"number": 1}, {"yes": True}),
        ({"yes": True}, {"number": 1}),
        ({"entities": []}, None),
        (None, {"yes": False}),
    ],
)
def test_another_answer_is_not_exact(answer: scoring.Answer, gold: scoring.Answer) -> None:
    assert not scoring.is_exact(answer, gold)
