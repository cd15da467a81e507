"""What the commands with SRTK's names and flags share: they build a recipe and run it."""

from __future__ import annotations

import argparse
import sys
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


def graph_block(args: argparse.Namespace, endpoint: str | None = None) -> dict[str, Any]:
    """Write the knowledge_graph block for ``-kg`` and ``-e``; empty without ``-kg``."""
    if args.knowledge_graph is None:
        return {}
    if Path(args.knowledge_graph).is_dir() or "/" in args.knowledge_graph:
        return {"knowledge_graph": {"use": "local", "path": args.knowledge_graph}}
    block: dict[str, Any] = {"use": args.knowledge_graph}
    if endpoint is not None:
        block["endpoint"] = endpoint
    return {"knowledge_graph": block}


def run_short(args: argparse.Namespace, data: Mapping[str, Any]) -> int:
    """Run a recipe given as data; its folder stands beside the output."""
    output = Path(args.output)
    folder = output.with_name(output.name + ".run")
    return run_recipe(
        from_data({"srtk": 1, "output": str(folder), **data}), args.resume, args.quiet, in_full=args.traceback
    )


def note(text: str) -> None:
    """Say something about a flag that is understood but not needed."""
    print(f"srtk: note: {text}", file=sys.stderr)
