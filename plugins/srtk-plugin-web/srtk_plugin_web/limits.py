"""Limits of a client towards one server."""

from __future__ import annotations

import ipaddress
from typing import ClassVar
from urllib.parse import urlsplit

import attrs

from srtk_framework.values import positive


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
        wait: Seconds before the second attempt, doubled before each of the following, with jitter.
        wait_most: Longest wait between two attempts in seconds, unless the server asks for more.
        failures: Consecutive failures that open the breaker.
        pause: Seconds for which the breaker stays open.
        answer_bytes: Largest answer that is read, after decompression.
    """

    polite: ClassVar[float | None] = 5.0
    """Requests a second on a public host where the settings give none; None for no limit."""

    per_second: float | None = attrs.field(default=None, validator=positive)
    burst: int = attrs.field(default=5, validator=positive)
    at_once: int | None = attrs.field(default=4, validator=positive)
    deadline: float = attrs.field(default=60.0, validator=positive)
    attempts: int = attrs.field(default=4, validator=positive)
    patience: float = attrs.field(default=300.0, validator=positive)
    wait: float = attrs.field(default=0.5, validator=positive)
    wait_most: float = attrs.field(default=30.0, validator=positive)
    failures: int = attrs.field(default=10, validator=positive)
    pause: float = attrs.field(default=30.0, validator=positive)
    answer_bytes: int = attrs.field(default=1 << 26, validator=positive)

    def rate(self, address: str) -> float | None:
        """Return how many requests a second may be sent to an address; None for no limit."""
        return self.per_second or (None if is_local(address) else self.polite)


def is_local(address: str) -> bool:
    """Return whether a URL's host is this machine or in a private network; names but for localhost are public."""
    host = (urlsplit(address).hostname or "").partition("%")[0]
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        place = ipaddress.ip_address(host)
    except ValueError:
        return False
    return place.is_private or place.is_loopback or place.is_link_local
