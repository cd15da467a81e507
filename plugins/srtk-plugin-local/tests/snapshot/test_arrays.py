"""Nodes and names by their hashes, also where two have the same one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from srtk_plugin_local.snapshot import array_writer, arrays, lookup
from srtk_plugin_local.snapshot.arrays import Snapshot, has_type
from srtk_plugin_local.snapshot.build import build
from srtk_plugin_local.snapshot.build_settings import BuildSettings

from srtk_framework.values import Literal

FACTS = 'a\tr\tbb\nbb\tr\tcc\ncc\ts\tdd\nee\ts\ta\nee\tt\t"7"^^xsd:integer\n'
IDS = ["a", "bb", "cc", "dd", "ee", '"7"^^xsd:integer', "unknown", "ff", ""]


def opened(folder: Path) -> Snapshot:
    (folder / "t.tsv").write_text(FACTS)
    return Snapshot(build(BuildSettings(files=(str(folder / "t.tsv"),), header=False), folder / "g").folder)


@pytest.mark.parametrize("hashes", [1, 2, 3])
def test_ids_and_names_with_the_same_hash_are_told_apart(
    tmp_path: Path, hashes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def hash_of(text: str) -> int:
        return sum(map(ord, text)) % hashes

    for module in (array_writer, arrays):
        monkeypatch.setattr(module, "hash64", lambda texts: np.array(list(map(hash_of, texts)), dtype=np.uint64))
    monkeypatch.setattr(arrays, "hash_of", hash_of)
    snapshot = opened(tmp_path)
    nodes = {id_: number for number, id_ in enumerate(snapshot.ids(np.arange(snapshot.size)))}
    places = [nodes.get(id_, -1) for id_ in IDS]
    assert [snapshot.number(id_) for id_ in IDS] == places
    assert snapshot.numbers(IDS).tolist() == places
    assert [snapshot.numbers([id_]).tolist() for id_ in IDS] == [[place] for place in places]
    found = [[id_] if id_ in nodes and not id_.startswith('"') else [] for id_ in IDS]
    assert lookup.find(snapshot, IDS) == found
    assert [lookup.find(snapshot, [id_])[0] for id_ in IDS] == found


def test_edges_at_nodes_are_given_with_the_place_of_their_node(tmp_path: Path) -> None:
    snapshot = opened(tmp_path)
    places, relations, low, high = snapshot.runs(snapshot.numbers(["ee", "a", "dd"]), False)
    assert (places.tolist(), [snapshot.relations[n] for n in relations.tolist()]) == ([0, 0, 1], ["s", "t", "r"])
    assert (high - low).tolist() == [1, 1, 1]
    assert snapshot.ids(snapshot.targets(low, False)) == ["a", Literal('"7"^^xsd:integer'), "bb"]
    places, _, low, _ = snapshot.runs(snapshot.numbers(["ee", "a"]), True)
    assert (places.tolist(), snapshot.ids(snapshot.targets(low, True))) == ([1], ["ee"])
    assert snapshot.is_literal(snapshot.numbers(IDS[4:6])).tolist() == [False, True]


@pytest.mark.parametrize(
    ("text", "typed"),
    [('"x"', False), ('"x"@en', True), ('"7"^^xsd:integer', True), ("x", False), ('x"y"@en', False), ("", False)],
)
def test_a_text_is_a_literal_by_its_type_or_language(text: str, typed: bool) -> None:
    assert has_type(text) is typed
