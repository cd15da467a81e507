"""Held-out facts become patterns whose gold answers are what the training graph lacks."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from srtk_plugin_datasets.link_prediction import WN18RR, CoDEx, FB15k237, Kinship
from srtk_plugin_datasets.nell995 import NELL995

from srtk_framework.values import InputError, Pattern

DATA = Path(os.environ.get("SRTK_DATA", Path(__file__).parents[3] / "../shared/data"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    facts = {
        "train": ["ann in riga", "bob in oslo", "ann near bob"],
        "valid": ["ann in oslo", "eve in riga"],
        "test": ["ann in tallinn", "bob in riga"],
    }
    for part, rows in facts.items():
        (tmp_path / f"{part}.txt").write_text("".join(row.replace(" ", "\t") + "\n" for row in rows))
    return tmp_path


def asked(dataset):
    return {question.pattern: question.answers for question in dataset.read()}


def test_gold_answers_are_all_that_training_lacks(folder):
    assert asked(FB15k237(path=str(folder), ends="object")) == {
        Pattern("ann", "in"): ("tallinn", "oslo"),
        Pattern("bob", "in"): ("riga",),
    }


def test_subjects_are_asked_for_as_well(folder):
    found = asked(WN18RR(path=str(folder)))
    assert found[Pattern(None, "in", "riga")] == ("bob", "eve")
    assert found[Pattern(None, "in", "tallinn")] == ("ann",)
    assert len(found) == 4


def test_validation_facts_can_be_asked_for(folder):
    assert asked(Kinship(path=str(folder), part="valid", ends="object")) == {
        Pattern("ann", "in"): ("oslo", "tallinn"),
        Pattern("eve", "in"): ("riga",),
    }


def test_training_facts_have_themselves_as_answers(folder):
    assert asked(Kinship(path=str(folder), part="train", ends="subject"))[Pattern(None, "in", "riga")] == ("ann",)


def test_a_fact_that_training_holds_is_no_answer(folder):
    with (folder / "test.txt").open("a") as file:
        file.write("bob\tin\toslo\nann\tnear\tbob\n")
    found = asked(Kinship(path=str(folder), ends="subject"))
    assert found[Pattern(None, "in", "oslo")] == ("ann",)
    assert Pattern(None, "near", "bob") not in found


def test_a_missing_part_is_named(folder):
    (folder / "valid.txt").unlink()
    with pytest.raises(InputError, match=r"valid\.txt: no such file"):
        list(FB15k237(path=str(folder)).read())


def test_hard_negatives_stand_among_the_candidates(folder, tmp_path):
    size = tmp_path / "codex-s"
    size.mkdir()
    for part in ("train", "valid", "test"):
        (size / f"{part}.txt").write_text((folder / f"{part}.txt").read_text())
    (size / "test_negatives.txt").write_text("bob\tin\ttallinn\nbob\tin\triga\nzoe\tin\tparis\n")
    found = list(CoDEx(path=str(tmp_path), size="s", negatives=True, ends="object").read())
    assert [(one.pattern, one.answers, one.candidates) for one in found] == [
        (Pattern("bob", "in"), ("riga",), ("riga", "tallinn"))
    ]


def test_a_pair_that_is_listed_as_right_and_as_wrong_is_right(tmp_path):
    task = tmp_path / "tasks" / "plays"
    task.mkdir(parents=True)
    (task / "sort_test.pairs").write_text(
        "thing$ann,thing$chess: -\nthing$ann,thing$chess: +\nthing$ann,thing$golf: -\nthing$bob,thing$golf: -\n"
    )
    (found,) = NELL995(path=str(tmp_path)).read()
    assert (found.pattern, found.answers) == (Pattern("ann", "concept:plays"), ("chess",))
    assert found.candidates == ("chess", "golf")


def test_an_unknown_task_is_named_with_its_neighbour(tmp_path):
    (tmp_path / "tasks" / "plays").mkdir(parents=True)
    (tmp_path / "tasks" / "plays" / "sort_test.pairs").write_text("thing$a,thing$b: +\n")
    with pytest.raises(InputError, match=r"no task 'play'.*plays"):
        list(NELL995(path=str(tmp_path), task="play").read())


@pytest.mark.skipif(
    not (DATA / "nell995").is_dir(), reason="no nell995 in the data folder; SRTK_DATA names another one"
)
def test_the_six_tasks_of_nell995_have_1845_heads():
    questions = list(NELL995(path=str(DATA / "nell995")).read())
    assert len(questions) == 1845
    assert len({question.pattern.relation for question in questions}) == 6
    assert sum(len(question.candidates) > len(question.answers) for question in questions) == 1157


@pytest.mark.skipif(not (DATA / "codex").is_dir(), reason="no codex in the data folder; SRTK_DATA names another one")
def test_codex_s_has_patterns_of_its_1828_test_facts():
    questions = list(CoDEx(path=str(DATA / "codex"), size="s", ends="object").read())
    facts = {tuple(line.split("\t")) for line in (DATA / "codex/codex-s/test.txt").read_text().splitlines()}
    found = {(one.pattern.subject, one.pattern.relation, answer) for one in questions for answer in one.answers}
    assert facts <= found
    assert len(questions) == len({fact[:2] for fact in facts})
