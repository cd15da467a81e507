"""Wikidata-shaped RDF, stores made of it, and Oxigraph servers over them: all on loopback."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from srtk_plugin_sparql.commands.load import load
from srtk_plugin_sparql.store import DATA

from srtk_framework.testing import served

PREFIXES = """
@prefix wd: <http://www.wikidata.org/entity/> .
@prefix wdt: <http://www.wikidata.org/prop/direct/> .
@prefix wdtn: <http://www.wikidata.org/prop/direct-normalized/> .
@prefix p: <http://www.wikidata.org/prop/> .
@prefix ps: <http://www.wikidata.org/prop/statement/> .
@prefix pq: <http://www.wikidata.org/prop/qualifier/> .
@prefix pqv: <http://www.wikidata.org/prop/qualifier/value/> .
@prefix s: <http://www.wikidata.org/entity/statement/> .
@prefix genid: <http://www.wikidata.org/.well-known/genid/> .
@prefix wikibase: <http://wikiba.se/ontology#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""

Stores = Callable[[str], Path]
Servers = Callable[[Path], str]


@pytest.fixture(scope="session")
def store_of(tmp_path_factory: pytest.TempPathFactory) -> Stores:
    """Return what makes a store of Turtle, its prefixes left out."""

    def make(turtle: str) -> Path:
        folder = tmp_path_factory.mktemp("rdf")
        (folder / "data.ttl").write_text(PREFIXES + turtle, encoding="utf-8")
        load([folder / "data.ttl"], folder / "store")
        return folder / "store"

    return make


@pytest.fixture(scope="session")
def serve() -> Iterator[Servers]:
    """Return what starts a server over a store; each store has one, until the tests end."""
    with ExitStack() as stack:
        running: dict[Path, str] = {}

        def start(store: Path) -> str:
            if store not in running:
                running[store] = stack.enter_context(served(store / DATA))
            return running[store]

        yield start


def claims(rows: Iterable[str]) -> str:
    """Write direct claims, ``Q1 P2 Q3`` each."""
    return "".join("wd:{} wdt:{} wd:{} .\n".format(*row.split()) for row in rows)


@pytest.fixture(name="claims", scope="session")
def _claims() -> Callable[[Iterable[str]], str]:
    return claims
