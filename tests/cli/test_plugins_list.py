"""``srtk plugins`` lists what is installed, without importing it."""

from __future__ import annotations

import json
import sys

import pytest

from srtk_framework.cli import main

CODE = '''
"""A command that counts."""
raise ImportError("this module must not be imported")

class Far:
    """Count what is far.

    More of it.
    """

class Bare:
    pass
'''


@pytest.fixture
def listed(install):
    folder = install("srtk-plugin-far", "srtk_far", CODE, {"encoder": {"far": "Far", "bare": "Bare"}})
    entries = folder / "srtk_plugin_far-1.0.dist-info" / "entry_points.txt"
    entries.write_text(
        entries.read_text() + "[srtk.observer]\nwatch = srtk_far:Far\n"
        "[srtk.stage]\nfar = srtk_far:Far\n[srtk.command]\nfar.count = srtk_far\n"
    )
    return folder


def test_with_load_a_stage_that_cannot_be_loaded_is_broken(install, capsys):
    install("srtk-plugin-late", "srtk_late", "class Late: pass", {"stage": {"late": "Late"}})
    assert main(["plugins", "--load", "--json"]) == 1
    rows = {row["name"]: row["error"] for row in json.loads(capsys.readouterr().out)["stage"]}
    assert "is not a subclass of" in rows["late"]
    assert rows["evaluate"] is None


def test_the_list_has_distribution_class_and_summary(listed, capsys):
    assert main(["plugins", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {
        "name": "far",
        "distribution": "srtk-plugin-far",
        "version": "1.0",
        "class": "srtk_far:Far",
        "summary": "Count what is far.",
    } in found["encoder"]
    assert [row["summary"] for row in found["encoder"] if row["name"] == "bare"] == [""]
    assert "srtk_far:Far" in [row["class"] for row in found["observer"]]
    assert "srtk_far:Far" in [row["class"] for row in found["stage"]]
    command = next(row for row in found["command"] if row["name"] == "far count")
    assert command == {
        "name": "far count",
        "distribution": "srtk-plugin-far",
        "version": "1.0",
        "module": "srtk_far",
        "summary": "A command that counts.",
    }
    assert {"run", "plugins", "new"} <= {row["name"] for row in found["command"]}
    assert "srtk_far" not in sys.modules


def test_the_json_says_what_is_broken(listed, capsys):
    assert main(["plugins", "--json", "--load"]) == 1
    found = json.loads(capsys.readouterr().out)
    row = next(row for row in found["encoder"] if row["name"] == "far")
    assert "this module must not be imported" in row["error"]
    assert next(row for row in found["observer"] if row["name"] == "timing")["error"] is None


def test_help_describes_the_commands_of_plugins(listed, capsys):
    main(["--help"])
    assert "  far count        A command that counts.\n" in capsys.readouterr().out
