"""The folder of a training: whose training it holds, and what may replace it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from srtk_plugin_training import TrainingFolder
from srtk_plugin_training.folder import RECORD

from srtk_framework.values import RunError

Begun = Callable[..., bool]


@pytest.fixture
def folder(tmp_path: Path) -> TrainingFolder:
    return TrainingFolder(tmp_path / "training", tmp_path / "model", "--out")


@pytest.fixture
def begun(folder: TrainingFolder) -> Begun:
    """Begin a training of a fingerprint, leave a checkpoint, and return whether an earlier one was there."""
    checkpoint = folder.path / "checkpoints" / "round-000001.ckpt"

    def differences(earlier: Mapping[str, Any]) -> str:
        return f"more than {earlier['fingerprint']}"

    def begin(fingerprint: str, fresh: bool = False) -> bool:
        goes_on = folder.begin({"fingerprint": fingerprint}, fresh, differences)
        assert goes_on == checkpoint.exists()
        checkpoint.parent.mkdir(exist_ok=True)
        checkpoint.write_text("")
        return goes_on

    return begin


def test_an_unfinished_training_goes_on_and_another_is_refused_unless_it_starts_over(begun: Begun) -> None:
    assert not begun("a")
    assert begun("a")
    with pytest.raises(
        RunError, match=r"an unfinished training that differs in more than a; .* start over with --fresh"
    ):
        begun("b")
    assert begun("a")
    assert not begun("a", fresh=True)
    assert not begun("b", fresh=True)


def test_a_finished_model_is_replaced_only_if_asked(folder: TrainingFolder, begun: Begun) -> None:
    begun("a")
    folder.model.write_text("weights")
    folder.end({"fingerprint": "a", "figures": 1})
    assert folder.finished({"fingerprint": "a"}) == {"state": "complete", "fingerprint": "a", "figures": 1}
    assert folder.finished({"fingerprint": "b"}) is None
    with pytest.raises(RunError, match=r"a finished training that differs in more than a; .* its model with --fresh"):
        begun("b")
    assert folder.finished({"fingerprint": "a"}) is not None
    assert not begun("b", fresh=True)
    assert folder.model.read_text() == "weights"


def test_a_finished_training_whose_model_was_deleted_is_done_anew(folder: TrainingFolder, begun: Begun) -> None:
    begun("a")
    folder.end({"fingerprint": "a"})
    assert folder.finished({"fingerprint": "a"}) is None
    assert not begun("b")


@pytest.mark.parametrize("name", ["model", "training/log"])
def test_what_no_record_says_of_which_training_is_replaced_only_if_asked(
    folder: TrainingFolder, begun: Begun, tmp_path: Path, name: str
) -> None:
    (tmp_path / name).mkdir(parents=True)
    with pytest.raises(RunError, match=rf"holds {Path(name).name}, but no training\.json .* with --fresh"):
        begun("a")
    assert not begun("a", fresh=True)


@pytest.mark.parametrize("content", ["{", "[]", "{}", '{"fingerprint": 1}'])
def test_a_file_that_is_no_record_of_a_training_is_not_overwritten(
    folder: TrainingFolder, begun: Begun, content: str
) -> None:
    folder.path.mkdir()
    (folder.path / RECORD).write_text(content)
    with pytest.raises(RunError, match=r"training\.json.*; move this file away .* another --out"):
        begun("a", fresh=True)
    assert (folder.path / RECORD).read_text() == content
