"""Ids of pages: every title survives the way to an IRI, through a store, and back."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from srtk_plugin_dbpedia import titles
from srtk_plugin_dbpedia.graph import DbpediaGraph
from srtk_plugin_dbpedia.vocabulary import vocabulary
from srtk_plugin_sparql.terms import is_iri
from srtk_plugin_sparql.vocabulary import Ids

from srtk_framework.values import Pattern, Step

IDS = Ids(vocabulary(("ontology", "property", "category"), ("en",)))
TITLES = {
    "Top Gear (2002 TV series)": "dbr:Top_Gear_(2002_TV_series)",
    "AC/DC": "dbr:AC/DC",
    "Washington, D.C.": "dbr:Washington,_D.C.",
    "Rubik's Cube": "dbr:Rubik's_Cube",
    "100% Love": "dbr:100%25_Love",
    '"Z" no Chikai': "dbr:%22Z%22_no_Chikai",
    "Who Framed?": "dbr:Who_Framed%3F",
    "1. FC Köln": "dbr:1._FC_Köln",
    "日本": "dbr:日本",
    "C++": "dbr:C++",
    "Tom & Jerry; again!": "dbr:Tom_&_Jerry;_again!",
    "$ @ * = ~ :": "dbr:$_@_*_=_~_:",
}
LETTERS = st.characters(blacklist_categories=("Cc", "Cs", "Co", "Cn", "Zl", "Zp", "Zs", "Cf"))
TITLE = st.text(st.one_of(LETTERS, st.sampled_from(" ()[],/%'.\"#?{}|<>\\^`&;")), min_size=1, max_size=20)


@pytest.fixture(scope="module")
def store(make_store: Callable[[str], Path]) -> Path:
    iris = [titles.page_iri(title) for title in TITLES]
    lines = [f"<{iri}> dbo:next <{other}> .\n" for iri, other in zip(iris, [*iris[1:], iris[0]], strict=True)]
    return make_store("".join(lines))


@pytest.mark.parametrize(("title", "id_"), TITLES.items())
def test_a_title_with_odd_characters_is_walked_from_and_named(store: Path, title: str, id_: str) -> None:
    graph = DbpediaGraph(endpoint=str(store))
    graph.open()
    with closing(graph):
        frontier = graph.frontiers([[id_]])
        assert frontier[0].ids() == (id_,)
        assert graph.follow(frontier, [Step("dbo:next")], None)[0].size == 1
        assert graph.follow(frontier, [Step("dbo:next", True)], None)[0].size == 1
        assert [t.subject for t in graph.match([Pattern(subject=id_)])[0]] == [id_]
        assert graph.labels([id_]) == [title]
        assert graph.find([title]) == [[id_]]


@pytest.mark.parametrize(
    "given",
    [
        "http://dbpedia.org/resource/1._FC_Köln",
        "<http://dbpedia.org/resource/1._FC_Köln>",
        "https://dbpedia.org/page/1._FC_Köln",
        "https://en.wikipedia.org/wiki/1._FC_Köln",
        "dbr:1._FC_K%C3%B6ln",
        "dbr:1. FC Köln",
        "http://dbpedia.org/resource/1._FC_K%c3%b6ln",
    ],
)
def test_other_spellings_of_a_page_are_understood(store: Path, given: str) -> None:
    graph = DbpediaGraph(endpoint=str(store))
    graph.open()
    with closing(graph):
        assert graph.frontiers([[given]])[0].ids() == ("dbr:1._FC_Köln",)


def test_ids_of_older_releases_are_found_as_they_stand(make_store: Callable[[str], Path]) -> None:
    graph = DbpediaGraph(endpoint=str(make_store("<http://dbpedia.org/resource/K%C3%B6ln> dbo:country dbr:Germany .")))
    graph.open()
    with closing(graph):
        for given in ("dbr:K%C3%B6ln", "dbr:Köln", "http://dbpedia.org/resource/Köln"):
            assert graph.frontiers([[given]])[0].ids() == ("dbr:K%C3%B6ln",)
        assert graph.labels(["dbr:K%C3%B6ln"]) == ["Köln"]


@given(TITLE)
def test_every_title_has_an_iri_whose_id_gives_the_iri_back(title: str) -> None:
    iri = titles.page_iri(title)
    assert is_iri(iri)
    assert IDS.iri(IDS.short(iri)) == iri
    assert iri in titles.spellings(IDS.short(iri))


@given(TITLE.filter(lambda title: "_" not in title and title == title.strip() and ":" not in title))
def test_the_words_of_an_id_are_its_title(title: str) -> None:
    assert titles.words(IDS.short(titles.page_iri(title))) == title


@given(TITLE, st.sampled_from(["dbr:", "http://dbpedia.org/resource/", "https://en.wikipedia.org/wiki/"]))
def test_a_title_as_it_is_and_one_that_is_encoded_mean_the_same_page(title: str, start: str) -> None:
    encoded = quote(title.replace(" ", "_"), safe="")
    assert titles.page_iri(title) in titles.spellings(start + encoded)


@given(st.text(max_size=30))
def test_no_text_breaks_the_ways_to_write_a_page(text: str) -> None:
    for given_ in (text, "dbr:" + text, "http://dbpedia.org/resource/" + text):
        assert all(is_iri(iri) for iri in titles.spellings(given_))
        assert titles.words(given_) or not given_


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(TITLE, min_size=1, max_size=12))
def test_any_titles_survive_a_store(make_store: Callable[[str], Path], some: list[str]) -> None:
    iris = sorted({titles.page_iri(unicodedata.normalize("NFC", title)) for title in some})
    ids = [IDS.short(iri) for iri in iris]
    graph = DbpediaGraph(endpoint=str(make_store("".join(f"<{iri}> dbo:in dbr:Latvia .\n" for iri in iris))))
    graph.open()
    with closing(graph):
        assert list(graph.frontiers([ids])[0].ids()) == sorted(ids)
        back = graph.follow(graph.frontiers([["dbr:Latvia"]]), [Step("dbo:in", True)], None)
        assert list(back[0].ids()) == sorted(ids)
        graph.find(some)
