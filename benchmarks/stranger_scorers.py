"""Path scorers from outside of the packages that say nothing of search settings, beside `dense`: what they retrieve.

    make demo
    OMP_NUM_THREADS=1 python benchmarks/stranger_scorers.py [--on demo demo1 pathquestion-3 metaqa-2] [--only dense ...]

The scorers (``stranger_drivers.py``) have `dense`'s numbers as they are, times .1 and 10 and shifted by -3, words in
common, and the logits of a small cross-encoder: two layers of MiniLM, trained for some CPU minutes on the demo's
questions with seed 1 (its tuning questions) where `--only` leaves it in. All else is the recipe's. `demo1` is the demo
with seed 1; the others are the first 200 questions of each set, which with `demo1` are those that settings are chosen
by. The demo is linked from the text, the others have their links given.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from common import OUT, ROOT, lacking, read_json, run, shown, srtk
from srtk_plugin_models import MINILM, find_model
from stranger_drivers import train_cross_encoder

from srtk_framework import open as open_recipe

DRIVERS = "benchmarks/stranger_drivers.py"
DEMO = "build/demo/questions.jsonl"
SCORERS = {
    "dense": "{use: dense}",
    "numbers": f'{{use: "{DRIVERS}:Renumbered"}}',
    "numbers x .1": f'{{use: "{DRIVERS}:Renumbered", factor: 0.1}}',
    "numbers x 10": f'{{use: "{DRIVERS}:Renumbered", factor: 10}}',
    "numbers - 3": f'{{use: "{DRIVERS}:Renumbered", shift: -3}}',
    "log-softmax": f'{{use: "{DRIVERS}:Renumbered", rule: log-softmax}}',
    "words": f'{{use: "{DRIVERS}:WordOverlap"}}',
    "cross-encoder": f'{{use: "{DRIVERS}:CrossEncoder", model: MODEL}}',
}
SETS = ("demo", "demo1", *(f"pathquestion-{n}" for n in (2, 3)), *(f"metaqa-{n}" for n in (1, 2, 3)))
LIMIT = 200


def recipe_of(name: str, out: Path) -> tuple[str, list[str]]:
    """Return the recipe of a set and its changes."""
    if name.startswith("demo"):
        file = tuning_questions(out) if name == "demo1" else Path(DEMO)
        return "recipes/quickstart.yaml", [f"questions={{use: jsonl, path: {file}}}"]
    kind, _, hops = name.partition("-")
    sets = [f"vars.hops={hops}", f"vars.limit={LIMIT}"]
    if kind == "metaqa":
        sets.append("encoder={use: onnx, model: minilm}")
    return f"recipes/{kind}.yaml", sets


def tuning_questions(out: Path) -> Path:
    """Write the demo's questions with seed 1, if they are not there."""
    file = out / "demo1.jsonl"
    if not file.exists():
        made = [sys.executable, "demo/questions.py", "--graph", "build/demo/world", "--out", str(file), "--seed", "1"]
        _, failed = run(made)
        if failed:
            raise SystemExit(f"demo1: {failed}")
    return file


def trained_model(out: Path) -> Path:
    """Train the cross-encoder, if it is not there."""
    folder = out / "cross-encoder"
    if not folder.exists():
        begin = time.process_time()
        with open_recipe(str(ROOT / "recipes/quickstart.yaml"), ["exporters=[]"]) as session:
            train_cross_encoder(
                session.graph, tuning_questions(out), str(find_model(MINILM, None, False, False)), folder
            )
        print(f"cross-encoder: trained in {time.process_time() - begin:.0f} s of CPU time", flush=True)
    return folder


def rows(sets: list[str], scorers: list[str], more: list[str], out: Path) -> Iterator[str]:
    """Run each scorer on each set; yield the rows of the table."""
    for name in sets:
        if name.startswith(("pathquestion", "metaqa")) and (missing := lacking(name.partition("-")[0])):
            yield f"{name}: skipped: {missing}"
            continue
        recipe, changes = recipe_of(name, out)
        for scorer in scorers:
            block = SCORERS[scorer]
            if scorer == "cross-encoder":
                block = block.replace("MODEL", str(trained_model(out)))
            folder = out / name / scorer.replace(" ", "_")
            made = [
                f"path_scorer={block}",
                f"output={shown(folder)}",
                f"exporters=[{{use: jsonl, path: {shown(folder / 'subgraphs.jsonl')}}}]",
                "evaluate=true",
            ]
            sets_ = [*changes, *made, *more]
            _, failed = srtk("run", recipe, "--quiet", *(part for change in sets_ for part in ("--set", change)))
            if failed:
                yield f"| {name} | {scorer} | FAILED: {failed} |"
                continue
            report = read_json(folder / "evaluation.json")
            figures = next(iter(report["methods"].values()))
            cells = (
                f"{figures[one]['mean']:.{digits}f}"
                for one, digits in (("answer_coverage", 3), ("answer_recall", 3), ("triples", 1))
            )
            yield f"| {name}, {report['questions']} questions | {scorer} | {' | '.join(cells)} |"


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--on", nargs="*", choices=SETS, default=["demo"], metavar="SET", help=", ".join(SETS))
    parser.add_argument("--only", nargs="*", choices=SCORERS, default=list(SCORERS), metavar="SCORER")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="further changes of the recipe")
    args = parser.parse_args()
    out = OUT / "stranger_scorers"
    out.mkdir(parents=True, exist_ok=True)
    print("| set | scorer | coverage | recall | triples |\n|---|---|--:|--:|--:|")
    for row in rows(args.on, args.only, args.set, out):
        print(row, flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
