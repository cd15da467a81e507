"""Names on a server: in whatever language they are, as in a snapshot of the same file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from srtk_plugin_local.snapshot.build import build
from srtk_plugin_local.snapshot.build_settings import BuildSettings
from srtk_plugin_local.snapshot.graph import LocalGraph
from srtk_plugin_sparql.commands.load import load
from srtk_plugin_sparql.graph import SparqlGraph
from srtk_plugin_sparql.names import _rank
from srtk_plugin_sparql.terms import Term
from srtk_plugin_sparql.vocabulary import Ids, Vocabulary

from srtk_framework.testing import served
from srtk_framework.values import Literal, Pattern, Triple

MILLS = """
@prefix : <http://ex.org/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:mill rdfs:label "Grey Mill"@en-GB ; :builtIn :riga .
:riga rdfs:label "Riga"@lv , "Riika"@fi ; :in :latvia .
:latvia rdfs:label "Latvia" , "Lettland"@de .
:builtIn rdfs:label "built in"@en .
"""
ASKED = ["Grey Mill", "grey mill", "Riga", "Riika", "Latvia", "Lettland", "Tallinn"]


@contextmanager
def server_of(turtle: str, folder: Path) -> Iterator[str]:
    """Serve a text as it is, with blank nodes that no query can name."""
    import pyoxigraph

    store = pyoxigraph.Store(str(folder))
    store.bulk_load(turtle.encode(), format=pyoxigraph.RdfFormat.TURTLE)
    del store
    with served(folder) as url:
        yield url


@pytest.fixture
def mills(tmp_path: Path) -> Iterator[str]:
    with server_of(MILLS, tmp_path / "store") as url:
        yield url


@pytest.fixture
def snapshot(tmp_path: Path) -> Iterator[LocalGraph]:
    file = tmp_path / "mills.ttl"
    file.write_text(MILLS)
    build(BuildSettings(files=(str(file),)), tmp_path / "snapshot")
    with closing(LocalGraph(str(tmp_path / "snapshot"))) as graph:
        graph.open()
        yield graph


def opened(endpoint: str, **settings: Any) -> SparqlGraph:
    graph = SparqlGraph(endpoint, engine="oxigraph", **settings)
    graph.open()
    return graph


@pytest.mark.parametrize("sample", [2000, 6], ids=["few names, all looked at", "more names than the sample"])
def test_a_name_in_any_language_is_found_as_in_a_snapshot(mills: str, snapshot: LocalGraph, sample: int) -> None:
    with closing(opened(mills, sample=sample)) as graph:
        assert graph.find(ASKED) == snapshot.find(ASKED)
        ids = [f"http://ex.org/{name}" for name in ("mill", "riga", "latvia", "builtIn")]
        assert graph.labels(ids) == snapshot.labels(ids)


def test_the_languages_in_use_are_asked_for_once(mills: str, front: Callable[[str], Any]) -> None:
    proxy = front(mills)
    with closing(opened(proxy.url)) as graph:
        graph.find(["Grey Mill"])
        graph.find(["Riga"])
    assert sum("LANG(?l)" in query for _, query in proxy.seen) == 1


def test_a_preset_and_a_sample_of_none_look_names_up_in_their_languages_alone(
    mills: str, front: Callable[[str], Any]
) -> None:
    proxy = front(mills)
    vocabulary = Vocabulary(languages=("de",))
    with closing(opened(proxy.url, sample=0)) as graph, closing(opened(proxy.url, preset="yago")) as preset:
        assert graph.find(["Grey Mill", "Latvia"]) == [[], ["http://ex.org/latvia"]]
        assert preset.find(["Riga"]) == [[]]
    with closing(opened(proxy.url, sample=0, vocabulary=vocabulary)) as graph:
        assert graph.find(["Lettland", "Riga"]) == [["http://ex.org/latvia"], []]
    assert not any("COALESCE(LANG" in query for _, query in proxy.seen)


def test_a_language_that_is_set_has_its_variants(mills: str) -> None:
    with closing(opened(mills, sample=6, vocabulary=Vocabulary(languages=("en",)))) as graph:
        assert graph.find(["Grey Mill", "Riga"]) == [["http://ex.org/mill"], []]


def test_a_server_that_does_not_tell_its_languages_is_asked_for_plain_and_english_names(
    mills: str, front: Callable[[str], Any], caplog: pytest.LogCaptureFixture
) -> None:
    proxy = front(mills)
    proxy.refuses = "COALESCE(LANG"
    with closing(opened(proxy.url)) as graph:
        assert graph.find(["Latvia", "Grey Mill"]) == [["http://ex.org/latvia"], []]
    assert "the languages of names are not known" in caplog.text


NAMED = """
@prefix : <http://ex.org/animals#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix foaf: <http://xmlns.com/foaf/0.1/> .
@prefix xl: <http://www.w3.org/2008/05/skos-xl#> .
@prefix dct: <http://purl.org/dc/terms/> .
:k1 skos:prefLabel "Koala bear"@en , "Koalabär"@de ; skos:altLabel "Ash-grey bear"@en ; :eats :DryEucalyptForest .
:p1 foaf:name "Ann Lee" ; dct:title "Doctor" ; :hasPet :k1 .
:x1 xl:prefLabel [ xl:literalForm "Wombat"@en ] ; :eats :Grass .
:both rdfs:label "By label" ; skos:prefLabel "A preferred label" ; :eats :grass_land .
"""
AT = "http://ex.org/animals#"


@pytest.fixture(params=["server", "store"])
def named(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[SparqlGraph]:
    if request.param == "server":
        with server_of(NAMED, tmp_path / "store") as url, closing(opened(url)) as graph:
            yield graph
        return
    (tmp_path / "named.ttl").write_text(NAMED)
    load([tmp_path / "named.ttl"], tmp_path / "loaded")
    with closing(opened(str(tmp_path / "loaded"))) as graph:
        yield graph


def test_the_best_relation_that_names_a_node_is_its_label_and_all_find_it(named: SparqlGraph) -> None:
    ids = [AT + name for name in ("k1", "p1", "x1", "both")]
    assert named.labels(ids) == ["Koala bear", "Ann Lee", "Wombat", "By label"]
    asked = ["Koala bear", "Koalabär", "Ash-grey bear", "Ann Lee", "Doctor", "Wombat", "A preferred label"]
    assert named.find(asked) == [[AT + name] for name in ("k1", "k1", "k1", "p1", "p1", "x1", "both")]


def test_the_words_of_an_iri_stand_for_a_name_that_is_lacking(named: SparqlGraph) -> None:
    lacking = [AT + name for name in ("DryEucalyptForest", "grass_land", "hasPet", "eats")]
    assert named.labels(lacking) == ["Dry Eucalypt Forest", "grass land", "hasPet", "eats"]
    assert named.labels(["http://www.w3.org/2002/07/owl#A1"]) == ["owl:A1"]
    assert named.find(["dry eucalypt forest", "Grass Land", "k1", "both"]) == [
        [AT + "DryEucalyptForest"],
        [AT + "grass_land"],
        [],
        [],
    ]


def test_an_id_without_prefix_is_named_by_its_words_unless_it_is_a_relation() -> None:
    ids = Ids(Vocabulary(prefixes={"": "http://example.org/"}))
    assert [ids.displayed(id_) for id_ in ("Georgia_state", "place_of_birth")] == ["Georgia state", "place_of_birth"]


def test_a_name_goes_before_the_words_of_an_iri(tmp_path: Path) -> None:
    turtle = "@prefix : <http://ex.org/> . @prefix foaf: <http://xmlns.com/foaf/0.1/> . "
    turtle += ':a1 foaf:name "Forest" ; :in :Forest .'
    with server_of(turtle, tmp_path / "store") as url:
        for names in ("exact", "scan"):
            with closing(opened(url, names=names)) as graph:
                assert graph.find(["forest" if names == "scan" else "Forest"]) == [["http://ex.org/a1"]]


def test_label_relations_that_are_set_are_the_only_ones(tmp_path: Path) -> None:
    meaning = Vocabulary(label_relations=("http://xmlns.com/foaf/0.1/name",), alias_relations=())
    with server_of(NAMED, tmp_path / "store") as url, closing(opened(url, vocabulary=meaning)) as graph:
        assert graph.labels([AT + "p1", AT + "both"]) == ["Ann Lee", "both"]
        assert (
            Triple(AT + "p1", "http://purl.org/dc/terms/title", Literal.make("Doctor"))
            in graph.match([Pattern(subject=AT + "p1")])[0]
        )


@pytest.mark.parametrize(
    ("languages", "order"),
    [
        (("lv", "DE", "en"), ["lv", "lv-x", "de", "de-at", "en", "en-gb", ""]),
        (("de",), ["de", "de-at", ""]),
        ((), ["en", "en-gb", "", "lv"]),
    ],
)
def test_names_are_ranked_by_their_languages_and_unwanted_ones_are_none(
    languages: tuple[str, ...], order: list[str]
) -> None:
    ranks = [_rank(language, languages) for language in order]
    assert ranks == sorted(set(ranks))
    assert ranks[0] == 0
    if languages:
        assert _rank("fr", languages) == _rank("d", languages) == -1
    graph = SparqlGraph("http://127.0.0.1:9/", vocabulary=Vocabulary(languages=languages))
    graph.open()
    with closing(graph):
        named = graph._open_names._ranked(Term("literal", " Riga ", language="fr"))
        assert (named is None) == bool(languages)
        assert named is None or named[1] == "Riga"
