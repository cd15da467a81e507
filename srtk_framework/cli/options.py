"""Helpers for commands with SRTK's names and flags, of the core and of plugins."""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from srtk_framework.values import escaped, redacted


def graph_block(args: argparse.Namespace, endpoint: str | None = None) -> dict[str, Any]:
    """Write the knowledge_graph block for ``-kg`` and ``-e``; empty without ``-kg``."""
    from srtk_framework.run.default_drivers import GRAPH  # plugins import this module for `note` alone

    if args.knowledge_graph is None:
        return {}
    if Path(args.knowledge_graph).is_dir() or "/" in args.knowledge_graph:
        return {"knowledge_graph": {"use": GRAPH, "path": args.knowledge_graph}}
    block: dict[str, Any] = {"use": args.knowledge_graph}
    if endpoint is not None:
        block["endpoint"] = endpoint
    return {"knowledge_graph": block}


def graph_of_endpoint(endpoint: str | None) -> str:
    """Return the graph that ``-e`` means without ``-kg``: DBpedia by the name of its host, else Wikidata as in SRTK."""
    host = urlsplit(endpoint or "").hostname or ""
    return "dbpedia" if "dbpedia" in host else "wikidata"


def add_set_argument(parser: argparse.ArgumentParser, what: str = "change a value of the recipe") -> None:
    """Declare ``--set``, which changes values of a recipe."""
    parser.add_argument("--set", action="append", default=[], metavar="KEY.PATH=VALUE", help=f"{what}; repeatable")


def add_screen_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare how much a command prints."""
    how = parser.add_mutually_exclusive_group()
    how.add_argument("-q", "--quiet", action="store_true", help="print errors only")
    how.add_argument("-v", "--verbose", action="store_true", help="print what the framework and its plugins log too")


def add_run_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the flags that the short commands share."""
    again = parser.add_mutually_exclusive_group()
    again.add_argument(
        "--resume",
        action="store_true",
        help="take over what a finished run of the same recipe has answered; an unfinished one always goes on",
    )
    again.add_argument(
        "--fresh",
        action="store_true",
        help="start over, and drop what an unfinished run or training in the folder has done",
    )
    add_screen_arguments(parser)


class _Printed(logging.Handler):
    """Prints log records of the framework and its plugins."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Leave out log records of other packages."""
        return record.name.startswith("srtk_")

    def emit(self, record: logging.LogRecord) -> None:
        """Print a record."""
        note(record.getMessage())


@contextmanager
def logged(level: int | None = logging.DEBUG) -> Iterator[None]:
    """Print log records of the framework and its plugins from a level on; None prints nothing."""
    if level is None:
        yield
        return
    handler, log = _Printed(level), logging.getLogger()
    before = log.level
    log.addHandler(handler)
    log.setLevel(min(level, before) if before else level)
    try:
        yield
    finally:
        log.removeHandler(handler)
        log.setLevel(before)


def say(text: str, *below: str) -> None:
    """Print a text as one line on the standard error, and others below it, without secrets."""
    print(f"srtk: {escaped(redacted(text), lines=False)}", *map(redacted, below), sep="\n", file=sys.stderr)


def note(text: str) -> None:
    """Print a note about a flag, such as a flag without effect."""
    say(f"note: {text}")
