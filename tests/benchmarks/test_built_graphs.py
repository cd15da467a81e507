"""How graphs are compared with what they should be: names, literals, and the ends of paths."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.files.built_graphs import ENDS, answers, ends_of, holds, is_answered, literal_type, plain

FACTS = [("Ada", "born in", "Riga"), ("Ada", "age", '"31"^^xsd:integer')]


def record(triplets: list[list[str]], steps: list[str]) -> dict[str, Any]:
    """Make a record with one path from ``a``."""
    path = {"entity": "a", "steps": steps, "score": 1.0}
    return {"paths": [path], "triplets": triplets, "labels": {"a": "Ada", "b": "Grey Mill"}}


@pytest.mark.parametrize(
    ("term", "kind"),
    [
        ("Riga", None),
        ('"31"^^xsd:integer', "integer"),
        ('"1.5"^^<http://www.w3.org/2001/XMLSchema#decimal>', "number"),
        ('"2020-01-02"^^xsd:date', "date"),
        ('"07:30:00"^^xsd:time', "time"),
        ('"true"^^xsd:boolean', "boolean"),
        ('"54 cm"', "text"),
        ('"Mill"@en-GB', "text"),
    ],
)
def test_a_term_tells_its_kind(term: str, kind: str | None) -> None:
    assert literal_type(term) == kind


def test_a_fact_is_found_by_names_by_any_spelling_and_by_any_name() -> None:
    assert holds(FACTS, ["Ada", "Born_In", "Riga"])
    assert holds(FACTS, ["Ada", "age", ["31.0", "31"]])
    assert holds(FACTS, ["*", "age", "*"])
    assert not holds(FACTS, ["Bo", "age", "*"])
    assert not holds(FACTS, ["Ada", "age", "3"])


def test_words_of_a_relation_are_compared_without_case_and_marks() -> None:
    assert plain("subClassOf") == plain("sub class of")
    assert plain("-") == "-"


def test_a_path_ends_where_its_steps_lead_and_back() -> None:
    triples = [["a", "in", "x"], ["b", "in", "x"], ["c", "in", "y"]]
    assert ends_of("a", ["in"], triples) == {"x"}
    assert ends_of("a", ["in", "^in"], triples) == {"a", "b"}


def test_an_answer_is_at_the_end_of_a_path_among_few_others() -> None:
    assert is_answered(record([["a", "works at", "b"]], ["works at"]), "grey mill")
    assert not is_answered(record([["a", "works at", "b"]], ["works at"]), "Ada")
    crowd = [["a", "knows", f"n{number}"] for number in range(ENDS + 1)]
    assert not is_answered(record(crowd, ["knows"]), "n1")
    assert not is_answered("error: no graph", "n1")


def test_the_end_of_a_path_shows_a_literal_by_its_text() -> None:
    assert answers(record([["a", "age", '"31"^^xsd:integer']], ["age"])) == [["31"]]
