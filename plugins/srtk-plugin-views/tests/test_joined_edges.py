"""Edges joined through mediators: both directions, literals, qualifiers and the triples they stand for."""

from __future__ import annotations

from collections.abc import Sequence

from srtk_plugin_local.memory import MemoryGraph
from srtk_plugin_views.joined_edges import JoinedEdges

from srtk_framework.values import Literal, Triple

YEAR = Literal.make("1990", "xsd:gYear")
ROWS = [
    Triple("ann", "job", "m.1"),
    Triple("ann", "job", "m.2"),
    Triple("ann", "job", "bo"),
    Triple("m.1", "firm", "acme"),
    Triple("m.2", "firm", "acme"),
    Triple("m.2", "firm", "bank"),
    Triple("m.2", "role", "chief"),
    Triple("m.1", "since", YEAR),
    Triple("m.1", "who", "ann"),
    Triple("m.1", "type", "employment"),
    Triple("m.1", "base.x", "noise"),
    Triple("m.1", "next", "m.2"),
    Triple("ann", ".odd", "cy"),
    Triple("ann", "base.y", "m.1"),
    Triple("ann", "base.y", "cy"),
]


def edges_of(rows: Sequence[Triple] = ROWS, hidden: Sequence[str] = ()) -> JoinedEdges:
    graph = MemoryGraph(list(rows))
    graph.open()
    return JoinedEdges(graph, ("m.*",), True, hidden, ("type",), ("base.*",))


def loaded(*nodes: str, inverse: bool = False) -> JoinedEdges:
    edges = edges_of()
    edges.load(nodes, inverse)
    return edges


def test_types_and_noise_are_never_half_of_a_composite() -> None:
    edges = edges_of()
    assert [edges.may_join(name) for name in ("job", "type", "base.x", "types")] == [True, False, False, True]


def test_forward_the_first_relation_comes_first_and_ends_are_sorted() -> None:
    assert loaded("ann").ends("ann", False) == {
        "job": ["bo"],
        "job..firm": ["acme", "bank"],
        "job..role": ["chief"],
        "job..since": [YEAR],
        r"\.odd": ["cy"],
        "base.y": ["cy"],
    }


def test_backward_the_relation_that_the_step_begins_with_comes_last() -> None:
    edges = loaded("acme", "bo", "cy", "m.1", inverse=True)
    assert edges.ends("acme", True) == {"job..firm": ["ann"]}
    assert edges.ends("bo", True) == {"job": ["ann"]}
    assert edges.ends("cy", True) == {r"\.odd": ["ann"], "base.y": ["ann"]}
    assert edges.ends("m.1", True) == {}


def test_only_mediators_behind_relations_that_may_join_are_read() -> None:
    edges = edges_of([Triple("ann", "base.y", "m.1"), Triple("ann", "type", "m.2"), Triple("ann", "is", "bo")])
    edges.load(["ann"], False)
    assert edges.ends("ann", False) == {"is": ["bo"]}
    assert set(edges._raw[False]) == {"ann"}


def test_a_composite_is_led_through_each_of_its_mediators_sorted() -> None:
    edges = loaded("ann")
    assert edges.mediators("ann", ("job", "firm"), "acme") == ["m.1", "m.2"]
    assert edges.mediators("ann", ("job", "firm"), "bank") == ["m.2"]
    assert edges.mediators("ann", ("job", "role"), "acme") == []
    assert edges.mediators("ann", ("knows", "firm"), "acme") == []
    assert edges.mediators("nobody", ("job", "firm"), "acme") == []


def test_a_triple_stands_for_itself_or_for_two_through_each_mediator() -> None:
    edges = loaded("ann")
    assert edges.ways(Triple("ann", "job..firm", "acme")) == [
        (Triple("ann", "job", "m.1"), Triple("m.1", "firm", "acme")),
        (Triple("ann", "job", "m.2"), Triple("m.2", "firm", "acme")),
    ]
    assert edges.ways(Triple("ann", r"\.odd", "cy")) == [(Triple("ann", ".odd", "cy"),)]
    assert edges.ways(Triple("ann", "a..b..c", "cy")) == []
    assert edges.ways(Triple("ann", "a...b", "cy")) == []


def test_qualifiers_are_the_other_triples_of_all_mediators_sorted() -> None:
    edges = loaded("ann")
    # Neither the subject, nor the fact itself, nor types, noise or other mediators.
    assert edges.qualifiers("ann", ("job", "firm"), "bank") == [("firm", "acme"), ("role", "chief")]
    assert edges.qualifiers("ann", ("job", "firm"), "acme") == [("firm", "bank"), ("role", "chief"), ("since", YEAR)]
    assert edges.qualifiers("ann", ("job", "since"), YEAR) == [("firm", "acme")]
    odd = edges_of([Triple("ann", "job", "m.1"), Triple("m.1", "firm", "acme"), Triple("m.1", ".odd", "x")])
    odd.load(["ann"], False)
    assert odd.qualifiers("ann", ("job", "firm"), "acme") == [(r"\.odd", "x")]


def test_a_literal_is_found_at_a_node_and_through_a_mediator() -> None:
    rows = [*ROWS, Triple("bo", "born", YEAR), Triple("bo", "secret", YEAR), Triple("dee", "job", "m.1")]
    rows += [Triple("bo", "born", Literal("1991"))]
    assert edges_of(rows, ("secret",)).leading_to(YEAR) == [
        Triple("ann", "job..since", YEAR),
        Triple("bo", "born", YEAR),
        Triple("dee", "job..since", YEAR),
    ]
    assert edges_of(rows).leading_to(Literal("other")) == []


def test_a_node_that_only_leads_to_itself_over_its_mediator_has_no_edge() -> None:
    edges = edges_of([Triple("ann", "job", "m.1"), Triple("m.1", "who", "ann")])
    for inverse in (False, True):
        edges.load(["ann"], inverse)
        assert edges.ends("ann", inverse) == {}


def test_a_loaded_node_is_not_joined_again() -> None:
    edges = loaded("ann")
    kept, found = edges._kept, edges.ends("ann", False)
    edges.load(["ann"], False)
    assert edges._kept == kept
    assert edges.ends("ann", False) is found
