"""A million vectors in the index `vectors`: memory, recall, searches a second, growth; and all subgraphs, killed once.

    OMP_NUM_THREADS=1 python -m benchmarks.index.index_size vectors [--count N] [--noise X ...]
    OMP_NUM_THREADS=1 python -m benchmarks.index.index_size subgraphs cn100k|wiki27k [--encoder E] [--kill N]

`vectors`: real vectors (all entity labels of CN-100K and Wiki27K by MiniLM) are perturbed by normal noise whose length
is `--noise` times that of the label's vector. An index of a tenth of them is built, and grown to all; then a process
that only searches is measured beside brute force over the same vectors (numpy, float32, in memory). The searched
vectors are made in the same way, by another seed. Times are processor time of one thread, as others may use the
machine.

`subgraphs`: an index over the corpus `subgraphs` is built by one of the untrained encoders, killed with -9 at half of
the vectors and taken up.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt
from srtk_plugin_index.commands.build import build
from srtk_plugin_index.indexes.vectors import VectorIndex
from srtk_plugin_onnx.encoder import OnnxEncoder
from srtk_plugin_septa.graph_encoder import SeptaGraphEncoder
from srtk_plugin_septa.subgraphs import SubgraphCorpus
from srtk_plugin_septa.text_encoder import SeptaTextEncoder

from benchmarks.common import OUT, lacking
from benchmarks.septa.alignment import PARTS, place, read_graph
from srtk_framework.graph import TripleTable
from srtk_framework.roles import Encoder
from srtk_framework.values import Entry

Matrix = npt.NDArray[np.float32]

THIS = (sys.executable, "-m", "benchmarks.index.index_size")
_AT_ONCE = 1024
_ASKED, _K = 1000, 10
_RECORD = 16 + 4 * 384 + 4
"""Bytes of a record of the journal."""
_PROBES = (16, 32, 64, 128, 256)


@attrs.define(eq=False)
class NoEncoder(Encoder):
    """Stands where all entries bring their vectors."""

    def encode(self, texts: Any) -> Matrix:
        """Encode nothing."""
        raise AssertionError("every entry brings its vector")


def labels(folder: Path) -> Matrix:
    """Return the vectors of all labels, each of length 1; they are encoded once and kept."""
    file = folder / "labels.npy"
    if not file.exists():
        encoder = OnnxEncoder(model="minilm")
        encoder.open()
        graphs = [read_graph(name, ("train",))[0] for name in ("cn100k", "wiki27k")]
        texts = dict.fromkeys(str(label) for graph in graphs for label in graph.labels(TripleTable.of(graph).entities))
        np.save(file, encoder.encode(list(texts)))
    rows: Matrix = np.load(file)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def perturbed(rows: Matrix, count: int, noise: float, seed: int) -> Iterator[Matrix]:
    """Yield rows drawn with replacement and perturbed, in batches."""
    made = np.random.default_rng(seed)
    for start in range(0, count, _AT_ONCE):
        some = rows[made.integers(len(rows), size=min(_AT_ONCE, count - start))]
        drawn = made.standard_normal(some.shape, dtype=np.float32)
        yield some + drawn * np.float32(noise / np.sqrt(some.shape[1]))


def resident() -> dict[str, int]:
    """Return the resident memory of this process in MiB, and of that what is its own and what are mapped files."""
    lines = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    names = {"resident": "VmRSS", "own": "RssAnon", "files": "RssFile", "peak": "VmHWM"}
    return {name: int(lines[key].split()[0]) // 1024 for name, key in names.items()}


def spent() -> float:
    """Return the processor seconds of this process, in all of its threads."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def filled(folder: Path, batches: Iterator[Matrix], first: int, new: bool) -> dict[str, Any]:
    """Add vectors to an index, and tell what it took."""
    start, begun = time.monotonic(), spent()
    index = VectorIndex(path=str(folder), encoder=NoEncoder())
    index.create() if new else index.open()
    number = first
    for rows in batches:
        index.add([Entry(f"v{number + at:08}", "", vector=row) for at, row in enumerate(rows)])
        number += len(rows)
    index.commit()
    index.close()
    figures = {"entries": number, "seconds": time.monotonic() - start, "processor seconds": spent() - begun}
    disk = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    return {**figures, "MB on disk": disk / 1e6, "peak MiB": resident()["peak"]}


def searched(folder: Path, asked: Matrix, probes: int) -> tuple[list[list[str]], dict[str, Any]]:
    """Search one by one, in this process."""
    import faiss

    faiss.omp_set_num_threads(1)
    index = VectorIndex(path=str(folder), encoder=NoEncoder(), probes=probes)
    start = time.monotonic()
    index.open()
    opened = time.monotonic() - start
    index.near(asked[:20], _K)
    begun, start = spent(), time.monotonic()
    found = [[hit.entry.id for hit in index.near(asked[i : i + 1], _K)[0]] for i in range(len(asked))]
    took, wall = spent() - begun, time.monotonic() - start
    memory = resident()
    return found, {
        "probes": probes,
        "a second": len(asked) / took,
        "by the clock": len(asked) / wall,
        "opened in": opened,
        **memory,
    }


def brute(folder: Path, asked: Matrix) -> tuple[list[list[str]], dict[str, Any]]:
    """Compare each searched vector with all, by products in float32 of a matrix in memory."""
    rows = np.fromfile(next(folder.glob("*/vectors.f4")), dtype="<f4").reshape(-1, asked.shape[1])
    for start in range(0, len(rows), 1 << 16):
        some = rows[start : start + (1 << 16)]
        some /= np.linalg.norm(some, axis=1, keepdims=True)
    begun, start = spent(), time.monotonic()
    found = []
    for vector in asked:
        scores = rows @ vector
        best = np.argpartition(-scores, _K)[:_K]
        found.append([f"v{number:08}" for number in best[np.argsort(-scores[best])].tolist()])
    took, wall = spent() - begun, time.monotonic() - start
    return found, {"a second": len(asked) / took, "by the clock": len(asked) / wall, **resident()}


def alone(*arguments: str) -> Any:
    """Run a part of this benchmark in a process of its own, and return what it prints."""
    done = subprocess.run([*THIS, *arguments], stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def part(arguments: argparse.Namespace) -> Any:
    """Do the part that a process of its own does."""
    folder, noise = OUT / "index_size" / f"noise-{arguments.noise[0]}", arguments.noise[0]
    rows = labels(folder.parent)
    tenth = arguments.count // 10 // _AT_ONCE * _AT_ONCE
    if arguments.part in ("tenth", "rest"):
        batches = perturbed(rows, arguments.count, noise, 0)
        if arguments.part == "tenth":
            return filled(folder, (next(batches) for _ in range(tenth // _AT_ONCE)), 0, new=True)
        for _ in range(tenth // _AT_ONCE):
            next(batches)
        return filled(folder, batches, tenth, new=False)
    asked = np.concatenate(list(perturbed(rows, _ASKED, noise, 1)))
    del rows
    if arguments.part == "brute":
        return brute(folder, asked[:100])
    return searched(folder, asked, arguments.probes)


def vectors(arguments: argparse.Namespace) -> dict[str, Any]:
    """Build, grow and search an index of perturbed vectors."""
    figures: dict[str, Any] = {}
    for noise in arguments.noise:
        shutil.rmtree(OUT / "index_size" / f"noise-{noise}", ignore_errors=True)
        same = ("vectors", "--noise", str(noise), "--count", str(arguments.count), "--part")
        mine = figures[f"noise {noise}"] = {"tenth": alone(*same, "tenth"), "rest": alone(*same, "rest")}
        print(json.dumps(mine), flush=True)
        exact, mine["brute force"] = alone(*same, "brute")
        print(json.dumps(mine["brute force"]), flush=True)
        for probes in _PROBES:
            found, row = alone(*same, "search", "--probes", str(probes))
            shared = sum(len({*one} & {*other}) for one, other in zip(exact, found, strict=False))
            row["recall"] = shared / (_K * len(exact))
            mine[f"{probes} probes"] = row
            print(json.dumps(row), flush=True)
    return figures


def subgraph_index(arguments: argparse.Namespace) -> VectorIndex:
    """Open what an index of subgraphs is built from."""
    graph, templates = read_graph(arguments.dataset)
    encoder = OnnxEncoder(model="minilm")
    encoder.open()
    text, graphs = SeptaTextEncoder(encoder=encoder), SeptaGraphEncoder(graph=graph, encoder=encoder)
    centres = sorted(TripleTable.of(graph).entities, key=place)[: arguments.limit]
    corpus = SubgraphCorpus(
        graph=graph, centres=centres, templates=str(templates) if templates else None, tokens=64, named=False
    )
    for driver in (text, graphs, corpus):
        driver.open()
    return VectorIndex(
        path=str(OUT / "index_size" / f"{arguments.dataset}-{arguments.encoder}"),
        encoder=text,
        corpora=[corpus],
        subgraph_encoder=graphs if arguments.encoder == "septa-graph" else None,
    )


def subgraphs(arguments: argparse.Namespace) -> dict[str, Any]:
    """Build an index of all subgraphs, in two processes of which the first is killed."""
    if arguments.part:
        start, begun = time.monotonic(), spent()
        count, _ = build(subgraph_index(arguments))
        return {
            "entries": count,
            "seconds": time.monotonic() - start,
            "processor seconds": spent() - begun,
            **resident(),
        }
    path = OUT / "index_size" / f"{arguments.dataset}-{arguments.encoder}"
    shutil.rmtree(path, ignore_errors=True)
    records = path.with_name(f".{path.name}.journal") / "journal.records"
    shutil.rmtree(records.parent, ignore_errors=True)
    command = ["subgraphs", arguments.dataset, "--encoder", arguments.encoder, "--part", "build"]
    command += [] if arguments.limit is None else ["--limit", str(arguments.limit)]
    start = time.monotonic()
    with subprocess.Popen([*THIS, *command], stdout=subprocess.DEVNULL) as first:
        while first.poll() is None and not (records.exists() and records.stat().st_size > arguments.kill * _RECORD):
            time.sleep(0.1)
        first.send_signal(signal.SIGKILL)
        _, _, used = os.wait4(first.pid, 0)
        first.returncode = -signal.SIGKILL
    figures = {
        "killed after": time.monotonic() - start,
        "processor seconds of the killed": used.ru_utime + used.ru_stime,
        "vectors kept": records.stat().st_size // _RECORD,
    }
    print(json.dumps(figures), flush=True)
    return {**figures, **alone(*command)}


def main() -> int:
    """Print the figures, and write them to a file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("case", choices=("vectors", "subgraphs"))
    parser.add_argument("dataset", nargs="?", choices=("cn100k", "wiki27k"), default="cn100k")
    parser.add_argument("--count", type=int, default=1_000_000, help="number of vectors")
    parser.add_argument("--noise", type=float, nargs="*", default=[0.5, 1.0], help="length of the noise")
    parser.add_argument("--encoder", choices=("septa-graph", "septa-text"), default="septa-graph")
    parser.add_argument("--kill", type=int, default=40_000, help="number of vectors after which the build is killed")
    parser.add_argument("--limit", type=int, help="number of centres of subgraphs, drawn by a hash; all by default")
    parser.add_argument("--part", help=argparse.SUPPRESS)
    parser.add_argument("--probes", type=int, default=64, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if missing := lacking("conceptnet/cn100k/train100k.txt", *(f"wiki27k/{part}.txt" for part in PARTS)):
        raise SystemExit(missing)
    (OUT / "index_size").mkdir(parents=True, exist_ok=True)
    if arguments.part and arguments.case == "vectors":
        print(json.dumps(part(arguments)))
        return 0
    figures = vectors(arguments) if arguments.case == "vectors" else subgraphs(arguments)
    print(json.dumps(figures))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
