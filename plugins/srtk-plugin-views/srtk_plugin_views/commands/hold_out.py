"""``srtk graph hold-out``: triples to hide from a graph, and pattern questions that ask for them."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

import srtk_framework
from srtk_framework.graph import TripleTable
from srtk_framework.records import publication_error, publish, record_from_question, workplace, write_jsonl, write_text
from srtk_framework.values import InputError, close_matches
from srtk_plugin_views.held_out_answers import MOST, HeldOut, hold_out

HIDDEN, PATTERNS = "hidden.tsv", "patterns.jsonl"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the flags."""
    add = parser.add_argument
    add("graph", metavar="GRAPH", help="folder of a snapshot")
    add("--out", required=True, metavar="DIR", help=f"folder for {HIDDEN} and {PATTERNS}")
    add("--share", type=float, metavar="S", help="share of a query's answers to hide, rounded up; default: all")
    add("--count", type=int, metavar="N", help="number of a query's answers to hide, in place of a share")
    add("--most", type=int, default=MOST, metavar="N", help="most answers to hide of a query (%(default)s)")
    add("--queries", type=int, default=100, metavar="N", help="most queries per relation and end (%(default)s)")
    add("--ends", choices=("both", "object", "subject"), default="both", help="open ends of queries (%(default)s)")
    add("--relation", action="append", metavar="ID", help="ask for this relation; repeatable; default: all")
    add("--seed", type=int, default=0, metavar="N", help="seed of the choice (%(default)s)")
    add("--force", action="store_true", help="replace DIR if it exists")


def run(args: argparse.Namespace) -> int:
    """Choose the triples to hide, write them, and print their number."""
    out = Path(args.out)
    _check(args, out)
    table = _table(args.graph)
    relations = _relations(args, table)
    ends = ("object", "subject") if args.ends == "both" else (args.ends,)
    found = hold_out(
        table, relations, ends, queries=args.queries, share=args.share, count=args.count, most=args.most, seed=args.seed
    )
    if not found.triples:
        raise InputError(
            f"{args.graph}: nothing can be hidden of {len(relations)} relations: each of their {found.spared:,} triples"
            " that were tried is the last one of its subject or object; choose other relations, or a larger graph"
        )
    _write(found, out)
    subjects = sum(question.pattern is not None and question.pattern.subject is None for question in found.questions)
    print(
        f"{out}: {len(found.triples):,} of {len(table.triples):,} triples to hide, {len(found.questions):,} patterns"
        f" ({len(found.questions) - subjects:,} with an open object, {subjects:,} with an open subject)"
    )
    print(
        f"mask them: knowledge_graph: {{use: masked, graph: {{use: local, path: {args.graph}}}, hide: {out / HIDDEN}}}"
    )
    return 0


def _check(args: argparse.Namespace, out: Path) -> None:
    if args.share is not None and args.count is not None:
        raise InputError("--share and --count exclude each other; give one of them")
    if args.share is not None and not 0 < args.share <= 1:
        raise InputError(f"--share {args.share:g}: give a share above 0, at most 1")
    for name in ("count", "most", "queries"):
        number = getattr(args, name)
        if number is not None and number < 1:
            raise InputError(f"--{name} {number}: give a number of at least 1")
    if os.path.lexists(out) and not args.force:
        raise InputError(f"{out} exists already; choose another --out, or replace it with --force")
    if out.is_dir() and (strange := sorted({file.name for file in out.iterdir()} - {HIDDEN, PATTERNS})):
        raise InputError(f"{out} holds {strange[0]}, which this command did not write; choose another --out")


def _table(graph: str) -> TripleTable:
    """Read all triples of a snapshot that a line of a file can hold."""
    if not Path(graph).is_dir():
        raise InputError(f"{graph}: there is no such folder; give a snapshot, as `srtk graph build` makes it")
    with srtk_framework.open({"srtk": 1, "knowledge_graph": {"use": "local", "path": graph}}) as session:
        read: Any = session.graph
        table = TripleTable.of(read)
    if not len(table.triples):
        raise InputError(f"{graph}: the graph has no triple between two entities, so there is nothing to hide")
    odd = [id_ for id_ in (*table.entities, *table.relations) if any(mark in id_ for mark in "\t\n\r")]
    if odd:
        raise InputError(f"{graph}: the id {odd[0]!r} has a tab or a line break, which {HIDDEN} cannot hold; rename it")
    return table


def _relations(args: argparse.Namespace, table: TripleTable) -> list[str]:
    for relation in args.relation or ():
        if relation not in table.relation_numbers:
            raise InputError(
                f"--relation {relation}: {args.graph} has no such relation between entities."
                f"{close_matches(relation, table.relations)}"
            )
    return sorted(set(args.relation)) if args.relation else list(table.relations)


def _write(found: HeldOut, out: Path) -> None:
    """Write both files into a folder that appears whole."""
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        with workplace(out, "choose another --out") as place:
            made = place / "made"
            made.mkdir()
            write_text(made / HIDDEN, "".join("\t".join(triple) + "\n" for triple in found.triples))
            write_jsonl(made / PATTERNS, (record_from_question(question) for question in found.questions))
            publish(made, out)
    except OSError as error:
        raise publication_error(error, out) from error
