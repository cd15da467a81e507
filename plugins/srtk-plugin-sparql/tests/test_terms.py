"""Ids, IRIs and literals: there and back, and never out of their place in a query."""

from __future__ import annotations

import re

import pyoxigraph as ox
import pytest
from hypothesis import given
from hypothesis import strategies as st
from srtk_plugin_sparql import terms
from srtk_plugin_sparql.queries import Queries
from srtk_plugin_sparql.terms import Term
from srtk_plugin_sparql.vocabulary import Ids, Vocabulary

from srtk_framework.values import DriverError, Literal

SPACE = "http://example.org/kit/"
DECODING = Ids(Vocabulary(prefixes={"": SPACE, "x": "http://example.org/kit/deep/"}, decode=True))
PLAIN = Ids(Vocabulary(prefixes={"": SPACE, "x": "http://example.org/kit/deep/"}))
NASTY = st.text(st.sampled_from('ab<>"{}|^`\\ \n\r\t%25:/#?@.é日\u2028\U000e0001'), max_size=12)
STORE = ox.Store()


@given(st.text() | NASTY)
def test_an_iri_in_a_query_is_an_iri_or_refused(text: str) -> None:
    try:
        written = terms.iri(text)
    except ValueError:
        return
    rows = list(STORE.query(f"SELECT ?x WHERE {{ VALUES ?x {{ {written} }} }}"))
    assert [row["x"] for row in rows] == [ox.NamedNode(text)]


def test_an_iri_may_hold_the_letters_that_a_store_reads() -> None:
    every = (*range(0x3000), *range(0xD7F0, 0xD800), *range(0xE000, 0xE010), *range(0xF8F0, 0x10010))
    ends = (0x1FFFD, 0x1FFFE, 0x1FFFF, 0xE0FFF, 0xE1000, 0xEFFFD, 0xEFFFF, 0xF0000, 0x10FFFF)
    for number in (*every, *ends):
        iri = f"http://e.org/{chr(number)}"
        if chr(number) not in "#%":
            line = f"<{iri}> <{iri}> <{iri}> .".encode()
            try:
                read = bool(list(ox.parse(line, ox.RdfFormat.N_TRIPLES)))
            except SyntaxError:
                read = False
            assert terms.is_iri(iri) == read, hex(number)


@given(st.text() | NASTY)
def test_a_text_in_a_query_is_that_text(text: str) -> None:
    try:
        written = terms.text(text)
    except ValueError:
        assert any("\ud800" <= letter <= "\udfff" for letter in text)
        return
    assert "\n" not in written
    rows = list(STORE.query(f"SELECT ?x WHERE {{ VALUES ?x {{ {written} }} }}"))
    assert [row["x"].value for row in rows] == [text]


@given(
    NASTY,
    st.sampled_from([None, "xsd:date", "http://example.org/type", "a> } #"]),
    st.sampled_from([None, "en-GB", "lv"]),
)
def test_a_literal_in_a_query_is_one_term_or_refused(lexical: str, datatype: str | None, language: str | None) -> None:
    literal = Literal.make(lexical, datatype, language)
    try:
        written = terms.literal(literal)
    except ValueError:
        return
    rows = list(STORE.query(f"SELECT ?x WHERE {{ VALUES ?x {{ {written} }} }}"))
    assert len(rows) == 1
    assert rows[0]["x"].value == literal.lexical


@given(NASTY | st.text())
def test_an_id_is_the_id_of_one_iri_or_of_none(id_: str) -> None:
    for ids in (DECODING, PLAIN):
        iri = ids.iri(id_)
        if iri is not None:
            assert ids.short(iri) == id_
            assert terms.is_iri(iri)


@given(NASTY)
def test_every_name_has_an_iri_where_ids_are_decoded(name: str) -> None:
    text = name.replace(":", "").replace("%", "")
    iri = DECODING.iri(text)
    if text:
        assert iri is not None
        assert iri.startswith(SPACE)


@given(st.text(st.sampled_from("ab%25/é(2F73C#"), min_size=1, max_size=8))
def test_every_iri_comes_back_from_its_id(local: str) -> None:
    if terms.is_iri(SPACE + local):
        for ids in (DECODING, PLAIN):
            assert ids.iri(ids.short(SPACE + local)) == SPACE + local


@pytest.mark.parametrize(
    "id_",
    [
        "x> } INSERT DATA { <a:a> <a:b> <a:c> } #",
        'Q1"',
        "http://a b/",
        "http://[x/",
        "a%zz:b",
        "",
        "\ud800",
        "_:<",
    ],
)
def test_an_id_that_is_none_is_unknown(id_: str) -> None:
    assert PLAIN.iri(id_) is None


def test_the_longest_namespace_wins() -> None:
    assert PLAIN.short("http://example.org/kit/deep/a") == "x:a"
    assert PLAIN.short("http://example.org/kit/a:b") == "http://example.org/kit/a:b"


def test_blank_nodes_of_a_loaded_store_look_like_blank_nodes() -> None:
    assert PLAIN.short("urn:srtk:blank:b0") == "_:b0"
    assert PLAIN.iri("_:b0") == "urn:srtk:blank:b0"


def test_terms_become_literals_of_graphs() -> None:
    assert Term("literal", "7", "http://www.w3.org/2001/XMLSchema#integer").literal() == '"7"^^xsd:integer'
    assert Term("literal", "Riga", "", "lv").literal() == '"Riga"@lv'


@pytest.mark.parametrize(
    "vocabulary",
    [
        Vocabulary(prefixes={"a b": SPACE}),
        Vocabulary(prefixes={"a": "no iri"}),
        Vocabulary(label_relations=('x" } #',)),
        Vocabulary(entities=("> #",)),
    ],
)
def test_a_vocabulary_that_could_change_queries_is_refused(vocabulary: Vocabulary) -> None:
    with pytest.raises(DriverError):
        Ids(vocabulary)


def test_a_language_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="language"):
        Queries(Vocabulary(languages=('en")',)), PLAIN)


@pytest.mark.parametrize("value", ["\\u0022 } #", "\\\\u0022", "\\\x01u", "u\\U00000022", "\\\\\x01"])
def test_a_backslash_before_u_starts_no_escape(value: str) -> None:
    written = terms.text(value)
    assert re.search(r"\\u|\\U00000022", written) is None
    assert next(iter(STORE.query(f"SELECT ?x WHERE {{ VALUES ?x {{ {written} }} }}")))["x"].value == value
