"""The graph of Python triples: conformance, literals, networkx, and any triples read as by the oracle."""

from __future__ import annotations

import attrs
import networkx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from srtk_plugin_local.memory import MemoryGraph

from srtk_framework.recipe import structure
from srtk_framework.testing import KnowledgeGraphConformance, OracleGraph
from srtk_framework.testing.sample import Sample
from srtk_framework.values import Literal, Pattern, Schema, Step, Triple


class TestMemoryGraph(KnowledgeGraphConformance):
    name = "memory"

    @pytest.fixture
    def driver(self, sample: Sample) -> MemoryGraph:
        return MemoryGraph(
            triples=sample.triples,
            labels=sample.labels,
            aliases=sample.aliases,
            qualifiers=[(*triple, *pair) for triple, pairs in sample.qualifiers.items() for pair in pairs],
            noise=["code"],
        )

    @pytest.fixture
    def changed(self, driver: MemoryGraph, sample: Sample) -> MemoryGraph:
        return attrs.evolve(driver, triples=sample.triples[:-1])


NODES = st.sampled_from(["a", "b", "c", "Z", "\uff21", "\U0001d50a"])
OBJECTS = NODES | st.sampled_from([Literal('"1"'), Literal('"1"^^xsd:gYear'), Literal('"a"@en')])
TRIPLES = st.lists(st.builds(Triple, NODES, st.sampled_from(["r", "s", "^t"]), OBJECTS), max_size=25)


@given(TRIPLES, st.lists(NODES, max_size=4), st.none() | st.integers(1, 3))
def test_any_triples_are_read_as_by_the_oracle(rows: list[Triple], nodes: list[str], limit: int | None) -> None:
    mine, oracle = MemoryGraph(rows), OracleGraph(Sample(tuple(sorted(set(rows)))))
    oracle.open()
    starts = [graph.frontiers([nodes])[0] for graph in (mine, oracle)]
    assert starts[0].ids() == starts[1].ids()
    steps = oracle.steps([starts[1]], True)[0]
    assert mine.steps([starts[0]], True)[0] == steps
    for step in [*steps, Step("none")]:
        reached = [g.follow([at], [step], limit)[0] for g, at in zip((mine, oracle), starts, strict=True)]
        assert (reached[0].ids(), reached[0].cut) == (reached[1].ids(), reached[1].cut)
        assert mine.triples([starts[0]], [step], limit) == oracle.triples([starts[1]], [step], limit)
    patterns = [Pattern(), *(Pattern(subject=node) for node in nodes), *(Pattern(object=row.object) for row in rows)]
    assert mine.match(patterns) == oracle.match(patterns)
    assert mine.degrees(nodes) == oracle.degrees(nodes)


@given(TRIPLES, st.randoms(use_true_random=False))
def test_neither_order_nor_repetition_of_triples_changes_the_source(rows: list[Triple], random: object) -> None:
    shuffled = [*rows, *rows]
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert MemoryGraph(shuffled).source() == MemoryGraph(rows).source()


def test_the_order_of_names_and_prefixes_changes_no_source() -> None:
    given = {"labels": {"a": "A", "b": "B"}, "aliases": {"a": ["x"], "b": ["y"]}, "prefixes": {"p": "u:", "q": "v:"}}
    turned = {name: dict(reversed(values.items())) for name, values in given.items()}
    assert MemoryGraph([["a", "r", "b"]], **given).source() == MemoryGraph([["a", "r", "b"]], **turned).source()
    assert MemoryGraph([["a", "r", "b"]], **given).source() != MemoryGraph([["a", "r", "b"]]).source()


@pytest.mark.parametrize(
    "changed",
    [
        {"triples": [["a", "r", "c"]]},
        {"triples": [["a", "r", Literal("b")]]},
        {"labels": {"a": "A"}},
        {"aliases": {"a": ["A"]}},
        {"qualifiers": [["a", "r", "b", "since", "1990"]]},
        {"noise": ["r"]},
    ],
)
def test_a_change_of_content_changes_source_and_fingerprint(changed: dict[str, object]) -> None:
    before, after = MemoryGraph([["a", "r", "b"]]), MemoryGraph(**{"triples": [["a", "r", "b"]], **changed})
    assert before.source() != after.source()
    assert before.fingerprint() != after.fingerprint()


def test_settings_are_built_from_lists_as_yaml_gives_them() -> None:
    settings = {
        "triples": [["Q1", "P1", "Q2"], ["Q1", "P2", '"1998"^^xsd:gYear']],
        "labels": {"Q1": "One", "P1": "is before"},
        "aliases": {"Q1": ["Uno"]},
        "qualifiers": [["Q1", "P1", "Q2", "P3", '"2"^^xsd:integer']],
        "type_relations": ["P31"],
        "prefixes": {"wd": "http://www.wikidata.org/entity/"},
    }
    graph = structure(settings, MemoryGraph)
    assert graph.labels(["Q1", "Q2", "P1"]) == ["One", "Q2", "is before"]
    assert graph.find(["uno", "ONE", "Q2", "is before"]) == [["Q1"], ["Q1"], ["Q2"], []]
    assert graph.qualifiers([Triple("Q1", "P1", "Q2")]) == [(("P3", Literal('"2"^^xsd:integer')),)]
    assert graph.schema() == Schema(type_relations=("P31",), prefixes=settings["prefixes"])


def test_text_with_a_type_or_language_is_a_literal() -> None:
    rows = [["a", "r", '"1998"^^<http://www.w3.org/2001/XMLSchema#gYear>'.replace("<", "").replace(">", "")]]
    graph = MemoryGraph([*rows, ["a", "r", '"Riga"@lv']])
    found = graph.match([Pattern("a")])[0]
    assert [triple.object for triple in found] == ['"1998"^^xsd:gYear', '"Riga"@lv']
    assert all(isinstance(triple.object, Literal) for triple in found)
    assert graph.labels([triple.object for triple in found]) == ["1998", "Riga"]


def test_a_literal_stays_a_literal_and_one_in_a_triple_is_one_in_qualifiers() -> None:
    plain = Literal.make("calm")
    graph = MemoryGraph(
        [["a", "r", "b"], ["a", "mood", plain], ["a", "size", '"tall"^^xsd:string']],
        qualifiers=[["a", "r", "b", "note", str(plain)], ["a", "r", "b", "size", Literal.make("tall")]],
    )
    assert [type(t.object) for t in graph.match([Pattern("a")])[0]] == [Literal, str, Literal]
    (row,) = graph.qualifiers([Triple("a", "r", "b")])
    assert row == (("note", '"calm"'), ("size", '"tall"'))
    assert [type(value) for _, value in row] == [Literal, Literal]


def test_a_name_in_quotes_is_an_entity() -> None:
    graph = MemoryGraph([["song", "by", '"Heroes"'], ['"Weird Al" Yankovic', "sings", "song"]])
    assert graph.frontiers([['"Heroes"', '"Weird Al" Yankovic']])[0].size == 2
    assert graph.labels(['"Heroes"']) == ['"Heroes"']
    half = 'half"@en'
    assert MemoryGraph([["x", "r", half]]).frontiers([[half]])[0].size == 1


def test_a_plain_literal_is_found_by_its_text() -> None:
    graph = MemoryGraph([["a", "r", Literal('"x"')]])
    assert graph.match([Pattern(object='"x"')]) == [[Triple("a", "r", Literal('"x"'))]]
    assert graph.labels(['"x"']) == ["x"]
    assert graph.find(["x", '"x"']) == [[], []]
    assert graph.degrees(['"x"']) == [0]


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"triples": [["a", "r", "b"], ["a", "r"]]}, "triple 2 is \\['a', 'r'\\]"),
        ({"triples": ["abc"]}, "triple 1 is 'abc'"),
        ({"triples": [["a", "", "b"]]}, "none empty"),
        ({"triples": [["a", "r", 1998]]}, "three texts"),
        ({"triples": [['"1"@en', "r", "b"]]}, "it can only be an object"),
        ({"triples": [["a", "r", Literal('"b"')], ['"b"', "r", "a"]]}, "it can only be an object"),
        ({"qualifiers": [["a", "r", "b", "since", "1990"]]}, "which the graph lacks"),
        ({"qualifiers": [["a", "r", "b"]]}, "qualifier 1 is \\['a', 'r', 'b'\\]"),
        ({"qualifiers": ["abcde"]}, "qualifier 1 is 'abcde'"),
        ({"qualifiers": [["a", "r", "b", "", "c"]]}, "write \\[subject, relation, object, qualifier, value\\]"),
        ({"qualifiers": [["a", "r", "b", "since", 1990]]}, "qualifier 1 is"),
        ({"triples": [["x", "r", "y"]], "qualifiers": [["x", "r", "y", "s", "z"], ["x"]]}, "qualifier 2 is \\['x'\\]"),
        (
            {"triples": [["x", "r", "y"]], "qualifiers": [["x", "r", "y", "s", "z"], ["y", "r", "x", "s", "z"]]},
            "qualifier 2 is about \\['y', 'r', 'x'\\], which the graph lacks; add the triple",
        ),
    ],
)
def test_what_is_no_graph_is_refused_with_its_place(settings: dict[str, object], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        MemoryGraph(**settings)


def test_a_digraph_gives_its_relations_and_labels() -> None:
    graph = networkx.DiGraph()
    graph.add_node("a", label="Alpha")
    graph.add_edge("a", 2, relation="r")
    made = MemoryGraph.from_networkx(graph, labels={"r": "is related to"})
    assert made.match([Pattern()]) == [[Triple("a", "r", "2")]]
    assert made.labels(["a", "2", "r"]) == ["Alpha", "2", "is related to"]


def test_the_key_of_a_multidigraph_is_the_relation_where_the_attribute_is_not() -> None:
    graph = networkx.MultiDiGraph()
    graph.add_edge("a", "b", key="r")
    graph.add_edge("a", "b", key="s", kind="t")
    made = MemoryGraph.from_networkx(graph, relation_key="kind")
    assert made.match([Pattern()]) == [[Triple("a", "r", "b"), Triple("a", "t", "b")]]


@pytest.mark.parametrize(
    ("graph", "problem"),
    [
        (networkx.DiGraph([("a", "b")]), r"\('a', 'b'\) has no relation"),
        (networkx.MultiDiGraph([("a", "b")]), "has no relation"),
        (networkx.DiGraph([("1", 1, {"relation": "r"})]), "same text"),
    ],
)
def test_a_networkx_graph_without_clear_triples_is_refused(graph: object, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        MemoryGraph.from_networkx(graph, "relation")  # type: ignore[arg-type]


def test_a_networkx_graph_of_nodes_alone_needs_no_relation(caplog: pytest.LogCaptureFixture) -> None:
    graph = networkx.DiGraph()
    graph.add_node("a", born=1815, x=1, y=2)
    made = MemoryGraph.from_networkx(graph, "kind", keep="x")
    assert [triple.relation for triple in made.match([Pattern()])[0]] == ["born", "x"]
    [told] = caplog.messages  # and nothing of the columns, which no doubt is about
    assert "left out as layout: y; keep=[NAME, ...] reads them" in told


def test_what_is_given_beside_a_networkx_graph_goes_before_what_it_says() -> None:
    graph = networkx.DiGraph()
    graph.add_node("a", name="Ada", type="person", aliases=["Addie", "Lady A"])
    graph.add_node("b", name="Bo", aliases=["Bobby"])
    graph.add_edge("a", "b", label="knows", since=1999)
    given = {"labels": {"b": "Mr B"}, "aliases": {"b": ["B"]}, "type_relations": ("kind",)}
    made = MemoryGraph.from_networkx(graph, qualifiers=[["a", "knows", "b", "at", "c"]], **given)
    assert made.labels(["a", "b"]) == ["Ada", "Mr B"]
    assert made.other_names(["a", "b"]) == [["Addie", "Lady A"], ["B"]]
    assert made.qualifiers([Triple("a", "knows", "b")]) == [(("at", "c"), ("since", '"1999"^^xsd:integer'))]
    assert made.schema().type_relations == ("kind",)
    assert MemoryGraph.from_networkx(graph).schema().type_relations == ("rdf:type",)


def test_an_alias_is_of_an_entity_and_comes_once() -> None:
    graph = MemoryGraph(
        [["a", "r", Literal('"x"')]],
        labels={"b": "Bo"},
        aliases={"a": ["B", "A", "B"], '"x"': ["ten"], "gone": ["G"], "c": [""]},
    )
    assert graph.other_names(["a", '"x"', "gone", "b"]) == [["A", "B"], [], [], []]
    assert graph.find(["b", "ten", "G", ""]) == [["a"], [], [], []]
    assert graph.known_words(["a", "ten"]) == [True, False]
    assert graph.near_names(["aa"], 1, True) == graph.near_names(["aa"], 1, True)
    assert graph._index() is graph._index()


def test_an_undirected_networkx_graph_is_read_and_reported(caplog: pytest.LogCaptureFixture) -> None:
    made = MemoryGraph.from_networkx(networkx.Graph([("a", "b", {"relation": "r"}), ("b", "c")]))
    assert made.match([Pattern()]) == [[Triple("a", "r", "b"), Triple("b", "edge", "c")]]
    assert (made.schema().type_relations, made.schema().symmetric) == ((), ("edge", "r"))
    assert "its edges have no direction; answers are of both" in caplog.text
    assert "1 edge names no relation" in caplog.text


def test_attributes_of_a_networkx_graph_are_names_types_literals_and_qualifiers(
    caplog: pytest.LogCaptureFixture,
) -> None:
    graph = networkx.DiGraph()
    graph.add_node(1, name="Ada", entity_type="person", born=1815, x=0.5, y=1.5, created_at=7, aliases=["Lady L"])
    graph.add_node(2, name="Mill", entity_type="firm", x=1.5, y=0.5)
    graph.add_edge(1, 2, label="founded", since=1999, weight=1.0, shares=[0.5, 1.5])
    made = MemoryGraph.from_networkx(graph)
    assert made.match([Pattern()])[0] == [
        Triple("1", "born", Literal('"1815"^^xsd:integer')),
        Triple("1", "founded", "2"),
        Triple("1", "rdf:type", "person"),
        Triple("2", "rdf:type", "firm"),
    ]
    assert made.labels(["1", "2"]) == ["Ada", "Mill"]
    assert made.find(["lady l"]) == [["1"]]
    assert made.qualifiers([Triple("1", "founded", "2")]) == [
        (("shares", '"0.5"^^xsd:decimal'), ("shares", '"1.5"^^xsd:decimal'), ("since", '"1999"^^xsd:integer'))
    ]
    assert made.schema().type_relations == ("rdf:type",)
    assert "left out as layout and bookkeeping: x, y, created_at; keep=[NAME, ...] reads them" in caplog.text
    kept = MemoryGraph.from_networkx(graph, keep=["all"])
    assert {"x", "y", "created_at"} <= {triple.relation for triple in kept.match([Pattern()])[0]}


def test_nothing_that_was_given_is_changed() -> None:
    triples, labels = [["b", "r", "a"], ["a", "r", "b"]], {"a": "A"}
    MemoryGraph(triples, labels).match([Pattern("a")])[0].clear()
    assert (triples, labels) == ([["b", "r", "a"], ["a", "r", "b"]], {"a": "A"})


def test_a_reader_may_change_what_it_got() -> None:
    graph = MemoryGraph([["a", "r", "b"]])
    graph.match([Pattern(), Pattern("a")])[0].clear()
    graph.find(["a"])[0].clear()
    assert graph.match([Pattern()]) == [[Triple("a", "r", "b")]]
    assert graph.find(["a"]) == [["a"]]
