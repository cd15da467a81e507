"""Probabilities of the reader `paths`: fit them on some graphs, and measure them on graphs that they never saw.

    make demo
    OMP_NUM_THREADS=1 python -m benchmarks.answers.probability [--only NAME ...] [--fit]

A logistic model over `Evidence.features`, in which each graph counts the same; an answer is right if it is the gold
answer as a whole, and refusals are left out. Public sets and their halves are those of `choice.py`; *kinds* are the
demo's questions by kind (seeds 11 and 12 to fit), *tables* the questions `certainty`, *own tables* those of
`own_tables` and `whole_road`, *unseen* those in `fresh/`.

- *left out*: fitted on the other graphs.
- *shipped*: fitted on the sets in `SHIPPED`, whose licences allow it: the weights in `certainty.py`, which are printed.
- *constant*: the share of right answers on the other graphs, for all.
- *own*: *left out* with its bias and its slope fitted to 50 own answers of the half for choosing, in turn.

ECE has ten bins. `--fit` asks nothing, and reads what is kept in build/bench/probability.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize
from srtk_plugin_answers.certainty import Evidence
from srtk_plugin_answers.reader import PathsReader
from srtk_plugin_evaluation import answer_scores, auc, calibration_error

from benchmarks.answers import choice, measure
from benchmarks.answers.exact_match import is_exact
from benchmarks.answers.public_sets import CASES, asked, opened
from benchmarks.answers.twenty_lines import gold_answer
from benchmarks.common import OUT, read_json
from benchmarks.search import depths
from srtk_framework import Retriever
from srtk_framework.values import Question

Floats = npt.NDArray[np.float64]
Set = tuple[Floats, Floats]
"""Features of answers, and whether each is right."""

FOLDER = OUT / "probability"
NAMES = tuple(Evidence().features)
WRITTEN = {
    "kinds": {"choose": (("demo", 11), ("demo", 12)), "report": (("demo", None),)},
    "tables": {"choose": (("certainty", None),)},
    "own tables": {"report": (("own_tables", None), ("whole_road", None))},
    "unseen": {"report": (("fresh/by_kind", None), ("fresh/own_tables", None), ("fresh/whole_road", None))},
}
GRAPHS = {**choice.GRAPHS, "kinds": ("kinds",), "tables": ("tables", "own tables", "unseen")}
SHIPPED = (*choice.SHIPPED, "kinds", "tables")
RIDGE = 0.01
OWN = 50
LEVELS = (0.9, 0.7, 0.5)
_seen: dict[str, Evidence] = {}
_evidence = PathsReader._evidence


def _kept(self: PathsReader, question: Question, *rest: Any) -> Evidence:
    _seen[question.id] = found = _evidence(self, question, *rest)
    return found


def public(name: str, half: str) -> list[Any]:
    """Ask the questions of a half; return features and rightness of the answers."""
    case = choice.halves(name)[half]
    if missing := depths.prepare(choice.OTHER.get(name, name) if half == "choose" else name, case):
        print(f"{name}: skipped: {missing}", file=sys.stderr)
        return []
    with opened(case) as session:
        found = session.labelled(session.retrieve(asked(session, case)))
    right = {
        one.question.id: answer_scores(one)["answer_equal"]
        for one in found
        if one.answer is not None and one.answer.enough and one.error is None
    }
    return [[list(_seen[id_].features.values()), bool(value)] for id_, value in right.items() if value is not None]


def written(name: str, seed: int | None) -> list[Any]:
    """Ask a set of this folder."""
    by_graph: dict[tuple[str, ...], list[dict[str, Any]]] = defaultdict(list)
    for row in measure._questions(name, seed):
        by_graph[tuple(row.get("files", [measure.WORLD]))].append(row)
    rows = []
    for files, some in by_graph.items():
        with Retriever(measure._graph(files), reader={"use": "paths"}) as retriever:
            results = retriever.ask_all([Question(row["id"], row["question"]) for row in some])
        for row, result in zip(some, results, strict=True):
            record = result.to_record()
            answer, gold = measure._said(record.get("answer")), gold_answer(row)
            if answer is not None:
                right = is_exact(measure._by_name(answer, record, gold), gold)
                rows.append([list(_seen[row["id"]].features.values()), bool(right)])
    return rows


def fit(sets: Iterable[tuple[str, Set]]) -> tuple[Floats, float]:
    """Fit the weights, and the share of right answers; each graph counts the same."""
    some = [(name, one) for name, one in sets if len(one[1])]
    of_graph = {name: sum(other in row for other, _ in some) for row in GRAPHS.values() for name in row}
    counts = np.concatenate([np.full(len(right), 1 / len(right) / of_graph[name]) for name, (_, right) in some])
    counts /= counts.sum()
    rows, right = (np.concatenate([one[part] for _, one in some]) for part in (0, 1))
    return _logistic(rows, right, counts, np.zeros(rows.shape[1])), float(counts @ right)


def _logistic(rows: Floats, right: Floats, counts: Floats, centre: Floats) -> Floats:
    scale = rows.std(axis=0)
    scale[scale < 1e-9] = 1.0
    scaled, free = rows / scale, np.array([0.0, *[RIDGE] * (rows.shape[1] - 1)])

    def loss(weights: Floats) -> tuple[float, Floats]:
        values, away = scaled @ weights, weights - centre * scale
        each = np.logaddexp(0, values) - right * values
        slope = scaled.T @ (counts * (1 / (1 + np.exp(-values)) - right))
        return float(counts @ each + free @ away**2 / 2), slope + free * away

    found: Floats = minimize(loss, centre * scale, jac=True, method="L-BFGS-B").x / scale
    return found


def probabilities(rows: Floats, weights: Floats) -> Floats:
    """Return the probability of each answer."""
    found: Floats = 1 / (1 + np.exp(-rows @ weights))
    return found


def own(mine: Set, held: Set, weights: Floats) -> Floats:
    """Return the probabilities of held-out answers after bias and slope were fitted to the first own answers."""
    values = [np.stack([np.ones(len(rows)), rows @ weights], axis=1) for rows in (mine[0][:OWN], held[0])]
    fitted = _logistic(values[0], mine[1][:OWN], np.full(len(values[0]), 1 / len(values[0])), np.array([0.0, 1.0]))
    return probabilities(values[1], fitted)


def report(choose: Mapping[str, Set], held: Mapping[str, Set]) -> list[str]:
    """Return the table."""
    levels = " | ".join(f"at least {level}: right" for level in LEVELS)
    head = f"| set | answers | right | ECE left out | shipped | constant | own | AUC left out | shipped | {levels} |"
    lines = [head, "|---|" + "--:|" * (head.count("|") - 2)]
    shipped, _ = fit((name, one) for name, one in choose.items() if name in SHIPPED)
    print(json.dumps(dict(zip(NAMES, (round(float(weight), 2) for weight in shipped), strict=True))))
    sums = []
    for names in GRAPHS.values():
        weights, share = fit((name, one) for name, one in choose.items() if name not in names)
        for name in names:
            if name not in held:
                continue
            rows, right = held[name]
            both = [probabilities(rows, some) for some in (weights, shipped)]
            errors = [calibration_error(some, right) for some in (*both, np.full(len(right), share))]
            errors.append(
                calibration_error(own(choose[name], held[name], weights), right) if name in choose else np.nan
            )
            areas = [auc(some, right) if 0 < right.sum() < len(right) else np.nan for some in both]
            sums.append([*errors, *areas])
            said = [_said_of(both[1] >= level, right) for level in LEVELS]
            cells = [f"{value:.2f}" if np.isfinite(value) else "" for value in (*errors, *areas)]
            lines.append(f"| {name} | {len(right)} | {right.mean():.2f} | {' | '.join([*cells, *said])} |")
    lines.append(f"| mean | | | {' | '.join(f'{value:.2f}' for value in np.nanmean(sums, axis=0))} | | | |")
    return lines


def _said_of(chosen: npt.NDArray[np.bool_], right: Floats) -> str:
    return f"{chosen.mean():.2f}: {right[chosen].mean():.2f}" if chosen.any() else "0"


def main() -> int:
    """Ask, fit and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = [*CASES, *WRITTEN]
    parser.add_argument("--only", nargs="*", choices=names, default=names, help="sets to ask")
    parser.add_argument("--fit", action="store_true", help="ask nothing, and use what is there")
    args = parser.parse_args()
    PathsReader._evidence = _kept  # type: ignore[method-assign]
    FOLDER.mkdir(parents=True, exist_ok=True)
    found: dict[str, dict[str, Set]] = {"choose": {}, "report": {}}
    for half, sets in found.items():
        for name in names:
            file = FOLDER / f"{name}-{half}.json"
            parts: Sequence[tuple[str, int | None]] = WRITTEN.get(name, {}).get(half, ())
            if not args.fit and name in args.only and (parts or name in CASES):
                rows = [row for part in parts for row in written(*part)] or public(name, half)
                file.write_text(json.dumps(rows) + "\n", encoding="utf-8")
                print(f"{name}, {half}: {len(rows)} answers", file=sys.stderr, flush=True)
            if file.is_file() and (kept := read_json(file)):
                sets[name] = np.array([row for row, _ in kept]), np.array([float(right) for _, right in kept])
    if missing := choice.sets_lacking(found["choose"], SHIPPED, GRAPHS):
        print(missing, file=sys.stderr)
        return 1
    print("\n".join(report(found["choose"], found["report"])))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
