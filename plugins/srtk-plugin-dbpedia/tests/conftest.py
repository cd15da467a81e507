"""Stores of DBpedia-shaped RDF, and an Oxigraph server over one: all on loopback."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from srtk_plugin_sparql.commands.load import load
from srtk_plugin_sparql.store import DATA
from srtk_plugin_sparql.vocabulary import Ids, Vocabulary

from srtk_framework.testing import SAMPLE, served, to_ntriples

RESOURCE = "http://dbpedia.org/resource/"
KIT = Vocabulary(
    prefixes={"": RESOURCE},
    decode=True,
    relations=(RESOURCE,),
    noise=("code",),
)
"""Reads the kit's graph, whose relations stand among the resources."""

HEAD = """
@prefix dbr: <http://dbpedia.org/resource/> .
@prefix dbc: <http://dbpedia.org/resource/Category:> .
@prefix dbo: <http://dbpedia.org/ontology/> .
@prefix dbp: <http://dbpedia.org/property/> .
@prefix dct: <http://purl.org/dc/terms/> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix yago: <http://dbpedia.org/class/yago/> .
"""


@pytest.fixture(scope="session")
def make_store(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Return what loads Turtle, with the usual prefixes, into a store."""

    def make(turtle: str) -> Path:
        folder = tmp_path_factory.mktemp("dbpedia")
        (folder / "graph.ttl").write_text(HEAD + turtle, encoding="utf-8")
        load([folder / "graph.ttl"], folder / "store")
        return folder / "store"

    return make


@pytest.fixture(scope="session")
def kit_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a loaded store of the kit's sample, its ids read as titles."""
    folder = tmp_path_factory.mktemp("kit")
    (folder / "kit.nt").write_text(to_ntriples(SAMPLE, Ids(KIT).iri), encoding="utf-8")
    load([folder / "kit.nt"], folder / "store")
    return folder / "store"


@pytest.fixture(scope="session")
def kit_server(kit_store: Path) -> Iterator[str]:
    """Return the URL of an Oxigraph server over the kit's sample."""
    with served(kit_store / DATA) as url:
        yield url
