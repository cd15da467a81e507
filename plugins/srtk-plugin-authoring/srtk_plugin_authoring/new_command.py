"""Write a new plugin that works: a small driver, its package, and its test.

KIND is a role, or `view` (a graph that holds a graph), `observer`, `stage` (a step of a run), or `command`
(a subcommand of srtk).
"""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path

from srtk_framework.cli import COMMANDS, OK, plugin_commands
from srtk_framework.host import find, known_names
from srtk_framework.values import SrtkError
from srtk_plugin_authoring.scaffold import PREFIX, write_plugin


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the flags."""
    parser.add_argument("kind", metavar="KIND", help="a role, such as encoder, or view, observer, stage or command")
    parser.add_argument("name", metavar="NAME", help="name for `use:`, key of the stage, or name of the command")
    parser.add_argument("--in", dest="folder", default=".", metavar="DIR", help="folder to write into")


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    if args.kind == "command" and args.name in {*COMMANDS, *(entry.name for entry in plugin_commands())}:
        raise SrtkError(f"`srtk {args.name}` exists already; choose another name")
    _refuse_taken(args.kind, args.name.removeprefix(PREFIX))
    folder = write_plugin(args.kind, args.name, Path(args.folder))
    print(
        f"wrote {folder}; next: pip install -e {shlex.quote(f'{folder}[testing]')} && pytest {shlex.quote(str(folder))}"
    )
    return OK


def _refuse_taken(kind: str, name: str) -> None:
    """Refuse the name of another driver of the role: with both installed, recipes could use neither."""
    role = "knowledge_graph" if kind == "view" else kind
    owners = [plugin.distribution for plugin in find(role) if plugin.name == name]
    if owners or name in known_names(role):
        whose = owners[0] if owners else "srtk-framework"
        raise SrtkError(f"{whose} has a {role} {name!r} already; choose another name")
