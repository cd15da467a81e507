"""`frequency`, asked about entities that its graph lacks as well."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from srtk_framework.roles import Completer
from srtk_framework.values import Completion, Literal, Pattern, Step, Triple, open_end


@attrs.define(eq=False)
class AnyEntity(Completer):
    """Asks `frequency` also for entities that the graph lacks.

    For these it completes nothing, as every completer, yet rates what it is given.

    Attributes:
        frequency: The completer.
        known: Triples of its graph.
    """

    frequency: Completer
    known: Sequence[Triple]
    _entities: set[str] = attrs.field(init=False, factory=set, repr=False)
    _fillers: dict[Step, list[str]] = attrs.field(init=False, factory=dict, repr=False)

    def open(self) -> None:
        """Read what fills each end of each relation."""
        fillers: dict[Step, set[str]] = {}
        for s, r, o in self.known:
            if not isinstance(o, Literal):
                self._entities |= {s, o}
                fillers.setdefault(Step(r), set()).add(o)
                fillers.setdefault(Step(r, True), set()).add(s)
        self._fillers = {step: sorted(some) for step, some in fillers.items()}

    def complete(self, patterns: Sequence[Pattern], limit: int | None) -> list[list[Completion]]:
        """Return the most frequent fillers."""
        rows = [list(row) for row in self.frequency.complete(patterns, limit)]
        ends = [open_end(pattern) for pattern in patterns]
        places = [at for at, (entity, _) in enumerate(ends) if entity not in self._entities]
        candidates = [self._fillers.get(ends[at][1], []) for at in places]
        rates = self.frequency.rate([patterns[at] for at in places], candidates)
        for at, ids, row in zip(places, candidates, rates, strict=True):
            ranked = sorted(zip(ids, row, strict=True), key=lambda one: -one[1])[:limit]
            rows[at] = [Completion(patterns[at].filled(id_), share, ()) for id_, share in ranked]
        return rows
