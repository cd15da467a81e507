"""Shared parts of the benchmarks: data folder, `srtk` in its own process, results."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Hashable, Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import attrs

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("SRTK_DATA", ROOT / "../shared/data")).resolve()
OUT = ROOT / "build/bench"

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


@attrs.frozen
class Result:
    """The outcome of one benchmark.

    Attributes:
        name: Name of the benchmark.
        command: Command that produces the figures, run in the root of the repository.
        figures: Name to number, text, or a nested report.
        skipped: Reason for skipping it, or None.
        failed: Reason for its failure, or None.
    """

    name: str
    command: str = ""
    figures: dict[str, Any] = attrs.field(factory=dict)
    skipped: str | None = None
    failed: str | None = None


def cached_values(known: dict[K, V], keys: Sequence[K], compute: Callable[[list[K]], Iterable[V]]) -> list[V]:
    """Return values from memory; compute all missing ones in one call and remember them."""
    new = [one for one in dict.fromkeys(keys) if one not in known]
    if new:
        known.update(zip(new, compute(new), strict=True))
    return [known[one] for one in keys]


def lacking(*names: str) -> str | None:
    """Name the missing files of the data folder; None if all exist."""
    missing = [name for name in names if not (DATA / name).exists()]
    if not missing:
        return None
    return f"no {', '.join(missing)} in the data folder; name another one by the environment variable SRTK_DATA"


def run(command: Sequence[str]) -> tuple[str, str | None]:
    """Run a command in the root of the repository; return its output, and the last line of its errors if it failed."""
    environment = {**os.environ, "SRTK_DATA": str(DATA), "PYTHONHASHSEED": "0"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return done.stdout, None
    words = done.stderr.strip().splitlines() or done.stdout.strip().splitlines() or ["no output"]
    return done.stdout, f"exit code {done.returncode}: {words[-1]}"


def srtk(*arguments: str) -> tuple[str, str | None]:
    """Run the command `srtk` of this environment."""
    return run([str(Path(sys.executable).with_name("srtk")), *arguments])


def read_json(path: Path) -> Any:
    """Read a JSON file."""
    return json.loads(path.read_text(encoding="utf-8"))


def codex_relations(folder: Path) -> Path:
    """Write the labels of CoDEx's relations as a table, if it is not there; an unchanged file keeps its graph."""
    relations = read_json(DATA / "codex/relations/en/relations.json")
    rows = "".join(f"{name}\t{entry['label']}\n" for name, entry in sorted(relations.items()))
    file = folder / "codex-relations.tsv"
    if not file.exists() or file.read_text(encoding="utf-8") != rows:
        file.write_text(rows, encoding="utf-8")
    return file


def shown(path: Path) -> str:
    """Return a path relative to the root of the repository if it is inside."""
    return os.path.relpath(path, ROOT) if path.is_relative_to(ROOT) else str(path)


def print_outcome(result: Result) -> None:
    """Print one line on the outcome of a benchmark."""
    if result.skipped:
        print(f"{result.name}: skipped, {result.skipped}", flush=True)
    elif result.failed:
        print(f"{result.name}: FAILED, {result.failed}", flush=True)
    else:
        print(f"{result.name}: done", flush=True)
