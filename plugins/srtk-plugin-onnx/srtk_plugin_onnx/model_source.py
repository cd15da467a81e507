"""The files of a model that ONNX Runtime needs: its graph, or the weights of a BERT, and its tokenizer."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from srtk_plugin_models import SentenceFolder, find_model, named_hash, read_json

from srtk_framework.values import DriverError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

# Where a folder keeps a graph; the first is where the hub's models of sentence-transformers keep theirs.
GRAPHS = ("onnx/model.onnx", "model.onnx")

SETTINGS = ("*.json", "*.txt", "*_Dense/*.safetensors")
WRITTEN_HERE = "bert"
INDEX = "model.safetensors.index.json"
WEIGHTS = "model.safetensors"


def source_folder(model: str, revision: str | None) -> Path:
    """Return the folder of a model, downloaded from the hub if needed: first its settings, then the files they need."""
    folder = find_model(model, revision, False, False, SETTINGS)
    if graph_file(folder) is None and not weight_files(folder):
        wanted = ["*.safetensors"] if architecture(folder) == WRITTEN_HERE else ["onnx/model.onnx*", "model.onnx*"]
        folder = find_model(model, revision, False, False, [*SETTINGS, *wanted])
    return folder


def architecture(folder: Path) -> str:
    """Return the ``model_type`` of a model's settings."""
    return str(read_json(folder / "config.json").get("model_type", ""))


def graph_file(folder: Path) -> Path | None:
    """Return the graph that a folder keeps, or None."""
    return next((folder / name for name in GRAPHS if (folder / name).is_file()), None)


def weight_files(folder: Path) -> list[Path]:
    """Return the safetensors files of a model's weights, in order; none if it has none."""
    if (folder / WEIGHTS).is_file():
        return [folder / WEIGHTS]
    if not (folder / INDEX).is_file():
        return []
    files = sorted({str(name) for name in read_json(folder / INDEX)["weight_map"].values()})
    return [folder / name for name in files if (folder / name).is_file()]


def used_files(folder: Path, name: str) -> list[Path]:
    """Return the files of the computation: of a BERT its weights, else its graph.

    The weights come first, so that a graph which was left in the folder before a training is not taken for them.
    """
    kind, weights, graph = architecture(folder), weight_files(folder), graph_file(folder)
    if kind == WRITTEN_HERE and weights:
        return weights
    if graph is not None:
        return [graph, *sorted(graph.parent.glob(f"{graph.name}_*")), *sorted(graph.parent.glob(f"{graph.name}.*"))]
    raise DriverError(
        f"model {name!r} is a {kind or 'model of no type'} without {GRAPHS[0]} in its folder, and only the graph of a"
        f" BERT with safetensors weights is written here; export it (optimum-cli export onnx --model {name} FOLDER), or"
        " set use: transformers"
    )


def read_weights(files: list[Path], name: str) -> dict[str, npt.NDArray[np.float32]]:
    """Read weights by name, as float32."""
    import numpy as np
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    weights: dict[str, npt.NDArray[np.float32]] = {}
    for file in files:
        try:
            found = load_file(file)
        except (OSError, SafetensorError, KeyError, TypeError) as error:
            raise DriverError(f"the weights of model {name!r} in {file} cannot be read ({error})") from error
        weights |= {key: value.astype(np.float32, copy=False) for key, value in found.items()}
    return weights


def source_hash(folder: Path, name: str, settings: SentenceFolder) -> str:
    """Return a hash of the files that the vectors depend on."""
    named = [folder / name for name in ("config.json", "tokenizer.json", "tokenizer_config.json")]
    files = [*named, *used_files(folder, name), *settings.files]
    return named_hash(folder, [file for file in files if file.is_file()])


def tokenizer_settings(folder: Path) -> Mapping[str, Any]:
    """Return the settings of the tokenizer of a folder, or none."""
    found: dict[str, Any] = {}
    for name in ("special_tokens_map.json", "tokenizer_config.json"):
        if (folder / name).is_file():
            found |= read_json(folder / name)
    return found


def token_text(token: Any) -> str | None:
    """Return the text of a special token, which some files describe by a mapping."""
    return str(token["content"]) if isinstance(token, dict) else None if token is None else str(token)


def processor() -> str:
    """Return the kind of processor, on which the last bits of a result depend."""
    import numpy as np

    found: Any = np.show_config(mode="dicts")
    extensions = found.get("SIMD Extensions", {}).get("found") or ["plain"]
    return f"{platform.machine()}-{extensions[-1]}"
