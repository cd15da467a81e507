"""The plan of columns: what headings and whole columns say of keys, names, links, types and edges."""

from __future__ import annotations

import csv
import io
import re
import sqlite3
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from srtk_plugin_local.snapshot import sheets
from srtk_plugin_local.snapshot.build import build
from srtk_plugin_local.snapshot.build_settings import BuildSettings
from srtk_plugin_local.snapshot.column_types import type_by_name, type_of
from srtk_plugin_local.snapshot.graph import LocalGraph
from srtk_plugin_local.snapshot.table_plan import plan_sheets

from srtk_framework.values import InputError, Literal, Pattern, Triple

Fact = tuple[str, str, str]


class Made:
    """A graph of tables: its facts by name, and what the build says of them."""

    def __init__(self, folder: Path, files: Sequence[str], flags: dict[str, Any], out: str = "out") -> None:
        self.built = build(BuildSettings(tuple(str(folder / file) for file in files), **flags), folder / out)
        self.graph = LocalGraph(str(self.built.folder))
        self.graph.open()
        self.triples = self.graph.match([Pattern()])[0]
        self.reading = self.built.meta.build["reading"]
        self.notes = [note for report in self.reading for note in report["notes"]]

    @property
    def content(self) -> str:
        return self.built.meta.content

    def facts(self) -> set[Fact]:
        names = [self.graph.labels([t.subject, t.object]) for t in self.triples]
        return {(s, t.relation, o) for t, (s, o) in zip(self.triples, names, strict=True)}

    def read_as(self, title: str) -> str:
        return next(c["as"] for report in self.reading for c in report["columns"] if c["column"] == title)


Make = Callable[..., Made]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    def made(tables: dict[str, str], out: str = "out", files: Sequence[str] = (), **flags: Any) -> Made:
        for name, text in tables.items():
            (tmp_path / name).write_text(text, encoding="utf-8")
        return Made(tmp_path, [*tables, *files], flags, out)

    return made


# Rules without a build: the kind of each column, with its reason in brackets


def kinds(
    staged: Callable[..., sheets.Sheets], tables: dict[str, str], shared: bool = False, **flags: Any
) -> list[str]:
    """Return the first table's columns as planned: ``kind``, ``kind>table.by`` and the reason in brackets."""
    found = staged({name: text.replace(" ", "\n") for name, text in tables.items()})
    plan_sheets(found, BuildSettings((), **flags), shared)
    sheet = next(iter(found))
    return [
        c.kind
        + (f">{c.to}.{c.by}" if c.to else "")
        + ("*" if c in sheet.key else "")
        + (f" ({c.why})" if c.why else "")
        for c in sheet.columns
    ]


@pytest.mark.parametrize(("name", "key"), [("orders.csv", "key* (heading names the table)"), ("t.csv", "literal")])
def test_codes_under_the_name_of_the_table_are_its_key_before_unique_names(staged, name: str, key: str) -> None:
    assert kinds(staged, {name: "order,bike,price O1,Rover,3 O2,Swift,3"})[0] == key


def test_a_manager_may_be_abbreviated(staged) -> None:
    assert kinds(staged, {"emp.csv": "EMPNO,ENAME,MGR 7,Ada, 8,Bo,7"})[2] == "link>emp.key (heading of a role)"


def test_the_key_of_another_table_links_and_names_no_row(staged) -> None:
    tables = {"orders.csv": "orderID,customerID,n 1,VINET,5 2,TOMSP,5", "customers.csv": "customerID,x VINET,p TOMSP,q"}
    assert kinds(staged, tables)[1] == "link>customers.key (heading of a key)"


@pytest.mark.parametrize(
    ("table", "wanted"),
    [
        # Ends of edges.
        ("source,target,w a,b,c b,c,d", ["source (heading)", "target (heading)", "property"]),
        ("source,target,weight a,b,1 b,c,1", ["source (heading)", "target (heading)", "bookkeeping (all are equal)"]),
        ("source,target,weight a,b,1 b,c,2", ["source (heading)", "target (heading)", "property"]),
        ("source,target,weight a,b,2", ["source (heading)", "target (heading)", "property"]),
        ("source,target,weight a,b,1.0", ["source (heading)", "target (heading)", "bookkeeping (all are equal)"]),
        ("source,target,weight a,b,x b,c,x", ["source (heading)", "target (heading)", "property"]),
        ("source,target,x a,,1 b,,2", ["key* (only unique column of names)", "empty", "literal"]),
        (
            "source,target,key a,b,1 b,c,2",
            ["source (heading)", "target (heading)", "bookkeeping (number of the edge)"],
        ),
        ("source,target,key a,b,1 b,c,1", ["source (heading)", "target (heading)", "property"]),
        (
            "source,target,type a,b,Directed b,c,Directed",
            ["source (heading)", "target (heading)", "bookkeeping (direction)"],
        ),
        ("source,target,type a,b,likes b,c,Directed", ["source (heading)", "target (heading)", "property"]),
        ("from,to,x a,b,pp b,c,qq", ["source (heading)", "target (heading)", "property"]),
        ("id,from,to 1,a,b 2,a,b", ["key* (heading)", "names", "names"]),
        ("from,to,name a,b,pp a,c,qq a,b,rr", ["names", "names", "key* (only unique column of names)"]),
        ("from,to,x,y a,b,pp,3 a,c,qq,3 a,b,rr,3", ["names", "names", "key* (only unique column of names)", "literal"]),
        ("from,to,x,y a,b,pp,3 a,b,pp,4", ["source (heading)", "target (heading)", "property", "property"]),
        ("from,to,x,y a,b,pp,3 a,b,,3 a,c,rr,3", ["source (heading)", "target (heading)", "property", "property"]),
        # Empty columns and row numbers.
        ("id,x,y 1,,a 2,,a", ["key* (heading)", "empty", "names"]),
        (
            "index,name,x 0,Ada,3 1,Bo,3",
            ["bookkeeping (row numbers of pandas)", "key* (only unique column of names)", "literal"],
        ),
        ("name,index,x Ada,1,3 Bo,2,3", ["key* (only unique column of names)", "literal", "literal"]),
        ("index,name,x a,Ada,3 b,Bo,3", ["key* (first unique column of names)", "name (heading)", "literal"]),
        ("uuid,name,x 1,pp,3 2,qq,3", ["key* (heading)", "name (heading)", "literal"]),
        ("name,hash,x pp,1,3 qq,1,3", ["key* (only unique column of names)", "bookkeeping", "literal"]),
        ("id,type,x Ada,Person,3 Mill,Firm,3", ["key* (heading)", "names", "literal"]),  # a type names nothing
        # Keys.
        ("id,name,x ,Ada,3 ,Bo,3", ["empty", "key* (only unique column of names)", "literal"]),
        ("x,y,z 3,a|b,p 4,c|d,p", ["key* (first column, which is unique)", "names", "names"]),
        (
            "desk,first_name,last_name,x Aa,Ada,Bo,3 Bb,Cy,Di,3",
            ["key* (only unique column of names)", "names", "names", "literal"],
        ),
        (
            "first_name,desk,last_name,x Ada,Aa,Bo,3 Cy,Bb,Di,3",
            ["name* (first name)", "names", "name* (last name)", "literal"],
        ),
        ("x,y,z 3,Ada,p 4,Bo,p", ["literal", "key* (only unique column of names)", "names"]),
        ("x,y,z 3,Ada,p 4,Bo,q", ["literal", "key* (first unique column of names)", "names"]),
        ("id,y,z 3,Ada,p 3,Ada,p", ["key* (heading)", "names", "names"]),
        ("film_code,y,z A1,pp,3 A2,pp,4", ["key* (heading)", "names", "literal"]),
        ("film_code,y,z A1,Ada,3 A1,Bo,4", ["literal", "key* (only unique column of names)", "literal"]),
        ("x,y,z A1,pp,3 A2,pp,3", ["key* (only unique column of codes)", "names", "literal"]),
        ("x,y 1,pp 2,pp", ["key* (first column, which is unique)", "names"]),
        ("x,y pp,1 pp,2 qq,1", ["key* (first column)", "literal"]),
        ("x,y pp,1 pp, qq,1", ["names*", "literal*"]),  # the second column has a gap
        ("p,q,r pp,1, pp,2,5 qq,1,6", ["names*", "literal*", "literal"]),
        ("p,q,r,s 1,pp,2.5,a 2,pp,2.5,a", ["key* (first column, which is unique)", "names", "literal", "names"]),
        (
            "a,b,c,d,e,f,g 1,x,x,x,x,1,5 1,x,x,x,x,2,5 2,x,x,x,x,2,5",
            ["literal*", *["names"] * 4, "literal*", "literal"],
        ),
        ("a,b,c,d,e,f,g 1,x,x,x,x,5,1 1,x,x,x,x,5,2 2,x,x,x,x,5,2", ["literal*", *["names*"] * 4, *["literal*"] * 2]),
        ("p,q,r 1,2.5,7 1,3.5,7 2,2.5,7", ["literal*", "literal*", "literal"]),
        ("p,q,r 1,2,7.5 1,2,7.5", ["literal*", "literal*", "literal*"]),
        # Names.
        ("id,title,x 1,pp,3 2,qq,3", ["key* (heading)", "name (heading)", "literal"]),
        ("id,title,x 1,pp,3 2,pp,3 3,pp,4", ["key* (heading)", "names", "literal"]),
        ("id,name,x 1,pp,3 2,pp,3 3,pp,4", ["key* (heading)", "name (heading)", "literal"]),
        ("id,x,y 1,pp,3 2,qq,3", ["key* (heading)", "name (first column of different names)", "literal"]),
        ("id,x,y 1,pp,3 2,pp,3", ["key* (heading)", "names", "literal"]),
        ("id,x,y 1,pp,3 2,,3", ["key* (heading)", "names", "literal"]),
        ("id,full_name,x 1,pp,3 2,qq,3", ["key* (heading)", "name (heading)", "literal"]),
        ("id,x_name,y_name 1,p,r 2,q,s", ["key* (heading)", "name (heading)", "names"]),
        ("id,x_name,t_name 1,p,r 2,q,s", ["key* (heading)", "names", "name (heading)"]),
        ("id,first_name,last_name 1,Ada,Bo 2,Cy,Di", ["key* (heading)", "name (first name)", "name (last name)"]),
        ("id,first_name,y 1,Ada,3 2,Cy,3", ["key* (heading)", "name (heading)", "literal"]),
        ("id,x_name,y 1,7,3 2,8,3", ["key* (heading)", "literal", "literal"]),  # a number is no name
        ("id,identifier,y 1,pp,3 2,qq,3", ["key* (heading)", "name (heading)", "literal"]),
        # Kinds of the others.
        ("id,name,alias 1,pp,a 2,qq,b", ["key* (heading)", "name (heading)", "alias"]),
        ("id,name,notes 1,pp,a 2,qq,b", ["key* (heading)", "name (heading)", "literal"]),
        ("id,name,notes_of 1,pp,a 2,qq,b", ["key* (heading)", "name (heading)", "names"]),
        ("id,name,parent 1,pp,2 2,qq,1", ["key* (heading)", "name (heading)", "link>t.key (heading of a role)"]),
        ("id,name,parent 1,pp,qq 2,qq,pp", ["key* (heading)", "name (heading)", "link>t.name (heading of a role)"]),
        ("id,name,t_id 1,pp,2 2,qq,1", ["key* (heading)", "name (heading)", "link>t.key (heading names the table)"]),
        ("id,name,old_boss 1,pp,2 2,qq,1", ["key* (heading)", "name (heading)", "link>t.key (heading of a role)"]),
        ("id,name,parent_firm 1,pp,2 2,qq,1", ["key* (heading)", "name (heading)", "link>t.key (heading of a role)"]),
        ("id,name,reports_to_id 1,pp,2 2,qq,1", ["key* (heading)", "name (heading)", "link>t.key (heading of a role)"]),
        ("id,name,my_boss_no 1,pp,2 2,qq,1", ["key* (heading)", "name (heading)", "link>t.key (heading of a role)"]),
        ("item,itemLabel,x q1,Ada,3 q2,Bo,4", ["key* (heading)", "name (heading)", "literal"]),
        # Neo4j.
        (
            ":ID,name:string,:LABEL,born:int 1,Ada,P;Q,1990 2,Bo,P,x",
            ["key* (heading)", "name (heading)", "type", "literal"],
        ),
        (
            ":ID,aka:string[],:IGNORE,alias 1,a;b,x,n 2,c,y,m",
            ["key* (heading)", "name (first column of different names)", "ignored", "alias"],
        ),
    ],
)
def test_headings_and_values_say_what_a_column_is(staged: Any, table: str, wanted: list[str]) -> None:
    assert kinds(staged, {"t.csv": table}) == wanted


NAMED = [f"N{letter}" for letter in "abcdefghij"]


@pytest.mark.parametrize(
    ("head", "values", "wanted"),
    [
        # Row numbers, nine of ten of which must differ.
        ("index,name,x", [(min(n, 8), NAMED[n], 5) for n in range(10)], "bookkeeping (row numbers of pandas)"),
        ("index,name,x", [(min(n, 7), NAMED[n], 5) for n in range(10)], "literal"),
        # Names of rows: nine of ten differ, or half of them under such a heading; beside names as ids, all of them.
        ("x,id,y", [(NAMED[min(n, 8)], n, 5) for n in range(10)], "name (first column of different names)"),
        ("x,id,y", [(NAMED[min(n, 7)], n, 5) for n in range(10)], "names"),
        ("x name,id,y", [(NAMED[min(n, 4)], n, 5) for n in range(10)], "name (heading)"),
        ("x name,id,y", [(NAMED[min(n, 3)], n, 5) for n in range(10)], "names"),
        ("my x name,id,y", [(NAMED[min(n, 4)], n, 5) for n in range(10)], "name (heading)"),
        ("title,id,y", [(NAMED[min(n, 4)] if n < 9 else "", n, 5) for n in range(10)], "name (heading)"),
        (
            "x,entity,y",
            [(NAMED[n], NAMED[-n], 5) for n in range(10)],
            "name (first column of different names)",
        ),
        ("x,entity,y", [(NAMED[min(n, 8)], NAMED[-n], 5) for n in range(10)], "names"),
        ("x name,entity,y", [(NAMED[min(n, 8)], NAMED[-n], 5) for n in range(10)], "name (heading)"),
        # Beside a number that is the key as the first column.
        ("y name,p,z name", [(NAMED[min(n, 8)], n, NAMED[min(n, 8)]) for n in range(10)], "names"),
    ],
)
def test_how_many_values_must_differ(staged: Any, head: str, values: Sequence[tuple[Any, ...]], wanted: str) -> None:
    rows = "\n".join(",".join(map(str, row)) for row in values)
    assert kinds(staged, {"t.csv": f"{head.replace(' ', '_')}\n{rows}"})[0].replace("*", "") == wanted


@pytest.mark.parametrize(("count", "wanted"), [(8, ["names", "names"]), (9, ["name (heading)", "names"])])
def test_the_first_of_nearly_unique_names_names_the_rows_of_a_number(
    staged: Any, count: int, wanted: list[str]
) -> None:
    rows = " ".join(f"{n},{NAMED[min(n, count - 1)]},{NAMED[min(n, count - 1)]}" for n in range(10))
    found = kinds(staged, {"t.csv": f"x,my_a_name,b_name {rows}"})
    assert found == ["key* (first column, which is unique)", *wanted]


def test_columns_of_layout_alone_tell_nothing(staged: Any) -> None:
    with pytest.raises(InputError, match=r"t\.csv: no column tells what a row is; give --id NAME, or --columns"):
        kinds(staged, {"t.csv": "created_at,updated_at 1,2 3,4"})


@pytest.mark.parametrize(
    ("table", "notes"),
    [
        ("id,y,z 1,Ada,3 ,Bo,4", []),  # a gap is no id that rows share
        ("id,y,z 1,Ada,3 1,Bo,4", ["'id' is the key by its heading, though rows share it: they are one entity"]),
        ("item,itemLabel,x q1,Ada,3 q2,Bo,4", []),
        ("item,itemLabel,x q1,Ada,3 q1,Ada,4", ["rows that share 'item' are one entity, with several values"]),
    ],
)
def test_rows_that_share_a_key_are_told(staged: Any, table: str, notes: list[str]) -> None:
    found = staged({"t.csv": table.replace(" ", "\n")})
    plan_sheets(found, BuildSettings(()), False)
    assert [sheet.reports[0].notes for sheet in found] == [notes]


def test_the_key_that_a_container_declares_goes_before_a_column_with_a_label(staged: Any) -> None:
    found = staged({"t.csv": "head,headLabel,no\nq8,Ann,1\nq9,Bo,2\n"})
    [sheet] = found
    sheet.reports[0].key = "no"
    plan_sheets(found, BuildSettings(()), False)
    assert [(column.kind, column.why) for column in sheet.columns] == [
        *(("names", ""), ("label", "heading"), ("key", "primary key")),
    ]


@pytest.mark.parametrize(
    ("other", "wanted"),
    [
        ("id,desk 1,pp 2,qq", "key* (only unique column of names)"),
        ("desk,size Aa,3 Bb,4", "link>b.key (heading of a key)"),  # its first column is a key, not a link to one
        ("id,size 1,3 2,4", "names"),
    ],
)
def test_a_column_that_another_table_has_is_a_key_before_first_and_last_names(
    staged: Any, other: str, wanted: str
) -> None:
    table = "first_name,last_name,desk,x Ada,Bo,Aa,3 Cy,Di,Bb,3"
    assert kinds(staged, {"a.csv": table, "b.csv": other})[2] == wanted


@pytest.mark.parametrize(
    ("nodes", "wanted"),
    [
        ("id,label a,Ada b,Bo", "source>nodes.key (heading)"),  # half of the ends
        ("id,label a,Ada x,Bo", "source (heading)"),
        ("id,label a,a b,b", "source>nodes.key (heading)"),  # by key where names are as good
        ("id,label 1,a 2,b", "source>nodes.name (heading)"),
    ],
)
def test_half_of_the_ends_of_edges_are_nodes(staged: Any, nodes: str, wanted: str) -> None:
    edges = "source,target,x a,b,1 b,c,2 c,d,3 d,a,4"
    assert kinds(staged, {"edges.csv": edges, "nodes.csv": nodes})[0] == wanted


def test_a_link_that_is_given_leaves_an_end_an_end(staged: Any) -> None:
    tables = {"edges.csv": "source,target a,b c,d", "nodes.csv": "id,label a,Ada b,Bo"}
    assert kinds(staged, tables, links={"source": "nodes"})[0] == "source>nodes.key (given)"


def test_a_heading_with_a_dot_is_linked_by_its_whole_name(staged: Any) -> None:
    tables = {"a.csv": "id,home.city,x 1,7,3 2,8,3", "films.csv": "no,title 7,pp 8,qq"}
    assert kinds(staged, tables, links={"home.city": "films"})[1] == "link>films.key (given)"


def test_a_given_link_whose_values_are_neither_keys_nor_names_is_one_by_key(staged: Any) -> None:
    tables = {"a.csv": "id,size 1,7.5 2,8.5", "films.csv": "no,title 7,pp 8,qq"}
    assert kinds(staged, tables, links={"size": "films"})[1] == "link>films.key (given)"


def test_flags_about_columns_say_nothing_where_all_files_are_of_facts(staged: Any) -> None:
    assert plan_sheets(staged({}), BuildSettings((), links={"x": "t"}, keys={"u": "id"}), False) == {"tables": {}}


@pytest.mark.parametrize(("skipped", "linked"), [(0, False), (1, True)])
def test_values_without_a_row_count_as_rows_where_rows_could_not_be_read(
    staged: Any, skipped: int, linked: bool
) -> None:
    rows = "".join(f"{n},{n}\n" for n in range(10))
    films = "".join(f"{n},N{n}\n" for n in range(8))
    for head, there in (("film_id", linked), ("size", False)):
        found = staged({"a.csv": f"id,{head}\n{rows}", "films.csv": f"no,title\n{films}"})
        first, second = found
        second.reports[0].skipped["rows"] = [skipped, "1", ""]
        plan_sheets(found, BuildSettings(()), False)
        assert (first.columns[1].kind == "link") is there


def test_of_three_links_the_third_is_a_property_of_the_fact(staged: Any) -> None:
    tables = {
        "a.csv": "film_id,shop_id,town_id 1,1,1 1,2,1 2,1,2",
        **{f"{name}s.csv": f"id,title,{name}_x 1,{name}a,5 2,{name}b,5" for name in ("film", "shop", "town")},
    }
    assert [kind.split(" ")[0] for kind in kinds(staged, tables)] == [
        *("source>films.key", "target>shops.key", "link>towns.key")
    ]


LINKED = {"a.csv": "id,{} 1,7 2,8 3,9", "films.csv": "no,title 7,pp 8,qq 9,rr"}


@pytest.mark.parametrize(
    ("heading", "wanted"),
    [
        ("film_id", "link>films.key (heading names the table)"),
        ("filmid", "link>films.key (heading names the table)"),
        ("film", "link>films.key (heading names the table)"),
        ("no", "link>films.key (heading of a key)"),
        ("fil_id", "link>films.key (heading begins the table's name)"),
        ("fi_id", "literal"),
        ("old_fil_id", "link>films.key (heading begins the table's name)"),
        ("fil_id_old", "literal"),
        ("size", "literal"),
        ("film_size", "literal"),
    ],
)
def test_a_heading_says_where_a_column_leads(staged: Any, heading: str, wanted: str) -> None:
    tables = {name: text.format(heading) for name, text in LINKED.items()}
    assert kinds(staged, tables)[1] == wanted


@pytest.mark.parametrize(
    ("values", "films", "wanted"),
    [
        ("7 8 9", "7,pp 8,qq 9,rr", "link>old_films.key (heading names the table)"),
        ("7.5 8.5 9.5", "7.5,pp 8.5,qq 9.5,rr", "literal"),  # a measure is no key
        ("x7 x8 x9", "7,pp 8,qq 9,rr", "names"),
        ("1917 1984 1999", "7,1917 8,1984 9,1999", "literal"),  # a number names nothing
        ("pp qq rr", "7,pp 8,qq 9,rr", "link>old_films.name (heading names the table)"),
    ],
)
def test_values_and_keys_are_of_one_type(staged: Any, values: str, films: str, wanted: str) -> None:
    rows = " ".join(f"{n},{value},5" for n, value in enumerate([*values.split(), *values.split()]))
    tables = {"a.csv": f"id,film,y {rows}", "old_films.csv": f"no,title {films}"}
    assert kinds(staged, tables)[1] == wanted


@pytest.mark.parametrize(("values", "told"), [("1 2 3", True), ("1 2 1", False), ("1 2 4", False)])
def test_three_values_that_are_all_keys_are_told(staged: Any, values: str, told: bool) -> None:
    rows = "".join(f"{n},{value}\n" for n, value in enumerate(values.split(), 7))
    found = staged({"a.csv": f"id,client_id\n{rows}", "b.csv": "id,name\n1,Ada\n2,Bo\n3,Cy\n"})
    plan_sheets(found, BuildSettings(()), False)
    assert any("are keys of b; if it leads there" in note for note in next(iter(found)).reports[0].notes) is told


@pytest.mark.parametrize(
    ("values", "films", "wanted"),
    [
        ("pp qq rr", "pp qq rr", "link>films.name (all values are names there)"),
        ("pp qq", "pp qq rr", "names"),
        ("pp qq rr ss", "pp qq rr", "names"),
    ],
)
def test_all_of_three_values_must_be_names_under_another_heading(
    staged: Any, values: str, films: str, wanted: str
) -> None:
    left = " ".join(f"{n},{v}" for n, v in enumerate(values.split() * 2))
    right = " ".join(f"{n},{v},5" for n, v in enumerate(films.split()))
    assert kinds(staged, {"a.csv": f"id,x {left}", "films.csv": f"id,title,y {right}"})[1].split(" (first")[0] == wanted


def test_flags_decide_before_anything_else(staged: Any) -> None:
    table = {"t.csv": "id,name,size,tag 1,pp,3,x 2,qq,4,y"}
    assert kinds(staged, table, id="size")[2] == "key* (given)"
    assert kinds(staged, table, columns=("size",))[2:] == ["literal", "ignored"]
    assert (
        kinds(staged, table, literal_columns=("tag",))[3]
        == kinds(staged, table, literal_columns=("4",))[3]
        == "literal"
    )
    assert kinds(staged, table, links={"size": "t"})[2] == "link>t.key (given)"
    assert kinds(staged, table, links={"t.size": "t"})[2] == "link>t.key (given)"
    with pytest.raises(InputError, match="'size' links to 'u', which is no table of this build"):
        kinds(staged, table, links={"size": "u"})
    with pytest.raises(InputError, match=r"links: no table has a column 'sise'\..*size"):
        kinds(staged, table, links={"sise": "t"})
    with pytest.raises(InputError, match="keys: 'u' is no table of this build"):
        kinds(staged, table, keys={"u": "id"})


def test_ids_of_several_tables_have_their_names_in_front(staged: Any) -> None:
    found = staged({"a.csv": "id,x\n1,3\n", "b.csv": "id,y\n1,4\n"})
    plan = plan_sheets(found, BuildSettings(()), True)
    assert [sheet.prefix for sheet in found] == ["a:", "b:"]
    told = "the ids of tables have the table's name in front, and are not the ids of files of triples"
    assert [sheet.reports[0].notes for sheet in found] == [[told], []]
    assert list(plan["tables"]) == ["a", "b"]
    [alone] = one = staged({"a.csv": "id,x\n1,3\n"})
    plan_sheets(one, BuildSettings(()), True)
    assert (alone.prefix, alone.reports[0].notes) == ("", [])


# Facts or entities


def test_three_columns_with_a_heading_of_a_key_are_entities(make: Make) -> None:
    made = make({"a.csv": "movieId,title,genres\n1,Toy Story,Comedy|Fantasy\n2,Heat,Crime\n"})
    assert made.facts() == {
        ("Toy Story", "genres", "Comedy"),
        ("Toy Story", "genres", "Fantasy"),
        ("Heat", "genres", "Crime"),
    }


def test_three_columns_of_other_types_than_their_first_row_are_entities(make: Make) -> None:
    made = make({"a.csv": "country,capital,population\nFrance,Paris,68000000\nLatvia,Riga,1800000\n"})
    assert ("France", "capital", "Paris") in made.facts()
    assert ("Latvia", "population", "1800000") in made.facts()


def test_three_columns_without_evidence_stay_facts(make: Make) -> None:
    made = make({"a.csv": "Ada,knows,Bo\nBo,likes,Cy\nCy,sees,Di\n"})
    assert made.facts() == {("Ada", "knows", "Bo"), ("Bo", "likes", "Cy"), ("Cy", "sees", "Di")}


def test_a_word_of_a_heading_that_comes_again_below_is_no_heading(make: Make) -> None:
    made = make({"a.csv": "name,knows,Bo\nBo,likes,name\nname,sees,Di\n"})
    assert ("name", "knows", "Bo") in made.facts()


def test_a_first_row_that_stands_alone_heads_more_than_three_columns(make: Make) -> None:
    made = make({"a.csv": "film,director,genre,studio\nAlien,Scott,horror,Fox\nBrazil,Gilliam,satire,Universal\n"})
    assert ("Alien", "director", "Scott") in made.facts()


def test_codes_of_one_form_are_no_headings(make: Make) -> None:
    rows = "Q1,R5,Q2,who is it\nQ3,R7,Q4,what is it\nQ5,R9,Q6,where is it\n"
    with pytest.raises(InputError, match="give --header if the first line is one"):
        make({"a.csv": rows})


def test_two_columns_that_may_be_either_are_refused_with_both_flags(make: Make) -> None:
    rows = {"a.csv": "France,Paris\nLatvia,Riga\nNorway,Oslo\n"}
    with pytest.raises(InputError, match=r"give --header if it is one .* or --no-header"):
        make(rows)
    assert ("Latvia", "Paris", "Riga") in make(rows, out="headed", header=True).facts()
    assert ("France", "edge", "Paris") in make(rows, out="bare", header=False).facts()


@pytest.mark.parametrize("order", [(0, 1, 2), (1, 0, 2)])
def test_a_relation_in_the_first_column_is_noticed(make: Make, order: tuple[int, int, int]) -> None:
    people = [f"person{n}" for n in range(9)]
    facts = [(people[n], ("knows", "likes")[n % 2], people[(n * 5 + 1) % 9]) for n in range(9)]
    made = make({"a.csv": "".join(",".join(fact[place] for place in order) + "\n" for fact in facts)})
    assert made.facts() == set(facts)
    assert bool(made.notes) == (order != (0, 1, 2))


# Keys and names


def test_the_heading_says_the_key_before_the_order_does(make: Make) -> None:
    made = make({"a.csv": "name,id,city,age\nAda,7,Riga,31\nBo,9,Oslo,40\n"})
    assert made.read_as("id") == "key (heading)"
    assert made.graph.labels(["7", "9"]) == ["Ada", "Bo"]


def test_the_first_unique_column_of_names_is_the_key_and_the_plan_says_so(make: Make) -> None:
    made = make({"a.csv": "year,film,director\n1979,Alien,Scott\n1985,Brazil,Gilliam\n1986,Legend,Scott\n"})
    assert made.read_as("film") == "key (only unique column of names)"


def test_a_code_beside_a_name_is_a_key_and_a_fact(make: Make) -> None:
    made = make({"a.csv": "code,country,capital,area\nLV,Latvia,Riga,64\nNO,Norway,Oslo,385\n"})
    assert made.graph.labels(["LV"]) == ["Latvia"]
    assert ("Latvia", "code", "LV") in made.facts()


def test_first_and_last_names_together_name_a_person(make: Make) -> None:
    made = make({"a.csv": "employeeID,lastName,firstName,city\n1,Davolio,Nancy,Seattle\n2,Fuller,Andrew,Tacoma\n"})
    assert ("Nancy Davolio", "city", "Seattle") in made.facts()


def test_columns_that_only_together_tell_rows_apart_are_told(make: Make) -> None:
    made = make({"a.csv": "time,sensor,value\n10:00,S1,3.5\n10:00,S2,4.5\n11:00,S1,3.5\n"})
    assert ("10:00, S2", "value", "4.5") in made.facts()
    assert "'time', 'sensor' together name a row" in made.notes[0]


@pytest.mark.parametrize(
    ("rows", "day"),
    [
        ("day,temp,wind\n2024/01/05,5,3\n2024/01/06,5,3\n", "2024-01-05"),
        ('Date,Close,Volume\n"Jan 5, 2024",5,3\n"Jan 6, 2024",5,4\n', "2024-01-05"),
        ("date,temp\n20240131,5\n20240201,5\n", "2024-01-31"),
        ("time,temp,wind\n5.1.2024 10:00,5,3\n5.1.2024 11:00,5,3\n", "2024-01-05T10:00:00"),
    ],
)
def test_days_in_any_form_are_the_key_of_their_rows(make: Make, rows: str, day: str) -> None:
    made = make({"a.csv": rows})
    assert day in {subject for subject, _, _ in made.facts()}
    assert not any("no single column" in note for note in made.notes)


@pytest.mark.parametrize("title", ["title", "company", "username"])
def test_a_unique_column_before_first_and_last_names_is_the_key(make: Make, title: str) -> None:
    rows = "Emma,Jane,Austen,1815\nTess,Thomas,Hardy,1891\n"
    made = make({"a.csv": f"{title},first name,last name,year\n{rows}"})
    assert {subject for subject, _, _ in made.facts()} == {"Emma", "Tess"}


def test_a_key_that_another_table_has_is_one_beside_first_and_last_names(make: Make) -> None:
    users = "first_name,last_name,username,club\nAda,Holm,adah,Chess\nBo,Birk,bob,Chess\n"
    posts = "post_id,username,likes\np1,adah,3\np2,bob,5\np3,adah,1\n"
    made = make({"users.csv": users, "posts.csv": posts})
    assert made.read_as("username").startswith("key")
    (linked,) = (c["as"] for c in made.reading[1]["columns"] if c["column"] == "username")
    assert linked.startswith("link"), linked


# Links


def test_a_whole_number_that_is_some_id_stays_a_number(make: Make) -> None:
    made = make({"a.csv": "id,name,age,city\n30,Ada,31,Riga\n31,Bo,40,Oslo\n"})
    assert ("Ada", "age", "31") in made.facts()


def test_a_code_without_its_table_stays_a_code(make: Make) -> None:
    made = make({"a.csv": "id,name,group_id\n1,Ada,2\n2,Bo,1\n"})
    assert [type(t.object) for t in made.triples] == [Literal, Literal]


def test_a_heading_that_names_a_table_links_to_its_rows(make: Make) -> None:
    products = "productID,productName,supplierID,price\n1,Chai,9,18.5\n2,Tea,8,19.5\n"
    suppliers = "supplierID,companyName,city\n8,Bolt,Oslo\n9,Alfa Foods,Berlin\n"
    made = make({"products.csv": products, "suppliers.csv": suppliers})
    assert ("Chai", "supplierID", "Alfa Foods") in made.facts()
    assert made.graph.find(["Chai"]) == [["products:1"]]


def test_a_heading_alone_links_nothing_where_the_values_are_elsewhere(make: Make) -> None:
    products = "id,name,supplier_id\n1,Chai,90\n2,Tea,80\n3,Rum,9\n"
    made = make({"products.csv": products, "suppliers.csv": "id,name,city\n8,Bolt,Oslo\n9,Alfa,Rome\n"})
    assert ("Chai", "supplier_id", "90") in made.facts()
    assert made.read_as("supplier_id") == "integer"


def test_rows_that_could_not_be_read_do_not_break_a_link(make: Make) -> None:
    suppliers = "id,name,city\n8,Bolt,Oslo\n9,Alfa,Rome,too much\n"
    made = make({"products.csv": "id,name,supplier_id\n1,Chai,8\n2,Tea,9\n", "suppliers.csv": suppliers})
    assert ("Chai", "supplier_id", "Bolt") in made.facts()


def test_a_stem_that_names_the_own_table_links_to_its_rows(make: Make) -> None:
    made = make({"pokemon_species.csv": "id,name,evolves_from_species_id,color_id\n1,Ivy,,2\n2,Venus,1,1\n"})
    assert ("Venus", "evolves_from_species_id", "Ivy") in made.facts()
    assert ("Venus", "color_id", "1") in made.facts()


def test_words_of_roles_link_to_the_own_table_by_key_and_by_name(make: Make) -> None:
    by_key = make({"a.csv": "id,name,reportsTo\n1,Ada,\n2,Bo,1\n3,Cy,1\n"})
    assert ("Bo", "reportsTo", "Ada") in by_key.facts()
    by_name = make({"a.csv": "id,name,manager\n1,Ada,\n2,Bo,Ada\n3,Cy,Ada\n"}, out="names")
    assert ("Bo", "manager", "Ada") in by_name.facts()
    assert by_name.graph.find(["Ada"]) == [["1"]]


def test_whole_numbers_with_gaps_link_as_pandas_writes_them(make: Make) -> None:
    made = make({"a.csv": "id,name,boss\n1,Ada,\n2,Bo,1.0\n3,Cy,1.0\n"})
    assert ("Bo", "boss", "Ada") in made.facts()


def test_a_key_that_is_missing_somewhere_breaks_no_link(make: Make) -> None:
    tables = {
        "a.csv": "id,name,b_id\n1,Ada,5\n2,Bo,6\n3,Cy,9\n",
        "b.csv": "id,name,city\n5,X,Riga\n6,Y,Oslo\n,Z,Rome\n",
    }
    made = make(tables, links={"b_id": "b.csv"})
    assert ("Ada", "b_id", "X") in made.facts()
    assert made.graph.match([Pattern("a:3", "b_id")])[0][0].object == '"9"^^xsd:integer'
    assert "1 value of 'b_id' is no single row of b; they stay what they are" in made.notes


def test_two_files_of_one_name_are_two_tables(make: Make, tmp_path: Path) -> None:
    for folder, text in (("x", "id,name,kind\n1,Chai,tea\n"), ("y", "id,name,city\n1,Alfa,Oslo\n")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "items.csv").write_text(text)
    made = make({}, files=("x/items.csv", "y/items.csv"))
    assert made.graph.find(["Chai", "Alfa"]) == [["items:1"], ["items-2:1"]]
    assert made.notes == ["is called 'items-2', since another table is called 'items'"]


def test_flags_choose_keys_and_links(make: Make) -> None:
    tables = {"a.csv": "no,tag,owner\n1,x,5\n2,y,6\n", "b.csv": "id,name,nick\n5,Ada,A\n6,Bo,B\n"}
    made = make(tables, keys={"a.csv": "tag"}, links={"owner": "b.csv"})
    assert ("x", "owner", "Ada") in made.facts()
    with pytest.raises(InputError, match="no table has a column 'onwer'"):
        make(tables, out="other", links={"onwer": "b.csv"})
    with pytest.raises(InputError, match=r"'c\.csv' is no table of this build"):
        make(tables, out="other", keys={"c.csv": "tag"})


# Several tables


def test_the_same_numbers_in_two_tables_are_two_things(make: Make) -> None:
    made = make(
        {"a.csv": "id,name,kind\n1,Chai,tea\n2,Rum,spirit\n", "b.csv": "id,name,city\n1,Alfa,Oslo\n2,Bolt,Rome\n"}
    )
    assert made.graph.find(["Chai", "Alfa"]) == [["a:1"], ["b:1"]]


def test_a_single_table_keeps_its_keys(make: Make) -> None:
    assert make({"a.csv": "id,name,kind\n1,Chai,tea\n"}).graph.find(["Chai"]) == [["1"]]


def test_tables_with_the_same_headings_are_parts_of_one(make: Make) -> None:
    made = make({"a1.csv": "id,name,boss\n1,Ada,\n", "a2.csv": "id,name,boss\n2,Bo,1\n"})
    assert made.facts() == {("Bo", "boss", "Ada")}
    assert made.graph.find(["Bo"]) == [["2"]]


CUSTOMERS = "id,name,city\n1,Ada,Riga\n2,Bo,Oslo\n3,Cy,Rome\n"


def test_equal_headings_with_the_same_ids_for_other_names_are_two_tables(make: Make) -> None:
    tables = {"customers.csv": CUSTOMERS, "suppliers.csv": "id,name,city\n1,Alfa,Bern\n2,Bolt,Kiel\n"}
    made = make(tables)
    assert made.graph.find(["Ada", "Alfa"]) == [["customers:1"], ["suppliers:1"]]
    assert ("Alfa", "city", "Bern") in made.facts()
    assert "2 of the 2 values of 'id' that they share stand for rows with other values" in made.notes[0]
    assert make(tables, out="one", id="id").graph.find(["Alfa"]) == [["1"]]


def test_parts_with_corrections_and_repeated_rows_are_one_table(make: Make) -> None:
    rows = "".join(f"{n},N{n},Riga\n" for n in range(10, 30))
    made = make({"jan.csv": f"id,name,city\n{rows}", "feb.csv": f"id,name,city\n{rows}30,New,Oslo\n"})
    assert made.graph.find(["N10", "New"]) == [["10"], ["30"]]
    corrected = make({"jan.csv": f"id,name,city\n{rows}", "feb.csv": f"id,name,city\n{rows.replace('N12', 'M12')}"})
    assert corrected.graph.find(["M12"]) == [["12"]]
    assert any("its files are parts of one table" in note for note in corrected.notes)


def test_equal_headings_that_may_be_either_are_refused_with_both_flags(make: Make) -> None:
    tables = {"jan.csv": CUSTOMERS, "feb.csv": "id,name,city\n3,Cyd,Rome\n4,Di,Bern\n5,Ed,Kiel\n"}
    with pytest.raises(InputError, match=r"give --key jan\.csv=id --key feb\.csv=id .* or --id id"):
        make(tables)
    apart = make(tables, out="apart", keys={"jan.csv": "id", "feb.csv": "id"})
    assert apart.graph.find(["Cy", "Cyd"]) == [["jan:3"], ["feb:3"]]
    assert make(tables, out="one", id="id").graph.find(["Di"]) == [["4"]]
    assert make(tables, out="key", keys={"feb.csv": "id"}).graph.find(["Di"]) == [["4"]], (
        "the key of one is that of all"
    )


def test_rows_without_names_are_compared_by_most_of_their_columns(make: Make) -> None:
    jan = "id,day,shop,sum\n1,Mon,A,5\n2,Tue,B,6\n3,Wed,A,7\n"
    made = make({"jan.csv": jan, "feb.csv": "id,day,shop,sum\n1,Fri,A,9\n2,Sat,B,4\n3,Sun,C,3\n"})
    assert made.graph.find(["Mon", "Fri"]) == [["jan:1"], ["feb:1"]]
    again = make({"jan.csv": jan, "feb.csv": jan.replace("Mon", "Sun")}, out="again")
    assert {triple.subject for triple in again.triples} == {"1", "2", "3"}


def test_a_plan_tells_whether_equal_headings_are_one_table(make: Make, tmp_path: Path) -> None:
    from srtk_plugin_local.snapshot.plan_file import plan_text

    tables = {"customers.csv": CUSTOMERS, "suppliers.csv": "id,name,city\n1,Alfa,Bern\n2,Bolt,Kiel\n"}
    apart, one = make(tables), make(tables, out="one", id="id")
    for name, made in (("apart", apart), ("one", one)):
        (tmp_path / f"{name}.yaml").write_text(plan_text(made.built.meta.build["plan"]))
        assert make(tables, out=f"{name}2", plan=str(tmp_path / f"{name}.yaml")).content == made.content
    grown = make({**tables, "suppliers.csv": "id,name,city\n1,Alfa,Bern\n9,Cord,Kiel\n10,Dorn,Ulm\n11,Erk,Ulm\n"})
    assert grown.graph.find(["Cord"]) == [["suppliers:9"]], "the stored plan has two tables"


def test_tables_of_a_database_with_equal_headings_are_tables_of_their_own(tmp_path: Path) -> None:
    database = sqlite3.connect(tmp_path / "shop.db")
    for table, name in (("customers", "Ada"), ("suppliers", "Alfa")):
        database.execute(f"CREATE TABLE {table} (id INTEGER PRIMARY KEY, name TEXT, city TEXT)")
        database.execute(f"INSERT INTO {table} VALUES (1, '{name}', 'Riga')")
    database.commit()
    database.close()
    assert Made(tmp_path, ["shop.db"], {}).graph.find(["Ada", "Alfa"]) == [["customers:1"], ["suppliers:1"]]


def test_a_table_of_two_links_is_a_fact_between_their_rows(make: Make) -> None:
    tables = {
        "orders.csv": "orderID,shipCity,freight\n10,Riga,1.5\n11,Oslo,2.5\n",
        "products.csv": "productID,productName,price\n1,Chai,3\n2,Rum,4\n",
        "order-details.csv": "orderID,productID,quantity\n10,1,12\n10,2,5\n11,1,7\n",
    }
    made = make(tables)
    found = {t: made.graph.qualifiers([t])[0] for t in made.triples if t.relation == "order details product"}
    assert {(t.subject, t.object): q[0] for t, q in found.items()} == {
        ("orders:10", "products:1"): ("quantity", '"12"^^xsd:integer'),
        ("orders:10", "products:2"): ("quantity", '"5"^^xsd:integer'),
        ("orders:11", "products:1"): ("quantity", '"7"^^xsd:integer'),
    }


def test_an_end_whose_row_is_missing_is_a_thing_all_the_same(make: Make) -> None:
    edges = "Source,Target\n1,2\n2,3\n1,3\n"
    made = make({"nodes.csv": "Id,Label,Group\n1,Ada,x\n2,Bo,x\n", "edges.csv": edges})
    assert {(t.subject, t.object) for t in made.triples if t.relation == "edge"} == {("1", "2"), ("2", "3"), ("1", "3")}
    assert not any(isinstance(t.object, Literal) for t in made.triples)


def test_edges_take_the_ids_of_the_nodes_beside_them_by_key_or_name(make: Make) -> None:
    nodes = {"nodes.csv": "Id,Label,Group\n1,Ada,x\n2,Bo,x\n"}
    by_key = make({**nodes, "edges.csv": "Source,Target,Type,Weight\n1,2,Directed,3\n"})
    assert ("Ada", "edge", "Bo") in by_key.facts()
    by_name = make({**nodes, "edges.csv": "source,target\nAda,Bo\n"}, out="names")
    assert ("Ada", "edge", "Bo") in by_name.facts()
    assert by_name.graph.find(["Ada"]) == [["1"]]


def test_a_weight_is_a_property_of_the_edge_and_a_direction_no_relation(make: Make) -> None:
    made = make({"a.csv": "Source,Target,Type,Weight\nAda,Bo,Undirected,5\nBo,Cy,Undirected,7\n"})
    assert made.facts() == {("Ada", "edge", "Bo"), ("Bo", "edge", "Cy")}
    assert made.graph.qualifiers(made.triples) == [(("Weight", '"5"^^xsd:integer'),), (("Weight", '"7"^^xsd:integer'),)]


def test_equal_weights_are_left_out_and_told_unless_they_are_kept(make: Make) -> None:
    edges = {"a.csv": "Source,Target,Weight\nAda,Bo,1.0\nBo,Cy,1.0\n"}
    made = make(edges)
    assert made.graph.qualifiers(made.triples) == [(), ()]
    assert "the Weight of all edges is 1.0; it was left out (--keep Weight reads it)" in made.notes
    assert make(edges, out="kept", keep=("Weight",)).graph.qualifiers(made.triples)[0] == (
        ("Weight", '"1"^^xsd:integer'),
    )


@pytest.mark.parametrize(("weight", "count"), [("1", 0), ("3", 1)])
def test_the_weight_of_a_single_edge_is_a_qualifier_unless_it_is_1(make: Make, weight: str, count: int) -> None:
    made = make({"a.csv": f"Source,Target,Weight\nAda,Bo,{weight}\n"})
    assert len(made.graph.qualifiers(made.triples)[0]) == count


def test_another_constant_property_of_edges_is_kept(make: Make) -> None:
    made = make({"a.csv": "Source,Target,since\nAda,Bo,1999\nBo,Cy,1999\n"})
    assert [len(found) for found in made.graph.qualifiers(made.triples)] == [1, 1]


def test_rows_that_repeat_an_edge_are_one_fact_with_all_qualifiers_and_are_counted(make: Make) -> None:
    made = make({"a.csv": "Source,Target,since\nAda,Bo,1999\nBo,Cy,2001\nAda,Bo,2005\n"})
    assert [t for t in made.triples if t.subject == "Ada"] == [Triple("Ada", "edge", "Bo")]
    assert made.graph.qualifiers([Triple("Ada", "edge", "Bo")])[0] == (
        ("since", '"1999"^^xsd:integer'),
        ("since", '"2005"^^xsd:integer'),
    )
    assert any(note.startswith("1 rows repeat an edge of another row") for note in made.notes)
    once = make({"a.csv": "Source,Target,since\nAda,Bo,1999\nAda,Cy,2001\nBo,Cy,2001\n"}, out="once")
    assert not any("repeat an edge" in note for note in once.notes)


def test_nodes_and_edges_in_one_table_of_apoc_are_both_read(make: Make) -> None:
    head = "_id,_labels,name,born,_start,_end,_type,since\n"
    made = make({"a.csv": f"{head}1,:Person:Actor,Ada,1815,,,,\n2,:Firm,Mill,,,,,\n,,,,1,2,founded,1999\n"})
    kinds = {("Ada", "rdf:type", "Person"), ("Ada", "rdf:type", "Actor"), ("Mill", "rdf:type", "Firm")}
    assert made.facts() == {("Ada", "founded", "Mill"), ("Ada", "born", "1815"), *kinds}
    founded = made.graph.match([Pattern(relation="founded")])[0]
    assert made.graph.qualifiers(founded) == [(("since", '"1999"^^xsd:integer'),)]


def test_a_journey_with_a_number_is_an_entity(make: Make) -> None:
    made = make({"a.csv": "train,from,to,departs\nIC 1,Riga,Valga,10:00\nIC 2,Oslo,Bergen,11:30\n"})
    assert ("IC 1", "from", "Riga") in made.facts()


# Types and missing values


@pytest.mark.parametrize(
    ("values", "separator", "name"),
    [
        (["1", "20", "-3"], ",", "integer"),
        (["1.0", "2.0"], ",", "integer"),
        (["1.5", "2"], ",", "decimal"),
        (["1,5", "2,25"], ";", "decimal comma"),
        (["1.250,5", "2,25"], ";", "decimal comma"),
        (["1,250", "12,500"], ";", "decimal comma"),
        (["1,250", "12,500"], ",", "grouped number"),
        (["1,250,000", "2"], ",", "grouped number"),
        (["1e5", "2.5"], ",", "double"),
        (["2020-01-31", "2021-12-01"], ",", "date"),
        (["2020-01-31 00:00:00", "2021-12-01 00:00:00.000"], ",", "date"),
        (["2020-01-31 10:30:00", "2021-12-01T00:00:00Z"], ",", "dateTime"),
        (["31.1.2020", "1.12.2021"], ";", "date D.M.Y"),
        (["31/1/2020", "1/12/2021"], ",", "date D/M/Y"),
        (["1/31/2020", "12/1/2021"], ",", "date M/D/Y"),
        (["1/2/2020", "2/1/2021"], ",", "text"),
        (["true", "FALSE"], ",", "boolean"),
        (["007", "123"], ",", "code"),
        (["10 kg", "3.5 kg"], ",", "number in kg"),
        (["10 kg", "500 g"], ",", "quantity"),
        (["BUS 101", "BUS 102"], ",", "names"),  # courses: no unit
        (["$1.50", "-$2", "$-3", "$ 1,007"], ",", "number in $"),
        (["EUR 12", "12.5 EUR"], ",", "number in EUR"),
        (["1,50 €", "1.200,00 €"], ";", "decimal comma in €"),
        (["12 %", "3%"], ",", "number in %"),
        (["$5", "€3"], ",", "quantity"),
        (["(500.00)", "20.00"], ",", "grouped number"),
        (["\u22124.3", "17.7", "+1.5"], ",", "grouped number"),
        (["+1.5%", "\u20130.5%"], ",", "number in %"),
        (["(5)", "(6)"], ",", "names"),
        (["605 802", "1\u202f709\u00a0037"], ",", "grouped number"),
        (["1 200,50", "3,5"], ";", "decimal comma"),
        (["601 234 567", "555 123 456"], ",", "phone number"),
        (["601 234 567", "17 000"], ",", "grouped number"),
        (["12:30", "7:05"], ",", "time"),
        (["8:15 pm", "12:05AM", "23:59:59.5"], ",", "time"),
        (["25:10", "26:30"], ",", "quantity"),
        (["yes", "No", "y", "N"], ",", "yes or no"),
        (["yes", "No", "Y", "true", "1", "0"], ",", "yes or no"),
        (["true"] * 19 + ["no"], ",", "yes or no"),
        (["1/2/99", "31/12/00"], ",", "text"),
        (["1.2.99", "31.12.00"], ",", "text"),
        (["NO", "NO"], ",", "text"),
        (["Y", "yes"], ",", "text"),
        (["0", "1"], ",", "integer"),
        (["Riga", "Oslo"], ",", "names"),
        (["1", "two", "3"], ",", "mixed"),
    ],
)
def test_a_type_is_found_from_the_whole_column(values: list[str], separator: str, name: str) -> None:
    assert type_of(values, separator)[0] is type_by_name(name)


@pytest.mark.parametrize(
    ("most", "odd", "count", "name"),
    [
        ("7", "x", 20, "integer"),  # one of 20 values may be of another type
        ("7", "x", 19, "mixed"),
        ("2020-01-31", "x", 20, "date"),
        ("2020-01-31", "x", 19, "quantity"),
        ("1,5", "x", 20, "decimal comma"),
        ("1,5", "x", 19, "quantity"),
        ("yes", "no", 19, "yes or no"),
        ("12:30", "x", 20, "time"),
        ("12:30", "x", 19, "quantity"),
        ("7 kg", "x", 20, "number in kg"),
        ("7 kg", "x", 19, "quantity"),
        ("7 kg", "8 g", 20, "number in kg"),  # one of 20 may have another unit
        ("7 kg", "8 g", 19, "quantity"),
        ("1/31/2020", "x", 20, "date M/D/Y"),
        ("1/31/2020", "x", 19, "quantity"),
        ("1/2/99", "x", 20, "text"),
        ("1/2/99", "x", 19, "quantity"),
        ("1.709.037", "x", 20, "decimal comma"),
        ("1.709.037", "x", 19, "quantity"),
    ],
)
def test_a_type_forgives_one_value_of_twenty(most: str, odd: str, count: int, name: str) -> None:
    assert type_of([most] * (count - 1) + [odd], ";")[0].name == name


@pytest.mark.parametrize(
    ("values", "name"),
    [
        (["1", "2", "x", "y"], "mixed"),  # half of them numbers
        (["1", "x", "y"], "names"),
        (["9 kg"] * 9 + ["x"], "quantity"),  # nine of ten begin with a digit
        (["9 kg"] * 8 + ["x", "y"], "names"),
    ],
)
def test_numbers_among_texts_are_told_by_their_share(values: list[str], name: str) -> None:
    assert type_of(values, ",")[0].name == name


@pytest.mark.parametrize(
    ("cells", "literal"),
    [
        ("1,50|2,25", '"1.5"^^xsd:decimal'),
        ("1.250,5|2,5", '"1250.5"^^xsd:decimal'),
        ("31.1.2020|1.2.2021", '"2020-01-31"^^xsd:date'),
        ("31/1/2020|1/2/2021", '"2020-01-31"^^xsd:date'),
        ("1/31/2020|2/1/2021", '"2020-01-31"^^xsd:date'),
        ("1.0|2.0", '"1"^^xsd:integer'),
        ("+5|-7", '"5"^^xsd:integer'),
        ("1.500|2", '"1.5"^^xsd:decimal'),
        ("2020-01-31 10:30:00|2021-01-01 00:00:00", '"2020-01-31T10:30:00"^^xsd:dateTime'),
        ("10 kg|12 kg", '"10"^^xsd:decimal'),
        ("10 kg|500 g", '"10 kg"'),
        ("1.200,50 €|3 €", '"1200.5"^^xsd:decimal'),
        ("($1,200.50)|$3", '"-1200.5"^^xsd:decimal'),
        ("-3 %|4 %", '"-3"^^xsd:decimal'),
        ("(500.00)|20.00", '"-500"^^xsd:decimal'),
        ("\u22124.30|+5", '"-4.3"^^xsd:decimal'),
        ("\u2212$1,200.50|$3", '"-1200.5"^^xsd:decimal'),
        ("605 802|1 709 037", '"605802"^^xsd:decimal'),
        ("8:15|12:30:05", '"08:15:00"^^xsd:time'),
        ("8:15 pm|12:30 AM", '"20:15:00"^^xsd:time'),
        ("12:30:07 AM|8:15 pm", '"00:30:07"^^xsd:time'),
        ("12:30 pm|8:15 pm", '"12:30:00"^^xsd:time'),
        ("yes|no", '"true"^^xsd:boolean'),
        ("N|Y", '"false"^^xsd:boolean'),
    ],
)
def test_a_literal_has_the_canonical_form_of_its_value(make: Make, cells: str, literal: str) -> None:
    first, second = cells.split("|")
    made = make({"a.csv": f"id;name;amount\n1;Ada;{first}\n2;Bo;{second}\n"})
    assert made.graph.match([Pattern("1", "amount")])[0][0].object == literal


@pytest.mark.parametrize(
    ("title", "cells", "literal"),
    [
        ("is_active", ("1", "0"), '"true"^^xsd:boolean'),
        ("hasChildren", ("0.0", "1.0"), '"false"^^xsd:boolean'),
        ("sold_flag", ("1", "1"), '"true"^^xsd:boolean'),
        ("goals", ("1", "0"), '"1"^^xsd:integer'),
        ("is_active", ("1", "2"), '"1"^^xsd:integer'),
        ("duration", ("3:45", "4:05"), '"3:45"'),
        ("phone", ("605 802", "17 000"), '"605 802"'),
        ("departs", ("3:45", "4:05"), '"03:45:00"^^xsd:time'),
    ],
)
def test_a_heading_says_what_zeros_ones_and_colons_are(
    make: Make, title: str, cells: tuple[str, str], literal: str
) -> None:
    made = make({"a.csv": f"id,name,{title}\n1,Ada,{cells[0]}\n2,Bo,{cells[1]}\n"})
    assert made.graph.match([Pattern("1", title)])[0][0].object == literal


def test_words_of_missing_values_stay_in_facts_and_are_counted_unless_they_are_given(make: Make) -> None:
    facts = {"a.tsv": "Ada\tknows\tNULL\nBo\tknows\tCy\nnan\tknows\tNan\nNan\tknows\tBo\n"}
    made = make(facts)
    assert len(made.triples) == 4
    assert made.notes == [
        "2 facts have a word of a missing value, such as NULL; they stay, and --missing WORD,... leaves them out"
    ]
    given = make(facts, out="given", missing=("null",))
    assert given.facts() == {("Bo", "knows", "Cy"), ("nan", "knows", "Nan"), ("Nan", "knows", "Bo")}
    assert given.reading[0]["skipped"]["facts with a word of a missing value"][0] == 1
    with pytest.raises(InputError, match=r"a\.tsv: by --missing: fill the cell"):
        make(facts, out="strict", missing=("null",), strict=True)


@pytest.mark.parametrize("word", ["NULL", "nan", "NaN", "None", "N/A", r"\N", "null"])
def test_words_of_missing_values_are_no_values_and_are_counted(make: Make, word: str) -> None:
    made = make({"a.csv": f"id,name,city\n1,Ada,{word}\n2,Bo,Oslo\n"})
    assert made.facts() == {("Bo", "city", "Oslo")}
    assert made.notes == ["1 word of a missing value, such as NULL, holds no value (city)"]


def test_a_dash_is_missing_among_numbers_and_words_but_not_among_marks(make: Make) -> None:
    made = make({"a.csv": "id,name,size,mark,city\n1,Ada,5,-,Oslo\n2,Bo,-,x,--\n"})
    assert made.facts() == {
        *(("Ada", "size", "5"), ("Ada", "mark", "-"), ("Bo", "mark", "x"), ("Ada", "city", "Oslo")),
    }
    assert made.notes == ["2 words of a missing value, such as NULL, hold no value (size, city)"]


def test_a_table_of_hundreds_of_columns_needs_little_memory(make: Make) -> None:
    titles = [f"q{n}" for n in range(300)]
    rows = "".join(f"{row},P{row},{','.join(str(row * n % 7) for n in range(300))}\n" for row in range(1, 4))
    assert len(make({"a.csv": f"id,name,{','.join(titles)}\n{rows}"}, memory="500MB").facts()) == 900


def test_the_semicolon_of_a_character_of_html_separates_no_values(make: Make) -> None:
    made = make({"a.csv": "id,name,shop\n1,Ada,Pen &amp; Co\n2,Bo,Ink &amp; Co\n"})
    assert made.read_as("shop") == "names of things"


def test_dots_before_three_digits_are_thousands_in_a_file_with_semicolons(make: Make) -> None:
    made = make({"a.csv": "city;people\nRiga;605.802\nOslo;1.709.037\n"})
    assert made.facts() == {("Riga", "people", "605802"), ("Oslo", "people", "1709037")}
    doubtful = make({"a.csv": "city;people\nRiga;605.802\nOslo;709.037\n"}, out="doubtful")
    assert doubtful.facts() == {("Riga", "people", "605802"), ("Oslo", "people", "709037")}
    assert "such as 605.802 with thousands; decimal would fit, too" in doubtful.notes[0]
    english = make({"a.csv": "city,km\nRiga,605.802\nOslo,709.037\n"}, out="english")
    assert english.facts() == {("Riga", "km", "605.802"), ("Oslo", "km", "709.037")}


def test_errors_of_excel_are_missing(make: Make) -> None:
    assert make({"a.csv": "id,name,city\n1,Ada,#REF!\n2,Bo,Oslo\n"}).facts() == {("Bo", "city", "Oslo")}


def test_a_word_above_prices_is_a_heading(make: Make) -> None:
    made = make({"a.csv": "product,price\nPen,$1.50\nInk,$7.00\n"})
    assert made.facts() == {("Pen", "price", "1.5"), ("Ink", "price", "7")}


@pytest.mark.parametrize(("title", "name"), [("price", "price ($)"), ("Price ($)", "Price ($)")])
def test_a_unit_is_shown_in_the_plan_and_in_the_name_of_the_relation(make: Make, title: str, name: str) -> None:
    made = make({"a.csv": f"id,name,{title}\n1,Pen,$1.50\n2,Ink,$7.00\n"})
    assert made.read_as(title) == "number in $"
    assert made.graph.labels([title]) == [name]


def test_a_plan_reads_prices_as_texts(make: Make, tmp_path: Path) -> None:
    plan = tmp_path / "plan.yaml"
    columns = "{product: {as: key}, price: {as: text}, size: {as: number in cm}}"
    plan.write_text(f"tables: {{a: {{files: [a.csv], key: [product], columns: {columns}}}}}\n")
    made = make({"a.csv": "product,price,size\nPen,$1.50,5 cm\nInk,$7.00,\n"}, plan=str(plan))
    assert made.facts() == {("Pen", "price", "$1.50"), ("Ink", "price", "$7.00"), ("Pen", "size", "5")}


def test_na_is_missing_among_texts_where_it_is_among_numbers_but_not_as_a_name_or_a_code(make: Make) -> None:
    rows = "1,Ada,5,blue,DE\n2,NA,NA,NA,NA\n3,Bo,7,red,FR\n"
    made = make({"a.csv": f"id,name,size,colour,land\n{rows}"})
    colours = {fact for fact in made.facts() if fact[1] == "colour"}
    assert colours == {("Ada", "colour", "blue"), ("Bo", "colour", "red")}
    assert ("NA", "land", "NA") in made.facts()
    assert made.graph.match([Pattern(None, "size")])[0][0] == Triple("1", "size", Literal.make("5", "xsd:integer"))
    assert made.notes == ["2 words of a missing value, such as NULL, hold no value (size, colour)"]


def test_na_is_a_code_where_half_of_the_values_are(make: Make) -> None:
    made = make({"a.csv": "id,name,size,land\n1,Ada,5,DE\n2,Cy,NA,NA\n3,Bo,7,red\n"})
    assert ("Cy", "land", "NA") in made.facts()


def test_na_is_a_text_where_no_number_lacks(make: Make) -> None:
    made = make({"a.csv": "id,name,size,colour\n1,Ada,5,NA\n2,Bo,6,red\n"})
    assert ("Ada", "colour", "NA") in made.facts()


def test_a_person_called_nan_stays_in_a_column_of_names(make: Make) -> None:
    made = make({"nodes.csv": "Id,Label,House\nNan,Nan,Stark\nBran,Bran,Stark\n"})
    assert ("Nan", "House", "Stark") in made.facts()
    assert "are names, though they are words of a missing value" in made.notes[0]


def test_words_of_missing_values_can_be_chosen(make: Make) -> None:
    made = make({"a.csv": "id,name,city\n1,Ada,unknown\n2,Bo,NULL\n"}, missing=("unknown",))
    assert made.facts() == {("Bo", "city", "NULL")}


def test_a_value_of_another_type_stays_a_text_and_is_counted(make: Make) -> None:
    rows = "".join(f"{n},N{n},{n * 10}\n" for n in range(1, 40))
    made = make({"a.csv": f"id,name,size\n{rows}40,N40,large\n"})
    assert made.graph.match([Pattern("40", "size")])[0][0].object == '"large"'
    assert made.graph.match([Pattern("3", "size")])[0][0].object == '"30"^^xsd:integer'
    assert "column 'size': 1 of 40 values are no integer; they stay texts" in made.notes


@pytest.mark.parametrize(("odd", "type_"), [({1, 2}, "integer"), ({1, 2, 3}, "mixed")])
def test_a_type_of_a_sample_that_one_of_twenty_of_all_rows_lacks_is_none(
    make: Make, monkeypatch: pytest.MonkeyPatch, odd: set[int], type_: str
) -> None:
    monkeypatch.setattr(sheets, "_SAMPLE", 10)  # each fourth row
    rows = "".join(f"{n},N{n},{'x' if n in odd else n}\n" for n in range(40))
    made = make({"a.csv": f"id,name,size\n{rows}"})
    assert made.read_as("size") == type_
    assert any("2 of 40 values are no integer" in note for note in made.notes) is (type_ == "integer")


def test_bookkeeping_is_left_out_and_told_unless_it_is_kept(make: Make) -> None:
    table = {"a.csv": "id,name,created_at\n1,Ada,1766629718\n2,Bo,1766629719\n"}
    made = make({"a.csv": table["a.csv"].replace("created_at", "city,created_at").replace(",17", ",Riga,17")})
    assert {r for _, r, _ in made.facts()} == {"city"}
    assert made.reading[0]["unread"] == ["created_at"]
    assert ("Ada", "created_at", "1766629718") in make(table, out="kept", keep=("created_at",)).facts()


# What decides where several signs are there


@pytest.mark.parametrize(
    ("head", "rows", "left_out"),
    [
        ("Unnamed: 0", ("0", "1", "2"), True),
        ("index", ("0", "1", "2"), True),
        ("level_0", ("0", "1", "2"), True),
        ("column 1", ("0", "1", "2"), True),
        ("index", ("0", "0", "0"), False),
        ("index", ("x", "y", "z"), False),
        ("number", ("0", "1", "2"), False),
    ],
)
def test_row_numbers_of_pandas_are_no_values(make: Make, head: str, rows: Sequence[str], left_out: bool) -> None:
    lines = "".join(f"{row},N{n},{n + 7}\n" for n, row in enumerate(rows))
    made = make({"a.csv": f"{head},name,size\n{lines}"})
    assert (head in made.reading[0]["unread"]) is left_out
    assert ("N1", "size", "8") in made.facts()


def test_row_numbers_of_pandas_stand_in_the_first_column_and_may_be_a_given_key(make: Make) -> None:
    made = make({"a.csv": "name,index,size\nAda,0,5\nBo,1,6\n"})
    assert ("Ada", "index", "0") in made.facts()
    given_ = make({"a.csv": "index,name,size\n0,Ada,5\n1,Bo,6\n"}, out="given", keys={"a.csv": "index"})
    assert given_.read_as("index") == "key (given)"


@pytest.mark.parametrize(("length", "left_out"), [(99, True), (98, False)])
def test_a_long_text_of_hexadecimal_digits_is_no_value(make: Make, length: int, left_out: bool) -> None:
    made = make({"a.csv": f"id,name,picture\n1,Ada,0x{'ab' * 49 + 'c' * (length - 98)}\n2,Bo,0X{'cd' * 60}\n"})
    assert ("picture" in made.reading[0]["unread"]) is left_out


def test_the_number_of_an_edge_is_no_property_of_it(make: Make) -> None:
    rows = [(n, f"s{n}", f"t{n}") for n in range(10)]
    for head, count in (("id", 10), ("edge id", 10), ("number", 10)):
        lines = "".join(f"{n},{s},{t}\n" for n, s, t in rows)
        made = make({"a.csv": f"{head},Source,Target\n{lines}"}, out=head)
        qualified = [found for found in made.graph.qualifiers(made.triples) if found]
        assert len(qualified) == (0 if head != "number" else count)
    # Nine of ten must differ.
    for differ, qualifiers in ((9, 0), (8, 10)):
        lines = "".join(f"{min(n, differ - 1)},{s},{t}\n" for n, s, t in rows)
        made = make({"a.csv": f"id,Source,Target\n{lines}"}, out=f"differ{differ}")
        assert sum(map(bool, made.graph.qualifiers(made.triples))) == qualifiers


def test_a_time_that_tells_the_rows_apart_is_their_key(make: Make) -> None:
    made = make({"a.csv": "departure,from,to\n07:00,Riga,Oslo\n07:30,Riga,Oslo\n"})
    assert made.facts() == {
        (f"07:{minute}:00", *end) for minute in ("00", "30") for end in (("from", "Riga"), ("to", "Oslo"))
    }


def test_only_a_column_called_type_is_a_direction(make: Make) -> None:
    made = make({"a.csv": "Source,Target,Type,Mode\nAda,Bo,Undirected,directed\nBo,Cy,Undirected,directed\n"})
    assert made.graph.qualifiers(made.triples)[0] == (("Mode", '"directed"'),)
    named = make({"a.csv": "Source,Target,Type,x\nAda,Bo,likes,1\nBo,Cy,knows,2\n"}, out="named")
    assert named.facts() == {("Ada", "likes", "Bo"), ("Bo", "knows", "Cy")}


@pytest.mark.parametrize(
    ("table", "form"),
    [
        ("from,to,cost\nRiga,Oslo,5\nOslo,Rome,6\n", "edges"),
        ("name,from,to\nIC 1,Riga,Oslo\nIC 2,Oslo,Rome\n", "entities"),
        ("train no,from,to,cost\nIC 1,Riga,Oslo,5\nIC 2,Oslo,Rome,6\n", "entities"),
        ("train,from,to,cost\nFast,Riga,Oslo,5\nSlow,Oslo,Rome,6\n", "entities"),
        ("train,from,to,cost\nFast,Riga,Oslo,5\nFast,Riga,Oslo,6\n", "edges"),
        ("train,source,target,cost\nFast,Riga,Oslo,5\nSlow,Oslo,Rome,6\n", "edges"),
        ("train,from,to\nFast,Riga,Oslo\nSlow,Oslo,Rome\n", "entities"),
        ("train,from,to\nIC-1,Riga,Oslo\nIC-2,Oslo,Rome\n", "entities"),
        ("from,to,train\nRiga,Oslo,IC-1\nOslo,Rome,IC-2\n", "edges"),
        ("departure,from,to\n07:00,Riga,Oslo\n07:30,Oslo,Rome\n", "entities"),
        ("from,to,leaves\nRiga,Oslo,2024-03-05 07:00\nRiga,Oslo,2024-03-06 07:00\n", "entities"),
        ("year,from,to,people\n2001,Riga,Oslo,5\n2002,Riga,Oslo,5\n", "entities"),
        ("from,to,since\nAda,Bo,2001-02-03\nBo,Cy,2003-04-05\n", "edges"),
        ("source,target,day\nAda,Bo,2001-02-03\nBo,Cy,2003-04-05\n", "edges"),
    ],
)
def test_ends_of_a_journey_are_those_of_an_edge_where_nothing_names_it(make: Make, table: str, form: str) -> None:
    made = make({"a.csv": table})
    assert made.built.meta.build["plan"]["tables"]["a"]["rows"] == form


@pytest.mark.parametrize("weight", ["3", "2.5", "2,5", "1.250,5", "1e5"])
def test_equal_weights_say_nothing_however_they_are_written(make: Make, weight: str) -> None:
    made = make({"a.csv": f"Source;Target;Weight\nAda;Bo;{weight}\nBo;Cy;{weight}\n"})
    assert made.graph.qualifiers(made.triples) == [(), ()]


@pytest.mark.parametrize(
    ("weight", "count"),
    [
        *(("1", 0), ("1.0", 0), ("1,0", 0), ("2", 1), ("x", 1)),
        *(("1|2", 2), ("1.250,5", 1), ("1 000", 1), ("1 kg", 0), ("5 kg", 1), ("+1", 0)),
    ],
)
def test_a_weight_of_one_says_nothing(make: Make, weight: str, count: int) -> None:
    made = make({"a.csv": f"Source;Target;Weight\nAda;Bo;{weight}\n"})
    assert len(made.graph.qualifiers(made.triples)[0]) == count


def test_the_key_is_the_heading_that_is_unique_or_exact_and_else_a_column_of_names_or_codes(make: Make) -> None:
    assert make({"a.csv": "film id,film,x\n1,Alien,5\n1,Brazil,6\n"}, out="1").read_as("film") == (
        "key (only unique column of names)"
    )
    exact = make({"a.csv": "id,film,x\n1,Alien,5\n1,Brazil,6\n2,Legend,7\n"}, out="2")
    assert exact.read_as("id") == "key (heading)"
    assert exact.notes == ["'id' is the key by its heading, though rows share it: they are one entity"]
    codes = make({"a.csv": "size,tag,mark\n5,A-1,B-1\n6,A-2,B-2\n"}, out="3")
    assert codes.read_as("tag") == "key (first unique column of codes)"
    assert make({"a.csv": "film,size\nAlien,5\nBrazil,6\nLegend,6\n"}, out="4").read_as("film") == (
        "key (only unique column of names)"
    )


def test_the_column_that_names_the_table_names_its_rows(make: Make) -> None:
    table = "id,shop name,person name,x\n1,A,Ada,5\n2,B,Bo,6\n"
    assert make({"persons.csv": table}).graph.labels(["1"]) == ["Ada"]
    assert make({"shops.csv": table}, out="shops").graph.labels(["1"]) == ["A"]
    assert make({"others.csv": table}, out="others").graph.labels(["1"]) == ["A"]


@pytest.mark.parametrize(
    ("head", "values", "named"),
    [
        ("name", ("A", "A", "A", "A"), True),  # a name is one whatever it is
        ("title", ("A", "A", "B", "B"), True),  # half of them differ
        ("title", ("A", "A", "A", "A"), False),
        ("shop title", ("A", "A", "B", "B"), True),
        ("shop title", ("A", "A", "A", "B"), True),
        ("shop title", ("A", "A", "A", "A"), False),
        ("shop", ("A", "B", "C", "D"), True),
        ("shop", ("A", "B", "C", "C"), False),
        ("shop", ("A", "B", "C", ""), False),
    ],
)
def test_a_name_differs_from_row_to_row(make: Make, head: str, values: Sequence[str], named: bool) -> None:
    rows = "".join(f"{n},{value},7\n" for n, value in enumerate(values, 1))
    made = make({"a.csv": f"id,{head},size\n{rows}"})
    assert made.read_as(head).startswith("name (") is named


def test_first_and_last_names_stand_in_their_order_wherever_the_columns_are(make: Make) -> None:
    made = make({"a.csv": "id,surname,x,given name\n1,Lovelace,5,Ada\n2,Hopper,6,Grace\n"})
    assert made.graph.labels(["1", "2"]) == ["Ada Lovelace", "Grace Hopper"]
    alone = make({"a.csv": "id,surname,x\n1,Lovelace,5\n2,Hopper,6\n"}, out="alone")
    assert alone.graph.labels(["1"]) == ["Lovelace"]


def test_a_key_of_several_words_names_its_rows_itself(make: Make) -> None:
    whole = make({"a.csv": "entity,shop name,x\nAda Lovelace,A,5\nGrace Hopper,B,6\n"})
    assert whole.graph.labels(["Ada Lovelace"]) == ["Ada Lovelace"]
    short = make({"a.csv": "entity,shop name,x\nAda,A,5\nGrace,B,6\n"}, out="short")
    assert short.graph.labels(["Ada"]) == ["A"]


def test_a_literal_of_the_settings_and_a_list_name_nothing(make: Make) -> None:
    table = {"a.csv": "id,shop,club,x\n1,A,C,5\n2,B,D,6\n"}
    assert make(table).read_as("shop") == "name (first column of different names)"
    for literal in ("shop", "2"):
        made = make(table, out=literal, literal_columns=(literal,))
        assert (made.read_as("shop"), made.read_as("club")) == ("names", "name (first column of different names)")


LETTERS = "abcdefghijklmnopqrst"
SHOPS = "id,name,city\n" + "".join(f"{n},N{letter},Riga\n" for n, letter in enumerate(LETTERS, 1))


@pytest.mark.parametrize(
    ("head", "known", "unknown", "linked"),
    [
        ("shop_id", 9, 1, True),
        ("shop_id", 8, 1, False),
        ("shop", 9, 1, True),
        ("shop id", 9, 1, True),
        ("shopid", 9, 1, True),
        ("place_id", 10, 0, False),
        ("id_shop", 10, 0, True),
        ("home_shop_id", 10, 0, True),
        ("shop_id_old", 10, 0, False),
    ],
)
def test_nine_of_ten_values_under_the_name_of_a_table_are_links(
    make: Make, head: str, known: int, unknown: int, linked: bool
) -> None:
    values = [*range(1, known + 1), *range(91, 91 + unknown)]
    rows = "".join(f"{n},P{n},{value}\n" for n, value in enumerate(values, 1))
    made = make({"people.csv": f"id,name,{head}\n{rows}", "shops.csv": SHOPS})
    assert made.read_as(head).startswith("link to shops") is linked


@pytest.mark.parametrize(
    ("head", "values", "linked"),
    [
        ("shop", ["Na", "Nb", "x", "y"], True),  # half of the names under the name of the table
        ("shop", ["Na", "x", "y"], False),
        ("seller", ["Na", "Nb", "Nc"], True),  # all of at least three
        ("seller", ["Na", "Nb", "Na"], False),
        ("seller", ["Na", "Nb", "Nc", "x"], False),
        ("seller", [*(f"N{letter}" for letter in LETTERS[:19]), "x"], True),
        ("seller", [*(f"N{letter}" for letter in LETTERS[:18]), "x"], False),
    ],
)
def test_names_are_links_where_enough_of_them_name_a_row(
    make: Make, head: str, values: Sequence[str], linked: bool
) -> None:
    rows = "".join(f"{n},Sale {n},{value}\n" for n, value in enumerate(values, 1))
    made = make({"sales.csv": f"id,name,{head}\n{rows}", "shops.csv": SHOPS})
    assert made.read_as(head).startswith("link to shops") is linked


def test_a_number_links_by_the_heading_of_another_key_or_by_a_role_of_its_own_rows(make: Make) -> None:
    tables = {
        "a.csv": "isbn,name,sku\n1,Ada,21\n2,Bo,22\n",
        "b.csv": "sku,name,city\n21,X,Riga\n22,Y,Oslo\n",
    }
    assert make(tables).read_as("sku") == "link to b (heading of a key)"
    own = {"a.csv": "id,name,part_of,lead_id,next\n1,Ada,,2,2\n2,Bo,1,1,1\n"}
    made = make(own, out="own")
    assert made.read_as("part_of") == made.read_as("lead_id") == "link to a (heading of a role)"
    assert made.read_as("next") == "integer"


@pytest.mark.parametrize(
    ("head", "linked"), [("shop", False), ("shop_id", True), ("old_shop", True), ("shopid", True), ("size", False)]
)
def test_the_name_of_the_own_table_alone_is_no_link_to_its_rows(make: Make, head: str, linked: bool) -> None:
    rows = "".join(f"{n},N{letter},{n % 9 + 1}\n" for n, letter in enumerate(LETTERS, 1))
    made = make({"shops.csv": f"id,name,{head}\n{rows}"})
    assert made.read_as(head).startswith("link to shops") is linked


def test_flags_for_links_name_a_column_of_one_file_or_of_all(make: Make) -> None:
    tables = {
        "a.csv": "id,name,x\n1,Ada,5\n2,Bo,6\n",
        "b.csv": "id,name,x,y\n5,Cy,1,Ada\n6,Di,2,Bo\n",
    }
    one = make(tables, links={"a.csv.x": "b"})
    assert ("Ada", "x", "Cy") in one.facts()
    assert ("Cy", "x", "1") in one.facts()
    both = make(tables, out="both", links={"x": "b.csv"})
    assert ("Ada", "x", "Cy") in both.facts()
    assert make(tables, out="names", links={"y": "a"}).facts() >= {("Cy", "y", "Ada"), ("Di", "y", "Bo")}
    with pytest.raises(InputError, match=r"'x' links to 'c', which is no table of this build"):
        make(tables, out="c", links={"x": "c"})
    keyless = {**tables, "c.csv": "k,l,m\nA,B,1\nA,B,1\n"}
    with pytest.raises(InputError, match=r"c: has no key for 'x' to link to; give --key c=COLUMN"):
        make(keyless, out="keyless", links={"a.csv.x": "c"})


@pytest.mark.parametrize(
    ("table", "key", "note"),
    [
        ("year,town,x\n1999,A,5\n2000,A,5\n", ["year"], ""),
        ("who,what\nAda,tea\nAda,rum\nBo,tea\n", ["who"], "rows with the same 'who' are one entity"),
        ("a,b,c\nx,p,1\nx,q,1\ny,p,1\n", ["a", "b"], "'a', 'b' together name a row"),
        ("a,b,c\nx,p,1\nx,q,1\nx,p,2\n", ["b", "c"], "'b', 'c' together name a row"),
        ("a,b,c,d\nx,p,1,5\nx,p,2,5\nx,q,1,5\ny,p,1,5\n", ["a", "b", "c"], "'a', 'b', 'c' together"),
        ("a,b,c\nx,p,1\nx,p,1\n", ["a", "b", "c"], "some rows are the same in all columns: each is one entity"),
    ],
)
def test_without_a_key_the_fewest_columns_that_tell_rows_apart_are_one(
    make: Make, table: str, key: Sequence[str], note: str
) -> None:
    made = make({"t.csv": table}, header=True)
    assert made.built.meta.build["plan"]["tables"]["t"]["key"] == list(key)
    assert any(note in said for said in made.notes) is bool(note)


def test_the_meaning_of_the_other_columns_is_by_heading_type_and_setting(make: Make) -> None:
    head = "id,name,aka,club,short description,size"
    table = {"a.csv": f"{head}\n1,Ada,A,Riga,fast,5\n2,Bo,B,Oslo,slow,6\n"}
    made = make(table)
    wanted = {"aka": "other names", "club": "names of things", "short description": "names", "size": "integer"}
    assert {title: made.read_as(title) for title in wanted} == wanted
    assert made.graph.find(["A"]) == [["1"]]
    by_number = make(table, out="number", literal_columns=("4",))
    assert by_number.read_as("club") == "names"
    chosen = make(table, out="chosen", id="id", columns=("club", "6"))
    assert {r for _, r, _ in chosen.facts()} == {"club", "size"}


def test_headings_of_neo4j_say_types_lists_and_what_is_ignored(make: Make) -> None:
    head = "id:ID,name,size:float,on:date,good:boolean,tags:string[],x:IGNORE,aliases:string[],note,:LABEL"
    row = "1,Ada,1.5,2020-01-02,true,a;b,no,Addie;A.,7,Person;Woman"
    made = make({"a.csv": f"{head}\n{row}\n"})
    objects = {(t.relation, t.object) for t in made.triples}
    assert objects == {
        ("size", '"1.5"^^xsd:double'),
        ("on", '"2020-01-02"^^xsd:date'),
        ("good", '"true"^^xsd:boolean'),
        ("tags", '"a"'),
        ("tags", '"b"'),
        ("note", '"7"^^xsd:integer'),
        ("rdf:type", "Person"),
        ("rdf:type", "Woman"),
    }
    assert made.graph.find(["Addie", "A."]) == [["1"], ["1"]]
    assert made.notes == []
    split = make({"a.csv": "id:ID,name,tags:string[],:LABEL\n1,Ada,a|b,P|W\n"}, out="split", split="|")
    assert {(t.relation, t.object) for t in split.triples} == {
        ("tags", '"a"'),
        ("tags", '"b"'),
        ("rdf:type", "P"),
        ("rdf:type", "W"),
    }


@pytest.mark.parametrize(
    ("common", "other", "count", "form"),
    [
        (10, 1, 10, "one"),  # a tenth may be corrections
        (10, 2, 10, "refused"),
        (10, 9, 10, "two"),  # nine of ten are different things
        (10, 8, 10, "refused"),
        (5, 5, 10, "two"),  # half of the keys are common
        (4, 4, 10, "refused"),
        (0, 0, 10, "one"),
    ],
)
def test_equal_headings_are_one_table_or_two_by_the_names_of_common_keys(
    make: Make, common: int, other: int, count: int, form: str
) -> None:
    first = {n: f"N{n}" for n in range(count)}
    second = {n: f"N{n}" for n in range(count - common, 2 * count - common)}
    for n in list(second)[:other]:
        second[n] = f"M{n}"
    tables = {
        f"{name}.csv": "id,name,city\n" + "".join(f"{n},{text},Riga\n" for n, text in rows.items())
        for name, rows in (("jan", first), ("feb", second))
    }
    if form == "refused":
        with pytest.raises(InputError, match=f"{other} of the {common} values of 'id' that they share stand for"):
            make(tables)
    else:
        made = make(tables)
        assert made.graph.find(["N0"]) == [["jan:0" if form == "two" else "0"]]
        told = f"has the headings of feb.csv, but {other} of the {common} values of 'id' that they share stand for"
        assert any(told in note for note in made.notes) is (form == "two")


def test_rows_differ_by_a_column_that_ends_with_name(make: Make) -> None:
    jan = "id,full name,day,shop\n1,Ada,Mon,A\n2,Bo,Tue,B\n3,Cy,Wed,C\n"
    feb = jan.replace("Ada", "Di").replace("Bo", "Ed").replace("Cy", "Flo")
    assert make({"jan.csv": jan, "feb.csv": feb}).graph.find(["Ada", "Di"]) == [["jan:1"], ["feb:1"]]


@pytest.mark.parametrize(("differ", "two"), [(2, True), (1, False)])
def test_rows_without_names_differ_where_more_than_half_of_their_columns_do(make: Make, differ: int, two: bool) -> None:
    jan = "id,day,shop\n1,Mon,A\n2,Tue,B\n3,Wed,C\n"
    feb = jan.replace("Mon", "Thu").replace("Tue", "Fri").replace("Wed", "Sat")
    feb = feb.replace(",A", ",D").replace(",B", ",E").replace(",C", ",F") if differ == 2 else feb
    made = make({"jan.csv": jan, "feb.csv": feb})
    assert (len(made.reading) > 1 and len(made.built.meta.build["plan"]["tables"]) == 2) is two


@pytest.mark.parametrize(
    ("values", "separator", "why"),
    [
        (["1,250", "12,500"], ";", "its numbers were read as decimal comma; grouped number would fit, too"),
        (["1,250", "12,500"], ",", "its numbers were read as grouped number; decimal comma would fit, too"),
        (["1/2/2020", "2/1/2021"], ",", "its dates may be D/M/Y or M/D/Y, so they stay texts"),
        (["$5", "€3"], ",", "its numbers have several units ($, €), so they stay texts"),
        (
            ["1 t", "1 kg", "1 g", "1 mg", "1 lb", "1 oz"],
            ",",
            "its numbers have several units (g, kg, lb, mg, oz), so they stay texts",
        ),
        (["(5)", "6"], ",", "its numbers in brackets were read as negative, such as (5)"),
        (["1/2/99"], ",", "its years have two digits, so its dates stay texts"),
        (["605 802"], ",", ""),
        (["1,5", "2,25"], ";", ""),
        (["31/1/2020"], ",", ""),
        ([], ",", ""),
    ],
)
def test_a_type_that_may_be_another_is_said(values: list[str], separator: str, why: str) -> None:
    assert type_of(values, separator)[1] == why


@pytest.mark.parametrize(
    ("values", "name"),
    [
        (["x" * 101] * 2, "text"),
        (["x" * 100] * 2, "names"),
        (["x" * 199, "y"], "names"),
        (["x" * 200, "y"], "text"),
        (["9a"] * 9 + ["x"], "quantity"),
        (["2020-01-31"] * 19 + ["x"], "date"),
        (["yes"] * 19 + ["x"], "text"),
        (["1,5"] * 19 + ["x,"], "decimal comma"),
        (["31/1/2020"] * 19 + ["x"], "date D/M/Y"),
        (["31/1/2020"] * 18 + ["x"], "quantity"),
    ],
)
def test_long_texts_name_nothing_and_one_of_twenty_is_forgiven(values: list[str], name: str) -> None:
    assert type_of(values, ";")[0].name == name


@pytest.mark.parametrize("table", ["name\nAda\nBo\n", "id,name\n1,Ada\n2,Bo\n"])
def test_a_table_of_names_alone_is_told_and_beside_edges_it_names_their_ends(make: Make, table: str) -> None:
    said = "holds names alone and no fact, so nothing can be asked; add a column or a table that says more"
    assert said in make({"nodes.csv": table}).notes
    start, end = ("1", "2") if "id" in table else ("Ada", "Bo")
    made = make({"nodes.csv": table, "edges.csv": f"source,target\n{start},{end}\n"}, out="both")
    assert said not in made.notes
    assert {(s, o) for s, _, o in made.facts()} == {("Ada", "Bo")}


# The plan as a file, and in the snapshot


def test_a_plan_is_changed_and_given_back(make: Make, tmp_path: Path) -> None:
    from srtk_plugin_local.snapshot.plan_file import plan_text

    table = {"a.csv": "id,name,size,city\n1,Ada,5,Riga\n2,Bo,7,Oslo\n"}
    made = make(table)
    text = plan_text(made.built.meta.build["plan"])
    (tmp_path / "plan.yaml").write_text(text)
    assert make(table, out="same", plan=str(tmp_path / "plan.yaml")).content == made.content
    (tmp_path / "other.yaml").write_text(text.replace("as: integer", "as: text"))
    other = make(table, out="other", plan=str(tmp_path / "other.yaml"))
    assert other.graph.match([Pattern("1", "size")])[0][0].object == '"5"'
    (tmp_path / "wrong.yaml").write_text(text.replace("as: integer", "as: numbre"))
    with pytest.raises(InputError, match=r"tables\.a\.columns\.size: is 'numbre'; choose as: key"):
        make(table, out="wrong", plan=str(tmp_path / "wrong.yaml"))
    for entry, said in (
        ("{columns: {}, zero: 1, extra: 2}", r"tables\.a\.extra: is no entry of a plan"),
        (
            "{columns: {size: {as: integer, zero: 1, extra: 2}}}",
            r"tables\.a\.columns\.size\.extra: is no entry of a col",
        ),
        ("{columns: {}, rows: some}", r"tables\.a\.rows: is 'some'; choose"),
        ("{rows: entities}", r"tables\.a: must be a mapping with `columns`"),
        ("{columns: {size: integer}}", r"columns\.size: is 'integer'; choose as"),
    ):
        (tmp_path / "wrong.yaml").write_text(f"tables: {{a: {entry}}}")
        with pytest.raises(InputError, match=said):
            make(table, out="wrong", plan=str(tmp_path / "wrong.yaml"))


def test_a_given_plan_of_other_columns_names_the_first_that_is_not_there(make: Make, tmp_path: Path) -> None:
    columns = "{id: {as: key}, name: {as: name}, sise: {as: integer}, zzz: {as: text}}"
    (tmp_path / "plan.yaml").write_text(f"tables: {{a: {{files: [a.csv], rows: entities, columns: {columns}}}}}")
    with pytest.raises(InputError, match=r"a\.csv has no column 'sise'\. .*size"):
        make({"a.csv": "id,name,size\n1,Ada,5\n2,Bo,7\n"}, plan=str(tmp_path / "plan.yaml"))


def test_a_stored_plan_whose_key_repeats_or_whose_column_is_gone_is_made_anew(make: Make) -> None:
    make({"a.csv": "code,name,age\n1,Ada,30\n2,Bo,31\n"})
    again = make({"a.csv": "code,name,age\n1,Ada,30\n2,Bo,31\n1,Cy,32\n"})
    assert "was planned anew, since its key no longer tells its rows apart" in again.notes
    other = make({"a.csv": "code,name,size\n1,Ada,x\n2,Bo,y\n"})
    assert (other.read_as("size"), [note for note in other.notes if "before" in note]) == ("names of things", [])


def test_a_growing_file_does_not_flip_a_column(make: Make) -> None:
    first = make({"a.csv": "id,name,code\n1,Ada,17\n2,Bo,18\n"})
    assert first.read_as("code") == "integer"
    grown = make({"a.csv": "id,name,code\n1,Ada,17\n2,Bo,18\n3,Cy,x9\n4,Di,y\n"})
    assert grown.read_as("code") == "integer"
    assert make({"a.csv": "id,name,code\n1,Ada,17\n2,Bo,18\n3,Cy,x9\n4,Di,y\n"}, out="new").read_as("code") == "mixed"
    assert not any("as when its graph was built before" in note for note in first.notes)
    told = "was read as when its graph was built before ('code' as integer, though its values would be mixed); --plan"
    assert sum(note.startswith(told) for note in grown.notes) == 1


@pytest.mark.parametrize(
    "flags",
    [{}, {"id": "id"}, {"links": {"next": "a"}}, {"id": "id", "columns": ("code",)}, {"literal_columns": ("code",)}],
)
def test_a_flag_about_columns_goes_before_the_stored_plan(make: Make, flags: dict[str, Any]) -> None:
    make({"a.csv": "id,name,code,next\n1,Ada,17,2\n2,Bo,18,1\n"})
    grown = {"a.csv": "id,name,code,next\n1,Ada,17,2\n2,Bo,18,1\n3,Cy,x9,1\n4,Di,y,2\n"}
    assert make(grown, **flags).read_as("code") == ("mixed" if flags else "integer")


def test_a_graph_of_the_cache_keeps_the_plan_of_a_file_that_grew_alone(make: Make) -> None:
    place = "0123456789ab-"
    make({"a.csv": "id,name,code\n1,Ada,17\n2,Bo,18\n"}, out=place + "0" * 24)
    grown = make({"a.csv": "id,name,code\n1,Ada,17\n2,Bo,18\n3,Cy,x9\n4,Di,y\n"}, out=place + "1" * 24)
    assert grown.read_as("code") == "integer"
    corrected = make({"a.csv": "id,name,code\n1,Ada,x7\n2,Bo,y8\n3,Cy,x9\n4,Di,y\n"}, out=place + "2" * 24)
    assert corrected.read_as("code") == "names of things"
    assert not any("was read as when" in note for note in corrected.notes)


def test_the_stored_plan_keeps_the_order_of_the_file(make: Make) -> None:
    made = make({"b.csv": "id,name,size,city\n1,Ada,5,Riga\n2,Bo,7,Oslo\n", "a.csv": "sku,name,age\n1,X,2\n2,Y,3\n"})
    tables = made.built.meta.build["plan"]["tables"]
    assert [list(entry["columns"]) for entry in tables.values()] == [
        ["id", "name", "size", "city"],
        ["sku", "name", "age"],
    ]


def test_formulas_that_were_never_calculated_are_counted_by_column(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    rows = (["id", "name", "total", "tax"], [1, "Ada", "=A2*2", None], [2, "Bo", "=A3*2", "=A3"], [3, "Cy", 5, None])
    for row in rows:
        book.active.append(row)
    book.save(tmp_path / "t.xlsx")
    counted = [note for note in Made(tmp_path, ["t.xlsx"], {}).notes if "were never calculated" in note]
    assert [note.split(" were")[0] for note in counted] == ["2 formulas of 'total'", "1 formulas of 'tax'"]
    assert all(note.endswith("open the workbook in a spreadsheet program, and save it") for note in counted)
    with pytest.raises(InputError, match="2 formulas of 'total' were never calculated"):
        Made(tmp_path, ["t.xlsx"], {"strict": True}, "strict")


def test_formulas_with_a_value_are_read_without_a_word(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for row in (["id", "name", "total"], [1, "Ada", "=A2*2"], [2, "Bo", "=A3*2"]):
        book.active.append(row)
    book.save(tmp_path / "t.xlsx")
    with zipfile.ZipFile(tmp_path / "t.xlsx") as old, zipfile.ZipFile(tmp_path / "u.xlsx", "w") as new:
        for entry in old.namelist():
            data = old.read(entry)
            new.writestr(entry, re.sub(rb"</f><v\s*/?>(</v>)?", b"</f><v>7</v>", data))
    made = Made(tmp_path, ["u.xlsx"], {})
    assert ("Ada", "total", "7") in made.facts()
    assert not any("calculated" in note for note in made.notes)


# Laws

CITIES = st.sampled_from(["Riga", "Oslo", "Köln", "São Paulo", 'The "Rock"', "a, b"])
ROWS = st.lists(st.tuples(CITIES, st.integers(0, 99), st.booleans()), min_size=2, max_size=8)


def written(rows: Sequence[Sequence[Any]], delimiter: str = ",", quoting: Any = csv.QUOTE_MINIMAL) -> str:
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter, quoting=quoting, lineterminator="\n").writerows(rows)
    return out.getvalue()


@settings(max_examples=18, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=ROWS,
    seed=st.randoms(use_true_random=False),
    form=st.sampled_from(["rows", "columns", "semicolon", "quoted", "utf16", "mark"]),
)
def test_order_separator_quoting_and_encoding_change_nothing(
    tmp_path: Path, rows: list[Any], seed: Any, form: str
) -> None:
    table = [[n + 1, f"Person {n}", city, size + 0.5, str(yes).lower()] for n, (city, size, yes) in enumerate(rows)]
    head = ["id", "name", "city", "size", "member"]
    order = list(range(5))
    seed.shuffle(order)
    shuffled = list(table)
    seed.shuffle(shuffled)
    files = {
        "plain.csv": written([head, *table]).encode(),
        "rows.csv": written([head, *shuffled]).encode(),
        "columns.csv": written([[row[place] for place in order] for row in [head, *table]]).encode(),
        "semicolon.csv": written([head, *table], ";").encode(),
        "quoted.csv": written([head, *table], ",", csv.QUOTE_ALL).encode(),
        "utf16.csv": written([head, *table]).encode("utf-16"),
        "mark.csv": written([head, *table]).encode("utf-8-sig"),
    }
    contents = set()
    for name in ("plain.csv", f"{form}.csv"):
        (tmp_path / name).write_bytes(files[name])
        contents.add(build(BuildSettings((str(tmp_path / name),)), tmp_path / f"{name}.out").meta.content)
    assert len(contents) == 1


def test_containers_with_the_same_values_are_the_same_graph(tmp_path: Path) -> None:
    head = ["id", "name", "city", "score", "joined"]
    rows = [[1, "Ada", "Riga", 1.5, "2020-01-02"], [2, "Bo", None, 2.0, "2021-03-04"], [3, "Cy", "Oslo", None, None]]
    texts = [["" if cell is None else cell for cell in row] for row in rows]
    (tmp_path / "t.csv").write_text(written([head, *texts]))
    (tmp_path / "t.tsv").write_text(written([head, *texts], "\t"))
    pd.DataFrame(rows, columns=head).to_parquet(tmp_path / "t.parquet")
    book = openpyxl.Workbook()
    for row in (head, *rows):
        book.active.append(row)
    book.active.title = "t"
    book.save(tmp_path / "t.xlsx")
    database = sqlite3.connect(tmp_path / "t.db")
    database.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT, city TEXT, score REAL, joined TEXT)")
    database.executemany("INSERT INTO t VALUES (?, ?, ?, ?, ?)", rows)
    database.commit()
    database.close()
    files = ("t.csv", "t.tsv", "t.parquet", "t.xlsx", "t.db")
    contents = {build(BuildSettings((str(tmp_path / file),)), tmp_path / f"{file}.out").meta.content for file in files}
    assert len(contents) == 1


def test_a_database_links_by_its_foreign_keys(tmp_path: Path) -> None:
    database = sqlite3.connect(tmp_path / "shop.db")
    database.execute("CREATE TABLE maker (nr INTEGER PRIMARY KEY, title TEXT)")
    database.execute("CREATE TABLE thing (nr INTEGER PRIMARY KEY, title TEXT, made INTEGER REFERENCES maker (nr))")
    database.executemany("INSERT INTO maker VALUES (?, ?)", [(1, "Alfa"), (2, "Bolt")])
    database.executemany("INSERT INTO thing VALUES (?, ?, ?)", [(1, "Cup", 2), (2, "Pot", 1)])
    database.commit()
    database.close()
    made = Made(tmp_path, ["shop.db"], {})
    assert ("Cup", "made", "Bolt") in made.facts()
    assert made.read_as("made") == "link to maker (foreign key)"


def test_a_renamed_heading_changes_names_alone(make: Make) -> None:
    first = make({"a.csv": "id,name,city,size\n1,Ada,Riga,5\n2,Bo,Oslo,7\n"})
    second = make({"a.csv": "id,name,town,height\n1,Ada,Riga,5\n2,Bo,Oslo,7\n"}, out="renamed")
    renamed = {"city": "town", "size": "height"}
    assert {(s, renamed[r], o) for s, r, o in first.facts()} == second.facts()


def test_each_item_of_a_list_in_brackets_is_a_value(make: Make) -> None:
    made = make({"films.csv": "id,title,genres\n1,Alien,\"['Horror', 'Drama']\"\n2,Cube,['Drama']\n3,Up,[]\n"})
    assert made.facts() == {("Alien", "genres", "Horror"), ("Alien", "genres", "Drama"), ("Cube", "genres", "Drama")}
    assert made.read_as("genres") == "names of things, list split at items"


PARTNERS = "id,name\n1,Nordwind\n2,Casa Verde\n3,Bright Ltd\n"


@pytest.mark.parametrize("heading", ["cust_id", "custID", "CustNo", "custid"])
def test_the_begin_of_a_tables_name_is_a_heading_of_a_link(make: Make, heading: str) -> None:
    made = make({"customers.csv": PARTNERS, "orders.csv": f"order_no,{heading}\n1001,3\n1002,1\n1003,1\n"})
    assert made.read_as(heading) == "link to customers (heading begins the table's name)"


def test_a_begin_that_two_tables_share_links_to_neither(make: Make) -> None:
    other = {"customs.csv": "id,title\n1,Dover\n2,Calais\n3,Basel\n"}
    made = make({"customers.csv": PARTNERS, "orders.csv": "order_no,cust_id\n1001,3\n1002,1\n1003,1\n", **other})
    assert made.read_as("cust_id") == "integer"


def test_a_column_of_keys_whose_heading_names_no_table_is_said_with_the_flag(make: Make) -> None:
    tables = {"customers.csv": PARTNERS, "orders.csv": "order_no,client_id\n1001,3\n1002,1\n1003,2\n"}
    assert make(tables).notes == [
        "all values of 'client_id' are keys of customers; if it leads there, give --link client_id=customers.csv"
    ]
    assert make(tables, out="linked", links={"client_id": "customers.csv"}).read_as("client_id") == (
        "link to customers (given)"
    )


def test_a_report_in_excel_is_read_without_its_title_its_totals_and_its_notes(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "sales"
    for row in (["Sales 2023"], [], ["Branch", "Manager", "Sales", None], [None, None, "Web", "Shop"]):
        sheet.append(row)
    for row in (["Graz", "Ann", 8, 3], ["Basel", "Bo", 15, 2], ["Lyon", "Cy", 6, 9], ["Total", None, 29, 14], []):
        sheet.append(row)
    for text in ("* in EUR", "** by May"):
        sheet.append([text])
    sheet.merge_cells("C3:D3")
    book.create_sheet("notes")["A1"] = "Figures may change."
    book.save(tmp_path / "t.xlsx")
    made = Made(tmp_path, ["t.xlsx"], {})
    assert {s for s, _, _ in made.facts()} == {"Graz", "Basel", "Lyon"}
    assert ("Lyon", "Sales Shop", "9") in made.facts()
    skipped = {reason: found[0] for report in made.reading for reason, found in report["skipped"].items()}
    assert skipped == {"lines above the table": 1, "rows of totals": 1, "lines below the table": 2}
    assert made.notes == ["is a single column beside the tables of other sheets; it was not read"]


WIKIDATA = "http://www.wikidata.org/entity/"


def test_a_column_with_label_in_its_heading_names_the_values_of_the_other(make: Make) -> None:
    rows = [("Q1", "Riga", "Q8", "Ann"), ("Q1", "Riga", "Q9", "Bo"), ("Q2", "Oslo", "Q8", "Ann")]
    text = "".join(f"{WIKIDATA}{a},{b},{WIKIDATA}{c},{d}\n" for a, b, c, d in rows)
    made = make({"query.csv": f"item,itemLabel,head,headLabel\n{text}"})
    assert made.facts() == {("Riga", "head", "Ann"), ("Riga", "head", "Bo"), ("Oslo", "head", "Ann")}
    assert made.graph.find(["Ann"]) == [[f"{WIKIDATA}Q8"]]
    assert made.read_as("headLabel") == "name of head (heading)"
    assert made.notes == ["rows that share 'item' are one entity, with several values"]


def test_a_column_with_label_in_its_heading_names_an_end_of_an_edge(make: Make) -> None:
    made = make({"edges.csv": "source,sourceLabel,target,targetLabel\nq1,Ann,q2,Bo\nq2,Bo,q3,Cy\n"})
    assert made.facts() == {("Ann", "edge", "Bo"), ("Bo", "edge", "Cy")}


def test_a_key_that_is_given_goes_before_a_column_with_a_label(make: Make) -> None:
    made = make({"t.csv": "head,headLabel,no\nq8,Ann,1\nq9,Bo,2\n"}, keys={"t.csv": "no"})
    assert made.facts() == {("1", "head", "Ann"), ("2", "head", "Bo")}


def test_a_plan_says_which_column_a_label_names(make: Make, tmp_path: Path) -> None:
    table = {"t.csv": "row,head,headLabel\n1,q8,Ann\n2,q9,Bo\n"}
    plan = tmp_path / "plan.yaml"
    columns = "{row: {as: key}, head: {as: names}, headLabel: {as: label, to: head}}"
    plan.write_text(f"tables: {{t: {{files: [t.csv], rows: entities, key: [row], columns: {columns}}}}}")
    assert make(table, plan=str(plan)).facts() == {("1", "head", "Ann"), ("2", "head", "Bo")}


def test_midnights_of_utc_are_dates(make: Make) -> None:
    made = make({"t.csv": "id,name,born\n1,Ann,1815-12-10T00:00:00Z\n2,Bo,1906-12-09T00:00:00Z\n"})
    assert made.facts() == {("Ann", "born", "1815-12-10"), ("Bo", "born", "1906-12-09")}


def test_structs_of_parquet_are_columns_and_lists_of_structs_are_their_names(tmp_path: Path) -> None:
    genres = [[{"id": 1, "name": "Drama"}, {"id": 2, "name": "War"}], [], None]
    rows = {"title": ["Alien", "Cube", "Up"], "genres": genres, "tags": [[["a"]], None, None]}
    rows["studio"] = [{"name": "Fox", "seat": {"city": "Rome"}}, None, {"name": None, "seat": {"city": "Bonn"}}]
    pq.write_table(pa.table(rows), tmp_path / "films.parquet")
    made = Made(tmp_path, ["films.parquet"], {})
    assert made.facts() == {
        *(("Alien", "genres", "Drama"), ("Alien", "genres", "War")),
        *(("Alien", "studio.name", "Fox"), ("Alien", "studio.seat.city", "Rome"), ("Up", "studio.seat.city", "Bonn")),
    }
    assert made.read_as("tags") == "empty"
    assert [note.split(";")[0] for note in made.notes] == [
        "of the objects in 'genres' the names are read alone",
        "of the objects in 'tags' the names are read alone",
    ]


def test_a_table_that_excel_saved_in_windows_1252_is_read_and_told(tmp_path: Path) -> None:
    rows = "nr;Name;Büro;Gehalt\r\n0101;Jürgen Groß;Köln;3.450,50\r\n0102;Märta Öz;Zürich;980,00\r\n"
    (tmp_path / "a.csv").write_bytes(rows.encode("cp1252"))
    made = Made(tmp_path, ["a.csv"], {})
    assert {("Jürgen Groß", "Büro", "Köln"), ("Märta Öz", "Gehalt", "980")} <= made.facts()
    assert made.notes[0] == "was read as Windows-1252, such as 'Büro'; convert the file to UTF-8 if this is wrong"


def test_rows_of_an_entity_and_a_time_are_told_apart_by_both(make: Make) -> None:
    head, rows = "entity,{},rate\n", "Norland,2019,81.2\nNorland,2020,80.9\nSouthey,2019,75.1\n"
    made = make({"a.csv": head.format("year") + rows})
    assert ("Norland, 2020", "rate", "80.9") in made.facts()
    other = make({"b.csv": head.format("size") + rows}, out="other")
    assert ("Norland", "rate", "80.9") in other.facts(), "a size is no time"
    same = make({"c.csv": head.format("year") + rows + "Norland,2019,81.3\n"}, out="same")
    assert ("Norland", "rate", "81.3") in same.facts(), "the time tells its rows not apart"
    few = make({"d.csv": head.format("year") + rows + "Eastmark,2019,5\nWest,2019,6\n"}, out="few")
    assert ("Norland", "rate", "80.9") in few.facts(), "an entity of two values"
    towns = {"entities.csv": head.format("year") + rows, "towns.csv": "town,entity_id\nUlm,Norland\nKiel,Southey\n"}
    linked = make(towns, out="linked")
    assert {("Ulm", "entity_id", "Norland"), ("Norland", "rate", "81.2")} <= linked.facts()


def test_a_column_that_names_another_table_names_no_row(make: Make) -> None:
    invoices = "invoice,customer,net\nINV-24-001,Koch,5\nINV-24-002,Beck,6\n"
    made = make({"orders.csv": invoices, "customers.csv": "customer,city\nKoch,Ulm\nBeck,Bonn\nVoss,Kiel\n"})
    assert any(subject.endswith("INV-24-002") and value == "6" for subject, _, value in made.facts())
    assert any(relation == "customer" for _, relation, _ in made.facts())
    alone = make({"orders.csv": invoices}, out="alone")
    assert ("Beck", "net", "6") in alone.facts()


@pytest.mark.parametrize(("others", "named"), [("Ulm,5\nKiel,6\n", True), ("Riga,5\nOslo,6\n", False)])
def test_a_column_that_links_to_no_row_may_name_its_own(make: Make, others: str, named: bool) -> None:
    capitals = "id,city,land\n1,Riga,Latvia\n2,Oslo,Norway\n"
    made = make({"capitals.csv": capitals, "cities.csv": "city,size\n" + others})
    assert (made.graph.find(["Riga"]) == [["capitals:1"]]) is named
    assert made.graph.find(["Latvia"]) != [["capitals:1"]]


@pytest.mark.parametrize(
    "text",
    [
        ",name,city,born\n0,Ulm,Ulm,1980\n1,Ben,Oslo,1981\n",  # the row numbers of pandas
        ",name,won,lost\n0,Ann,3,3\n1,Ben,2,1\n",
    ],
)
def test_a_first_row_with_equal_values_is_no_line_of_headings(make: Make, text: str) -> None:
    assert make({"a.csv": text}).reading[0]["rows"] == 2


@pytest.mark.parametrize(
    ("upper", "relation"),
    [
        (",Q1,,Q2,", "Q2 units"),
        ("Shops,Q1,,Q2,", "Q2 units"),
        (",Q1,,,", "units"),  # a single heading may be a title
        (",Q1,,Q1,", "units"),  # which tells them not apart
        ("a,b,c,d,e", ""),
    ],
)
def test_groups_above_repeated_headings_are_joined_with_them(make: Make, upper: str, relation: str) -> None:
    made = make({"a.csv": f"{upper}\nshop,units,sales,units,sales\nUlm,10,100,12,130\nBonn,8,90,7,85\nKiel,1,2,3,4\n"})
    assert (("Ulm", relation, "12") in made.facts()) is bool(relation)
    assert not relation.startswith("Q") or "lines above the table" not in made.reading[0]["skipped"]
