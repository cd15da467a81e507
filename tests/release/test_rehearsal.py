"""The index of a release rehearsal, as pip reads it; nothing is fetched."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "release"))
from rehearsal import write_index  # noqa: E402


@pytest.fixture
def distributions(tmp_path: Path) -> Path:
    folder = tmp_path / "dist"
    folder.mkdir()
    for version in ("1.0", "1.1"):
        info = f"Acme_Search-{version}.dist-info"
        with zipfile.ZipFile(folder / f"Acme_Search-{version}-py3-none-any.whl", "w") as wheel:
            wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: Acme.Search\nVersion: {version}\n")
            wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
            wheel.writestr(f"{info}/RECORD", "")
    (folder / "Acme_Search-1.1.tar.gz").write_bytes(b"a source distribution")
    (folder / "notes.txt").write_text("not a distribution")
    return folder


def downloaded(index: Path, out: Path, *more: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--isolated", "--no-cache-dir"]
    command += ["--index-url", index.as_uri(), "--dest", str(out), *more]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_pip_installs_the_newest_version_by_any_spelling_of_the_name(distributions: Path, tmp_path: Path) -> None:
    assert write_index(distributions, tmp_path / "index") == ["acme-search"]
    done = downloaded(tmp_path / "index", tmp_path / "out", "acme_search")
    assert done.returncode == 0, done.stderr
    assert [file.name for file in (tmp_path / "out").iterdir()] == ["Acme_Search-1.1-py3-none-any.whl"]


def test_pip_refuses_a_file_that_was_changed_after_the_index_was_written(distributions: Path, tmp_path: Path) -> None:
    write_index(distributions, tmp_path / "index")
    file = tmp_path / "index" / "acme-search" / "Acme_Search-1.0-py3-none-any.whl"
    file.write_bytes(file.read_bytes() + b"x")
    done = downloaded(tmp_path / "index", tmp_path / "out", "acme-search==1.0")
    assert done.returncode != 0
    assert "DO NOT MATCH THE HASHES" in done.stderr


def test_an_index_holds_nothing_of_an_earlier_one(distributions: Path, tmp_path: Path) -> None:
    write_index(distributions, tmp_path / "index")
    (distributions / "Acme_Search-1.1-py3-none-any.whl").unlink()
    write_index(distributions, tmp_path / "index")
    files = {file.name for file in (tmp_path / "index" / "acme-search").iterdir()}
    assert files == {"index.html", "Acme_Search-1.0-py3-none-any.whl", "Acme_Search-1.1.tar.gz"}
