"""Limits of a client towards one server."""

from __future__ import annotations

import ipaddress
from typing import ClassVar
from urllib.parse import urlsplit

import attrs


@attrs.frozen
class Limits:
    """How often a server is asked, for how long, and how much it may send; a driver may subclass it for other defaults.

    Attributes:
        per_second: Requests begun per second, averaged over time; null for a polite number on a public host, and for no
            limit on this machine or a private network.
        burst: Requests that may begin at once after an idle time.
        at_once: Requests in flight.
        deadline: Seconds from connecting to the last byte of the answer, for one attempt.
        attempts: Requests sent for one question before it fails.
        patience: Seconds for all attempts of one question, waits included.
        wait: Seconds before the second attempt; doubled for each further one, with jitter.
        wait_most: Longest wait between two attempts in seconds, unless the server asks for more.
        failures: Consecutive failures that open the breaker.
        pause: Seconds for which the breaker stays open.
        answer_bytes: Largest answer that is read, after decompression.
    """

    polite: ClassVar[float | None] = 5.0
    """Requests a second on a public host where the settings give none; None for no limit."""

    per_second: float | None = None
    burst: int = 5
    at_once: int | None = 4
    deadline: float = 60.0
    attempts: int = 4
    patience: float = 300.0
    wait: float = 0.5
    wait_most: float = 30.0
    failures: int = 10
    pause: float = 30.0
    answer_bytes: int = 1 << 26

    def __attrs_post_init__(self) -> None:
        for field in attrs.fields(type(self)):
            value = getattr(self, field.name)
            if value is not None and not value > 0:
                raise ValueError(f"limits {field.name} must be above 0, not {value}")

    def rate(self, address: str) -> float | None:
        """Return how many requests a second may be sent to an address; None for no limit."""
        return self.per_second or (None if is_local(address) else self.polite)


def is_local(address: str) -> bool:
    """Tell whether the host of a URL is this machine or in a private network; other names than localhost are public."""
    host = (urlsplit(address).hostname or "").partition("%")[0]
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        place = ipaddress.ip_address(host)
    except ValueError:
        return False
    return place.is_private or place.is_loopback or place.is_link_local
