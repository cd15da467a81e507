"""``srtk datasets graph``: one graph of the questions' own ones, ready for ``srtk graph build``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from srtk_framework.cli import main


def rog(path: Path, *graphs: list[list[str]]) -> Path:
    lines = [json.dumps({"id": str(i), "question": "q", "graph": graph}) for i, graph in enumerate(graphs)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_the_union_of_the_graphs_is_written_once_and_can_be_built(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rog(tmp_path / "train.jsonl", [["Ann", "r", "Bob"]], [["Ann", "r", "Bob"], ["Bob", "s", 'Cid "C"']])
    rog(tmp_path / "test.jsonl", [["Bob", "s", "a\tb"], ["Bob", "", "x"], ["Cid", "r", "Ann"]])
    out = tmp_path / "new" / "graph.tsv"
    assert main(["datasets", "graph", "rog", str(tmp_path), "--out", str(out)]) == 0
    assert out.read_text(encoding="utf-8") == 'Ann\tr\tBob\nBob\ts\tCid "C"\nCid\tr\tAnn\n'
    told = capsys.readouterr()
    assert "3 triples of 3 questions" in told.out
    assert "left out: 2 triples" in told.err
    pytest.importorskip("srtk_plugin_local")
    assert main(["graph", "build", "--names", "--out", str(tmp_path / "kg"), str(out)]) == 0
    assert "3 triples" in capsys.readouterr().out


def test_the_graphs_of_gtsqa_are_written_by_id_with_labels_beside(tmp_path: Path) -> None:
    path = rog(tmp_path / "a.jsonl", [["Italy (Q38)", "part of (P361)", "EU (rope) (Q46)"]])
    out, labels = tmp_path / "g.tsv", tmp_path / "l.tsv"
    assert main(["datasets", "graph", "gtsqa", str(path), "--out", str(out), "--labels", str(labels)]) == 0
    assert out.read_text(encoding="utf-8") == "Q38\tP361\tQ46\n"
    assert labels.read_text(encoding="utf-8") == "P361\tpart of\nQ38\tItaly\nQ46\tEU (rope)\n"


@pytest.mark.parametrize(
    ("graph", "said"),
    [([["Ann", "r"]], "must hold rows of subject, relation and object"), ([["Ann", "r", 3]], "must be a string")],
)
def test_a_malformed_graph_is_refused_and_leaves_no_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], graph: list[list[str]], said: str
) -> None:
    path = rog(tmp_path / "a.jsonl", graph)
    assert main(["datasets", "graph", "rog", str(path), "--out", str(tmp_path / "g.tsv")]) == 2
    told = capsys.readouterr().err
    assert said in told
    assert "a.jsonl:1" in told
    assert [file.name for file in tmp_path.iterdir()] == ["a.jsonl"]


def test_a_folder_without_the_splits_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["datasets", "graph", "rog", str(tmp_path), "--out", str(tmp_path / "g.tsv")]) == 2
    assert "no file of the splits train, validation, dev, test here" in capsys.readouterr().err
