"""Checkpoints from which an interrupted training of the network of options is resumed."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Any

import attrs
import numpy as np
from srtk_plugin_training import read_checkpoint

from srtk_plugin_septa.shape import Vectors

_FILE = Path("checkpoints", "options.ckpt")


@attrs.define
class OptionProgress:
    """Progress of a training: epochs, the best validation with its weights and figures, and the epochs since then."""

    epochs: int = 0
    best: float = -math.inf
    waited: int = 0
    weights: dict[str, Vectors] = attrs.field(factory=dict)
    figures: dict[str, float] = attrs.field(factory=dict)


def resumed(folder: Path, network: Any, optimizer: Any) -> OptionProgress:
    """Bring network and optimizer to the last checkpoint in the folder of a training, if there is any."""
    if not (folder / _FILE).exists():
        return OptionProgress()
    state = read_checkpoint(folder / _FILE)
    network.load_state_dict(state["network"])
    optimizer.load_state_dict(state["optimizer"])
    weights = {name: tensor.numpy() for name, tensor in state["progress"].pop("weights").items()}
    return OptionProgress(**state["progress"], weights=weights)


def keep(folder: Path, network: Any, optimizer: Any, progress: OptionProgress) -> None:
    """Replace the checkpoint in one step."""
    import torch

    weights = {name: torch.from_numpy(np.array(value)) for name, value in progress.weights.items()}
    state = {
        "network": network.state_dict(),
        "optimizer": optimizer.state_dict(),
        "progress": {**attrs.asdict(progress, recurse=False), "weights": weights},
    }
    file = folder / _FILE
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_suffix(".part")
    torch.save(state, part)
    os.replace(part, file)
