"""Folders of sentence-transformers, against pooling and layers computed here from the states."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from srtk_plugin_onnx.encoder import OnnxEncoder

from srtk_framework.values import DriverError

Make = Callable[..., OnnxEncoder]
TEXTS = ["what is the capital of latvia", "riga", "who directed the film", "city city"]
MODES = {
    "cls": "pooling_mode_cls_token",
    "max": "pooling_mode_max_tokens",
    "mean": "pooling_mode_mean_tokens",
    "mean_sqrt_len": "pooling_mode_mean_sqrt_len_tokens",
    "weightedmean": "pooling_mode_weightedmean_tokens",
    "last": "pooling_mode_lasttoken",
}
BY_HAND: dict[str, Callable[[Any], Any]] = {
    "cls": lambda states: states[0],
    "max": lambda states: states.max(0),
    "mean": lambda states: states.mean(0),
    "mean_sqrt_len": lambda states: states.sum(0) / len(states) ** 0.5,
    "weightedmean": lambda states: np.average(states, axis=0, weights=range(1, len(states) + 1)),
    "last": lambda states: states[-1],
}
ACTIVATIONS: dict[str, Callable[[Any], Any]] = {
    "Identity": lambda x: x,
    "Tanh": np.tanh,
    "ReLU": lambda x: x * (x > 0),
    "Sigmoid": lambda x: 1 / (1 + np.exp(-x)),
}


@pytest.fixture
def states(make: Make, bert: Path) -> list[Any]:
    """Compute the states of each text by itself."""
    model = make(bert, pooling="mean")._loaded
    found = []
    for ids in model.tokenize(TEXTS):
        rows = np.array([ids])
        given = {"input_ids": rows, "attention_mask": np.ones_like(rows)}
        found.append(model.session.run(["last_hidden_state"], given)[0][0])
    return found


def write(folder: Path, name: str, data: Any) -> None:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(data))


def add_modules(folder: Path, *modules: tuple[str, str]) -> None:
    rows = [("", "Transformer"), *modules]
    write(
        folder,
        "modules.json",
        [
            {"idx": i, "name": str(i), "path": path, "type": f"sentence_transformers.models.{kind}"}
            for i, (path, kind) in enumerate(rows)
        ],
    )


def add_dense(folder: Path, activation: str = "Tanh", size: int = 32, **settings: Any) -> tuple[Any, Any]:
    from safetensors.numpy import save_file

    rng = np.random.default_rng(5)
    weight, bias = rng.normal(0, 0.3, (8, size)).astype(np.float32), rng.normal(0, 0.3, 8).astype(np.float32)
    write(
        folder,
        "2_Dense/config.json",
        {
            "in_features": size,
            "out_features": 8,
            "bias": True,
            "activation_function": f"torch.nn.modules.activation.{activation}",
            **settings,
        },
    )
    save_file({"linear.weight": weight, "linear.bias": bias}, folder / "2_Dense" / "model.safetensors")
    return weight, bias


@pytest.fixture
def folder(bert: Path, tmp_path: Path) -> Path:
    return shutil.copytree(bert, tmp_path / "model")


@pytest.fixture(params=["onnx", "transformers"])
def encode(request: pytest.FixtureRequest, make: Make) -> Callable[..., Any]:
    """Encode the texts with either driver."""
    if request.param == "onnx":
        return lambda folder, texts=TEXTS, **settings: make(folder, **settings).encode(texts)
    pytest.importorskip("torch")
    module = pytest.importorskip("srtk_plugin_transformers.encoder")

    def by_torch(folder: Path, texts: list[str] = TEXTS, **settings: Any) -> Any:
        encoder = module.TransformersEncoder(model=str(folder), device="cpu", threads=1, **settings)
        encoder.open()
        try:
            return encoder.encode(texts)
        finally:
            encoder.close()

    return by_torch


@pytest.mark.parametrize("pooling", sorted(MODES))
def test_each_pooling_is_that_of_the_folder(
    encode: Callable[..., Any], folder: Path, states: list[Any], pooling: str
) -> None:
    add_modules(folder, ("1_Pooling", "Pooling"))
    write(folder, "1_Pooling/config.json", {mode: name == pooling for name, mode in MODES.items()})
    wanted = np.stack([BY_HAND[pooling](rows) for rows in states])
    np.testing.assert_allclose(encode(folder, normalize=False), wanted, atol=1e-5)


def test_several_poolings_are_laid_end_to_end(encode: Callable[..., Any], folder: Path, states: list[Any]) -> None:
    add_modules(folder, ("1_Pooling", "Pooling"))
    write(folder, "1_Pooling/config.json", {MODES["mean"]: True, MODES["max"]: True, MODES["cls"]: True})
    wanted = np.stack([np.concatenate([BY_HAND[way](rows) for way in ("cls", "max", "mean")]) for rows in states])
    np.testing.assert_allclose(encode(folder, normalize=False), wanted, atol=1e-5)


@pytest.mark.parametrize("activation", sorted(ACTIVATIONS))
def test_a_dense_layer_is_applied_with_its_activation(
    encode: Callable[..., Any], folder: Path, states: list[Any], activation: str
) -> None:
    add_modules(folder, ("1_Pooling", "Pooling"), ("2_Dense", "Dense"))
    write(folder, "1_Pooling/config.json", {"pooling_mode": "mean"})
    weight, bias = add_dense(folder, activation)
    wanted = ACTIVATIONS[activation](np.stack([rows.mean(0) for rows in states]) @ weight.T + bias)
    np.testing.assert_allclose(encode(folder, normalize=False), wanted, atol=1e-5)
    unit = wanted / np.linalg.norm(wanted, axis=1, keepdims=True)
    np.testing.assert_allclose(encode(folder), unit, atol=1e-5)


def test_vectors_normalised_before_a_dense_layer_are_so(
    encode: Callable[..., Any], folder: Path, states: list[Any]
) -> None:
    add_modules(folder, ("1_Pooling", "Pooling"), ("3_Normalize", "Normalize"), ("2_Dense", "Dense"))
    write(folder, "1_Pooling/config.json", {"pooling_mode": "mean"})
    weight, bias = add_dense(folder)
    means = np.stack([rows.mean(0) for rows in states])
    wanted = np.tanh((means / np.linalg.norm(means, axis=1, keepdims=True)) @ weight.T + bias)
    np.testing.assert_allclose(encode(folder, normalize=False), wanted, atol=1e-5)


def test_prompts_are_put_before_the_texts(encode: Callable[..., Any], folder: Path) -> None:
    plain = encode(folder, ["film riga", "riga city", "riga"], pooling="mean")
    write(
        folder,
        "config_sentence_transformers.json",
        {"prompts": {"query": "film ", "place": "riga "}, "default_prompt_name": "query"},
    )
    np.testing.assert_array_equal(encode(folder, ["riga"], pooling="mean"), plain[:1])
    np.testing.assert_array_equal(encode(folder, ["city"], pooling="mean", prompt="place"), plain[1:2])
    with pytest.raises(DriverError, match=r"has no prompt 'other'; set prompt to one of \['place', 'query'\]"):
        encode(folder, prompt="other")


def test_texts_are_cut_and_lowered_as_the_folder_says(encode: Callable[..., Any], folder: Path) -> None:
    plain = encode(folder, ["riga city", "riga"], pooling="mean", max_length=4)
    write(folder, "sentence_bert_config.json", {"max_seq_length": 4, "do_lower_case": True})
    found = encode(folder, ["RIGA city film born", "Riga"], pooling="mean")
    np.testing.assert_array_equal(found, plain)


@pytest.mark.parametrize(
    ("modules", "said"),
    [
        ([("1_Pooling", "Pooling"), ("2_CNN", "CNN")], r"module CNN \(path '2_CNN'\) at place 2"),
        ([("2_LSTM", "LSTM")], "module LSTM"),
        ([("2_Dense", "Dense")], "module Dense"),
        ([("1_Pooling", "WeightedLayerPooling")], "module WeightedLayerPooling"),
    ],
)
def test_another_module_is_refused_by_name(
    encode: Callable[..., Any], folder: Path, modules: list[tuple[str, str]], said: str
) -> None:
    write(folder, "1_Pooling/config.json", {"pooling_mode": "mean"})
    add_modules(folder, *modules)
    with pytest.raises(DriverError, match=said):
        encode(folder)
    assert OnnxEncoder(model=str(folder)).preflight()[0][0] == "model"


def test_a_dense_layer_that_cannot_be_computed_is_refused(encode: Callable[..., Any], folder: Path) -> None:
    write(folder, "1_Pooling/config.json", {"pooling_mode": "mean"})
    add_modules(folder, ("1_Pooling", "Pooling"), ("2_Dense", "Dense"))
    add_dense(folder, "Mish")
    with pytest.raises(DriverError, match=r"Dense in .*2_Dense has the activation Mish"):
        encode(folder)
    add_dense(folder, size=9)
    with pytest.raises(DriverError, match=r"takes 9 numbers, but pooling mean .*gives 32; leave pooling at auto"):
        encode(folder)
    (folder / "2_Dense" / "model.safetensors").unlink()
    with pytest.raises(DriverError, match=r"Dense in .*2_Dense has no model.safetensors"):
        encode(folder)


def test_the_fingerprint_follows_the_dense_layer(folder: Path) -> None:
    write(folder, "1_Pooling/config.json", {"pooling_mode": "mean"})
    add_modules(folder, ("1_Pooling", "Pooling"), ("2_Dense", "Dense"))
    seen = set()
    for activation in ("Tanh", "ReLU"):
        add_dense(folder, activation)
        seen.add(OnnxEncoder(model=str(folder)).fingerprint())
    (folder / "2_Dense" / "model.safetensors").write_bytes(b"other")
    seen.add(OnnxEncoder(model=str(folder)).fingerprint())
    assert len(seen) == 3
