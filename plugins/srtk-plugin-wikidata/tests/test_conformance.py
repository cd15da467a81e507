"""The wikidata graph against the conformance kit: claims, statements and names in the shape of Wikidata's RDF."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest
from srtk_plugin_sparql.limits import SparqlLimits
from srtk_plugin_wikidata.graph import WikidataGraph
from srtk_plugin_wikidata.queries import BEST_RANK
from srtk_plugin_wikidata.vocabulary import WIKIDATA, Spaces

from srtk_framework.testing import KnowledgeGraphConformance
from srtk_framework.testing.sample import SAMPLE, Sample
from srtk_framework.values import Literal, Triple

SPACES = Spaces(WIKIDATA)
NUMBERS = {id_: number for number, id_ in enumerate([*SAMPLE.entities, *SAMPLE.relations, "start", "end", "length"], 1)}
WIKI = SAMPLE.renamed(lambda entity: f"Q{NUMBERS[entity]}", lambda relation: f"P{NUMBERS[relation]}")

Keep = Callable[[Triple], bool]


def write(sample: Sample, keep: Keep = lambda triple: True, named: Keep = lambda triple: True) -> str:
    """Write the sample as N-Triples: each fact as a claim and as a statement, its qualifiers at the statement."""
    import pyoxigraph as ox

    def node(space: str, id_: str) -> ox.NamedNode:
        return ox.NamedNode(space + id_)

    def value(text: str) -> ox.NamedNode | ox.Literal:
        if not isinstance(text, Literal):
            return node(SPACES.entity, text)
        if text.language:
            return ox.Literal(text.lexical, language=text.language)
        datatype = (text.datatype or "xsd:string").replace("xsd:", "http://www.w3.org/2001/XMLSchema#")
        return ox.Literal(text.lexical, datatype=ox.NamedNode(datatype))

    rows = []
    a, best = ox.NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#type"), ox.NamedNode(BEST_RANK)
    for number, triple in enumerate(sample.triples):
        if not keep(triple):
            continue
        subject, relation, object_ = node(SPACES.entity, triple.subject), triple.relation, value(triple.object)
        statement = ox.NamedNode(f"{SPACES.entity}statement/{triple.subject}-{number}")
        rows += [
            ox.Triple(subject, node(SPACES.direct, relation), object_),
            ox.Triple(subject, node(SPACES.claim, relation), statement),
            ox.Triple(statement, node(SPACES.value, relation), object_),
            ox.Triple(statement, a, best),
        ]
        rows += [
            ox.Triple(statement, node(SPACES.qualifier, q), value(v)) for q, v in sample.qualifiers.get(triple, ())
        ]
    label = ox.NamedNode("http://www.w3.org/2000/01/rdf-schema#label")
    alias = ox.NamedNode("http://www.w3.org/2004/02/skos/core#altLabel")
    names = [(id_, label, text) for id_, text in sample.labels.items()]
    names += [(id_, alias, text) for id_, texts in sample.aliases.items() for text in texts]
    for id_, kind, text in names:
        if named(Triple(id_, "", "")):
            rows.append(ox.Triple(node(SPACES.entity, id_), kind, ox.Literal(text, language="en")))
    return "".join(f"{row} .\n" for row in rows)


@pytest.fixture(scope="session")
def kit_store(store_of: Callable[[str], Path]) -> Path:
    return store_of(write(WIKI))


@pytest.fixture(scope="session")
def halves(store_of: Callable[[str], Path]) -> tuple[Path, Path]:
    """Two stores: what leaves an item stands in one of them, by the last digit of its id."""

    def odd(triple: Triple) -> bool:
        return re.search("[13579]$", triple.subject) is not None

    return store_of(write(WIKI, odd, odd)), store_of(write(WIKI, lambda t: not odd(t), lambda t: not odd(t)))


class OnWikidata:
    """What the classes share: the sample in Wikidata's form."""

    @pytest.fixture(scope="class")
    @classmethod
    def sample(cls) -> Sample:
        return WIKI

    @pytest.fixture
    def faulty(self) -> WikidataGraph:
        return WikidataGraph(endpoint="ftp://example.org/sparql")


def opened(**settings: Any) -> Iterator[WikidataGraph]:
    usual: dict[str, Any] = {"statements": True, "literals": "all", "engine": "oxigraph", "names": "scan"}
    graph = WikidataGraph(**{**usual, **settings})
    graph.open()
    yield graph
    graph.close()


class TestWikidataServer(OnWikidata, KnowledgeGraphConformance):
    name = "wikidata"

    @pytest.fixture
    def driver(self, kit_store: Path, serve: Callable[[Path], str]) -> Iterator[WikidataGraph]:
        yield from opened(endpoint=serve(kit_store))


class TestWikidataStore(OnWikidata, KnowledgeGraphConformance):
    name = "wikidata"

    @pytest.fixture
    def driver(self, kit_store: Path) -> Iterator[WikidataGraph]:
        yield from opened(endpoint=str(kit_store), both=True, limits=SparqlLimits(page=40))


class TestWikidataItemsAlone(OnWikidata, KnowledgeGraphConformance):
    """Without literals, as records of Wikidata have them."""

    name = "wikidata"

    @pytest.fixture(scope="class")
    @classmethod
    def sample(cls) -> Sample:
        return WIKI.without_literals()

    @pytest.fixture
    def driver(self, kit_store: Path) -> Iterator[WikidataGraph]:
        yield from opened(endpoint=str(kit_store), literals="none")


@pytest.mark.slow
class TestWikidataValues(OnWikidata, KnowledgeGraphConformance):
    """With all literals but plain texts."""

    name = "wikidata"

    @pytest.fixture(scope="class")
    @classmethod
    def sample(cls) -> Sample:
        def kept(triple: Triple) -> bool:
            object_ = triple.object
            return not isinstance(object_, Literal) or bool(object_.datatype or object_.language)

        return attrs.evolve(WIKI, triples=tuple(filter(kept, WIKI.triples)))

    @pytest.fixture
    def driver(self, kit_store: Path) -> Iterator[WikidataGraph]:
        yield from opened(endpoint=str(kit_store), literals="values")


class TestWikidataTwoServers(OnWikidata, KnowledgeGraphConformance):
    """Statements at two endpoints."""

    name = "wikidata"

    @pytest.fixture
    def driver(self, halves: tuple[Path, Path], serve: Callable[[Path], str]) -> Iterator[WikidataGraph]:
        yield from opened(endpoint=serve(halves[0]), scholarly=serve(halves[1]))


@pytest.mark.slow
class TestWikidataTwoStores(OnWikidata, KnowledgeGraphConformance):
    """Statements in two stores, read in pages of three rows."""

    name = "wikidata"

    @pytest.fixture
    def driver(self, halves: tuple[Path, Path]) -> Iterator[WikidataGraph]:
        yield from opened(endpoint=str(halves[1]), scholarly=str(halves[0]), both=True, limits=SparqlLimits(page=40))
