"""Descriptions of entities in a snapshot."""

from __future__ import annotations

from pathlib import Path

from srtk_plugin_local.dictionary import entity_context
from srtk_plugin_local.snapshot.build import build
from srtk_plugin_local.snapshot.build_settings import BuildSettings, fingerprint
from srtk_plugin_local.snapshot.graph import LocalGraph

from srtk_framework.cli import main
from srtk_framework.values import Pattern


def written(folder: Path, name: str, *lines: str) -> str:
    (folder / name).write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return str(folder / name)


def opened(folder: Path) -> LocalGraph:
    graph = LocalGraph(str(folder))
    graph.open()
    return graph


def test_files_of_descriptions_become_literals_of_known_ids(tmp_path: Path) -> None:
    triples = written(tmp_path, "kb.tsv", "Q1\tin\tQ2")
    about = written(tmp_path, "about.tsv", 'Q1\ta "large" city\ten', "Q2\tcountry\t", "Q9\tunknown\ten")
    build(BuildSettings((triples,), descriptions=(about,)), tmp_path / "graph")
    graph = opened(tmp_path / "graph")
    found = graph.match([Pattern(None, "description", None)])[0]
    assert found == [("Q1", "description", '"a "large" city"@en'), ("Q2", "description", '"country"')]
    assert [own for own, _ in entity_context.texts(graph, ["Q1", "Q2"])] == ['a "large" city', "country"]
    assert graph.find(["country"]) == [[]]


def test_the_command_takes_descriptions(tmp_path: Path) -> None:
    triples = written(tmp_path, "kb.tsv", "Q1\tin\tQ2")
    about = written(tmp_path, "about.json", '{"Q1": "a city"}')
    out = str(tmp_path / "graph")
    assert main(["graph", "build", "--quiet", "--out", out, "--descriptions", about, triples]) == 0
    assert opened(tmp_path / "graph").match([Pattern("Q1", "description", None)])[0][0].object == '"a city"'


def test_a_changed_description_builds_the_snapshot_again(tmp_path: Path) -> None:
    triples = written(tmp_path, "kb.tsv", "Q1\tin\tQ2")
    about = written(tmp_path, "about.tsv", "Q1\ta city")
    settings = BuildSettings((triples,), descriptions=(about,))
    before = fingerprint(settings)
    written(tmp_path, "about.tsv", "Q1\ta large city")
    assert fingerprint(settings) != before
