"""Tables in JSON: lists of objects, objects with lists, and JSON Lines."""

from __future__ import annotations

import gzip
import json
import os
import tempfile
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from srtk_plugin_local.snapshot import json_tables, limits, parser_process
from srtk_plugin_local.snapshot.build import build
from srtk_plugin_local.snapshot.build_settings import BuildSettings
from srtk_plugin_local.snapshot.graph import LocalGraph
from srtk_plugin_local.snapshot.header import plan_facts
from srtk_plugin_local.snapshot.input_report import sentences

from srtk_framework.values import InputError, Pattern

PEOPLE: list[dict[str, Any]] = [
    {"name": "Ada Lovelace", "born": "London", "father": "Lord Byron", "year": 1815},
    {"name": "Alan Turing", "born": "London", "year": 1912},
    {"name": "Lord Byron", "born": "Dover", "year": 1788},
]


class Read:
    """The graph of one file, and what the build said about it."""

    def __init__(self, file: Path, **settings: Any) -> None:
        # A folder with a graph would give its plan.
        folder = Path(tempfile.mkdtemp(dir=file.parent))
        built = build(BuildSettings((str(file),), **settings), folder)
        graph = LocalGraph(str(built.folder))
        graph.open()
        self.graph = graph
        self.said = "\n".join(sentences(built.meta.build["reading"])).replace(f"{file.parent}/", "")
        self.facts = [tuple(triple) for triple in graph.match([Pattern()])[0]]
        self.content = built.meta.content


@pytest.fixture
def read(tmp_path: Path) -> Any:
    def read(content: Any, name: str = "a.json", **settings: Any) -> Read:
        text = content if isinstance(content, str) else json.dumps(content)
        (tmp_path / name).write_text(text, encoding="utf-8")
        return Read(tmp_path / name, **settings)

    return read


def lines(rows: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def refused(read: Any, content: Any, name: str = "a.json", **settings: Any) -> str:
    with pytest.raises(InputError) as caught:
        read(content, name, **settings)
    return str(caught.value).partition(f"{os.sep}{name}")[2]


def test_a_list_of_objects_is_read_like_the_equal_lines_and_table(read, tmp_path):
    whole = read(PEOPLE)
    assert ("Ada Lovelace", "father", "Lord Byron") in whole.facts
    assert ("Lord Byron", "born", "Dover") in whole.facts
    assert read(lines(PEOPLE), "a.jsonl").content == whole.content
    assert read("\ufeff\n" + lines(PEOPLE), "a.ndjson").content == whole.content
    table = "name,born,father,year\nAda Lovelace,London,Lord Byron,1815\nAlan Turing,London,,1912\n"
    assert read(table + "Lord Byron,Dover,,1788\n", "a.csv").content == whole.content


def test_the_columns_are_the_keys_of_all_objects(read):
    found = read([{"name": "Ada"}, {"name": "Bo"}, {"name": "Cy", "late": "yes sir"}])
    assert found.facts == [("Cy", "late", "yes sir")]


def test_an_object_within_an_object_gives_a_column_for_each_value(read):
    found = read([{"name": "Alien", "made": {"in": {"country": "US"}, "by": "Fox"}}, {"name": "Heat"}])
    assert set(found.facts) == {("Alien", "made.in.country", "US"), ("Alien", "made.by", "Fox")}


def test_a_list_of_plain_values_is_a_cell_with_several(read):
    found = read([{"name": "Alien", "cast": ["Holm", None, "Hurt"]}, {"name": "Heat", "cast": ["Pacino"]}])
    assert set(found.facts) == {("Alien", "cast", "Holm"), ("Alien", "cast", "Hurt"), ("Heat", "cast", "Pacino")}


def test_other_lists_are_skipped_and_counted_or_refused_when_strict(read):
    rows = [{"name": "Heat", "by": "Mann"}, {"name": "Alien", "cast": [{"actor": "Holm"}], "grid": [["a"]]}]
    found = read(rows)
    assert found.facts == [("Heat", "by", "Mann")]
    assert "a.json: skipped 1 list of objects or of lists in 'cast', in row 2" in found.said
    assert "a.json: skipped 1 list of objects or of lists in 'grid', in row 2" in found.said
    said = refused(read, rows, strict=True)
    assert said == ": row 2: 'cast' is a list of objects or of lists; write them as a table of their own"
    assert refused(read, lines(rows), "a.jsonl", strict=True).startswith(":2: 'cast' is a list")


def test_a_key_that_stands_twice_is_counted_and_the_last_value_kept(read):
    rows = '{"name": "Ada", "born": "Rome", "born": "London"}\n{"name": "Bo", "in": {"x": "Y", "x": "Z"}}\n'
    found = read(rows, "a.jsonl")
    assert set(found.facts) == {("Ada", "born", "London"), ("Bo", "in.x", "Z")}
    assert "skipped 2 keys that an object has twice, the first in 1" in found.said
    assert "an object has a key twice" in refused(read, rows, "a.jsonl", strict=True)


def test_a_column_that_two_keys_name_is_counted_and_an_empty_value_takes_nothing(read):
    rows = [
        {"name": "Ada", "at": {"city": "Rome"}, "at.city": "Paris"},
        {"name": "Bo", "in": {"x": "Yard"}, "in.x": None},
    ]
    found = read(rows)
    assert set(found.facts) == {("Ada", "at.city", "Paris"), ("Bo", "in.x", "Yard")}
    assert "skipped 2 keys that an object has twice, the first in row 1" in found.said


def test_a_table_called_results_is_none_of_sparql(read):
    assert read({"head": {"page": 1}, "results": PEOPLE}).facts == read(PEOPLE).facts


def test_numbers_stay_as_they_are_written_and_no_number_is_missing(read):
    rows = '[{"name": "Ada", "n": 1.50, "big": 12345678901234567890}, {"name": "Bo", "n": NaN, "big": null}]'
    found = {(subject, relation): str(value) for subject, relation, value in read(rows).facts}
    assert found == {("Ada", "n"): '"1.5"^^xsd:decimal', ("Ada", "big"): '"12345678901234567890"^^xsd:integer'}


def test_truth_values_are_those_of_tables(read):
    rows = [{"name": "Ada", "alive": False}, {"name": "Bo", "alive": True}]
    assert read(rows).content == read("name,alive\nAda,false\nBo,true\n", "a.csv").content


def test_each_list_of_an_object_is_a_table_and_other_keys_are_told(read):
    graph = {
        "directed": True,
        "nodes": [{"id": 1, "name": "Ada"}, {"id": 2, "name": "Byron"}],
        "empty": [],
        "links": [{"source": 1, "target": 2, "relation": "father"}],
    }
    found = read(graph)
    assert found.facts == [("1", "father", "2")]
    assert "a.json::nodes: beside its tables, these keys are not read: 'directed', 'empty'" in found.said
    assert found.said.count("not read") == 1
    assert "not read" not in read({key: graph[key] for key in ("nodes", "links")}).said


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("\n", ": holds no table with rows; leave it out"),
        ('[{"name": "Ada"},\n {"name": }]', ":2:11: not valid JSON: Expecting value"),
        ([], ": holds no table with rows; leave it out"),
        ([{}], ": holds no table with rows; leave it out"),
        ('[{"name": "Ada"}, 7]', ": row 2: is no object; give a list of objects, an object with such lists"),
        ({"Q1": "Riga"}, ": holds no table; give a list of objects"),
        ({"name": {"0": "Ada"}}, ": holds no table; give a list of objects"),
        ("7", ": holds no table; give a list of objects"),
        ({"head": {}, "results": {"bindings": []}}, ": holds no table with rows; leave it out"),
        ({"head": {}, "results": {"bindings": [{"a": 7}]}}, ": row 1: is no object"),
        ('{"a": [{"name": "A"}], "a": [{"name": "B"}]}', ": an object has a key twice; rename one of them"),
        ('[{"name": "A", "born": "R\\ud800me"}]', r": row 1: \ud800 stands for no character; correct it"),
        ('[{"name": "A", "\\udc00": "Rome"}]', r": row 1: \udc00 stands for no character; correct it"),
        ("[" * 100_000, ": not valid JSON: it nests too deep; flatten it"),
        ('[{"name": ' + "[" * 101 + "]" * 101 + "}]", ": the record nests deeper than 100 levels"),
    ],
)
def test_what_is_no_table_is_refused_with_a_sentence(read, content, said):
    assert refused(read, content).startswith(said)


def test_a_result_of_sparql_is_a_table_of_its_variables(read):
    def term(kind, value):
        return {"type": kind, "value": value}

    riga, ann = {"item": term("uri", "http://e.org/Q1"), "itemLabel": term("literal", "Riga")}, "http://e.org/Q2"
    riga |= {"head": term("uri", ann), "headLabel": {**term("literal", "Ann"), "xml:lang": "en"}}
    bindings = [riga | {"people": term("literal", "5")}, {"item": term("uri", "http://e.org/Q3")}]
    found = read({"head": {"vars": [*riga, "people"]}, "results": {"bindings": bindings}})
    assert set(found.facts) == {("http://e.org/Q1", "head", ann), ("http://e.org/Q1", "people", '"5"^^xsd:integer')}


def test_a_list_of_objects_with_names_is_the_list_of_the_names(read):
    found = read([{"title": "Alien", "genres": [{"id": 18, "name": "Drama"}, {"id": 2, "title": "War"}]}])
    assert set(found.facts) == {("Alien", "genres", "Drama"), ("Alien", "genres", "War")}
    assert "of the objects in 'genres' the names are read alone" in found.said
    assert "skipped" in read([{"title": "Alien", "genres": [{"id": 18, "name": "Drama"}, {"id": 2}], "year": 2}]).said


def test_a_wrong_line_is_refused_with_its_number(read):
    good = '{"name": "Ada"}\n'
    assert refused(read, good + '{"name": }\n', "a.jsonl") == ":2:10: not valid JSON: Expecting value"
    assert refused(read, '{"name": "Ada"\n' + good, "a.jsonl").startswith(":1:")
    assert read(good + '{"name": "Bo", "text": "' + "long " * 2_000_000 + '"}\n', "a.jsonl").facts
    assert read('{"name": "Bo", "n": ' + "1" * 5000 + "}\n" + good, "a.json").facts
    assert refused(read, good + "\n7\n", "a.jsonl").startswith(":3: the line holds no object")
    assert refused(read, good + '"' + "x" * 16_000_001 + '"\n', "a.jsonl").startswith(":2: a line of a table")


def test_a_text_with_the_separator_of_lists_is_refused(read):
    said = "a text of 'text' has the character U+001F, by which the values of lists are separated; remove it"
    row = {"name": "Ada", "born": "London", "text": "one\x1fother"}
    assert refused(read, [PEOPLE[0], row]) == f": row 2: {said}"
    assert refused(read, lines([PEOPLE[0], row]), "a.jsonl") == f":2: {said}"
    assert refused(read, [{**row, "text": ["x", "one\x1fother"]}]) == f": row 1: {said}"
    listed = read([{**row, "text": ["one", "other"]}]).facts
    assert [fact for fact in listed if fact[1] == "text"] == [("Ada", "text", "one"), ("Ada", "text", "other")]


def test_one_line_is_a_row_where_the_name_says_lines(read):
    assert read('{"name": "Ada", "born": "London"}', "a.jsonl").facts == [("Ada", "born", "London")]
    assert refused(read, '{"person": "Ada", "born": "London"}').startswith(": holds no table")


def test_a_file_of_lines_is_known_by_its_content(read):
    assert read(lines(PEOPLE), "a.json").content == read(PEOPLE).content
    found = read(PEOPLE, "people")
    assert ("Ada Lovelace", "father", "Lord Byron") in found.facts


def test_a_file_that_is_held_as_a_whole_is_bounded_and_lines_are_not(read, monkeypatch):
    rows = [{"name": f"name {n}", "text": "long " * 200} for n in range(13_000)]
    assert refused(read, rows, memory="240MB").startswith(": is larger than 12 MB, of which 240 MB of memory is enough")
    assert len(read(lines(rows), "a.jsonl", memory="240MB").facts) == 13_000


def test_a_table_of_empty_cells_is_refused(read, monkeypatch):
    rows = [{"name": f"name {n}", f"key {n}": "a b"} for n in range(9)]
    monkeypatch.setattr(json_tables, "_CELLS", 89)
    monkeypatch.setattr(json_tables, "_SPARSE", 5)
    assert len(read(rows).facts) == 9
    monkeypatch.setattr(json_tables, "_SPARSE", 4)
    assert refused(read, rows).startswith(": its 9 objects have 10 keys, of which each has a few; write a line for")
    monkeypatch.setattr(json_tables, "_CELLS", 90)
    assert len(read(rows).facts) == 9


def test_objects_whose_keys_fill_a_hundredth_of_the_cells_are_a_table(tmp_path, monkeypatch):
    def first(count):
        (tmp_path / "a.json").write_text(json.dumps([{f"key {n}": "a b"} for n in range(count)]))
        planner = plan_facts(BuildSettings((), header=True))
        return next(json_tables.json_tables(str(tmp_path / "a.json"), planner, False, lambda _: None, 10**9))

    monkeypatch.setattr(json_tables, "_CELLS", 0)
    assert first(100)
    with pytest.raises(InputError, match="its 101 objects have 101 keys, of which each has a few"):
        first(101)


def test_many_rows_come_in_several_batches_and_none_is_lost(read, monkeypatch):
    rows = [{"name": f"name {n}", "in": f"place {n % 7}"} for n in range(50)]
    whole = read(rows)
    monkeypatch.setattr(json_tables, "ROWS", 7)
    assert read(rows).content == read(lines(rows), "a.jsonl").content == whole.content


@pytest.mark.parametrize(
    ("rows", "most", "sizes"), [(2, 999, [2, 2, 2, 1]), (99, 35, [3, 3, 1]), (99, 36, [4, 3]), (7, 999, [7])]
)
def test_a_batch_ends_with_its_last_row_or_with_the_row_that_goes_beyond_its_size(read, monkeypatch, rows, most, sizes):
    read_batches, found = json_tables.read_batches, []

    def counted(name, titles, batches, *rest):
        return read_batches(name, titles, (found.append(one.num_rows) or one for one in batches), *rest)

    monkeypatch.setattr(json_tables, "read_batches", counted)
    monkeypatch.setattr(json_tables, "ROWS", rows)
    monkeypatch.setattr(json_tables, "MAX_LITERAL", most)
    assert len(read([{"name": f"name{n}", "in": f"town{n}"} for n in range(7)]).facts) == 7
    assert found == sizes


def test_a_text_of_the_greatest_length_is_kept_and_a_longer_one_counted(read, monkeypatch):
    monkeypatch.setattr(json_tables, "MAX_LITERAL", 20)
    rows = [{"name": "Ada", "text": "x" * 20}, {"name": "Bo", "text": "y" * 21, "born": "Riga"}, {"name": "Cy"}]
    found = read(rows)
    assert set(found.facts) == {("Ada", "text", "x" * 20), ("Bo", "born", "Riga")}
    assert "skipped 1 literal above 16 MB, in row 2" in found.said
    assert refused(read, lines(rows), "a.jsonl", strict=True).startswith(":2: a literal may have 16 MB")


def test_all_that_follows_an_inner_object_and_a_skipped_list_is_read(read):
    found = read([{"name": "Ada", "at": {"town": "Rome"}, "in": [[1]], "died": "Riga"}, {"name": "Bo"}])
    assert set(found.facts) == {("Ada", "at.town", "Rome"), ("Ada", "died", "Riga")}


def test_an_empty_text_is_an_empty_cell_and_blanks_around_a_text_are_none_of_it(read):
    rows = [{"name": " Ada ", "born": "", "died": "\tRiga\n"}, {"name": "Bo", "born": None, "died": "  "}]
    assert read(rows).facts == [("Ada", "died", "Riga")]
    with_list = [{"name": "Ada", "in": ["", " Rome ", None, "Riga"]}, {"name": "Bo", "in": []}]
    assert set(read(with_list).facts) == {("Ada", "in", "Rome"), ("Ada", "in", "Riga")}
    one = [{"name": "Ada", "in": [None, "Rome", ""]}, {"name": "Bo", "in": "Riga"}]
    assert read(one).said == read([{**one[0], "in": "Rome"}, one[1]]).said


def test_the_greatest_number_of_keys_is_that_of_the_columns_of_a_table(read, monkeypatch):
    monkeypatch.setattr(limits, "MAX_COLUMNS", 3)
    rows = [{"name": "Ada", "a": "Riga"}, {"name": "Bo", "b": "Rome"}]
    assert len(read(rows).facts) == 2
    assert refused(read, [*rows, {"c": "Bonn"}]).startswith(": has more than 3 columns")


@pytest.mark.parametrize("coding", ["utf-8-sig", "utf-16"])
def test_any_coding_with_a_mark_is_read_like_utf_8(read, tmp_path, coding):
    people = [*PEOPLE, {"name": "Émilie du Châtelet", "born": "Paris"}]
    whole = read(people)
    for name, text in (("b.json", json.dumps(people, ensure_ascii=False)), ("b.jsonl", lines(people))):
        (tmp_path / name).write_text(text, encoding=coding)
        assert Read(tmp_path / name).content == whole.content


def test_a_compressed_file_in_lines_may_have_one(read, tmp_path):
    (tmp_path / "a.JSONL.gz").write_bytes(gzip.compress(b'{"name": "Ada", "born": "London"}'))
    assert Read(tmp_path / "a.JSONL.gz").facts == [("Ada", "born", "London")]


def test_a_first_line_that_nests_too_deep_is_refused(read):
    said = ": not valid JSON: it nests too deep; flatten it"
    assert refused(read, '{"a": ' * 100_000 + "\n{}\n").startswith(said)


def test_an_object_over_several_lines_is_no_file_of_lines(read):
    text = json.dumps({"head": 1, "people": PEOPLE}, indent=1)
    assert read(text).content == read({"people": PEOPLE}).content


@pytest.mark.parametrize("content", [PEOPLE, {"people": PEOPLE, "towns": [{"id": 7, "name": "Dover"}], "x": 1}])
def test_it_is_read_the_same_in_a_process_of_its_own(read, monkeypatch, content):
    here = read(content)
    monkeypatch.setattr(parser_process, "SMALL", 0)
    apart = read(content)
    assert (apart.content, apart.said) == (here.content, here.said)


def test_what_pandas_writes_is_read_like_its_parquet(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(PEOPLE)
    frame.to_json(tmp_path / "a.json", orient="records")
    frame.drop(columns="year").to_parquet(tmp_path / "a.parquet")
    assert pq.read_table(tmp_path / "a.parquet").num_rows == 3
    found = Read(tmp_path / "a.json").facts
    assert set(Read(tmp_path / "a.parquet").facts) == {fact for fact in found if fact[1] != "year"}


def test_persons_in_a_list_are_called_by_both_names_or_their_login(read):
    people = [{"given": "Ada", "family": "Moss"}, {"family": "Ng"}, {"firstName": "Bo", "lastName": "Fry"}]
    users = [{"login": "kmori", "name": ""}, {"displayName": "Cy"}]
    found = read([{"name": "Heat", "by": people, "for": users}])
    assert {o for _, _, o in found.facts} == {"Ada Moss", "Ng", "Bo Fry", "kmori", "Cy"}


def test_dates_of_csl_are_dates(read):
    parts = {"A": [1978, 7, 3], "B": [1979, 1, 12]}
    made = [{"title": title, "issued": {"date-parts": [some]}} for title, some in parts.items()]
    dates = {'"1978-07-03"^^xsd:date', '"1979-01-12"^^xsd:date'}
    assert {(r, o) for _, r, o in read(made).facts} == {("issued", date) for date in dates}


PARK = {
    "type": "Feature",
    "id": 7,
    "properties": {"name": "Mill", "opened": 1955},
    "geometry": {"type": "Point", "coordinates": [1, 2]},
}


def test_features_of_geojson_have_their_properties_and_not_their_geometry(read):
    found = read({"type": "FeatureCollection", "features": [PARK, {"type": "Feature", "properties": None}]})
    assert {r for _, r, _ in found.facts} == {"opened"}
    assert "the properties of its features are read, and not their geometry" in found.said


NODES = [{"data": {"id": "n1", "name": "TP53"}, "position": {"x": 1}}, {"data": {"id": "n2", "name": "MDM2"}}]
EDGES = [{"data": {"id": "e1", "source": "n2", "target": "n1", "interaction": "inhibits"}}]


@pytest.mark.parametrize(
    "whole",
    [
        {"elements": {"nodes": NODES, "edges": EDGES}},
        {"elements": {"nodes": [node["data"] for node in NODES], "edges": [EDGES[0]["data"]]}},
        {"graph": {"name": "x"}, "nodes": [node["data"] for node in NODES], "edges": [EDGES[0]["data"]]},
        {"graph": {"nodes": {"n1": {"label": "TP53"}, "n2": {"label": "MDM2"}}, "edges": [EDGES[0]["data"]]}},
    ],
)
def test_nodes_and_edges_are_read_where_they_are_wrapped(read, whole):
    found = read({**whole, "style": "flat"})
    assert found.facts == [("n2", "inhibits", "n1")]
    assert "'style'" in found.said.partition("these keys are not read: ")[2]


LINKS = [{"source": 0, "target": 1}, {"source": 0, "target": 2}]


@pytest.mark.parametrize("key", ["links", "edges"])
def test_ends_of_edges_that_are_places_of_nodes_lead_to_these(read, key):
    found = read({"nodes": [{"name": "Ada"}, {"name": "Bo"}, {"name": "Cy"}], key: LINKS})
    assert [found.graph.labels([s, o]) for s, _, o in found.facts] == [["Ada", "Bo"], ["Ada", "Cy"]]
    assert "its edges name nodes by their places, from 0, which were read as their ids" in found.said


@pytest.mark.parametrize(
    "nodes",
    [
        [{"id": "0", "name": "Ada"}, {"id": "1", "name": "Bo"}, {"id": "2", "name": "Cy"}],
        [{"name": "2"}, {"name": "1"}, {"name": "0"}],
        [{"name": "Ada"}, {"name": "Bo"}],
    ],
)
def test_ends_of_edges_that_are_ids_or_names_or_beyond_the_nodes_are_no_places(read, nodes):
    assert "by their places" not in read({"nodes": nodes, "links": LINKS}).said


def test_lists_of_cells_beside_other_keys_are_a_table_where_no_objects_are(read):
    rows = [["Ada", "knows", "Bo"], ["Bo", "likes", "Cy"]]
    found = read({"entities": ["Ada", "Bo", "Cy"], "triples": rows})
    assert found.facts == [("Ada", "knows", "Bo"), ("Bo", "likes", "Cy")]
    assert "these keys are not read: 'entities'" in found.said
    assert "not read: 'triples'" in read({"nodes": [{"name": "Ada", "age": 7, "x": 1}], "triples": rows}).said
    assert refused(read, {"ids": [[1], [2]]}).startswith(": holds no table")


def test_lists_of_three_texts_are_facts(read):
    assert read([["Ada", "knows", "Bo"], ["Bo", "likes", "Cy"]]).facts == [
        ("Ada", "knows", "Bo"),
        ("Bo", "likes", "Cy"),
    ]


def test_an_object_with_a_name_and_no_table_is_a_single_row(read):
    found = read({"name": "Ada", "born": 1815, "knows": ["Bo", "Cy"]})
    assert text_facts(found) == {("Ada", "born", "1815"), ("Ada", "knows", "Bo"), ("Ada", "knows", "Cy")}
    assert read({"name": "Mill", "staff": [{"name": "Ada", "role": "miller"}]}).facts == [("Ada", "role", "miller")]


ROWS = [{"name": "Ada Moss", "city": "Leeds"}, {"name": "Ben Ortiz", "city": "York"}]


@pytest.mark.parametrize(
    "whole",
    [
        {"u1": ROWS[0], "u2": ROWS[1]},
        {"name": {"1": "Ben Ortiz", "0": "Ada Moss"}, "city": {"0": "Leeds", "1": "York"}},
        {"columns": ["name", "city"], "index": [0, 1], "data": [[*row.values()] for row in ROWS]},
        {"range": "A1:B3", "values": [["name", "city"], *([*row.values()] for row in ROWS)]},
        [["name", "city", ""], *([*row.values()] for row in ROWS)],
    ],
)
def test_rows_are_read_in_whatever_way_they_are_nested(read, whole):
    facts = {(o, r) for _, r, o in read(whole).facts}
    assert facts == {("Leeds", "city"), ("York", "city")}


@pytest.mark.parametrize(
    "whole",
    [
        {"a": {"name": "Ada"}},
        {"a": {"x": 1}, "b": {"y": 2}},
        {"a": {}, "b": {}},
        {"a": {"x": 1}, "b": {"x": 2}, "c": 3},
        {"name": "Ada", "towns": {"a": {"x": 1}, "b": {"x": 2}}},
        {"values": [[]]},
        {"values": [[], ["a"]]},
        {"results": {"x": 1}, "b": {"x": 2}},
        {"values": [1]},
        [["name", "city"], ["Ada", ["Leeds"]]],
        [["name", "city"], {"name": "Ada"}],
    ],
)
def test_other_nested_objects_and_lists_are_no_rows(read, whole):
    assert "give a list of objects" in refused(read, whole)


def test_what_is_read_as_ids_or_headings_is_told(read):
    assert "the keys of its objects were read as their ids" in read({"u1": ROWS[0], "u2": ROWS[1]}).said
    assert (
        "of its 'values' the first was read as headings"
        in read({"values": [["name", "city"], ["Ada", "Leeds"]]}, "b.json").said
    )


@pytest.mark.parametrize("labels", [["a"], ["a", "b", "c"], []])
def test_an_index_of_another_length_than_its_data_is_refused(read, labels):
    whole = {"columns": ["name", "city"], "index": labels, "data": [[*row.values()] for row in ROWS]}
    assert f"its 'index' has {len(labels)} labels and its 'data' 2 rows" in refused(read, whole)


def test_an_index_that_is_no_list_is_told(read):
    whole = {"columns": ["name", "city"], "index": 7, "data": [[*row.values()] for row in ROWS]}
    assert "its 'index' is no list of labels; it was not read" in read(whole).said
    assert "index" not in read({**whole, "index": None}, "b.json").said


NODES = [
    {"type": "node", "id": "0", "labels": ["Person", "Actor"], "properties": {"name": "Ann", "nick": ["A", "An"]}},
    {"type": "node", "id": "1", "labels": ["Person"], "properties": {"name": "Bob", "born": 1964}},
]
EDGE = {
    "type": "relationship", "id": "0", "label": "KNOWS", "properties": {"since": 1993, "via": ["x", "y"]},
    "start": {"id": "0", "labels": ["Person"]}, "end": {"id": "1", "labels": ["Person"]},
}  # fmt: skip


@pytest.mark.parametrize(
    "whole",
    [
        "\n".join(json.dumps(one) for one in [*NODES, EDGE]),
        [*NODES, EDGE],
        [EDGE, *NODES],
        {"nodes": NODES, "rels": [EDGE]},
    ],
)
def test_nodes_and_edges_of_apoc_are_read_with_their_properties(read, whole):
    found = read(whole)
    assert text_facts(found) == {
        *(("0", "nick", "A"), ("0", "nick", "An"), ("1", "born", "1964"), ("0", "KNOWS", "1")),
        *(("0", "rdf:type", "Person"), ("0", "rdf:type", "Actor"), ("1", "rdf:type", "Person")),
    }
    [about] = found.graph.qualifiers(found.graph.match([Pattern(relation="KNOWS")])[0])
    assert set(about) == {("since", '"1993"^^xsd:integer'), ("via", '"x"'), ("via", '"y"')}


def test_nodes_without_name_are_named_by_their_title(read):
    nodes = [*NODES, {"type": "node", "id": "2", "labels": ["Film"], "properties": {"title": "Alien"}}]
    found = read([*nodes, EDGE])
    assert found.graph.labels(["0", "2"]) == ["Ann", "Alien"]
    assert "title" not in {relation for _, relation, _ in found.facts}
    both = [*nodes, {"type": "node", "id": "3", "labels": ["Person"], "properties": {"name": "Cy", "title": "Dr"}}]
    assert ("2", "title", "Alien") in text_facts(read([*both, EDGE]))


def test_nodes_with_values_of_their_own_are_rows(read):
    found = read([{"type": "node", "id": f"n{number}", "lat": number} for number in range(2)])
    assert {("n1", "lat", "1"), ("n1", "type", "node")} <= text_facts(found)


@pytest.mark.parametrize("key", ["labels", "properties"])
def test_objects_that_only_look_like_nodes_of_apoc_are_rows(read, key):
    found = read([{"type": "node", "id": "n1", "name": "Ann", key: "x"}, {"type": "node", "id": "n2", "name": "Bob"}])
    assert ("n1", key, "x") in text_facts(found)


def test_an_object_in_a_list_is_named_by_the_singular_of_its_heading(read):
    soup = [{"ingredient": "lentils", "amount": "200 g"}, {"ingredient": "carrot"}]
    found = read([{"name": "Soup", "ingredients": soup, "steps": [{"text": "Chop"}]}])
    assert found.facts == [("Soup", "ingredients", "carrot"), ("Soup", "ingredients", "lentils")]


def text_facts(found):
    return {(subject, relation, str(value).split('"^^')[0].strip('"')) for subject, relation, value in found.facts}


PAIR = [{"name": "Ann", "age": 5}, {"name": "Bob", "age": 6}]
AGES = {("Ann", "age", "5"), ("Bob", "age", "6")}


@pytest.mark.parametrize(
    "whole",
    [
        {"columns": [["a", "b"], ["a", "c"]], "index": [0, 1], "data": [[1, 5], [2, 6]]},
        {"columns": [{"name": "a"}, {"name": "b"}], "data": [[1, 5], [2, 6]]},
        {"values": [[["a"], ["b"]], ["Ann", "5"]]},
    ],
)
def test_headings_that_are_no_texts_are_refused(read, whole):
    assert refused(read, whole) == ": a heading is a list or an object; give a text for each column"


@pytest.mark.parametrize("wrong", [7, {"type": "Feature", "properties": [1]}, {"type": "Feature", "properties": "ab"}])
def test_features_without_an_object_of_properties_are_counted(read, wrong):
    ann, bob = ({"properties": properties} for properties in PAIR)
    found = read({"type": "FeatureCollection", "features": [ann, wrong, bob]})
    assert text_facts(found) == AGES
    assert "skipped 1 feature without an object of properties, in row 2" in found.said


@pytest.mark.parametrize(
    "whole",
    [
        {"type": "FeatureCollection", "features": 5},
        {"head": {}, "results": {"bindings": 5}},
        {"head": {}, "results": {}},
    ],
)
def test_readings_of_programs_need_a_list(read, whole):
    assert refused(read, whole).startswith(": holds no table; give a list of objects")


def test_digits_below_headings_are_labels_of_rows_and_kept_unless_they_number_these(read):
    towns = read({"riga": {"1990": 5, "2000": 6}, "oslo": {"1990": 7, "2000": 8}})
    assert ("1990", "riga", "5") in text_facts(towns)
    assert ("2000", "oslo", "8") in text_facts(towns)
    assert "its keys were read as headings, and the keys below them as labels of rows" in towns.said
    assert "the labels of its rows were read as their 'id'" in towns.said
    people = {"name": {"101": "Ann", "205": "Bob"}, "age": {"101": 5, "205": 6}}
    assert text_facts(read(people)) == {("101", "age", "5"), ("205", "age", "6")}
    assert "labels of its rows" not in read({"a": {"1": "x y", "0": "z"}, "b": {"0": "u v", "1": "w"}}).said


def test_labels_of_rows_are_a_column_of_their_own(read):
    split = {"columns": ["age"], "data": [[5], [6]]}
    assert text_facts(read({**split, "index": ["Ann", "Bob"]})) == AGES
    assert "read as their 'index'" in read({**split, "index": ["Ann", "Ann"]}).said
    named = {"columns": ["id", "age"], "index": [3, 4], "data": [["Ann", 5], ["Bob", 6]]}
    assert text_facts(read(named)) >= AGES
    assert "read as their 'index'" in read({**named, "index": ["x", "y"]}).said  # there is an id already
    assert "read as their 'index'" in read({**split, "index": [None, "x"]}).said
    for index in ("xy", {"x": 1, "y": 2}, ["1", 0]):  # no list of labels, or their numbers
        assert "labels of its rows" not in read({**named, "index": index}).said


def test_cells_below_equal_headings_are_all_kept(read):
    found = read({"values": [["name", "tag", "tag", "tag"], ["Ann", "x", "y", "v"], ["Bob", "z", "y"]]})
    tags = {("Ann", "x"), ("Ann", "y"), ("Ann", "v"), ("Bob", "z"), ("Bob", "y")}
    assert text_facts(found) == {(name, "tag", tag) for name, tag in tags}


def test_rows_with_more_cells_than_headings_are_counted(read):
    rows = [["name", "age"], ["Ann", "5", ""], ["Bob", "6", None], ["Cy", "7", "x"]]
    found = read({"values": rows})
    assert text_facts(found) == AGES
    assert "skipped 1 row with more cells than headings, in row 3" in found.said


def test_columns_of_google_sheets_are_columns(read):
    found = read({"majorDimension": "COLUMNS", "values": [["name", "Ann", "Bob", "Cy"], ["age", "5", "6"]]})
    assert text_facts(found) == AGES
    assert "of each of its 'values' the first was read as headings" in found.said


@pytest.mark.parametrize(
    ("beside", "unread"),
    [
        ({"values": [[1, 2], [3, 4]]}, "'values'"),
        ({"type": "FeatureCollection", "features": []}, "'type', 'features'"),
        ({"columns": ["a"], "data": [[1]]}, "'columns', 'data'"),
        ({"head": {}, "results": {"bindings": []}}, "'head', 'results'"),
    ],
)
def test_a_table_goes_before_the_way_of_a_program(read, beside, unread):
    found = read({**beside, "people": PAIR})
    assert text_facts(found) == AGES
    assert f"beside its tables, these keys are not read: {unread}" in found.said


def test_keys_beside_the_way_of_a_program_are_told(read):
    found = read({"values": [["name", "age"], ["Ann", "5"], ["Bob", "6"]], "range": "A1:B3", "title": "x"})
    assert "beside its tables, these keys are not read: 'title'\n" in f"{found.said}\n"


def test_an_id_above_an_object_goes_before_an_id_within_it(read):
    rows = read({"2023": {"id": "Q1", "name": "Ann", "score": 3}, "2024": {"id": "2024", "name": "Ann", "score": 4}})
    scores = {("2023", "score", "3"), ("2024", "score", "4")}
    assert text_facts(rows) == {*scores, ("2023", "inner id", "Q1")}
    nodes = {"a": {"id": "Q7", "label": "Ann"}, "b": {"id": "Q8", "label": "Bo"}}
    edges = [{"source": "a", "target": "b", "relation": "knows"}]
    assert ("a", "knows", "b") in text_facts(read({"graph": {"nodes": nodes, "edges": edges}}))
    parks = [{"id": id_, "properties": {"id": "X", "name": id_, "opened": 5}} for id_ in ("f1", "f2")]
    found = text_facts(read({"type": "FeatureCollection", "features": parks}))
    assert {("f1", "opened", "5"), ("f2", "opened", "5"), ("f1", "inner id", "X")} <= found


def test_keys_beside_the_properties_of_features_are_told_and_an_empty_id_is_none(read):
    parks = [{"id": None, "properties": {"id": name, "opened": 5}, "title": name} for name in ("Oak", "Mill")]
    found = read({"type": "FeatureCollection", "features": parks})
    assert text_facts(found) == {("Oak", "opened", "5"), ("Mill", "opened", "5")}
    assert "beside the properties of its features, these keys are not read: title" in found.said


ONCE = '{"name": "Ann", "age": 5}'
TWICE = '{"name": "Ann", "age": 5, "age": 7}'


@pytest.mark.parametrize(
    "text",
    [
        f'{{"Q1": {TWICE}, "Q2": {{"name": "Bob", "age": 6}}}}',
        f'{{"type": "FeatureCollection", "features": [{{"id": "Q1", "properties": {TWICE}}}]}}',
        f'{{"type": "FeatureCollection", "features": [{{"properties": {{}}, "properties": {ONCE}}}]}}',
        f'{{"elements": {{"nodes": [{{"data": {TWICE}}}]}}}}',
        f'{{"elements": {{"nodes": [{{"age": 4, "data": {ONCE}}}]}}}}',
        '{"head": {}, "results": {"bindings": [{"name": {"value": "Ann"}, "age": {"value": 5}, "age": {}}]}}',
    ],
)
def test_a_key_that_stands_twice_in_a_row_is_counted_wherever_the_row_is_nested(read, text):
    assert "skipped 1 key that an object has twice, in row 1" in read(text).said


@pytest.mark.parametrize(
    "text",
    [
        '{"name": {"0": "Ann", "1": "Bob", "1": "Cy"}, "age": {"0": 5, "1": 6}}',
        '{"graph": {"nodes": {"a": {"name": "Ann"}, "a": {"name": "Bob"}}}}',
        '{"elements": {"nodes": [{"data": {"id": "a"}}], "nodes": [{"data": {"id": "b"}}]}}',
    ],
)
def test_a_key_that_stands_twice_above_rows_is_refused(read, text):
    assert refused(read, text) == ": an object has a key twice; rename one of them"


def test_keys_beside_the_data_of_elements_are_read_without_place_and_state(read):
    nodes = [{"data": {"id": "n1", "name": "Ann"}, "classes": "red", "position": {"x": 1}, "locked": True}]
    nodes += [{"data": {"id": "n2", "name": "Bob"}, "classes": "blue"}]
    found = read({"elements": {"nodes": nodes}})
    assert text_facts(found) == {("n1", "classes", "red"), ("n2", "classes", "blue")}
    assert "the place and state of its elements are not read: position, locked" in found.said
    records = [{"id": number, "data": {"v": number + 1}} for number in (1, 5)]
    assert text_facts(read({"graph": {"records": records}})) == {("1", "data.v", "2"), ("5", "data.v", "6")}


def test_a_date_of_csl_ends_before_what_is_missing_and_nothing_beside_it_is_lost(read):
    issued = [{"date-parts": [[2020]], "season": "2", "raw": "Spring 2020"}, {"date-parts": [[2021, None, 4]]}]
    issued += [{"date-parts": [[2020, [3], {"a": 1}]]}]
    found = read([{"title": title, "issued": some} for title, some in zip("ABC", issued, strict=True)])
    dates = {("A", "issued", "2020"), ("B", "issued", "2021")}
    assert text_facts(found) == {*dates, ("A", "issued.season", "2"), ("A", "issued.raw", "Spring 2020")}
    assert "skipped 1 list of objects or of lists in 'issued', in row 3" in found.said
