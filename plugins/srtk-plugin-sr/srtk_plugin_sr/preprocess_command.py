"""``srtk preprocess``: training rows from questions with answers, with the names and flags of SRTK.

Paths are searched and scored, and negatives are drawn for each of their steps.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from pathlib import Path as FilePath
from typing import Any, TypeVar

import attrs
from srtk_plugin_evaluation import read_from, sentence, unknown_answers
from srtk_plugin_training import samples

from srtk_framework.cli import graph_block, note, say
from srtk_framework.graph import with_own_ids
from srtk_framework.recipe import Composer, from_data
from srtk_framework.records import (
    dumps,
    field_of_gold,
    read_questions,
    read_training_examples,
    shown,
    write_training_examples,
)
from srtk_framework.roles import KnowledgeGraph
from srtk_framework.values import END, InputError, RankedPath, Sample, Step, TrainingExample, console
from srtk_plugin_sr.supervision import MEASURES, GoldPath, ShortestPath
from srtk_plugin_sr.templates import FORMS, Templates

T = TypeVar("T")

_AT_ONCE = 64


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the flags."""
    add = parser.add_argument
    add("-i", "--input", required=True, metavar="FILE", help="JSONL with question, question_entities, answer_entities")
    add("-o", "--output", required=True, metavar="FILE", help="training rows: query, positive, negatives")
    add(
        "-kg",
        "--knowledge-graph",
        required=True,
        metavar="GRAPH",
        help="folder of a snapshot made by `srtk graph build`, or the name of a knowledge_graph driver",
    )
    add("-e", "--sparql-endpoint", metavar="URL", help="URL of the graph's SPARQL endpoint")
    add(
        "--intermediate-dir",
        metavar="FOLDER",
        help="folder for paths.jsonl and scores.jsonl; by default that of the output",
    )
    add("--search-path", action="store_true", help="search paths; else the input must have paths and path_scores")
    add("--max-hops", type=int, default=2, metavar="N", help="maximum length of a path (%(default)s)")
    add("--inverse", action="store_true", help="also follow relations against their direction")
    add("--metric", choices=sorted(MEASURES), default="jaccard", help="measure of a path's quality (%(default)s)")
    add("--positive-threshold", type=float, default=0.5, metavar="X", help="least quality of a path (%(default)s)")
    add("--num-negative", type=int, default=15, metavar="N", help="maximum number of negatives of a row (%(default)s)")
    add("--seed", type=int, default=0, help="seed for drawing negatives (%(default)s)")
    add("--omit-prefixes", action="store_true", help="accepted and ignored: queries use whole IRIs")
    add("-q", "--quiet", action="store_true", help="print errors only")


def run(args: argparse.Namespace) -> int:
    """Write the rows, and print how many questions they come from."""
    if args.omit_prefixes:
        note("--omit-prefixes changes nothing: queries use whole IRIs")
    if args.metric == "jaccard" and not args.quiet:
        note("jaccard is the Jaccard index; what SRTK calls jaccard is --metric precision")
    folder = FilePath(args.intermediate_dir or FilePath(args.output).parent)
    recipe = from_data({"srtk": 1, **graph_block(args, args.sparql_endpoint)})
    composer = Composer(recipe)
    graph: KnowledgeGraph = composer.of_role("knowledge_graph")
    recipe.check()
    composer.check()
    with ExitStack() as stack:
        composer.open(stack)
        folder.mkdir(parents=True, exist_ok=True)
        examples = _searched(args, graph, folder) if args.search_path else _given(args, graph)
        kept = [_above(example, args.positive_threshold) for example in examples]
        rows = _write(args, graph, kept)
    used = sum(bool(example.paths) for example in kept)
    pathless = sum(not example.paths for example in examples)
    if not args.quiet:
        say(
            f"{rows} rows of {used} questions in {args.output}; of {len(examples)} questions {pathless} have no"
            f" path to an answer, {len(examples) - pathless - used} none of quality {args.positive_threshold:g}"
        )
    return 0


def _searched(args: argparse.Namespace, graph: KnowledgeGraph, folder: FilePath) -> list[TrainingExample]:
    """Search paths, and write them to two files as SRTK does: without and with their quality."""
    # Every path that reaches an answer is written; the threshold is applied afterwards.
    search = ShortestPath(graph=graph, hops=args.max_hops, inverse=args.inverse, measure=args.metric, threshold=0.0)
    search.open()
    asked = list(read_questions(args.input))
    if asked and not any(question.answers for question in asked):
        raise InputError(f"{shown(args.input)}: no record has answer_entities, so there is nothing to search for")
    fields = Counter(field for question in asked if (field := field_of_gold(question)) is not None)
    if fields:
        note(read_from(fields))
    questions = with_own_ids(graph, asked)
    unknown = unknown_answers(graph, questions)
    if unknown is not None:
        note(sentence(unknown))
    with closing(search):
        found = [row for part in _tracked(questions, "searching", args) for row in search.supervise(part)]
    examples = [TrainingExample(question, tuple(row)) for question, row in zip(questions, found, strict=True)]
    bare = [attrs.evolve(one, paths=tuple(attrs.evolve(path, score=1.0) for path in one.paths)) for one in examples]
    write_training_examples(folder / "paths.jsonl", bare)
    write_training_examples(folder / "scores.jsonl", examples)
    return examples


def _given(args: argparse.Namespace, graph: KnowledgeGraph) -> list[TrainingExample]:
    """Return examples with the paths of the input, or with its gold paths if it has no others."""
    examples = _with_own_ids(graph, read_training_examples(FilePath(args.input)))
    if any(example.paths for example in examples):
        return examples
    with closing(GoldPath(graph=graph)) as gold:
        found = gold.supervise([example.question for example in examples])
    if not any(found):
        raise InputError(
            f"{shown(args.input)}: no record has `paths` with `path_scores`, or `gold_paths`; give --search-path"
        )
    return [attrs.evolve(example, paths=tuple(row)) for example, row in zip(examples, found, strict=True)]


def _with_own_ids(graph: KnowledgeGraph, examples: Sequence[TrainingExample]) -> list[TrainingExample]:
    """Give questions and paths the graph's own ids, in whatever spelling they came."""
    questions = with_own_ids(graph, [example.question for example in examples])
    entities = sorted({path.entity for example in examples for path in example.paths})
    relations = sorted({step.relation for example in examples for path in example.paths for step in path.steps})
    own = dict(zip(entities, graph.own_ids(entities, False), strict=True))
    named = dict(zip(relations, graph.own_ids(relations, True), strict=True))

    def path_of(path: RankedPath) -> RankedPath:
        steps = tuple(step if step == END else Step(named[step.relation], step.inverse) for step in path.steps)
        return attrs.evolve(path, entity=own[path.entity], steps=steps)

    return [
        attrs.evolve(example, question=question, paths=tuple(map(path_of, example.paths)))
        for example, question in zip(examples, questions, strict=True)
    ]


def _above(example: TrainingExample, threshold: float) -> TrainingExample:
    return attrs.evolve(example, paths=tuple(path for path in example.paths if path.score >= threshold))


def _write(args: argparse.Namespace, graph: KnowledgeGraph, examples: Sequence[TrainingExample]) -> int:
    """Write a row for each positive of each sample, to a temporary file that is renamed when all are written."""
    target = FilePath(args.output)
    part = target.with_name(f".{target.name}.part")
    target.parent.mkdir(parents=True, exist_ok=True)
    count = 0
    with part.open("w", encoding="utf-8", newline="\n") as file:
        for some in _tracked(examples, "sampling", args):
            made = samples(graph, some, negatives=args.num_negative, seed=args.seed, inverse=args.inverse)
            drawn = [sample for row in made for sample in row]
            for row in _rows(graph, drawn):
                file.write(dumps(row) + "\n")
                count += 1
    part.replace(target)
    return count


def _rows(graph: KnowledgeGraph, drawn: Sequence[Sample]) -> Iterator[Mapping[str, Any]]:
    templates = FORMS["srtk"]
    relations = sorted({s.relation for sample in drawn for s in (*sample.path, *sample.candidates) if s != END})
    labels = dict(zip(relations, graph.labels(relations), strict=True))
    for sample in drawn:
        walked = [templates.step(step, labels[step.relation]) for step in sample.path]
        texts = [
            templates.end if step == END else templates.step(step, labels[step.relation]) for step in sample.candidates
        ]
        weighed = list(zip(texts, sample.targets, strict=True))
        wrong = list(dict.fromkeys(text for text, target in weighed if not target))
        for positive in dict.fromkeys(text for text, target in weighed if target):
            # Two relations may have the same label.
            negatives = [text for text in wrong if text != positive]
            yield {"query": _query(templates, sample.text, walked), "positive": positive, "negatives": negatives}


def _query(templates: Templates, question: str, walked: Sequence[str]) -> str:
    """Join question and path as in SRTK's rows, to which its training prepends `query: `."""
    return f"{question} [SEP] {templates.join.join(walked)}"


def _tracked(items: Sequence[T], what: str, args: argparse.Namespace) -> Iterator[list[T]]:
    """Yield the items in batches, with a progress bar on a terminal."""
    from rich.progress import track

    screen = console(stderr=True)
    starts = range(0, len(items), _AT_ONCE)
    for start in track(starts, what, console=screen, disable=args.quiet or not screen.is_terminal):
        yield list(items[start : start + _AT_ONCE])
