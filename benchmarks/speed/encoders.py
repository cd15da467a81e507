"""The encoders `onnx` and `transformers` on the same questions: equal triples, and processor time in turns.

    OMP_NUM_THREADS=1 python -m benchmarks.speed.encoders [--only NAME ...] [--limit N] [--rounds N]

Each case runs its recipe with both encoders, one after the other, with no cache of vectors on disk. Compared are the
triples of each question, in their order, and the largest difference of two scores. Processor time is that of the
whole command, start and search; the ratio is the median over the rounds.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
from pathlib import Path
from typing import Any

import attrs

from benchmarks.common import OUT, lacking, shown, srtk

ENCODERS = ("transformers", "onnx")
DEFAULT_LIMIT = 500


@attrs.frozen
class Case:
    """A recipe with its variables.

    Attributes:
        name: Name of the case.
        recipe: File of the recipe.
        files: Required files of the data folder.
        sets: Values that override the recipe's.
    """

    name: str
    recipe: str
    files: tuple[str, ...] = ()
    sets: tuple[str, ...] = ()


CASES = (
    Case("demo", "recipes/quickstart.yaml"),
    *(
        Case(
            f"pathquestion-{hops}",
            "recipes/pathquestion.yaml",
            (f"pathquestion/PQ-{hops}H.txt",),
            (f"vars.hops={hops}",),
        )
        for hops in (2, 3)
    ),
    *(
        Case(f"metaqa-{hops}", "recipes/metaqa.yaml", (f"metaqa/{hops}-hop/qa_dev.txt",), (f"vars.hops={hops}",))
        for hops in (1, 2, 3)
    ),
)


def seconds(case: Case, encoder: str, limit: int, folder: Path) -> float:
    """Run a case, and return its processor time in seconds."""
    target = shown(folder / "subgraphs.jsonl")
    sets = [*case.sets, f"encoder.use={encoder}", "path_scorer.cache=", "evaluate=null", f"output={shown(folder)}"]
    sets += [f"exporters=[{{use: jsonl, path: {target}}}]"]
    sets += [f"vars.limit={limit}"] if case.files else []
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    _, failed = srtk("run", case.recipe, "--quiet", "--fresh", *(part for item in sets for part in ("--set", item)))
    if failed:
        raise SystemExit(f"{case.name}: {failed}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def difference(folders: list[Path]) -> dict[str, Any]:
    """Compare the results of two runs."""
    rows = [
        [json.loads(line) for line in (folder / "subgraphs.jsonl").read_text(encoding="utf-8").splitlines()]
        for folder in folders
    ]
    same = sum(one["triplets"] == other["triplets"] for one, other in zip(*rows, strict=True))
    off = [
        abs(a - b)
        for one, other in zip(*rows, strict=True)
        if one["triplets"] == other["triplets"]
        for a, b in zip(one["scores"], other["scores"], strict=True)
    ]
    return {"questions": len(rows[0]), "equal": same, "largest difference": max(off, default=0.0)}


def main() -> int:
    """Run the cases and print one row for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", metavar="NAME", help="prefixes of case names")
    parser.add_argument("--limit", type=int, default=DEFAULT_LIMIT, help="number of questions")
    parser.add_argument("--rounds", type=int, default=2, help="runs with each encoder")
    parser.add_argument("--out", type=Path, default=OUT / "encoders", help="folder for the runs")
    args = parser.parse_args()
    columns = ("case", "questions", "equal triples", "largest difference")
    columns += (*(f"{name}, CPU s" for name in ENCODERS), "ratio")
    print(f"| {' | '.join(columns)} |")
    print("|---|--:|--:|--:|--:|--:|--:|", flush=True)
    for case in CASES:
        if args.only and not case.name.startswith(tuple(args.only)):
            continue
        if why := lacking(*case.files):
            print(f"{case.name}: skipped: {why}", flush=True)
            continue
        folders = [args.out.resolve() / f"{case.name}-{encoder}" for encoder in ENCODERS]
        spent: list[list[float]] = [[], []]
        for _ in range(args.rounds):
            for times, encoder, folder in zip(spent, ENCODERS, folders, strict=True):
                times.append(seconds(case, encoder, args.limit, folder))
        found = difference(folders)
        ratio = statistics.median(light / heavy for heavy, light in zip(*spent, strict=True))
        cells = [found["questions"], found["equal"], f"{found['largest difference']:.4f}"]
        cells += [" ".join(f"{second:.1f}" for second in times) for times in spent]
        print(f"| {case.name} | {' | '.join(map(str, cells))} | {ratio:.2f} |", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
