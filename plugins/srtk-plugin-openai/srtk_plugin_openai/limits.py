"""How hard a server may be asked."""

from __future__ import annotations

import attrs


@attrs.frozen
class Limits:
    """Limits of a client towards one server.

    Attributes:
        per_second: Most requests begun in a second, over time; None for no limit.
        burst: Most requests begun at once after a pause.
        deadline: Seconds from a request to the last byte of its reply.
        attempts: How often a request is sent before it is given up; one that is turned away for coming too often does
            not count.
        patience: Seconds for all attempts of a request, waits included.
        wait: Seconds before the second attempt; doubled for each further one, plus up to as much by chance.
        wait_most: Most seconds between two attempts, unless the server asks for more.
        failures: After so many failed requests in a row all wait
        pause: for so many seconds, and one goes ahead to try.
    """

    per_second: float | None = None
    burst: int = 8
    deadline: float = 120.0
    attempts: int = 6
    patience: float = 600.0
    wait: float = 0.5
    wait_most: float = 30.0
    failures: int = 12
    pause: float = 5.0

    def __attrs_post_init__(self) -> None:
        for name, value in attrs.asdict(self).items():
            if value is not None and value <= 0:
                raise ValueError(f"limits {name} must be above 0, not {value}")
