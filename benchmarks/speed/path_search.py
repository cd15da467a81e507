"""Measures path search over SPARQL: traversal from both ends against a join on the server.

    python -m benchmarks.speed.path_search [--pairs 200] [--hops 2 3] [--all]

makes a Wikidata-shaped graph, loads it into an Oxigraph server on the loopback interface, and looks for the relation
paths from the topic of each question to its answers, as weak supervision does: by `graph.find_paths` (once with the
usual limits, once without any) and by the graph's own `paths`. Each runs in a fresh graph through a proxy that counts
requests, so that no cache helps. Prints requests, bytes of the responses, seconds and paths, and whether
the server finds the same paths as traversal without limits. Searches the shortest paths, or with `--all` all paths.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from benchmarks.common import OUT, shown
from benchmarks.figures import record_figure
from benchmarks.loopback import wikidata_shaped
from benchmarks.speed.against_srtk import SPARQL, counting, server
from srtk_framework.graph import find_paths
from srtk_framework.values import Budget, FoundPaths

CALLED = {"walked": "traversal", "server": "server"}
"""Ways that the pages show, and their names there."""
WAYS = ("walked", "walked without limits", "server")


def graph_at(port: int) -> Any:
    """Make the graph behind a port of the loopback interface."""
    from srtk_plugin_sparql.graph import SparqlGraph
    from srtk_plugin_sparql.vocabulary import Vocabulary

    facts = {k: tuple(v) if isinstance(v, list) else v for k, v in SPARQL["vocabulary"].items()}
    return SparqlGraph(f"http://127.0.0.1:{port}/query", engine="oxigraph", vocabulary=Vocabulary(**facts))


def search(graph: Any, way: str, pairs: Sequence[dict[str, Any]], hops: int, shortest: bool) -> list[FoundPaths]:
    """Search all pairs in one call."""
    starts = [row["question_entities"] for row in pairs]
    ends = [row["answer_entities"] for row in pairs]
    if way == "server":
        return list(graph.paths(starts, ends, hops, Budget(), shortest, True))
    budget = Budget() if way == "walked" else Budget(nodes=None, hub=None)
    return find_paths(graph, starts, ends, hops, budget, shortest, True)


def measure(
    upstream: int, way: str, pairs: Sequence[dict[str, Any]], hops: int, shortest: bool
) -> tuple[dict[str, Any], list[FoundPaths]]:
    """Search in one way, and return its figures and paths."""
    with counting(upstream) as proxy, closing(graph_at(proxy.server_address[1])) as graph:
        graph.open()
        start = time.perf_counter()
        found = search(graph, way, pairs, hops, shortest)
        seconds = time.perf_counter() - start
        counts = proxy.counts
    figures = {
        "hops": hops,
        "shortest": shortest,
        "way": way,
        "requests": counts.requests,
        "megabytes": round(counts.received / 1e6, 2),
        "seconds": round(seconds, 2),
        "paths": sum(map(len, found)),
        "searches_cut": sum(bool(row.cut) for row in found),
    }
    return figures, found


def oxigraph() -> Path:
    """Find the server's program beside this Python, or on PATH."""
    found = shutil.which("oxigraph", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}")
    if found is None:
        raise SystemExit("the Oxigraph server is not installed; pip install oxigraph")
    return Path(found)


def main() -> int:
    """Run the searches and print their figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--entities", type=int, default=20_000)
    parser.add_argument("--pairs", type=int, default=200, help="questions whose topic and answers are to be joined")
    parser.add_argument("--hops", type=int, nargs="+", default=[2, 3])
    parser.add_argument("--all", action="store_true", help="all paths up to the number of hops, not the shortest ones")
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=list(WAYS))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=OUT / "path-search")
    args = parser.parse_args()
    out = args.out.resolve()
    data = out / f"graph-{args.entities}-{args.pairs}-{args.seed}"
    stats = wikidata_shaped.write(data, args.entities, args.pairs, args.seed)
    pairs = [json.loads(line) for line in (data / "questions.jsonl").read_text(encoding="utf-8").splitlines()]
    rows, equal = [], {}
    with server(oxigraph(), data / "graph.nt", data / "store") as port:
        for hops in args.hops:
            found = {}
            for way in args.ways:
                figures, found[way] = measure(port, way, pairs, hops, not args.all)
                rows.append(figures)
                print(json.dumps(figures), flush=True)
                if way in CALLED:
                    where = f"{'all' if args.all else 'shortest'}, {hops} hops"
                    for key, metric in (("requests", "requests"), ("megabytes", "MB"), ("seconds", "s")):
                        record_figure(where, CALLED[way], metric, figures[key], len(pairs))
            if {"server", WAYS[1]} <= set(found):
                equal[hops] = [row.paths for row in found["server"]] == [row.paths for row in found[WAYS[1]]]
                print(f"{hops} hops: the server finds {'the same' if equal[hops] else 'OTHER'} paths", flush=True)
    result = {"graph": stats, "load": round(os.getloadavg()[0], 1), "searches": rows, "equal": equal}
    name = "all.json" if args.all else "shortest.json"
    (out / name).write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(f"wrote {shown(out / name)}")
    return 0 if all(equal.values()) else 1


if __name__ == "__main__":
    raise SystemExit(main())
