"""The role of a knowledge graph."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from srtk_framework.graph import graph_defaults, path_search
from srtk_framework.roles import graph_answers as checks
from srtk_framework.roles.answer_checks import all_of, counts, rows_of
from srtk_framework.roles.base import Role, by_identity, by_value, hook
from srtk_framework.values import (
    Budget,
    EdgeArrays,
    FoundPaths,
    Frontier,
    Origin,
    Pattern,
    Qualifier,
    Schema,
    Step,
    Triple,
)


class KnowledgeGraph(Role):
    """A graph of triples, read in batches of frontiers (sorted node sets).

    Required: ``frontiers``, ``steps``, ``follow``, ``triples``, ``labels``, ``find``, ``source``. The other hooks have
    defaults that work on any graph; override them where the graph can do better. Nodes are ordered by the
    code points of their ids, everywhere, so that a limit cuts the same nodes on every graph.

    Attributes:
        suited: Keys of a recipe that suit graphs of the class, for questions that are asked without a recipe
            (``srtk ask``, ``Retriever``): ``entity_linker`` where it is not the dictionary, ``budget``, and settings
            of the default ``expander`` and ``path_scorer``, such as few steps on a server that all share.
    """

    role = "knowledge_graph"
    suited: ClassVar[Mapping[str, Any]] = {}

    @hook(batch="node_sets", answer=checks.frontiers_of_ids)
    @abstractmethod
    def frontiers(self, node_sets: Sequence[Sequence[str]]) -> Sequence[Frontier]:
        """Make one frontier of each set of ids; ids that the graph lacks, and literals, are left out."""

    @hook(batch="frontiers", key=by_identity, answer=checks.steps_of_frontiers)
    @abstractmethod
    def steps(self, frontiers: Sequence[Frontier], inverse: bool) -> Sequence[Sequence[Step]]:
        """Read the distinct steps that leave each frontier, sorted; forward only unless ``inverse``."""

    @hook(batch=("frontiers", "steps"), key=(by_identity, by_value), answer=checks.reached_frontiers)
    @abstractmethod
    def follow(self, frontiers: Sequence[Frontier], steps: Sequence[Step], limit: int | None) -> Sequence[Frontier]:
        """Follow ``steps[i]`` from every node of ``frontiers[i]``.

        Args:
            frontiers: Where to start.
            steps: A step for each frontier.
            limit: Most neighbours read for one node, first in order of id; None for all.

        Returns:
            The entities reached, without literals; ``cut`` counts the neighbours that ``limit`` left out.
        """

    @hook(batch=("frontiers", "steps"), key=(by_identity, by_value), answer=checks.triples_of_steps)
    @abstractmethod
    def triples(
        self, frontiers: Sequence[Frontier], steps: Sequence[Step], limit: int | None
    ) -> Sequence[Sequence[Triple]]:
        """Read the triples that ``follow`` traverses, literals included.

        Returns:
            Per pair, distinct triples in their own direction, sorted by the node from which they were reached,
            then by the node reached. ``RatedTriples`` instead of a list name the uncertain triples: a budget then keeps
            the others first.
        """

    @hook(batch="patterns", key=by_value, answer=checks.triples_of_patterns)
    def match(self, patterns: Sequence[Pattern]) -> Sequence[Sequence[Triple]]:
        """Find the triples that fit each pattern, sorted; at least one end must be bound.

        Raises:
            DriverError: If a pattern binds neither subject nor object and the graph cannot enumerate.
        """
        return graph_defaults.match(self, patterns)

    @hook(batch="frontiers", key=by_identity, answer=checks.triples_around)
    def neighbourhood(self, frontiers: Sequence[Frontier], hops: int, budget: Budget) -> Sequence[Sequence[Triple]]:
        """Read all triples within ``hops`` of each frontier, nearest first, both directions.

        Stops at ``budget.triples`` triples; each node gives at most ``budget.hub`` neighbours a step,
        and each hop goes on from at most ``budget.nodes`` nodes.

        Returns:
            Per frontier, distinct triples. A ``Neighbourhood`` instead of a list also counts the cuts by limits.
        """
        return graph_defaults.neighbourhood(self, frontiers, hops, budget)

    @hook(batch=("starts", "ends"), key=(tuple, tuple), answer=checks.paths_between)
    def paths(
        self,
        starts: Sequence[Sequence[str]],
        ends: Sequence[Sequence[str]],
        hops: int,
        budget: Budget,
        shortest: bool,
        inverse: bool,
    ) -> Sequence[FoundPaths]:
        """Find the relation paths that lead from some entity of ``starts[i]`` to some entity of ``ends[i]``.

        The default is ``graph.find_paths``; see there for the paths and the counts. A graph that can search
        by itself may find paths that the limits hide from the default, and then counts nothing as cut.
        """
        return path_search.find_paths(self, starts, ends, hops, budget, shortest, inverse)

    @hook(batch="ids", key=by_value, answer=all_of("labels", str, "a text for each id"))
    @abstractmethod
    def labels(self, ids: Sequence[str]) -> Sequence[str]:
        """Return the label of each entity, relation or literal; without one, the id or the name in it (``hub_of``)."""

    @hook(batch="ids", key=by_value, answer=rows_of("other_names", str, "names", rises=True))
    def other_names(self, ids: Sequence[str]) -> Sequence[Sequence[str]]:
        """Return the further names of each entity (aliases), sorted, without its label; none by default."""
        return [() for _ in ids]

    @hook(batch="ids", key=by_value, answer=all_of("own_ids", str, "an id for each"))
    def own_ids(self, ids: Sequence[str], relations: bool) -> Sequence[str]:
        """Return the graph's own spelling of each id, so that links and gold of any spelling meet the triples.

        ``<http://www.wikidata.org/entity/Q42>``, ``wd:Q42`` and ``Q42`` are one entity, as are ``m.02mjmr`` and
        ``/m/02mjmr``. The default tries ``text.spellings`` with the prefixes of the schema. A graph that makes its ids
        from IRIs by a rule follows that rule, without a request.

        Args:
            ids: Ids of entities, or of relations.
            relations: Whether they are relations.

        Returns:
            One id for each; an id of the graph, an unknown id and a literal stay as they are.
        """
        return graph_defaults.own_ids(self, self.schema().prefixes, ids, relations)

    @hook(batch="names", key=by_value, answer=rows_of("find", str, "ids", rises=True))
    @abstractmethod
    def find(self, names: Sequence[str]) -> Sequence[Sequence[str]]:
        """Find the entities whose label or alias equals each name after ``text.fold``, sorted by id."""

    @hook(batch="names", key=by_value, answer=rows_of("near_names", str, "names", most="limit"))
    def near_names(self, names: Sequence[str], limit: int, whole: bool) -> Sequence[Sequence[str]]:
        """Find names of entities that are written almost like each name.

        Args:
            names: Names as people write them, with slips or in part.
            limit: Most names to return for each.
            whole: Leave out names that only hold the words, or whose initials they are.

        Returns:
            Per name, at most ``limit`` folded names (``text.fold``) that ``find`` knows, the nearest first: those that
            differ by one letter, or by blanks and marks alone, those that hold its words, and those whose initials it
            is. None by default.
        """
        return [() for _ in names]

    @hook(batch="words", key=by_value, answer=all_of("known_words", bool, "True or False for each word"))
    def known_words(self, words: Sequence[str]) -> Sequence[bool]:
        """Return whether each word is a word of some entity's name, after ``text.fold``.

        A word of a text that is in no name may be a slip. By default every word is taken for known.
        """
        return [True for _ in words]

    @hook(batch="ids", key=by_value, answer=counts("degrees"))
    def degrees(self, ids: Sequence[str]) -> Sequence[int]:
        """Count the triples with each id as subject or object; 0 for unknown ids."""
        return graph_defaults.degrees(self, ids)

    @hook(batch="triples", key=by_value, answer=checks.qualifiers_of_triples)
    def qualifiers(self, triples: Sequence[Triple]) -> Sequence[Sequence[Qualifier]]:
        """Read the qualifiers of each triple's statement, sorted; none by default."""
        return [() for _ in triples]

    @hook(batch="triples", key=by_value, answer=all_of("origins", Origin, "an Origin for each triple"))
    def origins(self, triples: Sequence[Triple]) -> Sequence[Origin]:
        """Return where each triple of the graph comes from; by default ``source()``, with confidence 1.

        A graph of several sources, or with completed triples, gives the origin of each triple. A triple has the
        same origin whichever way it was read.
        """
        return [Origin(self.source())] * len(triples)

    def arrays(self) -> EdgeArrays | None:
        """Return the edges by number, as the hooks read them, where the graph stores them so; else None."""
        return None

    @hook(answer=checks.a_schema)
    def schema(self) -> Schema:
        """Return the relations and nodes with a special meaning."""
        return Schema()

    @hook(answer=checks.a_source)
    @abstractmethod
    def source(self) -> str:
        """Identify the data that triples are read from, as shown in ``provenance``; stable for the same data."""

    def fingerprint(self) -> str:
        """Identify the graph by its role, name and settings, and by the data that it reads; see ``Role``."""
        return f"{super().fingerprint()} of {self.source()}"
