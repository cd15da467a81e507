"""CPU time of the search and of the baselines without the encoder, beside a floor of the search in integers.

    OMP_NUM_THREADS=1 python -m benchmarks.speed.search_floor [--questions 200] [--rounds 3] [--triples 1000000]

The demo and MetaQA's questions of three steps, with vectors that were kept before: the question's too. The floor does
the least that such a search can do: it follows relations by arrays of a relation each, scores paths by one product of
matrices, keeps the best 15 at each of three steps, and reads integer triples of the best; no limits but the budget,
no topics, no names, no records. Rounds are interleaved; the figure is the median, in CPU milliseconds a question.

A third graph has the degrees of Wikidata (see ``local_graph``) and is searched beside ten copies of itself in one
graph, whose nodes lie between each other: every question takes the same steps in both, from a copy in turn. Vectors are
drawn by chance.
"""

from __future__ import annotations

import argparse
import functools
import gc
import statistics
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from srtk_plugin_local.snapshot.graph import LocalGraph
from srtk_plugin_sr.beam import BeamExpander
from srtk_plugin_sr.dense import DenseScorer

from benchmarks.common import lacking
from benchmarks.figures import record_figure
from benchmarks.speed.local_graph import build_local, generate, sampled
from srtk_framework import open as open_recipe
from srtk_framework.host import driver_of
from srtk_framework.records import read_questions
from srtk_framework.roles import Encoder
from srtk_framework.values import Budget, Link, Question, batched

WIDTH, DEPTH, FAN, UNIT = 15, 3, 0.1, 0.07
SETS = {
    "demo": ("recipes/quickstart.yaml", []),
    "MetaQA, 3 hops": ("recipes/metaqa.yaml", ["vars.hops=3", "encoder.use=onnx"]),
}
WAYS = {
    "beam": "{use: beam, depth: 3}",
    "beam without choice": "{use: beam, depth: 3, choice: null}",
    "ppr": "{use: ppr, depth: 3}",
    "random": "{use: random, depth: 3}",
    "bfs": "{use: bfs, depth: 3}",
}


class Kept:
    """The vectors of texts, each encoded once."""

    def __init__(self, encode: Callable[[Sequence[str]], Any]) -> None:
        self.encode_new = encode
        self.rows: dict[str, Any] = {}

    def encode(self, texts: Sequence[str]) -> Any:
        """Return a row for each text."""
        if new := [text for text in dict.fromkeys(texts) if text not in self.rows]:
            self.rows.update(zip(new, self.encode_new(new), strict=True))
        return np.stack([self.rows[text] for text in texts])


class Floor:
    """The search in integers.

    Args:
        arrays: Edges of the graph.
        size: Number of its nodes.
        kept: Gives vectors.
        most: Number of triples to read.
    """

    def __init__(self, arrays: Any, size: int, kept: Kept, most: int) -> None:
        self.arrays, self.kept, self.most = arrays, kept, most
        self.steps: list[tuple[Any, Any]] = []
        self.names: list[str] = []
        for inverse in (False, True):
            owners, relations, low, high = arrays.runs(np.arange(size), inverse)
            for relation, name in enumerate(arrays.relations):
                own = np.flatnonzero(relations == relation)
                counts = np.zeros(size + 1, dtype=np.int64)
                counts[owners[own] + 1] = high[own] - low[own]
                positions = np.concatenate([np.arange(a, b) for a, b in zip(low[own], high[own], strict=True)] or [[]])
                self.steps.append((np.cumsum(counts), arrays.targets(positions.astype(np.int64), inverse)))
                self.names.append(name.replace("_", " ") + " of" * inverse)
        self.rows: dict[tuple[int, ...], int] = {}
        self.matrix = np.empty((0, 0), dtype=np.float32)

    def _scores(self, paths: Sequence[tuple[int, ...]], question: Any) -> Any:
        if new := [path for path in paths if path not in self.rows]:
            texts = self.kept.encode([", ".join(self.names[step] for step in path) for path in new])
            before = len(self.rows)
            self.matrix = np.concatenate([self.matrix, texts]) if before else texts
            self.rows.update((path, before + i) for i, path in enumerate(new))
        return self.matrix[[self.rows[path] for path in paths]] @ question / UNIT

    def _leaving(self, nodes: Any) -> list[int]:
        there, back = (self.arrays.runs(nodes, inverse)[1] for inverse in (False, True))
        found: list[int] = np.unique(np.concatenate([there, back + len(self.arrays.relations)])).tolist()
        return found

    def _follow(self, nodes: Any, step: int) -> Any:
        starts, targets = self.steps[step]
        low, lengths = starts[nodes], starts[nodes + 1] - starts[nodes]
        return targets[np.repeat(low - np.cumsum(lengths) + lengths, lengths) + np.arange(lengths.sum())]

    def search(self, start: int, question: Any) -> list[Any]:
        """Return the triples of the best paths, as columns of integers."""
        beam: list[Any] = [((), np.array([start]), 0.0, 0.0)]
        done: list[Any] = []
        for _ in range(DEPTH):
            every = [(item, step) for item in beam for step in self._leaving(item[1])]
            if not every:
                break
            whole = self._scores([(*item[0], step) for item, step in every], question)
            totals = np.array([item[2] - item[3] for item, _ in every]) + whole
            following = []
            for at in np.argsort(-totals)[: 2 * WIDTH].tolist():
                (path, nodes, *_), step = every[at]
                ends = np.unique(self._follow(nodes, step))
                score = float(totals[at]) - FAN * np.log(len(ends))
                following.append(((*path, step), ends, score, float(whole[at]), nodes))
            beam = sorted(following, key=lambda item: -item[2])[:WIDTH]
            done += beam
        triples, room = [], self.most
        for path, _, _, _, nodes in sorted(done, key=lambda item: -item[2])[:WIDTH]:
            ends = self._follow(nodes, path[-1])[:room]
            triples.append((nodes, path[-1], ends))
            room -= len(ends)
        return triples


def expanded(port: Any, questions: Sequence[Question], at_once: int) -> None:
    """Expand all questions."""
    for some in batched(questions, at_once):
        port.expand(some)


def milliseconds(call: Callable[[], Any], questions: int) -> float:
    """Return the CPU milliseconds a question of a call."""
    began = time.process_time()
    call()
    return 1000 * (time.process_time() - began) / questions


def measured(recipe: str, sets: Sequence[str], most: int, rounds: int) -> Iterator[tuple[str, float]]:
    """Measure all ways on one set; yield the name and the CPU milliseconds a question of each."""
    calls: dict[str, Callable[[], Any]] = {}
    sessions = []
    for name, expander in WAYS.items():
        settings = [*sets, f"expander={expander}", "evaluate=null", "exporters=[]", f"limit={most}"]
        session = open_recipe(recipe, settings).__enter__()
        sessions.append(session)
        data = session.dataset
        questions = list(islice(read_questions(data) if isinstance(data, str) else data.read(), most))
        if any(not question.links for question in questions):
            questions = [item.question for item in session.linked(questions)]
        port = session.composer.built("expander")[0]
        if not calls:
            encoder = driver_of(session.composer.built("encoder")[0])
            kept, kind = Kept(encoder.encode), type(encoder)
            graph = driver_of(session.graph)
            floor = Floor(graph.arrays(), graph._open.size, kept, port.driver.budget.triples or 50)
        calls[name] = functools.partial(expanded, port, questions, 32)
        calls[f"{name}, alone"] = functools.partial(expanded, port, questions, 1)
    own = kind.encode
    kind.encode = lambda _, texts: kept.encode(texts)
    starts = graph.arrays().numbers([one.links[0].entity if one.links else "" for one in questions]).tolist()
    vectors = kept.encode([one.text for one in questions])
    calls["floor in integers"] = lambda: [
        floor.search(start, vector) for start, vector in zip(starts, vectors, strict=True) if start >= 0
    ]
    for call in calls.values():
        call()
    gc.freeze()  # as a run does
    found: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            found[name].append(milliseconds(call, len(questions)))
    gc.unfreeze()
    kind.encode = own
    for session in sessions:
        session.close()
    yield from ((name, statistics.median(row)) for name, row in found.items())


class Drawn(Encoder):
    """A vector for each text, drawn by chance."""

    driver = "drawn"

    def encode(self, texts: Sequence[str]) -> Any:
        """Return a row for each text."""
        rows = [np.random.default_rng(zlib.crc32(text.encode())).normal(size=64) for text in texts]
        return np.array(rows, dtype=np.float32).reshape(len(texts), 64)

    def fingerprint(self) -> str:
        """Identify the draw."""
        return "drawn"


def copied(source: Path, copies: int) -> None:
    """Write copies of a file of triples into ``copies.tsv``; the ids of nodes end in the number of the copy."""
    with source.open() as rows, source.with_name("copies.tsv").open("w") as file:
        for row in rows:
            subject, relation, object_ = row[:-1].split("\t")
            file.writelines(f"{subject}.{one}\t{relation}\t{object_}.{one}\n" for one in range(copies))


def grown(triples: int, most: int, rounds: int, copies: int = 10) -> Iterator[tuple[str, float]]:
    """Measure the beam on a graph and on its copies; yield the name and the CPU milliseconds a question of each."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "triples.tsv"
        with source.open("wb") as file:
            generate(file, triples, 0)
        copied(source, copies)
        ids = sampled(source)[:most]
        ports, calls = [], {}
        for name, starts in (
            ("one graph", ids),
            (f"{copies} copies", [f"{id_}.{at % copies}" for at, id_ in enumerate(ids)]),
        ):
            out = Path(folder) / name
            out.mkdir()
            build_local(str(source if name == "one graph" else source.with_name("copies.tsv")), out)
            graph = LocalGraph(str(out / "graph"))
            graph.open()
            encoder = Drawn()
            scorer = DenseScorer(encoder=encoder, graph=graph, cache="")
            scorer.open()
            port = BeamExpander(graph=graph, scorer=scorer, budget=Budget(triples=50), depth=DEPTH)
            port.open()
            ports.append(port)
            questions = [
                Question(id=str(at), text="what is it", links=(Link(entity=start),)) for at, start in enumerate(starts)
            ]
            calls[name] = functools.partial(expanded, port, questions, 32)
            calls[f"{name}, alone"] = functools.partial(expanded, port, questions, 1)
        found: dict[str, list[float]] = {name: [] for name in calls}
        for call in calls.values():
            call()
        gc.freeze()
        for _ in range(rounds):
            for name, call in calls.items():
                found[name].append(milliseconds(call, len(ids)))
        gc.unfreeze()
        for port in ports:
            port.graph.close()
    yield from ((f"beam, {name}", statistics.median(row)) for name, row in found.items())


def main() -> int:
    """Measure, print and record."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--triples", type=int, default=1_000_000, help="size of the graph that is copied")
    args = parser.parse_args()
    why = {"demo": lacking(), "MetaQA, 3 hops": lacking("metaqa/3-hop/qa_dev.txt", "metaqa/kb_from_splits.txt")}
    for where, (recipe, sets) in SETS.items():
        if why[where]:
            print(why[where])
            continue
        for name, figure in measured(recipe, sets, args.questions, args.rounds):
            print(f"{where}: {name}: {figure:.2f} CPU ms a question", flush=True)
            record_figure(where, name, "CPU ms a question, without the encoder", figure, args.questions)
    where = f"{args.triples / 1e6:g} million triples"
    for name, figure in grown(args.triples, args.questions, args.rounds):
        print(f"{where}: {name}: {figure:.2f} CPU ms a question", flush=True)
        record_figure(where, name, "CPU ms a question, without the encoder", figure, args.questions)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
