"""The site builds without a warning, and a page of it needs nothing from elsewhere."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from srtk_framework.host.versions import __version__

ROOT = Path(__file__).parents[2]
NEEDED = re.compile(
    r"<(?:script|img|iframe|link)\b[^>]*\b(?:src|href)=\"(?:https?:)?//[^\"]+\"|@import|url\((?:https?:)?//"
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    options = ["--fail-on-warning", "--keep-going", "-q", "-b", "html", "-d", str(folder / "read"), "-c", "docs"]
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", *options, ".", str(folder / "html")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return folder / "html"


@pytest.mark.slow
def test_every_page_of_the_repository_is_in_the_navigation_of_the_site(site: Path) -> None:
    first = (site / "README.html").read_text(encoding="utf-8")
    pages = [
        *ROOT.glob("*.md"),
        *ROOT.glob("docs/**/*.md"),
        *ROOT.glob("plugins/*/README.md"),
        *ROOT.glob("adapters/*/README.md"),
    ]
    assert len(pages) > 30
    for page in pages:
        address = page.relative_to(ROOT).with_suffix(".html").as_posix()
        assert (site / address).is_file()
        assert f'href="{address}"' in first or address == "README.html", f"{address} is in no section of the navigation"
    assert "README.html" in (site / "index.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_a_program_finds_every_page_as_plain_text(site: Path) -> None:
    text = (site / "llms.txt").read_text(encoding="utf-8")
    assert text.startswith("# srtk-framework\n\n> Ask a knowledge graph a question in words.")
    pages = re.findall(r"^- \[.+\]\((.+)\)$", text, re.MULTILINE)
    assert len(pages) == len(set(pages)) > 60
    for page in pages:
        assert (site / page).read_text(encoding="utf-8").startswith("#"), page
        assert (site / page).with_suffix(".html").is_file()
    assert "# How does the search work?" in (site / "llms-full.txt").read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_search_of_the_site_finds_a_page_by_its_question(site: Path) -> None:
    assert (site / "search.html").is_file()
    assert "How do I write an exporter?" in (site / "searchindex.js").read_text(encoding="utf-8")


@pytest.mark.slow
def test_a_page_loads_nothing_from_elsewhere(site: Path) -> None:
    files = [*site.rglob("*.html"), *site.rglob("*.css")]
    assert len(files) > 30
    assert not [(file, found) for file in files for found in NEEDED.findall(file.read_text(encoding="utf-8"))]


@pytest.mark.slow
def test_headings_landmarks_and_code_can_be_told_apart_and_reached_without_a_mouse(site: Path) -> None:
    first = (site / "README.html").read_text(encoding="utf-8")
    assert first.count('role="heading"') == first.count('role="heading" aria-level="2"') > 3
    assert all("aria-label" in part.split(">")[0] for part in first.split("<aside")[1:])
    assert first.count("<pre") == first.count('<pre tabindex="0">') > 3


def test_the_citation_is_of_this_version() -> None:
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert cited["cff-version"] == "1.2.0"
    assert cited["type"] == "software"
    assert cited["version"] == __version__
    assert cited["authors"] == [{"name": "srtk-framework contributors"}]
    assert {"message", "title"} <= set(cited)
