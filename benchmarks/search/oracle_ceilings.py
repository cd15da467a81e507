"""Ceilings of the expanders: what each one finds if its scorer or generator knows the gold path.

    python -m benchmarks.search.oracle_ceilings [--limit N] [--only NAME ...] [--methods NAME ...] [--missed N]

Each question is searched to the length of its gold path, links given, without a limit on triples. `beam`, `structgpt`
and `tog` are led by an oracle, once with their default settings and once with the limits lifted that keep them below 1.
`rerank` orders and cuts the triples of a beam that reads 20 paths, with a head that knows which path is the gold one.
`bfs`, `ppr` and `random` have nothing that an oracle could lead: their recall is that of the neighbourhood.
`--missed` prints questions of which a method loses answers, with their traces.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path as FilePath
from typing import Any

import attrs
import numpy as np

from benchmarks.common import OUT, ROOT, Result, lacking, print_outcome
from benchmarks.figures import NAMES, record_mean
from srtk_framework.roles import Encoder, Expander, Generator, KnowledgeGraph, PathScorer
from srtk_framework.text import path_text, triple_text
from srtk_framework.values import END, Budget, Path, Prompt, Question, Reply, Retrieval, Step, Subgraph

DEFAULT_LIMIT = 500
"""Questions of a case, drawn by the datasets' own sample with seed 0."""
BATCH = 100
WIDE = 1000
METRICS = ("answer_coverage", "answer_recall", "triple_recall", "triple_precision", "triples")
COLUMNS = ("case", "method", "questions", "coverage", "answer recall", "triple recall", "triple precision", "triples")


@attrs.define(eq=False)
class OracleScorer(PathScorer):
    """Score a step 0 if it is on the gold path, else -1.

    Attributes:
        paths: By text of a question, its gold path.
    """

    paths: Mapping[str, Path]

    def score(
        self, questions: Sequence[str], paths: Sequence[Path], candidates: Sequence[Sequence[Step]]
    ) -> list[list[float]]:
        """Score each candidate; END is right where the gold path ends."""
        rows = []
        for question, path, steps in zip(questions, paths, candidates, strict=True):
            gold = self.paths[question]
            right = (*gold, END)[len(path)] if path == gold[: len(path)] else None
            rows.append([0.0 if step == right else -1.0 for step in steps])
        return rows


@attrs.define(eq=False)
class OracleGenerator(Generator):
    """Choose the options that are on the gold path: paths that begin it, and gold triples.

    Attributes:
        right: By text of a question, the texts of the beginnings of its gold path and of its gold triples.
    """

    right: Mapping[str, frozenset[str]]

    def generate(self, prompts: Sequence[Prompt]) -> list[Reply]:
        """Reply with the numbers of the right options, as many as may be chosen."""
        return [Reply(json.dumps(self._numbers(prompt))) for prompt in prompts]

    def _numbers(self, prompt: Prompt) -> list[int]:
        right = self.right[prompt.query]
        return [number for number, option in enumerate(prompt.options, 1) if option in right][: prompt.most]


@attrs.define(eq=False)
class ConstantEncoder(Encoder):
    """Give every text the same vector, for a head that reads no text."""

    def encode(self, texts: Sequence[str]) -> Any:
        """Return rows of (1, 0)."""
        return np.tile(np.array([1.0, 0.0], dtype=np.float32), (len(texts), 1))

    def fingerprint(self) -> str:
        """Return a constant."""
        return "constant"


def write_oracle_head(folder: FilePath) -> None:
    """Write a head whose logit is 10 for triples on the best path of the inner expander, and -10 for all others."""
    from srtk_plugin_sr.features import FEATURE_COUNT, ROUNDS
    from srtk_plugin_sr.head import Head, input_width

    dimensions, features = 2, FEATURE_COUNT
    width = input_width(dimensions, features)
    inner = np.zeros((1, width))
    # The score of a triple's path, relative to the best, follows the distances, hops and directions of `features.py`.
    inner[0, width - features + 2 * (1 + 2 * ROUNDS) + 6 + 2 + 1] = 1.0
    weights = {
        "inner": inner,
        "inner_bias": np.array([0.5]),
        "outer": np.array([[40.0]]),
        "outer_bias": np.array([-10.0]),
        "mean": np.zeros(features),
        "spread": np.ones(features),
    }
    reads = {"mention": None, "probe": [1.0, 0.0]}
    Head(weights, slope=1.0, offset=0.0, reads=reads).save(folder)


@attrs.frozen
class Case:
    """One set of questions: its recipe, its variables, the length of its gold paths, and files that it needs."""

    name: str
    recipe: str
    hops: int
    files: tuple[str, ...]

    def sets(self, limit: int) -> list[str]:
        """Return the values that override the recipe's."""
        return [f"vars.hops={self.hops}", f"vars.limit={limit or 'null'}"]


CASES = (
    *(
        Case(f"pathquestion-{hops}", "recipes/pathquestion.yaml", hops, (f"pathquestion/PQ-{hops}H.txt",))
        for hops in (2, 3)
    ),
    *(Case(f"metaqa-{hops}", "recipes/metaqa.yaml", hops, (f"metaqa/{hops}-hop/qa_dev.txt",)) for hops in (1, 2, 3)),
)

CALLED = {"beam, width 10": "beam", "beam, width 1": "beam, width: 1", "rerank": "rerank over a beam"}
"""Methods that have another name on the pages."""

Make = Callable[[KnowledgeGraph, OracleScorer, OracleGenerator, int], Expander]


def methods(head: FilePath) -> dict[str, Make]:
    """Return the expanders by name, with defaults but for depth and oracle; no choice of the path overrules it."""
    from srtk_plugin_baselines.bfs import BfsExpander
    from srtk_plugin_baselines.ppr import PprExpander
    from srtk_plugin_baselines.random_triples import RandomExpander
    from srtk_plugin_sr.beam import BeamExpander
    from srtk_plugin_sr.rerank import RerankExpander
    from srtk_plugin_structgpt.structgpt import StructGptExpander
    from srtk_plugin_structgpt.tog import TogExpander

    def led(cls: Any, **settings: Any) -> Make:
        return lambda graph, scorer, generator, hops: cls(
            graph, generator, stop="depth", max_iterations=hops, show="path", **settings
        )

    def rerank(graph: KnowledgeGraph, scorer: OracleScorer, generator: OracleGenerator, hops: int) -> Expander:
        inner = BeamExpander(graph, scorer, width=20, depth=hops, choice=None)
        inner.open()
        return RerankExpander(inner, ConstantEncoder(), graph, model=str(head), cache="")

    no_limits: dict[str, Any] = {"relation_triples": None, "tokens": None}
    all_read: dict[str, Any] = {"budget": Budget(nodes=None, hub=None), "most_read": None}
    return {
        "beam, width 10": lambda graph, scorer, _, hops: BeamExpander(graph, scorer, depth=hops, choice=None),
        "beam, width 1": lambda graph, scorer, _, hops: BeamExpander(graph, scorer, width=1, depth=hops, choice=None),
        "rerank": rerank,
        "structgpt": led(StructGptExpander),
        "structgpt, revisit": led(StructGptExpander, revisit=True),
        "structgpt, no limits": led(StructGptExpander, **no_limits),
        "structgpt, revisit, no limits": led(StructGptExpander, revisit=True, **no_limits),
        "tog": led(TogExpander),
        "tog, revisit": led(TogExpander, revisit=True),
        "tog, no limits": led(TogExpander, width=WIDE, **no_limits),
        "tog, revisit, no limits": led(TogExpander, width=WIDE, revisit=True, **no_limits),
        "bfs": lambda graph, scorer, _, hops: BfsExpander(graph, depth=hops),
        "bfs, no limits": lambda graph, scorer, _, hops: BfsExpander(graph, all_read["budget"], depth=hops),
        "ppr": lambda graph, scorer, _, hops: PprExpander(graph, depth=hops),
        "ppr, no limits": lambda graph, scorer, _, hops: PprExpander(graph, depth=hops, **all_read),
        "random": lambda graph, scorer, _, hops: RandomExpander(graph, depth=hops),
        "random, no limits": lambda graph, scorer, _, hops: RandomExpander(graph, depth=hops, **all_read),
    }


def oracles(graph: KnowledgeGraph, questions: Sequence[Question]) -> tuple[OracleScorer, OracleGenerator]:
    """Return a scorer and a generator that know the gold paths; a question's text is its id."""
    ids = {step.relation for one in questions for step in gold_path(one)}
    ids |= {id_ for one in questions for triple in one.gold_triples or () for id_ in triple}
    labels = dict(zip(sorted(ids), graph.labels(sorted(ids)), strict=True))
    right = {}
    for one in questions:
        path = gold_path(one)
        texts = {path_text(path[: i + 1], labels) for i in range(len(path))}
        right[one.text] = frozenset(texts | {triple_text(triple, labels) for triple in one.gold_triples or ()})
    return OracleScorer({one.text: gold_path(one) for one in questions}), OracleGenerator(right)


def keyed(question: Question) -> Question:
    """Put the id, the oracles' key, in the place of the text; drop answers that are the topic entity.

    Equal wordings of different questions stay apart so. The topic entity never counts as an answer found.
    """
    topics = {link.entity for link in question.links}
    answers = tuple(answer for answer in question.answers or () if answer not in topics)
    return attrs.evolve(question, text=question.id, answers=answers)


def gold_path(question: Question) -> Path:
    """Return the gold path of a question of these sets, which have one each."""
    [path] = question.gold_paths or ()
    return path


def measure(case: Case, limit: int, wanted: Sequence[str], missed: int) -> Result:
    """Run the methods on one case."""
    import yaml
    from srtk_plugin_evaluation import row, summarise

    import srtk_framework

    command = f"python -m benchmarks.search.oracle_ceilings --limit {limit} --only {case.name}"
    if why := lacking(*case.files):
        return Result(case.name, command, skipped=why)
    figures: dict[str, Any] = {}
    whole = yaml.safe_load((ROOT / case.recipe).read_text(encoding="utf-8"))
    recipe = {key: whole[key] for key in ("srtk", "vars", "questions", "knowledge_graph")}
    recipe["expander"] = {"use": "bfs"}
    with srtk_framework.open(recipe, case.sets(limit)) as session, tempfile.TemporaryDirectory() as folder:
        graph: KnowledgeGraph = session.methods["bfs"].driver.graph  # type: ignore[attr-defined]
        write_oracle_head(FilePath(folder))
        questions = [keyed(one) for one in session.dataset.read()]  # type: ignore[union-attr]
        scorer, generator = oracles(graph, questions)
        for name, make in methods(FilePath(folder)).items():
            if wanted and not name.startswith(tuple(wanted)):
                continue
            expander = make(graph, scorer, generator, case.hops)
            expander.open()
            found = list(retrievals(expander, questions))
            summary = summarise([row(one) for one in found])
            figures[name] = {"questions": len(found), **{metric: dict(summary[metric]) for metric in METRICS}}
            figures[name]["cut"] = cuts(found)
            for metric in ("answer_recall", "triple_recall", "triple_precision"):
                called = metric.replace("_", " ")
                record_mean(NAMES[case.name], CALLED.get(name, name), called, summary[metric], len(found), False)
            show_missed(case, name, found, missed)
    return Result(case.name, command, figures=figures)


def retrievals(expander: Expander, questions: Sequence[Question]) -> Iterator[Retrieval]:
    """Yield the subgraph of each question, beside its gold."""
    for start in range(0, len(questions), BATCH):
        part = questions[start : start + BATCH]
        subgraphs: Sequence[Subgraph] = expander.expand([one.without_gold() for one in part])
        for question, subgraph in zip(part, subgraphs, strict=True):
            yield Retrieval(question=question, subgraph=subgraph)


def cuts(found: Sequence[Retrieval]) -> dict[str, int]:
    """Return the number of questions of which each limit cut something."""
    names = [name for one in found for name in (*one.subgraph.trace.get("cut", {}), *_BACK & one.subgraph.trace.keys())]
    return {name: names.count(name) for name in sorted(set(names))}


_BACK = {"back"}


def show_missed(case: Case, method: str, found: Sequence[Retrieval], most: int) -> None:
    """Print questions that lack answers, with what was cut."""
    for one in found:
        nodes = {end for triple in one.subgraph.triples for end in (triple.subject, triple.object)}
        lost = [answer for answer in one.question.answers or () if answer not in nodes]
        if lost and most:
            most -= 1
            trace = {key: value for key, value in one.subgraph.trace.items() if key not in ("calls", "generator")}
            print(f"{case.name} {method} {one.question.id}: {gold_path(one.question)} lost {lost[:3]}", trace)


def show(results: Sequence[Result]) -> None:
    """Print one line for each case and method."""
    print("| " + " | ".join(COLUMNS) + " |")
    print("|---|---|" + "--:|" * (len(COLUMNS) - 2))
    for result in results:
        for i, (method, figures) in enumerate(result.figures.items()):
            numbers = [f"{figures[metric]['mean']:.3f}" for metric in METRICS[:-1]]
            cells = [result.name if i == 0 else "", method, str(figures["questions"]), *numbers]
            print("| " + " | ".join([*cells, f"{figures['triples']['mean']:.1f}"]) + " |")


def main() -> int:
    """Run the cases and print their table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limit", type=int, default=DEFAULT_LIMIT, help="questions of each case; 0 for all")
    parser.add_argument("--only", nargs="*", metavar="NAME", help="cases whose names begin so")
    parser.add_argument("--methods", nargs="*", metavar="NAME", default=(), help="methods whose names begin so")
    parser.add_argument("--missed", type=int, default=0, metavar="N", help="questions to print with what they lack")
    parser.add_argument("--out", type=FilePath, default=OUT / "oracle-ceilings", help="folder for results")
    args = parser.parse_args()
    results = []
    for case in CASES:
        if not args.only or case.name.startswith(tuple(args.only)):
            results.append(measure(case, args.limit, args.methods, args.missed))
            print_outcome(results[-1])
    show(results)
    args.out.mkdir(parents=True, exist_ok=True)
    path = args.out / "ceilings.json"
    path.write_text(json.dumps([attrs.asdict(one) for one in results], indent=1) + "\n", encoding="utf-8")
    return 1 if any(result.failed for result in results) else 0


if __name__ == "__main__":
    raise SystemExit(main())
