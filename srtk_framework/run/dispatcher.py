"""Turns at the drivers of a session: one batch at a time, into which waiting calls are joined.

There is no dispatching thread. A call that finds the drivers idle runs at once, in its own thread. Calls that come
while a batch is running wait in a queue. When the batch ends, the first of them runs next, together with the waiting
calls for the same work, up to the size of a batch. Only calls from event loops need a thread of the dispatcher.
"""

from __future__ import annotations

import contextlib
import os
import threading
import weakref
from collections import deque
from collections.abc import Callable, Hashable, Iterator, Sequence
from concurrent.futures import Future, InvalidStateError, ThreadPoolExecutor
from typing import Any, Generic, TypeVar

import attrs

from srtk_framework.host.observers import Call, Observer
from srtk_framework.values import RunError

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")
R = TypeVar("R")


class AbandonedError(BaseException):
    """Ends a batch whose callers have all cancelled; no driver may catch it, so it is no ``Exception``."""


@attrs.define(eq=False)
class Waiting(Generic[K, T, R]):
    """A call in the queue.

    Attributes:
        key: Calls are joined with others of the same key; None for a call that needs the drivers to itself.
        items: The call's part of a batch.
        done: Gets a result per item; the caller may cancel it at any time.
        wake: Set when the waiting thread has something to do; None for a call from an event loop.
        leads: Whether the turn was handed to the waiting thread.
    """

    key: K | None
    items: Sequence[T]
    done: Future[list[R]] = attrs.field(factory=Future)
    wake: threading.Event | None = attrs.field(factory=threading.Event)
    leads: bool = False

    def __attrs_post_init__(self) -> None:
        if self.wake is not None:
            wake = self.wake
            self.done.add_done_callback(lambda _: wake.set())


class Dispatcher(Generic[K, T, R]):
    """Hands out turns, first come, first served.

    The thread that has the turn may call again: such a call runs at once.

    Args:
        work: Answers the items of a batch, one result each.
        size: The most items of a batch that is joined from several calls.
    """

    def __init__(self, work: Callable[[K, Sequence[T]], Sequence[R]], size: int) -> None:
        self._work = work
        self._size = size
        self._torn = False
        self._reset()
        _DISPATCHERS.add(self)

    def _reset(self) -> None:
        self._mutex = threading.Lock()  # guards what follows; never held while a driver works
        self._queue: deque[Waiting[K, T, R]] = deque()
        self._busy = False
        self._owner: int | None = None
        self._batch: list[Waiting[K, T, R]] = []
        self._server: ThreadPoolExecutor | None = None

    @property
    def torn(self) -> bool:
        """Whether this process was forked while another thread was using the drivers."""
        return self._torn

    @property
    def abandoned(self) -> bool:
        """Whether this thread runs a batch for which nobody waits any more."""
        batch = self._batch
        return bool(batch) and self._owner == threading.get_ident() and all(call.done.cancelled() for call in batch)

    def call(self, key: K, items: Sequence[T]) -> Sequence[R]:
        """Have items answered in this or another call's batch; return when that is done.

        Raises:
            RunError: If this process was forked while another thread was using the drivers.
        """
        self._refuse_torn()
        if self._owner == threading.get_ident():
            return self._work(key, items)
        call: Waiting[K, T, R] = Waiting(key, items)
        with self._mutex:
            self._queue.append(call)
            if not self._busy:
                self._busy = call.leads = True
        try:
            self._wait(call)
        except BaseException:
            self._withdraw(call)
            raise
        return call.done.result()

    def submit(self, key: K, items: Sequence[T]) -> Future[list[R]]:
        """Queue items from an event loop; ``start`` has to follow. Cancelling the result frees its place.

        Raises:
            RunError: If this process was forked while another thread was using the drivers.
        """
        self._refuse_torn()
        call: Waiting[K, T, R] = Waiting(key, items, wake=None)
        with self._mutex:
            self._queue.append(call)
        return call.done

    def start(self) -> None:
        """Begin with the queue, in the dispatcher's own thread, unless a batch is running."""
        with self._mutex:
            if self._busy or not self._queue:
                return
            self._busy = True
        self._serve()

    @contextlib.contextmanager
    def turn(self) -> Iterator[None]:
        """Keep the drivers to this thread.

        Raises:
            RunError: If this process was forked while another thread was using the drivers.
        """
        self._refuse_torn()
        if self._owner == threading.get_ident():
            yield
            return
        call: Waiting[K, T, R] = Waiting(None, ())
        with self._mutex:
            if self._busy:
                self._queue.append(call)
            else:
                self._busy = call.leads = True
        try:
            while not call.leads:
                _sleep(call)
        except BaseException:
            self._withdraw(call)
            raise
        self._owner = threading.get_ident()
        try:
            yield
        finally:
            self._pass_on()

    def stop(self) -> None:
        """End the dispatcher's own thread; the next call from an event loop starts it again."""
        with self._mutex:
            server, self._server = self._server, None
        if server is not None:
            server.shutdown(wait=False)

    def _wait(self, call: Waiting[K, T, R]) -> None:
        """Wait for the results of a call, and run batches while it is this thread's turn."""
        while not call.done.done():
            if call.leads:
                self._lead(call)
            else:
                _sleep(call)

    def _lead(self, own: Waiting[K, T, R] | None) -> None:
        """Run one batch, then hand the turn on.

        Args:
            own: The call of this thread; None in the dispatcher's own thread.
        """
        self._owner = threading.get_ident()
        taken: list[Waiting[K, T, R]] = []
        try:
            taken = self._take()
            self._answer(taken)
        except BaseException as error:
            self._leave([call for call in taken if call is not own and not call.done.done()], own, error)
            if own is not None:
                raise
        finally:
            if own is not None:
                own.leads = False
            self._pass_on()

    def _take(self) -> list[Waiting[K, T, R]]:
        """Take the first call out of the queue, and all calls that fit into its batch."""
        with self._mutex:
            self._drop_finished()
            if not self._queue or self._queue[0].key is None:
                return []  # the call that was to run next was cancelled
            taken = [self._queue.popleft()]
            count = len(taken[0].items)
            left: deque[Waiting[K, T, R]] = deque()
            for call in self._queue:
                if call.key == taken[0].key and count + len(call.items) <= self._size:
                    taken.append(call)
                    count += len(call.items)
                else:
                    left.append(call)
            self._queue = left
            return taken

    def _answer(self, calls: Sequence[Waiting[K, T, R]]) -> None:
        """Run the calls as one batch; where that raises, each alone, so that each gets its own error."""
        if not calls or calls[0].key is None:
            return
        self._batch = list(calls)
        try:
            results = self._work(calls[0].key, [item for call in calls for item in call.items])
        except AbandonedError:
            return
        except Exception as error:  # noqa: BLE001 - whatever it is, it belongs to the callers
            if len(calls) == 1:
                _settle(calls[0], (), error)
                return
            for call in calls:
                if not call.done.done():
                    self._answer([call])
            return
        at = 0
        for call in calls:
            _settle(call, results[at : at + len(call.items)])
            at += len(call.items)

    def _leave(self, calls: Sequence[Waiting[K, T, R]], own: Waiting[K, T, R] | None, error: BaseException) -> None:
        """Put the others' calls back where this thread is interrupted; fail them where no thread would try again."""
        if own is not None:
            with self._mutex:
                self._queue.extendleft(reversed(calls))
            return
        failure = RunError(f"the batch was interrupted by {type(error).__name__}: {error}; ask again")
        failure.__cause__ = error
        for call in calls:
            _settle(call, (), failure)

    def _pass_on(self) -> None:
        """Hand the turn to the first waiting call."""
        with self._mutex:
            self._owner = None
            self._batch = []
            self._drop_finished()
            if not self._queue:
                self._busy = False
                return
            first = self._queue[0]
            if first.key is None:
                self._queue.popleft()
            if first.wake is not None:
                first.leads = True
                first.wake.set()
                return
        self._serve()

    def _serve(self) -> None:
        """Run a batch in the dispatcher's own thread, always the same, since drivers may keep connections by thread."""
        with self._mutex:
            if self._server is None:
                self._server = ThreadPoolExecutor(1, "srtk-session")
            self._server.submit(self._lead, None)

    def _withdraw(self, call: Waiting[K, T, R]) -> None:
        """Take back a call whose thread was interrupted."""
        with self._mutex:
            call.done.cancel()
            self._drop_finished()
            leads = call.leads
        if leads:
            self._pass_on()

    def _drop_finished(self) -> None:
        """Free the places of cancelled calls."""
        if any(call.done.done() for call in self._queue):
            self._queue = deque(call for call in self._queue if not call.done.done())

    def _refuse_torn(self) -> None:
        if self._torn:
            raise RunError(
                "this process was forked while another thread was using the session; open a session of its own here"
            )

    def after_fork(self) -> None:
        """Free the locks in a forked child, whose only thread is the forking thread.

        Other threads of the parent wait for calls that are not for the child. A batch that they were running stays
        half done here, and may hold locks of its drivers, so that the child must not use these.
        """
        self._torn = self._torn or self._owner not in (None, threading.get_ident())
        self._reset()


class Abandonment(Observer):
    """Ends a batch before its next hook call once all of its callers have cancelled.

    It has to be the first of the observers, so that each of the others sees an end for every beginning.
    """

    def __init__(self) -> None:
        self.dispatcher: Dispatcher[Any, Any, Any] | None = None

    def before(self, call: Call) -> None:
        """Raise where nobody waits for the batch any more."""
        if self.dispatcher is not None and self.dispatcher.abandoned:
            raise AbandonedError


def _sleep(call: Waiting[Any, Any, Any]) -> None:
    """Wait until a call has its results, or the turn."""
    if call.wake is not None:
        call.wake.wait()
        call.wake.clear()


def _settle(call: Waiting[Any, Any, R], results: Sequence[R], error: BaseException | None = None) -> None:
    with contextlib.suppress(InvalidStateError):  # the caller has cancelled meanwhile
        if error is None:
            call.done.set_result(list(results))
        else:
            call.done.set_exception(error)


_DISPATCHERS: weakref.WeakSet[Dispatcher[Any, Any, Any]] = weakref.WeakSet()


def _after_fork() -> None:
    for dispatcher in list(_DISPATCHERS):
        dispatcher.after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
