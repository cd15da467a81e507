"""Pages about recipes, messages and SRTK's commands, held against what they are about."""

from __future__ import annotations

import argparse
import re
import shlex
from importlib import import_module
from pathlib import Path

import pytest

from srtk_framework.cli import find_command

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
ROW = re.compile(r"^\| (`+) ?(.+?) ?\1 \|", re.MULTILINE)
"""The code in the first cell of a row."""


def first_cells(page: str) -> list[str]:
    return [found[2] for found in ROW.finditer((DOCS / page).read_text(encoding="utf-8"))]


def test_every_recipe_is_explained() -> None:
    recipes = sorted(file.stem for file in (ROOT / "recipes").glob("*.yaml"))
    assert sorted(first_cells("reference/recipes.md")) == recipes


@pytest.fixture(scope="module")
def code() -> str:
    """The code of core and plugins, with the literals of a sentence joined."""
    files = [*(ROOT / "srtk_framework").rglob("*.py"), *(ROOT / "plugins").glob("*/srtk_plugin_*/**/*.py")]
    return re.sub(r'"\s*\n\s*f?"', "", "\n".join(file.read_text(encoding="utf-8") for file in files))


def test_every_message_of_the_troubleshooting_page_is_one_of_the_code(code: str) -> None:
    messages = first_cells("how-to/errors.md")
    assert len(messages) > 10
    assert [message for message in messages if message not in code] == []


@pytest.mark.parametrize("line", first_cells("how-to/from-srtk.md")[:6])
def test_a_command_of_srtk_is_understood(line: str) -> None:
    name, rest, module, _ = find_command(shlex.split(line)[1:])
    parser = argparse.ArgumentParser(prog=f"srtk {name}")
    import_module(module).add_arguments(parser)
    parser.parse_args(rest)
