"""Alignment of subgraphs with their texts, on subgraphs that were held out: how often the own partner is the nearest.

    OMP_NUM_THREADS=1 python -m benchmarks.septa.alignment cn100k [--train N] [--pairs N] [--test N] [--tokens N]
        [--seeds N] [--epochs N] [--choose]

Centres are drawn by a hash: test centres first, half of them neighbours of the other half, then centres to train on,
and more of these in pairs of neighbours (`--pairs`), which are hard to tell apart.
The encoder (MiniLM by ONNX Runtime) is frozen, and its vectors are kept in build/bench/alignment. Recall@1 is
measured from graph to text and back, over N = 1,000 and over all test pairs; equal texts count as one. The hard set
words the same subgraphs by other templates than the training, and compares a subgraph only with those whose centre has
the same relations. Each figure stands beside that of the untrained encoders, the means of label vectors. `--choose`
tests on 1,000 of the pairs of neighbours instead, and trains without these: settings are chosen by it.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import shutil
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import attrs
import numpy as np
from srtk_plugin_local.memory import MemoryGraph
from srtk_plugin_onnx.encoder import OnnxEncoder
from srtk_plugin_septa.fit_settings import SeptaFitSettings
from srtk_plugin_septa.graph_encoder import SeptaGraphEncoder
from srtk_plugin_septa.pairs import recall
from srtk_plugin_septa.subgraphs import SubgraphCorpus
from srtk_plugin_septa.text_encoder import SeptaTextEncoder

from benchmarks.common import DATA, OUT, cached_values, lacking
from srtk_framework.roles import Corpus, Encoder, TrainingTask
from srtk_framework.values import Entry, Pattern, Triple

EASY = 1000
TOKENS = 128
"""Most tokens of a text."""
PARTS = ("train", "valid", "test")
LEAST_GROUP = 5
"""Fewest subgraphs with the same relations at their centres that are told apart."""
OTHER_CN = {
    "IsA": "{subject} counts among {object}",
    "AtLocation": "one finds {subject} at {object}",
    "UsedFor": "people need {subject} to {object}",
    "CapableOf": "{subject} can {object}",
    "HasSubevent": "while doing {subject}, {object} happens",
    "HasPrerequisite": "before {subject} one must {object}",
    "Causes": "{subject} leads to {object}",
    "HasProperty": "{subject} tends to be {object}",
    "MotivatedByGoal": "one does {subject} in order to {object}",
    "ReceivesAction": "{subject} gets {object}",
    "HasA": "{subject} comes with {object}",
    "PartOf": "{subject} belongs to {object}",
    "CausesDesire": "{subject} makes one want to {object}",
    "Desires": "{subject} wishes {object}",
    "MadeOf": "{object} is what {subject} consists of",
    "HasFirstSubevent": "{subject} begins with {object}",
    "HasLastSubevent": "{subject} ends with {object}",
    "DefinedAs": "{subject} means {object}",
}


@attrs.define(eq=False)
class Kept(Encoder):
    """Keeps the vectors of another encoder, in memory and between runs."""

    encoder: Encoder
    file: Path
    _known: dict[str, Any] = attrs.field(init=False, factory=dict)

    def open(self) -> None:
        """Read what an earlier run kept."""
        if self.file.exists():
            texts = json.loads(self.file.with_suffix(".json").read_text(encoding="utf-8"))
            self._known = dict(zip(texts, np.load(self.file), strict=True))

    def encode(self, texts: Sequence[str]) -> Any:
        """Encode what is not known yet."""
        return np.stack(cached_values(self._known, texts, self.encoder.encode)) if texts else self.encoder.encode([])

    def keep(self) -> None:
        """Write what is known."""
        self.file.parent.mkdir(parents=True, exist_ok=True)
        np.save(self.file, np.stack(list(self._known.values())))
        self.file.with_suffix(".json").write_text(json.dumps(list(self._known)), encoding="utf-8")


@attrs.define(eq=False)
class Given(Corpus):
    """Entries in memory."""

    entries: list[Entry]

    def read(self) -> Iterator[Entry]:
        """Yield the entries."""
        return iter(self.entries)


def read_graph(name: str, parts: Sequence[str] = PARTS) -> tuple[MemoryGraph, Path | None]:
    """Return the graph of a data set (of Wiki27K some of its parts), and its file of templates."""
    if name == "cn100k":
        lines = (DATA / "conceptnet/cn100k/train100k.txt").read_text(encoding="utf-8").splitlines()
        facts = [Triple(s, r, o) for r, s, o in (line.split("\t")[:3] for line in lines)]
        graph, templates = MemoryGraph(triples=facts), None
    else:
        folder = DATA / "wiki27k"
        files = [(folder / f"{part}.txt").read_text(encoding="utf-8") for part in parts]
        lines = dict.fromkeys(line for text in files for line in text.splitlines())
        facts = [Triple(*line.split("\t")[:3]) for line in lines]
        rows = (folder / "entity2label.txt").read_text(encoding="utf-8").splitlines()
        labels = {id_: label for id_, _, label in (row.partition("\t") for row in rows)}
        labels |= json.loads((folder / "relation2label.json").read_text(encoding="utf-8"))
        graph, templates = MemoryGraph(triples=facts, labels=labels), folder / "relation2template.json"
    graph.open()
    return graph, templates


def place(id_: str) -> str:
    """Order centres by chance."""
    return hashlib.sha256(id_.encode()).hexdigest()


def centres_of(graph: MemoryGraph, train: int, test: int) -> tuple[list[str], list[str]]:
    """Draw centres to train on and to test with; half of the latter are neighbours of the others."""
    near = adjacent(graph)
    every = sorted(near, key=place)
    chosen: dict[str, None] = {}
    for one in every:
        if len(chosen) >= test:
            break
        new = sorted((other for other in near[one] if other not in chosen), key=place)
        if one not in chosen and new:
            chosen.update({one: None, new[0]: None})
    return [one for one in every if one not in chosen][:train], list(chosen)[:test]


def in_pairs(graph: MemoryGraph, count: int, without: Sequence[str]) -> list[str]:
    """Draw centres in pairs of neighbours; of those drawn by chance, few have another beside them."""
    near = adjacent(graph)
    taken = set(without)
    found: list[str] = []
    for one in sorted(near, key=place):
        new = [] if one in taken else sorted(near[one] - taken, key=place)[:1]
        if new and len(found) < count:
            found += [one, *new]
            taken.update((one, *new))
    return found


def adjacent(graph: MemoryGraph) -> dict[str, set[str]]:
    """Return the neighbours of each node."""
    (facts,) = graph.match([Pattern()])
    near: dict[str, set[str]] = defaultdict(set)
    for subject, _, object_ in facts:
        near[subject].add(object_)
        near[object_].add(subject)
    return defaultdict(set, {one: others - {one} for one, others in near.items()})


def grouped(entries: Sequence[Entry]) -> list[list[int]]:
    """Group subgraphs by the relations at their centres."""
    groups: dict[frozenset[tuple[str, bool]], list[int]] = defaultdict(list)
    for number, entry in enumerate(entries):
        own = frozenset((t.relation, t.subject == entry.id) for t in entry.triples if entry.id in (t.subject, t.object))
        groups[own].append(number)
    return [group for group in groups.values() if len(group) >= LEAST_GROUP]


def figures_of(graphs: Encoder | Any, texts: Encoder, easy: list[Entry], hard: list[Entry]) -> dict[str, Any]:
    """Measure one pair of encoders."""
    e = graphs.encode([entry.triples for entry in easy], [entry.id for entry in easy])
    found: dict[str, Any] = {}
    for name, entries in (("same templates", easy), ("other templates", hard)):
        h, same = texts.encode([entry.text for entry in entries]), numbers([entry.text for entry in entries])
        for size in sorted({min(EASY, len(easy)), len(easy)}):
            found[f"{name}, N={size}"] = rounded(recall(e[:size], h[:size], same[:size], 1000))
        groups = grouped(entries)
        rows = [(len(g), recall(e[g], h[g], same[g])) for g in groups]
        total = sum(size for size, _ in rows)
        if total:
            there, back = (sum(size * row[way] for size, row in rows) / total for way in (0, 1))
            chance = sum(1 for _ in groups) / total
            found[f"{name}, same relations"] = [*rounded((there, back)), f"{total} in {len(rows)}, chance {chance:.3f}"]
    return found


def numbers(texts: Sequence[str]) -> Any:
    """Number texts; equal ones have equal numbers."""
    return np.unique(np.array(texts), return_inverse=True)[1]


def rounded(pair: tuple[float, float]) -> list[float]:
    """Round to three decimals."""
    return [round(value, 3) for value in pair]


def main() -> None:
    """Measure one data set."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dataset", choices=("cn100k", "wiki27k"))
    parser.add_argument("--choose", action="store_true", help="choose settings: test on 1,000 centres of the training")
    numbers_ = {"train": 20000, "pairs": 30000, "test": 10000, "tokens": TOKENS, "seeds": 3, "epochs": 30}
    for name, default in numbers_.items():
        parser.add_argument(f"--{name}", type=int, default=default)
    options = parser.parse_args()
    if missing := lacking("conceptnet/cn100k/train100k.txt", *(f"wiki27k/{part}.txt" for part in PARTS)):
        parser.exit(1, f"{missing}\n")
    graph, templates = read_graph(options.dataset)
    folder = OUT / "alignment"
    folder.mkdir(parents=True, exist_ok=True)
    other = folder / f"{options.dataset}-other.json"
    relations = json.loads((DATA / "wiki27k/relation2label.json").read_text(encoding="utf-8"))
    other_forms = (
        OTHER_CN if templates is None else {r: f"{{subject}}: {w} is {{object}}" for r, w in relations.items()}
    )
    other.write_text(json.dumps(other_forms), encoding="utf-8")
    learning, tested = centres_of(graph, options.train, options.test)
    learning = list(dict.fromkeys([*learning, *in_pairs(graph, options.pairs, tested)]))
    name = options.dataset
    if options.choose:
        tested, name = in_pairs(graph, EASY, tested), f"{name}-choose"
        held = set(tested)
        learning = [one for one in learning if one not in held]

    def sampled(centres: list[str], file: Path | None) -> list[Entry]:
        corpus = SubgraphCorpus(
            graph=graph, centres=centres, templates=str(file) if file else None, tokens=options.tokens
        )
        corpus.open()
        return list(corpus.read())

    start = time.perf_counter()
    train, easy, hard = sampled(learning, templates), sampled(tested, templates), sampled(tested, other)
    print(f"{len(train)} + {len(easy)} subgraphs in {time.perf_counter() - start:.0f} s", flush=True)
    print(f"{1 - len({e.text for e in easy}) / len(easy):.3f} of the test texts repeat another", flush=True)
    onnx = OnnxEncoder(model="minilm")
    onnx.open()
    encoder = Kept(onnx, folder / f"{options.dataset}.npy")
    encoder.open()
    start = time.perf_counter()
    graphs = SeptaGraphEncoder(graph=graph, encoder=encoder)
    graphs.open()
    plain = figures_of(graphs, encoder, easy, hard)
    print(f"untrained in {time.perf_counter() - start:.0f} s: {json.dumps(plain)}", flush=True)
    encoder.encode([entry.text for entry in train])
    encoder.keep()
    print(f"all vectors after {time.perf_counter() - start:.0f} s", flush=True)
    for seed in range(options.seeds):
        start = time.perf_counter()
        learner = SeptaGraphEncoder(graph=graph, encoder=encoder, corpus=Given(train))
        learner.open()
        shutil.rmtree(folder / f"{name}-{seed}", ignore_errors=True)
        settings = SeptaFitSettings(epochs=options.epochs, accelerator="cpu", validation=1000)
        task = TrainingTask([], None, folder / f"{name}-{seed}", seed=seed)
        fitted = learner.fit(task, settings)
        learner.save(task.folder / "model")
        took = time.perf_counter() - start
        texts = SeptaTextEncoder(encoder=encoder, path=str(task.folder / "model"))
        texts.open()
        found = json.dumps(figures_of(learner, texts, easy, hard))
        print(f"seed {seed}, {fitted['epochs']:.0f} epochs in {took:.0f} s: {found}", flush=True)
    encoder.keep()


if __name__ == "__main__":
    main()
