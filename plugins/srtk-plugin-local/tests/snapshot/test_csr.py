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


def test_starts_are_kept_in_memory_where_they_are_few(monkeypatch: pytest.MonkeyPatch) -> None:
    starts, numbers = starts_of([1, 2, 3])
    monkeypatch.setattr(csr, "_FEW", len(numbers) - 1)
    assert (starts[np.array([0, 3])].tolist(), starts._whole) == ([0, 6], [])
    monkeypatch.setattr(csr, "_FEW", len(numbers))
    assert starts[np.array([0, 3])].tolist() == [0, 6]
    assert [whole.tolist() for whole in starts._whole] == [numbers]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("after", [False, True])
def test_each_range_is_searched_as_if_it_were_alone(seed: int, after: bool) -> None:
    random = np.random.default_rng(seed)
    lengths = random.integers(0, (1, 3, 9, 40)[seed], 50)
    ends = np.cumsum(lengths)
    values = np.concatenate([np.sort(random.integers(0, 9, size)) for size in lengths])
    wanted = random.integers(-1, 10, len(lengths))
    found = csr.lower_bound(values, ends - lengths, ends, wanted, after=after)
    side = "right" if after else "left"
    parts = [values[end - size : end] for end, size in zip(ends, lengths, strict=True)]
    places = [int(np.searchsorted(part, one, side)) for part, one in zip(parts, wanted, strict=True)]
    assert (found - (ends - lengths)).tolist() == places
    located = csr.locate(values, ends - lengths, ends, wanted)
    expected = [
        end - size + int(np.searchsorted(part, one)) if one in part else -1
        for end, size, part, one in zip(ends, lengths, parts, wanted, strict=True)
    ]
    assert located.tolist() == expected


def test_ranges_without_values_hold_nothing() -> None:
    none = np.empty(0, dtype=np.int64)
    zeros = np.zeros(2, dtype=np.int64)
    assert csr.lower_bound(none, zeros, zeros, zeros).tolist() == [0, 0]
    assert csr.locate(none, zeros, zeros, zeros).tolist() == [-1, -1]
    assert csr.locate(np.array([1]), none, none, none).tolist() == []
    assert [part.tolist() for part in csr.spread(none, none)] == [[], [0]]
    assert [part.tolist() for part in csr.spread(np.array([5, 2, 7]), np.array([7, 2, 8]))] == [[5, 6, 7], [0, 2, 2, 3]]
    assert [csr.distinct(np.array(some, dtype=np.int64)).tolist() for some in ([], [3], [2, 1, 2, 1], [0, 0])] == [
        *([], [3], [1, 2], [0])
    ]


@pytest.mark.parametrize(
    ("nodes", "edges", "few", "kept"),
    [
        (5, 5, 5, True),  # ten numbers for each relation of a node, twice as many as are few
        (5, 5, 4, False),
        (3, 9, 3, True),
        (5, 20, 5, True),  # four times as many edges as are few
        (5, 21, 5, False),
    ],
)
def test_a_small_graph_is_kept_in_memory(
    nodes: int, edges: int, few: int, kept: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pairs = [(n, (n + step) % nodes) for step in range(nodes) for n in range(nodes)][:edges]
    (tmp_path / "t.tsv").write_text("".join(f"n{a}\tr\tn{b}\n" for a, b in pairs))
    snapshot = Snapshot(build(BuildSettings(files=(str(tmp_path / "t.tsv"),)), tmp_path / "g").folder)
    monkeypatch.setattr(csr, "_FEW", few)
    dense = csr.Dense.of(snapshot.forward, snapshot.inverse, 1)
    assert (dense is not None) is kept
    if dense is not None:
        assert (dense.width, len(dense.runs), len(dense.targets)) == (2, 2 * nodes + 1, 2 * edges)
        assert dense.runs[-1] == 0


def test_edges_are_found_at_their_places_and_none_for_what_is_unknown(tmp_path: Path) -> None:
    (tmp_path / "t.tsv").write_text("a\tr\ta\na\tr\tb\nb\ts\ta\nc\ts\tc\n")
    side = Snapshot(build(BuildSettings(files=(str(tmp_path / "t.tsv"),)), tmp_path / "g").folder).forward
    asked = [(0, 0, 0), (0, 0, 1), (1, 1, 0), (2, 1, 2), (0, 0, 2), (0, 1, 0), (-1, 0, 0), (0, -1, 0), (0, 0, -1)]
    columns = [np.array(column) for column in zip(*asked, strict=True)]
    assert side.edges(*columns).tolist() == [0, 1, 2, 3, -1, -1, -1, -1, -1]
    assert side.edges(*(column[6:] for column in columns)).tolist() == [-1, -1, -1]
    assert side.degrees(np.arange(3)).tolist() == [2, 1, 1]
    assert side.owners(np.arange(3)).tolist() == [0, 1, 2]
    assert [side.row(node) for node in range(3)] == [([0], [0, 2]), ([1], [2, 3]), ([1], [3, 4])]
    assert [part.tolist() for part in side.runs(np.array([0, -1, 2]))] == [[0, 0, 3], [2, 0, 4]]


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
