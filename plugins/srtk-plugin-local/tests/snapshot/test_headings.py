"""Headings: the words that are known, and the columns that they name."""

from __future__ import annotations

from typing import Any

import pytest
from srtk_plugin_local.snapshot.headings import (
    LABELS,
    are_years,
    first_known,
    is_edge_list,
    is_number,
    key_by_heading,
    known_relation,
    neo4j_kind,
    neo4j_name,
    neo4j_space,
    neo4j_type,
    normal,
    place_of,
    recognised,
)

from srtk_framework.values import InputError


def test_headings_are_compared_without_case_accents_marks_and_camel_case() -> None:
    assert [normal(title) for title in ("startNode", "Start-Node", " Prédicat ", "URL")] == [
        "start node",
        "start node",
        "predicat",
        "url",
    ]


@pytest.mark.parametrize(
    ("titles", "places"),
    [
        (["subject", "relation", "object"], (0, 1, 2)),
        (["label", "source", "property", "target"], (1, 2, 3)),  # label is a later word than property
        (["subj", "subject", "relation", "object"], (1, 2, 3)),
        (["sub ject", "subject id", "subj", "rel", "obj"], (2, 3, 4)),
        (["subject id", "sub ject", "rel", "obj"], (1, 2, 3)),
        (["subject name", "subject id", "rel", "obj"], (1, 2, 3)),
        (["head id", "subject id", "rel", "obj"], (1, 2, 3)),
        (["start node", "p", "end node"], (0, 1, 2)),
        (["e1 id", "p", "e2 id"], (0, 1, 2)),
        (["s id", "p", "o"], None),  # a letter with an ending may be anything
        (["subject", "subject", "p", "o"], (0, 2, 3)),
        (["subject", ":START_ID(A)", ":TYPE", ":END_ID", "object"], (1, 2, 3)),
        (["ob ject", "obj id", "s", "p"], (2, 3, 0)),  # a word in two parts goes before an ending
        (["sub ject", "entity1", "p", "o"], (1, 2, 3)),
        (["su bj", "sub ject", "p", "o"], (1, 2, 3)),
        (["subject name", "head id", "p", "o"], (1, 2, 3)),
        (["head id", "sub ject", "p", "o"], (1, 2, 3)),
        (["subject", "relation"], None),
        (["city", "relation", "object"], None),
    ],
)
def test_the_earliest_known_word_of_each_role_names_its_column(titles: list[str], places: Any) -> None:
    assert recognised(titles) == places


@pytest.mark.parametrize(
    ("titles", "ends", "strong"),
    [
        (["source", "target"], (0, 1), (0, 1)),
        (["x", "Target ID", "Source Name"], (2, 1), (2, 1)),
        (["source", "source", "target"], None, None),
        (["source", "target", "target"], None, None),
        (["from", "to"], (0, 1), None),
        (["end", "x", "start"], (2, 0), None),
        (["src", "dst"], (0, 1), None),
        (["source", "to"], None, None),
        (["follower", "followee"], (0, 1), (0, 1)),
        (["from", "to", "head", "tail"], (0, 1), (2, 3)),
    ],
)
def test_a_pair_of_headings_names_the_ends_of_an_edge(titles: list[str], ends: Any, strong: Any) -> None:
    assert is_edge_list(titles) == ends
    assert is_edge_list(titles, weak=False) == strong


@pytest.mark.parametrize(
    ("titles", "table", "place"),
    [
        (["name", "id"], "", 1),
        (["uri", "id"], "", 1),
        (["url", "uri"], "", 1),
        (["id", "code:ID(Person)"], "", 1),
        (["title", "actorId"], "actors", 1),
        (["title", "actor key"], "old_actors", 1),
        (["title", "actor name"], "actors", None),
        (["title", "actorId"], "movies", None),
        (["title", "id of actor"], "actors", None),
        (["actorId", "x"], "movies", 0),
        (["country code", "x"], "", 0),
        (["x", "country code"], "", None),
        (["", "code", "x"], "", 1),
        (["actor", "actor id"], "actors", 1),
        (["actor", "actor id x"], "actors", None),
        (["title", "id"], "of", 1),
        (["old actor id", "x"], "", 0),
        (["title", "old actor id"], "actors", 1),
        (["title", "id actor x"], "actors", None),
        (["title", "the actor film id"], "actors", None),
        (["country", "code"], "", None),
        (["movie id"], "", 0),
        (["title", "movieId"], "movies", 1),
        (["title", "EMPNO"], "emp", 1),
        (["title", "EMPNO"], "dept", None),
        ([], "", None),
        ([""], "", None),
    ],
)
def test_a_heading_names_the_key(titles: list[str], table: str, place: int | None) -> None:
    assert key_by_heading(titles, table) == place


@pytest.mark.parametrize(
    ("column", "place"),
    [("b", 1), ("1", 0), ("3", 2), ("B", 1), ("fullName", 3), ("full name", 3), ("size", 4), ("5", 4)],
)
def test_a_column_is_named_by_heading_or_number(column: str, place: int) -> None:
    assert place_of(column, ["a", "b", "c", "Full Name", "size:int"], "a.csv") == place


def test_a_column_that_is_not_there_or_there_twice_is_refused() -> None:
    for column, titles in (("3", ["a", "b"]), ("1", []), ("0", ["a", "b"]), ("c", ["a", "b"]), ("A B", ["a b", "a-b"])):
        with pytest.raises(InputError, match=f"a.csv: the header has no column {column!r}; it has "):
            place_of(column, titles, "a.csv")
    assert place_of("a b", ["a b", "a-b"], "a.csv") == 0
    assert place_of("4", ["a", "b"], "a.csv", width=4) == 3
    assert [place_of("2", ["2", "x"], "", by_name) for by_name in (True, False)] == [0, 1]


def test_words_with_a_colon_between_are_no_heading_of_neo4j() -> None:
    assert [neo4j_name(title) for title in ("GF:GA", "ratio a:b", "at:dateTime", "tags:string[]")] == [
        "GF:GA",
        "ratio a:b",
        "at",
        "tags",
    ]


def test_headings_of_neo4j_have_a_kind_a_space_a_type_and_a_name() -> None:
    titles = ["personId:ID(Person)", ":START_ID", "born:int", "nick:string[]", "name", "at:datetime{timezone:UTC}"]
    assert [neo4j_kind(title) for title in titles] == ["ID", "START_ID", "", "", "", ""]
    assert [neo4j_space(title) for title in titles] == ["Person", "", "", "", "", ""]
    assert [neo4j_type(title) for title in titles] == ["", "", "int", "string", "", "datetime"]
    assert [neo4j_name(title) for title in titles] == ["personId", "", "born", "nick", "name", "at"]


def test_the_earliest_word_counts_and_not_the_first_column() -> None:
    assert first_known(["title", "Name"], LABELS) == 1
    assert first_known(["title", "name"], LABELS, [0]) == 0
    assert first_known(["x", "name:string"], LABELS) == 1
    assert first_known(["x"], LABELS) is None
    assert first_known(["name"], LABELS, []) is None
    assert known_relation(["type", "edge", "x"]) == "edge"
    assert known_relation(["x", "y"]) is None


@pytest.mark.parametrize(
    ("titles", "are"),
    [
        (["2001", "2002", "2003"], True),
        (["2010", "2005", "2000"], True),
        (["2001", "2002"], False),
        (["2001", "2002", "2004"], False),
        (["2001", "2001", "2001"], False),
        (["3001", "3002", "3003"], False),
        (["201", "202", "203"], False),
        (["2001", "2002", "x"], False),
    ],
)
def test_at_least_three_numbers_in_equal_steps_are_years(titles: list[str], are: bool) -> None:
    assert are_years(titles) is are


@pytest.mark.parametrize(
    ("titles", "are"), [(["2001", "2011"], True), (["2001", "2001"], False), (["2001"], False), (["201", "202"], False)]
)
def test_two_numbers_are_years_where_two_are_enough(titles: list[str], are: bool) -> None:
    assert are_years(titles, 2) is are


def test_a_number_is_written_in_digits() -> None:
    assert [title for title in ("7", "-1.5e3", "+1,000", "x7", "7x", "", ".5") if is_number(title)] == [
        *("7", "-1.5e3", "+1,000")
    ]
