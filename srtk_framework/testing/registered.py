"""Registered drivers and their conformance classes, for the test over all plugins."""

from __future__ import annotations

import ast
import importlib.metadata
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from srtk_framework.host.discovery import group
from srtk_framework.roles import ROLES, Role


class RegisteredDriver(NamedTuple):
    """An entry point of a role, by its name in ``use:``, and the distribution that brings it."""

    distribution: str
    role: str
    name: str


Roles = Mapping[str, type[Role]]
"""Role, as in recipes, to its class."""


def registered_drivers(prefix: str = "srtk-plugin-", roles: Roles = ROLES) -> list[RegisteredDriver]:
    """List the drivers of all installed distributions whose name starts with ``prefix``."""
    groups = {group(role): role for role in roles}
    return sorted(
        {
            RegisteredDriver(distribution.name, groups[entry.group], entry.name)
            for distribution in importlib.metadata.distributions()
            if (distribution.name or "").startswith(prefix)
            for entry in distribution.entry_points
            if entry.group in groups
        }
    )


def declared_drivers(folder: Path, roles: Roles = ROLES) -> list[RegisteredDriver]:
    """List the drivers that the ``pyproject.toml`` files of the plugins in a folder declare, installed or not."""
    found = []
    for path in sorted(folder.glob("*/pyproject.toml")):
        project = tomllib.loads(path.read_text(encoding="utf-8"))["project"]
        for role in roles:
            for name in project.get("entry-points", {}).get(group(role), {}):
                found.append(RegisteredDriver(project["name"], role, name))
    return sorted(found)


def covered_drivers(tests: Path, roles: Roles = ROLES) -> set[tuple[str, str]]:
    """Find the (role, name) of each conformance class in the test files of a folder, without running them.

    Such a class is written ``class Test...(<Role>Conformance):`` with ``name = "..."`` in its body.
    """
    classes = {f"{role.__name__}Conformance": name for name, role in roles.items()}
    return {
        found
        for path in sorted(tests.glob("**/test_*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"), str(path)))
        if isinstance(node, ast.ClassDef) and node.name.startswith("Test")
        for found in _covered_by(node, classes)
    }


def _covered_by(node: ast.ClassDef, classes: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    bases = [base.attr if isinstance(base, ast.Attribute) else getattr(base, "id", "") for base in node.bases]
    for statement in node.body:
        targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
        value = getattr(statement, "value", None)
        named = any(isinstance(target, ast.Name) and target.id == "name" for target in targets)
        if named and isinstance(value, ast.Constant) and isinstance(value.value, str):
            yield from ((classes[base], value.value) for base in bases if base in classes)
