"""How likely a pattern lacks a fact, by the number of facts that the graph has of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from srtk_framework.graph import TripleTable
from srtk_framework.values import Pattern, Step, Triple, open_end

_BOUNDS = (1, 2, 5, 20)  # Numbers of stored facts at which a class begins; those without any have no class.

_PRIOR = 10.0  # Patterns with the share of all steps that are added to those of a step.


_Floats = npt.NDArray[np.float64]


@attrs.frozen
class LackingShares:
    """Share of the patterns that lacked a fact while some were held out, by classes of the number that was left.

    Patterns without any fact left are no part of it: most of them have nothing anyway, and a graph does not show
    whether they lack something, or the entity has no such fact.

    Attributes:
        held_out: Share of the facts that was held out.
        everywhere: Shares by class, for steps without their own.
        of_step: Shares by class.
    """

    held_out: float
    everywhere: tuple[float, ...]
    of_step: Mapping[Step, tuple[float, ...]]

    @classmethod
    def learn(cls, left: TripleTable, hidden: Sequence[Triple]) -> LackingShares:
        """Count patterns by the number of facts that are left.

        Args:
            left: The graph without the facts held out.
            hidden: These facts.
        """
        out = left.numbers(hidden)
        out = out[(out >= 0).all(axis=1)]
        width, size = len(left.entities), len(_BOUNDS)
        counted: dict[Step, tuple[_Floats, _Floats]] = {}
        for inverse, column in ((False, 0), (True, 2)):
            keys, counts = np.unique(
                left.triples[:, 1].astype(np.int64) * width + left.triples[:, column], return_counts=True
            )
            lacks = np.isin(keys, out[:, 1].astype(np.int64) * width + out[:, column])
            classes: npt.NDArray[np.int64] = np.asarray(np.searchsorted(_BOUNDS, counts, side="right")) - 1
            weights = lacks.astype(np.float64)
            for number, relation in enumerate(left.relations):
                low, high = np.searchsorted(keys, [number * width, (number + 1) * width])
                some = classes[low:high]
                every = np.bincount(some, minlength=size).astype(np.float64)
                without = np.bincount(some, weights[low:high], minlength=size).astype(np.float64)
                counted[Step(relation, inverse)] = (every, without)
        total, lacking = np.zeros(size), np.zeros(size)
        for every, out_of_them in counted.values():
            total += every
            lacking += out_of_them
        rate = (lacking.sum() + 1) / (total.sum() + 2)
        shares = (lacking + _PRIOR * rate) / (total + _PRIOR)
        return cls(
            len(hidden) / (len(hidden) + len(left.triples)),
            tuple(shares.tolist()),
            {
                step: tuple(((without + _PRIOR * shares) / (every + _PRIOR)).tolist())
                for step, (every, without) in sorted(counted.items())
            },
        )

    def share(self, step: Step, stored: int, missing: float, empty: float) -> float:
        """Return the probability that a pattern lacks a fact.

        Args:
            step: Its step.
            stored: Number of its facts in the graph.
            missing: Believed share of all facts that the graph lacks.
            empty: Believed share of the patterns without a stored fact that lack a fact.
        """
        if not stored:
            return empty
        place = int(np.searchsorted(_BOUNDS, stored, side="right")) - 1
        found = self.of_step.get(step, self.everywhere)[place]
        # Where twice as many are missing, the odds are about twice as high.
        odds = found / (1 - found) * (missing * (1 - self.held_out)) / (self.held_out * (1 - missing))
        return odds / (1 + odds)

    def to_json(self) -> dict[str, Any]:
        """Return the values as JSON holds them."""
        rows = [[*step, list(shares)] for step, shares in sorted(self.of_step.items())]
        return {"held_out": self.held_out, "everywhere": list(self.everywhere), "of_step": rows}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> LackingShares:
        """Read the result of ``to_json``."""
        shares = {Step(relation, inverse): tuple(map(float, row)) for relation, inverse, row in data["of_step"]}
        return cls(float(data["held_out"]), tuple(map(float, data["everywhere"])), shares)


def stored_numbers(table: TripleTable, patterns: Sequence[Pattern]) -> list[int]:
    """Return the number of triples that a table has of each pattern."""
    found = []
    for pattern in patterns:
        end, step = open_end(pattern)
        entity, relation = table.entity_numbers.get(end), table.relation_numbers.get(step.relation)
        known = entity is not None and relation is not None
        found.append(len(table.fillers(entity, relation, step.inverse)) if known else 0)  # type: ignore[arg-type]
    return found
