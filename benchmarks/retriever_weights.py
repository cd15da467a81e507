"""Weights of vectors in a union with `beam`, and what may tell per question when vectors help.

    OMP_NUM_THREADS=1 python benchmarks/retrievers.py --only mintaka cwq lcquad --meaning
    python benchmarks/retriever_weights.py

Reads what the first command keeps of each question. Halves are drawn by a hash of the ids. A weight for all questions,
and a signal with a bound, up to which a question has that weight and above which it has the default one, are chosen
on one half of Mintaka and of ComplexWebQuestions, linked from the text, by the mean of coverage and recall over both
sets; they are measured on the other half of each, and on LC-QuAD. Differences less `beam` are paired, with intervals of
95 % and p by random sign changes, corrected after Holm over those of a table.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from common import read_json
from retrievers import EQUAL, FOLDER, FURTHER
from srtk_plugin_evaluation import holm, paired

from srtk_framework.records import place

Kept = Mapping[str, Any]
Rule = Callable[[Kept], str]
"""Names the method that a question gets."""

CHOSEN_ON = ("mintaka", "cwq")
REPORTED = ("mintaka", "cwq", "lcquad")
DEFAULT = "union, meaning"
WEIGHTS = {0.2: DEFAULT, 1.0: f"{EQUAL}, meaning"} | {weight: f"meaning, {weight}" for weight in FURTHER}
METRICS = ("answer_coverage", "answer_recall")


def signals(one: Kept) -> dict[str, float]:
    """Return what may tell whether vectors help: low values say so."""
    linked = [entity for entity, _ in one["links"]]
    near = [entity for entity, _ in one["hits"]]
    return {
        "number of links": float(len(linked)),
        "lowest score of a link": min((score for _, score in one["links"]), default=0.0),
        "highest score of a link": max((score for _, score in one["links"]), default=0.0),
        "expected recall of the beam": one["expected_recall"] or 0.0,
        "triples of the beam": one["methods"]["beam"]["triples"],
        "nearest entries that are linked": float(len(set(linked) & set(near))),
        "unlikeness of the nearest entry": -max((score for _, score in one["hits"]), default=0.0),
    }


def fixed(weight: float) -> Rule:
    """Give all questions one weight."""
    return lambda one: WEIGHTS[weight]


def guarded(signal: str, bound: float, weight: float) -> Rule:
    """Give a weight to the questions whose signal is at most the bound, and the default one to the others."""
    return lambda one: WEIGHTS[weight] if signals(one)[signal] <= bound else DEFAULT


def values(rows: Sequence[Kept], rule: Rule, metric: str) -> list[float]:
    """Return a metric of each question under a rule."""
    return [one["methods"][rule(one)][metric] for one in rows]


def worth(sets: Sequence[Sequence[Kept]], rule: Rule) -> float:
    """Return the mean of coverage and recall over sets."""
    means = [sum(values(rows, rule, metric)) / len(rows) for rows in sets for metric in METRICS]
    return round(sum(means) / len(means), 9)


def bounds(sets: Sequence[Sequence[Kept]], signal: str) -> list[float]:
    """Return up to nine bounds that part the questions of the sets."""
    seen = sorted(signals(one)[signal] for rows in sets for one in rows)
    return sorted({seen[len(seen) * tenth // 10] for tenth in range(1, 10)})


def halves(rows: Sequence[Kept]) -> tuple[list[Kept], list[Kept]]:
    """Part questions by a hash of their ids."""
    first = [one for one in rows if place(one["id"], 0) < 0.5]
    return first, [one for one in rows if place(one["id"], 0) >= 0.5]


def chosen(sets: Sequence[Sequence[Kept]]) -> dict[str, Rule]:
    """Choose a weight, and a signal with its bound and weight; print what each is worth."""
    rules: dict[str, Rule] = {f"weight {weight}": fixed(weight) for weight in sorted(WEIGHTS)}
    guards: dict[str, Rule] = {}
    for signal in signals(sets[0][0]):
        some = {
            f"{signal} up to {bound:.3f}: weight {weight}": guarded(signal, bound, weight)
            for bound in bounds(sets, signal)
            for weight in sorted(WEIGHTS)
        }
        best = max(some, key=lambda name: worth(sets, some[name]))
        guards[best] = some[best]
    print("| to choose on | coverage and recall |\n|---|--:|")
    print(f"| beam | {worth(sets, lambda one: 'beam'):.4f} |")
    for name, rule in {**rules, **guards}.items():
        print(f"| {name} | {worth(sets, rule):.4f} |")
    best = [max(some, key=lambda name: worth(sets, some[name])) for some in (rules, guards)]
    return {"weight 0.2": rules["weight 0.2"], **{name: {**rules, **guards}[name] for name in best}}


def report(which: str, sets: Mapping[str, Sequence[Kept]], rules: Mapping[str, Rule]) -> None:
    """Print what the rules are worth on each set and on all of their questions."""
    every = {**sets, "all": [one for rows in sets.values() for one in rows]}
    tests = []
    for name, rows in every.items():
        for rule in rules:
            for metric in METRICS:
                own, beam = values(rows, rules[rule], metric), values(rows, lambda one: "beam", metric)
                tests.append((f"{name}, {len(rows)}", rule, metric, own, beam, paired(own, beam)))
    corrected = holm([estimate["p"] for *_, estimate in tests])
    print(f"\n| {which} | rule | metric | beam | rule | less beam | p | Holm p |\n|---|---|---|--:|--:|--:|--:|--:|")
    for (name, rule, metric, own, beam, less), p in zip(tests, corrected, strict=True):
        print(
            f"| {name} | {rule} | {metric.removeprefix('answer_')} | {sum(beam) / len(beam):.3f} |"
            f" {sum(own) / len(own):.3f} | {less['mean']:+.3f} ({less['low']:+.3f} to {less['high']:+.3f}) |"
            f" {less['p']:.3f} | {p:.3f} |"
        )


def main() -> int:
    """Print what is worth most on the half to choose on, and what it is worth on other questions."""
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    linked = {name: read_json(FOLDER / f"{name}-linked/rows.json") for name in REPORTED}
    given = {name: read_json(FOLDER / f"{name}/rows.json") for name in REPORTED}
    rules = chosen([halves(linked[name])[0] for name in CHOSEN_ON])
    for which, sets in (("linked", linked), ("links given", given)):
        others = {name: halves(rows)[1] if name in CHOSEN_ON else rows for name, rows in sets.items()}
        report(which, others, rules)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
