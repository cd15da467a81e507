"""The defaults of `beam` and `dense` on sets that they were not chosen on; `bfs` and `random` have the same budget.

    make demo
    python benchmarks/defaults.py [--only NAME ...]

The demo's questions with seeds 0, 2 and 3 run README's first recipe as it stands; WorldCup2014 (400 of 2 hops) and
the SimpleQuestions on CoDEx-M run the defaults alone, with the links given. `bfs (no budget)` reads all that two steps
reach.
The defaults were chosen on the demo's questions with seed 1, and on PathQuestion and MetaQA.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import attrs
import yaml
from common import DATA, OUT, ROOT, codex_relations, lacking, read_json, run, srtk
from thirty_questions import GRAPH, first_recipe

SEEDS = (0, 2, 3)
CUTS = (5, 10, 20, 50)


@attrs.frozen
class Case:
    """A set of questions with its graph.

    Attributes:
        name: Name of the case.
        files: Required files of the data folder.
        recipe: Recipe without outputs and evaluation.
    """

    name: str
    files: tuple[str, ...]
    recipe: Mapping[str, Any] = attrs.field(hash=False)


def cases(out: Path) -> Iterator[Case]:
    """List the cases."""
    for seed in SEEDS:
        recipe = {**first_recipe(), "knowledge_graph": {"use": "local", "path": str(GRAPH)}}
        yield Case(f"demo-{seed}", (), {**recipe, "questions": str(out / f"demo-{seed}.jsonl")})
    search = {
        "srtk": 1,
        "encoder": {"use": "transformers", "model": "minilm"},
        "path_scorer": {"use": "dense"},
        "expander": {"use": "beam"},
    }
    football = {"files": [str(DATA / "wc2014/WC2014.txt")], "format": "tsv"}
    yield Case(
        "wc2014-2",
        ("wc2014/WC2014.txt", "wc2014/WC-P2.txt"),
        {
            **search,
            "questions": {"use": "wc2014", "path": str(DATA / "wc2014"), "kind": "2-hop", "limit": 400},
            "knowledge_graph": {"use": "local", "path": str(out / "wc2014-graph"), "build": football},
        },
    )
    labels = [str(DATA / "wiki27k/entity2label.txt"), str(out / "codex-relations.tsv")]
    parts = [str(DATA / f"codex/codex-m/{part}.txt") for part in ("train", "valid", "test")]
    asked = "codex/derived/simplequestions_wd_in_codex_m.jsonl"
    yield Case(
        "codex",
        (asked, "codex/codex-m/train.txt", "codex/relations/en/relations.json", "wiki27k/entity2label.txt"),
        {
            **search,
            "questions": {"use": "jsonl", "path": str(DATA / asked), "entities_field": "topic_entities"},
            "knowledge_graph": {
                "use": "local",
                "path": str(out / "codex-graph"),
                "build": {"files": parts, "labels": labels},
            },
        },
    )


def prepare(case: Case, out: Path) -> str | None:
    """Write the files that a case needs; return what is missing, if anything."""
    if missing := lacking(*case.files):
        return missing
    if case.name.startswith("demo"):
        if not GRAPH.is_dir():
            return "no build/demo/graph; run `make demo` first"
        seed = case.name.partition("-")[2]
        world = ["--graph", str(ROOT / "build/demo/world"), "--seed", seed, "--out", str(case.recipe["questions"])]
        return run([sys.executable, "demo/questions.py", *world])[1]
    if case.name == "codex":
        codex_relations(out)
    return None


def measure(case: Case, out: Path) -> dict[str, Any]:
    """Run a case and return its evaluation."""
    # The demo has questions of three steps; of the other sets the answers are within two.
    depth = 3 if case.name.startswith("demo") else 2
    free = {"nodes": None, "hub": None}
    against = [
        {"use": "bfs", "depth": depth},
        {"use": "random", "depth": depth, "most_read": 2000},
    ]
    if not case.name.startswith("demo"):
        against.append({"use": "bfs", "name": "bfs (no budget)", "depth": depth, "budget": free})
    folder = out / case.name
    folder.mkdir(parents=True, exist_ok=True)
    recipe = {**case.recipe, "evaluate": {"against": against}, "output": str(folder)}
    recipe["exporters"] = [{"use": "jsonl", "path": str(folder / "subgraphs.jsonl")}]
    file = folder / "recipe.yaml"
    file.write_text(yaml.safe_dump(recipe, sort_keys=False, allow_unicode=True), encoding="utf-8")
    _, failed = srtk("run", str(file), "--quiet")
    if failed:
        raise SystemExit(f"{case.name}: {failed}")
    rows = [json.loads(line) for line in (folder / "scores.jsonl").read_text(encoding="utf-8").splitlines()]
    report = read_json(folder / "evaluation.json")["methods"]
    return {method: {**figures(found), **curve(rows, method)} for method, found in report.items()}


def figures(found: Mapping[str, Any]) -> dict[str, float]:
    """Pick the means that are shown."""
    return {name: found[name]["mean"] for name in ("answer_coverage", "answer_recall", "triples")}


def curve(rows: list[dict[str, Any]], method: str) -> dict[str, float]:
    """Return the share of questions with an answer in the first K triples."""
    mine = [row for row in rows if row["method"] == method and row["metrics"].get("answer_coverage") is not None]
    first = [min(row.get("ranks", {}).get("answers_at", []), default=None) for row in mine]
    return {f"at {k}": sum(rank is not None and rank <= k for rank in first) / len(mine) for k in CUTS}


def main() -> int:
    """Run the cases and print one row for each method."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", metavar="NAME", help="prefixes of case names")
    parser.add_argument("--out", type=Path, default=OUT / "defaults", help="folder for the runs")
    args = parser.parse_args()
    out = args.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    print("| case | method | coverage | recall | triples | " + " | ".join(f"at {k}" for k in CUTS) + " |")
    print("|---|---|" + "--:|" * (3 + len(CUTS)))
    for case in cases(out):
        if args.only and not case.name.startswith(tuple(args.only)):
            continue
        if why := prepare(case, out):
            print(f"{case.name}: skipped: {why}", flush=True)
            continue
        for method, found in measure(case, out).items():
            cells = [f"{value:.1f}" if name == "triples" else f"{value:.3f}" for name, value in found.items()]
            print(f"| {case.name} | {method} | " + " | ".join(cells) + " |", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
