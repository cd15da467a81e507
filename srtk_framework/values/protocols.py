"""Protocols of the methods that algorithms call on a graph, an expander, a reader or a generator.

The packages ``graph`` and ``text`` are typed against these protocols, so that roles can use their algorithms as
default methods. Every driver and every port satisfies the protocol of its role.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

from srtk_framework.values.frontiers import Frontier
from srtk_framework.values.hop_state import HopState
from srtk_framework.values.origins import Origin
from srtk_framework.values.questions import Question
from srtk_framework.values.subgraphs import Answer, Subgraph
from srtk_framework.values.triples import Pattern, Qualifier, Step, Triple

if TYPE_CHECKING:
    import numpy as np


class EdgeArrays(Protocol):
    """The edges of a graph by number, for algorithms that read very many of them.

    A node or a relation has its place in the sorted ids as number. All arrays are int64, but for ``is_literal``. All
    edges are certain.
    """

    @property
    def relations(self) -> Sequence[str]:
        """Ids of the relations, sorted."""

    def numbers(self, ids: Sequence[str]) -> np.ndarray[Any, Any]:
        """Return the number of each node; -1 for an unknown id."""

    def ids(self, numbers: np.ndarray[Any, Any]) -> Sequence[str]:
        """Return the ids of nodes; a literal is a ``Literal``."""

    def is_literal(self, numbers: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Return which nodes are literals."""

    def runs(self, nodes: np.ndarray[Any, Any], inverse: bool) -> tuple[np.ndarray[Any, Any], ...]:
        """Find the edges at nodes, from subject to object or ``inverse``, without reading them.

        Returns:
            For each node and each relation at it, in their order: place in ``nodes``, number of the relation, position
            of the first edge, and one past the position of the last.
        """

    def targets(self, positions: np.ndarray[Any, Any], inverse: bool) -> np.ndarray[Any, Any]:
        """Return the node at the far end of each edge; sorted within a run."""

    def nodes(self, frontier: Frontier) -> np.ndarray[Any, Any]:
        """Return the numbers of a frontier's nodes, sorted."""

    def along(
        self, nodes: np.ndarray[Any, Any], places: np.ndarray[Any, Any], steps: Sequence[Step], limit: int | None
    ) -> tuple[np.ndarray[Any, Any], ...]:
        """Read the edges from each ``nodes[i]`` along ``steps[places[i]]``, at most ``limit`` from one, as ``triples``.

        Returns:
            For each edge its place in ``nodes``, and its end; sorted by both.
        """


class GraphLike(Protocol):
    """The methods of a ``KnowledgeGraph`` that graph algorithms call; see there for their contracts."""

    def frontiers(self, node_sets: Sequence[Sequence[str]]) -> Sequence[Frontier]:
        """Make one frontier per set of ids."""

    def steps(self, frontiers: Sequence[Frontier], inverse: bool) -> Sequence[Sequence[Step]]:
        """Return the distinct steps from each frontier."""

    def follow(self, frontiers: Sequence[Frontier], steps: Sequence[Step], limit: int | None) -> Sequence[Frontier]:
        """Return the neighbours of each frontier along its step."""

    def triples(
        self, frontiers: Sequence[Frontier], steps: Sequence[Step], limit: int | None
    ) -> Sequence[Sequence[Triple]]:
        """Return the triples that ``follow`` traverses."""

    def arrays(self) -> EdgeArrays | None:
        """Return the edges by number, if the graph has them so."""

    def match(self, patterns: Sequence[Pattern]) -> Sequence[Sequence[Triple]]:
        """Return the triples that fit each pattern."""

    def labels(self, ids: Sequence[str]) -> Sequence[str]:
        """Return the label of each entity, relation or literal."""

    def own_ids(self, ids: Sequence[str], relations: bool) -> Sequence[str]:
        """Return the graph's own spelling of each id."""

    def degrees(self, ids: Sequence[str]) -> Sequence[int]:
        """Count the triples in which each id is subject or object."""

    def qualifiers(self, triples: Sequence[Triple]) -> Sequence[Sequence[Qualifier]]:
        """Return the qualifiers of each triple's statement."""

    def source(self) -> str:
        """Identify the data that triples are read from."""

    def origins(self, triples: Sequence[Triple]) -> Sequence[Origin]:
        """Return where each triple comes from."""


class HopWise(Protocol):
    """The methods of a hop-wise ``Expander`` that the hop loop calls."""

    def start(self, questions: Sequence[Question]) -> Sequence[HopState]:
        """Make the state of each question before the first hop."""

    def step(self, states: Sequence[HopState]) -> Sequence[HopState]:
        """Advance states that are not done by one hop."""

    def result(self, states: Sequence[HopState]) -> Sequence[Subgraph]:
        """Build the subgraph of each state."""

    def stop_reader(self) -> ReaderLike | None:
        """Return the reader whose answer ends the search; None if only depth and time end it."""


class ReaderLike(Protocol):
    """The methods of a ``Reader`` that the hop loop calls."""

    def read(self, questions: Sequence[Question], subgraphs: Sequence[Subgraph]) -> Sequence[Answer]:
        """Answer each question from its subgraph alone."""

    def refuses(self) -> bool:
        """Return whether the reader can refuse an insufficient subgraph."""
