"""Print the JSON Schema of recipes, by which editors complete and check them.

    srtk schema > recipe.schema.json

Name the file in the first line of a recipe: # yaml-language-server: $schema=recipe.schema.json
"""

from __future__ import annotations

import argparse

from srtk_framework.cli import OK
from srtk_plugin_authoring.recipe_schema import recipe_schema, written_schema


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the flags."""
    parser.add_argument(
        "--known",
        action="store_true",
        help="the drivers of the framework's own plugins alone, as in the schema that is copied with recipes",
    )


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    print(written_schema(recipe_schema(args.known)), end="")
    return OK
