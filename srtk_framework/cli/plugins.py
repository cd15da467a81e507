"""List the installed drivers by role; `show ROLE NAME` tells a driver's settings, `--load` tries each one."""

from __future__ import annotations

import argparse
import inspect
from typing import Any

from srtk_framework.cli import FAILED, OK
from srtk_framework.host.discovery import OBSERVER, find, load, role_names
from srtk_framework.values import PluginError, SrtkError, close_matches


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the flags."""
    parser.add_argument("--load", action="store_true", help="import every driver and check it against its role")
    parser.add_argument("show", nargs="*", metavar="show ROLE NAME", help="show one driver with its settings")


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    if args.show:
        if len(args.show) != 3 or args.show[0] != "show":
            raise SrtkError("write: srtk plugins show ROLE NAME")
        return _show(args.show[1], args.show[2])
    code = OK
    for role in [*role_names(), OBSERVER]:
        print(role)
        for plugin in find(role):
            note = ""
            if args.load:
                try:
                    load(role, plugin.name)
                except PluginError as error:
                    note, code = f"  BROKEN: {error}", FAILED
                else:
                    note = "  ok"
            print(f"  {plugin.name:<14} {plugin.distribution} {plugin.version}{note}")
    return code


def _show(role: str, name: str) -> int:
    import attrs

    from srtk_framework.recipe.composer import needs_of, wants_budget
    from srtk_framework.recipe.recipe import a
    from srtk_framework.recipe.settings import describe

    known = [*role_names(), OBSERVER]
    if role not in known:
        raise SrtkError(f"there is no role {role!r}; roles are {', '.join(known)}.{close_matches(role, known)}")
    cls = load(role, name)
    print(f"{role}: {{use: {name}}}\n\n{inspect.cleandoc(cls.__doc__ or 'No description.')}\n")
    needs = {need.field: need for need in needs_of(cls)} if role != OBSERVER else {}
    for field in attrs.fields(cls):
        if not field.init:
            continue
        if field.alias in needs:
            need = needs[field.alias]
            text = f"needs {a(need.role)}" + {"one": "", "optional": ", if named", "many": ", or several"}[need.kind]
        elif wants_budget(field):
            text = "the recipe's budget"
        else:
            text = f"{describe(field.type)}{_default(field.default)}"
        print(f"  {field.alias:<16} {text}")
    return OK


def _default(default: Any) -> str:
    import attrs

    if default is attrs.NOTHING:
        return ", required"
    if isinstance(default, attrs.Factory):  # type: ignore[arg-type]
        return ""
    return f" ({'nothing' if default is None else default})"
