"""`srtk completion`: a script that a shell completes commands, flags and file names by."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from srtk_framework.cli import COMMANDS, main, plugin_commands

BASH = shutil.which("bash")


def completed(script: Path, *words: str) -> list[str]:
    """Return what bash offers for the last word."""
    ask = 'COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _shtab_srtk; printf "%s\n" "${COMPREPLY[@]}"'
    code = f"source {script}; {ask}"
    done = subprocess.run([str(BASH), "-c", code, "bash", *words], capture_output=True, text=True, check=True)
    return done.stdout.split()


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if BASH is None:
        pytest.skip("bash is not installed")
    file = tmp_path_factory.mktemp("completion") / "srtk.bash"
    command = [sys.executable, "-m", "srtk_framework", "completion", "bash"]
    file.write_text(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    return file


def test_every_command_is_offered(script: Path) -> None:
    first = {entry.name.split(".")[0] for entry in plugin_commands()}
    assert {*COMMANDS, *first} <= set(completed(script, "srtk", ""))


def test_the_second_word_of_a_command_is_offered(script: Path) -> None:
    assert {"build", "info"} <= set(completed(script, "srtk", "graph", ""))


def test_the_flags_of_a_command_are_offered(script: Path) -> None:
    assert {"--fresh", "--resume"} <= set(completed(script, "srtk", "run", "--"))
    assert "--out" in completed(script, "srtk", "graph", "build", "--o")


def test_a_recipe_is_completed_as_a_file(script: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "films.yaml").touch()
    monkeypatch.chdir(tmp_path)
    assert completed(script, "srtk", "run", "fil") == ["films.yaml"]


@pytest.mark.parametrize("shell", ["zsh", "tcsh"])
def test_other_shells_get_a_script_too(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == 0
    shown = capsys.readouterr().out
    assert "srtk" in shown
    assert all(name in shown for name in COMMANDS)


def test_without_shtab_the_line_that_installs_it_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "shtab", None)
    assert main(["completion", "bash"]) == 2
    assert "pip install 'srtk-framework[completion]'" in capsys.readouterr().err
