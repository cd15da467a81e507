"""The folder of a comparison: its page, its figures and its plots."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from kit.placed import rows
from srtk_plugin_evaluation.metrics import compare
from srtk_plugin_evaluation.report import MOST_DRAWN, page, write_report

from srtk_framework.values import RunError


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
    assert not re.findall(r"(?:src|href|srcset)=\"(?!#)|url\((?!#)|@import|<(?:img|link|script)", text)
    assert "default-src 'none'" in text
    assert "<beam>" not in text
    assert "&lt;beam&gt; &amp; $x$" in text
    assert (
        text.count("<svg ") == len(re.findall(r'<svg [^>]*aria-label="Line chart of [^"]+"', text)) == 9
    )  # all and two kinds, three metrics
    assert text.count("<details>") == 2
    assert text.count("<table>") == text.count("<caption>")
    assert 'lang="en"' in text


def test_one_picture_serves_both_colour_schemes_and_ids_are_unique(tmp_path: Path, report: dict[str, Any]) -> None:
    pytest.importorskip("matplotlib")
    write_report(report, tmp_path)
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    pictures = re.findall(r"<svg .*?</svg>", text, re.DOTALL)
    assert "base64" not in text
    assert not [c for picture in pictures for c in ("#ffffff", "#1f2328", "#d0d7de") if c in picture]
    assert all("currentColor" in picture and "var(--faint)" in picture for picture in pictures)
    ids = re.findall(r'\bid="([^"]+)"', text)
    assert len(ids) == len(set(ids))
    assert set(re.findall(r'(?:href="#|url\(#)([^")]+)', text)) == set(ids)
    assert "&lt;beam&gt; &amp; $x$</text>" in pictures[0]


def test_the_shorter_list_of_names_gives_the_columns() -> None:
    wide = {"a": {m: estimate(0.5) for m in ("answer_recall", "triple_recall", "triples")}, "b": {}}
    assert cells(page(bare(wide), {}, "Title"), "Means over the questions, with 95 % intervals") == [
        ["metric", "a", "b"],
        ["answer recall", "0.500", "–"],
        ["triple recall", "0.500", "–"],
        ["triples", "0.5", "–"],
    ]


def test_without_matplotlib_the_page_has_tables_only(report: dict[str, Any]) -> None:
    text = page(report, {}, "Title")
    assert "<svg" not in text
    assert "K = 200" in text


def estimate(
    mean: float | None, low: float | None = None, high: float | None = None, n: int = 9, **more: float
) -> dict[str, Any]:
    return {"mean": mean, "low": low, "high": high, "n": n, **more}


def bare(methods: dict[str, Any], **parts: Any) -> dict[str, Any]:
    return {"questions": 9, "links": "given", "failed": {}, "methods": methods, "differences": {}, **parts}


def cells(text: str, caption: str) -> list[list[str]]:
    """Return the rows of the table with a caption, the heads first; a break for each small part."""
    [found] = re.findall(rf"<caption>{re.escape(caption)}</caption>\n(.*?)</table>", text, re.DOTALL)
    rows = re.findall(r"<tr>(.*?)</tr>", found, re.DOTALL)
    return [
        [
            cell.replace("<small>", " | ").replace("</small>", "")
            for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row)
        ]
        for row in rows
    ]


def test_a_cell_has_mean_interval_and_n_where_values_are_missing() -> None:
    text = page(
        bare(
            {
                "beam": {"answer_recall": estimate(0.5, 0.25, 0.75), "triples": estimate(12.34, 10.0, 14.5)},
                "bfs": {"answer_recall": estimate(1.0, n=8), "triples": estimate(None)},
            }
        ),
        {},
        "Title",
    )
    assert cells(text, "Means over the questions, with 95 % intervals") == [
        ["method", "answer recall", "triples"],
        ["beam", "0.500 | 0.250 to 0.750", "12.3 | 10.0 to 14.5"],
        ["bfs", "1.000 | n 8", "–"],
    ]


def test_differences_have_signs_and_both_p() -> None:
    apart = {"answer_recall": estimate(0.125, -0.25, 0.5, p=0.03, p_holm=0.06)}
    text = page(bare({}, differences={"a - b": apart, "a - c": {}}), {}, "Title")
    assert cells(text, "Whole subgraphs") == [
        ["pair", "answer recall"],
        ["a - b", "+0.125 | -0.250 to +0.500 | p 0.030, Holm 0.060"],
        ["a - c", "–"],
    ]


def test_links_have_a_row_per_metric_and_their_differences_are_signed() -> None:
    linking = {
        "questions": 4,
        "methods": {"one": {"strong_f1": estimate(0.5, 0.25, 0.75, n=12)}, "two": {}},
        "differences": {"one - two": {"strong_f1": estimate(0.5, 0.25, 0.75, n=12, p=0.01, p_holm=0.02)}},
    }
    text = page(bare({}, linking=linking), {}, "Title")
    assert cells(text, "4 questions with gold links") == [
        ["metric", "one", "two"],
        ["strong F1", "0.500 | 0.250 to 0.750 | n 12", "–"],
    ]
    assert cells(text, "Differences of links") == [
        ["metric", "one - two"],
        ["strong F1", "+0.500 | +0.250 to +0.750 | p 0.010, Holm 0.020 | n 12"],
    ]


def test_a_slice_has_a_row_per_group_and_method_with_its_own_n() -> None:
    group = {"questions": 5, "methods": {"a": {"answer_recall": estimate(0.5, n=5)}, "b": {"triples": estimate(2.0)}}}
    text = page(bare({}, slices={"kind": {"x<y": group}}), {}, "Title")
    assert cells(text, "By kind") == [
        ["kind", "method", "questions", "answer recall", "triples"],
        ["x&lt;y", "a", "5", "0.500", "–"],
        ["x&lt;y", "b", "5", "–", "2.0 | n 9"],
    ]


def test_the_first_lines_count_failures_and_tell_mixed_links_apart() -> None:
    text = page(bare({}, links="mixed", links_of={"a": "given", "b": "linked"}, failed={"a": 0, "b": 2}), {}, "A & B")
    assert "<h1>A &amp; B</h1>" in text
    assert "<p>9 questions. Links: mixed (a given, b linked). Failed: b 2.</p>" in text
    assert "Failed: none." in page(bare({}), {}, "Title")


def test_parts_without_content_are_left_out() -> None:
    assert re.findall("<h2>(.*?)</h2>", page(bare({}), {}, "Title")) == ["Metrics"]


def test_a_slice_of_many_groups_has_tables_only(tmp_path: Path, report: dict[str, Any]) -> None:
    pytest.importorskip("matplotlib")
    group = report["slices"]["kind"]["0"]
    for count, pictures in ((MOST_DRAWN, 3 * (1 + MOST_DRAWN)), (MOST_DRAWN + 1, 3)):
        many = {**report, "slices": {"kind": {str(i): group for i in range(count)}}}
        write_report(many, tmp_path)
        text = (tmp_path / "report.html").read_text(encoding="utf-8")
        assert text.count("<svg ") == pictures
        assert text.count("<details>") == count


def test_a_chart_is_described_by_its_ends(tmp_path: Path, report: dict[str, Any]) -> None:
    pytest.importorskip("matplotlib")
    write_report(report, tmp_path)
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "_bfs: 0.000 at 5.0 triples to 1.000 at 8.0; tiny: 1.000 at 2.0 triples. The table below" in text


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "report.html").mkdir()
    with pytest.raises(RunError, match=r"report.html cannot be written: .*; choose another folder"):
        write_report(bare({}), tmp_path)
