"""The ``freebase`` graph: Freebase over SPARQL, with each path through a mediator joined into one step."""

from __future__ import annotations

from collections.abc import Sequence

import attrs
from srtk_plugin_sparql.graph import SparqlGraph
from srtk_plugin_sparql.sources import Source
from srtk_plugin_sparql.step_reader import StepReader
from srtk_plugin_sparql.vocabulary import Ids, Vocabulary
from srtk_plugin_views import composites

from srtk_framework.roles import KnowledgeGraph
from srtk_framework.values import (
    DriverError,
    Frontier,
    Pattern,
    Qualifier,
    Schema,
    Step,
    Triple,
    at_least,
    close_matches,
)
from srtk_plugin_freebase.ids import FreebaseIds
from srtk_plugin_freebase.mediator_reads import MediatorReads
from srtk_plugin_freebase.queries import FreebaseQueries, JoinQueries, Mediators
from srtk_plugin_freebase.vocabulary import HIDDEN, over_freebase

_FORMS = ("dot", "slash")
_MODES = ("join", "keep")


@attrs.define(eq=False)
class FreebaseGraph(SparqlGraph):
    """Freebase at a SPARQL endpoint over its dump, or in an embedded store of a part of it.

    Relations through a mediator are joined: ``people.person.sibling_s..people.sibling_relationship.sibling``.

    Attributes:
        endpoint: An http or https URL, or a folder made by ``srtk graph load``, also written ``oxigraph:FOLDER``.
            There is no public endpoint.
        ids: Form of ids in results: dot (m.02mjmr, people.person.gender) or slash (/m/02mjmr,
            /people/person/gender). Both, and ns:m.02mjmr, are accepted as input.
        mediators: join: two relations through a mediator are one step. keep: mediators are ordinary nodes.
        unnamed: Whether only nodes without a label are mediators; if false, all ids that match the patterns
            (``mediators`` of the vocabulary, m.* and g.* by default) are.
        to_literals: Whether a joined step may end in a literal; qualifiers include literals in any case.
        hidden: Relations to leave out: ids, or prefixes with a star. Type relations stay.
        vocabulary: Settings that override Freebase's vocabulary; prefixes and hidden relations are added to it.
        preset: Not supported.
        both: Whether one query reads incoming and outgoing steps; false saves work without inverse steps,
            which are rarely needed, since most relations of Freebase have an inverse relation.
        sample: Names of each naming relation that one query samples for the languages in use; 0, the default, looks
            names up in the languages of the vocabulary alone.
    """

    engine: str = "virtuoso"
    both: bool = False
    sample: int = attrs.field(default=0, validator=at_least(0))
    ids: str = "dot"
    mediators: str = "join"
    unnamed: bool = True
    to_literals: bool = True
    hidden: tuple[str, ...] = HIDDEN

    def open(self) -> None:
        """Check the settings, and open the client or the store."""
        for name, value, known in (("ids", self.ids, _FORMS), ("mediators", self.mediators, _MODES)):
            if value not in known:
                raise DriverError(f"{name} {value!r}: choose {' or '.join(known)}.{close_matches(value, known)}")
        super().open()

    def meaning(self) -> Vocabulary:
        """Return Freebase's vocabulary with the overrides of the setting."""
        if self.preset:
            raise DriverError(f"preset {self.preset!r} is not supported by freebase; remove it, or `use: sparql`")
        return over_freebase(self.vocabulary, tuple(self.hidden))

    def make_reader(
        self, source: Source, vocabulary: Vocabulary, ids: Ids, page: int, nodes: int, workers: int
    ) -> StepReader:
        """Return the reader of the queries, with or without joined mediators."""
        own = self._spelling
        if self.mediators == "keep":
            return StepReader(source, own, FreebaseQueries(vocabulary, own), page, nodes, workers, self.both)
        test = Mediators(tuple(vocabulary.mediators), self.unnamed, self.to_literals)
        queries = JoinQueries(vocabulary, own, test, self._profile.late_exists)
        return MediatorReads(source, own, queries, page, nodes, workers, self.both)

    @property
    def _spelling(self) -> FreebaseIds:
        ids = self._reader.ids if self._reader is not None else None
        return ids if isinstance(ids, FreebaseIds) else FreebaseIds(self.meaning(), self.ids == "slash", self._joins)

    @property
    def _joins(self) -> bool:
        return self.mediators == "join"

    def fingerprint(self) -> str:
        """Identify the data, as far as known, and the settings."""
        return f"Freebase{super().fingerprint()}({self.ids}, {self.mediators}, {self.unnamed}, {self.to_literals})"

    def schema(self) -> Schema:
        """Return the schema of the vocabulary, in the form of ids that the settings choose.

        It has no patterns of mediators: joined mediators are no nodes, and the rest have the ids of entities.
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

    # Hooks: ids may have any form

    def frontiers(self, node_sets: Sequence[Sequence[str]]) -> list[Frontier]:
        """Make one frontier of each set of ids, without mediators that are joined."""
        entity = self._spelling.entity
        return super().frontiers([[entity(id_) for id_ in ids] for ids in node_sets])

    def follow(self, frontiers: Sequence[Frontier], steps: Sequence[Step], limit: int | None) -> list[Frontier]:
        """Follow each step to the entities at its end; a limit counts all neighbours, literals included."""
        return super().follow(frontiers, self._own(steps), limit)

    def triples(self, frontiers: Sequence[Frontier], steps: Sequence[Step], limit: int | None) -> list[list[Triple]]:
        """Read the triples along each step, literals included."""
        return super().triples(frontiers, self._own(steps), limit)

    def _own(self, steps: Sequence[Step]) -> list[Step]:
        relation = self._spelling.relation
        return [Step(relation(step.relation), step.inverse) for step in steps]

    def match(self, patterns: Sequence[Pattern]) -> list[list[Triple]]:
        """Find the triples of each pattern, sorted.

        Raises:
            DriverError: If a pattern has neither subject nor object.
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

    # A composite is one step of a path, of which the server knows nothing.
    paths = KnowledgeGraph.paths

    def degrees(self, ids: Sequence[str]) -> list[int]:
        """Count the triples of each entity without reading them."""
        return super().degrees([self._spelling.entity(id_) for id_ in ids])

    def labels(self, ids: Sequence[str]) -> list[str]:
        """Return the label of each id; a composite has the labels of both halves."""
        spelling = self._spelling
        own = {id_: spelling.entity(id_) for id_ in ids}
        relations = {id_: composites.split(spelling.relation(id_)) for id_ in ids if self._joins}
        halves = [name for names in relations.values() for name in names]
        asked = list(dict.fromkeys([*own.values(), *halves]))
        found = dict(zip(asked, super().labels(asked), strict=True))
        return [composites.label_of(id_, relations.get(id_, ()), found, own[id_]) for id_ in ids]

    def qualifiers(self, triples: Sequence[Triple]) -> list[tuple[Qualifier, ...]]:
        """Read the qualifiers of each triple, sorted: the other triples of all its mediators."""
        reader = self._open
        if not isinstance(reader, MediatorReads):
            return [() for _ in triples]
        reader.forget()
        ids = self._spelling
        own = [Triple(ids.entity(s), ids.relation(r), ids.entity(o)) for s, r, o in triples]
        found = reader.qualifiers(own)
        return [tuple(found.get(triple, ())) for triple in own]
