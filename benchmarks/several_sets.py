"""Trains a path scorer on the questions of several graphs, and scores it on graphs left out.

    make demo
    OMP_NUM_THREADS=1 python benchmarks/several_sets.py [--leave NAME+NAME ...] [--rule gain] [--blend 0.3]

For each group of sets in turn, by default each set alone: the scorer is trained on all other sets, and nothing of the
group's graphs or questions is seen. `best` is the default search without training, `untrained` that by the rule of the
training before it (`gain` is the rule of the defaults), `trained` the same after it. Links are given, and a question
has at most 100 triples. After the rows of a set come the differences of `trained`, with intervals of 95 % and p by
random sign changes, corrected after Holm over the tests of a set.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
import yaml
from common import DATA, OUT, ROOT, codex_relations, lacking, read_json, srtk
from srtk_plugin_evaluation import holm, paired

Block = dict[str, Any]

CUTS = (1, 5, 20, 50)
BEAM = {"use": "beam", "width": 15, "inverse": True}
SEARCHES: Mapping[str, Block] = {
    "gain": {"order": "nodes", "fan_cost": 0.2},
    "log-softmax": {"order": "nodes", "hop_margin": 4.6},
}
"""Settings of the search that suit each rule, named so that they hold before the training as after it."""
SCORERS: Mapping[str, Block] = {
    "gain": {"rule": "gain", "step_cost": 0.5, "return_cost": 0.5, "inverse_text": "{label} of"},
    "log-softmax": {"rule": "log-softmax"},
}
GOLD = {"use": "gold-path"}


@attrs.frozen
class Case:
    """A set of questions with its graph.

    Attributes:
        files: Required files of the data folder.
        questions: Dataset.
        graph: Files of the graph, and how they are read.
        supervision: Finds the paths to train on.
        depth: Most steps of a path.
        asked: Most questions that are scored.
    """

    files: tuple[str, ...]
    questions: Block
    graph: Block
    supervision: Block
    depth: int = 2
    asked: int = 300


def cases(out: Path) -> dict[str, Case]:
    """Name the sets."""

    def at(*names: str) -> list[str]:
        return [str(DATA / name) for name in names]

    def listed(file: str) -> Block:
        return {"use": "jsonl", "path": str(DATA / file), "entities_field": "topic_entities"}

    near = {"use": "shortest-path", "hops": 2, "measure": "f1", "threshold": 0.1}
    cwq, lcquad, mintaka, codex = (
        "fb15k237/derived/cwq_test_reachable.jsonl",
        "dbpedia/derived/lcquad1_in_dbp15k_union.jsonl",
        "wiki27k/derived/mintaka_reachable.jsonl",
        "codex/derived/simplequestions_wd_in_codex_m.jsonl",
    )
    spaces = {"dbr": "http://dbpedia.org/resource/", "dbp": "http://dbpedia.org/property/"}
    world = ROOT / "build/demo/world"
    return {
        "demo": Case(
            (),
            {"use": "jsonl", "path": str(out / "demo.jsonl")},
            {
                "files": [str(world / "triples.tsv")],
                "labels": [str(world / "labels.tsv")],
                "qualifiers": [str(world / "qualifiers.tsv")],
                "literals": "quoted",
                "noise": ["latitude", "longitude", "elevation", "icao_code", "fips_code", "subdivision_code"],
            },
            GOLD,
            3,
        ),
        "lcquad": Case(
            (lcquad,),
            {"use": "lcquad1", "path": str(DATA / lcquad), "relations": "property"},
            {"files": at("dbpedia/derived/dbp15k_en_union.tsv.gz"), "prefixes": spaces, "names": True},
            GOLD,
        ),
        "mintaka": Case(
            (mintaka,),
            listed(mintaka),
            {
                "files": at("wiki27k/train.txt", "wiki27k/valid.txt", "wiki27k/test.txt"),
                "labels": at("wiki27k/entity2label.txt", "wiki27k/relation2label.json"),
            },
            {**near, "threshold": 0.05},
        ),
        "cwq": Case(
            (cwq,),
            listed(cwq),
            {
                "files": at("fb15k237/train.txt", "fb15k237/valid.txt", "fb15k237/test.txt"),
                "labels": at("fb15k237/entity2text.txt", "fb15k237/relation2text.txt"),
            },
            near,
            asked=150,
        ),
        "codex": Case(
            (codex, "codex/codex-m/train.txt", "codex/relations/en/relations.json", "wiki27k/entity2label.txt"),
            listed(codex),
            {
                "files": at(*(f"codex/codex-m/{part}.txt" for part in ("train", "valid", "test"))),
                "labels": [*at("wiki27k/entity2label.txt"), str(out / "codex-relations.tsv")],
            },
            {**near, "hops": 1},
            asked=150,
        ),
        "pathquestion": Case(
            ("pathquestion/PQ-2H.txt", "pathquestion/2H-kb.txt"),
            {"use": "pathquestion", "path": str(DATA / "pathquestion"), "hops": 2},
            {"files": at("pathquestion/2H-kb.txt"), "separator": "\t"},
            GOLD,
            asked=150,
        ),
        "metaqa": Case(
            ("metaqa/1-hop/qa_dev.txt", "metaqa/kb_from_splits.txt"),
            {"use": "metaqa", "path": str(DATA / "metaqa"), "hops": "all", "answers": "reachable", "limit": 600},
            {"files": at("metaqa/kb*.txt"), "separator": "|"},
            GOLD,
            3,
            150,
        ),
    }


def write_demo(out: Path) -> None:
    """Write the demo's questions with their entities as links."""
    lines = (ROOT / "build/demo/questions.jsonl").read_text(encoding="utf-8").splitlines()
    records = [json.loads(line) for line in lines]
    rows = [{**record, "question_entities": record["gold_entities"]} for record in records]
    (out / "demo.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def graph_of(name: str, case: Case, out: Path) -> Block:
    """Return the graph of a set."""
    return {"use": "local", "path": str(out / f"{name}-graph"), "build": case.graph}


def part(case: Case, limit: int) -> Block:
    """Return some of the questions of a set, drawn by a hash of their ids."""
    return {**case.questions, "part": {"between": [0.0, 1.0], "limit": limit}}


def recipe_of(name: str, case: Case, rule: str | None, model: str, out: Path) -> Block:
    """Return the recipe that scores a set by a rule, by the defaults without one."""
    return {
        "srtk": 1,
        "questions": part(case, case.asked),
        "knowledge_graph": graph_of(name, case, out),
        "encoder": {"use": "transformers", "model": model},
        "path_scorer": {"use": "dense", **(SCORERS[rule] if rule else {})},
        "expander": {**BEAM, "depth": case.depth, "search": {"mention": "", **(SEARCHES[rule] if rule else {})}},
        "budget": {"triples": 100, "recall": 1},
        "evaluate": True,
    }


def run(recipe: Mapping[str, Any], folder: Path, *flags: str) -> None:
    """Run a recipe into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "recipe.yaml"
    file.write_text(yaml.safe_dump({**recipe, "output": str(folder)}, sort_keys=False), encoding="utf-8")
    print(folder.relative_to(OUT), file=sys.stderr, flush=True)
    _, failed = srtk("run", str(file), "--quiet", *flags)
    if failed:
        raise SystemExit(f"{folder}: {failed}")


def train(
    group: Sequence[str], every: Mapping[str, Case], rule: str, fit: Block, learnt: int, folder: Path, out: Path
) -> str:
    """Train on all sets but those of a group, at most ``learnt`` questions of each; return the folder of the model."""
    sets = [
        {"questions": part(case, learnt), "knowledge_graph": graph_of(name, case, out), "supervision": case.supervision}
        for name, case in every.items()
        if name not in group
    ]
    recipe = recipe_of(group[0], every[group[0]], rule, "minilm", out)
    run({**recipe, "train": {"sets": sets, "fit": {**fit, "depth": 3}}}, folder, "--train-only")
    record = read_json(folder / "training/training.json")
    print(f"{folder.relative_to(OUT)}: {record['counts']}, {record['figures']}", file=sys.stderr)
    return str(folder / "training/model")


def search(recipe: Mapping[str, Any], folder: Path) -> dict[str, int | None]:
    """Run a recipe; return the rank of the first triple with an answer for each question that has one to find."""
    run(recipe, folder, "--resume")
    rows = [json.loads(line) for line in (folder / "scores.jsonl").read_text(encoding="utf-8").splitlines()]
    scored = [row for row in rows if row["metrics"].get("answer_coverage") is not None]
    return {row["id"]: min(row.get("ranks", {}).get("answers_at", []), default=None) for row in scored}


def covered(ranks: Mapping[str, int | None], most: int) -> list[float]:
    """Return 1 for each question with an answer in the first triples, 0 for the others."""
    return [float(ranks[key] is not None and (ranks[key] or 0) <= most) for key in sorted(ranks)]


def differences(found: Mapping[str, Mapping[str, int | None]]) -> list[str]:
    """Compare `trained` with the others at each cut; return rows of a table."""
    pairs = [(other, most) for other in found if other != "trained" for most in CUTS[1:]]
    estimates = [paired(covered(found["trained"], most), covered(found[other], most)) for other, most in pairs]
    corrected = holm([estimate["p"] for estimate in estimates])
    return [
        f"| trained - {other} at {most} | {one['mean']:+.3f} ({one['low']:+.3f} to {one['high']:+.3f}) | {p:.3f} |"
        for (other, most), one, p in zip(pairs, estimates, corrected, strict=True)
    ]


def compare(name: str, case: Case, rule: str, trained: tuple[str, Path], out: Path) -> None:
    """Score a set without training and by a trained model, with the folder for that; print a row for each."""
    model, folder = trained
    best = recipe_of(name, case, None, "minilm", out)
    found: dict[str, Mapping[str, int | None]] = {"best": search(best, out / "untrained" / name)}
    if rule != "gain":  # by which the defaults search
        found["untrained"] = search(recipe_of(name, case, rule, "minilm", out), out / f"untrained-{rule}" / name)
    found["trained"] = search(recipe_of(name, case, rule, model, out), folder / name)
    for method, ranks in found.items():
        cells = " | ".join(f"{sum(covered(ranks, most)) / len(ranks):.3f}" for most in CUTS)
        print(f"| {name}, {len(ranks)} questions | {method} | {cells} |", flush=True)
    print("\n".join(differences(found)), flush=True)


def main() -> int:
    """Run the sets with available data."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--leave", nargs="*", metavar="NAME+NAME", help="sets to leave out together; each by default")
    parser.add_argument("--rule", choices=sorted(SCORERS), default="gain")
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--batch", type=int, default=16, help="samples of an update")
    parser.add_argument("--learn", type=int, default=1000, help="most questions of a set that are trained on")
    parser.add_argument("--rate", type=float, default=5e-5)
    parser.add_argument("--pull", type=float, default=0.0, help="pull towards the weights of the start")
    parser.add_argument("--blend", type=float, default=0.3, help="how far the weights lie from those of the start")
    args = parser.parse_args()
    out = OUT / "several-sets"
    out.mkdir(parents=True, exist_ok=True)
    write_demo(out)
    if not lacking("codex/relations/en/relations.json"):
        codex_relations(out)
    every = {name: case for name, case in cases(out).items() if not _skipped(name, case)}
    fit = {"steps": args.steps, "batch_size": args.batch, "learning_rate": args.rate, "negatives": 7}
    fit |= {"pull": args.pull, "blend": args.blend}
    print("| set | method | " + " | ".join(f"at {most}" for most in CUTS) + " |")
    print("|---|---|" + "--:|" * len(CUTS))
    for group in args.leave or every:
        names = [name for name in group.split("+") if name in every]
        folder = out / "-".join(
            [group, args.rule, f"learn={args.learn}", *(f"{key}={value}" for key, value in fit.items())]
        )
        model = train(names, every, args.rule, fit, args.learn, folder, out)
        for name in names:
            compare(name, every[name], args.rule, (model, folder), out)
    return 0


def _skipped(name: str, case: Case) -> bool:
    missing: Sequence[str] | str | None = lacking(*case.files)
    if missing:
        print(f"{name}: skipped: {missing}", file=sys.stderr)
    return bool(missing)


if __name__ == "__main__":
    raise SystemExit(main())
