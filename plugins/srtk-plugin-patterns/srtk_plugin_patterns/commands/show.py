"""``srtk patterns show``: the paths of a relation, with their scores."""

from __future__ import annotations

import argparse
from pathlib import Path

from srtk_framework.values import DriverError, InputError, on_one_line
from srtk_plugin_patterns.path_patterns import PathPatterns


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the flags."""
    add = parser.add_argument
    add("patterns", metavar="DIR", help="folder that `srtk patterns mine` wrote")
    add("relation", metavar="RELATION", nargs="?", help="id of a relation; without it, all are listed")
    add("--count", type=int, default=20, metavar="N", help="paths to show (%(default)s)")
    add(
        "--productive",
        type=int,
        metavar="M",
        help="of the M paths that join most pairs, the most exclusive first; default: those that join most pairs",
    )


def run(args: argparse.Namespace) -> int:
    """Print a table."""
    patterns = PathPatterns.load(Path(args.patterns))
    if args.relation is None:
        print(f"{'pairs':>9} {'paths':>7}  relation")
        for name, found in patterns.relations.items():
            without = ", ".join(on_one_line(str(twin.step)) for twin in patterns.twins.get(name, ()))
            print(
                f"{found.mined:>9,} {len(found.paths):>7,}  {on_one_line(name)}"
                + (f" without {without}" if without else "")
            )
        return 0
    try:
        found = patterns.of(args.relation)
    except DriverError as error:
        raise InputError(f"{args.patterns}: {error}") from error
    paths = found.paths[: args.count] if args.productive is None else found.best(args.count, args.productive)
    print(f"{on_one_line(args.relation)}: {found.mined:,} of {found.facts:,} pairs, {len(found.paths):,} paths")
    for twin in patterns.twins.get(args.relation, ()):
        step = on_one_line(str(twin.step))
        print(f"held out: {step}, which joins {twin.shared:,} of its pairs (overlap {twin.overlap:.3f})")
    print(f"{'pairs':>7} {'score 2':>7} {'score 1':>7} {'at least':>8}  path")
    for path in paths:
        scores = f"{found.score2(path):7.3f} {found.score1(path):7.3f} {found.bound1(path):8.3f}"
        print(f"{path.pairs:>7,} {scores}  {on_one_line(str(path))}")
    return 0
