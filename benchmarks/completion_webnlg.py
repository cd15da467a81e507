"""Two-hop questions on WebNLG's graph without 30 % of its triples, completed by a language model: what `beam` answers.

    OMP_NUM_THREADS=1 python benchmarks/knowlybert.py --model MODEL --seeds 1 --types soft --out FOLDER
    OMP_NUM_THREADS=1 python benchmarks/completion_webnlg.py --model MODEL --learnt FOLDER [--least 0.5 0.3]

FOLDER holds what `masked-lm` learnt for seed 0. Paths of two steps from an entity, one of whose triples is hidden and
without which their end is not within two steps of it, in any direction, become questions, drawn by hash: "What is the
music fusion genre of the genre of Christian Burns?". Untouched questions are paths of which nothing is hidden. The
entity is given.

*Answered*: the subgraph holds the answer and the hidden triple. *Added answers*: ends of the two relations of a
question, over at least one completed triple of the subgraph; wrong if WebNLG does not hold both triples.
"""

from __future__ import annotations

import argparse
import html
import json
import os
import re
import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import attrs
from common import lacking
from knowlybert import World
from srtk_plugin_evaluation import score

import srtk_framework
from srtk_framework.host import load
from srtk_framework.records import place
from srtk_framework.text import subgraph_text
from srtk_framework.values import Link, Literal, Question, Retrieval, Triple

BATCH = 20
Way = tuple[Triple, Triple]


@attrs.frozen
class Split:
    """The graph, what is hidden of it, and the questions.

    Attributes:
        hidden: Hidden triples.
        known: The other ones.
        lost: Questions whose way has a hidden triple, with the way.
        untouched: Questions of which nothing is hidden, with the way.
    """

    hidden: frozenset[Triple]
    known: tuple[Triple, ...]
    lost: Mapping[str, tuple[Question, Way]]
    untouched: Mapping[str, tuple[Question, Way]]


def words(relation: str) -> str:
    """Write a relation of DBpedia in words."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", relation).replace("_", " ").lower()


def split(world: World, questions: int, untouched: int) -> Split:
    """Hide triples, and draw questions."""
    hidden, _, rest = world.split(0)
    known = tuple(one for one in rest if not isinstance(one.object, Literal))
    out = frozenset(hidden)
    leaving: defaultdict[str, list[Triple]] = defaultdict(list)
    near: defaultdict[str, set[str]] = defaultdict(set)
    for one in (*hidden, *known):
        leaving[one.subject].append(one)
    for one in known:
        near[one.subject].add(one.object)
        near[one.object].add(one.subject)
    lost: list[Way] = []
    same: list[Way] = []
    near.default_factory = None
    for one in (*hidden, *known):
        for next_ in leaving[one.object]:
            start, end = one.subject, next_.object
            if end == start or start not in near or end not in near:
                continue
            count = len(out & {one, next_})
            reached = end in near[start] or any(end in near[middle] for middle in near[start])
            if count == 1 and not reached:
                lost.append((one, next_))
            elif not count and not any(
                step in out
                for step in (*leaving[start], *(last for first in leaving[start] for last in leaving[first.object]))
                if step.relation in (one.relation, next_.relation)
            ):
                same.append((one, next_))
    return Split(out, known, _questions(lost, leaving, world, questions), _questions(same, leaving, world, untouched))


def _questions(
    ways: Iterable[Way], leaving: Mapping[str, Sequence[Triple]], world: World, most: int
) -> dict[str, tuple[Question, Way]]:
    """Make a question of each way, of one start and two relations only one."""
    found: dict[str, tuple[Question, Way]] = {}
    for first, last in sorted(ways, key=lambda way: (place("\t".join(map(str, (*way[0], *way[1]))), 0), way)):
        id_ = f"{first.subject} {first.relation} {last.relation}"
        if id_ in found or len(found) == most:
            continue
        text = f"What is the {words(last.relation)} of the {words(first.relation)} of {world.labels[first.subject]}?"
        found[id_] = (Question(id_, text, (Link(first.subject),), answers=(last.object,)), (first, last))
    return found


def recipe(folder: Path, completer: Mapping[str, Any] | None, given: argparse.Namespace) -> dict[str, Any]:
    """Return the recipe of one case."""
    stored: dict[str, Any] = {
        "use": "local",
        "path": str(folder / "snapshot"),
        "build": {"files": [str(folder / "known.tsv")], "labels": [str(folder / "labels.tsv")]},
    }
    keys: dict[str, Any] = {
        "srtk": 1,
        "encoder": {"use": "onnx"},
        "path_scorer": {"use": "dense"},
        "expander": {"use": "beam", "depth": 2},
        "budget": {"triples": given.triples},
    }
    if completer is None:
        return {**keys, "knowledge_graph": stored}
    return {
        **keys,
        "knowledge_graphs": {"stored": stored},
        "knowledge_graph": {"use": "completed", "graph": "stored", "least": given.least, "most": given.most},
        "completer": {"graph": "stored", **completer},
    }


def answers(keys: Mapping[str, Any], questions: Sequence[Question]) -> list[Retrieval]:
    """Answer questions by a recipe."""
    found: list[Retrieval] = []
    with srtk_framework.open(keys) as session:
        for start in range(0, len(questions), BATCH):
            found += session.retrieve(questions[start : start + BATCH])
    return found


def added(retrieval: Retrieval, way: Way) -> list[str]:
    """Return the ends of a question's relations that no two stored triples of its subgraph lead to."""
    graph = retrieval.subgraph
    sure = dict(zip(graph.triples, graph.confidences or (1.0,) * len(graph.triples), strict=True))
    (start, first_relation, _), (_, last_relation, _) = way
    ends: dict[str, bool] = {}
    for first, last in _ways(graph.triples):
        if (first.subject, first.relation, last.relation) == (start, first_relation, last_relation):
            stored = sure[first] >= 1 and sure[last] >= 1
            ends[str(last.object)] = stored or ends.get(str(last.object), False)
    return sorted(end for end, stored in ends.items() if not stored)


def report(
    found: Sequence[Retrieval], part: Mapping[str, tuple[Question, Way]], data: Split, page: Path
) -> dict[str, Any]:
    """Return the figures of some questions, and write their page."""
    true = data.hidden | set(data.known)
    pairs = {(one.subject, one.relation, two.relation, two.object) for one, two in _ways(true)}
    guesses = [
        triple
        for one in found
        for triple, sure in zip(one.subgraph.triples, one.subgraph.confidences, strict=False)
        if sure < 1
    ]
    ways = {one.question.id: part[one.question.id][1] for one in found}
    ends = [(one.question.id, end) for one in found for end in added(one, ways[one.question.id])]
    wrong = []
    for id_, end in ends:
        first, last = ways[id_]
        if (first.subject, first.relation, last.relation, end) not in pairs:
            wrong.append(id_)
    exporter = load("exporter", "html")(path=str(page))
    exporter.open()
    exporter.write(found)
    exporter.close()
    return {
        "count": len(found),
        "answer in the subgraph": sum(bool(score(one)["answer_coverage"]) for one in found),
        "completed triples": len(guesses),
        "of these true": sum(one in true for one in guesses),
        "answers added": len(ends),
        "wrongly": len(wrong),
        "questions with a wrong one": len(set(wrong)),
        "errors": sum(one.error is not None for one in found),
    }


def explained(found: Sequence[Retrieval], data: Split, page: Path) -> dict[str, int]:
    """Return how many questions are answered by their hidden triple, and where its sentence is to be read."""
    written = html.unescape(page.read_text(encoding="utf-8"))
    counts = dict.fromkeys(("answered", "marked", "sentence in the text for prompts", "sentence on the page"), 0)
    for one in found:
        (fact,) = data.hidden & set(data.lost[one.question.id][1])
        if fact not in one.subgraph.triples or not score(one)["answer_coverage"]:
            continue
        at = one.subgraph.triples.index(fact)
        counts["answered"] += 1
        counts["marked"] += one.subgraph.confidences[at] < 1
        sentence = one.subgraph.evidence[at][0].text
        counts["sentence in the text for prompts"] += sentence in subgraph_text(one.subgraph, one.labels, None)
        counts["sentence on the page"] += json.dumps(sentence, ensure_ascii=False)[1:-1] in written
    return counts


def _ways(triples: Iterable[Triple]) -> Iterable[Way]:
    some = sorted(triples, key=str)
    leaving: defaultdict[str, list[Triple]] = defaultdict(list)
    for one in some:
        leaving[one.subject].append(one)
    return ((one, next_) for one in some for next_ in leaving[str(one.object)])


def main() -> int:
    """Run the cases, and print a line of JSON for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True, help="folder of the masked language model")
    parser.add_argument("--learnt", type=Path, required=True, help="folder that benchmarks/knowlybert.py wrote")
    parser.add_argument("--questions", type=int, default=100)
    parser.add_argument("--untouched", type=int, default=100)
    parser.add_argument("--least", type=float, nargs="+", default=[0.5], help="least confidence of a completed triple")
    parser.add_argument("--most", type=int, default=10, help="most triples that complete a pattern")
    parser.add_argument("--triples", type=int, default=200, help="most triples of a question")
    given = parser.parse_args()
    if missing := lacking("webnlg/en"):
        print(missing, file=sys.stderr)
        return 0
    folder = given.learnt / "beam"
    folder.mkdir(exist_ok=True)
    world = World(folder)
    data = split(world, given.questions, given.untouched)
    (folder / "known.tsv").write_text("".join("\t".join(one) + "\n" for one in data.known), encoding="utf-8")
    relations = {one.relation: words(one.relation) for one in (*data.hidden, *data.known)}
    labels = {**world.labels, **relations}
    (folder / "labels.tsv").write_text("".join(f"{id_}\t{one}\n" for id_, one in labels.items()), encoding="utf-8")
    parts = {"lost": data.lost, "untouched": data.untouched}
    learnt = {
        "use": "masked-lm",
        "filler": {"use": "masked-lm", "model": str(Path(given.model).resolve()), "threads": 1},
        "path": str((given.learnt / "model-0").resolve()),
        "names": str(world.names.resolve()),
    }
    cases: list[tuple[str, Mapping[str, Any] | None, float]] = [("without", None, 1.0)]
    cases += [(f"masked-lm, least {least:g}", learnt, least) for least in given.least]
    for name, completer, least in cases:
        keys = recipe(folder, completer, argparse.Namespace(**{**vars(given), "least": least}))
        for kind, part in parts.items():
            started = time.process_time()
            found = answers(keys, [question for question, _ in part.values()])
            figures = report(found, part, data, folder / f"{kind}.html")
            if kind == "lost":
                figures |= explained(found, data, folder / f"{kind}.html")
            seconds = round(time.process_time() - started)
            print(json.dumps({"case": name, "questions": kind, **figures, "cpu_s": seconds}), flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
