"""What the beam weighs at each hop and at its end, and which setting leaves what out: for ``srtk explain``."""

from __future__ import annotations

import copy
import sys
from collections.abc import Sequence
from typing import Any

import attrs

from srtk_framework.graph import path_order
from srtk_framework.roles import HopChoice
from srtk_framework.values import END, HopState, RankedPath
from srtk_plugin_sr.beam_state import BeamState, own_state


class Choosing:
    """Tells of a beam what it chose from: the same search, one hop of it without a limit."""

    __slots__ = ()

    def choices(self: Any, states: Sequence[HopState]) -> list[HopChoice]:
        """Tell for each state what the next hop weighs and keeps, best first.

        Under a fan cost only the best few times ``width`` are followed. The others come after them, with scores from
        which nothing was taken off.
        """
        return [self._choice(own_state(state)) for state in states]

    def _choice(self: Any, state: BeamState) -> HopChoice:
        from srtk_plugin_sr.beam import FOLLOWED

        by_text = ranked = _ranked(_without_limits(self, fan_cost=0.0), state)
        if self.fan_cost:
            followed = {_name(path) for path in by_text[: self.width * FOLLOWED]}
            weighed = [path for path in _ranked(_without_limits(self), state) if _name(path) in followed]
            ranked = [*weighed, *by_text[len(weighed) :]]
        best_by_text = {_name(path) for path in by_text[: self.width]}
        kept = _walked(state, self.step([state])[0])
        near = _walked(state, _altered(self, hop_margin=None).step([state])[0]) if self.hop_margin is not None else kept
        dropped = []
        for place, path in enumerate(ranked):
            if _name(path) in kept:
                dropped.append("")
            elif place >= self.width:
                dropped.append("expander.fan_cost" if _name(path) in best_by_text else "expander.width")
            else:
                dropped.append("expander.hop_margin" if _name(path) in near else "budget.nodes")
        return HopChoice(tuple(ranked), tuple(dropped))

    def last_choices(self: Any, states: Sequence[HopState]) -> list[HopChoice]:
        """Tell for each state which of its paths are read, best first."""
        little = attrs.evolve(self.budget, triples=1, tokens=None)  # the paths are asked for, not their facts
        many, few = _altered(self, budget=little, paths=sys.maxsize, margin=None), _altered(self, budget=little)
        told = []
        for every, read in zip(many.result(states), few.result(states), strict=True):
            kept = {_name(path) for path in read.paths}
            most = self.paths or self.width
            over = "expander.paths" if self.paths else "expander.width"
            dropped = tuple(
                "" if _name(path) in kept else over if place >= most else "expander.margin"
                for place, path in enumerate(every.paths)
            )
            told.append(HopChoice(tuple(every.paths), dropped))
        return told


def _name(path: RankedPath) -> tuple[str, tuple[Any, ...]]:
    return path.entity, path.steps


def _altered(beam: Any, **settings: Any) -> Any:
    """Copy an open beam with other settings."""
    other = copy.copy(beam)
    for name, value in settings.items():
        setattr(other, name, value)
    return other


def _without_limits(beam: Any, **settings: Any) -> Any:
    """Copy a beam for one hop that keeps everything and follows nothing."""
    return _altered(beam, width=sys.maxsize, hop_margin=None, depth=1, overflow="cut", **settings)


def _ranked(beam: Any, state: BeamState) -> list[RankedPath]:
    """Go one hop; return everything weighed, best first, with END where a path ended."""
    [after] = beam.step([state])
    going = [item.path for item in after.going]
    ended = [RankedPath(p.entity, (*p.steps, END), p.score) for p in after.finished[len(state.finished) :]]
    return sorted([*going, *ended], key=path_order)


def _walked(before: BeamState, after: BeamState) -> set[tuple[str, tuple[Any, ...]]]:
    """Name what a hop kept."""
    going = {_name(item.path) for item in after.going}
    return going | {(path.entity, (*path.steps, END)) for path in after.finished[len(before.finished) :]}
