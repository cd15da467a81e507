"""Nothing in an id or a name changes what a query is: each is parsed, and compared with one about plain ids."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pyoxigraph as ox
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from srtk_plugin_sparql import path_queries, queries, terms
from srtk_plugin_sparql.path_queries import Ends, Trail
from srtk_plugin_sparql.queries import Queries
from srtk_plugin_sparql.vocabulary import Ids, Vocabulary

from srtk_framework.values import Literal

with warnings.catch_warnings():
    # rdflib calls its parser generator by names that this has renamed.
    warnings.simplefilter("ignore")
    from rdflib import Literal as RdfLiteral
    from rdflib import URIRef, Variable
    from rdflib.plugins.sparql.parser import parseQuery
    from rdflib.plugins.sparql.parserutils import CompValue

SPACE = "http://example.org/kit/"
VOCABULARY = Vocabulary(
    prefixes={"": SPACE, "x": SPACE + "deep/"},
    decode=True,
    entities=(SPACE,),
    relations=(SPACE,),
    languages=("en",),
)
IDS = Ids(VOCABULARY)
QUERIES = Queries(VOCABULARY, IDS)
PLAIN_IDS = Ids(Vocabulary(prefixes={"": SPACE, "x": SPACE + "deep/"}))
NASTY = st.text(st.sampled_from('ab<>"{}|^`\\ \n\r\t%25:/#?@.;,()u0é日\u2028\U000e0001'), min_size=1, max_size=12)
ATTACKS = st.sampled_from(
    [
        "a> } #",
        'a" } #',
        "a> <b> <c> . } UNION { ?s ?p ?o",
        '"""',
        "\\u0022 } #",
        "\\\\u003E",
        "a\n} DELETE WHERE { ?s ?p ?o }",
        "%3E%20%7D",
        "?p",
        "{ SELECT * { ?s ?p ?o } }",
    ]
)
STORE = ox.Store()

Write = Callable[[Queries, Sequence[str], Sequence[str]], str]
"""Writes a query from IRIs of nodes and terms of names."""


def trails(iris: Sequence[str]) -> list[tuple[int, Trail]]:
    return [(n, Trail(tuple(sorted(set(iris))), ((iri, False), (iris[0], True)))) for n, iri in enumerate(iris)]


def searches(iris: Sequence[str]) -> list[Ends]:
    return [Ends(n, [iri], sorted(set(iris))) for n, iri in enumerate(iris)]


def pairs(iris: Sequence[str]) -> list[tuple[str, str]]:
    return [(iri, iris[0]) for iri in iris]


WRITTEN: Mapping[str, Write] = {
    "steps": lambda q, iris, _: q.steps(enumerate(iris), True, True),
    "are objects": lambda q, iris, _: q.are_objects(iris),
    "are there": lambda q, iris, _: q.are_there(iris),
    "loops": lambda q, iris, _: q.loops(iris),
    "neighbours": lambda q, iris, _: q.neighbours(pairs(iris), pairs(iris)),
    "by namespace": lambda q, iris, _: q.by_namespace(q.neighbours([], pairs(iris)[:1]))[-1],
    "between": lambda q, iris, _: q.between(pairs(iris)),
    "labels": lambda q, iris, _: q.labels(iris),
    "labels by relation": lambda q, iris, _: q.labels(iris, [SPACE + "label", SPACE + "name"]),
    "over blank nodes": lambda q, iris, _: q.over_blanks(iris, 1),
    "into blank nodes": lambda q, iris, _: q.into_blanks(map(terms.iri, iris), 1),
    "called": lambda q, _, names: q.called(names),
    "with a literal": lambda q, _, names: q.with_literals([(0, names[0])]),
    "paths of one step": lambda q, iris, _: path_queries.joined(q, searches(iris), (0, 0), True),
    "paths of two steps": lambda q, iris, _: path_queries.joined(q, searches(iris), (1, 0), True),
    "paths of two steps from the ends": lambda q, iris, _: path_queries.joined(q, searches(iris), (0, 1), False),
    "paths of three steps": lambda q, iris, _: path_queries.joined(q, searches(iris), (1, 1), True),
    "steps of a way": lambda q, iris, _: path_queries.onward(q, trails(iris), True),
    "neighbours of a way": lambda q, iris, _: path_queries.beyond(
        q, trails(iris), [(n, iri, bool(n % 2)) for n, iri in enumerate(iris)]
    ),
    "a count": lambda q, iris, _: queries.count(q.neighbours(pairs(iris), [])),
    "a page": lambda q, iris, _: queries.page(q.neighbours(pairs(iris), []), "?o", 5, 10),
}


def shape(query: str) -> tuple[Any, list[str], list[str]]:
    """Parse a query; return its form with all terms blotted out, its IRIs, and its texts."""
    iris: list[str] = []
    texts: list[str] = []

    def walk(part: Any) -> Any:
        if isinstance(part, URIRef):
            iris.append(str(part))
            return "iri"
        if isinstance(part, RdfLiteral):
            texts.append(str(part))
            return f"literal {part.language} {part.datatype}"
        if isinstance(part, (Variable, str, int)) or part is None:
            return repr(part)
        if isinstance(part, CompValue):
            return [part.name, *((key, walk(value)) for key, value in part.items())]
        return [walk(one) for one in part]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        parsed = parseQuery(query)
    return walk(parsed), sorted(set(iris)), sorted(set(texts))


@functools.cache
def plain_shape(name: str, nodes: int, names: int) -> tuple[Any, list[str], list[str]]:
    """Parse the query about so many harmless ids and names."""
    return shape(WRITTEN[name](QUERIES, harmless(nodes), [f'"n{number}"@en' for number in range(names)]))


def harmless(nodes: int) -> list[str]:
    return [f"{SPACE}n{number}" for number in range(nodes)]


def value(term: str) -> str:
    """Read a written literal by another parser."""
    return str(next(iter(STORE.query(f"SELECT ?x WHERE {{ VALUES ?x {{ {term} }} }}")))["x"].value)


TEXTS = st.lists(NASTY | ATTACKS, min_size=1, max_size=3, unique=True)


@pytest.mark.parametrize("name", WRITTEN)
@settings(max_examples=3, deadline=None)  # Parsing a query takes a tenth of a second.
@given(texts=TEXTS)
def test_no_text_changes_the_form_of_a_query(name: str, texts: list[str]) -> None:
    check_form(name, texts)


@pytest.mark.slow
@pytest.mark.parametrize("name", WRITTEN)
@settings(max_examples=30, deadline=None)
@given(texts=TEXTS)
def test_none_of_many_texts_changes_the_form_of_a_query(name: str, texts: list[str]) -> None:
    check_form(name, texts)


def check_form(name: str, texts: list[str]) -> None:
    iris = sorted({iri for text in texts if (iri := IDS.iri(text)) is not None})
    names = sorted({terms.literal(Literal.make(text, language="en")) for text in texts})
    if not iris:
        return
    query = WRITTEN[name](QUERIES, iris, names)
    form, found, read = shape(query)
    wanted, usual, _ = plain_shape(name, len(iris), len(names))
    assert form == wanted
    assert set(found) - set(iris) == set(usual) - set(harmless(len(iris)))
    used = texts if name == "called" else [value(names[0])] if name == "with a literal" else []
    assert set(used) <= set(read)
    STORE.query(query)


@given(NASTY | ATTACKS)
def test_an_id_without_decoding_is_one_iri_or_none(text: str) -> None:
    iri = PLAIN_IDS.iri(text)
    if iri is not None:
        rows = list(STORE.query(f"SELECT ?x WHERE {{ VALUES ?x {{ {terms.iri(iri)} }} }}"))
        assert [row["x"] for row in rows] == [ox.NamedNode(iri)]


@pytest.mark.parametrize("bad", ["http://example.org/a> } #", 'http://example.org/"', "http://example.org/a b", "n1"])
@pytest.mark.parametrize("name", sorted(set(WRITTEN) - {"called", "with a literal"}))
def test_what_is_no_iri_gets_into_no_query(name: str, bad: str) -> None:
    with pytest.raises(ValueError, match="IRI"):
        WRITTEN[name](QUERIES, [bad], [])


FACTS = """
@prefix : <http://example.org/kit/> .
@prefix far: <http://elsewhere.example/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:a :r :b . :c far:r :d . :e :r "x" . :f :r far:one . far:two :r :g . :h rdfs:label "x" . :i :s "y" .
:k rdfs:label "x"@fr .
[] :r "x" . far:one far:r "x" . :j :r "x" .
"""


def answered(query: str, *variables: str, facts: str = FACTS) -> set[tuple[str, ...]]:
    store = ox.Store()
    store.load(facts.encode(), format=ox.RdfFormat.TURTLE)
    return {tuple(row[one].value.removeprefix(SPACE) for one in variables) for row in store.query(query)}


def test_a_node_is_there_by_triples_of_the_graph_alone() -> None:
    every = [SPACE + one for one in "abcdefghij"]
    assert answered(QUERIES.are_there(every), "n") == {("a",), ("b",), ("e",), ("i",), ("j",)}
    without = Vocabulary(prefixes={"": SPACE}, relations=(SPACE,), literals=False)
    assert answered(Queries(without, Ids(without)).are_there(every), "n") == {(one,) for one in "abfg"}


def test_the_subjects_of_literals_are_iris_that_a_relation_of_the_graph_leads_from() -> None:
    found = answered(QUERIES.with_literals([(7, '"x"'), (3, '"y"'), (5, '"z"')]), "i", "n", "p")
    assert found == {("7", "e", "r"), ("7", "j", "r"), ("3", "i", "s")}


def test_nodes_are_called_by_some_relations_or_by_those_of_labels() -> None:
    for write, names, labelled in (
        (QUERIES.called_in_any_language, ["x"], {("h",), ("k",)}),
        (QUERIES.called, ['"x"'], {("h",)}),
    ):
        assert answered(write(names), "n") == labelled
        assert answered(write(names, [SPACE + "r"]), "n") == {("e",), ("j",)}


def test_pages_behind_ten_thousand_rows_are_of_a_sorted_whole() -> None:
    near, far = (queries.page("SELECT", "?o", 10, start) for start in (9990, 9991))
    assert near == "SELECT ORDER BY ?o LIMIT 10 OFFSET 9990"
    assert far == "SELECT * WHERE { { SELECT ORDER BY ?o } } LIMIT 10 OFFSET 9991"


@pytest.mark.parametrize("space", ["http://example.org/", "urn:kit:"])
def test_each_neighbour_is_of_one_namespace_and_of_none_where_its_id_would_have_a_prefix(space: str) -> None:
    ids = [f"{space}{name}" for name in ("a", "deep/b", "c:d")] + ["http://elsewhere.example/e"]
    meaning = Vocabulary(prefixes={"": space, "x": f"{space}deep/"})
    written = Queries(meaning, Ids(meaning))
    facts = "".join(f"<{one}> <{space}r> <{space}hub> .\n" for one in ids)
    parts = written.by_namespace(written.neighbours([], [(f"{space}hub", f"{space}r")]))
    found = [answered(part, "o", facts=facts) for part in parts]
    assert found == [{(ids[0],)}, {(ids[1],)}, {(ids[2],), (ids[3],)}]
