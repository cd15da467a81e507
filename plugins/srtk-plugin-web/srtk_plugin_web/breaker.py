"""A circuit breaker: after several failures in a row nothing is sent to a server for a while."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable


class Breaker:
    """A count of consecutive failures; at ``most`` of them it opens for ``pause`` seconds, then lets one trial pass."""

    def __init__(self, most: int, pause: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._most = most
        self._pause = pause
        self._clock = clock
        self._failures = 0
        self._until = 0.0
        self._reason = ""
        self._lock = threading.Lock()

    @property
    def reason(self) -> str:
        """Return why the last failure happened; empty when the last request succeeded."""
        return self._reason

    @property
    def is_open(self) -> bool:
        """Return whether the breaker is open; unlike ``blocked_for`` this lets no trial pass."""
        with self._lock:
            return self._failures >= self._most and self._clock() < self._until

    def blocked_for(self) -> float:
        """Return the seconds for which nothing may be sent; once they are over, one caller may send as a trial."""
        with self._lock:
            if self._failures < self._most:
                return 0.0
            now = self._clock()
            if now < self._until:
                return self._until - now
            self._until = now + self._pause
            return 0.0

    def succeeded(self) -> None:
        """Count a request that the server answered."""
        with self._lock:
            self._failures = 0
            self._reason = ""

    def failed(self, reason: str) -> None:
        """Count a failure."""
        with self._lock:
            self._failures += 1
            self._reason = reason
            if self._failures >= self._most:
                self._until = self._clock() + self._pause
