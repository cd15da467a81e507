"""Helpers for commands with SRTK's names and flags, of the core and of plugins."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any


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


def note(text: str) -> None:
    """Print a note about a flag that is accepted but has no effect."""
    print(f"srtk: note: {text}", file=sys.stderr)
