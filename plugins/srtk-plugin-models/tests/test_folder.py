"""Folders of models: where they are, what is wrong with them, and their hashes."""

from __future__ import annotations

import hashlib
import json
import os
import re
from pathlib import Path

import pytest
from srtk_plugin_models import check_weights, file_hash, files_hash, find_model, folder_faults
from srtk_plugin_models import folder as models

from srtk_framework.records import write_manifest
from srtk_framework.values import DriverError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "model"
    made.mkdir()
    (made / "config.json").write_text("{}")
    (made / "model.safetensors").write_bytes(b"weights")
    return made


def test_a_folder_with_a_config_is_a_model(folder: Path) -> None:
    assert find_model(str(folder), None, False, False) == folder
    assert folder_faults(str(folder)) == []


@pytest.mark.parametrize("name", ["./no-such-model", "a/b/c", "~/no-such-model"])
def test_what_can_only_be_a_folder_is_not_asked_of_the_hub(name: str) -> None:
    with pytest.raises(DriverError, match="does not exist; check the path"):
        find_model(name, None, False, False)


def test_a_folder_without_a_config_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DriverError, match=r"has no config\.json"):
        find_model(str(tmp_path), None, False, False)
    [(setting, fault)] = folder_faults(str(tmp_path))
    assert setting == "model"
    assert "config.json" in fault


def test_pickled_weights_are_refused_unless_they_are_trusted(folder: Path) -> None:
    check_weights(folder, "mine", pickled=False)
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    with pytest.raises(DriverError, match=r"only pytorch_model\.bin, which can run code when read"):
        check_weights(folder, "mine", pickled=False)
    check_weights(folder, "mine", pickled=True)
    (folder / "pytorch_model.bin").unlink()
    with pytest.raises(DriverError, match="has no weights"):
        check_weights(folder, "mine", pickled=True)


def test_the_hash_follows_weights_settings_and_modules(folder: Path) -> None:
    seen = {files_hash(folder, False, False)}
    (folder / "notes.md").write_text("not read")
    assert files_hash(folder, False, False) in seen
    (folder / "model.safetensors").write_bytes(b"other weights")
    seen.add(files_hash(folder, False, False))
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text(json.dumps({"pooling_mode_cls_token": True}))
    seen.add(files_hash(folder, False, False))
    assert len(seen) == 3


def test_a_file_of_the_hub_has_the_hash_that_is_its_name(tmp_path: Path) -> None:
    blob = tmp_path / "blobs" / ("ab" * 32)
    blob.parent.mkdir()
    blob.write_bytes(b"large")
    os.symlink(blob, tmp_path / "model.safetensors")
    assert file_hash(tmp_path / "model.safetensors") == "ab" * 32


def test_the_hash_of_a_large_file_is_kept_until_the_file_changes(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(models, "_SETTLED", 0)
    computed: list[Path] = []
    original = models._computed_hash
    monkeypatch.setattr(models, "_computed_hash", lambda path: computed.append(path) or original(path))

    def found() -> str:
        monkeypatch.setattr(models, "_hashes", {})  # as in another process
        return file_hash(weights)

    weights = tmp_path / "model.safetensors"
    weights.write_bytes(bytes(models._LARGE))
    first = found()
    assert found() == first == hashlib.sha256(bytes(models._LARGE)).hexdigest()
    assert len(computed) == 1
    state = weights.stat()
    weights.write_bytes(b"1" * models._LARGE)
    os.utime(weights, ns=(state.st_atime_ns, state.st_mtime_ns))
    assert found() == hashlib.sha256(b"1" * models._LARGE).hexdigest()
    for kept in (tmp_path / "cache").rglob("hashes/*"):  # a digit of each hash is another
        kept.write_text(re.sub(r'(?<="sha256":")(.)', lambda one: "0" if one[1] != "0" else "1", kept.read_text()))
    assert found() == hashlib.sha256(b"1" * models._LARGE).hexdigest()
    assert len(computed) == 3


def test_the_hash_of_a_file_that_was_changed_just_now_is_not_kept(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "model.safetensors").write_bytes(bytes(models._LARGE))
    file_hash(tmp_path / "model.safetensors")
    assert not (tmp_path / "cache").exists()


def test_a_changed_file_of_a_trained_model_is_refused_and_told_as_a_fault(folder: Path) -> None:
    before = files_hash(folder, False, False)
    write_manifest(folder)
    assert find_model(str(folder), None, False, False) == folder
    assert files_hash(folder, False, False) == before
    (folder / "mine.txt").write_text("a file of the user")
    assert folder_faults(str(folder)) == []
    (folder / "model.safetensors").write_bytes(b"weighty")
    with pytest.raises(DriverError, match=r"safetensors: is damaged.*; train the model again; .*delete checksums"):
        find_model(str(folder), None, False, False)
    assert folder_faults(str(folder))[0][0] == "model"
    (folder / "checksums.json").unlink()
    assert find_model(str(folder), None, False, False) == folder
