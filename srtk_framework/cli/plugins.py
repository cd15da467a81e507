"""List the installed drivers by role, observers, stages, roles of other distributions, and commands.

`show ROLE NAME` shows one driver with its settings; NAME may be a class, as `package.module:Class` or
`path/to/file.py:Class`. `--load` imports every driver and checks it against its role.
"""

from __future__ import annotations

import argparse
import inspect
import json
import re
import sys
import textwrap
import traceback
from typing import Any

from srtk_framework.cli import COMMANDS, FAILED, OK, command_summary, plugin_commands
from srtk_framework.host.discovery import OBSERVER, ROLE, STAGE, find, load, name_problem, role_names
from srtk_framework.host.docstrings import meanings
from srtk_framework.host.module_source import summary_of
from srtk_framework.host.versions import __version__
from srtk_framework.recipe.stage import load_stage
from srtk_framework.values import PluginError, SrtkError, close_matches


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the flags."""
    parser.add_argument("--load", action="store_true", help="import every driver and check it against its role")
    parser.add_argument("--json", action="store_true", help="print the list as JSON")
    parser.add_argument("show", nargs="*", metavar="show ROLE NAME", help="show one driver with its settings")


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    if args.show:
        if len(args.show) != 3 or args.show[0] != "show":
            raise SrtkError("write: srtk plugins show ROLE NAME")
        return _show(args.show[1], args.show[2])
    listed = {role: [_row(role, plugin) for plugin in find(role)] for role in [*role_names(), OBSERVER, STAGE]}
    if args.load:
        for role, rows in listed.items():
            for row in rows:
                row["error"] = _fault(role, row["name"], args.traceback)
    everything = {**listed, ROLE: _roles(), "command": _commands()}
    if args.json:
        print(json.dumps(everything, indent=2, ensure_ascii=False))
    else:
        _print(everything)
    return FAILED if any(row.get("error") for rows in everything.values() for row in rows) else OK


def _row(role: str, plugin: Any) -> dict[str, Any]:
    return {
        "name": plugin.name,
        "distribution": plugin.distribution,
        "version": plugin.version,
        "class": plugin.target,
        "summary": summary_of(plugin.target).replace("``", "`"),
    }


def _roles() -> list[dict[str, Any]]:
    """List the roles of other distributions, with faults of their names."""
    plugins = find(ROLE)
    errors = [{"error": error} if (error := name_problem(plugin)) else {} for plugin in plugins]
    return [{**_row(ROLE, plugin), **error} for plugin, error in zip(plugins, errors, strict=True)]


def _commands() -> list[dict[str, Any]]:
    """List the commands of the core and of plugins."""
    own = [
        {"name": name, "distribution": "srtk-framework", "version": __version__, "module": module, "summary": text}
        for name, (module, text) in COMMANDS.items()
    ]
    brought = [
        {
            "name": entry.name.replace(".", " "),
            "distribution": entry.distribution,
            "version": entry.version,
            "module": entry.target,
            "summary": command_summary(entry),
        }
        for entry in plugin_commands()
    ]
    return own + brought


def _fault(role: str, name: str, in_full: bool) -> str | None:
    """Load a driver; return its fault, or None."""
    try:
        _ = load_stage(name) if role == STAGE else load(role, name)
    except PluginError as error:
        if in_full:
            traceback.print_exception(error, file=sys.stderr)
        return str(error)
    return None


def _print(everything: dict[str, list[dict[str, Any]]]) -> None:
    for kind, rows in everything.items():
        print(kind)
        for row in rows:
            print(f"  {row['name']:<16} {row['summary']}".rstrip())
            place = row.get("class") or row["module"]
            print(f"  {'':<16} {row['distribution']} {row['version']}, {place}")
            if "error" in row:
                print(f"  {'':<16} {'loads' if row['error'] is None else 'BROKEN: ' + row['error']}")


def _show(role: str, name: str) -> int:
    known = [*role_names(), OBSERVER]
    if role not in known:
        raise SrtkError(f"there is no role {role!r}; roles are {', '.join(known)}.{close_matches(role, known)}")
    cls = load(role, name)
    origin = next((f"{p.distribution} {p.version}, {p.target}" for p in find(role) if p.name == name), name)
    print(f"{role}: {{use: {name}}}\n{origin}\n\n{description(cls)}\n")
    told = meanings(cls)
    for field, text in settings_of(role, cls):
        print(f"  {field:<16} {text}")
        if field in told:
            print(textwrap.indent(textwrap.fill(told[field], 100), " " * 19))
    return OK


def description(cls: type[Any]) -> str:
    """Return the docstring of a class without its attributes: inherited attributes are not among them."""
    text = inspect.cleandoc(cls.__doc__ or "No description.")
    return re.sub(r"\nAttributes:\n(?: {4}.*\n?|\n)*", "\n", text).strip()


def settings_of(role: str, cls: type[Any]) -> list[tuple[str, str]]:
    """List the needs and settings of a driver: the name of each, and its type and default in words."""
    import attrs

    from srtk_framework.recipe.blocks import with_article
    from srtk_framework.recipe.composer import needs_of, wants_budget
    from srtk_framework.recipe.settings import describe

    needs = {need.field: need for need in needs_of(cls)} if role != OBSERVER else {}
    rows = []
    for field in attrs.fields(cls):
        if not field.init:
            continue
        if field.alias in needs:
            need = needs[field.alias]
            text = (
                f"needs {with_article(need.role)}"
                + {"one": "", "optional": ", if named", "many": ", or several"}[need.kind]
            )
        elif wants_budget(field):
            text = "the recipe's budget"
        else:
            text = f"{describe(field.type)}{_default(field.default)}"
        rows.append((field.alias, text))
    return rows


def _default(default: Any) -> str:
    import attrs

    if default is attrs.NOTHING:
        return ", required"
    if isinstance(default, attrs.Factory):  # type: ignore[arg-type]
        return ""
    return f" ({'nothing' if default is None else default})"
