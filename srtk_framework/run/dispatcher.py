"""Turns at the drivers of a session: one batch at a time, into which waiting calls are joined.

There is no dispatching thread. A call that finds the drivers idle runs at once, in its own thread. Calls that come
while a batch is running wait in a queue; when the batch ends, the first of them runs next and takes along the waiting
calls for the same work, up to the size of a batch. Calls from event loops and calls with a time limit run in a thread
of the dispatcher, so that their callers can leave at any time.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Hashable, Iterator, Sequence
from concurrent.futures import Future, InvalidStateError, ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeoutError
from typing import Any, Generic, Literal, TypeVar

import attrs

from srtk_framework.host.observers import Call, Observer
from srtk_framework.values import BusyError, LateError, RunError

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")
R = TypeVar("R")

_SLACK = 64
"""Entries of cancelled calls that a queue may keep: below it, clearing the queue up would cost more than it frees."""


class AbandonedError(BaseException):
    """Ends a batch whose callers have all cancelled; no driver may catch it, so it is no ``Exception``."""


@attrs.define(eq=False)
class Waiting(Generic[K, T, R]):
    """A call in the queue.

    Attributes:
        key: Calls are joined with others of the same key; None for a call that needs the drivers to itself.
        items: The call's part of a batch.
        done: Gets the results, one per item; the caller may cancel it at any time.
        wake: Set when the waiting thread has something to do; None for a call that the dispatcher's thread runs.
        queued: Whether it waits in the queue: nobody took it, and its caller has not cancelled it.
    """

    key: K | None
    items: Sequence[T]
    done: Future[list[R]] = attrs.field(factory=Future)
    wake: threading.Event | None = attrs.field(factory=threading.Event)
    queued: bool = False

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
        most: The most calls that may wait; None for no limit.
    """

    def __init__(self, work: Callable[[K, Sequence[T]], Sequence[R]], size: int, most: int | None = None) -> None:
        self._work = work
        self._size = size
        self._most = most
        self._torn = False
        self._pace = 0.0
        self._reset()
        _DISPATCHERS.add(self)

    def _reset(self) -> None:
        self._mutex = threading.Lock()  # guards the fields below; never held while a driver works
        self._order: deque[Waiting[K, T, R]] = deque()
        # The queue once more by key, so that a batch is joined without a look at the other calls.
        self._alike: dict[K, deque[Waiting[K, T, R]]] = {}
        self._waiting = 0
        # Who has the turn: a call of a thread, or the dispatcher's thread. One field, so that an interrupt finds it
        # either with the thread that it ends, which then passes it on, or handed over already.
        self._leader: Waiting[K, T, R] | Literal["server"] | None = None
        self._owner: int | None = None
        self._taken: list[Waiting[K, T, R]] = []
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

    @property
    def held(self) -> bool:
        """Whether this thread has the turn."""
        return self._owner == threading.get_ident()

    @property
    def waiting(self) -> int:
        """Calls in the queue."""
        return self._waiting

    @property
    def busy(self) -> bool:
        """Whether a call has the turn."""
        return self._leader is not None

    @property
    def delay(self) -> float:
        """Seconds after which the calls in the queue will be answered, by the pace of the batches so far."""
        return self._pace * max(1, self._waiting)

    def call(self, key: K, items: Sequence[T], seconds: float | None = None) -> Sequence[R]:
        """Have items answered in this or another call's batch; return when that is done.

        Raises:
            RunError: If this process was forked while another thread was using the drivers.
            BusyError: If too many calls wait.
            LateError: If ``seconds`` pass before the answer; the call then gives up its place.
        """
        self._refuse_torn()
        if self._owner == threading.get_ident():
            return self._work(key, items)
        if seconds is not None:
            done = self.submit(key, items)
            self.start()
            return self._in_time(done, seconds)
        call: Waiting[K, T, R] = Waiting(key, items)
        try:
            with self._mutex:
                self._enqueue(call)
                if self._leader is None:
                    self._leader = call
            self._wait(call)
        except BaseException:
            self._withdraw(call)
            raise
        return call.done.result()

    def submit(self, key: K, items: Sequence[T]) -> Future[list[R]]:
        """Queue items for the dispatcher's thread; ``start`` has to follow. Cancelling the result frees its place.

        Raises:
            RunError: If this process was forked while another thread was using the drivers.
            BusyError: If too many calls wait.
        """
        self._refuse_torn()
        call: Waiting[K, T, R] = Waiting(key, items, wake=None)
        with self._mutex:
            self._enqueue(call)
        call.done.add_done_callback(lambda _: self._left(call))
        return call.done

    def start(self) -> None:
        """Begin with the queue, in the dispatcher's own thread, unless a batch is running."""
        with self._mutex:
            if self._leader is not None or not self._waiting:
                return
            self._leader = "server"
        self._serve()

    @contextlib.contextmanager
    def turn(self) -> Iterator[None]:
        """Keep the drivers to this thread; not refused where many calls wait.

        Raises:
            RunError: If this process was forked while another thread was using the drivers.
        """
        self._refuse_torn()
        if self._owner == threading.get_ident():
            yield
            return
        call: Waiting[K, T, R] = Waiting(None, ())
        try:
            with self._mutex:
                if self._leader is None:
                    self._leader = call
                else:
                    self._enqueue(call, bounded=False)
            while self._leader is not call:
                _sleep(call)
            self._owner = threading.get_ident()
            yield
        finally:
            self._withdraw(call)

    def stop(self) -> None:
        """End the dispatcher's own thread; the next call that needs one starts another."""
        with self._mutex:
            server, self._server = self._server, None
        if server is not None:
            server.shutdown(wait=False)

    def _enqueue(self, call: Waiting[K, T, R], bounded: bool = True) -> None:
        """Put a call at the end of the queue; the mutex is held.

        Raises:
            BusyError: If too many calls wait.
        """
        if bounded and self._most is not None and self._waiting >= self._most:
            raise BusyError(f"{self._waiting:,} calls wait; ask again later", self.delay)
        self._place(call)

    def _place(self, call: Waiting[K, T, R], first: bool = False) -> None:
        lines = [self._order]
        if call.key is not None:
            lines.append(self._alike.setdefault(call.key, deque()))
        for line in lines:
            if first:
                line.appendleft(call)
            else:
                line.append(call)
        call.queued = True
        self._waiting += 1

    def _unplace(self, call: Waiting[K, T, R]) -> None:
        """Take a call out of the queue; its entries stay until they come first, or most entries are such."""
        if call.queued:
            call.queued = False
            self._waiting -= 1

    def _left(self, call: Waiting[K, T, R]) -> None:
        """Free the place of a cancelled call."""
        if not call.queued:
            return
        with self._mutex:
            self._unplace(call)
            self._clear_up()

    def _clear_up(self) -> None:
        """Forget the calls that are gone where they are the most; the mutex is held."""
        if len(self._order) <= 2 * self._waiting + _SLACK:
            return
        # A call that was put back stands in the queue twice.
        every = list(dict.fromkeys(call for call in self._order if call.queued))
        self._order.clear()
        self._alike.clear()
        self._waiting = 0
        for call in every:
            self._place(call)

    def _first(self) -> Waiting[K, T, R] | None:
        """Return the first waiting call, and forget the calls before it that are gone; the mutex is held."""
        while self._order:
            call = self._order[0]
            if call.queued and not call.done.done():
                return call
            self._unplace(call)
            self._order.popleft()
            self._shorten(call.key)
        return None

    def _shorten(self, key: K | None) -> None:
        """Forget the calls of a key that are gone, up to the first that waits."""
        line = None if key is None else self._alike.get(key)
        while line and not line[0].queued:
            line.popleft()
        if key is not None and line is not None and not line:
            del self._alike[key]

    def _in_time(self, done: Future[list[R]], seconds: float) -> Sequence[R]:
        """Wait for results.

        Raises:
            LateError: If the seconds pass first.
        """
        try:
            return done.result(min(seconds, threading.TIMEOUT_MAX))
        except FutureTimeoutError:
            if done.cancel():
                raise late() from None
            return done.result()  # it came, or failed, in this very moment
        except BaseException:
            done.cancel()
            raise

    def _wait(self, call: Waiting[K, T, R]) -> None:
        """Wait for the results of a call, and run batches while it is this thread's turn."""
        while not call.done.done():
            if self._leader is call:
                self._lead(call)
            else:
                _sleep(call)

    def _lead(self, own: Waiting[K, T, R] | None) -> None:
        """Run one batch, then hand the turn on.

        Args:
            own: The call of this thread; None in the dispatcher's own thread.
        """
        leader = "server" if own is None else own
        if self._leader is not leader:
            return  # its turn was passed on by the thread that asked for it
        self._taken = []
        try:
            self._owner = threading.get_ident()
            self._take()
            self._answer(self._taken)
        except BaseException as error:
            self._leave([call for call in self._taken if call is not own and not call.done.done()], own, error)
            if own is not None:
                raise
        finally:
            self._pass_on(leader)

    def _take(self) -> None:
        """Take the first call out of the queue, and the next calls of its key that fit into its batch."""
        with self._mutex:
            first = self._first()
            if first is None or first.key is None:
                return  # the call that was to run next was cancelled
            count = 0
            line = self._alike[first.key]
            while line:
                call = line[0]
                if call.queued and not call.done.done():
                    if self._taken and count + len(call.items) > self._size:
                        break
                    self._taken.append(call)  # before it leaves the queue: an interrupt loses no call
                    count += len(call.items)
                self._unplace(call)
                line.popleft()
            self._shorten(first.key)

    def _answer(self, calls: Sequence[Waiting[K, T, R]]) -> None:
        """Run the calls as one batch; where that raises, each alone, so that each gets its own error."""
        if not calls or calls[0].key is None:
            return
        self._batch = list(calls)
        began = time.monotonic()
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
        taken = (time.monotonic() - began) / len(calls)
        # The pace follows a change of load within some ten batches, and one slow batch does not set it alone.
        self._pace = taken if not self._pace else 0.8 * self._pace + 0.2 * taken
        at = 0
        for call in calls:
            _settle(call, results[at : at + len(call.items)])
            at += len(call.items)

    def _leave(self, calls: Sequence[Waiting[K, T, R]], own: Waiting[K, T, R] | None, error: BaseException) -> None:
        """Put the others' calls back where this thread is interrupted; fail them where no thread would try again."""
        if own is not None:
            with self._mutex:
                for call in reversed(calls):
                    self._place(call, first=True)
            return
        failure = RunError(f"the batch was interrupted by {type(error).__name__}: {error}; ask again")
        failure.__cause__ = error
        for call in calls:
            _settle(call, (), failure)

    def _pass_on(self, leader: Waiting[K, T, R] | Literal["server"]) -> None:
        """Hand the turn of a leader to the first waiting call; wake the next leader where that was done."""
        with self._mutex:
            if self._leader is leader:
                self._owner = None
                self._batch = []
                first = self._first()
                if first is not None and first.key is None:
                    self._unplace(first)
                    self._order.popleft()
                self._leader = first if first is None or first.wake is not None else "server"
            following = self._leader
            if isinstance(following, Waiting) and following.wake is not None:
                following.wake.set()
        if following == "server":
            self._serve()

    def _serve(self) -> None:
        """Run a batch in the dispatcher's own thread, always the same, since drivers may keep connections by thread."""
        with self._mutex:
            if self._server is None:
                self._server = ThreadPoolExecutor(1, "srtk-session")
            self._server.submit(self._lead, None)

    def _withdraw(self, call: Waiting[K, T, R]) -> None:
        """Take back a call whose thread ends its turn, or was interrupted."""
        call.done.cancel()
        with self._mutex:
            self._unplace(call)
            self._clear_up()
        self._pass_on(call)

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
        self._dispatcher: Callable[[], Dispatcher[Any, Any, Any] | None] = lambda: None

    def watch(self, dispatcher: Dispatcher[Any, Any, Any]) -> None:
        """Watch the batches of a dispatcher, which this observer does not keep alive."""
        self._dispatcher = weakref.ref(dispatcher)

    def before(self, call: Call) -> None:
        """Raise where nobody waits for the batch any more."""
        dispatcher = self._dispatcher()
        if dispatcher is not None and dispatcher.abandoned:
            raise AbandonedError


def late() -> LateError:
    """Return the error of a call that was not answered in time."""
    return LateError("no answer within the time limit; allow more time, or ask when less is waiting")


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
