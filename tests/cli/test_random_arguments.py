"""Any arguments are carried out, or refused in a sentence: never a traceback, and never "has a fault"."""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
from importlib import import_module
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from srtk_plugin_answers import demo_command

from srtk_framework.cli import COMMANDS, main, plugin_commands

# The commands that stood in the core at first: they take files, write files and start nothing that lasts.
MOVED = ("ask", "demo", "link", "new", "query", "retrieve", "schema", "visualize")
MODULES = {name: module for name, (module, _) in COMMANDS.items()}
MODULES |= {entry.name: entry.target for entry in plugin_commands() if entry.name in MOVED}
RECIPE = "srtk: 1\nquestions: q.jsonl\nknowledge_graph: toy\nentity_linker: words\nexpander: onehop\n"
QUESTION = {"id": "a", "question": "what about paris?", "question_entities": ["paris"], "answer_entities": ["france"]}
FILES = {
    "r.yaml": RECIPE,
    "q.jsonl": json.dumps(QUESTION) + "\n",
    "results.jsonl": json.dumps({**QUESTION, "triplets": [["paris", "capital_of", "france"]]}) + "\n",
    "bomb.yaml": "srtk: 1\na: &a [*a]\n",
    "broken.jsonl": '{"question": [1]}\n{"id": ',
    "empty": "",
}
VALUES = [*FILES, "none.yaml", "folder", "-1", "0", "3", "1e999", "x=1", "expander.use=toy", "budget.triples=.nan"]
VALUES += ["{use: ", "[[", "", " ", "\0", "é", "a=b=c", "expander", "onehop", "knowledge_graph", "toy", "--", "%s"]


def flags_of(command: str) -> list[str]:
    parser = argparse.ArgumentParser(add_help=False)
    import_module(MODULES[command]).add_arguments(parser)
    return sorted(flag for action in parser._actions for flag in action.option_strings)


@pytest.fixture
def folder(tmp_path: Path, toys: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"what about rome?\n")))
    # The programs that make the demo take seconds each, and see none of the arguments but a folder.
    monkeypatch.setattr(demo_command, "_program", lambda *_, **__: None)
    (tmp_path / "folder").mkdir()
    return tmp_path


@pytest.mark.parametrize("command", sorted(MODULES))
def test_any_arguments_are_carried_out_or_refused_in_a_sentence(command: str, folder: Path) -> None:
    word = st.sampled_from([*VALUES, *flags_of(command)])

    @settings(max_examples=60, deadline=None)
    @given(st.lists(word, max_size=6))
    def check(words: list[str]) -> None:
        for name, text in FILES.items():
            (folder / name).write_text(text, encoding="utf-8")
        shown = io.StringIO()
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(shown):
            try:
                status = main([command, *words])
            except SystemExit as end:  # argparse ends so
                status = end.code
        os.chdir(folder)
        assert status in (0, 1, 2), shown.getvalue()
        assert "has a fault" not in shown.getvalue()
        assert "Traceback" not in shown.getvalue() or "--traceback" in words

    check()
