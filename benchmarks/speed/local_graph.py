"""Measures the local graph: memory and time of a build, and the time to expand 1,000 nodes.

    python -m benchmarks.speed.local_graph --triples 8000000

makes a power-law graph (one node and 1/16,000 relation for each eight triples), builds it in a process of its own,
expands 1,000 random one-node frontiers in both directions (``steps``, then ``follow`` along all of them), all at once
and each alone, and prints JSON. The limits apply to a graph of 8 million triples.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import resource
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.figures import record_figure

LIMIT_MS = 20.0
LIMIT_BYTES = 2 << 30
FRONTIERS = 1000
CHUNK = 500_000


def generate(path: Path, triples: int, nodes: int, relations: int, seed: int) -> None:
    """Write tab-separated triples whose ends and relations follow power laws."""
    import pyarrow as pa
    from pyarrow import csv

    random = np.random.default_rng(seed)
    names = random.permutation(nodes)

    def pick(count: int, most: int) -> Any:
        # The cube of an even number: rank x is drawn with a frequency of x to the power of -2/3.
        return np.minimum((most * random.random(count) ** 3).astype(np.int64), most - 1)

    options = csv.WriteOptions(include_header=False, delimiter="\t", quoting_style="none")
    with path.open("wb") as file:
        for start in range(0, triples, CHUNK):
            count = min(CHUNK, triples - start)
            columns = {
                "s": pa.array(names[pick(count, nodes)]).cast(pa.string()),
                "r": pa.array(pick(count, relations)).cast(pa.string()),
                "o": pa.array(names[pick(count, nodes)]).cast(pa.string()),
            }
            csv.write_csv(pa.table(columns), file, options)


def build(source: str, out: str) -> dict[str, float]:
    """Build the snapshot here, and return time and peak memory."""
    from srtk_plugin_local.snapshot.build import build as build_snapshot
    from srtk_plugin_local.snapshot.build_settings import BuildSettings

    start = time.perf_counter()
    built = build_snapshot(BuildSettings(files=(source,)), Path(out))
    seconds = time.perf_counter() - start
    unit = 1 if sys.platform == "darwin" else 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
    return {"seconds": round(seconds, 2), "peak_bytes": peak, **built.meta.counts}


def expand(path: str, repeats: int, seed: int) -> dict[str, Any]:
    """Time ``steps`` and ``follow`` of all those steps for random one-node frontiers, after one round to warm up."""
    from srtk_plugin_local.snapshot.graph import LocalGraph

    graph = LocalGraph(path)
    start = time.perf_counter()
    graph.open()
    opened = time.perf_counter() - start
    random = np.random.default_rng(seed)
    size = graph._open.size
    ids = graph._open.ids(random.choice(size, min(FRONTIERS, size), replace=False))
    times = []
    for _ in range(repeats + 1):
        start = time.perf_counter()
        frontiers = graph.frontiers([[id_] for id_ in ids])
        made, busy = time.perf_counter(), time.process_time()
        steps = graph.steps(frontiers, True)
        at = [frontier for frontier, row in zip(frontiers, steps, strict=True) for _ in row]
        along = [step for row in steps for step in row]
        reached = graph.follow(at, along, None)
        end, worked = time.perf_counter(), time.process_time()
        times.append((1000 * (made - start), 1000 * (end - made), 1000 * (worked - busy)))
    alone = []
    for _ in range(3):
        busy = time.process_time()
        for frontier in frontiers:
            (row,) = graph.steps([frontier], True)
            graph.follow([frontier] * len(row), row, None)
        alone.append(1e6 * (time.process_time() - busy) / len(frontiers))
    return {
        "alone_cpu_us": round(statistics.median(alone), 1),
        "open_ms": round(1000 * opened, 2),
        "frontiers": len(ids),
        "steps": len(along),
        "reached": sum(frontier.size for frontier in reached),
        "frontiers_ms": round(statistics.median(t for t, _, _ in times[1:]), 2),
        "expand_ms": round(statistics.median(t for _, t, _ in times[1:]), 2),
        "expand_best_ms": round(min(t for _, t, _ in times[1:]), 2),
        "expand_cpu_ms": round(statistics.median(t for _, _, t in times[1:]), 2),
        "expand_first_ms": round(times[0][1], 2),
    }


def main() -> int:
    """Run both measurements and print them with their limits."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--triples", type=int, default=8_000_000)
    parser.add_argument("--relations", type=int, default=500)
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folder", help="folder for the files, which are kept; a temporary folder by default")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=args.folder) as temporary:
        folder = Path(args.folder or temporary)
        source, out = folder / "triples.tsv", folder / "snapshot"
        if not source.exists():
            # A few rows come twice, so a few more are written.
            generate(source, args.triples + args.triples // 1000, max(args.triples // 8, 2), args.relations, args.seed)
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            built = pool.apply(build, (str(source), str(out)))
        read = expand(str(out), args.repeats, args.seed)
    result = {
        "triples": args.triples,
        "load": round(os.getloadavg()[0], 1),
        "build": {**built, "limit_bytes": LIMIT_BYTES, "ratio": round(built["peak_bytes"] / LIMIT_BYTES, 3)},
        "expand": {**read, "limit_ms": LIMIT_MS, "ratio": round(read["expand_ms"] / LIMIT_MS, 3)},
    }
    print(json.dumps(result, indent=1))
    where = f"{args.triples // 1_000_000} million triples"
    record_figure(where, "local", "most memory of the build (GiB)", built["peak_bytes"] / 2**30, None)
    record_figure(where, "local", "time of the build (s)", built["seconds"], None)
    record_figure(where, "local", "opening the snapshot (ms)", read["open_ms"], None)
    record_figure(where, "local", "one node alone (CPU µs)", read["alone_cpu_us"], None)
    expanding = f"expanding {read['frontiers']:,} frontiers: median of {args.repeats} (ms)"
    record_figure(where, "local", expanding, read["expand_ms"], None)
    record_figure(
        where, "local", f"expanding 1,000 frontiers: best of {args.repeats} (ms)", read["expand_best_ms"], None
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
