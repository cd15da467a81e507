"""OpenBookQA, CommonsenseQA, PIQA and SocialIQA with subgraphs of CN-100K: what the graph adds to text alone.

    OMP_NUM_THREADS=1 python -m benchmarks.septa.alignment cn100k      # the aligned encoders, and vectors that are kept
    OMP_NUM_THREADS=1 python -m benchmarks.septa.option_sets [--seeds N] [--only SET ...] [--methods NAME ...]
        [--tokens N] [--llm N]

All encoders are MiniLM with frozen weights; only the alignment's heads and the reader are trained. OpenBookQA: trained
on its training questions, a tenth of which choose the epoch, and on 5 to 50 % of them. CommonsenseQA: five-fold
cross-validation of the questions that are there. PIQA and SocialIQA: the readers trained on OpenBookQA. Beside them:
the most frequent place of the right option, and the cosines without any training. Questions are linked by all runs of
words that are nodes. `--llm` lets SmolLM2-135M choose among the options of N questions of a set (reader `options-llm`),
with what was retrieved before it and without.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
import numpy as np
from srtk_plugin_datasets.multiple_choice import PIQA, CommonsenseQA, OpenBookQA, SocialIQA
from srtk_plugin_evaluation import paired, ratios
from srtk_plugin_llama_cpp.generator import LlamaCppGenerator
from srtk_plugin_onnx.encoder import OnnxEncoder
from srtk_plugin_septa.fit_settings import OptionsFitSettings
from srtk_plugin_septa.options_reader import OptionsReader
from srtk_plugin_septa.subgraphs import SubgraphCorpus
from srtk_plugin_structgpt.options_reader import OptionsLlmReader

from benchmarks.common import DATA, OUT, lacking
from benchmarks.septa.alignment import TOKENS, Kept, centres_of, read_graph
from benchmarks.septa.graph_questions import K, bare, index_of, retrieved, right
from srtk_framework.roles import EntityLinker, TrainingTask
from srtk_framework.text import fold, words
from srtk_framework.values import Link, Pattern, Question, Subgraph, TrainingExample

SHARES = (0.05, 0.1, 0.25, 0.5, 1.0)
NOT_ALIGNED = "index and joins, not aligned"
METHODS = ("text alone", "joins alone", "index", "index and joins", NOT_ALIGNED)
CURVE = ("text alone", "index", "index and joins")
"""Methods that are trained on parts of the questions, too."""
FOLDS = 5
FOLDER = "commonsense_qa"
CSQA = f"{FOLDER}/csqa_dev_rand_split.jsonl"
SHOWN = 256
"""Most tokens of triples before the language model."""
WORDLESS = frozenset(
    [
        *("a", "an", "the", "of", "to", "in", "on", "at", "for", "from", "with", "by", "as", "and", "or", "not"),
        *("is", "are", "be", "was", "were", "do", "does", "did", "it", "its"),
    ]
)
Pairs = list[tuple[Question, Subgraph]]


@attrs.define(eq=False)
class Phrases(EntityLinker):
    """Links each run of up to four words that is a node, but for words without meaning."""

    nodes: Mapping[str, str]

    def link(self, texts: Sequence[str]) -> list[list[Link]]:
        """Link longer runs with greater scores."""
        return [self._links(text) for text in texts]

    def _links(self, text: str) -> list[Link]:
        folded = fold(text)
        tokens = [folded[start:end] for start, end in words(folded)]
        found: dict[str, float] = {}
        for size in range(1, 5):
            for at in range(len(tokens) - size + 1):
                run = " ".join(tokens[at : at + size])
                if run in self.nodes and run not in WORDLESS:
                    found[self.nodes[run]] = size / 4
        return [Link(node, score) for node, score in sorted(found.items())]


@attrs.frozen(eq=False)
class Method:
    """A way to retrieve and read.

    Attributes:
        name: Its name.
        index: Index to search.
        texts: Encoder of searches.
        enhance: Enhancement of searches.
        found: Whether the reader sees what was found.
        knowledge: lambda, or None to learn it.
    """

    name: str
    index: Any
    texts: Any
    enhance: str = "none"
    found: bool = True
    knowledge: float | None = None


class Bench:
    """The graph, its indexes, and what was retrieved so far."""

    def __init__(self, methods: Sequence[str], tokens: int) -> None:
        self.graph, _ = read_graph("cn100k")
        learning, tested = centres_of(self.graph, 20000, 10000)
        onnx = OnnxEncoder(model="minilm")
        onnx.open()
        self.encoder = Kept(onnx, OUT / "alignment/cn100k.npy")
        self.encoder.open()
        corpus = SubgraphCorpus(graph=self.graph, centres=[*learning, *tested], tokens=tokens)
        corpus.open()
        entries = list(corpus.read())
        model = OUT / "alignment/cn100k-0/model"
        plain = (None, None)
        if NOT_ALIGNED in methods:
            plain = index_of("public-unaligned", entries, self.graph, self.encoder, None)
        aligned = index_of("public-aligned", entries, self.graph, self.encoder, model)
        nodes = {fold(t): t for triple in self.graph.match([Pattern()])[0] for t in (triple.subject, triple.object)}
        self.linker = Phrases(nodes)
        every = [
            Method("text alone", *aligned, found=False, knowledge=0.0),
            Method("joins alone", *aligned, enhance="joins", found=False),
            Method("index", *aligned),
            Method("index and joins", *aligned, enhance="joins"),
            Method(NOT_ALIGNED, *plain, enhance="joins"),
        ]
        self.methods = [method for method in every if method.name in methods]
        self._known: dict[tuple[str, int, str], list[Subgraph]] = {}

    def pairs(self, name: str, questions: Sequence[Question], method: Method) -> Pairs:
        """Retrieve for the questions of a set, once for each index and enhancement."""
        key = (name, id(method.index), method.enhance)
        if key not in self._known:
            self._known[key] = retrieved(questions, method.index, self.graph, self.linker, method.enhance)
        found = self._known[key] if method.found else bare(self._known[key])
        return list(zip(questions, found, strict=True))

    def reader(self, method: Method) -> OptionsReader:
        """Open an untrained reader."""
        reader = OptionsReader(index=method.index, encoder=method.texts, direct=self.encoder, k=K)
        reader.open()
        return reader

    def trained(self, method: Method, learning: Pairs, checking: Pairs, seed: int) -> OptionsReader:
        """Train a reader; other questions choose the epoch."""
        reader = self.reader(method)

        def validate() -> dict[str, float]:
            return {"answer_exact": float(np.mean(accuracy(reader, checking)))}

        examples = [TrainingExample(question, subgraph=subgraph) for question, subgraph in learning]
        # A folder of its own: a training goes on where another in the folder ended.
        with tempfile.TemporaryDirectory() as folder:
            task = TrainingTask(examples, validate, Path(folder), seed)
            reader.fit(task, OptionsFitSettings(knowledge=method.knowledge))
        return reader


def accuracy(reader: OptionsReader, pairs: Pairs) -> list[float]:
    """Return for each question whether the reader is right."""
    return right(reader, [question for question, _ in pairs], [subgraph for _, subgraph in pairs])


def parted(pairs: Pairs, seed: int, share: float) -> tuple[Pairs, Pairs]:
    """Draw a share of the questions, a tenth of it to check with."""
    order = np.random.default_rng(seed).permutation(len(pairs)).tolist()[: max(20, round(share * len(pairs)))]
    checked = max(2, len(order) // 10)
    return [pairs[i] for i in order[checked:]], [pairs[i] for i in order[:checked]]


def places(questions: Sequence[Question]) -> list[int]:
    """Return the place of the right option of each question."""
    return [q.options.index((q.answers or q.options)[0]) for q in questions]


def tell(set_: str, method: str, values: Sequence[float], beside: Sequence[float] | None = None, **more: Any) -> None:
    """Print one figure, and its difference from text alone."""
    row: dict[str, Any] = {"set": set_, "method": method, **more, **ratios([[(value, 1.0) for value in values]])[0]}
    if beside is not None:
        row["more than text alone"] = paired(list(values), list(beside))
    print(json.dumps(row), flush=True)


def averaged(rows: Sequence[Sequence[float]]) -> list[float]:
    """Return the mean of each question over the seeds."""
    return np.mean(np.array(rows), axis=0).tolist()


def measure_sets(bench: Bench, seeds: int, only: Sequence[str], log: Callable[[str], None]) -> None:
    """Train on OpenBookQA, and read it and the sets that have no training questions here."""
    path = str(DATA / FOLDER)
    train = list(OpenBookQA(path=path, split="train", repeated="merge").read())
    tests = {"openbookqa": list(OpenBookQA(path=path, split="test", repeated="merge").read())}
    if "transfer" in only:
        tests["piqa"] = list(PIQA(path=path, split="test", repeated="merge").read())
        tests["socialiqa"] = list(SocialIQA(path=path, split="test", repeated="merge").read())
    place = Counter(places(train)).most_common(1)[0][0]
    for name, questions in tests.items():
        tell(name, "most frequent place", [float(at == place) for at in places(questions)])
        for method in bench.methods:
            if method.name in ("text alone", "index and joins"):
                untrained = accuracy(bench.reader(method), bench.pairs(name, questions, method))
                tell(name, f"{method.name}, not trained", untrained)
    texts: dict[tuple[str, float], list[float]] = {}
    for method in bench.methods:
        for share in SHARES if method.name in CURVE else (1.0,):
            rows: dict[str, list[list[float]]] = defaultdict(list)
            for seed in range(seeds):
                learning, checking = parted(bench.pairs("train", train, method), seed, share)
                reader = bench.trained(method, learning, checking, seed)
                for name, questions in tests.items():
                    if share == 1 or name == "openbookqa":
                        rows[name].append(accuracy(reader, bench.pairs(name, questions, method)))
                log(f"{method.name}, {share:g} of the questions, seed {seed}")
            for name, values in rows.items():
                mean = averaged(values)
                if method.name == "text alone":
                    texts[name, share] = mean
                by_seed = [round(float(np.mean(one)), 3) for one in values]
                tell(name, method.name, mean, texts[name, share], share=share, by_seed=by_seed)


def measure_folds(bench: Bench, seeds: int, log: Callable[[str], None]) -> None:
    """Cross-validate on CommonsenseQA."""
    questions = list(CommonsenseQA(path=str(DATA / CSQA), repeated="merge").read())
    for method in (one for one in bench.methods if one.name == "index and joins"):
        joined = bench.pairs("commonsenseqa", questions, method)
        with_join = [float(any(". " in s.text[len(q.text) :] for s in g.searches)) for q, g in joined]
        tell("commonsenseqa", "some option is joined to the question", with_join)
    texts: list[float] = []
    for method in bench.methods:
        pairs = bench.pairs("commonsenseqa", questions, method)
        if method.name in ("text alone", "index and joins"):
            tell("commonsenseqa", f"{method.name}, not trained", accuracy(bench.reader(method), pairs))
        rows = []
        for seed in range(seeds):
            order = np.random.default_rng(seed).permutation(len(pairs)).tolist()
            found = [0.0] * len(pairs)
            for fold_ in range(FOLDS):
                out = order[fold_::FOLDS]
                rest = [pairs[i] for i in order if i not in set(out)]
                reader = bench.trained(method, *parted(rest, seed, 1.0), seed)
                for i, value in zip(out, accuracy(reader, [pairs[i] for i in out]), strict=True):
                    found[i] = value
            rows.append(found)
            log(f"{method.name}, CommonsenseQA, seed {seed}")
        mean = averaged(rows)
        texts = texts or mean
        tell("commonsenseqa", method.name, mean, texts)


def measure_llm(bench: Bench, count: int, only: Sequence[str], log: Callable[[str], None]) -> None:
    """Let a small language model choose, with and without triples before it."""
    generator = LlamaCppGenerator(threads=1)
    generator.open()
    sets = {"commonsenseqa": CommonsenseQA(path=str(DATA / CSQA), repeated="merge")}
    sets["openbookqa"] = OpenBookQA(path=str(DATA / FOLDER), split="test", repeated="merge")
    for name, data in sets.items():
        if name not in only:
            continue
        every = list(data.read())
        questions = [every[i] for i in sorted(np.random.default_rng(0).permutation(len(every))[:count].tolist())]
        method = next(one for one in bench.methods if one.name == "index and joins")
        found = retrieved(questions, method.index, bench.graph, bench.linker, method.enhance)
        plain = accuracy(bench.reader(bench.methods[0]), list(zip(questions, bare(found), strict=True)))
        tell(name, "text alone, not trained", plain, of=count)
        beside: list[float] | None = None
        for label, tokens in (("no triples", 0), (method.name, SHOWN)):
            reader = OptionsLlmReader(graph=bench.graph, generator=generator, tokens=tokens)
            reader.open()
            answers = reader.read([q.without_gold() for q in questions], found)
            rows = [float(a.text in (q.answers or ())) for a, q in zip(answers, questions, strict=True)]
            chosen = Counter(q.options.index(a.text) for a, q in zip(answers, questions, strict=True) if a.text)
            tell(name, f"options-llm, {label}", rows, beside, of=count, places=sorted(chosen.items()))
            beside = rows
            log(f"options-llm, {name}, {label}")
    generator.close()


def main() -> None:
    """Measure the sets."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--llm", type=int, default=0, metavar="N", help="questions of a set for a language model")
    parser.add_argument("--methods", nargs="*", default=METHODS, help="`text alone` must be among them")
    parser.add_argument("--tokens", type=int, default=TOKENS, help="those of the alignment")
    parser.add_argument("--only", nargs="*", default=["openbookqa", "transfer", "commonsenseqa"])
    options = parser.parse_args()
    if missing := lacking(f"{FOLDER}/openbookqa_train.json", "conceptnet/cn100k/train100k.txt"):
        parser.exit(1, f"{missing}\n")
    start = time.perf_counter()

    def log(text: str) -> None:
        print(f"{time.perf_counter() - start:5.0f} s  {text}", file=sys.stderr, flush=True)

    bench = Bench(options.methods, options.tokens)
    log("indexes are built")
    if options.llm:
        measure_llm(bench, options.llm, options.only, log)
        return
    if "commonsenseqa" in options.only:
        measure_folds(bench, options.seeds, log)
    if "openbookqa" in options.only:
        measure_sets(bench, options.seeds, options.only, log)


if __name__ == "__main__":
    main()
