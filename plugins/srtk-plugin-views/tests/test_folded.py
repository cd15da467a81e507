"""The `folded` view: over graphs without structure, and over one that has all kinds of it."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path

import attrs
import pytest
from srtk_plugin_local.memory import MemoryGraph
from srtk_plugin_local.snapshot.graph import LocalGraph
from srtk_plugin_views.folded import FoldedGraph

from srtk_framework.testing import SAMPLE, OracleGraph
from srtk_framework.testing.knowledge_graph import KnowledgeGraphConformance
from srtk_framework.testing.sample import Sample
from srtk_framework.values import Literal, Origin, Pattern, Step, Triple

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
OWL = "http://www.w3.org/2002/07/owl#"
TYPE, FIRST, REST, NIL = (RDF + name for name in ("type", "first", "rest", "nil"))
BELOW, EQUAL, ABOUT = RDFS + "subClassOf", OWL + "equivalentClass", OWL + "onProperty"
SOME, HAS, BOTH = OWL + "someValuesFrom", OWL + "hasValue", OWL + "intersectionOf"
ONE = Literal.make("1", "xsd:integer")


def listed(head: str, members: Iterable[str]) -> list[Triple]:
    """Write the nodes of a list."""
    members = list(members)
    nodes = [head, *(f"{head}.{place}" for place in range(1, len(members))), NIL]
    return [
        triple
        for place, member in enumerate(members)
        for triple in (Triple(nodes[place], FIRST, member), Triple(nodes[place], REST, nodes[place + 1]))
    ]


def restriction(node: str, relation: str, filler: str, how: str = SOME) -> list[Triple]:
    return [
        Triple(node, TYPE, OWL + "Restriction"),
        Triple(node, ABOUT, relation),
        Triple(node, how, filler),
    ]


RAW = [
    # A list, one within a list, and an empty one
    *(Triple("Crew", "members", "_:l"), *listed("_:l", ["Ada", "_:m", "Cy"]), *listed("_:m", ["Bo", Literal("Di")])),
    Triple("Crew", "absent", NIL),
    # A list whose end is its beginning
    *(Triple("Ring", "members", "_:r"), Triple("_:r", FIRST, "Ada"), Triple("_:r", REST, "_:r")),
    # Restrictions: of a class, of an equivalent class that is an intersection, of an individual, with a number
    *(Triple("Koala", BELOW, "_:k"), *restriction("_:k", "habitat", "Forest")),
    *(Triple("Student", EQUAL, "_:s"), Triple("_:s", BOTH, "_:t"), Triple("_:s", TYPE, OWL + "Class")),
    *(*listed("_:t", ["Person", "_:u"]), *restriction("_:u", "works hard", Literal("true"), HAS)),
    *(Triple("Ada", TYPE, "_:c"), *restriction("_:c", "pet", "Koala"), Triple("_:c", OWL + "minCardinality", ONE)),
    # A chain, a longer one, and one to a list
    *(Triple("Ada", "address", "_:a"), Triple("_:a", "city", "Riga"), Triple("_:a", "place", "_:p")),
    *(Triple("_:p", "country", "Latvia"), Triple("_:p", "phones", "_:n"), *listed("_:n", [Literal("1"), Literal("2")])),
    # A cycle of blank nodes
    *(Triple("Bo", "knows", "_:x"), Triple("_:x", "knows", "_:y"), Triple("_:y", "knows", "_:x")),
    Triple("_:y", "pet", "Koala"),
    # Blank nodes that stay: one with a name, one to which nothing leads
    *(Triple("Bo", "address", "_:named"), Triple("_:named", "city", "Riga")),
    *(Triple("_:top", "topic", "Ada"), Triple("_:top", "address", "_:b"), Triple("_:b", "city", "Riga")),
]
FOLDED = [
    *(Triple("Crew", "members", end) for end in ("Ada", "Bo", "Cy", Literal("Di"))),
    Triple("Ring", "members", "Ada"),
    Triple("Koala", "habitat", "Forest"),
    Triple("Student", f"{EQUAL}..{BOTH}", "Person"),
    Triple("Student", "works hard", Literal("true")),
    *(Triple("Ada", "pet", "Koala"), Triple("Ada", f"pet..{OWL}minCardinality", ONE)),
    *(Triple("Ada", "address..city", "Riga"), Triple("Ada", "address..place..country", "Latvia")),
    *(Triple("Ada", "address..place..phones", Literal(end)) for end in "12"),
    *(
        Triple("Bo", "knows..knows..pet", "Koala"),
        Triple("Bo", "address", "_:named"),
        Triple("_:named", "city", "Riga"),
    ),
    *(Triple("_:top", "topic", "Ada"), Triple("_:top", "address..city", "Riga")),
]
NAMES = {"_:named": "Home", "address": "lives at", "city": "in the city", "Forest": "Deep Forest"}
PARTS = {
    "address..city": "lives at: in the city",
    "address..place..country": "lives at: place: country",
    "address..place..phones": "lives at: place: phones",
}


def sample_of(triples: Iterable[Triple], names: dict[str, str]) -> Sample:
    return attrs.evolve(SAMPLE, triples=tuple(sorted({*SAMPLE.triples, *triples})), labels={**SAMPLE.labels, **names})


def opened(triples: Iterable[Triple], **settings: int) -> FoldedGraph:
    inside = MemoryGraph(list(triples))
    graph = FoldedGraph(inside, **settings)
    graph.open()
    return graph


class TestFoldedWithoutStructure(KnowledgeGraphConformance):
    name = "folded"

    @pytest.fixture
    def driver(self) -> Iterator[FoldedGraph]:
        inside = OracleGraph()
        inside.open()
        with closing(FoldedGraph(inside)) as graph:
            graph.open()
            yield graph

    @pytest.fixture
    def faulty(self, tmp_path: Path) -> FoldedGraph:
        return FoldedGraph(LocalGraph(str(tmp_path)))


class TestFolded(TestFoldedWithoutStructure):
    @pytest.fixture(scope="class")
    @classmethod
    def sample(cls) -> Sample:
        return sample_of(FOLDED, NAMES | PARTS)

    @pytest.fixture
    def driver(self) -> Iterator[FoldedGraph]:
        inside = OracleGraph(sample=sample_of(RAW, NAMES))
        inside.open()
        with closing(FoldedGraph(inside)) as graph:
            graph.open()
            yield graph


def test_all_members_of_a_list_are_one_step_away_and_found_back_from_each() -> None:
    with closing(opened(RAW)) as graph:
        (crew, bo) = graph.frontiers([["Crew"], ["Bo"]])
        assert graph.follow([crew], [Step("members")], None)[0].ids() == ("Ada", "Bo", "Cy")
        assert Step("members", True) in graph.steps([bo], True)[0]
        assert graph.match([Pattern(object="Bo")]) == [[Triple("Crew", "members", "Bo")]]


def test_neither_lists_nor_restrictions_nor_blank_nodes_between_nodes_are_in_the_graph() -> None:
    with closing(opened(RAW)) as graph:
        structure = ["_:l", "_:l.1", "_:m", "_:k", "_:a", "_:x", NIL, OWL + "Restriction"]
        assert [frontier.ids() for frontier in graph.frontiers([structure])] == [()]
        assert graph.degrees(structure) == [0] * len(structure)
        assert graph.find(["_:l", "_:x"]) == [[], []]


def test_a_property_that_only_restrictions_name_is_a_relation_and_no_entity() -> None:
    with closing(opened(RAW)) as graph:
        assert graph.frontiers([["habitat"]])[0].ids() == ()
        assert graph.match([Pattern(subject="Koala")]) == [[Triple("Koala", "habitat", "Forest")]]


def test_ids_shortened_by_prefixes_are_terms_of_owl_too() -> None:
    triples = [
        *(Triple("Koala", "rdfs:subClassOf", "_:k"), Triple("_:k", "owl:onProperty", "habitat")),
        *(Triple("_:k", "owl:allValuesFrom", "Forest"), Triple("_:k", "rdf:type", "owl:Restriction")),
    ]
    inside = MemoryGraph(triples, prefixes={"rdf": RDF, "rdfs": RDFS, "owl": OWL})
    with closing(FoldedGraph(inside)) as graph:
        graph.open()
        assert graph.match([Pattern(subject="Koala")]) == [[Triple("Koala", "habitat", "Forest")]]


def test_the_qualified_filler_of_a_number_of_values_is_one_step_too() -> None:
    raw = [Triple("Hand", BELOW, "_:h"), *restriction("_:h", "part", "Finger", OWL + "onClass")]
    raw.append(Triple("_:h", OWL + "qualifiedCardinality", ONE))
    with closing(opened(raw)) as graph:
        found = [Triple("Hand", "part", "Finger"), Triple("Hand", f"part..{OWL}qualifiedCardinality", ONE)]
        assert graph.match([Pattern(subject="Hand")]) == [found]


def test_the_members_of_a_list_that_no_triple_leads_to_are_all_its_own() -> None:
    with closing(opened([*listed("_:l", ["Ada", "Bo", "Cy"]), Triple("_:l", "length", ONE)])) as graph:
        members = [Triple("_:l", FIRST, end) for end in ("Ada", "Bo", "Cy")]
        assert graph.match([Pattern(subject="_:l")]) == [sorted([*members, Triple("_:l", "length", ONE)])]


def test_a_long_list_is_read_node_by_node_once() -> None:
    members = [f"m{place:05}" for place in range(3000)]
    inside = MemoryGraph([Triple("Crew", "members", "_:l"), *listed("_:l", members)])
    reads = 0
    read = inside.triples

    def counted(frontiers, steps, limit):  # type: ignore[no-untyped-def]
        nonlocal reads
        reads += len(frontiers)
        return read(frontiers, steps, limit)

    object.__setattr__(inside, "triples", counted)
    with closing(FoldedGraph(inside)) as graph:
        graph.open()
        assert [t.object for t in graph.match([Pattern(subject="Crew")])[0]] == members
        assert graph.left_out == 0
        assert reads < 3 * len(members)


def test_what_lies_beyond_a_limit_is_left_out_counted_and_told(caplog: pytest.LogCaptureFixture) -> None:
    raw = [Triple("Crew", "members", "_:l"), *listed("_:l", [f"m{place}" for place in range(10)])]
    with closing(opened(raw, most=4)) as graph, caplog.at_level(logging.WARNING):
        assert [t.object for t in graph.match([Pattern(subject="Crew")])[0]] == ["m0", "m1", "m2", "m3"]
        assert graph.left_out == 1
    assert "Crew: 1 edges over blank nodes were left out" in caplog.text
    chain = [Triple("a", "p", "_:1"), Triple("_:1", "q", "_:2"), Triple("_:2", "r", "b"), Triple("_:1", "s", "c")]
    with closing(opened(chain, depth=2)) as graph:
        assert graph.match([Pattern(subject="a")]) == [[Triple("a", "p..s", "c")]]
        assert graph.left_out == 1


def test_the_origin_of_a_folded_triple_is_that_of_its_least_confident_part() -> None:
    class Doubted(MemoryGraph):
        def origins(self, triples):  # type: ignore[no-untyped-def]
            return [Origin("web", 0.5 if triple.relation == "city" else 0.9) for triple in triples]

    with closing(FoldedGraph(Doubted(RAW))) as graph:
        graph.open()
        asked = [Triple("Ada", "address..city", "Riga"), Triple("Crew", "members", "Cy")]
        assert [one.confidence for one in graph.origins(asked)] == [0.5, 0.9]


def test_a_graph_without_blank_nodes_answers_itself() -> None:
    inside = MemoryGraph([Triple("a..b", "p..q", "c")])
    with closing(FoldedGraph(inside)) as graph:
        graph.open()
        assert graph.answering is inside
        assert graph.match([Pattern(subject="a..b")]) == [[Triple("a..b", "p..q", "c")]]
