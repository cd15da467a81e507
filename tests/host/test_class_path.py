"""A recipe may name a driver by its class, without a package."""

from __future__ import annotations

import json
import sys

import pytest

from srtk_framework.cli import main
from srtk_framework.host import load
from srtk_framework.values import PluginError

HOP = '''
import attrs
from srtk_framework.roles import Expander, KnowledgeGraph
from srtk_framework.values import Subgraph, Triple

@attrs.define
class Hop(Expander):
    """Take the first triple.

    Attributes:
        graph: Where to read.
        width: How many triples.
    """
    graph: KnowledgeGraph
    width: int = 1
    def expand(self, questions):
        import neighbour_of_hop
        rows = [[l.entity for l in q.links] for q in questions]
        starts = self.graph.frontiers(rows)
        steps = [row[:1] for row in self.graph.steps(starts, False)]
        return [Subgraph(tuple(self.graph.triples([s], row, None)[0][:self.width]), (neighbour_of_hop.SCORE,))
                for s, row in zip(starts, steps)]

@attrs.define
class Unfinished(Expander):
    """Lacks its method."""
    def start(self, questions): return []

class Plain:
    pass

@attrs.define
class Misspelt(Expander):
    """Calls its method by another name."""
    def expands(self, questions): return []

table = {}
'''


@pytest.fixture
def folder(tmp_path):
    at = tmp_path / "study"
    at.mkdir()
    (at / "study_hop.py").write_text(HOP)
    (at / "neighbour_of_hop.py").write_text("SCORE = 0.5\n")
    (at / "study_broken.py").write_text("import no_such_library\n")
    (at / "study_program.py").write_text("raise SystemExit('usage: study QUESTION')\n")
    before, path = set(sys.modules), list(sys.path)
    yield at
    sys.path[:] = path
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(tmp_path)):
            del sys.modules[name]


@pytest.fixture
def recipe(folder, toys):
    (folder / "q.txt").write_text("what about paris?\n")
    path = folder / "r.yaml"
    path.write_text(
        f"srtk: 1\nquestions: {folder}/q.txt\noutput: {folder}/run\nknowledge_graph: toy\nentity_linker: words\n"
        "expander: {use: 'study_hop.py:Hop', width: 1}\n"
    )
    return path


@pytest.mark.parametrize("target", ["study_hop.py:Hop", "./study_hop.py:Hop", "study_hop:Hop"])
def test_a_recipe_runs_a_class_that_stands_beside_it(recipe, folder, target):
    assert main(["run", str(recipe), "--quiet", "--set", f"expander.use={target}"]) == 0
    record = json.loads((folder / "run" / "journal" / "Hop.jsonl").read_text().splitlines()[0])
    assert record["triplets"] == [["paris", "capital_of", "france"]]
    kept = json.loads((folder / "run" / "manifest.json").read_text())
    assert list(kept["classes"]) == [target]
    assert len(kept["classes"][target]) == 64


def test_a_run_is_not_continued_with_a_class_that_was_changed(recipe, folder, capsys):
    assert main(["run", str(recipe), "--quiet"]) == 0
    assert main(["run", str(recipe), "--quiet", "--resume"]) == 0
    (folder / "study_hop.py").write_text(HOP + "\nCHANGED = True\n")
    assert main(["run", str(recipe), "--quiet", "--resume"]) == 2
    assert "holds a finished run that differs in the file of study_hop.py:Hop;" in capsys.readouterr().err


def test_a_class_is_found_from_the_current_folder(recipe, folder, tmp_path, monkeypatch):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    moved = elsewhere / "r.yaml"
    moved.write_text(recipe.read_text())
    monkeypatch.chdir(folder)
    assert main(["run", str(moved), "--quiet"]) == 0


def test_the_same_file_gives_the_same_class(folder):
    assert load("expander", "study_hop.py:Hop", folder) is load("expander", "./study_hop.py:Hop", folder)


def test_a_wrong_setting_of_such_a_class_has_its_place(recipe, capsys):
    assert main(["check", str(recipe), "--set", "expander.widht=3"]) == 2
    assert "expander 'study_hop.py:Hop' has no setting 'widht'" in capsys.readouterr().err


def test_check_needs_no_package_for_it(recipe, capsys):
    assert main(["check", str(recipe)]) == 0
    assert "pip install srtk-plugin-toys\n" in capsys.readouterr().out


def test_plugins_shows_such_a_class(recipe, folder, capsys):
    assert main(["plugins", "show", "expander", f"{folder}/study_hop.py:Hop"]) == 0
    out = capsys.readouterr().out
    assert "Take the first triple." in out
    assert "whole number (1)" in out


@pytest.mark.parametrize(
    ("target", "text"),
    [
        ("study_hop.py:Hopp", "has no class 'Hopp'. Did you mean 'Hop'"),
        ("none.py:Hop", "there is no file none.py in "),
        ("none.far:Hop", "there is no module 'none', neither installed nor in "),
        ("study_broken.py:Hop", "cannot be imported: ModuleNotFoundError: No module named 'no_such_library'"),
        ("study_broken:Hop", "cannot be imported: ModuleNotFoundError: No module named 'no_such_library'"),
        ("study_program.py:Hop", "cannot be imported: SystemExit: usage: study QUESTION"),
        ("study_program:Hop", "cannot be imported: SystemExit: usage: study QUESTION"),
        ("study_hop:Unfinished", "method step and result is missing"),
        (
            "study_hop:Plain",
            "Plain is not a subclass of srtk_framework.roles.Expander; write `class Plain(Expander)`",
        ),
        ("study_hop:Misspelt", "method 'expands' looks like the hook 'expand'; rename it"),
        ("study_hop:table", "it leads to a dict; name a class"),
    ],
)
def test_a_class_that_cannot_be_used_is_refused_with_the_reason(folder, target, text):
    with pytest.raises(PluginError) as caught:
        load("expander", target, folder)
    assert text in str(caught.value)
    assert "\n" not in str(caught.value)
