"""The reader `gnn`, trained on answers, beside the reader `paths` and simpler readings of the same search.

    OMP_NUM_THREADS=1 python -m benchmarks.training.graph_reader [--only NAME ...] [--learn N] [--score N]

Drivers are those of `srtk ask`: an untrained search with its defaults, MiniLM, links given. On PathQuestion and MetaQA
the reader learns from the first half of the questions (by a hash of their text) and is scored on the second; on LC-QuAD
it is scored on each of five folds, and learns from the other four. A fifth of the questions learnt from chooses epoch
and threshold. No gold path is read. All methods have the same subgraphs; `paths` may read more of the graph.

- `all gold`: the gold answers in the subgraph, which no reader of the subgraph exceeds; its Hits@1 is the share of the
  questions that have one there.
- `best path`, `first node`, `most frequent`, `BM25`: as in `benchmarks.answers.public_sets`.

A topic is never right. Intervals of 95 % are over questions, and paired for the difference.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
import time
from collections.abc import Mapping, Sequence
from typing import Any

import attrs
from srtk_plugin_evaluation import bootstrap, paired

from benchmarks.answers.public_sets import METHODS, NEWCOMER, Scores, baselines, opened, scores_of
from benchmarks.common import DATA, OUT, lacking, srtk
from benchmarks.figures import NAMES, ends, record_mean
from benchmarks.search.depths import Case
from srtk_framework.values import Answer, Retrieval

FOLDER = OUT / "graph-reader"
LEARN, SCORE = 1500, 500
ALL = ("gnn", "paths", *METHODS, "all gold")


@attrs.frozen
class Trial:
    """Questions to learn from and to score.

    Attributes:
        recipe: Recipe with the graph.
        questions: The block of its questions, without its end.
        file: Required file of the data folder.
        triples: Budget of the search.
        folds: Number of folds; 0 for halves.
        sets: Further settings of the recipe.
    """

    recipe: str
    questions: str
    file: str
    triples: int
    folds: int = 0
    sets: tuple[str, ...] = ()

    def parts(self, learn: int, score: int) -> list[tuple[str, str]]:
        """Return the parts of the questions to score and to learn from."""
        if not self.folds:
            halves = ("between: [0.5, 1.0], by: text, limit: {}", "between: [0.0, 0.5], by: text, limit: {}")
            return [(halves[0].format(score), halves[1].format(learn))]
        edges = [round(i / self.folds, 3) for i in range(self.folds + 1)]
        folds = [f"between: [{low}, {high}]" for low, high in itertools.pairwise(edges)]
        return [(fold, f"{fold}, outside: true") for fold in folds]


TRIALS: Mapping[str, Trial] = {
    "pathquestion-3": Trial(
        "recipes/train-pathquestion.yaml",
        f"{{use: pathquestion, path: {DATA / 'pathquestion'}, hops: 3",
        "pathquestion/PQ-3H.txt",
        100,
        sets=("vars.hops=3",),
    ),
    "metaqa-3": Trial(
        "recipes/train-metaqa.yaml",
        f"{{use: metaqa, path: {DATA / 'metaqa'}, hops: 3, answers: complete",
        "metaqa/3-hop/qa_dev.txt",
        200,
        sets=("vars.hops=3",),
    ),
    "lcquad": Trial(
        "benchmarks/recipes/train-lcquad.yaml",
        f"{{use: lcquad1, path: {DATA / 'dbpedia/derived/lcquad1_in_dbp15k_union.jsonl'}, relations: property",
        "dbpedia/derived/lcquad1_in_dbp15k_union.jsonl",
        200,
        5,
    ),
}


def gold_of(one: Retrieval) -> Answer:
    """Answer with the gold answers that the subgraph has."""
    topics = {link.entity for link in one.question.links}
    nodes = dict.fromkeys(str(end) for t in one.subgraph.triples for end in (t.subject, t.object))
    found = tuple(node for node in nodes if node in set(one.question.answers or ()) - topics)
    return Answer(entities=found, enough=bool(found))


def trained(name: str, trial: Trial, fold: int, part: str, changes: Sequence[str]) -> str:
    """Train on a part of the questions by `srtk run`, and return the folder of the model; a finished training stays."""
    out = FOLDER / f"{name}-{fold}"
    train = f"train={{driver: reader, questions: {trial.questions}, part: {{{part}}}}}}}"
    settings = (*NEWCOMER, *changes, "reader={use: gnn}", train, f"output={out}")
    _, failed = srtk("run", trial.recipe, "--train-only", "--quiet", *(x for one in settings for x in ("--set", one)))
    if failed:
        raise SystemExit(f"{name}: {failed}")
    figures = json.loads((out / "training/training.json").read_text(encoding="utf-8"))["figures"]
    print(f"{name}, fold {fold}: {figures}", file=sys.stderr, flush=True)
    return str(out / "training/model")


def measure(name: str, trial: Trial, learn: int, score: int) -> dict[str, list[Scores]]:
    """Score all methods on the questions of a set."""
    rows: dict[str, list[Scores]] = {method: [] for method in ALL}
    for fold, (test, lessons) in enumerate(trial.parts(learn, score)):
        changes = (f"budget={{triples: {trial.triples}}}", *trial.sets)
        model = trained(name, trial, fold, lessons, changes)
        case = Case(trial.recipe, (), (*changes, "train=null", f"questions={trial.questions}, part: {{{test}}}}}"))
        with opened(case) as session:
            source: Any = session.dataset
            plain = session.retrieve(list(source.read()), read=False)
            rows["paths"] += [scores_of(one, one.answer) for one in session.read(plain)]
            for method, found in baselines(plain, session).items():
                rows[method] += found
        rows["all gold"] += [scores_of(one, gold_of(one)) for one in plain]
        with opened(case, f"reader={{use: gnn, path: {model}}}") as session:
            read = session.read(plain)
        rows["gnn"] += [scores_of(one, one.answer) for one in read]
    return rows


def summary(name: str, rows: Mapping[str, Sequence[Scores]]) -> dict[str, Any]:
    """Return the means with intervals, and keep them for the results."""
    where, n = NAMES[name], len(rows["gnn"])
    figures: dict[str, Any] = {"questions": n}
    for method, found in rows.items():
        figures[method] = {metric: bootstrap([one[metric] for one in found]) for metric in ("hits", "f1")}
        record_mean(where, method, "Hits@1", figures[method]["hits"], n)
        record_mean(where, method, "F1", figures[method]["f1"], n)
    figures["difference"] = paired([one["f1"] for one in rows["gnn"]], [one["f1"] for one in rows["paths"]])
    record_mean(where, "gnn - paths", "F1", figures["difference"], n)
    return figures


def table(every: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Write Hits@1 / F1 of all methods, and the difference of F1."""
    lines = ["| set | n | " + " | ".join(ALL) + " | F1, gnn - paths |", "|---|" + "--:|" * (len(ALL) + 2)]
    for name, found in every.items():
        both = [f"{found[one]['hits']['mean']:.3f} / {found[one]['f1']['mean']:.3f}" for one in ALL]
        gain = found["difference"]
        lines.append(
            f"| {NAMES[name]} | {found['questions']} | {' | '.join(both)} | {gain['mean']:+.3f} ({ends(gain)}) |"
        )
    return lines


def main() -> int:
    """Run the sets with available data, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", choices=list(TRIALS), default=list(TRIALS))
    parser.add_argument("--learn", type=int, default=LEARN, help="most questions of a half to learn from (%(default)s)")
    parser.add_argument("--score", type=int, default=SCORE, help="most questions of a half to score (%(default)s)")
    args = parser.parse_args()
    found: dict[str, Any] = {}
    for name in args.only:
        if missing := lacking(TRIALS[name].file):
            print(f"{name}: skipped: {missing}", file=sys.stderr)
            continue
        began = time.process_time()
        found[name] = summary(name, measure(name, TRIALS[name], args.learn, args.score))
        print(f"{name}: {time.process_time() - began:.0f} s of CPU besides the training", file=sys.stderr, flush=True)
    print("\n".join(table(found)))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
