"""Searches by the relation paths of training questions, on PathQuestion and MetaQA, from 10 questions to all of a half.

    OMP_NUM_THREADS=1 python -m benchmarks.path_patterns.path_pattern_scorer [--only NAME ...] [--learn N ...]

One half of the questions is for training, the other half (of MetaQA 1,500 of these) for scoring every method, as in
`trained.py`. `frequent` is the most frequent path of the training half that starts at the question's entity, `paths`
scores by the paths alone, `patterns` by their words too, `mix` adds untrained `dense`. The runs are kept in
build/bench/path-pattern-scorer/NAME.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import attrs

from benchmarks.common import OUT, lacking, srtk

LEARN = (10, 50, 200, None)
METRICS = ("answer_coverage", "answer_recall", "triple_precision", "triple_recall", "triples")
SIZES = ("5", "10", "20", "50")
"""Numbers of triples at which methods are compared."""
NO_TRAINING = "train=null"
MIX = "path_scorer={use: mix, scorers: [{use: patterns}, {use: dense}], weights: [0.5, 1.0]}"
OWN = ("expander.search.mention=auto", "train.supervision.use=gold-path", "train.validation=null", "train.fit={}")
"""Settings of recipes that train `dense`, which `patterns` leaves to itself."""


@attrs.frozen
class Case:
    """A recipe with its variables.

    Attributes:
        name: Name of the case.
        recipe: Its recipe, without folder and suffix.
        files: Required files of the data folder.
        budget: Most triples.
        sets: Values that override the recipe's.
    """

    name: str
    recipe: str
    files: tuple[str, ...]
    budget: int
    sets: tuple[str, ...] = ()


def cases() -> list[Case]:
    """List the cases."""
    paths = {hops: (f"pathquestion/PQ-{hops}H.txt", f"pathquestion/{hops}H-kb.txt") for hops in (2, 3)}
    films = ("metaqa/1-hop/qa_dev.txt", "metaqa/kb_from_splits.txt")
    return [
        Case("pathquestion-2", "train-pathquestion", paths[2], 10),
        Case("pathquestion-3", "train-pathquestion", paths[3], 10, ("vars.hops=3",)),
        Case("metaqa", "train-metaqa", films, 200),
        Case("pathquestion-2-unseen", "train-pathquestion", paths[2], 10, ("vars.by=relation-path",)),
        Case("metaqa-unseen", "train-metaqa", films, 200, ("vars.by=relation-path",)),
    ]


def methods(learn: Sequence[int | None]) -> dict[str, tuple[str, ...]]:
    """List what is compared, by name, with the changes to the recipe."""
    found = {
        "dense": ("expander.search.mention=auto", NO_TRAINING, "path_scorer={use: dense}"),
        "bfs": (NO_TRAINING, "expander={use: bfs, depth: DEPTH}"),
    }
    plain = "path_scorer={use: patterns, words: false}"
    for count in learn:
        limit = f"train.questions.part.limit={'null' if count is None else count}"
        name = "all" if count is None else str(count)
        found[f"frequent-{name}"] = (*OWN, limit, plain, "expander.paths=1")
        found[f"paths-{name}"] = (*OWN, limit, plain)
        found[f"patterns-{name}"] = (*OWN, limit, "path_scorer={use: patterns}")
        found[f"mix-{name}"] = (*OWN, limit, MIX, "train.fit={scorers: [{}, null]}")
    return found


def run(case: Case, out: Path, changes: Sequence[str]) -> Path:
    """Run the recipe of a case into a folder, resuming an earlier run."""
    depth = "${depth}" if case.recipe == "train-metaqa" else "${hops}"
    sets = (change.replace("DEPTH", f'"{depth}"') for change in changes)
    flags = [f"output={out}", "exporters=[]", "evaluate=true", f"budget.triples={case.budget}", *case.sets, *sets]
    print(f"{case.name}: {out.name}", file=sys.stderr, flush=True)
    given = [part for flag in flags for part in ("--set", flag)]
    _, failed = srtk("run", f"recipes/{case.recipe}.yaml", "--resume", "--quiet", *given)
    if failed:
        raise SystemExit(f"{case.name} {out.name}: {failed}")
    return out


def compare(case: Case, out: Path, learn: Sequence[int | None]) -> dict[str, Any]:
    """Run the methods of a case and compare them; return the figures that the documentation shows.

    Sizes are compared with those of `patterns` from the most questions. Tests are of one method against `dense` each,
    Holm-corrected over its metrics and sizes.
    """
    from srtk_plugin_evaluation import compare_runs

    wanted = methods(learn)
    folders = {name: run(case, out / name, changes) for name, changes in wanted.items()}
    first = [name for name in wanted if name.startswith("patterns")][-1]
    names = [first, *(name for name in wanted if name != first)]
    report = compare_runs([folders[name] for name in names], names)
    against = {}
    for name in names:
        if name.startswith(("patterns", "mix")):
            pair = compare_runs([folders[name], folders["dense"]], [name, "dense"])
            [whole], [at] = pair["differences"].values(), pair["at"]["differences"].values()
            against[name] = {
                "whole": _tested(whole),
                **{size: _tested({name: found[size] for name, found in at.items()}) for size in SIZES},
            }
    return {
        "questions": report["questions"],
        "methods": _means(report["methods"]),
        "recall by hops": {
            hops: {name: _means(group["methods"])[name]["answer_recall"][0] for name in names}
            for hops, group in report["slices"].get("hops", {}).items()
        },
        "coverage at": {
            name: [found["answer_coverage"][size]["mean"] for size in SIZES]
            for name, found in report["at"]["methods"].items()
        },
        f"at as many triples as {first}": _means(report["at"]["equal"]["methods"]),
        "difference from dense": against,
    }


def _means(methods: dict[str, Any]) -> dict[str, Any]:
    return {
        method: {name: _numbers(found[name], ("mean", "low", "high")) for name in METRICS if name in found}
        for method, found in methods.items()
    }


def _tested(found: dict[str, Any]) -> dict[str, Any]:
    return {name: _numbers(found[name], ("mean", "p_holm")) for name in METRICS if name in found}


def _numbers(estimate: dict[str, Any], parts: tuple[str, ...]) -> list[float | None]:
    return [None if estimate[part] is None else round(estimate[part], 3) for part in parts]


def main() -> int:
    """Run the cases with available data, and print the figures."""
    names = [case.name for case in cases()]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", choices=names, default=names)
    parser.add_argument("--learn", nargs="*", type=int, help="numbers of training questions; 0 for all")
    args = parser.parse_args()
    learn = LEARN if args.learn is None else [count or None for count in args.learn]
    out = OUT / "path-pattern-scorer"
    found: dict[str, Any] = {}
    for case in cases():
        if case.name not in args.only:
            continue
        missing = lacking(*case.files)
        if missing:
            print(f"{case.name}: skipped: {missing}", file=sys.stderr)
            continue
        found[case.name] = compare(case, out / case.name, learn)
        print(json.dumps({case.name: found[case.name]}, indent=1), flush=True)
    out.mkdir(parents=True, exist_ok=True)
    (out / "figures.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
