"""Two streams of sorted rows become one, however they are cut."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from srtk_plugin_local.snapshot.merge import Rows, merged


def cut(rows: list[tuple[int, ...]], random: np.random.Generator, most: int, least: int = 1) -> Iterator[Rows]:
    """Yield sorted rows as columns, in parts of random length, at least of ``least`` rows."""
    rows = sorted(rows)
    while rows:
        size = int(random.integers(least, most + 1))
        yield tuple(np.array(rows[:size], dtype=np.int64).reshape(-1, len(rows[0])).T)
        rows = rows[size:]


@pytest.mark.parametrize("width", [2, 3])
@pytest.mark.parametrize("seed", range(12))
def test_the_rows_of_two_streams_come_in_order_with_all_repetitions(seed: int, width: int) -> None:
    random = np.random.default_rng(seed)
    old, new = (
        [tuple(row) for row in random.integers(0, 5, (int(random.integers(0, most)), width)).tolist()]
        for most in (120, (0, 3, 40, 300)[seed % 4] + 1)
    )
    parts = list(merged(cut(old, random, 20, 0), cut(new, random, 30)))
    assert all(len(part[0]) for part in parts)
    found = [row for part in parts for row in zip(*(column.tolist() for column in part), strict=True)]
    assert found == sorted(old + new)
