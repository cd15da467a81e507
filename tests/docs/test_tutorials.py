"""The tutorials in Markdown, and pages that say so in a comment, run as they stand, each in an empty folder.

A block under a line that ends with a file's name in backticks and a colon is written to that file. Commands and Python
run, but for the commands that say "over the network" beside them. A block of text after commands is what they print,
where "…" stands for anything.
"""

from __future__ import annotations

import os
import re
import stat
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
MARK = "<!-- tests run this page -->"
PAGES = [
    page
    for page in [ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md"))]
    if page.parent.name == "tutorials" or MARK in page.read_text(encoding="utf-8")
]
BLOCK = re.compile(r"(?P<before>[^\n]*)\n+```(?P<language>[\w-]*)\n(?P<text>.*?)^```", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"`([\w./-]+)`:$")
NETWORK = "# over the network"


class Part(NamedTuple):
    """A block, its line on the page, and the file that it is, if it is one."""

    line: int
    language: str
    text: str
    file: str | None


def parts(page: Path) -> Iterator[Part]:
    text = page.read_text(encoding="utf-8")
    for found in BLOCK.finditer(text):
        name = FILE.search(found["before"])
        line = text[: found.start("text")].count("\n")
        yield Part(line, found["language"], found["text"], name[1] if name else None)


@pytest.fixture
def shell(tmp_path: Path) -> dict[str, str]:
    """The environment of a reader who has installed the framework: what the page installs stays in it."""
    home = tmp_path / "environment"
    venv.create(home)
    python, bin_ = home / "bin" / "python", home / "bin"
    site = Path(sysconfig.get_path("purelib", vars={"base": str(home)}))
    (site / "outer.pth").write_text(
        f"import site; site.addsitedir({sysconfig.get_path('purelib')!r})\n", encoding="utf-8"
    )
    for name, module in {"srtk": "srtk_framework", "pip": "pip", "pytest": "pytest"}.items():
        (bin_ / name).write_text(f'#!/bin/sh\nexec {python} -m {module} "$@"\n', encoding="utf-8")
        (bin_ / name).chmod(stat.S_IRWXU)
    return {
        **os.environ,
        "PATH": f"{bin_}{os.pathsep}{os.environ['PATH']}",
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
        "HF_HUB_OFFLINE": "1",
        "PIP_NO_INDEX": "1",
        "PIP_NO_BUILD_ISOLATION": "0",  # for pip, 0 means no isolation
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "COLUMNS": "100",
    }


def test_there_are_tutorials() -> None:
    assert {page.stem for page in PAGES} >= {"wikidata", "training", "plugin", "README", "ask", "not-found"}


@pytest.mark.slow
@pytest.mark.timeout(900)  # one of them trains
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_tutorial_does_what_it_says(page: Path, tmp_path: Path, shell: dict[str, str]) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    printed = program = ""
    for part in parts(page):
        place = f"{page.name}:{part.line}"
        if part.file is not None:
            (folder / part.file).parent.mkdir(parents=True, exist_ok=True)
            (folder / part.file).write_text(part.text, encoding="utf-8")
        elif part.language == "sh":
            script = "".join(line for line in part.text.splitlines(keepends=True) if NETWORK not in line)
            printed = run(["bash", "-e"], script, folder, shell, place)
        elif part.language == "python":
            program += part.text + "\n"  # the blocks of a page are one program
            printed = run([sys.executable, "-W", "error", "-"], program, folder, shell, place)
        elif part.language == "text":
            wanted = ".*?".join(re.escape(piece.strip()) for piece in plain(part.text).split("…"))
            assert re.search(wanted, plain(printed), re.DOTALL), f"{place}: what is printed is\n{printed}"


def run(command: list[str], script: str, folder: Path, shell: dict[str, str], place: str) -> str:
    done = subprocess.run(
        command, input=script, cwd=folder, env=shell, capture_output=True, text=True, check=False, timeout=600
    )
    assert done.returncode == 0, f"{place}: {(done.stdout + done.stderr)[-3000:]}"
    return done.stdout


def plain(printed: str) -> str:
    """Return the lines with one blank between words, as the width of a table's columns depends on what is in them."""
    return "\n".join(" ".join(line.split()) for line in printed.splitlines())


def test_what_a_page_prints_is_compared(tmp_path: Path, shell: dict[str, str]) -> None:
    page = tmp_path / "page.md"
    page.write_text("The file `a.txt`:\n\n```csv\nx,y\n```\n\n```sh\ncat a.txt\n```\n\n```text\nx,z\n```\n", "utf-8")
    with pytest.raises(AssertionError, match=r"page\.md:\d+: what is printed is\n\s*x,y"):
        test_a_tutorial_does_what_it_says(page, tmp_path, shell)
