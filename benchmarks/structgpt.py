"""Walks told by a generator: quality against simpler methods at equal triples, and questions asked side by side.

    python benchmarks/structgpt.py [--limit N] [--only NAME ...] [--generator YAML] [--width N ...]
    python benchmarks/structgpt.py --speed

Quality: on the demo's questions and on samples of PathQuestion and MetaQA, `structgpt` and `tog` with a generator (by
default the encoder-chooser), the same walk with relations chosen at random, and `bfs` with as many triples as the walk
took in the mean. With a generator that writes, the reader ends the search.

Speed: 100 questions of three hops against a server on loopback that takes 50 ms a reply, with 32 requests in flight and
one after another.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import attrs
from common import OUT, ROOT, Result, lacking, tell

from srtk_framework.dialogue import Message, Prompt, Reply
from srtk_framework.specs import Generator

DEFAULT_LIMIT = 300
ENCODER = "{use: encoder-chooser}"
BATCH = 50
LATENCY, FLIGHT, QUESTIONS, HOPS = 0.05, 32, 100, 3
COLUMNS = ("case", "method", "asked", "coverage", "recall", "triples", "calls", "tokens", "q/s")


@attrs.define(eq=False)
class RandomChooser(Generator):
    """Choose by lot, the same for the same prompt."""

    seed: int = 0

    def generate(self, prompts: Sequence[Prompt]) -> list[Reply]:
        """Reply with as many numbers as may be chosen."""
        return [Reply(json.dumps(self._drawn(prompt))) for prompt in prompts]

    def _drawn(self, prompt: Prompt) -> list[int]:
        text = f"{self.seed}\0{prompt.query}\0{prompt.options}"
        chance = random.Random(int.from_bytes(hashlib.sha256(text.encode()).digest()[:8]))
        return chance.sample(range(1, len(prompt.options) + 1), min(prompt.most, len(prompt.options)))


@attrs.frozen
class Case:
    """One set of questions.

    Attributes:
        name: Of the case.
        recipe: Gives questions, graph and linker.
        needs: Files of the data folder, or of the repository for the demo.
        sets: Values that differ from the recipe's.
        mention: What stands for the mention of the topic.
        hops: Of the questions, at most.
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
    """Say what a case lacks."""
    if case.name == "demo":
        gone = [name for name in case.needs if not (ROOT / name).exists()]
        return f"no {', '.join(gone)}; run `make demo` first" if gone else None
    return lacking(*case.needs)


def expander_of(case: Case, use: str, width: int, triples: int, writes: bool) -> dict[str, Any]:
    """Write the block of a walk."""
    block: dict[str, Any] = {"use": use, "width": width, "max_iterations": case.hops, "mention": case.mention}
    block |= {"show": "relation", "reader": {"use": "llm"}} if writes else {"show": "path", "stop": "depth"}
    return block if use == "tog" else {**block, "relation_triples": triples}


def measure(case: Case, limit: int, generator: str, width: int, triples: int, budget: int) -> Result:
    """Run all methods of one case in this process."""
    import yaml

    import srtk_framework
    from srtk_framework.evaluation.metrics import row, summarise
    from srtk_framework.records import read_questions

    command = f"python benchmarks/structgpt.py --only {case.name} --limit {limit}"
    if why := missing(case):
        return Result(case.name, command, skipped=why)
    writes = "encoder-chooser" not in generator
    main = expander_of(case, "structgpt", width, triples, writes)
    other = {**expander_of(case, "tog", width, triples, writes), "name": "tog"}
    data: dict[str, Any] = yaml.safe_load((ROOT / case.recipe).read_text(encoding="utf-8"))
    recipe = {key: value for key, value in data.items() if key in _KEPT}
    recipe |= {"generator": yaml.safe_load(generator), "expander": main, "budget": {"triples": budget}}
    recipe["evaluate"] = {"against": [other, {"use": "bfs", "depth": case.hops}]}
    folder = OUT / "structgpt"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{case.name}.yaml"
    path.write_text(yaml.safe_dump(recipe, sort_keys=False), encoding="utf-8")
    figures: dict[str, Any] = {}
    with srtk_framework.open(str(path), list(case.sets)) as session:
        source = session.dataset
        every: Iterable[Any] = read_questions(ROOT / source) if isinstance(source, str) else source.read()  # type: ignore[union-attr]
        questions = list(islice(every, limit))
        walk = session.methods["structgpt"].driver  # type: ignore[attr-defined]
        lot = attrs.evolve(walk, generator=RandomChooser(), reader=None, stop="depth", show="path")
        lot.open()
        session.methods["random relations"] = lot
        for name in ("structgpt", "tog", "random relations", "bfs"):
            if name == "bfs":
                near = session.methods["bfs"].driver  # type: ignore[attr-defined]
                most = max(1, round(figures["structgpt"]["triples"]["mean"]))
                session.methods["bfs"] = attrs.evolve(near, budget=attrs.evolve(near.budget, triples=most))
            began = time.perf_counter()
            found = []
            for start in range(0, len(questions), BATCH):
                found += session.retrieve(questions[start : start + BATCH], name)
            seconds = time.perf_counter() - began
            summary = summarise([row(one) for one in found])
            figures[name] = {key: dict(value) for key, value in summary.items()}
            figures[name]["asked"] = len(found)
            figures[name]["questions_per_second"] = round(len(found) / seconds, 2)
            figures[name]["generator"] = used(found)
    return Result(case.name, command, figures=figures)


_KEPT = ("srtk", "vars", "questions", "knowledge_graph", "entity_linker", "encoder")


def used(found: Sequence[Any]) -> dict[str, float]:
    """Count what the generator was asked, by expander and reader, a question."""
    from srtk_framework.dialogue import total

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
            cells = [result.name if i == 0 else "", method, str(figures["asked"])]
            cells += [share(figures["answer_coverage"]), share(figures["answer_recall"])]
            cells += [f"{figures['triples']['mean']:.1f}", f"{figures['generator']['calls']:.1f}"]
            cells += [f"{figures['generator']['tokens_in']:.0f}", f"{figures['questions_per_second']:.1f}"]
            print("| " + " | ".join(cells) + " |")


def share(estimate: Mapping[str, Any]) -> str:
    """Write a mean with half of its 95 % interval."""
    if estimate["mean"] is None:
        return "-"
    return f"{estimate['mean']:.3f} ±{(estimate['high'] - estimate['low']) / 2:.3f}"


def walks(body: Mapping[str, Any]) -> str:
    """Answer as the loopback server: the first option, and never enough."""
    asked = str(body["messages"][-1]["content"])
    return '{"enough": false, "answer": [], "triples": []}' if "contain the answer" in asked else "[1]"


def speed() -> Result:
    """Time questions of three hops against a server in a process of its own, many in flight and one by one."""
    from openai_server import process
    from srtk_plugin_local.memory import MemoryGraph
    from srtk_plugin_openai.generator import OpenAIGenerator
    from srtk_plugin_structgpt.reader import LlmReader
    from srtk_plugin_structgpt.structgpt import StructGptExpander

    from srtk_framework.types import Link, Question

    rows = [
        (f"q{i}n{hop}", relation, f"q{i}n{hop + 1}" if relation == "a" else f"q{i}x{hop}")
        for i in range(QUESTIONS)
        for hop in range(HOPS)
        for relation in ("a", "b")
    ]
    graph = MemoryGraph(triples=rows)
    questions = [Question(str(i), f"What of number {i}?", (Link(f"q{i}n0"),)) for i in range(QUESTIONS)]
    figures: dict[str, Any] = {}
    answers = []
    with process("--latency", str(LATENCY), "--rule", "structgpt:walks") as url:
        for name, workers in (("one after another", 1), (f"{FLIGHT} in flight", FLIGHT)):
            generator = OpenAIGenerator(model="tiny", base_url=url, workers=workers)
            reader = LlmReader(graph, generator)
            expander = StructGptExpander(graph, generator, reader=reader, max_iterations=HOPS)
            for driver in (generator, reader, expander):
                driver.open()
            # Connections are made first: it is the walk that is timed.
            generator.generate([Prompt((Message("user", f"Hello {i}"),)) for i in range(workers)])
            began, busy = time.perf_counter(), time.process_time()
            answers.append(expander.expand(questions))
            seconds = time.perf_counter() - began
            calls = sum(part["generator"]["calls"] for one in answers[-1] for part in (one.trace, one.trace["reader"]))
            processor = round(time.process_time() - busy, 2)
            figures[name] = {"seconds": round(seconds, 2), "processor seconds": processor, "calls": calls}
            generator.close()
    one, many = figures.values()
    figures["times as fast"] = round(one["seconds"] / many["seconds"], 1)
    figures["the same subgraphs"] = answers[0] == answers[1]
    return Result("structgpt-speed", "python benchmarks/structgpt.py --speed", figures=figures)


def main() -> int:
    """Run the cases and print their table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limit", type=int, default=DEFAULT_LIMIT, help="questions of each case")
    parser.add_argument("--only", nargs="*", metavar="NAME", help="cases whose names begin so")
    parser.add_argument("--generator", default=ENCODER, help="block of the generator, as a recipe has it")
    parser.add_argument("--width", type=int, default=3, help="relations a hop")
    parser.add_argument("--relation-triples", type=int, default=10, help="triples of one relation at one hop")
    parser.add_argument("--triples", type=int, default=60, help="triples of a question, at most")
    parser.add_argument("--speed", action="store_true", help="time questions side by side instead")
    parser.add_argument("--out", type=Path, default=OUT / "structgpt", help="folder for results")
    args = parser.parse_args()
    if args.speed:
        results = [speed()]
        for key, value in results[0].figures.items():
            print(f"{key}: {value}")
    else:
        results = []
        for case in cases(args.limit):
            if not args.only or case.name.startswith(tuple(args.only)):
                results.append(
                    measure(case, args.limit, args.generator, args.width, args.relation_triples, args.triples)
                )
                tell(results[-1])
        show(results)
    args.out.mkdir(parents=True, exist_ok=True)
    name = "speed.json" if args.speed else "quality.json"
    (args.out / name).write_text(json.dumps([attrs.asdict(one) for one in results], indent=1) + "\n", encoding="utf-8")
    return 1 if any(result.failed for result in results) else 0


if __name__ == "__main__":
    raise SystemExit(main())
