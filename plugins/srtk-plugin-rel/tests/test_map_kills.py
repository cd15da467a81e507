"""``srtk map build`` killed wherever it changes files: the old or the new index is there, whole."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from kit.kills import EVERY, Kills, restored, tree

BUILD = ["map", "build", "titles.tsv", "--out", "index.db", "--force"]


@pytest.fixture
def states(tmp_path: Path) -> Iterator[tuple[Kills, Path, Path]]:
    """Build an index and change its input; yield what strikes, the folder, and a copy to begin from."""
    place, saved = tmp_path / "place", tmp_path / "saved"
    place.mkdir()
    (place / "titles.tsv").write_text("Riga\tQ1773\n")
    with Kills(place, "srtk_plugin_rel.commands.build") as kills:
        assert kills.run(BUILD).code == 0
        (place / "titles.tsv").write_text("Riga\tQ1773\nLatvia\tQ211\n")
        shutil.copytree(place, saved)
        yield kills, place, saved


def ids(file: Path) -> list[str]:
    with closing(sqlite3.connect(file)) as db:
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        return [row[0] for row in db.execute("SELECT wikidata_id FROM mapping ORDER BY 1")]


def test_after_a_kill_the_old_or_the_new_index_is_there(states: tuple[Kills, Path, Path]) -> None:
    kills, place, saved = states
    reset = restored(saved, place)
    assert kills.run(BUILD).code == 0
    unbroken = tree(place)
    seen = []
    for ended in kills.everywhere(BUILD, reset, kinds=EVERY):
        seen.append(tuple(ids(place / "index.db")))
        assert kills.run(BUILD).code == 0
        assert tree(place) == unbroken, ended.calls[-1]
    print(f"map: {len(seen)} strikes")
    assert set(seen) == {("Q1773",), ("Q1773", "Q211")}
    assert len(seen) >= 8


def test_a_failed_build_leaves_the_old_index(states: tuple[Kills, Path, Path]) -> None:
    kills, place, _ = states
    (place / "titles.tsv").write_text("Riga\tnone\n")
    before = tree(place)
    assert kills.run(BUILD).code == 2
    assert tree(place) == before
