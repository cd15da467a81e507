"""Settings of a recipe's ``train.fit`` for the reader ``gnn``."""

from __future__ import annotations

from typing import Any, Literal

import attrs

from srtk_framework.values import at_least, between, positive


def _even(_: Any, field: attrs.Attribute[int], value: int) -> None:
    if value < 2 or value % 2:
        raise ValueError(f"{field.name} is {value}; give an even number, half for each direction of reading")


@attrs.frozen
class GraphFitSettings:
    """Settings for training the reader ``gnn``.

    Attributes:
        hidden: Dimensions of the states of nodes, relations and words, an even number.
        rounds: Rounds of message passing: the longest way from a topic to an answer.
        epochs: Maximum number of passes over the questions.
        batch_size: Questions per update.
        learning_rate: Learning rate of Adam in the first epoch; it falls by the same step after each, to 0 in the end.
        validation: Share of the training questions held out. They choose the epoch and the threshold, and calibrate the
            confidence.
        patience: Stop after this many epochs without a higher F1 on the questions held out (by 0.0005); null for
            never.
        accelerator: `cpu`, `gpu`, or `auto` for a GPU if the machine has it. Weights are equal bit by bit on the CPU
            with an equal number of threads.
    """

    hidden: int = attrs.field(default=64, validator=_even)
    rounds: int = attrs.field(default=3, validator=at_least(1))
    epochs: int = attrs.field(default=30, validator=at_least(1))
    batch_size: int = attrs.field(default=16, validator=at_least(1))
    learning_rate: float = attrs.field(default=0.002, validator=positive)
    validation: float = attrs.field(default=0.2, validator=between(0, below=1))
    patience: int | None = attrs.field(default=6, validator=at_least(1))
    accelerator: Literal["auto", "cpu", "gpu"] = "auto"
