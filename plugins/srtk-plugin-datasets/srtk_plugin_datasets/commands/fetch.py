"""``srtk datasets fetch``: fetch a published data set, and compare each file with its checksum.

A file appears whole or not at all; files that are there are not fetched again, so the same command goes on after a
stop. The licence of a set is its authors': read it before you use the set.
"""

from __future__ import annotations

import argparse
from fnmatch import fnmatchcase
from pathlib import Path

from srtk_framework.cli import note
from srtk_framework.values import InputError
from srtk_plugin_datasets.catalogue import data_folder, data_set


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the flags."""
    parser.add_argument("name", metavar="NAME", help="name of the set: see `srtk datasets list`")
    parser.add_argument("--to", metavar="FOLDER", help="folder for its files (default: NAME in SRTK_DATA or data)")
    parser.add_argument(
        "--only", action="append", metavar="PATTERN", help="fetch only such files, as '*dev*'; repeatable"
    )


def run(args: argparse.Namespace) -> int:
    """Fetch the files."""
    from srtk_plugin_datasets.download import download

    wanted = data_set(args.name)
    if not wanted.files:
        raise InputError(f"{wanted.name} cannot be fetched by this command. {wanted.origin()}")
    patterns = args.only or ["*"]
    files = [file for file in wanted.files if any(fnmatchcase(file.path, pattern) for pattern in patterns)]
    if not files:
        names = ", ".join(file.path for file in wanted.files)
        raise InputError(f"--only: no file of {wanted.name} fits; it has {names}")
    folder = Path(args.to) if args.to else data_folder() / wanted.name
    note(f"{wanted.title} · {wanted.page} · licence: {wanted.licence}")
    fetched, there = download(files, folder, print)
    print(f"{folder}: {fetched} files fetched, {there} were there already")
    return 0
