"""NELL-995: six relations whose candidate pairs are ranked by completers; mean average precision.

    OMP_NUM_THREADS=1 python -m benchmarks.path_patterns.nell995
    OMP_NUM_THREADS=1 python -m benchmarks.path_patterns.nell995 --development --fit paths=100 --fit regulariser=3

The graph is `train.txt`, in which no test pair is joined by its relation. A query is a head with the candidates that
its task lists; its average precision is the mean over all orders of candidates with equal scores. Queries whose
candidates are all right count 1 for every method, so that the mean is also given over queries with a wrong candidate,
and over those whose head the graph lacks, about which nothing but the frequency of the tails is known.

`--development` leaves the test pairs alone: a fifth of each relation's triples is held out, and ranked among ten other
entities that fill the relation or another one. Settings are chosen there.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
from srtk_plugin_baselines.frequency import FrequencyCompleter
from srtk_plugin_evaluation import candidate_precision
from srtk_plugin_local.memory import MemoryGraph
from srtk_plugin_patterns.walk_completer import PathWalkCompleter, PathWalkFitSettings

from benchmarks.common import DATA, lacking
from srtk_framework.roles import TrainingTask
from srtk_framework.text import read_yaml
from srtk_framework.values import Pattern, Triple

FOLDER = "nell995"
Queries = dict[str, list[tuple[str, bool]]]
DRAWS = 10_000
"""Resampled means of the paired test."""


def main() -> int:
    """Rank, and print a line for each task and completer."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--development", action="store_true", help="rank held-out training facts")
    arguments.add_argument("--fit", action="append", default=[], metavar="NAME=VALUE", help="setting of the training")
    arguments.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="setting of path-walk")
    given = arguments.parse_args()
    if missing := lacking(f"{FOLDER}/train.txt"):
        print(missing, file=sys.stderr)
        return 0
    graph = [Triple(*line.split("\t")) for line in _lines(DATA / FOLDER / "train.txt")]
    tasks = {folder.name: read(folder) for folder in sorted((DATA / FOLDER / "tasks").iterdir())}
    relations = tuple(f"concept:{name}" for name in tasks)
    if given.development:
        graph, tasks = development(graph, list(tasks))
    fit = PathWalkFitSettings(**{"relations": relations, **_settings(given.fit)})
    scores: dict[str, dict[str, Any]] = defaultdict(dict)
    for name, (completer, seconds) in completers(graph, fit, _settings(given.set)).items():
        print(json.dumps({"completer": name, "cpu_s": round(seconds)}), flush=True)
        for task, queries in tasks.items():
            scores[task][name] = ranked(completer, f"concept:{task}", queries)
    report(scores, tasks, {end for s, _, o in graph for end in (s, o)})
    return 0


def read(folder: Path) -> Queries:
    """Read the candidate pairs of a task."""
    found: dict[str, dict[str, bool]] = defaultdict(dict)
    for line in _lines(folder / "sort_test.pairs"):
        pair, sign = line.rsplit(": ", 1)
        head, tail = (end.removeprefix("thing$") for end in pair.split(","))
        # 162 pairs are listed as right and as wrong; they are right.
        found[head][tail] = found[head].get(tail, False) or sign.strip() == "+"
    # Without a right candidate there is nothing to find.
    return {head: sorted(row.items()) for head, row in sorted(found.items()) if any(row.values())}


def development(graph: list[Triple], tasks: list[str]) -> tuple[list[Triple], dict[str, Queries]]:
    """Hold out a fifth of each task's triples, and draw ten wrong entities for each head."""
    random = np.random.default_rng(0)
    held: dict[str, Queries] = {}
    hidden: set[Triple] = set()
    tails = sorted({fact.object for fact in graph})
    for task in tasks:
        facts = sorted({fact for fact in graph if fact.relation == f"concept:{task}"})
        some = [facts[at] for at in sorted(random.permutation(len(facts))[: len(facts) // 5].tolist())]
        hidden.update(some)
        known = defaultdict(set)
        for fact in facts:
            known[fact.subject].add(fact.object)
        fillers = sorted({fact.object for fact in facts})
        queries: Queries = defaultdict(list)
        for fact in some:
            queries[fact.subject].append((fact.object, True))
        for head in queries:
            drawn = {fillers[at] for at in random.integers(0, len(fillers), 7).tolist()}
            drawn |= {tails[at] for at in random.integers(0, len(tails), 3).tolist()}
            queries[head] += [(tail, False) for tail in sorted(drawn - known[head])]
        held[task] = dict(queries)
    return [fact for fact in graph if fact not in hidden], held


def completers(graph: list[Triple], fit: PathWalkFitSettings, settings: dict[str, Any]) -> dict[str, tuple[Any, float]]:
    """Train the completers on a graph."""
    memory = MemoryGraph(triples=graph)
    memory.open()
    floor = FrequencyCompleter(graph=memory)
    floor.open()
    walks = PathWalkCompleter(graph=memory, **settings)
    walks.open()
    begin = time.process_time()
    walks.fit(TrainingTask((), None, Path()), fit)
    return {"frequency": (floor, 0.0), "path-walk": (walks, time.process_time() - begin)}


def ranked(completer: Any, relation: str, queries: Queries) -> Any:
    """Return the average precision of each query."""
    found = completer.rate(
        [Pattern(head, relation) for head in queries], [[tail for tail, _ in row] for row in queries.values()]
    )
    return np.array([precision(rates, row) for rates, row in zip(found, queries.values(), strict=True)])


def precision(rates: list[float], row: list[tuple[str, bool]]) -> float:
    """Return the average precision of the candidates of a query, which has a right one."""
    found = candidate_precision(rates, [right for _, right in row])
    assert found is not None
    return found


def report(scores: dict[str, dict[str, Any]], tasks: dict[str, Queries], known: set[str]) -> None:
    """Print the means of each task, and over the tasks."""
    rows = []
    for task, queries in tasks.items():
        mixed = np.array([not all(right for _, right in row) for row in queries.values()])
        seen = np.array([head in known for head in queries])
        random = np.array([precision([0.0] * len(row), row) for row in queries.values()])
        row: dict[str, Any] = {"task": task, "queries": len(queries), "with negatives": int(mixed.sum())}
        for name, values in {"random": random, **scores[task]}.items():
            parts = {"all": values, "with negatives": values[mixed], "head unknown": values[mixed & ~seen]}
            row[name] = {part: round(float(some.mean()), 4) if len(some) else None for part, some in parts.items()}
        gain = (scores[task]["path-walk"] - scores[task]["frequency"])[mixed]
        drawn = np.random.default_rng(0).integers(0, len(gain), (DRAWS, len(gain)))
        below = float((gain[drawn].mean(axis=1) <= 0).mean())
        row["p (two-sided bootstrap)"] = round(min(2 * min(below, 1 - below), 1.0), 4)
        rows.append(row)
        print(json.dumps(row), flush=True)
    for name in ("random", "frequency", "path-walk"):
        means = {
            part: round(float(np.mean([row[name][part] for row in rows])), 4) for part in ("all", "with negatives")
        }
        print(json.dumps({"mean over tasks": name, **means}))


def _lines(file: Path) -> list[str]:
    return [line for line in file.read_text(encoding="utf-8").splitlines() if line]


def _settings(given: list[str]) -> dict[str, Any]:
    return {name: read_yaml(value, "a flag") for name, _, value in (one.partition("=") for one in given)}


if __name__ == "__main__":
    sys.exit(main())
