"""The ``dbpedia`` graph: DBpedia over SPARQL, with redirects and disambiguation pages resolved."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

import attrs
from srtk_plugin_sparql.graph import SparqlGraph
from srtk_plugin_sparql.queries import Queries
from srtk_plugin_sparql.sources import Source
from srtk_plugin_sparql.step_reader import StepReader
from srtk_plugin_sparql.vocabulary import Ids, Vocabulary

from srtk_framework.roles import not_open
from srtk_framework.values import Budget, DriverError, FoundPaths, Frontier, Literal, at_least, keys_of, not_empty
from srtk_plugin_dbpedia import titles
from srtk_plugin_dbpedia.queries import PlainQueries
from srtk_plugin_dbpedia.redirects import Redirects
from srtk_plugin_dbpedia.vocabulary import NAMESPACES, pages, vocabulary


@attrs.define(eq=False)
class DbpediaGraph(SparqlGraph):
    """DBpedia at its public endpoint or a mirror, or in an embedded store of its files.

    Attributes:
        namespaces: Parts of DBpedia whose relations are read: ontology (mapped, clean), property (raw infoboxes, many
            more), category (subjects of articles). Types and superclasses are always read.
        languages: Languages of names, in order of preference; after them names without a language, and no more.
        redirects: Whether frontiers replace a redirect by its target.
        preset: Not supported.
        vocabulary: Settings that override DBpedia's vocabulary; prefixes are added to it.
        sample: Names of each naming relation that one query samples for the languages in use; 0, the default, looks
            names up in ``languages`` alone.
    """

    suited: ClassVar[Mapping[str, Any]] = {**SparqlGraph.suited, "entity_linker": {"use": "spotlight"}}

    endpoint: str = "https://dbpedia.org/sparql"
    engine: str = "virtuoso"
    # Many facts are in dbp: only, and the questions of LC-QuAD and QALD need both.
    namespaces: tuple[str, ...] = attrs.field(
        default=("ontology", "property"), validator=[keys_of(tuple(NAMESPACES)), not_empty("name a part")]
    )
    languages: tuple[str, ...] = ("en",)
    redirects: bool = True
    names: str = "exact"  # the public endpoint has far too many names to read them all
    sample: int = attrs.field(default=0, validator=at_least(0))
    _redirect_pages: Redirects | None = attrs.field(init=False, default=None, repr=False)

    def make_reader(
        self, source: Source, vocabulary: Vocabulary, ids: Ids, page: int, nodes: int, workers: int
    ) -> StepReader:
        """Return the reader of the graph, and create the reader of redirects and disambiguation pages."""
        meaning = pages(vocabulary)
        own = Ids(meaning)
        reader = StepReader(source, own, Queries(meaning, own), page, nodes, workers, self.both)
        self._redirect_pages = Redirects(reader, vocabulary.languages, self.scans_names)
        return StepReader(source, ids, PlainQueries(vocabulary, ids), page, nodes, workers, self.both)

    def close(self) -> None:
        """Close connections and files."""
        super().close()
        self._redirect_pages = None

    def meaning(self) -> Vocabulary:
        """Return DBpedia's vocabulary with the overrides of the setting."""
        if self.preset:
            raise DriverError(f"preset {self.preset!r} is not supported by dbpedia; remove it, or `use: sparql`")
        own = vocabulary(self.namespaces, self.languages)
        return attrs.evolve(self.vocabulary.over(own), prefixes={**own.prefixes, **self.vocabulary.prefixes})

    @property
    def _open_redirects(self) -> Redirects:
        if self._redirect_pages is None:
            raise not_open(self)
        return self._redirect_pages

    def fingerprint(self) -> str:
        """Identify the data, as far as known, and the settings."""
        return f"DbpediaGraph({super().fingerprint()}, {self.redirects})"

    def frontiers(self, node_sets: Sequence[Sequence[str]]) -> list[Frontier]:
        """Make one frontier of each set of ids; redirects become their targets, spellings the id of the graph."""
        meant = self._meant(id_ for ids in node_sets for id_ in ids if not isinstance(id_, Literal))
        return super().frontiers([[meant[id_] for id_ in ids if not isinstance(id_, Literal)] for ids in node_sets])

    def _meant(self, ids: Iterable[str]) -> dict[str, str]:
        """Resolve each id: the first of its spellings that the graph has, with redirects replaced."""
        reader = self._open
        reader.forget()
        every = list(dict.fromkeys(ids))
        known = reader.exist(every)
        spelled = {id_: [id_, *self._spellings(id_, reader.ids)] for id_ in every if id_ not in known}
        others = {other for row in spelled.values() for other in row}
        known |= reader.exist(sorted(others - set(spelled)))
        targets = self._targets({*every, *others})
        return {
            id_: next((targets[other] for other in row if other in known or targets[other] != other), id_)
            for id_, row in ((id_, spelled.get(id_, [id_])) for id_ in every)
        }

    def _spellings(self, id_: str, ids: Ids) -> list[str]:
        return [short for iri in titles.spellings(id_) if (short := ids.short(iri)) != id_]

    def _targets(self, ids: Iterable[str]) -> dict[str, str]:
        """Return the targets of redirects; a page with steps of its own, which are loaded, is not a redirect."""
        every = list(ids)
        reader = self._open
        idle = [id_ for id_ in every if not reader.counts(id_, False)] if self.redirects else []
        found = self._open_redirects.targets(sorted(idle))
        return {id_: found.get(id_, id_) for id_ in every}

    def paths(
        self,
        starts: Sequence[Sequence[str]],
        ends: Sequence[Sequence[str]],
        hops: int,
        budget: Budget,
        shortest: bool,
        inverse: bool,
    ) -> Sequence[FoundPaths]:
        """Find the relation paths between two sets of entities, with redirects replaced by their targets."""
        meant = self._meant(id_ for ids in (*starts, *ends) for id_ in ids if not isinstance(id_, Literal))
        placed = [[[meant.get(id_, id_) for id_ in ids] for ids in sets] for sets in (starts, ends)]
        return super().paths(placed[0], placed[1], hops, budget, shortest, inverse)

    def labels(self, ids: Sequence[str]) -> list[str]:
        """Return the label of each id, else the words of the id; the label of a literal is its lexical form."""
        labels = super().labels(ids)
        known = self._open_names.labels(id_ for id_ in ids if not isinstance(id_, Literal))
        return [
            name if isinstance(id_, Literal) or known[id_] else titles.words(id_)
            for id_, name in zip(ids, labels, strict=True)
        ]

    def find(self, names: Sequence[str]) -> list[list[str]]:
        """Find the entities with each name, with redirects and disambiguation pages replaced by their targets.

        A page without a label is found by its title.
        """
        found = [set(row) for row in super().find(names)]
        for row, more in zip(found, self._open_redirects.find(names), strict=True):
            row.update(more)
        for row, more in zip(found, self._by_title(names, found), strict=True):
            row.update(more)
        meant = self._meant(sorted({id_ for row in found for id_ in row}))
        offered = self._open_redirects.meanings({*meant.values()})
        known = self._open.exist(sorted({*meant.values(), *(id_ for ends in offered.values() for id_ in ends)}))
        return [
            sorted({end for id_ in row for end in offered[meant[id_]] or (meant[id_],) if end in known})
            for row in found
        ]

    def _by_title(self, names: Sequence[str], found: Sequence[set[str]]) -> list[list[str]]:
        """Find pages without a label by the names that have no other entity."""
        ids = self._open.ids
        titled = {
            name: ids.short(titles.named(name))
            for name, row in zip(names, found, strict=True)
            if not row and name.strip(" _")
        }
        labels = self._open_names.labels(titled.values())
        return [[titled[name]] if name in titled and not labels[titled[name]] else [] for name in names]
