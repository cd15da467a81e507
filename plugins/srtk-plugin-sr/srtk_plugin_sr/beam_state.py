"""What the beam search knows of one question between hops."""

from __future__ import annotations

from typing import Any, NamedTuple

import attrs

from srtk_framework.graph import PathKey
from srtk_framework.values import DriverError, Frontier, HopState, RankedPath


class Going(NamedTuple):
    """A path that may go on: with the nodes its last step is walked from, and those it reaches once that is read."""

    path: RankedPath
    frontier: Frontier
    reached: Frontier | None = None


@attrs.define(eq=False)
class BeamState(HopState):
    """What the search knows of one question.

    Attributes:
        texts: By linked entity, the question's text as the scorer sees it.
        going: Paths that may go on, best first.
        finished: Paths that ended.
        frontiers: Nodes at the end of each path walked.
        depth: Hops taken.
        trace: Counts, and the reason of an empty result.
        cut: What limits left out, by limit.
        done: True when no further hop is wanted.
    """

    texts: dict[str, str]
    going: list[Going]
    finished: list[RankedPath]
    frontiers: dict[PathKey, Frontier]
    depth: int
    trace: dict[str, Any]
    cut: dict[str, int]
    done: bool


def ended(path: RankedPath) -> RankedPath:
    """Take END off a path."""
    return RankedPath(path.entity, path.steps[:-1], path.score)


def own_state(state: HopState) -> BeamState:
    """Take a state for one of the beam's own, or refuse it."""
    if not isinstance(state, BeamState):
        raise DriverError(f"a state of the beam is needed, not {type(state).__name__}")
    return state


def copied(state: HopState) -> BeamState:
    """Copy a state as far as a hop changes it."""
    own = own_state(state)
    return attrs.evolve(
        own,
        going=list(own.going),
        finished=list(own.finished),
        frontiers=dict(own.frontiers),
        trace=dict(own.trace),
        cut=dict(own.cut),
    )
