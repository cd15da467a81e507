from __future__ import annotations

import json
from pathlib import Path

from srtk_framework.host import known_names
from srtk_framework.host.known_drivers import distributions_of_command, drivers_declared_in, known_drivers, main

ROOT = Path(__file__).parents[2]


def test_the_table_of_known_drivers_is_that_of_the_plugins_here():
    assert drivers_declared_in(ROOT / "plugins") == known_drivers(), "run: make known-drivers"


def test_the_table_of_known_drivers_and_commands_is_written_from_entry_points(tmp_path, monkeypatch):
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "pyproject.toml").write_text(
        '[project]\nname = "b"\n[project.entry-points."srtk.expander"]\nz = "b:Z"\na = "b:A"\n'
        '[project.entry-points."srtk.command"]\nlist = "b.list"\n[project.entry-points.other]\nx = "b:X"\n'
    )
    monkeypatch.setattr("srtk_framework.host.known_drivers.files", lambda package: tmp_path)
    main(str(tmp_path))
    assert json.loads((tmp_path / "known_drivers.json").read_text()) == {
        "b": {"command": ["list"], "expander": ["a", "z"]}
    }


def test_a_command_is_found_by_its_first_word_as_it_is_written():
    assert distributions_of_command("graph") == {
        "srtk-plugin-local": ["graph build", "graph info", "graph update"],
        "srtk-plugin-sparql": ["graph load", "graph pull"],
        "srtk-plugin-views": ["graph hold-out"],
    }
    assert distributions_of_command("train") == {"srtk-plugin-sr": ["train"]}
    assert distributions_of_command("grap") == {}


def test_the_drivers_of_a_role_are_known_whether_installed_or_not(monkeypatch):
    table = {"srtk-plugin-b": {"encoder": ["z", "a"]}, "srtk-plugin-c": {"encoder": ["a"], "reader": ["r"]}}
    monkeypatch.setattr("srtk_framework.host.known_drivers.known_drivers", lambda: table)
    assert known_names("encoder") == ["a", "z"]
    assert known_names("nothing") == []
