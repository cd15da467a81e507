"""State of the beam search for one question between hops."""

from __future__ import annotations

from typing import Any, NamedTuple

import attrs

from srtk_framework.graph import PathKey, Reached
from srtk_framework.values import END, DriverError, Frontier, HopState, RankedPath

# A fan cost re-ranks followed continuations, so more are followed than the beam keeps.
OVERSAMPLING = 3


class ActivePath(NamedTuple):
    """A path that may be extended.

    Attributes:
        path: The path; its last step may be END.
        frontier: Nodes at the end of the path, or before its last step as long as that has not been followed.
        reached: Nodes behind the last step, where a fan cost needed them before the step was followed.
    """

    path: RankedPath
    frontier: Frontier
    reached: Reached | None = None


@attrs.define(eq=False)
class BeamState(HopState):
    """State of the search for one question.

    Attributes:
        topics: By linked entity, the number of its topic.
        texts: By linked entity, the text of the question as the scorer reads it.
        active: Paths that may be extended, best first.
        finished: Paths that ended.
        frontiers: Nodes at the end of each path that was followed.
        depth: Hops taken.
        trace: Counts, and the reason of an empty result.
        cut: Number of nodes that were left out, by limit.
        done: True when no further hop is wanted.
        unit: Unit of the scores where the scorer suggests none; None until scores differ.
        text: The question.
        marked: The question with a mark in the place of each topic's mention; empty where no path is chosen by it.
        spare: Paths that were followed and left out of the beam.
    """

    topics: dict[str, int]
    texts: dict[str, str]
    active: list[ActivePath]
    finished: list[RankedPath]
    frontiers: dict[PathKey, Frontier]
    depth: int
    trace: dict[str, Any]
    cut: dict[str, int]
    done: bool
    unit: float | None = None
    text: str = ""
    marked: str = ""
    spare: list[RankedPath] = attrs.field(factory=list)


def with_end(path: RankedPath) -> RankedPath:
    """Append END to a finished path."""
    return RankedPath(path.entity, (*path.steps, END), path.score)


def without_end(path: RankedPath) -> RankedPath:
    """Remove END, the last step, from a path."""
    return RankedPath(path.entity, path.steps[:-1], path.score)


def beam_state(state: HopState) -> BeamState:
    """Return a state as a ``BeamState``.

    Raises:
        DriverError: If another expander made it.
    """
    if not isinstance(state, BeamState):
        raise DriverError(f"the beam got a state of type {type(state).__name__}; pass the states that it returned")
    return state


def copy_state(state: HopState) -> BeamState:
    """Copy a state so that a hop can change the copy and leave the original as it was."""
    original = beam_state(state)
    return attrs.evolve(
        original,
        active=list(original.active),
        finished=list(original.finished),
        frontiers=dict(original.frontiers),
        trace=dict(original.trace),
        cut=dict(original.cut),
        spare=list(original.spare),
    )
