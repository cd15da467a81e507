from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import time

import pytest

from srtk_framework.host.observers import Observer
from srtk_framework.recipe.recipe import from_data
from srtk_framework.run.runner import Runner
from srtk_framework.values import DriverError, InputError, RunError

pytestmark = pytest.mark.usefixtures("toys")

FAILING = '''
"""A graph that fails in part."""
import attrs
from srtk_framework.values import DriverError
from srtk_toys import Graph

@attrs.define
class Failing(Graph):
    """Knows no labels, and cannot be asked about some nodes."""
    poison: str = ""
    def labels(self, ids):
        raise DriverError("it is down")
    def frontiers(self, node_sets):
        if any(self.poison in row for row in node_sets):
            raise DriverError("it cannot say")
        return super().frontiers(node_sets)
'''

TEXTS = [f"what about {w} {i}?" for i in range(4) for w in ("paris", "rome", "lima", "nowhere")]


@pytest.fixture
def questions(tmp_path):
    path = tmp_path / "q.jsonl"
    lines = [{"id": f"q{i}", "question": t, "answer_entities": ["france", "italy"]} for i, t in enumerate(TEXTS)]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def data(tmp_path, questions, **more):
    return {
        "srtk": 1,
        "questions": str(questions),
        "output": str(tmp_path / "run"),
        "knowledge_graph": "toy",
        "entity_linker": "words",
        "expander": "onehop",
        "exporters": [{"use": "lines", "path": str(tmp_path / "lines.txt")}],
        **more,
    }


def run(recipe, resume=False, observers=(), fresh=False):
    return Runner(from_data(recipe), resume, observers, fresh=fresh).run()


class StopAfter(Observer):
    """Stops a runner after some batches."""

    def __init__(self, batches):
        self.left, self.runner = batches, None

    def event(self, name, data):
        if name == "batch":
            self.left -= 1
            if not self.left:
                self.runner.stop()


def stopped(recipe, batches):
    watch = StopAfter(batches)
    watch.runner = Runner(from_data(recipe), False, [watch], fresh=True)
    return watch.runner.run()


class Resumed(Observer):
    """Keeps what a run takes over."""

    def __init__(self):
        self.found = []

    def event(self, name, data):
        if name == "resumed":
            self.found.append((data["name"], data["finished"], data["dropped"]))


def journal(tmp_path):
    return (tmp_path / "run" / "journal" / "onehop.jsonl").read_bytes()


def test_a_run_exports_evaluates_and_writes_a_manifest(tmp_path, questions):
    outcome = run(data(tmp_path, questions, evaluate={"against": [{"use": "onehop", "name": "other", "width": 9}]}))
    assert (outcome.state, outcome.questions, outcome.finished, outcome.failed) == ("complete", 16, 16, 4)
    lines = (tmp_path / "lines.txt").read_text().splitlines()
    assert lines[0].startswith("q0 1")
    assert "no entity" in lines[3]
    report = json.loads((tmp_path / "run" / "evaluation.json").read_text())
    assert set(report["methods"]) == {"onehop", "other"}
    assert report["methods"]["onehop"]["answer_coverage"]["mean"] == 0.5
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_text())
    assert manifest["state"] == "complete"
    assert manifest["versions"]["srtk-plugin-toys"] == "1.0"
    assert manifest["counts"] == {"questions": 16, "finished": 16, "failed": 4}


def test_the_bytes_do_not_depend_on_the_batch_size(tmp_path, questions):
    whole = {}
    for batch in (1, 5, 16):
        run(data(tmp_path, questions, batch=batch))
        whole[batch] = journal(tmp_path)
    assert whole[1] == whole[5] == whole[16]


def test_a_stopped_run_keeps_what_is_finished_and_resumes_to_the_same_bytes(tmp_path, questions):
    run(data(tmp_path, questions, batch=3))
    expected = journal(tmp_path)
    outcome = stopped(data(tmp_path, questions, batch=3), batches=2)
    assert (outcome.state, outcome.finished) == ("stopped", 6)
    assert journal(tmp_path) == b"".join(expected.splitlines(keepends=True)[:6])
    assert json.loads((tmp_path / "run" / "manifest.json").read_text())["state"] == "stopped"
    outcome = run(data(tmp_path, questions, batch=4), resume=True)
    assert (outcome.state, outcome.finished) == ("complete", 16)
    assert journal(tmp_path) == expected


def test_a_half_written_line_of_a_killed_run_is_done_again(tmp_path, questions):
    run(data(tmp_path, questions))
    expected = journal(tmp_path)
    killed(tmp_path, expected[: len(expected) // 2])
    watch = Resumed()
    run(data(tmp_path, questions), observers=[watch])
    assert watch.found == [("onehop", expected[: len(expected) // 2].count(b"\n"), True)]
    assert journal(tmp_path) == expected


def killed(tmp_path, lines, state="running"):
    """Make the folder of a complete run that of a killed one."""
    manifest = tmp_path / "run" / "manifest.json"
    manifest.write_text(json.dumps({**json.loads(manifest.read_text()), "state": state}))
    (tmp_path / "run" / "journal" / "onehop.jsonl").write_bytes(lines)


def test_the_same_recipe_goes_on_unasked(tmp_path, questions):
    run(data(tmp_path, questions))
    expected = journal(tmp_path)
    stopped(data(tmp_path, questions, batch=3), batches=2)
    watch = Resumed()
    assert run(data(tmp_path, questions), observers=[watch]).finished == 16
    assert watch.found == [("onehop", 6, False)]
    assert journal(tmp_path) == expected


@pytest.mark.parametrize("resume", [True, False])
def test_another_recipe_does_not_overwrite_an_unfinished_run(tmp_path, questions, resume):
    stopped(data(tmp_path, questions, batch=3), batches=1)
    before = journal(tmp_path)
    with pytest.raises(
        RunError, match=r"run holds an unfinished run that differs in the settings or data of onehop; .* --fresh"
    ):
        run(data(tmp_path, questions, budget={"triples": 1}), resume=resume)
    assert journal(tmp_path) == before


def test_what_differs_from_an_unfinished_run_is_named(tmp_path, questions):
    stopped(data(tmp_path, questions, batch=3), batches=1)
    for change, named in (
        ({"seed": 3}, "differs in the seed;"),
        ({"relink": True}, "differs in `relink` or `limit`;"),
        ({"limit": 3}, "differs in the questions;"),
        ({"entity_linker": {"use": "words", "graph": {"use": "toy", "facts": []}}}, "the settings or data of linker;"),
    ):
        with pytest.raises(RunError, match=named):
            run(data(tmp_path, questions, **change))


def test_another_version_of_a_plugin_is_another_run(tmp_path, questions, monkeypatch):
    stopped(data(tmp_path, questions, batch=3), batches=1)
    from srtk_framework.run import manifest

    known = manifest.version
    monkeypatch.setattr(manifest, "version", lambda name: "1.1" if name == "srtk-plugin-toys" else known(name))
    with pytest.raises(RunError, match="differs in the version of srtk-plugin-toys;"):
        run(data(tmp_path, questions))
    (tmp_path / "run" / "manifest.json").unlink()
    with pytest.raises(RunError, match=r"onehop\.jsonl:1: the line is of another run, method or version"):
        run(data(tmp_path, questions))


def test_fresh_starts_over(tmp_path, questions):
    stopped(data(tmp_path, questions, batch=3), batches=1)
    other = data(tmp_path, questions, budget={"triples": 1})
    watch = Resumed()
    assert run(other, observers=[watch], fresh=True).state == "complete"
    assert not watch.found


def test_a_finished_run_is_done_again_or_taken_over_if_asked(tmp_path, questions):
    run(data(tmp_path, questions))
    watch = Resumed()
    run(data(tmp_path, questions), observers=[watch])
    assert not watch.found
    run(data(tmp_path, questions), resume=True, observers=[watch])
    assert watch.found == [("onehop", 16, False)]
    other = data(tmp_path, questions, budget={"triples": 1})
    with pytest.raises(RunError, match="holds a finished run that differs in"):
        run(other, resume=True)
    assert run(other).state == "complete"


def test_a_run_without_its_manifest_goes_on_with_its_own_lines_only(tmp_path, questions):
    run(data(tmp_path, questions))
    expected = journal(tmp_path)
    killed(tmp_path, b"".join(expected.splitlines(keepends=True)[:5]))
    (tmp_path / "run" / "manifest.json").unlink()
    with pytest.raises(RunError, match=r"onehop\.jsonl:1: the line is of another run.*--fresh"):
        run(data(tmp_path, questions, budget={"triples": 1}))
    run(data(tmp_path, questions))
    assert journal(tmp_path) == expected


def test_a_run_killed_before_its_second_method_takes_no_older_lines_for_it(tmp_path, questions):
    compared = {"evaluate": {"against": [{"use": "onehop", "name": "other", "width": 9}]}}
    second = tmp_path / "run" / "journal" / "other.jsonl"
    run(data(tmp_path, questions, budget={"triples": 1}, **compared))
    older = second.read_bytes()
    stopped(data(tmp_path, questions, batch=3, **compared), batches=2)
    assert not second.exists()
    # A folder in which both lie, whatever brought them together.
    second.write_bytes(older)
    with pytest.raises(RunError, match=r"other\.jsonl:1: the line is of another run, method or version"):
        run(data(tmp_path, questions, **compared))


def test_starting_over_leaves_nothing_of_the_earlier_run(tmp_path, questions):
    run(data(tmp_path, questions, evaluate={"against": [{"use": "onehop", "name": "other", "width": 9}]}))
    run(data(tmp_path, questions))
    left = sorted(path.name for path in (tmp_path / "run").rglob("*") if path.is_file())
    assert left == ["manifest.json", "onehop.jsonl", "onehop.seconds"]


def test_a_malformed_line_is_refused_with_its_number_before_any_work(tmp_path, questions):
    questions.write_text(questions.read_text().replace('{"id": "q2"', '{"id": q2'))
    with pytest.raises(InputError, match=r"q\.jsonl:3"):
        run(data(tmp_path, questions))
    assert not (tmp_path / "run" / "journal").exists()


def test_missing_questions_are_refused(tmp_path):
    with pytest.raises(InputError, match=r"absent\.jsonl"):
        run(data(tmp_path, tmp_path / "absent.jsonl"))
    recipe = data(tmp_path, "x")
    del recipe["questions"]
    with pytest.raises(RunError, match="add `questions: FILE`"):
        run(recipe)


def test_a_limit_takes_the_first_questions(tmp_path, questions):
    assert run(data(tmp_path, questions, limit=5)).questions == 5


def test_given_links_win_unless_told_otherwise(tmp_path):
    path = tmp_path / "q.jsonl"
    path.write_text('{"id": "a", "question": "paris", "question_entities": ["lima"]}\n')
    run(data(tmp_path, path))
    record = json.loads(journal(tmp_path))
    assert (record["question_entities"], record["trace"]["links"]) == (["lima"], "given")
    run(data(tmp_path, path, relink=True))
    record = json.loads(journal(tmp_path))
    assert (record["question_entities"], record["trace"]["links"]) == (["paris"], "linked")


def test_an_unknown_entity_fails_its_question_only(tmp_path):
    path = tmp_path / "q.jsonl"
    path.write_text(
        '{"id": "a", "question": "x", "question_entities": ["Q9"]}\n'
        '{"id": "b", "question": "x", "question_entities": ["lima"]}\n'
    )
    outcome = run(data(tmp_path, path))
    assert outcome.failed == 1
    first, second = map(json.loads, journal(tmp_path).splitlines())
    assert first["error"] == "the graph has none of the entities Q9; check their ids"
    assert "error" not in second


@pytest.fixture
def failing(install):
    install("srtk-plugin-failing", "srtk_failing", FAILING, {"knowledge_graph": {"failing": "Failing"}})


def test_results_stand_without_labels_where_the_graph_fails_to_tell_them(tmp_path, questions, failing):
    recipe = data(
        tmp_path, questions, knowledge_graph="failing", entity_linker={"use": "words", "graph": {"use": "toy"}}
    )
    outcome = run(recipe)
    assert (outcome.finished, outcome.failed, outcome.unlabelled) == (16, 4, 16)
    first = json.loads(journal(tmp_path).splitlines()[0])
    assert first["trace"]["labels_failed"] == "failing: it is down"
    assert first["triplets"] == [["paris", "capital_of", "france"]]


def test_an_entity_that_the_graph_cannot_be_asked_about_fails_its_question_only(tmp_path, questions, failing):
    recipe = data(
        tmp_path,
        questions,
        knowledge_graph={"use": "failing", "poison": "rome"},
        entity_linker={"use": "words", "graph": {"use": "toy"}},
    )
    assert run(recipe).failed == 8
    errors = {r["id"]: r.get("error") for r in map(json.loads, journal(tmp_path).splitlines())}
    assert errors["q0"] is None
    assert errors["q1"] == "failing: it cannot say"


def test_a_recipe_without_an_expander_links(tmp_path, questions):
    recipe = data(tmp_path, questions)
    del recipe["expander"]
    outcome = run(recipe)
    assert outcome.finished == 16
    first = json.loads((tmp_path / "run" / "journal" / "linked.jsonl").read_text().splitlines()[0])
    assert (first["question_entities"], first["spans"]) == (["paris"], [[11, 16]])


def test_a_recipe_without_expander_and_linker_passes_results_on(tmp_path):
    path = tmp_path / "results.jsonl"
    path.write_text('{"id": "a", "question": "x", "triplets": [["paris", "capital_of", "france"]]}\n')
    recipe = data(tmp_path, path)
    del recipe["expander"], recipe["entity_linker"]
    run(recipe)
    assert (tmp_path / "lines.txt").read_text() == "a 1 "
    record = json.loads((tmp_path / "run" / "journal" / "given.jsonl").read_text())
    assert record["labels"]["paris"] == "Paris"


def test_an_exporter_that_fails_is_aborted_and_named(tmp_path, questions, monkeypatch):
    recipe = data(tmp_path, questions)
    recipe["exporters"][0]["path"] = str(tmp_path / "no" / "such" / "folder" / "x")
    with pytest.raises(DriverError, match="lines: cannot be closed: FileNotFoundError"):
        run(recipe)


SLOW = """
import sys, time
sys.path[:0] = {paths!r}
from srtk_framework.cli import main
import srtk_toys
plain = srtk_toys.OneHop.expand
def slow(self, questions):
    time.sleep(0.4)
    return plain(self, questions)
srtk_toys.OneHop.expand = slow
sys.exit(main(["run", {recipe!r}]))
"""


def begun(tmp_path, questions, toys):
    """Start a run in a process of its own, and wait until it has finished some questions."""
    recipe = tmp_path / "r.yaml"
    recipe.write_text(json.dumps(data(tmp_path, questions, batch=2)))
    process = subprocess.Popen(
        [sys.executable, "-c", SLOW.format(paths=[str(toys)], recipe=str(recipe))],
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
    )
    path = tmp_path / "run" / "journal" / "onehop.jsonl"
    for _ in range(1200):
        if path.exists() and path.stat().st_size:
            break
        time.sleep(0.05)
    return process


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_stops_cleanly_and_loses_nothing_that_is_finished(tmp_path, questions, toys, sent, code):
    process = begun(tmp_path, questions, toys)
    process.send_signal(sent)
    _, said = process.communicate(timeout=60)
    assert process.returncode == code
    assert "srtk: stopping after this batch" in said
    assert "the same command goes on" in said
    assert json.loads((tmp_path / "run" / "manifest.json").read_text())["state"] == "stopped"
    assert not (tmp_path / "run" / ".lock").exists()
    finished = journal(tmp_path).splitlines()
    assert 2 <= len(finished) < 16
    outcome = run(data(tmp_path, questions, batch=2))
    assert outcome.finished == 16
    assert journal(tmp_path).splitlines()[: len(finished)] == finished


def test_a_second_run_in_the_folder_is_refused_by_number(tmp_path, questions, toys):
    process = begun(tmp_path, questions, toys)
    for again in ({}, {"resume": True}, {"fresh": True}):
        with pytest.raises(
            RunError, match=rf"run is in use by process {process.pid}; wait .*, or choose another `output:`"
        ):
            run(data(tmp_path, questions), **again)
    process.kill()
    process.communicate(timeout=60)
    assert run(data(tmp_path, questions)).finished == 16


def test_renaming_over_an_open_file_that_fails_is_one_sentence(tmp_path, questions, monkeypatch):
    """On Windows nothing is renamed over a file that another program has open."""
    run(data(tmp_path, questions))
    expected = journal(tmp_path)
    plain = os.replace

    def refused(source, target):
        if str(target).endswith("manifest.json"):
            raise PermissionError(errno.EACCES, "Access is denied", str(target))
        plain(source, target)

    sentence = r"manifest\.json cannot be written: Access is denied; fix this and give the same command again"
    with monkeypatch.context() as patch:
        patch.setattr("os.replace", refused)
        with pytest.raises(RunError, match=sentence):
            run(data(tmp_path, questions))
    assert not list((tmp_path / "run").glob("*.part"))
    run(data(tmp_path, questions))
    assert journal(tmp_path) == expected


def test_a_run_works_where_there_are_no_locks_and_no_folder_can_be_opened(tmp_path, questions, toys):
    recipe = tmp_path / "r.yaml"
    recipe.write_text(json.dumps(data(tmp_path, questions)))
    code = f"""
import os, sys, warnings
sys.path[:0] = [{str(toys)!r}]
sys.modules["fcntl"] = None
warnings.simplefilter("ignore")
plain = os.open
def no_folders(path, *args, **more):
    if not isinstance(path, int) and os.path.isdir(path):
        raise PermissionError(13, "Permission denied", path)
    return plain(path, *args, **more)
os.open = no_folders
from srtk_framework.cli import main
sys.exit(main(["run", {str(recipe)!r}, "--quiet"]))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert len(journal(tmp_path).splitlines()) == 16
    assert not (tmp_path / "run" / ".lock").exists()


def test_a_full_disk_is_one_clear_sentence(tmp_path, questions, monkeypatch):
    def full(number):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("srtk_framework.run.journal.os.fsync", full)
    with pytest.raises(RunError, match=r"the disk is full.*give the same command again"):
        run(data(tmp_path, questions))
