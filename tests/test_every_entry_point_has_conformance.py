"""No driver of a plugin in this repository is without a conformance class; and how such classes are found."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from srtk_framework.roles import Role
from srtk_framework.testing import covered_drivers, declared_drivers, registered_drivers

PLUGINS = Path(__file__).parent.parent / "plugins"


def drivers_of_this_repository() -> list[tuple[str, str, str]]:
    folders = {path.parent.name for path in PLUGINS.glob("*/pyproject.toml")}
    installed = [driver for driver in registered_drivers() if driver.distribution in folders]
    return sorted({*installed, *declared_drivers(PLUGINS)})


@cache
def covered(distribution: str) -> set[tuple[str, str]]:
    return covered_drivers(PLUGINS / distribution / "tests")


@pytest.mark.parametrize(("distribution", "role", "name"), drivers_of_this_repository())
def test_every_entry_point_has_a_conformance_class(distribution: str, role: str, name: str) -> None:
    assert (role, name) in covered(distribution), (
        f"no test file of plugins/{distribution}/tests has a class for the {role} {name!r};"
        f' write `class Test...(<Role>Conformance):` with `name = "{name}"`'
    )


def test_a_class_is_found_by_its_base_and_its_name(tmp_path: Path) -> None:
    tmp_path.joinpath("test_x.py").write_text(
        'class TestX(kit.EncoderConformance):\n    name: str = "x"\n\n\n'
        'class TestY(DatasetConformance):\n    name = "y"\n'
    )
    assert covered_drivers(tmp_path) == {("encoder", "x"), ("dataset", "y")}


@pytest.mark.parametrize(
    "source",
    [
        'class Mine(EncoderConformance):\n    name = "x"\n',
        'class TestX(Other):\n    name = "x"\n',
        "class TestX(EncoderConformance):\n    pass\n",
    ],
)
def test_a_class_that_pytest_would_not_run_for_the_driver_does_not_count(tmp_path: Path, source: str) -> None:
    tmp_path.joinpath("test_x.py").write_text(source)
    assert covered_drivers(tmp_path) == set()


def test_declared_drivers_are_read_from_the_project_file(tmp_path: Path) -> None:
    tmp_path.joinpath("srtk-plugin-x").mkdir()
    tmp_path.joinpath("srtk-plugin-x", "pyproject.toml").write_text(
        '[project]\nname = "srtk-plugin-x"\n\n[project.entry-points."srtk.encoder"]\nx = "x:X"\n'
    )
    assert declared_drivers(tmp_path) == [("srtk-plugin-x", "encoder", "x")]


def test_roles_of_third_parties_are_looked_for_too(tmp_path: Path) -> None:
    seer = {"seer": type("Seer", (Role,), {"role": "seer"})}
    tmp_path.joinpath("test_x.py").write_text('class TestX(SeerConformance):\n    name = "x"\n')
    tmp_path.joinpath("srtk-plugin-x").mkdir()
    tmp_path.joinpath("srtk-plugin-x", "pyproject.toml").write_text(
        '[project]\nname = "srtk-plugin-x"\n\n[project.entry-points."srtk.seer"]\nx = "x:X"\n'
    )
    assert covered_drivers(tmp_path, seer) == {("seer", "x")}
    assert declared_drivers(tmp_path, seer) == [("srtk-plugin-x", "seer", "x")]
    assert covered_drivers(tmp_path) == set()
