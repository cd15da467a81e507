"""A question's ids in the spelling of a result."""

from __future__ import annotations

from typing import Any

from srtk_framework.graph.question_ids import with_ids_among, with_own_ids
from srtk_framework.values import Link, Question, Step

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
