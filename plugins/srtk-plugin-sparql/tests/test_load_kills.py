"""``srtk graph load`` and ``pull`` killed wherever they change files: the old or the new is there, whole."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from kit.kills import RENAMES, Kills, restored, tree
from srtk_plugin_sparql.store import META, EmbeddedStore
from srtk_plugin_views.read_log import Log

from srtk_framework.values import InputError, SnapshotError

LOAD = ["graph", "load", "t.nt", "--out", "store"]
ASK = "SELECT ?s ?o WHERE { ?s ?p ?o } ORDER BY ?s ?o"


@pytest.fixture
def states(tmp_path: Path) -> Iterator[tuple[Kills, Path, Path]]:
    """Load a store and change its input; yield what strikes, the folder, and a copy to begin from."""
    place, saved = tmp_path / "place", tmp_path / "saved"
    place.mkdir()
    (place / "t.nt").write_text("<x:a> <x:r> <x:b> .\n")
    with Kills(place, "pyoxigraph", "srtk_plugin_sparql.commands.load") as kills:
        assert kills.run(LOAD).code == 0
        (place / "t.nt").write_text("<x:a> <x:r> <x:b> .\n<x:a> <x:r> <x:c> .\n")
        shutil.copytree(place, saved)
        yield kills, place, saved


def ends(folder: Path) -> list[str]:
    """Return what the store has, which its meta file must fit."""
    store = EmbeddedStore(folder)
    found = [row["o"].value for row in store.select(ASK, True)]
    assert store.meta.triples == len(found)
    store.close()
    return found


OLD, NEW = ["x:b"], ["x:b", "x:c"]


@pytest.mark.parametrize("every", [8, pytest.param(1, marks=pytest.mark.slow)])
def test_after_a_kill_the_old_or_the_new_store_is_there(states: tuple[Kills, Path, Path], every: int) -> None:
    kills, place, saved = states
    seen = []
    for ended in kills.everywhere(LOAD, restored(saved, place), kinds=RENAMES, every=every):
        seen.append(ends(place / "store"))
        assert seen[-1] in (OLD, NEW), ended.calls[-1]
        assert kills.run(LOAD).code == 0
        assert ends(place / "store") == NEW
        assert sorted(path.name for path in place.iterdir()) == ["store", "t.nt"]
    print(f"load: {len(seen)} strikes")
    assert {tuple(found) for found in seen} == {tuple(OLD), tuple(NEW)}


def test_a_failed_load_leaves_the_old_store(states: tuple[Kills, Path, Path]) -> None:
    kills, place, _ = states
    (place / "t.nt").write_text("<x:a> <x:r> broken .\n")
    before = tree(place)
    ended = kills.run(LOAD)
    assert ended.code == 2
    assert "t.nt:1" in ended.stderr
    assert tree(place) == before


def test_a_store_that_is_replaced_while_it_is_opened_is_opened_anew(
    states: tuple[Kills, Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    from srtk_plugin_sparql import store

    kills, place, _ = states
    read = store.read_meta

    def slow(folder: Path) -> store.Meta:
        meta = read(folder)
        monkeypatch.setattr(store, "read_meta", read)
        assert kills.run(LOAD).code == 0
        return meta

    monkeypatch.setattr(store, "read_meta", slow)
    assert ends(place / "store") == NEW


@pytest.mark.parametrize("text", ["", "[]", "{", '{"format": "srtk-oxigraph-store", "version": 1}'])
def test_a_damaged_meta_file_is_named(states: tuple[Kills, Path, Path], text: str) -> None:
    _, place, _ = states
    (place / "store" / META).write_text(text)
    with pytest.raises((SnapshotError, InputError), match=META):
        EmbeddedStore(place / "store")


@pytest.mark.parametrize(("key", "value"), [("content", 5), ("triples", "many"), ("triples", -1), ("content", None)])
def test_a_meta_file_with_another_value_is_named(states: tuple[Kills, Path, Path], key: str, value: object) -> None:
    _, place, _ = states
    path = place / "store" / META
    path.write_text(json.dumps({**json.loads(path.read_text()), key: value}))
    with pytest.raises(SnapshotError, match=META):
        EmbeddedStore(place / "store")


PULL = ["graph", "pull", "reads", "--out", "g", "--quiet"]
MODULES = ("duckdb", "pyarrow", "srtk_plugin_local.snapshot.build", "srtk_plugin_sparql.commands.pull")
LINES = [
    {"format": "srtk-reads", "version": 1, "graph": {
        "source": "test", "version": "1", "names": False, "languages": [],
        "schema": {"type_relations": [], "subclass_relations": [], "mediators": [], "noise": [], "prefixes": {}},
    }},
    {"triples": [["a", "r", "b"]]},
    {"labels": {"a": "A", "b": "b", "r": "r"}},
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_after_a_kill_the_old_or_the_new_pulled_snapshot_is_there(tmp_path: Path) -> None:
    from srtk_plugin_local.snapshot.graph import LocalGraph

    place, saved = tmp_path / "place", tmp_path / "saved"
    (place / "reads").mkdir(parents=True)
    written = Log(place / "reads", LINES[0]["graph"])
    for line in LINES[1:]:
        written.write(line)
    written.close()

    def degree() -> int:
        graph = LocalGraph(str(place / "g"))
        graph.open()
        return int(graph.degrees(["a"])[0])

    with Kills(place, *MODULES) as kills:
        first = kills.run(PULL)
        assert first.code == 0, first.stderr
        written = Log(place / "reads", LINES[0]["graph"])
        written.write({"triples": [["a", "r", "c"]]})
        written.close()
        shutil.copytree(place, saved)
        seen = []
        for ended in kills.everywhere(PULL, restored(saved, place), kinds=RENAMES):
            seen.append(degree())
            assert seen[-1] in (1, 2), ended.calls[-1]
            assert kills.run(PULL).code == 0
            assert degree() == 2
            assert sorted(path.name for path in place.iterdir()) == ["g", "reads"]
    print(f"pull: {len(seen)} strikes")
    assert set(seen) == {1, 2}
