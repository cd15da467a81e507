"""The ``freebase`` graph: Freebase over SPARQL, with mediator nodes walked as one step."""

from __future__ import annotations

from collections.abc import Sequence

import attrs
from srtk_plugin_sparql.graph import SparqlGraph
from srtk_plugin_sparql.keeping import Source
from srtk_plugin_sparql.reading import Reader
from srtk_plugin_sparql.vocabulary import Ids, Vocabulary

from srtk_framework.values import (
    Budget,
    DriverError,
    FoundPaths,
    Frontier,
    Pattern,
    Qualifier,
    Schema,
    Step,
    Triple,
    close_matches,
)
from srtk_plugin_freebase import composites
from srtk_plugin_freebase.ids import FreebaseIds
from srtk_plugin_freebase.mediator_reads import JoinReader
from srtk_plugin_freebase.queries import FreebaseQueries, JoinQueries, Mediators
from srtk_plugin_freebase.vocabulary import HIDDEN, over_freebase

_FORMS = ("dot", "slash")
_MODES = ("join", "keep")


@attrs.define(eq=False)
class FreebaseGraph(SparqlGraph):
    """Answer from Freebase: an endpoint over its dump, or an embedded store of a part of it.

    A step through a mediator, such as ``people.person.sibling_s..people.sibling_relationship.sibling``, is one step.

    Attributes:
        endpoint: An http or https URL; or a folder that ``srtk graph load`` made, also written ``oxigraph:FOLDER``.
            There is no public endpoint any more.
        engine: auto, blazegraph, oxigraph, qlever or virtuoso: its usual limits.
        ids: Form in which ids are shown: dot (m.02mjmr, people.person.gender) or slash (/m/02mjmr,
            /people/person/gender). Both, and ns:m.02mjmr, are read.
        mediators: join makes one step of two relations through a mediator; keep leaves mediators as nodes.
        unnamed: Whether a mediator is a node without a label; when false, all ids that fit the patterns
            (``mediators`` of the vocabulary, m.* and g.* when left out) are mediators.
        to_literals: Whether a joined step may end in a literal; qualifiers show literals either way.
        hidden: Relations that are left out: ids, or starts with a star. Relations of types stay.
        vocabulary: What is set goes before Freebase's own; prefixes and hidden relations are added.
        preset: Not used here; leave it out.
        limits: How hard the endpoint may be asked.
        user_agent: How the client calls itself.
        headers: Further HTTP headers, such as Authorization.
        cache: SQLite file of answers that later runs use again; none when left out.
        cache_days: After so many days a kept answer is asked for again.
        version: Version of the graph's data; kept answers of another version are not used.
        both: Whether incoming steps are asked for together with outgoing ones; false saves work where no inverse
            step is walked, which is usual: most relations of Freebase have one that leads back.
        names: How ``find`` looks: exact asks for the usual ways to write a name; scan reads all names once; auto
            scans embedded stores alone.
        record: Folder in which every answer is written down.
        replay: Folder of such a record, which then answers in the place of the endpoint.
    """

    engine: str = "virtuoso"
    both: bool = False
    ids: str = "dot"
    mediators: str = "join"
    unnamed: bool = True
    to_literals: bool = True
    hidden: tuple[str, ...] = HIDDEN

    def open(self) -> None:
        """Make the client, or open the store."""
        for name, value, known in (("ids", self.ids, _FORMS), ("mediators", self.mediators, _MODES)):
            if value not in known:
                raise DriverError(f"{name} {value!r}: choose {' or '.join(known)}.{close_matches(value, known)}")
        super().open()

    def meaning(self) -> Vocabulary:
        """Return Freebase's vocabulary under what is set."""
        if self.preset:
            raise DriverError(f"preset {self.preset!r} cannot be had with freebase; remove it, or `use: sparql`")
        return over_freebase(self.vocabulary, tuple(self.hidden))

    def make_reader(
        self, source: Source, vocabulary: Vocabulary, ids: Ids, page: int, nodes: int, workers: int
    ) -> Reader:
        """Make what asks the queries: with joins, or without."""
        own = self._spelling
        if self.mediators == "keep":
            return Reader(source, own, FreebaseQueries(vocabulary, own), page, nodes, workers, self.both)
        test = Mediators(tuple(vocabulary.mediators), self.unnamed, self.to_literals)
        return JoinReader(source, own, JoinQueries(vocabulary, own, test), page, nodes, workers, self.both)

    @property
    def _spelling(self) -> FreebaseIds:
        ids = self._reader.ids if self._reader is not None else None
        return ids if isinstance(ids, FreebaseIds) else FreebaseIds(self.meaning(), self.ids == "slash", self._joins)

    @property
    def _joins(self) -> bool:
        return self.mediators == "join"

    def fingerprint(self) -> str:
        """Identify the data, as far as it is known, and how it is read."""
        return f"Freebase{super().fingerprint()}({self.ids}, {self.mediators}, {self.unnamed}, {self.to_literals})"

    def schema(self) -> Schema:
        """Return what the vocabulary says, in the form of ids that is set.

        No pattern of mediators: after a join there are none, and before it their ids are those of entities.
        """
        known, ids = super().schema(), self._spelling
        kept = not self._joins and not self.unnamed
        return attrs.evolve(
            known,
            type_relations=tuple(map(ids.relation, known.type_relations)),
            subclass_relations=tuple(map(ids.relation, known.subclass_relations)),
            noise=tuple(map(ids.pattern, known.noise)),
            mediators=tuple(map(ids.pattern, known.mediators)) if kept else (),
        )

    # Reads: ids may be written in any form

    def frontiers(self, node_sets: Sequence[Sequence[str]]) -> list[Frontier]:
        """Make one frontier of each set of ids; mediators are left out where they are joined."""
        entity = self._spelling.entity
        return super().frontiers([[entity(id_) for id_ in ids] for ids in node_sets])

    def follow(self, frontiers: Sequence[Frontier], steps: Sequence[Step], limit: int | None) -> list[Frontier]:
        """Walk each step to the entities at its end; a limit counts all neighbours, literals too."""
        return super().follow(frontiers, self._own(steps), limit)

    def triples(self, frontiers: Sequence[Frontier], steps: Sequence[Step], limit: int | None) -> list[list[Triple]]:
        """Read the triples that ``follow`` walks, literals included."""
        return super().triples(frontiers, self._own(steps), limit)

    def _own(self, steps: Sequence[Step]) -> list[Step]:
        relation = self._spelling.relation
        return [Step(relation(step.relation), step.inverse) for step in steps]

    def match(self, patterns: Sequence[Pattern]) -> list[list[Triple]]:
        """Find the triples that fit each pattern, sorted.

        Raises:
            DriverError: If a pattern binds neither subject nor object.
        """
        ids = self._spelling
        own = [
            Pattern(
                None if s is None else ids.entity(s),
                None if r is None else ids.relation(r),
                None if o is None else ids.entity(o),
            )
            for s, r, o in patterns
        ]
        return super().match(own)

    def paths(
        self,
        starts: Sequence[Sequence[str]],
        ends: Sequence[Sequence[str]],
        hops: int,
        budget: Budget,
        shortest: bool,
        inverse: bool,
    ) -> list[FoundPaths]:
        """Find the relation paths between two sets of entities; a composite is one step of a path."""
        from srtk_framework.graph import find_paths

        return find_paths(self, starts, ends, hops, budget, shortest, inverse)

    def degrees(self, ids: Sequence[str]) -> list[int]:
        """Count the triples at each id, without reading them."""
        return super().degrees([self._spelling.entity(id_) for id_ in ids])

    def labels(self, ids: Sequence[str]) -> list[str]:
        """Name each id by its label; a composite by the labels of both halves."""
        spelling = self._spelling
        own = {id_: spelling.entity(id_) for id_ in ids}
        relations = {id_: composites.split(spelling.relation(id_)) for id_ in ids if self._joins}
        halves = [name for names in relations.values() for name in names]
        asked = list(dict.fromkeys([*own.values(), *halves]))
        found = dict(zip(asked, super().labels(asked), strict=True))
        return [composites.label_of(id_, relations.get(id_, ()), found, own[id_]) for id_ in ids]

    def qualifiers(self, triples: Sequence[Triple]) -> list[tuple[Qualifier, ...]]:
        """Read what else the mediators of composite triples say, sorted; several statements are put together."""
        reader = self._open
        if not isinstance(reader, JoinReader):
            return [() for _ in triples]
        reader.forget()
        ids = self._spelling
        own = [Triple(ids.entity(s), ids.relation(r), ids.entity(o)) for s, r, o in triples]
        found = reader.qualifiers(own)
        return [tuple(found.get(triple, ())) for triple in own]
