"""Settings of training, below ``train.fit`` of a recipe: of the subgraph encoder and the reader of options."""

from __future__ import annotations

from typing import Literal

import attrs

from srtk_framework.values import at_least, between, positive, share


@attrs.frozen
class SeptaFitSettings:
    """Settings for aligning subgraphs with their texts.

    Attributes:
        dimensions: Dimensions of the common space; null for the dimensions of the encoder.
        hidden: Dimensions of the states of nodes.
        epochs: Maximum number of passes over the subgraphs.
        batch_size: Subgraphs per update and device; the others of the update, on whatever device, are the negatives.
        views: Texts of parts of each subgraph, such as a clause or the name of a node, that are drawn and encoded
            before the first epoch. Each update also brings one of them, and the name of a node, near to the subgraphs
            that hold it. 0 for the whole texts alone.
        learning_rate: Learning rate of Adam in the first epoch. It falls by the same step after each, to 0 in the end.
        frozen: Whether the encoder of the texts keeps its weights. If false, a copy of it learns too, which needs the
            encoder `transformers`; the labels of a subgraph keep their vectors.
        encoder_rate: Learning rate of that copy, which falls like the other.
        validation: Maximum number of centres held out, at most a tenth of all; they choose the best epoch.
        patience: Stop after this many epochs without a lower loss of the centres held out (by 0.0005); null for never.
        accelerator: `cpu`, `gpu`, or `auto`: a GPU if there is any. Equal weights bit by bit are promised for the CPU
            with one thread.
        devices: Number of devices. Two with half of the batch size learn the same weights, but for rounding.
        strategy: Strategy of Lightning, such as `ddp` for several devices.
    """

    dimensions: int | None = attrs.field(default=None, validator=at_least(1))
    hidden: int = attrs.field(default=256, validator=at_least(1))
    epochs: int = attrs.field(default=30, validator=at_least(1))
    batch_size: int = attrs.field(default=256, validator=at_least(2))
    views: int = attrs.field(default=2, validator=at_least(0))
    learning_rate: float = attrs.field(default=0.001, validator=positive)
    frozen: bool = True
    encoder_rate: float = attrs.field(default=2e-5, validator=positive)
    validation: int = attrs.field(default=1000, validator=at_least(0))
    patience: int | None = attrs.field(default=3, validator=at_least(1))
    accelerator: Literal["auto", "cpu", "gpu"] = "auto"
    devices: int = attrs.field(default=1, validator=at_least(1))
    strategy: str = "auto"


@attrs.frozen
class OptionsFitSettings:
    """Settings for training the reader ``options``.

    Attributes:
        knowledge: Share of the score that rests on the entries retrieved (lambda), from 0 to 1; null to learn it.
        heads: Heads of the attention.
        epochs: Maximum number of passes over the questions.
        batch_size: Questions per update.
        learning_rate: Learning rate of Adam for the layers.
        similarity_rate: Learning rate of Adam for lambda and the weights of the similarities.
        knowledge_pull: Weight in the loss of the squared distance of the attention, and of the layer over the entries
            retrieved, from the untrained reader. Without it, the loss of held-out questions soon rises, and training
            ends before the rest is learnt.
        direct_pull: The same for the layer over question and option.
        frozen: Whether the encoders keep their weights. If false, a copy of ``encoder`` learns too, which needs the
            encoder `transformers`, alone or below `septa-text`. It reads the searches, and question and option; the
            similarities stay as they are.
        encoder_rate: Learning rate of that copy.
        accelerator: `cpu`, `gpu`, or `auto` for a GPU if there is any, where a copy learns; the layers alone learn on
            the CPU.
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
    frozen: bool = True
    encoder_rate: float = attrs.field(default=2e-5, validator=positive)
    accelerator: Literal["auto", "cpu", "gpu"] = "auto"
    validation: float = attrs.field(default=0.2, validator=between(0, below=1))
    patience: int | None = attrs.field(default=10, validator=at_least(1))
