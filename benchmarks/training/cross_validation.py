"""Trains on real questions by cross-validation, and compares with the same search without training.

    OMP_NUM_THREADS=1 python -m benchmarks.training.cross_validation [--only NAME ...] [--folds 5] [--set KEY=VALUE ...]

Each question is scored once, by the scorer that was trained on the other folds. The search without training, `bfs`,
`ppr` and `random` run on the same questions under the same budget. Without training means the default settings, which
are the best known for untrained weights. Tables, tests, plots and a page are written into
build/bench/cross-validation/NAME/comparison. `--set` changes settings of the training. Where a set has gold paths, rows
follow for three kinds of questions, whose gold path is one of the training questions (`known`),
has only relations of theirs (`other`), or a relation that none of theirs has (`new`).
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.common import OUT, ROOT, lacking, srtk
from benchmarks.figures import NAMES, record_figure, record_mean
from benchmarks.operations import topics
from srtk_framework import open as open_recipe
from srtk_framework.values import Question

SETS = {
    "cwq": "fb15k237/derived/cwq_test_reachable.jsonl",
    "lcquad": "dbpedia/derived/lcquad1_in_dbp15k_union.jsonl",
    "mintaka": "wiki27k/derived/mintaka_reachable.jsonl",
}
BASELINES = ("bfs", "ppr", "random")
GRAPHS = {"cwq": "build/fb15k237", "lcquad": "build/dbp15k", "mintaka": "build/wiki27k"}  # as the recipes build them
CUTS = (5, 20, 50)
METRICS = ("answer_coverage", "answer_recall", "triple_precision", "triples")


def run(name: str, out: Path, *changes: str) -> None:
    """Run the recipe of a set with some changes."""
    flags = [part for change in (f"vars.out={out}", *changes) for part in ("--set", change)]
    print(f"{name}: {' '.join(changes)}", file=sys.stderr, flush=True)
    _, failed = srtk("run", str(ROOT / f"benchmarks/recipes/train-{name}.yaml"), "--resume", "--quiet", *flags)
    if failed:
        raise SystemExit(f"{name}: {failed}")


def trained(name: str, out: Path, folds: int, *changes: str) -> Path:
    """Train and search fold by fold; return one file of all results."""
    lines: list[str] = []
    for fold in range(folds):
        part = out / f"fold-{fold}"
        run(name, part, f"vars.from={fold / folds}", f"vars.to={(fold + 1) / folds}", *changes)
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


def kinds(name: str, folds: int) -> dict[str, str]:
    """Tell by id what the training questions of a question's fold have of its gold paths; none without gold paths."""
    found: dict[str, str] = {}
    recipe = str(ROOT / f"benchmarks/recipes/train-{name}.yaml")
    for fold in range(folds):
        part = ["train=null", f"vars.from={fold / folds}", f"vars.to={(fold + 1) / folds}"]
        asked, learnt = (
            [one for one in _questions(recipe, [*part, f"questions.part.outside={outside}"]) if one.gold_paths]
            for outside in ("false", "true")
        )
        paths = {path for one in learnt for path in one.gold_paths or ()}
        relations = {step.relation for path in paths for step in path}
        for one in asked:
            gold = one.gold_paths or ()
            is_new = all(any(step.relation not in relations for step in path) for path in gold)
            found[one.id] = "new" if is_new else "known" if paths & set(gold) else "other"
    return found


def _questions(recipe: str, changes: Sequence[str]) -> list[Question]:
    with open_recipe(recipe, changes) as session:
        assert session.dataset is not None
        return list(session.dataset.read())


def by_kind(files: Sequence[Path], kind: Mapping[str, str]) -> Iterator[str]:
    """Yield rows with the share of questions with an answer in the first triples, the answer recall and the triples."""
    for file in files:
        records = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        for which in ("known", "other", "new"):
            some = [record for record in records if kind.get(str(record["id"])) == which]
            shares = [sum(topics.covered(some, most)) / len(some) for most in CUTS]
            recall = sum(_recall(record) for record in some) / len(some)
            size = sum(len(record["triplets"]) for record in some) / len(some)
            cells = " | ".join(f"{value:.3f}" for value in (*shares, recall))
            yield f"| {which}, {len(some)} | {file.stem} | {cells} | {size:.1f} |"


def _recall(record: Mapping[str, Any]) -> float:
    wanted = set(record["answer_entities"])
    return len(wanted & {end for s, _, o in record["triplets"] for end in (s, o)}) / max(1, len(wanted))


def compare(name: str, out: Path, files: Sequence[Path]) -> dict[str, Any]:
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


def keep(where: str, files: Sequence[Path], found: Mapping[str, Any]) -> None:
    """Keep the figures of a set for the results."""
    for file in files:
        method = "without training" if file.stem == "zero-shot" else file.stem
        records = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        for metric, estimate in found["methods"][file.stem].items():
            record_mean(where, method, metric.replace("_", " "), estimate, len(records), metric != "triples")
        for most in CUTS:
            share = sum(topics.covered(records, most)) / len(records)
            record_figure(where, method, f"answer coverage at {most}", share, len(records))


def main() -> int:
    """Run the sets with available data, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", choices=sorted(SETS), default=sorted(SETS))
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--set", nargs="*", default=[], metavar="KEY=VALUE", help="settings of the training")
    args = parser.parse_args()
    found = {}
    for name in args.only:
        missing = lacking(SETS[name])
        if missing:
            print(f"{name}: skipped: {missing}", file=sys.stderr)
            continue
        out = OUT / "cross-validation" / "-".join([name, *(change.replace("=", "-") for change in args.set)])
        out.mkdir(parents=True, exist_ok=True)
        files = [trained(name, out, args.folds, *args.set)]
        files += [untrained(name, out, method) for method in ("beam", *BASELINES)]
        found[name] = compare(name, out, files)
        print(json.dumps({name: found[name]}, indent=1), flush=True)
        keep(NAMES[name], files, found[name])
        if kind := kinds(name, args.folds):
            print("\n".join(by_kind(files[:2], kind)), flush=True)
    (OUT / "cross_validation.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
