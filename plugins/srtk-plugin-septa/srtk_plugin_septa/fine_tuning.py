"""Text encoders that learn with a network: a copy to train, and an encoder with the weights that were learnt.

Importing it imports torch, which takes seconds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import numpy as np
import torch

from srtk_framework.roles import Encoder
from srtk_framework.values import DriverError
from srtk_plugin_septa.shape import Vectors


class HeadedText(torch.nn.Module):
    """A trainable text encoder with the linear head of the common space."""

    def __init__(self, text: Any, weight: Vectors, bias: Vectors) -> None:
        super().__init__()
        self.text = text
        self.head = torch.nn.Linear(*reversed(weight.shape))
        self.head.load_state_dict({"weight": torch.tensor(weight), "bias": torch.tensor(bias)})

    def tokenize(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the token ids of each text."""
        rows: list[list[int]] = self.text.tokenize(texts)
        return rows

    def forward(self, rows: Sequence[Sequence[int]]) -> torch.Tensor:
        """Return the vectors of token rows, [n, dimensions]."""
        found: torch.Tensor = self.head(self.text(rows))
        return found


def learner_of(encoder: Encoder) -> Any:
    """Return a copy of an encoder to train: a torch module that maps rows of ``tokenize`` to vectors.

    Raises:
        DriverError: If it is no encoder that can be trained.
    """
    driver: Any = getattr(encoder, "driver", encoder)
    if not (callable(getattr(driver, "learner", None)) and callable(getattr(driver, "take", None))):
        raise DriverError(
            f"the encoder {type(driver).__name__} has no weights to train here; name `transformers`, or set"
            " `frozen: true`"
        )
    return driver.learner()


def encoder_with(encoder: Encoder, module: Any, before: Encoder | None = None) -> Encoder:
    """Return an open encoder with the settings of another and the weights of its trained copy.

    ``before`` is an earlier result for the same encoder, which takes the weights.
    """
    if before is None:
        before = attrs.evolve(getattr(encoder, "driver", encoder))  # type: ignore[misc]
        before.open()
    taking: Any = before
    taking.take(module)
    return before


def loaded(encoder: Encoder, weights: Mapping[str, Vectors], where: str) -> Any:
    """Return a copy of an encoder to train, with weights by name.

    Raises:
        DriverError: If they are no weights of this encoder.
    """
    module = learner_of(encoder)
    try:
        module.load_state_dict({name: torch.from_numpy(np.array(value)) for name, value in weights.items()})
    except RuntimeError as error:
        raise DriverError(f"the text encoder in {where} is another than the one given; name that one") from error
    return module


def half(device: torch.device) -> Any:
    """Return a context in which a text encoder computes in bfloat16, on a GPU."""
    return torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda")
