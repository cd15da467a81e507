"""Link prediction by `hybrid` beside its parts and their unions: MRR, area under precision and recall, calibration.

    OMP_NUM_THREADS=1 python benchmarks/hybrid.py --rules FOLDER --embedding FOLDER [--data codex-m] [--test 2000]
    OMP_NUM_THREADS=1 python benchmarks/hybrid.py --rules FOLDER --embedding FOLDER --development

FOLDER/DATA holds rules and an embedding that were learnt from `train.txt`; `frequency` needs nothing. `hybrid` learns
from the validation facts, and all are asked for both ends of test facts. `--development` learns from one half of the
validation facts and asks for the other, to choose settings.

MRR: filtered, of the first 100 completions of each pattern; what is not among them counts as 0. Area: average precision
of the first ten completions of all patterns by confidence, where what is not found counts as missed; true facts of
other parts are left out. ECE of the same completions. Differences are paired: of MRR over facts, of the area over
patterns drawn again 1,000 times.
"""

from __future__ import annotations

import argparse
import json
import logging
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
import completion
import numpy as np
import numpy.typing as npt
from common import lacking
from srtk_plugin_evaluation import calibration_error, paired

from srtk_framework.host import load
from srtk_framework.records import place
from srtk_framework.roles import Completer, KnowledgeGraph, TrainingTask
from srtk_framework.text import read_yaml
from srtk_framework.values import Completion, Pattern, Triple, batched

BATCH = 256
MOST, DEPTH = 10, 100
DRAWS = 1000
Rows = list[tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]]


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the data sets of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", nargs="+", choices=sorted(completion.FOLDERS), default=["codex-m"])
    parser.add_argument("--rules", type=Path, help="folder with a folder of learnt rules for each data set")
    parser.add_argument("--embedding", type=Path, help="folder with a folder of a trained embedding for each data set")
    parser.add_argument("--test", type=int, help="most test facts, drawn by seed 0")
    parser.add_argument("--development", action="store_true", help="learn and ask by halves of the validation facts")
    parser.add_argument("--methods", nargs="+", choices=["isotonic", "logistic"], default=["isotonic", "logistic"])
    parser.add_argument("--set", nargs="*", default=[], metavar="NAME=VALUE", help="settings of hybrid")
    parser.add_argument("--fit", nargs="*", default=[], metavar="NAME=VALUE", help="settings of its training")
    given = parser.parse_args(arguments)
    for name in given.data:
        if missing := lacking(f"{completion.FOLDERS[name]}/test.txt"):
            print(missing, file=sys.stderr)
            continue
        data = completion.read(name, given.test)
        if given.development:
            half = [fact for fact in data.valid if place("\t".join(fact), 0) < 0.5]
            other = sorted(set(data.valid) - set(half))[: given.test]
            data = attrs.evolve(data, valid=half, test=other)
        for row in measured(name, data, given):
            print(json.dumps({"data": name, "facts": len(data.test), **row}, default=float), flush=True)
    return 0


def measured(name: str, data: completion.Data, given: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Yield the figures of each completer on a data set, and what is between `hybrid` and the others."""
    graph = load("knowledge_graph", "memory")(triples=data.train)
    graph.open()
    parts: dict[str, Completer] = {"frequency": load("completer", "frequency")(graph=graph)}
    for use, folder in (("path-rules", given.rules), ("embedding", given.embedding)):
        if folder is not None:
            parts[use] = load("completer", use)(graph=graph, path=str(folder / name))
    for part in parts.values():
        part.open()
    yield from compared(graph, parts, data, given)


def compared(
    graph: KnowledgeGraph,
    parts: dict[str, Completer],
    data: completion.Data,
    given: argparse.Namespace,
    floor: Completer | None = None,
) -> Iterator[dict[str, Any]]:
    """Yield the figures of completers, their unions and `hybrid`, and what is between `hybrid` and the others.

    Args:
        graph: The graph of the facts that are not asked for.
        parts: The completers by name, open.
        data: Facts to learn `hybrid` from, and to ask for.
        given: The flags `methods`, `set` and `fit`.
        floor: What is asked as `frequency` where that stands alone; by default the part.
    """
    asked = {use: Remembered(part) for use, part in parts.items()}
    union = load("completer", "union")
    drivers: dict[str, Any] = dict(asked)
    if floor is not None:
        drivers["frequency"] = floor
    informed = [one for use, one in asked.items() if use != "frequency"]
    drivers["union, max"] = union(completers=list(asked.values()))
    drivers["union, log-odds"] = union(completers=list(asked.values()), method="log-odds")
    if len(informed) > 1:
        drivers["union without frequency, log-odds"] = union(completers=informed, method="log-odds")
    for method in given.methods:
        begin = time.process_time()
        found, figures = trained(list(parts.values()), list(asked.values()), graph, data.valid, method, given)
        drivers[f"hybrid, {method}"] = found
        yield {"hybrid": method, "learnt in": time.process_time() - begin, **figures}
    begin = time.process_time()
    proposed, reciprocal, hit = answers(drivers, asked, data)
    for driver in drivers:
        pairs = [np.concatenate(column) for column in zip(*proposed[driver], strict=True)]
        yield {
            "completer": driver,
            "MRR": reciprocal[driver].mean(),
            "Hits@10": hit[driver].mean(),
            "area": area(proposed[driver], 2 * len(data.test)),
            "ECE": calibration_error(pairs[0].tolist(), pairs[1].tolist()),
        }
    for method in given.methods:
        mine = f"hybrid, {method}"
        for other in drivers:
            if other != mine:
                yield {
                    mine: f"over {other}",
                    "MRR": dict(paired(reciprocal[mine], reciprocal[other])),
                    "area": paired_area(proposed[mine], proposed[other], 2 * len(data.test)),
                }
    yield {"cpu_s": time.process_time() - begin}


def trained(
    parts: Sequence[Completer],
    asked: Sequence[Completer],
    graph: KnowledgeGraph,
    held: Sequence[Triple],
    method: str,
    given: argparse.Namespace,
) -> tuple[Completer, Mapping[str, float]]:
    """Train `hybrid` on held-out facts, and return it with its figures.

    Args:
        parts: The completers that it learns about.
        asked: The same, which it asks thereafter.
        graph: Their graph.
        held: The facts.
        method: As in the settings of `hybrid`.
        given: The flags `set` and `fit`.
    """
    from srtk_plugin_completers.hybrid import HybridTraining

    made = load("completer", "hybrid")(completers=list(parts), graph=graph, method=method, **_settings(given.set))
    made.open()
    # The graph may lack the facts anyway, which is worth a warning elsewhere.
    logging.disable(logging.WARNING)
    figures = made.fit(TrainingTask((), None, Path("."), 0, held), HybridTraining(**_settings(given.fit)))
    logging.disable(logging.NOTSET)
    found = attrs.evolve(made, completers=list(asked))
    found._table, found._learnt = made._table, made._learnt
    return found, figures


@attrs.define(eq=False)
class Remembered(Completer):
    """Asks a completer once what several others want to know of the same patterns.

    Attributes:
        completer: The completer.
    """

    completer: Completer
    _rows: dict[tuple[Pattern, int | None], list[Completion]] = attrs.field(init=False, factory=dict)
    _rates: dict[Pattern, dict[str, float]] = attrs.field(init=False, factory=dict)

    def forget(self) -> None:
        """Forget all answers."""
        self._rows.clear()
        self._rates.clear()

    def complete(self, patterns: Sequence[Pattern], limit: int | None) -> list[list[Completion]]:
        """Return the completions, asked for once."""
        new = [one for one in dict.fromkeys(patterns) if (one, limit) not in self._rows]
        for one, row in zip(new, self.completer.complete(new, limit) if new else [], strict=True):
            self._rows[one, limit] = list(row)
        return [self._rows[one, limit] for one in patterns]

    def rate(self, patterns: Sequence[Pattern], candidates: Sequence[Sequence[str]]) -> list[list[float]]:
        """Return the rates, of which only new ones are asked for."""
        of = [self._rates.setdefault(one, {}) for one in patterns]
        new = [[id_ for id_ in ids if id_ not in known] for known, ids in zip(of, candidates, strict=True)]
        places = [at for at, ids in enumerate(new) if ids]
        if places:
            rows = self.completer.rate([patterns[at] for at in places], [new[at] for at in places])
            for at, row in zip(places, rows, strict=True):
                of[at].update(zip(new[at], row, strict=True))
        return [[known[id_] for id_ in ids] for known, ids in zip(of, candidates, strict=True)]


Figures = dict[str, npt.NDArray[np.float64]]


def answers(
    drivers: dict[str, Completer], asked: dict[str, Remembered], data: completion.Data
) -> tuple[dict[str, Rows], Figures, Figures]:
    """Return the first completions of each pattern, and reciprocal rank and hit among ten of each fact."""
    table, right = data.known, set(data.test)
    known = frozenset(table.named(table.triples))
    places: dict[Pattern, list[tuple[int, int]]] = {}
    for at, (subject, relation, object_) in enumerate(data.test):
        places.setdefault(Pattern(subject, relation), []).append((at, 0))
        places.setdefault(Pattern(None, relation, object_), []).append((at, 1))
    proposed: dict[str, Rows] = {driver: [] for driver in drivers}
    reciprocal = {driver: np.zeros((len(data.test), 2)) for driver in drivers}
    hit = {driver: np.zeros((len(data.test), 2)) for driver in drivers}
    for batch in batched(list(places), BATCH):
        for driver, completer in drivers.items():
            for pattern, row in zip(batch, completer.complete(batch, DEPTH), strict=True):
                # Other true facts are no competitors, and facts of other parts no questions here.
                kept = [one for one in row[:MOST] if one.triple in right or one.triple not in known]
                sure = np.array([one.confidence for one in kept], dtype=np.float64)
                proposed[driver].append((sure, np.array([one.triple in right for one in kept], dtype=bool)))
                wrong = [one.triple not in known for one in row]
                before = np.cumsum(wrong) - wrong
                ranks = {one.triple: 1 + int(count) for one, count in zip(row, before, strict=True)}
                for at, end in places[pattern]:
                    rank = ranks.get(data.test[at])
                    reciprocal[driver][at, end] = 0.0 if rank is None else 1 / rank
                    hit[driver][at, end] = rank is not None and rank <= 10
        for one in asked.values():
            one.forget()
    return proposed, {d: r.mean(axis=1) for d, r in reciprocal.items()}, {d: r.mean(axis=1) for d, r in hit.items()}


def area(rows: Rows, facts: int, weights: npt.NDArray[np.float64] | None = None) -> float:
    """Return average precision: the area under precision and recall, equal confidences as one step."""
    counts = np.ones(len(rows)) if weights is None else weights
    sure, good = np.concatenate([row[0] for row in rows]), np.concatenate([row[1] for row in rows])
    weight = np.repeat(counts, [len(row[0]) for row in rows])
    order = np.argsort(-sure, kind="stable")
    ends = np.flatnonzero(np.append(np.diff(sure[order]) != 0, True))
    found = np.cumsum((weight * good)[order])[ends]
    told = np.cumsum(weight[order])[ends]
    gained = np.diff(found, prepend=0.0)
    return float((gained * found / np.maximum(told, 1e-9)).sum() / facts)


def paired_area(mine: Rows, others: Rows, facts: int) -> dict[str, float]:
    """Return the difference of two areas, its interval of 95 % and p, by a bootstrap over patterns."""
    random = np.random.default_rng(0)
    differences = []
    for _ in range(DRAWS):
        weights = random.multinomial(len(mine), np.full(len(mine), 1 / len(mine))).astype(np.float64)
        differences.append(area(mine, facts, weights) - area(others, facts, weights))
    low, high = np.quantile(differences, [0.025, 0.975])
    below = np.mean(np.array(differences) <= 0)
    p = 2 * min(max(below, 1 / DRAWS), max(1 - below, 1 / DRAWS))
    return {"difference": area(mine, facts) - area(others, facts), "low": low, "high": high, "p": min(p, 1.0)}


def _settings(pairs: Sequence[str]) -> dict[str, Any]:
    return {name: read_yaml(value, "--set") for name, _, value in (pair.partition("=") for pair in pairs)}


if __name__ == "__main__":
    sys.exit(main())
