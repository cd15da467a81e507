"""The role of an executor, and a map over places that keeps the order."""

from __future__ import annotations

from abc import abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from queue import SimpleQueue
from typing import TypeVar

from srtk_framework.roles.base import Role, hook

T = TypeVar("T")
R = TypeVar("R")

AHEAD = 2
"""Items of each place that are taken before the first of them has its result: one is computed, one waits or is done."""


class Executor(Role):
    """Computes the items of a task in several places at once: processes of this machine, or machines of a cluster.

    Runs, not drivers, use it: a run gives it the batches of its questions.
    """

    role = "executor"

    @hook(stream=True)
    @abstractmethod
    def map(self, task: Callable[[T], R], items: Iterable[T]) -> Iterable[R]:
        """Call a task with each item, and give the results in the order of the items.

        A place is a process that lives as long as the executor is open, so that a task may keep what it has opened in
        its module. An item whose place dies is computed again in another one.

        Args:
            task: A function that pickles.
            items: Are read as places fall free, at most ``AHEAD`` for each place before the oldest result is taken.

        Returns:
            An iterator of one result per item, in order. An error of the task is raised in the place of its result.
        """

    def places(self) -> int:
        """Return the number of places, once the executor is open."""
        return 1


def spread(places: Sequence[Callable[[T], R]], items: Iterable[T]) -> Iterator[R]:
    """Call one of several places with each item, each place with one item at a time; give the results in order.

    Args:
        places: Each computes an item where it belongs to, and returns or raises when it is done.
        items: See ``Executor.map``.
    """
    idle: SimpleQueue[Callable[[T], R]] = SimpleQueue()
    for place in places:
        idle.put(place)

    def computed(item: T) -> R:
        place = idle.get()
        try:
            return place(item)
        finally:
            idle.put(place)

    flying: deque[Future[R]] = deque()
    threads = ThreadPoolExecutor(len(places), "srtk-place")
    try:
        for item in items:
            flying.append(threads.submit(computed, item))
            while flying and (len(flying) >= AHEAD * len(places) or flying[0].done()):
                yield flying.popleft().result()
        while flying:
            yield flying.popleft().result()
    finally:
        threads.shutdown(wait=False, cancel_futures=True)
