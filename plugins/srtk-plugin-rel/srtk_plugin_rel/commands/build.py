"""``srtk map build``: an index from Wikipedia titles to Wikidata ids, out of tables."""

from __future__ import annotations

import argparse
from pathlib import Path

from srtk_plugin_rel.index_builder import build


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the flags."""
    add = parser.add_argument
    add("titles", nargs="+", metavar="TSV", help="title, Wikidata id and, if known, number of the page; .gz is read")
    add("--redirects", nargs="+", default=[], metavar="TSV", help="title, and the title that it leads to")
    add("--out", required=True, metavar="FILE", help="the index; wikimapper reads it too")
    add("--force", action="store_true", help="replace FILE if it exists")


def run(args: argparse.Namespace) -> int:
    """Build the index, and report its content."""
    built = build(
        [Path(name) for name in args.titles], [Path(name) for name in args.redirects], Path(args.out), args.force
    )
    print(f"{args.out}: {built.titles:,} titles, {built.redirects:,} redirects")
    if built.lost:
        print(f"{args.out}: {built.lost:,} redirects lead to no title with an id, and were left out")
    return 0
