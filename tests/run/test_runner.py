from __future__ import annotations

import errno
import gc
import json
import os
from types import SimpleNamespace

import attrs
import pytest
from kit.toy_runs import StopAfter, data, journal, run
from srtk_plugin_evaluation.training_overlap import PATH, RELATIONS

from srtk_framework.host.observers import Observer
from srtk_framework.recipe.recipe import from_data
from srtk_framework.roles import EntityLinker, Exporter
from srtk_framework.run.runner import Runner
from srtk_framework.values import DriverError, InputError, Link, LinkList, RunError

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


def test_the_collector_leaves_the_drivers_alone_during_the_methods_and_not_after(tmp_path, questions):
    class Frozen(Observer):
        found = ()

        def event(self, name, data):
            if name == "batch":
                self.found = (*self.found, gc.get_freeze_count() > 0)

    gc.unfreeze()  # conftest.py freezes what all tests share
    watch = Frozen()
    Runner(from_data(data(tmp_path, questions)), observers=[watch]).run()
    assert set(watch.found) == {True}
    assert gc.get_freeze_count() == 0


def test_what_the_host_program_froze_stays_frozen(tmp_path, questions):
    gc.freeze()
    try:
        count = gc.get_freeze_count()
        Runner(from_data(data(tmp_path, questions))).run()
        assert gc.get_freeze_count() > count // 2
    finally:
        gc.unfreeze()


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


@pytest.mark.parametrize(("lines", "found"), [(b"", []), (b'{"id": "q', [("onehop", 0, True)])])
def test_a_run_of_which_nothing_is_finished_resumes_only_a_torn_line(tmp_path, questions, lines, found):
    run(data(tmp_path, questions))
    killed(tmp_path, lines)
    watch = Resumed()
    assert run(data(tmp_path, questions), observers=[watch]).finished == 16
    assert watch.found == found


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
        '{"id": "c", "question": "x", "question_entities": ["Q9", "lima", "Q8"]}\n'
    )
    outcome = run(data(tmp_path, path))
    assert outcome.failed == 1
    first, second, third = map(json.loads, journal(tmp_path).splitlines())
    assert first["error"] == "the graph has none of the entities Q9; check their ids"
    assert "error" not in second
    assert "absent_links" not in second["trace"]
    assert "error" not in third
    assert third["trace"]["absent_links"] == ["Q9", "Q8"]


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


def test_a_full_disk_is_one_clear_sentence(tmp_path, questions, monkeypatch):
    def full(number):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("srtk_framework.run.journal.os.fsync", full)
    with pytest.raises(RunError, match=r"the disk is full.*give the same command again"):
        run(data(tmp_path, questions))


class Events(Observer):
    """Keeps the events of a run, and calls something at one of them."""

    NAMES = ("method", "batch", "done", "complete", "stopped")

    def __init__(self, at="", then=None):
        self.at, self.then, self.found = at, then, []

    def event(self, name, data):
        if name in self.NAMES:
            self.found.append((name, data["completed"], data["failed"]))
        if name == self.at:
            self.then()


def manifest(tmp_path):
    return json.loads((tmp_path / "run" / "manifest.json").read_text())


OTHER = {"use": "onehop", "name": "other", "width": 9}


def test_observers_are_told_of_each_method_and_batch(tmp_path, questions):
    watch = Events()
    outcome = run(data(tmp_path, questions, limit=6, batch=4, evaluate={"against": [OTHER]}), observers=[watch])
    method = [("method", 0, 0), ("batch", 4, 1), ("batch", 6, 1), ("done", 6, 1)]
    assert watch.found == [*method, *method, ("complete", 6, 1)]
    assert list(outcome.timing) == ["onehop", "other"]
    assert (outcome.finished, outcome.failed) == (6, 1)


def test_a_second_method_does_not_change_what_the_outcome_counts(tmp_path, questions):
    outcome = run(data(tmp_path, questions, limit=4, evaluate={"against": [{**OTHER, "poison": "what"}]}))
    assert (outcome.finished, outcome.failed, outcome.unlabelled) == (4, 1, 0)
    other = [json.loads(line) for line in (tmp_path / "run" / "journal" / "other.jsonl").read_text().splitlines()]
    assert all("error" in record for record in other)


def test_a_stopped_run_begins_no_other_method_and_exports_and_evaluates_nothing(tmp_path, questions):
    watch = Events("batch", lambda: runner.stop())
    recipe = data(tmp_path, questions, batch=4, evaluate={"against": [OTHER]})
    runner = Runner(from_data(recipe), observers=[watch])
    outcome = runner.run()
    assert watch.found == [("method", 0, 0), ("batch", 4, 1), ("stopped", 4, 1)]
    assert (list(outcome.timing), outcome.exports, outcome.stages) == (["onehop"], [], {})
    assert not (tmp_path / "lines.txt").exists()
    assert not (tmp_path / "run" / "evaluation.json").exists()


def test_a_run_stopped_in_its_second_method_counts_the_first(tmp_path, questions):
    watch = Events("done", lambda: runner.stop())
    runner = Runner(from_data(data(tmp_path, questions, batch=4, evaluate={"against": [OTHER]})), observers=[watch])
    outcome = runner.run()
    assert (outcome.state, outcome.finished, outcome.failed) == ("stopped", 16, 4)
    assert watch.found[-2:] == [("method", 0, 0), ("stopped", 16, 4)]
    outcome = Runner(from_data(data(tmp_path, questions, evaluate={"against": [OTHER]}))).run()
    assert (outcome.state, outcome.questions, outcome.finished, outcome.failed) == ("complete", 16, 16, 4)


def test_without_options_a_finished_run_is_done_again_and_an_unfinished_one_goes_on(tmp_path, questions):
    watch = Resumed()
    for found in ([], [], [("onehop", 3, False)]):
        if found:
            stopped(data(tmp_path, questions, batch=3), batches=1)
        watch.found.clear()
        assert Runner(from_data(data(tmp_path, questions)), observers=[watch]).run().state == "complete"
        assert watch.found == found


def test_errors_are_summed_up_by_reason_and_their_tracebacks_kept(tmp_path, questions):
    expander = {"use": "onehop", "poison": "lima"}
    outcome = run(data(tmp_path, questions, expander=expander))
    assert [count for _, count in outcome.reasons] == [4, 4]
    assert list(manifest(tmp_path)["tracebacks"]) == list(outcome.tracebacks) == ["expander:onehop"]
    questions.write_text(questions.read_text().splitlines(keepends=True)[0])
    outcome = run(data(tmp_path, questions))
    assert (outcome.failed, outcome.reasons) == (0, [])
    told = manifest(tmp_path)
    assert not {"tracebacks", "generators", "training"} & set(told)
    assert (told["state"], told["exports"]) == ("complete", [str(tmp_path / "lines.txt")])


class Clock:
    """Goes on by the same seconds each time it is read."""

    def __init__(self, step):
        self.now, self.step = 1000.0, step

    def __call__(self):
        self.now += self.step
        return self.now


def test_seconds_are_those_between_begin_and_end(tmp_path, questions, monkeypatch):
    clock = SimpleNamespace(time=Clock(12.34567), perf_counter=Clock(0.5))
    monkeypatch.setattr("srtk_framework.run.runner.time", clock)
    outcome = run(data(tmp_path, questions, limit=4, batch=2, evaluate=True))
    assert manifest(tmp_path)["seconds"] == 12.346
    assert (tmp_path / "run" / "journal" / "onehop.seconds").read_text() == "1 0.250000\n2 0.250000\n" + (
        "3 0.250000\n4 0.250000\n"
    )
    assert outcome.state == "complete"


def test_the_time_of_a_hook_has_four_digits(tmp_path, questions, monkeypatch):
    monkeypatch.setattr("srtk_framework.host.observers.time", SimpleNamespace(perf_counter=Clock(0.123456)))
    outcome = run(data(tmp_path, questions, limit=1))
    row = outcome.timing["onehop"]["knowledge_graph:toy.labels"]
    assert {key: row[key] for key in ("calls", "seconds", "own")} == {"calls": 1, "seconds": 0.1235, "own": 0.1235}


@attrs.define(eq=False)
class Told(EntityLinker):
    """Links each text to Paris, while another linker fails."""

    def link(self, texts):
        return [LinkList([Link("paris")], {"rel": "it is down"}) for _ in texts]


def test_linkers_that_fail_are_counted_once_and_told_by_each_method(tmp_path, questions):
    against = {"against": [{**OTHER, "poison": "rome"}]}
    assert run(data(tmp_path, questions, limit=3, entity_linker=Told())).linkers_failed == {"rel": 3}
    outcome = run(data(tmp_path, questions, limit=3, batch=2, entity_linker=Told(), evaluate=against))
    assert outcome.linkers_failed == {"rel": 3}
    folder = tmp_path / "run" / "journal"
    main, other = (
        [json.loads(line) for line in (folder / f"{name}.jsonl").read_text().splitlines()]
        for name in ("onehop", "other")
    )
    source = {"links": "linked", "linked_by": main[0]["trace"]["linked_by"], "linkers_failed": {"rel": "it is down"}}
    assert all(source.items() <= record["trace"].items() for record in [*main, other[0], other[2]])
    assert other[0]["trace"].keys() == main[0]["trace"].keys()
    assert "error" in other[1]
    assert other[1]["trace"] == {
        "reason": "onehop: poisoned; drink milk",
        **{key: value for key, value in source.items() if key != "links"},
    }


def test_without_a_linker_the_second_method_tells_that_links_were_given(tmp_path):
    path = tmp_path / "q.jsonl"
    path.write_text('{"id": "a", "question": "x", "question_entities": ["lima"]}\n')
    recipe = data(tmp_path, path, evaluate={"against": [OTHER]})
    del recipe["entity_linker"]
    assert run(recipe).linkers_failed == {}
    one, two = (json.loads((tmp_path / "run" / "journal" / f"{m}.jsonl").read_text()) for m in ("onehop", "other"))
    assert one["trace"] == two["trace"]


@attrs.define(eq=False)
class Broken(Exporter):
    """Fails to write."""

    error: BaseException
    told: list[str] = attrs.field(factory=list, eq=False)

    def write(self, retrievals):
        raise self.error

    def abort(self):
        self.told.append("abort")
        return True

    def close(self):
        self.told.append("close")


@pytest.mark.parametrize("error", [DriverError("no room"), KeyboardInterrupt()])
def test_an_exporter_that_fails_while_it_writes_is_aborted_and_closed(tmp_path, questions, error):
    broken = Broken(error)
    with pytest.raises(type(error)):
        run(data(tmp_path, questions, exporters=[broken]))
    assert broken.told == ["abort", "close"]


@attrs.define(eq=False)
class Counts(Exporter):
    """Counts results, and writes no file."""

    counts: list[int] = attrs.field(factory=list)

    def write(self, retrievals):
        self.counts.append(len(retrievals))
        return len(retrievals)


def test_exporters_get_all_results_in_batches_and_those_with_a_file_are_named(tmp_path, questions):
    counts = Counts()
    lines = {"use": "lines", "path": str(tmp_path / "lines.txt")}
    outcome = run(data(tmp_path, questions, batch=6, exporters=[counts, lines]))
    assert counts.counts == [6, 6, 4]
    assert outcome.exports == [str(tmp_path / "lines.txt")]


def test_a_recipe_that_only_links_is_evaluated_by_its_links_alone(tmp_path, questions):
    recipe = data(tmp_path, questions, evaluate=True)
    del recipe["expander"]
    assert run(recipe).stages == {}
    assert not (tmp_path / "run" / "evaluation.json").exists()
    lines = [json.loads(line) for line in questions.read_text().splitlines()[:2]]
    gold = [{"entity": "paris", "start": 11, "end": 16}]
    questions.write_text("".join(json.dumps({**line, "gold_links": gold}) + "\n" for line in lines))
    report = run(recipe).stages["evaluate"]
    assert report["linking"]["methods"]["linked"]["strong_recall"]["mean"] == 0.5
    assert report["methods"]["linked"]["answer_recall"]["n"] == 0


def test_results_of_an_earlier_run_are_evaluated_with_and_without_a_graph(tmp_path):
    path = tmp_path / "results.jsonl"
    record = {
        "id": "a",
        "question": "x",
        "question_entities": ["paris"],
        "answer_entities": ["france"],
        "gold_paths": [["capital_of"]],
        "triplets": [["paris", "capital_of", "france"]],
    }
    path.write_text(json.dumps(record) + "\n")
    recipe = data(tmp_path, path, evaluate=True)
    del recipe["expander"], recipe["entity_linker"]
    # Only a graph tells which triples a gold path has.
    for paths in (1, 0):
        metrics = run(recipe).stages["evaluate"]["methods"]["given"]
        assert metrics["answer_recall"]["mean"] == 1.0
        assert metrics["triple_recall"]["n"] == paths
        recipe.pop("knowledge_graph", None)


@pytest.fixture
def training(tmp_path, learners):
    """Return a recipe that trains, and asks one of its training questions and another one."""
    for name, texts in (("learn", ["a", "b"]), ("check", ["c"]), ("ask", ["b", "d"])):
        lines = [
            {
                "id": text,
                "question": f"what of {text}?",
                "question_entities": ["paris"],
                "answer_entities": ["france"],
                "gold_paths": [["capital_of"]],
            }
            for text in texts
        ]
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    learn, check = (str(tmp_path / f"{name}.jsonl") for name in ("learn", "check"))
    return data(
        tmp_path,
        tmp_path / "ask.jsonl",
        path_scorer="counter",
        expander="walk",
        train={"questions": learn, "validation": check, "supervision": "gold"},
        evaluate=True,
    )


def test_a_run_that_trains_tells_of_its_training_and_slices_by_it(tmp_path, training):
    outcome = Runner(from_data(training)).run()
    assert (outcome.state, outcome.questions, outcome.finished) == ("complete", 2, 2)
    told = manifest(tmp_path)["training"]
    assert (told["folder"], told["questions_seen"]) == (str(outcome.stages["train"].folder), 1)
    assert told["counts"]["lessons"] == 2
    assert {RELATIONS, PATH} <= set(outcome.stages["evaluate"]["slices"])
    del training["train"]
    outcome = run(training, fresh=True)
    assert "train" not in outcome.stages
    assert not {RELATIONS, PATH} & set(outcome.stages["evaluate"]["slices"])


def test_a_run_that_only_trains_asks_no_question(tmp_path, training):
    whole = Runner(from_data(training), train_only=True).run()
    del training["questions"]
    unasked = Runner(from_data(training)).run()
    for outcome in (whole, unasked):
        counts = (outcome.questions, outcome.finished, outcome.failed, outcome.unlabelled)
        assert (outcome.state, counts) == ("complete", (0, 0, 0, 0))
        assert outcome.stages["train"].counts["lessons"] == 2
    assert not (tmp_path / "run" / "manifest.json").exists()


def test_a_further_process_of_a_training_asks_no_question(tmp_path, training, monkeypatch):
    Runner(from_data(training), train_only=True).run()
    monkeypatch.setenv("LOCAL_RANK", "1")
    outcome = Runner(from_data(training)).run()
    assert (outcome.questions, outcome.stages["train"].counts["lessons"]) == (0, 2)
    del training["train"]
    assert Runner(from_data(training)).run().finished == 2


def test_nothing_to_train_is_refused(tmp_path, questions):
    with pytest.raises(RunError, match="there is nothing to train; add `train:`"):
        Runner(from_data(data(tmp_path, questions)), train_only=True).run()


def test_a_training_stops_at_once_and_the_run_after_it_by_batches(tmp_path, training):
    under_way = []

    def stop():
        under_way.append(runner.training)
        runner.stop()

    watch = Events("training", stop)
    runner = Runner(from_data(training), observers=[watch])
    with pytest.raises(KeyboardInterrupt):
        runner.run()
    assert [*under_way, runner.training] == [True, False]
    journals = tmp_path / "run" / "journal"
    assert not journals.exists()
    # The training tells of its batches, too.
    watch = Events("batch", lambda: journals.exists() and runner.stop())
    runner = Runner(from_data({**training, "batch": 1}), observers=[watch])
    outcome = runner.run()
    assert (outcome.state, outcome.finished) == ("stopped", 1)
