"""Source of a toy driver and its test, extracted from the module of a role's conformance class.

The source is parsed and never imported: where a plugin is written, pytest and hypothesis may be missing.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

import srtk_framework
from srtk_framework.host import module_file
from srtk_framework.values import SrtkError

CORE = "srtk_framework"
KIT = f"{CORE}.testing"
LENGTH = 120
"""Maximum length of a line."""


class Import(NamedTuple):
    """One name that a module imports.

    Attributes:
        module: Absolute name of the module.
        name: The name imported from it; empty for ``import module``.
        bound: Name in the importing module.
    """

    module: str
    name: str
    bound: str


class Toy(NamedTuple):
    """A toy driver, renamed.

    Attributes:
        driver: Source of the driver's module.
        test: Source of its test.
        recipe: Lines of a recipe that uses it.
        summary: Its purpose.
        packages: Top-level packages that the driver imports, besides the standard library and the core; sorted.
    """

    driver: str
    test: str
    recipe: str
    summary: str
    packages: tuple[str, ...]


def toy_of(kit: str, role: str, name: str, class_name: str, module: str) -> Toy:
    """Read the toy of a role: ``Toy<Role>``, ``Toy<Role>Case``, ``SUMMARY`` and ``RECIPE``, with all that they use.

    Args:
        kit: Module that holds the toy beside the role's conformance class.
        role: Name of the role's class, such as ``PathScorer``.
        name: Name of the driver for ``use:``.
        class_name: Name of the driver's class.
        module: Where the driver's module will be, such as ``srtk_plugin_mine.scorer``.

    Raises:
        SrtkError: If the module cannot be found, or has no toy.
    """
    source = _Source(kit)
    toy, case = f"Toy{role}", f"Toy{role}Case"
    lacking = [needed for needed in (toy, case, "SUMMARY", "RECIPE") if needed not in source.definitions]
    if lacking:
        raise SrtkError(f"{kit} has no {' and no '.join(lacking)}, of which the new plugin would be made")

    def rename(text: str) -> str:
        return _renamed(text, {toy: class_name, case: f"Test{class_name}"}, name)

    driver = source.closure([toy], lambda _: False)
    test = source.closure([case], lambda used: used in driver or used.endswith("Conformance"))
    needs = source.imports_of(driver)
    given = [Import(module, used, used) for used in source.used_by(test) & set(driver)]
    public = KIT if kit.startswith(f"{KIT}.") else kit
    bases = [Import(public, used, used) for used in source.used_by(test) if used.endswith("Conformance")]
    summary = str(source.constant("SUMMARY"))
    recipe = re.sub(r"(\{use: |: )toy\b", rf"\g<1>{name}", str(source.constant("RECIPE"))).rstrip()
    own = module.partition(".")[0]
    tested = _import_lines([*source.imports_of(test), *bases, *given], own)
    return Toy(
        rename(_module(f"{summary}.", _import_lines(needs, own), source.texts(driver))),
        rename(_module(f"{class_name}, checked by the conformance test of its role.", tested, source.texts(test))),
        recipe,
        summary,
        tuple(sorted({_top(need.module) for need in needs} - {CORE} - sys.stdlib_module_names)),
    )


class _Source:
    """A parsed module: its definitions by name, and its imports by the name that they bind."""

    def __init__(self, module: str) -> None:
        file = module_file(module)
        if file is None:
            raise SrtkError(f"the module {module} is not installed, so no plugin can be made of its toy")
        text = file.read_text(encoding="utf-8")
        self._lines = text.splitlines()
        self._body = ast.parse(text, str(file)).body
        package = module if file.name == "__init__.py" else module.rpartition(".")[0]
        self.definitions: dict[str, ast.stmt] = {}
        self.imports: dict[str, Import] = {}
        for node in self._body:
            for name in _names_defined(node):
                self.definitions[name] = node
            for found in _names_imported(node, package):
                self.imports[found.bound] = found

    def closure(self, names: Iterable[str], stops: Callable[[str], bool]) -> list[str]:
        """List the definitions of some names and all that they need, in the order of the module."""
        found: set[str] = set()
        open_ = list(names)
        while open_:
            name = open_.pop()
            if name not in found and name in self.definitions:
                found.add(name)
                open_ += [used for used in _names_used(self.definitions[name]) if not stops(used)]
        return sorted(found, key=lambda name: self.definitions[name].lineno)

    def used_by(self, names: Iterable[str]) -> set[str]:
        """Return the names of the module that some definitions use but do not define."""
        names = set(names)
        return {used for name in names for used in _names_used(self.definitions[name])} - names

    def imports_of(self, names: Iterable[str]) -> list[Import]:
        """List the imports that some definitions use."""
        return [self.imports[used] for used in sorted(self.used_by(names)) if used in self.imports]

    def texts(self, names: Iterable[str]) -> list[tuple[ast.stmt, str]]:
        """Return the source of definitions, with their decorators, the comments above and a string below."""
        nodes = dict.fromkeys(self.definitions[name] for name in names)
        return [(node, self._text(node)) for node in nodes]

    def _text(self, node: ast.stmt) -> str:
        start = min([node.lineno, *(decorator.lineno for decorator in getattr(node, "decorator_list", ()))]) - 1
        while start and self._lines[start - 1].startswith("#"):
            start -= 1
        after = self._body[self._body.index(node) + 1 :][:1]
        told = [other for other in after if isinstance(other, ast.Expr) and isinstance(other.value, ast.Constant)]
        last = told[0] if told and not isinstance(node, ast.ClassDef | ast.FunctionDef) else node
        return "\n".join(self._lines[start : last.end_lineno])

    def constant(self, name: str) -> object:
        """Return the value of a constant that is written as a literal."""
        node = self.definitions[name]
        return ast.literal_eval(node.value) if isinstance(node, ast.Assign) else None


def _names_defined(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        return [node.name]
    if isinstance(node, ast.Assign):
        return [target.id for target in node.targets if isinstance(target, ast.Name)]
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        return [node.target.id]
    return []


def _names_imported(node: ast.stmt, package: str) -> list[Import]:
    """List the imports of a statement as absolute names, TYPE_CHECKING included."""
    if isinstance(node, ast.If):
        return [found for inner in node.body for found in _names_imported(inner, package)]
    if isinstance(node, ast.Import):
        return [Import(alias.name, "", alias.asname or _top(alias.name)) for alias in node.names]
    if not isinstance(node, ast.ImportFrom) or node.module == "__future__":
        return []
    parts = package.split(".")
    above = parts[: len(parts) + 1 - node.level] if node.level else []
    module = ".".join([*above, *([node.module] if node.module else [])])
    return [_public(Import(module, alias.name, alias.asname or alias.name)) for alias in node.names]


def _public(found: Import) -> Import:
    """Import a name of the core from where it is public: the core itself, or its room."""
    if _top(found.module) != CORE:
        return found
    room = ".".join(found.module.split(".")[:2])
    return found._replace(module=CORE if found.name in srtk_framework.__all__ and room != KIT else room)


def _names_used(node: ast.stmt) -> set[str]:
    return {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}


def _top(module: str) -> str:
    return module.partition(".")[0]


def _import_lines(imports: Iterable[Import], own: str) -> str:
    """Write imports as isort orders them: future, standard library, other packages, own; modules before names."""
    sections: list[list[Import]] = [[], [], []]
    for found in dict.fromkeys(imports):
        top = _top(found.module)
        sections[0 if top in sys.stdlib_module_names else 2 if top == own else 1].append(found)
    written = ["from __future__ import annotations"]
    for section in filter(None, sections):
        whole = sorted({(found.module, found.bound) for found in section if not found.name})
        lines = [f"import {name}" if _top(name) == bound else f"import {name} as {bound}" for name, bound in whole]
        named: dict[str, list[Import]] = {}
        for found in section:
            if found.name:
                named.setdefault(found.module, []).append(found)
        lines += [_from_line(module, named[module]) for module in sorted(named)]
        written.append("\n".join(lines))
    return "\n\n".join(written)


def _from_line(module: str, imports: Iterable[Import]) -> str:
    names = [
        found.name if found.name == found.bound else f"{found.name} as {found.bound}"
        for found in sorted(imports, key=lambda found: (_kind(found.name), found.name.casefold(), found.name))
    ]
    line = f"from {module} import {', '.join(names)}"
    return line if len(line) <= LENGTH else "\n".join([f"from {module} import (", *(f"    {n}," for n in names), ")"])


def _kind(name: str) -> int:
    """Order names as isort does: constants, classes, functions."""
    return 0 if name.isupper() and len(name) > 1 else 1 if name[:1].isupper() else 2


def _module(headline: str, imports: str, texts: Iterable[tuple[ast.stmt, str]]) -> str:
    """Join a module of its parts, with two blank lines around classes and functions."""
    written = f'"""{headline}"""\n\n{imports}\n'
    before: ast.stmt | None = None
    for node, text in texts:
        blocks = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
        written += "\n\n" if isinstance(node, blocks) or isinstance(before, blocks) else "\n"
        written += text + "\n"
        before = node
    return written


def _renamed(text: str, classes: Mapping[str, str], name: str) -> str:
    """Rename classes everywhere, and the driver in strings and comments."""
    pattern = re.compile(rf"\b({'|'.join(map(re.escape, classes))})\b")
    first = next(iter(classes.values()))
    lines = text.splitlines(keepends=True)
    tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    for token in reversed(tokens):
        new = pattern.sub(lambda found: classes[found[0]], token.string)
        if token.type in (tokenize.STRING, tokenize.COMMENT):
            new = re.sub(r"\bThe toy [a-z ]+? keeps\b", f"{first} keeps", new)
            new = re.sub(r"\btoy\b", name, new)
        if new == token.string:
            continue
        (row, start), (end_row, end) = token.start, token.end
        lines[row - 1 : end_row] = [lines[row - 1][:start] + new + lines[end_row - 1][end:]]
    return "".join(lines)
