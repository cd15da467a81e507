"""StructGPT and Think-on-Graph: quality against simpler methods at equal triples, and throughput.

    python -m benchmarks.language_models.structgpt [--limit N] [--only NAME ...] [--width N ...]
    python -m benchmarks.language_models.structgpt --model smollm2 --limit 20 --only demo metaqa-2
    python -m benchmarks.language_models.structgpt --speed

Quality: on the questions of the demo and on samples of PathQuestion and MetaQA, `structgpt` and `tog` with the
encoder-chooser, the same search with randomly chosen relations, and `bfs` with the mean number of triples of
`structgpt`.

With a model (`smollm2`, the path of a GGUF file, or the block of any generator): `structgpt` led by the model to full
depth; the same ended by its reader, with the answers; `tog` to full depth; and the encoder-chooser, random relations
and `bfs`, each cut to the mean number of triples of the first.

Speed: 100 questions of three hops against a loopback server that takes 50 ms a reply, one after another and with 32
requests in flight; the latter five times, since load on the machine may take as long as the replies.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import shlex
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import attrs

from benchmarks.common import OUT, ROOT, Result, cached_values, lacking, print_outcome
from benchmarks.figures import NAMES, half, record_figure, record_mean
from srtk_framework.roles import Generator
from srtk_framework.values import Message, Prompt, Reply

DEFAULT_LIMIT = 300
BATCH = 50
LATENCY, FLIGHT, QUESTIONS, HOPS, ROUNDS = 0.05, 32, 100, 3, 5
COLUMNS = (
    "case",
    "method",
    "questions",
    "coverage",
    "recall",
    "triples",
    "answered",
    "hit",
    "F1",
    "calls",
    "tokens",
    "q/s",
)
CONTEXT, LENGTH, SHOWN = 4096, 128, 400
"""Tokens for a small model: of a prompt and its reply, of a reply, and of the triples shown to its reader."""


@attrs.define(eq=False)
class RandomChooser(Generator):
    """Choose at random; the same prompt gets the same choice."""

    seed: int = 0

    def generate(self, prompts: Sequence[Prompt]) -> list[Reply]:
        """Reply with as many numbers as the prompt allows."""
        return [Reply(json.dumps(self._drawn(prompt))) for prompt in prompts]

    def _drawn(self, prompt: Prompt) -> list[int]:
        text = f"{self.seed}\0{prompt.query}\0{prompt.options}"
        chance = random.Random(int.from_bytes(hashlib.sha256(text.encode()).digest()[:8]))
        return chance.sample(range(1, len(prompt.options) + 1), min(prompt.most, len(prompt.options)))


@attrs.define(eq=False)
class Remembering(Generator):
    """Remember replies, so that searches with equal prompts share their calls."""

    generator: Generator
    known: dict[Prompt, Reply] = attrs.field(factory=dict)

    def generate(self, prompts: Sequence[Prompt]) -> list[Reply]:
        """Reply from memory if possible, else by the generator."""
        return cached_values(self.known, prompts, self.generator.generate)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Count as the generator does."""
        return list(self.generator.count_tokens(texts))


@attrs.frozen
class Case:
    """One set of questions.

    Attributes:
        name: Name of the case.
        recipe: Recipe with questions, graph and linker.
        needs: Required files of the data folder; for the demo, of the repository.
        sets: Values that override the recipe's.
        mention: Replacement for the mention of the topic entity.
        hops: Most hops of a question.
    """

    name: str
    recipe: str
    needs: tuple[str, ...]
    sets: tuple[str, ...] = ()
    mention: str = ""
    hops: int = 3


def cases(limit: int) -> Iterator[Case]:
    """List the cases."""
    yield Case("demo", "recipes/structgpt.yaml", ("build/demo/questions.jsonl",))
    for hops in (2, 3):
        files = (f"pathquestion/PQ-{hops}H.txt", f"pathquestion/{hops}H-kb.txt")
        sets = (f"vars.hops={hops}", f"vars.limit={limit}")
        yield Case(f"pathquestion-{hops}", "recipes/pathquestion.yaml", files, sets, "someone", hops)
    for hops in (1, 2, 3):
        files = (f"metaqa/{hops}-hop/qa_dev.txt", "metaqa/kb_from_splits.txt")
        sets = (f"vars.hops={hops}", f"vars.limit={limit}")
        yield Case(f"metaqa-{hops}", "recipes/metaqa.yaml", files, sets, "it", hops)


def missing(case: Case) -> str | None:
    """Return why a case cannot run, or None."""
    if case.name == "demo":
        gone = [name for name in case.needs if not (ROOT / name).exists()]
        return f"no {', '.join(gone)}; run `make demo` first" if gone else None
    return lacking(*case.needs)


def sample(questions: Iterable[Any], limit: int) -> list[Any]:
    """Sample questions by a hash of their ids, keeping their order; a smaller list stays whole."""
    every = list(questions)
    drawn = sorted(every, key=lambda one: hashlib.sha256(one.id.encode()).digest())[:limit]
    kept = {one.id for one in drawn}
    return [one for one in every if one.id in kept]


def generator_of(model: str) -> dict[str, Any]:
    """Return the block of a generator: the encoder-chooser, a GGUF file, or the block given."""
    import yaml

    if not model:
        return {"use": "encoder-chooser"}
    if model.lstrip().startswith("{"):
        block: dict[str, Any] = yaml.safe_load(model)
        return block
    return {"use": "llama-cpp", "model": model, "context": CONTEXT, "length": LENGTH, "threads": 1}


def recipe_of(case: Case, args: argparse.Namespace) -> dict[str, Any]:
    """Return the recipe: `structgpt` to full depth as the main method, the others compared with it."""
    import yaml

    search: dict[str, Any] = {"use": "structgpt", "stop": "depth", "width": args.width, "max_iterations": case.hops}
    search["revisit"] = args.revisit
    search |= {
        "mention": case.mention,
        "relation_triples": args.relation_triples,
        "show": "relation" if args.model else "path",
    }
    bfs = {"use": "bfs", "depth": case.hops}
    data: dict[str, Any] = yaml.safe_load((ROOT / case.recipe).read_text(encoding="utf-8"))
    recipe = {key: value for key, value in data.items() if key in _KEPT}
    recipe |= {"generator": generator_of(args.model), "expander": search, "budget": {"triples": args.triples}}
    tog = {key: value for key, value in search.items() if key != "relation_triples"} | {"use": "tog", "name": "tog"}
    if args.model:
        reader = {"use": "llm", "named": True, "tokens": SHOWN}
        ends = {**search, "stop": "reader", "reader": reader, "name": "reader ends"}
        return {**recipe, "evaluate": {"against": [ends, tog, bfs]}}
    return {**recipe, "evaluate": {"against": [tog, bfs]}}


def measure(case: Case, args: argparse.Namespace) -> Result:
    """Run all methods of one case in this process."""
    import yaml
    from srtk_plugin_evaluation import row, summarise
    from srtk_plugin_structgpt.encoder_chooser import EncoderChooser
    from srtk_plugin_transformers.encoder import TransformersEncoder

    import srtk_framework
    from srtk_framework.records import read_questions

    line = f"{command(args)} --only {case.name}"
    if why := missing(case):
        return Result(case.name, line, skipped=why)
    folder = OUT / "structgpt"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{case.name}.yaml"
    recipe = recipe_of(case, args)
    path.write_text(yaml.safe_dump(recipe, sort_keys=False), encoding="utf-8")
    figures: dict[str, Any] = {}
    with srtk_framework.open(str(path), list(case.sets)) as session:
        source = session.dataset
        every: Iterable[Any] = read_questions(ROOT / source) if isinstance(source, str) else source.read()  # type: ignore[union-attr]
        questions = sample(every, args.limit)
        methods = session.methods
        search = methods["structgpt"].driver  # type: ignore[attr-defined]
        others: dict[str, Any] = {"random relations": attrs.evolve(search, generator=RandomChooser())}
        if args.model:
            encoder = TransformersEncoder(model="minilm")
            encoder.open()
            chooser = attrs.evolve(search, generator=EncoderChooser(encoder), show="path")
            others = {"encoder-chooser": chooser, **others}
            memory = Remembering(search.generator)
            for name in ("structgpt", "reader ends", "tog"):
                driver = methods[name].driver  # type: ignore[attr-defined]
                caching = attrs.evolve(driver, generator=memory)
                caching.open()
                methods[name] = caching
        others["bfs"] = methods.pop("bfs").driver  # type: ignore[attr-defined]
        for name in [*methods, *others]:
            if name in others:
                driver = others[name]
                if args.model or name == "bfs":
                    most = max(1, round(figures["structgpt"]["triples"]["mean"]))
                    driver = attrs.evolve(driver, budget=attrs.evolve(driver.budget, triples=most))
                driver.open()
                methods[name] = driver
            began, busy = time.perf_counter(), time.process_time()
            found = []
            for start in range(0, len(questions), BATCH):
                found += session.retrieve(questions[start : start + BATCH], name)
            seconds = time.perf_counter() - began
            summary = summarise([row(one) for one in found])
            figures[name] = {key: dict(value) for key, value in summary.items()}
            figures[name]["questions"] = len(found)
            figures[name]["questions_per_second"] = round(len(found) / seconds, 2)
            figures[name]["processor_seconds"] = round(time.process_time() - busy, 1)
            figures[name]["generator"] = used(found)
    return Result(case.name, line, figures=figures)


_KEPT = ("srtk", "vars", "questions", "knowledge_graph", "entity_linker", "encoder")


def used(found: Sequence[Any]) -> dict[str, float]:
    """Return calls and tokens of the generator per question, by expander and reader together."""
    from srtk_framework.values import total

    rows = []
    for one in found:
        trace = one.subgraph.trace
        rows += [part["generator"] for part in (trace, trace.get("reader", {})) if "generator" in part]
    whole = total(rows)
    return {key: round(whole[key] / max(1, len(found)), 2) for key in ("calls", "tokens_in", "tokens_out")}


def show(results: Sequence[Result]) -> None:
    """Print one line for each case and method."""
    print("| " + " | ".join(COLUMNS) + " |")
    print("|---|---|" + "--:|" * (len(COLUMNS) - 2))
    for result in results:
        for i, (method, figures) in enumerate(result.figures.items()):
            cells = [result.name if i == 0 else "", method, str(figures["questions"])]
            cells += [share(figures["answer_coverage"]), share(figures["answer_recall"])]
            cells += [f"{figures['triples']['mean']:.1f}", *said(figures)]
            cells += [f"{figures['generator']['calls']:.1f}"]
            cells += [f"{figures['generator']['tokens_in']:.0f}", f"{figures['questions_per_second']:.1f}"]
            print("| " + " | ".join(cells) + " |")


def keep(name: str, result: Result, model: bool) -> None:
    """Keep the figures of a case for the results; a language model's are of another measurement."""
    if model:
        return
    for method, figures in result.figures.items():
        called = {"random relations": "structgpt at random"}.get(method, method)
        record_mean(NAMES[name], called, "answer coverage", figures["answer_coverage"], figures["questions"])
        record_mean(NAMES[name], called, "triples", figures["triples"], figures["questions"], False)


def said(figures: Mapping[str, Any]) -> list[str]:
    """Format the share of questions answered, with a correct first entity, and the F1 of the entities."""
    if "answer_hit" not in figures:
        return ["-"] * 3
    answered = f"{1 - figures['answer_refused']['mean']:.2f}"
    return [answered, share(figures["answer_hit"]), share(figures["answer_f1"])]


def share(estimate: Mapping[str, Any]) -> str:
    """Format a mean with half of its 95 % interval."""
    if estimate["mean"] is None:
        return "-"
    return f"{estimate['mean']:.3f}{half(estimate)}"


def first_option(body: Mapping[str, Any]) -> str:
    """Reply as the loopback server: the first option, and never enough."""
    prompt = str(body["messages"][-1]["content"])
    return '{"enough": false, "answer": [], "triples": []}' if "contain the answer" in prompt else "[1]"


def speed() -> Result:
    """Time questions of three hops against a server in another process, many in flight and one by one."""
    from srtk_plugin_local.memory import MemoryGraph
    from srtk_plugin_openai.generator import OpenAIGenerator
    from srtk_plugin_structgpt.reader import LlmReader
    from srtk_plugin_structgpt.structgpt import StructGptExpander

    from benchmarks.loopback.openai_server import process
    from srtk_framework.values import Link, Question

    rows = [
        (f"q{i}n{hop}", relation, f"q{i}n{hop + 1}" if relation == "a" else f"q{i}x{hop}")
        for i in range(QUESTIONS)
        for hop in range(HOPS)
        for relation in ("a", "b")
    ]
    graph = MemoryGraph(triples=rows)
    questions = [Question(str(i), f"What of number {i}?", (Link(f"q{i}n0"),)) for i in range(QUESTIONS)]
    answers = []
    seconds: list[float] = []
    processor: list[float] = []
    with process("--latency", str(LATENCY), "--rule", "benchmarks.language_models.structgpt:first_option") as url:
        for workers in (1, *[FLIGHT] * ROUNDS):
            generator = OpenAIGenerator(model="tiny", base_url=url, workers=workers)
            reader = LlmReader(graph, generator)
            expander = StructGptExpander(graph, generator, reader=reader, max_iterations=HOPS)
            for driver in (generator, reader, expander):
                driver.open()
            # Open the connections first; only the search is timed.
            generator.generate([Prompt((Message("user", f"Hello {i}"),)) for i in range(workers)])
            began, busy = time.perf_counter(), time.process_time()
            answers.append(expander.expand(questions))
            seconds.append(time.perf_counter() - began)
            processor.append(time.process_time() - busy)
            generator.close()
    one, *many = seconds
    figures = {
        "calls": sum(part["generator"]["calls"] for one in answers[0] for part in (one.trace, one.trace["reader"])),
        "one after another": {"seconds": round(one, 2), "processor seconds": round(processor[0], 2)},
        f"{FLIGHT} in flight": [
            {"seconds": round(s, 2), "processor seconds": round(p, 2), "times as fast": round(one / s, 1)}
            for s, p in zip(many, processor[1:], strict=True)
        ],
        "times as fast, median": round(one / median(many), 1),
        "the same subgraphs": all(answer == answers[0] for answer in answers),
    }
    return Result("structgpt-speed", "python -m benchmarks.language_models.structgpt --speed", figures=figures)


def write(path: Path, results: Sequence[Result]) -> None:
    """Write the results so far."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps([attrs.asdict(one) for one in results], indent=1) + "\n", encoding="utf-8")


def command(args: argparse.Namespace) -> str:
    """Return the command that measures one case, without its name."""
    words = [f"python -m benchmarks.language_models.structgpt --limit {args.limit} --width {args.width}"]
    words.append(f"--relation-triples {args.relation_triples} --triples {args.triples}")
    words += ["--revisit"] if args.revisit else []
    return " ".join([*words, *([f"--model {shlex.quote(args.model)}"] if args.model else [])])


def main() -> int:
    """Run the cases and print their table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limit", type=int, default=DEFAULT_LIMIT, help="questions of each case")
    parser.add_argument("--only", nargs="*", metavar="NAME", help="cases whose names begin so")
    parser.add_argument("--model", default="", help="smollm2, a GGUF file or a generator's block; else the encoder")
    parser.add_argument("--width", type=int, default=3, help="relations a hop")
    parser.add_argument("--relation-triples", type=int, default=10, help="triples of one relation at one hop")
    parser.add_argument("--triples", type=int, default=60, help="triples of a question, at most")
    parser.add_argument("--revisit", action="store_true", help="let the searches come back to a node")
    parser.add_argument("--speed", action="store_true", help="time questions side by side instead")
    parser.add_argument("--out", type=Path, default=OUT / "structgpt", help="folder for results")
    args = parser.parse_args()
    if args.speed:
        results = [speed()]
        for key, value in results[0].figures.items():
            print(f"{key}: {value}")
        times = results[0].figures["times as fast, median"]
        record_figure(
            "600 calls", f"{FLIGHT} requests in flight", "times as fast, median of five rounds", times, QUESTIONS
        )
        write(args.out / "speed.json", results)
    else:
        results = []
        for case in cases(args.limit):
            if not args.only or case.name.startswith(tuple(args.only)):
                results.append(measure(case, args))
                print_outcome(results[-1])
                keep(case.name, results[-1], bool(args.model))
                write(args.out / "quality.json", results)
        show(results)
    return 1 if any(result.failed for result in results) else 0


if __name__ == "__main__":
    raise SystemExit(main())
