"""Settings of training: what a recipe may write below ``train.fit`` for the ``masked-lm`` mask filler."""

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
        max_length: Most tokens of a text; longer ones are divided.
        learning_rate: Highest learning rate of AdamW. Small models (BERT-tiny) learn best with about 7e-4, those of the
            size of BERT-base with about 5e-5.
        warm_up: Share of the updates in which the rate rises to it; then it falls to 0.
        weight_decay: Of AdamW.
        mention_share: Share of the texts that name entities of which one mention is hidden whole, in place of 15 % of
            the tokens, so that names of several tokens are learnt as they are asked for.
        validate_every: Updates between two validations on the held-out texts, each with a checkpoint.
        patience: Stop after this many validations without a lower loss; null for never.
        accelerator: `cpu`, `gpu`, or `auto` for a GPU where there is one. Equal weights bit by bit are promised for the
            CPU with an equal number of threads.
        logger: A logger besides CSV: `tensorboard`, if installed.
    """

    epochs: int = attrs.field(default=4, validator=at_least(1))
    steps: int | None = attrs.field(default=None, validator=at_least(1))
    batch_size: int = attrs.field(default=64, validator=at_least(1))
    max_length: int = attrs.field(default=128, validator=at_least(8))
    learning_rate: float = attrs.field(default=1e-4, validator=positive)
    warm_up: float = attrs.field(default=0.05, validator=share)
    weight_decay: float = attrs.field(default=0.01, validator=at_least(0))
    mention_share: float = attrs.field(default=0.7, validator=share)
    validate_every: int = attrs.field(default=500, validator=at_least(1))
    patience: int | None = attrs.field(default=None, validator=at_least(1))
    accelerator: Literal["auto", "cpu", "gpu"] = "auto"
    logger: Literal["tensorboard"] | None = None
