"""Retrieval without training on PathQuestion and MetaQA: the recipes of this repository, given and linked.

python -m benchmarks.search.zero_shot [--limit N] [--only NAME ...]
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from benchmarks.common import OUT, Result, lacking, print_outcome, read_json, shown, srtk
from benchmarks.figures import NAMES, half, record_figure, record_mean

DEFAULT_LIMIT = 500
RULES = ("log-softmax", "log-sigmoid", "srtk-sum")
_KEPT = ("answer_coverage", "answer_recall", "triple_f1", "triples", "tokens")
_CALLED = {
    "answer_coverage": "answer coverage",
    "answer_recall": "answer recall",
    "triple_f1": "triple F1",
    "triples": "triples",
    "tokens": "tokens",
}


@attrs.frozen
class Case:
    """One recipe with its variables.

    Attributes:
        name: Name of the benchmark.
        recipe: File of the recipe.
        files: Required files of the data folder.
        sets: Values that override the recipe's.
    """

    name: str
    recipe: str
    files: tuple[str, ...]
    sets: tuple[str, ...]


def cases() -> Iterator[Case]:
    """List the cases: each set and length, topic entity given or linked from the text; then variations."""
    for given, kind in (("true", "given"), ("false", "linked")):
        for hops in (2, 3):
            files = (f"pathquestion/PQ-{hops}H.txt", f"pathquestion/{hops}H-kb.txt")
            sets = (f"vars.hops={hops}", f"vars.given={given}")
            yield Case(f"pathquestion-{hops}-{kind}", "recipes/pathquestion.yaml", files, sets)
        for hops in (1, 2, 3):
            files = (f"metaqa/{hops}-hop/qa_dev.txt", "metaqa/kb_from_splits.txt")
            sets = (f"vars.hops={hops}", f"vars.given={given}")
            yield Case(f"metaqa-{hops}-{kind}", "recipes/metaqa.yaml", files, sets)
    # Scored against all answers, also those that the graph lacks; baselines are those above from here on.
    for hops in (2, 3):
        files = (f"metaqa/{hops}-hop/qa_dev.txt", "metaqa/kb_from_splits.txt")
        more = (f"vars.hops={hops}", "vars.answers=all", "evaluate=true")
        yield Case(f"metaqa-{hops}-all-answers", "recipes/metaqa.yaml", files, more)
    # The other rules of the scorer, on the longest questions.
    for rule in RULES:
        more = ("vars.hops=3", f"path_scorer.rule={rule}", "evaluate=true")
        files = ("pathquestion/PQ-3H.txt", "pathquestion/3H-kb.txt")
        yield Case(f"pathquestion-3-{rule}", "recipes/pathquestion.yaml", files, more)
        files = ("metaqa/3-hop/qa_dev.txt", "metaqa/kb_from_splits.txt")
        yield Case(f"metaqa-3-{rule}", "recipes/metaqa.yaml", files, more)


def run_case(case: Case, limit: int | None, out: Path) -> Result:
    """Run one case in a process of its own and read its evaluation."""
    folder = out / case.name
    sets = [*case.sets, f"vars.limit={'null' if limit is None else limit}"]
    command = f"srtk run {case.recipe} " + " ".join(f"--set {item}" for item in sets)
    why = lacking(*case.files)
    if why:
        return Result(case.name, command, skipped=why)
    sets += [f"output={shown(folder)}", f"exporters.0.path={shown(folder / 'subgraphs.jsonl')}"]
    _, failed = srtk("run", case.recipe, *(part for item in sets for part in ("--set", item)))
    if failed:
        return Result(case.name, command, failed=failed)
    report = read_json(folder / "evaluation.json")
    return Result(case.name, command, figures={key: report[key] for key in ("questions", "links", "failed", "methods")})


COLUMNS = ("case", "method", "questions", "failed", "coverage", "recall", "F1", "triples", "tokens")


def table(results: Sequence[Result]) -> Any:
    """Lay out one row for each case and method, without intervals."""
    from rich import box
    from rich.table import Table

    laid = Table(box=box.SIMPLE_HEAD, show_edge=False, padding=0)
    for column in COLUMNS:
        laid.add_column(column, justify="left" if column in ("case", "method") else "right", no_wrap=True)
    for cells in rows(results):
        laid.add_row(*(cell.partition(" ±")[0] for cell in cells))
    return laid


def show(results: Sequence[Result]) -> None:
    """Print the table; where the output is no terminal, lines may be longer than 80."""
    from rich.console import Console

    console = Console()
    console.width = max(console.width, 100)
    console.print(table(results))


def rows(results: Sequence[Result]) -> Iterator[tuple[str, ...]]:
    """Yield the cells of each case and method."""
    for result in results:
        for i, (method, metrics) in enumerate(result.figures.get("methods", {}).items()):
            start = (result.name, method, str(result.figures["questions"])) if i == 0 else ("", method, "")
            yield (*start, str(result.figures["failed"][method]), *(_number(name, metrics[name]) for name in _KEPT))


def keep(result: Result) -> None:
    """Keep the figures of a case for the results."""
    name = result.name.removeprefix("index-")
    base = next((known for known in NAMES if name.startswith(known)), None)
    if base is None:
        return
    where, variant = NAMES[base], name.removeprefix(base).lstrip("-")
    rule = f", rule: {variant}" if variant in RULES else ""
    where += {"linked": ", linked from the text", "all-answers": ", all answers"}.get(variant, "")
    n = result.figures.get("questions")
    for method, metrics in result.figures.get("methods", {}).items():
        record_figure(where, method + rule, "failed", result.figures["failed"][method], n)
        for key in _KEPT:
            record_mean(where, method + rule, _CALLED[key], metrics[key], n, key.startswith(("answer", "triple_")))


def _number(name: str, estimate: Mapping[str, Any]) -> str:
    mean = estimate["mean"]
    if mean is None:
        return "-"
    if not name.startswith(("answer", "triple_")):
        return f"{mean:.1f}"
    return f"{mean:.3f}{half(estimate)}".replace("±0.", "±.")


def main() -> int:
    """Run the cases and print their table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limit", type=int, default=DEFAULT_LIMIT, help="questions per case; 0 for all")
    parser.add_argument("--only", nargs="*", metavar="NAME", help="prefixes of case names")
    parser.add_argument("--out", type=Path, default=OUT, help="folder for the runs")
    args = parser.parse_args()
    out = args.out.resolve()
    results = run_all(args.limit or None, out, args.only)
    show(results)
    return 1 if any(result.failed for result in results) else 0


def run_all(limit: int | None, out: Path, only: Sequence[str] | None = None) -> list[Result]:
    """Run the cases and print the outcome of each."""
    results = []
    for case in cases():
        if only and not case.name.startswith(tuple(only)):
            continue
        results.append(run_case(case, limit, out))
        print_outcome(results[-1])
        keep(results[-1])
    return results


if __name__ == "__main__":
    raise SystemExit(main())
