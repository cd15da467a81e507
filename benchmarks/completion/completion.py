"""Measures completers on held-out facts: link prediction, and how well their confidences are calibrated.

    python -m benchmarks.completion.completion rank [--data codex-m ...] [--completer frequency] [--set ...]
    python -m benchmarks.completion.completion calibrate [--data codex-m ...] [--completer frequency] [--set ...]
    python -m benchmarks.completion.completion negatives [--data codex-m ...] [--completer frequency] [--set ...]

`rank` opens the completer over the training facts and rates all entities for both ends of each test fact: filtered MRR
and Hits@k, where known facts of all three files are no competitors and ties count at expectation. `--test 2000` takes
that many test facts, drawn by seed 0.

`calibrate` fits `calibrated` over the completer on the validation facts. On the test facts it compares the confidences
of the first ten completions of each pattern, before and after, with what is true (ECE, Brier score), and the answer
sets at alpha 0.1, cut by relation, with those of one cut for all: the share of right entities in them, and their size
among all entities, without those known to be right; of 1,000 patterns. Where the data have hard negatives, it gives the
AUC of test facts against them.

`negatives` fits `calibrated` likewise, rates the objects of test facts and of as many hard negatives, and counts, for
some confidences, how many facts have at least that one and which share of them is right. Among these facts half are
right, among completions a few in a hundred; "corrected" multiplies the odds by the ratio of both, the first of which is
counted in the validation facts and their hard negatives.
"""

from __future__ import annotations

import argparse
import json
import logging
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import attrs
import numpy as np
from srtk_plugin_evaluation import auc, brier_score, calibration_error, filtered_ranks, hits, reciprocal_ranks

from benchmarks.common import DATA, lacking
from srtk_framework.graph import TripleTable
from srtk_framework.host import load
from srtk_framework.roles import TrainingTask
from srtk_framework.text import read_yaml
from srtk_framework.values import Pattern, Triple

FOLDERS = {name: name for name in ("fb15k237", "wiki27k", "wn18rr")} | {
    f"codex-{size}": f"codex/codex-{size}" for size in "sm"
}
FOLDERS |= {name: f"small_kgs/{name}" for name in ("kinship", "umls")}
NEGATIVES = {"wiki27k": "neg"}
"""Ends of the names of files of hard negatives; elsewhere `negatives`."""
RELATION_FIRST = {"kinship"}
"""Data whose columns are relation, subject and object."""
USUAL = ["fb15k237", "codex-m", "wiki27k", "wn18rr"]
BATCH = 256
ALPHA = 0.1
LEAST = (0.5, 0.7, 0.8, 0.9, 0.95)
"""Confidences at which the precision among hard negatives is counted."""
SETS = 1000
"""Patterns whose answer sets are measured, drawn by seed 0."""


@attrs.frozen
class Data:
    """The facts of a data set.

    Attributes:
        train: Facts that the completer sees: those of `train.txt` that are not among the validation facts (Wiki27K has
            22 facts in both files).
        valid: Facts for calibration.
        test: Facts for the figures.
        known: All of them by number, with their entities and relations.
    """

    train: list[Triple]
    valid: list[Triple]
    test: list[Triple]
    known: TripleTable


def read(name: str, most: int | None, tested: str = "test") -> Data:
    """Read a data set; at most so many facts for the figures, which are those of the file ``tested``."""
    parts = {}
    for part in ("train", "valid", "test"):
        lines = (DATA / FOLDERS[name] / f"{part}.txt").read_text(encoding="utf-8").splitlines()
        rows = [line.split("\t") for line in lines if line]
        parts[part] = (
            [Triple(s, r, o) for r, s, o in rows] if name in RELATION_FIRST else [Triple(*row) for row in rows]
        )
    known = TripleTable.from_triples(fact for part in parts.values() for fact in part)
    test = _drawn(sorted(set(parts[tested])), most)
    valid = set(parts["valid"])
    return Data([fact for fact in parts["train"] if fact not in valid], parts["valid"], test, known)


@contextmanager
def opened(name: str, settings: dict[str, Any], train: Sequence[Triple]) -> Iterator[Any]:
    """Open a completer over a graph of the training facts."""
    completer = load("completer", name)(graph=load("knowledge_graph", "memory")(triples=train), **settings)
    completer.open()
    try:
        yield completer
    finally:
        completer.close()


def rank(completer: Any, data: Data) -> dict[str, Any]:
    """Rank the right entity at both ends of each test fact."""
    table, found = data.known, {}
    for end, inverse in (("object", False), ("subject", True)):
        rows = table.numbers(data.test)
        start, right = (rows[:, 2], rows[:, 0]) if inverse else (rows[:, 0], rows[:, 2])
        # Facts that share a pattern share its rates.
        order = np.lexsort((start, rows[:, 1]))
        reciprocal, hit = np.zeros(len(order)), {k: np.zeros(len(order)) for k in (1, 3, 10)}
        for first in range(0, len(order), BATCH):
            places = order[first : first + BATCH]
            patterns = [
                Pattern(None, fact.relation, fact.object) if inverse else Pattern(fact.subject, fact.relation)
                for fact in (data.test[place] for place in places.tolist())
            ]
            distinct = list(dict.fromkeys(patterns))
            rates = dict(zip(distinct, completer.rate(distinct, [table.entities] * len(distinct)), strict=True))
            scores = np.array([rates[pattern] for pattern in patterns])
            known = [table.fillers(int(start[p]), int(rows[p, 1]), inverse) for p in places.tolist()]
            ranks = filtered_ranks(scores, right[places], known)
            reciprocal[places] = reciprocal_ranks(ranks)
            for k, row in hit.items():
                row[places] = hits(ranks, k)
        found[end] = {"MRR": reciprocal.mean(), **{f"Hits@{k}": row.mean() for k, row in hit.items()}}
    both = {name: (found["object"][name] + found["subject"][name]) / 2 for name in found["object"]}
    return {"both": both, **found}


def fitted(completer: Any, data: Data, method: str) -> tuple[Any, Any, dict[str, float]]:
    """Fit `calibrated` on the validation facts; return it with answer sets and without, and what it counted."""
    from srtk_plugin_completers.calibrated import CalibratedCompleter, CalibrationTraining

    # The graph of the training facts lacks the others, so that hiding them changes nothing.
    made = CalibratedCompleter(completer=completer, graph=completer.graph, method=method, alpha=ALPHA)
    logging.disable(logging.WARNING)
    figures = dict(made.fit(TrainingTask((), None, Path("."), 0, data.valid), CalibrationTraining()))
    logging.disable(logging.NOTSET)
    plain = attrs.evolve(made, alpha=None)
    plain._learnt = attrs.evolve(made._learnt, alpha=None, cut=None, cuts={})
    return made, plain, figures


def calibrate(completer: Any, data: Data, method: str, known: frozenset[Triple], negatives: Path) -> dict[str, Any]:
    """Fit `calibrated` on the validation facts and measure it on the test facts."""
    made, plain, figures = fitted(completer, data, method)
    one_cut = attrs.evolve(made)
    one_cut._learnt = attrs.evolve(made._learnt, cuts={})
    right, test = set(data.test), {}
    for fact in data.test:
        for pattern in (Pattern(fact.subject, fact.relation), Pattern(None, fact.relation, fact.object)):
            test.setdefault(pattern, []).append(fact)
    patterns = list(test)
    found: dict[str, Any] = {"fit": figures}
    for name, driver in (("before", completer), ("after", plain)):
        # Validation facts are true as well, and no question here.
        pairs = [
            (one.confidence, one.triple in right)
            for row in driver.complete(patterns, 10)
            for one in row
            if one.triple in right or one.triple not in known
        ]
        confidences, good = zip(*pairs, strict=True)
        found[name] = {"ECE": calibration_error(confidences, good), "Brier": brier_score(confidences, good)}
    if negatives.exists():
        found["AUC"] = hard_negatives({"before": completer, "after": plain}, negatives, data.test)
    entities = data.known.entities
    for name, driver in (("sets by relation", made), ("one cut", one_cut)):
        covered, sizes = [], []
        chosen = np.random.default_rng(0).permutation(len(patterns))[:SETS]
        for place in chosen.tolist():
            pattern = patterns[place]
            inside = driver.in_sets([pattern], [entities])[0]
            kept = {pattern.filled(end) for end, is_in in zip(entities, inside, strict=True) if is_in}
            covered += [fact in kept for fact in test[pattern]]
            sizes.append(len(kept - known) + len(kept & set(test[pattern])))
        found[name] = {"covered": np.mean(covered), "mean size": np.mean(sizes), "median size": np.median(sizes)}
    return found


def hard_negatives(drivers: dict[str, Any], file: Path, right: Sequence[Triple]) -> dict[str, float]:
    """Return the AUC of true facts against plausible wrong ones, by the sum of the rates of subject and object."""
    facts = [*right, *_facts(file)]
    found = {}
    for name, driver in drivers.items():
        objects = driver.rate([Pattern(fact.subject, fact.relation) for fact in facts], [[f.object] for f in facts])
        starts = [Pattern(None, fact.relation, fact.object) for fact in facts]
        subjects = driver.rate(starts, [[fact.subject] for fact in facts])
        sums = [one[0] + other[0] for one, other in zip(objects, subjects, strict=True)]
        found[name] = auc(sums, [place < len(right) for place in range(len(facts))])
    return found


def among_negatives(completer: Any, data: Data, method: str, name: str) -> dict[str, Any]:
    """Fit `calibrated`, and count the precision at some confidences among as many hard negatives as test facts."""
    _, plain, figures = fitted(completer, data, method)
    wrong = _drawn(_facts(negatives_of(name)), len(data.test))
    facts = [*data.test, *wrong]
    right = np.arange(len(facts)) < len(data.test)
    patterns, ends = [Pattern(s, r) for s, r, _ in facts], [[o] for _, _, o in facts]
    rows = {name: np.array(one.rate(patterns, ends))[:, 0] for name, one in (("before", completer), ("after", plain))}
    files = (DATA / FOLDERS[name] / "valid.txt", negatives_of(name, "valid"))
    all_valid, all_wrong = (len(_facts(file)) for file in files)
    odds = figures["right"] / (figures["proposals"] - figures["right"])
    ratio = all_valid / all_wrong / odds
    rows["corrected"] = rows["after"] * ratio / (rows["after"] * ratio + 1 - rows["after"])
    found: dict[str, Any] = {"fit": figures, "ratio of odds": ratio, "facts": len(facts)}
    for name, row in rows.items():
        found[name] = {"ECE": calibration_error(row.tolist(), right.tolist())}
        for least in LEAST:
            some = row >= least
            found[name][str(least)] = [int(some.sum()), float(right[some].mean()) if some.any() else None]
    return found


def negatives_of(name: str, part: str = "test") -> Path:
    """Return the file of the hard negatives of a data set, which may not exist."""
    return DATA / FOLDERS[name] / f"{part}_{NEGATIVES.get(name, 'negatives')}.txt"


def _facts(file: Path) -> list[Triple]:
    return [Triple(*line.split("\t")) for line in file.read_text(encoding="utf-8").splitlines() if line]


def _drawn(facts: list[Triple], most: int | None) -> list[Triple]:
    """Return at most so many facts, drawn by seed 0."""
    if most is None or most >= len(facts):
        return facts
    chosen = np.random.default_rng(0).choice(len(facts), most, replace=False)
    return [facts[place] for place in sorted(chosen.tolist())]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a part of the benchmark and print its figures as JSON lines."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=["rank", "calibrate", "negatives"])
    parser.add_argument(
        "--data", nargs="+", choices=sorted(FOLDERS), default=["fb15k237", "codex-m", "wiki27k", "wn18rr"]
    )
    parser.add_argument("--completer", default="frequency")
    parser.add_argument("--set", nargs="*", default=[], metavar="NAME=VALUE", help="settings of the completer")
    parser.add_argument("--method", choices=["isotonic", "platt"], default="isotonic")
    parser.add_argument("--test", type=int, help="most test facts")
    parser.add_argument("--valid", type=int, help="most validation facts from which `calibrated` learns")
    given = parser.parse_args(arguments)
    settings = {name: read_yaml(value, "--set") for name, _, value in (one.partition("=") for one in given.set)}
    for name in given.data:
        if missing := lacking(f"{FOLDERS[name]}/test.txt"):
            print(missing, file=sys.stderr)
            continue
        data = read(name, given.test)
        data = attrs.evolve(data, valid=_drawn(data.valid, given.valid))
        if given.part == "negatives" and not negatives_of(name).exists():
            print(f"{name} has no hard negatives", file=sys.stderr)
            continue
        begin = time.perf_counter()
        with opened(given.completer, settings, data.train) as completer:
            ready = time.perf_counter()
            if given.part == "rank":
                figures = rank(completer, data)
            elif given.part == "negatives":
                figures = among_negatives(completer, data, given.method, name)
            else:
                known = frozenset(data.known.named(data.known.triples))
                figures = calibrate(completer, data, given.method, known, negatives_of(name))
        spent = {"opened": ready - begin, "rated": time.perf_counter() - ready}
        shown = {"data": name, "completer": given.completer, "facts": len(data.test), "seconds": spent, **figures}
        print(json.dumps(shown, default=float), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
