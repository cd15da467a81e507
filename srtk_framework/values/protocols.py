"""The few methods that algorithms ask of a graph, an expander, a reader or a generator.

The rooms ``graph`` and ``text`` are typed against these protocols, so that a role may use their algorithms as the
defaults of its methods. Every driver of the role, and every port, satisfies the protocol of its role.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from srtk_framework.values.chat import Prompt, Reply
from srtk_framework.values.frontiers import Frontier
from srtk_framework.values.hop_state import HopState
from srtk_framework.values.questions import Question
from srtk_framework.values.subgraphs import Answer, Subgraph
from srtk_framework.values.triples import Qualifier, Step, Triple


class GraphLike(Protocol):
    """What graph algorithms read of a ``KnowledgeGraph``; its methods have the same meaning there."""

    def frontiers(self, node_sets: Sequence[Sequence[str]]) -> Sequence[Frontier]:
        """Make one frontier of each set of ids."""

    def steps(self, frontiers: Sequence[Frontier], inverse: bool) -> Sequence[Sequence[Step]]:
        """Read the distinct steps that leave each frontier."""

    def follow(self, frontiers: Sequence[Frontier], steps: Sequence[Step], limit: int | None) -> Sequence[Frontier]:
        """Walk one step from every node of each frontier."""

    def triples(
        self, frontiers: Sequence[Frontier], steps: Sequence[Step], limit: int | None
    ) -> Sequence[Sequence[Triple]]:
        """Read the triples that ``follow`` walks."""

    def labels(self, ids: Sequence[str]) -> Sequence[str]:
        """Name each entity, relation or literal in words."""

    def qualifiers(self, triples: Sequence[Triple]) -> Sequence[Sequence[Qualifier]]:
        """Read the qualifiers of each triple's statement."""

    def source(self) -> str:
        """Name the data that triples are read from."""


class HopWise(Protocol):
    """What the hop loop calls of a hop-wise ``Expander``."""

    def start(self, questions: Sequence[Question]) -> Sequence[HopState]:
        """Make the state of each question before the first hop."""

    def step(self, states: Sequence[HopState]) -> Sequence[HopState]:
        """Go one hop further with states that are not done."""

    def result(self, states: Sequence[HopState]) -> Sequence[Subgraph]:
        """Make the subgraph of each state."""

    def stop_reader(self) -> ReaderLike | None:
        """Return the reader whose answer ends the search; None where only depth and time end it."""


class ReaderLike(Protocol):
    """What the hop loop calls of a ``Reader``."""

    def read(self, questions: Sequence[Question], subgraphs: Sequence[Subgraph]) -> Sequence[Answer]:
        """Answer each question from its subgraph alone."""

    def refuses(self) -> bool:
        """Tell whether the reader can say that a subgraph does not suffice."""


class GeneratorLike(Protocol):
    """What the choice among numbered options calls of a ``Generator``."""

    def generate(self, prompts: Sequence[Prompt]) -> Sequence[Reply]:
        """Reply to each prompt."""

    def rate(self, prompts: Sequence[Prompt]) -> Sequence[Sequence[float]]:
        """Rate the options of each prompt."""

    def rates(self) -> bool:
        """Tell whether ``rate`` works."""
