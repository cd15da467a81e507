"""Conformance of executors: results in order, items read late, and no item lost with its place."""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

import attrs
import pytest

from srtk_framework.roles import Executor
from srtk_framework.roles.executor import AHEAD
from srtk_framework.testing.base import Answers, Conformance
from srtk_framework.values import DriverError, RunError, SrtkError

_CALLS: list[int] = []
"""Items of ``counted`` in this process."""


def slow_if_even(item: int) -> str:
    """Return the item as a text, the even ones later than the odd ones."""
    time.sleep(0.0 if item % 2 else 0.02)
    return f"<{item}>"


def refusing_three(item: int) -> int:
    """Return the item, but raise for 3."""
    if item == 3:
        raise RunError("three is refused; leave it out")
    return item


def dying_once(item: tuple[int, str]) -> int:
    """Return the number, but end the process where a file is not there yet, which is made before."""
    number, file = item
    if number == 2 and not os.path.exists(file):
        Path(file).write_text("died", encoding="utf-8")
        os._exit(1)
    return number


def dying(item: int) -> int:
    """End the process."""
    os._exit(1)


def counted(item: int) -> tuple[int, int]:
    """Return the process, and how many items it has had."""
    _CALLS.append(item)
    return os.getpid(), len(_CALLS)


class ExecutorConformance(Conformance):
    """Checks an Executor; its ``driver`` is opened, and its places import this module."""

    role = Executor

    @pytest.fixture
    def answers(self) -> Answers:
        """Map a task over numbers."""
        return lambda driver: list(driver.map(slow_if_even, range(9)))

    def use(self, driver: Any) -> None:
        """Map a task over one number."""
        list(driver.map(slow_if_even, [1]))

    def test_results_come_in_the_order_of_the_items(self, driver: Any) -> None:
        """An item that takes longer holds back the results behind it."""
        assert list(driver.map(slow_if_even, range(12))) == [f"<{item}>" for item in range(12)]

    def test_no_items_give_no_results(self, driver: Any) -> None:
        """Nothing is asked of the task."""
        assert list(driver.map(refusing_three, [])) == []

    def test_items_are_read_as_places_fall_free(self, driver: Any) -> None:
        """Whoever stops reading results has had few items read."""
        read: list[int] = []

        def items() -> Iterator[int]:
            for item in range(1000):
                read.append(item)
                yield item

        results = iter(driver.map(slow_if_even, items()))
        assert [next(results) for _ in range(3)] == ["<0>", "<1>", "<2>"]
        assert len(read) <= 3 + AHEAD * driver.places(), f"{len(read)} items were read for three results"

    def test_an_error_stands_in_the_place_of_its_result(self, driver: Any) -> None:
        """The results before it are given, and the executor goes on with the next map."""
        results = iter(driver.map(refusing_three, range(6)))
        assert [next(results) for _ in range(3)] == [0, 1, 2]
        with pytest.raises(SrtkError, match="three is refused"):
            next(results)
        assert list(driver.map(refusing_three, [4, 5])) == [4, 5]

    def test_an_item_whose_place_dies_is_computed_again(self, driver: Any, tmp_path: Path) -> None:
        """No result is lost, and none comes twice."""
        items = [(number, str(tmp_path / "died")) for number in range(6)]
        assert list(driver.map(dying_once, items)) == list(range(6))
        assert tmp_path.joinpath("died").exists(), "the task ran where the file cannot be seen"

    def test_an_item_that_kills_every_place_ends_in_an_error(self, driver: Any) -> None:
        """It is given up after some tries, and the executor goes on with the next map."""
        with pytest.raises(SrtkError):
            list(driver.map(dying, [1]))
        assert list(driver.map(refusing_three, [1, 2])) == [1, 2]

    def test_a_place_lives_from_item_to_item(self, driver: Any) -> None:
        """What a task keeps in its module serves the items behind, also of a second map."""
        rows = [*driver.map(counted, range(8)), *driver.map(counted, range(8))]
        assert len({process for process, _ in rows}) <= driver.places()
        assert max(count for _, count in rows) > 1


@attrs.define(eq=False)
class ToyExecutor(Executor):
    """Computes in one process beside this one.

    Attributes:
        tries: Processes that may die at one item.
    """

    tries: int = 3
    _pool: ProcessPoolExecutor | None = attrs.field(init=False, default=None, repr=False)

    def open(self) -> None:
        """Make the process."""
        self._pool = ProcessPoolExecutor(1, multiprocessing.get_context("spawn"))

    def close(self) -> None:
        """End the process."""
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
            self._pool = None

    def map(self, task: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
        """Compute item by item."""
        for item in items:
            yield self._computed(task, item)

    def _computed(self, task: Callable[[Any], Any], item: Any) -> Any:
        for _ in range(self.tries):
            if self._pool is None:
                raise DriverError("the executor is not open; call open() first")
            try:
                return self._pool.submit(task, item).result()
            except BrokenProcessPool:
                self.close()
                self.open()
        raise DriverError(f"{self.tries} processes died at the same item; give them more memory")


class ToyExecutorCase(ExecutorConformance):
    """The toy executor keeps the contract of an executor."""

    name = "toy"

    @pytest.fixture
    def driver(self) -> Iterator[ToyExecutor]:
        """Open an executor."""
        executor = ToyExecutor()
        executor.open()
        yield executor
        executor.close()


SUMMARY = "An executor of one process"

RECIPE = """\
executor: {use: toy}
knowledge_graph: {use: local, path: build/world}
expander: {use: bfs, depth: 2}
questions: questions.jsonl
"""
