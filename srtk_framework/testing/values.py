"""Bring the values of answers into one plain form, so that a list, an array and a tuple of the same compare equal."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import numpy as np

from srtk_framework.values import Frontier


def plain(value: Any) -> Any:
    """Turn an answer into tuples, texts and numbers; attrs values and frontiers into tuples of their parts."""
    kind = type(value)
    if kind is float and math.isnan(value):
        return "nan"  # equal to itself, so that only a check of numbers minds it
    if kind in (str, bool, int, float):
        return value
    if isinstance(value, str):
        return str(value)
    if isinstance(value, tuple | list):
        return tuple([plain(item) for item in value])
    if isinstance(value, Frontier):
        return ("frontier", tuple(value.ids()), value.size, value.cut)
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, np.ndarray):
        return tuple(plain(row) for row in value)
    if isinstance(value, Mapping):
        return ("mapping", tuple((key, plain(item)) for key, item in value.items()))
    if isinstance(value, Sequence):
        return tuple([plain(item) for item in value])
    if attrs.has(kind):
        return (kind.__name__, *(plain(getattr(value, field.name)) for field in attrs.fields(kind)))
    return value


def same(one: Any, other: Any, tolerance: float = 0.0) -> bool:
    """Compare two plain values; numbers may differ by the tolerance, absolute or relative."""
    if isinstance(one, tuple | list) and isinstance(other, tuple | list):
        return len(one) == len(other) and all(same(a, b, tolerance) for a, b in zip(one, other, strict=True))
    if isinstance(one, float) and isinstance(other, float):
        return one == other or math.isclose(one, other, rel_tol=tolerance, abs_tol=tolerance)
    return bool(one == other)
