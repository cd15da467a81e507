"""Growth of the peak memory (RSS) of a run with the number of its questions.

    python -m benchmarks.speed.run_memory [--questions 1000 100000] [--only NAME ...]

Each run is a process of its own, over one graph of 20,000 triples: questions with a name, a relation and the gold
answer, one step of breadth-first search, and a reader that answers by the first triple. Prints the peak at each number
of questions, and the growth from the first number to the last.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import attrs

from benchmarks.common import OUT
from benchmarks.figures import record_figure
from srtk_framework.roles import Reader
from srtk_framework.values import Answer, Question, Subgraph

TOWNS = 10_000
BASE: dict[str, Any] = {
    "srtk": 1,
    "questions": "questions.jsonl",
    "knowledge_graph": {"use": "local", "path": "towns"},
    "entity_linker": {"use": "dictionary"},
    "expander": {"use": "bfs", "depth": 1},
    "reader": {"use": f"{Path(__file__).resolve()}:FirstTriple"},
    "output": "run",
}
FORMS = ("jsonl", "html", "text", "parquet", "graphml", "rdf", "cypher", "mermaid")
RUNS: dict[str, dict[str, Any]] = {
    "retrieved": {},
    "evaluated, with a page": {"evaluate": True, "exporters": [{"use": "html", "path": "page.html"}]},
    "evaluated beside another expander": {"evaluate": {"against": [{"use": "random"}]}},
    "every exporter": {"exporters": [{"use": name, "path": f"exported.{name}"} for name in FORMS]},
}


@attrs.define
class FirstTriple(Reader):
    """Answers by the object of the first triple."""

    def read(self, questions: Sequence[Question], subgraphs: Sequence[Subgraph]) -> list[Answer]:
        """Answer each question."""
        ends = [subgraph.triples[0].object for subgraph in subgraphs]
        return [Answer(end, (end,), (0,), certainty="sure") for end in ends]


def write(folder: Path, questions: int) -> None:
    """Write the graph, and questions about its towns in turn."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "towns.csv").open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["subject", "relation", "object"])
        for town in range(TOWNS):
            rows.writerow([f"Town {town}", "lies in", f"County {town % 100}"])
            rows.writerow([f"Town {town}", "has mayor", f"Person {town}"])
    words = [sys.executable, "-m", "srtk_framework", "graph", "build", "towns.csv", "--out", "towns", "--quiet"]
    subprocess.run(words, cwd=folder, check=True)
    with (folder / "questions.jsonl").open("w", encoding="utf-8") as file:
        for number in range(questions):
            town = number * 7919 % TOWNS
            text = f"Who has been the mayor of Town {town}, as asked for the time {number}?"
            gold = {"answer_entities": [f"Person {town}"]}
            file.write(json.dumps({"id": f"question-{number}", "question": text, **gold}) + "\n")


def peak(folder: Path, changes: dict[str, Any]) -> tuple[float, float]:
    """Return the peak memory of a run in MB, and its CPU time in seconds."""
    (folder / "recipe.yaml").write_text(json.dumps({**BASE, **changes}), encoding="utf-8")
    words = [sys.executable, "-m", "srtk_framework", "run", "recipe.yaml", "--quiet", "--fresh"]
    run = subprocess.Popen(words, cwd=folder)
    _, status, used = os.wait4(run.pid, 0)
    run.returncode = os.waitstatus_to_exitcode(status)
    if run.returncode:
        raise SystemExit(f"the run ended with exit status {run.returncode}; see what it said above")
    unit = 1 if sys.platform == "darwin" else 1024
    return used.ru_maxrss * unit / 1e6, used.ru_utime + used.ru_stime


def main() -> int:
    """Run, print and record."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, nargs="+", default=[1000, 100_000])
    parser.add_argument("--only", nargs="+", choices=RUNS, default=list(RUNS))
    args = parser.parse_args()
    for name in args.only:
        peaks = []
        for questions in args.questions:
            folder = OUT / "run-memory" / str(questions)
            write(folder, questions)
            megabytes, seconds = peak(folder, RUNS[name])
            peaks.append(megabytes)
            print(f"{name}, {questions:,} questions: {megabytes:.0f} MB, {seconds:.1f} CPU s", flush=True)
            record_figure("20,000 triples", name, f"peak memory at {questions:,} questions, MB", megabytes, questions)
        print(f"{name}: grown by {peaks[-1] - peaks[0]:.1f} MB", flush=True)
        record_figure("20,000 triples", name, "growth of the peak memory, MB", peaks[-1] - peaks[0], args.questions[-1])
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
