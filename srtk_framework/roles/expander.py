"""The role of an expander."""

from __future__ import annotations

from collections.abc import Sequence

from srtk_framework.graph.hop_loop import run_hops
from srtk_framework.roles.base import Role, hook
from srtk_framework.values import Budget, HopState, Question, Subgraph


class Expander(Role):
    """Turns questions with links into subgraphs.

    A one-shot expander writes ``expand``. A hop-wise one writes ``start``, ``step`` and ``result``; the
    core's loop (``expansion.run_hops``) then runs it, so that it has no stop rule of its own.
    """

    role = "expander"

    @hook
    def expand(self, questions: Sequence[Question]) -> Sequence[Subgraph]:
        """Retrieve a subgraph for each question, best triples first, within the budget.

        A question without links, or whose links are not in the graph, gives an empty subgraph whose
        trace has a ``reason``.
        """
        budget = getattr(self, "budget", None)
        return run_hops(self, questions, budget.seconds if isinstance(budget, Budget) else None)

    @hook
    def start(self, questions: Sequence[Question]) -> Sequence[HopState]:
        """Make the state of each question before the first hop."""
        raise NotImplementedError

    @hook
    def step(self, states: Sequence[HopState]) -> Sequence[HopState]:
        """Go one hop further with states that are not done."""
        raise NotImplementedError

    @hook
    def result(self, states: Sequence[HopState]) -> Sequence[Subgraph]:
        """Make the subgraph of each state."""
        raise NotImplementedError
