"""Turns under load: nothing is lost, nothing overlaps, cancelled calls leave no trace."""

from __future__ import annotations

import asyncio
import contextlib
import random
import signal
import threading
from collections import deque
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from srtk_framework.run.dispatcher import Dispatcher
from srtk_framework.values import BusyError, LateError

SIZE = 6


class Squares:
    """Squares numbers in batches; refuses some, and notes whether two threads worked at once."""

    def __init__(self) -> None:
        self.busy = threading.Lock()
        self.overlaps = 0
        self.batches: list[int] = []

    def __call__(self, key: str, items: Sequence[int]) -> list[int]:
        if not self.busy.acquire(blocking=False):
            self.overlaps += 1
            return []
        try:
            self.batches.append(len(items))
            if any(item % 17 == 0 for item in items):
                raise ValueError(f"{len(items)} items, 17 among them")
            return [item**2 if key == "square" else -item for item in items]
        finally:
            self.busy.release()


def expected(key: str, items: Sequence[int]) -> list[int] | str:
    """Return what a call alone gives."""
    if any(item % 17 == 0 for item in items):
        return f"{len(items)} items, 17 among them"
    return [item**2 if key == "square" else -item for item in items]


def asked(number: int) -> tuple[str, list[int]]:
    """Return key and items of a call."""
    chance = random.Random(number)
    return chance.choice(["square", "minus"]), [chance.randrange(200) for _ in range(chance.randrange(1, 4))]


@pytest.mark.parametrize("round_", range(3))
def test_thousands_of_calls_from_threads_and_loops_get_their_own_results(round_: int) -> None:
    work = Squares()
    dispatcher: Dispatcher[str, int, int] = Dispatcher(work, SIZE)

    def plain(number: int) -> list[int] | str:
        key, items = asked(number)
        try:
            return list(dispatcher.call(key, items))
        except ValueError as error:
            return str(error)

    def alone(number: int) -> list[int] | str:
        key, items = asked(number)
        with dispatcher.turn():
            return plain(number) if number % 2 else expected(key, items)

    async def loop(numbers: Sequence[int]) -> list[list[int] | str]:
        async def one(number: int) -> list[int] | str:
            key, items = asked(number)
            done = dispatcher.submit(key, items)
            asyncio.get_running_loop().call_soon(dispatcher.start)
            future = asyncio.wrap_future(done)
            if number % 5 == 0:
                await asyncio.sleep(random.Random(number).random() / 1000)
                if future.cancel():
                    return expected(key, items)
            try:
                return await future
            except ValueError as error:
                return str(error)

        return await asyncio.gather(*map(one, numbers))

    with ThreadPoolExecutor(12) as pool:
        base = 10_000 * round_
        threads = [pool.submit(plain, base + i) for i in range(1500)]
        turns = [pool.submit(alone, base + i) for i in range(1500, 1800)]
        loops = [
            pool.submit(lambda at=at: asyncio.run(loop(range(at, at + 25))))
            for at in range(base + 2000, base + 3000, 25)
        ]
        assert [f.result(60) for f in threads] == [expected(*asked(base + i)) for i in range(1500)]
        assert [f.result(60) for f in turns] == [expected(*asked(base + i)) for i in range(1500, 1800)]
        assert [one for f in loops for one in f.result(60)] == [expected(*asked(base + i)) for i in range(2000, 3000)]
    assert work.overlaps == 0
    assert max(work.batches) <= SIZE
    assert max(work.batches) > 3  # some were joined
    assert dispatcher.waiting == 0
    assert not dispatcher._alike
    dispatcher.stop()


def test_a_call_larger_than_a_batch_is_a_batch_of_its_own() -> None:
    work = Squares()
    dispatcher: Dispatcher[str, int, int] = Dispatcher(work, 2)
    assert dispatcher.call("minus", [1, 2, 3]) == [-1, -2, -3]
    assert work.batches == [3]


def test_a_thread_that_has_the_turn_may_take_it_again() -> None:
    dispatcher: Dispatcher[str, int, int] = Dispatcher(Squares(), SIZE)
    with dispatcher.turn(), dispatcher.turn():
        assert dispatcher.call("minus", [1]) == [-1]
    assert not dispatcher.busy


class Gate:
    """Answers its items once it is opened; counts them."""

    def __init__(self) -> None:
        self.began, self.go = threading.Event(), threading.Event()
        self.seen: list[int] = []

    def __call__(self, key: str, items: Sequence[int]) -> list[int]:
        self.began.set()
        assert self.go.wait(20)
        self.seen += items
        return list(items)


def shut(most: int | None = None) -> tuple[Dispatcher[str, int, int], Gate, threading.Thread]:
    """Return a dispatcher whose first batch has begun and cannot end."""
    gate = Gate()
    dispatcher: Dispatcher[str, int, int] = Dispatcher(gate, SIZE, most)
    first = threading.Thread(target=dispatcher.call, args=("a", [0]))
    first.start()
    assert gate.began.wait(20)
    return dispatcher, gate, first


def test_a_full_queue_refuses_a_call_and_tells_when_to_ask_again() -> None:
    dispatcher, gate, first = shut(most=2)
    kept = [dispatcher.submit("a", [i]) for i in (1, 2)]
    with pytest.raises(BusyError, match="2 calls wait") as refused:
        dispatcher.submit("a", [3])
    with pytest.raises(BusyError):
        dispatcher.call("a", [3])
    assert refused.value.retry_after >= 0
    kept[0].cancel()  # frees a place
    kept[0] = dispatcher.submit("a", [4])
    gate.go.set()
    assert [future.result(20) for future in kept] == [[4], [2]]
    first.join()
    # Measured by now: two answers in a queue of one batch.
    assert dispatcher.delay > 0
    dispatcher.stop()


def test_a_late_call_gives_up_its_place_and_is_not_worked_on() -> None:
    dispatcher, gate, first = shut()
    with pytest.raises(LateError, match="no answer within the time limit"):
        dispatcher.call("a", [1], 0.05)
    assert dispatcher.waiting == 0
    gate.go.set()
    first.join()
    assert dispatcher.call("a", [2], 20) == [2]
    assert gate.seen == [0, 2]
    dispatcher.stop()


def test_a_time_error_of_the_work_is_its_own() -> None:
    def slow(key: str, items: Sequence[int]) -> list[int]:
        raise TimeoutError("the server did not answer")

    dispatcher: Dispatcher[str, int, int] = Dispatcher(slow, SIZE)
    with pytest.raises(TimeoutError, match="the server did not answer"):
        dispatcher.call("a", [1], 20)
    dispatcher.stop()


def test_cancelled_calls_leave_nothing_in_the_queue() -> None:
    dispatcher, gate, first = shut()
    kept = dispatcher.submit("b", [7])
    for key in map(str, range(5_000)):
        assert dispatcher.submit(key, [1]).cancel()
    assert dispatcher.waiting == 1
    assert len(dispatcher._order) < 200
    assert len(dispatcher._alike) < 200
    gate.go.set()
    assert kept.result(20) == [7]
    first.join()
    assert gate.seen == [0, 7]
    dispatcher.stop()


def test_a_batch_is_joined_without_a_look_at_the_calls_of_other_work() -> None:
    dispatcher, gate, first = shut()
    others = [dispatcher.submit(f"other {i}", [i]) for i in range(300)]
    looked: list[int] = []

    class Line(deque[Any]):
        def __iter__(self) -> Any:
            looked.append(len(self))
            return super().__iter__()

    dispatcher._order = Line(dispatcher._order)
    gate.go.set()
    assert [future.result(20) for future in others] == [[i] for i in range(300)]
    first.join()
    assert not looked
    dispatcher.stop()


def test_a_call_that_stands_in_the_queue_twice_waits_once() -> None:
    dispatcher, gate, first = shut()
    others = [dispatcher.submit("a", [i]) for i in range(3)]
    with dispatcher._mutex:
        # As after an interrupt, which puts the calls of a batch back.
        for call in [call for call in dispatcher._order if call.queued][::-1]:
            dispatcher._unplace(call)
            dispatcher._place(call, first=True)
        dispatcher._order.extend([dispatcher._order[0]] * 200)
        dispatcher._clear_up()
    assert dispatcher.waiting == 3
    gate.go.set()
    assert [future.result(20) for future in others] == [[0], [1], [2]]
    first.join()
    assert dispatcher.waiting == 0
    dispatcher.stop()


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="the system has no timer that interrupts a thread")
def test_interrupts_at_any_moment_never_lose_the_turn() -> None:
    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    chance = random.Random(7)
    dispatcher: Dispatcher[str, int, int] = Dispatcher(lambda key, items: list(items), SIZE)
    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        for _ in range(3000):
            with contextlib.suppress(KeyboardInterrupt):
                signal.setitimer(signal.ITIMER_REAL, chance.uniform(2e-5, 1e-3))
                while True:
                    dispatcher.call("a", [1])
            signal.setitimer(signal.ITIMER_REAL, 0)
            assert not dispatcher.busy
            assert dispatcher.waiting == 0
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
