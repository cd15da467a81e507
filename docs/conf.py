"""The site: README, docs/ and the plugins' pages as they stand in the repository; `make site` builds it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import nbformat
from myst_parser.parsers.sphinx_ import MystParser
from sphinx.application import Sphinx

ROOT = Path(__file__).parents[1]

NAVIGATION = {
    "Start": ["docs/how-to/install", "docs/how-to/ask"],
    "Tutorials": [
        "docs/tutorials/own-table",
        "docs/tutorials/wikidata",
        "docs/tutorials/training",
        "docs/tutorials/llm-walk",
        "docs/tutorials/plugin",
    ],
    "Your own graph and questions": [
        "docs/reference/own-files",
        "docs/how-to/own-questions",
        "docs/how-to/own-endpoint",
        "docs/how-to/train",
        "docs/how-to/evaluate",
        "docs/how-to/metaqa",
        "docs/how-to/many-machines",
        "docs/how-to/in-a-program",
        "docs/how-to/serve",
        "docs/how-to/agent-frameworks",
        "docs/how-to/from-srtk",
    ],
    "Something is wrong": [
        "docs/how-to/not-found",
        "docs/how-to/missing-answer",
        "docs/how-to/too-slow",
        "docs/how-to/errors",
    ],
    "Other methods": [
        "docs/how-to/which-encoder",
        "docs/how-to/language-models",
        "docs/how-to/index-search",
        "docs/how-to/complete-a-graph",
        "docs/how-to/masked-language-models",
    ],
    "Write a plugin": [
        "docs/how-to/write-an-exporter",
        "docs/how-to/write-a-driver",
        "docs/how-to/write-for-a-role",
        "docs/how-to/test-a-driver",
        "docs/how-to/write-a-stage",
        "docs/how-to/write-a-role",
    ],
    "How it works": [
        "docs/explanation/search",
        "docs/explanation/linking",
        "docs/explanation/answers",
        "docs/explanation/path-patterns",
        "docs/explanation/other-tools",
        "docs/explanation/architecture",
        "docs/explanation/reliability",
        "docs/explanation/decisions",
    ],
    "Figures": ["docs/benchmarks", "docs/results/index", "docs/results/*"],
    "Reference": [
        "docs/reference/recipe",
        "docs/reference/recipes",
        "docs/reference/records",
        "docs/reference/metrics",
        "docs/reference/training",
        "docs/reference/question-sets",
        "docs/reference/other-sets",
        "docs/reference/commands",
        "docs/reference/roles",
        "docs/reference/values",
        "docs/reference/helpers",
        "docs/reference/checks",
        "docs/reference/drivers",
        "docs/reference/drivers/*",
    ],
    "Plugins of this repository": ["plugins/*/README", "adapters/*/README"],
    "Project": ["CONTRIBUTING", "SECURITY", "CHANGELOG"],
}
"""The sections beside each page. A page in none of them is a warning, and so an error."""

project = "srtk-framework"
author = "srtk-framework contributors"
project_copyright = author
root_doc = "README"
extensions = ["myst_parser"]
include_patterns = ["*.md", "docs/**", "plugins/*/README.md", "adapters/*/README.md"]
exclude_patterns = ["docs/site", "**/.ipynb_checkpoints"]
source_suffix = {".md": "markdown", ".ipynb": "notebook"}

myst_heading_anchors = 4
myst_enable_extensions = ["attrs_block"]
suppress_warnings = ["myst.header"]  # pages on a code host may begin lower than at level 1

html_theme = "furo"
html_title = project
html_extra_path = ["site"]
html_show_sphinx = False
html_copy_source = False
html_theme_options = {"footer_icons": []}
smartquotes = False
pygments_style = "default"
pygments_dark_style = "monokai"

_LINK = re.compile(r"(?<=\]\()(?P<path>[^)#:\s]+)(?=[)#])")


class NotebookParser(MystParser):
    """Reads a notebook as the Markdown page of its cells and of their outputs in text."""

    supported = ("notebook",)

    def parse(self, inputstring: str, document: Any) -> None:
        """Parse the cells as one page."""
        notebook = nbformat.reads(inputstring, as_version=4)
        super().parse("\n\n".join(part for cell in notebook.cells for part in _cell(cell)), document)


def _cell(cell: Any) -> list[str]:
    if cell.cell_type == "markdown":
        return [cell.source]
    texts = [output.get("text") or output.get("data", {}).get("text/plain", "") for output in cell.outputs]
    shown = "".join(text.rstrip("\n") + "\n" for text in texts if text)
    return [f"```python\n{cell.source}\n```", *([f"```text\n{shown}```"] if shown else [])]


def read_page(app: Sphinx, page: str, source: list[str]) -> None:
    """Point links to folders at their README, as a code host does, and hang the navigation on the first page."""
    folder = (ROOT / page).parent

    def target(found: re.Match[str]) -> str:
        path = found["path"]
        return f"{path.rstrip('/')}/README.md" if (folder / path / "README.md").is_file() else path

    source[0] = _LINK.sub(target, source[0])
    if page == root_doc:
        source[0] += "".join(_section(title, pages) for title, pages in NAVIGATION.items())


def _section(title: str, pages: list[str]) -> str:
    listed = "\n".join(page for page in pages if _files(page))
    return f"\n\n```{{toctree}}\n:hidden:\n:caption: {title}\n:glob:\n:titlesonly:\n\n{listed}\n```\n"


def _files(page: str) -> list[Path]:
    """List the sources of an entry of the navigation."""
    return sorted(file for ending in source_suffix for file in ROOT.glob(page + ending))


_NAMED = {
    '<p class="caption" role="heading">': '<p class="caption" role="heading" aria-level="2">',
    '<aside class="sidebar-drawer">': '<aside class="sidebar-drawer" aria-label="Site">',
    '<aside class="toc-drawer">': '<aside class="toc-drawer" aria-label="This page">',
    "<pre>": '<pre tabindex="0">',
}
"""Elements of the theme to what readers of screens and users of a keyboard need of them."""


def name_elements(app: Sphinx, fault: Exception | None) -> None:
    """Give headings of the navigation a level, landmarks a name, and code that scrolls a place in the order of tabs."""
    for page in [] if fault or app.builder.name != "html" else Path(app.outdir).rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        for element, named in _NAMED.items():
            text = text.replace(element, named)
        page.write_text(text, encoding="utf-8")


def write_plain_text(app: Sphinx, fault: Exception | None) -> None:
    """Write each page as Markdown beside its HTML, their list, `llms.txt`, and the guides, `llms-full.txt`."""
    if fault or app.builder.name != "html":
        return
    out = Path(app.outdir)
    first = _plain(ROOT / "README.md")
    lines = [f"# {project}", "", "> " + " ".join(first.split("\n\n")[1].split())]
    guides = [first]
    done: set[Path] = set()
    for title, pages in NAVIGATION.items():
        lines += ["", f"## {title}", ""]
        for file in dict.fromkeys(file for page in pages for file in _files(page)):
            if file in done:
                continue
            done.add(file)
            text = _plain(file)
            address = file.relative_to(ROOT).with_suffix(".md")
            (out / address).write_text(text, encoding="utf-8")
            lines.append(f"- [{_title(text)}]({address.as_posix()})")
            if "reference" not in file.parts and "plugins" not in file.parts:
                guides.append(text)
    (out / "llms.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (out / "llms-full.txt").write_text("\n\n".join(guides), encoding="utf-8")


def _plain(file: Path) -> str:
    """Read a page as plain Markdown, without the comments of its generator."""
    text = re.sub(r"^<!--.*?-->\s*", "", file.read_text(encoding="utf-8"), flags=re.DOTALL)
    if file.suffix == ".ipynb":
        return "\n\n".join(part for cell in nbformat.reads(text, as_version=4).cells for part in _cell(cell)) + "\n"
    return text


def _title(text: str) -> str:
    return next(line.lstrip("# ") for line in text.splitlines() if line.startswith("# "))


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the reading of pages."""
    app.add_source_parser(NotebookParser)
    app.connect("source-read", read_page)
    app.connect("build-finished", name_elements)
    app.connect("build-finished", write_plain_text)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
