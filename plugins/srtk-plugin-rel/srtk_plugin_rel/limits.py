"""How hard a service may be asked."""

from __future__ import annotations

import attrs


@attrs.frozen
class Limits:
    """Limits of a client towards one service.

    Attributes:
        per_second: Most requests begun in a second, over time; None for no limit.
        burst: Most requests begun at once after a pause.
        at_once: Most requests in flight.
        deadline: Seconds from a request to the last byte of its answer.
        attempts: How often a request is sent before it is given up.
        patience: Seconds for all attempts of a request, waits included.
        wait: Seconds before the second attempt; doubled for each further one, with jitter.
        wait_most: Most seconds between two attempts, unless the service asks for more.
        failures: After so many failed requests in a row the service is left alone,
        pause: for so many seconds.
    """

    per_second: float | None = 5.0
    burst: int = 5
    at_once: int = 4
    deadline: float = 60.0
    attempts: int = 4
    patience: float = 300.0
    wait: float = 0.5
    wait_most: float = 30.0
    failures: int = 10
    pause: float = 30.0

    def __attrs_post_init__(self) -> None:
        for name, value in attrs.asdict(self).items():
            if value is not None and value <= 0:
                raise ValueError(f"limits {name} must be above 0, not {value}")
