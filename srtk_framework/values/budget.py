"""The limits of one question."""

from __future__ import annotations

import attrs


@attrs.frozen
class Budget:
    """Limits per question; None means no limit. What a limit cuts is counted in the trace.

    Attributes:
        triples: Most triples in the subgraph.
        tokens: Most tokens of the subgraph's text form.
        nodes: Most nodes of one frontier; the rest, in order of id, is not walked further.
        hub: Most neighbours read for one node along one step, in order of id.
        seconds: No hop is begun after so many seconds on a batch, by expanders that go hop by hop; voids the
            promise of equal bytes.
        mass: Share of the score mass, above 0 and up to 1, at which reading stops. What was found, ``x_1`` to ``x_n``
            with falling scores ``s_i``, is read up to the first ``k`` for which ``sum(exp(s_i), i <= k)`` is at least
            ``mass * sum(exp(s_i), i <= n)``. The ``x_i`` are the paths with steps or, where a triple has another score
            than its path, the triples. 1 is no limit.
    """

    triples: int | None = None
    tokens: int | None = None
    nodes: int | None = 1000
    hub: int | None = 1000
    seconds: float | None = None
    mass: float | None = None

    def __attrs_post_init__(self) -> None:
        for name, value in attrs.asdict(self).items():
            if value is not None and not value > 0:
                raise ValueError(f"budget {name} must be above 0, not {value}; leave it out for no limit")
        if self.mass is not None and self.mass > 1:
            raise ValueError(f"budget mass is a share up to 1, not {self.mass}; 0.9 stops at nine tenths of the scores")
