"""Snapshots of real graphs; they are looked for in the folder that SRTK_DATA names."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from srtk_plugin_local.snapshot.build import build
from srtk_plugin_local.snapshot.build_settings import BuildSettings
from srtk_plugin_local.snapshot.graph import LocalGraph
from srtk_plugin_local.snapshot.header import plan_facts
from srtk_plugin_local.snapshot.input_files import Input
from srtk_plugin_local.snapshot.input_report import FileReport
from srtk_plugin_local.snapshot.tables import read_rows

from srtk_framework.values import InputError, Pattern, Step

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


# The tables of the data sets that have a header; all others begin with a fact, a pair or a question.
HEADED = {
    "conceptnet/cskg_sample.tsv": ["node1", "label", "node2", "datasource", "weight"],
    "kgtk_wikidata/lexicalize-file1-without-qualifiers-property-labels.tsv.gz": ["id", "node1", "label", "node2"],
    "kgtk_wikidata/wikidata_properties.tsv": ["node1", "label", "node2"],
}


RELATION_FIRST = ("cn100k", "kinship", "nations")
RELATION_FIRST_NOTE = "the first of its three columns was read as the relation"


def tables() -> list[Path]:
    found = [path for ending in ("txt", "tsv", "csv", "tsv.gz", "csv.gz") for path in DATA.rglob(f"*.{ending}")]
    texts = ("ABOUT", "LICENSE", "README")
    return sorted(path for path in found if path.stem.upper() not in texts and path.parent.name != "public_graphs")


def test_no_table_of_the_data_sets_loses_its_first_row_but_a_header() -> None:
    paths = tables()
    if not paths:
        pytest.skip("the data sets are not there; set SRTK_DATA to their folder")
    headed: dict[str, list[str]] = {}
    facts = 0
    for path in paths:
        name = str(path.relative_to(DATA))
        with Input(str(path)) as source:
            first = source.peek().decode("utf-8", "ignore").split("\n", 1)[0]
        report = FileReport(str(path), "tsv")
        try:
            rows = next(read_rows(str(path), "tsv", None, plan_facts(BuildSettings(())), report, lambda done: None))
        except InputError:  # pairs, questions and the like are no facts, and are refused
            assert name not in HEADED
            continue
        if report.sheet:
            assert name not in HEADED
            continue
        facts += 1
        if path.parent.name in RELATION_FIRST:
            assert [note.split(",")[0] for note in report.notes] == [RELATION_FIRST_NOTE], name
            continue
        assert [note for note in report.notes if "--from kgtk" not in note] == [], name
        if report.header:
            headed[name] = list(report.header)
        else:
            assert report.separator.join(row[0] for row in rows.slice(0, 1).to_pydict().values()) == first, name
    assert headed == {name: titles for name, titles in HEADED.items() if (DATA / name).is_file()}
    assert facts > 10
