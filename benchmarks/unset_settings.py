"""Count the settings of all drivers, and list those that nothing sets, or no recipe.

    python benchmarks/unset_settings.py [ROOT] [--recipes]

A setting counts once for each class that declares it, whatever drivers inherit it, as does each part of a setting such
as `search` or `limits`, and each setting of a training (`fit`). Drivers that a driver needs do not count. A recipe sets
it where a block names a driver that has it (`use:`), or a block within one; pages, benchmarks and tests do where they
call the class with it as well, and the tests of a plugin wherever they write its name with a value. ROOT is where to
look, this checkout by default. With --recipes all settings are listed that no recipe sets, with the places that do.
"""

from __future__ import annotations

import argparse
import ast
import re
from collections import defaultdict
from collections.abc import Container, Iterator, Mapping
from pathlib import Path
from typing import Any, get_args

import attrs
import yaml
from srtk_plugin_training import settings_class

from srtk_framework.host import find, load
from srtk_framework.recipe import needs_of
from srtk_framework.roles import ROLES, Role
from srtk_framework.values import Budget

ROOT = Path(__file__).resolve().parents[1]
PLACES = {
    "recipes": ("recipes/**/*.yaml", "benchmarks/recipes/**/*.yaml"),
    "docs": ("README.md", "docs/*.md", "docs/tutorials/*", "plugins/*/README.md"),
    "benchmarks": ("benchmarks/**/*.py",),
    "tests": ("tests/**/*.py", "plugins/*/tests/**/*.py"),
}
_BLOCK = re.compile(r"^```ya?ml\n(.*?)^```", re.DOTALL | re.MULTILINE)
_INLINE = re.compile(r"\{+use:[^{}]*(?:\{[^{}]*\}[^{}]*)*\}+")

Pair = tuple[str, str]
"""A name of a driver in ``use:`` or of a class, and the name of a setting."""


@attrs.frozen
class Setting:
    """One setting.

    Attributes:
        owner: Class that declares it.
        name: Its name.
        users: Names of the drivers that have it, of their classes and plugins, and of the owner.
    """

    owner: str
    name: str
    users: frozenset[str]


def settings() -> list[Setting]:
    """List the settings of all installed drivers."""
    users: dict[Pair, set[str]] = defaultdict(set)
    for role in ROLES:
        for plugin in find(role):
            cls = load(role, plugin.name)
            needs = {need.field for need in needs_of(cls)}
            trained = _parts(settings_class(cls)) if hasattr(cls, "fit") else ()
            for owner, name in (*_parts(cls, needs), *trained):
                users[owner, name] |= {plugin.name, cls.__name__, plugin.distribution, owner}
    return [Setting(*pair, frozenset(names)) for pair, names in users.items()]


def _parts(cls: Any, left_out: Container[str] = ()) -> Iterator[Pair]:
    """Yield the settings in a class and in the classes of its fields, each with the class that declares it."""
    attrs.resolve_types(cls)
    for field in attrs.fields(cls):
        kinds = [kind for kind in (field.type, *get_args(field.type)) if isinstance(kind, type) and attrs.has(kind)]
        if not field.init or Budget in kinds or field.alias in left_out:
            continue
        inner = [pair for kind in kinds if not issubclass(kind, Role) for pair in _parts(kind)]
        yield from inner
        if not inner:
            owner = next(base for base in reversed(cls.__mro__) if field.name in vars(base).get("__annotations__", ()))
            yield owner.__name__, field.alias


def written(file: Path) -> Iterator[Pair]:
    """Yield the settings that a file sets, each with its driver or class."""
    text = file.read_text(encoding="utf-8", errors="replace")
    if file.suffix == ".yaml":
        yield from _of_yaml(text)
    elif file.suffix == ".py":
        for node in ast.walk(ast.parse(text)):
            yield from _of_python(node)
    else:
        for block in (*_BLOCK.findall(text), *_INLINE.findall(text)):
            yield from _of_yaml(block)


def _of_yaml(text: str) -> Iterator[Pair]:
    try:
        yield from _of_data(yaml.safe_load(text), "")
    except yaml.YAMLError:  # an excerpt, or a format string
        return


def _of_data(data: Any, driver: str) -> Iterator[Pair]:
    """Yield the keys of a block and of the mappings in it that are no blocks themselves."""
    if isinstance(data, list):
        for item in data:
            yield from _of_data(item, driver)
    if isinstance(data, Mapping):
        used = data.get("use")
        driver = used if isinstance(used, str) else str(data["driver"]) if "driver" in data else driver
        for key, value in data.items():
            yield driver, str(key)
            yield from _of_data(value, driver)


def _of_python(node: ast.AST) -> Iterator[Pair]:
    if isinstance(node, ast.Call):
        name = ast.unparse(node.func).rpartition(".")[2]
        yield from ((name, keyword.arg) for keyword in node.keywords if keyword.arg)
    elif isinstance(node, ast.Dict):
        keys = [key.value if isinstance(key, ast.Constant) else None for key in node.keys]
        used = [value for key, value in zip(keys, node.values, strict=True) if key == "use"]
        driver = str(used[0].value) if used and isinstance(used[0], ast.Constant) else ""
        yield from ((driver, str(key)) for key in keys if key is not None)
        for value in node.values:
            if driver and isinstance(value, ast.Dict):
                yield from ((driver, str(key.value)) for key in value.keys if isinstance(key, ast.Constant))
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        for block in _INLINE.findall(node.value):
            yield from _of_yaml(block)


def places(root: Path) -> dict[str, set[Pair]]:
    """Read what is set in each kind of place of a checkout."""
    found: dict[str, set[Pair]] = {}
    for place, patterns in PLACES.items():
        files = {file for pattern in patterns for file in root.glob(pattern) if file.is_file()}
        found[place] = {pair for file in files for pair in written(file)}
        for file in files:
            if file.is_relative_to(root / "plugins") and file.suffix == ".py":
                plugin = file.relative_to(root / "plugins").parts[0]
                found[place] |= {(plugin, name) for _, name in written(file)}
    return found


def main() -> int:
    """Print the counts and the list."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=Path, nargs="?", default=ROOT)
    parser.add_argument("--recipes", action="store_true", help="list what no recipe sets, with the places that do")
    args = parser.parse_args()
    found = places(args.root)
    used = {
        one: [place for place, known in found.items() if {(user, one.name) for user in one.users} & known]
        for one in settings()
    }
    print(f"{len(used)} settings; {sum('recipes' not in set_in for set_in in used.values())} are set in no recipe")
    for one, set_in in sorted(used.items(), key=lambda item: (item[0].owner, item[0].name)):
        if not set_in or (args.recipes and "recipes" not in set_in):
            drivers = ", ".join(sorted(user for user in one.users if user.islower() and not user.startswith("srtk-")))
            print(f"{one.owner}.{one.name} of {drivers}: {', '.join(set_in) or 'nowhere'}")
    print(f"{sum(not set_in for set_in in used.values())} are set nowhere")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
