"""A build in a folder that is killed wherever it changes files leaves the old index or the new one."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest
from kit.kills import EVERY, Kills, restored

import srtk_framework
from srtk_framework.cli import main

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs fork and /proc")

RECIPE = """\
srtk: 1
knowledge_graph: {use: memory, triples: TRIPLES}
encoder: {use: "toy.py:Toy"}
corpus: {use: triples}
index: {use: qdrant, path: i/q}
expander: {use: index}
"""
TOY = "from srtk_framework.testing import ToyEncoder\n\n\nclass Toy(ToyEncoder):\n    pass\n"
OLD = [["Latvia", "capital", "Riga"]]
NEW = [*OLD, ["Riga", "river", "Daugava"], ["Estonia", "capital", "Tallinn"]]
COMMAND = ["index", "build", "r.yaml", "--quiet"]
MODULES = ("qdrant_client", "srtk_plugin_qdrant.index", "srtk_plugin_index.commands.build", "srtk_framework.testing")


def recipe(triples):
    Path("r.yaml").write_text(RECIPE.replace("TRIPLES", str(triples).replace("'", "")))


def found(triples):
    """Retrieve by the recipe for a graph, and return the triples, or the error."""
    recipe(triples)
    try:
        with srtk_framework.open("r.yaml") as session:
            return sorted(list(triple) for triple in session.retrieve(["the capital"])[0].subgraph.triples)
    except srtk_framework.SrtkError as error:
        return "of another graph" if "built with another corpus" in str(error) else str(error)


@pytest.mark.slow
def test_a_rebuild_that_is_killed_anywhere_leaves_the_old_index_or_the_new_one(tmp_path, monkeypatch):
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    Path("toy.py").write_text(TOY)
    recipe(OLD)
    assert main(COMMAND) == 0
    recipe(NEW)
    shutil.copytree("i", tmp_path / "saved")
    restore = restored(tmp_path / "saved", work / "i")

    def reset():
        restore()
        recipe(NEW)

    seen = []
    with Kills(work, *MODULES) as kills:
        for struck in kills.everywhere(COMMAND, reset, kinds=EVERY):
            assert struck.killed
            old, new = found(OLD), found(NEW)
            seen.append(new == sorted(NEW))
            wanted = ("of another graph", sorted(NEW)) if seen[-1] else (sorted(OLD), "of another graph")
            assert (old, new) == wanted, struck.calls[-1]
            ended = kills.run(COMMAND)
            assert ended.code == 0, ended.stderr
            assert found(NEW) == sorted(NEW), struck.calls[-1]
    assert seen == sorted(seen), "after a later kill the index is older"
    assert set(seen) == {False, True}
