"""The starts of groups, a byte each, read as the numbers that were written."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from srtk_plugin_local.snapshot import csr
from srtk_plugin_local.snapshot.arrays import Snapshot
from srtk_plugin_local.snapshot.build import build
from srtk_plugin_local.snapshot.build_settings import BuildSettings
from srtk_plugin_local.snapshot.csr import RUN, Starts
from srtk_plugin_local.snapshot.csr_traversal import LocalArrays, StepTable, make_frontiers

from srtk_framework.values import Step


def starts_of(lengths: list[int]) -> tuple[Starts, list[int]]:
    """Return the starts of runs of these lengths, and the numbers themselves, with the end."""
    numbers = np.cumsum([0, *lengths])
    ends = np.arange(1, numbers[-1] // RUN + 1) * RUN
    return Starts((numbers % RUN).astype(np.uint8), np.searchsorted(numbers, ends)), numbers.tolist()


@pytest.mark.parametrize(
    "lengths", [[1], [256], [255, 1, 1], [1] * 600, [1, 5000, 1, 255, 256, 257, 3], [100_000], [256, 256]]
)
@pytest.mark.parametrize("few", [0, csr._FEW])
def test_starts_are_the_numbers_and_find_the_run_of_each_position(
    lengths: list[int], few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(csr, "_FEW", few)
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


@pytest.mark.parametrize("few", [0, csr._FEW])
def test_a_run_along_a_relation_is_found_in_a_table_or_by_search(
    few: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(csr, "_FEW", few)
    (tmp_path / "t.tsv").write_text("a\tr\tb\na\ts\tb\na\ts\tc\nb\ts\tc\n")
    snapshot = Snapshot(build(BuildSettings(files=(str(tmp_path / "t.tsv"),)), tmp_path / "g").folder)
    assert (snapshot.dense is None) == (few == 0)
    arrays = LocalArrays(snapshot, StepTable(snapshot.relations))
    steps = [Step(relation, inverse) for relation in ("q", "r", "s") for inverse in (False, True)]
    rows, ends = arrays.along(np.repeat(np.arange(3), 6), np.tile(np.arange(6), 3), steps, None)
    found = [(*divmod(row, 6), end) for row, end in zip(rows.tolist(), ends.tolist(), strict=True)]
    assert found == [(0, 2, 1), (0, 4, 1), (0, 4, 2), (1, 3, 0), (1, 4, 2), (1, 5, 0), (2, 5, 0), (2, 5, 1)]
    assert arrays.along(np.array([0]), np.array([4]), steps, 1)[1].tolist() == [1]


def test_the_first_nodes_of_a_frontier_are_a_frontier_without_reading_ids(tmp_path: Path) -> None:
    (tmp_path / "t.tsv").write_text("a\tr\tb\na\tr\tc\n")
    snapshot = Snapshot(build(BuildSettings(files=(str(tmp_path / "t.tsv"),)), tmp_path / "g").folder)
    _, whole = make_frontiers(snapshot, [["a"], ["c", "a", "b"]])
    first = whole.first(2)
    assert first is not None
    assert (first.ids(), first.cut) == (["a", "b"], 0)
