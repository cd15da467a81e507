"""Snapshots of real graphs; they are looked for in the folder that SRTK_DATA names."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from srtk_plugin_local.snapshot.build import build
from srtk_plugin_local.snapshot.build_settings import BuildSettings
from srtk_plugin_local.snapshot.graph import LocalGraph

from srtk_framework.values import Pattern, Step

DATA = Path(os.environ.get("SRTK_DATA") or Path(__file__).parents[4] / "../shared/data")


def files(folder: str, *names: str) -> tuple[str, ...]:
    paths = [DATA / folder / name for name in names]
    if missing := [path for path in paths if not path.is_file()]:
        pytest.skip(f"{missing[0].name} of {folder} is not there; set SRTK_DATA to the folder of the data sets")
    return tuple(str(path) for path in paths)


def made(settings: BuildSettings, out: Path) -> LocalGraph:
    build(settings, out)
    graph = LocalGraph(str(out))
    graph.open()
    return graph


def test_metaqa_builds_and_answers_a_two_hop_question(tmp_path: Path) -> None:
    settings = BuildSettings(files("metaqa", "kb_from_splits.txt", "kb_from_1hop_answers.txt"), separator="|")
    graph = made(settings, tmp_path / "metaqa")
    assert graph._open.meta.counts["triples"] == 130_425
    assert graph._open.meta.counts["relations"] == 9
    written = graph.follow(graph.frontiers([["Emily Giffin"]]), [Step("written_by", True)], None)
    assert "Something Borrowed" in written[0].ids()
    assert graph.find(["something borrowed", "EMILY GIFFIN"]) == [["Something Borrowed"], ["Emily Giffin"]]
    starring = graph.follow(written, [Step("starred_actors")], None)
    assert starring[0].size > 0
    wanted = {t.object for film in written[0].ids() for t in graph.match([Pattern(film, "starred_actors")])[0]}
    assert list(starring[0].ids()) == sorted(wanted)


def test_wn18rr_builds_and_holds_every_line(tmp_path: Path) -> None:
    names = files("wn18rr", "train.txt", "valid.txt", "test.txt")
    labels = files("wn18rr", "relation2text.txt")
    graph = made(BuildSettings(names, labels=labels), tmp_path / "wn18rr")
    lines = [tuple(line.split("\t")) for name in names for line in Path(name).read_text().splitlines()]
    assert graph._open.meta.counts["triples"] == len(set(lines)) == 93_003
    some = lines[::997]
    assert [[tuple(t) for t in row] for row in graph.match([Pattern(*line) for line in some])] == [[x] for x in some]
    assert graph.labels(["_member_of_domain_usage", "call.v.03"]) == ["member of domain usage", "call.v.03"]


def test_a_gzipped_graph_of_uris_is_shortened_by_prefixes(tmp_path: Path) -> None:
    (name,) = files("dbpedia", "derived/dbp15k_en_union.tsv.gz")
    prefixes = {"dbr": "http://dbpedia.org/resource/", "dbo": "http://dbpedia.org/ontology/"}
    graph = made(BuildSettings((name,), prefixes=prefixes, names=False), tmp_path / "dbpedia")
    assert graph._open.meta.counts["triples"] > 200_000
    frontier = graph.frontiers([["dbr:!Kung_language"]])[0]
    assert list(frontier.ids()) == ["dbr:!Kung_language"]
