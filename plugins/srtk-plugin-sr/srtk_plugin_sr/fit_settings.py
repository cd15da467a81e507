"""The settings of a training, and what is learnt from: queries with candidates, by number of their text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import attrs

Loss = Literal["cross-entropy", "nt-xent", "listwise"]

AS_EXPANDER = {"as": "expander"}
"""Marks a setting that a recipe takes from its expander's setting of the same name, where it is left out."""

_at_least_1: Any = attrs.validators.ge(1)
_above_0: Any = attrs.validators.gt(0)
_not_below_0: Any = attrs.validators.ge(0)
_maybe_at_least_1: Any = attrs.validators.optional(_at_least_1)
_maybe_above_0: Any = attrs.validators.optional(_above_0)


@attrs.frozen
class Training:
    """How the dense scorer is trained.

    Attributes:
        epochs: Most passes over the samples.
        steps: Most updates of the weights; as many as the epochs take by default.
        batch_size: Samples of one update, on each device.
        learning_rate: Highest learning rate of AdamW; it falls in a straight line to a tenth of it.
        weight_decay: Of the weights, but not of biases and norms.
        warmup: Share of the updates over which the learning rate rises.
        loss: `cross-entropy` (each right candidate against the wrong ones of its sample), `nt-xent` (also against the
            candidates of the other samples of the batch) or `listwise` (all that the real frontier offers, with the
            paths' qualities as soft targets).
        temperature: Divides cosines in the loss; the scorer's own by default, so that it learns what it will score.
        negatives: Most wrong candidates of a sample; by default 31, and all of them for `listwise`.
        inverse: Whether steps against their direction are candidates; in a recipe as the expander, else true.
        mention: What stands for the entity's mention in the question; in a recipe as the expander.
        depth: Leave out decisions after so many steps, which a search of this depth never takes; none by default.
        precision: `32` or `bf16` (mixed).
        checkpointing: Save memory by computing activations twice.
        accelerator: `cpu`, `gpu` or `auto`: a GPU where there is one.
        devices: How many of them.
        strategy: Of Lightning, such as `ddp` for several devices.
        validate_every: Updates between two validations, each with a checkpoint; by default an epoch, at most 500.
        monitor: Metric of the validation whose best weights are kept; of equal ones, those that retrieve fewer triples.
        patience: Validations without a better one (by 0.0005, or as good with 1 % fewer triples) after which training
            stops; null for never.
        keep: Checkpoints kept, the newest.
        logger: Further logger besides CSV: `tensorboard` or `wandb`, if installed.
    """

    epochs: int = attrs.field(default=3, validator=_at_least_1)
    steps: int | None = attrs.field(default=None, validator=_maybe_at_least_1)
    batch_size: int = attrs.field(default=64, validator=_at_least_1)
    learning_rate: float = attrs.field(default=1e-4, validator=_above_0)
    weight_decay: float = attrs.field(default=0.01, validator=_not_below_0)
    warmup: float = attrs.field(default=0.1, validator=[_not_below_0, attrs.validators.lt(1)])
    loss: Loss = "cross-entropy"
    temperature: float | None = attrs.field(default=None, validator=_maybe_above_0)
    negatives: int | None = attrs.field(default=None, validator=_maybe_at_least_1)
    inverse: bool | None = attrs.field(default=None, metadata=AS_EXPANDER)
    mention: str | None = attrs.field(default=None, metadata=AS_EXPANDER)
    depth: int | None = attrs.field(default=None, validator=_maybe_at_least_1)
    precision: Literal["32", "bf16"] | Literal[32] = "32"
    checkpointing: bool = False
    accelerator: Literal["auto", "cpu", "gpu"] = "auto"
    devices: int = attrs.field(default=1, validator=_at_least_1)
    strategy: str = "auto"
    validate_every: int | None = attrs.field(default=None, validator=_maybe_at_least_1)
    monitor: str = "answer_recall"
    patience: int | None = attrs.field(default=3, validator=_maybe_at_least_1)
    keep: int = attrs.field(default=1, validator=_at_least_1)
    logger: Literal["tensorboard", "wandb"] | None = None

    @property
    def most_negatives(self) -> int | None:
        """Wrong candidates of a sample that are wanted; None for all."""
        return self.negatives if self.negatives is not None or self.loss == "listwise" else 31


@attrs.frozen
class Item:
    """One thing to learn: a query and its candidates, as numbers of texts.

    Attributes:
        query: Text of the question and, in some forms, of the steps so far.
        candidates: Texts to choose from.
        targets: How right each is; at least one is above 0.
        costs: What each candidate's logit is lowered by.
    """

    query: int
    candidates: tuple[int, ...]
    targets: tuple[float, ...]
    costs: tuple[float, ...] = ()


class Texts:
    """Distinct texts by number, in the order in which they came."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def number(self, text: str) -> int:
        """Return the number of a text, a new one for a new text."""
        return self._numbers.setdefault(text, len(self._numbers))

    def all(self) -> list[str]:
        """Return the texts in order of their numbers."""
        return list(self._numbers)


@attrs.frozen
class Material:
    """What is learnt from.

    Attributes:
        texts: By number.
        items: In a fixed order.
    """

    texts: Sequence[str]
    items: Sequence[Item]
