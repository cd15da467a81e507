"""How often the ``paths`` reader asks the graph, for one question and for a batch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import attrs
import pytest
from srtk_plugin_answers.path_reads import PathReads
from srtk_plugin_answers.reader import PathsReader
from srtk_plugin_local.memory import MemoryGraph

from srtk_framework.graph import facts, instances
from srtk_framework.roles import PathScorer, SearchSettings
from srtk_framework.values import Budget, Link, Question, RankedPath, Schema, Step, Subgraph

TOWNS = ["bern", "chur", "davos"]
TRIPLES = [
    *(["alps", "town", town] for town in TOWNS),
    *([town, "kind", "place"] for town in TOWNS),
    *[["alps", "river", "inn"], ["inn", "kind", "water"], ["inn", "mouth", "danube"], ["place", "above", "site"]],
]
TYPED = Schema(
    relations=("town", "river", "mouth", "kind", "above"), type_relations=("kind",), subclass_relations=("above",)
)
PATHS = ["town", "river", "river mouth"]


@attrs.define(eq=False)
class Named(PathScorer):
    """Prefers relations that the question names, by one natural-log unit."""

    def search_settings(self) -> SearchSettings:
        return SearchSettings(scale=1.0)

    def score(self, questions: Any, paths: Any, candidates: Any) -> Any:
        return [[float(step.relation in text) for step in row] for text, row in zip(questions, candidates, strict=True)]


class Counted:
    """A graph that counts the calls of its hooks."""

    def __init__(self) -> None:
        self.graph = MemoryGraph(triples=TRIPLES, labels={})
        self.graph.open()
        self.calls: Counter[str] = Counter()

    def schema(self) -> Schema:
        return TYPED

    def arrays(self) -> None:
        """Have none; asking is no hook, and reads nothing."""

    def __getattr__(self, name: str) -> Callable[..., Any]:
        hook: Callable[..., Any] = getattr(self.graph, name)

        def call(*arguments: Any, **named: Any) -> Any:
            self.calls[name] += 1
            return hook(*arguments, **named)

        return call


def found(graph: Counted) -> Subgraph:
    paths = [RankedPath("alps", tuple(map(Step, path.split())), 9.0 - rank) for rank, path in enumerate(PATHS)]
    [subgraph] = facts(graph.graph, [paths], Budget())
    return subgraph


def calls_of(*texts: str) -> Counter[str]:
    """Return how often a warm reader asks the graph about questions that are read together."""
    graph = Counted()
    some: Any = graph
    reader = PathsReader(some, Named())
    reader.open()
    asked = [Question("q", text, (Link("alps", start=text.index("alps"), name="alps"),)) for text in texts]
    subgraphs = [found(graph) for _ in asked]
    reader.read(asked, subgraphs)
    graph.calls.clear()
    answers = reader.read(asked, subgraphs)
    assert all(answer.enough for answer in answers), answers
    return graph.calls


def test_a_look_up_reads_the_names_the_words_and_the_whole_of_the_best_path() -> None:
    assert calls_of("What has alps for a town?") == {"labels": 1, "find": 1, "frontiers": 1, "triples": 1}


def test_a_look_up_of_a_class_reads_the_classes_with_the_same_frontiers() -> None:
    # The classes of the ends, what the relations of the class lead to, and the whole of the best path.
    assert calls_of("In which town of alps is it?") == {"labels": 1, "find": 1, "frontiers": 1, "triples": 3}


def test_the_sets_of_a_plural_and_the_classes_of_their_members_take_three_calls_more() -> None:
    told = {"labels": 1, "find": 1, "frontiers": 2, "triples": 4, "follow": 1}
    assert calls_of("Which towns are in alps?") == told


@pytest.mark.parametrize("text", ["In which town of alps is it?", "Which towns are in alps?"])
def test_a_batch_asks_as_often_as_one_question_but_for_the_wholes(text: str) -> None:
    one, many = calls_of(text), calls_of(*[text] * 5)
    assert many.total() <= one.total() + 5, (one, many)


def test_frontiers_and_paths_that_were_read_are_not_read_again() -> None:
    graph: Any = Counted()
    reads = PathReads(graph, 100, links=["alps"])
    paths = [RankedPath("alps", tuple(map(Step, path.split())), 1.0) for path in PATHS]
    first = reads.of(paths)
    assert [one.instances[0].end for one in first] == ["bern", "inn", "danube"]
    before = dict(graph.calls)
    assert reads.of(paths[::-1]) == first[::-1]
    assert [list(one.ids()) for one in reads.frontiers([["alps"]])] == [["alps"]]
    assert graph.calls == before


def test_no_path_asks_a_graph_for_nothing() -> None:
    graph: Any = Counted()
    assert instances(graph, [], [], Budget(), []) == []
    assert not graph.calls
