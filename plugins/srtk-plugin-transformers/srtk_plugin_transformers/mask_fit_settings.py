"""Settings of training below ``train.fit`` of a recipe, for the ``masked-lm`` mask filler."""

from __future__ import annotations

from typing import Literal

import attrs

from srtk_framework.values import at_least, positive, share


@attrs.frozen
class MaskFillerFitSettings:
    """Settings for training the ``masked-lm`` mask filler.

    Attributes:
        epochs: Maximum number of passes over the texts.
        steps: Maximum number of updates; null for no limit but the epochs.
        batch_size: Texts of an update.
        max_length: Most tokens of a text; longer texts are divided.
        learning_rate: Highest learning rate of AdamW; it rises over 5 % of the updates, then falls to 0. Small models
            (BERT-tiny) learn best with about 7e-4, models of the size of BERT-base with about 5e-5.
        mention_share: Probability that a whole mention of a text is hidden, in place of 15 % of its tokens, so that
            names of several tokens are learnt as they are asked for.
        validate_every: Updates between two validations on the held-out texts, each with a checkpoint.
        patience: Stop after this many validations without a lower loss; null for never.
        accelerator: `cpu`, `gpu`, or `auto`: a GPU if there is any. Equal weights bit by bit are promised for the CPU
            with an equal number of threads.
    """

    epochs: int = attrs.field(default=4, validator=at_least(1))
    steps: int | None = attrs.field(default=None, validator=at_least(1))
    batch_size: int = attrs.field(default=64, validator=at_least(1))
    max_length: int = attrs.field(default=128, validator=at_least(8))
    learning_rate: float = attrs.field(default=1e-4, validator=positive)
    mention_share: float = attrs.field(default=0.7, validator=share)
    validate_every: int = attrs.field(default=500, validator=at_least(1))
    patience: int | None = attrs.field(default=None, validator=at_least(1))
    accelerator: Literal["auto", "cpu", "gpu"] = "auto"
