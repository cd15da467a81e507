from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from srtk_framework.host.discovery import load
from srtk_framework.host.known_drivers import drivers_declared_in, known_drivers, main
from srtk_framework.host.versions import __version__
from srtk_framework.values import PluginError

ROOT = Path(__file__).parents[1]
PLUGINS = sorted((ROOT / "plugins").glob("srtk-plugin-*"))


def project(folder: Path) -> dict:
    return tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_the_table_of_known_drivers_is_that_of_the_plugins_here():
    assert drivers_declared_in(ROOT / "plugins") == known_drivers(), "run: make known-drivers"


def test_the_table_of_known_drivers_is_written_from_entry_points(tmp_path, monkeypatch):
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "pyproject.toml").write_text(
        '[project]\nname = "b"\n[project.entry-points."srtk.expander"]\nz = "b:Z"\na = "b:A"\n'
        '[project.entry-points."srtk.command"]\nlist = "b.list"\n[project.entry-points.other]\nx = "b:X"\n'
    )
    monkeypatch.setattr("srtk_framework.host.known_drivers.files", lambda package: tmp_path)
    main(str(tmp_path))
    assert json.loads((tmp_path / "known_drivers.json").read_text()) == {"b": {"expander": ["a", "z"]}}


def test_a_known_driver_that_is_not_installed_names_its_distribution(monkeypatch):
    monkeypatch.setattr("srtk_framework.host.discovery.find", lambda role: [])
    with pytest.raises(PluginError, match="expander 'bfs' is not installed; run: pip install srtk-plugin-baselines"):
        load("expander", "bfs")


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
