"""The starts of groups, a byte each, read as the numbers that were written."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from srtk_plugin_local.snapshot.arrays import Snapshot
from srtk_plugin_local.snapshot.build import build
from srtk_plugin_local.snapshot.build_settings import BuildSettings
from srtk_plugin_local.snapshot.csr import RUN, Starts


def starts_of(lengths: list[int]) -> tuple[Starts, list[int]]:
    """Return the starts of runs of these lengths, and the numbers themselves, with the end."""
    numbers = np.cumsum([0, *lengths])
    ends = np.arange(1, numbers[-1] // RUN + 1) * RUN
    return Starts((numbers % RUN).astype(np.uint8), np.searchsorted(numbers, ends)), numbers.tolist()


@pytest.mark.parametrize(
    "lengths", [[1], [256], [255, 1, 1], [1] * 600, [1, 5000, 1, 255, 256, 257, 3], [100_000], [256, 256]]
)
def test_starts_are_the_numbers_and_find_the_run_of_each_position(lengths: list[int]) -> None:
    starts, numbers = starts_of(lengths)
    assert starts[np.arange(len(numbers))].tolist() == numbers
    assert starts[1:].tolist() == numbers[1:]
    for first in range(min(len(numbers), 300)):
        assert starts.between(first, len(numbers) - 1) == numbers[first:]
        assert starts.between(first, first) == numbers[first : first + 1]
    positions = np.arange(numbers[-1])
    assert starts.before(positions).tolist() == np.repeat(np.arange(len(lengths)), lengths).tolist()


def test_a_hub_and_small_nodes_have_their_own_triples_in_both_directions(tmp_path: Path) -> None:
    rows = [("hub", "r0", f"n{n:04}") for n in range(1200)]
    rows += [(f"n{n:04}", f"r{n % 3}", "hub") for n in range(700)] + [
        (f"n{n:04}", "r1", f"n{n + 1:04}") for n in range(900)
    ]
    (tmp_path / "t.tsv").write_text("".join("\t".join(row) + "\n" for row in rows))
    snapshot = Snapshot(build(BuildSettings(files=(str(tmp_path / "t.tsv"),)), tmp_path / "g").folder)
    for side, order in ((snapshot.forward, (0, 1, 2)), (snapshot.inverse, (2, 1, 0))):
        groups = np.arange(len(side.relations))
        low, high = side.runs(groups)
        lengths = high - low
        nodes = snapshot.ids(np.repeat(side.owners(groups), lengths))
        relations = [snapshot.relations[number] for number in np.repeat(side.relations, lengths).tolist()]
        found = list(zip(nodes, relations, snapshot.ids(side.targets.astype(np.int64)), strict=True))
        assert found == sorted(tuple(row[place] for place in order) for row in set(rows))
