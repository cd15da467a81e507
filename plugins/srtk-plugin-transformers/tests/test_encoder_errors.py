"""What the transformers encoder says when a model is not there or not as it should be."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from srtk_plugin_transformers.encoder import TransformersEncoder

from srtk_framework.values import DriverError, SettingsError

Make = Callable[..., TransformersEncoder]


@pytest.fixture
def copy(bert: Path, tmp_path: Path) -> Path:
    """A folder of a model, to be damaged."""
    return shutil.copytree(bert, tmp_path / "model")


def pickle_weights(folder: Path) -> None:
    import torch
    from safetensors.torch import load_file

    torch.save(load_file(folder / "model.safetensors"), folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()


def test_a_folder_that_does_not_exist_is_named(make: Make, tmp_path: Path) -> None:
    with pytest.raises(DriverError, match=r"model folder .*nowhere does not exist"):
        make(tmp_path / "nowhere")


def test_a_folder_that_is_no_model_is_named(make: Make, tmp_path: Path) -> None:
    with pytest.raises(DriverError, match=r"has no config.json"):
        make(tmp_path)


def test_a_model_that_cannot_be_downloaded_is_named_with_what_to_do(tmp_path: Path) -> None:
    code = (
        "from srtk_framework.values import DriverError\n"
        "from srtk_plugin_models import find_model\n"
        "try: find_model('someone/some-model', None, False, False)\n"
        "except DriverError as error: print(error)\n"
    )
    offline = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], env=offline, capture_output=True, text=True, check=True)
    assert "'someone/some-model' is not a folder here" in done.stdout
    assert "HF_HUB_OFFLINE is set" in done.stdout
    assert "connect once to download it" in done.stdout


def test_a_name_that_the_hub_does_not_allow_is_refused(make: Make) -> None:
    with pytest.raises(DriverError, match="neither a folder nor a name"):
        make("no such model!")


def test_pickled_weights_are_refused_with_the_name_of_the_setting(make: Make, copy: Path) -> None:
    pickle_weights(copy)
    with pytest.raises(DriverError, match=r"pytorch_model\.bin.*set unsafe_weights: true.*SRTK_TRUST=unsafe-weights"):
        make(copy)


def test_pickled_weights_are_read_when_the_user_says_so(
    make: Make, bert: Path, copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pickle_weights(copy)
    with pytest.raises(SettingsError, match="set the environment variable SRTK_TRUST=unsafe-weights"):
        make(copy, unsafe_weights=True)
    monkeypatch.setenv("SRTK_TRUST", "unsafe-weights")
    assert (make(copy, unsafe_weights=True).encode(["riga"]) == make(bert).encode(["riga"])).all()


def test_a_folder_without_weights_is_refused(make: Make, copy: Path) -> None:
    (copy / "model.safetensors").unlink()
    with pytest.raises(DriverError, match="has no weights"):
        make(copy)


def test_truncated_weights_are_refused(make: Make, copy: Path) -> None:
    weights = copy / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:1000])
    with pytest.raises(DriverError, match="cannot be loaded"):
        make(copy)


def test_weights_that_lack_tensors_are_refused_rather_than_initialised(make: Make, copy: Path) -> None:
    config = json.loads((copy / "config.json").read_text())
    (copy / "config.json").write_text(json.dumps({**config, "num_hidden_layers": 3}))
    with pytest.raises(DriverError, match=r"lack \d+ tensors of BertModel"):
        make(copy)


def test_weights_of_another_size_are_refused(make: Make, copy: Path) -> None:
    config = json.loads((copy / "config.json").read_text())
    (copy / "config.json").write_text(json.dumps({**config, "intermediate_size": 48}))
    with pytest.raises(DriverError, match="model"):
        make(copy)


def test_a_kind_of_model_that_transformers_does_not_know_is_refused(make: Make, copy: Path) -> None:
    (copy / "config.json").write_text('{"model_type": "nothing-known"}')
    with pytest.raises(DriverError, match="cannot be loaded"):
        make(copy)


def test_pooling_that_is_not_supported_is_refused_under_auto(make: Make, copy: Path) -> None:
    (copy / "1_Pooling").mkdir()
    (copy / "1_Pooling" / "config.json").write_text('{"pooling_mode_strange": true}')
    with pytest.raises(DriverError, match="set pooling: cls, mean or last"):
        make(copy)


def test_a_device_that_does_not_exist_is_refused(make: Make, bert: Path) -> None:
    with pytest.raises(DriverError, match="device 'warp' does not exist here"):
        make(bert, device="warp")


def test_an_encoder_that_was_not_opened_says_so(bert: Path) -> None:
    with pytest.raises(DriverError, match=r"call open\(\) first"):
        TransformersEncoder(model=str(bert)).encode(["riga"])


@pytest.mark.parametrize("settings", [{"max_length": 0}, {"batch_size": 0}, {"threads": 0}, {"pooling": "max"}])
def test_settings_out_of_range_are_refused(settings: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=next(iter(settings))):
        TransformersEncoder(**settings)
