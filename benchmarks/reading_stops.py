"""Stops of the reading by trained weights: shares of the answers that are enough, and prices of a triple.

    OMP_NUM_THREADS=1 python benchmarks/reading_stops.py [--only lcquad mintaka cwq] [--folds 0 1 2 3 4]

The folds are those of `cross_validation.py`, which are trained where build/bench/cross-validation lacks them; each
question is searched by the weights that were trained on the other folds, under each stop, with at most 100 triples.
Differences are of the recall less that of the first stop, with intervals of 95 % and p by random sign changes,
corrected after Holm.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from common import OUT, ROOT, lacking, srtk
from cross_validation import SETS
from srtk_plugin_evaluation import holm, paired, score

from srtk_framework import open as open_recipe
from srtk_framework.graph import with_gold_triples

FOLDS = 5
SHARES, PRICES = (0.95, 0.97, 0.98, 0.99), (0.001, 0.002, 0.003)
STOPS: Mapping[str, Mapping[str, float]] = {
    **{f"recall {share}": {"recall": share} for share in SHARES},
    **{f"price {price}": {"price": price} for price in PRICES},
    **{f"recall {share}, price 0.002": {"recall": share, "price": 0.002} for share in SHARES},
    "none": {"recall": 1.0},
}
METRICS = ("answer_coverage", "answer_recall", "triples", "triple_precision", "triple_recall")
Figures = Mapping[str, Mapping[str, Any]]


def trained(name: str, fold: int) -> Path:
    """Train a fold if it is not there; return the folder of its weights."""
    folder = OUT / "cross-validation" / name / f"fold-{fold}"
    model = folder / "training/model"
    if model.is_dir():
        return model
    print(f"{name}: fold {fold}", file=sys.stderr, flush=True)
    changes = (f"vars.out={folder}", f"vars.from={fold / FOLDS}", f"vars.to={(fold + 1) / FOLDS}")
    flags = [part for change in changes for part in ("--set", change)]
    recipe = str(ROOT / f"benchmarks/recipes/train-{name}.yaml")
    _, failed = srtk("run", recipe, "--train-only", "--resume", "--quiet", *flags)
    if failed:
        raise SystemExit(f"{name}: {failed}")
    return model


def searched(name: str, fold: int) -> dict[str, Figures]:
    """Search the questions of a fold under each stop; return their figures by id."""
    model = trained(name, fold)
    beam = {"use": "beam", "width": 20, "depth": 2, "inverse": True}
    methods = [{**beam, "budget": {"triples": 100, **stop}, "name": key} for key, stop in STOPS.items()]
    changes = [
        "train=null",
        "exporters=[]",
        f"vars.from={fold / FOLDS}",
        f"vars.to={(fold + 1) / FOLDS}",
        f"encoder.model={model}",
        f"evaluate={json.dumps({'against': methods})}",
    ]
    found: dict[str, dict[str, Mapping[str, Any]]] = {}
    with open_recipe(str(ROOT / f"benchmarks/recipes/train-{name}.yaml"), changes) as session:
        assert session.dataset is not None
        assert session.graph is not None
        questions = with_gold_triples(session.graph, list(session.dataset.read()))
        for key in STOPS:
            for one in session.retrieve(questions, key):
                found.setdefault(one.question.id, {})[key] = score(one)
    return dict(found)


def rows(figures: Sequence[Figures]) -> list[str]:
    """Write a row for each stop."""
    written, estimates = [], []
    first = next(iter(STOPS))
    for key in STOPS:
        own, other = ([one[name]["answer_recall"] for one in figures] for name in (key, first))
        estimates.append(paired(own, other))
    corrected = holm([estimate["p"] for estimate in estimates[1:]])
    for key, less, p in zip(STOPS, estimates, [None, *corrected], strict=True):
        values = [[one[key][metric] for one in figures if one[key][metric] is not None] for metric in METRICS]
        cells = [
            f"{sum(row) / len(row):.{1 if metric == 'triples' else 3}f}" if row else "–"
            for row, metric in zip(values, METRICS, strict=True)
        ]
        test = (
            ["", ""] if p is None else [f"{less['mean']:+.3f} ({less['low']:+.3f} to {less['high']:+.3f})", f"{p:.3f}"]
        )
        written.append(f"| {' | '.join([key, *cells, *test])} |")
    return written


def main() -> int:
    """Print a table for each set."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", choices=sorted(SETS), default=["lcquad", "mintaka"])
    parser.add_argument("--folds", nargs="*", type=int, default=list(range(FOLDS)))
    args = parser.parse_args()
    for name in args.only:
        if missing := lacking(SETS[name]):
            print(f"{name}: skipped: {missing}", file=sys.stderr)
            continue
        found: dict[str, Figures] = {}
        for fold in args.folds:
            found |= searched(name, fold)
        print(f"\n| {name}, {len(found)} | {' | '.join(METRICS)} | less {next(iter(STOPS))} | Holm p |")
        print("|---|" + "--:|" * (len(METRICS) + 2))
        print("\n".join(rows(list(found.values()))), flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
