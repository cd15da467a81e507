"""`srtk docs`: which pages it lists, and how it prints one."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from srtk_framework.cli import docs, main
from srtk_framework.values import console

PAGES = Path(__file__).parents[2] / "docs"


def test_every_page_is_listed_with_its_title_under_a_name_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["docs"]) == 0
    lines = capsys.readouterr().out.splitlines()
    found = docs.topics()
    written = [file for ending in ("md", "ipynb") for file in PAGES.rglob(f"*.{ending}")]
    assert sorted(found.values()) == sorted(written)
    for topic in found:
        assert [line for line in lines if line.split()[:1] == [topic] and len(line.split()) > 1], topic
    assert lines[-1] == "to read one: srtk docs TOPIC"


def test_a_page_with_the_name_of_an_earlier_page_has_its_folder_in_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("benchmarks.md", "results/search.md", "reference/search.md", "reference/drivers/search.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("# A page\n", encoding="utf-8")
    monkeypatch.setattr(docs, "_root", lambda: tmp_path)
    found = {topic: file.relative_to(tmp_path).as_posix() for topic, file in docs.topics().items()}
    assert found == {
        "search": "reference/drivers/search.md",
        "reference/search": "reference/search.md",
        "results/search": "results/search.md",
        "benchmarks": "benchmarks.md",
    }


@pytest.mark.parametrize("topic", ["own-files", "reference/own-files", "own-files.md"])
def test_a_page_is_printed_in_eighty_columns_without_a_pager(topic: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["docs", topic]) == 0
    shown = capsys.readouterr().out
    assert "srtk graph build" in shown
    assert max(map(len, shown.splitlines())) <= 80
    assert "](" not in shown
    assert "<!--" not in shown


def test_a_notebook_is_printed_as_its_cells(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["docs", "own-table"]) == 0
    shown = capsys.readouterr().out
    assert "Your own table" in shown
    assert "import" in shown
    assert '"cell_type"' not in shown


def test_a_link_names_the_topic_that_it_leads_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = "See [the fields](../reference/records.md#questions), [records](../reference/records.md), [x](../README.md)."
    for name, text in {"how-to/run.md": page, "reference/records.md": "# Records"}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.setattr(docs, "_root", lambda: tmp_path)
    assert main(["docs", "run"]) == 0
    assert " ".join(capsys.readouterr().out.split()) == "See the fields (records), records, x."


def test_a_pager_is_used_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    paged: list[str] = []
    monkeypatch.setattr("rich.pager.SystemPager.show", lambda _, text: paged.append(text))
    monkeypatch.setattr(docs, "console", lambda **given: console(**given, force_terminal=True))
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("LESS", "-R")
    assert main(["docs", "install"]) == 0
    assert "pip install" in paged[0]


def test_an_unknown_topic_is_answered_with_the_nearest_names(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["docs", "instal"]) == 2
    assert capsys.readouterr().err == (
        "srtk: error: there is no page 'instal'. Did you mean 'install'? All: srtk docs\n"
    )
