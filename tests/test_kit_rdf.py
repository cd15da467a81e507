"""What the kit has for graphs that read RDF: samples as N-Triples, and a server over a store."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from srtk_framework.testing import SAMPLE, Sample, served, to_ntriples
from srtk_framework.values import Literal, Triple

SPACE = "http://example.org/"
LABEL, ALIAS = "http://www.w3.org/2000/01/rdf-schema#label", "http://www.w3.org/2004/02/skos/core#altLabel"
TEXTS = st.text(st.characters(codec="utf-8"))


def iri(id_: str) -> str:
    return SPACE + quote(id_, safe="")


def parsed(text: str) -> list[tuple[str, str, Any]]:
    ox = pytest.importorskip("pyoxigraph")
    quads = ox.parse(text.encode(), format=ox.RdfFormat.N_TRIPLES)
    return [(quad.subject.value, quad.predicate.value, quad.object) for quad in quads]


def end(value: Any) -> str:
    import pyoxigraph as ox

    if isinstance(value, ox.NamedNode):
        return str(value.value)
    return Literal.make(value.value, None if value.language else value.datatype.value, value.language)


def test_the_kits_graph_comes_back_from_ntriples() -> None:
    facts = [(iri(s), iri(r), o if isinstance(o, Literal) else iri(o)) for s, r, o in SAMPLE.triples]
    names = [(iri(id_), LABEL, name) for id_, name in SAMPLE.labels.items()]
    names += [(iri(id_), ALIAS, name) for id_, every in SAMPLE.aliases.items() for name in every]
    wanted = facts + [(subject, relation, Literal.make(name)) for subject, relation, name in names]
    assert [(s, r, end(o)) for s, r, o in parsed(to_ntriples(SAMPLE, iri))] == wanted


@given(TEXTS, st.sampled_from([(None, None), (None, "lv"), ("xsd:gYear", None), ("http://example.org/kind", None)]))
def test_any_text_comes_back_from_ntriples(text: str, kind: tuple[str | None, str | None]) -> None:
    literal = Literal.make(text, *kind)
    sample = Sample((Triple("a", "b", literal),), {"a": text})
    value, name = (object_ for *_, object_ in parsed(to_ntriples(sample, iri, label=SPACE + "name", language="en")))
    assert end(value) == literal
    assert (name.value, name.language) == (text, "en")


def test_an_id_without_an_iri_is_named() -> None:
    with pytest.raises(ValueError, match="'a' has no IRI"):
        to_ntriples(SAMPLE.renamed(lambda _: "a", str), lambda id_: None if id_ == "a" else iri(id_))


def test_a_server_that_does_not_come_up_fails_the_test_with_its_own_words(tmp_path: Path) -> None:
    with (
        pytest.raises(pytest.fail.Exception, match=r"did not come up: Error: .*No such file"),
        served(tmp_path / "none"),
    ):
        raise AssertionError("there is no store to serve")
