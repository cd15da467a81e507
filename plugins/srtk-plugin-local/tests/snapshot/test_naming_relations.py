"""Which relations of a graph look as if they named its subjects."""

from __future__ import annotations

from collections.abc import Iterator

import duckdb
import pytest
from srtk_plugin_local.snapshot.naming_relations import few_names, naming_candidates

Texts = dict[str, list[str]]
"""The text of each subject, by relation."""


@pytest.fixture
def con() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as made:
        made.execute("CREATE TABLE fact (s VARCHAR, r VARCHAR, o VARCHAR, literal BOOLEAN)")
        made.execute("CREATE TABLE name (id VARCHAR, alias BOOLEAN)")
        yield made


def candidates(con: duckdb.DuckDBPyConnection, texts: Texts, named: int = 0) -> list[str]:
    con.execute("INSERT INTO name VALUES ('an alias', TRUE)")
    for relation, some in texts.items():
        for number, text in enumerate(some):
            con.execute("INSERT INTO fact VALUES (?, ?, ?, TRUE)", [f"s{number}", relation, f'"{text}"'])
    for number in range(named):
        con.execute("INSERT INTO name VALUES (?, FALSE)", [f"s{number}"])
    return naming_candidates(con)


def names(count: int, distinct: int = 99, size: int = 0) -> list[str]:
    return [f"name {chr(97 + number % distinct)}".ljust(size, "x") for number in range(count)]


@pytest.mark.parametrize(
    ("texts", "found"),
    [
        (names(3), True),
        (names(2), False),  # too few to tell
        (names(4, distinct=3), False),
        (names(3, size=58), True),  # 60 with their quotation marks
        (names(3, size=59), False),
        (["1 a", "2 b", "3 c"], False),  # no two letters in a row
        (["ab", "cd", "ef"], True),
    ],
)
def test_short_texts_that_are_nearly_unique_may_be_names(
    con: duckdb.DuckDBPyConnection, texts: list[str], found: bool
) -> None:
    assert candidates(con, {"r": texts}) == (["r"] if found else [])


def test_a_value_with_a_type_and_an_entity_are_no_names(con: duckdb.DuckDBPyConnection) -> None:
    for number in range(4):
        con.execute("INSERT INTO fact VALUES (?, 'typed', ?, TRUE)", [f"s{number}", f'"name {number}"^^xsd:token'])
        con.execute("INSERT INTO fact VALUES (?, 'linked', ?, FALSE)", [f"s{number}", f"node{number}"])
        con.execute("INSERT INTO fact VALUES (?, 'told', ?, TRUE)", [f"s{number}", f'"name {number}"@en'])
    assert naming_candidates(con) == ["told"]


def test_three_relations_are_given_those_of_most_subjects_first(con: duckdb.DuckDBPyConnection) -> None:
    assert candidates(con, {"b": names(3), "a": names(3), "d": names(4), "c": names(4)}) == ["c", "d", "a"]


@pytest.mark.parametrize(
    ("named", "subjects", "found"), [(1, 4, ["r"]), (2, 4, []), (3, 4, []), (4, 10, ["r"]), (5, 10, [])]
)
def test_where_half_of_the_subjects_have_a_name_none_is_looked_for(
    con: duckdb.DuckDBPyConnection, named: int, subjects: int, found: list[str]
) -> None:
    assert candidates(con, {"r": names(subjects)}, named) == found


def test_a_graph_without_facts_has_no_candidates(con: duckdb.DuckDBPyConnection) -> None:
    assert candidates(con, {}) == []


def test_the_sentence_gives_the_flag_for_the_first_candidate_and_names_the_others() -> None:
    told = "1,000 of 2,500 entities have a name, the others are called by their ids; "
    assert few_names(1000, 2500, []) == f"{told}if a relation names them, give it as --label-relation"
    assert few_names(1000, 2500, ["a"]) == f"{told}a looks like a name: --label-relation a"
    assert few_names(1000, 2500, ["a", "b", "c"]) == f"{told}a (or b, c) looks like a name: --label-relation a"
