"""The best weights of a training so far, in a file of its folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

BEST = "best.safetensors"
"""File of the best weights in the folder of a training."""


def save_weights(model: Any, folder: Path) -> None:
    """Write the weights of a model, to a temporary file that is then renamed."""
    from safetensors.torch import save_file

    part = folder / f"{BEST}.part"
    # Tied tensors share their memory, which the format refuses.
    save_file({name: one.detach().cpu().clone().contiguous() for name, one in model.state_dict().items()}, part)
    part.replace(folder / BEST)


def load_weights(model: Any, folder: Path) -> None:
    """Read the best weights into a model."""
    from safetensors.torch import load_file

    model.load_state_dict(load_file(folder / BEST))
