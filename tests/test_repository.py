from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from srtk_framework.host.versions import __version__

ROOT = Path(__file__).parents[1]
PLUGINS = sorted((ROOT / "plugins").glob("srtk-plugin-*"))


def project(folder: Path) -> dict:
    return tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@pytest.mark.parametrize("folder", [ROOT, *PLUGINS], ids=lambda folder: folder.name)
def test_versions_are_in_lockstep(folder):
    assert project(folder)["version"] == __version__


@pytest.mark.parametrize("folder", PLUGINS, ids=lambda folder: folder.name)
def test_a_plugin_is_named_after_its_folder_and_says_which_framework_it_is_for(folder):
    data = project(folder)
    assert data["name"] == folder.name
    needed = {one.name: one.specifier for one in map(Requirement, data["dependencies"])}
    assert needed["srtk-framework"] == SpecifierSet(">=0.1,<1")
    assert (folder / "README.md").read_text(encoding="utf-8").startswith(f"# {folder.name}")
    assert any((folder / "tests").glob("test_*.py"))


def test_a_report_of_a_test_with_lone_surrogates_can_be_sent_by_a_worker(request):
    report = pytest.TestReport("a.py::b", ("a.py", 1, "b"), {}, "failed", "half \ud800", "call", [("log", "\udcff")])
    sent = request.config.hook.pytest_report_to_serializable(config=request.config, report=report)
    assert sent["longrepr"] == "half \\ud800"
    assert sent["sections"] == [("log", "\\udcff")]
