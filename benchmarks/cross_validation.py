"""Trains on real questions by cross-validation, and compares with the same search without training.

    OMP_NUM_THREADS=1 python benchmarks/cross_validation.py [--only cwq lcquad mintaka] [--folds 5]

Each question is scored once, by the scorer that was trained on the other folds. The search without training, `bfs`,
`ppr` and `random` run on the same questions under the same budget. Without training means the default settings, which
are the best known for untrained weights. Tables, tests, plots and a page are written into
build/bench/cross-validation/NAME/comparison.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from common import OUT, ROOT, lacking, srtk

SETS = {
    "cwq": "fb15k237/derived/cwq_test_reachable.jsonl",
    "lcquad": "dbpedia/derived/lcquad1_in_dbp15k_union.jsonl",
    "mintaka": "wiki27k/derived/mintaka_reachable.jsonl",
}
BASELINES = ("bfs", "ppr", "random")
GRAPHS = {"cwq": "build/fb15k237", "lcquad": "build/dbp15k", "mintaka": "build/wiki27k"}  # as the recipes build them
METRICS = ("answer_coverage", "answer_recall", "triple_precision", "triples")


def run(name: str, out: Path, *changes: str) -> None:
    """Run the recipe of a set with some changes."""
    flags = [part for change in (f"vars.out={out}", *changes) for part in ("--set", change)]
    print(f"{name}: {' '.join(changes)}", file=sys.stderr, flush=True)
    _, failed = srtk("run", str(ROOT / f"benchmarks/recipes/train-{name}.yaml"), "--resume", "--quiet", *flags)
    if failed:
        raise SystemExit(f"{name}: {failed}")


def trained(name: str, out: Path, folds: int) -> Path:
    """Train and search fold by fold; return one file of all results."""
    lines: list[str] = []
    for fold in range(folds):
        part = out / f"fold-{fold}"
        run(name, part, f"vars.from={fold / folds}", f"vars.to={(fold + 1) / folds}")
        lines += (part / "subgraphs.jsonl").read_text(encoding="utf-8").splitlines()
    return _write(out / "trained.jsonl", lines)


def untrained(name: str, out: Path, method: str) -> Path:
    """Search all questions without training."""
    changes = ["train=null", "vars.from=0.0", "vars.to=1.0"]
    if method != "beam":
        changes.append(f"expander={{use: {method}, depth: 2}}")
    run(name, out / method, *changes)
    lines = (out / method / "subgraphs.jsonl").read_text(encoding="utf-8").splitlines()
    return _write(out / f"{'zero-shot' if method == 'beam' else method}.jsonl", lines)


def _write(file: Path, lines: Sequence[str]) -> Path:
    """Write results in order of id, so that all methods have the same order."""
    rows = sorted(lines, key=lambda line: str(json.loads(line)["id"]))
    file.write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")
    return file


def compare(name: str, out: Path, files: Sequence[Path]) -> dict[str, object]:
    """Compare the result files; return the figures of each method, and the tests against the first."""
    page = out / "comparison"
    _, failed = srtk("evaluate", *map(str, files), "-kg", str(ROOT / GRAPHS[name]), "--report", str(page))
    if failed:
        raise SystemExit(f"{name}: {failed}")
    report = json.loads((page / "comparison.json").read_text(encoding="utf-8"))
    return {
        "methods": {
            method: {metric: row[metric] for metric in METRICS if metric in row}
            for method, row in report["methods"].items()
        },
        "differences": report["differences"],
        "page": str(page.relative_to(ROOT)),
    }


def main() -> int:
    """Run the sets with available data, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", choices=sorted(SETS), default=sorted(SETS))
    parser.add_argument("--folds", type=int, default=5)
    args = parser.parse_args()
    found = {}
    for name in args.only:
        missing = lacking(SETS[name])
        if missing:
            print(f"{name}: skipped: {missing}", file=sys.stderr)
            continue
        out = OUT / "cross-validation" / name
        out.mkdir(parents=True, exist_ok=True)
        files = [trained(name, out, args.folds)]
        files += [untrained(name, out, method) for method in ("beam", *BASELINES)]
        found[name] = compare(name, out, files)
        print(json.dumps({name: found[name]}, indent=1), flush=True)
    (OUT / "cross_validation.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
