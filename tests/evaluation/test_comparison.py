"""Comparison of several runs, and the report of it."""

from __future__ import annotations

import builtins
import json
import re
from pathlib import Path
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from srtk_framework.cli.reports import compare_runs as compare_and_say
from srtk_framework.evaluation.comparison import compare_runs, merged
from srtk_framework.evaluation.curves import Ranks
from srtk_framework.evaluation.metrics import Row, compare, row
from srtk_framework.evaluation.plots import draw, points
from srtk_framework.evaluation.report import page, write_report
from srtk_framework.evaluation.scores import FILE, read_scores, write_scores
from srtk_framework.values import InputError, Link, Question, Retrieval, Step, Subgraph, Triple


def rows(right: int, size: int = 8, seconds: float | None = None, mark: str = "") -> list[Row]:
    """Score 12 questions of ``size`` triples each, with the answer in the triple at place ``right``."""
    made = []
    for i in range(12):
        triples = tuple(Triple("Anna", f"p{place}", f"n{place}") for place in range(size))
        question = Question(
            str(i), f"{mark}{i}?", (Link("Anna"),), (f"n{right}",), ((Step("p"),),), triples[:1], (), {"kind": i % 2}
        )
        made.append(row(Retrieval(question, Subgraph(triples)), seconds))
    return made


def run(folder: Path, seconds: float | None = None, **methods: list[Row]) -> Path:
    folder.mkdir(parents=True)
    write_scores(folder, methods)
    return folder


def test_scores_are_read_as_they_were_written(tmp_path: Path) -> None:
    methods = {"beam": rows(1, seconds=0.5), "bfs": [*rows(2), Row("x", {"triples": None})]}
    folder = run(tmp_path / "a", **methods)
    assert read_scores(folder) == methods


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)


@given(st.lists(st.integers(1, 9), max_size=4), st.dictionaries(texts, st.lists(texts, min_size=1).map(tuple)), texts)
def test_any_row_is_read_back_from_the_file(
    tmp_path_factory: Any, at: list[int], fields: dict[str, Any], text: str
) -> None:
    folder = tmp_path_factory.mktemp("scores")
    made = Row("1", {"m": 0.1}, text=text, ranks=Ranks(9, 9, tuple(at)), paths=((text, "b"),), fields=fields)
    write_scores(folder, {"m": [made]})
    assert read_scores(folder) == {"m": [made]}


def test_a_folder_without_scores_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"has no scores.jsonl; give the folder of a finished run"):
        compare_runs([tmp_path])


def test_scores_of_another_version_are_refused_with_their_line(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text('{"method": "beam", "id": "1"}\n')
    with pytest.raises(InputError, match=r"scores.jsonl:1: not a score of this version"):
        read_scores(tmp_path)


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
    write_scores(folders[0], {"beam": seen})
    write_scores(folders[1], {"beam": seen})
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


@pytest.fixture(scope="module")
def report() -> dict[str, Any]:
    return compare({"<beam> & $x$": rows(0), "_bfs": rows(6), "tiny": rows(1, size=2)}, fields=["kind"])


def test_a_report_is_written_with_the_same_bytes_each_time(tmp_path: Path, report: dict[str, Any]) -> None:
    pytest.importorskip("matplotlib")
    first = write_report(report, tmp_path / "a")
    write_report(report, tmp_path / "b")
    names = {file.name for file in first}
    assert {"comparison.json", "report.html", "answer_recall.svg", "answer_recall.png", "triple_recall.png"} <= names
    assert all(file.read_bytes() == (tmp_path / "b" / file.name).read_bytes() for file in first)
    assert b"<dc:date>" not in (tmp_path / "a" / "answer_recall.svg").read_bytes()


def test_the_page_loads_nothing_and_names_everything(tmp_path: Path, report: dict[str, Any]) -> None:
    pytest.importorskip("matplotlib")
    write_report(report, tmp_path)
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert not re.findall(r"(?:src|href|srcset)=\"(?!data:)", text)
    assert "default-src 'none'" in text
    assert "<beam>" not in text
    assert "&lt;beam&gt; &amp; $x$" in text
    assert (
        text.count("<img ") == len(re.findall(r'<img [^>]*alt="Line chart of [^"]+"', text)) == 9
    )  # all and two kinds, three metrics
    assert text.count("<details>") == 2
    assert text.count("<table>") == text.count("<caption>")
    assert 'lang="en"' in text


def test_without_matplotlib_the_page_has_tables_only(report: dict[str, Any]) -> None:
    text = page(report, {}, "Title")
    assert "<img" not in text
    assert "K = 200" in text


def test_without_matplotlib_one_line_says_what_to_install(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("srtk_framework.evaluation.plots.find_spec", lambda name: None)
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


def test_a_curve_has_no_points_beyond_the_size_of_its_method(report: dict[str, Any]) -> None:
    curves = points(report["at"], "answer_recall")
    assert [size for size, *_ in curves["_bfs"]] == [5.0, 8.0]
    assert [point[:2] for point in curves["tiny"]] == [(2.0, 1.0)]


@pytest.mark.parametrize("count", [1, 9, 20])
def test_any_number_of_methods_can_be_drawn(count: int) -> None:
    pytest.importorskip("matplotlib")
    many = compare({f"method {i}": rows(0, size=i) for i in range(count)})
    assert draw(many["at"], "answer_recall", "png").startswith(b"\x89PNG")
    assert b"<svg" in draw(many["at"], "answer_recall", "svg", "dark")
