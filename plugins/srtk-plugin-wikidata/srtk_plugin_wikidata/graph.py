"""The ``wikidata`` graph: items and claims of Wikidata, or of another Wikibase, over SPARQL."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import attrs
from srtk_plugin_sparql.graph import SparqlGraph
from srtk_plugin_sparql.keeping import Source
from srtk_plugin_sparql.reading import Reader
from srtk_plugin_sparql.vocabulary import Ids, Vocabulary

from srtk_framework.values import DriverError, Qualifier, Triple, close_matches
from srtk_plugin_wikidata import statements
from srtk_plugin_wikidata.graph_split import SplitReader
from srtk_plugin_wikidata.labels import FallbackNames
from srtk_plugin_wikidata.queries import LITERALS, WikidataQueries
from srtk_plugin_wikidata.vocabulary import ANY, WIKIDATA, Spaces, WikidataIds, usual

ENDPOINT = "https://query.wikidata.org/sparql"
SECOND = "scholarly"
"""Folder, within that of a record, of what the second endpoint answered."""


@attrs.define(eq=False)
class WikidataGraph(SparqlGraph):
    """Answer from Wikidata, or another Wikibase: an endpoint, or an embedded store of its RDF.

    Attributes:
        endpoint: An http or https URL; or a folder that ``srtk graph load`` made, also written ``oxigraph:FOLDER``.
        scholarly: A second endpoint or store, which holds the statements of items that the first lacks; none when
            left out.
        wikibase: What all IRIs of the Wikibase start with.
        statements: Whether the qualifiers of statements are read.
        literals: Which literals are objects: none; values (dates, numbers, places, texts in a language); or all,
            which adds plain texts, most of them identifiers elsewhere.
        vocabulary: What is set in it goes before Wikidata's usual one.
        preset: Not used here.
        engine: auto, blazegraph, oxigraph, qlever or virtuoso: its usual limits.
        limits: How hard the endpoint may be asked.
        user_agent: How the client calls itself; Wikimedia wants a name and an address, and refuses others.
        headers: Further HTTP headers, such as Authorization.
        cache: SQLite file of answers that later runs use again; none when left out.
        cache_days: After so many days a kept answer is asked for again.
        version: Version of the graph's data; kept answers of another version are not used.
        both: Whether incoming steps are asked for together with outgoing ones; classes and countries have millions.
        names: How ``find`` looks: exact asks for the usual ways to write a name; scan reads all names once; auto
            scans embedded stores alone.
        record: Folder in which every answer is written down.
        replay: Folder of such a record, which then answers in the place of the endpoint.
    """

    endpoint: str = ENDPOINT
    scholarly: str | None = None
    wikibase: str = WIKIDATA
    statements: bool = False
    literals: str = "none"
    engine: str = "blazegraph"
    both: bool = False
    _second: WikidataGraph | None = attrs.field(init=False, default=None, repr=False)

    def open(self) -> None:
        """Make the client or open the store; the same for the second endpoint."""
        if self.literals not in LITERALS:
            hint = close_matches(self.literals, LITERALS)
            raise DriverError(f"literals {self.literals!r}: choose {', '.join(LITERALS)}.{hint}")
        super().open()
        if self.scholarly is not None:
            self._second = attrs.evolve(
                self, endpoint=self.scholarly, scholarly=None, record=_within(self.record), replay=_within(self.replay)
            )
            self._second.open()
            self._reader = SplitReader(self._open, self._second._open, self.source(), self.both)
        scan = self.names == "scan" or (self.names == "auto" and self._folder() is not None)
        self._naming = FallbackNames(self._open, self._queries, self.meaning().languages, scan)

    def close(self) -> None:
        """Close connections and files."""
        if self._second is not None:
            self._second.close()
        self._second = None
        super().close()

    def meaning(self) -> Vocabulary:
        """Return the vocabulary: what is set, over Wikidata's usual one."""
        if self.preset:
            raise DriverError(f"preset {self.preset!r}: this graph has its own; leave it out, and set `vocabulary`")
        own, plain = usual(Spaces(self.wikibase)), Vocabulary()
        given = {
            field.name: value
            for field in attrs.fields(Vocabulary)
            if (value := getattr(self.vocabulary, field.name)) != getattr(plain, field.name)
        }
        # Ids need the usual prefixes, whatever else is named; literals have a setting of their own.
        given |= {"prefixes": {**self.vocabulary.prefixes, **own.prefixes}, "literals": self.literals != "none"}
        meaning = attrs.evolve(own, **given)
        if ANY in meaning.languages:
            return meaning
        return attrs.evolve(meaning, languages=(*meaning.languages, ANY))

    def make_reader(
        self, source: Source, vocabulary: Vocabulary, ids: Ids, page: int, nodes: int, workers: int
    ) -> Reader:
        """Make what asks the queries, with ids and queries of its own."""
        spaces = Spaces(self.wikibase)
        named = WikidataIds(vocabulary, spaces)
        queries = WikidataQueries(vocabulary, named, spaces, self.literals)
        return Reader(source, named, queries, page, nodes, workers, self.both)

    @property
    def _queries(self) -> WikidataQueries:
        queries = self._open.queries
        assert isinstance(queries, WikidataQueries)
        return queries

    def qualifiers(self, triples: Sequence[Triple]) -> list[tuple[Qualifier, ...]]:
        """Read the qualifiers of each triple's statements of the best rank, sorted."""
        if not self.statements:
            return [() for _ in triples]
        return statements.qualifiers(self._open, self._queries, Spaces(self.wikibase), triples)

    def source(self) -> str:
        """Return the endpoint, or the content of the store; both of them where there are two."""
        first = super().source()
        if self.scholarly is None:
            return first
        second = self._second.source() if self._second is not None else self.scholarly.rpartition("@")[2]
        return f"{first} + {second}"

    def fingerprint(self) -> str:
        """Identify the data, as far as it is known, and how it is read."""
        return f"Wikidata{super().fingerprint()[:-1]}, {self.statements}, {self.literals})"


def _within(folder: str | None) -> str | None:
    return None if folder is None else str(Path(folder) / SECOND)
