"""Labels of items in the preferred languages, else in any language."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from srtk_plugin_sparql.names import Names
from srtk_plugin_sparql.step_reader import StepReader

from srtk_plugin_wikidata.queries import WikidataQueries


class FallbackNames(Names):
    """Names with a fallback: without a label in a preferred language, the first label by language tag."""

    def __init__(
        self, reader: StepReader, queries: WikidataQueries, languages: Sequence[str], scan: bool, sample: int = 0
    ) -> None:
        super().__init__(reader, languages, scan, sample)
        self._asks = reader
        self._queries = queries
        self._others: dict[str, str] = {}

    def labels(self, ids: Iterable[str]) -> dict[str, str]:
        """Return the label of each id, or an empty string."""
        found = super().labels(ids)
        ids_ = self._asks.ids
        bare = {id_: ids_.label_source(iri) for id_, label in found.items() if not label and (iri := ids_.iri(id_))}
        self._read(bare.values())
        return {id_: label or self._others.get(bare.get(id_, ""), "") for id_, label in found.items()}

    def _read(self, iris: Iterable[str]) -> None:
        missing = [iri for iri in dict.fromkeys(iris) if iri not in self._others]
        if not missing or not self._asks.ids.named[0]:
            return
        self._others.update(dict.fromkeys(missing, ""))
        best: dict[str, str] = {}
        for row in self._asks.ask_all(missing, self._queries.first_labels, "?n"):
            # A result without groups may be one row without values.
            if "n" in row and "l" in row:
                iri, key = row["n"].value, row["l"].value
                best[iri] = min(key, best.get(iri, key))
        self._others.update({iri: key.partition(" ")[2].strip(" ") for iri, key in best.items()})
