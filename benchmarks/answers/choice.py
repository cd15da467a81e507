"""Choice of the path: fit the second stage of the beam on several graphs, and measure it on graphs that it never saw.

    make demo
    OMP_NUM_THREADS=1 python -m benchmarks.answers.choice [--only NAME ...] [--fit] [--write]
    OMP_NUM_THREADS=1 python -m benchmarks.answers.choice --recall [--only NAME ...]

Each set has a half for choosing and a half for reporting (`depths.py`); links are given, and the search is that of
`srtk ask` without a choice. The paths that it returns are kept with their features and the F1 of their ends in
build/bench/choice; `--fit` searches nothing and reads what is there. A question's own entities are never right.

- *left out*: the model is fitted on the first halves of all other graphs, and chooses on the second half.
- *shipped*: on the first halves of the sets in `SHIPPED` alone, whose licences allow it; `--write` puts the weights in
  the package.
- *25, 50, 100 own*: on so many questions of the set's own first half, drawn to the weights of *left out*, as
  `train: {driver: expander}` does: what a new graph with so many questions gets. Means of five draws.

The model is a softmax over the paths of a question, fitted to those with the best F1; each graph counts the same. No
weight may have the sign that contradicts its feature (`SIGNS`), except with own questions: a weight that helps one
graph by the wrong sign hurts the next one. Questions with an operation keep the order of the search, and nothing is
fitted to them. Intervals of 95 % are over questions.

`--recall` compares the answer recall of the first 5, 10, 20 and 50 triples with the choice and without it, on the
halves for reporting, and the processor time, in turn for each batch: of the first time (*cold*) and the second.
"""

from __future__ import annotations

import argparse
import pickle
import sys
import time
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import attrs
import numpy as np
from srtk_plugin_evaluation import paired
from srtk_plugin_sr import path_choice
from srtk_plugin_sr.answer_kind import operates
from srtk_plugin_sr.choice_fit import FoundPaths, f1_of, fit_weights, own_weights
from srtk_plugin_sr.path_choice import PathRecorder
from srtk_plugin_sr.path_features import FEATURES, Floats

from benchmarks.answers.public_sets import CASES, asked, opened
from benchmarks.common import OUT
from benchmarks.figures import ends
from benchmarks.search import depths
from srtk_framework.values import RankedPath, Retrieval

FOLDER = OUT / "choice"
LIMIT = 150
BATCH = 32
CUTS = (5, 10, 20, 50)
MOST = 3000
"""Nodes before the last step of a path beyond which its ends are not counted: they are no answer."""
OTHER = {"demo-7": "demo-1", "cwq": "cwq-choose"} | {
    f"{name}-{hops}": f"{name}-{hops}-choose"
    for name, some in (("pathquestion", (2, 3)), ("metaqa", (1, 2, 3)))
    for hops in some
}
"""Sets whose half for choosing is a case of its own."""
GRAPHS = {
    "demo": ("demo-7",),
    "pathquestion": ("pathquestion-2", "pathquestion-3"),
    "metaqa": ("metaqa-1", "metaqa-2", "metaqa-3"),
    "wc2014": ("wc-p1", "wc-p2"),
    "codex": ("codex",),
    "lcquad": ("lcquad",),
    "mintaka": ("mintaka",),
    "cwq": ("cwq",),
}
SHIPPED = ("demo-7", *GRAPHS["metaqa"], "codex", "mintaka")
NEGATIVE = frozenset(
    [
        *("end clashes", "words shared", "order", "at topic", "only topic", "other topic"),
        *("value wrong", "value lacks", "one of several"),
    ]
)
"""Features that speak against a path; all others speak for it."""
OWN_ONLY = frozenset(["two steps", "three steps"])
"""Features whose weight is of one set: how long its paths are."""
SIGNS = [0 if name in OWN_ONLY else -1 if name in NEGATIVE else 1 for name in FEATURES]
OWN = (25, 50, 100)
"""Numbers of own questions."""
DRAWS = 5
"""Draws of own questions."""
Rows = Sequence[FoundPaths]


def halves(name: str) -> Mapping[str, depths.Case]:
    """Return the half on which is chosen, and the other one, on which is reported."""
    if name in OTHER:
        cases = {"choose": depths.CASES[OTHER[name]], "report": CASES[name]}
    else:
        parts = {"choose": depths.FIRST, "report": depths.SECOND}
        cases = {half: attrs.evolve(CASES[name], part=part) for half, part in parts.items()}
    return {half: attrs.evolve(case, limit=LIMIT) for half, case in cases.items()}


def path_ends(graph: Any, path: RankedPath) -> list[str]:
    """Return all ends of a path in the graph; none where it leads through too many nodes."""
    [at] = graph.frontiers([[path.entity]])
    for step in path.steps[:-1]:
        [at] = graph.follow([at], [step], None)
        if at.size > MOST:
            return []
    [triples] = graph.triples([at], [path.steps[-1]], None)
    return list(dict.fromkeys(t.subject if path.steps[-1].inverse else t.object for t in triples))


def harvest(case: depths.Case) -> list[FoundPaths]:
    """Search the questions of a half, and keep the features and F1 of their paths."""
    with opened(case) as session:
        questions = asked(session, case)
        recorder = PathRecorder()
        beam: Any = next(iter(session.methods.values())).driver
        beam._weights, beam._learnt = recorder, True
        session.retrieve(questions, read=False)
        found = {one.text: (one, table) for one, table in recorder.found}
        rows = []
        for question in questions:
            one, table = found.get(question.text, (None, np.zeros((0, len(FEATURES)))))
            ends = [path_ends(session.graph, path) for path in one.paths] if one else []
            f1 = np.array([f1_of(question, some) for some in ends])
            kept = one is not None and operates(one.marked)
            rows.append(FoundPaths(table, f1, kept))
    return rows


def fit(sets: Mapping[str, Rows]) -> Floats:
    """Fit the weights of the features on the questions of several sets."""
    of_graph = {name: sum(one in sets for one in graph) for graph in GRAPHS.values() for name in graph}
    usable = {name: [row for row in rows if row.teaches] for name, rows in sets.items()}
    kept = [(row, 1 / (of_graph[name] * len(rows))) for name, rows in usable.items() for row in rows]
    return fit_weights([row for row, _ in kept], [share for _, share in kept], signs=SIGNS)


def sets_lacking(sets: Collection[str], shipped: Sequence[str], graphs: Mapping[str, Sequence[str]]) -> str | None:
    """Say which sets a report lacks beside those that can be fitted on: one to ship, and one of a second graph."""
    if not any(name in sets for name in shipped):
        return f"nothing to fit the weights that ship on: one of these sets is lacking: {', '.join(shipped)}"
    there = [graph for graph, names in graphs.items() if any(name in sets for name in names)]
    if len(there) > 1:
        return None
    others = [name for graph, names in graphs.items() if graph not in there for name in names]
    return f"no graph to leave out beside {there[0]}: one of these sets is lacking: {', '.join(others)}"


def own(rows: Rows, weights: Floats, count: int, held: Rows) -> list[float]:
    """Return F1 of the path that weights choose which are fitted to so many own questions, the mean of some draws."""
    found = []
    for seed in range(DRAWS):
        order = np.random.default_rng(seed).permutation(len(rows))[:count]
        fitted = own_weights([rows[i] for i in order], weights)
        found.append([row.chosen_f1(fitted) for row in held])
    return [float(value) for value in np.mean(found, axis=0)]


def recall(name: str) -> str:
    """Compare the first triples and the processor time with the choice and without it; return a row of the table."""
    case = halves(name)["report"]
    with opened(case) as with_choice, opened(case, "expander={use: beam, choice: null}") as without:
        sessions = (with_choice, without)
        questions = asked(with_choice, case)
        recalls: list[list[list[float]]] = [[], []]
        spent = np.zeros((2, 2))
        for turn in range(2):
            for place, begin in enumerate(range(0, len(questions), BATCH)):
                for which in (place % 2, 1 - place % 2):
                    began = time.process_time()
                    found = sessions[which].retrieve(questions[begin : begin + BATCH], read=False)
                    spent[turn, which] += time.process_time() - began
                    if turn == 0:
                        recalls[which] += [_recalls(one) for one in found]
    cells = []
    for place, _ in enumerate(CUTS):
        now, then = ([row[place] for row in recalls[which]] for which in (0, 1))
        found_ = paired(now, then)
        change = f"{found_['mean']:+.3f} ({ends(found_)})"
        cells.append(f"{sum(now) / len(now):.3f}, {change}")
    costs = [f"{chosen_ / plain:.2f}" for chosen_, plain in spent]
    return f"| {name} | {len(questions)} | {' | '.join([*cells, *costs])} |"


def _recalls(retrieval: Retrieval) -> list[float]:
    """Return the share of the gold answers among the nodes of the first triples, for each number of them."""
    gold = set(retrieval.question.answers or ())
    found = []
    for cut in CUTS:
        nodes = {end for triple in retrieval.subgraph.triples[:cut] for end in (triple.subject, triple.object)}
        found.append(len(gold & nodes) / len(gold) if gold else 0.0)
    return found


def report(choose: Mapping[str, Rows], held: Mapping[str, Rows], shipped: Floats) -> list[str]:
    """Return the table of a choice on the halves for reporting."""
    names = ["now", "left out", "shipped", *(f"{count} own" for count in OWN)]
    head = [f"{name} | change" if i else name for i, name in enumerate(names)]
    lines = [f"| set | n | {' | '.join(head)} | best path |", "|---|" + "--:|" * (2 * len(names) + 1)]
    sums = []
    for graph in GRAPHS.values():
        elsewhere = {name: rows for name, rows in choose.items() if name not in graph}
        weights = fit(elsewhere) if elsewhere else None
        for name in graph:
            if name not in held or weights is None:
                continue
            rows = held[name]
            results = [
                [float(row.f1[0]) if len(row.f1) else 0.0 for row in rows],
                *([row.chosen_f1(some) for row in rows] for some in (weights, shipped)),
                *(own(choose[name], weights, count, rows) for count in OWN),
                [float(max(row.f1, default=0.0)) for row in rows],
            ]
            means = [sum(one) / len(one) for one in results]
            sums.append(means)
            changes = [paired(one, results[0]) for one in results[1:-1]]
            said = [f"{one['mean']:+.3f} ({ends(one)})" for one in changes]
            cells = [f"{mean:.3f} | {change}" for mean, change in zip(means[1:-1], said, strict=True)]
            lines.append(f"| {name} | {len(rows)} | {means[0]:.3f} | {' | '.join(cells)} | {means[-1]:.3f} |")
    mean = np.mean(sums, axis=0)
    closed = (mean[1:-1] - mean[0]) / (mean[-1] - mean[0])
    lines.append(f"| mean | | {mean[0]:.3f} | {' | | '.join(f'{one:.3f}' for one in mean[1:-1])} | | {mean[-1]:.3f} |")
    lines.append(f"| share of the gap closed | | | {' | | '.join(f'{one:.2f}' for one in closed)} | | |")
    return lines


def write(weights: Floats) -> None:
    """Put weights into the package."""
    fitted = [OTHER.get(name, name) for name in SHIPPED]
    path_choice.PathChoice.of(weights).save(path_choice.SHIPPED, **{"fitted on": fitted})


def main() -> int:
    """Search, fit and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", choices=list(CASES), default=list(CASES), help="sets to search")
    parser.add_argument("--fit", action="store_true", help="search nothing, and use what is there")
    parser.add_argument("--write", action="store_true", help="put the weights into the package")
    parser.add_argument("--recall", action="store_true", help="compare the first triples and the processor time alone")
    args = parser.parse_args()
    FOLDER.mkdir(parents=True, exist_ok=True)
    if args.recall:
        print("\n".join(["| set | n | at 5 | at 10 | at 20 | at 50 | cold | warm |", "|---|" + "--:|" * 7]), flush=True)
        for name in args.only:
            if missing := depths.prepare(name, halves(name)["report"]):
                print(f"{name}: skipped: {missing}", file=sys.stderr)
            else:
                print(recall(name), flush=True)
        return 0
    for name in () if args.fit else args.only:
        for half, case in halves(name).items():
            if missing := depths.prepare(OTHER.get(name, name) if half == "choose" else name, case):
                print(f"{name}: skipped: {missing}", file=sys.stderr)
                break
            began = time.process_time()
            rows = harvest(case)
            (FOLDER / f"{name}-{half}.pickle").write_bytes(pickle.dumps([attrs.astuple(row) for row in rows]))
            spent = time.process_time() - began
            print(f"{name}, {half}: {len(rows)} questions, {spent:.0f} s of CPU", file=sys.stderr, flush=True)
    found: dict[str, dict[str, Rows]] = {"choose": {}, "report": {}}
    for half, sets in found.items():
        for name in CASES:
            if (file := FOLDER / f"{name}-{half}.pickle").is_file():
                sets[name] = [FoundPaths(*row) for row in pickle.loads(file.read_bytes())]
    teaching = [name for name, rows in found["choose"].items() if any(row.teaches for row in rows)]
    if missing := sets_lacking(teaching, SHIPPED, GRAPHS):
        print(missing, file=sys.stderr)
        return 1
    shipped = fit({name: rows for name, rows in found["choose"].items() if name in SHIPPED})
    print("\n".join(report(found["choose"], found["report"], shipped)))
    if args.write:
        write(shipped)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
