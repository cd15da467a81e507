"""Gold triples from gold paths."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs
import pytest

from srtk_framework.graph.path_instances import gold_triples_of, instance_triples, with_gold_triples
from srtk_framework.testing import OracleGraph, Sample
from srtk_framework.values import Link, Literal, Question, Step, Triple

ACTS, ACTS_IN, YEAR = Step("acts"), Step("acts", True), Step("year")
TRIPLES = (
    Triple("Film A", "acts", "Ann"),
    Triple("Film A", "acts", "Bob"),
    Triple("Film B", "acts", "Ann"),
    Triple("Film B", "acts", "Cid"),
    Triple("Film B", "year", Literal.make("1998", "xsd:gYear")),
    Triple("Film C", "acts", "Ann"),
)


@pytest.fixture
def graph() -> OracleGraph:
    oracle = OracleGraph(Sample(triples=TRIPLES))
    oracle.open()
    return oracle


def read(nodes: Sequence[str], step: Step) -> list[Triple]:
    return [t for t in TRIPLES if t.relation == step.relation and (t.object if step.inverse else t.subject) in nodes]


def test_only_complete_instances_that_end_in_an_answer_are_gold() -> None:
    found = instance_triples(read, "Ann", (ACTS_IN, ACTS), ["Cid"])
    assert found == [Triple("Film B", "acts", "Ann"), Triple("Film B", "acts", "Cid")]


def test_without_answers_all_complete_instances_are_gold() -> None:
    found = instance_triples(read, "Ann", (ACTS_IN, YEAR), None)
    assert found == [TRIPLES[2], TRIPLES[4]]


def test_a_triple_followed_in_both_directions_is_returned_once() -> None:
    found = instance_triples(read, "Bob", (ACTS_IN, ACTS), ["Ann", "Bob"])
    assert found == [Triple("Film A", "acts", "Bob"), Triple("Film A", "acts", "Ann")]


def test_a_literal_answer_matches_by_its_lexical_form() -> None:
    assert instance_triples(read, "Film B", (YEAR,), ["1998"]) == [TRIPLES[4]]


def test_a_path_that_leads_nowhere_has_no_gold() -> None:
    assert instance_triples(read, "Ann", (YEAR,), None) == []
    assert instance_triples(read, "Ann", (), None) == []


def question(**known: Any) -> Question:
    return attrs.evolve(Question("1", "Who acts?", (Link("Ann"),), ("Cid",)), **known)


def test_gold_triples_are_read_from_the_graph_from_each_link(graph: OracleGraph) -> None:
    asked = question(gold_paths=((ACTS_IN, ACTS), (ACTS_IN,)), links=(Link("Ann"), Link("nobody")))
    assert gold_triples_of(graph, asked) == (TRIPLES[2], TRIPLES[3])


@pytest.mark.parametrize("known", [{}, {"gold_paths": ((ACTS,),), "links": ()}])
def test_without_paths_or_links_gold_triples_are_unknown(graph: OracleGraph, known: dict[str, Any]) -> None:
    assert gold_triples_of(graph, question(**known)) is None


def test_gold_triples_of_the_input_are_kept(graph: OracleGraph) -> None:
    asked = question(gold_triples=(TRIPLES[0],), gold_paths=((ACTS_IN,),))
    assert with_gold_triples(graph, [asked, question()]) == [asked, question()]
