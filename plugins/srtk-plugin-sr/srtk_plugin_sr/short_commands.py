"""Shared parts of the commands with SRTK's names and flags, which build a recipe and run it."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from srtk_framework.cli import add_run_arguments, graph_of_endpoint, note, run_recipe
from srtk_framework.recipe import from_data
from srtk_framework.values import InputError


def add_file_arguments(
    parser: argparse.ArgumentParser, output: str, default: str | None = None, required: bool = True
) -> None:
    """Declare input, output and graph.

    Args:
        parser: Parser of the command.
        output: Long flag of the output.
        default: Ending of the default output, after the input's name without its suffix; None if it is required.
        required: Whether the input must be given by its flag.
    """
    where = "where to write" if default is None else f"where to write; by default beside the input, FILE{default}"
    parser.add_argument("-i", "--input", required=required, metavar="FILE", help="JSONL file; `-` reads standard input")
    parser.add_argument("-o", output, dest="output", required=default is None, metavar="PATH", help=where)
    parser.add_argument(
        "-kg",
        "--knowledge-graph",
        metavar="GRAPH",
        help="folder of a snapshot made by `srtk graph build`, or the name of a knowledge_graph driver",
    )
    add_run_arguments(parser)


def set_output(args: argparse.Namespace, default: str) -> None:
    """Set the output, where it is not given, to the input's name without its suffix, followed by ``default``.

    Raises:
        InputError: If the input is the standard input, which has no name.
    """
    if args.output is not None:
        return
    if args.input == "-":
        raise InputError("the standard input has no name by which to name the output; give --output")
    args.output = str(Path(args.input).with_suffix("")) + default


def set_graph(args: argparse.Namespace) -> None:
    """Set the graph, where it is not given, to the graph of the endpoint, with a note."""
    if args.knowledge_graph is None:
        args.knowledge_graph = graph_of_endpoint(args.sparql_endpoint)
        if not args.quiet:
            at = f" at {args.sparql_endpoint}" if args.sparql_endpoint else ", at its public endpoint"
            note(f"no --knowledge-graph given: {args.knowledge_graph}{at}")


def run_folder(args: argparse.Namespace) -> Path:
    """Return the folder of the run, beside the output."""
    output = Path(args.output)
    return output.with_name(output.name + ".run")


def run_short(args: argparse.Namespace, data: Mapping[str, Any]) -> int:
    """Run a recipe given as data; its folder stands beside the output."""
    recipe = from_data({"srtk": 1, "output": str(run_folder(args)), **data})
    return run_recipe(recipe, args)
