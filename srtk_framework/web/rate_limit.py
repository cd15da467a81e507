"""Politeness towards a server, for any client: a token bucket, a gate for all threads, a circuit breaker."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class TokenBucket:
    """Hands out ``per_second`` tokens a second, and saves up to ``burst`` of them."""

    def __init__(self, per_second: float, burst: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate = per_second
        self._burst = burst
        self._clock = clock
        self._tokens = float(burst)
        self._at = clock()

    def take(self) -> float:
        """Take a token, also one that is still to come; return the seconds until it is there."""
        now = self._clock()
        self._tokens = min(self._burst, self._tokens + (now - self._at) * self._rate)
        self._at = now
        self._tokens -= 1
        return max(0.0, -self._tokens / self._rate)


class Gate:
    """Lets requests through one by one: so many in flight, so many a second, none before the server allows it."""

    def __init__(self, at_once: int, bucket: TokenBucket | None) -> None:
        self._places = threading.BoundedSemaphore(at_once)
        self._bucket = bucket
        self._lock = threading.Lock()
        self._not_before = 0.0

    @contextmanager
    def passage(self, until: float) -> Iterator[None]:
        """Wait for a turn, and hold a place meanwhile.

        Args:
            until: Moment of the monotonic clock; a server that wants to be left alone for longer is not waited for.

        Raises:
            TimeoutError: With the seconds that the server still wants to be left alone.
        """
        with self._places:
            with self._lock:
                wait = self._bucket.take() if self._bucket else 0.0
            turn = time.monotonic() + wait
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


class Breaker:
    """Counts failures in a row; past ``most`` it is open for ``pause`` seconds, then lets one trial through."""

    def __init__(self, most: int, pause: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._most = most
        self._pause = pause
        self._clock = clock
        self._failures = 0
        self._until = 0.0
        self._lock = threading.Lock()

    def blocked_for(self) -> float:
        """Return the seconds for which nothing may be asked; at their end one caller may, as a trial."""
        with self._lock:
            if self._failures < self._most:
                return 0.0
            now = self._clock()
            if now < self._until:
                return self._until - now
            self._until = now + self._pause
            return 0.0

    def note(self, failed: bool) -> None:
        """Count the outcome of a request."""
        with self._lock:
            self._failures = self._failures + 1 if failed else 0
            if self._failures >= self._most:
                self._until = self._clock() + self._pause
