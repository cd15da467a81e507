"""Draw retrieved subgraphs: one self-contained page for all questions of a results file."""

from __future__ import annotations

import argparse
from pathlib import Path

from srtk_framework.cli.options import graph_block
from srtk_framework.cli.short import add_file_arguments, run_short


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the flags."""
    add_file_arguments(parser, "--output-dir")
    parser.add_argument("-e", "--sparql-endpoint", metavar="URL", help="where to read labels that the file lacks")
    parser.add_argument("--max-output", type=int, default=1000, metavar="N", help="most questions (%(default)s)")


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    data = {
        "questions": args.input,
        **graph_block(args, args.sparql_endpoint),
        "limit": args.max_output,
        "exporters": [{"use": "html", "path": str(Path(args.output) / "page.html")}],
    }
    return run_short(args, data)
