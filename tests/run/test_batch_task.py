"""Batches of a run in other processes: the results of one process, whatever dies, stops or differs."""

from __future__ import annotations

import json
import os

import pytest
from kit.toy_runs import StopAfter, data, journal, run

from srtk_framework.cli import main
from srtk_framework.host.observers import Timing
from srtk_framework.recipe.recipe import from_data
from srtk_framework.run.batch_task import SessionTask, answered
from srtk_framework.run.runner import Runner
from srtk_framework.run.session import Session
from srtk_framework.values import RunError, part_of_run

CODE = '''
"""Graphs with a fault."""
import os
import attrs
from srtk_framework.values import DriverError
from srtk_toys import Graph

@attrs.define
class Mortal(Graph):
    """Ends its process at a node, once.

    Attributes:
        file: Is there once it has.
        parent: Process that it leaves alone.
    """
    file: str = ""
    parent: int = 0
    def frontiers(self, node_sets):
        if any("lima" in row for row in node_sets) and os.getpid() != self.parent and not os.path.exists(self.file):
            open(self.file, "w").close()
            os._exit(1)
        return super().frontiers(node_sets)
    def fingerprint(self):
        return "mortal"

@attrs.define
class Elsewhere(Graph):
    """Has other data in each process."""
    def fingerprint(self):
        return f"elsewhere in {os.getpid()}"

@attrs.define
class Failing(Graph):
    """Cannot be asked about a node, and knows no labels."""
    def labels(self, ids):
        raise DriverError("it is down")
    def frontiers(self, node_sets):
        if any("rome" in row for row in node_sets):
            raise DriverError("it cannot say")
        return super().frontiers(node_sets)
'''

TWO = {"use": "processes", "workers": 2}


@pytest.fixture
def faults(install):
    graphs = {name.lower(): name for name in ("Mortal", "Elsewhere", "Failing")}
    install("srtk-plugin-faults", "srtk_faults", CODE, {"knowledge_graph": graphs})


def outcome(place):
    manifest = json.loads((place / "run" / "manifest.json").read_text())
    return (
        {file.name: file.read_bytes() for file in (place / "run" / "journal").glob("*.jsonl")},
        (place / "lines.txt").read_bytes(),
        [manifest[key] for key in ("state", "fingerprint", "counts")],
    )


def test_two_processes_leave_the_files_of_one(toys, faults, questions, tmp_path):
    more = {
        "batch": 2,
        "knowledge_graph": "failing",
        "observers": [{"use": "timing"}],
        "evaluate": {"against": [{"use": "onehop", "name": "wide", "width": 9}]},
    }
    alone = run(data(tmp_path, questions, **more))
    expected = outcome(tmp_path)
    both = run(data(tmp_path, questions, **more, executor=TWO), fresh=True)
    assert outcome(tmp_path) == expected
    assert set(expected[0]) == {"onehop.jsonl", "wide.jsonl"}
    assert 0 < both.failed == alone.failed
    assert both.unlabelled == alone.unlabelled > 0
    assert both.tracebacks.keys() == alone.tracebacks.keys() == {"knowledge_graph:failing"}
    calls = [{hook: row["items"] for hook, row in one.timing["wide"].items()} for one in (alone, both)]
    assert calls[1].pop("executor:processes.map") == 1
    assert calls[0] == calls[1]
    tables = [observer.table for observer in both.session.observers if isinstance(observer, Timing)]
    assert any(table.get("expander:onehop.expand", {}).get("items") == both.questions for table in tables)
    assert not os.environ.get("SRTK_WORKERS")
    assert part_of_run() == 1


def test_a_batch_whose_process_dies_is_answered_by_another(toys, faults, questions, tmp_path):
    graph = {"use": "mortal", "file": str(tmp_path / "died"), "parent": os.getpid()}
    more = {"batch": 2, "knowledge_graph": graph}
    run(data(tmp_path, questions, **more))
    expected = outcome(tmp_path)
    assert not (tmp_path / "died").exists()
    run(data(tmp_path, questions, **more, executor=TWO), fresh=True)
    assert (tmp_path / "died").exists()
    assert outcome(tmp_path) == expected


def test_a_stopped_run_goes_on_in_other_places(toys, questions, tmp_path):
    run(data(tmp_path, questions, batch=2))
    expected = outcome(tmp_path)
    watch = StopAfter(2)
    watch.runner = Runner(from_data(data(tmp_path, questions, batch=2, executor=TWO)), False, [watch], fresh=True)
    stopped = watch.runner.run()
    # What was sent out before the stop is committed too.
    assert 4 <= stopped.finished <= 2 * 2 + 2 * 2 * 2 < 16
    assert stopped.state == "stopped"
    assert expected[0]["onehop.jsonl"].startswith(journal(tmp_path))
    run(data(tmp_path, questions, batch=2))
    assert outcome(tmp_path) == expected


def test_a_process_with_other_data_is_refused(toys, faults, questions, tmp_path):
    with pytest.raises(RunError, match=r"the worker on .* differs from this process in the settings or data of"):
        run(data(tmp_path, questions, knowledge_graph="elsewhere", executor=TWO))


def test_workers_answer_with_the_model_that_the_run_has_just_trained(learners, questions, tmp_path):
    gold = {"id": "q", "question": "paris?", "question_entities": ["paris"], "answer_entities": ["france"]}
    (tmp_path / "gold.jsonl").write_text(json.dumps(gold | {"gold_paths": [["capital_of"]]}) + "\n")
    train = {"questions": str(tmp_path / "gold.jsonl"), "supervision": {"use": "gold"}}
    recipe = data(tmp_path, questions, path_scorer="counter", expander="walk", train=train)
    run(recipe)
    expected = outcome(tmp_path)
    run({**recipe, "executor": TWO}, fresh=True)
    assert outcome(tmp_path) == expected
    model = tmp_path / "run" / "training" / "model"
    session = Session(from_data(recipe))
    with session:
        session.train()
        task = SessionTask.of(session, answered)
    assert task.models == {"train": str(model)}
    model.rename(tmp_path / "moved")
    with pytest.raises(RunError, match=r"the worker on .* cannot load the trained model: .*; share its folder"):
        task((next(iter(session.methods)), []))


def test_a_driver_object_is_refused_beside_an_executor(toys, questions, tmp_path):
    from srtk_toys import Graph

    recipe = data(tmp_path, questions, knowledge_graph=Graph(), executor=TWO)
    with pytest.raises(RunError, match="knowledge_graph holds an object that cannot travel"):
        run(recipe)


def test_an_observer_of_calls_is_refused_beside_an_executor(toys, questions, tmp_path):
    tracing = {"use": "tracing", "path": str(tmp_path / "trace.jsonl")}
    with pytest.raises(RunError, match="Tracing watches calls of drivers"):
        run(data(tmp_path, questions, observers=[tracing], executor=TWO))


def test_a_flag_of_the_command_gives_the_number_of_processes(toys, questions, tmp_path, capsys):
    recipe = tmp_path / "r.yaml"
    recipe.write_text(json.dumps(data(tmp_path, questions)))
    assert main(["run", str(recipe), "--workers", "2", "--quiet"]) == 0
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_text())
    assert manifest["written"]["executor"] == TWO
    assert main(["run", str(recipe), "--workers", "0", "--quiet"]) == 2
    assert "workers must be above 0" in capsys.readouterr().err
