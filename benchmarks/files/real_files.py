"""Public files of many kinds: what each became, counted beside an independent reader, and a question to each graph.

    python -m benchmarks.files.real_files [--only veekun] [--details] [--json FILE]

The files are looked for in public_graphs of the data folder (SRTK_DATA). What must hold of each graph stands in
real_files.yaml. rdflib counts RDF; networkx GraphML and GEXF; pandas and pyarrow tables. Every graph is built without
a flag; a file that needs one counts as not built.
"""

from __future__ import annotations

import argparse
import json
import logging
import re
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import yaml

from benchmarks.common import DATA
from benchmarks.files.built_graphs import Graph, ask, build, holds, is_answered, literal_type, plain

FOLDER = DATA / "public_graphs"
EXPECTED = Path(__file__).with_name("real_files.yaml")
TABLES = (".csv", ".tsv", ".parquet")
_NAMES = r"(#|/)(label|prefLabel|altLabel|hiddenLabel|literalForm|name|title|alternateName|fn|nick)$"
"""Endings of relations that name their subject; facts of these may have become names."""
_LATIN = "utf-8-sig"


def load_expected() -> list[dict[str, Any]]:
    """Read what must hold of each graph."""
    return list(yaml.safe_load(EXPECTED.read_text(encoding="utf-8")))


def rdf_wrong(graph: Graph, case: dict[str, Any]) -> Iterable[str]:
    """Compare with rdflib: no triple is lost except those that name something, and each named concept is named."""
    import rdflib
    from rdflib.namespace import RDF, SKOS

    logging.getLogger("rdflib").setLevel(logging.CRITICAL)
    # rdflib's own reader of JSON-LD uses a class that it deprecates.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        read = rdflib.Graph().parse(FOLDER / case["files"][0], format=case["rdf"])
    naming = sum(1 for _, relation, _ in read if re.search(_NAMES, str(relation)))
    found = graph.info["counts"]["triples"] + graph.info["counts"].get("qualifiers", 0)
    if not len(read) - naming <= found <= len(read):
        yield f"{found} triples; rdflib reads {len(read)}, of them {naming} that name something"
    if naming and not graph.info["counts"]["labels"]:
        yield "nothing is named"
    if case.get("concepts"):
        named = graph.named()
        concepts = {
            c: {str(name) for name in read.objects(c, SKOS.prefLabel)} for c in read.subjects(RDF.type, SKOS.Concept)
        }
        unnamed = [str(c) for c, names in concepts.items() if names and named.get(str(c)) not in names]
        if unnamed:
            yield f"{len(unnamed)} of {len(concepts)} concepts have no name, such as {unnamed[0]}"


def _networkx(path: Path, kind: str) -> Any:
    """Read a file with networkx; GEXF as version 1.2, the newest that it knows."""
    import networkx as nx

    warnings.filterwarnings("ignore", module="networkx")
    if kind == "graphml":
        return nx.read_graphml(path)
    text = re.sub(
        r"(https?://)?(www\.)?gexf\.net/1\.\d\w*(?=\")", "http://www.gexf.net/1.2draft", path.read_text("utf-8")
    )
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / path.name
        copy.write_text(text, encoding="utf-8")
        return nx.read_gexf(copy, version="1.2draft")


def lacking_pairs(graph: Graph, pairs: Iterable[tuple[str, str]], name: Callable[[str], str]) -> str | None:
    """Say how many edges are in no fact, in neither direction; ends are compared by id and by name."""
    here = {pair for ids, names in graph.triples for pair in ((ids[0], ids[2]), (names[0], names[2]))}
    here |= {(second, first) for first, second in here}
    wanted = list(pairs)
    lost = [pair for pair in wanted if pair not in here and (name(pair[0]), name(pair[1])) not in here]
    return f"{len(lost)} of {len(wanted)} edges are no facts, such as {lost[0]}" if lost else None


def graph_wrong(graph: Graph, case: dict[str, Any]) -> Iterable[str]:
    """Compare with networkx: each of its edges is a fact."""
    read = _networkx(FOLDER / case["files"][0], case["graph"])
    names = {str(node): str(data.get("label") or data.get("name") or node) for node, data in read.nodes(data=True)}
    edges = [(str(source), str(target)) for source, target in read.edges()]
    if lost := lacking_pairs(graph, edges, lambda node: names.get(node, node)):
        yield lost


def _table(name: str) -> Any:
    """Read a table with pandas; every cell is text."""
    import pandas as pd

    path = FOLDER / name
    if path.suffix == ".parquet":
        return pd.read_parquet(path).astype(str)
    # rdflib's own reader of JSON-LD uses a class that it deprecates.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pd.read_csv(path, dtype=str, keep_default_na=False, encoding=_LATIN, on_bad_lines="skip")


def pairs_wrong(graph: Graph, case: dict[str, Any]) -> Iterable[str]:
    """Compare with pandas: each row of a table of edges is a fact between the entities of the table of nodes."""
    edges, source, target, nodes, key, label = case["pairs"]
    read = _table(edges)
    names = dict(_table(nodes)[[key, label]].itertuples(index=False))
    pairs = [(str(a), str(b)) for a, b in read[[source, target]].itertuples(index=False)]
    if lost := lacking_pairs(graph, pairs, lambda node: names.get(node, node)):
        yield lost
    shown = set(graph.named().values())
    unnamed = [name for name in names.values() if name not in shown]
    if len(unnamed) > len(
        set(names.values()) - {n for pair in pairs for n in (names.get(pair[0]), names.get(pair[1]))}
    ):
        yield f"{len(unnamed)} of {len(names)} names of {nodes} are not shown, such as {unnamed[0]}"


def rows_wrong(graph: Graph, case: dict[str, Any]) -> Iterable[str]:
    """Compare with pandas: each row has an entity with its name."""
    table, _, label = case["rows"]
    wanted = [str(name).strip() for name in _table(table)[label]]
    shown = {names[0] for _, names in graph.triples}
    unnamed = [name for name in wanted if name not in shown]
    if unnamed:
        yield f"{len(unnamed)} of {len(wanted)} rows of {table} are no named subjects, such as {unnamed[0]}"


def links_of(graph: Graph) -> Counter[str]:
    """Count the facts that lead to rows of tables, by relation."""
    rows = {ids[0] for ids, _ in graph.triples}
    return Counter(plain(ids[1]) for ids, _ in graph.triples if literal_type(ids[2]) is None and ids[2] in rows)


def links_wrong(graph: Graph, case: dict[str, Any]) -> Iterable[str]:
    """Compare the links with those that should be; there are no others."""
    found, wanted = dict(links_of(graph)), {plain(relation): many for relation, many in case["links"].items()}
    if found != wanted:
        yield f"links {found}; should be {wanted}"


def linked_wrong(graph: Graph, case: dict[str, Any]) -> Iterable[str]:
    """List the relations with fewer links than there should be."""
    found = links_of(graph)
    for relation, many in case["linked"].items():
        if found[plain(relation)] < many:
            yield f"{found[plain(relation)]} links of {relation}; should be {many} or more"


def joined_wrong(graph: Graph, case: dict[str, Any]) -> Iterable[str]:
    """Compare with pandas: each row of a join table is a fact between the two, with qualifiers, and no entity."""
    table, first, second, others = case["joined"]
    rows = _table(table)
    ends = {(ids[0].rsplit(":", 1)[-1], ids[2].rsplit(":", 1)[-1]) for ids, _ in graph.triples}
    ends |= {(second, first) for first, second in ends}
    wanted = set(rows[[first, second]].itertuples(index=False, name=None))
    if lost := [pair for pair in wanted if pair not in ends]:
        yield f"{len(lost)} of {len(wanted)} rows of {table} are no facts, such as {lost[0]}"
    if graph.info["counts"]["qualifiers"] < others * len(rows):
        yield f"{graph.info['counts']['qualifiers']} qualifiers; {table} has {others * len(rows)}"


CHECKS: dict[str, Callable[[Graph, dict[str, Any]], Iterable[str]]] = {
    "rdf": rdf_wrong,
    "graph": graph_wrong,
    "pairs": pairs_wrong,
    "rows": rows_wrong,
    "links": links_wrong,
    "linked": linked_wrong,
    "joined": joined_wrong,
}


def facts_wrong(graph: Graph, case: dict[str, Any]) -> Iterable[str]:
    """List the facts that are lacking, and those and the nodes that should not be there."""
    facts, named = graph.facts(), graph.named()
    nodes = {*named, *named.values()}
    never = case.get("never", {})
    yield from (f"lacks {fact}" for fact in case.get("facts", []) if not holds(facts, fact))
    yield from (f"holds {fact}" for fact in never.get("facts", []) if holds(facts, fact))
    yield from (f"node {node!r}" for node in never.get("nodes", []) if node in nodes)


def measured(case: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Build the graph of a case, and compare it with what must hold."""
    graph = build([FOLDER / name for name in case["files"]], folder / case["files"][0])
    if isinstance(graph, str):
        return {"built": False, "right": False, "answered": 0, "asked": 0, "wrong": [f"not built: {graph}"]}
    wrong = [f"{name}: {each}" for name, check in CHECKS.items() if name in case for each in check(graph, case)]
    wrong += facts_wrong(graph, case)
    if "empty" in case and (graph.triples or not re.search("is empty|has no triple", graph.screen)):
        wrong.append("is an empty file, which the build should say")
    answered = 0
    asked = questions(case)
    for question, answer in asked:
        record = ask([str(FOLDER / name) for name in case["files"]] if "rdf" in case else [str(graph.folder)], question)
        answered += is_answered(record, answer)
        if not is_answered(record, answer):
            wrong.append(f"question: {question} {record if isinstance(record, str) else ''}".strip())
    right = not any(not each.startswith("question") for each in wrong)
    return {"built": True, "right": right, "answered": answered, "asked": len(asked), "wrong": wrong}


def questions(case: dict[str, Any]) -> list[tuple[str, Any]]:
    """List the questions of a case, each with its answer."""
    own = [(case["question"], case["answer"])] if "question" in case else []
    return own + [(question, answer) for question, answer in case.get("questions", [])]


def summary(cases: list[dict[str, Any]], results: list[dict[str, Any]]) -> dict[str, int]:
    """Sum up: graphs and tables that were built, those that are as they must be, and questions answered."""
    tables = [(case, result) for case, result in zip(cases, results, strict=True) if case["files"][0].endswith(TABLES)]
    return {
        "graphs": len(cases),
        "graphs built": sum(result["built"] for result in results),
        "graphs right": sum(result["right"] for result in results),
        "built but wrong": sum(result["built"] and not result["right"] for result in results),
        "tables": sum(len(case["files"]) for case, _ in tables),
        "tables built": sum(len(case["files"]) for case, result in tables if result["built"]),
        "tables right": sum(len(case["files"]) for case, result in tables if result["right"]),
        "questions": sum(len(questions(case)) for case in cases),
        "questions answered": sum(result["answered"] for result in results),
    }


def main() -> int:
    """Measure all graphs, and print a row for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="part of a file's name")
    parser.add_argument("--details", action="store_true", help="print what is wrong too")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures")
    args = parser.parse_args()
    if not FOLDER.is_dir():
        print(f"no public_graphs in {DATA}; name another data folder by the environment variable SRTK_DATA")
        return 0
    cases = [case for case in load_expected() if any(args.only in name for name in case["files"])]
    results = []
    with tempfile.TemporaryDirectory() as folder:
        for case in cases:
            results.append(one := measured(case, Path(folder)))
            built = "right" if one["right"] else ("WRONG" if one["built"] else "not built")
            print(f"{case['files'][0]:32} {built:10} questions {one['answered']}/{len(questions(case))}", flush=True)
            if args.details:
                print("".join(f"    {each}\n" for each in one["wrong"]), end="")
    total = summary(cases, results)
    print(", ".join(f"{name} {number}" for name, number in total.items()))
    if args.json:
        named = {case["files"][0]: result for case, result in zip(cases, results, strict=True)}
        args.json.write_text(json.dumps({"graphs": named, "all": total}, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
