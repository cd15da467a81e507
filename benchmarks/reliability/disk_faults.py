"""Runs commands where a disk, a limit, a stream or a locale fails them: a sentence each, and nothing half-written.

    python -m benchmarks.reliability.disk_faults [--seed 0]

Each command is a process of its own. A fault that must end a command must give a non-zero exit code and a line that
begins with ``srtk: error:``; no fault may give a traceback or be taken for a fault of the program.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

SMALL = 512
"""Bytes that a file may have where the disk is full."""
HANDLES = 6


@attrs.frozen
class Fault:
    """A fault, and the command that meets it.

    Attributes:
        name: Its name in the outcome.
        words: The words after ``srtk``.
        ends: Whether the command must fail.
        target: What must not be there afterwards.
        limits: Limits of the process: resource to its value.
        stdout: File that takes the standard output; ``closed`` is a pipe without a reader.
        environment: Variables of the environment; None removes one.
        gone: Whether the current folder is deleted before the command runs.
    """

    name: str
    words: Sequence[str]
    ends: bool = True
    target: str | None = None
    limits: Mapping[int, int] = attrs.field(factory=dict)
    stdout: str | None = None
    environment: Mapping[str, str | None] = attrs.field(factory=dict)
    gone: bool = False


def faults(seed: int) -> list[Fault]:
    """List the faults; the seed draws the size at which the disk is full."""
    draw = random.Random(seed)
    full, later = ({resource.RLIMIT_FSIZE: draw.randrange(start, end)} for start, end in ((1, SMALL), (SMALL, 2000)))
    load = ("graph", "load", "facts.nt", "--out", "loaded")
    train, model = ("run", "train.yaml"), "trained/training/model"
    query = ("query", "-kg", "graph", "(?, born in, Paris)")
    ascii_only = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": None}
    lost = "lost\n\udcff.csv"
    return [
        Fault("full disk: graph build", ("graph", "build", "facts.csv", "--out", "new"), target="new", limits=full),
        Fault("full disk: run", ("run", "recipe.yaml"), target="out.jsonl", limits=full),
        Fault("full disk: ask --page", ("ask", "graph", "Paris?", "--page", "p.html"), target="p.html", limits=full),
        Fault("full disk: recipes copy", ("recipes", "copy", "quickstart", "--out", "r"), limits=full),
        Fault("full disk: graph load", load, target="loaded", limits=full),
        Fault("nearly full disk: graph load", load, target="loaded", limits=later),
        Fault("full disk: index build", ("index", "build", "index.yaml"), target="words", limits=full),
        Fault("nearly full disk: index build", ("index", "build", "index.yaml"), target="words", limits=later),
        Fault(
            "full disk: graph pull", ("graph", "pull", "record.yaml", "--out", "pulled"), target="pulled", limits=full
        ),
        Fault(
            "full disk: graph pull of a record",
            ("graph", "pull", "record", "--out", "copy"),
            target="copy",
            limits=full,
        ),
        Fault(
            "nearly full disk: graph pull", ("graph", "pull", "record", "--out", "copy"), target="copy", limits=later
        ),
        Fault("full disk: a record", ("run", "record.yaml", "--set", "output=new", "--fresh"), limits=full),
        Fault("full disk: train", train, target=model, limits=full),
        Fault("nearly full disk: train", train, target=model, limits=later),
        Fault("full output: query", query, stdout="/dev/full"),
        Fault("full output: --help", ("--help",), stdout="/dev/full"),
        Fault("full output: graph info", ("graph", "info", "graph"), stdout="/dev/full"),
        Fault("no reader: query", query, stdout="closed"),
        Fault("no reader: --help", ("--help",), stdout="closed"),
        Fault("a file as folder: graph build", ("graph", "build", "facts.csv", "--out", "facts.csv/new")),
        Fault("a folder of the system: graph build", ("graph", "build", "facts.csv", "--out", "/proc/new")),
        Fault(
            "few handles: graph build",
            ("graph", "build", "facts.csv", "--out", "few"),
            target="few",
            limits={resource.RLIMIT_NOFILE: HANDLES},
        ),
        Fault("folder gone: graph info", ("graph", "info", "graph"), gone=True),
        Fault("folder gone: run", ("run", "recipe.yaml"), gone=True),
        Fault("a name with a line feed and a lone byte", ("ask", lost, "Paris?")),
        Fault("a table of one column", ("graph", "build", "one.csv", "--out", "one"), False),
        Fault("locale of ASCII: query", query, False, environment=ascii_only),
        Fault("locale of ASCII: run", ("run", "recipe.yaml", "--set", "output=é"), False, environment=ascii_only),
        Fault(
            "no HOME, no TERM: ask",
            ("ask", "graph", "Paris?"),
            False,
            environment={"HOME": None, "TERM": None, "XDG_CACHE_HOME": None},
        ),
        Fault("20 columns: graph info", ("graph", "info", "graph"), False, environment={"COLUMNS": "20"}),
        Fault("no standard input: ask", ("ask", "graph"), False),
    ]


def prepared(folder: Path) -> None:
    """Write the graph, the questions and the recipe of the commands."""
    rows = "\n".join(f"Zoé {number},born in,Paris" for number in range(40))
    (folder / "facts.csv").write_text(f"subject,relation,object\n{rows}\n", encoding="utf-8")
    (folder / "one.csv").write_text("name\nParis\nRome\n", encoding="utf-8")
    (folder / "q.jsonl").write_text('{"id": "é", "question": "Paris?", "question_entities": ["Paris"]}\n', "utf-8")
    (folder / "facts.nt").write_text("".join(f"<x:{number}> <x:r> <x:0> .\n" for number in range(40)), "utf-8")
    (folder / "one.jsonl").write_text('{"id": "a", "question": "?", "question_entities": ["x:1"]}\n', "utf-8")
    asked = [{"question": f"{n}?", "question_entities": [f"Zoé {n}"], "answer_entities": ["Paris"]} for n in range(20)]
    (folder / "answered.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in asked), "utf-8")
    local = {"srtk": 1, "questions": "q.jsonl", "knowledge_graph": {"use": "local", "path": "graph"}, "expander": "bfs"}
    index = {"index": {"use": "bm25", "path": "words"}, "corpus": "triples"}
    store = {"use": "sparql", "endpoint": "store", "record": "record"}
    learn = {"questions": "answered.jsonl", "supervision": "shortest-path"}
    recipes: dict[str, dict[str, Any]] = {
        "recipe": {**local, "output": "run", "exporters": [{"use": "jsonl", "path": "out.jsonl"}]},
        "index": {**local, **index, "output": "found"},
        "record": {**local, "questions": "one.jsonl", "output": "asked", "knowledge_graph": store},
        "train": {**local, "output": "trained", "expander": "beam", "path_scorer": "patterns", "train": learn},
    }
    for name, recipe in recipes.items():
        (folder / f"{name}.yaml").write_text(json.dumps(recipe), encoding="utf-8")
    for words in (
        ("graph", "build", "facts.csv", "--out", "graph"),
        ("graph", "load", "facts.nt", "--out", "store"),
        ("run", "record.yaml"),
    ):
        _run(Fault("", words), folder).check_returncode()


def _run(fault: Fault, folder: Path) -> subprocess.CompletedProcess[str]:
    given: dict[str, str | None] = {**os.environ, "XDG_CACHE_HOME": str(folder / "cache"), **fault.environment}
    environment = {name: value for name, value in given.items() if value is not None}

    def limit() -> None:
        for kind, most in fault.limits.items():
            resource.setrlimit(kind, (most, most))
        if fault.gone:
            os.rmdir(os.getcwd())

    place = folder
    if fault.gone:
        place = folder / "gone"
        place.mkdir(exist_ok=True)
    out: Any = subprocess.PIPE
    if fault.stdout == "closed":
        reader, out = os.pipe()
        os.close(reader)
    elif fault.stdout is not None:
        out = os.open(fault.stdout, os.O_WRONLY)
    before: Callable[[], None] = limit
    words = [os.fsencode(word) for word in (sys.executable, "-m", "srtk_framework", *fault.words)]
    try:
        return subprocess.run(
            words,
            cwd=place,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            errors="replace",
            timeout=300,
            preexec_fn=before,
        )
    finally:
        if isinstance(out, int) and out >= 0:
            os.close(out)


def problems(fault: Fault, folder: Path) -> list[str]:
    """Run a command under a fault, and return what is wrong with its end."""
    ended = _run(fault, folder)
    shown = ended.stderr + (ended.stdout or "")
    found = [word for word in ("Traceback", "has a fault", "Exception ignored") if word in shown]
    if fault.ends != (ended.returncode != 0) or ended.returncode < 0:
        found.append(f"exit code {ended.returncode}")
    if fault.ends and "error:" not in ended.stderr and fault.stdout != "closed":
        found.append("no sentence")
    if fault.target is not None and (folder / fault.target).exists():
        found.append(f"{fault.target} is there")
    return [*found, shown[-600:]] if found else []


def sweep(folder: Path, seed: int = 0) -> dict[str, list[str]]:
    """Run each command under its fault; return what is wrong, by the name of the fault."""
    prepared(folder)
    return {fault.name: problems(fault, folder) for fault in faults(seed)}


def main() -> int:
    """Run, and print the outcome."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = sweep(Path(folder), args.seed)
    for name, parts in found.items():
        print(f"{name:<42} {'; '.join(parts) or 'named'}")
    wrong = sum(map(bool, found.values()))
    print(f"{len(found)} faults, {wrong} not ended well")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
