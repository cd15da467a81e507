"""Two-hop MetaQA on a graph that lacks facts: what `beam` answers over a completed graph, and what precision it costs.

    python benchmarks/completion_metaqa.py [--facts 200] [--untouched 500] [--completer frequency ...] [--least 0]
    python benchmarks/completion_metaqa.py --completer 'embedding={path: build/metaqa-completer}'

Facts are taken out, drawn by seed, each of which is the only way to the answers of a question: without it no answer is
within two steps of the question's entity, in any direction. Both ends of a fact keep two others. The questions, with
their entity given, are answered over the graph without these facts (`masked`), over the same graph completed by each
completer (`completed`), and over the whole graph. Untouched questions, drawn from the others, are answered too.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import yaml
from common import DATA, OUT, ROOT, lacking
from srtk_plugin_evaluation import score

import srtk_framework
from srtk_framework.host import load
from srtk_framework.values import Pattern, Question, Retrieval, Triple

FOLDER = OUT / "completion-metaqa"
BATCH = 50
METRICS = ("answer_coverage", "answer_recall", "triple_precision", "triples")


@attrs.define
class Facts:
    """The graph as a dictionary, with what has been taken out of it.

    Attributes:
        at: Triples at each node.
        out: Triples taken out, each with the id of the question whose way it was.
        kept: Triples that stay, since a question's way to its answers needs them.
        left: Number of triples at each node that are still there.
    """

    at: Mapping[str, frozenset[Triple]]
    out: dict[Triple, str] = attrs.field(factory=dict)
    kept: set[Triple] = attrs.field(factory=set)
    left: dict[str, int] = attrs.field(factory=dict)

    @classmethod
    def of(cls, triples: Sequence[Triple]) -> Facts:
        """Index triples by their ends."""
        at: defaultdict[str, set[Triple]] = defaultdict(set)
        for triple in triples:
            at[triple.subject].add(triple)
            at[triple.object].add(triple)
        return cls({node: frozenset(row) for node, row in at.items()}, left={node: len(at[node]) for node in at})

    def ways(self, start: str, ends: Sequence[str]) -> Iterator[frozenset[Triple]]:
        """Yield the triples of each way of one or two steps, in any direction, from a node to some others."""
        wanted = set(ends) - {start}
        for first in self.at.get(start, ()):
            middle = first.object if first.subject == start else first.subject
            if middle in wanted:
                yield frozenset([first])
        near: defaultdict[str, list[Triple]] = defaultdict(list)
        for first in self.at.get(start, ()):
            near[first.object if first.subject == start else first.subject].append(first)
        for end in wanted:
            for last in self.at.get(end, ()):
                middle = last.object if last.subject == end else last.subject
                for first in near.get(middle, ()):
                    yield frozenset([first, last])

    def take(self, question: Question, gold: frozenset[Triple]) -> bool:
        """Take a fact out that is the only way to a question's answers; return whether there is one to take."""
        ways = list(self.ways(question.links[0].entity, question.answers or ()))
        if not ways:
            return False
        needed = frozenset.intersection(*ways) & gold
        others = frozenset.union(*ways)
        for fact in sorted(needed, key=_drawn):
            fits = fact not in self.kept and all(self.left[node] > 2 for node in {fact.subject, fact.object})
            if fact not in self.out and fits and not (others - {fact}) & self.out.keys():
                self.out[fact] = question.id
                self.kept |= others - {fact}
                for node in {fact.subject, fact.object}:
                    self.left[node] -= 1
                return True
        return False


def _drawn(item: Any) -> str:
    return hashlib.sha256(repr(item).encode()).hexdigest()


def chosen(facts: int, untouched: int, triples: Sequence[Triple]) -> tuple[list[Question], list[Question], Facts]:
    """Choose the questions whose fact is taken out, and untouched ones, whose gold facts all stay."""
    data = load("dataset", "metaqa")(path=str(DATA / "metaqa"), hops=2, answers="complete")
    questions = sorted(data.read(), key=lambda question: _drawn(question.id))
    graph = Facts.of(triples)
    lost: list[Question] = []
    rest: list[Question] = []
    for question in questions:
        gold = frozenset(question.gold_triples or ())
        if len(lost) < facts and graph.take(question, gold):
            lost.append(question)
        else:
            rest.append(question)
    same = [question for question in rest if not set(question.gold_triples or ()) & graph.out.keys()]
    return lost, same[:untouched], graph


def recipe(
    hidden: Path | None, completer: Mapping[str, Any] | None, settings: Mapping[str, Any], triples: int
) -> dict[str, Any]:
    """Write the recipe of one case."""
    whole: dict[str, Any] = {
        "use": "local",
        "path": "build/metaqa",
        "build": {"files": [str(DATA / "metaqa" / "kb*.txt")], "separator": "|"},
    }
    stored = whole if hidden is None else {"use": "masked", "graph": whole, "hide": str(hidden)}
    given: dict[str, Any] = {
        "encoder": {"use": "onnx"},
        "path_scorer": {"use": "dense"},
        "expander": {"use": "beam", "depth": 2},
        "budget": {"triples": triples or None},
    }
    if completer is None:
        return {**given, "knowledge_graph": stored}
    return {
        **given,
        "knowledge_graphs": {"stored": stored},
        "knowledge_graph": {"use": "completed", "graph": "stored", "ends": "both", **settings},
        "completer": {"graph": "stored", **completer},
    }


def answers(keys: Mapping[str, Any], questions: Sequence[Question]) -> list[Retrieval]:
    """Answer questions by a recipe."""
    found: list[Retrieval] = []
    with srtk_framework.open({"srtk": 1, **keys}) as session:
        for start in range(0, len(questions), BATCH):
            found += session.retrieve(questions[start : start + BATCH])
    return found


def report(lost: Sequence[Retrieval], same: Sequence[Retrieval], out: Mapping[Triple, str]) -> dict[str, Any]:
    """Summarise one case."""
    figures: dict[str, Any] = {}
    for name, rows in (("lost", lost), ("untouched", same)):
        scores = [score(one) for one in rows]
        for metric in METRICS:
            figures[f"{name} {metric}"] = round(float(np.mean([s[metric] or 0.0 for s in scores])), 4)
        added = [
            triple
            for one in rows
            for triple, sure in zip(one.subgraph.triples, one.subgraph.confidences, strict=False)
            if sure < 1
        ]
        figures[f"{name} added"] = round(len(added) / max(1, len(rows)), 2)
        figures[f"{name} added true"] = round(sum(triple in out for triple in added) / len(added), 4) if added else None
    fact = {question: triple for triple, question in out.items()}
    # An answer that noise happens to hold is none: the fact that leads to it must be there too.
    found = [fact[one.question.id] in one.subgraph.triples and score(one)["answer_coverage"] for one in lost]
    figures["lost answered by its fact"] = round(float(np.mean([bool(one) for one in found])), 4)
    figures["errors"] = sum(one.error is not None for one in (*lost, *same))
    return figures


def main() -> None:
    """Run the cases."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--facts", type=int, default=200)
    parser.add_argument("--untouched", type=int, default=500)
    parser.add_argument("--completer", nargs="*", default=["frequency"], help="NAME, or NAME={setting: value}")
    parser.add_argument("--least", type=float, default=0.0)
    parser.add_argument("--most", type=int, default=10)
    parser.add_argument("--triples", type=int, default=200, help="budget of a question; 0 for no limit")
    arguments = parser.parse_args()
    if reason := lacking("metaqa"):
        raise SystemExit(reason)
    FOLDER.mkdir(parents=True, exist_ok=True)
    with srtk_framework.open({"srtk": 1, **recipe(None, None, {}, 0)}) as session:
        triples = list(session.graph.match([Pattern()])[0])
    lost, same, graph = chosen(arguments.facts, arguments.untouched, triples)
    hidden = FOLDER / "hidden.tsv"
    hidden.write_text("".join("\t".join(triple) + "\n" for triple in sorted(graph.out)), encoding="utf-8")
    print(f"{len(triples)} triples, {len(graph.out)} taken out; {len(lost)} and {len(same)} questions", flush=True)
    cases: dict[str, tuple[Path | None, dict[str, Any] | None]] = {"whole": (None, None), "without": (hidden, None)}
    for text in arguments.completer:
        name, _, rest = text.partition("=")
        cases[text] = (hidden, {"use": name, **(yaml.safe_load(rest) if rest else {})})
    figures = {}
    for name, (hide, completer) in cases.items():
        began = time.perf_counter()
        keys = recipe(hide, completer, {"least": arguments.least, "most": arguments.most}, arguments.triples)
        found = answers(keys, [*lost, *same])
        figures[name] = report(found[: len(lost)], found[len(lost) :], graph.out)
        print(name, f"{time.perf_counter() - began:.0f} s", json.dumps(figures[name]), flush=True)
    (FOLDER / "figures.json").write_text(json.dumps(figures, indent=2), encoding="utf-8")
    print(f"figures in {(FOLDER / 'figures.json').relative_to(ROOT)}")


if __name__ == "__main__":
    main()
