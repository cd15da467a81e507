"""Three ways to join mediators give the same graph: on the server, in a view, and by going through all pairs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import attrs
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from srtk_plugin_freebase.graph import FreebaseGraph
from srtk_plugin_freebase.ids import FreebaseIds
from srtk_plugin_freebase.queries import JoinQueries, Mediators
from srtk_plugin_freebase.vocabulary import FREEBASE, SPACE
from srtk_plugin_local.memory import MemoryGraph
from srtk_plugin_sparql.limits import SparqlLimits
from srtk_plugin_sparql.vocabulary import Vocabulary
from srtk_plugin_views.mediated import MediatedGraph

from srtk_framework.roles import KnowledgeGraph
from srtk_framework.testing.oracle import OracleGraph
from srtk_framework.values import Budget, Literal, Pattern, Triple

RELATIONS = ["a.a.r", "a.a.s", "b.b.t", "b.b..u", "type.object.type", "common.topic.image", "base.x.y"]
NODES = ["m.01", "m.02", "m.03", "g.11", "g.12", "m.0x", "m.0y", "en.z", "m.0v"]
LITERALS = [Literal.make("1999", "xsd:gYear"), Literal.make("x", language="en"), Literal.make("x")]
TRIPLES = st.lists(
    st.builds(
        Triple,
        st.sampled_from(NODES),
        st.sampled_from(RELATIONS),
        st.one_of(st.sampled_from(NODES), st.sampled_from(LITERALS)),
    ),
    min_size=3,
    max_size=28,
    unique=True,
)
LABELS = st.dictionaries(
    st.sampled_from(["m.01", "m.02", "g.11", "en.z", "m.0v", "a.a.r"]), st.sampled_from(["One", "Two"])
)


@contextmanager
def graphs(
    rows: list[Triple], labels: dict[str, str], unnamed: bool, to_literals: bool, tools: Any
) -> Iterator[list[KnowledgeGraph]]:
    brute, make_store = tools
    hidden = ("common.*",)
    shown = [triple for triple in rows if not triple.relation.startswith("common.")]
    settings_ = {"unnamed": unnamed, "to_literals": to_literals}
    oracle = OracleGraph(brute(shown, labels, unjoined=("type.object.type", "base.x.y"), **settings_))
    noise = ("type.object.type", "base.*")
    inside = MemoryGraph(triples=rows, labels=labels, type_relations=["type.object.type"], noise=noise)
    server = FreebaseGraph(
        str(make_store(rows, labels)),
        vocabulary=Vocabulary(noise=noise),
        limits=SparqlLimits(page=8),
        hidden=hidden,
        **settings_,
    )
    # The view has neither setting: its mediators have no label, and its steps may end in literals.
    view = [MediatedGraph(inside, hidden=hidden)] if unnamed and to_literals else []
    every: list[KnowledgeGraph] = [oracle, *view, server, attrs.evolve(server, both=True)]
    with ExitStack() as stack:
        for graph in every:
            stack.callback(graph.close)
            graph.open()
        yield every


def reads(graph: KnowledgeGraph, limit: int | None) -> Iterator[Any]:
    """Read everything of a graph, in a form that can be compared."""
    frontiers = graph.frontiers([[node] for node in NODES] + [NODES])
    yield [list(frontier.ids()) for frontier in frontiers]
    yield [list(row) for row in graph.steps(frontiers, False)]
    steps = [list(row) for row in graph.steps(frontiers, True)]
    yield steps
    at = [frontier for frontier, row in zip(frontiers, steps, strict=True) for _ in row]
    which = [step for row in steps for step in row]
    yield [(list(found.ids()), found.cut) for found in graph.follow(at, which, limit)]
    triples = [list(row) for row in graph.triples(at, which, limit)]
    yield triples
    yield [list(row) for row in graph.qualifiers([triple for row in triples for triple in row])]
    bound = sorted({triple for row in triples for triple in row})[:6]
    patterns = [p for s, r, o in bound for p in (Pattern(s), Pattern(s, r), Pattern(s, None, o), Pattern(None, r, o))]
    yield [list(row) for row in graph.match(patterns)]
    yield list(graph.degrees(NODES))
    yield list(graph.labels(sorted({step.relation for step in which}) + list(frontiers[-1].ids())))
    yield [list(row) for row in graph.find(["one", "two", "m.01", "m.0x", "en.z"])]
    budget = Budget(hub=2, nodes=3)
    yield [list(row) for row in graph.neighbourhood(frontiers, 2, budget)]
    yield list(graph.paths([[node] for node in NODES], [["m.01", "en.z"]] * len(NODES), 2, budget, False, True))


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(TRIPLES, LABELS, st.booleans(), st.booleans(), st.sampled_from([None, 1, 2]))
def test_the_server_the_view_and_all_pairs_give_the_same_graph(
    brute: Any,
    make_store: Any,
    rows: list[Triple],
    labels: dict[str, str],
    unnamed: bool,
    ends: bool,
    limit: int | None,
) -> None:
    with graphs(rows, labels, unnamed, ends, (brute, make_store)) as (oracle, *others):
        wanted = list(reads(oracle, limit))
        for graph in others:
            for mine, its in zip(reads(graph, limit), wanted, strict=True):
                assert mine == its, graph


ROWS = [
    Triple("m.0a", "people.person.sibling_s", "m.0cvt"),
    Triple("m.0cvt", "people.sibling_relationship.sibling", "m.0a"),
    Triple("m.0cvt", "people.sibling_relationship.sibling", "m.0b"),
    Triple("m.0cvt", "people.sibling_relationship.since", Literal.make("1990", "xsd:gYear")),
    Triple("m.0cvt", "type.object.type", "people.sibling_relationship"),
    Triple("m.0cvt", "x.y.next", "m.0two"),
    Triple("m.0two", "x.y.on", "m.0c"),
    Triple("m.0a", "people.person.gender", "m.0c"),
]
NAMED = {"m.0a": "Ann", "m.0b": "Ben", "m.0c": "Cy"}
SIBLING = "people.person.sibling_s..people.sibling_relationship.sibling"
SINCE = "people.person.sibling_s..people.sibling_relationship.since"


@pytest.mark.parametrize("which", ["freebase", "mediated"])
def test_a_mediator_is_one_step_whose_other_values_are_qualifiers(make_store: Any, which: str) -> None:
    inside = MemoryGraph(triples=ROWS, labels=NAMED, type_relations=["type.object.type"])
    graph = MediatedGraph(inside) if which == "mediated" else FreebaseGraph(str(make_store(ROWS, NAMED)))
    with ExitStack() as stack:
        stack.callback(graph.close)
        graph.open()
        ann, cvt, ben = graph.frontiers([["m.0a"], ["m.0cvt"], ["m.0b"]])
        assert cvt.size == 0
        assert [str(step) for step in graph.steps([ann], False)[0]] == ["people.person.gender", SIBLING, SINCE]
        assert [str(step) for step in graph.steps([ben], True)[0]] == [f"^{SIBLING}"]
        fact = Triple("m.0a", SIBLING, "m.0b")
        assert list(graph.match([Pattern(None, None, "m.0b")])[0]) == [fact]
        assert list(graph.qualifiers([fact])[0]) == [
            ("people.sibling_relationship.since", Literal.make("1990", "xsd:gYear"))
        ]
        assert list(graph.match([Pattern(None, None, LITERALS[0])])[0]) == []
        year = Literal.make("1990", "xsd:gYear")
        assert list(graph.match([Pattern(None, None, year)])[0]) == [Triple("m.0a", SINCE, year)]


def test_all_spellings_are_read_and_one_is_shown(make_store: Any) -> None:
    for form, ann, gender in (("dot", "m.0a", "people.person.gender"), ("slash", "/m/0a", "/people/person/gender")):
        graph = FreebaseGraph(str(make_store(ROWS, NAMED)), ids=form)
        with ExitStack() as stack:
            stack.callback(graph.close)
            graph.open()
            for id_ in ("m.0a", "/m/0a", "ns:m.0a", "http://rdf.freebase.com/ns/m.0a"):
                frontiers = graph.frontiers([[id_]])
                assert list(frontiers[0].ids()) == [ann]
                assert graph.labels([id_]) == ["Ann"]
            for relation in ("people.person.gender", "/people/person/gender", "ns:people.person.gender"):
                assert graph.match([Pattern("/m/0a", relation)])[0][0].relation == gender


@pytest.mark.parametrize("settings_", [{"ids": "colon"}, {"mediators": "joined"}, {"preset": "yago"}])
def test_a_setting_without_sense_is_refused(settings_: dict[str, str]) -> None:
    from srtk_framework.values import DriverError

    with pytest.raises(DriverError):
        FreebaseGraph("http://127.0.0.1:9/", **settings_).open()


@pytest.mark.parametrize("grouped", [False, True])
def test_a_hub_is_left_by_its_mediators_alone_where_an_engine_tests_names_last(grouped: bool) -> None:
    ids = FreebaseIds(FREEBASE, False, True)
    queries = JoinQueries(FREEBASE, ids, Mediators(("m.*",), True, True), grouped)
    for inverse, step in ((False, "?m ?q ?o"), (True, "?o ?p ?m")):
        text = queries.steps([(0, SPACE + "m.01")], not inverse, inverse)
        join = text[text.index(" UNION ") :]
        assert (join.index("FILTER NOT EXISTS") < join.index(step)) is grouped
