"""How hard a service may be asked: the settings, a gate for all threads, a circuit breaker."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

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


class Gate:
    """Lets requests through: so many in flight, so many a second, none before the service allows it.

    Args:
        limits: Their numbers.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._places = threading.BoundedSemaphore(limits.at_once)
        self._lock = threading.Lock()
        self._tokens = float(limits.burst)
        self._at = time.monotonic()
        self._not_before = 0.0

    @contextmanager
    def passage(self, until: float) -> Iterator[None]:
        """Wait for a turn, and hold a place meanwhile.

        Args:
            until: Moment of the monotonic clock; a service that wants to be left alone for longer is not waited for.

        Raises:
            TimeoutError: With the seconds that the service still wants to be left alone.
        """
        with self._places:
            turn = time.monotonic() + self._take()
            # What another thread was told while this one slept counts as well.
            while (left := max(turn, self._not_before) - time.monotonic()) > 0:
                if self._not_before > until:
                    raise TimeoutError(f"{self._not_before - time.monotonic():.0f} s")
                time.sleep(left)
            yield

    def hold(self, seconds: float) -> None:
        """Let nothing through for some seconds."""
        with self._lock:
            self._not_before = max(self._not_before, time.monotonic() + seconds)

    def _take(self) -> float:
        """Take a token, also one that is still to come; return the seconds until it is there."""
        rate = self._limits.per_second
        if rate is None:
            return 0.0
        with self._lock:
            now = time.monotonic()
            self._tokens = min(self._limits.burst, self._tokens + (now - self._at) * rate) - 1
            self._at = now
            return max(0.0, -self._tokens / rate)


class Breaker:
    """Counts failures in a row; past the limit it is open for a while, then lets one trial through.

    Args:
        limits: Their numbers.
    """

    def __init__(self, limits: Limits) -> None:
        self._most = limits.failures
        self._pause = limits.pause
        self._failures = 0
        self._until = 0.0
        self._lock = threading.Lock()

    def blocked_for(self) -> float:
        """Return the seconds for which nothing may be asked; at their end one caller may, as a trial."""
        with self._lock:
            if self._failures < self._most:
                return 0.0
            now = time.monotonic()
            if now < self._until:
                return self._until - now
            self._until = now + self._pause
            return 0.0

    def note(self, failed: bool) -> None:
        """Count the outcome of a request."""
        with self._lock:
            self._failures = self._failures + 1 if failed else 0
            if self._failures >= self._most:
                self._until = time.monotonic() + self._pause
