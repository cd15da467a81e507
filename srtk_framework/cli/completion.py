"""Print a script that completes commands, flags and file names in a shell.

For bash: eval "$(srtk completion bash)" in ~/.bashrc; for zsh: srtk completion zsh > a file _srtk in a folder of
$fpath; for tcsh: srtk completion tcsh > a file that ~/.tcshrc sources. The script knows the commands of the plugins
that are installed when it is printed.
"""

from __future__ import annotations

import argparse

from srtk_framework.cli import COMMANDS, OK, TRACEBACK, import_command, plugin_commands
from srtk_framework.values import PluginError

SHELLS = ("bash", "zsh", "tcsh")
FILES = frozenset({"FILE", "RECIPE", "PATH", "FOLDER", "GRAPH"})
"""Names of arguments, in the help of commands, that stand for files or folders."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the flags."""
    parser.add_argument("shell", choices=SHELLS, metavar="SHELL", help=", ".join(SHELLS))


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    try:
        import shtab
    except ImportError as error:
        raise PluginError("`srtk completion` needs shtab; run: pip install 'srtk-framework[completion]'") from error
    whole = parser_of_all()
    _mark_files(whole, shtab.FILE)
    print(shtab.complete(whole, args.shell))
    return OK


def parser_of_all() -> argparse.ArgumentParser:
    """Return one parser with all commands, also of plugins; a command of two words is nested."""
    whole = argparse.ArgumentParser(prog="srtk", description="Semantic subgraph retrieval from knowledge graphs.")
    whole.add_argument("-V", "--version", action="store_true", help="print the version")
    whole.add_argument(TRACEBACK, action="store_true", help="show exceptions with their tracebacks")
    first = whole.add_subparsers(metavar="COMMAND")
    second: dict[str, argparse._SubParsersAction[argparse.ArgumentParser]] = {}
    modules = {name: module for name, (module, _) in COMMANDS.items()}
    modules |= {entry.name.replace(".", " "): entry.target for entry in plugin_commands()}
    for name, module in modules.items():
        word, _, rest = name.partition(" ")
        if rest and word not in second:
            second[word] = first.add_parser(word, help=f"commands for a {word}").add_subparsers(metavar="COMMAND")
        command = import_command(name, module, module)
        summary = (command.__doc__ or "").partition("\n")[0]
        into = second[word].add_parser(rest, help=summary) if rest else first.add_parser(word, help=summary)
        command.add_arguments(into)
    return whole


def _mark_files(parser: argparse.ArgumentParser, complete: object) -> None:
    """Have the arguments that stand for files completed by file names."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for inner in action.choices.values():
                _mark_files(inner, complete)
        elif action.metavar in FILES and action.nargs != 0:
            action.complete = complete  # type: ignore[attr-defined]  # where shtab looks for it
