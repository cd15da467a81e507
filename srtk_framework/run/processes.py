"""The executor of processes on this machine."""

from __future__ import annotations

import functools
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any

import attrs

from srtk_framework.roles import Executor, not_open, spread
from srtk_framework.values import RunError, positive

TRIES = 3
"""Processes that may die at one item before the run ends: a machine kills one by chance, an item kills each."""

# Threads of a process inside numerical libraries; unset, each process would start as many as the machine has.
_THREADS = "OMP_NUM_THREADS"


@attrs.define(eq=False)
class Processes(Executor):
    """Computes in processes of this machine, each with its own drivers.

    Attributes:
        workers: Number of processes; null for one per processor.
    """

    workers: int | None = attrs.field(default=None, validator=positive)
    _started: list[_Process] = attrs.field(init=False, factory=list, repr=False)

    def open(self) -> None:
        """Make the processes, which start with their first item."""
        threads = max(1, _processors() // self.places())
        self._started = [_Process(threads) for _ in range(self.places())]

    def close(self) -> None:
        """End the processes."""
        for process in self._started:
            process.end()
        self._started = []

    def places(self) -> int:
        """Return the number of processes."""
        return self.workers or _processors()

    def map(self, task: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
        """Call the task in the processes."""
        if not self._started:
            raise not_open(self)
        return spread([functools.partial(process, task) for process in self._started], items)


class _Process:
    """A process, replaced where it dies.

    Args:
        threads: Of its numerical libraries.
    """

    def __init__(self, threads: int) -> None:
        self._threads = threads
        self._pool: ProcessPoolExecutor | None = None
        self._ended = False
        self._worked = False

    def __call__(self, task: Callable[[Any], Any], item: Any) -> Any:
        for _ in range(TRIES):
            if self._pool is None:
                # A forked process has the state of the parent's threads; a new one starts clean.
                context = multiprocessing.get_context("spawn")
                self._pool = ProcessPoolExecutor(1, context, _begin, (self._threads,))
            try:
                found = self._pool.submit(task, item).result()
            except BrokenProcessPool:
                if self._ended:
                    raise
                self._pool = None
            else:
                self._worked = True
                return found
        why = "it may lack memory" if self._worked else "in a script, begin below `if __name__ == '__main__':`"
        raise RunError(f"a worker process ended {TRIES} times at the same batch; {why}, or run without `executor:`")

    def end(self) -> None:
        """Kill the process; what it has in hand is lost."""
        self._ended = True
        if self._pool is not None:
            # The pool would wait for the batch in hand; its own way to kill came with Python 3.14.
            for process in list((self._pool._processes or {}).values()):
                process.kill()
            self._pool.shutdown(cancel_futures=True)


def _processors() -> int:
    """Return the number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _begin(threads: int) -> None:
    """Prepare a new process: it leaves Ctrl-C to its parent, and ends with it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.environ.setdefault(_THREADS, str(threads))
    parent = multiprocessing.parent_process()
    assert parent is not None
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: Any) -> None:
    parent.join()
    os._exit(1)
