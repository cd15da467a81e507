"""Completion in the terminal, on the page and in `srtk evaluate`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from srtk_plugin_evaluation.completion_tables import SHORT, completion_tables
from srtk_plugin_evaluation.metrics import compare, row
from srtk_plugin_evaluation.report import write_report

from srtk_framework.cli import main
from srtk_framework.records.jsonl import read_json, write_jsonl
from srtk_framework.records.retrieval_records import record_from_retrieval
from srtk_framework.values import Pattern, Question, Retrieval, Subgraph, Triple


def results(*confidences: float) -> list[Retrieval]:
    """Make results of twelve questions, six for each end, that propose right answers with the given confidences."""
    found = []
    for i in range(12):
        pattern = Pattern(f"s{i}", "p", None) if i % 2 else Pattern(None, "p", f"s{i}")
        fillers = [f"a{place}" for place in range(len(confidences))]
        triples = tuple(Triple(*(filler if part is None else part for part in pattern)) for filler in fillers)
        question = Question(str(i), f"q{i}", answers=("a0", "a9"), pattern=pattern)
        found.append(Retrieval(question, Subgraph(triples, confidences=confidences)))
    return found


@pytest.fixture(scope="module")
def report() -> dict[str, Any]:
    methods = {"<good> & $x$": results(0.9), "_bad": results(0.2, 0.4)}
    return compare({name: [row(one) for one in some] for name, some in methods.items()})


def test_tables_show_each_metric_the_differences_and_the_slices(report: dict[str, Any]) -> None:
    console = Console(width=200)
    with console.capture() as shown:
        for table in completion_tables(report["completion"]):
            console.print(table)
    text = shown.get()
    assert all(name in text for name in SHORT.values())
    assert re.search(r"^MRR +0\.500 ±\.107  n 24 +0\.250", text, re.MULTILINE)
    assert (
        report["completion"]["methods"]["<good> & $x$"]["set_size"]["low"] is None
    )  # it is 1 everywhere, and no share
    by_slice = text[text.index("completion by") :]
    assert by_slice.count(SHORT["average_precision"]) == by_slice.count(SHORT["mrr"]) == by_slice.count("completion by")
    assert "differences of completion" in text
    assert "<good> & $x$ - _bad" in text
    assert re.search(r"^object +<good> & \$x\$ +6 +0\.500", text, re.MULTILINE)


def test_the_page_has_the_tables_and_the_reliability_diagram(tmp_path: Path, report: dict[str, Any]) -> None:
    pytest.importorskip("matplotlib")
    names = {file.name for file in write_report(report, tmp_path / "a")}
    write_report(report, tmp_path / "b")
    assert {"reliability.svg", "reliability.png"} <= names
    assert all((tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes() for name in names)
    text = (tmp_path / "a" / "report.html").read_text("utf-8")
    assert "&lt;good&gt; &amp; $x$: 1.00 right at confidence 0.90; _bad: 1.00 right at confidence 0.20" in text
    assert "<caption>Completion by end</caption>" in text
    assert text.count("<table>") == text.count("<caption>")


def test_files_with_patterns_are_scored_by_the_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], report: dict[str, Any]
) -> None:
    for name, some in (("good", results(0.9)), ("bad", results(0.2, 0.4))):
        write_jsonl(tmp_path / f"{name}.jsonl", map(record_from_retrieval, some))
    files = [str(tmp_path / "good.jsonl"), str(tmp_path / "bad.jsonl")]
    assert main(["evaluate", *files, "-o", str(tmp_path / "out.json")]) == 0
    assert "precision of new answers" in capsys.readouterr().out
    written = read_json(tmp_path / "out.json")["completion"]
    assert list(written["methods"].values()) == list(report["completion"]["methods"].values())
