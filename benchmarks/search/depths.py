"""The default search at each depth, on questions whose length nobody tells it.

    make demo
    OMP_NUM_THREADS=1 python -m benchmarks.search.depths [--only NAME ...] [--variants 2 3 auto]

The defaults without training, links given, 50 triples. Elsewhere on this page the depth is the number of steps that a
set is known to need; someone who asks does not know it. A variant is a depth, with the cost of a step beyond the second
(`long_cost`) and the number of paths that are extended beyond it (`long_width`) behind an @: 3 charges for none and
extends all, 3@1@8 are the defaults, which `auto` leaves open. The demo with seed 1 and halves of ComplexWebQuestions,
MetaQA and PathQuestion (by a hash of the id) are for choosing, the rest for reporting. *scored* are the continuations
that the scorer rates for a question. Figures go to build/bench/depths.json.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Mapping, Sequence
from typing import Any

import attrs
from srtk_plugin_evaluation import paired, row

from benchmarks.common import DATA, OUT, ROOT, codex_relations, lacking, run, shown
from benchmarks.figures import ends
from benchmarks.operations import topics
from srtk_framework import open as open_recipe
from srtk_framework.records import place, read_questions
from srtk_framework.values import Question, Retrieval

CUTS = (1, 5, 20, 50)
SEED = 11
Row = dict[str, float]


@attrs.frozen
class Case:
    """A set of questions.

    Attributes:
        recipe: Its recipe, as a file of the repository or as data.
        files: Files of the data folder that it needs.
        sets: Values that override the recipe's.
        limit: Maximum number of questions, drawn by a hash of their ids.
        part: The part of the questions by another hash, from and to.
    """

    recipe: Any = attrs.field(hash=False)
    files: tuple[str, ...] = ()
    sets: tuple[str, ...] = ()
    limit: int | None = None
    part: tuple[float, float] = (0.0, 1.0)


def demo(seed: int) -> Case:
    """Make the case of the demo's questions by seed."""
    questions = f"{{use: jsonl, path: 'build/bench/depths/demo-{seed}.jsonl', entities_field: gold_entities}}"
    return Case("recipes/quickstart.yaml", (), (f"questions={questions}",))


def metaqa(hops: int, part: tuple[float, float]) -> Case:
    """Make the case of one length of MetaQA."""
    files = (f"metaqa/{hops}-hop/qa_dev.txt", "metaqa/kb_from_splits.txt")
    return Case("recipes/metaqa.yaml", files, (f"vars.hops={hops}", "vars.limit=2000"), 150, part)


def pathquestion(hops: int, part: tuple[float, float]) -> Case:
    """Make the case of one length of PathQuestion."""
    files = (f"pathquestion/PQ-{hops}H.txt", f"pathquestion/{hops}H-kb.txt")
    return Case("recipes/pathquestion.yaml", files, (f"vars.hops={hops}",), 200, part)


def trained(name: str, file: str, limit: int | None = None, part: tuple[float, float] = (0.0, 1.0)) -> Case:
    """Make the case of a recipe that trains, without its training."""
    return Case(f"benchmarks/recipes/{name}.yaml", (file,), ("train=null", "vars.from=0.0", "vars.to=1.0"), limit, part)


def codex() -> Case:
    """Make the case of SimpleQuestions on CoDEx-M."""
    asked = "codex/derived/simplequestions_wd_in_codex_m.jsonl"
    labels = [str(DATA / "wiki27k/entity2label.txt"), str(OUT / "depths/codex-relations.tsv")]
    recipe = {
        "srtk": 1,
        "encoder": {"use": "onnx", "model": "minilm"},
        "path_scorer": {"use": "dense"},
        "expander": {"use": "beam"},
        "questions": {"use": "jsonl", "path": str(DATA / asked), "entities_field": "topic_entities"},
        "knowledge_graph": {
            "use": "local",
            "path": "build/bench/depths/codex-graph",
            "build": {
                "files": [str(DATA / f"codex/codex-m/{part}.txt") for part in ("train", "valid", "test")],
                "labels": labels,
            },
        },
    }
    return Case(recipe, (asked, "codex/relations/en/relations.json", "wiki27k/entity2label.txt"))


FIRST, SECOND = (0.0, 0.5), (0.5, 1.0)
CWQ = ("train-cwq", "fb15k237/derived/cwq_test_reachable.jsonl", 250)
CASES: Mapping[str, Case] = {
    "demo-1": demo(1),
    "cwq-choose": trained(*CWQ, FIRST),
    **{f"metaqa-{hops}-choose": metaqa(hops, FIRST) for hops in (1, 2, 3)},
    **{f"pathquestion-{hops}-choose": pathquestion(hops, FIRST) for hops in (2, 3)},
    "demo-7": demo(7),
    "cwq": trained(*CWQ, SECOND),
    "lcquad": trained("train-lcquad", topics.SETS["lcquad"][0]),
    "mintaka": trained("train-mintaka", "wiki27k/derived/mintaka_reachable.jsonl"),
    "wc2014": Case("", (topics.SETS["wc2014"][0],)),
    "codex": codex(),
    **{f"metaqa-{hops}": metaqa(hops, SECOND) for hops in (1, 2, 3)},
    **{f"pathquestion-{hops}": pathquestion(hops, SECOND) for hops in (2, 3)},
}
SEARCH = ("encoder={use: onnx, model: minilm}", "budget={triples: 50}", "exporters=[]", "evaluate=null")


def prepare(name: str, case: Case) -> str | None:
    """Write the files that a case needs; return what is missing, if anything."""
    (OUT / "depths").mkdir(parents=True, exist_ok=True)
    if missing := lacking(*case.files):
        return missing
    if name == "codex":
        codex_relations(OUT / "depths")
    if name.startswith("demo"):
        world, seed = ROOT / "build/demo/world", name.partition("-")[2]
        if not world.is_dir():
            return "no build/demo/world; run `make demo` first"
        file = str(OUT / f"depths/demo-{seed}.jsonl")
        command = [sys.executable, "demo/questions.py", "--graph", str(world), "--seed", seed, "--out", file]
        return run(command)[1]
    return None


def drawn(questions: Sequence[Question], case: Case) -> list[Question]:
    """Draw the questions of a case."""
    low, high = case.part
    mine = [one for one in questions if one.answers and low <= place(one.id, SEED) < high]
    return sorted(mine, key=lambda one: (place(one.id, SEED + 1), one.id))[: case.limit]


def figures(retrieval: Retrieval) -> Row:
    """Return the figures of one question."""
    found = row(retrieval)
    first = min(found.ranks.answers_at, default=None) if found.ranks else None
    trace = retrieval.subgraph.trace if retrieval.subgraph else {}
    return {
        **{f"at {cut}": float(first is not None and first <= cut) for cut in CUTS},
        "recall": found.metrics["answer_recall"] or 0.0,
        "triples": found.metrics["triples"] or 0.0,
        "scored": float(trace.get("scored", 0)),
        "hops": float(trace.get("hops", 0)),
    }


def read_variant(text: str) -> list[str]:
    """Return the settings of a variant."""
    depth, *costs = text.split("@")
    if not costs:
        return [f"expander.depth={depth}"]
    cost, width = [*costs, "null"][:2]
    return [f"expander.depth={depth}", f"expander.search.long_cost={cost}", f"expander.search.long_width={width}"]


def measure(name: str, case: Case, variant: str) -> tuple[list[Row], float]:
    """Search the questions of a case; return their figures and the processor seconds of a question."""
    if name == "wc2014":
        recipe: Any = topics.football_recipe(OUT / "depths")
    else:
        recipe = case.recipe if isinstance(case.recipe, dict) else str(ROOT / case.recipe)
    os.environ.setdefault("SRTK_DATA", str(DATA))
    with open_recipe(recipe, (*case.sets, *SEARCH, *read_variant(variant))) as session:
        source: Any = session.dataset
        if not hasattr(source, "read"):
            questions = drawn(list(read_questions(str(source))), case)
        else:
            questions = drawn(list(source.read()), case)
        began = time.process_time()
        rows = [figures(one) for one in session.retrieve(questions)]
        return rows, (time.process_time() - began) / max(len(rows), 1)


def main() -> int:
    """Run the cases with available data, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", choices=list(CASES), default=list(CASES))
    parser.add_argument("--variants", nargs="*", default=["2", "3", "auto"])
    args = parser.parse_args()
    names = [*(f"at {cut}" for cut in CUTS), "recall", "triples", "scored", "hops"]
    print(f"| set | n | variant | {' | '.join(names)} | ms | recall, less the first | p |", flush=True)
    print("|---|--:|---|" + "--:|" * (len(names) + 3), flush=True)
    every: dict[str, Any] = {}
    for name in args.only:
        if missing := prepare(name, CASES[name]):
            print(f"{name}: skipped: {missing}", file=sys.stderr)
            continue
        first: list[Row] = []
        for variant in args.variants:
            rows, seconds = measure(name, CASES[name], variant)
            first = first or rows
            means = {key: sum(one[key] for one in rows) / len(rows) for key in names}
            less = paired([one["recall"] for one in rows], [one["recall"] for one in first])
            every.setdefault(name, {})[variant] = {**means, "n": len(rows), "ms": 1000 * seconds, "recall less": less}
            cells = [f"{means[key]:.{3 if key.startswith(('at', 'recall')) else 1}f}" for key in names]
            change = f"{less['mean']:+.3f} ({ends(less)}) | {less['p']:.3f}"
            print(
                f"| {name} | {len(rows)} | {variant} | {' | '.join(cells)} | {1000 * seconds:.0f} | {change} |",
                flush=True,
            )
    out = OUT / "depths.json"
    out.write_text(json.dumps(every, indent=1) + "\n", encoding="utf-8")
    print(f"figures: {shown(out)}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
