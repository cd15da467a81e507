from __future__ import annotations

import json
import subprocess
import sys
from contextlib import suppress

import pytest

from srtk_framework.cli import main, plugin_commands

HEAVY = ("torch", "transformers", "SPARQLWrapper", "numpy", "duckdb", "networkx", "rich", "yaml")


def modules_after(code: str) -> set[str]:
    text = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys, json; print(json.dumps(sorted(sys.modules)))"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    return set(json.loads(text.splitlines()[-1]))


def test_help_imports_nothing_heavy():
    assert not modules_after("from srtk_framework.cli import main; main(['--help'])") & set(HEAVY)


def test_importing_the_core_loads_neither_torch_nor_a_sparql_client():
    code = "import srtk_framework, srtk_framework.run.session, srtk_framework.run.runner; srtk_framework.open"
    assert not modules_after(code) & {"torch", "transformers", "SPARQLWrapper", "networkx"}


def test_help_lists_the_commands(capsys):
    assert main(["--help"]) == 0
    assert "visualize" in capsys.readouterr().out


@pytest.mark.parametrize("command", [[], ["check"], ["doctor"], ["ask"], ["graph", "build"]])
@pytest.mark.parametrize("columns", [80, 66])
def test_help_fits_the_screen(capsys, monkeypatch, command, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    with suppress(SystemExit):
        main([*command, "--help"])
    text = capsys.readouterr().out
    assert max(map(len, text.splitlines())) <= columns
    assert len(text.splitlines()) > 10


def test_help_says_so_when_the_old_package_of_that_name_is_installed(capsys, install):
    assert main(["--help"]) == 0
    assert "pip uninstall srtk" not in capsys.readouterr().out
    install("srtk", "old_srtk", "", {})
    assert main(["--help"]) == 0
    assert "pip uninstall srtk" in capsys.readouterr().out


def test_an_unknown_command_is_told_with_close_matches(capsys):
    assert main(["retreive"]) == 2
    assert "Did you mean 'retrieve'" in capsys.readouterr().err


@pytest.mark.usefixtures("toys")
class TestWithToys:
    @pytest.fixture
    def recipe(self, tmp_path):
        (tmp_path / "q.txt").write_text("what about paris?\nwhat about rome?\n")
        path = tmp_path / "r.yaml"
        path.write_text(
            f"srtk: 1\nquestions: {tmp_path}/q.txt\noutput: {tmp_path}/run\nknowledge_graph: toy\n"
            f"entity_linker: words\nexpander: onehop\nexporters: [{{use: lines, path: {tmp_path}/out.txt}}]\n"
            "observers: [timing]\n"
        )
        return path

    def test_run_prints_where_things_are(self, recipe, capsys):
        assert main(["run", str(recipe)]) == 0
        out = capsys.readouterr().out
        assert "2 questions, 0 failed" in out
        assert "expander:onehop.expand" in out

    def test_check_lists_the_plugins_to_install(self, recipe, capsys):
        assert main(["check", str(recipe)]) == 0
        assert "pip install srtk-plugin-toys" in capsys.readouterr().out

    def test_check_tells_all_mistakes_with_their_places(self, recipe, capsys):
        recipe.write_text(recipe.read_text().replace("onehop", "onehopp").replace("words", "word"))
        assert main(["check", str(recipe)]) == 2
        err = capsys.readouterr().err
        assert f"{recipe}:5:1: no entity_linker is called 'word'" in err
        assert f"{recipe}:6:1: no expander is called 'onehopp'" in err

    def test_mistakes_of_the_recipe_and_of_its_drivers_are_told_together(self, recipe, capsys):
        command = ["check", str(recipe), "--set", "budget.triples=x", "--set", "expander={use: onehop, widht: 3}"]
        assert main(command) == 2
        err = capsys.readouterr().err
        assert "--set budget.triples=x: expected whole number, got 'x'" in err
        assert "Did you mean 'width'" in err

    def test_a_mistake_in_the_second_recipe_is_told_before_the_first_has_run(self, recipe, tmp_path, capsys):
        other = tmp_path / "other.yaml"
        other.write_text(recipe.read_text().replace("onehop", "onehopp"))
        assert main(["run", str(recipe), str(other)]) == 2
        assert not (tmp_path / "run").exists()

    def test_plugins_shows_settings_and_needs(self, capsys):
        assert main(["plugins", "show", "expander", "onehop"]) == 0
        out = capsys.readouterr().out
        assert "needs a knowledge_graph" in out
        assert "whole number (3)" in out
        assert "Unused number" in out

    def test_plugins_load_marks_broken_drivers(self, capsys):
        assert main(["plugins", "--load"]) == 1
        out = capsys.readouterr().out
        shown = [line.split() for line in out.splitlines()]
        at = shown.index(["onehop", "Reads", "one", "or", "two", "hops."])
        assert shown[at + 1 : at + 3] == [["srtk-plugin-toys", "1.0,", "srtk_toys:OneHop"], ["loads"]]
        assert "BROKEN: encoder 'loose'" in out

    def test_a_run_in_which_every_question_fails_exits_with_1(self, recipe, tmp_path, capsys):
        (tmp_path / "q.txt").write_text("nothing here\n")
        assert main(["run", str(recipe), "--quiet"]) == 1
        assert "1 of 1 questions failed" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["graph", "build", "x.csv"],
            "`srtk graph build` of srtk-plugin-local is not installed; run: pip install srtk-plugin-local",
        ),
        (["train"], "`srtk train` of srtk-plugin-sr is not installed; run: pip install srtk-plugin-sr"),
        (["ask", "a.csv"], "`srtk ask` of srtk-plugin-answers is not installed; run: pip install srtk-plugin-answers"),
        (
            ["graph"],
            "`srtk graph build`, `srtk graph info`, `srtk graph update` of srtk-plugin-local and `srtk graph load`,"
            " `srtk graph pull` of srtk-plugin-sparql and `srtk graph hold-out` of srtk-plugin-views are not installed;"
            " run: pip install srtk-plugin-local srtk-plugin-sparql srtk-plugin-views",
        ),
    ],
)
def test_a_command_of_a_plugin_that_is_not_installed_is_named_with_its_plugin(capsys, monkeypatch, arguments, said):
    monkeypatch.setattr("srtk_framework.cli.plugin_commands", list)
    assert main(arguments) == 2
    assert capsys.readouterr().err == f"srtk: error: {said}\n"


def test_a_command_of_one_plugin_is_named_where_another_with_its_first_word_is_installed(capsys, monkeypatch):
    installed = [entry for entry in plugin_commands() if entry.name == "graph.build"]
    monkeypatch.setattr("srtk_framework.cli.plugin_commands", lambda: installed)
    assert main(["graph", "pull"]) == 2
    assert "pip install srtk-plugin-sparql" in capsys.readouterr().err
    assert main(["graph", "draw"]) == 2
    assert capsys.readouterr().err == "srtk: error: `srtk graph` needs a second word: graph build\n"


def test_all_that_a_recipe_lacks_is_installed_by_one_line(capsys, monkeypatch, tmp_path):
    monkeypatch.setattr("srtk_framework.host.discovery.find", lambda role: [])
    recipe = tmp_path / "recipe.yaml"
    recipe.write_text(
        "srtk: 1\nknowledge_graph: {use: local, path: x}\nexpander: {use: bfs}\nexporters: [{use: jsonl, path: o}]\n"
    )
    assert main(["check", str(recipe)]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert lines[-1] == (
        "srtk: all of them at once: pip install srtk-plugin-baselines srtk-plugin-files srtk-plugin-local"
    )
    assert sum("not installed" in line for line in lines) == 3
    recipe.write_text("srtk: 1\nknowledge_graph: {use: local, path: x}\n")
    assert main(["check", str(recipe)]) == 2
    assert "at once" not in capsys.readouterr().err


def test_plugins_shows_a_setting_that_the_base_class_documents(capsys):
    assert main(["plugins", "show", "entity_linker", "wat"]) == 0
    out = capsys.readouterr().out
    assert "Attributes:" not in out
    assert "  offline          true or false (False)\n                   Answer from `cache` alone.\n" in out
