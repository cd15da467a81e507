"""The command ``srtk``: finds the subcommand that is named, and imports that one only."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from srtk_framework.host.versions import __version__
from srtk_framework.values import RecipeError, SrtkError, close_matches

COMMANDS = {
    "run": ("srtk_framework.cli.run", "run recipes"),
    "check": ("srtk_framework.cli.check", "check a recipe without running it"),
    "plugins": ("srtk_framework.cli.plugins", "list the installed drivers, or show one with its settings"),
    "new": ("srtk_framework.cli.new", "write the skeleton of a new plugin"),
    "explain": ("srtk_framework.cli.explain", "tell where the answers to questions were lost"),
    "evaluate": ("srtk_framework.cli.evaluate", "score results, also those of other programs"),
    "link": ("srtk_framework.cli.link", "find the entities in questions"),
    "retrieve": ("srtk_framework.cli.retrieve", "retrieve subgraphs for linked questions"),
    "visualize": ("srtk_framework.cli.visualize", "draw retrieved subgraphs on a page"),
}
GROUP = "srtk.command"
OLD_PACKAGE = (
    "note: the package `srtk` is installed here too, and its command has this command's name; which of the two runs"
    " depends on which was installed last. Remove it: pip uninstall srtk"
)
OK, FAILED, USAGE, INTERRUPTED = 0, 1, 2, 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run a subcommand; returns the exit code: 0 well, 1 failed, 2 bad input, 130 interrupted."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if not arguments or arguments[0] in ("-h", "--help"):
        print(_help())
        return OK if arguments else USAGE
    if arguments[0] in ("-V", "--version"):
        print(f"srtk-framework {__version__}")
        return OK
    try:
        return _dispatch(arguments)
    except RecipeError as error:
        for problem in error.problems:
            print(f"srtk: error: {problem}", file=sys.stderr)
    except SrtkError as error:
        print(f"srtk: error: {error}", file=sys.stderr)
    except KeyboardInterrupt:
        print("srtk: interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of our output went away, as `| head` does; there is nobody left to tell.
        sys.stderr.close()
        return FAILED
    return USAGE


def _dispatch(arguments: list[str]) -> int:
    name, rest, module = find_command(arguments)
    command: Any = import_module(module)
    parser = argparse.ArgumentParser(
        prog=f"srtk {name}", description=command.__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    command.add_arguments(parser)
    return int(command.run(parser.parse_args(rest)))


def find_command(arguments: list[str]) -> tuple[str, list[str], str]:
    """Find the module of a subcommand, which may be two words (``graph build``)."""
    if arguments[0] in COMMANDS:
        return arguments[0], arguments[1:], COMMANDS[arguments[0]][0]
    brought = _brought()
    if len(arguments) > 1 and f"{arguments[0]}.{arguments[1]}" in brought:
        return " ".join(arguments[:2]), arguments[2:], brought[f"{arguments[0]}.{arguments[1]}"]
    if arguments[0] in brought:
        return arguments[0], arguments[1:], brought[arguments[0]]
    group = [name.replace(".", " ") for name in brought if name.split(".")[0] == arguments[0]]
    if group:
        raise SrtkError(f"`srtk {arguments[0]}` is followed by what to do: {', '.join(group)}")
    known = [*COMMANDS, *sorted({name.split(".")[0] for name in brought})]
    raise SrtkError(f"there is no command {arguments[0]!r}.{close_matches(arguments[0], known)} Try: srtk --help")


def _brought() -> dict[str, str]:
    """Return the commands that plugins bring: name to module."""
    from importlib.metadata import entry_points

    return {entry.name: entry.value for entry in sorted(entry_points(group=GROUP), key=lambda entry: entry.name)}


def _old_package() -> bool:
    """Tell whether the PyPI package ``srtk`` is installed, whose command has the same name."""
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        distribution("srtk")
    except PackageNotFoundError:
        return False
    return True


def _help() -> str:
    lines = [
        "usage: srtk COMMAND ...",
        "",
        "Semantic subgraph retrieval from knowledge graphs.",
        "",
        "commands:",
        *(f"  {name:<12} {text}" for name, (_, text) in COMMANDS.items()),
    ]
    brought = _brought()
    if brought:
        lines += ["", "commands of installed plugins:", *(f"  {name.replace('.', ' ')}" for name in brought)]
    if _old_package():
        lines += ["", OLD_PACKAGE]
    return "\n".join([*lines, "", "`srtk COMMAND --help` tells more; `srtk --version` tells the version."])
