"""What ``srtk new`` writes: for each role a plugin that installs, is clean, and passes its conformance test."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from srtk_framework.roles import ROLES
from srtk_framework.scaffold import write_plugin
from srtk_framework.values import SrtkError

SITE = Path(sysconfig.get_path("purelib"))


def name_of(role: str) -> str:
    return f"my-{role.replace('_', '-')}"


def python(*arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **environment})


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("written")
    return {role: write_plugin(role, name_of(role), folder) for role in ROLES}


@pytest.fixture(scope="module")
def installed(written: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("installed")
    flags = ["--quiet", "--no-deps", "--no-index", "--no-build-isolation", "--disable-pip-version-check"]
    before = sorted(path.name for path in SITE.iterdir())
    done = python("-m", "pip", "install", *flags, "--target", target, *written.values())
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in SITE.iterdir()) == before
    return target


@pytest.mark.parametrize("role", sorted(ROLES))
def test_a_written_plugin_installs_and_passes_its_conformance_test(
    role: str, written: dict[str, Path], installed: Path
) -> None:
    flags = ["-q", "--strict-config", "-p", "no:cacheprovider", "-p", "no:randomly", "--rootdir", written[role]]
    done = python(
        "-m", "pytest", *flags, "-c", written[role] / "pyproject.toml", written[role], PYTHONPATH=str(installed)
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert " passed" in done.stdout


def test_written_plugins_are_clean(written: dict[str, Path]) -> None:
    ruff = [sys.executable, "-m", "ruff"]
    rules = "E,F,W,I,B,UP,SIM,RUF,C4,PIE,BLE,PT"
    for command in (["check", "--no-cache", "--extend-select", rules], ["format", "--no-cache", "--check"]):
        done = subprocess.run([*ruff, *command, *written.values()], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


def test_the_framework_finds_a_written_driver_by_its_name(installed: Path) -> None:
    code = "from srtk_framework.host import load; print(load('exporter', 'my-exporter').__module__)"
    done = python("-c", code, PYTHONPATH=str(installed))
    assert done.stdout == "srtk_plugin_my_exporter.exporter\n", done.stderr


def test_the_folder_is_named_after_the_plugin(tmp_path: Path) -> None:
    folder = write_plugin("encoder", "letters", tmp_path)
    assert folder == tmp_path / "srtk-plugin-letters"
    files = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
    assert files == [
        "README.md",
        "pyproject.toml",
        "srtk_plugin_letters/__init__.py",
        "srtk_plugin_letters/encoder.py",
        "tests/test_srtk_plugin_letters.py",
    ]


def test_no_place_of_a_template_is_left_open(written: dict[str, Path]) -> None:
    for folder in written.values():
        for path in folder.rglob("*"):
            assert "$" not in (path.read_text(encoding="utf-8") if path.is_file() else ""), path


def test_a_name_with_the_prefix_is_taken_without_it(tmp_path: Path) -> None:
    assert write_plugin("encoder", "srtk-plugin-letters", tmp_path).name == "srtk-plugin-letters"


@pytest.mark.parametrize("name", ["", "My-Graph", "my graph", "1st", "a--b", "-a", "a-", "../a", "ä", "a.b", "a\n"])
def test_a_name_that_no_module_can_have_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(SrtkError, match="cannot be the name of a plugin"):
        write_plugin("encoder", name, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_role_is_refused_with_the_nearest_one(tmp_path: Path) -> None:
    with pytest.raises(SrtkError, match="Did you mean 'knowledge_graph'"):
        write_plugin("knowlege_graph", "mine", tmp_path)


def test_a_folder_that_is_there_is_left_alone(tmp_path: Path) -> None:
    folder = write_plugin("encoder", "letters", tmp_path)
    folder.joinpath("README.md").write_text("mine", encoding="utf-8")
    with pytest.raises(SrtkError, match="is there already"):
        write_plugin("encoder", "letters", tmp_path)
    assert folder.joinpath("README.md").read_text(encoding="utf-8") == "mine"


def test_a_folder_that_cannot_be_written_is_an_error_and_leaves_nothing(tmp_path: Path) -> None:
    tmp_path.joinpath("file").write_text("", encoding="utf-8")
    with pytest.raises(SrtkError, match="cannot write"):
        write_plugin("encoder", "letters", tmp_path / "file")
