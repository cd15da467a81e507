"""Puts texts that steer a terminal into a graph, its questions and results, and reads what each command shows.

    python -m benchmarks.reliability.hostile_texts [--seed 0]

The texts hold escape sequences, marks that reverse text, markup of rich, line breaks, characters without width, and
controls. Each command runs in this process as on a pipe and as on a terminal. A text is raw where a character of it
that a terminal obeys or hides is printed, where it begins a line of its own, or where its markup was obeyed.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import io
import json
import os
import random
import re
import sys
import tempfile
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

from srtk_framework.cli import main as srtk
from srtk_framework.records import write_jsonl

TEXTS = {
    "escape": "esc\x1b[31m\x1b]0;owned\x07\x1b[2J",
    "bidi": "bidi\u202egpj.exe\u2066\u200f",
    "markup": "mark[red]x[/red][link=https://evil.example]y[/link]",
    "lines": "line\nsrtk: error: forged\r\x0b\u2028\x85z",
    "invisible": "no\u200bwidth\ufeff\u2060\u00ad\U000e0041x",
    "controls": "nul\x00del\x7fcsi\x9b31m\x08\x1cx",
}
_OWN = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\r(?=\n|\x1b|$)")
"""Sequences of rich: styles, and moves of a progress bar."""
_SEEN = "\t\n\u200c\u200d"


def raw(shown: str, terminal: bool = False) -> list[str]:
    """Return what of the hostile texts a screen would obey or hide.

    Args:
        shown: All that was printed.
        terminal: Whether styles are expected in it.
    """
    found = [repr(part) for part in re.findall("\x1b\\[31m|\x1b\\]0;|\x1b\\[2J", shown)]
    rest = _OWN.sub("", shown) if terminal else shown
    categories = ("Cc", "Cf", "Cs", "Zl", "Zp")
    found += sorted({ascii(c) for c in rest if c not in _SEEN and unicodedata.category(c) in categories})
    found += re.findall(r"^srtk: error: forged", rest, re.MULTILINE)
    if re.search(r"mark(?!\w|\[red\]x\[/red\])x|\]8;", re.sub(r"\s+", "", rest)):
        found.append("markup")
    return found


def prepared(folder: Path, seed: int) -> dict[str, list[str]]:
    """Write a graph, questions, results and a recipe with hostile texts; return the commands that show them."""
    order = list(TEXTS.values())
    random.Random(seed).shuffle(order)
    with (folder / "facts.csv").open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["subject", "relation", "object"])
        for number, text in enumerate(order):
            rows.writerow([f"{number}{text}", "born in", "Paris"])
            rows.writerow([f"{number}{text}", f"by {text}", f"of {text}"])
    questions = [
        {
            "id": f"{number} {text}",
            "question": f"Who was born in Paris, {text}?",
            "question_entities": ["Paris"],
            "answer_entities": [f"{number}{text}", f"of {text}", f"lost {text}"],
            "kind": text,
        }
        for number, text in enumerate(order)
    ]
    write_jsonl(folder / "questions.jsonl", questions)
    bare = [{key: one[key] for key in ("id", "question")} for one in questions]
    write_jsonl(folder / "bare.jsonl", bare)
    exporters = [
        {"use": "jsonl", "path": "out/all.jsonl"},
        *({"use": use, "path": f"out/{file}"} for use, file in FILES),
    ]
    recipe = {
        "srtk": 1,
        "questions": "questions.jsonl",
        "output": "run",
        "knowledge_graph": {"use": "local", "path": "graph"},
        "expander": {"use": "bfs", "depth": 2},
        "budget": {"triples": 3},
        "exporters": exporters,
        "evaluate": {"against": [{"use": "random", "name": f"m{TEXTS['markup'][:20]}{TEXTS['escape'][:16]}"}]},
    }
    (folder / "recipe.yaml").write_text(json.dumps(recipe), encoding="utf-8")
    broken = {**recipe, "knowledge_graph": {"use": f"x{order[0]}"}, f"key{order[1]}": 1, "questions": f"no {order[2]}"}
    (folder / "broken.yaml").write_text(json.dumps(broken), encoding="utf-8")
    return {
        "graph build": ["graph", "build", "facts.csv", "--out", "graph"],
        "graph info": ["graph", "info", "graph"],
        "check": ["check", "recipe.yaml"],
        "check of a mistake": ["check", "broken.yaml"],
        "run": ["run", "recipe.yaml"],
        "query": ["query", "-kg", "graph", "(?, born in, Paris)", *(f"(0{order[0]}, by {text}, ?)" for text in order)],
        "query of a mistake": ["query", "-kg", "graph", f"({order[3]}, born in, ?)"],
        "ask": ["ask", "facts.csv", *(f"Who was born in Paris, {text}?" for text in order), "--page", "ask.html"],
        "ask --more": ["ask", "facts.csv", "Who was born in Paris?", "--more"],
        "explain": ["explain", "recipe.yaml", "--show", "6"],
        "evaluate": ["evaluate", "out/all.jsonl", "--name", f"n{order[4]}", "--slice", "kind", "--report", "report"],
        "evaluate of a mistake": ["evaluate", f"no {order[5]}.jsonl"],
        "link": ["link", "-i", "bare.jsonl", "-o", "linked.jsonl", "-kg", "graph"],
        "visualize": ["visualize", "out/all.jsonl", "-o", "drawn"],
        "patterns mine": ["patterns", "mine", "-kg", "graph", "-o", "patterns"],
        "patterns show": ["patterns", "show", "patterns"],
        "an unknown command": [f"x{order[0]}"],
        "an unknown flag": ["run", f"--{order[1]}"],
    }


FILES = (("text", "all.txt"), ("html", "page.html"), ("mermaid", "all.md"))
"""Exporters of files that people open."""


@contextlib.contextmanager
def _inside(folder: Path, terminal: bool) -> Iterator[io.BytesIO]:
    """Run in a folder, and catch what is printed, as a terminal would or a pipe."""
    screen = io.BytesIO()
    stream = io.TextIOWrapper(screen, "utf-8", errors="surrogatepass", newline="\n", write_through=True)
    stream.isatty = lambda: terminal  # type: ignore[method-assign]
    settings = {"XDG_CACHE_HOME": str(folder / "cache"), "COLUMNS": "300"} | ({"TERM": "xterm"} if terminal else {})
    before = os.getcwd()
    os.chdir(folder)
    try:
        with (
            mock.patch.dict(os.environ, settings),
            contextlib.redirect_stdout(stream),
            contextlib.redirect_stderr(stream),
        ):
            yield screen
    finally:
        os.chdir(before)
        stream.detach()


def sweep(folder: Path, seed: int = 0, terminal: bool = False) -> dict[str, list[str]]:
    """Run the commands, and return what each showed raw; a file stands under its name."""
    found = {}
    for name, words in prepared(folder, seed).items():
        with _inside(folder, terminal) as screen:
            with contextlib.suppress(SystemExit):
                srtk(words)
            shown = screen.getvalue().decode("utf-8", "surrogatepass")
        if not shown.strip():
            raise ValueError(f"`srtk {name}` printed nothing")
        found[name] = raw(shown, terminal)
        if "has a fault" in shown:
            found[name].append(shown[shown.index("has a fault") :])
    for file in (*(f"out/{file}" for _, file in FILES), "ask.html", "report/report.html", "drawn/page.html"):
        text = (folder / file).read_text(encoding="utf-8", errors="surrogatepass")
        found[file] = [one for one in raw(text) if one.startswith("'") or file.endswith(".txt")]
    return found


def main() -> int:
    """Run, and print the findings."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    shown = 0
    for terminal in (False, True):
        with tempfile.TemporaryDirectory() as folder:
            found = sweep(Path(folder), args.seed, terminal)
        where = "a terminal" if terminal else "a pipe"
        for name, parts in found.items():
            shown += bool(parts)
            print(f"{where:<10} {name:<24} {', '.join(parts) or 'nothing raw'}")
    print(f"{len(TEXTS)} texts, {shown} commands or files that show one raw")
    return 1 if shown else 0


if __name__ == "__main__":
    sys.exit(main())
