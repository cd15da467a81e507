"""Draw retrieved subgraphs: one self-contained page for all questions of a results file."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from srtk_framework.cli import OK
from srtk_framework.cli.options import graph_block
from srtk_framework.cli.short import add_file_arguments, run_folder, run_short, set_graph, set_output
from srtk_framework.records.jsonl import read_jsonl

_DRAWN = 60
"""Triples that the page draws of a question; its table lists all."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the flags."""
    add_file_arguments(parser, "--output-dir", ".pages")
    parser.add_argument("-e", "--sparql-endpoint", metavar="URL", help="where to read labels that the file lacks")
    parser.add_argument("--max-output", type=int, default=1000, metavar="N", help="most questions (%(default)s)")


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    set_output(args, ".pages")
    if args.sparql_endpoint is not None:
        set_graph(args)
    page = Path(args.output) / "page.html"
    data = {
        "questions": args.input,
        **graph_block(args, args.sparql_endpoint),
        "limit": args.max_output,
        "exporters": [{"use": "html", "path": str(page), "max_triples": _DRAWN}],
    }
    code = run_short(args, data)
    if code == OK:
        _tell_omissions(args, page)
    return code


def _tell_omissions(args: argparse.Namespace, page: Path) -> None:
    """Print how many questions and triples of the input the page does not draw."""
    # The run keeps a copy of the standard input.
    source = run_folder(args) / "questions.in" if args.input == "-" else args.input
    questions = large = 0
    for _, record in read_jsonl(source):
        questions += 1
        triples = record.get("triplets", record.get("triples")) or []
        large += questions <= args.max_output and len(triples) > _DRAWN
    if questions > args.max_output:
        print(
            f"srtk: {page} has the first {args.max_output} of {questions} questions; draw all with --max-output"
            f" {questions}",
            file=sys.stderr,
        )
    if large:
        print(
            f"srtk: {page} draws {_DRAWN} triples of each of {large} questions that have more, those on routes to"
            " answers first; its tables list all",
            file=sys.stderr,
        )
