"""Who found a link, and what of it a result says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import pytest

import srtk_framework
from srtk_framework.host.ports import port
from srtk_framework.roles import EntityLinker, Expander, Reader
from srtk_framework.values import DriverError, Link, LinkList, Question

RECIPE: Mapping[str, Any] = {
    "srtk": 1,
    "knowledge_graph": {"use": "memory", "triples": [["Riga", "capital of", "Latvia"]]},
    "entity_linker": {"use": "dictionary"},
    "expander": {"use": "bfs"},
}


@attrs.define(eq=False)
class Told(EntityLinker):
    """Links as told.

    Attributes:
        row: Of every text.
    """

    row: Sequence[Link]

    def link(self, texts: Sequence[str]) -> list[Sequence[Link]]:
        return [self.row for _ in texts]


@attrs.define(eq=False)
class Down(Expander, Reader):
    """Fails."""

    def expand(self, questions: Sequence[Question]) -> Any:
        raise DriverError("it is down")

    def read(self, questions: Sequence[Question], subgraphs: Sequence[Any]) -> Any:
        raise DriverError("it is down")


def test_a_link_gets_the_name_of_its_linker() -> None:
    [[one, two]] = port(Told([Link("a"), Link("b", by="inner")]), "entity_linker", "outer").link(["x"])
    assert (one.by, two.by) == ("outer", "inner")


def test_who_found_a_link_is_not_part_of_what_it_is() -> None:
    assert Link("a", by="x") == Link("a")
    assert hash(Link("a", by="x")) == hash(Link("a"))


def test_what_a_linker_tells_besides_passes_its_port() -> None:
    row = LinkList([Link("a")], {"rel": "it is down"}, ["Nowhere", "Nowhere"])
    [found] = port(Told(row), "entity_linker", "outer").link(["x"])
    assert found == [Link("a")]
    assert found.failed == {"rel": "it is down"}
    assert found.unmapped == ("Nowhere",)


def test_a_list_made_of_lists_keeps_what_they_told() -> None:
    one, two = LinkList([], {"a": "1"}), LinkList([], {"b": "2"}, ["T"])
    made = LinkList.of([Link("x")], one, two, [Link("y")])
    assert (made, made.failed, made.unmapped) == ([Link("x")], {"a": "1", "b": "2"}, ("T",))
    assert LinkList.of([], one).unmapped is None


def test_the_trace_says_who_linked_a_question() -> None:
    with srtk_framework.open(RECIPE) as session:
        [linked] = session.retrieve(["Where is Riga?"])
        [lost] = session.retrieve(["Where is it?"])
    assert linked.subgraph.trace["linked_by"] == ["dictionary"]
    assert lost.error is not None
    assert lost.subgraph.trace["linked_by"] == []


def test_the_trace_of_a_question_with_given_links_names_no_linker() -> None:
    with srtk_framework.open(RECIPE) as session:
        [given] = session.retrieve([Question("1", "Where is Riga?", (Link("Riga"),))])
    assert "linked_by" not in given.subgraph.trace


def test_gold_links_stay_through_a_run() -> None:
    gold = (Link("Riga", start=9, end=13),)
    with srtk_framework.open(RECIPE) as session:
        [found] = session.retrieve([Question("1", "Where is Riga?", gold_links=gold)])
    assert found.question.gold_links == gold


@pytest.mark.parametrize("role", ["expander", "reader"])
def test_a_question_that_fails_behind_the_linker_keeps_who_linked_it_and_what_the_graph_lacks(role: str) -> None:
    linker = Told([Link("Nowhere"), Link("Riga", start=0, end=4)])
    with srtk_framework.open({**RECIPE, "entity_linker": linker, role: Down()}) as session:
        [found] = session.retrieve(["Riga?"])
    assert found.error is not None
    assert found.error.endswith("it is down")
    assert found.subgraph.trace["linked_by"] == ["Told"]
    assert found.subgraph.trace["absent_links"] == ["Nowhere"]
