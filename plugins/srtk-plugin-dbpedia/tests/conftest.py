"""Stores of DBpedia-shaped RDF, and an Oxigraph server over one: all on loopback."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from srtk_plugin_sparql.commands.load import load
from srtk_plugin_sparql.store import DATA
from srtk_plugin_sparql.vocabulary import RDFS_LABEL, SKOS_ALIAS, Ids, Vocabulary

from srtk_framework.testing.sample import SAMPLE
from srtk_framework.types import Literal

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
    import pyoxigraph as ox

    ids = Ids(KIT)

    def node(id_: str) -> ox.NamedNode:
        iri = ids.iri(id_)
        assert iri is not None, id_
        return ox.NamedNode(iri)

    def end(text: str) -> ox.NamedNode | ox.Literal:
        if not isinstance(text, Literal):
            return node(text)
        if text.language:
            return ox.Literal(text.lexical, language=text.language)
        kind = (text.datatype or "xsd:string").replace("xsd:", "http://www.w3.org/2001/XMLSchema#")
        return ox.Literal(text.lexical, datatype=ox.NamedNode(kind))

    lines = [ox.Triple(node(s), node(r), end(o)) for s, r, o in SAMPLE.triples]
    names = [(id_, RDFS_LABEL, name) for id_, name in SAMPLE.labels.items()]
    names += [(id_, SKOS_ALIAS, name) for id_, every in SAMPLE.aliases.items() for name in every]
    lines += [ox.Triple(node(id_), ox.NamedNode(relation), ox.Literal(name)) for id_, relation, name in names]
    folder = tmp_path_factory.mktemp("kit")
    (folder / "kit.nt").write_text("".join(f"{line} .\n" for line in lines), encoding="utf-8")
    load([folder / "kit.nt"], folder / "store")
    return folder / "store"


@pytest.fixture(scope="session")
def kit_server(kit_store: Path) -> Iterator[str]:
    """Return the URL of an Oxigraph server over the kit's sample."""
    with served(kit_store) as url:
        yield url


@contextmanager
def served(store: Path) -> Iterator[str]:
    """Run an Oxigraph server over a store on a free port."""
    beside = Path(sys.executable).parent / "oxigraph"
    binary = str(beside) if beside.is_file() else shutil.which("oxigraph")
    if binary is None:
        pytest.skip("the oxigraph server is not installed (pip install oxigraph)")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    command = [binary, "serve-read-only", "-l", str(store / DATA), "-b", address]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        until = time.monotonic() + 60
        while not _answers(address):
            if time.monotonic() > until or process.poll() is not None:
                pytest.fail("the oxigraph server did not come up")
            time.sleep(0.05)
        yield f"http://{address}/query"
    finally:
        process.terminate()
        process.wait(30)


def _answers(address: str) -> bool:
    try:
        urllib.request.urlopen(f"http://{address}/query?query=ASK%7B%7D", timeout=5).close()
    except (urllib.error.URLError, ConnectionError):
        return False
    return True
