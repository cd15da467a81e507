"""Kills the commands that write for long at random moments: afterwards the old or the new whole thing is there.

    python benchmarks/random_kills.py --kills 100

Builds, loads and maps a graph over an earlier one, each in a process of its own that is killed (SIGKILL) after a random
part of the time that an unbroken command takes. After each kill what stands there is opened and checked against its
hashes; then the same command runs again, and must give what an unbroken one gives. Prints the counts as JSON.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import attrs

TRIPLES = 20_000


@attrs.frozen
class Command:
    """A command that is killed.

    Attributes:
        name: Its name in the counts.
        words: The words after ``srtk``.
        target: What it makes.
        read: Returns a hash of what it made; fails on anything that is not whole.
    """

    name: str
    words: tuple[str, ...]
    target: str
    read: Callable[[Path], str]


def snapshot(folder: Path) -> str:
    """Check a snapshot, and return its content."""
    from srtk_plugin_local.snapshot.arrays import Snapshot, verify_files

    opened = Snapshot(folder)
    verify_files(folder, opened.meta)
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


COMMANDS = (
    Command("build", ("graph", "build", "t.tsv", "--out", "graph", "--quiet"), "graph", snapshot),
    Command("load", ("graph", "load", "t.nt", "--out", "store"), "store", store),
    Command("map", ("map", "build", "titles.tsv", "--out", "index.db", "--force"), "index.db", index),
)


def write_inputs(folder: Path, triples: int) -> None:
    """Write a graph as a table, as N-Triples, and titles with ids."""
    rows = [(f"n{n}", f"r{n % 7}", f"n{n * 7 % (triples // 2)}") for n in range(triples)]
    (folder / "t.tsv").write_text("".join("\t".join(row) + "\n" for row in rows))
    (folder / "t.nt").write_text("".join(f"<x:{s}> <x:{r}> <x:{o}> .\n" for s, r, o in rows))
    (folder / "titles.tsv").write_text("".join(f"Title {n}\tQ{n + 1}\n" for n in range(triples)))


def start(command: Command, folder: Path) -> subprocess.Popen[bytes]:
    """Start a command in a folder."""
    words = [sys.executable, "-m", "srtk_framework", *command.words]
    return subprocess.Popen(words, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def finish(command: Command, folder: Path) -> float:
    """Run a command to its end; return the seconds that it took."""
    started = time.perf_counter()
    if start(command, folder).wait():
        raise SystemExit(f"`srtk {' '.join(command.words)}` failed in {folder}")
    return time.perf_counter() - started


def main() -> None:
    """Kill, check, and print the counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    chance = random.Random(args.seed)
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as temporary:
        old, new, place = (Path(temporary) / name for name in ("old", "new", "place"))
        old.mkdir()
        write_inputs(old, TRIPLES // 2)
        for command in COMMANDS:
            finish(command, old)
        befores = {command.name: command.read(old / command.target) for command in COMMANDS}
        write_inputs(old, TRIPLES)
        shutil.copytree(old, new)
        seconds = {command.name: finish(command, new) for command in COMMANDS}
        afters = {command.name: command.read(new / command.target) for command in COMMANDS}
        for number in range(args.kills):
            command = COMMANDS[number % len(COMMANDS)]
            shutil.rmtree(place, ignore_errors=True)
            shutil.copytree(old, place)
            process = start(command, place)
            time.sleep(chance.random() * seconds[command.name])
            process.kill()
            ended = process.wait()
            found = command.read(place / command.target)
            state = {befores[command.name]: "old", afters[command.name]: "new"}.get(found, "broken")
            counts[f"{command.name}: {'killed' if ended else 'ended before'}, {state} there"] += 1
            finish(command, place)
            again = command.read(place / command.target) == afters[command.name]
            left = sorted(path.name for path in place.iterdir() if path.name.startswith("."))
            counts[f"{command.name}: {'equal' if again and not left else 'other'} after the same command"] += 1
    print(json.dumps(dict(sorted(counts.items())), indent=1))
    if any("broken" in name or "other" in name for name in counts):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
