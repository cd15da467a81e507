"""The expander ``union`` unites by ranks, and keeps what its expanders know of each triple."""

from __future__ import annotations

from typing import Any

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from srtk_plugin_baselines.bfs import BfsExpander
from srtk_plugin_local.memory import MemoryGraph
from srtk_plugin_sr.union_expander import UnionExpander

from srtk_framework.roles import Expander
from srtk_framework.testing import ExpanderConformance
from srtk_framework.values import (
    Budget,
    Link,
    Question,
    RankedPath,
    Search,
    SettingsError,
    Step,
    Subgraph,
    Triple,
)

A, B, C, D = (Triple("a", "r", end) for end in "bcde")


@attrs.define(eq=False)
class Fixed(Expander):
    """Finds the same for every question."""

    subgraph: Subgraph
    links: bool = True

    def needs_links(self) -> bool:
        return self.links

    def expand(self, questions):
        return [self.subgraph] * len(questions)


class TestUnion(ExpanderConformance):
    name = "union"

    @pytest.fixture
    def driver(self, graph: Any, budget: Budget) -> UnionExpander:
        parts = [BfsExpander(graph=graph, budget=budget, depth=depth) for depth in (1, 2)]
        for part in parts:
            part.open()
        driver = UnionExpander(expanders=parts, graph=graph, budget=budget)
        driver.open()
        return driver

    def limited(self, driver: Any, budget: Budget) -> Any:
        parts = [attrs.evolve(part, budget=budget) for part in driver.expanders]
        return self.copy_of(driver, expanders=parts, budget=budget)


def found(*triples, **more) -> Subgraph:
    return Subgraph(triples, tuple(float(-i) for i in range(len(triples))), **more)


def united(*parts, question=None, **settings):
    graph = MemoryGraph(triples=sorted({t for part in parts for t in part.subgraph.triples}))
    graph.open()
    driver = UnionExpander(expanders=parts, graph=graph, **settings)
    driver.open()
    return driver.expand([question or Question("q", "?", (Link("a"),))])[0]


def numbered(name: str, count: int) -> list[Triple]:
    return [Triple("a", "r", f"{name}{number}") for number in range(1, count + 1)]


def test_a_triple_that_both_find_comes_first():
    result = united(Fixed(found(A, B)), Fixed(found(C, B, D)))
    assert result.triples == (B, A, C, D)
    assert result.scores == (round(120 / 62, 4), round(100 / 61, 4), round(20 / 61, 4), round(20 / 63, 4))


def test_with_equal_weights_the_expanders_take_turns():
    result = united(Fixed(found(A, B)), Fixed(found(C, D)), weights=[1.0, 1.0])
    assert result.triples == (A, C, B, D)
    assert result.scores == (round(100 / 61, 4), round(100 / 61, 4), round(100 / 62, 4), round(100 / 62, 4))


def test_the_expander_with_more_weight_leads_wherever_it_stands():
    assert united(Fixed(found(A, B)), Fixed(found(C, D)), weights=[0.5, 1.0]).triples == (C, D, A, B)


@settings(deadline=None, max_examples=25)
@given(own=st.integers(1, 245), others=st.integers(0, 60), most=st.integers(1, 245))
def test_up_to_245_triples_of_the_first_expander_are_never_displaced(own, others, most):
    first, second = numbered("x", own), numbered("y", others)
    result = united(Fixed(found(*first)), Fixed(found(*second)), budget=Budget(triples=most))
    assert set(first[:most]) <= set(result.triples)
    assert len(result.triples) == min(most, own + others)


def test_behind_the_first_245_every_sixth_triple_is_of_the_other_expander():
    first, second = numbered("x", 400), numbered("y", 100)
    result = united(Fixed(found(*first)), Fixed(found(*second)), budget=Budget(triples=305))
    assert len(set(result.triples) & set(second)) == 10


def test_a_triple_keeps_its_first_path():
    one, other = RankedPath("a", (Step("r"),), 1.0), RankedPath("a", (Step("s"),), 2.0)
    result = united(
        Fixed(found(A, B, paths=(one,), path_of=(-1, 0))), Fixed(found(A, B, paths=(other,), path_of=(0, 0)))
    )
    assert result.paths == (one, other)
    assert [result.path_of[result.triples.index(triple)] for triple in (A, B)] == [1, 0]


def test_the_budget_cuts_the_union_and_the_trace_says_so():
    result = united(Fixed(found(A, B)), Fixed(found(C)), budget=Budget(triples=2))
    assert (result.triples, result.trace["cut"]) == ((A, B), {"triples": 1})


def test_a_question_without_links_goes_to_those_that_need_none():
    searches = (Search("?", (("e", 1.0),)),)
    parts = Fixed(found(A)), Fixed(found(B, searches=searches), links=False)
    result = united(*parts, question=Question("q", "?"))
    assert result.triples == (B,)
    assert result.searches == searches
    assert result.trace["parts"][0] == {"reason": "the question has no link"}


def test_an_empty_union_says_why():
    empty = Subgraph(trace={"reason": "no path"})
    assert united(Fixed(empty), Fixed(Subgraph())).trace["reason"] == "no path; nothing found"


def test_one_expander_is_refused():
    with pytest.raises(SettingsError, match="union has 1 expanders; name at least two"):
        united(Fixed(found(A)))


def test_weights_for_other_than_the_expanders_are_refused():
    with pytest.raises(SettingsError, match="union has 3 weights for 2 expanders; give one for each"):
        united(Fixed(found(A)), Fixed(found(B)), weights=[1.0, 1.0, 1.0])


def test_a_weight_of_0_is_refused():
    with pytest.raises(ValueError, match=r"weights\[1\] must be above 0"):
        united(Fixed(found(A)), Fixed(found(B)), weights=[1.0, 0.0])
