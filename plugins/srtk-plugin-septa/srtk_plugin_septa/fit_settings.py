"""Settings of training: what a recipe may write below ``train.fit`` for the subgraph encoder ``septa-graph``."""

from __future__ import annotations

from typing import Literal

import attrs

from srtk_framework.values import at_least, between, positive, share


@attrs.frozen
class SeptaFitSettings:
    """Settings for aligning subgraphs with their texts.

    Attributes:
        dimensions: Dimensions of the common space; null for those of the encoder.
        hidden: Dimensions of the states of nodes.
        layers: Rounds of messages.
        epochs: Maximum number of passes over the subgraphs.
        batch_size: Subgraphs per update and device; the others of the update, on whatever device, are the negatives.
        views: Texts of parts of each subgraph, such as a clause or the name of a node, that are drawn and encoded
            before the first epoch. Each update also brings one of them, and the name of a node, near to the subgraphs
            that hold it. 0 for the whole texts alone.
        neighbours: Up to this many subgraphs around nodes of a subgraph stand beside it in a batch, as they are hard
            to tell apart; 0 for batches drawn at random.
        learning_rate: Learning rate of Adam in the first epoch. It falls by the same step after each, to 0 in the end.
        temperature: Divides the cosines of the loss.
        validation: Maximum number of centres held out, at most a tenth of all; they choose the best epoch.
        patience: Stop after this many epochs without a lower loss of the centres held out (by 0.0005); null for never.
        accelerator: `cpu`, `gpu`, or `auto` for a GPU where there is one. Equal weights bit by bit are promised for the
            CPU with one thread.
        devices: Number of devices. Two with half of the batch size learn what one does, but for rounding.
        strategy: Strategy of Lightning, such as `ddp` for several devices.
        logger: A logger besides CSV: `tensorboard`, if installed.
    """

    dimensions: int | None = attrs.field(default=None, validator=at_least(1))
    hidden: int = attrs.field(default=256, validator=at_least(1))
    layers: int = attrs.field(default=2, validator=at_least(1))
    epochs: int = attrs.field(default=30, validator=at_least(1))
    batch_size: int = attrs.field(default=256, validator=at_least(2))
    views: int = attrs.field(default=2, validator=at_least(0))
    neighbours: int = attrs.field(default=3, validator=at_least(0))
    learning_rate: float = attrs.field(default=0.001, validator=positive)
    temperature: float = attrs.field(default=0.07, validator=positive)
    validation: int = attrs.field(default=1000, validator=at_least(0))
    patience: int | None = attrs.field(default=3, validator=at_least(1))
    accelerator: Literal["auto", "cpu", "gpu"] = "auto"
    devices: int = attrs.field(default=1, validator=at_least(1))
    strategy: str = "auto"
    logger: Literal["tensorboard"] | None = None


@attrs.frozen
class OptionsFitSettings:
    """Settings for training the reader ``options``.

    Attributes:
        knowledge: Share of the score that rests on what was retrieved (lambda), from 0 to 1; null to learn it.
        heads: Heads of the attention.
        epochs: Maximum number of passes over the questions.
        batch_size: Questions per update.
        learning_rate: Learning rate of Adam for the layers.
        similarity_rate: Learning rate of Adam for lambda and the weights of the similarities.
        knowledge_pull: Weight in the loss of the squared distance of the attention and the layer over what was
            retrieved from those of the untrained reader. Without it, the loss of questions held out rises after a few
            epochs, and training ends before the rest is learnt.
        direct_pull: The same of the layer over question and option.
        validation: Share of the questions held out where the recipe names none to validate with; their loss chooses the
            epoch.
        patience: Stop after this many epochs without a better validation; null for never.
    """

    knowledge: float | None = attrs.field(default=None, validator=share)
    heads: int = attrs.field(default=4, validator=at_least(1))
    epochs: int = attrs.field(default=60, validator=at_least(1))
    batch_size: int = attrs.field(default=64, validator=at_least(1))
    learning_rate: float = attrs.field(default=0.003, validator=positive)
    similarity_rate: float = attrs.field(default=0.05, validator=positive)
    knowledge_pull: float = attrs.field(default=0.1, validator=at_least(0))
    direct_pull: float = attrs.field(default=0.001, validator=at_least(0))
    validation: float = attrs.field(default=0.2, validator=between(0, below=1))
    patience: int | None = attrs.field(default=10, validator=at_least(1))
