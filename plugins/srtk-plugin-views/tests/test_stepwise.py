"""A view with other triples than its graph: searches and names go through the view."""

from __future__ import annotations

from collections.abc import Sequence

import attrs
from srtk_plugin_local.memory import MemoryGraph
from srtk_plugin_views.stepwise import StepwiseView

from srtk_framework.values import Budget, Frontier, Pattern, Step, Triple

ROWS = [Triple("a", "p", "b"), Triple("b", "p", "c"), Triple("a", "q", "c"), Triple("c", "q", "d")]


@attrs.define(eq=False)
class WithoutQ(StepwiseView):
    """A graph without the relation q, and without the names of d."""

    def steps(self, frontiers: Sequence[Frontier], inverse: bool) -> list[list[Step]]:
        return [[step for step in row if step.relation != "q"] for row in self.graph.steps(frontiers, inverse)]

    def match(self, patterns: Sequence[Pattern]) -> list[list[Triple]]:
        return [[triple for triple in row if triple.relation != "q"] for row in self.graph.match(patterns)]

    def find(self, names: Sequence[str]) -> list[list[str]]:
        return [[id_ for id_ in row if id_ != "d"] for row in self.graph.find(names)]


class Near(MemoryGraph):
    """Notes what near names it is asked for."""

    def near_names(self, names: Sequence[str], limit: int, whole: bool) -> list[list[str]]:
        self.__dict__.setdefault("asked", []).append((list(names), limit, whole))
        return [["d", "a", "b"], [], ["b", "d"]]


def view() -> WithoutQ:
    graph = Near(ROWS)
    graph.open()
    return WithoutQ(graph)


def test_searches_read_through_the_view() -> None:
    graph = view()
    at = graph.frontiers([["a"]])
    assert list(graph.neighbourhood(at, 2, Budget())[0]) == ROWS[:2]
    [found] = graph.paths([["a"]], [["c"]], 2, Budget(), False, False)
    assert [[step.relation for step in path] for path in found.paths] == [["p", "p"]]
    assert list(graph.degrees(["a", "c", "d"])) == [1, 1, 0]


def test_near_names_are_those_of_entities_of_the_view_in_their_order() -> None:
    graph = view()
    assert graph._near_names_here(["x", "y", "z"], 3, True) == [["a", "b"], [], ["b"]]
    assert graph.graph.__dict__["asked"] == [(["x", "y", "z"], 3, True)]
