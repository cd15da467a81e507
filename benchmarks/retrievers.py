"""Retrieval by indexes of subgraphs and of triples, beside walks from links, and united with them at equal triples.

    OMP_NUM_THREADS=1 python benchmarks/retrievers.py [--only NAME ...] [--choose] [--limit N] [--meaning]

Sets: PathQuestion (10 triples), MetaQA (200), and Mintaka's questions on Wiki27K (50). Each index is built where it is
missing, into build/bench/retrievers: BM25 over triples, over subgraphs, and with `--meaning` the index `vectors` of
subgraphs by untrained `septa-graph` over MiniLM. `--choose` takes other questions of PathQuestion and MetaQA, and
entries of several sizes; the settings that are measured without it were chosen there. Differences of unions, and of
the search by vectors, less `beam` are paired, with intervals of 95 % and p by random sign changes, corrected after Holm
over those of a set.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
from common import DATA, OUT, lacking, srtk
from srtk_plugin_datasets.metaqa import MetaQA
from srtk_plugin_datasets.pathquestion import PathQuestion

from srtk_framework import open as open_recipe
from srtk_framework.evaluation import Row, holm, paired, row, summarise
from srtk_framework.records import read_questions
from srtk_framework.values import Link, Question

FOLDER = OUT / "retrievers"
LIMIT = 500
"""Questions of a set."""
ENTRIES: Mapping[str, Mapping[str, Any]] = {
    "1 hop, 20": {"hops": 1, "fan": [20], "tokens": 512},
    "1 hop, 100": {"hops": 1, "fan": [100], "tokens": 2048},
    "2 hops, 10 + 5": {"hops": 2, "fan": [10, 5], "tokens": 512},
}
"""Entries that are compared."""
CHOSEN = "2 hops, 10 + 5"
EQUAL = "union, equal weights"
WEIGHTS = (0.5, 0.3, 0.2, 0.1)
"""Weights of what is united with the beam that are compared."""
METRICS = ("answer_coverage", "answer_recall", "triples")


@attrs.frozen
class Set:
    """A set of questions over a graph.

    Attributes:
        name: Its name.
        files: Required files of the data folder.
        graph: Settings of its graph.
        depth: Steps of walks.
        triples: Budget.
        linked: Whether the questions are linked by the dictionary, in place of the given links.
    """

    name: str
    files: tuple[str, ...]
    graph: Mapping[str, Any]
    depth: int
    triples: int
    linked: bool = False

    @property
    def place(self) -> str:
        """Where its graph and indexes stand; sets may share them."""
        return str(self.graph["path"])


def sets() -> Iterator[Set]:
    """List the sets."""
    for hops in (2, 3):
        files = (f"pathquestion/PQ-{hops}H.txt", f"pathquestion/{hops}H-kb.txt")
        build = {"files": [str(DATA / files[1])], "separator": "\t"}
        yield Set(f"pathquestion-{hops}", files, graph_of(f"pathquestion-{hops}", build), hops, 10)
    for hops in (1, 2, 3):
        files = (f"metaqa/{hops}-hop/qa_dev.txt", "metaqa/kb_from_splits.txt")
        build = {"files": [str(DATA / "metaqa/kb*.txt")], "separator": "|"}
        yield Set(f"metaqa-{hops}", files, graph_of("metaqa", build), hops, 200)
    parts = tuple(f"wiki27k/{part}.txt" for part in ("train", "valid", "test"))
    names = [str(DATA / "wiki27k" / name) for name in ("entity2label.txt", "relation2label.json")]
    build = {"files": [str(DATA / part) for part in parts], "labels": names}
    files = ("wiki27k/derived/mintaka_reachable.jsonl", *parts)
    for name, linked in (("mintaka", False), ("mintaka-linked", True)):
        yield Set(name, files, graph_of("wiki27k", build), 2, 50, linked)


def graph_of(name: str, build: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a graph."""
    return {"use": "local", "path": str(FOLDER / name / "graph"), "build": build}


def questions_of(one: Set, limit: int, other: bool) -> list[Question]:
    """Read the questions of a set; `other` ones are none of those that are read otherwise."""
    if one.name.startswith("mintaka"):
        read = list(read_questions(str(DATA / one.files[0])))[:limit]
        given = [[] if one.linked else [Link(at) for at in q.extra["topic_entities"]] for q in read]
        return [attrs.evolve(q, links=tuple(links)) for q, links in zip(read, given, strict=True)]
    if one.name.startswith("metaqa"):
        dataset: Any = MetaQA(path=str(DATA / "metaqa"), hops=one.depth, answers="reachable", limit=LIMIT)
    else:
        dataset = PathQuestion(path=str(DATA / "pathquestion"), hops=one.depth, limit=LIMIT)
    own = list(dataset.read())
    if not other:
        return own[:limit]
    seen = {q.text for q in own}
    return [q for q in attrs.evolve(dataset, limit=3 * LIMIT, seed=1).read() if q.text not in seen][:limit]


def stem(entries: str) -> str:
    """Return the name of the folder of an index."""
    return entries.replace(" ", "")


def recipe(one: Set, choose: bool, meaning: bool) -> dict[str, Any]:
    """Write the recipe of a set; the first of the entries is the one of `index rrf` and `union`."""
    entries = [CHOSEN, *(name for name in ENTRIES if name != CHOSEN and choose)]
    folder = Path(one.place).parent
    indexes: dict[str, Any] = {
        "triples": {"use": "bm25", "path": str(folder / "triples"), "corpora": [{"use": "triples"}]},
    }
    for name in entries:
        corpora = [{"use": "subgraphs", "named": False, **ENTRIES[name]}]
        indexes[name] = {"use": "bm25", "path": str(folder / stem(name)), "corpora": corpora}
    indexes["rrf"] = {"use": "rrf", "indexes": ["triples", entries[0]]}
    if meaning:
        corpora = [{"use": "subgraphs", "named": False, **ENTRIES[entries[0]]}]
        vectors = {"use": "vectors", "path": str(folder / f"{stem(entries[0])}-meaning"), "corpora": corpora}
        indexes["meaning"] = {**vectors, "encoder": {"use": "septa-text"}, "subgraph_encoder": {"use": "septa-graph"}}
    beam = {"use": "beam", "depth": one.depth, "name": "beam"}
    found = {"use": "index", "index": "rrf", "k": max(20, one.triples // 2)}
    searches = [{**found, "index": name, "name": f"index {name}"} for name in indexes]
    united = {"use": "union", "expanders": [beam, found]}
    unions = [{**united, "name": "union"}, {**united, "weights": [1.0, 1.0], "name": EQUAL}]
    if meaning:
        near = {"use": "union", "expanders": [beam, {**found, "index": "meaning"}]}
        unions += [{**near, "name": "union, meaning"}, {**near, "weights": [1.0, 1.0], "name": f"{EQUAL}, meaning"}]
    if choose:
        unions += [{**united, "weights": [1.0, weight], "name": f"union, {weight}"} for weight in WEIGHTS]
    return {
        "srtk": 1,
        "knowledge_graph": dict(one.graph),
        "entity_linker": {"use": "dictionary"},
        "encoder": {"use": "onnx", "model": "minilm"},
        "path_scorer": {"use": "dense"},
        "indexes": indexes,
        "budget": {"triples": one.triples},
        "expander": beam,
        "evaluate": {"against": [{"use": "bfs", "depth": one.depth}, *searches, *unions]},
    }


def built(one: Set, whole: Mapping[str, Any], file: Path) -> None:
    """Build the indexes that are missing."""
    for name, block in whole["indexes"].items():
        if "path" not in block or Path(block["path"], "manifest.json").is_file():
            continue
        start = time.monotonic()
        _, failed = srtk("index", "build", str(file), "--name", name, "--quiet")
        if failed:
            raise SystemExit(f"{one.name}, {name}: {failed}")
        size = sum(path.stat().st_size for path in Path(block["path"]).rglob("*") if path.is_file())
        print(f"{one.name}, {name}: built in {time.monotonic() - start:.0f} s, {size / 1e6:.0f} MB", file=sys.stderr)


def measured(one: Set, limit: int, choose: bool, meaning: bool) -> dict[str, list[Row]]:
    """Retrieve by each method; return its rows."""
    folder = FOLDER / one.name
    folder.mkdir(parents=True, exist_ok=True)
    whole = recipe(one, choose, meaning)
    file = folder / "recipe.json"
    file.write_text(json.dumps(whole, indent=1), encoding="utf-8")
    built(one, whole, file)
    questions = questions_of(one, limit, choose)
    with open_recipe(whole) as session:
        return {name: [row(found) for found in session.retrieve(questions, name)] for name in session.methods}


def cells(summary: Mapping[str, Mapping[str, Any]]) -> str:
    """Write the figures of a method, with half of each interval of 95 %."""
    shares = [summary[metric] for metric in METRICS[:-1]]
    parts = [f"{found['mean']:.3f} ±{(found['high'] - found['low']) / 2:.3f}".replace("±0.", "±.") for found in shares]
    return " | ".join([*parts, f"{summary['triples']['mean']:.1f}"])


def differences(found: Mapping[str, Sequence[Row]]) -> list[str]:
    """Compare the unions, and the search by meaning, with `beam`; return rows of a table."""
    compared = [method for method in found if method.startswith("union") or method == "index meaning"]
    keys = [(method, metric) for method in compared for metric in METRICS[:-1]]
    estimates = []
    for method, metric in keys:
        one, other = ([each.metrics[metric] for each in found[name]] for name in (method, "beam"))
        estimates.append(paired(one, other))
    corrected = holm([estimate["p"] for estimate in estimates])
    return [
        f"| {method} | {metric.removeprefix('answer_')} |"
        f" {one['mean']:+.3f} ({one['low']:+.3f} to {one['high']:+.3f}) | {one['p']:.3f} | {p:.3f} |"
        for (method, metric), one, p in zip(keys, estimates, corrected, strict=True)
    ]


def main() -> int:
    """Print two tables for each set: a row for each method, and the differences of the unions."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", metavar="NAME", help="prefixes of names of sets")
    parser.add_argument("--choose", action="store_true", help="other questions, and entries of several sizes")
    parser.add_argument("--limit", type=int, default=LIMIT, help="questions of a set")
    parser.add_argument("--meaning", action="store_true", help="also search subgraphs by their vectors")
    args = parser.parse_args()
    for one in sets():
        if (args.only and not one.name.startswith(tuple(args.only))) or (
            args.choose and one.name.startswith("mintaka")
        ):
            continue
        if missing := lacking(*one.files):
            print(f"{one.name}: skipped, {missing}", file=sys.stderr)
            continue
        found = measured(one, args.limit, args.choose, args.meaning)
        print(f"\n| {one.name} | questions | coverage | recall | triples |\n|---|--:|--:|--:|--:|")
        for method, rows in found.items():
            print(f"| {method} | {len(rows)} | {cells(summarise(rows))} |")
        print("\n| less beam | metric | difference | p | Holm p |\n|---|---|--:|--:|--:|")
        print("\n".join(differences(found)), flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
