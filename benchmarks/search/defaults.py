"""Recall in the first triples: the default search, beside the same one without filling, and `ppr` and `bfs`.

    make demo
    OMP_NUM_THREADS=1 python -m benchmarks.search.defaults [--only NAME ...] [--half choose] [--told]

Nothing is trained, links are given, and the budget has 50 triples. The questions are those of `choice.py`: of each set,
one half for choosing and another for reporting. *kept* reads the paths of the beam alone (`paths: 15`), the first row
also what the search has followed and left out, where there is room. With `--told` each search is given the number of
steps that the set needs at most, otherwise three, which the beam may leave unused. Behind each figure of another row is
the interval of 95 % of the default's recall less its own, paired by question. *Precision* is the share of triples that
have an answer; milliseconds are of the processor, the least of three rounds in turn. Figures go to
build/bench/defaults/NAME-HALF.json, with `--told` to NAME-HALF-told.json.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

import attrs
from srtk_plugin_evaluation import paired, row

from benchmarks.answers import choice
from benchmarks.answers.public_sets import CASES, asked, opened
from benchmarks.common import OUT, shown
from benchmarks.figures import NAMES, ends, record_figure
from benchmarks.search import depths
from srtk_framework.values import Retrieval

CUTS = (5, 10, 20, 50)
SETS = [name for name in CASES if name != "cwq"]
STEPS = {
    "pathquestion-2": 2,
    "metaqa-1": 1,
    "metaqa-2": 2,
    "wc-p1": 1,
    "wc-p2": 2,
    "codex": 1,
    "lcquad": 2,
    "mintaka": 2,
}
"""Steps that the questions of a set need at most, where these are not three."""
ROUNDS = 3
METHODS = {"kept": "beam, paths: 15"}
"""Searches that have another name on the pages."""
Row = Mapping[str, float]


def searches(steps: int, told: bool) -> dict[str, str]:
    """Return the expanders that are compared, by name; the default comes first."""
    depth = f", depth: {steps}" if told else ""
    around = f", depth: {steps if told else 3}"
    return {
        "beam": f"{{use: beam{depth}}}",
        "kept": f"{{use: beam{depth}, paths: 15}}",
        "ppr": f"{{use: ppr{around}}}",
        "bfs": f"{{use: bfs{around}}}",
    }


def figures(retrieval: Retrieval) -> Row:
    """Return the figures of one question."""
    found = row(retrieval).metrics
    answers = set(retrieval.question.answers or ())
    triples = retrieval.subgraph.triples
    nodes = {cut: {end for one in triples[:cut] for end in (one.subject, one.object)} for cut in CUTS}
    holding = sum(one.subject in answers or one.object in answers for one in triples)
    return {
        **{f"at {cut}": len(answers & nodes[cut]) / len(answers) for cut in CUTS},
        "precision": holding / len(triples) if triples else 0.0,
        "triples": float(len(triples)),
        "tokens": float(found["tokens"] or 0),
    }


def measure(case: depths.Case, expanders: Mapping[str, str]) -> dict[str, tuple[list[Row], float]]:
    """Search the questions of a case in each way; return their figures and the milliseconds of a question."""
    found: dict[str, tuple[list[Row], float]] = {}
    with ExitStack() as stack:
        sessions = {name: stack.enter_context(opened(case, f"expander={one}")) for name, one in expanders.items()}
        questions = asked(sessions["beam"], case)
        for name, session in sessions.items():
            rows = session.labelled(session.retrieve(questions, read=False))
            found[name] = [figures(one) for one in rows], math.inf
        for _ in range(ROUNDS):
            for name in ("beam", "kept"):
                began = time.process_time()
                sessions[name].retrieve(questions, read=False)
                spent = 1000 * (time.process_time() - began) / len(questions)
                found[name] = found[name][0], min(spent, found[name][1])
    return found


def table(name: str, found: Mapping[str, tuple[Sequence[Row], float]]) -> list[str]:
    """Write the rows of a set."""
    first = found["beam"][0]
    lines = []
    for method, (rows, spent) in found.items():
        means = {key: sum(one[key] for one in rows) / len(rows) for key in rows[0]}
        cells = []
        for cut in CUTS:
            less = paired([one[f"at {cut}"] for one in first], [one[f"at {cut}"] for one in rows])
            more = "" if method == "beam" else f" ({ends(less, '+.2f')})"
            cells.append(f"{means[f'at {cut}']:.3f}{more}")
        cells += [f"{means['precision']:.2f}", f"{means['triples']:.1f}", f"{means['tokens']:.0f}"]
        cells.append(f"{spent:.1f}" if spent < math.inf else "")
        keep(name, METHODS.get(method, method), means, len(rows), spent)
        lines.append(f"| {name}, {len(rows)} | {method} | {' | '.join(cells)} |")
    return lines


def keep(name: str, method: str, means: Row, n: int, spent: float) -> None:
    """Keep the figures of a search for the results."""
    for cut in CUTS:
        record_figure(NAMES[name], method, f"answer recall at {cut}", means[f"at {cut}"], n)
    record_figure(NAMES[name], method, "triple precision", means["precision"], n)
    for metric in ("triples", "tokens"):
        record_figure(NAMES[name], method, metric, means[metric], n)
    if spent < math.inf:
        record_figure(NAMES[name], method, "CPU ms a question", spent, n)


def save(file: Path, found: Mapping[str, tuple[Sequence[Row], float]]) -> None:
    """Write the figures of a set; the time of a search that was not timed is null."""
    data = {method: [rows, spent if spent < math.inf else None] for method, (rows, spent) in found.items()}
    file.write_text(json.dumps(data, indent=1, allow_nan=False) + "\n", encoding="utf-8")


def main() -> int:
    """Run the sets with available data, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", choices=SETS, default=SETS)
    parser.add_argument("--half", choices=("choose", "report"), default="report", help="questions (%(default)s)")
    parser.add_argument("--limit", type=int, default=choice.LIMIT, help="most questions of a set (%(default)s)")
    parser.add_argument("--told", action="store_true", help="tell each search how many steps a set needs at most")
    args = parser.parse_args()
    folder = OUT / "defaults"
    folder.mkdir(parents=True, exist_ok=True)
    columns = [*(f"at {cut}" for cut in CUTS), "precision", "triples", "tokens", "ms"]
    print(f"| set, questions | search | {' | '.join(columns)} |\n|---|---|{'--:|' * len(columns)}", flush=True)
    for name in args.only:
        case = attrs.evolve(choice.halves(name)[args.half], limit=args.limit)
        half = choice.OTHER.get(name, name) if args.half == "choose" else name
        if missing := depths.prepare(half, case):
            print(f"{name}: skipped: {missing}", file=sys.stderr)
            continue
        found = measure(case, searches(STEPS.get(name, 3), args.told))
        save(folder / f"{name}-{args.half}{'-told' * args.told}.json", found)
        print("\n".join(table(name, found)), flush=True)
    print(f"figures: {shown(folder)}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
