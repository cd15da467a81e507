"""A graph with arrays gives the instances that its hooks give."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from srtk_framework.graph.path_facts import instances
from srtk_framework.testing.oracle import OracleGraph
from srtk_framework.testing.sample import Sample
from srtk_framework.values import Budget, Literal, RankedPath, Step, Triple

NODES = ["a", "b", "c", "d", "e"]
triples = st.builds(
    Triple, st.sampled_from(NODES), st.sampled_from(["r", "s"]), st.sampled_from([*NODES, Literal('"a"')])
)
steps = st.builds(Step, st.sampled_from(["r", "s"]), st.booleans())
paths = st.lists(
    st.builds(
        RankedPath,
        st.sampled_from([*NODES, "unknown"]),
        st.lists(steps, min_size=1, max_size=3).map(tuple),
        st.just(0.0),
    ),
    max_size=6,
)
limits = st.sampled_from([None, 1, 2, 3])


class Arrays:
    """What instances read of the arrays of a dictionary graph."""

    def __init__(self, graph: OracleGraph, found: Sequence[Triple]) -> None:
        self.graph = graph
        self.every = sorted({node for triple in found for node in (triple.subject, triple.object)})

    def ids(self, numbers: Any) -> list[str]:
        """Return the ids of nodes."""
        return [self.every[number] for number in numbers.tolist()]

    def nodes(self, frontier: Any) -> Any:
        """Return the numbers of a frontier's nodes."""
        return np.array([self.every.index(node) for node in frontier.ids()], dtype=np.int64)

    def along(self, nodes: Any, places: Any, steps: Any, limit: int | None) -> tuple[Any, ...]:
        """Read the edges along steps."""
        at, along = self.graph.frontiers([[node] for node in self.ids(nodes)]), [steps[place] for place in places]
        rows = [
            (row, self.every.index(triple.subject if step.inverse else triple.object))
            for row, (step, read) in enumerate(zip(along, self.graph.triples(at, along, limit), strict=True))
            for triple in read
        ]
        return tuple(np.array(rows, dtype=np.int64).reshape(-1, 2).T)


def answers_of_both(graph: OracleGraph, found: Sequence[Triple], asked: list[RankedPath], budget: Budget) -> list[Any]:
    """Read the instances of paths and what the limits left out, by the hooks, then by number."""
    answers = []
    for arrays in (None, Arrays(graph, found)):
        graph.arrays = lambda arrays=arrays: arrays  # type: ignore[method-assign,misc,assignment]
        cuts: list[dict[str, int]] = [{} for _ in asked]
        read = instances(graph, asked, [{} for _ in asked], budget, cuts)
        answers.append(([list(one) for one in read], cuts))
    return answers


@given(st.lists(triples, max_size=30), paths, limits, limits)
def test_instances_by_number_are_those_of_the_hooks(
    found: list[Triple], asked: list[RankedPath], hub: int | None, most: int | None
) -> None:
    graph = OracleGraph(Sample(tuple(sorted(set(found)))))
    graph.open()
    hooks, numbers = answers_of_both(graph, found, asked, Budget(triples=most, hub=hub, nodes=None))
    assert numbers == hooks


def test_long_paths_with_many_ways_are_those_of_the_hooks() -> None:
    rows = [(f"a{i}", "r", f"b{j}") for i in range(2) for j in range(3)]
    rows += [(f"b{j}", "r", f"c{j % 2}") for j in range(3)] + [("c0", "r", f"d{k}") for k in range(4)]
    rows += [("c1", "r", "d3"), ("d1", "r", "e"), ("d3", "r", "e"), ("d3", "r", "f")]
    found = [Triple(*row) for row in rows]
    asked = [RankedPath(start, (Step("r"),) * length, 0.0) for start in ("a0", "a1", "b2") for length in (1, 2, 3, 4)]
    graph = OracleGraph(Sample(tuple(sorted(found))))
    graph.open()
    for most, hub in product((None, 1, 3, 5), (None, 1, 2, 3)):
        hooks, numbers = answers_of_both(graph, found, asked, Budget(triples=most, hub=hub, nodes=None))
        assert numbers == hooks, (most, hub)
        if most is hub is None:
            assert [len(row) for row in numbers[0]] == [3, 3, 9, 8, 3, 3, 9, 8, 1, 4, 3, 0]


def read_both(graph: OracleGraph, found: Sequence[Triple], path: RankedPath, known: Any, most: int) -> list[Any]:
    """Read the instances of a path by the hooks, then by number."""
    answers = []
    for arrays in (None, Arrays(graph, found)):
        graph.arrays = lambda arrays=arrays: arrays  # type: ignore[method-assign,misc,assignment]
        [row] = instances(graph, [path], [known], Budget(triples=most), [{}])
        answers.append([[(*one.triples,) for one in row]])
    return answers


def test_an_instance_behind_many_chains_that_lead_nowhere_is_found() -> None:
    found = [Triple("a", "r", f"b{i:02}") for i in range(50)] + [Triple("b49", "r", "c")]
    graph = OracleGraph(Sample(tuple(found)))
    graph.open()
    hooks, numbers = read_both(graph, found, RankedPath("a", (Step("r"),) * 2, 0.0), {}, 2)
    assert numbers == hooks == [[(Triple("a", "r", "b49"), Triple("b49", "r", "c"))]]


def test_instances_by_number_pass_only_nodes_that_the_search_has_kept() -> None:
    found = [Triple("a", "r", f"b{i}") for i in range(3)] + [Triple(f"b{i}", "r", "c") for i in range(3)]
    graph = OracleGraph(Sample(tuple(found)))
    graph.open()
    start, kept = graph.frontiers([["a"], ["b0", "b2"]])
    known = {("a", ()): start, ("a", (Step("r"),)): kept}
    hooks, numbers = read_both(graph, found, RankedPath("a", (Step("r"),) * 2, 0.0), known, 5)
    assert numbers == hooks
    assert [row[0].object for row in numbers[0]] == ["b0", "b2"]
