"""What ``srtk new`` writes: for each role and kind a plugin that installs, is clean, and passes its own test."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import tomllib
from pathlib import Path
from typing import Any

import pytest
from srtk_plugin_authoring.scaffold import KINDS, write_plugin

from srtk_framework.cli import main
from srtk_framework.roles import ROLES
from srtk_framework.values import SrtkError

SITE = Path(sysconfig.get_path("purelib"))
EVERYTHING = sorted([*ROLES, *KINDS])


def slow(kind: str) -> Any:
    return pytest.param(kind, marks=pytest.mark.slow)


def name_of(kind: str) -> str:
    return f"my-{kind.replace('_', '-')}"


def python(*arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **environment})


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("written")
    return {kind: write_plugin(kind, name_of(kind), folder) for kind in EVERYTHING}


@pytest.fixture(scope="module")
def installed(written: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("installed")
    flags = ["--quiet", "--no-deps", "--no-index", "--no-build-isolation", "--disable-pip-version-check"]
    before = sorted(path.name for path in SITE.iterdir())
    done = python("-m", "pip", "install", *flags, "--target", target, *written.values())
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in SITE.iterdir()) == before
    return target


FLAGS = ("-q", "--strict-config", "-p", "no:cacheprovider", "-p", "no:randomly")


@pytest.fixture(scope="module")
def said(written: dict[str, Path], installed: Path) -> str:
    """Run the tests of all written plugins in one process, whose settings are those of the first."""
    first, *_ = written.values()
    place = ["-c", first / "pyproject.toml", "--rootdir", first.parent, "-rA"]
    return python("-m", "pytest", *FLAGS, *place, *written.values(), PYTHONPATH=str(installed)).stdout


@pytest.mark.parametrize("kind", EVERYTHING)
def test_a_written_plugin_installs_and_passes_its_test(kind: str, written: dict[str, Path], said: str) -> None:
    file = f"test_{written[kind].name.replace('-', '_')}.py::"
    outcomes = [line.split()[0] for line in said.splitlines() if file in line]
    assert "PASSED" in outcomes, said
    assert set(outcomes) <= {"PASSED", "SKIPPED"}, said


@pytest.mark.parametrize("kind", [kind if kind == "encoder" else slow(kind) for kind in EVERYTHING])
def test_a_written_plugin_passes_its_test_by_its_own_settings(
    kind: str, written: dict[str, Path], installed: Path
) -> None:
    place = ["--rootdir", written[kind], "-c", written[kind] / "pyproject.toml"]
    done = python("-m", "pytest", *FLAGS, *place, written[kind], PYTHONPATH=str(installed))
    assert done.returncode == 0, done.stdout + done.stderr
    assert " passed" in done.stdout


def test_written_plugins_are_clean(written: dict[str, Path]) -> None:
    ruff = [sys.executable, "-m", "ruff"]
    rules = "E,F,W,I,B,UP,SIM,RUF,C4,PIE,BLE,PT"
    for command in (["check", "--no-cache", "--extend-select", rules], ["format", "--no-cache", "--check"]):
        done = subprocess.run([*ruff, *command, *written.values()], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


def test_written_plugins_are_typed(written: dict[str, Path], installed: Path, tmp_path: Path) -> None:
    packages = sorted(folder / f"srtk_plugin_my_{kind}" for kind, folder in written.items())
    done = python("-m", "mypy", "--strict", "--cache-dir", tmp_path, *packages)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_framework_finds_a_written_driver_by_its_name(installed: Path) -> None:
    code = "from srtk_framework.host import load; print(load('exporter', 'my-exporter').__module__)"
    done = python("-c", code, PYTHONPATH=str(installed))
    assert done.stdout == "srtk_plugin_my_exporter.exporter\n", done.stderr


def test_written_plugins_are_listed_with_their_summaries(installed: Path) -> None:
    done = python("-m", "srtk_framework", "plugins", "--json", PYTHONPATH=str(installed))
    found = json.loads(done.stdout)
    shown = {(kind, row["name"]): row["summary"] for kind, rows in found.items() for row in rows}
    assert shown["command", "my-command"] == "Count the relations in the results of a run."
    assert shown["observer", "my-observer"].startswith("Count the calls of each hook")
    assert all(shown[role, name_of(role)] for role in ROLES)


def test_the_wheel_has_licence_and_type_marker(written: dict[str, Path], installed: Path) -> None:
    assert (installed / "srtk_plugin_my_encoder" / "py.typed").is_file()
    assert list(installed.glob("srtk_plugin_my_encoder-*.dist-info/licenses/LICENSE"))


@pytest.mark.parametrize("kind", ["path_scorer", *KINDS])
def test_a_plugin_is_written_where_pytest_is_not_installed(kind: str, tmp_path: Path) -> None:
    code = (
        "import sys\n"
        "sys.modules['pytest'] = sys.modules['hypothesis'] = None\n"
        "from srtk_framework.cli import main\n"
        f"code = main(['new', {kind!r}, 'mine', '--in', {str(tmp_path)!r}])\n"
        "assert not any(name.startswith('srtk_framework.testing') for name in sys.modules), 'the kit was imported'\n"
        "sys.exit(code)\n"
    )
    done = python("-c", code)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "srtk-plugin-mine" / "tests" / "test_srtk_plugin_mine.py").is_file()


def test_the_folder_is_named_after_the_plugin(tmp_path: Path) -> None:
    folder = write_plugin("encoder", "letters", tmp_path)
    assert folder == tmp_path / "srtk-plugin-letters"
    files = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
    assert files == [
        ".github/workflows/check.yml",
        ".gitignore",
        "LICENSE",
        "README.md",
        "pyproject.toml",
        "srtk_plugin_letters/__init__.py",
        "srtk_plugin_letters/encoder.py",
        "srtk_plugin_letters/py.typed",
        "tests/test_srtk_plugin_letters.py",
    ]


def test_the_project_requires_what_its_driver_imports(written: dict[str, Path]) -> None:
    def requirements(kind: str) -> list[str]:
        data = tomllib.loads((written[kind] / "pyproject.toml").read_text(encoding="utf-8"))
        return [need.split(">")[0] for need in data["project"]["dependencies"]]

    assert requirements("encoder") == ["attrs", "numpy", "srtk-framework"]
    assert requirements("path_scorer") == ["attrs", "srtk-framework"]
    assert requirements("command") == ["srtk-framework"]


def test_no_trace_of_the_toy_or_of_a_template_is_left(written: dict[str, Path]) -> None:
    for folder in written.values():
        for path in folder.rglob("*"):
            written_here = path.is_file() and "__pycache__" not in path.parts  # tests before this one import modules
            text = path.read_text(encoding="utf-8") if written_here else ""
            assert "$" not in text, path
            assert "toy" not in text.lower(), path


def test_written_plugins_import_public_names_only(written: dict[str, Path]) -> None:
    for folder in written.values():
        for path in folder.rglob("*.py"):
            lines = [line for line in path.read_text(encoding="utf-8").splitlines() if "srtk_framework" in line]
            modules = [line.split()[1] for line in lines if line.startswith(("import ", "from "))]
            assert all(module.count(".") <= 1 for module in modules), (path, modules)


def test_the_next_step_that_is_printed_installs_what_the_test_needs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["new", "encoder", "letters", "--in", str(tmp_path)]) == 0
    folder = tmp_path / "srtk-plugin-letters"
    assert f"next: pip install -e '{folder}[testing]' && pytest {folder}\n" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["run", "new"])
def test_a_command_that_the_core_or_a_plugin_has_is_refused(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["new", "command", name, "--in", str(tmp_path)]) == 2
    assert f"`srtk {name}` exists already" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("kind", "name"), [("path_scorer", "dense"), ("view", "srtk-plugin-masked")])
def test_the_name_of_another_driver_of_the_role_is_refused(
    kind: str, name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["new", kind, name, "--in", str(tmp_path)]) == 2
    assert f"{name.removeprefix('srtk-plugin-')!r} already; choose another name" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_name_with_the_prefix_is_taken_without_it(tmp_path: Path) -> None:
    assert write_plugin("encoder", "srtk-plugin-letters", tmp_path).name == "srtk-plugin-letters"


@pytest.mark.parametrize(
    "name", ["", "My-Graph", "my graph", "1st", "a--b", "-a", "a-", "../a", "ä", "a.b", "a\n", "demo_x", "a_"]
)
def test_a_name_that_breaks_the_rule_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(SrtkError, match="cannot be the name of a plugin"):
        write_plugin("encoder", name, tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("wrong", "right"), [("knowlege_graph", "knowledge_graph"), ("obsever", "observer")])
def test_an_unknown_kind_is_refused_with_the_nearest_one(wrong: str, right: str, tmp_path: Path) -> None:
    with pytest.raises(SrtkError, match=f"Did you mean '{right}'"):
        write_plugin(wrong, "mine", tmp_path)


def test_a_folder_that_exists_is_left_alone(tmp_path: Path) -> None:
    folder = write_plugin("encoder", "letters", tmp_path)
    folder.joinpath("README.md").write_text("mine", encoding="utf-8")
    with pytest.raises(SrtkError, match="exists already"):
        write_plugin("encoder", "letters", tmp_path)
    assert folder.joinpath("README.md").read_text(encoding="utf-8") == "mine"


def test_a_folder_that_cannot_be_written_is_an_error_and_leaves_nothing(tmp_path: Path) -> None:
    tmp_path.joinpath("file").write_text("", encoding="utf-8")
    with pytest.raises(SrtkError, match="cannot write"):
        write_plugin("encoder", "letters", tmp_path / "file")
