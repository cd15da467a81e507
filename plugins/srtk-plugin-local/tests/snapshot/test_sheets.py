"""Sheets: several values in a cell, names of links, and how a table names its rows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from srtk_plugin_local.snapshot.build import build
from srtk_plugin_local.snapshot.build_settings import BuildSettings
from srtk_plugin_local.snapshot.graph import LocalGraph
from srtk_plugin_local.snapshot.sheets import separator_of, table_name
from srtk_plugin_local.snapshot.tables import LIST

from srtk_framework.values import Pattern

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
        ("sales", ["1,200", "1,300", "200", "300"], ""),
        ("genres", ["Drama,1,200", "Drama,x"], ""),
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
