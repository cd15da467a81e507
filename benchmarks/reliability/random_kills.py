"""Kills the commands that write for long at random moments: afterwards the old or the new whole thing is there.

    python -m benchmarks.reliability.random_kills --kills 100

Builds, loads, maps, pulls, runs and trains, each in a process of its own that is killed (SIGKILL) once it has used a
random share of the processor time between its first write and its end, both measured with an unbroken command: so that
kills fall evenly on what it does, however busy the machine. After each kill what stands there is opened and checked
against its hashes; a run or a training that began where nothing stood may also be unfinished. Then the same command
runs again, and must give what an unbroken one gives. Prints the counts as JSON.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import attrs

TRIPLES = 20_000
PULLED = 4_000
QUESTIONS = 400
PAUSE = 0.002
SAID = "said"
"""File of what a command prints."""
TRAINING = ("--max-epochs", "6", "--accelerator", "cpu", "--batch-size", "8", "--quiet")
WORDS = [f"word{number}" for number in range(40)]


@attrs.frozen
class Command:
    """A command that is killed.

    Attributes:
        name: Its name in the counts.
        words: The words after ``srtk``.
        target: What it makes.
        read: Returns a hash of what it made, ``nothing`` or ``unfinished``; fails on anything else that is not whole.
    """

    name: str
    words: tuple[str, ...]
    target: str
    read: Callable[[Path], str]


def snapshot(folder: Path) -> str:
    """Check a snapshot, and return its content."""
    from srtk_plugin_local.snapshot.arrays import Snapshot

    from srtk_framework.records import check_files
    from srtk_framework.values import SnapshotError

    opened = Snapshot(folder)
    check_files(folder / opened.meta.generation, opened.meta.files, "", SnapshotError, anew=True)
    return opened.meta.content


def store(folder: Path) -> str:
    """Check that a store has the triples that its meta file says, and return their hash."""
    from srtk_plugin_sparql.store import EmbeddedStore

    opened = EmbeddedStore(folder)
    rows = opened.select("SELECT ?s ?p ?o WHERE { ?s ?p ?o }", True)
    opened.close()
    if len(rows) != opened.meta.triples:
        raise ValueError(f"{len(rows)} triples, not {opened.meta.triples}")
    return opened.meta.content


def index(file: Path) -> str:
    """Check an index, and return a hash of its rows."""
    with closing(sqlite3.connect(file)) as db:
        if db.execute("PRAGMA integrity_check").fetchall() != [("ok",)]:
            raise ValueError("the index is damaged")
        rows = db.execute("SELECT * FROM mapping ORDER BY 2").fetchall()
    return hashlib.sha256(repr(rows).encode()).hexdigest()


def results(folder: Path) -> str:
    """Return a hash of what a run wrote, except times; the run may be unfinished."""
    if not (folder / "manifest.json").is_file():
        return "nothing"
    manifest = json.loads((folder / "manifest.json").read_text())
    if manifest["state"] != "complete":
        return "unfinished"
    scores = [json.loads(line) for line in (folder / "scores.jsonl").read_text().splitlines()]
    plain = [{key: value for key, value in row.items() if key != "seconds"} for row in scores]
    parts = [file.read_bytes() for file in [*sorted((folder / "journal").glob("*.jsonl")), folder / "out.jsonl"]]
    kept = [manifest[key] for key in ("fingerprint", "counts", "exports")]
    return hashlib.sha256(b"\0".join([*parts, repr((plain, kept)).encode()])).hexdigest()


def model(folder: Path) -> str:
    """Return a hash of a trained model; the training may be unfinished."""
    record = folder / "training" / "training.json"
    if not record.is_file():
        return "nothing"
    if json.loads(record.read_text())["state"] != "complete":
        return "unfinished"
    from transformers import AutoModel, AutoTokenizer

    AutoModel.from_pretrained(folder)
    AutoTokenizer.from_pretrained(folder)
    parts = [path.name.encode() + path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


COMMANDS = (
    Command("build", ("graph", "build", "t.tsv", "--out", "graph", "--quiet"), "graph", snapshot),
    Command("load", ("graph", "load", "t.nt", "--out", "store"), "store", store),
    Command("map", ("map", "build", "titles.tsv", "--out", "index.db", "--force"), "index.db", index),
    Command("pull", ("graph", "pull", "pull.yaml", "--out", "pulled", "--quiet"), "pulled", snapshot),
    Command("run", ("run", "run.yaml", "--quiet"), "run", results),
    Command(
        "train",
        ("train", "-t", "rows.jsonl", "-m", "tiny", "-o", "model", *TRAINING),
        "model",
        model,
    ),
)
RESUMED = ("run", "train")
"""Commands that begin where nothing stands, and go on after a kill."""


def write_inputs(folder: Path, triples: int) -> None:
    """Write a graph as a table and as N-Triples, titles with ids, and what is pulled of the graph."""
    rows = [(f"n{n}", f"r{n % 7}", f"n{n * 7 % (triples // 2)}") for n in range(triples)]
    (folder / "t.tsv").write_text("".join("\t".join(row) + "\n" for row in rows))
    (folder / "t.nt").write_text("".join(f"<x:{s}> <x:{r}> <x:{o}> .\n" for s, r, o in rows))
    (folder / "titles.tsv").write_text("".join(f"Title {n}\tQ{n + 1}\n" for n in range(triples)))


def write_recipes(folder: Path, url: str, asked: int) -> None:
    """Write recipes of a run over a snapshot and of a pull from a server, and rows to train on."""
    questions = [
        {"id": f"q{n}", "question": f"what of n{n}?", "question_entities": [f"n{n * 13}"], "answer_entities": [f"n{n}"]}
        for n in range(QUESTIONS)
    ]
    (folder / "q.jsonl").write_text("".join(json.dumps(row) + "\n" for row in questions))
    some = [{**row, "question_entities": [f"x:n{n}"]} for n, row in enumerate(questions[:asked])]
    (folder / "asked.jsonl").write_text("".join(json.dumps(row) + "\n" for row in some))
    base = {"srtk": 1, "expander": {"use": "bfs", "depth": 2}, "batch": 4}
    run = {
        **base,
        "questions": "q.jsonl",
        "knowledge_graph": {"use": "local", "path": "given"},
        "output": "run",
        "exporters": [{"use": "jsonl", "path": "run/out.jsonl"}],
        "evaluate": True,
    }
    (folder / "run.yaml").write_text(json.dumps(run))
    graph = {"use": "sparql", "endpoint": url, "engine": "oxigraph"}
    pull = {**base, "questions": "asked.jsonl", "knowledge_graph": graph, "output": "unused"}
    (folder / "pull.yaml").write_text(json.dumps(pull))
    chance = random.Random(5)
    rows = []
    for _ in range(160):
        query, positive, *others = chance.sample(WORDS, 5)
        rows.append({"query": f"{query} {positive} [SEP] ", "positive": positive, "negatives": others})
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def write_encoder(folder: Path) -> None:
    """Write a BERT of two layers with random weights over a few words."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    words = {word: at for at, word in enumerate(["[PAD]", "[UNK]", *WORDS, "query", "relation", ":", "[SEP]"])}
    tokenizer = Tokenizer(models.WordLevel(words, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    made = PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token="[PAD]", unk_token="[UNK]")
    made.model_max_length = 64
    made.save_pretrained(folder)
    torch.manual_seed(1)
    sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
    BertModel(BertConfig(vocab_size=len(words), max_position_embeddings=64, **sizes)).save_pretrained(folder)


def start(command: Command, folder: Path) -> subprocess.Popen[bytes]:
    """Start a command in a folder."""
    words = [sys.executable, "-m", "srtk_framework", *command.words]
    with (folder / SAID).open("wb") as said:
        return subprocess.Popen(words, cwd=folder, stdout=subprocess.DEVNULL, stderr=said)


def used(process: subprocess.Popen[bytes]) -> float:
    """Return the seconds of processor time that all threads of a process have used."""
    # The number of Linux's clock of another process; see clock_getcpuclockid(3).
    return time.clock_gettime(~process.pid << 3 | 2)


def measure(command: Command, folder: Path) -> tuple[float, float]:
    """Run a command to its end; return the processor time until its first write and until its end."""
    process = start(command, folder)
    before, first, total = entries(folder), 0.0, 0.0
    while os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
        total = used(process)
        if not first and entries(folder) != before:
            first = total
        time.sleep(PAUSE)
    end(process, command, folder)
    return first, total


def finish(command: Command, folder: Path) -> None:
    """Run a command to its end."""
    end(start(command, folder), command, folder)


def end(process: subprocess.Popen[bytes], command: Command, folder: Path) -> None:
    """Wait for the end of a command, which must not fail."""
    if process.wait():
        said = (folder / SAID).read_text(errors="replace")
        raise SystemExit(f"`srtk {' '.join(command.words)}` failed in {folder}: {said}")


def entries(folder: Path) -> dict[str, int]:
    """Return the times of what stands in a folder, beside what a command prints."""
    found = {}
    for path in folder.iterdir():
        with contextlib.suppress(FileNotFoundError):  # It was there a moment ago.
            found[path.name] = path.stat().st_mtime_ns
    found.pop(SAID, None)
    return found


def kill(command: Command, folder: Path, moment: float) -> bool:
    """Start a command and kill it once it has used so much processor time; return whether it was alive."""
    process = start(command, folder)
    while process.poll() is None and used(process) < moment:
        time.sleep(PAUSE)
    process.kill()
    return process.wait() != 0


@contextmanager
def server(folder: Path) -> Iterator[str]:
    """Serve the graph from which is pulled, on loopback."""
    from srtk_plugin_sparql.commands.load import load
    from srtk_plugin_sparql.store import DATA

    from srtk_framework.testing import served

    write_inputs(folder, PULLED)
    load([folder / "t.nt"], folder / "store")
    with served(folder / "store" / DATA) as url:
        yield url


def strike(commands: tuple[Command, ...], kills: int, chance: random.Random, temporary: Path, url: str) -> Counter[str]:
    """Kill the commands in turn, and count what stood there afterwards and what the same command made then."""
    old, new, place = (temporary / name for name in ("old", "new", "place"))
    old.mkdir()
    write_encoder(old / "tiny")
    write_inputs(old, TRIPLES)
    write_recipes(old, url, 20)
    finish(attrs.evolve(COMMANDS[0], words=("graph", "build", "t.tsv", "--out", "given", "--quiet")), old)
    write_inputs(old, TRIPLES // 2)
    for command in commands:
        if command.name not in RESUMED:
            finish(command, old)
    befores = {command.name: command.read(old / command.target) for command in commands}
    write_inputs(old, TRIPLES)
    write_recipes(old, url, 60)
    shutil.copytree(old, new)
    spans = {command.name: measure(command, new) for command in commands}
    print({name: [round(moment, 2) for moment in span] for name, span in spans.items()}, file=sys.stderr)
    afters = {command.name: command.read(new / command.target) for command in commands}
    names = {path.name for path in new.iterdir()}
    counts: Counter[str] = Counter()
    number = 0
    while number < kills:
        command = commands[number % len(commands)]
        before, after = befores[command.name], afters[command.name]
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(old, place)
        if not kill(command, place, chance.uniform(*spans[command.name])):
            counts[f"{command.name}: ended before the kill"] += 1
            continue
        number += 1
        found = command.read(place / command.target)
        state = {before: "nothing" if before == "nothing" else "old", after: "new"}.get(found, "broken")
        if command.name in RESUMED and found == "unfinished":
            state = found
        counts[f"{command.name}: killed, {state} there"] += 1
        finish(command, place)
        equal = command.read(place / command.target) == after
        left = [path for path in place.iterdir() if path.name not in names]
        left += [path for path in (place / command.target).rglob("*") if path.suffix in (".part", ".lock")]
        counts[f"{command.name}: {'equal' if equal and not left else 'other'} after the same command"] += 1
        if not equal or left:
            print(f"{command.name}: {sorted(map(str, left))} left", file=sys.stderr)
    return counts


def main() -> None:
    """Kill, check, and print the counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="*", choices=[one.name for one in COMMANDS], help="these commands alone")
    args = parser.parse_args()
    commands = tuple(command for command in COMMANDS if not args.only or command.name in args.only)
    with tempfile.TemporaryDirectory() as temporary, tempfile.TemporaryDirectory() as graph, server(Path(graph)) as url:
        counts = strike(commands, args.kills, random.Random(args.seed), Path(temporary), url)
    print(json.dumps(dict(sorted(counts.items())), indent=1))
    if any("broken" in name or "other" in name for name in counts):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
