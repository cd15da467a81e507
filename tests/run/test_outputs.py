"""Outputs that would be written over inputs, over a run's own files, or over one another are refused."""

from __future__ import annotations

import json
import os

import pytest

from srtk_framework.cli import main
from srtk_framework.recipe.recipe import from_data, load
from srtk_framework.run.outputs import check_outputs
from srtk_framework.run.session import Session
from srtk_framework.values import RecipeError

pytestmark = pytest.mark.usefixtures("toys")


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "q.jsonl").write_text('{"id": "a", "question": "paris?"}\n')
    return tmp_path


def data(**changes):
    base = {"srtk": 1, "questions": "q.jsonl", "output": "run", "knowledge_graph": "toy"}
    return {**base, "entity_linker": "words", "expander": "onehop", **changes}


def lines(*paths):
    return {"exporters": [{"use": "lines", "path": str(path)} for path in paths]}


def problems(*recipes):
    try:
        check_outputs(*(Session(from_data(one)) for one in recipes))
    except RecipeError as error:
        return list(error.problems)
    return []


def test_ordinary_outputs_are_fine():
    assert problems(data(**lines("out.txt", "run/out.txt", "/dev/null", "/dev/null"))) == []


@pytest.mark.parametrize("path", ["q.jsonl", "./q.jsonl", "run/../q.jsonl", "link.jsonl", "hard.jsonl"])
def test_the_questions_are_no_output_by_any_name(place, path):
    os.symlink("q.jsonl", "link.jsonl")
    os.link("q.jsonl", "hard.jsonl")
    (place / "run").mkdir()
    assert problems(data(**lines(path))) == [
        f"recipe: the output {path} is read by recipe; name another path",
    ]


@pytest.mark.parametrize(
    "name",
    [
        "manifest.json",
        ".lock",
        "questions.in",
        "evaluation.json",
        "scores.jsonl",
        "journal/onehop.jsonl",
        "journal/x/y",
    ],
)
def test_the_files_of_the_run_are_no_outputs(name):
    assert problems(data(evaluate=True, **lines(f"run/{name}"))) == [
        f"recipe: the output run/{name} is one of the run's own files; name another path"
    ]


def test_an_output_is_that_of_one_exporter(place):
    os.symlink(place, "here")
    assert problems(data(**lines("a.txt", "b.txt", "here/a.txt"))) == [
        "recipe: the output here/a.txt is also the output of recipe; name another path"
    ]


def test_two_equal_exporters_are_refused():
    assert len(problems(data(**lines("a.txt", "a.txt")))) == 1


def test_an_observer_and_an_exporter_write_to_different_files():
    tracing = {"observers": [{"use": "tracing", "path": "a.txt"}]}
    assert problems(data(**lines("a.txt"), **tracing)) == [
        "recipe: the output a.txt is also the output of recipe; name another path"
    ]


def test_the_recipe_is_no_output(place):
    (place / "r.yaml").write_text(json.dumps(data(**lines("r.yaml"))))
    with pytest.raises(RecipeError, match=r"r\.yaml:1:\d+: the output r\.yaml is read by r\.yaml:1:1"):
        check_outputs(Session(load("r.yaml")))


def test_a_file_that_a_driver_reads_is_no_output(place, install):
    install(
        "srtk-plugin-reading",
        "srtk_reading",
        '"""x"""\nimport attrs\nfrom srtk_toys import OneHop\n@attrs.define\nclass Reading(OneHop):\n    """x"""\n'
        "    paths: list[str] = attrs.field(factory=list)\n",
        {"expander": {"reading": "Reading"}},
    )
    (place / "rules.txt").write_text("x")
    (place / "model").mkdir()
    reading = {"use": "reading", "paths": ["rules.txt", "model", "absent", "x" * 5000, "a\0b"]}
    for path, said in (("rules.txt", "is read by"), ("model/out.txt", "lies in model, which is read by")):
        found = problems(data(expander=reading, **lines(path)))
        assert len(found) == 1
        assert said in found[0]
    compared = {"evaluate": {"against": [{**reading, "name": "other"}]}}
    assert len(problems(data(**compared, **lines("rules.txt")))) == 1
    assert problems(data(expander=reading, **lines("out.txt", "absent"))) == []
    # The working folder, as any that holds the run, is no set of files for one purpose.
    assert problems(data(expander={"use": "reading", "paths": [".", "/"]}, **lines("out.txt"))) == []
    assert "has the place of the run's own files" in problems(data(expander=reading, output="model"))[0]


def test_questions_that_the_run_would_delete_are_refused(place):
    (place / "run" / "journal").mkdir(parents=True)
    (place / "run" / "journal" / "onehop.jsonl").write_text('{"id": "a", "question": "x"}\n')
    found = problems(data(questions="run/journal/onehop.jsonl"))
    assert found == [
        "recipe: run/journal/onehop.jsonl has the place of the run's own files in run; choose another `output:`"
    ]


def test_recipes_run_together_have_folders_and_outputs_of_their_own():
    second = data(output="second", questions="a.txt")
    assert problems(data(**lines("a.txt")), second) == []
    assert "is also the output of" in problems(data(**lines("a.txt")), {**second, **lines("a.txt")})[0]
    assert "the output folder run is also that of" in problems(data(), data())[0]


@pytest.mark.parametrize("command", ["check", "run"])
def test_check_and_run_refuse_before_any_work(place, capsys, command):
    (place / "r.yaml").write_text(json.dumps(data(**lines("q.jsonl"))))
    before = (place / "q.jsonl").read_bytes()
    assert main([command, "r.yaml"]) == 2
    assert "srtk: error: r.yaml:1:" in capsys.readouterr().err
    assert (place / "q.jsonl").read_bytes() == before
    assert not (place / "run").exists()


def test_names_that_differ_in_case_are_one_file_where_the_platform_says_so(monkeypatch):
    assert problems(data(**lines("a.txt", "A.txt"))) == []
    monkeypatch.setattr("srtk_framework.run.outputs.sys.platform", "darwin")
    assert len(problems(data(**lines("a.txt", "A.txt")))) == 1
