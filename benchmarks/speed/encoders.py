"""Encoders on the same questions: equal triples, answers found, and processor time in turns.

    OMP_NUM_THREADS=1 python -m benchmarks.speed.encoders [--only NAME ...] [--encoders NAME ...] [--limit N]

Each case runs its recipe with each encoder, one after the other, with no cache of vectors on disk. The others are
compared with `onnx`: the triples of each question, in their order, and the largest difference of two scores. Coverage
and recall count answers among the ends of all triples of a question, and of its first five. Processor time is that of
the whole command, start and search, for a question; the figure is the median of the rounds.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from benchmarks.common import OUT, lacking, shown, srtk
from benchmarks.figures import NAMES, record_figure

Rows = Sequence[Mapping[str, Any]]

BASE = "onnx"
ENCODERS = {
    "transformers": "{use: transformers, model: minilm}",
    BASE: "{use: onnx, model: minilm}",
    "onnx, weights: int8": "{use: onnx, model: minilm, weights: int8}",
}
"""Blocks of a recipe, by the name in the records."""
DEFAULT_LIMIT = 500
FIRST = 5
"""Triples that a reader sees first."""


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
    Case(
        "lcquad",
        "benchmarks/recipes/train-lcquad.yaml",
        ("dbpedia/derived/lcquad1_in_dbp15k_union.jsonl",),
        ("train=null", "vars.from=0.0", "vars.to=1.0"),
    ),
)


def seconds(case: Case, encoder: str, limit: int, folder: Path) -> float:
    """Run a case, and return its processor time in seconds."""
    target = shown(folder / "subgraphs.jsonl")
    sets = [*case.sets, f"encoder={encoder}", "path_scorer.cache=", "evaluate=null", f"output={shown(folder)}"]
    sets += [f"exporters=[{{use: jsonl, path: {target}}}]"]
    sets += [f"questions.limit={limit}"] if case.files else []
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    _, failed = srtk("run", case.recipe, "--quiet", "--fresh", *(part for item in sets for part in ("--set", item)))
    if failed:
        raise SystemExit(f"{case.name}: {failed}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def rows_of(folder: Path) -> list[dict[str, Any]]:
    """Read the results of a run."""
    return [json.loads(line) for line in (folder / "subgraphs.jsonl").read_text(encoding="utf-8").splitlines()]


def difference(rows: Rows, others: Rows) -> dict[str, Any]:
    """Compare the results of two runs."""
    pairs = [(one, other) for one, other in zip(rows, others, strict=True) if one["triplets"] == other["triplets"]]
    off = [abs(a - b) for one, other in pairs for a, b in zip(one["scores"], other["scores"], strict=True)]
    return {"questions with equal triples": len(pairs), "largest difference of scores": max(off, default=0.0)}


def answers_found(rows: Rows, most: int | None = None) -> dict[str, float]:
    """Return coverage and recall of the answers among the ends of the first triples."""
    shares = []
    for row in rows:
        ends = {end for subject, _, object_ in row["triplets"][:most] for end in (subject, object_)}
        if answers := set(row["answer_entities"]):
            shares.append(len(answers & ends) / len(answers))
    where = "" if most is None else f" at {most}"
    return {
        f"answer coverage{where}": sum(map(bool, shares)) / len(shares),
        f"answer recall{where}": sum(shares) / len(shares),
    }


def main() -> int:
    """Run the cases and print the figures of each encoder."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", metavar="NAME", help="prefixes of case names")
    parser.add_argument("--encoders", nargs="*", metavar="NAME", default=[*ENCODERS], choices=ENCODERS, help="of these")
    parser.add_argument("--limit", type=int, default=DEFAULT_LIMIT, help="number of questions")
    parser.add_argument("--rounds", type=int, default=2, help="runs with each encoder")
    parser.add_argument("--out", type=Path, default=OUT / "encoders", help="folder for the runs")
    args = parser.parse_args()
    chosen = [BASE, *(name for name in args.encoders if name != BASE)]
    for case in CASES:
        if args.only and not case.name.startswith(tuple(args.only)):
            continue
        if why := lacking(*case.files):
            print(f"{case.name}: skipped: {why}", flush=True)
            continue
        folders = {name: args.out.resolve() / f"{case.name}-{place}" for place, name in enumerate(chosen)}
        spent: dict[str, list[float]] = {name: [] for name in chosen}
        for _ in range(args.rounds):
            for name in chosen:
                spent[name].append(seconds(case, ENCODERS[name], args.limit, folders[name]))
        base = rows_of(folders[BASE])
        for name in chosen:
            rows = rows_of(folders[name])
            ms = 1000 * statistics.median(spent[name]) / len(rows)
            shares = [mine / own for mine, own in zip(spent[name], spent[BASE], strict=True)]
            figures: dict[str, Any] = {**answers_found(rows), **answers_found(rows, FIRST), "CPU ms a question": ms}
            if name != BASE:
                figures |= {**difference(base, rows), "CPU, share of onnx": statistics.median(shares)}
            for metric, figure in figures.items():
                record_figure(NAMES[case.name], name, metric, figure, len(rows))
                print(f"{case.name} | {name} | {metric} | {round(figure, 4)} | {len(rows)}", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
