"""SEPTA trained as a whole on CommonsenseQA and OpenBookQA, over all subgraphs of CN-100K: the graph's gain over text.

    OMP_NUM_THREADS=1 python -m benchmarks.septa.ablations [--device cuda] [--workers N] [--seeds N]
        [--methods NAME ...] [--folder FOLDER]

MiniLM learns: with the graph network in the alignment, and again in the reader of options; `frozen` methods keep its
weights in both, and those with a `frozen alignment` in the alignment alone. Ablations: no alignment, no subgraph, no
joins, knowledge alone (lambda = 1), and text alone. Alignments in which MiniLM learns take hours of a CPU: their
methods run where `--methods` names them. CommonsenseQA: five-fold cross-validation; OpenBookQA: its training questions.
A tenth of the questions to learn from choose the epoch. The other settings of training are chosen by `--choose`, on two
parts of OpenBookQA's training questions, with text alone and with the index that is not aligned. Trainings run in
`--workers` processes, which share a GPU where there is one. One alignment serves all seeds. A run goes on with what is
in its folder already; it ends by the figures, as does `--report` alone. `--small` takes few subgraphs and questions, to
try it.
"""

from __future__ import annotations

import argparse
import json
import pickle
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor, as_completed
from functools import cache
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import attrs
import numpy as np
from srtk_plugin_datasets.multiple_choice import CommonsenseQA, OpenBookQA
from srtk_plugin_evaluation import paired, ratios
from srtk_plugin_local.memory import MemoryGraph
from srtk_plugin_onnx.encoder import OnnxEncoder
from srtk_plugin_septa.fit_settings import OptionsFitSettings, SeptaFitSettings
from srtk_plugin_septa.fused import FusedCorpus
from srtk_plugin_septa.graph_encoder import SeptaGraphEncoder
from srtk_plugin_septa.options_reader import OptionsReader
from srtk_plugin_septa.subgraphs import SubgraphCorpus
from srtk_plugin_septa.text_encoder import SeptaTextEncoder
from srtk_plugin_transformers.encoder import TransformersEncoder

from benchmarks.common import DATA, OUT, lacking
from benchmarks.figures import record_mean
from benchmarks.septa.alignment import Given, Kept, adjacent, read_graph
from benchmarks.septa.graph_questions import K, Remembered, bare, retrieved, right
from benchmarks.septa.option_sets import CSQA, FOLDER, FOLDS, Phrases
from srtk_framework.graph import TripleTable
from srtk_framework.roles import Encoder, TrainingTask
from srtk_framework.text import fold
from srtk_framework.values import Entry, Question, Subgraph, TrainingExample

TOKENS, PARTS = 64, 32
FIGURES, RIGHT = "figures.jsonl", "right answers"
CSQA_NAME, BOOK = "CommonsenseQA", "OpenBookQA"
JOINT, FROZEN, NONE = "joint", "frozen", "none"
EMPTY = "empty"
"""Index without entries, where nothing is retrieved."""
CHOOSE = {"many": 2000, "few": 650}
"""Questions to learn from where settings are chosen: as many as suit OpenBookQA, and as many as a fold has."""
CHOOSE_TEST = 500
RATES, PULLS = (2e-5, 5e-5, 1e-4, 2e-4), (0.1, 0.001)
BEST: dict[str, dict[str, dict[str, Any]]] = {
    "text alone": {"many": {"encoder_rate": 1e-4}, "few": {"encoder_rate": 2e-5}},
    "no alignment": {
        "many": {"encoder_rate": 2e-4, "knowledge_pull": 0.001},
        "few": {"encoder_rate": 2e-5, "knowledge_pull": 0.001},
    },
}
"""Settings that `--choose` found."""
Pairs = list[tuple[Question, Subgraph]]


@attrs.frozen
class Method:
    """A way to retrieve, train and read: its alignment, joins, subgraphs, lambda, and whether encoders stay frozen."""

    name: str
    aligned: str = JOINT
    joins: bool = True
    found: bool = True
    knowledge: float | None = None
    frozen: bool = False


TEXT, WHOLE, UNALIGNED = "text alone", "graph and text", "no alignment"
LEARNING = (
    Method(TEXT, NONE, joins=False, found=False, knowledge=0.0),
    Method(WHOLE),
    Method(UNALIGNED, NONE),
    Method("no subgraph", found=False),
    Method("no joins", joins=False),
    Method("no subgraph, no joins", joins=False, found=False),
    Method("knowledge alone", knowledge=1.0),
)
FROZEN_TEXT, FROZEN_WHOLE, HALF = f"frozen, {TEXT}", f"frozen, {WHOLE}", f"{WHOLE}, frozen alignment"
METHODS = {
    method.name: method
    for method in (
        *(
            attrs.evolve(one, name=f"frozen, {one.name}", aligned=NONE if one.aligned == NONE else FROZEN, frozen=True)
            for one in LEARNING
        ),
        Method(HALF, FROZEN),
        *LEARNING,
    )
}
AFFORDABLE = [name for name, method in METHODS.items() if method.aligned != JOINT]


@attrs.frozen
class Setup:
    """What each process needs to know: folder, device, model, centres and questions at most, and epochs."""

    folder: Path
    device: str
    model: str
    centres: int | None = None
    questions: int | None = None
    align_epochs: int = 2
    epochs: int = 3

    @property
    def accelerator(self) -> Any:
        """The same device by the name that trainings know."""
        return "cpu" if self.device == "cpu" else "auto"


@cache
def graph_of() -> MemoryGraph:
    """Return the graph."""
    return read_graph("cn100k")[0]


@cache
def linker_of() -> Phrases:
    """Return the linker of questions and options."""
    return Phrases({fold(node): node for node in adjacent(graph_of())})


@attrs.define(eq=False)
class Learnable(Kept):
    """Keeps vectors; a copy of ``driver``, which gives the same, can learn."""

    driver: TransformersEncoder = attrs.field(kw_only=True)

    def open(self) -> None:
        """Read the vectors of all parts."""
        for file in sorted(self.file.parent.glob("part-*.npy")):
            part = Kept(self.encoder, file)
            part.open()
            self._known |= part._known


@cache
def driver_of(setup: Setup) -> TransformersEncoder:
    """Return the text encoder of which copies learn."""
    driver = TransformersEncoder(model=setup.model, device=setup.device, dtype="float32")
    driver.open()
    return driver


@cache
def fast_of(setup: Setup) -> Encoder:
    """Return the fastest encoder with the same vectors: on a CPU, ONNX Runtime takes half of the time."""
    if setup.device != "cpu":
        return driver_of(setup)
    made = OnnxEncoder(model=setup.model)
    made.open()
    return made


@cache
def encoder_of(setup: Setup) -> Learnable:
    """Return the text encoder as it is before any training."""
    made = Learnable(fast_of(setup), setup.folder / "part", driver=driver_of(setup))
    made.open()
    return made


@cache
def texts_of(setup: Setup, aligned: str) -> SeptaTextEncoder:
    """Return the text encoder of an alignment."""
    path = None if aligned in (NONE, EMPTY) else str(setup.folder / aligned / "model")
    made = SeptaTextEncoder(encoder=encoder_of(setup), path=path)
    made.open()
    return made


@cache
def graphs_of(setup: Setup, aligned: str) -> SeptaGraphEncoder:
    """Return the graph encoder of an alignment."""
    made = SeptaGraphEncoder(graph=graph_of(), encoder=encoder_of(setup), path=texts_of(setup, aligned).path)
    made.open()
    return made


@cache
def index_of(setup: Setup, aligned: str) -> Remembered:
    """Return the index of an alignment."""
    made = Remembered(path=str(setup.folder / aligned / "index"), encoder=texts_of(setup, aligned))
    made.open()
    return made


@cache
def questions_of(setup: Setup) -> dict[str, list[Question]]:
    """Return the questions of each set."""
    sets = {CSQA_NAME: CommonsenseQA(path=str(DATA / CSQA), repeated="merge")}
    path = str(DATA / FOLDER)
    sets["train"] = OpenBookQA(path=path, split="train", repeated="merge")
    sets[BOOK] = OpenBookQA(path=path, split="test", repeated="merge")
    return {name: list(one.read())[: setup.questions] for name, one in sets.items()}


def sample(setup: Setup, number: int, centres: Sequence[str]) -> int:
    """Sample the subgraphs of some centres, and encode their texts and the centres."""
    file = setup.folder / f"part-{number}"
    if not file.exists():
        corpus = SubgraphCorpus(graph=graph_of(), centres=list(centres), tokens=TOKENS)
        corpus.open()
        entries = list(corpus.read())
        vectors = Kept(fast_of(setup), file.with_suffix(".npy"))
        vectors.encode([*centres, *(entry.text for entry in entries)])
        vectors.keep()
        file.write_bytes(pickle.dumps(entries))
    return number


def entries_of(setup: Setup, number: int) -> list[Entry]:
    """Return the subgraphs of a part."""
    found: list[Entry] = pickle.loads((setup.folder / f"part-{number}").read_bytes())
    return found


def align(setup: Setup, aligned: str) -> dict[str, float]:
    """Train an alignment on all subgraphs; 1,000 held-out ones choose the epoch."""
    entries = [entry for number in range(PARTS) for entry in entries_of(setup, number)]
    learner = SeptaGraphEncoder(graph=graph_of(), encoder=encoder_of(setup), corpus=Given(entries))
    learner.open()
    joint = aligned == JOINT
    size = {"epochs": setup.align_epochs, "batch_size": 512 if joint else 256}
    settings = SeptaFitSettings(frozen=not joint, accelerator=setup.accelerator, **size)
    start = time.process_time()
    figures = learner.fit(TrainingTask([], None, setup.folder / aligned, 0), settings)
    learner.save(setup.folder / aligned / "model")
    return {**figures, "cpu_s": time.process_time() - start}


def fuse(setup: Setup, aligned: str, number: int) -> list[Entry]:
    """Give the subgraphs of a part their vectors."""
    corpus = Given(entries_of(setup, number))
    return list(FusedCorpus(corpus, graphs_of(setup, aligned), texts_of(setup, aligned)).read())


def write_index(setup: Setup, aligned: str, parts: Sequence[list[Entry]]) -> int:
    """Write the index."""
    index = Remembered(path=str(setup.folder / aligned / "index"), encoder=texts_of(setup, aligned))
    index.create()
    for part in parts:
        index.add(part)
    return index.commit()


def search(setup: Setup, aligned: str, name: str, part: slice) -> dict[bool, list[Subgraph]]:
    """Retrieve for some questions of a set, with joins and without."""
    questions, index = questions_of(setup)[name][part], index_of(setup, aligned)
    kinds = sorted({m.joins for m in METHODS.values() if m.aligned == aligned and m.found} | {True})
    found = {
        joins: retrieved(questions, index, graph_of(), linker_of(), "joins" if joins else "none") for joins in kinds
    }
    return {
        joins: [attrs.evolve(one, triples=(), scores=(), path_of=()) for one in row] for joins, row in found.items()
    }


@cache
def pairs_of(setup: Setup, method: Method, name: str) -> Pairs:
    """Return the questions of a set with what a method retrieves."""
    questions = questions_of(setup)[name]
    if not method.found and not method.joins:
        return [(question, Subgraph()) for question in questions]
    rows = pickle.loads((setup.folder / method.aligned / f"{name}.found").read_bytes())
    found = rows[method.joins]
    return list(zip(questions, found if method.found else bare(found), strict=True))


def answered(setup: Setup, method: Method, learning: Pairs, tested: Pairs, seed: int, **fit: Any) -> list[float]:
    """Train a reader, and return for each tested question whether it is right; untrained without questions to learn."""
    index = index_of(setup, method.aligned if method.found else EMPTY)
    base = encoder_of(setup)
    reader = OptionsReader(index=index, encoder=texts_of(setup, method.aligned), direct=base, k=K)
    reader.open()
    if learning:
        if not method.frozen:
            fit = {"frozen": False, "epochs": setup.epochs, "patience": 2, "batch_size": 32, **fit}
            if method.knowledge == 0:
                fit.pop("knowledge_pull", None)
        settings = OptionsFitSettings(
            knowledge=method.knowledge, validation=0.1, accelerator=setup.accelerator, **({} if method.frozen else fit)
        )
        examples = [TrainingExample(question, subgraph=subgraph) for question, subgraph in learning]
        with tempfile.TemporaryDirectory(dir=setup.folder) as folder:
            reader.fit(TrainingTask(examples, None, Path(folder), seed), settings)
    try:
        return right(reader, [question for question, _ in tested], [subgraph for _, subgraph in tested])
    finally:
        reader.close()


def fold_of(setup: Setup, name: str, seed: int, number: int, fit: dict[str, Any]) -> dict[int, float]:
    """Train on four folds of CommonsenseQA, and answer the fifth; by the places of the questions."""
    method = METHODS[name]
    pairs = pairs_of(setup, method, CSQA_NAME)
    order = np.random.default_rng(seed).permutation(len(pairs)).tolist()
    out = order[number::FOLDS]
    rest = [pairs[i] for i in order if i not in set(out)]
    return dict(zip(out, answered(setup, method, rest, [pairs[i] for i in out], seed, **fit), strict=True))


def open_book(setup: Setup, name: str, seed: int, fit: dict[str, Any]) -> dict[int, float]:
    """Train on OpenBookQA."""
    method = METHODS[name]
    learning, tested = (pairs_of(setup, method, part) for part in ("train", BOOK))
    return dict(enumerate(answered(setup, method, learning, tested, seed, **{**fit, "batch_size": 64})))


def untrained(setup: Setup, name: str, set_: str) -> dict[int, float]:
    """Answer a set without training."""
    method = METHODS[name]
    return dict(enumerate(answered(setup, method, [], pairs_of(setup, method, set_), 0)))


def trial(setup: Setup, name: str, size: str, fit: dict[str, Any]) -> float:
    """Train on a part of OpenBookQA's training questions, and return the share of right answers on another part."""
    method = METHODS[name]
    pairs = pairs_of(setup, method, "train")
    order = np.random.default_rng(101).permutation(len(pairs)).tolist()
    held = min(CHOOSE_TEST, len(pairs) // 4)
    tested, learning = order[:held], order[held : held + CHOOSE[size]]
    batch = {"batch_size": 64 if size == "many" else 32}
    rows = answered(setup, method, [pairs[i] for i in learning], [pairs[i] for i in tested], 0, **fit, **batch)
    return float(np.mean(rows))


class Run:
    """A run: its processes, and where its figures go."""

    def __init__(self, setup: Setup, pool: Executor, options: argparse.Namespace) -> None:
        self.setup, self.pool, self.names, self.seeds = setup, pool, options.methods, options.seeds
        self.start = time.perf_counter()
        centres = list(TripleTable.of(graph_of()).entities)[: setup.centres]
        self.parts = [centres[start::PARTS] for start in range(PARTS)]

    def tell(self, **figures: Any) -> None:
        """Write one line, at once."""
        line = json.dumps({"seconds": round(time.perf_counter() - self.start), **figures})
        print(line, flush=True)
        with (self.setup.folder / FIGURES).open("a", encoding="utf-8") as file:
            file.write(line + "\n")

    def map(self, work: Callable[..., Any], *rows: Sequence[Any]) -> list[Any]:
        """Do some work in the processes."""
        return [one.result() for one in [self.pool.submit(work, self.setup, *row) for row in zip(*rows, strict=True)]]

    def prepare(self) -> None:
        """Sample and encode all subgraphs, and make an index of none."""
        for number in self.map(sample, range(PARTS), self.parts):
            self.tell(sampled=number)
        write_index(self.setup, EMPTY, [])

    def group(self, aligned: str) -> None:
        """Align, index and retrieve for the methods of an alignment."""
        folder = self.setup.folder / aligned
        if not any(one.aligned == aligned and one.knowledge != 0 for one in map(METHODS.__getitem__, self.names)):
            return
        if aligned != NONE and not (folder / "model").exists():
            self.tell(aligned=aligned, **self.pool.submit(align, self.setup, aligned).result())
        if not (folder / "index").exists():
            parts = self.map(fuse, [aligned] * PARTS, range(PARTS))
            self.tell(index=aligned, entries=write_index(self.setup, aligned, parts))
        for name, questions in questions_of(self.setup).items():
            if (folder / f"{name}.found").exists():
                continue
            slices = [slice(start, start + 40) for start in range(0, len(questions), 40)]
            found = self.map(search, [aligned] * len(slices), [name] * len(slices), slices)
            whole = {joins: [one for part in found for one in part[joins]] for joins in found[0]}
            (folder / f"{name}.found").write_bytes(pickle.dumps(whole))
            self.tell(retrieved=aligned, set=name)

    def choose(self) -> None:
        """Choose settings for each number of questions to learn from."""
        text = [{"encoder_rate": rate} for rate in RATES]
        both = [{"encoder_rate": rate, "knowledge_pull": pull} for rate in RATES for pull in PULLS]
        tried = [
            (name, size, fit) for size in CHOOSE for name, some in ((TEXT, text), (UNALIGNED, both)) for fit in some
        ]
        shares = self.map(trial, *zip(*tried, strict=True))
        for (name, size, fit), share in sorted(zip(tried, shares, strict=True), key=lambda row: row[1]):
            self.tell(tried=name, size=size, fit=fit, right=share)

    def train(self) -> None:
        """Train and test the methods with all seeds: each set with all methods, then the next seed."""
        known = {one["rows"] for one in lines_of(self.setup) if "rows" in one}
        jobs: dict[Future[dict[int, float]], dict[str, Any]] = {}

        def submit(work: Callable[..., Any], method: str, set_: str, seed: int | None, *given: Any) -> None:
            rows = f"{method}; {set_}; seed {seed}" + (f", fold {given[2]}" if work is fold_of else "")
            if rows not in known:
                job = self.pool.submit(work, self.setup, *given)
                jobs[job] = {"rows": rows, "method": method, "set": set_, "seed": seed}

        for name in self.names:
            if name in (FROZEN_TEXT, FROZEN_WHOLE, WHOLE):
                for set_ in (CSQA_NAME, BOOK):
                    submit(untrained, f"{name}, not trained", set_, None, name, set_)
        fits = {name: BEST[TEXT if METHODS[name].knowledge == 0 else UNALIGNED] for name in self.names}
        for seed in range(self.seeds):
            for number, (name, fit) in product(range(FOLDS), fits.items()):
                submit(fold_of, name, CSQA_NAME, seed, name, seed, number, fit["few"])
            for name, fit in fits.items():
                submit(open_book, name, BOOK, seed, name, seed, fit["many"])
        for job in as_completed(jobs):
            self.tell(**jobs[job], right=sorted(job.result().items()))


def lines_of(setup: Setup) -> list[dict[str, Any]]:
    """Return what a folder's runs told."""
    file = setup.folder / FIGURES
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()] if file.exists() else []


def report(setup: Setup) -> list[dict[str, Any]]:
    """Return the figures of a folder; differences are of the questions and seeds that both methods have.

    The text alone of a frozen method is frozen, that of a learning method learns.
    """
    found: dict[tuple[str, str], dict[tuple[int | None, int], float]] = defaultdict(dict)
    for line in lines_of(setup):
        if "rows" in line:
            found[line["set"], line["method"]] |= {(line["seed"], place): value for place, value in line["right"]}
    figures = []
    for (set_, method), values in sorted(found.items()):
        row: dict[str, Any] = {"set": set_, "method": method, "seeds": len({seed for seed, _ in values})}
        row |= ratios([[(one, 1.0) for one in averaged(values, values)]])[0]
        record_mean(set_, method, RIGHT, row, row["n"])
        text, whole = (FROZEN_TEXT, FROZEN_WHOLE) if method.startswith("frozen") else (TEXT, WHOLE)
        for base in dict.fromkeys((text, FROZEN_TEXT, whole)):
            other = found.get((set_, base), {})
            if base != method and (both := sorted(values.keys() & other.keys())):
                name = f"over {TEXT if base == text else base}"
                row[name] = over = paired(averaged(values, both), averaged(other, both))
                record_mean(set_, method, f"{RIGHT}, {name}", over, over["n"])
        figures.append(row)
    return figures


def averaged(values: Mapping[tuple[int | None, int], float], keys: Iterable[tuple[int | None, int]]) -> list[float]:
    """Return the mean of each question over its seeds."""
    rows: dict[int, list[float]] = defaultdict(list)
    for seed, place in keys:
        rows[place].append(values[seed, place])
    return [float(np.mean(some)) for _, some in sorted(rows.items())]


def main() -> None:
    """Train and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--model", default="minilm", help="text encoder that learns")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--methods", nargs="*", default=[*AFFORDABLE], choices=METHODS)
    parser.add_argument("--folder", type=Path, default=OUT / "ablations", help="models, indexes, vectors and figures")
    parser.add_argument("--choose", action="store_true", help="try settings of training instead")
    parser.add_argument("--report", action="store_true", help="print the figures of the folder, without a run")
    parser.add_argument("--small", action="store_true", help="try the command")
    options = parser.parse_args()
    if missing := lacking(CSQA, f"{FOLDER}/openbookqa_train.json", "conceptnet/cn100k/train100k.txt"):
        parser.exit(1, f"{missing}\n")
    setup = Setup(options.folder, options.device, options.model)
    if options.small:
        small = setup.folder.with_name(f"{setup.folder.name}-small")
        setup = attrs.evolve(setup, folder=small, centres=200, questions=8, align_epochs=1, epochs=1)
    setup.folder.mkdir(parents=True, exist_ok=True)
    if options.report:
        for row in report(setup):
            print(json.dumps(row))
        return
    with ProcessPoolExecutor(options.workers, get_context("spawn")) as pool:
        run = Run(setup, pool, options)
        run.prepare()
        groups = (NONE,) if options.choose else (JOINT, NONE, FROZEN)
        with ThreadPoolExecutor(len(groups)) as threads:
            for done in [threads.submit(run.group, aligned) for aligned in groups]:
                done.result()
        if options.choose:
            run.choose()
        else:
            run.train()
    for row in report(setup):
        print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
