"""Leaks: facts that a graph says again by an inverse or a near-duplicate, and test facts that it so gives away.

    OMP_NUM_THREADS=1 python -m benchmarks.path_patterns.twins
    OMP_NUM_THREADS=1 python -m benchmarks.path_patterns.twins --choose

Twins are found in the training facts, at three bounds of the overlap; FB15k-237 and WN18RR are the controls, from
which inverses were taken. A test fact is given away if a twin's triple of its pair is a training fact: who proposes
just that is the simplest baseline of a completer. Then the paths of a relation of WorldCup2014 that join most of its
pairs, with its twins and without them.

`--choose` hides shares of the facts of other graphs, and compares the twins that a bound finds in the rest with those
that the published bound of .8 finds in the whole: F1 over the two graphs and three seeds.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import numpy as np
from srtk_plugin_datasets.hidden_facts import hidden_facts
from srtk_plugin_patterns.mining import mine
from srtk_plugin_patterns.path_patterns import MiningSettings
from srtk_plugin_patterns.twins import OVERLAP, Ints, Twins, find_twins, with_twins

from benchmarks.common import DATA, lacking
from benchmarks.completion.completion import FOLDERS, RELATION_FIRST
from benchmarks.figures import record_figure
from srtk_framework.graph import TripleTable
from srtk_framework.values import Step, Triple

SETS = {
    "wc2014": ("WorldCup2014", "wc2014/WC2014.txt"),
    "nell995": ("NELL-995", "nell995/train.txt"),
    "kinship": ("Kinship", f"{FOLDERS['kinship']}/train.txt"),
    "umls": ("UMLS", f"{FOLDERS['umls']}/train.txt"),
    "codex-m": ("CoDEx-M", f"{FOLDERS['codex-m']}/train.txt"),
    "wiki27k": ("Wiki27K", "wiki27k/train.txt"),
    "fb15k237": ("FB15k-237", "fb15k237/train.txt"),
    "wn18rr": ("WN18RR", "wn18rr/train.txt"),
}
BOUNDS = (OVERLAP, 0.8, 0.97)
PUBLISHED = 0.8
TRIED = (0.4, 0.5, 0.55, 0.6, 0.65, 0.7, 0.8)
OTHERS = {
    "nations": tuple(f"small_kgs/nations/{part}.txt" for part in ("train", "valid", "test")),
    "countries": ("small_kgs/countries_S1/graph.txt",),
}
SHOWN = "plays_in_club"


def main() -> int:
    """Print a line of JSON for each set and bound, then the paths."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--choose", action="store_true", help="compare bounds on other graphs")
    if arguments.parse_args().choose:
        return choose()
    for name, (called, file) in SETS.items():
        if missing := lacking(file):
            print(missing, file=sys.stderr)
            continue
        train = facts(DATA / file, name in RELATION_FIRST)
        test = DATA / file.replace("train", "test")
        asked = sorted(set(facts(test, name in RELATION_FIRST)) - set(train)) if test != DATA / file else []
        table = TripleTable.from_triples([*train, *asked])
        for bound in BOUNDS:
            row = leaks(table.without(asked), table.numbers(asked).astype(np.int64), bound)
            print(json.dumps({"set": called, "twins": bound, **row}), flush=True)
            for metric, (figure, n) in row.items():
                if n:
                    record_figure(called, f"twins from {bound:g}", metric, figure, n)
        if name == "wc2014":
            paths(called, table)
    return 0


def choose() -> int:
    """Print the F1 of each bound by the share of hidden facts."""
    if missing := lacking(*(file for files in OTHERS.values() for file in files)):
        print(missing, file=sys.stderr)
        return 0
    whole = {
        name: TripleTable.from_triples(one for file in files for one in facts(DATA / file, name == "nations"))
        for name, files in OTHERS.items()
    }
    count = 3 * sum(len(named(table, PUBLISHED)) for table in whole.values())
    for share in (0.0, 0.1, 0.2, 0.3):
        found = {bound: [0, 0] for bound in TRIED}
        for table in whole.values():
            wanted = named(table, PUBLISHED)
            for seed in (0, 1, 2):
                rest = table.without(hidden_facts(table.named(table.triples), share, seed) if share else ())
                for bound in TRIED:
                    some = named(rest, bound)
                    found[bound][0] += 2 * len(some & wanted)
                    found[bound][1] += len(some) + len(wanted)
        scores = {f"{bound:g}": round(a / b, 3) for bound, (a, b) in found.items()}
        print(json.dumps({"hidden": share, **scores}))
        for bound, score in scores.items():
            record_figure(f"Nations and Countries, {share:.0%} hidden", f"twins from {bound}", "F1", score, count)
    return 0


def named(table: TripleTable, bound: float) -> set[tuple[str, Step]]:
    """Return the relations with their twins."""
    return {(name, twin.step) for name, row in find_twins(table, bound).items() for twin in row}


def facts(file: Path, relation_first: bool) -> list[Triple]:
    """Read a table of triples."""
    rows = [line.split("\t") for line in file.read_text(encoding="utf-8").splitlines() if line]
    return [Triple(s, r, o) for r, s, o in rows] if relation_first else [Triple(*row[:3]) for row in rows]


def leaks(train: TripleTable, test: Ints, bound: float) -> dict[str, tuple[int, int]]:
    """Count relations with twins, facts that a twin says again, and test facts that it gives away, each with n."""
    twins = find_twins(train, bound)
    symmetric = sum(any(twin.step.relation == name for twin in row) for name, row in twins.items())
    again = given = 0
    for name in twins:
        number = train.relation_numbers[name]
        again += len(said(train, train.of_relation(number).astype(np.int64), twins))
        given += len(said(train, test[test[:, 1] == number], twins))
    return {
        "relations with twins": (len(twins), len(train.relations)),
        "symmetric relations": (symmetric, len(train.relations)),
        "facts said again": (again, len(train.triples)),
        "test facts given away": (given, len(test)),
    }


def said(train: TripleTable, rows: Ints, twins: Twins) -> Ints:
    """Return the places of the facts of a relation that a twin's triple says again."""
    _, of = with_twins(train, rows, twins)
    return np.unique(of[len(rows) :])


def paths(called: str, table: TripleTable) -> None:
    """Print the first paths of a relation, with its twins and without."""
    for bound in (None, OVERLAP):
        found = mine(table, MiningSettings(length=3, hub=None, twins=bound)).of(SHOWN)
        for path in found.paths[:5]:
            scores = {"Score1": round(found.score1(path), 3), "Score2": round(found.score2(path), 3)}
            print(json.dumps({"relation": SHOWN, "twins": bound, "path": str(path), "pairs": path.pairs, **scores}))
            for metric, figure in scores.items():
                record_figure(f"{called}, {SHOWN}, twins {bound or 'in'}", str(path), metric, figure, found.mined)


if __name__ == "__main__":
    sys.exit(main())
