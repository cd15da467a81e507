"""The ``dbpedia`` graph: DBpedia's vocabulary over SPARQL, with redirects and disambiguation pages resolved."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import attrs
from srtk_plugin_sparql.graph import SparqlGraph
from srtk_plugin_sparql.keeping import Source
from srtk_plugin_sparql.queries import Queries
from srtk_plugin_sparql.reading import Reader
from srtk_plugin_sparql.vocabulary import Ids, Vocabulary

from srtk_framework.values import Budget, DriverError, FoundPaths, Frontier, Literal
from srtk_plugin_dbpedia import titles
from srtk_plugin_dbpedia.queries import PlainQueries
from srtk_plugin_dbpedia.redirects import Pages
from srtk_plugin_dbpedia.vocabulary import pages, vocabulary


@attrs.define(eq=False)
class DbpediaGraph(SparqlGraph):
    """Answer from DBpedia: its public endpoint, a mirror, or an embedded store of its files.

    Attributes:
        endpoint: An http or https URL; or a folder that ``srtk graph load`` made, also written ``oxigraph:FOLDER``.
        engine: Engine of the endpoint: auto, blazegraph, oxigraph, qlever or virtuoso, with its usual limits.
        namespaces: Parts of DBpedia whose relations are read: ontology (mapped, clean), property (raw infoboxes, far
            more of them), category (subjects of articles). Types and superclasses always are.
        languages: Languages of names, most wanted first; names without a language come last, others not at all.
        redirects: Whether a frontier has the target of a redirect in its place.
        preset: Not used here; leave it out.
        vocabulary: What is set goes before DBpedia's own; prefixes are added.
        limits: How hard the endpoint may be asked.
        user_agent: How the client calls itself; put in an address where you can be reached.
        headers: Further HTTP headers, such as Authorization.
        cache: SQLite file of answers that later runs use again; none when left out.
        cache_days: After so many days a kept answer is asked for again.
        version: Version of the graph's data; kept answers of another version are not used.
        both: Whether incoming steps are asked for together with outgoing ones; false saves work where no inverse
            step is walked.
        names: How ``find`` looks: exact asks for the usual ways to write a name; scan reads all names once, which takes
            long; auto scans embedded stores alone.
        record: Folder in which every answer is written down.
        replay: Folder of such a record, which then answers in the place of the endpoint.
    """

    endpoint: str = "https://dbpedia.org/sparql"
    engine: str = "virtuoso"
    namespaces: tuple[str, ...] = ("ontology", "property")
    languages: tuple[str, ...] = ("en",)
    redirects: bool = True
    names: str = "exact"
    _pages: Pages | None = attrs.field(init=False, default=None, repr=False)

    def make_reader(
        self, source: Source, vocabulary: Vocabulary, ids: Ids, page: int, nodes: int, workers: int
    ) -> Reader:
        """Make what asks about the world, and beside it what asks about pages."""
        meaning = pages(vocabulary)
        own = Ids(meaning)
        reader = Reader(source, own, Queries(meaning, own), page, nodes, workers, self.both)
        scan = self.names == "scan" or (self.names == "auto" and self._folder() is not None)
        self._pages = Pages(reader, vocabulary.languages, scan)
        return Reader(source, ids, PlainQueries(vocabulary, ids), page, nodes, workers, self.both)

    def close(self) -> None:
        """Close connections and files."""
        super().close()
        self._pages = None

    def meaning(self) -> Vocabulary:
        """Return DBpedia's vocabulary under what is set."""
        if self.preset:
            raise DriverError(f"preset {self.preset!r} cannot be had with dbpedia; remove it, or `use: sparql`")
        usual = Vocabulary()
        given = {
            field.name: value
            for field in attrs.fields(Vocabulary)
            if (value := getattr(self.vocabulary, field.name)) != getattr(usual, field.name)
        }
        own = vocabulary(self.namespaces, self.languages)
        given["prefixes"] = {**own.prefixes, **self.vocabulary.prefixes}
        return attrs.evolve(own, **given)

    @property
    def _paged(self) -> Pages:
        if self._pages is None:
            raise DriverError(f"the graph {self.source()} is not open; call open() first")
        return self._pages

    def fingerprint(self) -> str:
        """Identify the data, as far as it is known, and how it is read."""
        return f"DbpediaGraph({super().fingerprint()}, {self.redirects})"

    def frontiers(self, node_sets: Sequence[Sequence[str]]) -> list[Frontier]:
        """Make one frontier of each set of ids; redirects give their targets, other spellings the id of the graph."""
        meant = self._meant(id_ for ids in node_sets for id_ in ids if not isinstance(id_, Literal))
        return super().frontiers([[meant[id_] for id_ in ids if not isinstance(id_, Literal)] for ids in node_sets])

    def _meant(self, ids: Iterable[str]) -> dict[str, str]:
        """Return the id that each id stands for: of its spellings the first one that the graph has."""
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
        return [short for iri in titles.ways(id_) if (short := ids.short(iri)) != id_]

    def _targets(self, ids: Iterable[str]) -> dict[str, str]:
        """Return what redirects lead to; a page with relations of its own, whose steps are loaded, is no redirect."""
        every = list(ids)
        reader = self._open
        idle = [id_ for id_ in every if not reader.counts(id_, False)] if self.redirects else []
        found = self._paged.targets(sorted(idle))
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
        """Find the relation paths between two sets of entities; redirects among them stand for their targets."""
        meant = self._meant(id_ for ids in (*starts, *ends) for id_ in ids if not isinstance(id_, Literal))
        placed = [[[meant.get(id_, id_) for id_ in ids] for ids in sets] for sets in (starts, ends)]
        return super().paths(placed[0], placed[1], hops, budget, shortest, inverse)

    def labels(self, ids: Sequence[str]) -> list[str]:
        """Name each id by its label, else by the words of its id; literals by their value."""
        return [
            titles.words(id_) if name == id_ and not isinstance(id_, Literal) else name
            for id_, name in zip(ids, super().labels(ids), strict=True)
        ]

    def find(self, names: Sequence[str]) -> list[list[str]]:
        """Find the entities by name: redirects as their targets, disambiguation pages as the pages they offer.

        A page without label is found by its title.
        """
        found = [set(row) for row in super().find(names)]
        for row, more in zip(found, self._paged.find(names), strict=True):
            row.update(more)
        for row, more in zip(found, self._by_title(names, found), strict=True):
            row.update(more)
        meant = self._meant(sorted({id_ for row in found for id_ in row}))
        offered = self._paged.meanings({*meant.values()})
        known = self._open.exist(sorted({*meant.values(), *(id_ for ends in offered.values() for id_ in ends)}))
        return [
            sorted({end for id_ in row for end in offered[meant[id_]] or (meant[id_],) if end in known})
            for row in found
        ]

    def _by_title(self, names: Sequence[str], found: Sequence[set[str]]) -> list[list[str]]:
        """Look for pages without label by the names for which nothing was found."""
        ids = self._open.ids
        titled = {
            name: ids.short(titles.named(name))
            for name, row in zip(names, found, strict=True)
            if not row and name.strip(" _")
        }
        labels = self._named.labels(titled.values())
        return [[titled[name]] if name in titled and not labels[titled[name]] else [] for name in names]
