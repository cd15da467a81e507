from __future__ import annotations

from srtk_framework.values import DriverError, answered, batched
from srtk_framework.values.errors import BatchError


def test_a_stream_is_read_no_further_than_the_batch():
    items = iter(range(5))
    batches = batched(items, 2)
    assert next(batches) == [0, 1]
    assert next(items) == 2
    assert list(batches) == [[3, 4]]


def test_one_bad_item_is_found_by_halving() -> None:
    calls: list[int] = []

    def ask(items):
        calls.append(len(items))
        if 5 in items:
            raise DriverError("five")
        return [item * 10 for item in items]

    found = answered(list(range(8)), ask)
    assert [one for one in found if not isinstance(one, DriverError)] == [0, 10, 20, 30, 40, 60, 70]
    assert str(found[5]) == "five"
    assert calls == [8, 4, 4, 2, 2, 1, 1]


def test_what_a_batch_error_answers_is_not_asked_again() -> None:
    calls: list[int] = []

    def ask(items):
        calls.append(len(items))
        raise BatchError("one", "x", [1, DriverError("one"), 3])

    assert [isinstance(one, DriverError) for one in answered("abc", ask)] == [False, True, False]
    assert calls == [3]


def test_where_all_items_fail_they_are_asked_little_more_than_once() -> None:
    calls: list[int] = []

    def ask(items):
        calls.append(len(items))
        raise DriverError("down")

    assert len(answered(list(range(8)), ask)) == 8
    assert calls == [8, 4, 4, *[1] * 8]
