"""Score results against gold answers, also those that another program made; several files are compared."""

from __future__ import annotations

import argparse
from pathlib import Path

from srtk_framework.cli import OK
from srtk_framework.evaluating import evaluate_files
from srtk_framework.evaluation import table
from srtk_framework.journal import write_json


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the flags."""
    parser.add_argument("results", nargs="+", type=Path, metavar="RESULTS", help="JSONL files, one for each method")
    parser.add_argument("--questions", type=Path, metavar="FILE", help="questions with the gold, if not in the results")
    parser.add_argument("--name", action="append", metavar="NAME", help="name of each method, in order; repeatable")
    parser.add_argument(
        "--missing",
        choices=("error", "fail"),
        default="error",
        help="what to do about unanswered questions (%(default)s)",
    )
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="write the report as JSON")


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    from rich.console import Console

    report = evaluate_files(args.results, args.questions, args.name, args.missing)
    Console().print(table(report))
    if args.output is not None:
        write_json(args.output, report)
    return OK
