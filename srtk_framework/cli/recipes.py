"""List, show or copy the recipes that come with the framework.

    srtk recipes list
    srtk recipes show metaqa
    srtk recipes copy metaqa [FOLDER]

A copy brings the small files that its recipe names; its paths are in FOLDER (default: recipes).
"""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path

from srtk_framework.cli import OK
from srtk_framework.recipe.shipped import FOLDER, copy_recipe, shipped_recipe, shipped_recipes


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the flags."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="list | show NAME | copy NAME [FOLDER]")
    actions.add_parser("list", help="names and descriptions")
    show = actions.add_parser("show", help="print a recipe")
    show.add_argument("name", metavar="NAME")
    copy = actions.add_parser("copy", help="copy a recipe, to be run or changed")
    copy.add_argument("name", metavar="NAME")
    copy.add_argument("folder", metavar="FOLDER", nargs="?", default=FOLDER, help=f"where to (default: {FOLDER})")
    copy.add_argument("--force", action="store_true", help="replace files that are there already")


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    if args.action == "list":
        recipes = shipped_recipes()
        width = max(len(recipe.name) for recipe in recipes)
        for recipe in recipes:
            print(f"{recipe.name:<{width}}  {recipe.description}")
        print("\nto have one: srtk recipes copy NAME")
    elif args.action == "show":
        print(shipped_recipe(args.name).text, end="")
    else:
        copies = copy_recipe(shipped_recipe(args.name), Path(args.folder), args.force)
        for path in copies:
            print(f"wrote {path}")
        print(f"next: srtk check {shlex.quote(str(copies[0]))}")
    return OK
