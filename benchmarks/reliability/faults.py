"""Runs many questions on a SPARQL server with random faults, and compares with a run without faults.

    python -m benchmarks.reliability.faults [--questions 10000] [--share 0.05] [--graph generated]

A proxy before an Oxigraph server answers a share of all requests with 429, 500 or 503, with and without Retry-After,
with HTML under 200, an empty 200, JSON cut midway, a connection that ends or is reset, or far too late. Each question
starts at an entity of Wiki27K (or of a generated graph); breadth-first search reads its neighbourhood. No question may
be lost or smaller: the results must be equal byte by byte.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import shutil
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs
from srtk_plugin_sparql.commands.load import load

from benchmarks.common import DATA, OUT, lacking, shown
from benchmarks.figures import record_figure
from benchmarks.loopback import graphs_in_rdf, servers, wikidata_shaped
from benchmarks.loopback.misbehaving import Proxy, proxy
from srtk_framework.recipe import from_data
from srtk_framework.records import dumps
from srtk_framework.run import Runner

SMALL = 4000
"""Entities of the generated graph."""
DEADLINE = 5.0
_ENTITY = f"<{graphs_in_rdf.ENTITY}Q"


@attrs.frozen
class Run:
    """The outcome of a run with faults.

    Attributes:
        questions: Number of questions.
        failed: Number of questions that ended in an error.
        differing: Ids of questions whose record differs from the run without faults.
        triples: Triples of all results.
        requests: Requests of the run with faults.
        faults: Fault to the number of times it was served.
        seconds: Duration of the run without faults, and of the run with faults.
        sha256: Hash of the results without faults, and with faults.
    """

    questions: int
    failed: int
    differing: list[str]
    triples: int
    requests: tuple[int, int]
    faults: Mapping[str, int]
    seconds: tuple[float, float]
    sha256: tuple[str, str]


def graph(kind: str, out: Path) -> Path:
    """Write the graph as N-Triples."""
    if kind == "wiki27k":
        return graphs_in_rdf.wiki27k(DATA, out, 0).ntriples
    wikidata_shaped.write(out / "generated", SMALL, 1, 0)
    return out / "generated/graph.nt"


def questions(ntriples: Path, path: Path, count: int, seed: int) -> Path:
    """Write questions, each from an entity that has facts; entities repeat only after all have been used."""
    with ntriples.open(encoding="utf-8") as file:
        parts = (line.split(" ", 2) for line in file)
        found = {s[len(_ENTITY) - 1 : -1] for s, p, _ in parts if s.startswith(_ENTITY) and "/direct/" in p}
    entities = sorted(found)
    random.Random(seed).shuffle(entities)
    with path.open("w", encoding="utf-8") as file:
        for number in range(count):
            entity = entities[number % len(entities)]
            record = {"id": str(number), "question": f"What is known of {entity}?", "question_entities": [entity]}
            file.write(dumps(record) + "\n")
    return path


def run(source: Path, url: str, folder: Path, batch: int) -> list[str]:
    """Run the recipe; return the lines of its results without the name of the endpoint."""
    written: dict[str, Any] = {
        "srtk": 1,
        "questions": str(source),
        "knowledge_graph": {
            "use": "sparql",
            "endpoint": url,
            "engine": "oxigraph",
            "vocabulary": {"prefixes": {"": graphs_in_rdf.ENTITY, "wdt": graphs_in_rdf.DIRECT}, "relations": ["wdt:"]},
            "limits": {"deadline": DEADLINE, "wait": 0.02, "wait_most": 0.5},
        },
        "expander": {"use": "bfs", "depth": 1},
        "budget": {"triples": 100, "hub": 50},
        "batch": batch,
        "output": str(folder),
        "exporters": [{"use": "jsonl", "path": str(folder / "subgraphs.jsonl")}],
    }
    Runner(from_data(written)).run()
    text = (folder / "subgraphs.jsonl").read_text(encoding="utf-8")
    return text.replace(url, "ENDPOINT").splitlines()


def measure(store: Path, source: Path, out: Path, share: float, seed: int, batch: int) -> Run:
    """Run without and with faults, both through the proxy, and compare."""
    texts: list[list[str]] = []
    seconds: list[float] = []
    proxies: list[Proxy] = []
    with servers.oxigraph(store) as server:
        for name, part in (("whole", 0.0), ("faulty", share)):
            with proxy(server, part, seed, DEADLINE + 1) as between:
                start = time.perf_counter()
                texts.append(run(source, between.url, out / name, batch))
                seconds.append(round(time.perf_counter() - start, 1))
                proxies.append(between)
    rows = [json.loads(line) for line in texts[1]]
    first, second = (hashlib.sha256("\n".join(lines).encode()).hexdigest() for lines in texts)
    return Run(
        questions=len(source.read_text(encoding="utf-8").splitlines()),
        failed=sum("error" in row for row in rows),
        differing=[row["id"] for row, line, other in zip(rows, *texts, strict=True) if line != other],
        triples=sum(len(row["triplets"]) for row in rows),
        requests=(proxies[0].requests, proxies[1].requests),
        faults=dict(sorted(proxies[1].served.items())),
        seconds=(seconds[0], seconds[1]),
        sha256=(first, second),
    )


def prepare(kind: str, out: Path, count: int, seed: int) -> tuple[Path, Path]:
    """Load the graph into a store and write the questions."""
    out.mkdir(parents=True, exist_ok=True)
    ntriples = graph(kind, out)
    shutil.rmtree(out / "store", ignore_errors=True)
    load([ntriples], out / "store")
    return out / "store", questions(ntriples, out / "questions.jsonl", count, seed)


def main() -> int:
    """Run, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, default=10_000)
    parser.add_argument("--share", type=float, default=0.05, help="share of requests that get a fault")
    parser.add_argument("--batch", type=int, default=4, help="questions per batch")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--graph", choices=("wiki27k", "generated"), default="wiki27k")
    parser.add_argument("--out", type=Path, default=OUT / "faults")
    args = parser.parse_args()
    why = lacking("wiki27k/train.txt") if args.graph == "wiki27k" else None
    if why:
        print(f"faults: {why}; --graph generated needs none")
        return 0
    out = args.out.resolve()
    store, source = prepare(args.graph, out, args.questions, args.seed)
    outcome = measure(store, source, out, args.share, args.seed, args.batch)
    print(json.dumps(attrs.asdict(outcome), indent=1))
    lost = outcome.failed + len(outcome.differing)
    where = f"{args.questions:,} questions, {args.share:.0%} faults".replace("%", " %")
    record_figure(where, "faults", "failed questions", outcome.failed, args.questions)
    record_figure(where, "faults", "faults served", sum(outcome.faults.values()), args.questions)
    for method, requests, seconds in zip(("no faults", "faults"), outcome.requests, outcome.seconds, strict=True):
        record_figure(where, method, "requests", requests, args.questions)
        record_figure(where, method, "s", seconds, args.questions)
    print(f"{sum(outcome.faults.values())} faults, {lost} questions lost or changed; runs in {shown(out)}")
    return 1 if lost or outcome.sha256[0] != outcome.sha256[1] else 0


if __name__ == "__main__":
    sys.exit(main())
