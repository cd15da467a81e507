"""The map over places: order, how much is read ahead, and ends."""

from __future__ import annotations

import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from srtk_framework.roles import spread
from srtk_framework.roles.executor import AHEAD


@given(st.lists(st.integers(0, 3), max_size=12), st.integers(1, 4))
def test_results_come_in_the_order_of_the_items_whichever_place_is_free(items: list[int], places: int) -> None:
    def place(item: int) -> int:
        time.sleep(item / 2000)
        return item

    assert list(spread([place] * places, items)) == items


def test_a_place_has_one_item_at_a_time_and_no_more_are_read_than_ahead() -> None:
    lock, busy, read = threading.Lock(), [0, 0], [0]

    def place(number: int, item: int) -> int:
        with lock:
            busy[number] += 1
            assert busy[number] == 1
        time.sleep(0.001)
        with lock:
            busy[number] -= 1
        return item

    def items():
        for item in range(100):
            read[0] += 1
            yield item

    for given_, result in enumerate(spread([lambda i: place(0, i), lambda i: place(1, i)], items())):
        assert result == given_
        assert read[0] <= given_ + 2 * AHEAD


def test_who_stops_reading_leaves_nothing_to_be_computed() -> None:
    done = []
    results = spread([lambda item: done.append(item) or item], range(100))
    assert next(results) == 0
    results.close()
    count = len(done)
    time.sleep(0.02)
    assert len(done) <= count + 1 <= AHEAD + 2


def test_an_error_of_a_place_is_raised_where_its_result_would_be() -> None:
    def place(item: int) -> int:
        return 1 // (2 - item)

    results = spread([place, place], range(9))
    assert [next(results) for _ in range(2)] == [0, 1]
    with pytest.raises(ZeroDivisionError):
        next(results)
