"""Retrieval by indexes of subgraphs and of triples, beside walks from links, and united with them at equal triples.

    OMP_NUM_THREADS=1 python -m benchmarks.index.retrievers [--only NAME ...] [--choose] [--limit N] [--meaning]

Sets: PathQuestion (10 triples), MetaQA (200), and real questions (50): Mintaka's on Wiki27K, ComplexWebQuestions' on
FB15k-237 (200 by hash) and LC-QuAD's on a slice of DBpedia. Each index is built where it is missing, into
build/bench/retrievers: BM25 over triples, over subgraphs, and with `--meaning` the index `vectors` of subgraphs by
untrained `septa-graph` over MiniLM. `--choose` takes other questions of PathQuestion and MetaQA, and entries of several
sizes; the settings that are measured without it were chosen there. Differences of unions, and of the search by vectors,
less `beam` are paired, with intervals of 95 % and p by random sign changes, corrected after Holm over those of a set.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import attrs
from srtk_plugin_datasets.files import sample
from srtk_plugin_datasets.lcquad import LCQuAD
from srtk_plugin_datasets.metaqa import MetaQA
from srtk_plugin_datasets.pathquestion import PathQuestion
from srtk_plugin_evaluation import Row, holm, paired, row, summarise
from srtk_plugin_sr.union_expander import UnionExpander

from benchmarks.common import DATA, OUT, lacking, srtk
from benchmarks.figures import ends, half
from srtk_framework import open as open_recipe
from srtk_framework.records import read_questions
from srtk_framework.roles import Expander
from srtk_framework.run import Session
from srtk_framework.values import Budget, Link, Question, Retrieval, Subgraph

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
MEANING = "index meaning"
WEIGHTS = (0.5, 0.3, 0.2, 0.1)
"""Weights of what is united with the beam that are compared."""
FURTHER = (0.6, 0.7, 0.8, 0.9, 1.2, 1.5, 2.0)
"""Further weights of vectors, kept for `retriever_weights.py`; at 50 triples, those of the beam come first below 0.55,
and those of the vectors above 1.8."""
METRICS = ("answer_coverage", "answer_recall", "triples")
RESOURCE = "http://dbpedia.org/resource/"
Files = Mapping[str, Sequence[str]]
REAL: Mapping[str, tuple[str, str, Files, Mapping[str, Any]]] = {
    "mintaka": (
        "wiki27k/derived/mintaka_reachable.jsonl",
        "wiki27k",
        {
            "files": [f"wiki27k/{part}.txt" for part in ("train", "valid", "test")],
            "labels": ["wiki27k/entity2label.txt", "wiki27k/relation2label.json"],
        },
        {},
    ),
    "cwq": (
        "fb15k237/derived/cwq_test_reachable.jsonl",
        "fb15k237",
        {
            "files": [f"fb15k237/{part}.txt" for part in ("train", "valid", "test")],
            "labels": ["fb15k237/entity2text.txt", "fb15k237/relation2text.txt"],
        },
        {},
    ),
    "lcquad": (
        "dbpedia/derived/lcquad1_in_dbp15k_union.jsonl",
        "dbp15k",
        {"files": ["dbpedia/derived/dbp15k_en_union.tsv.gz"]},
        {"prefixes": {"dbr": RESOURCE, "dbp": "http://dbpedia.org/property/"}, "names": True},
    ),
}
"""Sets of real questions: their file, the name of their graph, its files, and further settings of its build."""
MOST: Mapping[str, int] = {"cwq": 200}
"""Fewer questions of a set than asked for, drawn by hash."""


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
    for name, (questions, place, files, build) in REAL.items():
        paths = {key: [str(DATA / file) for file in names] for key, names in files.items()}
        needed = (questions, *(file for names in files.values() for file in names))
        graph = graph_of(place, {**paths, **build})
        for which, linked in ((name, False), (f"{name}-linked", True)):
            yield Set(which, needed, graph, 2, 50, linked)


def graph_of(name: str, build: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a graph."""
    return {"use": "local", "path": str(FOLDER / name / "graph"), "build": build}


def linker_of(one: Set) -> dict[str, Any]:
    """Return the linker; where ids have a prefix, it has the same graph with titles, as names made of ids keep it."""
    build = one.graph["build"]
    if "prefixes" not in build:
        return {"use": "dictionary"}
    file = Path(one.place).with_name("titles.tsv")
    found: set[str] = set()
    for table in build["files"]:
        with gzip.open(table, "rt", encoding="utf-8") as lines:
            found.update(end for line in lines for end in line.rstrip("\n").split("\t")[::2])
    rows = (f"{end}\t{unquote(end.removeprefix(RESOURCE)).replace('_', ' ')}\n" for end in sorted(found))
    file.write_text("".join(rows), encoding="utf-8")
    titled = {"files": build["files"], "labels": [str(file)], "prefixes": build["prefixes"]}
    return {"use": "dictionary", "graph": {"use": "local", "path": f"{one.place}-titled", "build": titled}}


def questions_of(one: Set, limit: int, other: bool) -> list[Question]:
    """Read the questions of a set; `other` ones are none of those that are read otherwise."""
    name = one.name.removesuffix("-linked")
    if name in REAL:
        read = list(read_real(name))
        most = min(limit, MOST.get(name, limit))
        return [
            attrs.evolve(q, links=() if one.linked else tuple(map(Link, q.extra["topic_entities"])))
            for q in sample(read, lambda q: q.id, most, 0)
        ]
    if one.name.startswith("metaqa"):
        dataset: Any = MetaQA(path=str(DATA / "metaqa"), hops=one.depth, answers="reachable", limit=LIMIT)
    else:
        dataset = PathQuestion(path=str(DATA / "pathquestion"), hops=one.depth, limit=LIMIT)
    own = list(dataset.read())
    if not other:
        return own[:limit]
    seen = {q.text for q in own}
    return [q for q in attrs.evolve(dataset, limit=3 * LIMIT, seed=1).read() if q.text not in seen][:limit]


def read_real(name: str) -> Iterable[Question]:
    """Read all questions of a real set; their topics are in `extra`."""
    file = str(DATA / REAL[name][0])
    return LCQuAD(path=file, relations="property").read() if name == "lcquad" else read_questions(file)


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
    return {
        "srtk": 1,
        "knowledge_graph": dict(one.graph),
        "entity_linker": linker_of(one),
        "encoder": {"use": "onnx", "model": "minilm"},
        "path_scorer": {"use": "dense"},
        "indexes": indexes,
        "budget": {"triples": one.triples},
        "expander": beam,
        "evaluate": {"against": [{"use": "bfs", "depth": one.depth}, *searches]},
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


@attrs.define(eq=False)
class Found(Expander):
    """Gives what another expander has found, so that each search runs once for all unions that it is part of.

    Attributes:
        by_id: Retrievals by the id of their question.
    """

    by_id: Mapping[str, Retrieval]

    def needs_links(self) -> bool:
        """Return False: nothing is searched."""
        return False

    def expand(self, questions: Sequence[Question]) -> list[Subgraph]:
        """Return the subgraphs that were found."""
        return [self.by_id[question.id].subgraph for question in questions]


def unions(choose: bool, meaning: bool) -> dict[str, tuple[str, float]]:
    """List the unions with the beam: the index and its weight; the default is the lowest."""
    named = {"union": ("index rrf", 0.2), EQUAL: ("index rrf", 1.0)}
    if choose:
        named |= {f"union, {weight}": ("index rrf", weight) for weight in WEIGHTS}
    if meaning:
        named |= {"union, meaning": (MEANING, 0.2), f"{EQUAL}, meaning": (MEANING, 1.0)}
        named |= {f"meaning, {weight}": (MEANING, weight) for weight in FURTHER}
    return named


def united(
    session: Session, one: Set, beam: Sequence[Retrieval], other: Sequence[Retrieval], weight: float
) -> list[Retrieval]:
    """Unite what two searches have found."""
    assert session.graph is not None
    parts = [Found({each.question.id: each for each in found}) for found in (beam, other)]
    budget = Budget(triples=one.triples)
    union = UnionExpander(expanders=parts, graph=session.graph, budget=budget, weights=[1.0, weight])
    subgraphs = union.expand([each.question for each in other])
    return [attrs.evolve(each, subgraph=subgraph) for each, subgraph in zip(other, subgraphs, strict=True)]


def measured(one: Set, limit: int, choose: bool, meaning: bool) -> dict[str, list[Row]]:
    """Retrieve by each method; return its rows, and keep what `retriever_weights.py` reads."""
    folder = FOLDER / one.name
    folder.mkdir(parents=True, exist_ok=True)
    whole = recipe(one, choose, meaning)
    file = folder / "recipe.json"
    file.write_text(json.dumps(whole, indent=1), encoding="utf-8")
    built(one, whole, file)
    questions = questions_of(one, limit, choose)
    with open_recipe(whole) as session:
        found = {name: list(session.retrieve(questions, name)) for name in session.methods}
        for name, (index, weight) in unions(choose, meaning).items():
            found[name] = united(session, one, found["beam"], found[index], weight)
    scored = {name: [row(each) for each in rows] for name, rows in found.items()}
    keep(folder / "rows.json", found, scored)
    return scored


def keep(file: Path, found: Mapping[str, Sequence[Retrieval]], scored: Mapping[str, Sequence[Row]]) -> None:
    """Write the figures of each question by each method, and what may tell where vectors help."""
    kept = []
    for i, beam in enumerate(found["beam"]):
        one: dict[str, Any] = {
            "id": beam.question.id,
            "links": [[link.entity, link.score] for link in beam.question.links],
            "expected_recall": beam.subgraph.expected_recall,
            "methods": {name: {metric: rows[i].metrics[metric] for metric in METRICS} for name, rows in scored.items()},
        }
        if MEANING in found:
            one["hits"] = [list(hit) for search in found[MEANING][i].subgraph.searches for hit in search.hits[:5]]
        kept.append(one)
    file.write_text(json.dumps(kept), encoding="utf-8")


def cells(summary: Mapping[str, Mapping[str, Any]]) -> str:
    """Write the figures of a method, with half of each interval of 95 %."""
    shares = [summary[metric] for metric in METRICS[:-1]]
    parts = [f"{found['mean']:.3f}{half(found)}".replace("±0.", "±.") for found in shares]
    return " | ".join([*parts, f"{summary['triples']['mean']:.1f}"])


def differences(found: Mapping[str, Sequence[Row]]) -> list[str]:
    """Compare the unions, and the search by meaning, with `beam`; return rows of a table."""
    compared = [method for method in found if method.startswith("union") or method == MEANING]
    keys = [(method, metric) for method in compared for metric in METRICS[:-1]]
    estimates = []
    for method, metric in keys:
        one, other = ([each.metrics[metric] for each in found[name]] for name in (method, "beam"))
        estimates.append(paired(one, other))
    corrected = holm([estimate["p"] for estimate in estimates])
    return [
        f"| {method} | {metric.removeprefix('answer_')} | {one['mean']:+.3f} ({ends(one)}) | {one['p']:.3f} | {p:.3f} |"
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
            args.choose and one.name.startswith(tuple(REAL))
        ):
            continue
        if missing := lacking(*one.files):
            print(f"{one.name}: skipped, {missing}", file=sys.stderr)
            continue
        found = measured(one, args.limit, args.choose, args.meaning)
        print(f"\n| {one.name} | questions | coverage | recall | triples |\n|---|--:|--:|--:|--:|")
        for method, rows in found.items():
            if method.startswith("meaning"):
                continue
            print(f"| {method} | {len(rows)} | {cells(summarise(rows))} |")
        print("\n| less beam | metric | difference | p | Holm p |\n|---|---|--:|--:|--:|")
        print("\n".join(differences(found)), flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
