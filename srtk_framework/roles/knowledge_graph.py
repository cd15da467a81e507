"""The role of a knowledge graph."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

from srtk_framework.graph import graph_defaults, path_search
from srtk_framework.roles.base import Role, hook
from srtk_framework.values import Budget, FoundPaths, Frontier, Pattern, Qualifier, Schema, Step, Triple


class KnowledgeGraph(Role):
    """A graph of triples, read in batches of frontiers (sorted node sets).

    Required: ``frontiers``, ``steps``, ``follow``, ``triples``, ``labels``, ``find``, ``source``. The others have
    defaults that work on any graph, and should be replaced where the graph can do better. Order of nodes,
    everywhere, is that of their ids by code point, so that a limit cuts the same nodes on every graph.
    """

    role = "knowledge_graph"

    @hook
    @abstractmethod
    def frontiers(self, node_sets: Sequence[Sequence[str]]) -> Sequence[Frontier]:
        """Make one frontier of each set of ids; ids that the graph lacks, and literals, are left out."""

    @hook
    @abstractmethod
    def steps(self, frontiers: Sequence[Frontier], inverse: bool) -> Sequence[Sequence[Step]]:
        """Read the distinct steps that leave each frontier, sorted; forward only unless ``inverse``."""

    @hook
    @abstractmethod
    def follow(self, frontiers: Sequence[Frontier], steps: Sequence[Step], limit: int | None) -> Sequence[Frontier]:
        """Walk ``steps[i]`` from every node of ``frontiers[i]``.

        Args:
            frontiers: Where to start.
            steps: One for each frontier.
            limit: Most neighbours read for one node, first in order of id; None for all.

        Returns:
            The entities reached, without literals; ``cut`` counts the neighbours that ``limit`` left out.
        """

    @hook
    @abstractmethod
    def triples(
        self, frontiers: Sequence[Frontier], steps: Sequence[Step], limit: int | None
    ) -> Sequence[Sequence[Triple]]:
        """Read the triples that ``follow`` walks, literals included.

        Returns:
            Per pair, distinct triples in their own direction, sorted by the node they were walked from,
            then by the node reached.
        """

    @hook
    def match(self, patterns: Sequence[Pattern]) -> Sequence[Sequence[Triple]]:
        """Find the triples that fit each pattern, sorted; at least one end must be bound.

        Raises:
            DriverError: If a pattern binds neither subject nor object and the graph cannot enumerate.
        """
        return graph_defaults.match(self, patterns)

    @hook
    def neighbourhood(self, frontiers: Sequence[Frontier], hops: int, budget: Budget) -> Sequence[Sequence[Triple]]:
        """Read all triples within ``hops`` of each frontier, nearest first, both directions.

        Stops at ``budget.triples`` triples; each node gives at most ``budget.hub`` neighbours a step,
        and each hop goes on from at most ``budget.nodes`` nodes.
        """
        return graph_defaults.neighbourhood(self, frontiers, hops, budget)

    @hook
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

        What it finds and counts is said at ``paths.find_paths``, the default. A graph that can search by itself may
        find paths that the limits hide from the default, and then counts nothing as cut.
        """
        return path_search.find_paths(self, starts, ends, hops, budget, shortest, inverse)

    @hook
    @abstractmethod
    def labels(self, ids: Sequence[str]) -> Sequence[str]:
        """Name each entity, relation or literal in words; the id itself where there is no label."""

    @hook
    @abstractmethod
    def find(self, names: Sequence[str]) -> Sequence[Sequence[str]]:
        """Find the entities whose label or alias equals each name after ``text.fold``, sorted by id."""

    @hook
    def degrees(self, ids: Sequence[str]) -> Sequence[int]:
        """Count the triples in which each id is subject or object; 0 for unknown ids."""
        return graph_defaults.degrees(self, ids)

    @hook
    def qualifiers(self, triples: Sequence[Triple]) -> Sequence[Sequence[Qualifier]]:
        """Read the qualifiers of each triple's statement, sorted; none by default."""
        return [() for _ in triples]

    @hook
    def schema(self) -> Schema:
        """Name the relations and nodes with a special meaning."""
        return Schema()

    @hook
    @abstractmethod
    def source(self) -> str:
        """Say where triples are read from, as ``provenance`` shows it: stable for the same data."""
