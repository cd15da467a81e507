"""Hits@1 and F1 of the reader `paths` on public question sets, beside what simpler readings of the same search give.

    make demo
    OMP_NUM_THREADS=1 python -m benchmarks.answers.public_sets [--only NAME ...] [--limit N] [--model N] [--show N]

The drivers are those of `srtk ask`: an untrained search of three steps, 50 triples, the reader `paths`, with the links
given and with the raw text. Questions are those of `depths.py`: of sets on which settings were chosen the other half.

- `first node`: the node of most mass, for which the search read its first triple.
- `best path`: all ends of the best path in the subgraph.
- `most frequent`: the node in which the last relation of the best path ends most often in the whole graph.
- `BM25`: over all triples of the graph in words: what the best triple joins to a topic, with what the same relation
  joins to it in the first 50 triples.
- `model`: SmolLM2 (135 M) by the reader `llm` of `recipes/answers-local-model.yaml`, without a hint, on the first N
  questions (`--model N`); none by default, as it takes more time than all else.

A question's own entities are never right. Where the gold answers of a count are what is counted, so is the answer's
set. Intervals of 95 % are over questions. Figures go to build/bench/public-sets/NAME.json.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
import numpy as np
from srtk_plugin_evaluation import Estimate, answer_scores, bootstrap
from srtk_plugin_index.commands.build import build
from srtk_plugin_index.corpora.triples import TripleCorpus
from srtk_plugin_index.indexes.bm25 import Bm25Index

from benchmarks.common import DATA, OUT, ROOT, read_json, shown
from benchmarks.figures import NAMES, record_figure, record_mean
from benchmarks.search import depths
from srtk_framework import open as open_recipe
from srtk_framework.graph import TripleTable, instances_among, path_order
from srtk_framework.run import Session
from srtk_framework.values import Answer, DriverError, Question, RankedPath, Retrieval, Step, Subgraph, Triple

LIMIT = 300
HITS = 50
"""Triples that are read of BM25's."""
FOLDER = OUT / "public-sets"
NEWCOMER = (
    "encoder={use: onnx}",
    "path_scorer={use: dense}",
    "expander={use: beam}",
    "entity_linker={use: dictionary}",
    "reader={use: paths}",
    "budget={}",
    "exporters=[]",
    "evaluate=null",
)
"""What `srtk ask` has, over the graph and the questions of a recipe."""
MODEL = (
    "generator={use: llama-cpp, model: smollm2}",
    "reader={use: llm, named: true, tokens: 400}",
)
METHODS = ("first node", "best path", "most frequent", "BM25")
Scores = Mapping[str, float]


def football(kind: str, file: str) -> depths.Case:
    """Make the case of the questions on WorldCup2014 with one step or two."""
    recipe = {
        "srtk": 1,
        "questions": {"use": "wc2014", "path": str(DATA / "wc2014"), "kind": kind},
        "knowledge_graph": {
            "use": "local",
            "path": str(FOLDER / "wc2014-graph"),
            "build": {"files": [str(DATA / "wc2014/WC2014.txt")], "format": "tsv"},
        },
    }
    return depths.Case(recipe, (f"wc2014/{file}", "wc2014/WC2014.txt"))


CASES: Mapping[str, depths.Case] = {
    "demo-7": depths.CASES["demo-7"],
    **{name: depths.CASES[name] for name in ("pathquestion-2", "pathquestion-3")},
    **{name: depths.CASES[name] for name in ("metaqa-1", "metaqa-2", "metaqa-3")},
    "wc-p1": football("1-hop", "WC-P1.txt"),
    "wc-p2": football("2-hop", "WC-P2.txt"),
    **{name: depths.CASES[name] for name in ("codex", "lcquad", "mintaka", "cwq")},
}


def opened(case: depths.Case, *changes: str) -> Session:
    """Open the drivers of `srtk ask`, with changes, over the graph and the questions of a case."""
    recipe = case.recipe if isinstance(case.recipe, dict) else str(ROOT / case.recipe)
    os.environ.setdefault("SRTK_DATA", str(DATA))
    return open_recipe(recipe, (*case.sets, *NEWCOMER, *changes))


def asked(session: Session, case: depths.Case) -> list[Question]:
    """Draw the questions of a case, with their links."""
    source: Any = session.dataset
    drawn: list[Question] = depths.drawn(list(source.read()), case)
    return drawn


def scores_of(retrieval: Retrieval, answer: Answer | None) -> Scores:
    """Return Hits@1 and F1 of an answer to a question, 0 without one, and whether it is a refusal."""
    if answer is None or retrieval.error is not None:
        return {"hits": 0.0, "f1": 0.0, "refused": 1.0}
    found = answer_scores(attrs.evolve(retrieval, answer=answer))
    return {"hits": found["answer_hit"], "f1": found["answer_f1"], "refused": found["answer_refused"]}


def first_node(retrieval: Retrieval) -> list[str]:
    """Return the node for which the search read its first triple."""
    subgraph = retrieval.subgraph
    if not subgraph.triples or subgraph.path_of[0] < 0:
        return []
    path = subgraph.paths[subgraph.path_of[0]]
    topics = {link.entity for link in retrieval.question.links}
    for instance in instances_among(subgraph.triples, path, {path.entity}, None):
        # What leads forth and back over one triple is where it began.
        if subgraph.triples[0] not in instance.triples or len(set(instance.triples)) < len(instance.triples):
            continue
        if instance.end not in topics:
            return [instance.end]
        # A path from one topic to another was read for the node before that, in which it joins the two.
        last = instance.triples[-1]
        return _others([last.subject, last.object], topics)
    return []


def path_ends(subgraph: Subgraph, path: RankedPath) -> list[str]:
    """Return the ends of a path in a subgraph, in the order of their triples."""
    return list(dict.fromkeys(one.end for one in instances_among(subgraph.triples, path, {path.entity}, None)))


def best_path(subgraph: Subgraph) -> RankedPath | None:
    """Return the best path that has steps."""
    return next((path for path in sorted(subgraph.paths, key=path_order) if path.steps), None)


class Frequencies:
    """The nodes in which each relation of a graph ends, by how often.

    Args:
        table: The graph's triples.
    """

    def __init__(self, table: TripleTable) -> None:
        self._table = table
        self._known: dict[Step, list[str]] = {}

    def most_frequent(self, step: Step, without: Iterable[str]) -> list[str]:
        """Return the node in which a step ends most often, but for some."""
        if step not in self._known:
            number = self._table.relation_numbers.get(step.relation, -1)
            rows = self._table.triples[self._table.triples[:, 1] == number]
            ends, counts = np.unique(rows[:, 0 if step.inverse else 2], return_counts=True)
            best = np.lexsort((ends, -counts))[:20]
            self._known[step] = [self._table.entities[end] for end in ends[best].tolist()]
        return _others(self._known[step], set(without))[:1]


def words_index(session: Session) -> Bm25Index:
    """Open the index of all triples of a graph in words; it is built where it is missing or of another graph."""
    graph: Any = session.graph
    name = Path(graph.settings()["path"]).name if "path" in graph.settings() else "graph"
    corpus = TripleCorpus(graph=graph)
    corpus.open()
    index = Bm25Index(path=str(FOLDER / f"{name}-words"), corpora=[corpus])
    try:
        index.open()
    except DriverError:
        build(index)
        index = Bm25Index(path=index.path, corpora=[corpus])
        index.open()
    return index


def by_words(question: Question, triples: Sequence[Triple]) -> list[str]:
    """Return what the best triple joins to a topic, and what its relation joins to that topic in the other triples.

    Of a triple without a topic the object is taken.
    """
    topics = {link.entity for link in question.links}
    for best in triples:
        forwards = best.subject in topics or best.object not in topics
        node, end = (best.subject, best.object) if forwards else (best.object, best.subject)
        if end in topics:
            continue
        same = [one for one in triples if one.relation == best.relation and one[0 if forwards else 2] == node]
        return list(dict.fromkeys([end, *_others([one[2 if forwards else 0] for one in same], topics)]))
    return []


def baselines(plain: Sequence[Retrieval], session: Session) -> dict[str, list[Scores]]:
    """Score what is read of each subgraph without the reader, and of the graph's triples in words."""
    frequencies = Frequencies(TripleTable.of(session.graph))  # type: ignore[arg-type]
    index = words_index(session)
    found = index.search([one.question.text for one in plain], HITS)
    rows: dict[str, list[Scores]] = {name: [] for name in METHODS}
    for one, hits in zip(plain, found, strict=True):
        topics = {link.entity for link in one.question.links}
        best = best_path(one.subgraph)
        ends = _others(path_ends(one.subgraph, best), topics) if best else []
        given = {
            "first node": first_node(one),
            "best path": ends,
            "most frequent": frequencies.most_frequent(best.steps[-1], topics) if best else [],
            "BM25": by_words(one.question, [triple for hit in hits for triple in hit.entry.triples]),
        }
        for name, entities in given.items():
            rows[name].append(scores_of(attrs.evolve(one, error=None), Answer(entities=tuple(entities))))
    index.close()
    return rows


def summary(rows: Sequence[Scores]) -> dict[str, Any]:
    """Return Hits@1 and F1 with intervals, and the number of refusals."""
    figures: dict[str, Any] = {name: bootstrap([row[name] for row in rows]) for name in ("hits", "f1")}
    return {**figures, "refused": int(sum(row["refused"] for row in rows)), "questions": len(rows)}


def measure(name: str, case: depths.Case, model: int, show: int) -> dict[str, Any]:
    """Run all methods on a case."""
    began = time.process_time()
    with opened(case) as session:
        questions = asked(session, case)
        figures: dict[str, Any] = {"questions": len(questions)}
        plain = session.retrieve(questions, read=False)
        read = session.labelled(session.read(plain))
        rows = [scores_of(one, one.answer) for one in read]
        figures["paths"] = summary(rows) | {"certainty": by_certainty(read, rows)}
        show_wrong(name, read, rows, show)
        figures |= {method: summary(some) for method, some in baselines(plain, session).items()}
        figures["cpu seconds, links given"] = round(time.process_time() - began, 1)
        raw = session.retrieve([attrs.evolve(one, links=()) for one in questions])
        figures["paths, raw text"] = summary([scores_of(one, one.answer) for one in raw])
    figures["cpu seconds"] = round(time.process_time() - began, 1)
    if model:
        figures["model"] = with_model(case, plain[:model])
    return figures


def with_model(case: depths.Case, plain: Sequence[Retrieval]) -> dict[str, Any]:
    """Have a small language model read subgraphs."""
    began = time.process_time()
    with opened(case, *MODEL) as session:
        rows = [scores_of(one, one.answer) for one in session.read(plain)]
    return summary(rows) | {"cpu seconds": round(time.process_time() - began, 1)}


def by_certainty(read: Sequence[Retrieval], rows: Sequence[Scores]) -> dict[str, dict[str, Any]]:
    """Return, of each certainty, the number of answers and their Hits@1."""
    groups: dict[str, list[float]] = {}
    for one, row in zip(read, rows, strict=True):
        if one.answer is not None and one.answer.enough:
            groups.setdefault(one.answer.certainty or "", []).append(row["hits"])
    return {level: bootstrap(hits) for level, hits in sorted(groups.items())}


def show_wrong(name: str, read: Sequence[Retrieval], rows: Sequence[Scores], most: int) -> None:
    """Print questions whose first answer is wrong, with the place of the gold path among the paths."""
    wrong = [one for one, row in zip(read, rows, strict=True) if not row["hits"]]
    for one in wrong[:most]:
        question, answer = one.question, one.answer
        paths = sorted(one.subgraph.paths, key=path_order)
        gold = set(question.gold_paths or ())
        place = next((i for i, path in enumerate(paths, 1) if path.steps in gold), None)
        print(f"{name} {question.id} {question.text!r} gold {list(question.answers or ())[:4]}, gold path {place}")
        if answer is None:
            print(f"    {one.error}")
            continue
        said = f"{answer.text or answer.missing!r} ({answer.operation}, {answer.certainty})"
        print(f"    {said[:200]}; best {' '.join(map(str, paths[0].steps)) if paths else None}")


def _others(ends: Iterable[str], topics: set[str]) -> list[str]:
    return [end for end in dict.fromkeys(ends) if end not in topics]


def table(every: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Write the figures as a table: Hits@1 / F1, and the interval of Hits@1 of the reader."""
    head = ("set", "n", "`paths`, links given", "raw text", *METHODS, "model", "refused, given", "raw", "sure: right")
    lines = ["| " + " | ".join(head) + " |", "|---|" + "--:|" * (len(head) - 1)]
    for name, figures in every.items():
        sure = figures["paths"]["certainty"].get("sure")
        cells = [
            name,
            str(figures["questions"]),
            *(_both(figures[method], True) for method in ("paths", "paths, raw text")),
            *(_both(figures[method]) for method in METHODS),
            f"{_both(figures['model'])}, n {figures['model']['questions']}" if "model" in figures else "–",
            *(str(figures[method]["refused"]) for method in ("paths", "paths, raw text")),
            f"{sure['n']}: {_number(sure['mean'])}" if sure else "–",
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def _both(found: Mapping[str, Estimate], interval: bool = False) -> str:
    hits, f1 = found["hits"], found["f1"]
    between = f" ({_number(hits['low'])} to {_number(hits['high'])})" if interval and hits["low"] is not None else ""
    return f"{_number(hits['mean'])}{between} / {_number(f1['mean'])}"


def _number(value: float) -> str:
    return f"{value:.2f}".removeprefix("0") if value < 1 else "1.0"


def keep(name: str, figures: Mapping[str, Any]) -> None:
    """Keep the figures of a set for the results."""
    where, n = NAMES[name], figures["questions"]
    for method in ("paths", "paths, raw text", *METHODS):
        called = method.replace("raw text", "linked from the text")
        record_mean(where, called, "Hits@1", figures[method]["hits"], n)
        record_mean(where, called, "F1", figures[method]["f1"], n, False)
        if method.startswith("paths"):
            record_figure(where, called, "refused", figures[method]["refused"], n)
    if sure := figures["paths"]["certainty"].get("sure"):
        record_figure(where, "paths", "sure answers", sure["n"], n)
        record_mean(where, "paths", "right of the sure answers", sure, n, False)


def main() -> int:
    """Run the cases with available data, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", choices=list(CASES), default=list(CASES))
    parser.add_argument("--limit", type=int, default=LIMIT, help="most questions of a set (%(default)s)")
    parser.add_argument("--model", type=int, default=0, metavar="N", help="questions of a set for the language model")
    parser.add_argument("--show", type=int, default=0, metavar="N", help="print wrong answers, at most N of a set")
    parser.add_argument("--table", action="store_true", help="print the table of earlier runs, and ask nothing")
    args = parser.parse_args()
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in () if args.table else args.only:
        case = attrs.evolve(CASES[name], limit=args.limit)
        if missing := depths.prepare(name, case):
            print(f"{name}: skipped: {missing}", file=sys.stderr)
            continue
        figures = measure(name, case, args.model, args.show)
        # A file for each set, so that a run that is stopped keeps its sets.
        (FOLDER / f"{name}.json").write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
        keep(name, figures)
        spent = figures["cpu seconds"]
        print(f"{name}: {figures['questions']} questions, {spent} s of CPU", file=sys.stderr, flush=True)
    found = {name: FOLDER / f"{name}.json" for name in args.only}
    print("\n".join(table({name: read_json(file) for name, file in found.items() if file.is_file()})))
    print(f"figures: {shown(FOLDER)}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
