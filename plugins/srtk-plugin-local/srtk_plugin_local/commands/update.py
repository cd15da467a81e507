"""``srtk graph update``: a new version of a snapshot from added and removed triples."""

from __future__ import annotations

import argparse
from pathlib import Path

from srtk_framework.values import InputError
from srtk_plugin_local.commands.build import progress_bar, tell


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the flags."""
    from srtk_plugin_local.snapshot.formats import FORMATS

    add = parser.add_argument
    add("folder", metavar="DIR", help="a snapshot built by `srtk graph build`, whose settings hold for the files")
    add("--add", action="append", default=[], metavar="FILE", help="triples to add; repeatable")
    add("--remove", action="append", default=[], metavar="FILE", help="triples to remove; repeatable")
    add("--labels", action="append", default=[], metavar="FILE", help="further labels")
    add("--aliases", action="append", default=[], metavar="FILE", help="further aliases")
    add("--qualifiers", action="append", default=[], metavar="FILE", help="further qualifiers")
    add("--format", metavar="F", help=f"one of {', '.join(FORMATS)}; by default as in the build")
    add("--memory", default="1GB", metavar="SIZE", help="memory limit for sorting and joining (%(default)s)")
    add("-q", "--quiet", action="store_true", help="print warnings and errors only")


def run(args: argparse.Namespace) -> int:
    """Make the new version and print its counts."""
    from srtk_plugin_local.snapshot.build import update

    names = {name: tuple(getattr(args, name)) for name in ("labels", "aliases", "qualifiers")}
    if not any((args.add, args.remove, *names.values())):
        raise InputError("there is nothing to change; give --add FILE or --remove FILE")
    given = {"files": tuple(args.add), **names, "memory": args.memory}
    given |= {"format": args.format} if args.format else {}
    with progress_bar(args.quiet) as progress:
        built = update(Path(args.folder), given, tuple(args.remove), progress)
    tell(built, args.quiet)
    return 0
