"""List the pages of the documentation, or print one in the terminal: ``srtk docs own-files``."""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from pathlib import Path

from rich.markdown import Markdown

from srtk_framework.cli import OK
from srtk_framework.recipe.shipped import shipped_folder
from srtk_framework.values import SrtkError, close_matches, console

WIDTH = 80
"""Columns of a page: longer lines are hard to read, however wide the terminal is."""
SECTIONS = {
    "tutorials": "Tutorials",
    "how-to": "How do I",
    "explanation": "How it works",
    "reference": "Reference",
    "results": "Figures",
}
_LINK = re.compile(r"!?\[(?P<text>[^\]]*)\]\((?!https?:)(?P<path>[^)]*)\)")
_COMMENT = re.compile(r"<!--.*?-->\n*", re.DOTALL)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the flags."""
    parser.add_argument("topic", metavar="TOPIC", nargs="?", help="name of a page; without one all are listed")


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    pages = topics()
    if args.topic is None:
        _list(pages)
        return OK
    wanted = args.topic.removesuffix(".md").strip("/")
    paths = {file.relative_to(_root()).with_suffix("").as_posix(): file for file in pages.values()}
    file = pages.get(wanted) or paths.get(wanted)
    if file is None:
        raise SrtkError(f"there is no page {args.topic!r}.{close_matches(wanted, list(pages))} All: srtk docs")
    names = {file.resolve(): topic for topic, file in pages.items()}
    _print(_LINK.sub(lambda link: _named(link, file.parent, names), _markdown(file)))
    return OK


def topics() -> dict[str, Path]:
    """Find the pages that come with the framework.

    Returns:
        Topic to file, in the order of the sections. A topic is the name of the file; of a file whose name an earlier
        one has, it is folder and name.
    """
    root = _root()
    files = [file for section in SECTIONS for file in sorted((root / section).rglob("*"))]
    found: dict[str, Path] = {}
    for file in [*files, *sorted(root.glob("*.md"))]:  # the summary of the figures stands beside the folders
        if file.suffix in (".md", ".ipynb") and ".ipynb_checkpoints" not in file.parts:
            found[file.stem if file.stem not in found else f"{file.parent.name}/{file.stem}"] = file
    return found


def _root() -> Path:
    return shipped_folder("docs")


def _list(pages: dict[str, Path]) -> None:
    width = max(map(len, pages))
    root = _root()
    for section, title in SECTIONS.items():
        own = {topic: file for topic, file in pages.items() if file.is_relative_to(root / section)}
        if section == "results":
            own |= {topic: file for topic, file in pages.items() if file.parent == root}
        if own:
            print(title)
            for topic, file in own.items():
                print(f"  {topic:<{width}}  {_title(_markdown(file))}")
            print()
    print("to read one: srtk docs TOPIC")


def _markdown(file: Path) -> str:
    """Read a page; a notebook is its cells."""
    text = file.read_text(encoding="utf-8")
    if file.suffix == ".md":
        return text
    cells = [(cell["cell_type"], "".join(cell["source"])) for cell in json.loads(text)["cells"]]
    return "\n\n".join(source if kind == "markdown" else f"```python\n{source}\n```" for kind, source in cells)


def _title(text: str) -> str:
    return next((line.lstrip("# ") for line in text.splitlines() if line.startswith("# ")), "")


def _print(text: str) -> None:
    """Print Markdown, through a pager on a terminal."""
    screen = console(width=min(WIDTH, console().width))
    page = Markdown(_COMMENT.sub("", text), hyperlinks=False)
    if not (screen.is_terminal and sys.stdin.isatty()):
        screen.print(page)
        return
    os.environ.setdefault("LESS", "-FRX")  # colours pass, and a page that fits stays on the screen
    with screen.pager(styles=True):
        screen.print(page)


def _named(link: re.Match[str], folder: Path, names: dict[Path, str]) -> str:
    """Return the text of a link within the documentation, with the topic that it leads to."""
    topic = names.get((folder / link["path"].partition("#")[0]).resolve())
    return link["text"] if topic in (None, link["text"].strip("`")) else f"{link['text']} (`{topic}`)"
