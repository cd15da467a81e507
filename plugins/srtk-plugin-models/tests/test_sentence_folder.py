"""The settings of sentence-transformers in a folder; the plugins' tests compare the vectors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from srtk_plugin_models import Dense, SentenceFolder
from srtk_plugin_models.sentence_folder import read_sentence_folder

from srtk_framework.values import DriverError


def write(folder: Path, modules: list[tuple[str, str, dict[str, Any]]], **files: Any) -> Path:
    """Write a list of modules, each with its folder and settings, and further JSON files."""
    listed = [{"path": path, "type": f"sentence_transformers.models.{kind}"} for kind, path, _ in modules]
    (folder / "modules.json").write_text(json.dumps(listed))
    for kind, path, settings in modules:
        if path:
            (folder / path).mkdir()
            (folder / path / "config.json").write_text(json.dumps(settings))
            if kind == "Dense":
                (folder / path / "model.safetensors").write_bytes(b"")
    for name, content in files.items():
        (folder / f"{name}.json").write_text(json.dumps(content))
    return folder


TRANSFORMER = ("Transformer", "", {})
MEAN = ("Pooling", "1_Pooling", {"pooling_mode_mean_tokens": True, "pooling_mode_cls_token": False})


def test_a_plain_folder_says_nothing(tmp_path: Path) -> None:
    assert read_sentence_folder(tmp_path) == SentenceFolder()


def test_modules_length_and_prompt_are_read(tmp_path: Path) -> None:
    dense = ("Dense", "2_Dense", {"activation_function": "torch.nn.modules.linear.Identity"})
    folder = write(
        tmp_path,
        [TRANSFORMER, MEAN, dense, ("Normalize", "3_Normalize", {})],
        sentence_bert_config={"max_seq_length": 64, "do_lower_case": True},
        config_sentence_transformers={"prompts": {"query": "query: "}, "default_prompt_name": "query"},
    )
    found = read_sentence_folder(folder)
    assert found.pooling == "mean"
    assert found.layers == (Dense(folder / "2_Dense" / "model.safetensors", "Identity"),)
    assert (found.max_length, found.lower, found.prompt) == (64, True, "query: ")


def test_several_poolings_are_joined_in_a_fixed_order(tmp_path: Path) -> None:
    both = ("Pooling", "1_Pooling", {"pooling_mode_mean_tokens": True, "pooling_mode_cls_token": True})
    assert read_sentence_folder(write(tmp_path, [TRANSFORMER, both])).pooling == "cls+mean"


@pytest.mark.parametrize(
    ("module", "message"),
    [
        (("LSTM", "2_LSTM", {}), "has the module LSTM"),
        (("Dense", "2_Dense", {"activation_function": "torch.nn.GELU"}), "has the activation GELU"),
        (("Pooling", "2_Pooling", {"pooling_mode_mean_tokens": True}), "has the module Pooling"),
    ],
)
def test_what_cannot_be_computed_is_refused_by_name(
    tmp_path: Path, module: tuple[str, str, dict[str, Any]], message: str
) -> None:
    with pytest.raises(DriverError, match=message):
        read_sentence_folder(write(tmp_path, [TRANSFORMER, MEAN, module]))


def test_a_prompt_that_the_folder_lacks_is_refused_with_those_it_has(tmp_path: Path) -> None:
    folder = write(tmp_path, [TRANSFORMER, MEAN], config_sentence_transformers={"prompts": {"query": "query: "}})
    with pytest.raises(DriverError, match=r"has no prompt 'passage'; set prompt to one of \['query'\]"):
        read_sentence_folder(folder, "passage")
