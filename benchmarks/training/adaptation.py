"""Adaptation without questions: the default search with the weights as they are, adapted by `srtk adapt`, and both.

    make demo
    OMP_NUM_THREADS=1 python -m benchmarks.training.adaptation [--only lcquad demo mintaka wc2014 cwq]
    OMP_NUM_THREADS=1 python -m benchmarks.training.adaptation --only demo1 qald

Links are given, and no question of a set is seen before it is scored: `srtk adapt` reads the graph alone, with the
defaults but for `--depth`. `untrained` are the default settings, the best that are known without training, with the
width of the beam of the cross-validation (20; 15 on the demo and WorldCup2014). `fused` puts the triples of both
searches in the order of 1 / (60 + rank), summed (reciprocal rank fusion, Cormack et al. 2009), as many as the budget
has. Below each set are the differences from `untrained`, with intervals of 95 % and p by random sign changes,
corrected after Holm. `demo1`, the demo's questions with seed 1, and `qald`, those of QALD-9 with an answer within two
steps on LC-QuAD's slice of DBpedia, are the questions by which settings are chosen.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
import numpy as np
from srtk_plugin_datasets.qald import QALD
from srtk_plugin_evaluation import holm, paired

from benchmarks.common import DATA, OUT, ROOT, lacking, run, srtk
from benchmarks.figures import ends
from benchmarks.operations import topics
from srtk_framework import open as open_recipe
from srtk_framework.graph import TripleTable

Record = dict[str, Any]

CUTS = (1, 5, 10, 20, 50)
TESTED = (5, 20, 50)
SMOOTHING = 60
DEMO = "{{use: jsonl, path: {}, entities_field: gold_entities}}"
PREFIXES = {"dbr": "http://dbpedia.org/resource/", "dbp": "http://dbpedia.org/property/"}


@attrs.frozen
class Case:
    """A set of questions.

    Attributes:
        data: Required file of the data folder; empty for none.
        recipe: Recipe of the search, in the repository.
        graph: Folder of the graph that the recipe builds.
        depth: Number of steps.
        triples: Budget of the search.
        changes: Further settings.
    """

    data: str
    recipe: str
    graph: str
    depth: int
    triples: int
    changes: tuple[str, ...] = ()


WHOLE = ("train=null", "vars.from=0.0", "vars.to=1.0")
CASES = {
    "lcquad": Case(topics.SETS["lcquad"][0], topics.SETS["lcquad"][1], "build/dbp15k", 2, 100, WHOLE),
    "demo": Case(
        "",
        "recipes/quickstart.yaml",
        "build/demo/graph",
        3,
        50,
        ("questions=" + DEMO.format("build/demo/questions.jsonl"),),
    ),
    "mintaka": Case(
        "wiki27k/derived/mintaka_reachable.jsonl",
        "benchmarks/recipes/train-mintaka.yaml",
        "build/wiki27k",
        2,
        100,
        WHOLE,
    ),
    "wc2014": Case(topics.SETS["wc2014"][0], "", "build/bench/adaptation/wc2014/graph", 2, 100),
    "cwq": Case(topics.SETS["cwq"][0], topics.SETS["cwq"][1], "build/fb15k237", 2, 100, WHOLE),
}
CHOICE = {
    "demo1": Case("", "recipes/quickstart.yaml", "build/demo/graph", 3, 50),
    "qald": Case("dbpedia/qald9", topics.SETS["lcquad"][1], "build/dbp15k", 2, 100, WHOLE),
}
"""Sets by which settings are chosen."""


def demo_questions(out: Path) -> str:
    """Write the demo's questions with seed 1; return the block of a recipe that reads them."""
    file = out / "questions.jsonl"
    command = [sys.executable, "demo/questions.py", "--graph", "build/demo/world", "--out", str(file), "--seed", "1"]
    _, failed = run(command)
    if failed:
        raise SystemExit(f"{out}: {failed}")
    return DEMO.format(file)


def qald_questions(out: Path) -> str:
    """Write the questions of QALD-9 that the graph can answer within two steps; return the block that reads them."""
    with open_recipe(str(ROOT / CHOICE["qald"].recipe), WHOLE) as session:
        table = TripleTable.of(session.graph)
    lines = []
    for split in ("train", "test"):
        for question in QALD(path=str(DATA / "dbpedia/qald9"), split=split, prefixes=PREFIXES).read():
            topics_ = [link.entity for link in question.links if link.entity in table.entity_numbers]
            answers = sorted(
                set(map(str, question.answers or ())) & set.union(set(), *(near(table, x) for x in topics_))
            )
            if answers:
                record = {"id": f"{split}-{question.id}", "question": question.text}
                lines.append({**record, "question_entities": topics_, "answer_entities": answers})
    file = out / "questions.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return f"{{use: jsonl, path: {file}}}"


def near(table: TripleTable, entity: str) -> set[str]:
    """Return the entities that two steps lead to, in either direction, without the one that they begin at."""
    reached = np.zeros(len(table.entities), dtype=bool)
    reached[table.entity_numbers[entity]] = True
    subjects, _, objects = table.triples.T
    for _ in range(2):
        further = reached.copy()
        further[objects[reached[subjects]]] = True
        further[subjects[reached[objects]]] = True
        reached = further
    return {table.entities[number] for number in np.flatnonzero(reached).tolist()} - {entity}


def search(case: Case, recipe: Path, out: Path, model: str) -> list[Record]:
    """Run a recipe with a model; return its records by id. A finished search is reused."""
    file = out / "subgraphs.jsonl"
    changes = [
        *case.changes,
        f"output={out}",
        f"exporters=[{{use: jsonl, path: {file}}}]",
        f"encoder={{use: transformers, model: {model}}}",
        f"budget={{triples: {case.triples}}}",
        "evaluate=false",
    ]
    print(f"{out.parent.name}: {out.name}", file=sys.stderr, flush=True)
    _, failed = srtk(
        "run", str(recipe), "--quiet", "--resume", *(part for change in changes for part in ("--set", change))
    )
    if failed:
        raise SystemExit(f"{out}: {failed}")
    return sorted(map(json.loads, file.read_text(encoding="utf-8").splitlines()), key=lambda record: str(record["id"]))


def fused(one: Record, other: Record, most: int) -> Record:
    """Order the triples of two records of a question by their summed reciprocal ranks."""
    scores: dict[tuple[str, ...], float] = {}
    for record in (one, other):
        for rank, triple in enumerate(record["triplets"], start=1):
            scores[tuple(map(str, triple))] = scores.get(tuple(map(str, triple)), 0.0) + 1 / (SMOOTHING + rank)
    # The sort is stable: of equal sums, what the first record has comes first.
    order = sorted(scores, key=lambda triple: -scores[triple])
    return {**one, "triplets": [list(triple) for triple in order[:most]]}


def adapted(name: str, case: Case) -> Path:
    """Adapt the weights to the graph of a set, and print what the command says; an earlier adaptation is reused."""
    same = next(other for other, one in {**CASES, **CHOICE}.items() if one.graph == case.graph)
    folder = OUT / "adaptation" / same / "weights"
    command = [str(Path(sys.executable).with_name("srtk")), "adapt", "-kg", case.graph, "-o", str(folder)]
    _, failed = run([*command, "--depth", str(case.depth), "--quiet"])
    if failed:
        raise SystemExit(f"{name}: {failed}")
    card = (folder / "README.md").read_text(encoding="utf-8")
    print("\n".join(f"{name}: {line}" for line in re.findall(r"(?m)^- (.*)$", card)), flush=True)
    return folder


def differences(found: Mapping[str, Sequence[Record]]) -> Iterable[str]:
    """Compare each further method with the first; return rows of a table."""
    first, *others = found
    pairs = [(other, most) for other in others for most in TESTED]
    estimates = [
        paired(topics.covered(found[other], most), topics.covered(found[first], most)) for other, most in pairs
    ]
    corrected = holm([estimate["p"] for estimate in estimates])
    for (other, most), one, p in zip(pairs, estimates, corrected, strict=True):
        interval = ends(one)
        yield f"| {other} - {first} at {most} | {one['mean']:+.3f} ({interval}) | {p:.4f} |"


def compare(name: str, case: Case, out: Path) -> None:
    """Search with all weights, and print a row for each method."""
    out.mkdir(parents=True, exist_ok=True)
    recipe = ROOT / case.recipe if case.recipe else topics.football_recipe(out)
    if name in CHOICE:
        questions = {"demo1": demo_questions, "qald": qald_questions}[name](out)
        case = attrs.evolve(case, changes=(*case.changes, f"questions={questions}"))
    plain = search(case, recipe, out / "untrained", "minilm")
    other = search(case, recipe, out / "adapted", str(adapted(name, case)))
    both = [fused(one, two, case.triples) for one, two in zip(plain, other, strict=True)]
    found = {"untrained": plain, "adapted": other, "fused": both}
    for method, records in found.items():
        shares = [sum(topics.covered(records, most)) / len(records) for most in (*CUTS, case.triples)]
        size = sum(len(record["triplets"]) for record in records) / len(records)
        cells = " | ".join(f"{share:.3f}" for share in shares)
        print(f"| {name}, {len(records)} questions | {method} | {cells} | {size:.1f} |", flush=True)
    print("\n".join(differences(found)), flush=True)


def main() -> int:
    """Run the sets with available data."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", choices=[*CASES, *CHOICE], default=list(CASES))
    args = parser.parse_args()
    print("| set | method | " + " | ".join(f"at {most}" for most in CUTS) + " | all | triples |")
    print("|---|---|" + "--:|" * (len(CUTS) + 2))
    for name in args.only:
        case = {**CASES, **CHOICE}[name]
        if case.data and (missing := lacking(case.data)):
            print(f"{name}: skipped: {missing}", file=sys.stderr)
            continue
        compare(name, case, OUT / "adaptation" / name)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
