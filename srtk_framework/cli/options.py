"""Helpers for commands with SRTK's names and flags, of the core and of plugins."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from srtk_framework.values import redacted


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


def note(text: str) -> None:
    """Print a note about a flag, such as one that is accepted but has no effect."""
    print(f"srtk: note: {redacted(text)}", file=sys.stderr)
