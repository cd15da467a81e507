"""Multiple-choice questions made from a graph: what an index of subgraphs, joins and alignment each add to text alone.

    OMP_NUM_THREADS=1 python -m benchmarks.septa.alignment cn100k      # the aligned encoders, and vectors that are kept
    OMP_NUM_THREADS=1 python -m benchmarks.septa.graph_questions --choose  # weights of the similarities
    OMP_NUM_THREADS=1 python -m benchmarks.septa.graph_questions [--seeds N] [--test N] [--train N]

From the edges of CN-100K: `one` needs one edge, `two` needs two, with no edge between question and answer. Of five
options four are objects of the same relation that are no answers, drawn at random or nearest to the answer by the
frozen encoder. The index holds the subgraphs around the centres of `alignment.py`, among which both ends of a question
are; question and index use different words for relations. Joins are measured on one edge alone, as no option of two is
joined to the question. Readers are trained on other questions of the same kind and distractors, a fifth of which choose
the epoch. `--choose` tries weights of the similarities with which an untrained reader begins, and settings of training,
on questions of other seeds than those that are reported. Each run also prints, for one edge, how many of the right
answers have the edge that is needed among the triples of their subgraph.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import attrs
import numpy as np
from srtk_plugin_evaluation import ratios
from srtk_plugin_index.expander import IndexExpander
from srtk_plugin_index.indexes.entry_file import EntryFile
from srtk_plugin_index.indexes.exact import ExactIndex
from srtk_plugin_local.memory import MemoryGraph
from srtk_plugin_onnx.encoder import OnnxEncoder
from srtk_plugin_septa.fit_settings import OptionsFitSettings
from srtk_plugin_septa.fused import FusedCorpus
from srtk_plugin_septa.graph_encoder import SeptaGraphEncoder
from srtk_plugin_septa.option_network import BEGIN
from srtk_plugin_septa.option_vectors import option_vectors
from srtk_plugin_septa.options_reader import OptionsReader
from srtk_plugin_septa.subgraphs import SubgraphCorpus
from srtk_plugin_septa.text_encoder import SeptaTextEncoder

from benchmarks.common import OUT, cached_values, lacking
from benchmarks.septa.alignment import OTHER_CN, TOKENS, Given, Kept, centres_of, read_graph
from srtk_framework.roles import Encoder, EntityLinker, TrainingTask
from srtk_framework.values import (
    Budget,
    Entry,
    Hit,
    Link,
    Pattern,
    Question,
    Search,
    Subgraph,
    TrainingExample,
    batched,
)

OPTIONS = 5
K = 5
CHOOSE_SEEDS, CHOOSE_FROM, CHOOSE_LEARNING = (101, 102), 200, 200
GRID = ((5.0, 10.0, 20.0, 40.0), (0.0, 5.0, 10.0, 20.0), (0.0, 5.0, 10.0, 20.0, 40.0, 80.0), (0.0, 2.5, 5.0, 10.0))
"""Weights of each similarity to choose from."""
TRAINING = [{"knowledge_pull": pull, "learning_rate": rate} for pull in (0.0, 0.1, 1.0) for rate in (0.001, 0.003)]
"""Settings of training to choose from."""
KINDS = [(edges, distractors) for edges in (1, 2) for distractors in ("random", "nearest")]
NEAREST, RANDOM = "nearest", "random"


@attrs.define(eq=False)
class Named(EntityLinker):
    """Links a text that is the name of a node."""

    nodes: frozenset[str]

    def link(self, texts: Sequence[str]) -> list[list[Link]]:
        """Link each text as a whole."""
        return [[Link(text)] if text in self.nodes else [] for text in texts]


@attrs.define(eq=False)
class Remembered(ExactIndex):
    """Remembers what it was searched for, and the entries that it read."""

    _found: dict[tuple[str, int], list[Hit]] = attrs.field(init=False, factory=dict)
    _read: dict[int, Entry] = attrs.field(init=False, factory=dict)

    def search(self, texts: Sequence[str], k: int) -> list[list[Hit]]:
        """Search for what is not known yet."""
        plain = super().search
        return cached_values(self._found, [(text, k) for text in texts], lambda new: plain([t for t, _ in new], k))

    def entry(self, entries: EntryFile, number: int) -> Entry:
        """Read an entry once."""
        if number not in self._read:
            self._read[number] = super().entry(entries, number)
        return self._read[number]

    def forget(self) -> None:
        """Forget what was found."""
        self._found.clear()


class Maker:
    """Makes questions from the edges between some nodes.

    Args:
        graph: The graph.
        ends: Nodes that may be asked about, and that may be answers.
        encoder: Tells which other objects of a relation are nearest to the answer.
    """

    def __init__(self, graph: MemoryGraph, ends: set[str], encoder: Encoder) -> None:
        (facts,) = graph.match([Pattern()])
        self.facts = [fact for fact in facts if fact.relation in OTHER_CN]
        self.ends, self.encoder = ends, encoder
        self.out: dict[str, list[tuple[str, str]]] = defaultdict(list)
        self.joined: set[frozenset[str]] = {frozenset((s, o)) for s, _, o in facts}
        objects: dict[str, set[str]] = defaultdict(set)
        for subject, relation, object_ in self.facts:
            self.out[subject].append((relation, object_))
            if object_ in ends:
                objects[relation].add(object_)
        self.objects = {relation: sorted(some) for relation, some in objects.items()}
        self.vectors: dict[str, Any] = {}

    def candidates(self, edges: int, rng: np.random.Generator) -> Iterator[tuple[str, list[str], str, set[str]]]:
        """Yield a node, the relations from it, an answer, and all answers, in an order drawn by chance."""
        starts = sorted(node for node in self.out if node in self.ends)
        for at in rng.permutation(len(starts)).tolist():
            start = starts[at]
            found: dict[tuple[str, ...], set[str]] = defaultdict(set)
            for relation, node in self.out[start]:
                if edges == 1:
                    found[(relation,)].add(node)
                else:
                    for second, end in self.out.get(node, ()):
                        if end != start and frozenset((start, end)) not in self.joined:
                            found[(relation, second)].add(end)
            fine = [(path, sorted(ends & self.ends), ends) for path, ends in sorted(found.items()) if ends & self.ends]
            if fine:
                path, answers, every = fine[int(rng.integers(len(fine)))]
                yield start, list(path), answers[int(rng.integers(len(answers)))], every

    def questions(self, edges: int, count: int, distractors: str, seed: int) -> list[Question]:
        """Make some questions, each from another node."""
        rng = np.random.default_rng((seed, edges))
        made: list[Question] = []
        for start, path, answer, answers in self.candidates(edges, rng):
            others = [node for node in self.objects[path[-1]] if node not in answers and node != start]
            if edges == 2:
                others = [node for node in others if frozenset((start, node)) not in self.joined]
            if len(others) < 50:
                continue
            chosen = self._distractors(answer, path[-1], others, distractors, rng)
            options = [answer, *chosen]
            order = rng.permutation(OPTIONS).tolist()
            made.append(
                Question(
                    f"{edges}-{len(made)}",
                    wording(start, path),
                    links=(Link(start),),
                    answers=(answer,),
                    options=tuple(options[i] for i in order),
                )
            )
            if len(made) == count:
                break
        return made

    def _distractors(
        self, answer: str, relation: str, others: list[str], how: str, rng: np.random.Generator
    ) -> list[str]:
        if how == RANDOM:
            return [others[i] for i in rng.choice(len(others), OPTIONS - 1, replace=False).tolist()]
        if relation not in self.vectors:
            self.vectors[relation] = self.encoder.encode(self.objects[relation])
        place = {node: i for i, node in enumerate(self.objects[relation])}
        cosines = self.vectors[relation] @ self.vectors[relation][place[answer]]
        return sorted(others, key=lambda node: (-float(cosines[place[node]]), node))[: OPTIONS - 1]


def wording(start: str, path: Sequence[str]) -> str:
    """Ask for the end of a path."""
    if len(path) == 1:
        return f"{OTHER_CN[path[0]].format(subject=start, object='what')}?"
    first = OTHER_CN[path[0]].format(subject=start, object="something")
    return f"{first}, and {OTHER_CN[path[1]].format(subject='that thing', object='what')}?"


def index_of(name: str, entries: list[Entry], graph: MemoryGraph, encoder: Kept, model: Path | None) -> tuple[Any, Any]:
    """Return an index of fused vectors, and the encoder of its searches."""
    path = str(model) if model else None
    texts = SeptaTextEncoder(encoder=encoder, path=path)
    graphs = SeptaGraphEncoder(graph=graph, encoder=encoder, path=path)
    texts.open()
    graphs.open()
    corpus = FusedCorpus(corpus=Given(entries), subgraph_encoder=graphs, encoder=texts)
    folder = OUT / "graph_questions" / name
    shutil.rmtree(folder, ignore_errors=True)
    index = Remembered(path=str(folder), encoder=texts)
    index.create()
    for some in batched(corpus.read(), 4096):
        index.add(some)
    index.commit()
    return index, texts


def retrieved(
    questions: Sequence[Question], index: ExactIndex, graph: MemoryGraph, linker: EntityLinker, enhance: str
) -> list[Subgraph]:
    """Search for each option of each question."""
    expander = IndexExpander(index=index, graph=graph, k=K, enhance=enhance, linker=linker, budget=Budget(triples=200))
    expander.open()
    return [one for some in batched(questions, 64) for one in expander.expand([q.without_gold() for q in some])]


def bare(subgraphs: Sequence[Subgraph]) -> list[Subgraph]:
    """Keep what was searched for, and drop what was found."""
    return [Subgraph(searches=tuple(Search(one.text) for one in s.searches)) for s in subgraphs]


def fitted(
    reader: OptionsReader,
    questions: Sequence[Question],
    found: Sequence[Subgraph],
    settings: OptionsFitSettings,
    seed: int,
) -> Mapping[str, float]:
    """Train a reader in a folder of its own, and return its figures."""
    examples = [TrainingExample(q, subgraph=s) for q, s in zip(questions, found, strict=True)]
    with tempfile.TemporaryDirectory() as folder:
        return reader.fit(TrainingTask(examples, None, Path(folder), seed), settings)


def right(reader: OptionsReader, questions: Sequence[Question], found: Sequence[Subgraph]) -> list[float]:
    """Return for each question whether the reader chooses the answer."""
    answers = [
        answer
        for some in batched(list(zip(questions, found, strict=True)), 256)
        for answer in reader.read([q.without_gold() for q, _ in some], [s for _, s in some])
    ]
    return [float(a.text in (q.answers or ())) for a, q in zip(answers, questions, strict=True)]


def supported(reader: OptionsReader, questions: Sequence[Question], found: Sequence[Subgraph]) -> list[float]:
    """Return for each right answer to a question of one edge whether its subgraph has that edge."""
    answers = reader.read([q.without_gold() for q in questions], found)
    rows = []
    for question, subgraph, answer in zip(questions, found, answers, strict=True):
        if answer.text in (question.answers or ()):
            ends = (question.links[0].entity, answer.text)
            between = [t.relation for t in subgraph.triples if (t.subject, t.object) == ends and t.relation in OTHER_CN]
            rows.append(float(any(wording(ends[0], [relation]) == question.text for relation in between)))
    return rows


def looked_up(graph: MemoryGraph, questions: Sequence[Question]) -> list[float]:
    """Take the first option that an edge joins with the question's node; the first option where there is none."""
    found = []
    for question in questions:
        start = question.links[0].entity
        patterns = [Pattern(*ends) for o in question.options for ends in ((start, None, o), (o, None, start))]
        rows = graph.match(patterns)
        joined = [o for i, o in enumerate(question.options) if rows[2 * i] or rows[2 * i + 1]]
        found.append(float((joined or list(question.options))[0] in (question.answers or ())))
    return found


def tell(rows: Mapping[str, Mapping[str, Sequence[float]]], seeds: int) -> None:
    """Print the figures of the seeds so far."""
    for name, into in rows.items():
        for method, values in into.items():
            figures = ratios([[(value, 1.0) for value in values]])[0]
            print(json.dumps({"questions": name, "method": method, "seeds": seeds, **figures}), flush=True)


def choose(maker: Maker, entries: list[Entry], graph: MemoryGraph, encoder: Kept) -> None:
    """Print the weights of the similarities that answer most questions, as aligned and not."""
    for name, model in (("aligned", OUT / "alignment/cn100k-0/model"), ("not aligned", None)):
        index, texts = index_of("choose", entries, graph, encoder, model)
        kinds, learnt = [], []
        for edges, distractors in KINDS:
            every = [maker.questions(edges, CHOOSE_FROM + CHOOSE_LEARNING, distractors, seed) for seed in CHOOSE_SEEDS]
            asked = [q for some in every for q in some[:CHOOSE_FROM]]
            found = retrieved(asked, index, graph, Named(frozenset()), "none")
            if model:
                others = [q for some in every for q in some[CHOOSE_FROM:]]
                learnt.append((asked, found, others, retrieved(others, index, graph, Named(frozenset()), "none")))
            similarities = np.stack([v.similarities for v in option_vectors(asked, found, index, texts, encoder, K)])
            kinds.append((similarities, np.array([q.options.index((q.answers or q.options)[0]) for q in asked])))

        def accuracies(weights: Sequence[float], kinds: Sequence[Any] = tuple(kinds)) -> list[float]:
            return [float(np.mean(np.argmax(rows @ np.array(weights), axis=1) == gold)) for rows, gold in kinds]

        ranked = sorted(product(*GRID), key=lambda weights: -float(np.mean(accuracies(weights))))
        for weights in [*ranked[:5], BEGIN]:
            print(json.dumps({"index": name, "weights": weights, "right": accuracies(weights)}), flush=True)
        for settings in TRAINING if model else ():
            shares, epochs = [], []
            for asked, found, others, of_others in learnt:
                reader = OptionsReader(index=index, encoder=texts, direct=encoder, k=K)
                reader.open()
                epochs.append(fitted(reader, others, of_others, OptionsFitSettings(**settings), 0)["epochs"])
                shares.append(float(np.mean(right(reader, asked, found))))
            print(json.dumps({"index": name, "fit": settings, "right": shares, "epochs": epochs}), flush=True)


def main() -> None:
    """Make the questions, train the readers, and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("seeds", 3), ("test", 500), ("train", 500)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--choose", action="store_true", help="choose the weights with which readers begin")
    options = parser.parse_args()
    if missing := lacking("conceptnet/cn100k/train100k.txt"):
        parser.exit(1, f"{missing}\n")
    graph, _ = read_graph("cn100k")
    learning, tested = centres_of(graph, 20000, 10000)
    onnx = OnnxEncoder(model="minilm")
    onnx.open()
    encoder = Kept(onnx, OUT / "alignment/cn100k.npy")
    encoder.open()
    corpus = SubgraphCorpus(graph=graph, centres=[*learning, *tested], tokens=TOKENS)
    corpus.open()
    entries = list(corpus.read())
    maker = Maker(graph, {entry.id for entry in entries}, encoder)
    linker = Named(frozenset(entry.id for entry in entries))
    if options.choose:
        choose(maker, entries, graph, encoder)
        return
    unaligned, plain_texts = index_of("unaligned", entries, graph, encoder, None)
    rows: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    shares: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    indexed: Path | None = None
    start = time.perf_counter()
    for seed in range(1, options.seeds + 1):
        model = OUT / f"alignment/cn100k-{seed - 1}/model"
        if not model.is_dir():
            print(f"seed {seed}: no model of its own; the alignment of seed 0 is taken", file=sys.stderr)
            model = OUT / "alignment/cn100k-0/model"
        if model != indexed:
            aligned, texts = index_of("aligned", entries, graph, encoder, model)
            indexed = model
        for edges, distractors in KINDS:
            every = maker.questions(edges, options.train + options.test, distractors, seed)
            train, test = every[options.test :], every[: options.test]
            name = f"{edges} edges, {distractors}"
            into = rows[name]
            into["lookup"] += looked_up(graph, test)
            methods = [("index, not aligned", unaligned, plain_texts, "none"), ("index", aligned, texts, "none")]
            if edges == 1:
                # No edge joins the ends of two.
                methods.append(("index and joins", aligned, texts, "joins"))
            for method, index, text, enhance in methods:
                found = [retrieved(some, index, graph, linker, enhance) for some in (train, test)]
                untrained = OptionsReader(index=index, encoder=text, direct=encoder, k=K)
                untrained.open()
                into[f"{method}: untrained"] += right(untrained, test, found[1])
                if edges == 1:
                    shares[name][f"{method}: untrained"] += supported(untrained, test, found[1])
                measured: list[tuple[str, list[list[Subgraph]], float | None]] = [(method, found, None)]
                if method == "index":
                    measured.append(("text alone", [bare(some) for some in found], 0.0))
                if method == "index and joins":
                    measured.append(("joins alone", [bare(some) for some in found], None))
                for label, (to_learn, to_test), knowledge in measured:
                    reader = OptionsReader(index=index, encoder=text, direct=encoder, k=K)
                    reader.open()
                    fitted(reader, train, to_learn, OptionsFitSettings(knowledge=knowledge), seed)
                    into[label] += right(reader, test, to_test)
                    if label == method and edges == 1:
                        shares[name][label] += supported(reader, test, to_test)
            plain = OptionsReader(index=unaligned, encoder=plain_texts, direct=encoder, k=K)
            plain.open()
            into["text alone: untrained"] += right(plain, test, [Subgraph()] * len(test))
            print(f"seed {seed}, {name}: {time.perf_counter() - start:.0f} s", file=sys.stderr, flush=True)
            if distractors == NEAREST:
                unaligned.forget()
                aligned.forget()
        # After each seed, so that what is broken off has told something.
        tell(rows, seed)
        tell({f"{name}, right answers with their edge": into for name, into in shares.items()}, seed)


if __name__ == "__main__":
    main()
