"""Check a recipe before it runs, and report all mistakes at once.

Checked are every key, type, driver and need, and what the recipe names: files of questions, datasets, snapshots,
models, the form of addresses, and whether outputs can be written. Nothing is loaded, built or asked over a network
without --open.
"""

from __future__ import annotations

import argparse

from srtk_framework.cli import OK
from srtk_framework.host.discovery import distributions_of
from srtk_framework.recipe.recipe import load
from srtk_framework.run.preflight import checked_session


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the flags."""
    parser.add_argument("recipe", metavar="RECIPE", help="YAML file")
    parser.add_argument(
        "--open",
        action="store_true",
        help="open every driver too: load models, build missing snapshots, ask servers what they are asked first",
    )
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY.PATH=VALUE", help="change a value of the recipe; repeatable"
    )


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    session = checked_session(load(args.recipe, args.set))
    if args.open:
        with session:
            pass
    for role, name in session.drivers:
        print(f"{role}: {name}")
    needed = distributions_of(session.drivers)
    print(f"\n{args.recipe} is fine; it needs {'pip install ' + ' '.join(needed) if needed else 'no plugin'}")
    return OK
