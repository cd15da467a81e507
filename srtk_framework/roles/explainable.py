"""The protocol of a hop-wise expander whose choices can be explained."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import attrs

from srtk_framework.values import HopState, Question, RankedPath


@attrs.frozen
class HopChoice:
    """The paths that a search ranked at one hop, or at its end, and those that it dropped.

    Attributes:
        ranked: All candidates, best first. At a hop a path that ends there has END as its last step.
        dropped: Per path the setting that dropped it, such as ``expander.width``; empty for the paths kept.
    """

    ranked: tuple[RankedPath, ...]
    dropped: tuple[str, ...]


@runtime_checkable
class Explainable(Protocol):
    """A hop-wise expander that exposes its choices, so that ``srtk explain`` can locate where a path was dropped."""

    def start(self, questions: Sequence[Question]) -> Sequence[HopState]:
        """Make the state of each question."""

    def step(self, states: Sequence[HopState]) -> Sequence[HopState]:
        """Advance by one hop."""

    def choices(self, states: Sequence[HopState]) -> Sequence[HopChoice]:
        """Return for each state the paths that the next ``step`` ranks and keeps."""

    def last_choices(self, states: Sequence[HopState]) -> Sequence[HopChoice]:
        """Return for each state the paths that ``result`` ranks and reads, without END."""
