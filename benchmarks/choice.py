"""Choice of the path: fit the second stage of the beam on several graphs, and measure it on graphs that it never saw.

    make demo
    OMP_NUM_THREADS=1 python benchmarks/choice.py [--only NAME ...] [--fit] [--write]
    OMP_NUM_THREADS=1 python benchmarks/choice.py --recall [--only NAME ...]

Each set has a half for choosing and a half for reporting (`depths.py`); links are given, and the search is that of
`srtk ask` without a choice. The paths that it returns are kept with their features and the F1 of their ends in
build/bench/choice; `--fit` searches nothing and reads what is there. A question's own entities are never right.

- *left out*: the model is fitted on the first halves of all other graphs, and chooses on the second half.
- *shipped*: on the first halves of the sets in `SHIPPED` alone, whose licences allow it; `--write` puts the weights in
  the package.
- *own*: on three quarters of the second half itself, and chooses on the last, in turn.

The model is a softmax over the paths of a question, fitted to those with the best F1; each graph counts the same. No
weight may have the sign that contradicts its feature (`SIGNS`), except in *own*: a weight that helps one graph by the
wrong sign hurts the next one. Questions with an operation keep the order of the search, and nothing is fitted to them.
Intervals of 95 % are by bootstrap over questions.

`--recall` compares the answer recall of the first 5, 10, 20 and 50 triples with the choice and without it, on the
halves for reporting, and the processor time, in turn for each batch: of the first time (*cold*) and the second.
"""

from __future__ import annotations

import argparse
import json
import pickle
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

sys.path.insert(0, str(Path(__file__).parent / "answers"))

import depths
from common import OUT
from public_sets import CASES, asked, opened
from srtk_plugin_sr import path_choice
from srtk_plugin_sr.answer_kind import operates
from srtk_plugin_sr.path_features import FEATURES, SearchedQuestion, path_features
from srtk_plugin_sr.path_texts import path_texts

from srtk_framework.evaluation import paired
from srtk_framework.values import Question, RankedPath, Retrieval

Floats = npt.NDArray[np.float64]

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
SIGNS = [-1 if name in NEGATIVE else 1 for name in FEATURES]
RIDGE = 0.01
NEAR = 0.1
"""Distance of F1 from the best path's at which a path's share of the target is a factor e less."""


@attrs.frozen(eq=False)
class Row:
    """The paths that a search returned for a question.

    Attributes:
        features: Of shape [paths, features].
        f1: F1 of each path's ends, of shape [paths].
        question: Text of the question.
        texts: The paths in words.
        kept: Whether the question keeps the order of the search.
    """

    features: Floats
    f1: Floats
    question: str
    texts: Sequence[str]
    kept: bool = False


Rows = Sequence[Row]


def halves(name: str) -> Mapping[str, depths.Case]:
    """Return the half on which is chosen, and the other one, on which is reported."""
    if name in OTHER:
        cases = {"choose": depths.CASES[OTHER[name]], "report": CASES[name]}
    else:
        parts = {"choose": depths.FIRST, "report": depths.SECOND}
        cases = {half: attrs.evolve(CASES[name], part=part) for half, part in parts.items()}
    return {half: attrs.evolve(case, limit=LIMIT) for half, case in cases.items()}


class Recorder:
    """Stands in the place of the choice: keeps the features of the paths and their words, and changes no score."""

    def __init__(self) -> None:
        self.found: dict[str, tuple[Floats, list[list[str]], list[str], bool]] = {}

    def scores(self, graph: Any, scorer: Any, questions: Sequence[SearchedQuestion]) -> list[list[float]]:
        """Record the features of the paths, their ends, and their words."""
        tables, texts = path_features(graph, scorer, questions), path_texts(graph, questions)
        for one, table, row in zip(questions, tables, texts, strict=True):
            ends = [path_ends(graph, path) for path in one.paths]
            self.found[one.text] = table, ends, row, operates(one.marked)
        return [[path.score for path in one.paths] for one in questions]


def path_ends(graph: Any, path: RankedPath) -> list[str]:
    """Return all ends of a path in the graph; none where it leads through too many nodes."""
    [at] = graph.frontiers([[path.entity]])
    for step in path.steps[:-1]:
        [at] = graph.follow([at], [step], None)
        if at.size > MOST:
            return []
    [triples] = graph.triples([at], [path.steps[-1]], None)
    return list(dict.fromkeys(t.subject if path.steps[-1].inverse else t.object for t in triples))


def f1_of(question: Question, ends: Sequence[str]) -> float:
    """Return F1 of ends; a question's own entities are never right."""
    topics = {link.entity for link in question.links}
    gold = set(question.answers or ())
    given = [end for end in ends if end not in topics]
    right = len(gold & set(given))
    return 2 * right / (len(gold) + len(given)) if right else 0.0


def harvest(case: depths.Case) -> list[Row]:
    """Search the questions of a half, and keep the features and F1 of their paths."""
    with opened(case) as session:
        questions = asked(session, case)
        recorder = Recorder()
        beam: Any = next(iter(session.methods.values())).driver
        beam._weights = recorder
        session.retrieve(questions, read=False)
    rows = []
    for question in questions:
        table, ends, texts, kept = recorder.found.get(question.text, (np.zeros((0, len(FEATURES))), [], [], False))
        rows.append(Row(table, np.array([f1_of(question, some) for some in ends]), question.text, texts, kept))
    return rows


def kept_rows(half: str) -> dict[str, Rows]:
    """Read what a search kept of each set."""
    files = {name: FOLDER / f"{name}-{half}.pickle" for name in CASES}
    return {
        name: [Row(*row) for row in pickle.loads(file.read_bytes())] for name, file in files.items() if file.is_file()
    }


def fit(sets: Mapping[str, Rows], signed: bool = True) -> Floats:
    """Fit the weights of the features on sets of questions; a feature beyond those of a path speaks for it."""
    of_graph = {name: sum(one in sets for one in graph) for graph in GRAPHS.values() for name in graph}
    usable = {name: [row for row in rows if _tells(row)] for name, rows in sets.items()}
    kept = [(row, 1 / (of_graph[name] * len(rows))) for name, rows in usable.items() for row in rows]
    features = np.concatenate([row.features for row, _ in kept])
    scale = features.std(axis=0)
    scale[scale < 1e-9] = 1.0
    features = features / scale
    sizes = [len(row.f1) for row, _ in kept]
    starts = np.cumsum([0, *sizes[:-1]])
    owner = np.repeat(np.arange(len(kept)), sizes)
    weight = np.array([share for _, share in kept])
    weight /= weight.sum()
    target = np.concatenate([_target(row.f1) for row, _ in kept])

    def loss(weights: Floats) -> tuple[float, Floats]:
        values = features @ weights
        raised = np.exp(values - np.maximum.reduceat(values, starts)[owner])
        share = raised / np.add.reduceat(raised, starts)[owner]
        each = -np.add.reduceat(target * np.log(share + 1e-12), starts)
        slope = features.T @ ((share - target) * weight[owner])
        return float(each @ weight + RIDGE * weights @ weights / 2), slope + RIDGE * weights

    signs = [*SIGNS, *[1] * (features.shape[1] - len(SIGNS))]
    bounds = [(0.0, None) if sign > 0 else (None, 0.0) for sign in signs] if signed else None
    found = minimize(loss, np.zeros(len(signs)), jac=True, method="L-BFGS-B", bounds=bounds)
    weights: Floats = found.x / scale
    return weights


def _tells(row: Row) -> bool:
    return not row.kept and len(row.f1) > 0 and bool(row.f1.min() < row.f1.max())


def _target(f1: Floats) -> Floats:
    shares = np.exp((f1 - f1.max()) / NEAR) * (f1 > 0)
    found: Floats = shares / shares.sum()
    return found


def chosen(rows: Rows, weights: Floats) -> list[float]:
    """Return F1 of the path that the weights choose, for each question."""
    found = [0 if row.kept or not len(row.f1) else int(np.argmax(row.features @ weights)) for row in rows]
    return [float(row.f1[at]) if len(row.f1) else 0.0 for row, at in zip(rows, found, strict=True)]


def own(rows: Rows) -> list[float]:
    """Return F1 of the path that weights choose which are fitted on three quarters of the same set."""
    found = [0.0] * len(rows)
    fold = np.random.default_rng(0).permutation(len(rows)) % 4
    for held in range(4):
        train = [row for row, at in zip(rows, fold, strict=True) if at != held]
        test = [i for i, at in enumerate(fold) if at == held]
        weights = fit({"demo-7": train}, signed=False)
        for i, value in zip(test, chosen([rows[i] for i in test], weights), strict=True):
            found[i] = value
    return found


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
        change = f"{found_['mean']:+.3f} ({found_['low']:+.3f} to {found_['high']:+.3f})"
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
    lines = ["| set | n | now | left out | change | shipped | change | own | best path |", "|---|" + "--:|" * 8]
    sums = []
    for names in GRAPHS.values():
        elsewhere = {name: rows for name, rows in choose.items() if name not in names}
        weights = fit(elsewhere) if elsewhere else None
        for name in names:
            if name not in held or weights is None:
                continue
            rows = held[name]
            now = [float(row.f1[0]) if len(row.f1) else 0.0 for row in rows]
            most = [float(max(row.f1, default=0.0)) for row in rows]
            results = [now, chosen(rows, weights), chosen(rows, shipped), own(rows), most]
            means = [sum(one) / len(one) for one in results]
            sums.append(means)
            changes = [paired(one, now) for one in results[1:3]]
            said = [f"{one['mean']:+.3f} ({one['low']:+.3f} to {one['high']:+.3f})" for one in changes]
            cells = [f"{means[0]:.3f}", f"{means[1]:.3f}", said[0], f"{means[2]:.3f}", said[1]]
            lines.append(f"| {name} | {len(rows)} | {' | '.join(cells)} | {means[3]:.3f} | {means[4]:.3f} |")
    mean = np.mean(sums, axis=0)
    closed = (mean[1:4] - mean[0]) / (mean[4] - mean[0])
    lines.append(f"| mean | | {mean[0]:.3f} | {mean[1]:.3f} | | {mean[2]:.3f} | | {mean[3]:.3f} | {mean[4]:.3f} |")
    lines.append(f"| share of the gap closed | | | {closed[0]:.2f} | | {closed[1]:.2f} | | {closed[2]:.2f} | |")
    return lines


def write(weights: Floats) -> None:
    """Put weights into the package."""
    found = {name: round(float(value), 4) for name, value in zip(FEATURES, weights, strict=True) if value}
    text = json.dumps({"fitted on": list(SHIPPED), "weights": found}, indent=1)
    path_choice.SHIPPED.write_text(f"{text}\n", encoding="utf-8")


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
    found = {half: kept_rows(half) for half in ("choose", "report")}
    shipped = fit({name: rows for name, rows in found["choose"].items() if name in SHIPPED})
    print("\n".join(report(found["choose"], found["report"], shipped)))
    if args.write:
        write(shipped)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
