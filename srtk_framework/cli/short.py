"""Shared parts of the commands with SRTK's names and flags, which build a recipe and run it."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from srtk_framework.cli.run import add_run_arguments, run_recipe
from srtk_framework.recipe.recipe import from_data


def add_file_arguments(parser: argparse.ArgumentParser, output: str) -> None:
    """Declare input, output and graph."""
    parser.add_argument("-i", "--input", required=True, metavar="FILE", help="JSONL file; `-` reads standard input")
    parser.add_argument("-o", output, dest="output", required=True, metavar="PATH", help="where to write")
    parser.add_argument(
        "-kg",
        "--knowledge-graph",
        metavar="GRAPH",
        help="folder of a snapshot made by `srtk graph build`, or the name of a knowledge_graph driver",
    )
    add_run_arguments(parser)


def run_short(args: argparse.Namespace, data: Mapping[str, Any]) -> int:
    """Run a recipe given as data; its folder stands beside the output."""
    output = Path(args.output)
    folder = output.with_name(output.name + ".run")
    return run_recipe(
        from_data({"srtk": 1, "output": str(folder), **data}), args.resume, args.quiet, in_full=args.traceback
    )
