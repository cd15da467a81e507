"""Every code block of the README files and of docs/ does what it says: recipes compose, commands parse, Python runs."""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml

from srtk_framework.cli import find_command
from srtk_framework.recipe.recipe import parse
from srtk_framework.roles import ROLES
from srtk_framework.run.session import Session

ROOT = Path(__file__).parents[2]
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted(ROOT.glob("docs/**/*.md")),
    *sorted(ROOT.glob("plugins/*/README.md")),
    *sorted(ROOT.glob("adapters/*/README.md")),
]
COMMENT = re.compile(r"(^|\s+)#.*$")

KEYS = {"questions", "exporters", "budget", "train", "evaluate", *ROLES, *(role.plural for role in ROLES.values())}

# What a fragment of a recipe may leave to its reader.
REST = {
    "knowledge_graph": {"use": "memory", "triples": [["a", "r", "b"]]},
    "encoder": {"use": "transformers", "model": "minilm"},
    "generator": {"use": "encoder-chooser"},
    "path_scorer": {"use": "dense"},
    "entity_linker": {"use": "dictionary"},
    "supervision": {"use": "gold-path"},
    "expander": {"use": "beam"},
}


class Block(NamedTuple):
    """A code block: where it stands, what language it is in, and its text."""

    place: str
    language: str
    text: str


def blocks(*languages: str) -> list[Block]:
    return [block for page in PAGES for block in _of_page(page) if block.language in languages]


def runs_elsewhere(block: Block) -> bool:
    """Whether test_tutorials.py runs the block in its place: Python, and files that its commands read."""
    page, line = block.place.split(":")
    text = (ROOT / page).read_text(encoding="utf-8")
    if not page.startswith("docs/tutorials/") and "<!-- tests run this page" not in text:
        return False
    before = text.splitlines()[: int(line) - 1]
    return block.language == "python" or "".join(before[-2:]).endswith("`:")


def _of_page(page: Path) -> Iterator[Block]:
    text = page.read_text(encoding="utf-8")
    for found in re.finditer(r"^```([\w-]*)\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        line = text[: found.start()].count("\n") + 1
        yield Block(f"{page.relative_to(ROOT)}:{line}", found[1], found[2])


def alternatives(text: str) -> Iterator[str]:
    """Yield the recipes of a block: one, or several where a key of the top level stands there several times."""
    parts: list[list[str]] = []
    for line in text.splitlines():
        key = re.match(r"(\w+):", line)
        if key and any(part[0].startswith(key[0]) for part in parts):
            yield "\n".join(row for part in parts for row in part)
            parts = []
        if key or not parts:
            parts.append([line])
        else:
            parts[-1].append(line)
    yield "\n".join(row for part in parts for row in part)


@pytest.mark.parametrize("block", [b for b in blocks("yaml") if not runs_elsewhere(b)], ids=lambda block: block.place)
def test_a_recipe_of_the_docs_composes(block: Block, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in re.findall(r"\{env: (\w+)\}", block.text):
        monkeypatch.setenv(name, "secret")
    for text in alternatives(block.text):
        given = yaml.safe_load(text)
        assert isinstance(given, dict), f"{block.place}: this is no recipe, nor a part of one"
        if not set(given) & KEYS:
            pytest.skip("no recipe: the settings file of a driver, which the tests of its plugin read")
        rest = {key: value for key, value in REST.items() if key not in given and f"{key}s" not in given}
        rest |= {} if "srtk" in given else {"srtk": 1}
        recipe = parse(text + "\n" + yaml.safe_dump(rest), block.place)
        Session(recipe)


def commands(block: Block) -> Iterator[list[str]]:
    for line in block.text.splitlines():
        for part in re.split(r"&&|\|\|", COMMENT.sub("", line)):
            if words := shlex.split(part):
                yield words


@pytest.mark.parametrize("block", blocks("", "sh", "bash"), ids=lambda block: block.place)
def test_a_command_of_the_docs_is_understood(block: Block, capsys: pytest.CaptureFixture[str]) -> None:
    if "─" in block.text:
        pytest.skip("a drawing")
    for words in commands(block):
        if words[0] == "srtk":
            name, rest, module, _ = find_command(words[1:])
            command = import_module(module)
            parser = argparse.ArgumentParser(prog=f"srtk {name}")
            command.add_arguments(parser)
            parser.parse_args(rest)
        elif words[0] == "make":
            assert re.search(rf"^{words[1]}:", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE), words
        elif words[0] == "python":
            file = f"{words[2].replace('.', '/')}.py" if words[1] == "-m" else words[1]
            assert (ROOT / file).is_file(), words
        else:
            others = ("export", "pip", "pytest", "git", "apt-get", "cmp", "curl", "echo", "cat")
            assert words[0] in others, f"{block.place}: what is {words[0]}?"


@pytest.mark.parametrize("page", sorted({b.place.split(":")[0] for b in blocks("python") if not runs_elsewhere(b)}))
def test_the_python_of_a_page_runs(page: str, tmp_path: Path) -> None:
    """The blocks of a page are one program, in a folder with the files that the pages speak of."""
    (tmp_path / "graph.csv").write_text("riga,capital_of,latvia\nlatvia,currency,euro\n", encoding="utf-8")
    (tmp_path / "films.csv").write_text("subject,relation,object\nAlien,directed by,Ridley Scott\n", encoding="utf-8")
    (tmp_path / "recipe.yaml").write_text(
        "srtk: 1\n"
        "knowledge_graph: {use: local, path: build/films, build: {files: [graph.csv], format: csv}}\n"
        "entity_linker: {use: dictionary}\nexpander: {use: bfs, depth: 2}\n",
        encoding="utf-8",
    )
    asked = {"id": "1", "question": "Where?", "question_entities": ["riga"]}
    record = {**asked, "answer_entities": ["latvia"], "gold_paths": [["capital_of"]], "kind": "one"}
    files = {
        "questions": {},
        "training_examples": {"paths": [["capital_of"]], "path_scores": [1.0], "path_entities": ["riga"]},
        "ours": {"triplets": [["riga", "capital_of", "latvia"]]},
        "theirs": {"triplets": [["latvia", "currency", "euro"]]},
    }
    for name, more in files.items():
        (tmp_path / f"{name}.jsonl").write_text(json.dumps(record | more) + "\n", encoding="utf-8")
    program = "\n\n".join(block.text for block in blocks("python") if block.place.split(":")[0] == page)
    (tmp_path / "page.py").write_text(program, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-W", "error", "page.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr[-3000:]
