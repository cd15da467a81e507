"""Multiple-choice questions: both forms of their files, refusals, the real sets, and runs over them."""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from srtk_plugin_datasets.multiple_choice import PIQA, CommonsenseQA, MultipleChoice, OpenBookQA, SocialIQA

from srtk_framework.cli import main
from srtk_framework.host import load
from srtk_framework.records import dumps, read_questions, read_retrievals, record_from_question
from srtk_framework.values import InputError, Question

ROOT = Path(__file__).parents[3]
DATA = Path(os.environ.get("SRTK_DATA", ROOT.parent / "shared" / "data")) / "commonsense_qa"


def instruction(text: str, *options: str, answer: str | None = None, word: str = "answer", gap: str = " ") -> Any:
    """Return a record in the form of LLM-Adapters."""
    marks = [f"{word}{number}" for number in range(1, len(options) + 1)]
    listed = gap.join(f"{mark.capitalize()}: {option}" for mark, option in zip(marks, options, strict=True))
    head = f"Please choose the correct {word} to the question: {text}"
    record = {"instruction": f"{head}\n\n{listed}\n\nAnswer format: {'/'.join(marks)}", "input": ""}
    return record if answer is None else {**record, "output": f"the correct answer is {answer}", "answer": answer}


def question(*options: str, key: str | None = None, **more: Any) -> Any:
    """Return a record of a question and its choices."""
    choices = {"label": list("ABCDE"[: len(options)]), "text": list(options)}
    record = {"id": "a", "question": "What burns?", "question_concept": "burn", "choices": choices, **more}
    return record if key is None else {**record, "answerKey": key}


def listed(folder: Path, *records: Any) -> str:
    """Write a JSON list, each record in a line of its own from line 2 on."""
    path = folder / "openbookqa_test.json"
    path.write_text("[\n" + ",\n".join(map(json.dumps, records)) + "\n]\n", encoding="utf-8")
    return str(path)


def lines(folder: Path, *records: Any) -> str:
    path = folder / "csqa_dev_rand_split.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return str(path)


def test_an_instruction_gives_the_question_without_its_options(tmp_path: Path) -> None:
    path = listed(tmp_path, instruction("What burns? It is dry.", "sand", "dry wood", "a lake", answer="answer2"))
    assert list(OpenBookQA(path).read()) == [
        Question(
            "openbookqa-test-1", "What burns? It is dry.", answers=("dry wood",), options=("sand", "dry wood", "a lake")
        )
    ]


def test_solutions_stand_in_lines_of_their_own(tmp_path: Path) -> None:
    path = tmp_path / "test.json"
    record = instruction(
        "How to dry wood?", "In\nthe sun. ", "In a lake.", answer="solution1", word="solution", gap="\n\n"
    )
    path.write_text(json.dumps([record]), encoding="utf-8")
    (found,) = PIQA(str(tmp_path)).read()
    assert found == Question(
        "piqa-test-1", "How to dry wood?", answers=("In\nthe sun.",), options=("In\nthe sun.", "In a lake.")
    )


def test_ids_are_the_positions_in_the_file_whatever_its_place(tmp_path: Path) -> None:
    records = [instruction("What burns?", "sand", f"wood {i}", answer="answer2") for i in range(3)]
    (tmp_path / "test.json").write_text(json.dumps(records), encoding="utf-8")
    listed(tmp_path, *records)
    for path in (tmp_path / "test.json", tmp_path / "openbookqa_test.json", tmp_path):
        ids = [found.id for found in OpenBookQA(str(path)).read()]
        assert ids == ["openbookqa-test-1", "openbookqa-test-2", "openbookqa-test-3"]


def test_a_limit_samples_by_the_ids(tmp_path: Path) -> None:
    path = listed(tmp_path, *[instruction("What burns?", "sand", f"wood {i}", answer="answer2") for i in range(9)])
    every = list(OpenBookQA(path).read())
    some = list(OpenBookQA(path, limit=4).read())
    assert len(some) == 4
    assert [one for one in every if one in some] == some
    assert some != list(OpenBookQA(path, limit=4, seed=1).read())
    assert list(OpenBookQA(path, limit=4, seed=None).read()) == every[:4]


@pytest.mark.parametrize("driver", [CommonsenseQA, OpenBookQA])
def test_choices_stand_beside_the_question_or_within_it(tmp_path: Path, driver: type[MultipleChoice]) -> None:
    flat = question("sand", "dry wood", key="B")
    rows = [{"text": "sand", "label": "A"}, {"text": "dry wood", "label": "B"}]
    inner = {"stem": "What burns?", "question_concept": "burn", "choices": rows}
    wanted = Question(
        "a", "What burns?", answers=("dry wood",), options=("sand", "dry wood"), extra={"question_concept": "burn"}
    )
    for record in (flat, {"id": "a", "question": inner, "answerKey": "B"}):
        assert list(driver(lines(tmp_path, record)).read()) == [wanted]


def test_a_file_without_keys_has_no_gold(tmp_path: Path) -> None:
    (tmp_path / "test_rand_split_no_answers.jsonl").write_text(json.dumps(question("sand", "wood")), encoding="utf-8")
    (found,) = CommonsenseQA(str(tmp_path), split="test").read()
    assert found.answers is None
    assert found.options == ("sand", "wood")


def test_other_fields_are_kept_and_the_sentence_with_the_answer_is_not(tmp_path: Path) -> None:
    (found,) = OpenBookQA(lines(tmp_path, question("sand", "wood", key="A", fact1="wood burns"))).read()
    assert found.extra == {"question_concept": "burn", "fact1": "wood burns"}
    (found,) = OpenBookQA(listed(tmp_path, instruction("What burns?", "sand", "wood", answer="answer2"))).read()
    assert found.extra == {}


def test_options_of_one_text_are_refused_or_merged(tmp_path: Path) -> None:
    good = instruction("What is wet?", "sand", "a lake", answer="answer2")
    path = listed(tmp_path, good, instruction("What burns?", "wood", "sand", "wood", answer="answer3"))
    with pytest.raises(InputError, match=r"test.json:3: 'wood' is an option more than once; .*repeated: merge"):
        list(OpenBookQA(path).read())
    merged = list(OpenBookQA(path, repeated="merge").read())[1]
    assert merged.options == ("wood", "sand")
    assert merged.answers == ("wood",)


GOOD = instruction("What is wet?", "sand", "a lake", answer="answer2")


@pytest.mark.parametrize(
    ("record", "said"),
    [
        (
            instruction("What burns?", "wood Answer2: sand", "a lake", answer="answer1"),
            "are marked answer1, answer2, answer2, and their format is answer1/answer2; .*must not hold such a mark",
        ),
        (instruction("Is Answer1: right?", "yes", "no", answer="answer1"), "are marked answer1, answer1, answer2"),
        (
            instruction("What burns?", "wood", "sand", answer="answer3"),
            "gold option 'answer3' must be one of.*answer1,",
        ),
        (instruction("What burns?", "wood", "", answer="answer1"), "an option is empty"),
        (instruction("What burns?", "wood", "sand"), "no gold option, and the questions before have one"),
        ({**GOOD, "answer": 2}, "field 'answer' must be a string, not 2"),
        ({**GOOD, "instruction": "What burns?"}, "must read 'Please choose the correct answer to the question: "),
        ({"text": "What burns?"}, "field 'choices' is missing"),
    ],
)
def test_an_instruction_without_clear_options_is_refused_with_its_line(tmp_path: Path, record: Any, said: str) -> None:
    with pytest.raises(InputError, match=rf"openbookqa_test\.json:3: .*{said}"):
        list(OpenBookQA(listed(tmp_path, GOOD, record)).read())


@pytest.mark.parametrize(
    ("record", "said"),
    [
        (question("wood", "sand", key="C"), "gold option 'C' must be one of the options, which are A, B"),
        (question("wood", "sand", key="A", choices={"label": ["A", "A"], "text": ["x", "y"]}), "which are A, A"),
        (question("wood", key="A", choices={"label": ["A", "B"], "text": ["x"]}), "1 choices and 2 labels"),
        (question("wood", key="A", choices=[{"label": "A"}]), "field 'choices.text' is missing"),
        (question("wood", key="A", choices=["wood"]), r"field 'choices\[0\]' must be an object"),
        (question(key="A"), "no options"),
        (
            question("wood", "sand", key="A", question={"stem": 7, "choices": []}),
            "field 'stem' must be a string, not 7",
        ),
        (question("wood", "sand", key="A", id="b", question=None), "field 'question' is missing"),
        (question("wood", "sand", key="A"), "id 'a' was already used at "),
    ],
)
def test_choices_that_are_not_clear_are_refused_with_their_line(tmp_path: Path, record: Any, said: str) -> None:
    with pytest.raises(InputError, match=rf"csqa_dev_rand_split\.jsonl:2: .*{said}"):
        list(CommonsenseQA(lines(tmp_path, question("wood", "sand", key="A"), record)).read())


def test_a_split_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match=r"no openbookqa_dev.json and no dev.json and no dev.jsonl here; .*check split"
    ):
        list(OpenBookQA(str(tmp_path), split="dev").read())


# Runs: options and the gold one are texts, which no stage may take for ids


OPTIONS = ('"Be brave!"', "dry wood", "Riga", "xsd:date: <no> ^id?")
"""A text in quotation marks, as literals are; a plain one; the id of a node; and one of signs that ids have."""


def recipe(folder: Path, **more: Any) -> str:
    """Write a graph, questions of which each option is the gold one once, and a recipe over them."""
    (folder / "facts.tsv").write_text("Riga\tcapital_of\tLatvia\nLatvia\tborders\tEstonia\n", encoding="utf-8")
    records = [instruction("Is Riga here?", *OPTIONS, answer=f"answer{i}") for i in range(1, 5)]
    listed(folder, *records)
    whole = {
        "srtk": 1,
        "questions": {"use": "openbookqa", "path": str(folder)},
        "knowledge_graph": {"use": "local", "path": str(folder / "graph"), "build": {"files": ["facts.tsv"]}},
        "entity_linker": {"use": "dictionary"},
        "expander": {"use": "bfs", "depth": 1},
        "output": str(folder / "run"),
        "exporters": [
            {"use": "jsonl", "path": str(folder / "out.jsonl")},
            {"use": "text", "path": str(folder / "out.txt")},
            {"use": "html", "path": str(folder / "out.html")},
        ],
        "evaluate": True,
        **more,
    }
    (folder / "recipe.yaml").write_text(json.dumps(whole), encoding="utf-8")
    return str(folder / "recipe.yaml")


def test_a_run_keeps_options_and_gold_as_texts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["check", recipe(tmp_path)]) == 0
    assert main(["run", recipe(tmp_path), "--quiet"]) == 0
    retrievals = list(read_retrievals(tmp_path / "out.jsonl"))
    assert [one.question.options for one in retrievals] == [OPTIONS] * 4
    assert [one.question.answers for one in retrievals] == [(option,) for option in OPTIONS]
    assert all(one.error is None and one.subgraph.triples for one in retrievals)
    assert [one.options for one in read_questions(tmp_path / "out.jsonl")] == [OPTIONS] * 4
    (method,) = json.loads((tmp_path / "run" / "evaluation.json").read_text(encoding="utf-8"))["methods"].values()
    assert method["answer_recall"]["mean"] == 0.0
    assert method["answer_recall"]["n"] == 4


def test_a_run_that_was_broken_off_goes_on_to_the_same_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["run", recipe(tmp_path), "--quiet"]) == 0
    whole = (tmp_path / "out.jsonl").read_bytes()
    journal = tmp_path / "run" / "journal" / "bfs.jsonl"
    finished = journal.read_bytes()
    journal.write_bytes(finished[: len(finished) // 2])
    manifest = tmp_path / "run" / "manifest.json"
    state = json.loads(manifest.read_text(encoding="utf-8"))
    manifest.write_text(json.dumps({**state, "state": "running"}), encoding="utf-8")
    assert main(["run", recipe(tmp_path), "--quiet", "--resume"]) == 0
    assert journal.read_bytes() == finished
    assert (tmp_path / "out.jsonl").read_bytes() == whole


# The real sets


def real() -> str:
    if not DATA.is_dir():
        pytest.skip("no commonsense_qa in the data folder; set SRTK_DATA")
    return str(DATA)


@pytest.mark.parametrize(
    ("name", "split", "options", "merged"),
    [
        ("openbookqa", "train", {4: 4954, 3: 3}, True),
        ("openbookqa", "test", {4: 500}, False),
        ("piqa", "test", {2: 1838}, False),
        ("socialiqa", "test", {3: 1949, 2: 5}, True),
        ("commonsenseqa", "dev", {5: 806, 4: 15}, True),
    ],
)
def test_the_real_sets_are_read_whole(name: str, split: str, options: dict[int, int], merged: bool) -> None:
    driver = load("dataset", name)
    questions = list(driver(path=real(), split=split, repeated="merge").read())
    assert Counter(len(found.options) for found in questions) == options
    for found in questions:
        (gold,) = found.answers or ()
        assert gold in found.options
        assert found.text
        assert not any(
            mark in text for text in (found.text, *found.options) for mark in ("Answer1", "Solution1", "\n\n")
        )
    if merged:
        with pytest.raises(InputError, match=r":\d+: .* is an option more than once"):
            list(driver(path=real(), split=split).read())
    else:
        assert list(driver(path=real(), split=split).read()) == questions


def test_each_question_of_the_real_commonsenseqa_has_its_concept() -> None:
    questions = list(CommonsenseQA(real(), repeated="merge").read())
    assert all(isinstance(found.extra["question_concept"], str) for found in questions)
    assert questions[0].extra["question_concept"] == "revolving door"


def test_the_real_socialiqa_is_written_and_read_again(tmp_path: Path) -> None:
    questions = list(SocialIQA(real(), repeated="merge").read())
    path = tmp_path / "questions.jsonl"
    path.write_text("".join(dumps(record_from_question(found)) + "\n" for found in questions), encoding="utf-8")
    assert list(read_questions(path)) == questions
