"""Link prediction by `embedding` beside `frequency`: filtered MRR and Hits@10 on the test facts, and the CPU time.

    .venv/bin/python -m benchmarks.completion.embedding codex/codex-s fb15k237
    .venv/bin/python -m benchmarks.completion.embedding codex/codex-s --model rotate --fit epochs=30 regulariser=0.003

Facts of `train.txt` are learnt, those of `valid.txt` stop the training, those of `test.txt` are ranked at both ends
among all entities, filtered by the facts of all three files, ties at expectation. Where a data set has hard negatives,
AUC is the chance that a test fact is rated above one of them, mean over both ends. One thread, unless --threads says
more.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from srtk_plugin_baselines.frequency import FrequencyCompleter
from srtk_plugin_embedding.completer import EmbeddingCompleter
from srtk_plugin_embedding.fit_settings import EmbeddingFitSettings
from srtk_plugin_evaluation import TiedRanks, auc, filtered_ranks, hits, reciprocal_ranks
from srtk_plugin_local.memory import MemoryGraph

from benchmarks.common import DATA, OUT
from benchmarks.completion.completion import RELATION_FIRST
from srtk_framework.graph import TripleTable
from srtk_framework.roles import Completer, TrainingTask
from srtk_framework.values import Pattern, Triple

NEGATIVES = ("test_negatives.txt", "test_neg.txt")
CHUNK = 200


def main() -> None:
    """Measure the data sets of the command line."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("data", nargs="+", help="folders of the data folder with train.txt, valid.txt, test.txt")
    arguments.add_argument("--model", default="complex")
    arguments.add_argument("--fit", nargs="*", default=[], metavar="NAME=VALUE", help="settings of the training")
    arguments.add_argument("--threads", type=int, default=1)
    arguments.add_argument("--most", type=int, default=None, help="most test facts, the first of the file")
    given = arguments.parse_args()
    torch.set_num_threads(given.threads)
    fit = EmbeddingFitSettings(**{name: json.loads(value) for name, value in (one.split("=") for one in given.fit)})
    for name in given.data:
        for row in measured(name, given.model, fit, given.most):
            print(json.dumps({"data": name, **row}), flush=True)


def measured(name: str, model: Any, fit: EmbeddingFitSettings, most: int | None) -> Iterator[dict[str, Any]]:
    """Yield the figures of `frequency`, then of `embedding`, on a data set."""
    train, valid, test = (facts(DATA / name / f"{part}.txt") for part in ("train", "valid", "test"))
    everything = TripleTable.from_triples([*train, *valid, *test])
    graph = MemoryGraph(triples=[*train, *valid])
    graph.open()
    floor = FrequencyCompleter(graph=graph)
    floor.open()
    yield {"completer": "frequency", **scored(floor, name, everything, test[:most])}
    folder = OUT / "embedding" / name.replace("/", "-") / model
    shutil.rmtree(folder, ignore_errors=True)
    completer = EmbeddingCompleter(graph=graph, model=model)
    completer.open()
    cpu, wall = time.process_time(), time.perf_counter()
    figures = completer.fit(TrainingTask([], None, folder, held_out=sorted(set(valid))), fit)
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    completer.save(folder / "model")
    print(f"{name}: {dict(figures)}", file=sys.stderr)
    spent = {"epochs": figures["epochs"], "valid_mrr": round(figures["mrr"], 4), "cpu_s": round(cpu), "s": round(wall)}
    yield {"completer": model, **spent, **scored(completer, name, everything, test[:most])}


def scored(completer: Completer, name: str, everything: TripleTable, test: Sequence[Triple]) -> dict[str, float]:
    """Rank both ends of the test facts, and rate them beside the hard negatives."""
    ends = [ranked(completer, everything, test, inverse) for inverse in (False, True)]
    both = TiedRanks(*(np.concatenate(column) for column in zip(*ends, strict=True)))
    found = {"mrr": reciprocal_ranks(both).mean(), "hits_10": hits(both, 10).mean()}
    found |= {
        f"mrr_{end}": reciprocal_ranks(rank).mean() for end, rank in zip(("object", "subject"), ends, strict=True)
    }
    for file in NEGATIVES:
        if (DATA / name / file).is_file():
            wrong = facts(DATA / name / file)[: len(test)]
            right = [True] * len(test) + [False] * len(wrong)
            found["auc"] = auc(rated(completer, [*test, *wrong]), right)
    return {key: round(float(value), 4) for key, value in found.items()}


def ranked(completer: Completer, everything: TripleTable, test: Sequence[Triple], inverse: bool) -> TiedRanks:
    """Rank one end of facts among all entities."""
    rows = everything.numbers(test)
    bound, right = (rows[:, 2], rows[:, 0]) if inverse else (rows[:, 0], rows[:, 2])
    parts = []
    for start in range(0, len(test), CHUNK):
        some = slice(start, start + CHUNK)
        patterns = [Pattern(None, r, o) if inverse else Pattern(s, r) for s, r, o in test[some]]
        ratings = np.array(completer.rate(patterns, [everything.entities] * len(patterns)), dtype=np.float64)
        known = [everything.fillers(e, r, inverse) for e, r in zip(bound[some], rows[some, 1], strict=True)]
        parts.append(filtered_ranks(ratings, right[some], known))
    return TiedRanks(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def rated(completer: Completer, some: Sequence[Triple]) -> list[float]:
    """Rate facts by the mean confidence of both ends."""
    objects = completer.rate([Pattern(s, r) for s, r, _ in some], [[o] for _, _, o in some])
    subjects = completer.rate([Pattern(None, r, o) for _, r, o in some], [[s] for s, _, _ in some])
    return [(one + other) / 2 for (one,), (other,) in zip(objects, subjects, strict=True)]


def facts(file: Path) -> list[Triple]:
    """Read the triples of a file of tab-separated lines."""
    rows = [line.rstrip("\n").split("\t") for line in file.open(encoding="utf-8")]
    if file.parent.name in RELATION_FIRST:
        rows = [[s, r, o] for r, s, o in rows]
    return [Triple(*row) for row in rows]


if __name__ == "__main__":
    main()
