"""The token bucket and the circuit breaker, under a clock of the test's own."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from srtk_framework.web.rate_limit import Breaker, TokenBucket


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_bucket_lets_a_burst_through_and_then_spreads() -> None:
    bucket = TokenBucket(10.0, 2, Clock())
    waits = [bucket.take() for _ in range(4)]
    assert waits[:2] == [0.0, 0.0]
    assert [round(wait, 6) for wait in waits[2:]] == [0.1, 0.2]


@given(st.floats(0.5, 50), st.integers(1, 9), st.lists(st.floats(0, 3), min_size=1, max_size=40))
def test_never_more_than_the_burst_and_the_rate_allow(rate: float, burst: int, pauses: list[float]) -> None:
    clock = Clock()
    bucket = TokenBucket(rate, burst, clock)
    begun = []
    for pause in pauses:
        clock.now += pause
        begun.append(clock.now + bucket.take())
    for first in range(len(begun)):
        for last in range(first, len(begun)):
            assert last - first + 1 <= burst + (begun[last] - begun[first]) * rate + 1e-6


def test_a_breaker_opens_after_failures_in_a_row_and_tries_again_after_its_pause() -> None:
    clock = Clock()
    breaker = Breaker(2, 10.0, clock)
    breaker.note(True)
    breaker.note(False)
    breaker.note(True)
    assert breaker.blocked_for() == 0.0
    breaker.note(True)
    assert breaker.blocked_for() == 10.0
    clock.now = 11.0
    assert breaker.blocked_for() == 0.0
    assert breaker.blocked_for() > 0.0
