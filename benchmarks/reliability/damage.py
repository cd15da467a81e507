"""Damages every kind of file that is stored and read again: each damage is named, or changes no result.

    python -m benchmarks.reliability.damage [--count 1000] [--seed 0] [--only KIND ...]

Each kind is written once. Then copies of it are damaged, in turn: a flipped bit, a file cut short, two lines swapped,
another character in a text, a file that is missing, and one of several files of another thing of the same kind. The
copy is read whole. An outcome is `the same` result byte for byte, `named` by an error of the framework with the path
and a remedy, `other` than before in silence, or a `raw` exception. The last two must not happen.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import random
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
import numpy as np

from benchmarks.figures import record_figure
from srtk_framework.roles import Encoder, TrainingTask
from srtk_framework.values import Entry, Literal, Pattern, SrtkError, Step, Triple

SAME, NAMED, OTHER, RAW = "the same", "named", "other", "raw"
PEOPLE = [Triple(f"p{n:03}", "speaks", ["Catalan", "Danish", "English"][n * 37 % 3]) for n in range(90)]
PLACES = [Triple(one.subject, "lives in", f"city{n % 7}") for n, one in enumerate(PEOPLE)]
FACTS = [*PEOPLE, *PLACES, Triple("p000", "height", Literal("1.8")), Triple("city1", "in", "Earth")]


@attrs.frozen
class Kind:
    """A kind of stored files.

    Attributes:
        write: Writes them into a folder; the number makes other content.
        read: Reads them whole, and returns what a run gets from them.
    """

    write: Callable[[Path, int], None]
    read: Callable[[Path], Any]


@attrs.frozen
class Outcome:
    """What became of a damage.

    Attributes:
        kind: Kind of the files.
        damage: What was done, and to which file.
        outcome: One of the four outcomes.
        said: The error, if there was one.
    """

    kind: str
    damage: str
    outcome: str
    said: str = ""


def facts_of(other: int) -> list[Triple]:
    """Return the facts of the content of a number."""
    return FACTS[: len(FACTS) - 20 * other]


def entries(other: int, count: int = 60, width: int = 0) -> list[Entry]:
    """Return entries, with vectors of a width."""
    rng = np.random.default_rng(other)
    return [
        Entry(f"e{n}", f"Rīga word{n % 13} text {other}", vector=rng.random(width, dtype=np.float32) if width else None)
        for n in range(count)
    ]


def opened(driver: Any) -> Any:
    """Open a driver, and return it."""
    driver.open()
    return driver


def memory(other: int) -> Any:
    """Open a graph in memory."""
    from srtk_plugin_local.memory import MemoryGraph

    return opened(MemoryGraph(triples=facts_of(other)))


def write_snapshot(folder: Path, other: int) -> None:
    """Build a snapshot."""
    from srtk_plugin_local.snapshot.build import build
    from srtk_plugin_local.snapshot.build_settings import BuildSettings

    with tempfile.TemporaryDirectory() as place:
        source = Path(place) / "facts.tsv"
        source.write_text("".join("\t".join(fact) + "\n" for fact in facts_of(other)))
        build(BuildSettings(files=(str(source),)), folder / "graph")


def read_snapshot(folder: Path) -> Any:
    """Read all facts and labels, and look for near names."""
    from srtk_plugin_local.snapshot.graph import LocalGraph

    graph = LocalGraph(str(folder / "graph"))
    with contextlib.closing(opened(graph)):
        nodes = graph.frontiers([[f"p{n:03}"] for n in range(90)])
        triples = [graph.triples(nodes, [Step(name)] * 90, None) for name in ("speaks", "lives in", "height")]
        near = [graph.near_names(["Danis", "cyti1", "p09"], 3, False), graph.known_words(["earth", "moon"])]
        return [graph.fingerprint(), triples, graph.labels(["Danish", "city1", "Earth"]), near]


def index_of(name: str, folder: Path) -> Any:
    """Make the driver of an index."""
    from srtk_plugin_index.indexes.bm25 import Bm25Index
    from srtk_plugin_index.indexes.exact import ExactIndex
    from srtk_plugin_index.indexes.vectors import VectorIndex

    if name == "bm25":
        return Bm25Index(path=str(folder / "index"))
    return {"exact": ExactIndex, "vectors": VectorIndex}[name](path=str(folder / "index"), encoder=Drawn(8))


def index_kind(name: str, count: int, width: int) -> Kind:
    """Return the kind of an index."""

    def write(folder: Path, other: int) -> None:
        index = index_of(name, folder)
        index.create()
        index.add(entries(other, count, width))
        index.commit()
        index.close()

    def read(folder: Path) -> Any:
        with contextlib.closing(opened(index_of(name, folder))) as index:
            found = index.search(["word3 text", "Rīga"], 20)
            return [index.fingerprint(), index.size(), repr(found), repr(index.entries(["e3", "e50", "none"]))]

    return Kind(write, read)


def write_journal(folder: Path, other: int) -> None:
    """Keep vectors of texts in a journal."""
    from srtk_plugin_index.indexes.vector_journal import VectorJournal

    rng = np.random.default_rng(other)
    journal = VectorJournal(folder, f"encoder {other}")
    journal.rows([f"text {n}" for n in range(40)], lambda places: rng.random((len(places), 8), dtype=np.float32))


def encoded(text: str, width: int = 8) -> np.ndarray[Any, Any]:
    """Return the vector that an encoder gives for a text."""
    return np.random.default_rng(list(text.encode())).random(width, dtype=np.float32)


@attrs.define(eq=False)
class Drawn(Encoder):
    """Draws vectors by the texts.

    Attributes:
        width: Length of the vectors.
    """

    width: int

    def open(self) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing."""

    def encode(self, texts: Sequence[str]) -> np.ndarray[Any, Any]:
        """Draw a vector for each text."""
        return np.stack([encoded(text, self.width) for text in texts])


def read_journal(folder: Path) -> Any:
    """Read the vectors, and encode those that are lost."""
    from srtk_plugin_index.indexes.vector_journal import VectorJournal

    kept = np.random.default_rng(0).random((40, 8), dtype=np.float32)
    journal = VectorJournal(folder, "encoder 0")
    return journal.rows([f"text {n}" for n in range(40)], lambda places: kept[places]).tolist()


def write_vectors(folder: Path, other: int) -> None:
    """Keep vectors of relations in the user's cache."""
    from srtk_plugin_sr.vectors import VectorStore

    store = VectorStore(folder, f"encoder {other}")
    for start in (0, 20):
        texts = [f"text {n} {other}" for n in range(start, start + 20)]
        store.add(texts, np.stack([encoded(text) for text in texts]))
        store.save()


def read_vectors(folder: Path) -> Any:
    """Read the vectors, and compute those that are lost."""
    from srtk_plugin_sr.vectors import VectorStore

    store, texts = VectorStore(folder, "encoder 0"), [f"text {n} 0" for n in range(40)]
    if missing := store.missing(texts):
        store.add(missing, np.stack([encoded(text) for text in missing]))
    return store.rows(texts).tolist()


def write_head(folder: Path, other: int) -> None:
    """Write the head of a reranker."""
    from srtk_plugin_sr.head import Head

    rng = np.random.default_rng(other)
    names = ("inner", "inner_bias", "outer", "outer_bias", "mean", "spread")
    Head({name: rng.random((4, 30)) for name in names}, 1.5, 0.5 + other, {"encoder": "toy"}).save(folder)


def read_head(folder: Path) -> Any:
    """Read the head of a reranker."""
    from srtk_plugin_sr.head import Head

    head = Head.load(folder)
    return [head.fingerprint(), head.reads, {name: value.tolist() for name, value in head.weights.items()}]


def write_embedding(folder: Path, other: int) -> None:
    """Write an embedding."""
    from srtk_plugin_embedding.model import EmbeddingModel
    from srtk_plugin_embedding.scoring import relation_width

    rng = np.random.default_rng(other)
    rows = rng.random((40, 8), dtype=np.float32), rng.random((6, relation_width("complex", 8)), dtype=np.float32)
    ids = tuple(f"Q{n}" for n in range(40)), ("a", "b", "c")
    EmbeddingModel("complex", *ids, *rows, f"graph {other}", "facts", {"epochs": 3}).save(folder)


def read_embedding(folder: Path) -> Any:
    """Read an embedding."""
    from srtk_plugin_embedding.model import EmbeddingModel

    model = EmbeddingModel.load(folder)
    return [model.fingerprint(), model.training, model.entities, model.scores(np.arange(3), np.arange(3)).tolist()]


def write_septa(folder: Path, other: int) -> None:
    """Write the aligned encoders of SEPTA."""
    from srtk_plugin_septa.model import SeptaModel

    SeptaModel.untrained(Drawn(16), seed=other).save(folder)


def read_septa(folder: Path) -> Any:
    """Read the aligned encoders of SEPTA."""
    from srtk_plugin_septa.model import SeptaModel

    model = SeptaModel.read(folder)
    return [model.fingerprint(), model.shape, model.training, model.probe.tolist()]


def write_patterns(folder: Path, other: int) -> None:
    """Mine path patterns."""
    from srtk_plugin_patterns.mining import mine
    from srtk_plugin_patterns.path_patterns import MiningSettings

    from srtk_framework.graph import TripleTable

    mine(TripleTable.from_triples(facts_of(other)), MiningSettings(3, None, None, 1)).save(folder)


def read_patterns(folder: Path) -> Any:
    """Read path patterns."""
    from srtk_plugin_patterns.path_patterns import PathPatterns

    return repr(attrs.asdict(PathPatterns.load(folder)))


def trained_kind(make: Callable[[int, str | None], Any], fit: Any) -> Kind:
    """Return the kind of a completer that is trained on a graph.

    Args:
        make: Makes the driver over the graph of a number, with the folder of its model.
        fit: Settings of the training.
    """

    def write(folder: Path, other: int) -> None:
        driver = opened(make(other, None))
        with tempfile.TemporaryDirectory() as place:
            driver.fit(TrainingTask((), None, Path(place), 0, PEOPLE[::4]), fit())
        driver.save(folder)

    def read(folder: Path) -> Any:
        driver = opened(make(0, str(folder)))
        return [driver.fingerprint(), repr(driver.complete([Pattern("p001", "speaks"), Pattern("p002", "speaks")], 3))]

    return Kind(write, read)


def rules(other: int, path: str | None) -> Any:
    """Make the completer `path-rules`."""
    from srtk_plugin_patterns.rule_completer import PathRuleCompleter

    return PathRuleCompleter(graph=memory(other), path=path)


def rules_fit() -> Any:
    """Return the settings of its training."""
    from srtk_plugin_patterns.rule_learner import RuleFitSettings

    return RuleFitSettings(least_support=1)


def calibrated(other: int, path: str | None) -> Any:
    """Make the completer `calibrated`."""
    from srtk_plugin_baselines.frequency import FrequencyCompleter
    from srtk_plugin_completers.calibrated import CalibratedCompleter

    graph = memory(other)
    return CalibratedCompleter(completer=opened(FrequencyCompleter(graph=graph)), graph=graph, path=path)


def calibrated_fit() -> Any:
    """Return the settings of its training."""
    from srtk_plugin_completers.calibrated import CalibrationTraining

    return CalibrationTraining()


def walks(other: int, path: str | None) -> Any:
    """Make the completer `path-walk`."""
    from srtk_plugin_patterns.walk_completer import PathWalkCompleter

    return PathWalkCompleter(graph=memory(other), path=path)


def walks_fit() -> Any:
    """Return the settings of its training."""
    from srtk_plugin_patterns.walk_completer import PathWalkFitSettings

    return PathWalkFitSettings()


def hybrid(other: int, path: str | None) -> Any:
    """Make the completer `hybrid`."""
    from srtk_plugin_baselines.frequency import FrequencyCompleter
    from srtk_plugin_completers.hybrid import HybridCompleter

    graph = memory(other)
    parts = [opened(FrequencyCompleter(graph=graph)) for _ in range(2)]
    return HybridCompleter(completers=parts, graph=graph, path=path)


def hybrid_fit() -> Any:
    """Return the settings of its training."""
    from srtk_plugin_completers.hybrid import HybridTraining

    return HybridTraining()


def write_form(folder: Path, other: int) -> None:
    """Write the form of a path scorer."""
    from srtk_plugin_sr.scorer_form import ScorerForm, write_form

    write_form(ScorerForm(rule="gain", step_cost=0.5 + other), folder)


def read_form(folder: Path) -> Any:
    """Read the form of a path scorer, which the folder of its weights has."""
    from types import SimpleNamespace

    from srtk_plugin_sr.scorer_form import read_form

    encoder: Any = SimpleNamespace(weights_folder=lambda: folder)
    return read_form(encoder)


def write_linker(folder: Path, other: int) -> None:
    """Write the weights of the dictionary linker."""
    from srtk_plugin_local.dictionary.learnt_weights import CHOICE, FOUND, LearntWeights

    LearntWeights(np.arange(len(CHOICE)) + other / 3, np.arange(len(FOUND)) / 7).save(folder)


def read_linker(folder: Path) -> Any:
    """Read the weights of the dictionary linker."""
    from srtk_plugin_local.dictionary.learnt_weights import LearntWeights

    return LearntWeights.load(folder).fingerprint()


def write_choice(folder: Path, other: int) -> None:
    """Write weights that choose a path."""
    from srtk_plugin_sr.path_choice import PathChoice

    PathChoice({"share": 1.25 + other, "first": -0.5}).save(folder / "path_choice.json")


def read_choice(folder: Path) -> Any:
    """Read weights that choose a path."""
    from srtk_plugin_sr.path_choice import PathChoice

    return PathChoice.load(str(folder / "path_choice.json")).fingerprint()


class Answers:
    """Stands in the place of a SPARQL server."""

    endpoint = "here"

    def select(self, query: str, divisible: bool, fresh: bool = False) -> Any:
        """Answer with the number in the query."""
        from srtk_plugin_sparql.terms import Row, Term

        return [Row({"n": Term("literal", f"{query} Rīga")})]

    def close(self) -> None:
        """Do nothing."""


def write_record(folder: Path, other: int) -> None:
    """Record answers of a SPARQL server."""
    from srtk_plugin_sparql.record import Recorder

    with contextlib.closing(Recorder(Answers(), folder, f"source {other}")) as recorder:
        for number in range(20):
            recorder.select(f"query {other} {number}", False)


def read_record(folder: Path) -> Any:
    """Replay the answers, all of them."""
    from srtk_plugin_sparql.record import Replay

    replay = Replay(folder)
    return [replay.endpoint, [repr(replay.select(f"query 0 {number}", False)) for number in range(20)]]


def write_reads(folder: Path, other: int) -> None:
    """Log reads of a graph."""
    from srtk_plugin_views.read_log import Log

    with contextlib.closing(Log(folder, {"source": f"graph {other}"})) as log:
        for fact in facts_of(other)[:20]:
            log.add_triples([fact])
            log.add_labels({fact.subject: f"{fact.subject} of {other}"})


def read_reads(folder: Path) -> Any:
    """Read the log as `srtk graph pull` does, which tells that a log was not closed."""
    from srtk_plugin_views.read_log import read

    reads = read(folder)
    if not reads.closed:
        raise SrtkError(f"{folder} was never closed; the snapshot holds what is there")
    return repr([reads.graph, reads.triples, reads.labels])


def write_answers(folder: Path, other: int) -> None:
    """Keep answers of a web service."""
    from srtk_plugin_web.cache import Cache

    with contextlib.closing(Cache(folder / "answers.sqlite", "toy")) as cache:
        for number in range(60):
            cache.put(f"question {number}", {"answer": [number, other, "Rīga" * 50]})


def read_answers(folder: Path) -> Any:
    """Look the answers up, and ask again for those that are lost."""
    from srtk_plugin_web.cache import Cache

    with contextlib.closing(Cache(folder / "answers.sqlite", "toy")) as cache:
        found = (cache.get(f"question {number}") for number in range(60))
        return [one or {"answer": [number, 0, "Rīga" * 50]} for number, one in enumerate(found)]


def write_store(folder: Path, other: int) -> None:
    """Load a store."""
    from srtk_plugin_sparql.commands.load import load

    with tempfile.TemporaryDirectory() as place:
        source = Path(place) / "facts.nt"
        base = "http://127.0.0.1/"
        lines = [f"<{base}{s}> <{base}{p.replace(' ', '_')}> <{base}{o}> .\n" for s, p, o in facts_of(other)[:150]]
        source.write_text("".join(lines))
        load([source], folder / "store")


def read_store(folder: Path) -> Any:
    """Ask a store for all that it holds."""
    from srtk_plugin_sparql.store import EmbeddedStore

    with contextlib.closing(EmbeddedStore(folder / "store")) as store:
        return [store.endpoint, sorted(map(repr, store.select("SELECT ?s ?p ?o { ?s ?p ?o }", False)))]


def write_checkpoint(folder: Path, other: int) -> None:
    """Write a checkpoint."""
    import torch

    torch.save({"network": {"weight": torch.arange(400.0) + other}, "srtk": {"best": 0.5}}, folder / "epoch.ckpt")


def read_checkpoint(folder: Path) -> Any:
    """Read a checkpoint."""
    from srtk_plugin_training import read_checkpoint

    found = read_checkpoint(folder / "epoch.ckpt")
    return [found["network"]["weight"].tolist(), found["srtk"]]


def write_best(folder: Path, other: int) -> None:
    """Write the best weights of a training."""
    import torch
    from srtk_plugin_training import save_best

    save_best({"a": torch.arange(300.0) + other, "b": torch.tensor(1.5)}, folder / "best.safetensors")


def read_best(folder: Path) -> Any:
    """Read the best weights of a training."""
    from srtk_plugin_training import read_best

    return {name: one.tolist() for name, one in read_best(folder / "best.safetensors").items()}


def write_training(folder: Path, other: int) -> None:
    """Write the record of a training."""
    from srtk_plugin_training import TrainingFolder

    TrainingFolder(folder, folder / "model", "--out").end({"fingerprint": f"abc{other}", "figures": {"recall": 0.75}})
    (folder / "model").touch()


def read_training(folder: Path) -> Any:
    """Read the record of a training, and go on with it."""
    from srtk_plugin_training import TrainingFolder

    place, state = TrainingFolder(folder, folder / "model", "--out"), {"fingerprint": "abc0"}
    return [place.finished(state), place.begin(state, False, lambda _: "the data")]


def write_model_folder(folder: Path, other: int) -> None:
    """Write a folder as a trained encoder has it."""
    from srtk_framework.records import write_manifest

    rng = random.Random(other)
    for name in ("config.json", "tokenizer.json", "model.safetensors", "1_Pooling/config.json"):
        path = folder / "model" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(rng.randbytes(500))
    write_manifest(folder / "model")


def read_model_folder(folder: Path) -> Any:
    """Find a model, and read its files."""
    from srtk_plugin_models.folder import find_model

    found = find_model(str(folder / "model"), None, False, False)
    paths = [path for path in sorted(found.rglob("*")) if path.is_file()]
    return [path.read_bytes() for path in paths if path.name not in (".verified.json", "checksums.json")]


KINDS: Mapping[str, Kind] = {
    "snapshot": Kind(write_snapshot, read_snapshot),
    "index exact": index_kind("exact", 60, 8),
    "index bm25": index_kind("bm25", 60, 0),
    "index vectors": index_kind("vectors", 10_000, 8),
    "journal of vectors": Kind(write_journal, read_journal),
    "cache of vectors": Kind(write_vectors, read_vectors),
    "head": Kind(write_head, read_head),
    "embedding": Kind(write_embedding, read_embedding),
    "septa": Kind(write_septa, read_septa),
    "path patterns": Kind(write_patterns, read_patterns),
    "path rules": trained_kind(rules, rules_fit),
    "calibration": trained_kind(calibrated, calibrated_fit),
    "path walks": trained_kind(walks, walks_fit),
    "hybrid": trained_kind(hybrid, hybrid_fit),
    "form of a scorer": Kind(write_form, read_form),
    "linker": Kind(write_linker, read_linker),
    "path choice": Kind(write_choice, read_choice),
    "record of answers": Kind(write_record, read_record),
    "log of reads": Kind(write_reads, read_reads),
    "cache of answers": Kind(write_answers, read_answers),
    "store": Kind(write_store, read_store),
    "checkpoint": Kind(write_checkpoint, read_checkpoint),
    "best weights": Kind(write_best, read_best),
    "training record": Kind(write_training, read_training),
    "model folder": Kind(write_model_folder, read_model_folder),
}


def flip(content: bytes, draw: random.Random) -> bytes:
    """Flip a bit."""
    at = draw.randrange(len(content))
    return content[:at] + bytes([content[at] ^ 1 << draw.randrange(8)]) + content[at + 1 :]


def cut(content: bytes, draw: random.Random) -> bytes:
    """Cut content short."""
    return content[: draw.randrange(len(content))]


def swap(content: bytes, draw: random.Random) -> bytes:
    """Swap two lines, or in a file of one line two blocks of bytes."""
    lines = content.splitlines(keepends=True)
    if len(lines) < 2:
        lines = [content[start : start + 16] for start in range(0, len(content), 16)]
    one, other = draw.sample(range(len(lines)), 2) if len(lines) > 1 else (0, 0)
    lines[one], lines[other] = lines[other], lines[one]
    return b"".join(lines)


def character(content: bytes, draw: random.Random) -> bytes:
    """Write another letter or digit over a letter or digit."""
    places = [at for at, byte in enumerate(content[: 1 << 16]) if bytes([byte]).isalnum()]
    if not places:
        return flip(content, draw)
    at = draw.choice(places)
    return content[:at] + draw.choice(b"abcxyz0189").to_bytes() + content[at + 1 :]


DAMAGES: Mapping[str, Callable[[bytes, random.Random], bytes]] = {
    "flip": flip,
    "cut": cut,
    "swap": swap,
    "character": character,
}
MISSING, FOREIGN = "missing", "of another"


def damaged(folder: Path, other: Path, damage: str, draw: random.Random) -> str:
    """Damage a file of a folder; return its name. ``other`` has files of the same kind."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and not path.name.startswith((".", "LO"))]
    path = draw.choice([path for path in files if path.stat().st_size] or files)
    name = path.relative_to(folder).as_posix()
    if damage == FOREIGN and len(files) == 1:
        damage = "flip"  # Another whole thing is no damage: it has its own fingerprint.
    if damage == MISSING:
        path.unlink()
    elif damage == FOREIGN:
        alike = [one for one in sorted(other.rglob(f"*{path.suffix}")) if one.is_file() and one.name == path.name]
        alike = alike or [one for one in sorted(other.rglob(f"*{path.suffix}")) if one.is_file()]
        path.write_bytes(draw.choice(alike).read_bytes() if alike else b"")
    else:
        path.write_bytes(DAMAGES[damage](path.read_bytes(), draw))
    return name


def outcome(kind: Kind, folder: Path, before: str) -> tuple[str, str]:
    """Read damaged files; return the outcome and the error."""
    try:
        after = repr(kind.read(folder))
    except SrtkError as error:
        said = str(error)
        return (NAMED if str(folder) in said and ";" in said else RAW), said
    except Exception as error:  # noqa: BLE001 - what a user would see as a fault of the framework.
        return RAW, f"{type(error).__name__}: {error}"
    return (SAME if after == before else OTHER), ""


def sweep(seed: int, count: int, only: list[str] | None = None) -> list[Outcome]:
    """Damage files.

    Args:
        seed: Decides what is damaged.
        count: Number of damages, evenly over the kinds.
        only: Kinds; None for all.
    """
    names = only or list(KINDS)
    found = []
    with tempfile.TemporaryDirectory() as place, contextlib.redirect_stderr(io.StringIO()):
        for number, name in enumerate(names):
            kind, folders = KINDS[name], [Path(place) / f"{number}-{which}" for which in range(2)]
            for which, folder in enumerate(folders):
                folder.mkdir()
                kind.write(folder, which)
            copy = Path(place) / "copy"
            shutil.copytree(folders[0], copy)
            before = repr(kind.read(copy))
            kinds = [*DAMAGES, MISSING, FOREIGN]
            for turn in range(count // len(names) + (number < count % len(names))):
                draw = random.Random(f"{seed} {name} {turn}")
                damage = kinds[turn % len(kinds)]
                shutil.rmtree(copy)
                shutil.copytree(folders[0], copy)
                file = damaged(copy, folders[1], damage, draw)
                what, said = outcome(kind, copy, before)
                found.append(Outcome(name, f"{damage}: {file}", what, said.replace(str(copy), "FOLDER")))
            shutil.rmtree(copy)
    return found


def main() -> int:
    """Damage, and print the counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=1000, help="damages, evenly over the kinds")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs="+", choices=list(KINDS), help="kinds of files")
    args = parser.parse_args()
    found = sweep(args.seed, args.count, args.only)
    for one in found:
        if one.outcome in (OTHER, RAW):
            print(json.dumps(attrs.asdict(one), ensure_ascii=False))
    for name in args.only or KINDS:
        print(f"{name:<20}", dict(Counter(one.outcome for one in found if one.kind == name)))
    counts = Counter(one.outcome for one in found)
    for what in (SAME, NAMED, OTHER, RAW):
        record_figure("damaged files", "checksums", what, counts[what], len(found))
    print(f"{len(found)} damages of {len(args.only or KINDS)} kinds: {dict(counts)}")
    return 1 if counts[OTHER] + counts[RAW] else 0


if __name__ == "__main__":
    sys.exit(main())
