"""Measures the effect of linking on retrieval: gold links against the dictionary linker, with n-best.

    OMP_NUM_THREADS=1 python benchmarks/linking_retrieval.py [--only CASE ...] [--limit N] [--best 1 3 5]

The demo questions, MetaQA at 1 to 3 hops, Mintaka on wiki27k and ComplexWebQuestions on FB15k-237, each with its
recipe (the last also with Wikidata's aliases); nothing is trained. Every gold link is an entity that the question is
about, so that entity precision also counts links to others against a linker.

Figures go to build/bench/linking-retrieval.json.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import attrs
from common import DATA, OUT, ROOT, lacking, read_json, shown, srtk
from srtk_plugin_evaluation import compare_runs

ALIASES = OUT / "fb15k237-aliases.tsv"
RETRIEVAL = ("answer_coverage", "answer_recall", "triples")
LINKING = ("entity_precision", "entity_recall", "recall_at_1", "recall_at_5")


@attrs.frozen
class Case:
    """A recipe with gold links and without.

    Attributes:
        recipe: File of the recipe, without suffix.
        files: Required files of the data folder.
        sets: Values that override the recipe's.
        gold: Further values, for gold links.
        linked: Further values, for text without links.
    """

    recipe: str
    files: tuple[str, ...]
    sets: tuple[str, ...]
    gold: tuple[str, ...]
    linked: tuple[str, ...]


def metaqa(hops: int) -> Case:
    """Make the case of one length."""
    files = (f"metaqa/{hops}-hop/qa_dev.txt", "metaqa/kb_from_splits.txt")
    return Case("recipes/metaqa", files, (f"vars.hops={hops}",), ("vars.given=true",), ("vars.given=false",))


def cwq(*more: str) -> Case:
    """Make the case of ComplexWebQuestions."""
    sets = ("train=null", "vars.from=0.0", "vars.to=1.0", "entity_linker={use: dictionary}", *more)
    files = ("fb15k237/derived/cwq_test_reachable.jsonl", "fb15k237/entity2wikidata.json.gz")
    given = ("questions.given=true",), ("questions.given=false",)
    return Case("benchmarks/recipes/train-cwq", files, sets, *given)


def write_aliases() -> None:
    """Write the names that Wikidata has for the entities of FB15k-237."""
    with gzip.open(DATA / "fb15k237/entity2wikidata.json.gz", "rt", encoding="utf-8") as file:
        entities = json.load(file)
    rows = [
        f"{entity}\t{' '.join(name.split())}\n"
        for entity, one in sorted(entities.items())
        for name in sorted({one.get("label") or "", *(one.get("alternatives") or ())})
        if name.strip()
    ]
    ALIASES.parent.mkdir(parents=True, exist_ok=True)
    ALIASES.write_text("".join(rows), encoding="utf-8")


_DEMO = "questions={use: jsonl, path: build/demo/questions.jsonl, entities_field: gold_entities, limit: null, given: "
CASES = {
    "demo": Case("recipes/quickstart", (), (), (_DEMO + "true}",), (_DEMO + "false}",)),
    **{f"metaqa-{hops}": metaqa(hops) for hops in (1, 2, 3)},
    "mintaka": Case(
        "benchmarks/recipes/train-mintaka",
        ("wiki27k/derived/mintaka_reachable.jsonl",),
        ("train=null", "vars.from=0.0", "vars.to=1.0", "entity_linker={use: dictionary}"),
        ("questions.given=true",),
        ("questions.given=false",),
    ),
    "cwq": cwq(),
    "cwq-aliases": cwq(
        "knowledge_graph.path=build/fb15k237-aliases", f"knowledge_graph.build.aliases=[{shown(ALIASES)}]"
    ),
}


def run(name: str, variant: str, sets: Sequence[str]) -> dict[str, Any]:
    """Run one variant, and return its figures."""
    case, out = CASES[name], OUT / "linking-retrieval" / f"{name}-{variant}"
    fixed = ("evaluate=true", "exporters=[]", f"output={out}")
    flags = [part for change in (*case.sets, *fixed, *sets) for part in ("--set", change)]
    _, failed = srtk("run", str(ROOT / f"{case.recipe}.yaml"), "--quiet", *flags)
    if failed:
        raise SystemExit(f"{name}, {variant}: {failed}")
    return read_json(out / "evaluation.json")


def figures(report: Mapping[str, Any]) -> dict[str, Any]:
    """Select the figures of a report to print."""
    method = next(iter(report["methods"]))
    linking = report.get("linking", {}).get("methods", {}).get(method, {})
    found = {metric: report["methods"][method].get(metric) for metric in RETRIEVAL}
    return {**found, **{metric: linking.get(metric) for metric in LINKING}, "failed": report["failed"][method]}


def line(name: str, variant: str, found: Mapping[str, Any]) -> str:
    """Write a row of the table."""
    cells = []
    for metric in (*RETRIEVAL, *LINKING):
        estimate = found[metric]
        if not estimate or estimate["mean"] is None:
            cells.append("–")
        elif metric == "triples":
            cells.append(f"{estimate['mean']:.1f}")
        else:
            half = (estimate["high"] - estimate["low"]) / 2
            cells.append(f"{estimate['mean']:.3f} ±{half:.3f}".replace("±0.", "±."))
    return f"| {name} | {variant} | {found['failed']} | {' | '.join(cells)} |"


def main() -> int:
    """Run the cases with available data, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", choices=list(CASES), default=list(CASES))
    parser.add_argument("--limit", type=int, help="questions per case")
    parser.add_argument("--best", type=int, nargs="*", default=[1, 3, 5], help="alternatives per mention")
    args = parser.parse_args()
    every: dict[str, Any] = {}
    columns = [metric.replace("_", " ") for metric in (*RETRIEVAL, *LINKING)]
    print(f"| case | links | failed | {' | '.join(columns)} |\n|---|---|--:" + "|--:" * len(columns) + "|", flush=True)
    for name in args.only:
        case = CASES[name]
        missing = lacking(*case.files) if case.files else None
        if name == "demo" and not (ROOT / "build/demo/questions.jsonl").exists():
            missing = "there are no demo questions; `make demo` makes them"
        if missing:
            print(f"{name}: skipped: {missing}", file=sys.stderr)
            continue
        if name == "cwq-aliases":
            write_aliases()
        limit = () if args.limit is None else (f"questions.limit={args.limit}",)
        variants = {"gold": case.gold}
        for best in args.best:
            variants[f"{best}-best"] = (*case.linked, f"entity_linker.n_best={best}")
        for variant, sets in variants.items():
            found = figures(run(name, variant, (*sets, *limit)))
            every.setdefault(name, {})[variant] = found
            print(line(name, variant, found), flush=True)
        folders = [OUT / "linking-retrieval" / f"{name}-{variant}" for variant in variants]
        every[name]["differences"] = compare_runs(folders, list(variants))["differences"]
    (OUT / "linking-retrieval.json").write_text(json.dumps(every, indent=1) + "\n", encoding="utf-8")
    for name, variants in every.items():
        for pair, metrics in variants["differences"].items():
            e = metrics["answer_recall"]
            print(
                f"{name}: {pair}, answer recall: {e['mean']:+.3f} ({e['low']:+.3f} to {e['high']:+.3f}), p {e['p']:.3f}"
            )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
