"""The token bucket, under a clock of the test's own, and the gate."""

from __future__ import annotations

import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from srtk_plugin_web import Gate, TokenBucket


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


def test_a_gate_does_not_wait_for_a_pause_that_ends_too_late() -> None:
    gate = Gate(1, None)
    gate.hold(60.0)
    with pytest.raises(TimeoutError, match="60 s"), gate.passage(time.monotonic() + 5):
        pass


def test_an_alarm_wakes_those_who_wait_at_a_gate() -> None:
    alarm = threading.Event()
    gate = Gate(1, None, alarm)
    gate.hold(60.0)
    alarm.set()
    with gate.passage(time.monotonic() + 100):
        passed = True
    assert passed
