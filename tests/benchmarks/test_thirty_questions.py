"""The thirty questions: their answers are facts of the demo's graph, and README's recipe is read as it stands."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.search.thirty_questions import first_recipe

ROOT = Path(__file__).parents[2]
WORLD = ROOT / "build/demo/world/triples.tsv"
QUESTIONS = ROOT / "benchmarks/search/thirty_questions.jsonl"


def test_there_are_thirty_questions_with_their_answers_in_words() -> None:
    rows = [json.loads(line) for line in QUESTIONS.read_text(encoding="utf-8").splitlines()]
    assert len({row["id"] for row in rows}) == len({row["question"] for row in rows}) == 30
    assert all(row["answer_entities"] and row["in_words"] for row in rows)


def test_every_answer_is_a_node_of_the_graph() -> None:
    if not WORLD.exists():
        pytest.skip("no build/demo/world; `make demo` builds it")
    nodes = {part for line in WORLD.read_text(encoding="utf-8").splitlines() for part in line.split("\t")[::2]}
    rows = [json.loads(line) for line in QUESTIONS.read_text(encoding="utf-8").splitlines()]
    assert {answer for row in rows for answer in row["answer_entities"]} <= nodes


def test_the_first_recipe_is_that_of_the_readme() -> None:
    recipe = first_recipe()
    assert recipe["srtk"] == 1
    assert recipe["expander"]["use"] == "beam"
    assert recipe["path_scorer"]["use"] == "dense"
