"""The comparison of two versions' outputs."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from benchmarks import same_results


def compared(old: Path, new: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(sys, "argv", ["same_results.py", str(old), str(new)])
    return same_results.main()


def written(folder: Path, name: str, *records: dict[str, object]) -> Path:
    (folder / "out").mkdir(parents=True)
    (folder / "out" / name).write_text("".join(json.dumps(record) + "\n" for record in records))
    return folder


def test_training_examples_are_compared_under_their_former_name(tmp_path, monkeypatch, capsys):
    old = written(tmp_path / "old", "training_examples.jsonl", {"id": "a", "paths": [["r"]]})
    new = written(tmp_path / "new", "training_examples.jsonl", {"id": "a", "paths": [["r"]]})
    assert compared(old, new, monkeypatch) == 0
    assert "1 files, 1 equal" in capsys.readouterr().out
    other = written(tmp_path / "other", "training_examples.jsonl", {"id": "a", "paths": [["s"]]})
    assert compared(old, other, monkeypatch) == 1


def test_words_may_differ_but_not_the_presence_of_an_error(tmp_path, monkeypatch):
    old = written(tmp_path / "old", "subgraphs.jsonl", {"id": "a", "error": "disk full"})
    other_words = written(tmp_path / "new", "subgraphs.jsonl", {"id": "a", "error": "the disk is full"})
    no_error = written(tmp_path / "none", "subgraphs.jsonl", {"id": "a"})
    assert compared(old, other_words, monkeypatch) == 0
    assert compared(old, no_error, monkeypatch) == 1


def test_a_missing_file_is_a_difference(tmp_path, monkeypatch, capsys):
    old = written(tmp_path / "old", "training_examples.jsonl", {"id": "a"})
    assert compared(old, tmp_path / "nowhere", monkeypatch) == 1
    assert "is missing" in capsys.readouterr().out
