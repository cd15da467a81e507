"""The reads of a view over joined edges: limits, directions, patterns, labels, qualifiers and origins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from srtk_plugin_local.memory import MemoryGraph
from srtk_plugin_views import cached_edges
from srtk_plugin_views.joined_edges import JoinedEdges
from srtk_plugin_views.joining_view import ChosenReader, JoiningView

from srtk_framework.values import DriverError, Literal, NodeSet, Origin, Pattern, Step, Triple

YEAR = Literal.make("1990", "xsd:gYear")
ROWS = [
    Triple("ann", "job", "m.1"),
    Triple("ann", "job", "m.2"),
    Triple("m.1", "firm", "acme"),
    Triple("m.2", "firm", "acme"),
    Triple("m.2", "firm", "bank"),
    Triple("m.1", "since", YEAR),
    Triple("ann", "born", YEAR),
    Triple("ann", "born", "bath"),
    Triple("bo", "born", "bath"),
    Triple("ann", ".is", "clerk"),
]
LABELS = {"ann": "Ann", "job": "job of", "firm": "at firm", "a..b": "An entity"}


class Rated(MemoryGraph):
    """Triples over m.1 are doubtful, and so is the step to m.2, but less."""

    def origins(self, triples: Sequence[Triple]) -> list[Origin]:
        self.__dict__.setdefault("asked", []).append(list(triples))
        sure = {("m.1", "firm"): 0.3, ("ann", "m.2"): 0.6, ("ann", "clerk"): 0.8}
        return [Origin("web", sure.get((t.subject, t.relation), sure.get((t.subject, t.object), 0.9))) for t in triples]


def view(rows: Sequence[Triple] = ROWS, **settings: Any) -> JoiningView:
    graph = Rated(list(rows), LABELS, **settings)
    graph.open()
    return JoiningView(graph, JoinedEdges(graph, ("m.*",), True, (), ("type",), ()))


def test_a_frontier_has_the_entities_that_are_there_without_mediators_and_literals() -> None:
    found = view().frontiers([["bath", "ann", "m.1", "nobody", YEAR, "ann"], [], ["acme"]])
    assert [one.ids() for one in found] == [("ann", "bath"), (), ("acme",)]


def test_steps_are_sorted_and_inverse_ones_only_on_request() -> None:
    graph = view()
    at = graph.frontiers([["ann"], ["bath"], ["ann", "acme"], []])
    out = [Step(r"\.is"), Step("born"), Step("job..firm"), Step("job..since")]
    assert graph.steps(at, False) == [out, [], out, []]
    assert graph.steps(at, True) == [out, [Step("born", True)], sorted([*out, Step("job..firm", True)]), []]


@pytest.mark.parametrize(
    ("limit", "reached", "cut", "ends"),
    [
        (None, ("bath",), 0, [("ann", YEAR), ("ann", "bath"), ("bo", "bath")]),
        (2, ("bath",), 0, [("ann", YEAR), ("ann", "bath"), ("bo", "bath")]),
        (1, ("bath",), 1, [("ann", YEAR), ("bo", "bath")]),
        (0, (), 3, []),
    ],
)
def test_a_limit_holds_for_each_node_and_counts_literals(
    limit: int | None, reached: tuple[str, ...], cut: int, ends: list[tuple[str, str]]
) -> None:
    graph = view()
    at, step = graph.frontiers([["ann", "bo"]]), [Step("born")]
    [found] = graph.follow(at, step, limit)
    assert (found.ids(), found.cut) == (reached, cut)
    assert graph.triples(at, step, limit) == [[Triple(start, "born", end) for start, end in ends]]


def test_each_frontier_goes_along_its_own_step_in_its_own_direction() -> None:
    graph = view()
    at = graph.frontiers([["ann"], ["bath"], ["acme", "bank"]])
    steps = [Step("job..firm"), Step("born", True), Step("job..firm", True)]
    assert [one.ids() for one in graph.follow(at, steps, None)] == [("acme", "bank"), ("ann", "bo"), ("ann",)]
    firms = [Triple("ann", "job..firm", "acme"), Triple("ann", "job..firm", "bank")]
    assert graph.triples(at, steps, None) == [
        firms,
        [Triple("ann", "born", "bath"), Triple("bo", "born", "bath")],
        firms,
    ]


def test_a_step_forward_loads_what_no_earlier_read_did() -> None:
    assert view().follow([NodeSet(["ann"])], [Step("job..firm")], None)[0].ids() == ("acme", "bank")


def test_a_pattern_is_matched_at_its_bound_end() -> None:
    graph = view()
    acme, bank = Triple("ann", "job..firm", "acme"), Triple("ann", "job..firm", "bank")
    born = Triple("ann", "born", YEAR), Triple("ann", "born", "bath")
    assert graph.match(
        [
            Pattern("ann", "job..firm"),
            Pattern("ann", None, "bank"),
            Pattern("ann", "born", "bank"),
            Pattern(None, None, "acme"),
            Pattern(None, "born", "acme"),
            Pattern(None, None, YEAR),
            Pattern(None, "born", YEAR),
            Pattern("ann", "born"),
            Pattern("nobody"),
        ]
    ) == [[acme, bank], [bank], [], [acme], [], [born[0], Triple("ann", "job..since", YEAR)], [born[0]], [*born], []]
    assert graph.match([]) == []
    with pytest.raises(DriverError, match=r"has neither subject nor object; give at least one of them"):
        graph.match([Pattern("ann"), Pattern(None, None, None)])


def test_a_relation_alone_has_all_its_triples_joined_ones_too() -> None:
    graph = view()
    firms = [Triple("ann", "job..firm", "acme"), Triple("ann", "job..firm", "bank")]
    born = [Triple("ann", "born", YEAR), Triple("ann", "born", "bath"), Triple("bo", "born", "bath")]
    patterns = [Pattern(None, one, None) for one in ("born", "job..firm", "firm", "none", "a..b")]
    assert graph.match(patterns) == [born, firms, [], [], []]


def test_a_composite_is_labelled_by_its_parts_unless_it_is_an_entity() -> None:
    rows = [*ROWS, Triple("a..b", "job", "x..y")]
    ids = ["job..firm", "job..since", "born..since", "ann", "bo", YEAR, "a..b", "x..y", r"\.is", "firm", "job..firm"]
    labels = ["job of: at firm", "job of: since", "born..since", "Ann", "bo", "1990", "An entity", "x..y"]
    assert view(rows).labels(ids) == [*labels, r"\.is", "at firm", "job of: at firm"]
    assert view(rows).labels(["ann"]) == ["Ann"]
    assert view(rows).labels([]) == []


def test_only_entities_of_the_view_are_found() -> None:
    graph = view([*ROWS, Triple("ann", "job", "m.9")])
    assert graph.find(["ann", "m.9", "bath", "nobody"]) == [["ann"], [], ["bath"], []]


def test_a_plain_triple_keeps_its_qualifiers_and_a_joined_one_has_those_of_its_mediators() -> None:
    rows = [["ann", "born", "bath", "in", "1990"], ["ann", ".is", "clerk", "for", "acme"]]
    graph = view(qualifiers=rows)
    assert graph.qualifiers(
        [
            Triple("ann", "born", "bath"),
            Triple("ann", "job..firm", "bank"),
            Triple("ann", "job..firm", "acme"),
            Triple("ann", r"\.is", "clerk"),
            Triple("bo", "born", "bath"),
            Triple("ann", "born", "acme"),
            Triple("ann", "job..firm", "bath"),
        ]
    ) == [
        (("in", "1990"),),
        (("firm", "acme"),),
        (("firm", "bank"), ("since", YEAR)),
        (("for", "acme"),),
        (),
        (),
        (),
    ]
    assert graph.qualifiers([Triple("ann", "job..firm", "bank")]) == [(("firm", "acme"),)]


def test_a_joined_triple_is_as_sure_as_the_least_sure_part_of_its_surest_way() -> None:
    graph = view()
    asked = [Triple("ann", "job..firm", end) for end in ("acme", "bank")]
    asked += [Triple("ann", r"\.is", "clerk"), Triple("ann", "a..b..c", "x"), Triple("ann", "job..since", YEAR)]
    assert [one.confidence for one in graph.origins(asked)] == [0.6, 0.6, 0.8, 1.0, 0.9]
    assert graph.origins(asked[3:4]) == [Origin(graph.source())]
    # Each part is asked for once.
    [first] = graph.graph.__dict__["asked"]
    assert len(first) == len(set(first))


def test_the_schema_escapes_its_relations_and_has_no_mediators() -> None:
    schema = view(type_relations=[".t"], subclass_relations=["s."], mediators=["m.*"], noise=["n"]).schema()
    assert (schema.type_relations, schema.subclass_relations) == ((r"\.t",), (r"s\.",))
    assert (schema.mediators, schema.noise) == ((), ("n",))


def test_every_read_empties_a_full_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cached_edges, "MEMORY", 0)
    graph = view()
    at = graph.frontiers([["ann"]])
    graph.match([Pattern("ann")])
    graph.match([Pattern("bo")])
    assert graph.edges.ends("ann", False) == {}
    assert graph.steps(at, False)[0]


def test_a_reader_is_there_while_the_view_is_open() -> None:
    inside = MemoryGraph(ROWS)
    graph = ChosenReader(inside)
    with pytest.raises(DriverError, match="not open"):
        _ = graph.answering
    graph._reader = inside
    assert graph.answering is inside
    graph.close()
    with pytest.raises(DriverError, match="not open"):
        graph.match([Pattern("ann")])
