"""How hard an endpoint may be asked."""

from __future__ import annotations

import attrs


@attrs.frozen
class Limits:
    """Limits of the client towards one endpoint; None takes the engine's profile.

    Attributes:
        per_second: Most requests begun in a second, over time.
        burst: Most requests begun at once after a pause.
        at_once: Most requests in flight.
        deadline: Seconds from a request to the last byte of its answer.
        attempts: How often a query is asked before it is given up.
        patience: Seconds for all attempts of a query, waits included.
        wait: Seconds before the second attempt; doubled for each further one, with jitter.
        wait_most: Most seconds between two attempts, unless the server asks for more.
        failures: After so many failed requests in a row the endpoint is left alone,
        pause: for so many seconds.
        rows: Rows that the server gives at most; an answer with as many is taken as cut.
        page: Rows asked for at a time where a node has very many neighbours.
    """

    per_second: float | None = None
    burst: int = 5
    at_once: int | None = None
    deadline: float = 60.0
    attempts: int = 6
    patience: float = 600.0
    wait: float = 0.5
    wait_most: float = 30.0
    failures: int = 20
    pause: float = 60.0
    rows: int | None = None
    page: int | None = None

    def __attrs_post_init__(self) -> None:
        for field in attrs.fields(Limits):
            value = getattr(self, field.name)
            if value is not None and value <= 0:
                raise ValueError(f"limits {field.name} must be above 0, not {value}")
