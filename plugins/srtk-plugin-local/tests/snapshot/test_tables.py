"""Tables as people have them: headers, columns in any order, wide tables, empty cells, other separators."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from srtk_plugin_local.snapshot import tables
from srtk_plugin_local.snapshot.build import build
from srtk_plugin_local.snapshot.build_settings import BuildSettings
from srtk_plugin_local.snapshot.graph import LocalGraph
from srtk_plugin_local.snapshot.header import Planner, plan_facts, plan_fixed
from srtk_plugin_local.snapshot.input_report import FileReport, sentences
from srtk_plugin_local.snapshot.limits import MAX_COLUMNS, check_width
from srtk_plugin_local.snapshot.separators import first_rows, found_separator
from srtk_plugin_local.snapshot.tables import (
    read_batches,
    read_cells,
    read_names,
    read_rows,
)

from srtk_framework.values import InputError, Literal, Pattern

FACTS = [("riga", "capital_of", "latvia"), ("tallinn", "capital_of", "estonia")]


class Read:
    """The graph of one table and what the build said about it."""

    def __init__(self, folder: Path, name: str, content: str, more: dict[str, str], settings: dict[str, Any]) -> None:
        for other, text in {name: content, **more}.items():
            (folder / other).write_text(text, encoding="utf-8")
        files = tuple(str(folder / other) for other in (name, *more))
        built = build(BuildSettings(files, **settings), folder / "out")
        self.graph = LocalGraph(str(built.folder))
        self.graph.open()
        self.reading = built.meta.build["reading"]
        self.said = "\n".join(sentences(self.reading)).replace(f"{folder}/", "")
        self.facts = [tuple(triple) for triple in self.graph.match([Pattern()])[0]]


@pytest.fixture
def read(tmp_path: Path) -> Any:
    def read(content: str, name: str = "a.csv", more: dict[str, str] | None = None, **settings: Any) -> Read:
        return Read(tmp_path, name, content, more or {}, settings)

    return read


HEADERS = [
    "subject,relation,object",
    "Subject,Predicate,Object",
    "head,relation,tail",
    "h,r,t",
    "s,p,o",
    "source,type,target",
    "from,label,to",
    "start node,property,end node",
    "sujeto,relación,objeto",
    "sujet,prédicat,objet",
    "subject_id,predicate_id,object_id",
    "headEntity,relationType,tailEntity",
    ":START_ID,:TYPE,:END_ID",
    "#subject,predicate,object",
]


@pytest.mark.parametrize("header", HEADERS)
def test_a_header_of_known_words_is_no_fact_and_is_told(read: Any, header: str) -> None:
    made = read(header + "\n" + "".join(",".join(fact) + "\n" for fact in FACTS))
    assert made.facts == FACTS
    assert f"a.csv:1: taken as header: {header}" in made.said


@pytest.mark.parametrize(
    ("header", "order"),
    [
        (":START_ID,:END_ID,:TYPE", (0, 2, 1)),
        ("source,target,type", (0, 2, 1)),
        ("relation,head,tail", (1, 0, 2)),
        ("Object;Subject;Predicate", (2, 0, 1)),
    ],
)
def test_columns_in_another_order_are_put_right_by_their_headings(
    read: Any, header: str, order: tuple[int, int, int]
) -> None:
    separator = ";" if ";" in header else ","
    rows = [separator.join(fact[place] for place in order) + "\n" for fact in FACTS]
    assert read(header + "\n" + "".join(rows)).facts == FACTS


def test_further_columns_beside_known_headings_are_left_out_and_told(read: Any) -> None:
    made = read("node1\tlabel\tnode2\tweight\nriga\tcapital_of\tlatvia\t1.0\n", "a.tsv")
    assert made.facts == FACTS[:1]
    assert "a.tsv: columns not read: weight" in made.said


def test_a_doubtful_first_line_is_kept_as_a_fact_and_told(read: Any) -> None:
    made = read("city,relation,country\nriga,capital_of,latvia\n")
    assert ("city", "relation", "country") in made.facts
    assert "a.csv:1: kept as a fact: 'city,relation,country'; if it is a header, give --header" in made.said
    with pytest.raises(InputError, match=r"a\.csv:1: 'city,relation,country' may be a header"):
        read("city,relation,country\nriga,capital_of,latvia\n", strict=True)


def test_a_first_line_of_a_csv_file_that_shares_nothing_with_the_others_is_told(read: Any) -> None:
    made = read("player,club,position\nAlan,Tigres,Forward\n")
    assert len(made.facts) == 2
    assert "a.csv:1: kept as a fact: 'player,club,position'" in made.said
    assert read("riga,height,7\nulm,width,8\n").said == ""


def test_a_line_that_tells_excel_the_separator_is_read_over(read: Any) -> None:
    made = read("sep=;\nSubject;Predicate;Object\nriga;capital_of;latvia\n", strict=True)
    assert made.facts == FACTS[:1]


def test_a_column_of_numbers_without_heading_is_left_out(read: Any) -> None:
    made = read(",name,club,caps\n0,Alan,Tigres,4\n1,Oribe,America,60\n")
    assert ("Alan", "club", "Tigres") in made.facts
    assert len(made.facts) == 4


@pytest.mark.parametrize(("header", "facts"), [(True, FACTS[:1]), (False, [("s", "p", "o"), *FACTS[:1]])])
def test_the_setting_decides_whether_the_first_line_is_a_header(read: Any, header: bool, facts: Any) -> None:
    made = read("s,p,o\nriga,capital_of,latvia\n", header=header)
    assert made.facts == sorted(facts)
    assert "kept as a fact" not in made.said


def test_a_header_of_unknown_words_is_taken_where_it_is_said_to_be_one(read: Any) -> None:
    assert read("city,what,country\nriga,capital_of,latvia\n", header=True).facts == FACTS[:1]


def test_a_first_fact_whose_relation_comes_again_is_not_doubted(read: Any) -> None:
    assert read("riga,type,city\ntallinn,type,city\n").said == ""


def test_columns_are_chosen_by_number_where_there_is_no_header(read: Any) -> None:
    content = "capital_of\triga\tlatvia\t1\n"
    assert read(content, "a.tsv", columns=("2", "1", "3")).facts == FACTS[:1]
    assert read(content, "a.tsv", columns=(2, 1, 3)).facts == FACTS[:1]


def test_columns_are_chosen_by_heading_whatever_its_case(read: Any) -> None:
    made = read("To,Note,Rel,From\nlatvia,x,capital_of,riga\n", columns=("from", "rel", "to"))
    assert made.facts == FACTS[:1]


def test_four_columns_without_known_headings_are_refused_with_the_cure(read: Any) -> None:
    with pytest.raises(InputError, match=r"a\.csv:1: expected 3 columns separated by ',', found 4: .*--columns"):
        read("riga,capital_of,latvia,1\n")


@pytest.mark.parametrize("separator", [";", "|", "\t", ","])
@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.txt"])
def test_the_separator_is_found_out(read: Any, name: str, separator: str) -> None:
    made = read("".join(separator.join(fact) + "\n" for fact in FACTS), name)
    assert made.facts == FACTS


def test_decimal_commas_do_not_pass_for_separators(read: Any) -> None:
    assert read("riga;height;1,5\ntallinn;height;2,5\n").facts == [
        ("riga", "height", "1,5"),
        ("tallinn", "height", "2,5"),
    ]


def test_quoted_cells_hold_separators_and_line_ends(read: Any) -> None:
    made = read('subject,relation,object\n"Riga, the city",said,"one\ntwo"\nx,,y\n')
    assert made.facts == [("Riga, the city", "said", "one\ntwo")]
    assert "skipped 1 row with an empty cell, in 4" in made.said


def test_quotation_marks_around_all_headings_quote_in_tsv_too(read: Any) -> None:
    assert read('"id"\t"name"\t"city"\n"1"\t"Ada"\t"Riga\tEast"\n', "a.txt").facts == [("1", "city", "Riga\tEast")]
    assert read('"a"\tr\t"b"\n', "a.txt").facts == [('"a"', "r", '"b"')]


def test_the_headings_of_kgtk_are_told(read: Any) -> None:
    said = "has the headings of KGTK; give --from kgtk to read its names and literals"
    assert said in read("node1\tlabel\tnode2\nQ1\tP1\tQ2\n", "a.tsv").said
    assert said not in read("node1\trelation\tnode2\nQ1\tP1\tQ2\n", "a.tsv").said


def test_rows_that_cannot_be_read_are_counted_with_the_first_place(read: Any) -> None:
    made = read("# made by hand\na\tr\tb\na\t\tb\n\nc\tr\nd\tr\te\tf\nx\tr\ty\t\n", "a.tsv")
    assert made.facts == [("a", "r", "b"), ("x", "r", "y")]
    assert {reason: entry[:1] for reason, entry in made.reading[0]["skipped"].items()} == {
        "comment lines": [1],
        "rows with an empty cell": [1],
        "rows with another number of columns": [2],
    }
    assert "a.tsv: skipped 2 rows with another number of columns, the first in 5" in made.said


def test_a_file_of_which_nothing_can_be_read_is_refused(read: Any) -> None:
    with pytest.raises(InputError, match=r"a\.tsv:1: column 3 is empty; .* \(as 2 rows, which are all\)"):
        read("a\tr\t\nb\tr\t\n", "a.tsv")


@pytest.mark.parametrize(
    ("content", "place"),
    [
        ("a,r,b\na,,b\n", ":2: column 2"),
        ("a,r,b\na,d\n", ":2: expected 3"),
        ("#x\na,r,b\n", ":1: the line is a comment"),
        ("", ":1: the file is empty"),
    ],
)
def test_what_is_skipped_is_an_error_where_the_build_is_strict(read: Any, content: str, place: str) -> None:
    with pytest.raises(InputError, match=r"a\.csv" + place):
        read(content, strict=True)


def test_an_empty_file_is_told(read: Any) -> None:
    assert read("", more={"b.csv": "a,r,b\n"}).said == "a.csv: is empty; check that it was saved, or leave it out"


def test_utf_16_with_a_mark_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes("a,r,ä\nb,r,c\n".encode("utf-16"))
    made = build(BuildSettings((str(tmp_path / "a.csv"),)), tmp_path / "out")
    assert made.meta.counts["triples"] == 2
    for coding in ("utf-16-le", "utf-16-be"):
        (tmp_path / "a.csv").write_bytes("a,r,b\n".encode(coding))
        with pytest.raises(InputError, match=r"a\.csv: is UTF-16 without a mark; save it as UTF-8"):
            build(BuildSettings((str(tmp_path / "a.csv"),)), tmp_path / "out")


@pytest.mark.parametrize("text", ["\0", "ab\0"])
def test_a_character_that_is_none_is_no_utf_16(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError, match="found one column"):
        rows_of(tmp_path, text, "csv", plan_facts(BuildSettings(("rows",))))


def test_line_ends_of_old_macs_are_read(read: Any) -> None:
    assert read("subject,relation,object\rAda,knows,Bo\rBo,knows,Cy\r").facts == [
        ("Ada", "knows", "Bo"),
        ("Bo", "knows", "Cy"),
    ]


WIDE = "name,club,height,born,plays\nAlan,Tigres,1.76,1991-03-08,Forward; Winger\nOribe,,180,,Forward\n"


def test_each_column_of_a_wide_table_is_a_relation(read: Any) -> None:
    made = read(WIDE, id="name", split=";")
    assert made.facts == [
        ("Alan", "born", '"1991-03-08"^^xsd:date'),
        ("Alan", "club", "Tigres"),
        ("Alan", "height", '"1.76"^^xsd:decimal'),
        ("Alan", "plays", "Forward"),
        ("Alan", "plays", "Winger"),
        ("Oribe", "height", '"180"^^xsd:decimal'),
        ("Oribe", "plays", "Forward"),
    ]
    literal = [type(triple.object) is Literal for triple in made.graph.match([Pattern("Alan")])[0]]
    assert literal == [True, False, True, False, False]
    assert (
        "columns: name = key (given), plays = names of things, list split at ';'; as facts: club, height, born"
        in made.said
    )


def test_a_wide_table_is_known_by_the_heading_of_its_first_column(read: Any) -> None:
    made = read(WIDE, split=";")
    assert len(made.facts) == 7
    assert "columns: name = key (only unique column of names), plays = " in made.said


def test_a_number_under_the_word_of_a_role_refers_to_another_row(read: Any) -> None:
    made = read("id,name,parent,year\n1,Anna,2,1990\n2,Bert,,1960\n", id="id")
    assert ("1", "parent", "2") in made.facts
    assert ("1", "year", '"1990"^^xsd:integer') in made.facts
    assert made.graph.labels(["1", "2"]) == ["Anna", "Bert"]
    assert made.graph.find(["bert"]) == [["2"]]


def test_the_columns_of_a_wide_table_may_be_chosen_and_be_literals(read: Any) -> None:
    made = read("name,note,club\nAlan,fast,Tigres\n", id="name", columns=("note", "club"), literal_columns=("note",))
    assert made.facts == [("Alan", "club", "Tigres"), ("Alan", "note", '"fast"')]
    only = read("name,note,club\nAlan,fast,Tigres\n", id="name", columns=("club",))
    assert only.facts == [("Alan", "club", "Tigres")]


@pytest.mark.parametrize(
    ("literals", "wanted"), [("typed", "1998"), ("numbers", '"1998"^^xsd:integer'), ("none", "1998")]
)
def test_plain_numbers_of_facts_are_literals_where_the_setting_says_so(read: Any, literals: str, wanted: str) -> None:
    assert read("film,year,1998\nfilm,code,007\n", literals=literals).facts == sorted(
        [("film", "year", wanted), ("film", "code", "007")]
    )


def test_lists_in_the_objects_of_facts_are_split(read: Any) -> None:
    assert read("film,actor,Ann|Bob\n", split="|", separator=",").facts == [
        ("film", "actor", "Ann"),
        ("film", "actor", "Bob"),
    ]


def test_tables_of_neo4j_give_nodes_properties_and_relations(read: Any) -> None:
    nodes = "personId:ID(Person),name,born:int,nick:string[],:LABEL\n1,Anna,1990,A;Ann,Person;Actor\n2,Bert,x,,Person\n"
    edges = ":START_ID(Person),:END_ID(Person),:TYPE\n1,2,KNOWS\n"
    made = read(nodes, more={"edges.csv": edges})
    assert made.facts == [
        ("Person/1", "KNOWS", "Person/2"),
        ("Person/1", "born", '"1990"^^xsd:integer'),
        ("Person/1", "nick", '"A"'),
        ("Person/1", "nick", '"Ann"'),
        ("Person/1", "rdf:type", "Actor"),
        ("Person/1", "rdf:type", "Person"),
        ("Person/2", "born", '"x"'),
        ("Person/2", "rdf:type", "Person"),
    ]
    assert made.graph.labels(["Person/1"]) == ["Anna"]
    assert made.graph.schema().type_relations == ("rdf:type",)


def test_a_header_of_a_file_of_labels_names_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text("Q1\tP1\tQ2\n")
    (tmp_path / "l.tsv").write_text("id\tlabel\nQ1\tRiga\n")
    labels = (str(tmp_path / "l.tsv"),)
    assert build(BuildSettings((str(tmp_path / "a.tsv"),), labels=labels), tmp_path / "out").ignored == {}


def test_words_of_a_header_that_come_again_below_make_no_header(read: Any) -> None:
    with pytest.raises(InputError, match="first line may be a header or the first of its rows"):
        read("name,label\nname,title\nentity,label\n")
    assert ("name", "label", "age") in read("name,label,age\nname,title,3\nentity,label,4\n").facts


@pytest.mark.parametrize(
    ("kind", "lines", "separator"),
    [
        ("csv", ["sep=|", "a,b,c"], "|"),
        ("csv", ["a,b,c"], ","),
        ("csv", ["a;b;c", "d;e;f"], ";"),
        ("csv", ["a,1;b;c", "d,2;e;f"], ";"),  # three columns are better than two
        ("csv", ["a,b;c", "d,e;f"], ","),
        ("csv", ["a,b,c;d;e;f", "a,b,c;d;e;f"], ","),  # more than three are no better
        ("csv", ["a;b;c", "d;e;f", "g;h;i", "x", "y"], ";"),  # three of five are as wide as the first
        ("csv", ["a;b;c", "d;e;f", "x", "y", "z"], ","),
        ("csv", ["# x;y;z", "a,b,c"], ","),
        ("csv", ["#x;y;z"], ";"),
        ("csv", ["one", "two"], ","),
        ("csv", ['"a;b",c,d', '"e;f",g,h'], ","),
        ("csv", [], ","),
        ("tsv", ["a\tb", "c\td", "e\tf", "g,h,i", "j,k,l"], "\t"),  # tabs in three of five lines
        ("tsv", ["a,b,c", "g,h,i", "j,k,l", "c\td", "e\tf"], ","),
        ("tsv", ["a,b,c\td", "e,f,g\th"], "\t"),
        ("tsv", ["a,b,c\td", "e,f,g\th", "i,j,k\tl", "m,n,o", "p,q,r"], "\t"),  # though commas cut all
        ("tsv", ["# a,b", "a|b|c"], "|"),
        ("tsv", ["one"], "\t"),
        ("csv", ["Account:;7", "From:;May", "a;b;c;d", "1,5;x;y;z", "2,5;x;y;z"], ";"),  # lines above the table
        ("csv", ["A, B", "From, C", "a;b;c;d", "1,5;x;y;z", "2,5;x;y;z"], ";"),
        ("csv", ["one", "a;b", "c;d"], ","),  # of two columns the first line decides
        ("csv", ["A note", "a;b;c", "B, C", "D, E"], ","),  # a single line is no table
        ("csv", ["a;b", "c;d", "e", "f", "g"], ","),
        ("csv", ["product;price;weight", "Tea;1,50;0,25", "Rice;2,10;1,00", "Salt;0,80;0,50"], ";"),
        ("csv", ["product|price|weight", "Tea|1,50|0,25", "Rice|2,10|1,00", "Salt|0,80"], "|"),
        ("csv", ["product\tprice\tweight", "Tea\t1,50\t0,25", "Rice\t2,10\t1,00"], "\t"),
        ("csv", ["/[IsA,cat,pet]\tIsA\tcat\tpet", "/[IsA,dog,pet]\tIsA\tdog\tpet"], "\t"),  # before what cuts as well
        ("csv", ["name;place;born", "Ann;Riga, Latvia, EU;1990"], ";"),
        ("csv", ["name;genres", "A;x, y, z", "B;u, v, w"], ";"),
        ("csv", ['name;"text, a";b', 'A;"x, y";c', 'B;"u, v";d'], ";"),
        ("csv", ["Saldo;1.234,00", "day;text;sum", "1.2.2024;Tea;1,50", "2.2.2024;Rice;2,10"], ";"),
    ],
)
def test_the_separator_cuts_most_lines_as_the_first(kind: str, lines: list[str], separator: str) -> None:
    assert found_separator(list(enumerate(lines, 1)), kind) == separator


def test_so_many_columns_are_a_table_and_more_are_not() -> None:
    check_width("a.csv", MAX_COLUMNS)
    with pytest.raises(InputError, match=f"a.csv: has more than {MAX_COLUMNS:,} columns; check the separator"):
        check_width("a.csv", MAX_COLUMNS + 1)


@pytest.mark.parametrize(
    ("start", "size", "lines"),
    [
        ("a,b\nc,d\ne,f\n", 99, [(1, "a,b"), (2, "c,d"), (3, "e,f")]),
        ("a,b\nc,d\ne,f", 11, [(1, "a,b"), (2, "c,d")]),  # a line that is cut may be longer
        ("a,b\nc,d\ne,f", 12, [(1, "a,b"), (2, "c,d"), (3, "e,f")]),
        ("a,b\nc,d\ne,f\n", 8, [(1, "a,b"), (2, "c,d")]),
        ("a,b\nc,d\ne,f\n", 7, [(1, "a,b")]),
        ("abcdef", 3, [(1, "abc")]),
        ("\ufeffa\r\n\r\nb", 99, [(1, "a"), (3, "b")]),
        ("1\n2\n3\n4\n5\n", 99, [(1, "1"), (2, "2"), (3, "3")]),
        ("\n1\n2\n3\n4\n", 99, [(2, "1"), (3, "2"), (4, "3")]),
        ("\n\n1\n2\n3\n", 99, [(3, "1"), (4, "2")]),
    ],
)
def test_the_first_lines_are_whole_and_few(
    monkeypatch: pytest.MonkeyPatch, start: str, size: int, lines: list[tuple[int, str]]
) -> None:
    monkeypatch.setattr(tables, "_SAMPLE_BYTES", size)
    monkeypatch.setattr(tables, "SAMPLE", 3)
    assert tables._first_lines("a.csv", start.encode()) == lines


def test_a_quoted_row_has_the_number_of_its_last_line() -> None:
    lines = [(1, "a,b"), (3, '"c'), (4, 'd",e'), (6, "f,g"), (7, '"h')]
    assert first_rows(lines, "csv", ",") == [(1, ["a", "b"]), (4, ["c\nd", "e"]), (6, ["f", "g"])]
    assert first_rows(lines[:1], "tsv", ",") == [(1, ["a", "b"])]


THREE = plan_fixed((3,), 3, None)


def rows_of(
    folder: Path, text: str, kind: str = "tsv", planner: Planner = THREE, separator: str | None = None
) -> tuple[list[tuple[str, ...]], FileReport, list[int]]:
    """Return the rows of a file, its report, and the sizes of its tables."""
    (folder / "rows").write_bytes(text.encode())
    report = FileReport("rows", kind)
    found = list(read_rows(str(folder / "rows"), kind, separator, planner, report, lambda _: None))
    rows = [row for table in found for row in zip(*(column.to_pylist() for column in table.columns), strict=True)]
    return rows, report, [table.num_rows for table in found]


def counts(report: FileReport) -> dict[str, tuple[int, str]]:
    return {reason: (entry[0], entry[1]) for reason, entry in report.skipped.items()}


@pytest.mark.parametrize("kind", ["tsv", "csv"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_lines_of_another_shape_are_counted_and_the_others_read(tmp_path: Path, kind: str, end: str) -> None:
    cut = {"tsv": "\t", "csv": ","}[kind]
    lines = ["a,r,b", "# note", "c,r", "", "d,,e", "f,r,g,", "h,r,i,#j", "k,r,l"]
    text = end.join(line.replace(",", cut) for line in lines) + end
    rows, report, _ = rows_of(tmp_path, text, kind)
    assert rows == [("a", "r", "b"), ("f", "r", "g"), ("k", "r", "l")]
    assert report.rows == 3
    assert counts(report) == {
        "comment lines": (1, "rows:2"),
        "rows with another number of columns": (2, "rows:3"),
        "rows with an empty cell": (1, "rows:5"),
    }
    whole, report, sizes = rows_of(tmp_path, f"a{cut}r{cut}b{end}k{cut}r{cut}l{end}", kind)
    assert (whole, report.rows, sizes, report.skipped) == ([("a", "r", "b"), ("k", "r", "l")], 2, [2], {})


def test_a_blank_is_a_cell_of_tsv_and_none_of_csv(tmp_path: Path) -> None:
    assert rows_of(tmp_path, "a\t \tb\n")[0] == [("a", " ", "b")]
    rows, report, _ = rows_of(tmp_path, "a,r,b\nc, ,d\n", "csv")
    assert (rows, counts(report)) == ([("a", "r", "b")], {"rows with an empty cell": (1, "rows:2")})


def test_a_separator_of_several_characters_cuts_tsv_and_is_refused_for_csv(tmp_path: Path) -> None:
    assert rows_of(tmp_path, "a||r||b\nc||r||d\n", separator="||")[0] == [("a", "r", "b"), ("c", "r", "d")]
    with pytest.raises(InputError, match=r"CSV takes one character as separator, not '\|\|'"):
        rows_of(tmp_path, "a||r||b\n", "csv", separator="||")


def test_rows_of_a_sheet_may_lack_cells_behind_the_first_and_have_empty_ones_too_many(tmp_path: Path) -> None:
    planner = plan_facts(BuildSettings(("rows",), header=True, id="id"))
    rows, report, _ = rows_of(tmp_path, "id,name,size\n1,Ada,5\n2,Bo\n3\n4,Cy,6,\n5,Di,7,8\n", "csv", planner)
    assert rows == [("1", "Ada", "5"), ("2", "Bo", ""), ("4", "Cy", "6")]
    assert counts(report) == {"rows with another number of columns": (2, "rows:4")}
    assert (report.sheet, report.header_line) == (("id", "name", "size"), 1)


def test_rows_that_sum_up_others_are_counted_unless_they_have_all_cells(tmp_path: Path) -> None:
    planner = plan_facts(BuildSettings(("rows",)))
    body = "name,town,fee\nIda,Bergen,40\nPer,Oslo,25\nSubtotal,,65\nMai,Bergen,25\nTotal,Pau,7\n,Grand total:,90\n"
    rows, report, _ = rows_of(tmp_path, body, "csv", planner)
    assert [row[0] for row in rows] == ["Ida", "Per", "Mai", "Total"]
    assert counts(report) == {"rows of totals": (2, "rows:4")}


@pytest.mark.parametrize("kind", ["tsv", "csv"])
def test_lines_above_the_header_are_counted_but_the_one_that_tells_the_separator(tmp_path: Path, kind: str) -> None:
    cut = {"tsv": "\t", "csv": ","}[kind]
    planner = plan_facts(BuildSettings(("rows",)))
    body = "subject,relation,object\na,r,b\n".replace(",", cut)
    rows, report, _ = rows_of(tmp_path, "a title\n" + body, kind, planner)
    assert (rows, counts(report)) == ([("a", "r", "b")], {"lines above the table": (1, "rows:1")})
    rows, report, _ = rows_of(tmp_path, f"sep={cut}\n{body}", kind, planner)
    assert (rows, report.skipped) == ([("a", "r", "b")], {})


def test_a_blank_line_is_none_of_the_lines_that_the_separator_is_found_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "SAMPLE", 2)
    planner = plan_facts(BuildSettings(("rows",), header=True))
    assert rows_of(tmp_path, "\na;b,c\nd;e\nf;g\n", "csv", planner)[1].separator == ";"


def test_tables_are_cut_at_so_many_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "ROWS", 2)
    text = "".join(f"s{n},r,o{n}\n" for n in range(5))
    rows, report, sizes = rows_of(tmp_path, text, "csv")
    assert (len(rows), report.rows, sizes) == (5, 5, [2, 2, 1])
    assert rows_of(tmp_path, "".join(f"s{n},r,o{n}\n" for n in range(4)), "csv")[2] == [2, 2]
    cells = [(n, (f"s{n}", "r", "")) if n == 3 else (n, (f"s{n}", "r", "o")) for n in range(1, 6)]
    report = FileReport("book", "xlsx")
    found = list(read_cells(cells, THREE, report))
    assert [table.num_rows for table in found] == [2, 2]
    assert counts(report) == {"rows with an empty cell": (1, "book: row 3")}
    assert report.rows == 4


def test_batches_have_their_texts_and_rows_with_an_empty_cell_are_counted() -> None:

    def batch(**columns: Any) -> Any:
        return pa.table(columns)

    report = FileReport("t.parquet", "parquet")
    parts = [
        batch(s=["a", "b"], r=["r", "r"], o=[1.5, 2.0]),
        batch(s=["c", None], r=["r", "r"], o=[float("nan"), 3.0]),
        batch(s=["d"], r=["r"], o=[4.0]),
    ]
    found = list(read_batches("t.parquet", ["s", "r", "o"], iter(parts), THREE, report, lambda _: None))
    assert [table.to_pydict() for table in found] == [
        {"c0": ["a", "b"], "c1": ["r", "r"], "c2": ["1.5", "2"]},
        {"c0": [], "c1": [], "c2": []},
        {"c0": ["d"], "c1": ["r"], "c2": ["4"]},
    ]
    assert report.rows == 3
    assert counts(report) == {"rows with an empty cell": (2, "t.parquet: row 3")}
    none = list(read_batches("t.parquet", ["s", "r", "o"], iter(()), THREE, FileReport("t", "parquet"), lambda _: None))
    assert none == []


def test_the_plan_is_made_of_the_first_rows(monkeypatch: pytest.MonkeyPatch) -> None:

    monkeypatch.setattr(tables, "SAMPLE", 2)
    seen: list[Any] = []

    def planner(rows: Any, report: FileReport) -> Any:
        seen.append([(line, list(cells)) for line, cells in rows])
        return THREE(rows, report)

    batches = [pa.table({"s": ["a", None, "c"], "r": ["r"] * 3, "o": [1, 2, 3]}), pa.table({"s": [], "r": [], "o": []})]
    assert (
        len(list(read_batches("t", ["s", "r", "o"], iter(batches), planner, FileReport("t", ""), lambda _: None))) == 2
    )
    list(read_cells([(n, (f"s{n}", "r", "o")) for n in range(1, 4)], planner, FileReport("t", "xlsx")))
    assert seen == [
        [(0, ["s", "r", "o"]), (1, ["a", "r", "1"]), (2, ["", "r", "2"])],
        [(1, ["s1", "r", "o"]), (2, ["s2", "r", "o"])],
    ]


def test_lists_and_dictionaries_are_texts_and_structs_are_refused() -> None:

    texts = pa.table(
        {"s": pa.array(["a", "b", "a"]).dictionary_encode(), "r": ["r"] * 3, "o": [["x", None, "y"], [], ["z"]]}
    )
    [found] = read_batches(
        "t", ["s", "r", "o"], iter([texts]), plan_fixed((3,), 2, None), FileReport("t", "parquet"), lambda _: None
    )
    assert found.to_pydict() == {"c0": ["a", "b", "a"], "c1": ["r"] * 3, "c2": ["x\x1fy", "", "z"]}
    struct = pa.table({"s": ["a"], "r": ["r"], "o": [{"x": 1}]})
    with pytest.raises(InputError, match="t: column 'o' is of type struct<x: int64>; convert it to text"):
        list(read_batches("t", ["s", "r", "o"], iter([struct]), THREE, FileReport("t", "parquet"), lambda _: None))


def test_a_type_without_a_text_is_refused() -> None:

    raw = pa.table({"s": ["a"], "r": ["r"], "o": pa.array([(1, 2, 3)], pa.month_day_nano_interval())})
    with pytest.raises(InputError, match="t: column 'o' is of type month_day_nano_interval; convert it to text"):
        list(read_batches("t", ["s", "r", "o"], iter([raw]), THREE, FileReport("t", "parquet"), lambda _: None))


@pytest.mark.parametrize("cells", [["x", "one\x1fother"], [["x"], ["y", "one\x1fother"]]])
def test_a_text_of_parquet_or_sqlite_with_the_separator_of_lists_is_refused(tmp_path: Path, cells: list[Any]) -> None:
    from pyarrow.parquet import write_table

    said = r": a text of 'o' has the character U\+001F, by which the values of lists are separated; remove it$"
    write_table(pa.table({"s": ["a", "b"], "r": ["r", "r"], "o": cells}), tmp_path / "facts.parquet")
    with pytest.raises(InputError, match=rf"facts\.parquet{said}"):
        build(BuildSettings((str(tmp_path / "facts.parquet"),)), tmp_path / "graph")
    if isinstance(cells[0], str):
        with closing(sqlite3.connect(tmp_path / "facts.db")) as base:
            base.execute("CREATE TABLE facts (s TEXT, o TEXT)")
            base.executemany("INSERT INTO facts VALUES ('a', ?)", [(cell,) for cell in cells])
            base.commit()
        with pytest.raises(InputError, match=rf"facts\.db::facts{said}"):
            build(BuildSettings((str(tmp_path / "facts.db"),)), tmp_path / "graph")


@pytest.mark.parametrize(
    ("name", "text", "names"),
    [
        ("l.tsv", "Q1\tRiga\nQ2\tOslo\n", [("Q1", "Riga", "", False), ("Q2", "Oslo", "", False)]),
        ("l.csv", "id,label,lang\nQ1,Riga,lv\n", [("Q1", "Riga", "lv", False)]),
        (
            "l.json",
            '{"Q1": ["Riga", "R", "Rī"], "Q2": "Oslo", "Q3": []}',
            [("Q1", "Riga", "", False), ("Q1", "R", "", True), ("Q1", "Rī", "", True), ("Q2", "Oslo", "", False)],
        ),
        ("l.json", "{}", []),
    ],
)
def test_names_are_read_with_their_language_and_all_but_the_first_are_aliases(
    tmp_path: Path, name: str, text: str, names: Any
) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    report = FileReport(name, "")
    found = [
        row for batch in read_names(str(tmp_path / name), report, lambda _: None) for row in zip(*batch, strict=True)
    ]
    assert found == names
    assert report.rows == len(names)


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("l.json", "[]", "expected a JSON object of id to label, found a list"),
        ("l.json", '{"Q1": 5}', "the label of 'Q1' is 5; give a text or a list of texts"),
        ("l.json", '{"Q1": ["a", 5]}', r"the label of 'Q1' is \['a', 5\]"),
        ("l.json", '{"": "a"}', "the label of '' is 'a'"),
        ("l.nt", "<a> <b> <c> .", "labels are read from tsv, csv, parquet or json"),
    ],
)
def test_a_file_that_names_nothing_is_refused(tmp_path: Path, name: str, text: str, said: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=said):
        list(read_names(str(tmp_path / name), FileReport(name, ""), lambda _: None))


def test_a_carriage_return_among_line_feeds_is_refused_with_advice(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="rows:2: a carriage return ends the line, though others end in a line feed"):
        rows_of(tmp_path, "id,name,city\n1,Ada,Riga\r2,Bo,Oslo\n", "csv", plan_facts(BuildSettings(("rows",))))


ACCOUNT = (
    '"Account:";"DE12 / current"\n\n"From:";"01.01.2024"\n"Balance:";"1.250,33 EUR"\n\n'
    '"Day";"Kind";"Payee";"Reference";"Amount"\n"31.01.2024";"Debit";"Waterworks";"January";"-85,00"\n'
    '"30.01.2024";"Salary";"Nordlicht";"01/2024";"2.950,12"\n"15.01.2024";"Transfer";"Erika";"Rent";"-1.100,00"\n'
)


def test_the_statement_of_an_account_has_lines_above_its_table(read: Any) -> None:
    made = read(ACCOUNT)
    assert ("Salary", "Amount", '"2950.12"^^xsd:decimal') in made.facts
    assert "skipped 3 lines above the table, the first in 1" in made.said


def test_a_table_in_markdown_has_a_rule_that_is_no_row(read: Any) -> None:
    made = read("|Peak|Height|Land|\n|:---|---:|---|\n|Vert|3120|France|\n|Alto|2870|Italy|\n")
    assert len(made.facts) == 4
    assert ("Vert", "Height", '"3120"^^xsd:integer') in made.facts


@pytest.mark.parametrize(
    ("rule", "separator", "told"),
    [
        ("|---|---|", "|", ""),
        ("|-|:-:|", "|", ""),
        ("| --- | --- |", "|", "4"),
        ("--,--", ",", "4"),
        ("---\t---", "\t", "4"),
    ],
)
def test_dashes_alone_are_a_rule_under_the_heading_of_a_drawn_table_and_told_elsewhere(
    read: Any, rule: str, separator: str, told: str
) -> None:
    lines = ["|Peak|Height|", "|Vert|3120|", "|Alto|2870|", "|Bass|1870|"]
    lines.insert(3 if told else 1, rule)
    made = read(
        "".join(line.strip("|").replace("|", separator) + "\n" if separator != "|" else line + "\n" for line in lines)
    )
    assert len(made.facts) == 3
    assert ("dashes alone" in made.said) is bool(told)
    assert f"skipped 1 row that holds dashes alone, in {told}" in made.said or not told


def test_a_dash_in_each_cell_of_a_row_of_csv_is_no_rule(read: Any) -> None:
    assert "dashes alone" not in read("name,peaks,land\n-,-,-\nVert,3,France\nAlto,4,Italy\n").said


@pytest.mark.parametrize("name", ["a.csv", "a.txt"])
def test_facts_in_markdown_are_read_without_the_blanks_of_their_cells(read: Any, name: str) -> None:
    rows = "".join(f"| {' | '.join(fact)} |\n" for fact in FACTS)
    made = read(f"| subject | relation | object |\n|---|---|---|\n{rows}", name)
    assert made.facts == FACTS


DRAWN = (
    "+------+-------+\n| name | score |\n+------+-------+\n| Ann  |     3 |\n| Bo   |     4 |\n+------+-------+\n"
    "2 rows in set (0.00 sec)\n"
)


@pytest.mark.parametrize("name", ["a.csv", "a.txt"])
@pytest.mark.parametrize(
    "text", [DRAWN, " name | score | x\n------+-------+---\n Ann  |     3 | y\n Bo   |     4 | z\n(2 rows)\n"]
)
def test_the_borders_that_a_client_of_a_database_draws_are_no_rows(read: Any, name: str, text: str) -> None:
    made = read(text, name)
    assert ("Ann", "score", '"3"^^xsd:integer') in made.facts
    assert "skipped 1 row with another number of columns" in made.said, "what the client says of the rows"
    assert "lines above" not in made.said


def test_properties_of_the_edges_of_neo4j_are_qualifiers(read: Any) -> None:
    head = ":START_ID,:END_ID,:TYPE,since:int,code:string,tags:string[],x:IGNORE\n"
    edges = f"{head}1,2,KNOWS,1993,007,a;b,z\n2,3,KNOWS,,,,\n"
    made = read(edges)
    [known, _] = made.graph.qualifiers(made.graph.match([Pattern(relation="KNOWS")])[0])
    assert set(known) == {("since", '"1993"^^xsd:integer'), ("code", '"007"'), ("tags", '"a"'), ("tags", '"b"')}
    assert "columns not read: x:IGNORE" in made.said
    assert "not read" not in read(edges.replace(",x:IGNORE", "").replace(",z", "").replace(",,,,", ",,,")).said
    chosen = read(edges, columns=(":START_ID", ":TYPE", ":END_ID"))
    assert chosen.graph.qualifiers(chosen.graph.match([Pattern()])[0]) == [(), ()]


RESULT = (
    '?item\t?itemLabel\t?born\n<http://a.example/1>\t"Ada \\"A\\" M."@en\t'
    '"1815-12-10"^^<http://www.w3.org/2001/XMLSchema#date>\n<http://a.example/2>\t"B\\tC"\t"x"^^<http://a y>\n'
)


def test_terms_of_a_result_of_sparql_are_read_as_their_texts(read: Any) -> None:
    made = read(RESULT, "a.tsv")
    born = {fact[0][-1]: fact[2] for fact in made.facts}
    assert born == {"1": "1815-12-10", "2": "x"}
    assert made.graph.labels(["http://a.example/1", "http://a.example/2"]) == ['Ada "A" M.', "B\tC"]
    assert "was read as a result of SPARQL; the languages and datatypes of its values are not kept" in made.said


def test_questions_as_headings_of_csv_are_no_result_of_sparql(read: Any) -> None:
    assert "SPARQL" not in read("?name,?age\nAnn,5\nBo,6\n").said


def test_columns_with_one_heading_are_one_relation_and_told(read: Any) -> None:
    made = read("id,name,office,office\n1,Uma,Oslo,Room 4\n2,Vik,Bergen,Room 9\n")
    assert {(f[1], f[2]) for f in made.facts if f[0] == "1"} == {("office", "Oslo"), ("office", "Room 4")}
    assert "has several columns 'office', which are one relation" in made.said
    assert "several columns" not in read("id,name,a,b\n1,Uma,Oslo,Room 4\n", "b.csv").said


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ("North,10,1.5\nSouth,20,2.5\nTotal,30,4\n", "skipped 1 row of totals, in row 3"),
        ("North,10,1.5\nSouth,20,2.5\nTotal,30,4\nSumme:,30,4.0\n", "skipped 2 rows of totals, the first in row 3"),
        ("North,10,1.5\nSouth,20,2.5\nTotal,30,2\n", "its row 'Total' does not hold the sums of the others"),
        ("North,10,x\nSouth,20,y\nTotal,120,z\n", "its row 'Total' does not hold the sums of the others"),
    ],
)
def test_a_full_row_of_totals_is_left_out_where_it_holds_the_sums_and_told(read: Any, rows: str, told: str) -> None:
    made = read(f"area,sales,share\n{rows}")
    assert told in made.said
    assert ("Total" in {fact[0] for fact in made.facts}) is ("skipped" not in told)
    assert made.reading[0]["rows"] == rows.count("\n") - (rows.count("30,4") if "skipped" in told else 0)


def test_a_single_row_beside_one_with_a_word_of_totals_is_no_part_of_a_sum(read: Any) -> None:
    assert "Total" in {fact[0] for fact in read("area,sales,share\nNorth,10,1.5\nTotal,10,1.5\n").facts}


def test_sums_are_refused_as_other_rows_of_totals_are(read: Any) -> None:
    with pytest.raises(InputError, match="row 3: the row sums up other rows"):
        read("area,sales,share\nNorth,10,1.5\nSouth,20,2.5\nTotal,30,4\n", strict=True)


@pytest.mark.parametrize(("headings", "key"), [("Time,Monday,Tuesday,Wednesday", "8-9"), ("Time,Ann,Bob,Cyd", "Maths")])
def test_what_stands_below_days_names_no_row(read: Any, headings: str, key: str) -> None:
    made = read(f"{headings}\n8-9,Maths,Art,PE\n9-10,Music,Art,Latin\n")
    assert key in {fact[0] for fact in made.facts}


@pytest.mark.parametrize(
    ("text", "is_header"),
    [
        ("Room,Key code\nN1,K-17\nS1,K-22\n", True),
        ("Root,N1\nN1,N2\nN2,N3\n", False),
        ("Room,Key code\nN1,K-17\n", False),
    ],
)
def test_words_above_codes_head_two_columns(read: Any, text: str, is_header: bool) -> None:
    if is_header:
        assert ("N1", "Key code", '"K-17"') in read(text).facts
    else:
        with pytest.raises(InputError, match="its first line may be a header or the first of its rows"):
            read(text)


def test_rows_with_fewer_cells_than_headings_are_told(read: Any) -> None:
    made = read("name,city,age\nAda,Leeds,34\nBen,York\nCyd,Hull\nDan,Hull,5\n")
    assert (
        "2 rows have fewer cells than there are headings, the first in 3; the missing cells were read as empty"
        in made.said
    )
    assert ("Ben", "city", "York") in made.facts
    assert "fewer" not in read("name,city,age\nAda,Leeds,34\nBen,York,\nDan,Hull,5,\n", "b.csv").said


def test_0_and_1_under_a_state_are_told_to_be_no_and_yes(read: Any) -> None:
    made = read("name,survived,is_guest\nAda,1,0\nBen,0,1\n")
    assert {("Ada", "survived", '"true"^^xsd:boolean'), ("Ada", "is_guest", '"false"^^xsd:boolean')} <= set(made.facts)
    told = "column 'survived': its 0 and 1 were read as no and yes; integer would fit, too; give a --plan to change it"
    assert told in made.said
    assert "'is_guest': its 0" not in made.said


def test_a_separator_before_a_blank_is_text_in_a_row_with_too_many_cells(read: Any) -> None:
    made = read("name,street,city\nAda,Mill Lane,Leeds\nBen,Quay, 67, rear,York\n#,a, b,c\nDan,Kirk,Hull, UK,x\n")
    assert "1 row has more cells than there are columns, in 3; ',' before a blank was read as text" in made.said
    assert {("Ben", "street", "Quay, 67, rear"), ("Ben", "city", "York")} <= set(made.facts)
    assert "skipped 1 row with another number of columns, in 5" in made.said
    # Where blanks follow separators anyhow, nothing shows which of them is text.
    assert "skipped 1 row" in read("name, street, city\nAda, Mill Lane, Leeds\nBen, Quay, 67, York\n", "b.csv").said


NOTED = "land,size,rate\nNorland,1200,2\nSouthey,850,-4\n\n"


@pytest.mark.parametrize(
    ("foot", "skipped", "rows"),
    [
        ("* a note\n† estimated, revised\nSource: us\n", "skipped 3 lines below the table, the first in 5", 2),
        ("Eastmark,430,3\n", "", 3),  # an empty line among the rows
        ("North,10\nEastmark,430,3\nWest,1\n", "2 rows have fewer cells", 5),  # a group of rows
        ("Eastmark,430,3\n\nNorth,10,4\n\nWest,1\n", "1 row has fewer cells", 5),  # empty lines between all
        (
            "".join(f"T{n},4,3\n" for n in range(150)) + "\n" + "".join(f"L{n},2\n" for n in range(100)),
            "100 lines",
            152,
        ),
        ("".join(f"T{n},4,3\n" for n in range(150)) + "\n" + "".join(f"L{n},2\n" for n in range(101)), "101 rows", 253),
    ],
)
def test_short_lines_below_an_empty_line_are_no_part_of_a_table(read: Any, foot: str, skipped: str, rows: int) -> None:
    made = read(NOTED + foot)
    assert skipped in made.said
    assert made.reading[0]["rows"] == rows


def test_a_cell_over_several_lines_makes_no_gap(read: Any) -> None:
    assert "below" not in read('land,size,rate\nNorland,12,2\n"South\n\ney",8\n').said


@pytest.mark.parametrize(
    ("text", "is_sum"),
    [
        *(("Office Total", True), ("Total Office", True), ("Total: Office", True), ("Summe Office", True)),
        *(
            ("OFFICE TOTAL", True),
            ("IT Total", False),
            ("Total Eclipse", False),
            ("Office", False),
            ("Offices Total", False),
        ),
    ],
)
def test_the_total_of_the_group_above_is_no_row(read: Any, text: str, is_sum: bool) -> None:
    made = read(f"dept,item,cost\nOffice,Paper,20\nOffice,Pens,10\n{text},,30\nIT,Mouse,25\n")
    assert ("skipped 1 row of totals, in 4" in made.said) is is_sum


@pytest.mark.parametrize("mark", ["*", "†", " ‡", "¹", "[a]", " [12]"])
def test_marks_of_footnotes_behind_numbers_are_left_out_and_told(read: Any, mark: str) -> None:
    made = read(f"land,size,rate\nNorland,1200,2\nSouthey,850{mark},-4\n")
    assert ("Southey", "size", '"850"^^xsd:integer') in made.facts
    assert f"column 'size': marks of footnotes were left out, such as that of 850{mark}" in made.said


@pytest.mark.parametrize("values", ["a1*,b2", "12 m²,13 m²", "x[1],y[2]", "10²,10³", "3*,4*"])
def test_marks_stay_where_they_make_no_number(read: Any, values: str) -> None:
    first, second = values.split(",")
    assert "footnotes" not in read(f"land,size,rate\nNorland,{first},2\nSouthey,{second},-4\n").said


def test_a_code_of_several_parts_is_another_name_of_a_named_row(read: Any) -> None:
    made = read("id,title,pages\nch_3Na1,Alpha,3\nch_3Na2,Beta,4\n")
    assert made.graph.find(["ch_3Na2"]) == [["ch_3Na2"]]
    hashed = "0f3a9b7c6d5e4f3a2b1c0d9e"
    assert read(f"id,title,pages\n{hashed},Alpha,3\nx1,Beta,4\n", "b.csv").graph.find([hashed]) == [[]]


def test_a_label_of_a_result_without_its_item_names_the_relation_without_the_word(read: Any) -> None:
    head, row = "item,itemLabel,countryLabel,size\n", "http://w/Q1,Riga,Latvia,5\nhttp://w/Q2,Oslo,Norway,6\n"
    assert read(head + row).graph.labels(["countryLabel"]) == ["country"]
    plain = read("name,warningLabel,size\nRiga,Red,5\nOslo,Blue,6\n", "b.csv")
    assert plain.graph.labels(["warningLabel"]) == ["warning label"]
