"""SPARQL queries that filter page links on the server, since counting the links of a hub dominates the time."""

from __future__ import annotations

from srtk_plugin_sparql import terms
from srtk_plugin_sparql.queries import Queries
from srtk_plugin_sparql.vocabulary import Ids, Vocabulary


class PlainQueries(Queries):
    """Queries without the relations whose whole id is hidden."""

    def __init__(self, vocabulary: Vocabulary, ids: Ids) -> None:
        names = [name for name in vocabulary.hidden if not set(name) & set("*?[")]
        self._left_out = [iri for name in names if (iri := ids.iri(name)) is not None]
        super().__init__(vocabulary, ids)

    def relation(self, variable: str) -> str:
        """Return the constraint that a variable is a relation of the graph."""
        written = super().relation(variable)
        if not self._left_out:
            return written
        return f"{written} FILTER({variable} NOT IN ({', '.join(map(terms.iri, self._left_out))}))"
