"""Put samples into batches: seeded, alike in length, each text of a batch once."""

from __future__ import annotations

import random
from collections.abc import Sequence

from srtk_plugin_sr.fit_settings import Item

_WINDOW = 16
"""Batches whose samples are sorted by length together; more would make batches alike, fewer would pad more."""

_SPREAD = 1.4
"""Texts of one forward pass: the longest has at most so many times the tokens of the shortest, plus two."""


def batches(items: Sequence[Item], lengths: Sequence[int], size: int, seed: int) -> list[list[int]]:
    """Deal all samples once into batches, in an order of the seed.

    Samples with the same query stay together, so that it is encoded once.

    Args:
        items: The samples.
        lengths: Tokens of each text.
        size: Samples of a batch, the last ones may have fewer.
        seed: Of the order.
    """
    chance = random.Random(seed)
    groups: dict[int, list[int]] = {}
    for i, item in enumerate(items):
        groups.setdefault(item.query, []).append(i)
    order = list(groups.values())
    chance.shuffle(order)
    made: list[list[int]] = []
    window: list[list[int]] = []
    held = 0
    for group in [*order, None]:
        if group is not None:
            window.append(group)
            held += len(group)
        if window and (group is None or held >= size * _WINDOW):
            window.sort(key=lambda some: lengths[items[some[0]].query])
            flat = [i for some in window for i in some]
            made += [flat[start : start + size] for start in range(0, len(flat), size)]
            window, held = [], 0
    chance.shuffle(made)
    return made


def passes(lengths: Sequence[int]) -> list[list[int]]:
    """Group the texts of a batch by length into forward passes that pad little; returns their positions."""
    order = sorted(range(len(lengths)), key=lambda i: (lengths[i], i))
    groups: list[list[int]] = []
    for i in order:
        if groups and lengths[i] <= lengths[groups[-1][0]] * _SPREAD + 2:
            groups[-1].append(i)
        else:
            groups.append([i])
    return groups


class Schedule:
    """The batches of a whole training, cut into rounds: what is learnt between two validations.

    Args:
        items: The samples.
        lengths: Tokens of each text.
        size: Samples of a batch.
        epochs: Passes over the samples.
        steps: Most updates, or None.
        every: Updates of a round; None for an epoch, at most 500.
        ranks: Devices that learn side by side, each with its own batches.
        seed: Of the order.
    """

    def __init__(
        self,
        items: Sequence[Item],
        lengths: Sequence[int],
        size: int,
        epochs: int,
        steps: int | None,
        every: int | None,
        ranks: int,
        seed: int,
    ) -> None:
        self._items, self._lengths, self._size, self._ranks, self._seed = items, lengths, size, ranks, seed
        self.per_epoch = max(1, -(-len(items) // size) // ranks)
        self.total = min(self.per_epoch * epochs, steps or self.per_epoch * epochs)
        self.every = min(every or min(self.per_epoch, 500), self.total)
        self.rounds = -(-self.total // self.every)
        self._epoch: tuple[int, list[list[int]]] = (-1, [])

    def round(self, number: int, rank: int) -> list[list[int]]:
        """Return the batches of one round for one device."""
        steps = range(number * self.every, min((number + 1) * self.every, self.total))
        return [self._batch(step, rank) for step in steps]

    def _batch(self, step: int, rank: int) -> list[int]:
        epoch, place = divmod(step, self.per_epoch)
        if self._epoch[0] != epoch:
            self._epoch = (epoch, batches(self._items, self._lengths, self._size, self._seed * 1_000_003 + epoch))
        every = self._epoch[1]
        # With fewer batches than devices, some learn the same batch.
        return every[(place * self._ranks + rank) % len(every)]
