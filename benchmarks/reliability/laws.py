"""Changes that must not change a result: order of the input, doubled facts, foreign facts, size of the batch.

    python -m benchmarks.reliability.laws [--graphs 20] [--seed 0]

Graphs are drawn at random. Each is built as it is and changed, and searched by `bfs`, `ppr` and `beam` (MiniLM).
Compares triples, scores and paths; the command fails if any differ.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import random
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from srtk_framework import open as open_recipe
from srtk_framework.cli import main as srtk
from srtk_framework.values import Link, Question

Fact = tuple[str, str, str]
METHODS = ("bfs", "ppr", "beam")
QUESTIONS = 12


def drawn(draw: random.Random, prefix: str = "n") -> list[Fact]:
    """Draw the facts of a graph with hubs, loops and several relations between two nodes."""
    nodes = [f"{prefix}{number}" for number in range(draw.randint(5, 40))]
    relations = ["born in", "part of", "near", "made by"][: draw.randint(1, 4)]
    count = draw.randint(len(nodes), 4 * len(nodes))
    return list(dict.fromkeys((draw.choice(nodes), draw.choice(relations), draw.choice(nodes)) for _ in range(count)))


def results(facts: Sequence[Fact], asked: Sequence[str], folder: Path, batch: int) -> list[Any]:
    """Build a graph and search around some of its nodes."""
    folder.mkdir()
    table = folder / "facts.tsv"
    table.write_text("".join("\t".join(fact) + "\n" for fact in facts), encoding="utf-8")
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        assert (
            srtk(["graph", "build", str(table), "--out", str(folder / "graph"), "--no-header", "--columns", "1,2,3"])
            == 0
        )
    found = []
    for method in METHODS:
        recipe: dict[str, Any] = {
            "srtk": 1,
            "knowledge_graph": {"use": "local", "path": str(folder / "graph")},
            "encoder": {"use": "onnx", "model": "minilm"},
            "path_scorer": {"use": "dense", "cache": None},
            "expander": {"use": method, "depth": 2},
            "budget": {"triples": 15},
            "batch": batch,
        }
        with open_recipe(recipe) as session:
            rows = session.retrieve(
                [Question(str(number), f"what is near {node}?", (Link(node),)) for number, node in enumerate(asked)]
            )
            found += [(row.error, row.subgraph.triples, row.subgraph.scores, row.subgraph.paths) for row in rows]
    return found


def main() -> int:
    """Compare, and print the counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graphs", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    draw = random.Random(args.seed)
    compared = different = 0
    for number in range(args.graphs):
        facts = drawn(draw)
        asked = [draw.choice(facts)[0] for _ in range(QUESTIONS)]
        shuffled = draw.sample(facts, len(facts))
        changes = {
            "order": (shuffled, 64),
            "doubled": ([*facts, *draw.sample(facts, len(facts) // 2)], 64),
            "foreign": ([*drawn(draw, "x"), *facts], 64),
            "batch": (facts, 1),
        }
        with tempfile.TemporaryDirectory() as place:
            before = results(facts, asked, Path(place) / "before", 64)
            for name, (changed, batch) in changes.items():
                after = results(changed, asked, Path(place) / name, batch)
                compared += len(before)
                for one, other in zip(before, after, strict=True):
                    if one != other:
                        different += 1
                        print(f"graph {number} of seed {args.seed}, {name}: {one} is {other}")
    print(f"{compared} comparisons, {different} differ")
    return int(different > 0)


if __name__ == "__main__":
    sys.exit(main())
