"""Link prediction by `path-rules` beside `frequency`, an embedding and their union: filtered MRR and Hits@10.

    python -m benchmarks.completion.rules [--data fb15k237 ...] [--fit length=3 ...] [--embedding FOLDER] [--test 2000]

Rules are learnt from `train.txt`, and rank both ends of the test facts among all entities, filtered by the facts of all
three files, ties at expectation. Twins count, as in published rules; `--fit twins=0.6` holds them out. `--valid` ranks
validation facts in place of test facts, to choose settings. Where FOLDER/DATA holds a trained embedding, it is ranked
too, and `union` with `method: log-odds` of both: with a paired test of its reciprocal ranks against those of each, over
facts, each of which counts with the mean of its ends. One thread where OMP_NUM_THREADS=1. The learnt rules are kept in
build/bench/rules/DATA.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from srtk_plugin_evaluation import filtered_ranks, hits, paired, reciprocal_ranks

from benchmarks.common import OUT, lacking
from benchmarks.completion import completion
from srtk_framework.host import load
from srtk_framework.roles import TrainingTask
from srtk_framework.text import read_yaml
from srtk_framework.values import Pattern

FITS: dict[str, dict[str, Any]] = {
    "fb15k237": {"length": 2},
    "codex-m": {"length": 2},
    "wn18rr": {"least_confidence": 0.01},
    "kinship": {},
    "umls": {},
}
"""Settings of learning, chosen on validation facts."""

BATCH = 128


def ranks(completer: Any, data: completion.Data) -> dict[str, Any]:
    """Return reciprocal rank and hit among ten, [facts, ends]."""
    table, rows = data.known, data.known.numbers(data.test)
    found = {"MRR": np.zeros((len(rows), 2)), "Hits@10": np.zeros((len(rows), 2))}
    for inverse in (False, True):
        start, right = (rows[:, 2], rows[:, 0]) if inverse else (rows[:, 0], rows[:, 2])
        order = np.lexsort((start, rows[:, 1]))
        for first in range(0, len(order), BATCH):
            places = order[first : first + BATCH]
            patterns = [
                Pattern(None, fact.relation, fact.object) if inverse else Pattern(fact.subject, fact.relation)
                for fact in (data.test[place] for place in places.tolist())
            ]
            scores = np.array(completer.rate(patterns, [table.entities] * len(patterns)))
            known = [table.fillers(int(start[p]), int(rows[p, 1]), inverse) for p in places.tolist()]
            places_of = filtered_ranks(scores, right[places], known)
            found["MRR"][places, int(inverse)] = reciprocal_ranks(places_of)
            found["Hits@10"][places, int(inverse)] = hits(places_of, 10)
    return found


def measured(name: str, data: completion.Data, fit: dict[str, Any], embedding: Path | None) -> Iterator[dict[str, Any]]:
    """Yield the figures of each completer."""
    graph = load("knowledge_graph", "memory")(triples=data.train)
    graph.open()
    rules = load("completer", "path-rules")(graph=graph, aggregation=fit.pop("aggregation", "max"))
    rules.open()
    begin = time.process_time()
    from srtk_plugin_patterns.rule_learner import RuleFitSettings

    figures = rules.fit(TrainingTask([], None, OUT / "rules" / name), RuleFitSettings(**fit))
    learnt = time.process_time() - begin
    rules.save(OUT / "rules" / name)
    drivers: dict[str, Any] = {"frequency": load("completer", "frequency")(graph=graph), "path-rules": rules}
    drivers["frequency"].open()
    if embedding is not None and (embedding / name).is_dir():
        drivers["embedding"] = load("completer", "embedding")(graph=graph, path=str(embedding / name))
        drivers["embedding"].open()
        drivers["union"] = load("completer", "union")(completers=[rules, drivers["embedding"]], method="log-odds")
    rows = {}
    for driver, completer in drivers.items():
        begin = time.process_time()
        rows[driver] = ranks(completer, data)
        shown = {metric: row.mean() for metric, row in rows[driver].items()}
        shown |= {f"MRR {end}": rows[driver]["MRR"][:, at].mean() for at, end in enumerate(("object", "subject"))}
        if driver == "path-rules":
            shown |= {"learnt in": learnt, "MiB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024, **figures}
        if driver == "union":
            for other in ("path-rules", "embedding"):
                difference = paired(rows["union"]["MRR"].mean(axis=1), rows[other]["MRR"].mean(axis=1))
                shown[f"over {other}"] = difference
        yield {"completer": driver, "rated in": time.process_time() - begin, **shown}


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the data sets of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", nargs="+", choices=sorted(FITS), default=list(FITS))
    parser.add_argument("--fit", nargs="*", default=[], metavar="NAME=VALUE", help="settings of learning")
    parser.add_argument("--embedding", type=Path, help="folder with a folder of a trained embedding for each data set")
    parser.add_argument("--test", type=int, help="most test facts, drawn by seed 0")
    parser.add_argument("--valid", action="store_true", help="rank validation facts")
    given = parser.parse_args(arguments)
    settings = {name: read_yaml(value, "--fit") for name, _, value in (one.partition("=") for one in given.fit)}
    for name in given.data:
        if missing := lacking(f"{completion.FOLDERS[name]}/test.txt"):
            print(missing, file=sys.stderr)
            continue
        data = completion.read(name, given.test, "valid" if given.valid else "test")
        for row in measured(name, data, {"twins": None, **FITS[name], **settings}, given.embedding):
            print(json.dumps({"data": name, "facts": len(data.test), **row}, default=float), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
