"""Find the entities in questions.

Writes question_entities, spans and entity_names of each question.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

from srtk_framework.cli import graph_block, note
from srtk_framework.values import InputError
from srtk_plugin_sr.short_commands import add_file_arguments, run_short

_LINKER = "dictionary"
_TOKEN = "SRTK_LINK_TOKEN"
_OF_GRAPH = {"wikidata": "rel", "dbpedia": "spotlight"}
"""SRTK's linkers, by the graph to which they link."""
_TO_TITLES = ("rel", "tagme", "wat")
"""Services that link to titles of Wikipedia, which an index maps to Wikidata ids."""
_INDEX = Path("resources/wikimapper/index_enwiki.db")
"""Where SRTK expects that index."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the flags."""
    add_file_arguments(parser, "--output")
    parser.add_argument(
        "--service",
        metavar="LINKER",
        help="entity_linker driver; by default rel for Wikidata, spotlight for DBpedia, else dictionary",
    )
    parser.add_argument("-e", "--el-endpoint", metavar="URL", help="address of the linking service")
    parser.add_argument("--token", help="token for the linking service")
    parser.add_argument(
        "--wikimapper-db",
        metavar="FILE",
        help=f"index from Wikipedia titles to Wikidata ids ({_INDEX}, if it is there)",
    )
    parser.add_argument("--ground-on", default="question", metavar="FIELD", help="field with the text (%(default)s)")


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    service = args.service or _default_service(args)
    if args.service is None and service != _LINKER and not args.quiet:
        note(f"no --service given: {service} links")
    linker: dict[str, Any] = {"use": service}
    if args.el_endpoint is not None:
        linker["endpoint"] = args.el_endpoint
    if (index := _index(args, service)) is not None:
        linker["ids"] = index
    if args.token is not None:
        # The recipe names a variable, so that no manifest holds the token itself.
        os.environ[_TOKEN] = args.token
        linker["token"] = {"env": _TOKEN}
    questions: Any = args.input
    if args.ground_on != "question":
        questions = {"use": "jsonl", "path": args.input, "text_field": args.ground_on}
    data = {
        "questions": questions,
        # SRTK's linkers know their entities by themselves; -kg only says whose ids are wanted.
        **({} if service in (*_TO_TITLES, "spotlight") and args.knowledge_graph in _OF_GRAPH else graph_block(args)),
        "entity_linker": linker,
        "relink": True,
        "evaluate": True,  # where the questions have gold links
        "exporters": [{"use": "jsonl", "path": args.output}],
    }
    return run_short(args, data)


def _default_service(args: argparse.Namespace) -> str:
    """Return the linker for ``-kg``; an address without a graph is for REL, as in SRTK."""
    if args.knowledge_graph in _OF_GRAPH:
        return _OF_GRAPH[args.knowledge_graph]
    return "rel" if args.el_endpoint is not None and args.knowledge_graph is None else _LINKER


def _index(args: argparse.Namespace, service: str) -> str | None:
    """Return the index from titles to Wikidata ids, or None if the titles are wanted.

    Raises:
        InputError: If Wikidata ids are wanted and there is no index.
    """
    if args.wikimapper_db is not None or service not in _TO_TITLES or args.knowledge_graph not in (None, "wikidata"):
        return None if args.wikimapper_db is None else str(args.wikimapper_db)
    if _INDEX.is_file():
        return str(_INDEX)
    if args.knowledge_graph == "wikidata":
        raise InputError(
            f"{service} links to titles of Wikipedia, and there is no index from titles to Wikidata ids in {_INDEX};"
            " give one by --wikimapper-db, or make one with `srtk map build`"
        )
    return None
