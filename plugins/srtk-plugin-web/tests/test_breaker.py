"""The circuit breaker, under a clock of the test's own."""

from __future__ import annotations

from srtk_plugin_web import Breaker


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_breaker_opens_after_failures_in_a_row_and_tries_again_after_its_pause() -> None:
    clock = Clock()
    breaker = Breaker(2, 10.0, clock)
    breaker.failed("one")
    breaker.succeeded()
    breaker.failed("two")
    assert breaker.blocked_for() == 0.0
    breaker.failed("three")
    assert breaker.blocked_for() == 10.0
    clock.now = 11.0
    assert breaker.blocked_for() == 0.0
    assert breaker.blocked_for() > 0.0


def test_a_breaker_says_why_the_last_failure_happened_until_there_is_a_success() -> None:
    breaker = Breaker(1, 10.0, Clock())
    breaker.failed("it is on fire")
    assert breaker.reason == "it is on fire"
    breaker.succeeded()
    assert breaker.reason == ""


def test_looking_whether_a_breaker_is_open_lets_no_trial_pass() -> None:
    clock = Clock()
    breaker = Breaker(1, 10.0, clock)
    breaker.failed("once")
    assert breaker.is_open
    clock.now = 11.0
    assert not breaker.is_open
    assert breaker.blocked_for() == 0.0
    assert breaker.is_open
