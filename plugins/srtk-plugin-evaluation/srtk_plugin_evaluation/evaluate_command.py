"""Score results of this or another program against gold answers; several are compared."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from srtk_framework.cli import OK, note
from srtk_framework.records import write_json
from srtk_framework.roles import KnowledgeGraph
from srtk_framework.text import read_yaml
from srtk_framework.values import InputError
from srtk_plugin_evaluation.files import evaluate_files
from srtk_plugin_evaluation.gold_ids import read_from, sentence
from srtk_plugin_evaluation.reports import show


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the flags."""
    parser.add_argument(
        "results", nargs="+", type=Path, metavar="RESULTS", help="JSONL file of a method, or folder of a finished run"
    )
    parser.add_argument("--questions", type=Path, metavar="FILE", help="questions with the gold, if not in the results")
    parser.add_argument("--name", action="append", metavar="NAME", help="name of each method, in order; repeatable")
    parser.add_argument(
        "--missing",
        choices=("error", "fail"),
        default="error",
        help="what to do about unanswered questions (%(default)s)",
    )
    parser.add_argument(
        "--slice",
        action="append",
        default=[],
        metavar="FIELD",
        dest="fields",
        help="also report by this field of the question records; repeatable",
    )
    parser.add_argument(
        "--train",
        type=Path,
        metavar="FILE",
        help="examples or questions of a training: also report by relations seen in it or not",
    )
    parser.add_argument("--linking", action="store_true", help="score the links of the results, not their triples")
    parser.add_argument(
        "--gold",
        metavar="DATASET",
        help="with --linking: questions with gold links, a file or '{use: elevant, path: FILE}'; default: the results",
    )
    parser.add_argument(
        "-kg",
        "--knowledge-graph",
        metavar="GRAPH",
        help="graph that the questions were asked of: reads gold triples along gold paths, and tells more of patterns;"
        " with --linking: graph whose entities can be found",
    )
    parser.add_argument("--report", type=Path, metavar="FOLDER", help="write comparison.json, plots and report.html")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="write the report as JSON")


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    if args.linking:
        report = _links(args)
        show(report, args.report)
        if args.output is not None:
            write_json(args.output, report)
        return OK
    if args.gold is not None:
        raise InputError("--gold goes with --linking; the gold of subgraphs is named by --questions")
    report = _subgraphs(args)
    show(report, args.report)
    if "gold_fields" in report:
        note(read_from(report["gold_fields"]))
    if "gold_ids" in report:
        note(sentence(report["gold_ids"]))
    if args.output is not None:
        write_json(args.output, report)
    return OK


def _subgraphs(args: argparse.Namespace) -> dict[str, Any]:
    """Score files of results, with the graph of the questions if it is named."""
    from srtk_framework.cli import graph_block
    from srtk_framework.recipe import from_data
    from srtk_framework.run import Session

    def score(graph: KnowledgeGraph | None = None) -> dict[str, Any]:
        return evaluate_files(args.results, args.questions, args.name, args.missing, args.fields, args.train, graph)

    if args.knowledge_graph is None:
        return score()
    with Session(from_data({"srtk": 1, **graph_block(args)})) as session:
        return score(session.graph)


def _links(args: argparse.Namespace) -> dict[str, Any]:
    """Score files of links, against the gold of a question set and over a graph where these are given."""
    from srtk_framework.cli import graph_block
    from srtk_framework.recipe import from_data
    from srtk_framework.records import read_questions
    from srtk_framework.run import Session
    from srtk_plugin_evaluation.files import evaluate_links

    data: dict[str, Any] = {"srtk": 1, **graph_block(args)}
    gold = str(args.gold or args.questions or "")
    if gold:
        data["questions"] = _block(gold) if gold.lstrip().startswith("{") else gold
    with Session(from_data(data)) as session:
        questions = None
        if gold:
            asked: Any = session.dataset
            questions = list(read_questions(asked) if isinstance(asked, str) else asked.read())
        return evaluate_links(args.results, questions, gold, args.name, args.missing, args.fields, session.graph)


def _block(text: str) -> Any:
    try:
        return read_yaml(text, "--gold", "value")
    except InputError as error:
        raise InputError(f"{error}; write '{{use: elevant, path: FILE}}'") from error
