from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from srtk_framework.host.discovery import load
from srtk_framework.host.known_drivers import DRIVERS
from srtk_framework.host.versions import __version__
from srtk_framework.values import PluginError

ROOT = Path(__file__).parents[1]
PLUGINS = sorted((ROOT / "plugins").glob("srtk-plugin-*"))


def project(folder: Path) -> dict:
    return tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_the_table_of_known_drivers_is_that_of_the_plugins_here():
    found = {}
    for folder in PLUGINS:
        groups = project(folder).get("entry-points", {})
        roles = {group.removeprefix("srtk."): tuple(sorted(entries)) for group, entries in groups.items()}
        found[folder.name] = {role: names for role, names in roles.items() if role not in ("command", "observer")}
    assert found == DRIVERS


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
    assert "srtk-framework>=0.1,<1" in data["dependencies"]
    assert (folder / "README.md").read_text(encoding="utf-8").startswith(f"# {folder.name}")
    assert any((folder / "tests").glob("test_*.py"))
