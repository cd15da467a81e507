"""The command ``srtk``, which imports only the subcommand that is called."""

from __future__ import annotations

import argparse
import errno
import logging
import os
import shlex
import shutil
import sys
import textwrap
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any, NoReturn

from srtk_framework.cli.options import (
    add_run_arguments,
    add_set_argument,
    graph_block,
    graph_of_endpoint,
    logged,
    note,
    say,
)
from srtk_framework.host.versions import __version__
from srtk_framework.values import (
    PluginError,
    RecipeError,
    SrtkError,
    close_matches,
    guarded,
    note_secrets,
    redacted,
)
from srtk_framework.values.secrets import redacted_arguments, secrets_in_arguments

if TYPE_CHECKING:
    from srtk_framework.host.discovery import Plugin
    from srtk_framework.recipe import Recipe

COMMANDS = {
    "run": ("srtk_framework.cli.run", "run recipes"),
    "check": ("srtk_framework.cli.check", "check a recipe without running it"),
    "doctor": ("srtk_framework.cli.doctor", "check stored graphs, indexes, models, records and caches"),
    "plugins": (
        "srtk_framework.cli.plugins",
        "list the installed drivers and commands, or show a driver with its settings",
    ),
    "recipes": ("srtk_framework.cli.recipes", "list, show or copy the recipes that come with the framework"),
    "docs": ("srtk_framework.cli.docs", "list the pages of the documentation, or print one"),
    "completion": ("srtk_framework.cli.completion", "print a script that completes commands in a shell"),
}
OLD_PACKAGE = (
    "note: the package `srtk` is installed too, and its command has the same name; which of the two runs depends on"
    " which was installed last. To remove it: pip uninstall srtk"
)
# Shells report a process that a signal ended as 128 and the number of the signal.
OK, FAILED, USAGE, INTERRUPTED, TERMINATED = 0, 1, 2, 130, 143
TRACEBACK = "--traceback"
_REMEDIES = {
    errno.ENOSPC: "free some space",
    errno.EDQUOT: "free some space, or have the quota raised",
    errno.EFBIG: "raise the limit of a file's size (ulimit -f)",
    errno.EMFILE: "raise the limit of open files (ulimit -n)",
    errno.ENFILE: "close other programs, which hold all files that the system can open",
    errno.EROFS: "name a place that can be written",
    errno.EACCES: "change its permissions or name another place",
    errno.EPERM: "change its permissions or name another place",
    errno.ENOENT: "check the path",
    errno.ENOTDIR: "check the path",
    errno.EISDIR: "name a file",
    errno.ENAMETOOLONG: "take a shorter name",
    errno.EIO: "check the disk",
}
"""Remedy for what a disk, a limit or a path does."""


__all__ = [
    "COMMANDS",
    "FAILED",
    "INTERRUPTED",
    "OK",
    "TERMINATED",
    "USAGE",
    "add_run_arguments",
    "add_set_argument",
    "graph_block",
    "graph_of_endpoint",
    "main",
    "note",
    "plugin_commands",
    "run_recipe",
    "say",
]


def main(argv: Sequence[str] | None = None) -> int:
    """Run a subcommand; returns the exit code: 0 well, 1 failed, 2 bad input, 130 interrupted, 143 terminated."""
    with guarded():
        return _main(argv)


def _main(argv: Sequence[str] | None) -> int:
    arguments = list(sys.argv[1:] if argv is None else argv)
    note_secrets(secrets_in_arguments(arguments))
    in_full = TRACEBACK in arguments
    while arguments[:1] == [TRACEBACK]:
        del arguments[0]
    try:
        code = _dispatch(arguments, in_full)
        if sys.stdout is not None:
            sys.stdout.flush()  # a full disk or a closed pipe is met here, not when Python ends
        return code
    except RecipeError as error:
        _print_cause(error, in_full)
        for problem in error.problems:
            say(f"error: {problem}")
        from srtk_framework.host.discovery import install_line

        if (line := install_line(error.problems)) is not None:
            say(f"all of them at once: {line}")
    except SrtkError as error:
        _print_cause(error, in_full)
        say(f"error: {error}")
    except KeyboardInterrupt:
        say("interrupted")
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of our output is gone, as after `| head`; nobody is left to read an error.
        _drop_output()
        return FAILED
    except Exception as error:  # noqa: BLE001 - a fault in a command is one sentence, in full with --traceback
        _print_cause(error, in_full)
        if (sentence := _trouble(error)) is not None:
            _drop_output()
            say(f"error: {sentence}")
            return FAILED
        shown = "" if in_full else f"; see where: srtk {TRACEBACK} {shlex.join(redacted_arguments(arguments))}"
        say(f"error: `srtk {arguments[0]}` has a fault: {type(error).__name__}: {error}{shown}")
        return FAILED
    return USAGE


def _trouble(error: Exception) -> str | None:
    """Return what a disk, a limit or a locale did, and the remedy; None if a command is at fault."""
    if isinstance(error, UnicodeEncodeError) and not error.encoding.lower().startswith("utf"):
        lacking = ascii(error.object[error.start : error.end])
        return f"the encoding {error.encoding} of the locale lacks {lacking}; set PYTHONUTF8=1 in the environment"
    if isinstance(error, MemoryError):
        return "the memory is full; end other programs, or give less at once"
    if not isinstance(error, OSError) or error.errno not in _REMEDIES:
        return None
    if error.errno == errno.ENOENT and error.filename is None:
        return "the current folder is gone; change to one that exists"
    place = f"{error.filename}: " if error.filename is not None else "a file or the output cannot be written: "
    return f"{place}{error.strerror}; {_REMEDIES[error.errno]}, and give the same command again"


def _drop_output() -> None:
    """Send what is still to be printed nowhere: Python would fail to write it when it ends."""
    with suppress(OSError, ValueError, AttributeError):
        sys.stdout.flush()
        return
    with suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class _Wrapped(argparse.RawDescriptionHelpFormatter):
    """Wraps the paragraphs of a description to the screen; one with indented lines, such as an example, stays."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        paragraphs = text.strip().split("\n\n")
        return "\n\n".join(
            one if "\n " in f"\n{one}" else textwrap.fill(one, width, break_on_hyphens=False) for one in paragraphs
        )


class _Parser(argparse.ArgumentParser):
    """A parser whose messages hold no secret of the command line."""

    def error(self, message: str) -> NoReturn:
        super().error(redacted(message))


def _print_cause(error: BaseException, in_full: bool) -> None:
    """Print the traceback of an error, with its causes, if it is wanted."""
    if in_full:
        import traceback

        print(redacted("".join(traceback.format_exception(error))), end="", file=sys.stderr)


def _dispatch(arguments: list[str], in_full: bool) -> int:
    if not arguments or arguments[0] in ("-h", "--help"):
        print(_help())
        return OK if arguments else USAGE
    if arguments[0] in ("-V", "--version"):
        print(f"srtk-framework {__version__}")
        return OK
    name, rest, module, owner = find_command(arguments)
    command = import_command(name, module, owner)
    parser = _Parser(prog=f"srtk {name}", description=command.__doc__, formatter_class=_Wrapped)
    command.add_arguments(parser)
    if not any(TRACEBACK in action.option_strings for action in parser._actions):
        parser.add_argument(TRACEBACK, action="store_true", help="show exceptions with their tracebacks")
    args = _parsed(parser, rest)
    args.traceback = in_full
    return int(command.run(args))


def _parsed(parser: argparse.ArgumentParser, words: list[str]) -> argparse.Namespace:
    """Parse the words of a subcommand, with options and arguments in any order."""
    whole = any(action.nargs in (argparse.PARSER, argparse.REMAINDER) for action in parser._actions)
    if whole or "--" in words:  # these end the options, which an intermixed parser does not know
        return parser.parse_args(words)
    return parser.parse_intermixed_args(words)


def import_command(name: str, module: str, owner: str) -> Any:
    """Import the module of a subcommand.

    Raises:
        PluginError: If it cannot be imported, or is no command.
    """
    try:
        command = import_module(module)
    except Exception as error:
        raise PluginError(
            f"the command `srtk {name}` of {owner} cannot be loaded from {module}: {type(error).__name__}: {error};"
            f" reinstall {owner.split()[0]}, or see where it fails: srtk {TRACEBACK} {name}"
        ) from error
    missing = [function for function in ("add_arguments", "run") if not callable(getattr(command, function, None))]
    if missing:
        raise PluginError(
            f"the command `srtk {name}` of {owner} cannot be run: {module} has no function {' and no '.join(missing)}"
        )
    return command


def find_command(arguments: list[str]) -> tuple[str, list[str], str, str]:
    """Find a subcommand, which may be two words (``graph build``).

    Returns:
        Its name, the arguments after it, its module, and the distribution with its version.
    """
    if arguments[0] in COMMANDS:
        return arguments[0], arguments[1:], COMMANDS[arguments[0]][0], f"srtk-framework {__version__}"
    commands = plugin_commands()
    for words in (2, 1):
        fitting = [entry for entry in commands if len(arguments) >= words and entry.name == ".".join(arguments[:words])]
        owners = [f"{entry.distribution} {entry.version}" for entry in fitting]
        if len(fitting) > 1:
            raise PluginError(
                f"the command `srtk {' '.join(arguments[:words])}` comes from {' and from '.join(owners)};"
                " uninstall all but one"
            )
        if fitting:
            return " ".join(arguments[:words]), arguments[words:], fitting[0].target, owners[0]
    group = [entry.name.replace(".", " ") for entry in commands if entry.name.split(".")[0] == arguments[0]]
    if (sentence := _not_installed(arguments, bool(group))) is not None:
        raise SrtkError(sentence)
    if group:
        raise SrtkError(f"`srtk {arguments[0]}` needs a second word: {', '.join(group)}")
    known = [*COMMANDS, *sorted({entry.name.split(".")[0] for entry in commands})]
    raise SrtkError(f"there is no command {arguments[0]!r}.{close_matches(arguments[0], known)} Try: srtk --help")


def _not_installed(arguments: list[str], some: bool) -> str | None:
    """Return a sentence on the distribution that brings a command; None if no known distribution does.

    Args:
        arguments: The command line.
        some: Whether commands with the same first word are installed.
    """
    from srtk_framework.host.known_drivers import distributions_of_command  # read only if something is missing

    known = distributions_of_command(arguments[0])
    written = (arguments[0], " ".join(arguments[:2]))
    wanted = {dist: [name] for dist, names in known.items() for name in names if name in written}
    missing = wanted or ({} if some else known)
    if not missing:
        return None
    shown = " and ".join(
        f"{', '.join(f'`srtk {name}`' for name in names)} of {dist}" for dist, names in missing.items()
    )
    return f"{shown} {'is' if wanted else 'are'} not installed; run: pip install {' '.join(missing)}"


def plugin_commands() -> list[Plugin]:
    """List the commands of installed plugins by name; nothing is imported."""
    from srtk_framework.host.discovery import find

    return find("command")


def command_summary(entry: Plugin) -> str:
    """Return the first line of a command's docstring; nothing is imported."""
    from srtk_framework.host.module_source import summary_of

    return summary_of(entry.target).replace("``", "`").removeprefix(f"`srtk {entry.name.replace('.', ' ')}`: ")


def _old_package() -> bool:
    """Return whether the PyPI package ``srtk`` is installed, whose command has the same name."""
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        distribution("srtk")
    except PackageNotFoundError:
        return False
    return True


def run_recipe(recipe: Recipe, args: argparse.Namespace) -> int:
    """Run a recipe as `srtk run` does, with the flags of ``add_run_arguments``; returns the exit code."""
    # By name: `cli.run` imports this module, and most commands run nothing.
    run = import_module(COMMANDS["run"][0])
    with logged(logging.DEBUG if args.verbose else None):
        return int(run.run_recipe(recipe, args.resume, args.quiet, in_full=args.traceback, fresh=args.fresh))


def _help() -> str:
    width = shutil.get_terminal_size().columns

    def row(name: str, text: str) -> str:
        head = f"  {name:<16} "
        wide = max(width, len(head) + 20)
        indent = " " * len(head)
        return textwrap.fill(text, wide, initial_indent=head, subsequent_indent=indent, break_on_hyphens=False).rstrip()

    lines = [
        "usage: srtk [--traceback] COMMAND ...",
        "",
        "Semantic subgraph retrieval from knowledge graphs.",
        "",
        "commands:",
        *(row(name, text) for name, (_, text) in COMMANDS.items()),
    ]
    if commands := plugin_commands():
        shown = [(entry.name.replace(".", " "), command_summary(entry)) for entry in commands]
        lines += ["", "commands of plugins:", *(row(name, text) or f"  {name}" for name, text in shown)]
    if _old_package():
        lines += ["", OLD_PACKAGE]
    last = "`srtk COMMAND --help` describes a command; `--traceback` shows exceptions in full; `srtk --version` prints"
    lines += ["", textwrap.fill(f"{last} the version.", width, break_on_hyphens=False)]
    return "\n".join(lines)
