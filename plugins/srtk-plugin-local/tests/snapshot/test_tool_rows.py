"""What the readers of tools make of single rows and values, before a graph is built of them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from srtk_plugin_local.snapshot.build_settings import BuildSettings
from srtk_plugin_local.snapshot.input_report import FileReport
from srtk_plugin_local.snapshot.tools import gephi, graphrag, kgtk, read_tool, rows, wikidata_json
from srtk_plugin_local.snapshot.tools.output import Output, literal_of

from srtk_framework.values import InputError

Rows = list[tuple[Any, ...]]


def made(tables: Sequence[pa.Table]) -> tuple[Rows, Rows]:
    """Return the facts and names of tables, and their qualifiers."""
    facts: Rows = []
    qualifiers: Rows = []
    for table in tables:
        wanted = qualifiers if "q" in table.column_names else facts
        wanted += zip(*table.to_pydict().values(), strict=True)
    return facts, qualifiers


def read(file: Path, text: str, tool: str, known: dict[str, Any] | None = None, **flags: Any) -> Any:
    """Read a file of a tool; return facts, qualifiers, and its report."""
    file.write_text(text, encoding="utf-8")
    report = FileReport(file.name, "")
    settings = BuildSettings((str(file),), made_by=tool, **flags)
    given = {} if known is None else known
    return *made(list(read_tool(str(file), settings, report, lambda _: None, given))), report


# Rows and tables


@pytest.mark.parametrize("separator", ["\t", ",", ";"])
def test_rows_are_cut_at_the_separator_of_the_headings_and_counted(tmp_path: Path, separator: str) -> None:
    lines = ["a, b;c", "1,2;3", "4", "", "5,6;7;8", "9,10;11"]
    text = "\n".join(lines).replace(",", separator).replace(";", separator)
    (tmp_path / "t.csv").write_text(text)
    report = FileReport("t.csv", "csv")
    headings, found = rows.rows_of(str(tmp_path / "t.csv"), report, lambda _: None)
    assert headings == ["a", "b", "c"]
    assert list(found) == [{"a": "1", "b": "2", "c": "3"}, {"a": "9", "b": "10", "c": "11"}]
    assert (report.rows, report.header, report.header_line, report.separator) == (2, ("a", "b", "c"), 1, separator)
    [[count, place, sentence]] = report.skipped.values()
    assert (count, place, sentence) == (2, "t.csv:3", "expected 3 cells, found 1; correct the row")


def test_the_separator_is_that_of_the_first_line_alone(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b\nx\ty\tz;;;,1\n")
    report = FileReport("t.csv", "csv")
    headings, found = rows.rows_of(str(tmp_path / "t.csv"), report, lambda _: None)
    assert (headings, report.separator) == (["a", "b"], ",")
    assert list(found) == [{"a": "x\ty\tz;;;", "b": "1"}]


def test_quotation_marks_enclose_cells_unless_they_are_values(tmp_path: Path) -> None:
    (tmp_path / "t.tsv").write_text('a\tb\n"x\ty"\tz\n')
    quoted = rows.rows_of(str(tmp_path / "t.tsv"), FileReport("t", ""), lambda _: None)[1]
    assert list(quoted) == [{"a": "x\ty", "b": "z"}]
    (tmp_path / "t.tsv").write_text('a\tb\n"x\t"y"\n')
    plain = rows.rows_of(str(tmp_path / "t.tsv"), FileReport("t", ""), lambda _: None, quoted=False)[1]
    assert list(plain) == [{"a": '"x', "b": '"y"'}]


def test_rows_of_parquet_are_counted_and_a_missing_number_is_no_text(tmp_path: Path) -> None:
    pq.write_table(pa.table({"a": ["x", None], "b": [1.5, float("nan")]}), tmp_path / "t.parquet")
    report, done = FileReport("t", ""), list[int]()
    headings, found = rows.rows_of(str(tmp_path / "t.parquet"), report, done.append)
    assert [[rows.text(row[heading]) for heading in headings] for row in found] == [["x", "1.5"], ["", ""]]
    assert report.rows == 2
    assert done[0] > 0
    assert rows.text(" x ") == "x"


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("t.csv", "", "t.csv: is empty; leave the file out"),
        ("t.nt", "<a> <b> <c> .", "t.nt: is ntriples, not a table"),
        ("t.parquet", "PAR1", "t.parquet: cannot be read as Parquet"),
    ],
)
def test_a_file_that_is_no_table_is_refused(tmp_path: Path, name: str, text: str, said: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match=said):
        rows.rows_of(str(tmp_path / name), FileReport(name, ""), lambda _: None)


def test_facts_and_qualifiers_together_fill_a_table() -> None:
    gathered = Output(most=3)
    gathered.name("a", " Ada ")
    gathered.name("a", " ")
    gathered.fact("a", "r", '"x"', literal=True)
    assert list(gathered.full()) == []
    gathered.qualifier(("a", "r", '"x"'), "since", "b", literal=False)
    facts, qualifiers = made(list(gathered.full()))
    assert facts == [("a", "", "Ada", "label"), ("a", "r", "x", "text")]
    assert qualifiers == [("a", "r", '"x"', "since", "b", False)]
    gathered.fact("a", "r", '"7"^^xsd:integer', literal=True)
    gathered.fact("a", "r", 'so "b"', literal=False)
    gathered.name("a", "A", alias=True)
    facts, qualifiers = made(list(gathered.rest()))
    assert [row[2:] for row in facts] == [('"7"^^xsd:integer', "literal"), ('so "b"', "entity"), ("A", "alias")]
    assert (qualifiers, list(gathered.rest())) == ([], [])


@pytest.mark.parametrize(
    ("value", "literal"),
    [
        (True, '"true"^^xsd:boolean'),
        (7, '"7"^^xsd:integer'),
        (2.0, '"2"^^xsd:integer'),
        (2.5, '"2.5"^^xsd:decimal'),
        ("x", '"x"'),
    ],
)
def test_a_value_is_a_literal_with_the_type_of_its_number(value: object, literal: str) -> None:
    assert literal_of(value) == literal


# Gephi


@pytest.mark.parametrize(
    ("text", "number"),
    [
        *(("0", 0), ("7", 7), ("-7", -7), ("+7", 7), ("0.5", 0.5), ("-0.5", -0.5), ("10", 10)),
        *(
            ("007", "007"),
            ("-00", "-00"),
            ("00.5", "00.5"),
            ("1.2.3", "1.2.3"),
            ("--5", "--5"),
            ("1e5", "1e5"),
            ("٣", "٣"),
            ("", ""),
        ),
    ],
)
def test_a_cell_of_gephi_is_a_number_unless_it_is_a_code(text: str, number: object) -> None:
    found = gephi.number_of(text)
    assert (found, type(found)) == (number, type(number))


def test_nodes_of_gephi_have_a_name_and_literals_without_their_layout(tmp_path: Path) -> None:
    text = "Id,Label,Size,X,zip,Born\na,Ada,5,1.5,007,1815\n,Bo,5,1,1,2\nc,,5,1,,\n"
    facts, qualifiers, report = read(tmp_path / "nodes.csv", text, "gephi")
    assert facts == [
        ("a", "", "Ada", "label"),
        ("a", "zip", "007", "text"),
        ("a", "Born", '"1815"^^xsd:integer', "literal"),
    ]
    assert (qualifiers, report.unread) == ([], ["Size", "X"])


def test_the_relation_of_an_edge_of_gephi_is_its_label_its_kind_or_the_wish(tmp_path: Path) -> None:
    head, row = "Source,Target,Type,Id,Kind,Color,Since", "a,b,Directed,0,knows,red,1990"
    text = f"{head}\n{row}\nb,,Directed,1,knows,,\n,b,Directed,2,knows,,\nb,c,Directed,3,,,\n"
    facts, qualifiers, report = read(tmp_path / "edges.csv", text, "gephi")
    assert facts == [("a", "knows", "b", "entity"), ("b", "edge", "c", "entity")]
    assert qualifiers == [("a", "knows", "b", "Since", '"1990"^^xsd:integer', True)]
    assert report.unread == ["Color"]
    labelled = f"Label,{head}\nlikes,{row}\n"
    assert read(tmp_path / "edges.csv", labelled, "gephi")[0] == [("a", "likes", "b", "entity")]
    wished = read(tmp_path / "edges.csv", labelled, "gephi", columns=("Source", "Since", "Target"))
    assert wished[:2] == ([("a", "1990", "b", "entity")], [])
    assert read(tmp_path / "edges.csv", labelled, "gephi", columns=("Since",))[0] == [("a", "likes", "b", "entity")]


# GraphRAG


def test_entities_of_graphrag_have_a_title_or_a_name_and_further_columns_where_they_are_kept(tmp_path: Path) -> None:
    text = "id,name,type,description,degree\n1,ADA,PERSON,writes,2.5\n2,,PERSON,none,1\n3,MILL,,,\n"
    facts, qualifiers, report = read(tmp_path / "entities.csv", text, "graphrag", keep=("degree",))
    assert facts == [
        ("ADA", "", "ADA", "label"),
        ("ADA", "type", "PERSON", "entity"),
        ("ADA", "description", "writes", "text"),
        ("ADA", "degree", '"2.5"^^xsd:decimal', "literal"),
        ("MILL", "", "MILL", "label"),
    ]
    assert (qualifiers, report.unread) == ([], ["id"])


def test_relationships_of_graphrag_are_edges_with_description_and_weight(tmp_path: Path) -> None:
    text = "source,target,description,weight,rank\nADA,MILL,owns it,2.0,7\nADA,,x,1,1\n,MILL,x,1,1\nMILL,ADA,,,\n"
    facts, qualifiers, report = read(tmp_path / "relationships.csv", text, "graphrag", keep=("rank",))
    assert facts == [("ADA", "edge", "MILL", "entity"), ("MILL", "edge", "ADA", "entity")]
    assert [row[3:] for row in qualifiers] == [
        ("description", '"owns it"', True),
        ("weight", '"2"^^xsd:integer', True),
        ("rank", '"7"^^xsd:integer', True),
    ]
    assert (report.unread, len(report.notes)) == ([], 1)


def test_a_relationship_of_graphrag_needs_its_ends_alone(tmp_path: Path) -> None:
    facts, qualifiers, report = read(tmp_path / "r.csv", "source,target\nADA,MILL\n", "graphrag")
    assert (facts, qualifiers, report.unread) == ([("ADA", "edge", "MILL", "entity")], [], [])


@pytest.mark.parametrize("head", ["title,community,level,type", "title,text", "id,type"])
def test_other_tables_of_graphrag_are_not_read(tmp_path: Path, head: str) -> None:
    facts, _, report = read(tmp_path / "t.csv", f"{head}\n{head}\n", "graphrag")
    assert (facts, report.notes) == ([], ["is neither the entities nor the relationships of GraphRAG; not read"])


def test_a_number_of_graphrag_is_one_in_text_too() -> None:
    assert [graphrag._typed(value, str(value)) for value in ("2.5", "x", 7, 1.5)] == [2.5, "x", 7, 1.5]
    assert graphrag._typed(["x"], "['x']") == "['x']"


# KGTK


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        ("'Ada'@en-GB", '"Ada"@en-GB'),
        (r"'L\'Age'@fr", r'"L\'Age"@fr'),
        ('"plain"', '"plain"'),
        ('""', '""'),
        ("^1815-12-10T00:00:00Z/11", '"1815-12-10"^^xsd:date'),
        ("^1815-12-10T00:00:00Z", '"1815-12-10"^^xsd:date'),
        ("^+1815-12-10T00:00:00Z/10", '"1815-12"^^xsd:gYearMonth'),
        ("^1815-12-00T00:00:00Z/11", '"1815-12"^^xsd:gYearMonth'),
        ("^1815-12-10T00:00:00Z/9", '"1815"^^xsd:gYear'),
        ("^1815-00-00T00:00:00Z", '"1815"^^xsd:gYear'),
        ("^1815/11", '"1815"^^xsd:gYear'),
        ("^-0043-03-15T00:00:00Z/11", '"-0043-03-15"^^xsd:date'),
        ("^-0043-03-15T00:00:00Z/7", '"-0043"^^xsd:gYear'),
        ("@56.9/-24.1", '"Point(-24.1 56.9)"^^http://www.opengis.net/ont/geosparql#wktLiteral'),
        ("+12", '"12"^^xsd:integer'),
        ("-1.5", '"-1.5"^^xsd:decimal'),
        ("1.5E3", '"1.5E3"^^xsd:double'),
        ("+1.5[1.4,1.6]Q11573", '"1.5 Q11573"'),
        ("5kg", '"5 kg"'),
        ("True", '"true"^^xsd:boolean'),
    ],
)
def test_a_value_of_kgtk_is_a_literal(cell: str, value: str) -> None:
    assert kgtk.value_of(cell) == (value, True)


@pytest.mark.parametrize("cell", ["Q1", '"', "true", "x^1815", "Ada'@en", '"half'])
def test_other_cells_of_kgtk_are_ids(cell: str) -> None:
    assert kgtk.value_of(cell) == (cell, False)


def test_marks_of_spreadsheets_around_a_cell_of_kgtk_are_none_of_it() -> None:
    cells = {'"\'Ada ""A""\'@en"': "'Ada \"A\"'@en", r"a\|b": "a|b", '"plain"': '"plain"', "\"'half": "\"'half"}
    assert {cell: kgtk.unescaped(cell) for cell in cells} == cells


def test_edges_of_kgtk_are_names_in_the_wanted_languages_facts_or_qualifiers(tmp_path: Path) -> None:
    lines = [
        "node1\tlabel\tnode2\tid\tnode1;label\tlabel;label\tnode2;label",
        "Q1\tlabel\t'Ada'@en\tl1\t\t\t",
        "Q1\tlabel\t'Adele'@de\tl2\t\t\t",
        "Q1\talias\t'Addie'@EN\tl3\t\t\t",
        'Q1\tlabel\t"Ada L"\tl4\t\t\t',
        "Q1\tlabel\tQ9\tl5\t\t\t",
        "Q1\tP1\tQ2\te1\t'A'@en|\"B\"\t\t'Bo'@en",
        "Q1\tP1\t\te2\t\t\t",
        "e1\tP2\t7\tq1\t\t\t",
        "l1\tP2\t7\tq2\t\t\t",
    ]
    known: dict[str, Any] = {}
    facts, qualifiers, report = read(tmp_path / "t.tsv", "\n".join(lines), "kgtk", known, languages=("EN",))
    assert facts == [
        ("Q1", "", "Ada", "label"),
        ("Q1", "", "Addie", "alias"),
        ("Q1", "", "Ada L", "label"),
        ("Q1", "label", "Q9", "entity"),
        ("Q1", "P1", "Q2", "entity"),
        ("Q1", "", "A", "label"),
        ("Q1", "", "B", "label"),
        ("Q2", "", "Bo", "label"),
        ("l1", "P2", '"7"^^xsd:integer', "literal"),
    ]
    assert qualifiers == [("Q1", "P1", "Q2", "P2", '"7"^^xsd:integer', True)]
    assert (known["e1"], "l1" in known, report.rows) == (("Q1", "P1", "Q2"), False, 9)


def test_headings_of_kgtk_have_synonyms_and_no_others(tmp_path: Path) -> None:
    facts, _, _ = read(tmp_path / "t.tsv", "subject\tpredicate\tobject\na\tr\tb\n", "kgtk")
    assert facts == [("a", "r", "b", "entity")]
    with pytest.raises(InputError, match=r"t\.tsv:1: has no columns node1, label and node2, as edges of KGTK have"):
        read(tmp_path / "t.tsv", "subject\tverb\tobject\na\tr\tb\n", "kgtk")


@pytest.mark.parametrize(
    ("head", "has"),
    [
        ("node1\tlabel\tnode2\tnode1;label", True),
        ("id\tnode1\tlabel\tnode2\tlabel;label", True),
        ("node1\tlabel\tnode2", False),
        ("node1\tlabel\tnode1;label", False),
    ],
)
def test_edges_of_kgtk_are_known_by_columns_that_name_nodes(tmp_path: Path, head: str, has: bool) -> None:
    (tmp_path / "t.tsv").write_text(f"{head}\nnode1\tlabel\tnode2\tx;label\n")
    assert kgtk.has_label_columns(str(tmp_path / "t.tsv")) is has
    assert not kgtk.has_label_columns(str(tmp_path))
    (tmp_path / "t.tsv.gz").write_bytes(b"\x1f\x8b and no more")  # whose reader says what is wrong
    assert not kgtk.has_label_columns(str(tmp_path / "t.tsv.gz"))


# Wikidata


@pytest.mark.parametrize(
    ("text", "precision", "literal"),
    [
        ("+1879-03-14T00:00:00Z", 11, '"1879-03-14"^^xsd:date'),
        ("+1879-03-14T00:00:00Z", 10, '"1879-03"^^xsd:gYearMonth'),
        ("+1879-03-14T00:00:00Z", 9, '"1879"^^xsd:gYear'),
        ("+1879-03-00T00:00:00Z", 11, '"1879-03"^^xsd:gYearMonth'),
        ("+1879-00-00T00:00:00Z", 11, '"1879"^^xsd:gYear'),
        ("-0043-03-15T00:00:00Z", 11, '"-0043-03-15"^^xsd:date'),
        ("+00000001879-03-14T00:00:00Z", 11, '"1879-03-14"^^xsd:date'),
        ("+79-03-14T00:00:00Z", 11, '"0079-03-14"^^xsd:date'),
        ("-13798000000-00-00T00:00:00Z", 3, '"-13798000000"^^xsd:gYear'),
        ("soon", 11, '"soon"'),
    ],
)
def test_a_time_of_wikidata_has_its_precision(text: str, precision: int, literal: str) -> None:
    assert wikidata_json._time(text, precision) == literal


def test_names_of_wikidata_come_in_the_order_of_the_wanted_languages_and_dialects() -> None:
    terms = {
        language: {"value": language.upper()}
        for language in ("de", "en-gb", "mul", "lv", "en", "de-at", "ru", "eng", "xx")
    } | {"no": {"value": 7}, "fr": [{"value": "FR1"}, {"value": "FR2"}]}

    def texts(*languages: str) -> list[str]:
        return [text for _, text in wikidata_json._texts(terms, languages)]

    assert texts("lv", "DE") == ["LV", "DE", "DE-AT", "MUL"]
    assert texts() == ["EN", "EN-GB", "MUL", "DE", "LV", "DE-AT", "RU", "ENG", "XX", "FR1", "FR2"]
    assert texts("fr", "en") == ["FR1", "FR2", "EN", "EN-GB", "MUL"]
    assert wikidata_json._texts(None, ()) == []


def dump(*entities: Any) -> str:
    return "[\n" + ",\n".join(json.dumps(entity) for entity in entities) + "\n]\n"


def statement(kind: str, value: Any, rank: str = "normal", **qualifiers: Any) -> dict[str, Any]:
    snak = {"snaktype": "value", "property": "P1", "datavalue": {"type": kind, "value": value}}
    return {"mainsnak": snak, "rank": rank, "qualifiers": qualifiers}


@pytest.mark.parametrize(
    ("kind", "value", "found"),
    [
        ("wikibase-entityid", {"id": "Q5"}, ("Q5", "entity")),
        ("wikibase-entityid", {"entity-type": "property", "numeric-id": 5}, ("P5", "entity")),
        ("quantity", {"amount": "+1.50", "unit": "1"}, ('"1.50"^^xsd:decimal', "literal")),
        ("quantity", {"amount": "-7", "unit": "1"}, ('"-7"^^xsd:integer', "literal")),
        ("monolingualtext", {"text": "Ada", "language": "de"}, ('"Ada"@de', "literal")),
        (
            "globecoordinate",
            {"longitude": 24.1, "latitude": 56.9},
            ('"Point(24.1 56.9)"^^http://www.opengis.net/ont/geosparql#wktLiteral', "literal"),
        ),
        ("string", "x", ("x", "text")),
        ("odd", {"b": 1, "a": 2}, ('{"a": 2, "b": 1}', "text")),
    ],
)
def test_values_of_wikidata_are_ids_and_literals(tmp_path: Path, kind: str, value: Any, found: Any) -> None:
    entity = {"id": "Q1", "claims": {"P1": [statement(kind, value)]}}
    facts, qualifiers, _ = read(tmp_path / "d.json", dump(entity), "wikidata-json")
    assert facts == [("Q1", "P1", *found)]
    assert qualifiers == []


def test_statements_of_wikidata_are_the_best_with_units_and_known_qualifiers(tmp_path: Path) -> None:
    mass = {"amount": "+2", "unit": "http://www.wikidata.org/entity/Q11570"}
    known = statement("string", "since")["mainsnak"]
    some = {"P2": [known, {"snaktype": "somevalue", "property": "P2"}], "P3": [known]}
    some["P4"] = [{**known, "datavalue": None}, {**known, "snaktype": "novalue"}]
    kept = statement("quantity", mass, "preferred", **some)
    others = [statement("string", "x"), statement("string", "y"), statement("string", "z", "deprecated")]
    lexeme = {"id": "L1", "lemmas": {"en": {"value": "ash"}}, "statements": {"P1": [statement("string", "w")]}}
    text = dump({"id": "Q1", "claims": {"P1": [kept, *others]}, "sitelinks": {}}, lexeme)
    facts, qualifiers, report = read(tmp_path / "d.json", text, "wikidata-json")
    two = '"2"^^xsd:integer'
    assert facts == [("Q1", "P1", two, "literal"), ("L1", "", "ash", "label"), ("L1", "P1", "w", "text")]
    assert [row[3:] for row in qualifiers] == [
        ("unit", "Q11570", False),
        *(("P2", '"since"', True), ("P3", '"since"', True)),
    ]
    assert report.notes == [
        "left out 1 deprecated statements",
        "left out 3 qualifiers without a known value",
        "left out 2 statements beside preferred ones",
    ]
    assert report.rows == 2


def test_a_page_of_entities_and_lines_that_are_none_are_told_apart(tmp_path: Path) -> None:
    page = json.dumps({"entities": {"Q1": {"id": "Q1", "labels": {"en": {"value": "Ada"}}}}})
    whole = '[{"id": "Q2", "labels": {"en": {"value": "Bo"}}}]'
    text = f'{page}\n{whole}\n[7]\n{{"id": 7}}\n{{broken\n'
    facts, _, report = read(tmp_path / "d.json", text, "wikidata-json")
    assert [row[0] for row in facts] == ["Q1", "Q2"]
    assert [(reason, entry[0], entry[1]) for reason, entry in report.skipped.items()] == [
        ("lines without an entity", 3, "d.json:3")
    ]
    damaged = dump({"id": "Q1", "claims": {"P1": [statement("quantity", {"unit": "1"})]}})
    with pytest.raises(InputError, match=r"a value of P1, of type quantity, is damaged \('amount'\); fetch the dump"):
        read(tmp_path / "d.json", damaged, "wikidata-json")
    with pytest.raises(InputError, match=r"d\.json:1: is no entity of Wikidata; correct or remove the line"):
        read(tmp_path / "d.json", "{}\n", "wikidata-json")


def test_each_tool_has_a_reader_and_others_are_refused() -> None:
    package = import_module("srtk_plugin_local.snapshot.tools")
    for tool in package.TOOLS:
        assert import_module(f"{package.__name__}.{tool.replace('-', '_')}").read
    with pytest.raises(InputError, match="'gephy' is no tool that is known; use graphrag, kgtk, gephi, wikidata-json"):
        list(read_tool("x", BuildSettings((), made_by="gephy"), FileReport("x", ""), lambda _: None, {}))
