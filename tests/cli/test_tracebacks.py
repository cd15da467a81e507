"""An exception of a driver or a command is one sentence, and is shown in full with ``--traceback``."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from srtk_framework.cli import main

FAULTY = '''
import attrs
from srtk_framework.roles import Expander, KnowledgeGraph, PathScorer
from srtk_framework.values import Budget, DriverError, Step

@attrs.define
class Scorer(PathScorer):
    """Fails at every question."""
    def score(self, questions, paths, candidates):
        weights = {}
        return [[weights["capital_of"]] for _ in questions]

@attrs.define
class Held(Expander):
    """Asks a scorer."""
    scorer: PathScorer
    def expand(self, questions):
        return self.scorer.score([q.text for q in questions], [()] * len(questions), [[Step("r")]] * len(questions))

@attrs.define
class Careful(Expander):
    """Says by itself what is wrong."""
    def expand(self, questions):
        try:
            return {}["width"]
        except KeyError as error:
            raise DriverError("there is no width; set one") from error
'''


@pytest.fixture
def faulty(install, toys):
    entries = {"path_scorer": {"faulty": "Scorer"}, "expander": {"held": "Held", "careful": "Careful"}}
    yield install("srtk-plugin-faulty", "srtk_faulty", FAULTY, entries)
    sys.modules.pop("srtk_faulty", None)


@pytest.fixture
def recipe(faulty, tmp_path):
    (tmp_path / "q.txt").write_text("what about paris?\nwhat about rome?\n")
    path = tmp_path / "r.yaml"
    path.write_text(
        f"srtk: 1\nquestions: {tmp_path}/q.txt\noutput: {tmp_path}/run\nknowledge_graph: toy\nentity_linker: words\n"
        "path_scorer: faulty\nexpander: {use: held}\n"
    )
    return path


def manifest(recipe):
    return json.loads((recipe.parent / "run" / "manifest.json").read_text())


def test_the_manifest_keeps_the_first_exception_of_the_driver_that_raised_it(recipe):
    main(["run", str(recipe), "--quiet"])
    kept = manifest(recipe)["tracebacks"]
    assert list(kept) == ["path_scorer:faulty"]
    lines = kept["path_scorer:faulty"]
    assert lines[0] == "Traceback (most recent call last):"
    assert 'srtk_faulty.py", line 11, in score' in lines[1]
    assert lines[-1] == "KeyError: 'capital_of'"


def test_an_error_that_the_driver_raises_on_purpose_is_kept_with_its_cause(recipe):
    main(["run", str(recipe), "--quiet", "--set", "expander.use=careful"])
    kept = "\n".join(manifest(recipe)["tracebacks"]["expander:careful"])
    assert "KeyError: 'width'" in kept
    assert "direct cause" in kept
    assert kept.endswith("DriverError: there is no width; set one")


def test_a_run_without_exceptions_keeps_none(recipe):
    assert main(["run", str(recipe), "--quiet", "--set", "expander.use=onehop"]) == 0
    assert "tracebacks" not in manifest(recipe)


@pytest.mark.parametrize("place", ["before", "after"])
def test_run_prints_the_exceptions_of_drivers_when_asked(recipe, capsys, place):
    command = ["run", str(recipe), "--quiet"]
    assert main(["--traceback", *command] if place == "before" else [*command, "--traceback"]) == 1
    err = capsys.readouterr().err
    assert "first exception of path_scorer:faulty" in err
    assert "srtk_faulty.py" in err
    assert "KeyError: 'capital_of'" in err


def test_run_says_where_the_tracebacks_are_when_not_asked(recipe, capsys):
    assert main(["run", str(recipe), "--quiet"]) == 1
    err = capsys.readouterr().err
    assert "Traceback" not in err
    assert f"{recipe.parent / 'run' / 'manifest.json'} has the tracebacks" in err


def test_explain_prints_the_exceptions_of_drivers_when_asked(recipe, capsys):
    (recipe.parent / "q.txt").unlink()
    (recipe.parent / "q.jsonl").write_text(
        '{"id": "1", "question": "what about paris?", "answer_entities": ["euro"]}\n'
    )
    at = recipe.parent / "q.jsonl"
    main(["--traceback", "explain", str(recipe), "--quiet", "--set", f"questions={at}"])
    assert "KeyError: 'capital_of'" in capsys.readouterr().err


def test_a_driver_that_cannot_be_imported_is_shown_in_full(recipe, faulty, capsys):
    (faulty / "srtk_faulty.py").write_text("import attrs\nwidth = attrs.no_such_name\n")
    assert main(["check", str(recipe)]) == 2
    assert "Traceback" not in capsys.readouterr().err
    assert main(["--traceback", "check", str(recipe)]) == 2
    err = capsys.readouterr().err
    assert 'srtk_faulty.py", line 2' in err
    assert f"srtk: error: {recipe}:" in err


class TestCommands:
    @pytest.fixture
    def command(self, install):
        def do(code):
            folder = install("srtk-plugin-broken", "srtk_broken", code, {})
            info = folder / "srtk_plugin_broken-1.0.dist-info" / "entry_points.txt"
            info.write_text("[srtk.command]\nbreak.it = srtk_broken\n")

        yield do
        sys.modules.pop("srtk_broken", None)

    def test_a_command_that_cannot_be_imported_is_one_sentence(self, command, capsys):
        command("import attrs\nattrs.no_such_name\n")
        assert main(["break", "it"]) == 2
        err = capsys.readouterr().err
        assert err.count("\n") == 1
        assert "`srtk break it` of srtk-plugin-broken 1.0 cannot be loaded from srtk_broken: AttributeError" in err
        assert "reinstall srtk-plugin-broken" in err

    def test_a_module_that_is_no_command_is_one_sentence(self, command, capsys):
        command("def run(args): return 0\n")
        assert main(["break", "it"]) == 2
        assert "srtk_broken has no function add_arguments" in capsys.readouterr().err

    def test_a_command_that_fails_is_one_sentence(self, command, capsys):
        command("def add_arguments(parser): pass\ndef run(args): return {}['x y']\n")
        assert main(["break", "it"]) == 1
        err = capsys.readouterr().err
        assert err == "srtk: error: `srtk break` has a fault: KeyError: 'x y'; see where: srtk --traceback break it\n"

    def test_its_traceback_is_shown_when_asked(self, command, capsys):
        command("def add_arguments(parser): pass\ndef run(args): return {}['x y']\n")
        assert main(["--traceback", "break", "it"]) == 1
        assert 'srtk_broken.py", line 2, in run' in capsys.readouterr().err

    def test_a_command_of_two_plugins_names_both(self, command, install, capsys):
        command("def add_arguments(parser): pass\ndef run(args): return 0\n")
        other = install("srtk-plugin-other", "srtk_other", "", {})
        (other / "srtk_plugin_other-1.0.dist-info" / "entry_points.txt").write_text(
            "[srtk.command]\nbreak.it = srtk_other\n"
        )
        assert main(["break", "it"]) == 2
        err = capsys.readouterr().err
        assert "`srtk break it` comes from srtk-plugin-broken 1.0 and from srtk-plugin-other 1.0" in err


def test_the_module_runs_as_the_command():
    done = subprocess.run([sys.executable, "-m", "srtk_framework", "--version"], capture_output=True, text=True)
    assert done.returncode == 0
    assert done.stdout.startswith("srtk-framework ")
    wrong = subprocess.run([sys.executable, "-m", "srtk_framework", "retreive"], capture_output=True, text=True)
    assert wrong.returncode == 2
    assert "Did you mean 'retrieve'" in wrong.stderr
