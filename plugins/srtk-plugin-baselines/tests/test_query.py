"""`srtk query`: patterns on a table, by names and ids; answers that the graph lacks; what is refused."""

from __future__ import annotations

import json
import re

import pytest

from srtk_framework.cli import FAILED, OK, USAGE, main

TABLE = (
    "subject,relation,object\nEinstein,born in,Ulm\nPlanck,born in,Kiel\nEinstein,field,physics\nPlanck,field,physics\n"
)


@pytest.fixture
def people(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text(TABLE)
    return "people.csv"


def test_patterns_are_looked_up_one_after_the_other(people, capsys):
    assert main(["query", "(?, field, physics)", "(Einstein, born in, ?)", "-kg", people]) == OK
    assert capsys.readouterr().out.splitlines() == [
        "(?, field, physics)",
        "  in the graph  Einstein",
        "  in the graph  Planck",
        "(Einstein, born in, ?)",
        "  in the graph  Ulm",
    ]


def test_names_are_taken_in_place_of_ids_whatever_their_case(people, capsys):
    assert main(["query", "(einstein, Born In, ?)", "-kg", people]) == OK
    assert capsys.readouterr().out.splitlines()[0] == "(Einstein, born in, ?)"


def test_a_record_is_printed_as_json(people, capsys):
    assert main(["query", "(Einstein, born in, ?)", "-kg", people, "--json"]) == OK
    record = json.loads(capsys.readouterr().out)
    assert record["pattern"] == ["Einstein", "born in", None]
    assert record["question_entities"] == ["Einstein"]
    assert record["answer"]["entities"] == ["Ulm"]


def test_what_is_left_out_is_counted(people, capsys):
    assert main(["query", "(?, field, physics)", "-kg", people, "--triples", "1"]) == OK
    assert capsys.readouterr().out.splitlines()[-1].strip() == "and 1 more"


def test_a_pattern_that_nothing_fits_says_why_and_fails(people, capsys):
    assert main(["query", "(Einstein, born, ?)", "-kg", people]) == FAILED
    assert "no triple of the graph fits (Einstein, born, ?). Did you mean 'born in'?" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("pattern", "what"),
    [
        ("(Einstein, born in)", "is not a pattern of three parts"),
        ("(?, born in, ?)", "needs a relation, and a question mark for one of subject and object"),
        ("(Einstein, ?, Ulm)", "needs a relation, and a question mark for one of subject and object"),
        (
            "(Einstien, field, ?)",
            "no 'Einstien', neither as an id nor as a name. Did you mean 'einstein'?",
        ),
    ],
)
def test_another_pattern_is_refused(people, capsys, pattern, what):
    assert main(["query", pattern, "-kg", people]) == USAGE
    assert what in capsys.readouterr().err


def test_a_comma_between_quotation_marks_parts_nothing(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "g.nt").write_text('<urn:a> <urn:r> "x, y" .\n')
    assert main(["query", '(?, urn:r, "x, y")', "-kg", "g.nt"]) == OK
    assert "urn:a" in capsys.readouterr().out


def test_a_recipe_brings_its_graph_and_needs_no_expander(people, tmp_path, capsys):
    (tmp_path / "r.yaml").write_text(
        "srtk: 1\nquestions: none.jsonl\nknowledge_graph: {use: local, path: built, build: {files: [people.csv]}}\n"
        "expander: {use: beam}\npath_scorer: {use: dense}\nexporters: [{use: jsonl, path: out.jsonl}]\n"
    )
    assert main(["query", "(Einstein, born in, ?)", "-r", "r.yaml"]) == OK
    assert "Ulm" in capsys.readouterr().out
    assert not (tmp_path / "out.jsonl").exists()


def test_a_recipe_without_a_graph_is_refused(tmp_path, capsys):
    (tmp_path / "r.yaml").write_text("srtk: 1\n")
    assert main(["query", "(a, r, ?)", "-r", str(tmp_path / "r.yaml")]) == USAGE
    assert "knowledge_graph" in capsys.readouterr().err


RATED = "srtk: 1\nknowledge_graph: {use: local, path: built, build: {files: [people.csv]}}\ncompleter: frequency\n"


def test_candidates_are_ranked_by_the_completer_of_the_recipe(people, tmp_path, capsys):
    (tmp_path / "r.yaml").write_text(RATED)
    asked = ["query", "(Einstein, field, ?)", "(Ulm, born in, ?)", "-r", "r.yaml", "-c"]
    assert main([*asked, "planck", "physics", "Kiel"]) == OK
    lines = re.sub(r":local:\w+", "", capsys.readouterr().out).splitlines()
    assert lines == [
        "(Einstein, field, ?)",
        "  in the graph  physics",
        "        0.0000  Kiel, by frequency",
        "        0.0000  Planck, by frequency",
        "(Ulm, born in, ?)",
        "        0.5000  Kiel, by frequency",
        "        0.0000  Planck, by frequency",
        "        0.0000  physics, by frequency",
    ]
    assert main([*asked, "Kiel", "Kiel", "physics", "--json"]) == OK
    assert json.loads(capsys.readouterr().out.splitlines()[0])["candidates"] == ["Kiel", "physics"]


def test_candidates_need_a_completer_and_are_entities_of_the_graph(people, tmp_path, capsys):
    (tmp_path / "r.yaml").write_text(RATED.replace("completer: frequency\n", ""))
    for source, what in (
        (["-kg", people], "give a --recipe that has `completer:`"),
        (["-r", "r.yaml"], "add `completer:` to r.yaml"),
    ):
        assert main(["query", "(Einstein, field, ?)", *source, "-c", "Kiel"]) == USAGE
        assert what in capsys.readouterr().err
    (tmp_path / "r.yaml").write_text(RATED)
    assert main(["query", "(Einstein, field, ?)", "-r", "r.yaml", "-c", "Kile"]) == USAGE
    assert "the graph has no 'Kile', neither as an id nor as a name. Did you mean 'kiel'?" in capsys.readouterr().err
