"""Settings of sentence-transformers beside a model: how its states become a vector, its prompts and its length."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import attrs

from srtk_framework.values import DriverError
from srtk_plugin_models.json_file import read_json

POOLINGS = ("cls", "max", "mean", "mean_sqrt_len", "weightedmean", "last")
"""Ways to make one vector of the states of a text, in the order in which several of them are joined."""

ACTIVATIONS = ("Identity", "Tanh", "ReLU", "Sigmoid")
JOIN = "+"
_NAMES: Mapping[str, str] = {
    "pooling_mode_cls_token": "cls",
    "pooling_mode_max_tokens": "max",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_mean_sqrt_len_tokens": "mean_sqrt_len",
    "pooling_mode_weightedmean_tokens": "weightedmean",
    "pooling_mode_lasttoken": "last",
    "lasttoken": "last",
    **{name: name for name in POOLINGS},
}


@attrs.frozen
class Dense:
    """A linear layer after pooling.

    Attributes:
        weights: Its safetensors file, with ``linear.weight`` [out, in] and perhaps ``linear.bias`` [out].
        activation: ``Identity``, ``Tanh``, ``ReLU`` or ``Sigmoid``.
    """

    weights: Path
    activation: str


@attrs.frozen
class SentenceFolder:
    """How texts become vectors, from the folder of a model; all open for a plain folder.

    Attributes:
        pooling: Ways of pooling joined by ``+``, whose vectors are laid end to end; None if open.
        layers: Layers after the pooling, in order, without a normalisation at the end: that is a setting of the driver.
        max_length: Maximum number of tokens of a text, or None.
        lower: Whether texts are turned to small letters first.
        prompt: Text before each text, or "".
        files: Files with these settings that stand in folders of their own.
    """

    pooling: str | None = None
    layers: tuple[Dense | Literal["normalize"], ...] = ()
    max_length: int | None = None
    lower: bool = False
    prompt: str = ""
    files: tuple[Path, ...] = ()


def read_sentence_folder(folder: Path, prompt: str | None = None) -> SentenceFolder:
    """Read the settings of sentence-transformers in the folder of a model.

    Args:
        folder: Folder of the model.
        prompt: Name of one of the folder's prompts; None for its default prompt, if any.

    Raises:
        DriverError: If a file is broken, or asks for something that is not supported; it names the module.
    """
    limits = _mapping(folder / "sentence_bert_config.json")
    length = limits.get("max_seq_length")
    text, named = _prompt(folder, prompt)
    pooling, layers, files, include = _modules(folder)
    if text and not include:
        raise DriverError(
            f"{folder} leaves the prompt {named!r} out of its pooling (include_prompt: false), which is not supported"
        )
    return SentenceFolder(
        pooling=pooling,
        layers=tuple(layers),
        max_length=int(length) if length else None,
        lower=bool(limits.get("do_lower_case")),
        prompt=text,
        files=tuple(files),
    )


def _modules(folder: Path) -> tuple[str | None, list[Dense | Literal["normalize"]], list[Path], bool]:
    """Read the modules in order; without a list of them, the folder of the pooling alone."""
    listed = folder / "modules.json"
    modules = read_json(listed) if listed.is_file() else []
    pooling: str | None = None
    layers: list[Dense | Literal["normalize"]] = []
    files: list[Path] = []
    include = True
    if not modules and (stored := folder / "1_Pooling" / "config.json").is_file():
        modules = [{"path": "1_Pooling", "type": "Pooling"}]
    for place, module in enumerate(modules):
        kind, path = str(module.get("type", "")).rsplit(".", 1)[-1], str(module.get("path", ""))
        stored = folder / path / "config.json"
        if kind == "Transformer" and place == 0 and not path:
            continue
        if kind == "Pooling" and pooling is None and not layers:
            pooling, include = _pooling(stored), bool(_mapping(stored).get("include_prompt", True))
            files.append(stored)
        elif kind == "Dense" and pooling:
            layers.append(_dense(folder / path))
            files += [stored, folder / path / "model.safetensors"]
        elif kind == "Normalize" and pooling:
            layers.append("normalize")
        elif kind != "Dropout":
            raise DriverError(
                f"{listed} has the module {kind} (path {path!r}) at place {place}, which is not supported there;"
                " name a model of the modules Transformer, Pooling, Dense and Normalize, in that order"
            )
    while layers and layers[-1] == "normalize":
        layers.pop()
    return pooling, layers, files, include


def _pooling(file: Path) -> str:
    stored = _mapping(file)
    asked = stored.get("pooling_mode")
    names: Sequence[Any] = (
        asked.split(JOIN)
        if isinstance(asked, str)
        else asked or [key for key, on in sorted(stored.items()) if key.startswith("pooling_mode_") and on]
    )
    known = {_NAMES.get(str(name)) for name in names}
    if not known or None in known:
        raise DriverError(
            f"{file} asks for pooling {list(names)}, which is not supported; set pooling: cls, mean or last"
        )
    return JOIN.join(name for name in POOLINGS if name in known)


def _dense(folder: Path) -> Dense:
    activation = str(_mapping(folder / "config.json").get("activation_function", "Tanh")).rsplit(".", 1)[-1]
    if activation not in ACTIVATIONS:
        raise DriverError(
            f"module Dense in {folder} has the activation {activation}, which is not supported; only"
            f" {', '.join(ACTIVATIONS)} are"
        )
    weights = folder / "model.safetensors"
    if not weights.is_file():
        raise DriverError(
            f"module Dense in {folder} has no model.safetensors; save the model again with a sentence-transformers of"
            " version 3 or later"
        )
    return Dense(weights, activation)


def _prompt(folder: Path, name: str | None) -> tuple[str, str]:
    """Return the text of a prompt, and its name."""
    file = folder / "config_sentence_transformers.json"
    stored = _mapping(file)
    prompts = stored.get("prompts") or {}
    name = name if name is not None else stored.get("default_prompt_name")
    if not name:
        return "", ""
    if name not in prompts:
        raise DriverError(f"{file} has no prompt {name!r}; set prompt to one of {sorted(prompts)}, or leave it out")
    return str(prompts[name]), name


def _mapping(file: Path) -> Mapping[str, Any]:
    """Read a JSON file of settings; nothing if it does not exist.

    Raises:
        DriverError: If it is no JSON object.
    """
    found = read_json(file) if file.is_file() else {}
    if not isinstance(found, dict):
        raise DriverError(f"{file} is not a JSON object; fetch the model again")
    return found
