"""Settings of training that a recipe may write below ``train.fit`` for the drivers of this package."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Literal

import attrs

from srtk_framework.values import at_least, between, positive

Loss = Literal["cross-entropy", "nt-xent", "listwise"]

AS_EXPANDER = {"as": "expander"}
"""Marks a setting whose default in a recipe is the expander's setting of the same name."""

_share: Any = between(0, below=1)


@attrs.frozen
class ScorerFitSettings:
    """Settings for training the dense scorer.

    Attributes:
        epochs: Maximum number of passes over the samples.
        steps: Maximum number of updates; by default as many as the epochs take.
        minutes: Maximum number of CPU minutes, validations included; a round that would exceed them, by the time of the
            last round, does not begin. By default there is no limit.
        batch_size: Samples per update, on each device.
        learning_rate: Peak learning rate of AdamW; it falls linearly to a tenth.
        pull: Pull towards the weights of the start, against forgetting: the loss has `pull` / 2 times the squared
            distance to them (L2-SP, Li et al. 2018), decoupled from AdamW's moments like weight decay.
        blend: Place of the weights that are kept between start (0) and trained weights (1), against forgetting
            (Wortsman et al. 2022). Validations see the trained weights.
        made: Number of questions made from the graph's own paths that are learnt too, so that relations without a
            question are learnt. By default as many as the examples lack to 500, where the graph can list its triples
            and there are questions about it; 0 for none.
        warmup: Share of the updates over which the learning rate rises.
        loss: `cross-entropy` (each positive against the negatives of its sample) or `nt-xent` (also against the
            candidates of the other samples in the batch). Or `listwise`: against all steps of the real frontier, with
            the paths' qualities as soft targets.
        temperature: Divides cosines in the loss; by default the scorer's own, so that training matches scoring.
        negatives: Maximum number of negatives of a sample; by default 31, for `listwise` all.
        inverse: Whether steps against their direction are candidates; in a recipe as in the expander, else true.
        variant: `srtk` makes END a candidate before the first step too; in a recipe as in the expander.
        mention: Replaces the entity's mention in the question; in a recipe as in the expander.
        depth: Leave out decisions after this many steps, which a search of this depth never takes; by default none.
        precision: `32` or `bf16` (mixed).
        checkpointing: Save memory by computing activations twice.
        accelerator: `cpu`, `gpu`, or `auto` for a GPU where there is one.
        devices: Number of devices.
        strategy: Strategy of Lightning, such as `ddp` for several devices.
        validate_every: Updates between two validations, each with a checkpoint; by default an epoch, at most 500.
        monitor: Validation metric that selects the best weights; among equals fewer triples win. By default `path_mrr`,
            the mean reciprocal rank of the right path, which differs where weights find the same answers; or
            `answer_recall` where no right path is known.
        patience: Stop after this many validations without a better result (by 0.0005, or equally good with 1 % fewer
            triples); null for never.
        keep: Number of checkpoints to keep, the newest.
        logger: A logger besides CSV: `tensorboard` or `wandb`, if installed.
    """

    epochs: int = attrs.field(default=3, validator=at_least(1))
    steps: int | None = attrs.field(default=None, validator=at_least(1))
    minutes: float | None = attrs.field(default=None, validator=positive)
    batch_size: int = attrs.field(default=64, validator=at_least(1))
    learning_rate: float = attrs.field(default=1e-4, validator=positive)
    pull: float = attrs.field(default=0.0, validator=at_least(0))
    blend: float = attrs.field(default=1.0, validator=between(above=0, most=1))
    made: int | None = attrs.field(default=None, validator=at_least(0))
    warmup: float = attrs.field(default=0.1, validator=_share)
    loss: Loss = "cross-entropy"
    temperature: float | None = attrs.field(default=None, validator=positive)
    negatives: int | None = attrs.field(default=None, validator=at_least(1))
    inverse: bool | None = attrs.field(default=None, metadata=AS_EXPANDER)
    variant: Literal["default", "srtk"] = attrs.field(default="default", metadata=AS_EXPANDER)
    mention: str | None = attrs.field(default=None, metadata=AS_EXPANDER)
    depth: int | None = attrs.field(default=None, validator=at_least(1))
    precision: Literal["32", "bf16"] | Literal[32] = "32"
    checkpointing: bool = False
    accelerator: Literal["auto", "cpu", "gpu"] = "auto"
    devices: int = attrs.field(default=1, validator=at_least(1))
    strategy: str = "auto"
    validate_every: int | None = attrs.field(default=None, validator=at_least(1))
    monitor: str | None = None
    patience: int | None = attrs.field(default=3, validator=at_least(1))
    keep: int = attrs.field(default=1, validator=at_least(1))
    logger: Literal["tensorboard", "wandb"] | None = None

    def monitored(self, figures: Collection[str]) -> str:
        """Return the name of the metric that selects the best weights, given the names of those there are."""
        return self.monitor or ("path_mrr" if "path_mrr" in figures else "answer_recall")

    @property
    def most_negatives(self) -> int | None:
        """Maximum number of negatives of a sample; None for all."""
        return self.negatives if self.negatives is not None or self.loss == "listwise" else 31


@attrs.frozen
class HeadFitSettings:
    """Settings for training the head of ``rerank``.

    Attributes:
        epochs: Maximum number of passes over the questions.
        batch_size: Questions per update.
        learning_rate: Peak learning rate of AdamW; it falls linearly to a tenth.
        hidden: Width of the hidden layer.
        patience: Stop after this many epochs without a better F, or a lower loss, on held-out questions; null for
            never. These are 0.15 of the questions, drawn by a hash of their texts; they select the best weights and
            calibrate the probabilities. With fewer than ten, all questions serve for both.
    """

    epochs: int = attrs.field(default=30, validator=at_least(1))
    batch_size: int = attrs.field(default=16, validator=at_least(1))
    learning_rate: float = attrs.field(default=1e-3, validator=positive)
    hidden: int = attrs.field(default=128, validator=at_least(1))
    patience: int | None = attrs.field(default=6, validator=at_least(1))


@attrs.frozen
class ChoiceFitSettings:
    """Settings for training the choice of ``beam``: there is nothing to set."""
