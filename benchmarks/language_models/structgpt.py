"""StructGPT and Think-on-Graph: quality against simpler methods at equal triples, and throughput.

    python -m benchmarks.language_models.structgpt [--limit N] [--only NAME ...] [--width N ...]
    python -m benchmarks.language_models.structgpt --model smollm2 --limit 20 --only demo metaqa-2
    python -m benchmarks.language_models.structgpt --oracle --only cwq --limit 50
    python -m benchmarks.language_models.structgpt --speed

Quality: on the questions of the demo and on samples of PathQuestion and MetaQA, `structgpt` and `tog` with the
encoder-chooser, the same search with randomly chosen relations, and `bfs` with the mean number of triples of
`structgpt`.

With a model (`smollm2`, the path of a GGUF file, or the block of any generator): `structgpt` led by the model to full
depth; the same ended by its reader, with the answers; `tog` ended by its reader; and the encoder-chooser, random
relations, `bfs` and `beam`, each cut to the mean number of triples of the first. What no reader ended is answered by
the reader `paths`. The cost is by the prices of the generator's block.

With `--oracle` the model is a script behind a loopback server, which knows the gold path (the shortest one where a set
has none) and the answers, at a price of 1 a million tokens. It answers the calls of the client `openai`, whose file of
replies then answers the same run again, offline; that the records are equal byte for byte is printed. So whoever has a
key gets the same table with `--model '{use: openai, model: NAME, base_url: URL, key: {env: OPENAI_API_KEY}, ...}'`.

Speed: 100 questions of three hops against a loopback server that takes 50 ms a reply, one after another and with 32
requests in flight; the latter five times, since load on the machine may take as long as the replies.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import re
import shlex
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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
    "cost",
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
    cwq = ("fb15k237/derived/cwq_test_reachable.jsonl",)
    yield Case("cwq", "benchmarks/recipes/train-cwq.yaml", cwq, ("vars.from=0.0", "vars.to=1.0"), "", 2)


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
    search: dict[str, Any] = {"use": "structgpt", "stop": "depth", "width": args.width, "max_iterations": case.hops}
    search["revisit"] = args.revisit
    search |= {
        "mention": case.mention,
        "relation_triples": args.relation_triples,
        "show": "relation" if args.model and not args.oracle else "path",
    }
    bfs = {"use": "bfs", "depth": case.hops}
    recipe = kept(case)
    recipe |= {"generator": generator_of(args.model), "expander": search, "budget": {"triples": args.triples}}
    tog = {key: value for key, value in search.items() if key != "relation_triples"} | {"use": "tog", "name": "tog"}
    if args.model:
        reader = {"use": "llm", "named": True, "tokens": SHOWN}
        ended = {"stop": "reader", "reader": reader}
        ends, tog = {**search, **ended, "name": "reader ends"}, {**tog, **ended}
        recipe |= {"path_scorer": {"use": "dense"}, "reader": {"use": "paths"}}
        return {**recipe, "evaluate": {"against": [ends, tog, bfs, {"use": "beam"}]}}
    return {**recipe, "evaluate": {"against": [tog, bfs]}}


def kept(case: Case) -> dict[str, Any]:
    """Return the parts of a case's recipe that all methods share."""
    import yaml

    data: dict[str, Any] = yaml.safe_load((ROOT / case.recipe).read_text(encoding="utf-8"))
    return {key: value for key, value in data.items() if key in _KEPT}


def asked(session: Any, limit: int) -> list[Any]:
    """Read a sample of the questions of a session."""
    from srtk_framework.records import read_questions

    source = session.dataset
    return sample(read_questions(ROOT / source) if isinstance(source, str) else source.read(), limit)


def measure(case: Case, args: argparse.Namespace) -> Result:
    """Run all methods of one case in this process."""
    import yaml
    from srtk_plugin_evaluation import row, summarise
    from srtk_plugin_structgpt.encoder_chooser import EncoderChooser
    from srtk_plugin_transformers.encoder import TransformersEncoder

    import srtk_framework
    from srtk_framework.records import record_from_retrieval

    line = f"{command(args)} --only {case.name}"
    if why := missing(case):
        return Result(case.name, line, skipped=why)
    folder = OUT / "structgpt"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{case.name}.yaml"
    recipe = recipe_of(case, args)
    path.write_text(yaml.safe_dump(recipe, sort_keys=False), encoding="utf-8")
    figures: dict[str, Any] = {}
    records: list[str] = []
    with srtk_framework.open(str(path), list(case.sets)) as session:
        questions = asked(session, args.limit)
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
        for name in ("bfs", "beam"):
            if name in methods:
                others[name] = methods.pop(name).driver  # type: ignore[attr-defined]
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
            records += [f"{name} {json.dumps(record_from_retrieval(one))}" for one in found]
    (folder / f"{case.name}.jsonl").write_text("\n".join(records), encoding="utf-8")
    return Result(case.name, line, figures=figures)


_KEPT = ("srtk", "vars", "questions", "knowledge_graph", "entity_linker", "encoder")


def used(found: Sequence[Any]) -> dict[str, float]:
    """Return calls and tokens of expander and reader for a question, and what all of them cost."""
    from srtk_framework.values import total

    rows = []
    for one in found:
        trace = one.subgraph.trace
        rows += [part["generator"] for part in (trace, trace.get("reader", {})) if "generator" in part]
    whole = total(rows)
    each = max(1, len(found))
    tokens = whole["tokens_in"] + whole["tokens_out"]
    return {
        "calls": round(whole["calls"] / each, 2),
        "tokens": round(tokens / each, 1),
        "cost of all": round(whole["cost"], 4),
    }


def oracle(case: Case, args: argparse.Namespace) -> Result:
    """Run a case with a scripted model behind a server, then again from the file of its replies alone, and compare."""
    import srtk_framework
    from benchmarks.loopback.openai_server import serve

    if why := missing(case):
        return Result(case.name, skipped=why)
    recipe = {"srtk": 1, "expander": {"use": "bfs"}, **kept(case)}
    with srtk_framework.open(recipe, list(case.sets)) as session:
        rule = oracle_rule(session.graph, asked(session, args.limit), case.hops)
    folder = OUT / "structgpt"
    folder.mkdir(parents=True, exist_ok=True)
    replies, records = folder / f"{case.name}-replies.db", folder / f"{case.name}.jsonl"
    replies.unlink(missing_ok=True)
    with serve(rule) as server:
        block = {"use": "openai", "model": "tiny", "base_url": server.url, "cache": str(replies)}
        block |= {"price_in": 1.0, "price_out": 1.0}
        args.model = json.dumps(block)
        result, first, calls = measure(case, args), records.read_bytes(), len(server.seen)
        args.model = json.dumps({**block, "offline": True})
        measure(case, args)
        equal = records.read_bytes() == first and len(server.seen) == calls
    print(f"{case.name}: {calls} requests; offline, the records are {'equal' if equal else 'other ones'}", flush=True)
    return result if equal else attrs.evolve(result, failed="the replay gives other records")


def oracle_rule(graph: Any, questions: Sequence[Any], hops: int) -> Callable[[Mapping[str, Any]], str]:
    """Return what answers as an oracle: it chooses what begins a gold path or is on it, and reads gold answers."""
    from srtk_framework.graph import find_paths, with_gold_triples
    from srtk_framework.text import path_text, triple_text
    from srtk_framework.values import Budget

    bare = [one for one in questions if not one.gold_paths]
    topics = [[link.entity for link in one.links] for one in bare]
    found = find_paths(graph, topics, [one.answers or () for one in bare], hops, Budget()) if bare else []
    paths = {one.id: tuple(some) for one, some in zip(bare, found, strict=True)}
    known = [attrs.evolve(one, gold_paths=one.gold_paths or paths[one.id]) for one in questions]
    known = with_gold_triples(graph, known)
    ids = {id_ for one in known for triple in one.gold_triples or () for id_ in triple}
    ids |= {answer for one in known for answer in one.answers or ()}
    ids |= {step.relation for one in known for path in one.gold_paths or () for step in path}
    names = dict(zip(sorted(ids), graph.labels(sorted(ids)), strict=True))
    right = {
        one.text: {
            *(path_text(path[: i + 1], names) for path in one.gold_paths or () for i in range(len(path))),
            *(triple_text(triple, names) for triple in one.gold_triples or ()),
        }
        for one in known
    }
    answers = {one.text: {names[answer] for answer in one.answers or ()} for one in known}

    def rule(body: Mapping[str, Any]) -> str:
        said = "\n".join(str(message["content"]) for message in body["messages"])
        question = next(text for text in right if text in said)
        lines = [(int(number), text) for number, text in re.findall(r"(?m)^(\d+)\. (.*)$", said)]
        if "contain the answer" not in said:
            return json.dumps([number for number, text in lines if text in right[question]] or [1])
        held = [(number, end) for number, text in lines for end in text.split(" | ") if end in answers[question]]
        reply = {"enough": bool(held), "answer": sorted({end for _, end in held})}
        return json.dumps({**reply, "triples": sorted({number for number, _ in held})})

    return rule


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
            cells += [f"{figures['generator']['tokens']:.0f}", f"{figures['generator']['cost of all']:.4f}"]
            cells += [f"{figures['questions_per_second']:.1f}"]
            print("| " + " | ".join(cells) + " |")


def keep(name: str, result: Result, args: argparse.Namespace) -> None:
    """Keep the figures of a case for the results, but those of a language model."""
    for method, figures in result.figures.items() if args.oracle else ():
        record_mean(NAMES[name], method, "Hits@1", figures["answer_hit"], figures["questions"])
        for metric in ("calls", "tokens", "cost of all"):
            record_figure(NAMES[name], method, metric, figures["generator"][metric], figures["questions"])
    if args.model or args.oracle:
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
    parser.add_argument("--oracle", action="store_true", help="let a scripted model lead, and replay its replies")
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
                results.append(oracle(case, args) if args.oracle else measure(case, args))
                print_outcome(results[-1])
                keep(case.name, results[-1], args)
                write(args.out / "quality.json", results)
        show(results)
    return 1 if any(result.failed for result in results) else 0


if __name__ == "__main__":
    raise SystemExit(main())
