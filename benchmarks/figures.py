"""Figures of benchmarks as data: `benchmarks/results/TOPIC.json`, described by `results/schema.json`.

A topic has measurements, a measurement the figures of one command. `make bench` writes what it measures here itself.
"""

from __future__ import annotations

import datetime
import json
import os
import platform
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks/results"
DECIDING = ("torch", "transformers", "onnxruntime", "numpy")
"""Packages whose versions decide numbers."""
KEPT_IN = "SRTK_BENCH_RECORDS"
"""Environment variable with the file into which a benchmark writes its records, one JSON object a line."""
_KEY = ("set", "method", "metric")


NAMES = {
    "demo": "demo",
    "demo-7": "demo",
    "lcquad": "LC-QuAD 1",
    "mintaka": "Mintaka",
    "cwq": "ComplexWebQuestions",
    "codex": "SimpleQuestions on CoDEx-M",
    "wc2014": "WorldCup2014",
    "wc-p1": "WorldCup2014, one step",
    "wc-p2": "WorldCup2014, two steps",
    **{f"pathquestion-{hops}": f"PathQuestion, {hops} hops" for hops in (2, 3)},
    **{f"metaqa-{hops}": f"MetaQA, {hops} hop{'s' * (hops > 1)}" for hops in (1, 2, 3)},
}
"""Question sets: name in the scripts to name in the records."""


def ends(estimate: Mapping[str, Any], form: str = "+.3f") -> str:
    """Write the ends of an interval; few or equal values have none."""
    if estimate["low"] is None:
        return "no interval"
    return f"{estimate['low']:{form}} to {estimate['high']:{form}}"


def half(estimate: Mapping[str, Any]) -> str:
    """Write half the width of an interval behind ±; nothing where there is none."""
    return "" if estimate["low"] is None else f" ±{(estimate['high'] - estimate['low']) / 2:.3f}"


def record_figure(
    where: str,
    method: str,
    metric: str,
    figure: float,
    n: int | None,
    interval: Sequence[float] | None = None,
    measurement: str | None = None,
) -> None:
    """Keep a figure of a running benchmark, where `make bench` asks for it; else do nothing.

    Args:
        where: Question set, files or graph.
        method: Drivers and settings, or a baseline.
        metric: What the figure says, with its unit.
        figure: The figure; shares lie between 0 and 1.
        n: Number of questions or other units.
        interval: Lower and upper end of the interval of 95 %.
        measurement: Measurement in the topic; by default that of the part of `make bench`.
    """
    file = os.environ.get(KEPT_IN)
    if not file:
        return
    kept: dict[str, Any] = {"set": where, "method": method, "metric": metric, "n": n, "figure": _rounded(figure)}
    if interval is not None:
        kept["interval"] = [_rounded(end) for end in interval]
    if measurement is not None:
        kept["measurement"] = measurement
    with open(file, "a", encoding="utf-8") as stream:
        stream.write(json.dumps(kept, ensure_ascii=False) + "\n")


def record_mean(
    where: str,
    method: str,
    metric: str,
    estimate: Mapping[str, Any],
    n: int | None,
    interval: bool = True,
    measurement: str | None = None,
) -> None:
    """Keep a mean with its interval, as the metrics give it; nothing where there is no mean."""
    if estimate["mean"] is not None:
        low, mean, high = (None if (end := estimate[key]) is None else round(end, 3) for key in ("low", "mean", "high"))
        record_figure(
            where, method, metric, mean, n, (low, high) if interval and low is not None else None, measurement
        )


def _rounded(number: float) -> float:
    """Return a number with four digits behind the point: more are noise of the machine."""
    return number if isinstance(number, int) else round(float(number), 4)


def topics(folder: Path = RESULTS) -> list[str]:
    """List the topics with figures, by name."""
    return sorted(path.stem for path in folder.glob("*.json") if path.name != "schema.json")


def load(topic: str, folder: Path = RESULTS) -> dict[str, Any]:
    """Read the file of a topic."""
    found: dict[str, Any] = json.loads((folder / f"{topic}.json").read_text(encoding="utf-8"))
    return found


def measurement(topic: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return a measurement of a topic by its id.

    Raises:
        KeyError: If the topic has none of this id.
    """
    for found in topic["measurements"]:
        if found["id"] == name:
            return dict(found)
    raise KeyError(f"{topic['topic']} has no measurement {name}")


def records(topic: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the figures of a topic, each with its command and where it comes from."""
    for found in topic["measurements"]:
        for kept in found["records"]:
            run = found["runs"][kept.get("run", 0)]
            yield {**kept, "measurement": found["id"], "command": found["command"], **run}


def write(topic: Mapping[str, Any], folder: Path = RESULTS) -> None:
    """Write the file of a topic: one line for each record and each run, so that a change shows as a line."""
    parts = []
    for found in topic["measurements"]:
        head = ",\n".join(f"   {json.dumps(key)}: {_line(found[key])}" for key in ("id", "about", "command"))
        lists = ",\n".join(f'   "{key}": [\n    {_lines(found[key])}\n   ]' for key in ("runs", "records"))
        parts.append(f"  {{\n{head},\n{lists}\n  }}")
    page = json.dumps(topic["page"], ensure_ascii=False, indent=1).replace("\n", "\n ")
    head = ",\n".join(f' "{key}": {_line(topic[key])}' for key in ("topic", "title"))
    text = f'{{\n{head},\n "page": {page},\n "measurements": [\n' + ",\n".join(parts) + "\n ]\n}\n"
    (folder / f"{topic['topic']}.json").write_text(text, encoding="utf-8")


def _line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _lines(values: Sequence[Any]) -> str:
    return ",\n    ".join(map(_line, values))


def this_run(seeds: Sequence[int] | None = None) -> dict[str, Any]:
    """Describe a run of today in this checkout; a commit with changes ends in -dirty, and without Git it is None."""
    commit = _git("rev-parse", "--short=7", "HEAD")
    if commit and _git("status", "--porcelain", "--untracked-files=no", "--", ".", ":!benchmarks/results", ":!docs"):
        commit += "-dirty"
    versions = {"python": ".".join(platform.python_version_tuple()[:2])}
    for name in DECIDING:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            continue
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    seeds = None if seeds is None else list(seeds)
    return {"commit": commit or None, "measured_at": today, "versions": versions, "seeds": seeds}


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""


def merged(
    found: Mapping[str, Any], fresh: Sequence[Mapping[str, Any]], command: str, run: Mapping[str, Any]
) -> dict[str, Any]:
    """Put fresh records into a measurement, in the place of those of the same set, method and metric.

    Others stay with the run that they are of: a benchmark on one set says nothing new of another.
    """
    runs = [dict(run)]
    new = {tuple(kept[key] for key in _KEY): dict(kept) for kept in fresh}
    laid = []
    for kept in found["records"]:
        key = tuple(kept[part] for part in _KEY)
        if key in new:
            laid.append(new.pop(key))
            continue
        old = found["runs"][kept.get("run", 0)]
        if old not in runs:
            runs.append(old)
        at = runs.index(old)
        bare = {part: value for part, value in kept.items() if part != "run"}
        laid.append({**bare, "run": at} if at else bare)
    return {**found, "command": command, "runs": runs, "records": [*laid, *new.values()]}


def merge(
    topic: str,
    name: str,
    fresh: Sequence[Mapping[str, Any]],
    command: str,
    run: Mapping[str, Any],
    folder: Path = RESULTS,
) -> None:
    """Write fresh records of a measurement into the file of its topic.

    Raises:
        KeyError: If the topic has no such measurement; what it is about must be written first.
    """
    whole = load(topic, folder)
    measurement(whole, name)
    whole["measurements"] = [
        merged(found, fresh, command, run) if found["id"] == name else found for found in whole["measurements"]
    ]
    write(whole, folder)
