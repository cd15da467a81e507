"""``srtk graph build`` and ``srtk graph info``, as the command line calls them."""

from __future__ import annotations

import argparse
import io
import json
import re
from pathlib import Path

import pytest
from rich.console import Console
from srtk_plugin_local.commands import build, info

from srtk_framework.values import InputError, SnapshotError


def call(command: object, *arguments: str) -> int:
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)  # type: ignore[attr-defined]
    return int(command.run(parser.parse_args(arguments)))  # type: ignore[attr-defined]


@pytest.fixture
def world(tmp_path: Path) -> Path:
    (tmp_path / "a.txt").write_text("Q1|P1|Q2\nQ2|P1|Q3\nQ1|P2|Q3\n")
    (tmp_path / "labels.tsv").write_text("Q1\tRiga\nP1\tcapital of\n")
    return tmp_path


def build_world(world: Path, *more: str) -> Path:
    out = world / "out"
    labels = ("--labels", str(world / "labels.tsv"))
    assert call(build, "--out", str(out), "--separator", "|", *labels, *more, str(world / "a.txt")) == 0
    return out


def test_build_says_what_it_made_and_shows_progress_on_stderr(world: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = build_world(world)
    printed = capsys.readouterr()
    assert printed.out.startswith(f"{out}: 3 triples, 3 entities, 2 relations, content ")
    assert "write forward" in printed.err


def test_quiet_shows_no_progress(world: Path, capsys: pytest.CaptureFixture[str]) -> None:
    build_world(world, "--quiet")
    assert capsys.readouterr().err == ""


def test_a_quiet_build_prints_what_it_skipped_and_nothing_else(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "films.csv"
    table.write_text("subject,relation,object\nAlien,director,Scott\n")
    assert call(build, "--out", str(tmp_path / "whole"), "--quiet", str(table)) == 0
    assert capsys.readouterr() == ("", "")
    table.write_text("subject,relation,object\nAlien,director,Scott\nAlien,,Weaver\n")
    assert call(build, "--out", str(tmp_path / "cut"), "--quiet", str(table)) == 0
    printed = capsys.readouterr()
    assert printed.out == ""
    assert len(printed.err.splitlines()) == 1
    assert "skipped 1 " in printed.err


def test_info_as_json_has_counts_relations_and_label_coverage(world: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = build_world(world, "--quiet")
    capsys.readouterr()
    assert call(info, "--json", "--verify", "--relations", "1", str(out)) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["counts"]["triples"] == 3
    assert facts["label_coverage"] == 0.3333
    example = {"triple": ["Q2", "P1", "Q3"], "labels": ["Q2", "capital of", "Q3"]}
    assert facts["relations"] == [{"id": "P1", "label": "capital of", "triples": 2, "example": example}]
    assert facts["source"] == f"local:{facts['content'][:16]}"
    assert facts["bytes"] == sum(facts["files"].values())


def test_info_as_a_table_names_the_relations(world: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = build_world(world, "--quiet", "--noise", "P2", "--noise", "P3")
    capsys.readouterr()
    assert call(info, "--verify", str(out)) == 0
    said = [" ".join(re.sub("[│┃]", " ", line).split()) for line in capsys.readouterr().out.splitlines()]
    for line in (
        *("entities 3", "relation labels 1", "triples 3", "entities with a label 33.3 %", "ids are names no"),
        *("size 0.0 MB in 39 files", "noise P2, P3", "hashes of all files correct"),
        *("capital of (P1) 2 Q2 → Q3", "P2 1 Riga → Q3"),
    ):
        assert line in said
    assert call(info, "--relations", "-1", "--facts", "-1", str(out)) == 0
    said = capsys.readouterr().out
    assert "hashes" not in said
    assert "relations with the most" not in said
    assert "example facts" not in said


def test_info_shows_example_facts_with_labels(world: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = build_world(world, "--quiet")
    capsys.readouterr()
    assert call(info, "--json", "--facts", "2", str(out)) == 0
    facts = json.loads(capsys.readouterr().out)
    assert [example["triple"] for example in facts["examples"]] == [["Q1", "P1", "Q2"], ["Q1", "P2", "Q3"]]
    assert facts["examples"][0]["labels"] == ["Riga", "capital of", "Q2"]


def test_build_and_info_say_how_a_table_was_read_in_80_columns(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(tmp_path)
    Path("players.csv").write_text("to,type,from,note\nTigres,plays in,Alan,x\nMexico,,Alan,y\n")
    assert call(build, "--out", "out", "players.csv") == 0
    said = capsys.readouterr().err
    assert "players.csv:1: taken as header: to,type,from,note" in said
    assert [line.split() for line in said.splitlines() if line.startswith(("to ", "type ", "from "))] == [
        ["to", "object", "Tigres"],
        ["type", "relation", "plays", "in"],
        ["from", "subject", "Alan"],
    ]
    assert "columns not read: note" in said
    assert "columns: " not in said  # which the table shows
    assert "skipped 1 row with an empty cell, in 3" in said
    assert call(info, "out") == 0
    shown = capsys.readouterr().out
    assert "taken as header: to,type,from,note" in shown
    assert "skipped 1 row with an empty cell, in 3" in shown
    assert "Alan → Tigres" in shown
    assert "columns: " not in shown
    assert max(map(len, shown.splitlines())) <= 80


def test_a_graph_of_no_triple_has_no_example(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.tsv").write_text("")
    assert call(build, "--quiet", "--out", str(tmp_path / "out"), str(tmp_path / "a.tsv")) == 0
    assert call(info, str(tmp_path / "out")) == 0
    assert "a.tsv: is empty" in " ".join(capsys.readouterr().out.split())


def test_flags_of_tables_reach_the_build(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.csv").write_text("name;club;note\nAlan;Tigres,Chivas;fast\n")
    flags = ("--id", "name", "--split", ",", "--literal-columns", "note", "--strict", "--header", "--separator", ";")
    assert call(build, "--out", str(tmp_path / "out"), *flags, str(tmp_path / "a.csv")) == 0
    assert "3 triples, 3 entities, 2 relations" in capsys.readouterr().out


def test_info_refuses_what_is_no_snapshot(tmp_path: Path) -> None:
    with pytest.raises(SnapshotError, match="is not a graph snapshot"):
        call(info, str(tmp_path))


def test_the_schema_file_and_its_flags_add_up(world: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (world / "schema.yaml").write_text("noise: [P2]\ntype_relations: [P1]\n")
    schema_file = str(world / "schema.yaml")
    out = build_world(world, "--quiet", "--schema", schema_file, "--noise", "P9", "--prefix", "wd=urn:w:")
    capsys.readouterr()
    call(info, "--json", str(out))
    schema = json.loads(capsys.readouterr().out)["schema"]
    assert (schema["noise"], schema["type_relations"], schema["prefixes"]) == (["P2", "P9"], ["P1"], {"wd": "urn:w:"})


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--prefix", "wd"], "write it as NAME=IRI"),
        (["--separator", ""], "--separator is empty"),
        (["--schema", "none.yaml"], "none.yaml: cannot be read"),
    ],
)
def test_a_flag_without_sense_is_refused(world: Path, flags: list[str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        build_world(world, *flags)


@pytest.mark.parametrize("content", ["noise: P2\n", "nose: [P2]\n", "- a\n", "a: [b"])
def test_a_schema_file_of_another_shape_is_refused_with_its_name(world: Path, content: str) -> None:
    (world / "schema.yaml").write_text(content)
    with pytest.raises(InputError, match=r"schema\.yaml:(\d+:\d+:)? "):
        build_world(world, "--schema", str(world / "schema.yaml"))


def test_a_line_feed_in_the_name_of_a_file_is_escaped_on_the_screen(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # a long name is broken into lines
    Path("two\nlines.csv").write_text("to,type,from\nTigres,plays in,Alan\nMexico,,Alan\n")
    assert call(build, "--quiet", "--out", "out", "two\nlines.csv") == 0
    [said] = capsys.readouterr().err.splitlines()
    assert said.startswith(r"two\nlines.csv: skipped 1 ")
    assert call(info, "out") == 0
    assert r"two\nlines.csv: " in capsys.readouterr().out


def test_example_facts_are_a_table_without_headings(world: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = build_world(world, "--quiet")
    capsys.readouterr()
    assert call(info, str(out)) == 0
    lines = capsys.readouterr().out.splitlines()
    [at] = (at for at, line in enumerate(lines) if line.strip() == "example facts")
    assert [cell.strip() for cell in lines[at + 2].split("│")] == ["", "Riga", "capital of", "Q2", ""]
    assert lines[2].replace("│", "").split()[0] == "content"  # nor has the first one


def test_a_stage_of_unknown_size_ends_whole_on_the_bar() -> None:
    with build._Bar(Console(file=io.StringIO())) as bar:
        bar("write", 1, 2)
        bar("sort", 0, None)
    assert [(task.description, task.percentage) for task in bar._progress.tasks] == [("write", 100), ("sort", 100)]


@pytest.mark.parametrize(("size", "whole"), [(60, True), (61, False)])
def test_an_example_shows_sixty_characters_of_a_label(
    world: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, size: int, whole: bool
) -> None:
    (world / "labels.tsv").write_text(f"Q1\t{'x' * size}\n")
    out = build_world(world, "--quiet")
    monkeypatch.setenv("COLUMNS", "200")
    capsys.readouterr()
    assert call(info, str(out)) == 0
    assert ("x" * size in capsys.readouterr().out) is whole
