"""The written graph is kept: written once, checked, and no obstacle where the cache is none."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from srtk_plugin_onnx import kept_graph as module
from srtk_plugin_onnx.encoder import OnnxEncoder

from srtk_framework.values import DriverError

Make = Callable[..., OnnxEncoder]
TEXTS = ["what is the capital of latvia", "riga", ""]


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "srtk-framework" / "onnx"


@pytest.mark.parametrize("weights", ["float32", "int8"])
def test_a_graph_is_written_once_and_read_as_it_was_written(
    make: Make, bert: Path, cache: Path, monkeypatch: pytest.MonkeyPatch, weights: str
) -> None:
    first = make(bert, weights=weights).encode(TEXTS)
    assert [sorted(path.name for path in folder.iterdir()) for folder in cache.iterdir()] == [
        ["graph.json", "model.onnx", "weights.bin"]
    ]
    monkeypatch.delattr(module, "bert_graph")
    assert np.array_equal(make(bert, weights=weights).encode(TEXTS), first)


def test_other_weights_and_settings_have_a_graph_of_their_own(
    make: Make, bert: Path, cache: Path, tmp_path: Path
) -> None:
    from safetensors.numpy import load_file, save_file

    make(bert), make(bert, weights="int8")
    assert len(list(cache.iterdir())) == 2
    make(shutil.copytree(bert, tmp_path / "same"))
    assert len(list(cache.iterdir())) == 2
    copy = shutil.copytree(bert, tmp_path / "copy")
    stored = load_file(copy / "model.safetensors")
    save_file({name: value + 1 for name, value in stored.items()}, copy / "model.safetensors")
    make(copy)
    assert len(list(cache.iterdir())) == 3


@pytest.mark.parametrize("file", ["model.onnx", "weights.bin"])
def test_a_damaged_file_is_refused_and_written_again_after_a_repair(
    make: Make, bert: Path, cache: Path, file: str
) -> None:
    from srtk_framework.cli import main

    before = make(bert).encode(TEXTS)
    [path] = cache.rglob(file)
    content = bytearray(path.read_bytes())
    content[100] ^= 1
    path.write_bytes(content)
    with pytest.raises(DriverError, match=f"{file}: is damaged.*; delete its folder, or run `srtk doctor --repair`"):
        make(bert)
    assert main(["doctor", str(cache), "--repair"]) == 0
    assert np.array_equal(make(bert).encode(TEXTS), before)


def test_a_cache_that_cannot_be_written_is_done_without(make: Make, bert: Path, cache: Path) -> None:
    cache.parent.mkdir(parents=True)
    cache.write_text("a file where the folder should be")
    assert make(bert).encode(TEXTS).shape == (3, 32)


def test_a_full_disk_is_told_in_a_sentence(
    make: Make, bert: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module, "write_model", full)
    with pytest.raises(DriverError, match=r"cannot be written to .*No space left.*set XDG_CACHE_HOME"):
        make(bert)
    assert not list(cache.iterdir())


def test_of_two_processes_that_write_it_the_first_wins(
    make: Make, bert: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = module.write_model

    def meanwhile(*arguments: object) -> None:
        monkeypatch.setattr(module, "write_model", write)
        make(bert)
        write(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(module, "write_model", meanwhile)
    make(bert)
    assert [folder.name.startswith(".") for folder in cache.iterdir()] == [False]
