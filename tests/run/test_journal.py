"""The journal as evidence: a line that does not fit its place is named, and nothing else goes on as if it did."""

from __future__ import annotations

import functools
import hashlib
import json
import re
import shutil
from pathlib import Path
from types import MappingProxyType

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from srtk_framework.host import discovery
from srtk_framework.recipe.recipe import from_data
from srtk_framework.records import read_retrievals
from srtk_framework.run.journal import Journal, _mark_of, discard, journal_file
from srtk_framework.run.runner import Runner
from srtk_framework.values import Question, Retrieval, RunError, Subgraph, Triple

QUESTIONS = [Question(f"q{i}", f"what about {i}?", extra={"journal": "Nature"} if i == 2 else {}) for i in range(5)]


def record_in(line: bytes) -> bytes:
    """Return the record of a line without the journal's mark."""
    mark = _mark_of(line)
    return line if mark is None else line[: mark.start()] + b"}\n"


def retrieval(question: Question) -> Retrieval:
    if question.id == "q3":
        return Retrieval(question, error="nothing was found")
    return Retrieval(
        question, subgraph=Subgraph((Triple("paris", "capital_of", question.id),), (-1.0,), (), (-1,), ("",), ((),))
    )


def written(folder, method="beam", run="a", count=5):
    journal = Journal(folder, method, run)
    journal.add([retrieval(question) for question in QUESTIONS[:3]], 0.3)
    journal.add([retrieval(question) for question in QUESTIONS[3:count]], 0.4)
    return journal.file


def recovered(folder, method="beam", run="a", asked=QUESTIONS):
    journal = Journal(folder, method, run)
    return journal, journal.recover(asked)


def test_each_line_has_number_id_run_and_checksum(tmp_path):
    rows = [json.loads(line) for line in written(tmp_path).read_text().splitlines()]
    assert [row["id"] for row in rows] == ["q0", "q1", "q2", "q3", "q4"]
    assert [row["journal"]["number"] for row in rows] == [1, 2, 3, 4, 5]
    assert len({row["journal"]["run"] for row in rows}) == 1
    assert len({row["journal"]["checksum"] for row in rows}) == 5


def test_what_was_written_is_read_back(tmp_path):
    written(tmp_path)
    journal, dropped = recovered(tmp_path)
    assert (journal.finished, journal.failed, dropped) == (5, 1, False)
    assert list(journal.read()) == [retrieval(question) for question in QUESTIONS]
    assert list(journal.seconds()) == pytest.approx([0.1, 0.1, 0.1, 0.2, 0.2])


def test_other_readers_take_a_journal_for_result_records(tmp_path):
    found = list(read_retrievals(written(tmp_path)))
    assert [one.subgraph for one in found] == [retrieval(question).subgraph for question in QUESTIONS]
    assert all(not one.question.extra for one in found)


def test_a_field_of_the_question_that_is_called_journal_is_kept(tmp_path):
    line = written(tmp_path).read_bytes().splitlines(keepends=True)[2]
    assert json.loads(record_in(line))["journal"] == "Nature"
    assert next(read_retrievals_of(tmp_path, record_in(line))).question.extra == {"journal": "Nature"}


def read_retrievals_of(folder, line):
    file = folder / "one.jsonl"
    file.write_bytes(line)
    return read_retrievals(file)


def test_the_lines_of_a_run_and_method_do_not_depend_on_the_batches(tmp_path):
    first = written(tmp_path / "a").read_bytes()
    journal = Journal(tmp_path / "b", "beam", "a")
    for question in QUESTIONS:
        journal.add([retrieval(question)], 1.0)
    assert journal.file.read_bytes() == first


def changed(line):
    return line.replace(b"capital_of", b"capital-of")


FAULTS = {
    "deleted": (lambda lines: [lines[0], *lines[2:]], 2, "the line is on question 3, not 2; a line was deleted"),
    "first deleted": (lambda lines: lines[1:], 1, "the line is on question 2, not 1"),
    "doubled": (lambda lines: [lines[0], *lines], 2, "the line is on question 1, not 2"),
    "swapped": (lambda lines: [lines[1], lines[0], *lines[2:]], 1, "the line is on question 2, not 1"),
    "changed": (lambda lines: [*lines[:2], changed(lines[2]), *lines[3:]], 3, "the line was changed after"),
    "last changed": (lambda lines: [*lines[:4], changed(lines[4])], 5, "the line was changed after"),
    "truncated": (lambda lines: [lines[0][:40] + b"\n", *lines[1:]], 1, "this is not a whole line of a journal"),
    "glued": (lambda lines: [lines[0][:40], *lines[1:]], 1, "the line was changed after"),
    "no JSON": (lambda lines: [*lines[:3], b"}{\n", *lines[4:]], 4, "this is not a whole line of a journal"),
    "blank": (lambda lines: [*lines[:3], b"\n", *lines[3:]], 4, "this is not a whole line of a journal"),
    "zeros": (lambda lines: [*lines[:3], b"\0" * 80 + b"\n"], 4, "this is not a whole line of a journal"),
    "not UTF-8": (lambda lines: [b"\xff\xfe\n", *lines], 1, "this is not a whole line of a journal"),
    "unmarked": (lambda lines: [record_in(lines[0]), *lines[1:]], 1, "this is not a whole line of a journal"),
    "added": (lambda lines: [*lines, lines[-1]], 6, "the line is on question 5, not 6"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_the_first_line_that_does_not_fit_is_named(tmp_path, fault):
    edit, number, said = FAULTS[fault]
    file = written(tmp_path)
    file.write_bytes(b"".join(edit(file.read_bytes().splitlines(keepends=True))))
    with pytest.raises(RunError) as raised:
        recovered(tmp_path)
    assert str(raised.value).startswith(f"{file}:{number}: {said}")
    assert "; delete it and the lines after it" in str(raised.value)
    assert "--fresh" in str(raised.value)


@pytest.mark.parametrize(("method", "run"), [("beam", "b"), ("bfs", "a")])
def test_lines_of_another_run_or_method_are_refused(tmp_path, method, run):
    file = written(tmp_path)
    journal = Journal(tmp_path, method, run)
    if journal.file != file:
        shutil.copy(file, journal.file)
    with pytest.raises(RunError, match=r"\.jsonl:1: the line is of another run, method or version"):
        journal.recover(QUESTIONS)


def test_the_remedy_of_a_damaged_line_works(tmp_path):
    file = written(tmp_path)
    whole = file.read_bytes()
    lines = whole.splitlines(keepends=True)
    file.write_bytes(b"".join(lines[:3]))
    journal, _ = recovered(tmp_path)
    journal.add([retrieval(question) for question in QUESTIONS[3:]], 0.1)
    assert file.read_bytes() == whole


@pytest.mark.parametrize("left", [1, 30, -1])
def test_a_torn_last_line_is_dropped_and_told(tmp_path, left):
    file = written(tmp_path)
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join(lines[:3]) + lines[3][:left])
    journal, dropped = recovered(tmp_path)
    assert (journal.finished, dropped) == (3, True)
    assert file.read_bytes() == b"".join(lines[:3])


def test_a_question_of_another_id_is_named(tmp_path):
    written(tmp_path)
    with pytest.raises(RunError, match=r":2: the line is about the question 'q1', and question 2 is 'other'"):
        recovered(tmp_path, asked=[QUESTIONS[0], Question("other", "x"), *QUESTIONS[2:]])


def test_more_lines_than_questions_are_refused(tmp_path):
    written(tmp_path)
    with pytest.raises(RunError, match=r":4: the run has only 3 questions"):
        recovered(tmp_path, asked=QUESTIONS[:3])


def test_a_line_changed_after_the_start_is_refused_when_it_is_read(tmp_path):
    file = written(tmp_path)
    journal, _ = recovered(tmp_path)
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join([*lines[:1], changed(lines[1]), *lines[2:]]))
    with pytest.raises(RunError, match=r":2: the line was changed"):
        list(journal.read())


def test_lines_added_by_something_else_are_refused_when_they_are_read(tmp_path):
    file = written(tmp_path, count=4)
    journal, _ = recovered(tmp_path)
    file.write_bytes(file.read_bytes() + b"x\n")
    with pytest.raises(RunError, match=r":5: the line was written by something else"):
        list(journal.read())


def test_seconds_that_a_kill_lost_are_unknown_and_the_others_keep_their_place(tmp_path):
    file = written(tmp_path)
    seconds = file.with_name("beam.seconds")
    lines = seconds.read_text().splitlines(keepends=True)
    seconds.write_text(
        "".join([lines[0], "2 0.\n", "x\n", "\udcff", lines[3], lines[4][:-4]]), errors="surrogateescape"
    )
    journal, _ = recovered(tmp_path)
    assert list(journal.seconds()) == [pytest.approx(0.1), None, None, None, None]
    seconds.unlink()
    assert list(journal.seconds()) == [None] * 5


def test_failed_questions_are_counted_as_they_are_added(tmp_path):
    journal = Journal(tmp_path, "beam", "a")
    journal.add([retrieval(question) for question in QUESTIONS], 0.1)
    assert (journal.finished, journal.failed) == (5, 1)


def test_a_line_of_this_run_that_is_no_record_is_refused_when_it_is_read(tmp_path):
    file = written(tmp_path, count=4)
    first, *rest = file.read_bytes().splitlines(keepends=True)
    head = re.sub(rb'"triplets": \[.*?\]\]', b'"triplets": 7', first)[: -len(b', "checksum": "0123456789abcdef"}}\n')]
    assert b'"triplets": 7' in head
    mark = b', "checksum": "' + hashlib.sha256(head).hexdigest()[:16].encode() + b'"}}\n'
    file.write_bytes(b"".join([head + mark, *rest]))
    journal, _ = recovered(tmp_path)
    with pytest.raises(RunError, match=r"beam\.jsonl:1.*; start over with --fresh"):
        list(journal.read())


@pytest.mark.parametrize(
    ("value", "fault"),
    [
        (b"1e999", "the number 1e999 is too large for a float"),
        (b"NaN", "NaN is not a JSON number"),
        (b"[" * 101 + b"]" * 101, "nests deeper than 100 levels"),
        (b"[" * 100_000 + b"]" * 100_000, "not valid JSON"),
        (b"7}, {", "not valid JSON"),
        (b'"\xff"', r"not UTF-8 \(byte 10\);"),
    ],
    ids=["infinite", "nan", "deep", "very deep", "syntax", "encoding"],
)
def test_a_line_of_this_run_that_is_no_json_within_the_limits_is_refused_with_its_place(tmp_path, value, fault):
    file = written(tmp_path, count=4)
    first, second, *rest = file.read_bytes().splitlines(keepends=True)
    head = second[: -len(b', "checksum": "0123456789abcdef"}}\n')].replace(b"{", b'{"odd": ' + value + b", ", 1)
    mark = b', "checksum": "' + hashlib.sha256(head).hexdigest()[:16].encode() + b'"}}\n'
    file.write_bytes(b"".join([first, head + mark, *rest]))
    with pytest.raises(RunError, match=rf"beam\.jsonl:2:.*{fault}.* delete it and the lines after it"):
        recovered(tmp_path)


@pytest.mark.parametrize(
    "wrap", [lambda inner: [inner], lambda inner: (inner,), lambda inner: MappingProxyType({"a": inner})]
)
def test_a_result_that_nests_too_deep_to_be_read_again_is_an_error_of_its_question(tmp_path, wrap):
    deep = []
    for _ in range(150):
        deep = wrap(deep)
    journal = Journal(tmp_path, "beam", "a")
    odd = Retrieval(QUESTIONS[0], subgraph=Subgraph((), (), (), (), (), (), trace={"deep": deep}))
    first, second = journal.add([odd, retrieval(QUESTIONS[1])], 0.1)
    assert "nests deeper than 100 levels" in first.error
    assert second.error is None
    again, _ = recovered(tmp_path)
    assert (again.finished, again.failed) == (2, 1)


def test_the_seconds_of_a_batch_are_shared_by_its_questions(tmp_path):
    journal = Journal(tmp_path, "beam", "a")
    journal.add([retrieval(QUESTIONS[0])], 0.5)
    journal.add([], 7.0)
    journal.add([retrieval(question) for question in QUESTIONS[1:4]], 0.75)
    assert list(journal.seconds()) == [0.5, 0.25, 0.25, 0.25]


def test_a_torn_line_that_cannot_be_dropped_is_one_sentence(tmp_path, monkeypatch):
    file = written(tmp_path)
    file.write_bytes(file.read_bytes()[:-9])

    def refuse(*_):
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr("os.truncate", refuse)
    with pytest.raises(RunError, match=r"beam\.jsonl cannot be written: Read-only file system"):
        recovered(tmp_path)


def test_a_result_that_cannot_be_written_becomes_an_error(tmp_path):
    journal = Journal(tmp_path, "beam", "a")
    odd = Retrieval(QUESTIONS[0], subgraph=Subgraph(trace={"weight": float("nan")}))
    first, second = journal.add([odd, retrieval(QUESTIONS[1])], 0.1)
    assert "field 'trace' cannot be written as JSON" in first.error
    assert second == retrieval(QUESTIONS[1])
    assert (journal.finished, journal.failed) == (2, 1)
    assert [one.error is None for one in journal.read()] == [False, True]


def test_a_journal_that_is_a_folder_is_one_sentence(tmp_path):
    journal_file(tmp_path, "beam").mkdir(parents=True)
    with pytest.raises(RunError, match=r"beam\.jsonl cannot be read: Is a directory; start over with --fresh"):
        recovered(tmp_path)
    with pytest.raises(RunError, match=r"beam\.jsonl cannot be written: Is a directory"):
        Journal(tmp_path, "beam", "a").add([retrieval(QUESTIONS[0])], 0.1)


def test_a_file_in_place_of_the_folder_is_one_sentence(tmp_path):
    (tmp_path / "journal").write_text("")
    with pytest.raises(RunError, match=r"cannot be written: File exists; fix this and give the same command again"):
        Journal(tmp_path, "beam", "a").add([retrieval(QUESTIONS[0])], 0.1)


# Any edit of the journals of a stopped run: the same bytes in the end, or an error that names file and line.

TEXTS = ["paris?", "rome?", "nowhere?", "lima?", "and paris, ô rome?", "lima or rome?"]


def recipe(folder):
    return from_data(
        {
            "srtk": 1,
            "questions": str(folder / "q.jsonl"),
            "output": str(folder / "run"),
            "knowledge_graph": "toy",
            "entity_linker": "words",
            "expander": "onehop",
            "batch": 2,
            "exporters": [{"use": "lines", "path": str(folder / "lines.txt")}],
            "evaluate": {"against": [{"use": "onehop", "name": "wide", "width": 9}]},
        }
    )


def outcome(folder):
    """Return what a run leaves, except times."""
    scores = [json.loads(line) for line in (folder / "run" / "scores.jsonl").read_text().splitlines()]
    return (
        {file.name: file.read_bytes() for file in (folder / "run" / "journal").glob("*.jsonl")},
        (folder / "lines.txt").read_bytes(),
        [{key: value for key, value in row.items() if key != "seconds"} for row in scores],
    )


@st.composite
def edits(draw):
    """Draw an edit of bytes: a function, and its name for the report."""
    place, other = draw(st.integers(0, 10_000)), draw(st.integers(0, 10_000))
    kind = draw(st.sampled_from(["flip", "drop", "double", "swap", "cut", "insert", "join", "none"]))
    byte = draw(st.integers(1, 255))

    def edit(content: bytes) -> bytes:
        lines = content.splitlines(keepends=True)
        if not content or kind == "none":
            return content
        at, i, j = place % len(content), place % len(lines), other % len(lines)
        if kind == "flip":
            return content[:at] + bytes([content[at] ^ byte]) + content[at + 1 :]
        if kind == "cut":
            return content[:at]
        if kind == "insert":
            return content[:at] + bytes([byte]) + content[at:]
        if kind == "join":
            return content[:at] + content[at + 1 :]
        if kind == "drop":
            del lines[i]
        elif kind == "double":
            lines.insert(j, lines[i])
        else:
            lines[i], lines[j] = lines[j], lines[i]
        return b"".join(lines)

    return f"{kind} {place} {other} {byte}", edit


def check_edits(folder, state, expected, which, steps):
    shutil.rmtree(folder / "run", ignore_errors=True)
    (folder / "lines.txt").unlink(missing_ok=True)
    shutil.copytree(state, folder / "run")
    file = folder / "run" / "journal" / which
    if file.exists():
        content = file.read_bytes()
        for _, edit in steps:
            content = edit(content)
        file.write_bytes(content)
    try:
        Runner(recipe(folder)).run()
    except RunError as error:
        assert re.match(re.escape(str(file)) + r":[1-9][0-9]*: .+; .+", str(error))  # noqa: PT017
        assert not (folder / "lines.txt").exists()
        return False
    assert outcome(folder) == expected
    return True


@pytest.fixture
def states(tmp_path, toys, monkeypatch):
    """Run folders stopped in the first method, in the second, and killed before the end; what an unbroken run gives."""
    # The entry points are the same for all runs, and reading them anew takes most of the time.
    monkeypatch.setattr(discovery, "_search_path", functools.cache(discovery._search_path))
    rows = [{"id": f"q{i}", "question": text, "answer_entities": ["italy"]} for i, text in enumerate(TEXTS)]
    (tmp_path / "q.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    Runner(recipe(tmp_path)).run()
    expected = outcome(tmp_path)
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_text())
    found = []
    for number, (main, second) in enumerate([(3, None), (6, 2), (6, 6)]):
        folder = tmp_path / f"state{number}"
        (folder / "journal").mkdir(parents=True)
        (folder / "manifest.json").write_text(json.dumps({**manifest, "state": "running"}))
        for name, count in (("onehop.jsonl", main), ("wide.jsonl", second)):
            if count is not None:
                lines = expected[0][name].splitlines(keepends=True)
                (folder / "journal" / name).write_bytes(b"".join(lines[:count]))
        found.append(folder)
    return found, expected


def edited(tmp_path, states, examples):
    folders, expected = states
    became = {True: 0, False: 0}

    @settings(
        max_examples=examples,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(
        st.sampled_from(folders),
        st.sampled_from(["onehop.jsonl", "wide.jsonl"]),
        st.lists(edits(), min_size=1, max_size=3),
    )
    def check(state, which, steps):
        became[check_edits(tmp_path, state, expected, which, steps)] += 1

    check()
    print(f"{sum(became.values())} edits: {became[True]} gave the same bytes, {became[False]} an error with file:line")
    assert min(became.values()) > examples / 20


def test_no_edit_of_a_journal_changes_results(tmp_path, states):
    edited(tmp_path, states, 40)


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_no_edit_of_a_journal_among_hundreds_changes_results(tmp_path, states):
    edited(tmp_path, states, 400)


def test_every_single_byte_of_a_short_journal_is_guarded(tmp_path):
    file = written(tmp_path, count=5)
    whole = file.read_bytes()
    lines = whole.splitlines(keepends=True)
    ends = {sum(map(len, lines[: n + 1])) - 1 for n in range(len(lines))}
    print(f"{len(whole)} bytes, each changed")
    for at in range(len(whole)):
        file.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        if at == max(ends):
            assert recovered(tmp_path)[0].finished == 4
            continue
        with pytest.raises(RunError, match=r"beam\.jsonl:[1-5]: "):
            recovered(tmp_path)


def test_discarding_deletes_journals_and_seconds_and_nothing_else(tmp_path):
    discard(tmp_path, known=False)
    file = written(tmp_path)
    written(tmp_path, "bfs")
    for name in ("a.txt", "notes.txt"):
        file.with_name(name).write_text("mine")
    (file.parent / "empty.jsonl").write_bytes(b"")
    discard(tmp_path, known=False)
    assert sorted(one.name for one in file.parent.iterdir()) == ["a.txt", "notes.txt"]


def test_a_file_that_is_no_journal_is_deleted_only_in_the_folder_of_a_run(tmp_path):
    file = written(tmp_path).with_name("answers.jsonl")
    lines = file.with_name("beam.jsonl").read_bytes().splitlines(keepends=True)
    file.write_bytes(record_in(lines[0]) + lines[1])
    with pytest.raises(RunError, match=r"answers\.jsonl is not a journal of a run; move it away, or choose another"):
        discard(tmp_path, known=False)
    assert file.exists()
    discard(tmp_path, known=True)
    assert list(file.parent.iterdir()) == []


def test_a_journal_that_cannot_be_deleted_is_one_sentence(tmp_path):
    (written(tmp_path).parent / "x.jsonl").mkdir()
    for known in (True, False):
        with pytest.raises(RunError, match=r"x\.jsonl cannot be deleted: Is a directory; delete it by hand"):
            discard(tmp_path, known)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "journal").write_text("")
    with pytest.raises(RunError, match=r"journal is not a folder of journals: Not a directory; move it away"):
        discard(tmp_path / "other", known=True)


def test_methods_of_odd_names_have_journals_of_their_own_in_the_folder():
    assert journal_file(Path("run"), "a b/../c-d_e.f").relative_to("run") == Path("journal/a_b_.._c-d_e.f.jsonl")
    assert journal_file(Path("run"), "größe").name == "größe.jsonl"


def test_a_short_line_is_read_whole(tmp_path):
    # The mark of a line is looked for at its end, which is all of a short line.
    assert record_in(b'{"a": 1}\n') == b'{"a": 1}\n'
    assert record_in(b"") == b""
    mark = b', "journal": {"number": 1, "run": "' + b"0" * 16 + b'", "checksum": "' + b"f" * 16 + b'"}}\n'
    assert record_in(b'{"a": 1' + mark) == b'{"a": 1}\n'
    long = mark.replace(b" 1,", b" 123456789012345678,")
    assert record_in(b'{"a": 1' + long) == b'{"a": 1}\n'
    assert record_in(b'{"a": 1' + mark.replace(b" 1,", b" 01,")) == b'{"a": 1' + mark.replace(b" 1,", b" 01,")
