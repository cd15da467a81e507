from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from srtk_framework.host.versions import __version__

ROOT = Path(__file__).parents[1]
PLUGINS = sorted((ROOT / "plugins").glob("srtk-plugin-*"))
ADAPTERS = sorted(folder.parent for folder in ROOT.glob("adapters/*/pyproject.toml"))


def project(folder: Path) -> dict:
    return tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@pytest.mark.parametrize("folder", [ROOT, *PLUGINS, *ADAPTERS], ids=lambda folder: folder.name)
def test_versions_are_in_lockstep(folder):
    assert project(folder)["version"] == __version__


@pytest.mark.parametrize("folder", [*PLUGINS, *ADAPTERS], ids=lambda folder: folder.name)
def test_a_plugin_or_adapter_is_named_after_its_folder_and_says_which_framework_it_is_for(folder):
    data = project(folder)
    assert data["name"] == folder.name
    needed = {one.name: one.specifier for one in map(Requirement, data["dependencies"])}
    assert needed["srtk-framework"] == SpecifierSet(">=0.1,<1")
    assert (folder / "README.md").read_text(encoding="utf-8").startswith(f"# {folder.name}")
    assert any((folder / "tests").glob("test_*.py"))


def test_the_hooks_before_a_commit_and_a_push_check_what_make_lint_checks():
    target = (ROOT / "Makefile").read_text(encoding="utf-8").partition("\nlint: ")[2].partition("\n\n")[0]
    checks = {line.removeprefix("\t$(BIN)/") for line in target.splitlines()[1:]}
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))["repos"]
    assert [one["repo"] for one in hooks] == ["local"]
    called = {hook["entry"].removeprefix(".venv/bin/") for hook in hooks[0]["hooks"]}
    # A hook mends what `make lint` only reports, and is given single files, of which some are excluded.
    assert {re.sub(r" --(force-exclude|fix)", "", entry) for entry in called} == {
        check.removesuffix(" .").removesuffix(" --check") for check in checks
    }
    assert "lint-imports" in checks


def test_each_test_that_ci_names_is_there():
    named = re.findall(r"(?:tests|plugins)/[\w/.-]+\.py(?:::\w+)?", (ROOT / ".ci" / "run").read_text(encoding="utf-8"))
    assert named
    for file, _, test in (one.partition("::") for one in named):
        assert f"def {test}" in (ROOT / file).read_text(encoding="utf-8")


def test_a_report_of_a_test_with_lone_surrogates_can_be_sent_by_a_worker(request):
    report = pytest.TestReport("a.py::b", ("a.py", 1, "b"), {}, "failed", "half \ud800", "call", [("log", "\udcff")])
    sent = request.config.hook.pytest_report_to_serializable(config=request.config, report=report)
    assert sent["longrepr"] == "half \\ud800"
    assert sent["sections"] == [("log", "\\udcff")]
