"""The ``wikidata`` graph: items and claims of Wikidata or another Wikibase, over SPARQL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import attrs
from srtk_plugin_sparql.graph import SparqlGraph
from srtk_plugin_sparql.sources import Source
from srtk_plugin_sparql.step_reader import StepReader
from srtk_plugin_sparql.vocabulary import Ids, Vocabulary

from srtk_framework.values import DriverError, Origin, Qualifier, Triple, at_least, close_matches, without_logins
from srtk_plugin_wikidata import statements
from srtk_plugin_wikidata.graph_split import SplitReader
from srtk_plugin_wikidata.labels import FallbackNames
from srtk_plugin_wikidata.queries import LITERALS, WikidataQueries
from srtk_plugin_wikidata.vocabulary import ANY, WIKIDATA, Spaces, WikidataIds, default_vocabulary

ENDPOINT = "https://query.wikidata.org/sparql"
SECOND = "scholarly"  # Subfolder of a recording with the responses of the second endpoint


@attrs.define(eq=False)
class WikidataGraph(SparqlGraph):
    """Wikidata, or another Wikibase, at a SPARQL endpoint or in an embedded store of its RDF.

    Attributes:
        scholarly: A second endpoint or store with the statements of items that the first lacks; none by default.
        wikibase: Common prefix of all IRIs of the Wikibase.
        statements: Whether to read the qualifiers of statements.
        literals: Literals that are objects: none; values (dates, numbers, coordinates, texts in a language); or all,
            which adds plain texts, mostly external identifiers.
        vocabulary: Settings that override Wikidata's vocabulary.
        preset: Not supported.
        both: Whether one query reads incoming and outgoing steps; classes and countries have millions.
        sample: Names of each naming relation that one query samples for the languages in use; 0, the default, looks
            names up in the languages of the vocabulary alone.
    """

    suited: ClassVar[Mapping[str, Any]] = {
        "entity_linker": {"use": "wikidata-search"},
        # What points at a country or a class is millions of items, and a fan cost asks about three times as many steps.
        "expander": {"width": 10, "depth": 2, "inverse": False, "search": {"fan_cost": 0}},
        "path_scorer": {"step_cost": 0, "return_cost": 0},
        "budget": {"hub": 200},
    }

    endpoint: str = ENDPOINT
    scholarly: str | None = None
    wikibase: str = WIKIDATA
    statements: bool = False
    literals: str = "none"
    engine: str = "blazegraph"
    both: bool = False
    sample: int = attrs.field(default=0, validator=at_least(0))
    _second: WikidataGraph | None = attrs.field(init=False, default=None, repr=False)

    def open(self) -> None:
        """Open the clients or stores of both endpoints."""
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
        self._known_names = FallbackNames(
            self._open, self._queries, self.meaning().languages, self.scans_names, self.sample
        )

    def close(self) -> None:
        """Close connections and files."""
        if self._second is not None:
            self._second.close()
        self._second = None
        super().close()

    def meaning(self) -> Vocabulary:
        """Return Wikidata's vocabulary with the overrides of the setting."""
        if self.preset:
            raise DriverError(f"preset {self.preset!r} is not supported by wikidata; set `vocabulary` instead")
        own = default_vocabulary(Spaces(self.wikibase))
        meaning = self.vocabulary.over(own)
        return attrs.evolve(
            meaning,
            # Ids need the default prefixes in any case; literals have a separate setting.
            prefixes={**self.vocabulary.prefixes, **own.prefixes},
            literals=self.literals != "none",
            languages=tuple(dict.fromkeys((*meaning.languages, ANY))),
        )

    def make_reader(
        self, source: Source, vocabulary: Vocabulary, ids: Ids, page: int, nodes: int, workers: int
    ) -> StepReader:
        """Return the reader with the ids and queries of a Wikibase."""
        spaces = Spaces(self.wikibase)
        named = WikidataIds(vocabulary, spaces)
        queries = WikidataQueries(vocabulary, named, spaces, self.literals)
        return StepReader(source, named, queries, page, nodes, workers, self.both)

    @property
    def _queries(self) -> WikidataQueries:
        queries = self._open.queries
        assert isinstance(queries, WikidataQueries)
        return queries

    def qualifiers(self, triples: Sequence[Triple]) -> list[tuple[Qualifier, ...]]:
        """Read the qualifiers of the best-rank statements of each triple, sorted."""
        if not self.statements:
            return [() for _ in triples]
        return statements.qualifiers(self._open, self._queries, Spaces(self.wikibase), triples)

    def origins(self, triples: Sequence[Triple]) -> list[Origin]:
        """Return the endpoint of each triple, which is the endpoint with the outgoing steps of its subject."""
        reader = self._open
        if self._second is None or not isinstance(reader, SplitReader):
            return [Origin(self.source())] * len(triples)
        main, other = Origin(super().source()), Origin(self._second.source())
        held = reader.at_main(triple.subject for triple in triples)
        return [main if triple.subject in held else other for triple in triples]

    def source(self) -> str:
        """Return the endpoint or the content hash of the store; both sources if there are two."""
        first = super().source()
        if self.scholarly is None:
            return first
        second = (
            self._second.source() if self._second is not None else without_logins(self.scholarly.rpartition("@")[2])
        )
        return f"{first} + {second}"

    def fingerprint(self) -> str:
        """Identify the data, as far as known, and the settings."""
        return f"Wikidata{super().fingerprint()[:-1]}, {self.statements}, {self.literals})"


def _within(folder: str | None) -> str | None:
    return None if folder is None else str(Path(folder) / SECOND)
