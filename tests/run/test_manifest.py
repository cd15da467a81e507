"""The manifest, and whose folder it says that a folder is."""

from __future__ import annotations

import json

import pytest

from srtk_framework.run.journal import Journal
from srtk_framework.run.manifest import claim
from srtk_framework.values import Question, Retrieval, RunError

NEW = {"fingerprint": "a", "fingerprints": {"beam": "x"}, "versions": {}, "questions": {}, "seed": 0}


def held(folder, state="running", fingerprint="a"):
    """Make a folder that holds a run with one finished question."""
    folder.mkdir(exist_ok=True)
    (folder / "manifest.json").write_text(
        json.dumps({**NEW, "fingerprint": fingerprint, "state": state, "stages": {"evaluate": "x", "gone": "y"}})
    )
    (folder / "evaluation.json").write_text("{}")
    Journal(folder, "beam", fingerprint).add([Retrieval(Question("q", "x"))], 0.1)


def names(folder):
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


WHOLE = ["beam.jsonl", "beam.seconds", "evaluation.json", "manifest.json"]


@pytest.mark.parametrize("state", ["running", "stopped", "something else"])
@pytest.mark.parametrize("resume", [True, False])
def test_an_unfinished_run_goes_on(tmp_path, state, resume):
    held(tmp_path, state)
    assert claim(tmp_path, NEW, resume, False)
    assert names(tmp_path) == WHOLE


@pytest.mark.parametrize("resume", [True, False])
def test_another_unfinished_run_is_left_alone(tmp_path, resume):
    held(tmp_path, fingerprint="b")
    with pytest.raises(RunError, match=r"holds an unfinished run that differs in .*--fresh"):
        claim(tmp_path, NEW, resume, False)
    assert names(tmp_path) == WHOLE


def test_a_finished_run_is_cleared_except_for_its_manifest(tmp_path):
    held(tmp_path, "complete", "b")
    assert not claim(tmp_path, NEW, False, False)
    assert names(tmp_path) == ["manifest.json"]


def test_a_finished_run_is_taken_over_if_asked(tmp_path):
    held(tmp_path, "complete")
    assert claim(tmp_path, NEW, True, False)
    assert names(tmp_path) == WHOLE


def test_fresh_clears_whatever_run_it_is(tmp_path):
    held(tmp_path, fingerprint="b")
    assert not claim(tmp_path, NEW, False, True)
    assert names(tmp_path) == ["manifest.json"]


def test_an_empty_folder_is_ready(tmp_path):
    assert not claim(tmp_path, NEW, True, False)
    assert not claim(tmp_path, NEW, False, False)


def test_journals_without_a_manifest_are_to_be_checked(tmp_path):
    held(tmp_path)
    (tmp_path / "manifest.json").unlink()
    assert claim(tmp_path, NEW, False, False)


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"name": "a page", "icons": []}', "{", "\xff", "[" * 5000])
@pytest.mark.parametrize("fresh", [True, False])
def test_a_file_that_is_no_manifest_is_not_overwritten(tmp_path, content, fresh):
    (tmp_path / "manifest.json").write_bytes(content.encode("latin-1"))
    with pytest.raises(RunError, match=r"manifest\.json.*choose another `output:`"):
        claim(tmp_path, NEW, False, fresh)
    assert (tmp_path / "manifest.json").read_bytes() == content.encode("latin-1")


def test_a_folder_in_place_of_the_manifest_is_one_sentence(tmp_path):
    (tmp_path / "manifest.json").mkdir()
    with pytest.raises(RunError, match=r"manifest\.json: cannot be read: Is a directory; move this file away"):
        claim(tmp_path, NEW, False, False)


def test_files_that_are_no_journals_are_not_deleted(tmp_path):
    (tmp_path / "journal").mkdir()
    (tmp_path / "journal" / "2026.jsonl").write_text('{"entry": 1}\n')
    with pytest.raises(RunError, match=r"2026\.jsonl is not a journal of a run; move it away"):
        claim(tmp_path, NEW, False, True)
    assert (tmp_path / "journal" / "2026.jsonl").exists()
