"""The role of an expander."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from srtk_framework.graph.hop_loop import READER, run_hops
from srtk_framework.roles.answer_checks import truth
from srtk_framework.roles.base import Role, hook
from srtk_framework.roles.subgraph_answers import states_of, subgraphs_of
from srtk_framework.values import Budget, DriverError, HopState, Question, Subgraph
from srtk_framework.values.protocols import ReaderLike


class Expander(Role):
    """Turns questions with links into subgraphs.

    A one-shot expander implements ``expand``. A hop-wise one implements ``start``, ``step`` and ``result``; the core's
    loop (``graph.run_hops``) runs them, so that no expander has a stop rule of its own. Each of them may return a
    ``DriverError`` in the place of one state or subgraph, which fails that question alone.
    """

    role = "expander"

    @hook(batch="questions", answer=subgraphs_of("expand"), needs=("start", "step", "result"))
    def expand(self, questions: Sequence[Question]) -> Sequence[Subgraph]:
        """Retrieve a subgraph for each question, best triples first, within the budget.

        A question without links, or whose links are not in the graph, gives an empty subgraph whose
        trace has a ``reason``. Scores do not rise, ``path_of`` lies within the paths, and no triple comes twice.

        Returns:
            Per question its subgraph. A driver may return a ``DriverError`` in its place where the search failed for
            that question alone; a caller never sees it among the subgraphs.
        """
        limits = self.limits()
        # The port turns errors among the subgraphs into a BatchError.
        return cast("list[Subgraph]", run_hops(self, questions, None if limits is None else limits.seconds))

    @hook(batch="questions", answer=states_of("start"))
    def start(self, questions: Sequence[Question]) -> Sequence[HopState]:
        """Make the state of each question before the first hop."""
        raise NotImplementedError

    @hook(batch="states", answer=states_of("step"))
    def step(self, states: Sequence[HopState]) -> Sequence[HopState]:
        """Advance states that are not done by one hop."""
        raise NotImplementedError

    @hook(batch="states", answer=subgraphs_of("result"))
    def result(self, states: Sequence[HopState]) -> Sequence[Subgraph]:
        """Make the subgraph of each state."""
        raise NotImplementedError

    @hook(answer=truth)
    def needs_links(self) -> bool:
        """Return whether the search needs linked entities; with False, it also gets questions without links."""
        return True

    def limits(self) -> Budget | None:
        """Return the limits of the search: the setting that is a ``Budget``; None if there is none."""
        return next((value for value in self.settings().values() if isinstance(value, Budget)), None)

    def settings_in_force(self) -> dict[str, Any]:
        """Return the settings of the open expander, with those that it decides itself (`auto`) as they are in force."""
        return self.settings()

    def stop_reader(self) -> ReaderLike | None:
        """Return the reader whose answer ends the search; None if only depth and time end it.

        The default returns the setting ``reader`` if the setting ``stop`` is ``reader``.

        Raises:
            DriverError: If a reader is to end the search and there is none.
        """
        settings = self.settings()
        if settings.get("stop") != READER:
            return None
        reader: ReaderLike | None = settings.get("reader")
        if reader is None:
            raise DriverError("`stop: reader` needs a reader; give one as `reader:` in its block, or set `stop: depth`")
        return reader
