"""Sort texts into forward passes whose shape depends on one text alone, never on its neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

LENGTH_STEP = 4
"""Texts are padded to a multiple of this many tokens."""

SHORT = 16
"""Texts padded to at most this length fill whole passes; longer ones share the same number of tokens."""


class Pass(NamedTuple):
    """One forward pass: texts of one padded length, at most as many as its shape has rows.

    Attributes:
        length: Padded length in tokens.
        rows: Rows of the full shape for this length.
        members: Positions of the texts in the batch.
    """

    length: int
    rows: int
    members: tuple[int, ...]


def padded_length(tokens: int, limit: int | None) -> int:
    """Return the length to which a text of ``tokens`` tokens is padded.

    At least one place of padding is left: a pass in which every row is full may be computed without an
    attention mask, by another kernel, so that one row's vector would depend on the others' lengths.

    Args:
        tokens: Length of the text, at most ``limit - 1``.
        limit: Longest input that the model takes, or None.
    """
    length = -(-(tokens + 1) // LENGTH_STEP) * LENGTH_STEP
    return length if limit is None else min(length, limit)


def rows_for(length: int, batch_size: int) -> int:
    """Return the rows of a full pass: a power of two, at most ``batch_size``, fewer for long texts."""
    most = max(1, min(batch_size, batch_size * SHORT // length))
    return 1 << (most.bit_length() - 1)


def plan(lengths: Sequence[int], limit: int | None, batch_size: int) -> list[Pass]:
    """Sort texts by padded length and cut each length into passes, longest first.

    Args:
        lengths: Tokens of each text.
        limit: Longest input that the model takes, or None.
        batch_size: Rows of a pass of short texts.
    """
    by_length: dict[int, list[int]] = {}
    for i, tokens in enumerate(lengths):
        by_length.setdefault(padded_length(tokens, limit), []).append(i)
    passes = []
    for length in sorted(by_length, reverse=True):
        members, rows = by_length[length], rows_for(length, batch_size)
        passes += [Pass(length, rows, tuple(members[i : i + rows])) for i in range(0, len(members), rows)]
    return passes


class SmallShapes:
    """Learns which passes of fewer rows give the same bits as the full one on this machine.

    Whether they do is up to the matrix library: it may take another kernel, with another order of
    additions, for few rows. So a small shape is first computed beside one that is known to be right, whose
    result counts. It is used by itself once all the model's states agreed, and never when they did not.
    """

    def __init__(self) -> None:
        self._agreed: dict[tuple[int, int], bool] = {}

    def rows(self, one: Pass) -> int:
        """Return the rows to use, or to try, for a pass: the fewest, a power of two, that were not refused."""
        rows = 1 << (len(one.members) - 1).bit_length()
        while rows < one.rows and not self._agreed.get((one.length, rows), True):
            rows *= 2
        return min(rows, one.rows)

    def trusted_rows(self, one: Pass, rows: int) -> int:
        """Return the fewest rows, from ``rows`` up, that are known to give the bits of the full shape."""
        while rows < one.rows and not self._agreed.get((one.length, rows), False):
            rows *= 2
        return min(rows, one.rows)

    def record(self, length: int, rows: int, agreed: bool) -> None:
        """Take note of how a small shape compared with a trusted one."""
        self._agreed[length, rows] = agreed
