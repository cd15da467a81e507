"""Find the entities in questions; writes question_entities, spans and entity_names of each question."""

from __future__ import annotations

import argparse
import os
from typing import Any

from srtk_framework.cli.options import graph_block
from srtk_framework.cli.short import add_file_arguments, run_short

_TOKEN = "SRTK_LINK_TOKEN"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the flags."""
    add_file_arguments(parser, "--output")
    parser.add_argument("--service", default="dictionary", metavar="LINKER", help="entity_linker driver (%(default)s)")
    parser.add_argument("-e", "--el-endpoint", metavar="URL", help="address of the linking service")
    parser.add_argument("--token", help="token for the linking service")
    parser.add_argument("--wikimapper-db", metavar="FILE", help="index from Wikipedia titles to Wikidata ids")
    parser.add_argument("--ground-on", default="question", metavar="FIELD", help="field with the text (%(default)s)")


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    linker: dict[str, Any] = {"use": args.service}
    for flag, setting in (("el_endpoint", "endpoint"), ("wikimapper_db", "ids")):
        if getattr(args, flag) is not None:
            linker[setting] = getattr(args, flag)
    if args.token is not None:
        # The recipe names a variable, so that no manifest holds the token itself.
        os.environ[_TOKEN] = args.token
        linker["token"] = {"env": _TOKEN}
    questions: Any = args.input
    if args.ground_on != "question":
        questions = {"use": "jsonl", "path": args.input, "text_field": args.ground_on}
    data = {
        "questions": questions,
        **graph_block(args),
        "entity_linker": linker,
        "relink": True,
        "evaluate": True,  # where the questions have gold links
        "exporters": [{"use": "jsonl", "path": args.output}],
    }
    return run_short(args, data)
