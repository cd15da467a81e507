"""The reference pages are written from the docstrings, and are current."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

import srtk_framework
from srtk_framework import graph, values
from srtk_framework.cli import COMMANDS
from srtk_framework.roles import ROLES
from srtk_framework.roles.base import hook_names

DOCS = Path(__file__).parents[2] / "docs"
MARK = "<!-- written by docs/reference.py"
"""Stands on the generated pages, beside which others are written by hand."""


@pytest.fixture(scope="module")
def reference():
    spec = spec_from_file_location("docs_reference", DOCS / "reference.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def pages():
    """What would be written now, by a process of its own, as `make docs` does."""
    code = "import sys; sys.path.insert(0, 'docs'); import json, reference; print(json.dumps(reference.pages()))"
    done = subprocess.run([sys.executable, "-c", code], cwd=DOCS.parent, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def test_every_page_is_current(pages):
    files = [path for path in (DOCS / "reference").rglob("*.md") if MARK in path.read_text(encoding="utf-8")]
    written = {path.relative_to(DOCS / "reference").as_posix() for path in files}
    assert written == set(pages), "run: make docs, and delete what it no longer writes"
    for name, text in pages.items():
        assert text == (DOCS / "reference" / name).read_text(encoding="utf-8"), f"{name}: run: make docs"


def test_every_setting_of_every_driver_has_a_row_with_a_meaning(pages):
    rows = [
        (file, *row)
        for file, text in pages.items()
        if file.startswith("drivers/")
        for row in re.findall(r"^\| `(\w+)` \| (.+?) \| (.*) \|$", text, re.MULTILINE)
    ]
    assert len(rows) > 200
    assert not [row for row in rows if not row[3].strip()]


def test_every_command_has_an_entry_with_its_flags(pages):
    text = pages["commands.md"]
    for name in [*COMMANDS, "graph build", "train", "preprocess"]:
        assert f"\n## srtk {name}\n" in text
    assert "| `--max-depth" in text


def test_every_hook_of_every_role_has_an_entry_with_a_text(pages):
    text = pages["roles.md"]
    for cls in ROLES.values():
        for name in hook_names(cls):
            entry = re.search(rf"^### {cls.__name__}\.{name}\n(.*?)(?=^##|\Z)", text, re.MULTILINE | re.DOTALL)
            assert entry, f"{cls.__name__}.{name} is missing"
            assert len(entry[1].split("```")[2].strip()) > 20, f"{cls.__name__}.{name} has no text"


def test_every_public_value_and_helper_has_an_entry_with_a_text(pages):
    everything = pages["values.md"] + pages["helpers.md"]
    entries = {
        found[1]: found[2]
        for found in re.finditer(r"^#{2,3} (\w+)\n(.*?)(?=^##|\Z)", everything, re.MULTILINE | re.DOTALL)
    }
    for name in srtk_framework.__all__:
        if name in {*values.__all__, *graph.__all__}:
            assert len(entries[name].strip()) > 20, name


def test_a_docstring_in_googles_style_becomes_markdown(reference):
    def far(count: int, more: str = "a long text that fills the linex" * 3) -> list[int]:
        """Count ``far``.

        Args:
            count: How many,
                at most.
            more: What else.

        Returns:
            Numbers.

        Raises:
            ValueError: If ``count`` is wrong.
        """

    assert "\n".join(reference._prose(far.__doc__)) == (
        "Count `far`.\n\n**Arguments**\n\n- `count`: How many,\n  at most.\n- `more`: What else.\n\n"
        "**Returns**\n\nNumbers.\n\n**Raises**\n\n- `ValueError`: If `count` is wrong.\n"
    )
    assert reference._written("far", far).splitlines()[0] == "far("


def test_a_page_that_is_not_current_is_named(reference, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(reference, "FOLDER", tmp_path / "reference")
    monkeypatch.setattr(sys, "argv", ["reference.py", "--check"])
    assert reference.main() == 1
    assert "roles.md is not current; run: make docs" in capsys.readouterr().out
    monkeypatch.setattr(sys, "argv", ["reference.py"])
    assert reference.main() == 0
    monkeypatch.setattr(sys, "argv", ["reference.py", "--check"])
    assert reference.main() == 0
