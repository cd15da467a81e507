"""How far edges of CN-100K alone tell the right option from the others: an oracle for readers of a graph.

    python -m benchmarks.septa.edges [--device cuda] [--only SET ...] [--limit N]

Each option, right or wrong, gets its own edges: those at one of its entities, and among them the joins, whose other end
is an entity of the question. Questions and options are linked by all runs of words that are nodes. Nothing is trained.
`joins`: the option with most joins; `only joined`: only the right option has any. `nearest edge`: the option
whose edge, in words, has the greatest cosine with the question (MiniLM). `joins, then nearest edge` breaks ties of the
first by the second. Beside them the cosine of question and option, chance, and `text or edges`: either of the two is
right, which no reader of both can be sure to reach. Ties count by their share.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np
from srtk_plugin_datasets.multiple_choice import PIQA, CommonsenseQA, OpenBookQA, SocialIQA
from srtk_plugin_evaluation import paired, ratios
from srtk_plugin_transformers.encoder import TransformersEncoder

from benchmarks.common import DATA, lacking
from benchmarks.septa.alignment import read_graph
from benchmarks.septa.option_sets import CSQA, FOLDER, Phrases, places
from srtk_framework.roles import Encoder
from srtk_framework.text import fold, relation_words
from srtk_framework.values import Pattern, Question, Triple

SETS = {
    "CommonsenseQA": CommonsenseQA(path=str(DATA / CSQA), repeated="merge"),
    "OpenBookQA": OpenBookQA(path=str(DATA / FOLDER), split="test", repeated="merge"),
    "PIQA": PIQA(path=str(DATA / FOLDER), split="test", repeated="merge"),
    "SocialIQA": SocialIQA(path=str(DATA / FOLDER), split="test", repeated="merge"),
}
TEXT, EDGES = "text alone, not trained", "joins, then nearest edge"


class Edges:
    """The edges of a graph by their ends, and the vectors of what they say."""

    def __init__(self, encoder: Encoder) -> None:
        graph, _ = read_graph("cn100k")
        (facts,) = graph.match([Pattern()])
        self.encoder = encoder
        self.at: dict[str, list[int]] = defaultdict(list)
        self.facts = sorted(facts)
        for number, fact in enumerate(self.facts):
            for end in {fact.subject, fact.object}:
                self.at[end].append(number)
        nodes = {fold(end): end for end in self.at}
        self.linker = Phrases(nodes)

    def vectors(self, texts: Sequence[str]) -> dict[str, Any]:
        """Encode each distinct text once."""
        distinct = list(dict.fromkeys(texts))
        return dict(zip(distinct, self.encoder.encode(distinct), strict=True))

    def scores(self, questions: Sequence[Question]) -> dict[str, list[np.ndarray]]:
        """Return the scores of the options of each question by each rule."""
        linked = [self.linker.link([q.text, *q.options]) for q in questions]
        own = [[{number for link in links for number in self.at[link.entity]} for links in rows[1:]] for rows in linked]
        needed = sorted({number for rows in own for some in rows for number in some})
        words = {number: worded(self.facts[number]) for number in needed}
        known = self.vectors([*words.values(), *(text for q in questions for text in (q.text, *q.options))])
        found: dict[str, list[np.ndarray]] = defaultdict(list)
        for question, rows, edges in zip(questions, linked, own, strict=True):
            asked = {link.entity for link in rows[0]}
            joins, nearest = [], []
            for links, some in zip(rows[1:], edges, strict=True):
                its = {link.entity for link in links}
                joins.append(sum(between(self.facts[number], asked, its) for number in some))
                cosines = [float(known[words[number]] @ known[question.text]) for number in some]
                nearest.append(max(cosines, default=-1.0))
            count = np.array(joins)
            found["joins"].append(count)
            found["nearest edge"].append(np.array(nearest))
            found[EDGES].append(count + (np.array(nearest) + 1) / 4)
            found[TEXT].append(np.array([known[option] @ known[question.text] for option in question.options]))
        return found


def worded(fact: Triple) -> str:
    """Say an edge in words."""
    return f"{fact.subject} {relation_words(fact.relation, fact.relation)} {fact.object}"


def between(fact: Triple, asked: set[str], its: set[str]) -> bool:
    """Return whether an edge has one end in each of two sets of nodes."""
    ends = fact.subject, fact.object
    return (ends[0] in asked and ends[1] in its) or (ends[1] in asked and ends[0] in its)


def right_by(scores: Sequence[np.ndarray], gold: Sequence[int]) -> list[float]:
    """Return the chance that the best option is the right one, where equal scores share it."""
    best = [np.flatnonzero(row == row.max()) for row in scores]
    return [float(at in some) / len(some) for some, at in zip(best, gold, strict=True)]


def figures(questions: Sequence[Question], edges: Edges) -> list[dict[str, Any]]:
    """Return the share of right options by each rule, and its difference from text alone."""
    gold, scores = places(questions), edges.scores(questions)
    rows = {name: right_by(some, gold) for name, some in scores.items()}
    rows["chance"] = [1 / len(q.options) for q in questions]
    joins = zip(scores["joins"], gold, strict=True)
    rows["only joined"] = [float(row[at] > 0 and np.count_nonzero(row) == 1) for row, at in joins]
    rows["text or edges"] = [max(pair) for pair in zip(rows[TEXT], rows[EDGES], strict=True)]
    joined = [float(row.max() > 0) for row in scores["joins"]]
    found = [{"method": "some option is joined", **ratios([[(one, 1.0) for one in joined]])[0]}]
    for name, values in rows.items():
        found.append({"method": name, **ratios([[(one, 1.0) for one in values]])[0]})
        if name != TEXT:
            found[-1]["less text alone"] = paired(values, rows[TEXT])
    return found


def main() -> None:
    """Measure the sets."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--only", nargs="*", default=list(SETS), choices=SETS)
    parser.add_argument("--limit", type=int, help="questions of a set, the first")
    options = parser.parse_args()
    if missing := lacking(CSQA, "conceptnet/cn100k/train100k.txt"):
        parser.exit(1, f"{missing}\n")
    encoder = TransformersEncoder(model="minilm", device=options.device, dtype="float32")
    encoder.open()
    edges = Edges(encoder)
    for name in options.only:
        questions = list(SETS[name].read())[: options.limit]
        for row in figures(questions, edges):
            print(json.dumps({"set": name, **row}), flush=True)
        print(f"{name}: {len(questions)} questions", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
