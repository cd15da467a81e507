"""No command and no file that people open shows a text that steers the terminal as it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.reliability.hostile_texts import TEXTS, raw, sweep

ROOT = Path(__file__).parents[1]


@pytest.mark.slow
@pytest.mark.parametrize("terminal", [False, True])
def test_no_command_shows_a_hostile_text_raw(terminal: bool, tmp_path: Path) -> None:
    found = sweep(tmp_path, 1, terminal)
    assert len(found) >= 18
    assert {name: parts for name, parts in found.items() if parts} == {}


@pytest.mark.parametrize("text", [text for name, text in TEXTS.items() if name != "markup"])
def test_the_sweep_finds_each_text_where_it_is_raw(text: str) -> None:
    assert raw(f"before\n{text}\n") != []
    assert raw(f"before\n{text}\n", True) != []


def test_only_the_one_console_makes_consoles() -> None:
    files = [*ROOT.glob("srtk_framework/**/*.py"), *ROOT.glob("plugins/*/srtk_plugin_*/**/*.py")]
    own = {file for file in files if "import Console" in file.read_text(encoding="utf-8")}
    assert own == {ROOT / "srtk_framework/values/screen.py"}
