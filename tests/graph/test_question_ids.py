"""A question's ids in the spelling of a result."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from srtk_framework.graph.question_ids import (
    entities_of,
    is_value,
    with_ids_among,
    with_ids_of_result,
    with_own_ids,
)
from srtk_framework.values import (
    END,
    Answer,
    Link,
    Literal,
    Pattern,
    Question,
    Retrieval,
    Step,
    Subgraph,
    Triple,
)

LONG = "http://www.wikidata.org/entity/Q1"
WORD = "http://www.wikidata.org/prop/direct/P31"


def test_links_answers_and_relations_take_the_spelling_that_is_there() -> None:
    question = Question("q", "", (Link(LONG),), answers=(LONG, "Q2"), gold_paths=((Step(WORD),),))
    found = with_ids_among(question, ["Q1", "Q3"], ["P31"])
    assert (found.links[0].entity, found.answers) == ("Q1", ("Q1", "Q2"))
    assert found.gold_paths == ((Step("P31"),),)
    assert with_ids_among(question, ["P31"], ["Q1"]) is question


def test_entities_and_relations_are_spelled_as_the_graph_spells_each() -> None:
    class Graph:
        def own_ids(self, ids: Any, relation: bool) -> list[str]:
            return [id_.upper() if relation else f"<{id_}>" for id_ in ids]

    graph: Any = Graph()
    question = Question("q", "", (Link("a"),), answers=("a", "b"), gold_paths=((Step("r"),),))
    [found] = with_own_ids(graph, [question])
    assert (found.links[0].entity, found.answers, found.gold_paths) == ("<a>", ("<a>", "<b>"), ((Step("R"),),))


ALL = Question(
    "q",
    "",
    (Link(LONG, name="one"), Link("NIL")),
    answers=(LONG, "Q1", Literal('"Q1"'), "5"),
    gold_paths=((Step(WORD), Step(WORD, True), END),),
    gold_triples=(Triple(LONG, WORD, "Q2"), Triple("Q1", "P31", "Q2"), Triple("Q2", WORD, Literal('"x"'))),
    gold_links=(Link(LONG),),
    options=(LONG, "Q1"),
    pattern=Pattern(LONG, WORD, None),
    candidates=(LONG, "Q1", "Q3"),
)


def test_everything_that_names_an_id_takes_its_spelling_and_what_becomes_equal_is_kept_once() -> None:
    found = with_ids_among(ALL, ["Q1"], ["P31"])
    assert [(link.entity, link.name) for link in found.links] == [("Q1", "one"), ("NIL", ALL.links[1].name)]
    assert found.answers == ("Q1", Literal('"Q1"'), "5")
    assert found.gold_paths == ((Step("P31"), Step("P31", True), END),)
    assert found.gold_triples == (Triple("Q1", "P31", "Q2"), Triple("Q2", "P31", Literal('"x"')))
    assert [link.entity for link in found.gold_links or ()] == ["Q1"]
    assert found.options == ("Q1", "Q1")  # they keep their places
    assert found.pattern == Pattern("Q1", "P31", None)
    assert found.candidates == ("Q1", "Q3")
    turned = attrs.evolve(ALL, pattern=Pattern(None, None, LONG))
    assert with_ids_among(turned, ["Q1"]).pattern == Pattern(None, None, "Q1")


@pytest.mark.parametrize(
    "known",
    [
        {"links": (Link(LONG),)},
        {"answers": (LONG,)},
        {"gold_triples": (Triple("a", "r", LONG),)},
        {"gold_triples": (Triple(LONG, "r", "a"),)},
        {"gold_links": (Link(LONG),)},
        {"options": (LONG,)},
        {"candidates": (LONG,), "pattern": Pattern("a", "r")},
        {"pattern": Pattern(LONG, "r")},
        {"pattern": Pattern(None, "r", LONG)},
    ],
)
def test_an_id_in_a_single_place_is_found_there(known: dict[str, Any]) -> None:
    question = Question("q", "", **known)
    assert entities_of(question) - {"a"} == {LONG}
    assert LONG not in entities_of(with_ids_among(question, ["Q1"]))
    assert with_ids_among(question, ["Q2"], ["P31"]) is question


@pytest.mark.parametrize(
    "known",
    [
        {"gold_paths": ((Step(WORD), END),)},
        {"gold_triples": (Triple("a", WORD, "b"),)},
        {"pattern": Pattern("a", WORD)},
    ],
)
def test_a_relation_in_a_single_place_is_found_there(known: dict[str, Any]) -> None:
    question = Question("q", "", **known)
    found = with_ids_among(question, [], ["P31"])
    assert "P31" in repr(found)
    assert WORD not in repr(found)
    assert with_ids_among(question, ["P31"], ["P32"]) is question


def test_two_spellings_that_the_result_lacks_are_one_id() -> None:
    found = with_ids_among(Question("q", "", answers=(LONG, "Q1", "Q2")), ["Q7"])
    assert len(found.answers or ()) == 2


def test_a_result_gives_its_spelling_by_its_triples_and_by_its_answer() -> None:
    question = Question("q", "", answers=(LONG,), gold_paths=((Step(WORD),),))
    by_triples = Retrieval(question, Subgraph((Triple("a", "P31", "Q1"),), (0.0,)))
    by_answer = Retrieval(question, Subgraph(), answer=Answer("one", ("Q1",)))
    assert with_ids_of_result(by_triples).question.answers == ("Q1",)
    assert with_ids_of_result(by_triples).question.gold_paths == ((Step("P31"),),)
    assert with_ids_of_result(by_answer).question.answers == ("Q1",)
    alone = Retrieval(question, Subgraph())
    assert with_ids_of_result(alone) is alone


@pytest.mark.parametrize(
    ("answer", "is_it"),
    [
        ("5", True),
        ("-1.5%", True),
        ("1999-01-02", True),
        ("Yes", True),
        ("Q5", False),
        (Literal('"a"'), True),
        ("", False),
    ],
)
def test_numbers_dates_truths_and_literals_are_values(answer: str, is_it: bool) -> None:
    assert is_value(answer) is is_it


def test_a_graph_is_asked_once_for_all_questions_and_not_for_nothing() -> None:
    asked: list[tuple[list[str], bool]] = []

    class Graph:
        def own_ids(self, ids: Any, relation: bool) -> list[str]:
            asked.append((list(ids), relation))
            return list(ids)

    graph: Any = Graph()
    questions = [Question("1", "", (Link("b"),)), Question("2", "", (Link("a"),))]
    assert with_own_ids(graph, questions)[0] is questions[0]
    assert asked == [(["a", "b"], False)]
