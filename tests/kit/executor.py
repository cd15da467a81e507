"""Executors that each break one rule of Executor."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import pytest

from kit.checked import opened
from kit.rules import Fault, changed, publish
from srtk_framework.testing.executor import ExecutorConformance, ToyExecutor
from srtk_framework.values import DriverError, RunError

GOOD = ToyExecutor


class Checked(ExecutorConformance):
    """Tests one of the executors."""

    under_test: ClassVar[type[ToyExecutor]] = GOOD

    @pytest.fixture
    def driver(self) -> Iterator[ToyExecutor]:
        """Open it, and close it: its process would stay."""
        driver = opened(self.under_test())
        yield driver
        driver.close()


def _swaps(self: Any, call: Any, task: Any, items: Any) -> Any:
    for result in call(task, items):
        yield {"<10>": "<11>", "<11>": "<10>"}.get(result, result)


def _gives_something(self: Any, call: Any, task: Any, items: Any) -> Any:
    empty = True
    for result in call(task, items):
        empty = False
        yield result
    if empty:
        yield None


def _reads_all(self: Any, call: Any, task: Any, items: Any) -> Any:
    return call(task, list(items))


def _ends_at_an_error(self: Any, call: Any, task: Any, items: Any) -> Any:
    try:
        yield from call(task, items)
    except RunError:
        return


def _tries_once(self: Any, call: Any, task: Any, item: Any) -> Any:
    self.tries = 1
    return call(task, item)


def _passes_over(self: Any, call: Any, task: Any, item: Any) -> Any:
    try:
        return call(task, item)
    except DriverError:
        return None


def _starts_anew(self: Any, call: Any, task: Any, item: Any) -> Any:
    self.close()
    self.open()
    return call(task, item)


FAULTS: list[Fault] = [
    changed(GOOD, "test_results_come_in_the_order_of_the_items", map=_swaps),
    changed(GOOD, "test_no_items_give_no_results", map=_gives_something),
    changed(GOOD, "test_items_are_read_as_places_fall_free", map=_reads_all),
    changed(GOOD, "test_an_error_stands_in_the_place_of_its_result", map=_ends_at_an_error),
    changed(GOOD, "test_an_item_whose_place_dies_is_computed_again", _computed=_tries_once),
    changed(GOOD, "test_an_item_that_kills_every_place_ends_in_an_error", _computed=_passes_over),
    changed(GOOD, "test_a_place_lives_from_item_to_item", _computed=_starts_anew),
]
publish(__name__, globals(), FAULTS)
