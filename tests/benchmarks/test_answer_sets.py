"""The question sets of benchmarks/answers, and the score by which readers of answers are judged."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks.answers import check, exact_match

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
def test_an_answer_in_another_spelling_is_exact(answer: exact_match.Answer, gold: exact_match.Answer) -> None:
    assert exact_match.is_exact(answer, gold)


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
def test_another_answer_is_not_exact(answer: exact_match.Answer, gold: exact_match.Answer) -> None:
    assert not exact_match.is_exact(answer, gold)


BORDERS = [["peru", "borders", "chile"], ["peru", "borders", "brazil"], ["peru", "borders", "bolivia"]]
JOINED = {"path": ["borders"], "members": 3}


@pytest.mark.parametrize(
    ("trace", "linked", "triples", "answer"),
    [
        ({"kind": "lookup"}, ["peru"], [*BORDERS, ["peru", "capital", "lima"]], ["bolivia", "brazil", "chile"]),
        ({"kind": "lookup"}, ["peru"], [*BORDERS[:1], ["chile", "borders", "argentina"]], ["chile"]),
        ({"kind": "lookup"}, ["chile"], [*BORDERS[:1], ["argentina", "borders", "chile"]], ["argentina", "peru"]),
        ({"kind": "difference", "set": {**JOINED, "without": {}, "left": 2}}, ["peru"], BORDERS, ["brazil", "chile"]),
        ({"kind": "lookup", "set": {**JOINED, "with": {}, "left": 1}}, ["peru"], BORDERS, ["chile"]),
    ],
)
def test_the_simplest_reader_takes_the_members_that_are_left_or_all_ends_at_the_link(
    trace: dict[str, Any], linked: list[str], triples: list[list[str]], answer: list[str], twenty_lines: Any
) -> None:
    record = {"triplets": triples, "trace": trace, "question_entities": linked}
    assert twenty_lines.read_answer(record) == {"entities": answer}


def test_the_simplest_reader_gives_the_value_of_a_lookup(twenty_lines: Any) -> None:
    record = {"triplets": [["lima", "founded", '"1535"']], "trace": {"kind": "lookup"}, "question_entities": ["lima"]}
    assert exact_match.is_exact(twenty_lines.read_answer(record), {"number": 1535})


@pytest.fixture
def twenty_lines(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Import the script as it runs, with its own folder on the path."""
    monkeypatch.syspath_prepend(str(ROOM))
    yield __import__("twenty_lines")
    for name in ("twenty_lines", "exact_match"):
        sys.modules.pop(name, None)


@pytest.mark.parametrize("path", sorted((ROOM / "fresh").glob("*.jsonl")), ids=lambda path: path.stem)
def test_a_fresh_set_repeats_no_question_and_no_id(path: Path) -> None:
    files = [file for file in (path, ROOM / path.name) if file.is_file()]
    rows = [json.loads(line) for file in files for line in file.read_text("utf-8").splitlines()]
    assert len({row["id"] for row in rows}) == len({row["question"].casefold() for row in rows}) == len(rows)
