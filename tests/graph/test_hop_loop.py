from __future__ import annotations

import attrs
import pytest

from srtk_framework.graph.hop_loop import run_hops
from srtk_framework.host.ports import port
from srtk_framework.roles import Expander
from srtk_framework.values import Budget, DriverError, HopState, Question, Subgraph
from srtk_framework.values.errors import BatchError


@attrs.define
class Counting(HopState):
    hops: int
    wanted: int

    @property
    def done(self):
        return self.hops >= self.wanted


@attrs.define
class Walker(Expander):
    """Takes as many hops as the question has words."""

    budget: Budget = attrs.field(factory=Budget)
    drop: bool = False

    def start(self, questions):
        return [Counting(0, len(q.text.split())) for q in questions]

    def step(self, states):
        return [Counting(s.hops + 1, s.wanted) for s in states][: len(states) - self.drop]

    def result(self, states):
        return [Subgraph(trace={"hops": s.hops}) for s in states]


def hops(subgraphs):
    return [s.trace["hops"] for s in subgraphs]


QUESTIONS = [Question("a", "one"), Question("b", "one two three"), Question("c", "")]


def test_the_loop_steps_each_state_until_it_is_done():
    assert hops(run_hops(Walker(), QUESTIONS)) == [1, 3, 0]
    assert hops(port(Walker(), "expander", "walker").expand(QUESTIONS)) == [1, 3, 0]


def test_a_step_that_loses_a_state_is_refused():
    with pytest.raises(DriverError, match="step got 2 items and returned 1"):
        run_hops(Walker(drop=True), QUESTIONS)


def test_no_hop_starts_after_the_time_limit_and_the_trace_records_it():
    walker = Walker(budget=Budget(seconds=1e-9))
    subgraphs = port(walker, "expander", "walker").expand(QUESTIONS)
    assert hops(subgraphs) == [0, 0, 0]
    assert [s.trace.get("cut") for s in subgraphs] == [{"seconds": 1}, {"seconds": 1}, None]


@pytest.mark.parametrize(("seconds", "taken"), [(5.0, 2), (6.0, 2), (6.5, 3), (100.0, 4)])
def test_a_search_ends_when_its_seconds_are_over_whatever_the_clock_began_with(monkeypatch, seconds, taken):
    clock = iter([1000.0, *(1000.0 + 3 * hop for hop in range(9))])  # the start, then before each hop of 3 seconds
    monkeypatch.setattr("srtk_framework.graph.hop_loop.time.monotonic", lambda: next(clock))
    (found,) = run_hops(Walker(), [Question("a", "one two three four")], seconds)
    assert found.trace["hops"] == taken
    assert found.trace.get("cut") == (None if taken == 4 else {"seconds": 1})


@attrs.define
class Failing(Walker):
    """Fails for the question named in the hook named, as behind a port."""

    hook: str = ""

    def _failed(self, hook, answers):
        if hook == self.hook and any(one is not None for one in answers):
            errors = [DriverError("lost") if getattr(one, "wanted", 0) == 3 else one for one in answers]
            raise BatchError("lost", "walker", errors)
        return answers

    def start(self, questions):
        return self._failed("start", super().start(questions))

    def step(self, states):
        return self._failed("step", super().step(states))

    def result(self, states):
        rows = super().result(states)
        if self.hook == "result":
            raise BatchError(
                "lost",
                "walker",
                [DriverError("lost") if s.wanted == 3 else row for s, row in zip(states, rows, strict=True)],
            )
        return rows


@pytest.mark.parametrize("hook", ["start", "step", "result"])
def test_a_question_that_fails_in_any_hook_fails_alone(hook):
    one, two, three = run_hops(Failing(hook=hook), QUESTIONS)
    assert (one.trace["hops"], three.trace["hops"]) == (1, 0)
    assert isinstance(two, DriverError)
    assert "lost" in str(two)


def test_no_hook_is_called_for_no_question():
    class Never(Walker):
        def start(self, questions):
            raise AssertionError

    assert run_hops(Never(), []) == []
