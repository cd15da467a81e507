"""Trains on PathQuestion and MetaQA, and compares with the search without training and with the baselines.

    OMP_NUM_THREADS=1 python -m benchmarks.training.trained [--only NAME ...]

One half of the questions is for training, the other half for scoring every method. Tables, tests at equal triples,
plots and a page for each case are written into build/bench/trained/NAME/comparison.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import attrs

from benchmarks.common import OUT, lacking, read_json, srtk
from benchmarks.figures import record_figure

UNTRAINED = ("train=null", "evaluate=true", "expander.search.mention=auto")
"""The search without training by its default settings, which are the best known for untrained weights."""

TITLES = {
    "pathquestion-2": ("PathQuestion, 2 hops", "pathquestion"),
    "pathquestion-3": ("PathQuestion, 3 hops", "pathquestion"),
    "pathquestion-2-unseen": ("PathQuestion, 2 hops, no relation path in both halves", "pathquestion"),
    "metaqa": ("MetaQA, 1 to 3 hops", "metaqa"),
}
"""Cases as the pages name them, and the measurement of each."""
METRICS = ("answer_coverage", "answer_recall", "triple_precision", "triple_recall", "triples")


@attrs.frozen
class Case:
    """A recipe with its variables.

    Attributes:
        name: Name of the case.
        recipe: Its recipe, without folder and suffix.
        files: Required files of the data folder.
        sets: Values that override the recipe's.
    """

    name: str
    recipe: str
    files: tuple[str, ...]
    sets: tuple[str, ...] = ()


def cases() -> list[Case]:
    """List the cases."""
    paths = {hops: (f"pathquestion/PQ-{hops}H.txt", f"pathquestion/{hops}H-kb.txt") for hops in (2, 3)}
    films = ("metaqa/1-hop/qa_dev.txt", "metaqa/kb_from_splits.txt")
    return [
        Case("pathquestion-2", "train-pathquestion", paths[2]),
        Case("pathquestion-3", "train-pathquestion", paths[3], ("vars.hops=3",)),
        Case("pathquestion-2-unseen", "train-pathquestion", paths[2], ("vars.by=relation-path",)),
        Case("metaqa", "train-metaqa", films),
        Case("metaqa-unseen", "train-metaqa", films, ("vars.by=relation-path",)),
    ]


def run(case: Case, out: Path, *changes: str) -> Path:
    """Run the recipe of a case into a folder, resuming an earlier run."""
    flags = [f"output={out}", "exporters=[]", *case.sets, *changes]
    print(f"{case.name}: {' '.join(flags)}", file=sys.stderr, flush=True)
    given = [part for flag in flags for part in ("--set", flag)]
    _, failed = srtk("run", f"recipes/{case.recipe}.yaml", "--resume", "--quiet", *given)
    if failed:
        raise SystemExit(f"{case.name}: {failed}")
    return out


def compare(case: Case, out: Path) -> dict[str, Any]:
    """Run a case with and without training, and compare; return the figures that the documentation shows."""
    from srtk_plugin_evaluation import compare_runs, write_report

    folders = [run(case, out / "trained"), run(case, out / "untrained", *UNTRAINED)]
    report = compare_runs(folders)
    write_report(report, out / "comparison", case.name)
    training = read_json(out / "trained" / "training" / "training.json")
    figures = {"lessons": training["counts"]["lessons"], "all": _figures(report)}
    for hops, group in report["slices"].get("hops", {}).items():
        figures[f"{hops} hops"] = _figures(group)
    return figures


def _figures(report: dict[str, Any]) -> dict[str, Any]:
    equal = report["at"]["equal"]
    return {
        "questions": report["questions"],
        "methods": _means(report["methods"]),
        "at as many triples": _means(equal["methods"]),
        "differences there": {
            pair: {name: _numbers(found[name], ("mean", "p_holm")) for name in METRICS if name in found}
            for pair, found in equal["differences"].items()
        },
    }


def _means(methods: dict[str, Any]) -> dict[str, Any]:
    return {
        method: {name: _numbers(found[name], ("mean", "low", "high")) for name in METRICS if name in found}
        for method, found in methods.items()
    }


def _numbers(estimate: dict[str, Any], parts: tuple[str, ...]) -> list[float | None]:
    return [None if estimate[part] is None else round(estimate[part], 3) for part in parts]


def keep(name: str, found: dict[str, Any]) -> None:
    """Keep the figures of a case for the results."""
    if name not in TITLES:
        return
    where, measurement = TITLES[name]
    for part, suffix in (("methods", ""), ("at as many triples", " at equal triples")):
        for method, row in found[part].items():
            for metric, (mean, low, high) in row.items():
                if mean is not None:
                    called = metric.replace("_", " ") + suffix
                    record_figure(where, method, called, mean, found["questions"], (low, high), measurement)


def main() -> int:
    """Run the cases with available data, and print the figures."""
    names = [case.name for case in cases()]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", choices=names, default=names)
    args = parser.parse_args()
    out = OUT / "trained"
    found: dict[str, Any] = {}
    for case in cases():
        if case.name not in args.only:
            continue
        missing = lacking(*case.files)
        if missing:
            print(f"{case.name}: skipped: {missing}", file=sys.stderr)
            continue
        found[case.name] = compare(case, out / case.name)
        print(json.dumps({case.name: found[case.name]}, indent=1), flush=True)
        keep(case.name, found[case.name]["all"])
    out.mkdir(parents=True, exist_ok=True)
    (out / "figures.json").write_text(json.dumps(found, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
