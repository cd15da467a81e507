"""Measures what several candidates of one mention bring to a retrieval: the best one alone against n-best.

    OMP_NUM_THREADS=1 python benchmarks/linking_alternatives.py [--only CASE ...] [--variants 1 2 2@0.9 3@0.9]

Raw text, the recipes of the cases without training, 50 triples. A variant is `n_best`, or `n_best@alternatives`; the
first is what the others are compared with. Mintaka and the demo with seed 1 are for choosing, MetaQA, half of
ComplexWebQuestions (by hash) and the demo as it comes (seed 7) for reporting. Only the questions whose links differ
between variants are searched, and means are of these; the differences are over all questions, of which the rest has
equal links and so equal triples. Figures go to build/bench/linking-alternatives.json.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import attrs
from common import OUT, ROOT, lacking, run, shown
from srtk_plugin_evaluation import paired, row
from srtk_plugin_local.dictionary.linker import DictionaryLinker

from srtk_framework import open as open_recipe
from srtk_framework.values import Link, Question, Retrieval

CUTS = (1, 5, 50)
TRIPLES = 50
ENCODER = "encoder={use: onnx, model: minilm}"
Row = dict[str, float]


@attrs.frozen
class Case:
    """A recipe whose questions are linked from their text.

    Attributes:
        recipe: Its file.
        files: Files of the data folder that it needs.
        sets: Values that override the recipe's.
    """

    recipe: str
    files: tuple[str, ...]
    sets: tuple[str, ...]


@attrs.frozen
class Measured:
    """The figures of a case.

    Attributes:
        questions: Number of all questions.
        rows: For each variant, the figures of the questions that were searched.
        links: For each variant, the links per question.
    """

    questions: int
    rows: dict[str, list[Row]]
    links: dict[str, float]


def trained(name: str, file: str, to: str) -> Case:
    """Make the case of a recipe that trains, without its training."""
    given = f"questions={{use: jsonl, path: '${{data}}/{file}', part: {{between: [0.0, {to}]}}}}"
    sets = ("train=null", given, "entity_linker={use: dictionary}")
    return Case(f"benchmarks/recipes/{name}.yaml", (file,), sets)


def demo(seed: int) -> Case:
    """Make the case of the demo's questions by seed."""
    sets = (
        f"questions=build/bench/linking-alternatives/demo-{seed}.jsonl",
        "encoder={use: transformers, model: minilm}",
    )
    return Case("recipes/quickstart.yaml", (), sets)


def metaqa(hops: int) -> Case:
    """Make the case of one length."""
    sets = (f"vars.hops={hops}", "vars.given=false", "vars.limit=200")
    return Case("recipes/metaqa.yaml", (f"metaqa/{hops}-hop/qa_dev.txt", "metaqa/kb_from_splits.txt"), sets)


CASES = {
    "mintaka": trained("train-mintaka", "wiki27k/derived/mintaka_reachable.jsonl", "1.0"),
    "demo-1": demo(1),
    "demo-7": demo(7),
    **{f"metaqa-{hops}": metaqa(hops) for hops in (1, 2, 3)},
    "cwq": trained("train-cwq", "fb15k237/derived/cwq_test_reachable.jsonl", "0.5"),
}


def read_variant(text: str) -> dict[str, Any]:
    """Return the settings of a variant."""
    most, _, share = text.partition("@")
    return {"n_best": int(most), **({"alternatives": float(share)} if share else {"alternatives": 0.0})}


def figures(retrieval: Retrieval) -> Row:
    """Return the figures of one question."""
    found = row(retrieval)
    first = min(found.ranks.answers_at, default=None) if found.ranks else None
    at = {f"at {cut}": float(first is not None and first <= cut) for cut in CUTS}
    return {**at, "recall": found.metrics["answer_recall"] or 0.0, "triples": found.metrics["triples"] or 0.0}


def measure(
    case: Case, variants: Sequence[str], changes: Sequence[str]
) -> tuple[int, dict[str, list[Row]], dict[str, float]]:
    """Search the questions whose links depend on the variant.

    Returns:
        The number of all questions, the figures of those that were searched by variant, and the links per question.
    """
    sets = (*case.sets, f"budget={{triples: {TRIPLES}}}", ENCODER, "exporters=[]", "evaluate=null", *changes)
    with open_recipe(str(ROOT / case.recipe), sets) as session:
        read = session.dataset.read() if hasattr(session.dataset, "read") else read_questions(session.dataset)
        asked = [one for one in read if one.answers]
        found: dict[str, list[tuple[Link, ...]]] = {}
        for variant in variants:
            linker = DictionaryLinker(session.graph, **read_variant(variant))
            found[variant] = [tuple(links) for links in linker.link([one.text for one in asked])]
        vary = [i for i, rows in enumerate(zip(*found.values(), strict=True)) if len(set(rows)) > 1]
        known: dict[tuple[int, tuple[Link, ...]], Row] = {}
        wanted = list(dict.fromkeys((i, found[variant][i]) for variant in variants for i in vary))
        linked = [attrs.evolve(asked[i], links=links) for i, links in wanted]
        for key, retrieval in zip(wanted, session.retrieve(linked), strict=True):
            known[key] = figures(retrieval)
        rows = {variant: [known[i, found[variant][i]] for i in vary] for variant in variants}
        counts = {variant: sum(map(len, links)) / max(len(links), 1) for variant, links in found.items()}
        return Measured(len(asked), rows, counts)


def read_questions(source: str) -> list[Question]:
    """Read a file of questions, without their links."""
    from srtk_framework.records import read_questions as read

    return [attrs.evolve(one, links=()) for one in read(str(ROOT / source))]


def write_demo(seed: str) -> str | None:
    """Write the demo's questions of a seed; return what is missing, if anything."""
    world = ROOT / "build/demo/world"
    if not world.is_dir():
        return "no build/demo/world; run `make demo` first"
    file = OUT / f"linking-alternatives/demo-{seed}.jsonl"
    file.parent.mkdir(parents=True, exist_ok=True)
    return run([sys.executable, "demo/questions.py", "--graph", str(world), "--seed", seed, "--out", str(file)])[1]


def main() -> int:
    """Run the cases with available data, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", choices=list(CASES), default=list(CASES))
    parser.add_argument("--variants", nargs="*", default=["1", "2", "3", "2@0.9", "3@0.9"])
    parser.add_argument("--set", nargs="*", default=[], help="values that override the recipes'")
    args = parser.parse_args()
    out = OUT / "linking-alternatives.json"
    every: dict[str, Any] = json.loads(out.read_text("utf-8")) if out.exists() else {}
    names = [*(f"at {cut}" for cut in CUTS), "recall", "triples"]
    print(f"| case | n | n_best | links | others | {' | '.join(names)} | recall, of all | p |", flush=True)
    print("|---|--:|---|--:|--:|" + "--:|" * len(names) + "--:|--:|", flush=True)
    for name in args.only:
        case = CASES[name]
        missing = lacking(*case.files) or (write_demo(name.partition("-")[2]) if name.startswith("demo") else None)
        if missing:
            print(f"{name}: skipped: {missing}", file=sys.stderr)
            continue
        measured = measure(case, args.variants, args.set)
        number, counts = measured.questions, measured.links
        first = measured.rows[args.variants[0]]
        for variant, some in measured.rows.items():
            means = {key: sum(one[key] for one in some) / max(len(some), 1) for key in names}
            same = [0.0] * (number - len(some))
            change = paired([*(one["recall"] for one in some), *same], [*(one["recall"] for one in first), *same])
            every.setdefault(name, {})[variant] = {
                **means,
                "links": counts[variant],
                "n": number,
                "others": len(some),
                "recall difference": change,
            }
            cells = [f"{means[key]:.{1 if key == 'triples' else 3}f}" for key in names]
            print(
                f"| {name} | {number} | {variant} | {counts[variant]:.2f} | {len(some)} | {' | '.join(cells)} | "
                f"{change['mean']:+.3f} ({change['low']:+.3f} to {change['high']:+.3f}) | {change['p']:.3f} |",
                flush=True,
            )
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(every, indent=1) + "\n", encoding="utf-8")
    print(f"figures: {shown(Path(out))}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
