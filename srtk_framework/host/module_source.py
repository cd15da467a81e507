"""Read modules as source text, without importing them."""

from __future__ import annotations

import ast
import inspect
from importlib.machinery import PathFinder
from importlib.util import find_spec
from pathlib import Path


def module_file(name: str) -> Path | None:
    """Find the source file of a module; neither it nor its packages are imported.

    Returns:
        The file; None where there is no such module, or none with Python source.
    """
    top, *rest = name.split(".")
    try:
        spec = find_spec(top)
    except (ImportError, ValueError):
        return None
    for depth in range(len(rest)):
        if spec is None or spec.submodule_search_locations is None:
            return None
        full = ".".join([top, *rest[: depth + 1]])
        spec = PathFinder.find_spec(full, list(spec.submodule_search_locations))
    if spec is None or spec.origin is None or not spec.origin.endswith(".py"):
        return None
    return Path(spec.origin)


def parse_module(name: str) -> ast.Module | None:
    """Parse the source of a module; None where there is none, or it is not valid Python."""
    file = module_file(name)
    if file is None:
        return None
    try:
        return ast.parse(file.read_bytes(), str(file))
    except (OSError, SyntaxError, ValueError):
        return None


def summary_of(target: str) -> str:
    """Return the first line of the docstring of ``module`` or ``module:Class``; empty where there is none.

    A class that the module imports is looked up in its own module.
    """
    module, _, name = target.partition(":")
    # Packages may pass a name on in a circle.
    for _ in range(8):
        tree = parse_module(module)
        if tree is None:
            return ""
        if not name:
            return _first_line(tree)
        found = next((node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == name), None)
        if found is not None:
            return _first_line(found)
        origin = _origin(tree, module, name)
        if origin is None:
            return ""
        module, name = origin
    return ""


def _first_line(node: ast.Module | ast.ClassDef) -> str:
    lines = inspect.cleandoc(ast.get_docstring(node, clean=False) or "").splitlines()
    return lines[0] if lines else ""


def _origin(tree: ast.Module, module: str, name: str) -> tuple[str, str] | None:
    """Find the ``from ... import`` that brings a name: its module, made absolute, and the name there."""
    file = module_file(module)
    package = module if file is not None and file.name == "__init__.py" else module.rpartition(".")[0]
    for node in tree.body:
        if not isinstance(node, ast.ImportFrom):
            continue
        for alias in node.names:
            if (alias.asname or alias.name) == name:
                above = package.split(".")[: len(package.split(".")) + 1 - node.level] if node.level else []
                return ".".join([*above, *([node.module] if node.module else [])]), alias.name
    return None
