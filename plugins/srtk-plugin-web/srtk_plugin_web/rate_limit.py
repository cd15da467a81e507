"""Rate limits towards a server: a token bucket, and a gate that all threads of a client pass."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class TokenBucket:
    """A bucket that gains ``per_second`` tokens per second and holds up to ``burst`` of them."""

    def __init__(self, per_second: float, burst: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate = per_second
        self._burst = burst
        self._clock = clock
        self._tokens = float(burst)
        self._at = clock()

    def take(self) -> float:
        """Take a token, even before it is there; return the seconds until then."""
        now = self._clock()
        self._tokens = min(self._burst, self._tokens + (now - self._at) * self._rate)
        self._at = now
        self._tokens -= 1
        return max(0.0, -self._tokens / self._rate)


class Gate:
    """Limit requests in flight and requests per second, and let none pass before the moment that the server set.

    When ``alarm`` is set, all who wait pass at once, so that they can see that the client stopped.
    """

    def __init__(self, at_once: int, bucket: TokenBucket | None, alarm: threading.Event | None = None) -> None:
        self._places = threading.BoundedSemaphore(at_once)
        self._bucket = bucket
        self._alarm = alarm or threading.Event()
        self._lock = threading.Lock()
        self._not_before = 0.0

    @contextmanager
    def passage(self, until: float) -> Iterator[None]:
        """Wait for a turn, and hold a place for the length of the block.

        A pause of the server that ends after ``until``, by the monotonic clock, is not waited for.

        Raises:
            TimeoutError: With the seconds that the server's pause still lasts.
        """
        with self._places:
            with self._lock:
                wait = self._bucket.take() if self._bucket else 0.0
            turn = time.monotonic() + wait
            # Another thread may have been asked to wait while this one slept.
            while (left := max(turn, self._not_before) - time.monotonic()) > 0:
                if self._not_before > until:
                    raise TimeoutError(f"{self._not_before - time.monotonic():.0f} s")
                if self._alarm.wait(left):
                    break
            yield

    def hold(self, seconds: float) -> None:
        """Let nothing pass for some seconds."""
        with self._lock:
            self._not_before = max(self._not_before, time.monotonic() + seconds)
