"""Plan of forward passes: the shape of the pass of a text depends on that text alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

T = TypeVar("T")

LENGTH_STEP = 4  # Texts are padded to a multiple of this many tokens

# Texts padded to at most this length fill passes of ``batch_size`` rows; longer ones, the same number of tokens.
SHORT = 16


class Pass(NamedTuple):
    """A forward pass over texts of the same padded length, at most ``rows``, by their places in the batch."""

    length: int
    rows: int
    members: tuple[int, ...]


def padded_length(tokens: int, limit: int | None) -> int:
    """Return the length to which a text of ``tokens`` tokens is padded.

    At least one position is padding. Without any padding in a pass, transformers omits the attention mask and torch may
    use another kernel. Then the vector of a row would depend on the lengths of the other rows. A text has at most
    ``limit - 1`` tokens, where the model has a limit.
    """
    length = -(-(tokens + 1) // LENGTH_STEP) * LENGTH_STEP
    return length if limit is None else min(length, limit)


def rows_for(length: int, batch_size: int) -> int:
    """Return the number of rows of a full pass: a power of two, at most ``batch_size``, fewer for long texts."""
    most = max(1, min(batch_size, batch_size * SHORT // length))
    return 1 << (most.bit_length() - 1)


def plan(lengths: Sequence[int], limit: int | None, batch_size: int) -> list[Pass]:
    """Group texts by padded length, and split each group into passes, longest first."""
    by_length: dict[int, list[int]] = {}
    for i, tokens in enumerate(lengths):
        by_length.setdefault(padded_length(tokens, limit), []).append(i)
    passes = []
    for length in sorted(by_length, reverse=True):
        members, rows = by_length[length], rows_for(length, batch_size)
        passes += [Pass(length, rows, tuple(members[i : i + rows])) for i in range(0, len(members), rows)]
    return passes


class SmallShapes:
    """Record of the smaller shapes that give the same bits as the full shape on this machine.

    Whether they do depends on the matrix library: for few rows it may use another kernel with another order of
    additions. So a small shape is first computed together with a trusted shape, whose result is used. If all hidden
    states are equal, the small shape is trusted from then on; if not, it is never used.
    """

    def __init__(self) -> None:
        self._agreed: dict[tuple[int, int], bool] = {}

    def rows(self, one: Pass) -> int:
        """Return the number of rows to use or try for a pass: the smallest power of two that was not rejected."""
        rows = 1 << (len(one.members) - 1).bit_length()
        while rows < one.rows and not self._agreed.get((one.length, rows), True):
            rows *= 2
        return min(rows, one.rows)

    def trusted_rows(self, one: Pass, rows: int) -> int:
        """Return the smallest number of rows, from ``rows`` up, that is known to give the bits of the full shape."""
        while rows < one.rows and not self._agreed.get((one.length, rows), False):
            rows *= 2
        return min(rows, one.rows)

    def computed(self, one: Pass, run: Callable[[int], T], same: Callable[[T, T, int], bool]) -> T:
        """Compute a pass in a trusted shape, and a smaller shape beside it that is not known yet.

        ``run`` computes the pass in a shape of so many rows; ``same`` compares the small result with the first
        rows of the trusted result.
        """
        rows = self.rows(one)
        trusted = self.trusted_rows(one, rows)
        found = run(trusted)
        if rows < trusted:
            self._agreed[one.length, rows] = same(run(rows), found, rows)
        return found


def padded(
    members: Sequence[Sequence[int]], length: int, rows: int, pad: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Lay token rows below each other [rows, length], padded on the right; also return the lengths before.

    Spare rows repeat the first.
    """
    every = [*members, *[members[0]] * (rows - len(members))]
    table = np.full((rows, length), pad, dtype=np.int64)
    for row, tokens in zip(table, every, strict=True):
        row[: len(tokens)] = tokens
    return table, np.array([len(tokens) for tokens in every], dtype=np.int64)
