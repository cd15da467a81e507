"""Sheets: several values in a cell, names of links, and how a table names its rows."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from srtk_plugin_local.snapshot import sheets as sheet_module
from srtk_plugin_local.snapshot.arrow_texts import LIST
from srtk_plugin_local.snapshot.build import build
from srtk_plugin_local.snapshot.build_settings import BuildSettings
from srtk_plugin_local.snapshot.column_types import INTEGER, TEXT, type_by_name
from srtk_plugin_local.snapshot.graph import LocalGraph
from srtk_plugin_local.snapshot.input_report import FileReport
from srtk_plugin_local.snapshot.sheets import Column, Sheet, Sheets, separator_of, table_name
from srtk_plugin_local.snapshot.staging_values import first_row

from srtk_framework.values import Pattern

Staged = Callable[..., Sheets]
PLAIN = ["one"] * 49


class Made:
    """The graph of a table: its facts by name, and its notes."""

    def __init__(self, folder: Path, text: str, **flags: Any) -> None:
        (folder / "a.csv").write_text(text, encoding="utf-8")
        built = build(BuildSettings((str(folder / "a.csv"),), **flags), folder / "out", force=True)
        self.graph = LocalGraph(str(built.folder))
        self.graph.open()
        triples = self.graph.match([Pattern()])[0]
        named = [self.graph.labels([t.subject, t.object]) for t in triples]
        self.facts = {(s, t.relation, o) for t, (s, o) in zip(triples, named, strict=True)}
        self.plan, self.content = built.meta.build["plan"], built.meta.content
        self.notes = " ".join(built.meta.build["reading"][0]["notes"])


@pytest.mark.parametrize(
    ("title", "values", "separator"),
    [
        ("genres", ["Drama,History", "Crime,Drama", "Comedy"], ","),
        ("genres", ["Drama, History", "Crime, Drama", "Comedy"], ", "),
        ("genres", ["Drama, History", "Crime,Drama", "Comedy"], ","),
        ("genres", ["Drama,History", "Comedy"], ""),  # one cell with a comma is too few
        ("genres", ["Drama,History", "Crime,War"], ""),  # nothing comes again
        ("genre", ["Drama,History", "Crime,Drama", "Comedy"], ""),
        ("work", ["director,writer", "writer,director", "director", "writer"], ","),  # both stand alone, too
        ("work", ["director,writer", "writer,director", "director"], ""),
        ("work", ["director, writer", "writer, director", "director", "writer"], ""),
        ("work", ["director,writer", "actor,cook", "director", "writer"], ","),  # half of the parts stand alone
        ("seat", ["Austin,Texas", "Dallas,Texas", "Lima,Ohio", "Texas", "Ohio"], ""),
        ("sales", ["1,200", "1,300", "200", "300"], ""),
        ("genres", ["Drama,1,200", "Drama,x"], ""),
        ("ingredients", ["water, sugar, salt", "water, 1,2-hexanediol", "water, salt"], ", "),
        ("genres", [f"Drama,{'x' * 60}", f"Drama,{'y' * 60}"], ""),
        ("labels", ["Friends ::: Choir", "Choir"], ":::"),
        ("tag", [f"a{LIST}b"], LIST),
        ("tag", ["a|b", *PLAIN], "|"),  # one of fifty cells
        ("tag", ["a|b", *PLAIN, "one"], ""),
        ("tag", ["a|b;c|d"], "|"),
        ("tag", ["|"], ""),
        ("tag", [f"{'x' * 40}|{'y' * 40}"], "|"),
        ("tag", [f"{'x' * 40}|{'y' * 41}"], ""),  # parts of sentences
        ("tag", ["a;b", "c;d"], ";"),
        ("tag", ["a;b", "c"], ""),
        ("tags", ["a;b", "c"], ";"),
        ("class", ["a;b", "c"], ""),  # no plural
        ("gas", ["a;b", "c"], ""),
        ("", ["a;b", "c"], ""),
        ("tag", ["a &amp; b", "c &#38; d"], ""),
        ("tag", ["a &amp; b; c", "d; e"], ";"),
        ("tags", ["a, b", "b, c"], ", "),
        ("tags", ["a, b", "c, d"], ""),  # nothing comes again
        ("tags", ["a, b, a"], ""),  # a single cell
        ("tag", ["a, b", "b, c"], ""),
        ("tags", [f"{'x' * 30}, {'y' * 30}", f"{'x' * 30}, {'y' * 30}"], ", "),
        ("tags", [f"{'x' * 30}, {'y' * 31}", f"{'x' * 30}, {'y' * 31}"], ""),
        ("tags", [], ""),
    ],
)
def test_several_values_in_a_cell_are_told_from_one(title: str, values: list[str], separator: str) -> None:
    assert separator_of(title, values) == separator


LINKS = """task,project,note,by
Book,"Spring (https://a.example/p-1), Fair (https://a.example/p-2)",see (https://a.example/x) below,Mara
Call,Spring (https://a.example/p-1),x,Tom
"""


def test_the_names_of_links_are_read_without_their_addresses(tmp_path: Path) -> None:
    made = Made(tmp_path, LINKS)
    assert {("Book", "project", "Spring"), ("Book", "project", "Fair"), ("Call", "project", "Spring")} <= made.facts
    assert ("Book", "note", "see (https://a.example/x) below") in made.facts
    assert made.notes == "of the links in 'project' the names are read alone, without their addresses"


@pytest.mark.parametrize(
    ("cells", "names"),
    [
        (["Foo (https://a.example/Foo_(bar))", "Zed (https://a.example/z)"], {"Foo", "Zed"}),
        (["Foo, Bar (https://a.example/f)", "Zed (https://a.example/z)"], {"Foo, Bar", "Zed"}),
        (["Error (http 404)", "Gone (http 410)"], None),
        (["Read A (https://a.example/x) and B (https://b.example/y)", "Zed (https://a.example/z)"], None),
        (["A (https://a.example/x); B (https://b.example/y)", "Zed (https://a.example/z)"], None),
        (["A (https://a.example/1)", "A (https://a.example/3)"], None),  # two things of one name
    ],
)
def test_only_whole_cells_of_links_lose_their_addresses(
    tmp_path: Path, cells: list[str], names: set[str] | None
) -> None:
    made = Made(tmp_path, f'task,project\nBook,"{cells[0]}"\nCall,"{cells[1]}"\n')
    assert {o for _, r, o in made.facts if r == "project"} == set(names or cells)
    assert ("of the links in 'project'" in made.notes) == (names is not None)


def test_first_and_last_name_together_are_the_key(tmp_path: Path) -> None:
    made = Made(tmp_path, "First Name,Last Name,City,Since\nInes,Cruz,Porto,2019\nJonas,Weber,Jena,2020\n")
    assert {s for s, _, _ in made.facts} == {"Ines Cruz", "Jonas Weber"}
    assert {r for _, r, _ in made.facts} == {"City", "Since"}
    assert not made.notes
    again = Made(tmp_path, "First Name,Last Name,City,Since\nJo,Ray,Porto,2019\nJo,Ray,Jena,2020\n")
    assert {s for s, _, _ in again.facts} == {"Porto", "Jena"}  # both are called Jo Ray


def test_a_code_of_the_rows_is_another_name_and_a_title_is_the_name(tmp_path: Path) -> None:
    made = Made(tmp_path, "tconst,kind,year,primaryTitle\ntt01,film,1999,Salt Road\ntt02,film,2011,Blue Tram\n")
    assert ("Salt Road", "kind", "film") in made.facts
    assert made.graph.other_names(["tt01"]) == [["tt01"]]
    bare = Made(tmp_path, "ref,maker,year,size\nx1,Holm,1999,5\nx2,Birk,2011,6\n")
    assert ("x1", "maker", "Holm") in bare.facts  # no heading says that it names the rows
    plain = Made(tmp_path, "id,name,kind\nsalt,Salt Road,film\n7,Blue Tram,film\n")
    assert plain.graph.other_names(["salt"]) == [[]]


def test_the_marks_of_texts_in_spreadsheets_are_no_part_of_them(tmp_path: Path) -> None:
    isbn, none = (cell.replace('"', '""') for cell in ('="0140449116"', '=""'))
    rows = f'id,name,isbn,zip,note\n1,Tide,"{isbn}",\'04229,\'90s film\n2,Kite,"{none}",\'10 115,="x\n'
    made = Made(tmp_path, rows)
    assert {(s, r, o) for s, r, o in made.facts if r in ("isbn", "zip")} == {
        ("Tide", "isbn", "0140449116"),
        ("Tide", "zip", "04229"),
        ("Kite", "zip", "10 115"),
    }
    assert {o for _, r, o in made.facts if r == "note"} == {"'90s film", '="x'}


def test_a_table_has_the_name_of_its_file_or_that_within_it() -> None:
    assert [table_name(name) for name in ("x/a.b.csv", "shop.db::t.x", "a")] == ["a", "t.x", "a"]


def test_the_plan_of_a_table_reads_it_as_it_was_read(tmp_path: Path) -> None:
    rows = "First Name,Last Name,City,Notes\nInes,Cruz,Porto,met in Lyon\nJonas,Weber,Jena,at work\n"
    first = Made(tmp_path, rows)
    (tmp_path / "plan.yaml").write_text(json.dumps(first.plan))  # JSON is YAML
    second = Made(tmp_path, rows, plan=str(tmp_path / "plan.yaml"))
    assert second.facts == first.facts
    assert second.content == first.content
    assert "though its values" not in Made(tmp_path, rows + "Bo,Falk,Kiel,x\n").notes


# Sheets without a build


def cells(sheets: Sheets, sheet: Sheet) -> list[tuple[Any, ...]]:
    return sheets.con.execute(f"SELECT * FROM {sheet.table} ORDER BY rowid").fetchall()


def column_of(staged: Staged, values: str, title: str = "x", **flags: Any) -> tuple[Column, list[Any], list[str]]:
    """Return the profiled column of values, one for each blank, with its cells and the notes."""
    rows = "".join(f"{number},{value}\n" for number, value in enumerate(values.split(" ")))
    sheets = staged({"a.csv": f"row,{title}\n{rows}"}, **flags)
    [sheet] = sheets
    return sheet.columns[1], [row[1] for row in cells(sheets, sheet)], sheet.reports[0].notes


def test_files_with_equal_headings_are_parts_of_one_table(staged: Staged) -> None:
    files = {"a.csv": "id,Full Name\n1, Ada \n2,\n", "b.csv": "id,full_name\n3,Bo\n", "c.csv": "id,size\n4,5\n"}
    sheets = staged(files, False)
    first, second = sheets
    assert (first.name, first.titles, first.rows, first.parts, first.ends()) == (
        "a",
        ["id", "Full Name"],
        3,
        [2, 1],
        [2, 3],
    )
    assert [report.name for report in first.reports] == ["a.csv", "b.csv"]
    assert cells(sheets, first) == [("1", "Ada"), ("2", None), ("3", "Bo")]
    assert (second.name, second.rows, second.parts) == ("c", 1, [1])
    sheets.add(first.reports[1], pa.table({"c0": ["5"], "c1": ["Cy"]}))
    assert (first.rows, first.parts) == (4, [2, 2])


def test_tables_of_a_database_with_equal_headings_stay_apart(staged: Staged) -> None:
    sheets = staged({"s.db::a": "id,n\n1,x\n", "s.db::b": "id,n\n1,y\n"}, False, "sqlite")
    assert [sheet.name for sheet in sheets] == ["a", "b"]


def test_a_heading_may_be_empty_or_come_again(staged: Staged) -> None:
    [sheet] = staged({"a.csv": "id,,x,x\n1,2,3,4\n"}, False)
    assert sheet.titles == ["id", "column 2", "x", "x"]
    assert [(column.place, column.sql) for column in sheet.columns] == [(0, "c0"), (1, "c1"), (2, "c2"), (3, "c3")]
    assert sheet.reports[0].notes == ["has several columns 'x', which are one relation"]
    assert [sheet.titles for sheet in staged({"a.csv": "id,%\n1,2\n", "b.csv": "id,$\n1,2\n"}, False)] == [
        *(["id", "%"], ["id", "$"]),
    ]
    [plain] = staged({"a.csv": "id,,\n1,2,3\n"}, False)
    assert plain.reports[0].notes == []


def test_links_that_a_file_declares_are_those_of_its_table() -> None:
    sheets = Sheets(duckdb.connect())
    sheets.add(
        FileReport("a.db", "sqlite", sheet=("id", "of"), links={"of": "b"}), pa.table({"c0": ["1"], "c1": ["2"]})
    )
    [sheet] = sheets
    assert sheet.links == {"of": "b"}


def test_a_later_table_of_the_same_name_has_a_number(staged: Staged) -> None:
    sheets = staged({"p/a.csv": "x\n1\n", "q/a.csv": "y\n1\n", "r/a.csv": "z\n1\n"}, False)
    assert [sheet.name for sheet in sheets] == ["a", "a-2", "a-3"]
    assert [sheet.reports[0].notes for sheet in sheets] == [
        *(
            [],
            ["is called 'a-2', since another table is called 'a'"],
            ["is called 'a-3', since another table is called 'a'"],
        )
    ]


def test_the_files_of_a_sheet_are_parted_into_tables_with_their_rows(staged: Staged) -> None:
    files = {name: f"id,n\n{rows}" for name, rows in (("a.csv", "1,x\n2,y\n"), ("b.csv", "3,z\n"), ("c.csv", "4,v\n"))}
    sheets = staged(files, False)
    [whole] = sheets
    sheets.part(whole, ["t", "t", "t"])
    assert list(sheets) == [whole]
    sheets.part(whole, ["t", None, "t"])
    first, second = sheets
    assert [(sheet.name, sheet.rows, sheet.parts) for sheet in sheets] == [("a", 3, [2, 1]), ("b", 1, [1])]
    assert cells(sheets, first) == [("1", "x"), ("2", "y"), ("4", "v")]
    assert cells(sheets, second) == [("3", "z")]
    assert [report.notes for sheet in sheets for report in sheet.reports] == [[], [], []]
    assert first.columns[0] is not second.columns[0]
    assert not sheets.con.execute("FROM duckdb_tables() WHERE table_name = ?", [whole.table]).fetchall()


def test_a_column_has_words_and_a_canonical_text() -> None:
    column = Column("First_nameOf", 3)
    assert (column.words, column.sql, column.canonical()) == ("first name of", "c3", "c3")
    column.type = INTEGER
    assert "CASE" not in column.canonical()
    column.odd = 1
    assert column.canonical("v").startswith("CASE WHEN regexp_full_match(v, '")
    assert column.canonical("v").endswith("ELSE v END")
    assert column.fits() == column.fits("c3")


def test_a_sheet_knows_its_label_its_words_and_its_skipped_rows() -> None:
    report = FileReport("a.csv", "csv", skipped={"x": [2, "1", ""], "y": [3, "4", ""]})
    sheet = Sheet("old_films", "t", [Column("a", 0), Column("b", 1, "name"), Column("c", 2, "name")], [report, report])
    assert (sheet.label(), sheet.words, sheet.skipped) == (sheet.columns[1], ["old", "films"], 10)
    sheet.note("said")
    assert report.notes == ["said"]
    assert Sheet("a", "t", []).label() is None


@pytest.mark.parametrize(
    ("title", "values", "wanted", "missing"),
    [
        ("x", "NULL nan Ada", [None, None, "Ada"], 2),
        ("x", "Ada Bo", ["Ada", "Bo"], 0),
        ("name", "Nan nan NAN Ada", ["Nan", None, None, "Ada"], 2),
        ("title", "Null Ada", ["Null", "Ada"], 0),
        ("x", "Nan Ada", [None, "Ada"], 1),
    ],
)
def test_words_of_a_missing_value_empty_their_cells_but_for_names(
    staged: Staged, title: str, values: str, wanted: list[Any], missing: int
) -> None:
    column, found, notes = column_of(staged, values, title)
    assert (found, column.missing) == (wanted, missing)
    names = sum(value is not None and value.lower() in ("nan", "null") for value in found)
    said = f"{names} values of '{title}' are names, though they are words of a missing value, such as Nan; "
    assert notes == ([f"{said}give --missing to choose the words"] if names else [])


def test_words_of_a_missing_value_stay_at_the_ends_of_edges(staged: Staged) -> None:
    sheets = staged({"a.csv": "source,target,x\nNan,Ada,Nan\nAda,null,b\n"})
    assert cells(sheets, next(iter(sheets))) == [("Nan", "Ada", None), ("Ada", None, "b")]


def test_the_words_of_a_missing_value_may_be_given(staged: Staged) -> None:
    assert column_of(staged, "NULL None Gone x", missing=["gone"])[1] == ["NULL", "None", None, "x"]
    assert column_of(staged, "NULL x", missing=[])[1] == ["NULL", "x"]


@pytest.mark.parametrize(
    ("values", "kind", "odd", "wanted", "missing"),
    [
        ("1 2 - NA", "integer", 0, ["1", "2", None, None], 2),
        ("abc def - n.a.", "names", 0, ["abc", "def", None, None], 2),
        ("ab def -", "names", 0, ["ab", "def", "-"], 0),  # among short texts a dash may mean something
        ("- --", "names", 0, ["-", "--"], 0),
        ("abc NA", "names", 0, ["abc", "NA"], 0),
        (" ".join(["1"] * 20 + ["x"]), "integer", 1, ["1"] * 20 + ["x"], 0),
        (" ".join(["1"] * 20 + ["x", "-"]), "integer", 1, [*["1"] * 20, "x", None], 1),
    ],
)
def test_dashes_are_no_values(
    staged: Staged, values: str, kind: str, odd: int, wanted: list[Any], missing: int
) -> None:
    column, found, _ = column_of(staged, values)
    filled = [value for value in wanted if value is not None]
    assert (found, column.type.name, column.odd, column.missing) == (wanted, kind, odd, missing)
    assert (column.filled, column.example) == (len(filled), filled[0])


def test_an_example_is_no_dash(staged: Staged) -> None:
    assert column_of(staged, "- abc def")[0].example == "abc"


def test_counts_of_a_column_leave_empty_cells_out(staged: Staged) -> None:
    column, _, _ = column_of(staged, "b  b a")
    assert (column.filled, column.distinct, column.example) == (3, 2, "b")
    empty, _, _ = column_of(staged, " ")
    assert (empty.filled, empty.distinct, empty.example, empty.type) == (0, 0, "", TEXT)


@pytest.mark.parametrize("together", [1, 2, 20])
def test_any_number_of_columns_is_counted(staged: Staged, monkeypatch: pytest.MonkeyPatch, together: int) -> None:
    monkeypatch.setattr(sheet_module, "_TOGETHER", together)
    [sheet] = staged({"a.csv": "a,b,c\n1,2,\n1,3,\n2,4,5\n"})
    assert [(column.filled, column.distinct) for column in sheet.columns] == [(3, 2), (3, 3), (1, 1)]


NA = "number,x,y\n1,{},NA\n2,{},abc\nNA,{},def\n"


@pytest.mark.parametrize(
    ("values", "wanted", "example"),
    [
        (("Rome", "NA", "Oslo"), ["Rome", None, "Oslo"], "Rome"),
        (("NA", "Oslo", "Rome"), [None, "Oslo", "Rome"], "Oslo"),
        (("Fr", "NA", "DE"), ["Fr", "NA", "DE"], "Fr"),  # codes of countries, maybe
        (("Fr", "NA", "Rome"), ["Fr", "NA", "Rome"], "Fr"),
        (("NA", "NA", "NA"), ["NA", "NA", "NA"], "NA"),
        (("a", "b", "c"), ["a", "b", "c"], "a"),
    ],
)
def test_na_among_texts_is_missing_where_it_is_among_numbers(
    staged: Staged, values: tuple[str, ...], wanted: list[Any], example: str
) -> None:
    sheets = staged({"a.csv": NA.format(*values)})
    [sheet] = sheets
    column = sheet.columns[1]
    assert [row[1] for row in cells(sheets, sheet)] == wanted
    assert [row[0] for row in cells(sheets, sheet)] == ["1", "2", None]
    filled = [value for value in wanted if value is not None]
    assert (column.example, column.filled, column.distinct) == (example, len(filled), len(set(filled)))


@pytest.mark.parametrize("head", ["number,name,y", "number,source,target"])
def test_na_stays_among_names_and_the_ends_of_edges(staged: Staged, head: str) -> None:
    sheets = staged({"a.csv": f"{head}\n1,Rome,abc\nNA,NA,def\n"})
    assert [row[1] for row in cells(sheets, next(iter(sheets)))] == ["Rome", "NA"]


def test_without_numbers_na_stays(staged: Staged) -> None:
    sheets = staged({"a.csv": "x,y\nRome,b\nNA,c\nOslo,d\n"})
    assert [row[0] for row in cells(sheets, next(iter(sheets)))] == ["Rome", "NA", "Oslo"]


def test_a_large_table_has_its_types_from_a_sample_and_their_odd_values_from_all_rows(
    staged: Staged, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sheet_module, "_SAMPLE", 20)
    few, _, _ = column_of(staged, " ".join(["1", "2"] * 19 + ["3", "x"]))
    assert (few.type, few.odd) == (INTEGER, 1)
    many, _, _ = column_of(staged, " ".join(["1", "x"] * 20))  # the sample has each second row
    assert (many.type.name, many.odd) == ("mixed", 0)
    days, _, _ = column_of(staged, " ".join(["2024-01-02", "x"] * 20))
    assert (days.type, days.odd) == (TEXT, 0)
    most, _, _ = column_of(staged, " ".join(["2024-01-02", "x"] * 10 + ["2024-01-02"]))  # a row more than a sample
    assert (most.type, most.odd) == (TEXT, 0)
    small, _, _ = column_of(staged, " ".join(["1"] * 19 + ["x"]))
    assert (small.type, small.odd) == (INTEGER, 1)


def test_the_separator_of_several_values_may_be_given(staged: Staged) -> None:
    assert column_of(staged, "a/b c", split="/")[0].split == "/"
    assert column_of(staged, "a|b c", split="/")[0].split == ""
    assert column_of(staged, "a|b c")[0].split == "|"
    assert column_of(staged, "1|2 3|")[0].type is INTEGER


def test_a_doubt_about_a_type_is_told(staged: Staged) -> None:
    assert column_of(staged, "1/2/2024 3/4/2024")[2] == [
        "column 'x': its dates may be D/M/Y or M/D/Y, so they stay texts; give a --plan to change it"
    ]


@pytest.mark.parametrize(
    ("titles", "unique"), [("a", True), ("b", False), ("c", False), ("b c", True), ("b d", False), ("e", False)]
)
def test_columns_are_unique_together_where_all_are_filled(staged: Staged, titles: str, unique: bool) -> None:
    sheets = staged({"a.csv": "a,b,c,d,e\n1,x,1,p,1\n2,x,2,p,1.0\n3,y,1,p,2\n4,y,3,,3\n"})
    [sheet] = sheets
    columns = [column for column in sheet.columns if column.title in titles.split()]
    assert sheets.is_unique(sheet, columns) is unique


def test_a_sheet_without_rows_has_no_unique_column(staged: Staged) -> None:
    sheets = staged({"a.csv": "a,b\n"}, False)
    [sheet] = sheets
    assert not sheets.is_unique(sheet, sheet.columns[:1])


def test_a_column_may_have_some_words_alone(staged: Staged) -> None:
    sheets = staged({"a.csv": "a,b\nDirected,it's\n,x\n"})
    [sheet] = sheets
    assert sheets.has_only(sheet, sheet.columns[0], ["directed"])
    assert not sheets.has_only(sheet, sheet.columns[0], ["undirected"])
    assert not sheets.has_only(sheet, sheet.columns[1], ["it's"])


def test_values_that_are_rows_of_another_table_are_counted_once_each(staged: Staged) -> None:
    rows = "1,7,7|9,,7.0\n2,7,8,,8.0\n3,9,7,,9.0\n"
    sheets = staged({"a.csv": f"id,of,more,none,whole\n{rows}", "b.csv": "key,n\n7,x\n8,y\n"})
    first, second = sheets
    shares = [sheets.hits(first, column, second, "c0") for column in first.columns]
    assert shares == [0.0, 0.5, pytest.approx(2 / 3), 0.0, pytest.approx(2 / 3)]


def test_lists_are_split_at_their_separator() -> None:
    sheets = Sheets(duckdb.connect())
    assert sheets.values(Column("a", 2)) == "c2"
    for split, cell in (("|", "a | b"), ("'", "a'b"), (LIST, f"a{LIST}b")):
        column = Column("a", 2, split=split)
        rows = sheets.con.execute(f"SELECT {sheets.values(column)} FROM (SELECT ? AS c2)", [cell]).fetchall()
        assert rows == [("a",), ("b",)]


def test_the_type_of_a_plan_counts_its_odd_values(staged: Staged) -> None:
    sheets = staged({"a.csv": "a,b\n1,x\nx,y\n,z\n"})
    [sheet] = sheets
    sheet.columns[0].type = type_by_name("integer") or TEXT
    assert sheets.count_odd(sheet, sheet.columns[0]) == 1


def test_marks_lists_and_links_of_a_column_are_read(staged: Staged) -> None:
    assert column_of(staged, "'04229 x")[1] == ["04229", "x"]
    sheets = staged({"a.csv": "n,x,y\n1,['a' 'b'],Ada (https://a.b/c)\n2,[],Bo (https://a.b/d)\n3,['c' 'd'],\n"})
    assert cells(sheets, next(iter(sheets))) == [("1", f"a{LIST}b", "Ada"), ("2", None, "Bo"), ("3", f"c{LIST}d", None)]
    [sheet] = sheets
    assert sheet.reports[0].notes == ["of the links in 'y' the names are read alone, without their addresses"]


def test_up_to_a_million_rows_are_counted_exactly(staged: Staged, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sheet_module, "_EXACT", 3)
    asked: list[str] = []
    monkeypatch.setattr(sheet_module, "first_row", lambda con, sql: asked.append(sql) or first_row(con, sql))
    column_of(staged, "a b c")
    assert not any("approx_count" in sql for sql in asked)
    column_of(staged, "a b c d")
    assert any("approx_count" in sql for sql in asked)
