"""What a distribution holds when it is built."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import zipfile
from email.parser import HeaderParser
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PLUGINS = sorted((ROOT / "plugins").glob("srtk-plugin-*"))


def built(folder: Path, target: str, out: Path) -> Path:
    command = [sys.executable, "-m", "hatchling", "build", "-t", target, "-d", str(out)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return next(out.iterdir())


@pytest.mark.parametrize("folder", [ROOT, *PLUGINS], ids=lambda folder: folder.name)
def test_a_wheel_has_its_licence_its_types_and_its_classifiers(folder: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(built(folder, "wheel", tmp_path)) as wheel:
        names = wheel.namelist()
        metadata = HeaderParser().parsestr(wheel.read(next(n for n in names if n.endswith("METADATA"))).decode())
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert any(name.count("/") == 1 and name.endswith("/py.typed") for name in names)
    assert not [name for name in names if "broken" in name or "/tests/" in name]
    assert metadata["License-Expression"] == "MIT"
    assert "Typing :: Typed" in (metadata.get_all("Classifier") or [])


def test_the_source_distribution_of_the_core_holds_the_core_alone(tmp_path: Path) -> None:
    with tarfile.open(built(ROOT, "sdist", tmp_path)) as archive:
        tops = {Path(name).parts[1] for name in archive.getnames()}
    assert tops == {
        "srtk_framework",
        "pyproject.toml",
        "README.md",
        "CHANGELOG.md",
        "LICENSE",
        "PKG-INFO",
        ".gitignore",
    }
