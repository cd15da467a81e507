"""Retrieval by kind of question: a beam search alone, and with the operation of the question (`operations`).

    OMP_NUM_THREADS=1 python benchmarks/operations.py [--only demo demo-linked mintaka] [--seed N] [--triples N]

The demo's questions by kind (`demo/questions_by_kind.py`; the graph is that of `make demo`), links given and linked,
and Mintaka on Wiki27K by its own annotation, links given. Nothing is trained. Kinds that ask for no entity are scored
by their gold triples. Figures go to build/bench/operations.json.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import attrs
from common import DATA, OUT, ROOT, lacking, run, shown

from srtk_framework import open as open_recipe
from srtk_framework.evaluation import score
from srtk_framework.records import read_questions
from srtk_framework.values import Link, Retrieval

FIRST = 5
CASES = ("demo", "demo-linked", "mintaka")


def recipe(case: str, triples: int) -> dict[str, Any]:
    """Write the recipe of a case, with the beam alone to compare with."""
    if case == "mintaka":
        folder = DATA / "wiki27k"
        graph: dict[str, Any] = {
            "use": "local",
            "path": str(ROOT / "build/wiki27k"),
            "build": {
                "files": [str(folder / f"{part}.txt") for part in ("train", "valid", "test")],
                "labels": [str(folder / "entity2label.txt"), str(folder / "relation2label.json")],
            },
        }
        beam: dict[str, Any] = {"use": "beam", "depth": 2}
    else:
        graph = {"use": "local", "path": str(ROOT / "build/demo/graph")}
        beam = {"use": "beam", "depth": 3}
    return {
        "srtk": 1,
        "knowledge_graph": graph,
        "entity_linker": {"use": "dictionary"},
        "encoder": {"use": "onnx", "model": "minilm"},
        "path_scorer": {"use": "dense"},
        "budget": {"triples": triples},
        "expander": {"use": "operations", "inner": beam},
        "evaluate": {"against": [beam]},
    }


def figures(retrieval: Retrieval) -> dict[str, float | None]:
    """Score one retrieval."""
    whole, first = score(retrieval), score(first_triples(retrieval))
    complete = whole["triple_recall"]
    operation = retrieval.subgraph.trace.get("set")
    return {
        f"coverage at {FIRST}": first["answer_coverage"],
        "coverage": whole["answer_coverage"],
        "recall": whole["answer_recall"],
        "triple recall": complete,
        "whole": None if complete is None else float(complete == 1.0),
        "said complete": float(bool(operation and operation.get("complete"))),
        "triples": float(len(retrieval.subgraph.triples)),
    }


def first_triples(retrieval: Retrieval) -> Retrieval:
    """Keep the first triples only."""
    return attrs.evolve(retrieval, subgraph=retrieval.subgraph.first(FIRST))


def mean(values: Sequence[float | None]) -> float | None:
    """Average the values that are known."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def measure(case: str, file: str, triples: int) -> dict[str, Any]:
    """Return the figures of a case by kind and method."""
    field = "type" if case == "mintaka" else "kind"
    by_kind: dict[str, dict[str, list[dict[str, float | None]]]] = defaultdict(lambda: defaultdict(list))
    said: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    topics = "topic_entities" if case == "mintaka" else "gold_entities"
    questions = list(read_questions(file))
    if case != "demo-linked":
        questions = [attrs.evolve(one, links=tuple(Link(entity) for entity in one.extra[topics])) for one in questions]
    with open_recipe(recipe(case, triples)) as session:
        for method in session.methods:
            for one in session.retrieve(questions, method):
                kind = str(one.question.extra.get(field))
                by_kind[kind][method].append(figures(one))
                if method == next(iter(session.methods)):
                    said[kind][str(one.subgraph.trace.get("kind"))] += 1
    found: dict[str, Any] = {}
    for kind, methods in sorted(by_kind.items()):
        found[kind] = {
            "questions": len(next(iter(methods.values()))),
            "said": dict(sorted(said[kind].items(), key=lambda item: (-item[1], item[0]))),
            **{
                method: {name: mean([row[name] for row in rows]) for name in rows[0]}
                for method, rows in sorted(methods.items())
            },
        }
    return found


def lines(case: str, found: Mapping[str, Any]) -> list[str]:
    """Write the rows of a table."""
    rows = []
    for kind, methods in found.items():
        for method, values in methods.items():
            if method in ("questions", "said"):
                continue
            cells = ["–" if v is None else f"{v:.1f}" if n == "triples" else f"{v:.3f}" for n, v in values.items()]
            rows.append(f"| {case} | {kind} | {methods['questions']} | {method} | {' | '.join(cells)} |")
    return rows


def main() -> int:
    """Measure the cases with available data, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", choices=CASES, default=CASES)
    parser.add_argument("--seed", type=int, default=7, help="of the demo's questions (%(default)s)")
    parser.add_argument("--triples", type=int, default=50)
    args = parser.parse_args()
    every: dict[str, Any] = {}
    names = (f"coverage at {FIRST}", "coverage", "recall", "triple recall", "whole", "said complete", "triples")
    print(f"| case | kind | questions | method | {' | '.join(names)} |\n|---|---|--:|---|" + "--:|" * len(names))
    for case in args.only:
        if case == "mintaka":
            file = str(DATA / "wiki27k/derived/mintaka_reachable.jsonl")
            missing = lacking("wiki27k/derived/mintaka_reachable.jsonl")
        else:
            path = OUT / f"operations-{args.seed}.jsonl"
            file, missing = str(path), None if (ROOT / "build/demo/graph").exists() else "no demo; run `make demo`"
            command = [sys.executable, "demo/questions_by_kind.py", "--graph", "build/demo/world", "--out", file]
            if missing is None:
                _, missing = run([*command, "--seed", str(args.seed)])
        if missing:
            print(f"{case}: skipped: {missing}", file=sys.stderr)
            continue
        every[case] = measure(case, file, args.triples)
        print("\n".join(lines(case, every[case])), flush=True)
    OUT.mkdir(parents=True, exist_ok=True)
    (OUT / "operations.json").write_text(json.dumps(every, indent=1) + "\n", encoding="utf-8")
    for case, found in every.items():
        for kind, values in found.items():
            print(f"{case}, {kind}: said to be {', '.join(f'{n} {name}' for name, n in values['said'].items())}")
    print(f"wrote {shown(OUT / 'operations.json')}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
