"""Retrieval by kind of question: a beam search alone, and with the operation of the question (`operations`).

    OMP_NUM_THREADS=1 python -m benchmarks.operations.operations [--only demo demo-linked codex mintaka] [--seed N]

The demo's questions by kind (`demo/questions_by_kind.py`; the graph is that of `recipes/operations.yaml`), links given
and linked; the SimpleQuestions on CoDEx-M, whose classes are triples of the graph, in halves by the hash of their ids
(the rules were chosen with half 0), also without classes (`types: false`); and Mintaka on Wiki27K by its own
annotation; both with links given. Nothing is trained. Kinds that ask for no entity are scored by their gold triples.
Figures go to build/bench/operations.json.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import yaml
from srtk_plugin_evaluation import score

from benchmarks.common import DATA, OUT, ROOT, lacking, read_json, run, shown
from benchmarks.figures import record_figure
from srtk_framework import open as open_recipe
from srtk_framework.records import read_questions
from srtk_framework.values import Link, Question, Retrieval

FIRST = (1, 5, 10)
CASES = ("demo", "demo-linked", "codex", "mintaka")
FILES = {
    "codex": "codex/derived/simplequestions_wd_in_codex_m.jsonl",
    "mintaka": "wiki27k/derived/mintaka_reachable.jsonl",
}
PLAIN = "operations without classes"


KINDS = {
    "value-count": "value, counted",
    "value-superlative": "value, superlative",
    "type": "class",
    "type-count": "class, counted",
}
"""Kinds that have another name on the pages."""


def recipe(case: str, triples: int) -> dict[str, Any]:
    """Write the recipe of a case, with the beam alone to compare with."""
    against: list[dict[str, Any]] = []
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
    elif case == "codex":
        graph = {"use": "local", "path": str(ROOT / "build/operations/codex"), "build": codex_files()}
        beam = {"use": "beam", "depth": 2}
        against = [{"use": "operations", "name": PLAIN, "inner": beam, "types": False}]
    else:
        graph = yaml.safe_load((ROOT / "recipes/operations.yaml").read_text(encoding="utf-8"))["knowledge_graph"]
        beam = {"use": "beam", "depth": 3}
    return {
        "srtk": 1,
        "knowledge_graph": graph,
        "entity_linker": {"use": "dictionary"},
        "encoder": {"use": "onnx", "model": "minilm"},
        "path_scorer": {"use": "dense"},
        "budget": {"triples": triples},
        "expander": {"use": "operations", "inner": beam},
        "evaluate": {"against": [beam, *against]},
    }


def codex_files() -> dict[str, Any]:
    """Write the classes of CoDEx-M's entities as triples, and the labels; return how to build the graph."""
    folder = DATA / "codex"
    parts = [folder / f"codex-m/{part}.txt" for part in ("train", "valid", "test")]
    triples = [line.split("\t") for part in parts for line in part.read_text(encoding="utf-8").splitlines()]
    nodes = sorted({node for subject, _, object_ in triples for node in (subject, object_)})
    types = read_json(folder / "types/entity2types.json")
    names = {
        "P31": "instance of",
        **{one: row["label"] for one, row in read_json(folder / "relations/en/relations.json").items()},
        **{one: row["label"] for one, row in read_json(folder / "types/en/types.json").items() if row["label"]},
    }
    tables = {
        "codex-types.tsv": [[node, "P31", one] for node in nodes for one in types.get(node, ())],
        "codex-names.tsv": [[one, " ".join(name.split())] for one, name in sorted(names.items())],
    }
    OUT.mkdir(parents=True, exist_ok=True)
    for name, rows in tables.items():
        text = "".join("\t".join(row) + "\n" for row in rows)
        if not (OUT / name).exists() or (OUT / name).read_text(encoding="utf-8") != text:
            (OUT / name).write_text(text, encoding="utf-8")
    return {
        "files": [*map(str, parts), str(OUT / "codex-types.tsv")],
        "labels": [str(DATA / "wiki27k/entity2label.txt"), str(OUT / "codex-names.tsv")],
        "type_relations": ["P31"],
    }


def figures(retrieval: Retrieval) -> dict[str, float | None]:
    """Score one retrieval."""
    whole = score(retrieval)
    complete = whole["triple_recall"]
    operation = retrieval.subgraph.trace.get("set")
    return {
        **{f"at {count}": score(first_triples(retrieval, count))["answer_coverage"] for count in FIRST},
        "coverage": whole["answer_coverage"],
        "recall": whole["answer_recall"],
        "triple recall": complete,
        "whole": None if complete is None else float(complete == 1.0),
        "said complete": float(bool(operation and operation.get("complete"))),
        "triples": float(len(retrieval.subgraph.triples)),
    }


def first_triples(retrieval: Retrieval, count: int) -> Retrieval:
    """Keep the first triples only."""
    return attrs.evolve(retrieval, subgraph=retrieval.subgraph.first(count))


def kind_of_case(case: str, question: Question) -> str:
    """Return the kind of a question by its set."""
    if case == "codex":
        return f"half {int(hashlib.sha256(question.id.encode()).hexdigest(), 16) % 2}"
    return str(question.extra.get("type" if case == "mintaka" else "kind"))


def mean(values: Sequence[float | None]) -> float | None:
    """Average the values that are known."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def measure(case: str, file: str, triples: int, kinds: Sequence[str] | None) -> dict[str, Any]:
    """Return the figures of a case by kind and method."""
    by_kind: dict[str, dict[str, list[dict[str, float | None]]]] = defaultdict(lambda: defaultdict(list))
    said: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    topics = "topic_entities" if case in FILES else "gold_entities"
    questions = list(read_questions(file))
    questions = [one for one in questions if not kinds or kind_of_case(case, one) in kinds]
    if case != "demo-linked":
        questions = [attrs.evolve(one, links=tuple(Link(entity) for entity in one.extra[topics])) for one in questions]
    with open_recipe(recipe(case, triples)) as session:
        for method in session.methods:
            for one in session.retrieve(questions, method):
                kind = kind_of_case(case, one.question)
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


def keep(case: str, found: Mapping[str, Any]) -> None:
    """Keep the figures of the demo's questions for the results."""
    called = {"at 5": "answer coverage at 5", "coverage": "answer coverage"}
    called |= {"triple recall": "gold triples", "whole": "all gold triples"}
    for kind, methods in found.items():
        where = KINDS.get(kind, kind) + ", linked" * (case == "demo-linked")
        for method in ("beam", "operations"):
            for name, metric in called.items():
                if (value := methods[method][name]) is not None:
                    record_figure(where, method, metric, value, methods["questions"])


def main() -> int:
    """Measure the cases with available data, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", choices=CASES, default=CASES)
    parser.add_argument("--seed", type=int, default=7, help="of the demo's questions (%(default)s)")
    parser.add_argument("--triples", type=int, default=50)
    parser.add_argument("--kinds", nargs="*", help="kinds of questions (or halves) that are asked, all by default")
    args = parser.parse_args()
    every: dict[str, Any] = {}
    others = ("coverage", "recall", "triple recall", "whole", "said complete", "triples")
    names = (*(f"at {count}" for count in FIRST), *others)
    print(f"| case | kind | questions | method | {' | '.join(names)} |\n|---|---|--:|---|" + "--:|" * len(names))
    for case in args.only:
        if case in FILES:
            file, missing = str(DATA / FILES[case]), lacking(FILES[case], "wiki27k/entity2label.txt")
        else:
            path = OUT / f"operations-{args.seed}.jsonl"
            file, missing = str(path), None if (ROOT / "build/demo/world").exists() else "no demo; run `make demo`"
            command = [sys.executable, "demo/questions_by_kind.py", "--graph", "build/demo/world", "--out", file]
            if missing is None:
                _, missing = run([*command, "--seed", str(args.seed)])
        if missing:
            print(f"{case}: skipped: {missing}", file=sys.stderr)
            continue
        every[case] = measure(case, file, args.triples, args.kinds)
        print("\n".join(lines(case, every[case])), flush=True)
        if case.startswith("demo"):
            keep(case, every[case])
    OUT.mkdir(parents=True, exist_ok=True)
    (OUT / "operations.json").write_text(json.dumps(every, indent=1) + "\n", encoding="utf-8")
    for case, found in every.items():
        for kind, values in found.items():
            print(f"{case}, {kind}: said to be {', '.join(f'{n} {name}' for name, n in values['said'].items())}")
    print(f"wrote {shown(OUT / 'operations.json')}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
