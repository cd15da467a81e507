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
    """
    name: str = "log"
    fault: str = ""

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
        return found

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
class Faulty(Stage):
    """Fails when all is done."""
    body: str = ""
    @hookimpl
    def after_run(self): raise ValueError(self.body)

@attrs.define
class After(Stage):
    """Acts only when all is done."""
    @hookimpl
    def after_run(self): SEEN.append("after")
'''


@pytest.fixture
def seen(toys, install):
    install(
        "srtk-plugin-log",
        "srtk_log",
        CODE,
        {"stage": {"log": "Log", "second": "Second", "after": "After", "faulty": "Faulty"}},
    )
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
    assert manifest(data)["stages"] == {"after": "srtk-plugin-log 1.0"}
    assert manifest(data)["fingerprint"] == plain
    run({**data, "log": True})
    first = manifest(data)["fingerprint"]
    run({**data, "log": {"name": "other"}}, fresh=True)
    assert len({plain, first, manifest(data)["fingerprint"]}) == 3


def test_a_fault_of_a_stage_names_stage_and_hook(seen, data):
    with pytest.raises(RunError, match="stage log: before_run failed: KeyError: 'before_run'"):
        run({**data, "log": {"fault": "before_run"}})


def test_a_fault_names_the_stage_that_raised_alone(seen, data):
    stages = {"second": {"name": "b"}, "log": {"name": "a", "fault": "batch of onehop"}}
    with pytest.raises(RunError, match=r"^stage log: batch failed: KeyError"):
        run({**data, **stages})
    with pytest.raises(RunError, match=r"^stage log: after_run failed: KeyError"):
        run({**data, "output": data["output"] + "2", "second": True, "log": {"fault": "after_run"}})


def test_a_fault_of_the_framework_within_a_batch_is_not_a_stage_s(seen, data, monkeypatch):
    def broken(self, questions, method=None):
        raise KeyError("of the framework")

    monkeypatch.setattr("srtk_framework.run.session.Session.retrieve", broken)
    with pytest.raises(KeyError, match="of the framework"):
        run({**data, "log": True})


def test_after_a_fault_of_a_stage_the_same_command_goes_on(seen, data):
    with pytest.raises(RunError, match="after_run failed"):
        run({**data, "after": True, "faulty": {"body": "raises"}})
    assert manifest(data)["state"] == "running"
    done = run({**data, "after": True})
    assert (done.state, done.finished) == ("complete", 3)


ONE = '''
from __future__ import annotations
import attrs, sys
from pathlib import Path
from srtk_framework import Stage, hookimpl
from srtk_framework.values import Subgraph

@attrs.define
class One(Stage):
    """Does what its test needs."""
'''


def with_hook(install, marks, header, *body):
    """Install the stage ``one`` with a hook."""
    lines = [f"@hookimpl({marks})" if marks is not None else "", f"def {header}:", *(f"    {line}" for line in body)]
    code = ONE + "".join(f"    {line}\n" for line in lines)
    install("srtk-plugin-one", "srtk_one", code, {"stage": {"one": "One"}})


@pytest.mark.parametrize(
    "returned",
    [
        "found[1:]",
        "found[::-1]",
        "tuple(found)",
        "None",
        "['a' for one in found]",
        "[attrs.evolve(one, subgraph=None) for one in found]",
        "[attrs.evolve(one, question=attrs.evolve(one.question, text='other')) for one in found]",
    ],
)
def test_a_batch_that_does_not_answer_its_questions_is_refused(toys, install, data, returned):
    with_hook(install, "wrapper=True", "batch(self)", "found = yield", f"return {returned}")
    with pytest.raises(RunError, match="stage one: batch must return a list with one Retrieval per question, in order"):
        run({**data, "one": True})


def test_a_stage_that_drops_questions_from_the_batch_itself_is_refused(toys, install, data):
    with_hook(install, "", "batch(self, retrievals)", "retrievals.clear()")
    with pytest.raises(RunError, match="stage one: batch must return"):
        run({**data, "one": True})


def test_a_hook_without_its_mark_is_refused(toys, install, data):
    with_hook(install, None, "after_run(self, run)", "pass")
    with pytest.raises(RunError, match="stage one: after_run is the name of a hook; decorate it with hookimpl"):
        run({**data, "one": True})


def test_a_hook_with_a_wrong_argument_is_refused_in_one_line(toys, install, data):
    with_hook(install, "", "after_run(self, ran)", "pass")
    with pytest.raises(RunError, match=r"^stage one: .*Argument\(s\) \{'ran'\}"):
        run({**data, "one": True})


def test_a_stage_cannot_end_the_process(toys, install, data):
    with_hook(install, "", "before_run(self, run)", "sys.exit(0)")
    with pytest.raises(RunError, match="stage one: before_run failed: SystemExit: 0"):
        run({**data, "one": True})


def test_a_training_that_returns_no_pair_is_refused(toys, install, data):
    with_hook(install, "", "train(self, session)", "return 5")
    with pytest.raises(RunError, match="stage one: train must return its key and"):
        run({**data, "one": True})


@pytest.mark.parametrize("hook", ["before_run", "after_run"])
def test_what_json_cannot_hold_is_refused_in_the_manifest(toys, install, data, hook):
    with_hook(install, "", f"{hook}(self, run)", "run.manifest['one'] = Path('a')")
    with pytest.raises(RunError, match=f"stage one: {hook} left in run.manifest what JSON cannot hold: .*PosixPath"):
        run({**data, "one": True})


def test_the_manifest_is_written_into_and_not_replaced(toys, install, data):
    with_hook(install, "", "after_run(self, run)", "run.manifest = {}")
    with pytest.raises(RunError, match="stage one: after_run failed: FrozenAttributeError"):
        run({**data, "one": True})


def test_a_stage_that_empties_the_results_does_not_harm_the_run(toys, install, data):
    with_hook(install, "wrapper=True", "batch(self, run)", "found = yield", "run.results.clear()", "return found")
    assert run({**data, "batch": 3, "one": True}).finished == 3


def test_after_a_run_its_manifest_is_complete_but_for_what_stages_add(toys, install, data):
    with_hook(install, "", "after_run(self, run)", "run.stages['one'] = dict(run.manifest)")
    seen = run({**data, "one": True}).stages["one"]
    written = manifest(data)
    assert {**seen, "seconds": written["seconds"]} == written
    assert (seen["state"], seen["counts"]["finished"], seen["exports"]) == ("complete", 3, [])


def test_a_changed_setting_of_a_stage_is_named_where_a_run_cannot_go_on(seen, data):
    run({**data, "log": True})
    with pytest.raises(RunError, match="a finished run that differs in the settings or data of stage log;"):
        run({**data, "log": {"name": "other"}}, resume=True)


def test_what_a_stage_keeps_for_itself_is_not_in_its_fingerprint(toys, install, data):
    code = ONE + "    name: str = 'a'\n    _seen: int = attrs.field(default=0, init=False)\n"
    install("srtk-plugin-one", "srtk_one", code, {"stage": {"one": "One"}})
    stage = from_data({**data, "one": True}).stages["one"]
    before = stage.fingerprint()
    stage._seen = 7
    assert before == stage.fingerprint() == "One(name='a')"


def test_those_that_ask_to_be_last_come_in_reverse_and_a_wrapper_comes_after_them(toys, install, data):
    hook = (
        "    @hookimpl(trylast=True)\n    def after_run(self, run):\n        run.stages[self.key] = len(run.stages)\n"
    )
    around = "    @hookimpl(wrapper=True)\n    def after_run(self, run):\n        yield\n"
    around += "        run.stages[self.key] = len(run.stages)\n"
    two, three = (ONE.replace("class One", f"class {name}") for name in ("Two", "Three"))
    code = ONE + hook + two.replace("from __future__ import annotations", "") + hook
    code += three.replace("from __future__ import annotations", "") + around
    install("srtk-plugin-one", "srtk_one", code, {"stage": {"one": "One", "two": "Two", "three": "Three"}})
    assert list(run({**data, "three": True, "one": True, "two": True}).stages) == ["two", "one", "three"]


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


@pytest.mark.parametrize("method", ["steps", "preflight"])
def test_check_names_the_stage_that_fails_in_it(toys, install, data, tmp_path, capsys, method):
    from srtk_framework.cli import main

    with_hook(install, None, f"{method}(self)", "raise ValueError('broken')")
    file = tmp_path / "r.json"
    file.write_text(json.dumps({**data, "one": True}))
    assert main(["check", str(file)]) == 2
    assert f"stage one: {method} failed: ValueError: broken" in capsys.readouterr().err


def test_a_stage_with_a_hook_that_does_not_exist_is_refused(toys, install, data):
    code = CODE.replace("def before_run", "def before_runs")
    install("srtk-plugin-log", "srtk_log", code, {"stage": {"log": "Log"}})
    with pytest.raises(RunError, match=r"stage log: .*before_runs"):
        run({**data, "log": True})


def test_every_hook_says_what_it_is_for():
    hooks = [name for name in vars(StageHooks) if not name.startswith("_")]
    assert len(hooks) == 6
    assert all(getattr(StageHooks, name).__doc__ for name in hooks)


@pytest.mark.parametrize("method", ["beside", "uses", "question_files", "fingerprint", "compose"])
def test_a_fault_in_what_a_stage_says_names_the_stage(toys, install, data, method):
    code = CODE.replace(
        "    def _note(self, what):",
        f"    def {method}(self, *args): raise KeyError('x')\n\n    def _note(self, what):",
    )
    install("srtk-plugin-log", "srtk_log", code, {"stage": {"log": "Log"}})
    with pytest.raises(RunError, match=f"stage log: {method} failed: KeyError: 'x'"):
        run({**data, "log": True})
