"""Ids, labels, statements and two endpoints, in the shape of Wikidata's RDF."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies
from srtk_plugin_local.snapshot.build import build
from srtk_plugin_local.snapshot.build_settings import BuildSettings
from srtk_plugin_local.snapshot.graph import LocalGraph
from srtk_plugin_sparql.commands.load import load as load_store
from srtk_plugin_sparql.limits import SparqlLimits
from srtk_plugin_sparql.vocabulary import Vocabulary
from srtk_plugin_wikidata.graph import WikidataGraph
from srtk_plugin_wikidata.vocabulary import WIKIDATA, Spaces, WikidataIds, default_vocabulary

from srtk_framework.recipe import load
from srtk_framework.run import Runner
from srtk_framework.values import Budget, DriverError, Literal, Pattern, Step, Triple

Graphs = Callable[..., WikidataGraph]

TERM = Triple("Q567", "P39", "Q4970706")
LEADER = Triple("Q567", "P39", "Q1670573")
MERKEL = """
wd:Q567 rdfs:label "Angela Merkel"@en ; wdt:P31 wd:Q5 ; wdt:P39 wd:Q4970706 , wd:Q1670573 ;
    wdt:P646 "/m/0jl0g" ; wdt:P569 "1954-07-17T00:00:00Z"^^xsd:dateTime ; wdt:P2048 "1.65"^^xsd:decimal ;
    wdtn:P646 <http://g.co/kg/m/0jl0g> ; wdt:P18 <http://commons.wikimedia.org/wiki/Special:FilePath/Merkel.jpg> ;
    p:P39 s:chancellor , s:leader1 , s:leader2 , s:minister , s:rumour ; p:P569 s:birth .
s:chancellor a wikibase:BestRank ; wikibase:rank wikibase:NormalRank ; ps:P39 wd:Q4970706 ;
    pq:P580 "2005-11-22T00:00:00Z"^^xsd:dateTime ; pq:P582 "2021-12-08T00:00:00Z"^^xsd:dateTime ; pq:P1366 wd:Q61053 ;
    pq:P1365 genid:0a1b ; pq:P1545 _:unknown ; pqv:P580 s:time .
s:leader1 a wikibase:BestRank ; wikibase:rank wikibase:NormalRank ; ps:P39 wd:Q1670573 ;
    pq:P580 "2000-04-10T00:00:00Z"^^xsd:dateTime ; pq:P4100 wd:Q49762 .
s:leader2 a wikibase:BestRank ; wikibase:rank wikibase:NormalRank ; ps:P39 wd:Q1670573 ;
    pq:P580 "2002-09-22T00:00:00Z"^^xsd:dateTime ; pq:P4100 wd:Q49762 .
s:rumour wikibase:rank wikibase:DeprecatedRank ; ps:P39 wd:Q4970706 ; pq:P580 "1990-01-01T00:00:00Z"^^xsd:dateTime .
s:minister wikibase:rank wikibase:DeprecatedRank ; ps:P39 wd:Q17276282 ; pq:P580 "1991-01-18T00:00:00Z"^^xsd:dateTime .
s:birth a wikibase:BestRank ; ps:P569 "1954-07-17T00:00:00Z"^^xsd:dateTime ; pq:P805 wd:Q1055 .
wd:P39 rdfs:label "position held"@en . wd:P580 rdfs:label "start time"@en .
wd:Q4970706 rdfs:label "Federal Chancellor of Germany"@en .
wd:Q61053 wdt:P31 wd:Q5 .
"""


def date(day: str) -> Literal:
    return Literal.make(f"{day}T00:00:00Z", "xsd:dateTime")


@pytest.fixture
def graphs() -> Iterator[Graphs]:
    opened: list[WikidataGraph] = []

    def make(endpoint: Path | str, **settings: Any) -> WikidataGraph:
        graph = WikidataGraph(endpoint=str(endpoint), **settings)
        graph.open()
        opened.append(graph)
        return graph

    yield make
    for graph in opened:
        graph.close()


@pytest.fixture(scope="module")
def merkel(store_of: Callable[[str], Path]) -> Path:
    return store_of(MERKEL)


# Statements


def test_a_position_with_its_dates_is_one_fact_of_a_whole_run(
    merkel: Path, serve: Callable[[Path], str], tmp_path: Path
) -> None:
    question = {"id": "1", "question": "Since when was Merkel chancellor?", "question_entities": ["Q567"]}
    (tmp_path / "questions.jsonl").write_text(json.dumps(question) + "\n", encoding="utf-8")
    (tmp_path / "recipe.yaml").write_text(
        f"""
        srtk: 1
        questions: {tmp_path}/questions.jsonl
        knowledge_graph: {{use: wikidata, endpoint: "{serve(merkel)}", engine: oxigraph, statements: true}}
        expander: {{use: bfs, depth: 1, inverse: false}}
        output: {tmp_path}/out
        exporters: [{{use: jsonl, path: {tmp_path}/out.jsonl}}, {{use: text, path: {tmp_path}/out.txt}}]
        """,
        encoding="utf-8",
    )
    assert Runner(load(tmp_path / "recipe.yaml")).run().failed == 0
    record = json.loads((tmp_path / "out.jsonl").read_text(encoding="utf-8"))
    facts = {Triple(*row): found for row, found in zip(record["triplets"], record["qualifiers"], strict=True)}
    assert set(facts) == {TERM, LEADER, Triple("Q567", "P31", "Q5")}
    assert facts[TERM] == [["P1366", "Q61053"], ["P580", date("2005-11-22")], ["P582", date("2021-12-08")]]
    assert "start time: 2005-11-22" in (tmp_path / "out.txt").read_text(encoding="utf-8")


def test_statements_of_one_triple_give_the_qualifiers_of_both(merkel: Path, graphs: Graphs) -> None:
    found = graphs(merkel, statements=True).qualifiers([LEADER, TERM, LEADER])
    assert found[0] == (("P4100", "Q49762"), ("P580", date("2000-04-10")), ("P580", date("2002-09-22")))
    assert found[2] == found[0] != found[1]


def test_a_deprecated_statement_is_no_triple_and_says_nothing(merkel: Path, graphs: Graphs) -> None:
    graph = graphs(merkel, statements=True)
    minister = Triple("Q567", "P39", "Q17276282")
    assert minister not in graph.match([Pattern("Q567", "P39")])[0]
    assert graph.qualifiers([minister]) == [()]
    assert ("P580", date("1990-01-01")) not in graph.qualifiers([TERM])[0]


def test_a_preferred_statement_hides_normal_ones(store_of: Callable[[str], Path], graphs: Graphs) -> None:
    graph = graphs(
        store_of(
            """wd:Q1 wdt:P6 wd:Q2 ; p:P6 s:now , s:before , s:again .
            s:now a wikibase:BestRank ; wikibase:rank wikibase:PreferredRank ; ps:P6 wd:Q2 ; pq:P580 "2020" .
            s:before wikibase:rank wikibase:NormalRank ; ps:P6 wd:Q3 ; pq:P580 "2010" .
            s:again wikibase:rank wikibase:NormalRank ; ps:P6 wd:Q2 ; pq:P580 "2000" ."""
        ),
        statements=True,
    )
    assert graph.match([Pattern("Q1")]) == [[("Q1", "P6", "Q2")]]
    assert graph.qualifiers([Triple("Q1", "P6", "Q2"), Triple("Q1", "P6", "Q3")]) == [
        (("P580", Literal.make("2020")),),
        (),
    ]


def test_a_literal_has_the_qualifiers_of_its_statement(merkel: Path, graphs: Graphs) -> None:
    graph = graphs(merkel, statements=True, literals="values")
    assert graph.qualifiers([Triple("Q567", "P569", date("1954-07-17"))]) == [(("P805", "Q1055"),)]


def test_qualifiers_are_read_on_request_alone(merkel: Path, graphs: Graphs) -> None:
    assert graphs(merkel).qualifiers([TERM]) == [()]


def test_what_no_statement_can_have_is_not_asked(merkel: Path, graphs: Graphs) -> None:
    odd = [Triple("Q567> ?p ?o", "P39", "Q1"), Triple("Q567", "label", "Q1"), Triple("Q567", "P39", "a b")]
    assert graphs(merkel, statements=True).qualifiers(odd) == [(), (), ()]


def test_many_facts_are_asked_about_in_few_queries(
    store_of: Callable[[str], Path], graphs: Graphs, tmp_path: Path
) -> None:
    rows = [
        f'wd:Q{n} wdt:P6 wd:Q1 ; p:P6 s:a{n} . s:a{n} a wikibase:BestRank ; ps:P6 wd:Q1 ; pq:P580 "{n}" .'
        for n in range(2, 302)
    ]
    graph = graphs(store_of("\n".join(rows)), statements=True, record=str(tmp_path))
    triples = [Triple(f"Q{n}", "P6", "Q1") for n in range(2, 302)]
    assert graph.qualifiers(triples) == [(("P580", Literal.make(str(n))),) for n in range(2, 302)]
    asked = (tmp_path / "answers.jsonl").read_text(encoding="utf-8").count('"query"')
    assert asked <= 3


# Ids


@given(strategies.from_regex(r"[QPL][1-9][0-9]{0,8}(?:-[FS][1-9])?", fullmatch=True))
def test_ids_of_items_and_relations_come_back_as_themselves(id_: str) -> None:
    ids = WikidataIds(default_vocabulary(Spaces(WIKIDATA)), Spaces(WIKIDATA))
    iri = ids.iri(id_)
    assert iri is not None
    assert ids.short(iri) == id_
    assert iri.startswith(Spaces(WIKIDATA).direct) == id_.startswith("P")


@given(strategies.sampled_from(["entity/", "prop/direct/", "prop/", ""]), strategies.text(min_size=1, max_size=8))
def test_no_two_iris_share_an_id(space: str, local: str) -> None:
    ids = WikidataIds(default_vocabulary(Spaces(WIKIDATA)), Spaces(WIKIDATA))
    iri = WIKIDATA + space + local
    if ids.iri(ids.short(iri)) is not None:
        assert ids.iri(ids.short(iri)) == iri


def test_a_property_as_a_node_is_told_from_the_relation(store_of: Callable[[str], Path], graphs: Graphs) -> None:
    store = store_of("wd:Q1 wdt:P1687 wd:P106 ; wdt:P106 wd:Q2 . wd:P106 wdt:P31 wd:Q3 ; rdfs:label 'occupation'@en .")
    graph = graphs(store, vocabulary=Vocabulary(entities=("http://www.wikidata.org/entity/",)))
    assert graph.match([Pattern("Q1")])[0] == [("Q1", "P106", "Q2"), ("Q1", "P1687", "wd:P106")]
    assert graph.match([Pattern("wd:P106")])[0] == [("wd:P106", "P31", "Q3")]
    assert graph.labels(["P106", "wd:P106"]) == ["occupation", "occupation"]
    assert [list(f.ids()) for f in graph.frontiers([["P106"], ["wd:Q1"], ["wd:P106"]])] == [[], [], ["wd:P106"]]


def test_the_first_subjects_of_a_hub_are_those_by_id_though_properties_are_among_them(
    store_of: Callable[[str], Path], graphs: Graphs
) -> None:
    subjects = [*(f"Q{n}" for n in range(2, 12)), *(f"P{n}" for n in range(2, 12))]
    store = store_of("".join(f"wd:{id_} wdt:P31 wd:Q1 .\n" for id_ in subjects))
    for entities, wanted in (
        ((), sorted(id_.replace("P", "wd:P") for id_ in subjects)),
        (("http://www.wikidata.org/entity/",), sorted(id_.replace("P", "wd:P") for id_ in subjects)),
        (("http://www.wikidata.org/entity/Q",), sorted(subjects)[10:]),
    ):
        graph = graphs(store, vocabulary=Vocabulary(entities=entities), limits=SparqlLimits(page=8))
        reached = graph.follow(graph.frontiers([["Q1"]]), [Step("P31", True)], 6)[0]
        kept = wanted if entities else [id_ for id_ in wanted if id_.startswith("Q")]
        assert list(reached.ids()) == kept[:6]
        assert reached.cut == len(kept) - 6


@pytest.mark.parametrize("id_", ["Q1> ?p ?o . <x", 'Q1"', "Q1}", "Q 1", "Q1\n", "P31> {}", "wd:Q1", "wdt:P31", "Q1|P2"])
def test_an_id_with_odd_characters_is_that_of_nothing(merkel: Path, graphs: Graphs, id_: str) -> None:
    graph = graphs(merkel)
    assert graph.frontiers([[id_]])[0].size == 0
    assert graph.match([Pattern(id_), Pattern("Q567", id_)]) == [[], []]
    assert graph.labels([id_]) == [id_]
    assert graph.degrees([id_]) == [0]


def test_a_snapshot_of_a_table_of_claims_gives_the_same_triples(
    store_of: Callable[[str], Path], claims: Callable[[list[str]], str], graphs: Graphs, tmp_path: Path
) -> None:
    rows = ["Q1 P17 Q2", "Q3 P17 Q2", "Q3 P190 Q1", "Q10 P190 Q1"]
    (tmp_path / "claims.tsv").write_text("".join("\t".join(row.split()) + "\n" for row in rows), encoding="utf-8")
    build(BuildSettings(files=(str(tmp_path / "claims.tsv"),)), tmp_path / "snapshot")
    local = LocalGraph(path=str(tmp_path / "snapshot"))
    local.open()
    wikidata = graphs(store_of(claims(rows)))
    for graph in (local, wikidata):
        frontier = graph.frontiers([["Q1"]])
        assert list(graph.steps(frontier, True)[0]) == [("P17", False), ("P190", True)]
        assert list(graph.triples(frontier, [Step("P190", True)], None)[0]) == [
            ("Q10", "P190", "Q1"),
            ("Q3", "P190", "Q1"),
        ]
    local.close()


def test_another_wikibase_has_its_own_iris(tmp_path: Path, graphs: Graphs) -> None:
    base = "https://example.org/wiki/"
    (tmp_path / "data.nt").write_text(f"<{base}entity/Q1> <{base}prop/direct/P2> <{base}entity/Q3> .\n", "utf-8")
    load_store([tmp_path / "data.nt"], tmp_path / "store")
    graph = graphs(tmp_path / "store", wikibase=base)
    assert graph.match([Pattern(object="Q3")]) == [[("Q1", "P2", "Q3")]]


# What belongs to the graph


@pytest.mark.parametrize(
    ("literals", "relations"),
    [
        ("none", ["P31", "P39"]),
        ("values", ["P2048", "P31", "P39", "P569"]),
        ("all", ["P2048", "P31", "P39", "P569", "P646"]),
    ],
)
def test_literals_are_left_out_kept_or_kept_without_identifiers(
    merkel: Path, graphs: Graphs, literals: str, relations: list[str]
) -> None:
    graph = graphs(merkel, literals=literals)
    assert [step.relation for step in graph.steps(graph.frontiers([["Q567"]]), False)[0]] == relations


def test_the_schema_names_classes_and_relations_to_wiki_pages() -> None:
    schema = WikidataGraph().schema()
    assert (schema.type_relations, schema.subclass_relations) == (("P31",), ("P279",))
    assert "P910" in schema.noise


def test_what_is_set_goes_before_the_usual_vocabulary() -> None:
    given = Vocabulary(noise=("P17",), languages=("de",), prefixes={"x": "http://example.org/"}, literals=False)
    graph = WikidataGraph(vocabulary=given, literals="values")
    assert graph.meaning().noise == ("P17",)
    assert graph.meaning().languages == ("de", "mul")
    assert graph.meaning().type_relations == ("P31",)
    assert graph.meaning().literals
    assert list(graph.meaning().prefixes) == ["x", "", "wd", "wdt"]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"literals": "value"}, "literals 'value': choose none, values, all. Did you mean 'values'?"),
        ({"preset": "yago"}, "preset 'yago' is not supported by wikidata"),
        ({"wikibase": "www.wikidata.org"}, "is not a prefix of IRIs"),
    ],
)
def test_wrong_settings_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(DriverError, match=message.replace("?", r"\?")):
        WikidataGraph(**settings).open()


# Labels


def test_a_label_falls_back_to_mul_and_then_to_any_language(store_of: Callable[[str], Path], graphs: Graphs) -> None:
    graph = graphs(
        store_of(
            """wd:Q1 wdt:P1 wd:Q2 , wd:Q3 , wd:Q4 , wd:Q5 .
            wd:Q1 rdfs:label "Riga"@en , "Rīga"@lv , "Riga!"@mul .
            wd:Q2 rdfs:label "Ada"@mul , "Aida"@de , "AIDA"@aa .
            wd:Q3 rdfs:label "München"@de , "ミュンヘン"@ja , "Mnichov"@cs .
            wd:Q4 rdfs:label "colour"@en-gb , "Farbe"@de .
            wd:P1 rdfs:label "teil"@de ."""
        )
    )
    assert graph.labels(["Q1", "Q2", "Q3", "Q4", "Q5", "P1"]) == ["Riga", "Ada", "Mnichov", "colour", "Q5", "teil"]


def test_wanted_languages_go_before_english(store_of: Callable[[str], Path], graphs: Graphs) -> None:
    store = store_of('wd:Q1 wdt:P1 wd:Q1 ; rdfs:label "Riga"@en , "Rīga"@lv .')
    assert graphs(store, vocabulary=Vocabulary(languages=("lv",))).labels(["Q1"]) == ["Rīga"]


def test_names_link_in_each_wanted_language_and_the_first_is_shown(
    store_of: Callable[[str], Path], graphs: Graphs
) -> None:
    store = store_of('wd:Q1 wdt:P1 wd:Q1 ; rdfs:label "Latvia"@en , "Lettland"@de , "Letonia"@es .')
    graph = graphs(store, vocabulary=Vocabulary(languages=("en", "de")))
    assert graph.find(["Latvia", "Lettland", "Letonia"]) == [["Q1"], ["Q1"], []]
    assert graph.labels(["Q1"]) == ["Latvia"]


# Two endpoints

MAIN = """
wd:Q937 rdfs:label "Albert Einstein"@en ; wdt:P31 wd:Q5 ; wdt:P800 wd:Q200 .
wd:Q300 rdfs:label "a book"@en ; wdt:P50 wd:Q937 .
wd:Q301 wdt:P50 wd:Q937 .
wd:P50 rdfs:label "author"@en .
"""
SCHOLARLY = """
wd:Q200 rdfs:label "a paper"@en ; wdt:P31 wd:Q13442814 ; wdt:P50 wd:Q937 ; p:P50 s:x .
s:x a wikibase:BestRank ; ps:P50 wd:Q937 ; pq:P1545 "1" .
wd:Q1000 rdfs:label "une note"@fr ; wdt:P50 wd:Q937 ; wdt:P2860 wd:Q200 .
wd:Q299 wdt:P50 wd:Q937 .
"""


@pytest.fixture(scope="module")
def both(store_of: Callable[[str], Path], serve: Callable[[Path], str]) -> dict[str, str]:
    return {"endpoint": serve(store_of(MAIN)), "scholarly": serve(store_of(SCHOLARLY))}


def test_what_leaves_an_article_is_read_from_the_scholarly_graph(both: dict[str, str], graphs: Graphs) -> None:
    graph = graphs(**both, engine="oxigraph", statements=True)
    assert graph.match([Pattern("Q200")])[0] == [("Q200", "P31", "Q13442814"), ("Q200", "P50", "Q937")]
    assert graph.match([Pattern("Q937")])[0] == [("Q937", "P31", "Q5"), ("Q937", "P800", "Q200")]
    assert graph.match([Pattern("Q200", None, "Q937")])[0] == [("Q200", "P50", "Q937")]
    assert graph.qualifiers([Triple("Q200", "P50", "Q937")]) == [(("P1545", Literal.make("1")),)]
    assert graph.labels(["Q937", "Q200", "Q1000", "P50"]) == ["Albert Einstein", "a paper", "une note", "author"]
    assert graph.find(["a paper", "a book"]) == [["Q200"], ["Q300"]]


def test_what_comes_in_is_read_from_both_and_cut_in_order_of_id(both: dict[str, str], graphs: Graphs) -> None:
    graph = graphs(**both, engine="oxigraph")
    frontier = graph.frontiers([["Q937"]])
    written = Step("P50", True)
    every = graph.follow(frontier, [written], None)[0]
    assert list(every.ids()) == ["Q1000", "Q200", "Q299", "Q300", "Q301"]
    first = graph.follow(frontier, [written], 3)[0]
    assert (list(first.ids()), first.cut) == (["Q1000", "Q200", "Q299"], 2)
    assert graph.degrees(["Q937", "Q200", "Q5"]) == [7, 4, 1]
    paths = graph.paths([["Q300"]], [["Q13442814"]], 3, Budget(), True, True)
    assert list(paths[0]) == [(Step("P50"), Step("P800"), Step("P31")), (Step("P50"), Step("P50", True), Step("P31"))]


def test_pages_of_two_hubs_are_united_in_order_of_id(
    store_of: Callable[[str], Path], claims: Callable[[list[str]], str], graphs: Graphs
) -> None:
    every = [f"Q{n}" for n in range(2, 60)]
    halves = [store_of(claims([f"{id_} P31 Q1" for id_ in every[start::2]])) for start in (0, 1)]
    graph = graphs(halves[0], scholarly=str(halves[1]), limits=SparqlLimits(page=10))
    reached = graph.follow(graph.frontiers([["Q1"]]), [Step("P31", True)], 7)[0]
    assert (list(reached.ids()), reached.cut) == (sorted(every)[:7], len(every) - 7)


def test_the_source_names_both_endpoints_without_passwords(both: dict[str, str], graphs: Graphs) -> None:
    closed = WikidataGraph(endpoint="http://me:secret@example.org/a", scholarly="http://me:secret@example.org/b")
    assert closed.source() == "example.org/a + example.org/b"
    assert graphs(**both, engine="oxigraph").source() == f"{both['endpoint']} + {both['scholarly']}"


def test_the_origin_of_a_triple_is_the_endpoint_that_holds_it(both: dict[str, str], graphs: Graphs) -> None:
    graph = graphs(**both, engine="oxigraph")
    found = graph.match([Pattern(object="Q937")])[0]
    origins = dict(zip(found, (origin.provenance for origin in graph.origins(found)), strict=True))
    articles = {triple for triple in found if triple.subject in ("Q200", "Q299", "Q1000")}
    assert articles
    assert {origins[triple] for triple in articles} == {both["scholarly"]}
    assert {origins[triple] for triple in found if triple not in articles} == {both["endpoint"]}


def test_both_endpoints_are_recorded_and_replayed(both: dict[str, str], graphs: Graphs, tmp_path: Path) -> None:
    def read(graph: WikidataGraph) -> list[Any]:
        patterns = [Pattern("Q200"), Pattern(object="Q937"), Pattern("Q937")]
        return [
            graph.match(patterns),
            graph.labels(["Q200"]),
            graph.qualifiers([Triple("Q200", "P50", "Q937")]),
            graph.source(),
        ]

    live = graphs(**both, engine="oxigraph", statements=True, record=str(tmp_path))
    wanted = read(live)
    live.close()
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        gone = f"http://127.0.0.1:{nobody.getsockname()[1]}/query"
        assert read(graphs(gone, scholarly=gone, engine="oxigraph", statements=True, replay=str(tmp_path))) == wanted


def test_an_endpoint_that_is_down_is_an_error_and_not_a_smaller_graph(both: dict[str, str], graphs: Graphs) -> None:
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        gone = f"http://127.0.0.1:{nobody.getsockname()[1]}/query"
        graph = graphs(both["endpoint"], scholarly=gone, engine="oxigraph", limits=SparqlLimits(attempts=1))
        with pytest.raises(DriverError, match="no connection"):
            graph.degrees(["Q937"])
