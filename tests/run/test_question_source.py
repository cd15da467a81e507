"""The questions of a run, checked before any work; those of the standard input are kept beside it."""

from __future__ import annotations

import io
import json
import sys

import pytest

from srtk_framework.recipe.recipe import from_data
from srtk_framework.run.question_source import RunQuestions
from srtk_framework.run.runner import Runner
from srtk_framework.run.session import Session
from srtk_framework.values import InputError, RunError

pytestmark = pytest.mark.usefixtures("toys")

ODD = '''
"""Questions that JSON has no form for."""
import attrs
from srtk_framework.roles import Dataset
from srtk_framework.values import Question

@attrs.define
class Odd(Dataset):
    """Two questions, the second with a number that is none."""
    def read(self):
        yield Question("a", "paris?")
        yield Question("b", "rome?", extra={"weight": float("nan")})
'''


def recipe(folder, questions, **more):
    data = {"srtk": 1, "output": str(folder / "run"), "knowledge_graph": "toy", "entity_linker": "words"}
    return from_data({**data, "expander": "onehop", "questions": questions, **more})


def source(folder, questions, **more):
    read = recipe(folder, questions, **more)
    return RunQuestions(Session(read), folder / "run", read)


def given(monkeypatch, text):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))


def test_questions_are_counted_and_hashed_up_to_the_limit(tmp_path):
    file = tmp_path / "q.txt"
    file.write_text("paris?\nrome?\nlima?\n")
    whole, part = source(tmp_path, str(file)), source(tmp_path, str(file), limit=2)
    assert (whole.count, part.count) == (3, 2)
    assert whole.hash != part.hash
    file.write_text("paris?\nrome?\n")
    assert source(tmp_path, str(file)).hash == part.hash


@pytest.mark.parametrize("number", ["1e999", "-1e400", "NaN", "Infinity", "1" * 5000])
def test_a_number_that_cannot_be_written_is_refused_with_its_line_before_any_work(tmp_path, number):
    file = tmp_path / "q.jsonl"
    file.write_text(f'{{"id": "a", "question": "paris?"}}\n{{"id": "b", "question": "rome?", "weight": {number}}}\n')
    with pytest.raises(InputError, match=r"q\.jsonl:2: not valid JSON"):
        Runner(recipe(tmp_path, str(file))).run()
    assert not (tmp_path / "run" / "manifest.json").exists()


def test_a_question_that_a_dataset_makes_unwritable_is_refused_before_any_work(tmp_path, install):
    install("srtk-plugin-odd", "srtk_odd", ODD, {"dataset": {"odd": "Odd"}})
    with pytest.raises(InputError, match=r"question 2 cannot be written into a result: record 'b': field 'weight'"):
        Runner(recipe(tmp_path, {"use": "odd"})).run()
    assert not (tmp_path / "run" / "manifest.json").exists()


def test_the_standard_input_is_kept_and_used_again_when_it_is_empty(tmp_path, monkeypatch):
    given(monkeypatch, "paris?\nrome?\n")
    assert Runner(recipe(tmp_path, "-")).run().questions == 2
    given(monkeypatch, "")
    assert Runner(recipe(tmp_path, "-"), resume=True).run().questions == 2
    assert (tmp_path / "run" / "questions.in").read_text() == "paris?\nrome?\n"
    assert not (tmp_path / "run" / "questions.in.part").exists()


def test_other_input_does_not_replace_that_of_an_unfinished_run(tmp_path, monkeypatch):
    given(monkeypatch, "paris?\nrome?\n")
    Runner(recipe(tmp_path, "-")).run()
    manifest = tmp_path / "run" / "manifest.json"
    manifest.write_text(json.dumps({**json.loads(manifest.read_text()), "state": "running"}))
    given(monkeypatch, "lima?\n")
    with pytest.raises(RunError, match="holds an unfinished run that differs in the questions"):
        Runner(recipe(tmp_path, "-")).run()
    assert (tmp_path / "run" / "questions.in").read_text() == "paris?\nrome?\n"
    assert not (tmp_path / "run" / "questions.in.part").exists()
