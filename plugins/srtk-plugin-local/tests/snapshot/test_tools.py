"""What known tools write: GraphRAG, KGTK, Gephi, and dumps of Wikidata."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from srtk_plugin_local.snapshot.build import build
from srtk_plugin_local.snapshot.build_settings import BuildSettings
from srtk_plugin_local.snapshot.graph import LocalGraph
from srtk_plugin_local.snapshot.meta_file import read_meta

from srtk_framework.cli import main
from srtk_framework.values import InputError, Pattern, Triple

REAL = Path(os.environ.get("SRTK_DATA", "../shared/data")) / "public_graphs"
needs_files = pytest.mark.skipif(not REAL.is_dir(), reason="SRTK_DATA names no folder with public_graphs")


def opened(folder: Path, tool: str, *files: str, **settings: Any) -> LocalGraph:
    paths = tuple(file if Path(file).is_absolute() else str(folder / file) for file in files)
    built = build(BuildSettings(files=paths, made_by=tool, **settings), folder / "out")
    graph = LocalGraph(str(built.folder))
    graph.open()
    return graph


def facts(graph: LocalGraph) -> list[tuple[str, ...]]:
    return sorted(tuple(triple) for triple in graph.match([Pattern()])[0])


def reports(folder: Path) -> list[dict[str, Any]]:
    reading: list[dict[str, Any]] = read_meta(folder / "out").build["reading"]
    return reading


def notes(folder: Path) -> list[str]:
    return [note for report in reports(folder) for note in report["notes"]]


def qualifiers(graph: LocalGraph, *fact: str) -> list[tuple[str, str]]:
    return sorted((str(one[0]), str(one[1])) for one in graph.qualifiers([Triple(*fact)])[0])


def test_graphrag_gives_titles_types_and_described_edges(tmp_path: Path) -> None:
    folder = tmp_path / "output"
    folder.mkdir()
    entities = {"id": ["u1", "u2"], "title": ["ADA", "MILL"], "type": ["PERSON", None], "description": ["writes", ""]}
    pq.write_table(pa.table({**entities, "degree": [1, 1]}), folder / "entities.parquet")
    edge = {"id": ["e"], "source": ["ADA"], "target": ["MILL"], "description": ["owns it"], "weight": [2.0]}
    pq.write_table(pa.table(edge), folder / "relationships.parquet")
    pq.write_table(pa.table({"id": ["c"], "community": [1], "title": ["x"]}), folder / "communities.parquet")
    graph = opened(tmp_path, "graphrag", "output")
    assert facts(graph) == [("ADA", "description", '"writes"'), ("ADA", "edge", "MILL"), ("ADA", "type", "PERSON")]
    assert qualifiers(graph, "ADA", "edge", "MILL") == [("description", '"owns it"'), ("weight", '"2"^^xsd:integer')]
    assert "is neither the entities nor the relationships of GraphRAG; not read" in notes(tmp_path)


def test_gephi_gives_labels_relations_and_weights(tmp_path: Path) -> None:
    (tmp_path / "nodes.csv").write_text("Id,Label,timeset,born\n1,Ada,,1815\n2,Mill,,\n", encoding="utf-8")
    header = "Source,Target,Type,Id,Label,timeset,Weight\n"
    (tmp_path / "edges.csv").write_text(f"{header}1,2,Directed,0,owns,,2.5\n2,1,Directed,1,,,1\n", encoding="utf-8")
    graph = opened(tmp_path, "gephi", "nodes.csv", "edges.csv")
    assert facts(graph) == [("1", "born", '"1815"^^xsd:integer'), ("1", "owns", "2"), ("2", "edge", "1")]
    assert graph.labels(["1", "2"]) == ["Ada", "Mill"]
    assert qualifiers(graph, "1", "owns", "2") == [("Weight", '"2.5"^^xsd:decimal')]
    assert graph.schema().symmetric == ()
    (tmp_path / "more.csv").write_text("Source,Target,Type,Label\n1,2,Undirected,likes\n2,1,Directed,owns\n")
    assert opened(tmp_path, "gephi", "more.csv").schema().symmetric == ("likes",)
    (tmp_path / "other.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"other\.csv:1: has neither Id nor Source and Target"):
        opened(tmp_path, "gephi", "other.csv")


def test_kgtk_gives_names_literals_and_qualifiers_of_other_files(tmp_path: Path) -> None:
    rows = [
        "id\tnode1\tlabel\tnode2\tnode1;label\tlabel;label",
        "e1\tQ1\tP1\tQ2\t'Ada'@en\t'knows'@en",
        "e2\tQ1\tP2\t^1815-12-10T00:00:00Z/11\t\t",
        "e3\tQ1\tP3\t+1.5Q11573\t\t",
        "e4\tQ1\tP4\t'rain'@en\t\t",
        "e5\tQ1\tP5\t@56.9/24.1\t\t",
        "e6\tQ2\tlabel\t'Bo'@en\t\t",
        'e7\tQ1\tP6\t"plain"\t\t',
        "e8\tQ1\tP7\t12\t\t",
    ]
    (tmp_path / "edges.tsv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    (tmp_path / "quals.tsv").write_text("node1\tlabel\tnode2\tid\ne1\tP8\t^1833-00-00T00:00:00Z/9\tq1\n")
    graph = opened(tmp_path, "kgtk", "edges.tsv", "quals.tsv")
    assert facts(graph) == [
        ("Q1", "P1", "Q2"),
        ("Q1", "P2", '"1815-12-10"^^xsd:date'),
        ("Q1", "P3", '"1.5 Q11573"'),
        ("Q1", "P4", '"rain"@en'),
        ("Q1", "P5", '"Point(24.1 56.9)"^^http://www.opengis.net/ont/geosparql#wktLiteral'),
        ("Q1", "P6", '"plain"'),
        ("Q1", "P7", '"12"^^xsd:integer'),
    ]
    assert graph.labels(["Q1", "P1", "Q2"]) == ["Ada", "knows", "Bo"]
    assert qualifiers(graph, "Q1", "P1", "Q2") == [("P8", '"1833"^^xsd:gYear')]


def snak(property_: str, kind: str, value: Any) -> dict[str, Any]:
    return {"snaktype": "value", "property": property_, "datavalue": {"type": kind, "value": value}}


def claim(main_: dict[str, Any], rank: str = "normal", **qualifiers: Any) -> dict[str, Any]:
    return {"mainsnak": main_, "rank": rank, "qualifiers": {name: [value] for name, value in qualifiers.items()}}


def item(id_: str) -> dict[str, Any]:
    return {"entity-type": "item", "id": id_}


def term(language: str, value: str) -> dict[str, str]:
    return {"language": language, "value": value}


def dumped(file: Path) -> None:
    since = snak("P580", "time", {"time": "+1918-00-00T00:00:00Z", "precision": 9})
    mass = {"amount": "+1.5", "unit": "http://www.wikidata.org/entity/Q11570"}
    riga = {
        "id": "Q1773",
        "labels": {"lv": term("lv", "Rīga"), "en": term("en", "Riga")},
        "aliases": {"de": [term("de", "Rige")]},
        "descriptions": {"en": term("en", "capital of Latvia")},
        "claims": {
            "P1376": [claim(snak("P1376", "wikibase-entityid", item("Q211")), P580=since)],
            "P1082": [
                claim(snak("P1082", "quantity", {"amount": "+1", "unit": "1"})),
                claim(snak("P1082", "quantity", {"amount": "+600000", "unit": "1"}), "preferred"),
                claim(snak("P1082", "quantity", {"amount": "+2", "unit": "1"}), "deprecated"),
            ],
            "P2067": [claim(snak("P2067", "quantity", mass))],
            "P6": [claim({"snaktype": "novalue", "property": "P6"})],
        },
        "sitelinks": {"enwiki": {}, "lvwiki": {}},
    }
    latvia = {"id": "Q211", "labels": {"lv": term("lv", "Latvija"), "en": term("en", "Latvia")}}
    capital = {"id": "P1376", "labels": {"en": term("en", "capital of")}}
    lines = ",\n".join(json.dumps(entity) for entity in (riga, latvia, capital))
    file.write_bytes(gzip.compress(f"[\n{lines},\n{{broken\n]\n".encode()))


def test_a_dump_of_wikidata_gives_best_statements_with_names_and_qualifiers(tmp_path: Path) -> None:
    dumped(tmp_path / "dump.json.gz")
    graph = opened(tmp_path, "wikidata-json", "dump.json.gz")
    assert facts(graph) == [
        ("Q1773", "P1082", '"600000"^^xsd:integer'),
        ("Q1773", "P1376", "Q211"),
        ("Q1773", "P2067", '"1.5"^^xsd:decimal'),
        ("Q1773", "description", '"capital of Latvia"@en'),
        ("Q1773", "sitelinks", '"2"^^xsd:integer'),
    ]
    assert graph.labels(["Q1773", "Q211", "P1376"]) == ["Riga", "Latvia", "capital of"]
    assert qualifiers(graph, "Q1773", "P1376", "Q211") == [("P580", '"1918"^^xsd:gYear')]
    assert qualifiers(graph, "Q1773", "P2067", '"1.5"^^xsd:decimal') == [("unit", "Q11570")]
    assert set(notes(tmp_path)) >= {
        "left out 1 deprecated statements",
        "left out 1 statements beside preferred ones",
        "left out 1 statements without a known value",
    }
    [report] = reports(tmp_path)
    assert report["skipped"]["lines without an entity"][0] == 1


def test_a_dump_of_wikidata_is_read_in_the_wanted_languages(tmp_path: Path) -> None:
    dumped(tmp_path / "dump.json.gz")
    graph = opened(tmp_path, "wikidata-json", "dump.json.gz", languages=("lv",))
    assert graph.labels(["Q1773", "Q211"]) == ["Rīga", "Latvija"]
    assert not any(relation == "description" for _, relation, _ in facts(graph))


def test_the_flag_names_the_tool_and_a_wrong_one_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "e.csv").write_text("Source,Target\n1,2\n", encoding="utf-8")
    arguments = ["graph", "build", str(tmp_path / "e.csv"), "--out", str(tmp_path / "out"), "--from"]
    assert main([*arguments, "gephy"]) == 2
    assert "'gephy' is no tool that is known; use graphrag, kgtk, gephi, wikidata-json" in capsys.readouterr().err
    assert main([*arguments, "gephi", "-q"]) == 0


@needs_files
def test_real_output_of_graphrag_and_kgtk_is_read(tmp_path: Path) -> None:
    files = [str((REAL / f"dulce-{name}.parquet").resolve()) for name in ("entities", "relationships")]
    graph = opened(tmp_path, "graphrag", *files)
    assert ("ALEX MERCER", "edge", "PARANORMAL MILITARY SQUAD") in facts(graph)
    graph.close()
    kgtk = tmp_path / "kgtk"
    kgtk.mkdir()
    assert ("P10", "P31", "Q18610173") in facts(opened(kgtk, "kgtk", str((REAL / "P10.tsv").resolve())))
