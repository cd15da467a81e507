"""The dbpedia graph: its vocabulary, names in languages, redirects, disambiguation pages."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import attrs
import pytest
from srtk_plugin_baselines.bfs import BfsExpander
from srtk_plugin_dbpedia.graph import DbpediaGraph
from srtk_plugin_sparql.sources import Source
from srtk_plugin_sparql.step_reader import StepReader
from srtk_plugin_sparql.terms import Rows
from srtk_plugin_sparql.vocabulary import Ids, Vocabulary

from srtk_framework.graph import facts
from srtk_framework.values import Budget, DriverError, Link, Pattern, Question, RankedPath, SettingsError, Step, Triple

WORLD = """
dbr:Barack_Obama a dbo:Politician, owl:Thing, yago:President ;
    rdfs:label "Barack Obama"@en, "Baraks Obama"@lv ;
    dbo:birthPlace dbr:Honolulu ; dbp:birthPlace dbr:Honolulu ; dbp:placeOfBirth <http://elsewhere.example/x> ;
    dbo:abstract "A long text"@en ; dbo:thumbnail <http://commons.example/1.jpg> ; dbo:wikiPageID 534366 ;
    dbo:wikiPageWikiLink dbr:Honolulu, dbr:Riga ; dbp:imageSize "220" ; dct:subject dbc:Living_people ;
    dbo:office <http://dbpedia.org/resource/Barack_Obama__Tenure__1> .
dbc:Living_people skos:broader dbc:People .
dbo:Politician rdfs:subClassOf dbo:Person .
dbo:birthPlace rdfs:label "birth place"@en .
dbr:Honolulu rdfs:label "Honolulu"@en ; dbo:country dbr:USA .
dbr:Riga rdfs:label "Riga"@en, "Rīga"@lv ; dbo:country dbr:Latvia .
dbr:Latvia rdfs:label "Lettland"@de ; dbo:currency dbr:Euro .
dbr:Euro dbo:currencyCode "EUR" .
dbr:United_States rdfs:label "United States"@en ; dbo:capital <http://dbpedia.org/resource/Washington,_D.C.> .
dbr:Hawaii dbo:country dbr:United_States .

dbr:Barack_Hussein_Obama dbo:wikiPageRedirects dbr:Barack_Obama ; rdfs:label "Barack Hussein Obama"@en ;
    dbo:wikiPageID 1 ; dbo:wikiPageWikiLink dbr:Barack_Obama .
dbr:44th_President dbo:wikiPageRedirects dbr:Barack_Hussein_Obama ; rdfs:label "44th President"@en .
dbr:Old_Page dbp:visitor dbr:Barack_Hussein_Obama .
dbr:USA dbo:wikiPageRedirects dbr:United_States ; rdfs:label "USA"@en .
dbr:Round dbo:wikiPageRedirects dbr:Round_again . dbr:Round_again dbo:wikiPageRedirects dbr:Round .
dbr:Into_round dbo:wikiPageRedirects dbr:Round .
dbr:Obama rdfs:label "Obama"@en ;
    dbo:wikiPageDisambiguates dbr:Barack_Hussein_Obama, dbr:Riga, dbr:Not_There .
dbr:The_Obama dbo:wikiPageRedirects dbr:Obama ; rdfs:label "The Obama"@en .
"""


class Asked:
    """Counts the queries that reach a source."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.endpoint = source.endpoint
        self.queries: list[str] = []

    def select(self, query: str, divisible: bool, fresh: bool = False) -> Rows:
        self.queries.append(query)
        return self.source.select(query, divisible, fresh)

    def close(self) -> None:
        self.source.close()


@attrs.define(eq=False)
class Watched(DbpediaGraph):
    """The same graph, and the queries that it has asked."""

    asked: Asked | None = attrs.field(init=False, default=None)

    def make_reader(
        self, source: Source, vocabulary: Vocabulary, ids: Ids, page: int, nodes: int, workers: int
    ) -> StepReader:
        self.asked = Asked(source)
        return super().make_reader(self.asked, vocabulary, ids, page, nodes, workers)


@pytest.fixture(scope="module")
def store(make_store: Callable[[str], Path]) -> Path:
    return make_store(WORLD)


@pytest.fixture(params=["auto", "exact"])
def graph(store: Path, request: pytest.FixtureRequest) -> Iterator[DbpediaGraph]:
    made = DbpediaGraph(endpoint=str(store), names=request.param)
    made.open()
    with closing(made):
        yield made


def outgoing(graph: DbpediaGraph, id_: str) -> list[Triple]:
    return list(graph.match([Pattern(subject=id_)])[0])


def starts(graph: DbpediaGraph, *ids: str) -> list[str]:
    return list(graph.frontiers([ids])[0].ids())


def test_ontology_properties_and_classes_are_read_and_pages_are_not(graph: DbpediaGraph) -> None:
    assert outgoing(graph, "dbr:Barack_Obama") == [
        ("dbr:Barack_Obama", "dbo:birthPlace", "dbr:Honolulu"),
        ("dbr:Barack_Obama", "dbo:office", "dbr:Barack_Obama__Tenure__1"),
        ("dbr:Barack_Obama", "dbp:birthPlace", "dbr:Honolulu"),
        ("dbr:Barack_Obama", "dbp:imageSize", '"220"'),
        ("dbr:Barack_Obama", "rdf:type", "dbo:Politician"),
    ]
    assert outgoing(graph, "dbo:Politician") == [("dbo:Politician", "rdfs:subClassOf", "dbo:Person")]


def test_namespaces_choose_the_relations(store: Path) -> None:
    def relations(*namespaces: str) -> set[str]:
        made = DbpediaGraph(endpoint=str(store), namespaces=namespaces)
        made.open()
        with closing(made):
            return {triple.relation for triple in outgoing(made, "dbr:Barack_Obama")}

    assert relations("ontology") == {"dbo:birthPlace", "dbo:office", "rdf:type"}
    assert relations("property") == {"dbp:birthPlace", "dbp:imageSize", "rdf:type"}
    assert relations("category") == {"dct:subject", "rdf:type"}


@pytest.mark.parametrize(("namespaces", "said"), [(("ontologie",), "must be one of ontology"), ((), "name a part")])
def test_an_unknown_namespace_is_refused(namespaces: tuple[str, ...], said: str) -> None:
    with pytest.raises(SettingsError, match=said):
        DbpediaGraph(namespaces=namespaces)


def test_a_preset_is_refused() -> None:
    with pytest.raises(DriverError, match="remove it"):
        DbpediaGraph(preset="yago").open()


def test_what_is_set_in_vocabulary_goes_before_dbpedias_own(store: Path) -> None:
    meaning = Vocabulary(prefixes={"e": "http://elsewhere.example/"}, entities=("e:", "dbr:"), hidden=("dbo:*",))
    made = DbpediaGraph(endpoint=str(store), vocabulary=meaning)
    made.open()
    with closing(made):
        found = {(t.relation, t.object) for t in outgoing(made, "dbr:Barack_Obama")}
    assert ("dbp:placeOfBirth", "e:x") in found
    assert not any(relation.startswith("dbo:") for relation, _ in found)


def test_the_schema_names_types_mediators_noise_and_prefixes() -> None:
    schema = DbpediaGraph().schema()
    assert schema.type_relations == ("rdf:type",)
    assert schema.subclass_relations == ("rdfs:subClassOf",)
    assert schema.mediators == ("dbr:*__*",)
    assert "dbp:*[iI]mage*" in schema.noise
    assert schema.prefixes["dbc"] == "http://dbpedia.org/resource/Category:"


def test_links_between_pages_are_left_out_by_the_server(store: Path) -> None:
    made = Watched(endpoint=str(store))
    made.open()
    with closing(made):
        made.steps(made.frontiers([["dbr:Riga"]]), True)
        assert made.asked is not None
        assert all("NOT IN (<http://dbpedia.org/ontology/wikiPageWikiLink>" in q for q in made.asked.queries)


def test_labels_fall_back_over_languages_to_the_words_of_the_id(graph: DbpediaGraph, store: Path) -> None:
    ids = ["dbr:Riga", "dbr:Latvia", "dbr:Washington,_D.C.", "dbo:birthPlace", "dbp:placeOfBirth", "dbo:Politician"]
    assert graph.labels(ids) == ["Riga", "Latvia", "Washington, D.C.", "birth place", "place of birth", "politician"]
    latvian = DbpediaGraph(endpoint=str(store), languages=("lv", "de"))
    latvian.open()
    with closing(latvian):
        assert latvian.labels(ids[:2]) == ["Rīga", "Lettland"]
        assert latvian.find(["Rīga", "lettland"]) == [["dbr:Riga"], ["dbr:Latvia"]]


# Redirects


@pytest.mark.parametrize("given", ["dbr:Barack_Hussein_Obama", "dbr:44th_President", "dbr:Barack_Obama"])
def test_a_frontier_of_a_redirect_holds_its_target(graph: DbpediaGraph, given: str) -> None:
    assert starts(graph, given) == ["dbr:Barack_Obama"]


@pytest.mark.parametrize("given", ["dbr:Round", "dbr:Round_again", "dbr:Into_round"])
def test_redirects_in_a_circle_lead_nowhere(graph: DbpediaGraph, given: str) -> None:
    assert starts(graph, given) == []


def test_redirects_are_left_alone_on_request(store: Path) -> None:
    made = DbpediaGraph(endpoint=str(store), redirects=False)
    made.open()
    with closing(made):
        assert starts(made, "dbr:USA") == ["dbr:USA"]
        assert made.steps(made.frontiers([["dbr:USA"]]), False) == [[]]


def test_triples_and_neighbours_have_redirects_as_they_stand(graph: DbpediaGraph) -> None:
    country = Step("dbo:country")
    at = graph.frontiers([["dbr:Honolulu"]])
    assert graph.triples(at, [country], None) == [[Triple("dbr:Honolulu", "dbo:country", "dbr:USA")]]
    reached = graph.follow(at, [country], None)
    assert reached[0].ids() == ("dbr:USA",)
    assert graph.steps(reached, True) == [[Step("dbo:country", True)]]
    assert graph.match([Pattern(subject="dbr:USA"), Pattern(object="dbr:USA")]) == [
        [],
        [Triple("dbr:Honolulu", "dbo:country", "dbr:USA")],
    ]
    assert starts(graph, *reached[0].ids()) == ["dbr:United_States"]


def test_facts_of_a_path_from_a_redirect_start_at_its_target(graph: DbpediaGraph) -> None:
    steps = (Step("dbo:birthPlace"), Step("dbo:country"))
    found = facts(graph, [[RankedPath("dbr:44th_President", steps, 1.0)]], Budget())[0].triples
    assert found == (
        Triple("dbr:Barack_Obama", "dbo:birthPlace", "dbr:Honolulu"),
        Triple("dbr:Honolulu", "dbo:country", "dbr:USA"),
    )


def test_every_triple_of_a_search_through_a_redirect_is_in_the_graph(graph: DbpediaGraph) -> None:
    question = Question("1", "What is the capital of his country?", links=(Link("dbr:44th_President"),))
    found = BfsExpander(graph=graph, depth=3, inverse=False, budget=Budget()).expand([question])[0].triples
    assert Triple("dbr:United_States", "dbo:capital", "dbr:Washington,_D.C.") in found
    assert all(triple in graph.match([Pattern(*triple)])[0] for triple in found)


def test_paths_start_and_end_at_the_targets_of_redirects(graph: DbpediaGraph) -> None:
    found = graph.paths([["dbr:Hawaii"]], [["dbr:USA"]], 1, Budget(), True, False)
    assert found[0].paths == ((Step("dbo:country"),),)
    found = graph.paths([["dbr:44th_President"]], [["dbr:Honolulu"]], 1, Budget(), True, False)
    assert found[0].paths == ((Step("dbo:birthPlace"),), (Step("dbp:birthPlace"),))


def test_many_redirects_are_asked_about_together_and_once(make_store: Callable[[str], Path]) -> None:
    lines = (
        f"dbr:Old{n} dbo:wikiPageRedirects dbr:Newer{n} . dbr:Newer{n} dbo:wikiPageRedirects dbr:New{n} .\n"
        f"dbr:New{n} dbo:country dbr:Latvia .\n"
        for n in range(60)
    )
    made = Watched(endpoint=str(make_store("".join(lines))))
    made.open()
    with closing(made):
        old = [f"dbr:Old{n}" for n in range(60)]
        assert starts(made, *old) == sorted(f"dbr:New{n}" for n in range(60))
        assert made.asked is not None
        asked = len(made.asked.queries)
        assert asked <= 12
        assert starts(made, *old[::-1]) == sorted(f"dbr:New{n}" for n in range(60))
        assert len(made.asked.queries) == asked


# Names


def test_find_gives_targets_of_redirects(graph: DbpediaGraph) -> None:
    assert graph.find(["Barack Hussein Obama", "USA", "44th President", "Barack Obama"]) == [
        ["dbr:Barack_Obama"],
        ["dbr:United_States"],
        ["dbr:Barack_Obama"],
        ["dbr:Barack_Obama"],
    ]


def test_find_gives_the_pages_that_a_disambiguation_page_offers(graph: DbpediaGraph) -> None:
    assert graph.find(["Obama", "The Obama"]) == [["dbr:Barack_Obama", "dbr:Riga"]] * 2


def test_find_looks_for_pages_without_label_by_title(graph: DbpediaGraph) -> None:
    assert graph.find(["Washington, D.C.", "euro", "Old Page"]) == [
        ["dbr:Washington,_D.C."],
        ["dbr:Euro"],
        ["dbr:Old_Page"],
    ]
    assert graph.find(["", "?", "Nobody at all", "Round"]) == [[], [], [], []]


def test_the_fingerprint_knows_what_changes_the_answers() -> None:
    made = [
        DbpediaGraph(),
        DbpediaGraph(redirects=False),
        DbpediaGraph(namespaces=("ontology",)),
        DbpediaGraph(languages=("de",)),
    ]
    assert len({graph.fingerprint() for graph in made}) == len(made)


def test_a_closed_graph_says_so() -> None:
    with pytest.raises(DriverError, match="not open"):
        DbpediaGraph().find(["Riga"])
