"""``srtk graph info``: the content of a snapshot."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from srtk_framework.values import SnapshotError, console, escaped, on_one_line, shortened

# Characters of a label that are shown.
_LABEL = 60


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the flags."""
    parser.add_argument("folder", metavar="DIR", help="a snapshot built by `srtk graph build`")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--relations", type=int, default=10, metavar="N", help="relations to list (%(default)s)")
    parser.add_argument("--facts", type=int, default=10, metavar="N", help="example facts to list (%(default)s)")
    parser.add_argument("--verify", action="store_true", help="check the hash of every file")


def run(args: argparse.Namespace) -> int:
    """Print the description of the snapshot."""
    facts = describe(Path(args.folder), max(args.relations, 0), args.verify, max(args.facts, 0))
    if args.json:
        print(json.dumps(facts, indent=1, ensure_ascii=False))
    else:
        _print_table(facts)
    return 0


def describe(folder: Path, relations: int, verify: bool, facts: int = 10) -> dict[str, Any]:
    """Describe a snapshot: counts, schema, size, origin, example facts, most frequent relations, and how it was read.

    Args:
        folder: Folder of the snapshot.
        relations: Number of relations to list, those with the most triples.
        verify: Whether to check the hash of every file.
        facts: Number of example facts, taken evenly from all.

    Raises:
        SnapshotError: If a file is missing or damaged.
    """
    import numpy as np

    from srtk_framework.records import check_files
    from srtk_plugin_local.commands.kept_vectors import kept_vectors
    from srtk_plugin_local.snapshot.arrays import Snapshot
    from srtk_plugin_local.snapshot.lookup import labels
    from srtk_plugin_local.snapshot.meta_file import AGAIN

    snapshot = Snapshot(folder)
    numbers = {relation: number for number, relation in enumerate(snapshot.relations)}

    def example(edges: Any) -> list[dict[str, Any]]:
        """Return the triples at these places among the forward targets, with their labels."""
        edges = np.asarray(edges, dtype=np.int64)
        side = snapshot.forward
        groups = side.starts.before(edges)
        subjects = snapshot.ids(side.owners(groups))
        objects = snapshot.ids(side.targets[edges].astype(np.int64))
        kinds = [snapshot.relations[number] for number in side.relations[groups].tolist()]
        rows = [list(row) for row in zip(subjects, kinds, objects, strict=True)]
        return [{"triple": row, "labels": labels(snapshot, numbers, row)} for row in rows]

    def middle(relation: int) -> list[int]:
        """Return the place of a triple of a relation; ids at the ends of the alphabet are often odd."""
        groups = np.flatnonzero(snapshot.forward.relations == relation)
        starts: list[int] = snapshot.forward.starts[groups[len(groups) // 2 : len(groups) // 2 + 1]].tolist()
        return starts

    meta = snapshot.meta
    if verify:
        check_files(folder / meta.generation, meta.files, AGAIN, SnapshotError, anew=True)
    counts = snapshot.array("relations.count").astype(np.int64)
    top = np.lexsort((np.arange(len(counts)), -counts))[:relations].tolist()
    entities = meta.counts["entities"]
    total = meta.counts["triples"]
    shown = min(facts, total)
    some = sorted({place * total // shown for place in range(shown)})
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
        "examples": example(some),
        "relations": [
            {
                "id": snapshot.relations[n],
                "label": labels(snapshot, numbers, [snapshot.relations[n]])[0],
                "triples": int(counts[n]),
                "example": next(iter(example(middle(n))), None),
            }
            for n in top
        ],
        "mediators": dict(meta.build.get("mediators", {})),
        "reading": list(meta.build.get("reading", ())),
        "plan": dict(meta.build.get("plan", {})),
        "ignored": dict(meta.build.get("ignored", {})),
        "vectors": kept_vectors(folder, meta.content),
        "verified": verify,
    }


def _print_table(facts: dict[str, Any]) -> None:
    from rich.table import Table

    from srtk_plugin_local.commands.kept_vectors import summary
    from srtk_plugin_local.snapshot.column_table import column_tables
    from srtk_plugin_local.snapshot.input_report import sentences

    table = Table(title=facts["path"], show_header=False)
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
    if facts["vectors"]:
        rows.append(("vectors", summary(facts["vectors"]).removeprefix("vectors ")))
    if facts["verified"]:
        rows.append(("hashes of all files", "correct"))
    for name, value in rows:
        table.add_row(name, value)
    screen = console()
    screen.print(table)
    if facts["examples"]:
        table = Table(title="example facts", show_header=False)
        for _ in range(3):
            table.add_column(overflow="fold")
        for example in facts["examples"]:
            table.add_row(*(shortened(on_one_line(label), _LABEL) for label in example["labels"]))
        screen.print(table)
    if facts["relations"]:
        table = Table(title="relations with the most triples")
        table.add_column("relation", overflow="fold")
        table.add_column("triples", justify="right")
        table.add_column("example", overflow="fold")
        for relation in facts["relations"]:
            id_, label = relation["id"], relation["label"]
            named = id_ if label in (id_, id_.replace("_", " ")) else f"{label} ({id_})"
            ends = relation["example"]["labels"][::2] if relation["example"] else []
            example = " → ".join(shortened(on_one_line(end), _LABEL) for end in ends)
            table.add_row(on_one_line(named), f"{relation['triples']:,}", example)
        screen.print(table)
    for columns in column_tables(facts["reading"]):
        screen.print(columns)
    told = [
        *sentences(facts["reading"], columns=False),
        *(f"left out: {n:,} {kind}" for kind, n in facts["ignored"].items()),
    ]
    if told:
        screen.print("how the files were read", style="bold")
    for sentence in told:
        screen.print(f"- {escaped(sentence, lines=False)}")
