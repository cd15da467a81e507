"""What is public: the names of ``srtk_framework`` and of each room; plugins and benchmarks use nothing else."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

import srtk_framework

ROOT = Path(__file__).parents[1]
CORE = "srtk_framework"
ROOMS = {path.parent.name for path in (ROOT / CORE).glob("*/__init__.py")}
PLUGINS = {path.parent.name: path.parent for path in sorted(ROOT.glob("plugins/*/pyproject.toml"))}
ADAPTERS = {path.parent.name: path.parent for path in sorted(ROOT.glob("adapters/*/pyproject.toml"))}

LIGHT = {"numpy", "torch", "rich", "yaml", "networkx", "attrs", "pluggy", "stevedore", "asyncio"}


def type_checking_names() -> list[str]:
    """Return the names that a type checker sees in the package."""
    tree = ast.parse((ROOT / CORE / "__init__.py").read_text(encoding="utf-8"))
    blocks = [node for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"]
    imports = [node for block in blocks for node in block.body if isinstance(node, ast.ImportFrom)]
    return [alias.asname or alias.name for node in imports for alias in node.names]


def test_type_checkers_see_the_names_that_can_be_imported():
    assert sorted(type_checking_names()) == sorted(srtk_framework.__all__)
    assert len(set(srtk_framework.__all__)) == len(srtk_framework.__all__)


@pytest.mark.parametrize("name", srtk_framework.__all__)
def test_a_public_name_is_the_one_of_its_room(name):
    inside = "open_session" if name == "open" else name
    rooms = [import_module(f"{CORE}.{room}") for room in ROOMS - {"testing"}]
    declared = [getattr(room, inside) for room in rooms if inside in room.__all__]
    assert declared
    assert all(one is getattr(srtk_framework, name) for one in declared)


def test_every_role_is_public():
    from srtk_framework.roles import ROLES

    assert {role.__name__ for role in ROLES.values()} <= set(srtk_framework.__all__)


def test_a_name_that_is_not_public_is_an_attribute_error():
    with pytest.raises(AttributeError, match="has no attribute 'Composer'"):
        srtk_framework.Composer  # noqa: B018 - the attribute is the test
    assert set(srtk_framework.__all__) <= set(dir(srtk_framework))


@pytest.mark.parametrize("room", sorted(ROOMS))
def test_what_a_room_declares_is_there(room):
    module = import_module(f"{CORE}.{room}")
    missing = [name for name in getattr(module, "__all__", ()) if not hasattr(module, name)]
    assert missing == []


def modules_after(code: str) -> set[str]:
    script = f"import sys\nbefore = set(sys.modules)\n{code}\nafter = set(sys.modules)\nimport json\n"
    script += "print(json.dumps(sorted(after - before)))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout))


def test_importing_the_framework_loads_none_of_its_rooms_and_no_library():
    loaded = modules_after("import srtk_framework")
    assert {name for name in loaded if name.startswith(CORE)} == {CORE}
    assert not {name.split(".")[0] for name in loaded} & LIGHT


def test_an_author_who_imports_a_role_loads_nothing_heavy():
    loaded = modules_after("from srtk_framework import Expander, Question, facts, DriverError")
    assert not {name.split(".")[0] for name in loaded} & {"numpy", "torch", "rich", "yaml", "networkx"}


def test_a_program_that_imports_the_retriever_loads_values_alone():
    loaded = modules_after("from srtk_framework import Retriever")
    rooms = {name.split(".")[1] for name in loaded if name.startswith(f"{CORE}.")}
    assert rooms == {"values", "run"}
    assert {name for name in loaded if name.startswith(f"{CORE}.run.")} == {f"{CORE}.run.retriever"}
    late = {"cattrs", "packaging", "importlib.metadata", "email", "logging"} | LIGHT - {"attrs"}
    assert not loaded & late


@cache
def public_names(room: str) -> frozenset[str]:
    """Return the names that a room declares."""
    return frozenset(getattr(import_module(f"{CORE}.{room}"), "__all__", ()))


def refused(source: str, own: str, declared: set[str]) -> Iterator[str]:
    """Yield the imports of a source file that reach past what is public.

    Args:
        source: Text of the file.
        own: Package of the file.
        declared: Packages of other plugins that its distribution declares.
    """
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            pairs = [(alias.name, "") for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            pairs = [(node.module, alias.name) for alias in node.names]
        else:
            continue
        for module, name in pairs:
            parts = module.split(".")
            if parts[0] == CORE:
                known = public_names(parts[1]) if len(parts) == 2 else {*srtk_framework.__all__, *ROOMS}
                if len(parts) > 2:
                    yield module
                elif name and name not in known:
                    yield f"{module}.{name}"
            elif parts[0].startswith("srtk_plugin_") and parts[0] not in {own, *declared}:
                yield parts[0]


def offenders() -> set[str]:
    found = set()
    for name, folder in {**PLUGINS, **ADAPTERS}.items():
        project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        extras = project.get("optional-dependencies", {})
        needs = [*project["dependencies"], *(need for name in extras if name != "testing" for need in extras[name])]
        declared = {re.split(r"[^A-Za-z0-9_-]", need)[0].replace("-", "_") for need in needs}
        own = name.replace("-", "_")
        for path in sorted(path for path in folder.rglob("*.py") if "tests" not in path.relative_to(folder).parts):
            for what in refused(path.read_text(encoding="utf-8"), own, declared):
                found.add(f"{path.relative_to(ROOT)}: {what}")
    everything = {name.replace("-", "_") for name in PLUGINS}
    for path in sorted((ROOT / "benchmarks").rglob("*.py")):
        for what in refused(path.read_text(encoding="utf-8"), "", everything):
            found.add(f"{path.relative_to(ROOT)}: {what}")
    return found


def test_plugins_and_benchmarks_import_public_names_and_declared_plugins_only():
    assert sorted(offenders()) == []


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("from srtk_framework.graph.path_facts import facts", "srtk_framework.graph.path_facts"),
        ("import srtk_framework.graph.path_facts", "srtk_framework.graph.path_facts"),
        ("def f():\n    from srtk_framework.graph import _Grown", "srtk_framework.graph._Grown"),
        ("from srtk_framework import Composer", "srtk_framework.Composer"),
        ("from srtk_plugin_sparql import SparqlGraph", "srtk_plugin_sparql"),
    ],
)
def test_an_import_that_reaches_past_what_is_public_is_refused(source, found):
    assert list(refused(source, "srtk_plugin_mine", {"srtk_plugin_local"})) == [found]


@pytest.mark.parametrize(
    "source",
    [
        "from srtk_framework import Expander, facts, graph",
        "from srtk_framework.graph import facts",
        "import srtk_framework.graph",
        "from srtk_plugin_local import LocalGraph",
        "from srtk_plugin_mine.cache import Cache",
        "from .graph import Far",
    ],
)
def test_a_public_import_is_accepted(source):
    assert list(refused(source, "srtk_plugin_mine", {"srtk_plugin_local"})) == []
