"""Count habits of style that slow a reader down, in docstrings, pages and comments. It counts, it forbids nothing.

    python benchmarks/prose.py [PATH ...]

PATH is a folder or a file; the core, the plugins and the pages by default. A line holds a path's words, each habit
per 10,000 words, its sentences of more than thirty words, and its comments in per cent of the lines of code. Installed
packages show how others write: `python benchmarks/prose.py .venv/lib/python3.11/site-packages/networkx`.
"""

from __future__ import annotations

import argparse
import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LONG = 30
# "one of the paths", "each other", "one by one" and "on the other hand" are no pronouns that a reader must resolve.
PRONOUN = (
    r"(?<!each )(?<!no )(?<!by )\b(?:ones?|others?)\b"
    r"(?=\s*(?:[.,;:)]|$)|\s+(?:that|which|who|with|without|in|on|at|for|from|to|by|per|is|are|was|were|has|have|"
    r"can|may|and|or|does|do|as|than|the|a)\b)(?! by one)"
)
GENERATED = re.compile(r"<!-- [^>]*written by docs/")
HABITS = {
    "one/other": PRONOUN,
    "what": r"\bwhat\b",
    "of/in which": r"\b(?:of|in) which\b",
    "those of": r"\b(?:those|that) of\b",
    "said": r"\bsa(?:id|ys?)\b",
    "told": r"\bt(?:old|ells?)\b",
}


def docstrings(tree: ast.AST) -> Iterator[str]:
    """Yield the docstrings of a module, its classes and functions."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            text = ast.get_docstring(node)
            if text:
                yield text


def plain(page: str) -> str:
    """Strip code, links and tables off a page: what is left is prose."""
    page = re.sub(r"^(```|~~~|:::).*?^\1", " ", page, flags=re.M | re.S)
    page = re.sub(r"^\s*\|.*$", " ", page, flags=re.M)
    return re.sub(r"\]\([^)]*\)", "]", page)


def sentences(text: str) -> list[str]:
    """Cut text into sentences; blank lines, list items and headings end one too."""
    return [part for part in re.split(r"(?<=[.!?:])\s+|\n\s*\n|\n\s*[-*#|]", text) if part.strip()]


def comments(source: str) -> tuple[int, int]:
    """Count the lines with a comment that is no directive, and the lines of code."""
    found = 0
    code: set[int] = set()
    skipped = {tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER, tokenize.ENCODING}
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            found += not re.match(r"#\s*(noqa|type:|pragma|!|ruff|mypy)", token.string)
        elif token.type not in skipped:
            code.update(range(token.start[0], token.end[0] + 1))
    return found, len(code)


def count(path: Path) -> tuple[str, int, int]:
    """Return the prose below a path, its comments and its lines of code; tests are left out."""
    prose: list[str] = []
    remarks = code = 0
    for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
        if file.suffix == ".py" and "tests" not in file.relative_to(path).parts:
            source = file.read_text(encoding="utf-8")
            prose.extend(docstrings(ast.parse(source)))
            found, lines = comments(source)
            remarks, code = remarks + found, code + lines
        elif file.suffix == ".md":
            page = file.read_text(encoding="utf-8")
            # A generated page repeats docstrings, which are counted where they stand.
            prose.append("" if GENERATED.search(page) else plain(page))
    return "\n\n".join(prose), remarks, code


def main() -> int:
    """Print a line for each path."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    defaults = [ROOT / "srtk_framework", *sorted((ROOT / "plugins").iterdir()), ROOT / "docs", ROOT / "README.md"]
    parser.add_argument("paths", nargs="*", type=Path, default=defaults, metavar="PATH")
    paths = parser.parse_args().paths
    print(f"{'':28}{'words':>7}", *(f"{habit:>11}" for habit in HABITS), f"{'> 30 words':>11}{'comments':>9}")
    for path in paths:
        text, remarks, code = count(path)
        words = len(re.findall(r"\w+", text))
        rates = [10_000 * len(re.findall(habit, text, re.I)) / max(1, words) for habit in HABITS.values()]
        long = sum(len(re.findall(r"\w+", sentence)) > LONG for sentence in sentences(text))
        share = f"{100 * remarks / code:8.1f}%" if code else f"{'':9}"
        print(f"{path.name:28}{words:7d}", *(f"{rate:11.1f}" for rate in rates), f"{long:11d}{share}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
