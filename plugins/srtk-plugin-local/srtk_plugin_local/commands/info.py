"""``srtk graph info``: the content of a snapshot."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

HELP = "show the content of a local graph snapshot"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the flags."""
    parser.add_argument("folder", metavar="DIR", help="a snapshot built by `srtk graph build`")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--relations", type=int, default=10, metavar="N", help="relations to list (%(default)s)")
    parser.add_argument("--verify", action="store_true", help="check the hash of every file")


def run(args: argparse.Namespace) -> int:
    """Print the description of the snapshot."""
    facts = describe(Path(args.folder), max(args.relations, 0), args.verify)
    if args.json:
        print(json.dumps(facts, indent=1, ensure_ascii=False))
    else:
        _print_table(facts)
    return 0


def describe(folder: Path, relations: int, verify: bool) -> dict[str, Any]:
    """Describe a snapshot: its counts, schema, size, origin and most frequent relations.

    Raises:
        SnapshotError: If a file is missing or damaged.
    """
    import numpy as np

    from srtk_plugin_local.snapshot.arrays import Snapshot, verify_files

    snapshot = Snapshot(folder)
    if verify:
        verify_files(folder, snapshot.meta)
    meta = snapshot.meta
    counts = snapshot.array("relations.count").astype(np.int64)
    top = np.lexsort((np.arange(len(counts)), -counts))[:relations].tolist()
    entities = meta.counts["entities"]
    return {
        "path": str(folder),
        "content": meta.content,
        "source": f"local:{meta.content[:16]}",
        "counts": dict(meta.counts),
        "label_coverage": round(meta.counts["labels"] / entities, 4) if entities else 0.0,
        "ids_are_names": meta.names,
        "bytes": sum(int(entry["bytes"]) for entry in meta.files.values()),
        "files": {name: int(entry["bytes"]) for name, entry in sorted(meta.files.items())},
        "schema": dict(meta.schema),
        "origin": dict(meta.origin),
        "relations": [{"id": snapshot.relations[n], "triples": int(counts[n])} for n in top],
        "verified": verify,
    }


def _print_table(facts: dict[str, Any]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(title=Text(facts["path"]), show_header=False)
    table.add_column(style="bold")
    table.add_column(justify="right", overflow="fold")
    rows = [("content", facts["content"])]
    rows += [(name.replace("_", " "), f"{count:,}") for name, count in facts["counts"].items()]
    rows += [
        ("entities with a label", f"{100 * facts['label_coverage']:.1f} %"),
        ("ids are names", "yes" if facts["ids_are_names"] else "no"),
        ("size", f"{facts['bytes'] / 1e6:,.1f} MB in {len(facts['files'])} files"),
    ]
    rows += [(kind.replace("_", " "), ", ".join(values)) for kind, values in facts["schema"].items() if values]
    rows += [(name.replace("_", " "), str(value)) for name, value in facts["origin"].items()]
    if facts["verified"]:
        rows.append(("hashes of all files", "correct"))
    for name, value in rows:
        table.add_row(Text(name), Text(value))
    top = Table(title="relations with the most triples")
    top.add_column("relation", overflow="fold")
    top.add_column("triples", justify="right")
    for relation in facts["relations"]:
        top.add_row(Text(relation["id"]), f"{relation['triples']:,}")
    console = Console()
    console.print(table)
    if facts["relations"]:
        console.print(top)
