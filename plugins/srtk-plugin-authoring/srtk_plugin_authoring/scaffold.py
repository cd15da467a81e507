"""Scaffolds of plugins: a small working driver, its package, and its test."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable, Mapping
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import NamedTuple

from srtk_framework.host import __version__, role_class, role_names
from srtk_framework.values import SrtkError, close_matches
from srtk_plugin_authoring.toy_source import toy_of

PREFIX = "srtk-plugin-"
_NAME = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*")
_REQUIREMENTS = {"attrs": "attrs>=25.1", "numpy": "numpy>=2.0"}


class _Kind(NamedTuple):
    """A kind of plugin besides the drivers of roles, with a template of its own.

    Attributes:
        group: Last part of the entry-point group.
        summary: Purpose of the plugin, as package tools show it.
        use: How it is used.
    """

    group: str
    summary: str
    use: str


KINDS = {
    "view": _Kind("knowledge_graph", "A graph without some of its relations", "In a recipe"),
    "observer": _Kind("observer", "An observer that counts calls and errors", "In a recipe"),
    "stage": _Kind("stage", "A stage that lists the questions that failed", "In a recipe"),
    "command": _Kind("command", "A command that counts relations", "On the command line"),
}
"""What ``srtk new`` writes besides roles: a graph that holds a graph, an observer, a stage, a subcommand."""


def write_plugin(kind: str, name: str, folder: Path) -> Path:
    """Write the folder ``srtk-plugin-NAME`` with a driver of a role, a view, an observer, a stage or a command.

    Args:
        kind: A role, the framework's own or of an installed distribution, or one of ``KINDS``.
        name: Name for ``use:``, key of a stage, or word after ``srtk`` of a command: lower-case
            letters and digits, joined by single hyphens.
        folder: Where to write the folder.

    Returns:
        The folder of the plugin.

    Raises:
        SrtkError: For an unknown kind, a bad name, a folder that exists or cannot be written, or a role without a toy.
    """
    roles = role_names()
    known = [*roles, *KINDS]
    if kind not in known:
        raise SrtkError(
            f"there is no role or kind {kind!r}; roles are {', '.join(roles)}; other kinds are {', '.join(KINDS)}."
            f"{close_matches(kind, known)}"
        )
    name = name.removeprefix(PREFIX)
    if not _NAME.fullmatch(name):
        raise SrtkError(
            f"{name!r} cannot be the name of a plugin; use lower-case letters and digits that start with a letter,"
            " joined by single hyphens, such as my-graph"
        )
    target = folder / f"{PREFIX}{name}"
    if target.exists():
        raise SrtkError(f"{target} exists already; choose another name or remove it")
    pages = _pages(kind, name)
    try:
        _write(target, pages)
    except OSError as error:
        shutil.rmtree(target, ignore_errors=True)
        raise SrtkError(f"cannot write {target}: {error.strerror}; choose another folder with --in") from error
    return target


def _pages(kind: str, name: str) -> dict[str, str]:
    """Make the files of a plugin: path within its folder to text."""
    last = kind.split("_")[-1]
    distribution = PREFIX + name
    package = distribution.replace("-", "_")
    class_name = _class_name(name, last)
    major, minor = __version__.split(".")[:2]
    words = {
        "name": name,
        "module": last,
        "distribution": distribution,
        "package": package,
        "class_name": class_name,
        "entry": name,
        "target": f"{package}.{last}:{class_name}",
        "subject": f"the class `{class_name}`",
        "hint": "Its fields are its settings; each has a line in the docstring.",
    }
    if kind in KINDS:
        words |= {
            "group": KINDS[kind].group,
            "summary": KINDS[kind].summary,
            "use": KINDS[kind].use,
            "look": f"srtk plugins show {KINDS[kind].group} {name}",
        }
        if kind == "stage":
            words["look"] = "srtk plugins --load"
        if kind == "command":
            words |= {
                "target": f"{package}.{last}",
                "subject": "`add_arguments` and `run`",
                "hint": "The first line of the module is what `srtk --help` shows.",
                "look": f"srtk {name} --help",
            }
        words["recipe"] = _fill(f"{kind}/recipe.yaml", words).rstrip()
        driver, test = _fill(f"{kind}/driver.py", words), _fill(f"{kind}/test.py", words)
        packages: Iterable[str] = ["attrs"] if "import attrs" in driver else []
    else:
        role = role_class(kind)
        toy = toy_of(role.kit, role.__name__, name, class_name, f"{package}.{last}")
        driver, test, packages = toy.driver, toy.test, toy.packages
        words |= {
            "group": kind,
            "summary": toy.summary,
            "use": "In a recipe",
            "look": f"srtk plugins show {kind} {name}",
            "recipe": "\n".join(f"    {line}" for line in toy.recipe.splitlines()),
        }
    needs = [*map(_requirement, packages), f"srtk-framework>={major}.{minor},<{int(major) + 1}"]
    words["dependencies"] = ", ".join(f'"{need}"' for need in needs)
    return {
        "pyproject.toml": _fill("common/pyproject.toml", words),
        "README.md": _fill("common/README.md", words),
        "LICENSE": _fill("common/LICENSE", words),
        ".gitignore": _fill("common/gitignore", words),
        ".github/workflows/check.yml": _fill("common/check.yml", words),
        f"{package}/__init__.py": _fill("common/init.py", words),
        f"{package}/py.typed": _fill("common/py.typed", words),
        f"{package}/{last}.py": driver,
        f"tests/test_{package}.py": test,
    }


def _class_name(name: str, last: str) -> str:
    """Make the name of a class: ``my-graph`` and ``graph`` give ``MyGraph``, ``mine`` and ``graph`` ``MineGraph``."""
    parts = name.split("-")
    return "".join(part.capitalize() for part in (parts if parts[-1] == last else [*parts, last]))


def _requirement(package: str) -> str:
    """Return the distribution of a package, as written in ``dependencies``."""
    from importlib.metadata import packages_distributions

    return _REQUIREMENTS.get(package) or next(iter(packages_distributions().get(package, ())), package)


def _fill(template: str, words: Mapping[str, str]) -> str:
    text = files(__package__).joinpath("templates", f"{template}.tmpl").read_text(encoding="utf-8")
    return Template(text).substitute(words)


def _write(target: Path, pages: Mapping[str, str]) -> None:
    for place, text in pages.items():
        path = target / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
