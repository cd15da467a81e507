"""Write a new plugin: a small driver that works, its package, and its conformance test."""

from __future__ import annotations

import argparse
from pathlib import Path

from srtk_framework.cli import OK
from srtk_framework.scaffold import write_plugin


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the flags."""
    parser.add_argument("role", metavar="ROLE", help="role of the driver, such as knowledge_graph")
    parser.add_argument("name", metavar="NAME", help="name of the driver, as `use:` shall call it")
    parser.add_argument("--in", dest="folder", default=".", metavar="DIR", help="folder to write into")


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    folder = write_plugin(args.role, args.name, Path(args.folder))
    print(f"wrote {folder}; next: pip install -e {folder} && pytest {folder}")
    return OK
