"""Settings of a recipe's ``train.fit`` for the ``embedding`` completer."""

from __future__ import annotations

from typing import Any, Literal

import attrs
from srtk_plugin_patterns.twins import OVERLAP

from srtk_framework.values import at_least, between, positive


def _even(_: Any, field: attrs.Attribute[int], value: int) -> None:
    if value < 2 or value % 2:
        raise ValueError(f"{field.name} is {value}; give an even number, since two numbers make a complex one")


@attrs.frozen
class EmbeddingFitSettings:
    """Settings for training the ``embedding`` completer.

    Attributes:
        dimensions: Numbers of an entity's vector; two of them make a complex number.
        epochs: Maximum number of passes over the queries: each distinct (s, r, ?) and (?, r, o) of the graph.
        batch_size: Queries per update.
        learning_rate: Learning rate of Adagrad.
        regulariser: Weight of the cubed moduli of a triple's vectors (N3, Lacroix et al. 2018).
        negatives: Entities drawn for each update against which its queries' answers are scored, besides the answers of
            the update's other queries; null for all entities, which costs memory and time.
        validate_every: Epochs between two validations on at most 2000 held-out facts, each with a checkpoint.
        patience: Stop after this many validations without a better MRR (by 0.0005); null for never. Without held-out
            facts all epochs are trained.
        twins: Least overlap of a relation with its twins, inverses and near-duplicates: no triple is learnt by which a
            twin says a held-out fact again. null learns them.
        accelerator: `cpu`, `gpu`, or `auto` for a GPU if the machine has it. Weights are equal bit by bit on the CPU
            with an equal number of threads.
        logger: A logger besides CSV: `tensorboard`, if installed.
    """

    dimensions: int = attrs.field(default=256, validator=_even)
    epochs: int = attrs.field(default=60, validator=at_least(1))
    batch_size: int = attrs.field(default=512, validator=at_least(1))
    learning_rate: float = attrs.field(default=0.1, validator=positive)
    regulariser: float = attrs.field(default=0.01, validator=at_least(0))
    negatives: int | None = attrs.field(default=1000, validator=at_least(1))
    validate_every: int = attrs.field(default=3, validator=at_least(1))
    patience: int | None = attrs.field(default=3, validator=at_least(1))
    twins: float | None = attrs.field(default=OVERLAP, validator=between(above=0, most=1))
    accelerator: Literal["auto", "cpu", "gpu"] = "auto"
    logger: Literal["tensorboard"] | None = None
