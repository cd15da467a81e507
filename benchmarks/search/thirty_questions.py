"""Thirty questions about countries as people type them, answered by README's first recipe as it stands there.

    make demo                                       builds the graph
    python -m benchmarks.search.thirty_questions [--set KEY.PATH=VALUE ...]

The questions in thirty_questions.jsonl have misspelt names, nicknames and small letters among them, and their answers
in words beside the ids. They are for checking only: no setting may be chosen on them. Of README's recipe only the paths
are replaced.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from benchmarks.common import OUT, ROOT, shown, srtk
from benchmarks.figures import record_figure

QUESTIONS = Path(__file__).with_suffix(".jsonl")
GRAPH = ROOT / "build/demo/graph"
FIRST = 10


def first_recipe() -> dict[str, Any]:
    """Read the first recipe of README.md."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    found = re.search(r"^```yaml\n(srtk: 1\n.*?)^```", text, re.MULTILINE | re.DOTALL)
    if found is None:
        raise SystemExit("README.md has no recipe")
    recipe: dict[str, Any] = yaml.safe_load(found[1])
    return recipe


def run_first_recipe(questions: Path, out: Path, sets: Sequence[str] = ()) -> dict[str, dict[str, Any]]:
    """Run README's first recipe over the demo's graph; return the scores of each question, by id."""
    recipe = first_recipe()
    recipe["questions"] = str(questions)
    recipe["knowledge_graph"] = {"use": "local", "path": str(GRAPH)}
    recipe["exporters"] = [{"use": "jsonl", "path": str(out / "subgraphs.jsonl")}]
    recipe["evaluate"] = True
    recipe["output"] = str(out)
    out.mkdir(parents=True, exist_ok=True)
    file = out / "recipe.yaml"
    file.write_text(yaml.safe_dump(recipe, sort_keys=False, allow_unicode=True), encoding="utf-8")
    _, failed = srtk("run", str(file), "--quiet", *(part for item in sets for part in ("--set", item)))
    if failed:
        raise SystemExit(failed)
    rows = [json.loads(line) for line in (out / "scores.jsonl").read_text(encoding="utf-8").splitlines()]
    return {row["id"]: row for row in rows}


def answer_rank(row: dict[str, Any]) -> int | None:
    """Return the rank of the first triple with an answer, from 1; None without one."""
    found: list[int] = row.get("ranks", {}).get("answers_at", [])
    return min(found, default=None)


def main() -> int:
    """Print the rank of each question's first answer, and the number of questions with one in the first ten triples."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--set", action="append", default=[], metavar="KEY.PATH=VALUE", help="as for `srtk run`")
    parser.add_argument("--out", type=Path, default=OUT / "thirty-questions", help="folder for the run")
    args = parser.parse_args()
    if not GRAPH.is_dir():
        print(f"skipped: {shown(GRAPH)} does not exist; run `make demo` first")
        return 0
    questions = [json.loads(line) for line in QUESTIONS.read_text(encoding="utf-8").splitlines()]
    scores = run_first_recipe(QUESTIONS, args.out.resolve(), args.set)
    found = 0
    for question in questions:
        row = scores[question["id"]]
        rank = answer_rank(row)
        found += rank is not None and rank <= FIRST
        size = int(row["metrics"]["triples"])
        print(f"{question['id']}  {'-' if rank is None else rank:>4} of {size:>4}  {question['question']}")
    print(f"an answer in the first {FIRST} triples: {found} of {len(questions)}")
    metric = f"questions with an answer in the first {FIRST} triples"
    record_figure("thirty questions", "beam", metric, found, len(questions))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
