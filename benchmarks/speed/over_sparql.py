"""Processor time of a question alone over SPARQL, with and without the reader and the choice (MetaQA, links given).

    OMP_NUM_THREADS=1 python -m benchmarks.speed.over_sparql [--questions 100]

Oxigraph serves the graph on loopback. Each way has a server and a session of its own, questions come one by one, the
vectors of the paths are there, and no answer of the server is remembered. A server's time is counted when it ends, less
that of one that was asked nothing. The figures are medians of five rounds, in each of which all ways are asked.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from typing import Any

import attrs

from benchmarks.common import DATA, lacking
from benchmarks.figures import record_figure
from benchmarks.loopback import servers
from benchmarks.loopback.graphs_in_rdf import metaqa
from srtk_framework import Retriever
from srtk_framework.values import Link, Question

WAYS: dict[str, dict[str, Any]] = {
    "neither": {"expander": {"choice": None}},
    "choice": {"expander": {}},
    "reader": {"expander": {"choice": None}, "reader": "paths"},
    "both": {"expander": {}, "reader": "paths"},
}


def measure(
    store: Path, graph: Mapping[str, Any], drivers: Mapping[str, Any], asked: Sequence[Question]
) -> tuple[float, float]:
    """Return the CPU seconds of this process, for questions that are asked one by one, and all of the server.

    Without drivers nothing is asked.
    """
    before = _of_children()
    with servers.oxigraph(store) as url:
        client = _asked({**graph, "endpoint": url}, drivers, asked) if drivers else 0.0
    return client, _of_children() - before


def _of_children() -> float:
    used = getrusage(RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _asked(graph: Mapping[str, Any], drivers: Mapping[str, Any], asked: Sequence[Question]) -> float:
    with Retriever(graph, encoder="onnx", **drivers) as retriever:
        session = retriever.session
        # Other words, so that the questions themselves are not remembered.
        session.retrieve([attrs.evolve(asked[0], text=f"{asked[0].text} please")])
        start = time.process_time()
        for question in asked:
            session.retrieve([question])
        return time.process_time() - start


def main() -> int:
    """Measure, print and record."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, default=100)
    args = parser.parse_args()
    if why := lacking("metaqa/2-hop/qa_dev.txt", "metaqa/kb_from_splits.txt"):
        print(f"over-sparql: skipped ({why})")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        case = metaqa(DATA, Path(folder), args.questions)
        store = Path(folder) / "store"
        subprocess.run(
            [sys.executable, "-m", "srtk_framework", "graph", "load", "--out", str(store), str(case.ntriples)],
            check=True,
        )
        rows = map(json.loads, case.questions.read_text(encoding="utf-8").splitlines())
        asked = [Question(r["id"], r["question"], tuple(Link(e, 1.0) for e in r["question_entities"])) for r in rows]
        graph = {"use": "sparql", "engine": "oxigraph", "vocabulary": dict(case.vocabulary)}
        of_vectors = {"scorer": {"cache": str(Path(folder) / "vectors")}}
        measure(store, graph, {**WAYS["both"], **of_vectors}, asked)  # encodes the paths
        idle = measure(store, graph, {}, asked)[1]
        rounds = [
            [measure(store, graph, {**drivers, **of_vectors}, asked) for drivers in WAYS.values()] for _ in range(5)
        ]
        for way, row in zip(WAYS, zip(*rounds, strict=True), strict=True):
            client, server = map(statistics.median, zip(*row, strict=True))
            for side, seconds in (("client", client), ("server", server - idle)):
                each = 1000 * seconds / len(asked)
                record_figure("MetaQA over SPARQL", way, f"CPU ms a question, {side}", each, len(asked))
                print(f"{way}: {side} {each:.1f} ms")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
