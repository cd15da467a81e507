"""Write a new plugin from templates: a small driver that works, its package, and its conformance test."""

from __future__ import annotations

import re
import shutil
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from string import Template
from typing import NamedTuple

from srtk_framework.host.versions import __version__
from srtk_framework.roles import ROLES
from srtk_framework.values import SrtkError, close_matches

PREFIX = "srtk-plugin-"
_NAME = re.compile(r"[a-z][a-z0-9]*(?:[-_][a-z0-9]+)*")


class _Kind(NamedTuple):
    """What the template of a role is about.

    Attributes:
        module: Name of the module of the driver.
        suffix: End of the name of the class.
        summary: What the driver does, as it is shown by package tools.
    """

    module: str
    suffix: str
    summary: str


_KINDS = {
    "knowledge_graph": _Kind("graph", "Graph", "A knowledge graph in a CSV file"),
    "mention_detector": _Kind("detector", "Detector", "A mention detector by capital letters"),
    "entity_linker": _Kind("linker", "Linker", "An entity linker by exact names"),
    "path_scorer": _Kind("scorer", "Scorer", "A path scorer by shared words"),
    "expander": _Kind("expander", "Expander", "An expander of one hop"),
    "exporter": _Kind("exporter", "Exporter", "An exporter of CSV files"),
    "encoder": _Kind("encoder", "Encoder", "An encoder by hashed letters"),
    "generator": _Kind("generator", "Generator", "A generator by shared words"),
    "reader": _Kind("reader", "Reader", "A reader by the names of relations"),
    "dataset": _Kind("dataset", "Dataset", "A dataset of tab-separated questions"),
    "supervision": _Kind("supervision", "Supervision", "A supervision by single steps"),
}


def write_plugin(role: str, name: str, folder: Path) -> Path:
    """Write the folder ``srtk-plugin-NAME`` with a driver of a role.

    Args:
        role: One of ``specs.ROLES``.
        name: What ``use:`` shall call the driver: lower-case letters and digits, joined by hyphens.
        folder: Where to write the folder.

    Returns:
        The folder of the plugin.

    Raises:
        SrtkError: For an unknown role, a bad name, a folder that is there already or cannot be written.
    """
    if role not in _KINDS:
        raise SrtkError(f"no role is called {role!r}; roles are {', '.join(ROLES)}.{close_matches(role, list(ROLES))}")
    name = name.removeprefix(PREFIX)
    if not _NAME.fullmatch(name):
        raise SrtkError(
            f"{name!r} cannot be the name of a plugin; use lower-case letters and digits that start with a letter,"
            " joined by single hyphens, such as my-graph"
        )
    target = folder / f"{PREFIX}{name}"
    if target.exists():
        raise SrtkError(f"{target} is there already; choose another name or remove it")
    pages = _pages(role, name)
    try:
        _write(target, pages)
    except OSError as error:
        shutil.rmtree(target, ignore_errors=True)
        raise SrtkError(f"cannot write {target}: {error.strerror}; choose another folder with --in") from error
    return target


def _pages(role: str, name: str) -> dict[str, str]:
    """Fill the templates in: path within the plugin to text."""
    kind = _KINDS[role]
    major, minor = __version__.split(".")[:2]
    words = {
        "name": name,
        "role": role,
        "module": kind.module,
        "summary": kind.summary,
        "distribution": PREFIX + name,
        "package": (PREFIX + name).replace("-", "_"),
        "class_name": "".join(part.capitalize() for part in re.split("[-_]", name)) + kind.suffix,
        "framework": f"srtk-framework>={major}.{minor},<{int(major) + 1}",
    }
    templates = files(__name__) / "templates"
    words["recipe"] = _fill(templates / role / "recipe.yaml.tmpl", words).rstrip()
    places = {
        "pyproject.toml": templates / "common" / "pyproject.toml.tmpl",
        "README.md": templates / "common" / "README.md.tmpl",
        f"{words['package']}/__init__.py": templates / "common" / "init.py.tmpl",
        f"{words['package']}/{kind.module}.py": templates / role / "driver.py.tmpl",
        f"tests/test_{words['package']}.py": templates / role / "test_conformance.py.tmpl",
    }
    return {place: _fill(template, words) for place, template in places.items()}


def _fill(template: Traversable, words: dict[str, str]) -> str:
    return Template(template.read_text(encoding="utf-8")).substitute(words)


def _write(target: Path, pages: dict[str, str]) -> None:
    for place, text in pages.items():
        path = target / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
