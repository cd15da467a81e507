"""The reader `paths` on MetaQA with a path scorer that was trained on the other half of the questions.

    OMP_NUM_THREADS=1 python benchmarks/answers/in_domain.py [--limit N] [--show N] [--weights FOLDER] [--answers NAME]

Trains by `recipes/train-metaqa.yaml` where that was not done, and asks questions of 1, 2 and 3 hops of the half to be
scored, links given. Of each wrong first answer it tells where it was lost: the gold path is not among the paths, is
behind another one, or is the first and the reader's answer is another; and whether the best score was shared. `path` is
the share of questions whose best path is the gold one. *Best path* and *gold path* are all ends of these in the graph,
less the topic, as answers: what a reader that only looks up would have, and what it would have if the search were
always right; films of one name share their facts, of which the gold answers are those of one film.

The graph lacks some facts of the original one, so that there are two ways to score. `complete`: of the questions whose
gold path reaches all gold answers in this graph, against these. `reachable`: of all questions, against those of the
gold answers that the gold path reaches; questions of which it reaches none are left out. Figures go to
build/bench/in-domain.json.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parent))

from common import DATA, OUT, ROOT, lacking, run, shown
from public_sets import best_path, scores_of, summary

from srtk_framework import open as open_recipe
from srtk_framework.graph import instances, path_order
from srtk_framework.records import place
from srtk_framework.values import Answer, Budget, Question, RankedPath, Retrieval

LIMIT = 500
HOPS = (1, 2, 3)
ANSWERS = ("complete", "reachable")
FOLDER = OUT / "metaqa-in-domain"
RECIPE = "recipes/train-metaqa.yaml"
SETTINGS = ("reader={use: paths}", "exporters=[]", "evaluate=null", "vars.score=null", "budget={triples: 50}")
MISSING, BEHIND, SAID = "gold path not found", "gold path behind another", "gold path first, another answer"


def drawn(questions: Sequence[Question], hops: int, limit: int) -> list[Question]:
    """Draw questions of some length that have answers, by a hash of their ids."""
    mine = [one for one in questions if one.answers and len((one.gold_paths or ((),))[0]) == hops]
    return sorted(mine, key=lambda one: (place(one.id, 0), one.id))[:limit]


def place_of_gold(retrieval: Retrieval) -> int | None:
    """Return the rank of the gold path, from 1; None if it is not among the paths."""
    gold = set(retrieval.question.gold_paths or ())
    paths = sorted((path for path in retrieval.subgraph.paths if path.steps), key=path_order)
    return next((rank for rank, path in enumerate(paths, 1) if path.steps in gold), None)


def is_tied(retrieval: Retrieval) -> bool:
    """Return whether the gold path has the score of the best path."""
    gold = set(retrieval.question.gold_paths or ())
    best = max(path.score for path in retrieval.subgraph.paths)
    return any(path.steps in gold and path.score == best for path in retrieval.subgraph.paths)


def lost_at(retrieval: Retrieval) -> str:
    """Return where the right answer of a question was lost."""
    rank = place_of_gold(retrieval)
    if rank is None:
        return MISSING
    if rank > 1:
        return f"{BEHIND}, by a tie" if is_tied(retrieval) else BEHIND
    answer = retrieval.answer
    if answer is None or not answer.enough:
        return "gold path first, refused"
    return f"{SAID} ({answer.operation})"


def ends_of(graph: Any, retrieval: Retrieval, path: RankedPath | None) -> Answer:
    """Answer with all ends of a path in the graph, less the topics."""
    topics = {link.entity for link in retrieval.question.links}
    if path is None:
        return Answer()
    [found] = instances(graph, [path], [{}], Budget(triples=None, hub=None, nodes=None), [{}])
    return Answer(entities=tuple(dict.fromkeys(one.end for one in found if one.end not in topics)))


def look_ups(graph: Any, plain: Sequence[Retrieval]) -> dict[str, Any]:
    """Score the ends of each question's best path, and of its gold path."""
    best = [best_path(one.subgraph) for one in plain]
    gold = [RankedPath(one.question.links[0].entity, (one.question.gold_paths or ((),))[0], 0.0) for one in plain]
    return {
        name: summary([scores_of(one, ends_of(graph, one, path)) for one, path in zip(plain, paths, strict=True)])
        for name, paths in (("best path", best), ("gold path", gold))
    }


def measure(session: Any, questions: Sequence[Question], show: int) -> dict[str, Any]:
    """Answer questions; count where the wrong ones were lost."""
    plain = session.retrieve(questions, read=False)
    read = session.read(plain)
    rows = [scores_of(one, one.answer) for one in read]
    # The reader may change the subgraph, and with it the paths, so that ranks are those of the search.
    searched = {one.question.id: one for one in plain}
    wrong = [one for one, row in zip(read, rows, strict=True) if not row["hits"]]
    lost = {one.question.id: lost_at(_with_answer(searched[one.question.id], one)) for one in wrong}
    for one in wrong[:show]:
        answer = one.answer
        said = (answer.text or answer.missing, answer.operation, answer.certainty) if answer else one.error
        best = sorted(searched[one.question.id].subgraph.paths, key=path_order)[:1]
        print(f"{one.question.id} {one.question.text!r}: {lost[one.question.id]}")
        print(f"    gold {[*map(str, (one.question.gold_paths or ((),))[0])]}, {list(one.question.answers or ())[:3]}")
        print(f"    best {[[*map(str, path.steps)] for path in best]}; {str(said)[:160]}")
    first = sum(place_of_gold(one) == 1 for one in plain) / max(len(plain), 1)
    told = {"path": round(first, 3), "lost": dict(Counter(lost.values()).most_common())}
    return {**summary(rows), **told, **look_ups(session.graph, plain)}


def _with_answer(plain: Retrieval, read: Retrieval) -> Retrieval:
    return Retrieval(plain.question, plain.subgraph, answer=read.answer, error=read.error)


def main() -> int:
    """Train where that was not done, then measure each length."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limit", type=int, default=LIMIT, help="questions of each length (%(default)s)")
    parser.add_argument("--show", type=int, default=0, metavar="N", help="print wrong answers, at most N of a length")
    parser.add_argument("--answers", choices=ANSWERS, help="one of the two ways to score; both by default")
    parser.add_argument("--weights", help="folder of a trained path scorer, in place of the recipe's training")
    args = parser.parse_args()
    if missing := lacking("metaqa/1-hop/qa_dev.txt", "metaqa/kb_from_splits.txt"):
        print(f"skipped: {missing}")
        return 0
    output = f"output={FOLDER}"
    trained = f"{{use: onnx, model: '{args.weights or FOLDER / 'training/model'}'}}"
    if not args.weights:
        _, failed = run([sys.executable, "-m", "srtk_framework", "run", RECIPE, "--train-only", "-q", "--set", output])
        if failed:
            raise SystemExit(f"{RECIPE}: {failed}")
    os.environ.setdefault("SRTK_DATA", str(DATA))
    changes = ("train=null", f"encoder={trained}", *SETTINGS)
    figures: dict[str, dict[str, Any]] = {}
    for answers in [args.answers] if args.answers else ANSWERS:
        figures[answers] = {}
        with open_recipe(str(ROOT / RECIPE), (*changes, f"vars.answers={answers}")) as session:
            source: Any = session.dataset
            questions = list(source.read())
            for hops in HOPS:
                figures[answers][str(hops)] = measure(session, drawn(questions, hops, args.limit), args.show)
                print(f"{answers}, {hops} hops: {json.dumps(figures[answers][str(hops)])}", flush=True)
    out = OUT / "in-domain.json"
    out.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    print(f"figures: {shown(out)}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
