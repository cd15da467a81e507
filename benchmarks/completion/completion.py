"""Measures completers on held-out facts: link prediction, and how well their confidences are calibrated.

    python -m benchmarks.completion.completion rank [--data codex-m ...] [--completer frequency] [--set ...]
    python -m benchmarks.completion.completion calibrate [--data codex-m ...] [--completer frequency] [--set ...]
    python -m benchmarks.completion.completion sets [--data codex-m ...] [--completer frequency] [--set ...]
    python -m benchmarks.completion.completion negatives [--data codex-m ...] [--completer frequency] [--set ...]

`rank` opens the completer over the training facts and rates all entities for both ends of each test fact: filtered MRR
and Hits@k, where known facts of all three files are no competitors and ties count at expectation. `--test 2000` takes
that many test facts, drawn by seed 0.

`calibrate` fits `calibrated` over the completer on the validation facts. On the test facts it compares the confidences
of the first ten completions of each pattern, before and after, with what is true (ECE, Brier score). Where the data
have hard negatives, it gives the AUC of test facts against them.

`sets` measures the conformal answer sets at levels .9, .8 and .7: validation and test facts together, halved by seeds 0
to 19; cuts are learnt from one half, and the share of right entities within them is counted in the other half, overall
and for the steps without a cut of their own. Mean of the halvings. The size is the mean number of entities above the
cut, of 500 patterns. Beside it: rare steps with a cut learnt from all facts, and one cut for all steps.

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
from srtk_framework.values import Pattern, Triple, open_end

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
ALPHAS = (0.1, 0.2, 0.3)
HALVINGS = 20
LEAST = (0.5, 0.7, 0.8, 0.9, 0.95)
"""Confidences at which the precision among hard negatives is counted."""
SETS = 500
"""Patterns whose answer sets are counted, drawn by seed 0."""


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


def fitted(completer: Any, data: Data, method: str) -> tuple[Any, dict[str, float]]:
    """Fit `calibrated` on the validation facts; return it and what it counted."""
    from srtk_plugin_completers.calibrated import CalibratedCompleter, CalibrationTraining

    # The graph of the training facts lacks the others, so that hiding them changes nothing.
    made = CalibratedCompleter(completer=completer, graph=completer.graph, method=method)
    logging.disable(logging.WARNING)
    figures = dict(made.fit(TrainingTask((), None, Path("."), 0, data.valid), CalibrationTraining()))
    logging.disable(logging.NOTSET)
    return made, figures


def calibrate(completer: Any, data: Data, method: str, known: frozenset[Triple], negatives: Path) -> dict[str, Any]:
    """Fit `calibrated` on the validation facts and measure it on the test facts."""
    plain, figures = fitted(completer, data, method)
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
    return found


def answer_sets(completer: Any, data: Data, most: int | None) -> dict[str, Any]:
    """Measure conformal answer sets of validation and test facts, halved at random."""
    from srtk_plugin_completers.calibration import LEAST_FACTS, Cut, cuts_of, draw

    facts = _drawn(sorted({*data.valid, *data.test}), most)
    patterns = [Pattern(s, r) for s, r, _ in facts] + [Pattern(None, r, o) for _, r, o in facts]
    ends = [[o] for _, _, o in facts] + [[s] for s, _, _ in facts]
    steps = [open_end(pattern)[1] for pattern in patterns]
    rates: list[float] = []
    for first in range(0, len(patterns), BATCH):
        some = slice(first, first + BATCH)
        rates += [float(row[0]) for row in completer.rate(patterns[some], ends[some])]
    scores = [(rate, draw(fact)) for rate, fact in zip(rates, [*facts, *facts], strict=True)]
    chosen = np.random.default_rng(0).permutation(len(patterns))[:SETS].tolist()
    everything = [np.sort(completer.rate([patterns[i]], [data.known.entities])[0]) for i in chosen]
    found: dict[tuple[str, float], list[tuple[float, float, float, float]]] = {}
    for seed in range(HALVINGS):
        halves = np.random.default_rng(seed).permutation(len(facts))
        learnt, judged = (np.concatenate([half, half + len(facts)]).tolist() for half in np.array_split(halves, 2))
        of_step: dict[Any, list[tuple[float, float]]] = {}
        for place in learnt:
            of_step.setdefault(steps[place], []).append(scores[place])
        rare = {step for step in steps if len(of_step.get(step, ())) < LEAST_FACTS}
        for alpha in ALPHAS:
            cut, cuts = cuts_of(of_step, alpha)
            one = Cut.of([scores[place] for place in learnt], alpha)
            ways = {"rare steps apart": (cut, cuts), "rare steps by all": (one, cuts), "one cut": (one, {})}
            for name, (common, own) in ways.items():
                of = [own.get(steps[place], common) for place in judged]
                pairs = [(scores[place], one_) for place, one_ in zip(judged, of, strict=True)]
                kept = np.array([(rate, -number) >= (at.rate, -at.draw) for (rate, number), at in pairs])
                seldom = np.array([steps[place] in rare for place in judged])
                sizes = [_set_size(row, own.get(steps[i], common)) for i, row in zip(chosen, everything, strict=True)]
                of_rare = [size for i, size in zip(chosen, sizes, strict=True) if steps[i] in rare]
                figures = (kept.mean(), kept[seldom].mean(), np.mean(sizes), np.mean(of_rare))
                found.setdefault((name, round(1 - alpha, 1)), []).append(figures)
    parts = ("overall", "rare", "size", "size, rare")
    return {
        f"{name}, {level}": dict(zip(parts, np.mean(rows, axis=0), strict=True))
        for (name, level), rows in found.items()
    }


def _set_size(rates: Any, cut: Any) -> float:
    """Count the entities of increasing rates within a cut; of the tied ones the expected number, as draws are even."""
    lower, upper = np.searchsorted(rates, cut.rate, "left"), np.searchsorted(rates, cut.rate, "right")
    return float(len(rates) - upper + (upper - lower) * cut.draw)


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
    plain, figures = fitted(completer, data, method)
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
    parser.add_argument("part", choices=["rank", "calibrate", "sets", "negatives"])
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
        data = read(name, None if given.part == "sets" else given.test)
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
            elif given.part == "sets":
                figures = answer_sets(completer, data, given.test)
            else:
                known = frozenset(data.known.named(data.known.triples))
                figures = calibrate(completer, data, given.method, known, negatives_of(name))
        spent = {"opened": ready - begin, "rated": time.perf_counter() - ready}
        shown = {"data": name, "completer": given.completer, "facts": len(data.test), "seconds": spent, **figures}
        print(json.dumps(shown, default=float), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
