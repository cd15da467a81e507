"""Write docs/reference/ from the docstrings of roles, values, helpers, drivers and commands; `make docs` runs it."""

from __future__ import annotations

import argparse
import ast
import inspect
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any, get_origin

import srtk_framework
from srtk_framework.cli import COMMANDS, command_summary, plugin_commands
from srtk_framework.cli.plugins import description, settings_of
from srtk_framework.host.discovery import OBSERVER, find, load
from srtk_framework.host.docstrings import meanings
from srtk_framework.roles import ROLES, Role
from srtk_framework.roles.base import contract_of, hook_names

FOLDER = Path(__file__).parent / "reference"
PLUGINS = Path(__file__).parents[1] / "plugins"
HELPERS = ("graph", "text", "records")
WIDTH = 100
"""Longest signature that stands on one line."""

_SECTION = re.compile(r"(Args|Attributes|Returns|Yields|Raises):$")
_TITLES = {"Args": "Arguments"}
_ITEM = re.compile(r"(\*{0,2}\w+(?: \(.+?\))?): (.*)")


def pages() -> dict[str, str]:
    """Return the name and text of each page."""
    fixed = {
        "roles.md": _roles_page(),
        "values.md": _values_page(),
        "helpers.md": _helpers_page(),
        "commands.md": _commands_page(),
    }
    drivers = {f"drivers/{role}.md": _drivers_page(role) for role in [*ROLES, OBSERVER] if _bundled(role)}
    return fixed | {"drivers.md": _drivers_index(list(drivers))} | drivers


def _roles_page() -> str:
    lines = _head(
        "Roles",
        "A driver is an `attrs.define` class that derives from one of these; its fields are its settings and its needs."
        " Methods are hooks: the framework calls them with every argument, and what is returned is aligned with the"
        " batch. A hook without a default must be written.",
        [cls.__name__ for cls in ROLES.values()],
    )
    for name, cls in ROLES.items():
        lines += [f"## {cls.__name__}", "", f"`{name}` in recipes; entry-point group `srtk.{name}`.", ""]
        lines += _prose(cls.__doc__)
        for method, function in _own_methods(cls):
            lines += [f"### {cls.__name__}.{method}", "", *_signature(method, function)]
            lines += [_calling(cls, method), "", *_prose(function.__doc__)]
    lines += ["## All roles", "", *_prose(Role.__doc__)]
    for method, function in _own_methods(Role):
        lines += [f"### Role.{method}", "", *_signature(method, function), *_prose(function.__doc__)]
    return _text(lines)


def _calling(cls: type[Role], method: str) -> str:
    """Describe whether a hook must be written, and which of its arguments is the batch."""
    hooks = {name: contract_of(function) for name, function in hook_names(cls).items()}
    if method not in hooks:
        return "Not a hook: asked of the driver itself."
    defaults = [name for name, contract in hooks.items() if method in contract.needs]
    if getattr(hook_names(cls)[method], "__isabstractmethod__", False):
        duty = "Must be written."
    elif defaults:
        duty = f"Must be written, unless {' and '.join(f'`{name}`' for name in defaults)} is."
    elif hooks[method].needs:
        duty = f"Has a default, which calls {', '.join(f'`{name}`' for name in hooks[method].needs)}."
    else:
        duty = "Has a default."
    batch = ", ".join(f"`{name}`" for name in hooks[method].batch)
    return f"{duty} Batch: {batch}." if batch else duty


def _values_page() -> str:
    room = import_module("srtk_framework.values")
    public = [name for name in room.__all__ if name in srtk_framework.__all__]
    lines = _head(
        "Values and errors",
        "What travels between drivers, immutable; importable from `srtk_framework`.",
        public,
    )
    return _text([*lines, *_entries(room, public)])


def _helpers_page() -> str:
    rooms = [import_module(f"srtk_framework.{room}") for room in HELPERS]
    names = [name for room in rooms for name in room.__all__]
    lines = _head(
        "Helpers", "What drivers share, by room; those named in `srtk_framework` can be imported there.", names
    )
    for room in rooms:
        lines += [f"## {room.__name__}", "", *_prose(room.__doc__), *_entries(room, room.__all__, "###")]
    return _text(lines)


def _bundled(role: str) -> list[Any]:
    """List the drivers of a role that stand in this repository, whatever else is installed."""
    own = {"srtk-framework", *(folder.name for folder in PLUGINS.glob("srtk-plugin-*"))}
    return [plugin for plugin in find(role) if plugin.distribution in own]


def _drivers_index(files: list[str]) -> str:
    lines = _head("Drivers", "What each role can be filled with, and the settings of each driver.", [])
    for file in files:
        role = Path(file).stem
        names = ", ".join(f"[`{plugin.name}`]({file}#{plugin.name})" for plugin in _bundled(role))
        lines += [f"- [{role}]({file}): {names}"]
    more = "`srtk plugins` lists the drivers that are installed, those of other distributions too, and"
    return _text([*lines, "", f"{more} `srtk plugins show ROLE NAME` shows one."])


def _drivers_page(role: str) -> str:
    plugins = _bundled(role)
    about = (
        "Key `observers`."
        if role == OBSERVER
        else f"What the role asks of them: [roles](../roles.md#{_anchor(ROLES[role].__name__)})."
    )
    lines = _head(f"Drivers: {role}", about, [plugin.name for plugin in plugins])
    for plugin in plugins:
        cls = load(role, plugin.name)
        lines += [f"## {plugin.name}", "", f"`{{use: {plugin.name}}}` of {_home(plugin.distribution)}.", ""]
        lines += _prose(description(cls))
        rows = settings_of(role, cls)
        found = meanings(cls)
        if rows:
            lines += ["| setting | value | meaning |", "| --- | --- | --- |"]
            lines += [f"| `{name}` | {_cell(text)} | {_cell(found.get(name, ''))} |" for name, text in rows]
            lines.append("")
    return _text(lines)


def _home(distribution: str) -> str:
    return (
        f"[{distribution}](../../../plugins/{distribution}/README.md)"
        if (PLUGINS / distribution).is_dir()
        else "the core"
    )


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "\\<")


def _commands_page() -> str:
    brought = [
        (entry.name.replace(".", " "), entry.target, command_summary(entry))
        for entry in plugin_commands()
        if (PLUGINS / entry.distribution).is_dir()
    ]
    commands = [(name, module, text) for name, (module, text) in COMMANDS.items()] + brought
    lines = _head(
        "Commands",
        "Exit codes: 0 well, 1 failed, 2 bad input, 130 interrupted, 143 terminated. Every command takes `--help`, and"
        " `--traceback`, which shows exceptions in full.",
        [f"srtk {name}" for name, _, _ in commands],
    )
    for name, module, text in commands:
        command = import_module(module)
        parser = argparse.ArgumentParser(prog=f"srtk {name}", add_help=False)
        command.add_arguments(parser)
        lines += [f"## srtk {name}", "", *_prose(command.__doc__ or text)]
        actions = [action for action in parser._actions if action.help != argparse.SUPPRESS]
        if actions:
            lines += ["| argument | meaning |", "| --- | --- |", *map(_argument, actions), ""]
    return _text(lines)


def _argument(action: argparse.Action) -> str:
    """Describe an argument of a command in a row of a table."""
    value = action.metavar or (
        "{" + ",".join(map(str, action.choices)) + "}" if action.choices else action.dest.upper()
    )
    value = " ".join(value) if isinstance(value, tuple) else str(value)
    if not action.option_strings:
        name = value if action.nargs not in ("?", "*") else f"[{value}]"
    else:
        name = ", ".join(action.option_strings) + ("" if action.nargs == 0 else f" {value}")
    told = (action.help or "") % {**vars(action), "prog": "srtk"}
    return f"| `{_cell(name)}` | {_cell(told.replace('``', '`'))} |"


def _anchor(name: str) -> str:
    return re.sub(r"[^a-z0-9_-]", "", name.lower().replace(" ", "-"))


def _head(title: str, text: str, names: Sequence[str]) -> list[str]:
    """Begin a page with its title, a paragraph and links to its entries."""
    links = ", ".join(f"[{name}](#{_anchor(name)})" for name in names)
    return [f"# {title}", "", "<!-- written by docs/reference.py; run `make docs` -->", "", text, "", links, ""]


def _entries(room: ModuleType, names: Sequence[str], level: str = "##") -> Iterator[str]:
    """Describe the names of a room: classes with their attributes and methods, functions, constants."""
    for name in names:
        value = getattr(room, name)
        yield from (f"{level} {name}", "")
        if inspect.isclass(value):
            yield from _class(name, value)
        elif inspect.isfunction(value):
            yield from _signature(name, value)
            yield from _prose(value.__doc__)
        elif inspect.ismodule(value):
            yield from _prose(value.__doc__)
            for inner, function in vars(value).items():
                if inspect.isfunction(function) and not inner.startswith("_") and function.__module__ == value.__name__:
                    yield from (f"{level}# {name}.{inner}", "")
                    yield from _signature(inner, function)
                    yield from _prose(function.__doc__)
        else:
            alias = get_origin(value) is not None
            shown = _annotation(value) if alias else repr(value) if isinstance(value, str | int | float | tuple) else ""
            shown = shown if len(shown) < WIDTH else ""
            yield from (f"```py\n{name} = {shown}\n```", "") if shown else ()
            yield from _prose(_constant_doc(room, name))


def _class(name: str, cls: type[Any]) -> Iterator[str]:
    own = vars(cls)
    if _written(name, cls) != f"{name}()" and (not issubclass(cls, Exception) or "__init__" in own):
        yield from _signature(name, cls)
    yield from _prose(cls.__doc__)
    for key, member in own.items():
        function = member.__func__ if isinstance(member, classmethod | staticmethod) else member
        if key.startswith("_"):
            continue
        if isinstance(member, property):
            yield from (f"- `.{key}`: {_first_line(member.__doc__)}", "")
        elif inspect.isfunction(function):
            text = " ".join(line.strip() for line in _written(f".{key}", function).splitlines())
            yield from (f"- `{text.replace('( ', '(').replace(', )', ')')}`: {_first_line(function.__doc__)}", "")


def _own_methods(cls: type[Any]) -> list[tuple[str, Callable[..., Any]]]:
    return [(name, value) for name, value in vars(cls).items() if inspect.isfunction(value) and name[0] != "_"]


def _signature(name: str, function: Any) -> list[str]:
    return ["```py", _written(name, function), "```", ""]


def _written(name: str, function: Any) -> str:
    """Write a call with its annotations; one argument a line where it is long."""
    try:
        signature = inspect.signature(function)
    except ValueError:
        return name
    parameters = [_parameter(p) for key, p in signature.parameters.items() if key not in ("self", "cls")]
    back = "" if inspect.isclass(function) else f" -> {_annotation(signature.return_annotation)}"
    line = f"{name}({', '.join(parameters)}){back}"
    if len(line) <= WIDTH or not parameters:
        return line
    return "\n".join([f"{name}(", *(f"    {parameter}," for parameter in parameters), f"){back}"])


def _parameter(parameter: inspect.Parameter) -> str:
    stars = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
    text = f"{stars}{parameter.name}: {_annotation(parameter.annotation)}"
    if parameter.default is parameter.empty:
        return text
    plain = isinstance(parameter.default, str | int | float | tuple | type(None))
    return f"{text} = {parameter.default!r}" if plain else f"{text} = ..."


def _annotation(annotation: Any) -> str:
    """Write a type without modules; annotations are texts, or are wrapped in ForwardRef by NamedTuple."""
    text = getattr(annotation, "__forward_arg__", annotation)
    text = text if isinstance(text, str) else inspect.formatannotation(text)
    return re.sub(r"\b(?:\w+\.)+(?=[A-Za-z])", "", text)


def _prose(docstring: str | None) -> list[str]:
    """Turn a docstring in Google's style into Markdown."""
    lines: list[str] = []
    section = ""
    for line in inspect.cleandoc(docstring or "").replace("``", "`").splitlines():
        found = _SECTION.fullmatch(line)
        if found:
            section = found[1]
            lines += [f"**{_TITLES.get(section, section)}**", ""]
        elif section and line.startswith("    "):
            lines += _row(line[4:], section)
        else:
            section = "" if line else section
            lines.append(line)
    return [*lines, ""]


def _row(line: str, section: str) -> list[str]:
    """Write a line of a section: the start of an item, or more of it."""
    item = _ITEM.fullmatch(line)
    if section in ("Returns", "Yields") or item is None:
        return [f"  {line.strip()}" if section not in ("Returns", "Yields") else line]
    return [f"- `{item[1]}`: {item[2]}"]


def _first_line(docstring: str | None) -> str:
    return (inspect.cleandoc(docstring or "").splitlines() or [""])[0].replace("``", "`")


def _constant_doc(room: ModuleType, name: str) -> str:
    """Find the text below a constant, in the room or in the module that it comes from."""
    for module in [name_ for name_ in sorted(sys.modules) if name_.startswith(f"{room.__name__}.")]:
        file = getattr(sys.modules[module], "__file__", None)
        body = ast.parse(Path(file).read_text(encoding="utf-8")).body if file else []
        for node, below in pairwise(body):
            targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
            if any(isinstance(target, ast.Name) and target.id == name for target in targets) and (
                isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant)
            ):
                return str(below.value.value)
    return ""


def _text(lines: Sequence[str]) -> str:
    return re.sub(r"\n{3,}", "\n\n", "\n".join(line.rstrip() for line in lines)).rstrip() + "\n"


def main() -> int:
    """Write the pages, or with --check name those that are not current."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 if a page is not current")
    check = parser.parse_args().check
    stale = []
    FOLDER.mkdir(exist_ok=True)
    for name, text in pages().items():
        path = FOLDER / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            stale.append(name)
            if not check:
                path.parent.mkdir(exist_ok=True)
                path.write_text(text, encoding="utf-8")
    for name in stale:
        print(f"{FOLDER / name} is not current; run: make docs" if check else f"wrote {FOLDER / name}")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
