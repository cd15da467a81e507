"""Gold triples from gold paths."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs
import pytest

from srtk_framework.gold import gold_triples_of, path_instances, with_gold_triples
from srtk_framework.specs import KnowledgeGraph
from srtk_framework.types import Frontier, Link, Literal, NodeSet, Question, Step, Triple

ACTS, ACTS_IN, YEAR = Step("acts"), Step("acts", True), Step("year")
TRIPLES = (
    Triple("Film A", "acts", "Ann"),
    Triple("Film A", "acts", "Bob"),
    Triple("Film B", "acts", "Ann"),
    Triple("Film B", "acts", "Cid"),
    Triple("Film B", "year", Literal.make("1998", "xsd:gYear")),
    Triple("Film C", "acts", "Ann"),
)


@attrs.define(eq=False)
class Listed(KnowledgeGraph):
    """A graph over a list."""

    def frontiers(self, node_sets: Sequence[Sequence[str]]) -> list[Frontier]:
        return [NodeSet(nodes) for nodes in node_sets]

    def triples(
        self, frontiers: Sequence[Frontier], steps: Sequence[Step], limit: int | None
    ) -> list[Sequence[Triple]]:
        return [read(frontier.ids(), step) for frontier, step in zip(frontiers, steps, strict=True)]


def read(nodes: Sequence[str], step: Step) -> list[Triple]:
    return [t for t in TRIPLES if t.relation == step.relation and (t.object if step.inverse else t.subject) in nodes]


def test_only_whole_instances_that_end_in_an_answer_are_gold() -> None:
    found = path_instances(read, "Ann", (ACTS_IN, ACTS), ["Cid"])
    assert found == [Triple("Film B", "acts", "Ann"), Triple("Film B", "acts", "Cid")]


def test_without_answers_all_whole_instances_are_gold() -> None:
    found = path_instances(read, "Ann", (ACTS_IN, YEAR), None)
    assert found == [TRIPLES[2], TRIPLES[4]]


def test_a_triple_walked_in_both_directions_stands_once() -> None:
    found = path_instances(read, "Bob", (ACTS_IN, ACTS), ["Ann", "Bob"])
    assert found == [Triple("Film A", "acts", "Bob"), Triple("Film A", "acts", "Ann")]


def test_a_literal_answer_is_known_by_its_lexical_form() -> None:
    assert path_instances(read, "Film B", (YEAR,), ["1998"]) == [TRIPLES[4]]


def test_a_path_that_leads_nowhere_has_no_gold() -> None:
    assert path_instances(read, "Ann", (YEAR,), None) == []
    assert path_instances(read, "Ann", (), None) == []


def question(**known: Any) -> Question:
    return attrs.evolve(Question("1", "Who acts?", (Link("Ann"),), ("Cid",)), **known)


def test_gold_triples_are_read_from_the_graph_from_each_link() -> None:
    asked = question(gold_paths=((ACTS_IN, ACTS), (ACTS_IN,)), links=(Link("Ann"), Link("nobody")))
    assert gold_triples_of(Listed(), asked) == (TRIPLES[2], TRIPLES[3])


@pytest.mark.parametrize("known", [{}, {"gold_paths": ((ACTS,),), "links": ()}])
def test_without_paths_or_links_gold_triples_are_not_known(known: dict[str, Any]) -> None:
    assert gold_triples_of(Listed(), question(**known)) is None


def test_gold_triples_that_are_given_stay() -> None:
    asked = question(gold_triples=(TRIPLES[0],), gold_paths=((ACTS_IN,),))
    assert with_gold_triples(Listed(), [asked, question()]) == [asked, question()]
