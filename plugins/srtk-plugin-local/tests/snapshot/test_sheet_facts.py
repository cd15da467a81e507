"""Facts, names and qualifiers of sheets whose columns have a meaning."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from srtk_plugin_local.snapshot.build_settings import BuildSettings
from srtk_plugin_local.snapshot.column_types import INTEGER, QUANTITY, TEXT, TIME, type_by_name
from srtk_plugin_local.snapshot.sheet_facts import id_of, read_as, write_sheets
from srtk_plugin_local.snapshot.sheets import Column, Sheet, Sheets

from srtk_framework.values import InputError

Staged = Callable[..., Sheets]


class Written:
    """What sheets become, once each table has its kinds: ``name: kind kind ...``, a column each, with its key."""

    def __init__(self, sheets: Sheets, plans: dict[str, str], settings: BuildSettings | None = None, **more: Any):
        for sheet in sheets:
            for column, kind in zip(sheet.columns, plans[sheet.name].split(), strict=True):
                column.kind = kind
                if kind == "key":
                    sheet.key.append(column)
            for title, fields in more.get(sheet.name, {}).items():
                for field, value in fields.items():
                    owner = next((c for c in sheet.columns if c.title == title), sheet)
                    setattr(owner, field, value)
        self.by_name = {sheet.name: sheet for sheet in sheets}
        con = sheets.con
        con.execute("CREATE TABLE raw (s VARCHAR, r VARCHAR, o VARCHAR, literal BOOLEAN)")
        con.execute("CREATE TABLE raw_name (id VARCHAR, text VARCHAR, language VARCHAR, alias BOOLEAN)")
        con.execute("CREATE TABLE qualifier (s VARCHAR, r VARCHAR, o VARCHAR, q VARCHAR, v VARCHAR, literal BOOLEAN)")
        write_sheets(con, sheets, settings or BuildSettings(()))
        self.facts = con.execute("SELECT * FROM raw ORDER BY ALL").fetchall()
        self.names = con.execute("SELECT id, text, alias FROM raw_name ORDER BY ALL").fetchall()
        self.qualifiers = con.execute("SELECT * FROM qualifier ORDER BY ALL").fetchall()
        self.notes = [note for sheet in self.by_name.values() for note in sheet.reports[0].notes]
        self.tables = [row[0] for row in con.execute("SELECT table_name FROM duckdb_tables()").fetchall()]


def test_rows_become_facts_with_names(staged: Staged) -> None:
    table = {"a.csv": "id,name,size,tags,of\n1,Ada,5,x|y,rare\n2,,7,|z,z\n,Cy,3,x,y\n"}
    made = Written(staged(table), {"a": "key name literal names type"})
    assert made.facts == [
        *(("1", "rdf:type", "rare", False), ("1", "size", '"5"^^xsd:integer', True)),
        *(("1", "tags", "x", False), ("1", "tags", "y", False), ("2", "rdf:type", "z", False)),
        *(("2", "size", '"7"^^xsd:integer', True), ("2", "tags", "z", False)),
    ]
    assert ("1", "Ada", False) in made.names
    assert not any(id_ == "2" for id_, _, _ in made.names)
    report = made.by_name["a"].reports[0]
    assert report.skipped == {"rows with an empty cell": [1, "a.csv: row 3", "'id' is empty; fill it"]}
    assert sorted(made.tables) == ["qualifier", "raw", "raw_name"]


def test_a_key_has_the_prefix_of_its_table_and_names_its_row(staged: Staged) -> None:
    numbers = Written(
        staged({"old_films.csv": "no,size\n1,5\n2,6\n"}), {"old_films": "key literal"}, old_films={"": {"prefix": "f:"}}
    )
    assert numbers.facts[0] == ("f:1", "size", '"5"^^xsd:integer', True)
    assert numbers.names == [("f:1", "1", True), ("f:1", "film 1", False), ("f:2", "2", True), ("f:2", "film 2", False)]
    words = Written(staged({"a.csv": "no,size\nx,5\ny,6\n"}), {"a": "key literal"}, a={"": {"prefix": "f:"}})
    assert words.names == [("f:x", "x", False), ("f:y", "y", False)]
    bare = Written(staged({"a.csv": "no,size\nx,5\ny,6\n"}), {"a": "key literal"})
    assert bare.names == []
    assert bare.facts[0][0] == "x"


@pytest.mark.parametrize(
    ("title", "fact", "alias"),
    [("code", True, False), ("film isbn", True, False), ("id", False, True), ("code of it", False, True)],
)
def test_a_code_beside_a_name_is_a_fact_and_another_key_a_further_name(
    staged: Staged, title: str, fact: bool, alias: bool
) -> None:
    made = Written(staged({"a.csv": f"{title},name\ntt1,Ada\ntt2,Bo\n"}), {"a": "key name"})
    assert any(r == title for _, r, _, _ in made.facts) is fact
    assert (("tt1", "tt1", True) in made.names) is alias
    unnamed = Written(staged({"a.csv": f"{title},size\ntt1,5\ntt2,6\n"}), {"a": "key literal"})
    assert not any(r == title for _, r, _, _ in unnamed.facts)
    assert not any(is_alias for _, _, is_alias in unnamed.names)


def test_a_key_that_is_no_code_is_no_further_name(staged: Staged) -> None:
    assert not any(
        alias for _, _, alias in Written(staged({"a.csv": "id,name\n1,Ada\n2,Bo\n"}), {"a": "key name"}).names
    )


def test_a_key_of_several_columns_names_its_rows_and_its_parts_are_facts(staged: Staged) -> None:
    made = Written(staged({"a.csv": "at,who,size\n10:00,x,5\n11:30,,6\n"}), {"a": "key key literal"})
    assert (made.by_name["a"].columns[0].type, id_of(made.by_name["a"])[:9]) == (TIME, "concat_ws")
    assert ("10:00:00, x", "10:00, x", False) in made.names
    parts = {("10:00:00, x", part) for part in ("at", "who", "size")}
    assert {(s, r) for s, r, _, _ in made.facts} == parts | {("11:30:00", "at"), ("11:30:00", "size")}
    named = Written(staged({"a.csv": "at,who\n1,x\n"}), {"a": "key key"}, a={"who": {"kind": "name"}})
    assert [r for _, r, _, _ in named.facts] == ["at"]


def test_aliases_are_further_names_one_for_each_item(staged: Staged) -> None:
    made = Written(staged({"a.csv": "id,aka,size\n1,x|y,5\n2,,6\n3,|z,7\n"}), {"a": "key alias literal"})
    assert made.names == [("1", "x", True), ("1", "y", True), ("3", "z", True)]


@pytest.mark.parametrize(
    ("title", "unit", "names"),
    [
        ("bornIn", "", [("bornIn", "born in")]),
        ("born_in", "", [("born_in", "born in")]),
        ("Born In", "", []),
        ("size", "", []),
        ("size", "kg", [("size", "size (kg)")]),
        ("size (kg)", "kg", []),
        ("size_KG", "kg", [("size_KG", "size KG")]),
        ("theBBC", "", [("theBBC", "the BBC")]),
        ("a B", "kg", [("a B", "a B (kg)")]),
        ("homeIn_Rome", "", [("homeIn_Rome", "home in rome")]),
    ],
)
def test_a_relation_is_named_by_its_words_and_the_unit_of_its_numbers(
    staged: Staged, title: str, unit: str, names: list[tuple[str, str]]
) -> None:
    value = f"5 {unit}" if unit else "Ada"
    made = Written(staged({"a.csv": f"id,{title}\n1,{value}\n2,{value}\n"}), {"a": "key literal"})
    assert [(id_, text) for id_, text, _ in made.names] == names


def test_the_relation_of_a_class_has_no_name_of_its_own(staged: Staged) -> None:
    assert Written(staged({"a.csv": "id,isA\n1,x\n"}), {"a": "key type"}).names == []


TABLES = {"a.csv": "id,of,size\n1,7,5\n2,8,6\n3,9,7\n", "b.csv": "no,name\n7,Rome\n8,Oslo\n10,Oslo\n"}


def test_a_link_by_key_leads_to_a_row_and_another_value_stays_a_number(staged: Staged) -> None:
    made = Written(
        staged(TABLES), {"a": "key link literal", "b": "key name"}, a={"of": {"to": "b"}}, b={"": {"prefix": "b:"}}
    )
    assert [fact[1:] for fact in made.facts if fact[1] == "of"] == [
        *(("of", "b:7", False), ("of", "b:8", False), ("of", '"9"^^xsd:integer', True))
    ]
    assert made.notes == ["1 value of 'of' is no single row of b; they stay what they are"]
    plain = Written(
        staged(TABLES),
        {"a": "key link literal", "b": "key name"},
        BuildSettings((), literals="none"),
        a={"of": {"to": "b"}},
    )
    assert ("3", "of", "9", False) in plain.facts


def test_a_link_by_name_leads_to_the_only_row_of_that_name(staged: Staged) -> None:
    tables = TABLES | {"a.csv": "id,of,size\n1,Rome,5\n2,Oslo,6\n3,Riga,7\n"}
    made = Written(staged(tables), {"a": "key link literal", "b": "key name"}, a={"of": {"to": "b", "by": "name"}})
    assert [fact[:3] for fact in made.facts if fact[1] == "of"] == [
        ("1", "of", "7"),
        ("2", "of", "Oslo"),
        ("3", "of", "Riga"),
    ]
    assert len(made.notes) == 1
    assert made.notes[0].startswith("2 values of 'of' are no single row of b")


def test_links_that_all_lead_to_a_row_are_not_told(staged: Staged) -> None:
    tables = TABLES | {"a.csv": "id,of\n1,7\n2,8\n"}
    assert Written(staged(tables), {"a": "key link", "b": "key name"}, a={"of": {"to": "b"}}).notes == []


def test_values_of_a_column_have_the_names_of_the_column_beside_it(staged: Staged) -> None:
    made = Written(
        staged({"a.csv": "id,of,ofLabel\n1,q7,Rome\n2,q8,\n3,q7,Rome\n"}),
        {"a": "key names label"},
        a={"ofLabel": {"to": "of"}},
    )
    assert made.names == [("q7", "Rome", False)]
    linked = {"a": "key link label", "b": "key name"}
    tables = {"a.csv": "id,of,ofLabel\n1,7,Town\n", "b.csv": "no,size\n7,5\n"}
    of = {"of": {"to": "b"}, "ofLabel": {"to": "of"}}
    assert not any(text == "Town" for _, text, _ in Written(staged(tables), linked | {"b": "key literal"}, a=of).names)


def test_edges_are_facts_and_their_other_columns_qualifiers(staged: Staged) -> None:
    table = {"a.csv": "source,target,since,note\nx,y,1990,\nx,y,1991,z\n,y,1,\nx,,1,\n"}
    made = Written(staged(table), {"a": "source target property property"}, a={"": {"form": "edges"}})
    assert made.facts == [("x", "edge", "y", False)] * 2
    assert [row[:5] for row in made.qualifiers] == [
        *(("x", "edge", "y", "note", '"z"'), ("x", "edge", "y", "since", '"1990"^^xsd:integer')),
        ("x", "edge", "y", "since", '"1991"^^xsd:integer'),
    ]
    assert made.by_name["a"].reports[0].skipped == {
        "rows with an empty cell": [2, "a.csv: row 3", "an end of the edge is empty; fill it"]
    }
    assert made.notes[0].startswith("1 rows repeat an edge of another row")
    assert made.notes[1] == "its edges name no relation; it is called 'edge'"
    assert sorted(made.tables) == ["qualifier", "raw", "raw_name"]


def test_repeated_edges_that_say_nothing_more_are_not_told(staged: Staged) -> None:
    made = Written(staged({"a.csv": "source,target\nx,y\nx,y\n"}), {"a": "source target"}, a={"": {"form": "edges"}})
    assert [note for note in made.notes if "repeat" in note] == []


@pytest.mark.parametrize(
    ("table", "told"),
    [
        ("Source,Target\nx,y\n", "its edges say no direction, and count as edges without one; answers are of both"),
        ("Source,Target,Type\nx,y,Undirected\ny,z,\n", "its edges have no direction; answers are of both"),
        ("Source,Target,Type\nx,y,Directed\ny,z,Undirected\n", ""),
        ("citing,cited\nx,y\n", ""),
        ("from,to\nx,y\n", ""),
    ],
)
def test_edges_have_no_direction_unless_a_column_or_the_headings_tell_one(
    staged: Staged, table: str, told: str
) -> None:
    kinds = "source target" + " bookkeeping" * ("Type" in table)
    made = Written(staged({"a.csv": table}), {"a": kinds}, a={"": {"form": "edges"}})
    assert made.notes[1:] == [told] * bool(told)
    assert made.by_name["a"].reports[0].symmetric == ["edge"] * bool(told)


@pytest.mark.parametrize(
    ("name", "end", "relation"),
    [
        ("acts", "role id", "acts role"),
        ("acts", "act id", "acts"),
        ("acts", "id", "acts id"),
        ("acts", "old part", "acts old part"),
        ("acts", "big role id", "acts big role"),
        ("old_acts", "part", "old acts part"),
    ],
)
def test_facts_between_two_tables_have_the_table_and_its_end_as_relation(
    staged: Staged, name: str, end: str, relation: str
) -> None:
    made = Written(
        staged({f"{name}.csv": f"who,{end}\nx,y\n"}), {name: "source target"}, **{name: {"": {"form": "facts"}}}
    )
    assert made.facts == [("x", relation, "y", False)]
    assert made.notes == []


def test_words_that_begin_all_names_of_tables_are_left_out_of_the_relation(staged: Staged) -> None:
    tables = {"imdb_acts.csv": "who,part\nx,y\n", "imdb_films.csv": "id,size\n1,5\n"}
    made = Written(
        staged(tables), {"imdb_acts": "source target", "imdb_films": "key literal"}, imdb_acts={"": {"form": "facts"}}
    )
    assert ("x", "acts part", "y", False) in made.facts


def test_an_end_that_is_no_row_is_a_thing_all_the_same(staged: Staged) -> None:
    tables = {"a.csv": "source,target\n7,9\n", "b.csv": "no,size\n7,5\n"}
    ends = {"source": {"to": "b"}, "target": {"to": "b"}, "": {"form": "edges"}}
    made = Written(staged(tables), {"a": "source target", "b": "key literal"}, a=ends, b={"": {"prefix": "b:"}})
    assert ("b:7", "edge", "b:9", False) in made.facts


@pytest.mark.parametrize(
    ("kind", "literals", "wanted"),
    [
        ("literal", "typed", ('"x"', True)),
        ("literal", "none", ("x", False)),
        ("names", "typed", ("x", False)),
        ("names", "none", ("x", False)),
        ("type", "typed", ("x", False)),
        ("literal", "numbers", ('"x"', True)),
    ],
)
def test_a_text_is_a_literal_or_a_thing_by_its_column(
    staged: Staged, kind: str, literals: str, wanted: tuple[str, bool]
) -> None:
    made = Written(staged({"a.csv": "id,of\n1,x\n"}), {"a": f"key {kind}"}, BuildSettings((), literals=literals))
    assert [fact[2:] for fact in made.facts] == [wanted]


def test_a_literal_as_rdf_writes_it_stays_in_any_column(staged: Staged) -> None:
    made = Written(staged({"a.csv": 'id,of\n1,"x"@en\n'}), {"a": "key names"})
    assert made.facts == [("1", "of", '"x"@en', True)]
    kind = Written(staged({"a.csv": 'id,of\n1,"x"@en\n'}), {"a": "key type"})
    assert [literal for *_, literal in kind.facts] == [False]


def test_tables_of_names_alone_are_told(staged: Staged) -> None:
    made = Written(staged({"a.csv": "id,name\n1,Ada\n"}), {"a": "key name"})
    assert made.notes == [
        "holds names alone and no fact, so nothing can be asked; add a column or a table that says more"
    ]


def test_an_empty_key_is_an_error_where_the_build_is_strict(staged: Staged) -> None:
    sheets = staged({"a.csv": "id,size\n1,5\n,6\n"})
    next(iter(sheets)).reports[0].strict = True
    with pytest.raises(InputError, match=r"a\.csv: row 2: 'id' is empty; fill it"):
        Written(sheets, {"a": "key literal"})


def test_columns_are_reported_with_their_meaning(staged: Staged) -> None:
    long = "x" * 41
    odd = "".join(f"{n},{n},NULL,z\n" for n in range(2, 40))
    made = Written(staged({"a.csv": f"id,size,note,y\n1,x,{long},z\n{odd}"}), {"a": "key literal literal layout"})
    assert ("1", "size", '"x"', True) in made.facts
    report = made.by_name["a"].reports[0]
    assert report.columns[2] == {
        "column": "note",
        "as": "names",
        "kind": "literal",
        "type": "names",
        "example": long[:40],
    }
    assert report.unread == ["y"]
    assert made.notes == [
        "38 words of a missing value, such as NULL, hold no value (note)",
        "column 'size': 1 of 39 values are no integer; they stay texts",
    ]


@pytest.mark.parametrize(
    ("column", "words"),
    [
        (Column("a", 0, "key", why="heading"), "key (heading)"),
        (Column("a", 0, "name"), "name"),
        (Column("a", 0, "alias"), "other names"),
        (Column("a", 0, "names", split="|"), "names of things, list split at '|'"),
        (Column("a", 0, "names", split="\x1f"), "names of things, list split at items"),
        (Column("a", 0, "literal", INTEGER), "integer"),
        (Column("a", 0, "literal", QUANTITY), "text of a quantity"),
        (Column("a", 0, "property", INTEGER), "integer of the edge"),
        (Column("a", 0, "link", to="b", why="given"), "link to b (given)"),
        (Column("a", 0, "link", to="b", by="name"), "link to b by name"),
        (Column("a", 0, "source", to="b"), "start of the edge, link to b"),
        (Column("a", 0, "empty"), "empty"),
    ],
)
def test_the_meaning_of_a_column_is_said_in_words(column: Column, words: str) -> None:
    assert read_as(Sheet("t", "s", [column]), column) == words


def test_a_part_of_a_key_is_said_with_its_own_meaning() -> None:
    parts = [Column("a", 0, "name"), Column("b", 1, "literal", type_by_name("date") or TEXT)]
    sheet = Sheet("t", "s", parts, key=parts)
    assert [read_as(sheet, part) for part in parts] == ["part of the key, name", "part of the key, date"]


def test_the_id_space_of_neo4j_stands_before_its_keys() -> None:
    key = Column("id:ID(Person)", 0)
    assert id_of(Sheet("t", "s", [key], key=[key], neo4j=True, prefix="t:")) == "'Person/' || c0"
    assert id_of(Sheet("t", "s", [key], key=[key], prefix="t:")) == "'t:' || c0"
    assert id_of(Sheet("t", "s", [key], key=[key])) == "c0"


def test_a_first_row_may_be_the_one_that_is_left_out(staged: Staged) -> None:
    edges = Written(staged({"a.csv": "source,target\n,y\nx,y\n"}), {"a": "source target"}, a={"": {"form": "edges"}})
    assert edges.by_name["a"].reports[0].skipped["rows with an empty cell"][:2] == [1, "a.csv: row 1"]
    rows = Written(staged({"a.csv": "id,size\n,5\n1,6\n"}), {"a": "key literal"})
    assert rows.by_name["a"].reports[0].skipped["rows with an empty cell"][:2] == [1, "a.csv: row 1"]


def test_an_item_of_another_type_in_a_list_stays_a_text(staged: Staged) -> None:
    rows = "".join(f"{n},1|2\n" for n in range(10))
    made = Written(staged({"a.csv": f"id,sizes\n{rows}10,x|3\n"}), {"a": "key literal"})
    assert [o for s, _, o, _ in made.facts if s == "10"] == ['"3"^^xsd:integer', '"x"']
