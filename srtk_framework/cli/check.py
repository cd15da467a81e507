"""Check every key, type, driver and need of a recipe, and report all mistakes at once; nothing is run or opened."""

from __future__ import annotations

import argparse

from srtk_framework.cli import OK
from srtk_framework.host.discovery import distributions_of
from srtk_framework.recipe.recipe import load
from srtk_framework.run.outputs import check_outputs
from srtk_framework.run.session import Session


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the flags."""
    parser.add_argument("recipe", metavar="RECIPE", help="YAML file")
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY.PATH=VALUE", help="change a value of the recipe; repeatable"
    )


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    session = Session(load(args.recipe, args.set))
    check_outputs(session)
    for role, name in session.drivers:
        print(f"{role}: {name}")
    needed = distributions_of(session.drivers)
    print(f"\n{args.recipe} is fine; it needs {'pip install ' + ' '.join(needed) if needed else 'no plugin'}")
    return OK
