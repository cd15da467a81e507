"""What the distributions hold when they are built, and what the extras of the core bring."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from email.message import Message
from email.parser import HeaderParser
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parents[1]
PLUGINS = sorted(folder.parent for folder in ROOT.glob("plugins/*/pyproject.toml"))
ADAPTERS = sorted(folder.parent for folder in ROOT.glob("adapters/*/pyproject.toml"))
ALL = [ROOT, *PLUGINS, *ADAPTERS]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Wheels and source distributions of everything, as `make wheels` builds them."""
    out = tmp_path_factory.mktemp("dist")
    command = [sys.executable, str(ROOT / "release" / "wheels.py"), "--out", str(out)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return out


def project(folder: Path) -> dict[str, Any]:
    return tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def contents(wheel: Path) -> tuple[list[str], Message]:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        text = archive.read(next(name for name in names if name.endswith("METADATA"))).decode()
    return names, HeaderParser().parsestr(text)


def test_each_distribution_has_one_wheel_and_one_source_distribution(built: Path) -> None:
    names = {f"{project(folder)['name'].replace('-', '_')}-{project(folder)['version']}" for folder in ALL}
    assert {path.name for path in built.iterdir()} == {
        f"{name}{ending}" for name in names for ending in ("-py3-none-any.whl", ".tar.gz")
    }


@pytest.mark.parametrize("folder", ALL, ids=lambda folder: folder.name)
def test_a_wheel_has_its_licence_its_types_and_its_classifiers(folder: Path, built: Path) -> None:
    names, metadata = contents(next(built.glob(f"{project(folder)['name'].replace('-', '_')}-*.whl")))
    assert any(name.endswith("licenses/LICENSE") for name in names)
    # A package in the namespace of others brings no file of its own above its place.
    [typed] = [name for name in names if name.endswith("/py.typed")]
    assert all(name.startswith((typed.removesuffix("py.typed"), f"{names[-1].partition('/')[0]}/")) for name in names)
    assert not [name for name in names if "broken" in name or "/tests/" in name]
    assert metadata["License-Expression"] == "MIT"
    assert "Typing :: Typed" in (metadata.get_all("Classifier") or [])


@pytest.mark.parametrize("folder", ALL, ids=lambda folder: folder.name)
def test_a_package_page_has_no_relative_link(folder: Path, built: Path) -> None:
    _, metadata = contents(next(built.glob(f"{project(folder)['name'].replace('-', '_')}-*.whl")))
    page = re.sub(r"^```.*?^```", "", str(metadata.get_payload()), flags=re.DOTALL | re.MULTILINE)
    assert len(page) > 500
    assert not [target for target in re.findall(r"\]\(([^)]*)\)", page) if not target.startswith(("http", "#"))]


def test_the_source_distribution_of_the_core_holds_the_core_alone(built: Path) -> None:
    with tarfile.open(next(built.glob("srtk_framework-*.tar.gz"))) as archive:
        tops = {Path(name).parts[1] for name in archive.getnames()}
    code = {"srtk_framework", "recipes", "demo", "docs", "hatch_build.py", "pyproject.toml"}
    assert tops == {*code, "README.md", "CHANGELOG.md", "LICENSE", "PKG-INFO"}


@pytest.mark.parametrize("folder", ["recipes", "demo"])
def test_the_wheel_of_the_core_holds_the_recipes_and_the_demo(built: Path, folder: str) -> None:
    names, _ = contents(next(built.glob("srtk_framework-*.whl")))
    files = [file for file in (ROOT / folder).rglob("*") if file.is_file() and "__pycache__" not in file.parts]
    shipped = {name.removeprefix("srtk_framework/") for name in names if name.startswith(f"srtk_framework/{folder}/")}
    assert shipped == {file.relative_to(ROOT).as_posix() for file in files}


def test_the_wheel_of_the_core_holds_the_pages_of_the_documentation_without_pictures(built: Path) -> None:
    names, _ = contents(next(built.glob("srtk_framework-*.whl")))
    shipped = {name.removeprefix("srtk_framework/") for name in names if name.startswith("srtk_framework/docs/")}
    pages = [file for ending in ("md", "ipynb") for file in (ROOT / "docs").rglob(f"*.{ending}")]
    assert len(pages) > 40
    assert shipped == {page.relative_to(ROOT).as_posix() for page in pages}
    with tarfile.open(next(built.glob("srtk_framework-*.tar.gz"))) as archive:
        assert not [name for name in archive.getnames() if name.endswith((".png", ".svg"))]


def test_a_wheel_built_from_the_source_distribution_is_the_same(built: Path, tmp_path: Path) -> None:
    with tarfile.open(next(built.glob("srtk_framework-*.tar.gz"))) as archive:
        archive.extractall(tmp_path, filter="data")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(command, cwd=next(tmp_path.iterdir()), capture_output=True, check=True)
    assert contents(next(tmp_path.glob("*.whl")))[0] == contents(next(built.glob("srtk_framework-*.whl")))[0]


def extras() -> dict[str, list[Requirement]]:
    found = project(ROOT)["optional-dependencies"]
    return {name: [Requirement(text) for text in texts] for name, texts in found.items()}


def brought(extra: str) -> dict[str, Requirement]:
    """The distributions that an extra of the core brings, through other extras of the core too."""
    found: dict[str, Requirement] = {}
    for requirement in extras()[extra]:
        if requirement.name == "srtk-framework":
            for other in requirement.extras:
                found.update(brought(other))
        else:
            found[requirement.name] = requirement
    return found


def test_the_extra_all_brings_every_plugin() -> None:
    assert {name for name in brought("all") if name.startswith("srtk-plugin-")} == {folder.name for folder in PLUGINS}


def test_the_extras_name_plugins_versions_and_extras_that_there_are() -> None:
    plugins = {folder.name: project(folder) for folder in PLUGINS}
    named = [needed for needs in extras().values() for needed in needs if needed.name.startswith("srtk-plugin-")]
    assert named
    for requirement in named:
        assert requirement.specifier.contains(Version(plugins[requirement.name]["version"])), requirement
        assert requirement.extras <= set(plugins[requirement.name].get("optional-dependencies", {})), requirement


def test_core_and_plugins_agree_on_the_range_of_each_other() -> None:
    ranges = {
        (requirement.name, str(requirement.specifier))
        for folder in [*PLUGINS, *ADAPTERS]
        for text in [
            *project(folder)["dependencies"],
            *(text for texts in project(folder).get("optional-dependencies", {}).values() for text in texts),
        ]
        if (requirement := Requirement(text)).name.startswith("srtk-") and str(requirement.specifier)
    }
    ranges |= {
        (r.name, str(r.specifier))
        for needs in extras().values()
        for r in needs
        if r.name.startswith("srtk-plugin-") and str(r.specifier)
    }
    assert {range_ for _, range_ in ranges} == {"<1,>=0.1"}
    assert Version(project(ROOT)["version"]) in Requirement("srtk-framework>=0.1,<1").specifier


@pytest.mark.parametrize("extra", ["local", "sparql", "wikidata", "dbpedia", "freebase", "train", "llm", "linkers"])
def test_each_extra_for_a_graph_or_a_method_is_enough_to_search(extra: str) -> None:
    assert {"srtk-plugin-local", "srtk-plugin-sr", "srtk-plugin-files"} <= set(brought(extra))


SHARED = {"chromium", "kit", "service"}
"""Modules in `tests`, which `make check-isolated` brings."""


def declared(name: str, extras: frozenset[str], seen: set[tuple[str, str]]) -> set[str]:
    """The distributions that a package of this repository needs with some extras, those of other packages of it too."""
    data = project(ROOT if name == "srtk-framework" else ROOT / "plugins" / name)
    texts = list(data["dependencies"])
    for extra in extras:
        texts += data.get("optional-dependencies", {}).get(extra, [])
    found = {name}
    for requirement in map(Requirement, texts):
        found.add(requirement.name)
        for extra in ("", *requirement.extras):
            if requirement.name.startswith("srtk-") and (requirement.name, extra) not in seen:
                seen.add((requirement.name, extra))
                found |= declared(requirement.name, frozenset({extra} - {""}), seen)
    return {canonicalize_name(one) for one in found}


def imported(folder: Path) -> set[str]:
    """The packages that the tests of a plugin import, without those that they can do without."""
    names: set[str] = set()
    for file in folder.rglob("*.py"):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        called = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
        optional = {
            ast.literal_eval(node.args[0]).partition(".")[0]
            for node in called
            if ast.unparse(node.func).endswith("importorskip")
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                names |= {alias.name.partition(".")[0] for alias in node.names} - optional
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names |= {node.module.partition(".")[0]} - optional
    own = {file.stem for file in folder.rglob("*.py")}
    return names - own - SHARED - set(sys.stdlib_module_names)


@pytest.mark.parametrize("folder", PLUGINS, ids=lambda folder: folder.name)
def test_the_tests_of_a_plugin_import_what_its_extra_for_testing_brings(folder: Path) -> None:
    brought = declared(folder.name, frozenset({"testing"}), set())
    known = packages_distributions()
    found = {name: {canonicalize_name(one) for one in known.get(name, [name])} for name in imported(folder / "tests")}
    assert {name for name, owners in found.items() if not owners & brought} == set()
