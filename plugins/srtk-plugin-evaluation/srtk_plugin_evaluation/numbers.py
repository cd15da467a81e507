"""A growing column of numbers that takes little memory."""

from __future__ import annotations

import math
from array import array
from typing import Any

import numpy as np
import numpy.typing as npt

_BLOCK = 4096
_NONE = 255

_Floats = npt.NDArray[np.float64]


class Numbers:
    """Numbers by place, NaN where there is none; a number takes 1, 4 or 8 bytes, whichever keeps its block exact."""

    def __init__(self) -> None:
        self._packed: list[npt.NDArray[Any]] = []
        self._last = array("d")

    def put(self, place: int, value: float) -> None:
        """Set the number of a place behind all places that have one."""
        for _ in range(place - len(self._packed) * _BLOCK - len(self._last)):
            self._append(math.nan)
        self._append(value)

    def _append(self, value: float) -> None:
        self._last.append(value)
        if len(self._last) == _BLOCK:
            self._packed.append(_packed(np.array(self._last)))
            self._last = array("d")

    def values(self, size: int) -> _Floats:
        """Return all numbers, with NaN for the places behind them up to ``size``."""
        found = np.full(size, np.nan)
        for number, block in enumerate([*self._packed, np.array(self._last)]):
            part = found[number * _BLOCK :][: len(block)]
            part[:] = block
            if block.dtype == np.uint8:
                part[block == _NONE] = np.nan
        return found


def _packed(values: _Floats) -> npt.NDArray[Any]:
    marked = np.where(np.isnan(values), _NONE, values)
    if ((marked >= 0) & (marked <= _NONE)).all() and not (values == _NONE).any():
        small = marked.astype(np.uint8)
        if np.array_equal(small, marked):
            return small
    with np.errstate(over="ignore"):
        half = values.astype(np.float32)
    return half if np.array_equal(half, values, equal_nan=True) else values
