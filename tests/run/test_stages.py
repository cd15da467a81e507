"""Stages act at the points of a run, in order, around each other, and are named in the manifest."""

from __future__ import annotations

import json

import pytest

from srtk_framework.recipe import from_data
from srtk_framework.run import Runner
from srtk_framework.run.stages import StageHooks
from srtk_framework.values import RunError

CODE = '''
from __future__ import annotations
import attrs
from srtk_framework import Stage, hookimpl

SEEN = []

@attrs.define
class Log(Stage):
    """Notes at which points of a run it is called.

    Attributes:
        name: Of the notes.
        fault: Hook that fails.
        short: Whether a batch loses its last result.
    """
    name: str = "log"
    fault: str = ""
    short: bool = False

    def _note(self, what):
        SEEN.append((self.name, what))
        if what == self.fault:
            raise KeyError(what)

    @hookimpl
    def before_run(self, run):
        self._note("before_run")
        run.manifest[self.name] = run.questions

    @hookimpl(wrapper=True)
    def batch(self, method):
        self._note("batch of " + method)
        found = yield
        SEEN.append((self.name, len(found)))
        return found[:-1] if self.short else found

    @hookimpl
    def after_run(self, run):
        self._note("after_run")
        run.stages[self.key] = [one.question.id for one in run.results["onehop"].read()]

    @hookimpl
    def report(self, run, quiet):
        print(self.name, run.state, quiet)

@attrs.define
class Second(Log):
    """Is like the other one."""

@attrs.define
class After(Stage):
    """Acts only when all is done."""
    @hookimpl
    def after_run(self): SEEN.append("after")
'''


@pytest.fixture
def seen(toys, install):
    install("srtk-plugin-log", "srtk_log", CODE, {"stage": {"log": "Log", "second": "Second", "after": "After"}})
    import srtk_log

    return srtk_log.SEEN


@pytest.fixture
def data(tmp_path):
    questions = tmp_path / "q.jsonl"
    texts = ("what of paris?", "what of rome?", "what of lima?")
    questions.write_text("".join(json.dumps({"id": f"q{i}", "question": t}) + "\n" for i, t in enumerate(texts)))
    base = {"srtk": 1, "questions": str(questions), "output": str(tmp_path / "run"), "batch": 2}
    return {**base, "knowledge_graph": "toy", "entity_linker": "words", "expander": "onehop"}


def run(data, **more):
    return Runner(from_data(data), **more).run()


def manifest(data):
    with open(f"{data['output']}/manifest.json", encoding="utf-8") as file:
        return json.load(file)


def test_a_stage_acts_at_each_point_of_the_run_and_leaves_what_it_found(seen, data):
    done = run({**data, "log": True})
    assert seen == [
        *[("log", "before_run"), ("log", "batch of onehop"), ("log", 2), ("log", "batch of onehop"), ("log", 1)],
        ("log", "after_run"),
    ]
    assert done.stages == {"log": ["q0", "q1", "q2"]}
    assert manifest(data)["log"] == 3


def test_stages_are_called_in_the_order_of_the_recipe_and_wrappers_stand_around_each_other(seen, data):
    run({**data, "batch": 3, "second": {"name": "b"}, "log": {"name": "a"}})
    assert seen == [
        *[("b", "before_run"), ("a", "before_run"), ("b", "batch of onehop"), ("a", "batch of onehop")],
        *[("a", 3), ("b", 3), ("b", "after_run"), ("a", "after_run")],
    ]


def test_without_its_key_no_stage_acts_and_the_manifest_names_none(seen, data):
    run(data)
    assert seen == []
    assert "stages" not in manifest(data)


def test_the_manifest_names_stages_and_the_fingerprint_those_that_can_change_results(seen, data):
    run(data)
    plain = manifest(data)["fingerprint"]
    run({**data, "after": True})
    assert manifest(data)["stages"] == {"after": "srtk-plugin-log"}
    assert manifest(data)["fingerprint"] == plain
    run({**data, "log": True})
    first = manifest(data)["fingerprint"]
    run({**data, "log": {"name": "other"}}, fresh=True)
    assert len({plain, first, manifest(data)["fingerprint"]}) == 3


def test_a_fault_of_a_stage_names_stage_and_hook(seen, data):
    with pytest.raises(RunError, match="stage log: before_run failed: KeyError: 'before_run'"):
        run({**data, "log": {"fault": "before_run"}})


def test_a_stage_that_loses_a_result_is_refused(seen, data):
    with pytest.raises(RunError, match="stage log: batch must return one retrieval per question, in order"):
        run({**data, "log": {"short": True}})


def test_a_stage_reports_where_the_command_does(seen, data, tmp_path, capsys):
    from srtk_framework.cli import main

    file = tmp_path / "r.json"
    file.write_text(json.dumps({**data, "log": True}))
    assert main(["run", str(file), "-q"]) == 0
    assert capsys.readouterr().out.splitlines() == ["log complete True"]
    assert main(["check", str(file)]) == 0
    shown = capsys.readouterr().out
    assert "- do log\n" in shown
    assert "srtk-plugin-log" in shown


def test_a_stage_with_a_hook_that_does_not_exist_is_refused(toys, install, data):
    code = CODE.replace("def before_run", "def before_runs")
    install("srtk-plugin-log", "srtk_log", code, {"stage": {"log": "Log"}})
    with pytest.raises(RunError, match=r"stage log: .*before_runs"):
        run({**data, "log": True})


def test_every_hook_says_what_it_is_for():
    hooks = [name for name in vars(StageHooks) if not name.startswith("_")]
    assert len(hooks) == 6
    assert all(getattr(StageHooks, name).__doc__ for name in hooks)
