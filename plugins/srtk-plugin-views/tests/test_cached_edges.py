"""The cache of edges: what is read, how often, and what of it are mediators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from srtk_plugin_local.memory import MemoryGraph
from srtk_plugin_views import cached_edges
from srtk_plugin_views.cached_edges import fits
from srtk_plugin_views.joined_edges import JoinedEdges

from srtk_framework.values import Frontier, Literal, Step, Triple

YEAR = Literal.make("1990", "xsd:gYear")
ROWS = [
    Triple("ann", "job", "m.1"),
    Triple("m.1", "firm", "acme"),
    Triple("m.1", "since", YEAR),
    Triple("ann", "knows", "bo"),
    Triple("ann", "knows", "cy"),
    Triple("ann", "hidden.p", "bo"),
    Triple("ann", "hidden.type", "person"),
    Triple("bo", "born", YEAR),
]


class Counted(MemoryGraph):
    """Notes the nodes whose steps are read, in which direction, and the ids whose labels are."""

    def steps(self, frontiers: Sequence[Frontier], inverse: bool) -> Any:
        self.__dict__.setdefault("read", []).extend((id_, inverse) for one in frontiers for id_ in one.ids())
        return super().steps(frontiers, inverse)

    def labels(self, ids: Sequence[str]) -> Any:
        self.__dict__.setdefault("named", []).extend(ids)
        return super().labels(ids)


def edges_of(
    rows: Sequence[Triple] = ROWS, labels: dict[str, str] | None = None, unnamed: bool = True, **settings: Any
) -> tuple[Any, JoinedEdges]:
    graph = Counted(list(rows), labels or {}, **settings)
    graph.open()
    graph.__dict__.update(read=[], named=[])
    return graph, JoinedEdges(graph, ("m.*", "m_*"), unnamed, ("hidden.*",), ("hidden.type",), ())


def test_a_text_fits_any_pattern_with_its_case() -> None:
    assert fits("m.1", ("x", "m.*"))
    assert not fits("M.1", ("m.*",))
    assert not fits("m.1", ())


def test_neighbours_are_those_along_a_step_and_none_where_nothing_is_loaded() -> None:
    _, edges = edges_of()
    edges.load(["ann"], False)
    edges.load(["bo"], True)
    assert edges.ends("ann", False) == {
        "job..firm": ["acme"],
        "job..since": [YEAR],
        "knows": ["bo", "cy"],
        "hidden.type": ["person"],
    }
    assert edges.ends("bo", True) == {"knows": ["ann"]}
    assert edges.neighbours("ann", Step("knows")) == ["bo", "cy"]
    assert edges.neighbours("bo", Step("knows", True)) == ["ann"]
    assert edges.neighbours("ann", Step("knows", True)) == ()
    assert edges.neighbours("ann", Step("hidden.p")) == ()
    assert edges.ends("cy", False) == {}


def test_each_node_is_read_once_in_each_direction() -> None:
    graph, edges = edges_of()
    for _ in range(2):
        edges.load(["ann", "bo", "ann"], False)
    assert sorted(graph.read) == [("ann", False), ("bo", False), ("m.1", False)]
    edges.load(["bo"], True)
    assert graph.read[3:] == [("bo", True)]


def test_nodes_exist_that_a_joined_triple_leads_to_or_from_and_no_others() -> None:
    graph, edges = edges_of([*ROWS, Triple("dee", "hidden.p", "m.1")])
    asked = ["ann", "bo", "cy", "acme", "m.1", "dee", "nobody", YEAR, "person", "ann"]
    assert edges.exist(asked) == {"ann", "bo", "cy", "acme", "person"}
    # What has outgoing edges need not be read backwards.
    assert not {("ann", True), ("bo", True)} & set(graph.read)
    assert {("cy", True), ("acme", True)} <= set(graph.read)
    assert edges.exist([]) == set()


@pytest.mark.parametrize(("most", "reads"), [(5, 1), (4, 2)])
def test_a_cache_with_more_than_it_may_hold_is_emptied_between_reads(
    monkeypatch: pytest.MonkeyPatch, most: int, reads: int
) -> None:
    # Of bo: two judged nodes, one that was read with its triple, and a joined edge.
    monkeypatch.setattr(cached_edges, "MEMORY", most)
    graph, edges = edges_of([Triple("bo", "knows", "cy")])
    for _ in range(2):
        edges.forget()
        edges.load(["bo"], False)
        assert edges.ends("bo", False) == {"knows": ["cy"]}
    assert graph.read == [("bo", False)] * reads
    assert edges._kept == 5


def test_all_that_is_kept_is_counted() -> None:
    _, edges = edges_of()
    edges.load(["ann"], False)
    # Six judged nodes, without the literal; two that were read, with six triples; five joined edges.
    assert edges._kept == 6 + 2 + 6 + 5


@pytest.mark.parametrize(
    ("labels", "unnamed", "mediator"),
    [({}, True, True), ({"m.1": "One"}, True, False), ({"m.1": "One"}, False, True), ({}, False, True)],
)
def test_a_node_with_a_label_is_a_mediator_only_where_all_that_fit_are(
    labels: dict[str, str], unnamed: bool, mediator: bool
) -> None:
    graph, edges = edges_of(labels=labels, unnamed=unnamed)
    edges.load(["ann"], False)
    assert ("job..firm" in edges.ends("ann", False)) is mediator
    assert ("job" in edges.ends("ann", False)) is not mediator
    # Only nodes that fit are looked up.
    assert graph.named == (["m.1"] if unnamed else [])


def test_an_id_shown_with_blanks_is_no_label() -> None:
    rows = [Triple("ann", "job", "m_1"), Triple("m_1", "firm", "acme")]
    for label, joined in (("m 1", True), ("m_1", True), ("m-1", False)):
        _, edges = edges_of(rows, {"m_1": label})
        edges.load(["ann"], False)
        assert list(edges.ends("ann", False)) == (["job..firm"] if joined else ["job"])


def test_a_literal_that_fits_a_pattern_is_no_mediator() -> None:
    _, edges = edges_of([Triple("ann", "job", Literal("m.1"))])
    edges.load(["ann", Literal("m.1")], False)
    assert edges.ends("ann", False) == {"job": [Literal("m.1")]}


def test_names_are_found_in_the_graph() -> None:
    _, edges = edges_of(labels={"ann": "Ann Lee"})
    assert list(map(list, edges.called(["ann lee", "nobody"]))) == [["ann"], []]
