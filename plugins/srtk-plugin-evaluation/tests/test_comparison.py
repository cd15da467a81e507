"""Comparison of several runs."""

from __future__ import annotations

import builtins
import json
from pathlib import Path
from typing import Any

import attrs
import pytest
from kit.placed import rows
from srtk_plugin_evaluation.comparison import compare_runs, merged
from srtk_plugin_evaluation.reports import compare_runs as compare_and_say
from srtk_plugin_evaluation.rows import Row
from srtk_plugin_evaluation.scores import write_scores

from srtk_framework.values import InputError


def run(folder: Path, seconds: float | None = None, **methods: list[Row]) -> Path:
    folder.mkdir(parents=True)
    write_scores(folder, [(name, one) for name, some in methods.items() for one in some])
    return folder


def test_a_folder_without_scores_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"has no scores.jsonl; give the folder of a finished run"):
        compare_runs([tmp_path])


def test_main_methods_are_named_after_their_runs_and_equal_baselines_are_merged() -> None:
    runs = {
        "zero": {"beam": rows(5), "bfs": rows(3, seconds=0.1)},
        "trained": {"beam": rows(0), "bfs": rows(3, seconds=0.2)},
    }
    assert list(merged(runs)) == ["zero", "trained", "bfs"]
    runs["trained"]["bfs"] = rows(4)
    assert list(merged(runs)) == ["zero", "trained", "zero/bfs", "trained/bfs"]


def test_rows_are_in_the_order_of_the_first_run() -> None:
    found = merged({"a": {"beam": rows(1)}, "b": {"beam": rows(1)[::-1]}})
    assert found["a"] == found["b"]


def test_runs_on_other_questions_under_the_same_ids_are_refused(tmp_path: Path) -> None:
    folders = [run(tmp_path / "a", beam=rows(1)), run(tmp_path / "b", beam=rows(1, mark="other "))]
    with pytest.raises(InputError, match="12 ids have different texts, such as 0"):
        compare_runs(folders)


def test_runs_are_compared_by_the_first_main_method(tmp_path: Path) -> None:
    folders = [run(tmp_path / "trained", beam=rows(0)), run(tmp_path / "zero", beam=rows(6), bfs=rows(7))]
    report = compare_runs(folders, fields=["kind"])
    assert list(report["methods"]) == ["trained", "zero", "bfs"]
    assert list(report["differences"]) == ["trained - zero", "trained - bfs"]
    assert report["at"]["differences"]["trained - zero"]["answer_recall"]["5"]["mean"] == 1.0
    assert report["slices"]["kind"]["1"]["questions"] == 6


def test_the_training_data_of_a_run_is_found_through_its_manifest(tmp_path: Path) -> None:
    folders = [run(tmp_path / "zero", beam=rows(0)), run(tmp_path / "trained", beam=rows(0))]
    training = tmp_path / "training"
    training.mkdir()
    (training / "training_examples.jsonl").write_text(
        '{"question": "?", "question_entities": ["A"], "paths": [["q"]]}\n'
    )
    (folders[1] / "manifest.json").write_text(json.dumps({"training": {"folder": str(training)}}))
    seen = [attrs.evolve(r, relations=(("q",),)) if r.id == "3" else r for r in rows(0)]
    write_scores(folders[0], [("beam", one) for one in seen])
    write_scores(folders[1], [("beam", one) for one in seen])
    slices = compare_runs(folders)["slices"]
    assert {label: group["questions"] for label, group in slices["relations in training"].items()} == {
        "seen": 1,
        "unseen": 11,
    }


def test_a_comparison_is_written_beside_the_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folders = [run(tmp_path / "a", beam=rows(0)), run(tmp_path / "b", beam=rows(6))]
    compare_and_say([*folders, folders[0]])
    out = capsys.readouterr().out
    assert "answer recall of the first triples" in out
    assert "report.html" in out.replace("\n", "")
    assert json.loads((tmp_path / "comparison" / "comparison.json").read_text())["questions"] == 12


def test_runs_that_cannot_be_compared_are_reported_and_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    compare_and_say([run(tmp_path / "a", beam=rows(0)), run(tmp_path / "b", beam=rows(6)[:5])])
    assert "the runs are not compared: methods 'a' (12 questions)" in capsys.readouterr().err
    assert not (tmp_path / "comparison").exists()


def test_without_matplotlib_one_line_says_what_to_install(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("srtk_plugin_evaluation.plots.find_spec", lambda name: None)
    found = builtins.__import__

    def refuse(name: str, *args: Any, **kwargs: Any) -> Any:
        if name.split(".")[0] == "matplotlib":
            raise ImportError(name)
        return found(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", refuse)
    compare_and_say([run(tmp_path / "a", beam=rows(0)), run(tmp_path / "b", beam=rows(6))])
    errors = capsys.readouterr().err.splitlines()
    assert errors == ["srtk: no plots: matplotlib is not installed; run: pip install 'srtk-framework[plot]'"]
    assert sorted(file.name for file in (tmp_path / "comparison").iterdir()) == ["comparison.json", "report.html"]
