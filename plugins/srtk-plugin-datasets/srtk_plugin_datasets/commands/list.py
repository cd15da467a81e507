"""``srtk datasets list``: the published data sets, where each comes from, its licence, and whether it is here."""

from __future__ import annotations

import argparse
import textwrap

from srtk_plugin_datasets import catalogue as sets
from srtk_plugin_datasets.catalogue import DATA, data_folder


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the flags: none."""


def run(args: argparse.Namespace) -> int:
    """Print the catalogue."""
    for one in sets.catalogue().values():
        state = "here" if (data_folder() / one.name).is_dir() else "" if one.files else "by hand"
        print(f"{one.name:<20} {state}".rstrip())
        for text in (one.title, f"{one.page} · licence: {one.licence}", one.note):
            print(textwrap.fill(text, 78, initial_indent="    ", subsequent_indent="    ", break_on_hyphens=False))
    print(f"\nfolder: {data_folder()} (the environment variable {DATA} names another)")
    print("to have one: srtk datasets fetch NAME")
    return 0
