"""Observers of the hook calls of all drivers and of the events of the runner; they change nothing."""

from __future__ import annotations

import json
import logging
import threading
import time
import weakref
from collections.abc import Iterable, Mapping
from typing import IO, Any

import attrs

from srtk_framework.values import console, redacted

_log = logging.getLogger(__name__)


@attrs.frozen
class Call:
    """One call of one hook.

    Attributes:
        role: Role of the driver.
        driver: Its name.
        method: The hook.
        items: Size of the batch.
    """

    role: str
    driver: str
    method: str
    items: int


class Observer:
    """Base class of observers; override the events of interest. Entry-point group ``srtk.observer``.

    An error in ``open`` stops the session before any work. A later error of an observer
    is logged once, as a warning; the observer is left out from then on, and the run goes on.
    """

    def open(self) -> None:
        """Start watching; called before the first event."""

    def close(self) -> None:
        """Stop watching; called after the last event, also after an error."""

    def before(self, call: Call) -> None:
        """A hook is about to be called."""

    def after(self, call: Call, error: BaseException | None) -> None:
        """A hook has returned, or raised ``error``."""

    def event(self, name: str, data: Mapping[str, Any]) -> None:
        """Take note of a stage; ``data`` has names and counts.

        A session has the stages ``opening`` (of a driver) and ``opened``; a run has ``resumed``, ``method``,
        ``batch``, ``done``, and at its end ``complete`` or ``stopped``.
        """


_LEFT_OUT: set[int] = set()
"""Observers that raised, by their identity."""


def leave_out(observer: Observer, method: str, error: Exception) -> None:
    """Warn once that an observer raised; it gets no further events."""
    if id(observer) in _LEFT_OUT:
        return
    _LEFT_OUT.add(id(observer))
    weakref.finalize(observer, _LEFT_OUT.discard, id(observer))
    reason = redacted(f"{type(error).__name__}: {error}")
    _log.warning("the observer %s failed in %s, and is left out: %s", type(observer).__name__, method, reason)


def notify(observers: Iterable[Observer], name: str, data: Mapping[str, Any]) -> None:
    """Pass an event to observers; an observer that raises is left out."""
    for observer in observers:
        if id(observer) not in _LEFT_OUT:
            try:
                observer.event(name, data)
            except Exception as error:  # noqa: BLE001 - an observer's error is its own
                leave_out(observer, "event", error)


def watches_calls(observer: Observer) -> bool:
    """Return whether an observer takes note of hook calls, and not of events alone."""
    return type(observer).before is not Observer.before or type(observer).after is not Observer.after


def close_observer(observer: Observer) -> None:
    """Close an observer, also if it was left out."""
    try:
        observer.close()
    except Exception as error:  # noqa: BLE001 - an observer's error is its own
        leave_out(observer, "close", error)
    _LEFT_OUT.discard(id(observer))


class _OpenCalls(threading.local):
    """The unfinished calls of each thread, outermost first."""

    def __init__(self) -> None:
        self.stack: list[Any] = []


@attrs.define
class Timing(Observer):
    """Counts calls, items and seconds of every driver; ``own`` seconds exclude nested calls."""

    table: dict[str, dict[str, float]] = attrs.field(factory=dict, init=False)
    _calls: _OpenCalls = attrs.field(factory=_OpenCalls, init=False, repr=False)
    _lock: Any = attrs.field(factory=threading.Lock, init=False, repr=False)

    def before(self, call: Call) -> None:
        """Start the clock of a call."""
        self._calls.stack.append([time.perf_counter(), 0.0])

    def after(self, call: Call, error: BaseException | None) -> None:
        """Stop the clock and add the time to the driver's."""
        stack = self._calls.stack
        start, nested = stack.pop()
        seconds = time.perf_counter() - start
        if stack:
            stack[-1][1] += seconds
        with self._lock:
            row = self.table.setdefault(
                f"{call.role}:{call.driver}.{call.method}", {"calls": 0, "items": 0, "seconds": 0.0, "own": 0.0}
            )
            row["calls"] += 1
            row["items"] += call.items
            row["seconds"] += seconds
            row["own"] += seconds - nested

    def add(self, table: Mapping[str, Mapping[str, float]]) -> None:
        """Add the table of another process."""
        with self._lock:
            for hook, row in table.items():
                mine = self.table.setdefault(hook, dict.fromkeys(row, 0))
                for key, value in row.items():
                    mine[key] += value

    def take(self) -> dict[str, dict[str, float]]:
        """Return and reset the table."""
        with self._lock:
            taken, self.table = self.table, {}
        return dict(sorted(taken.items()))


@attrs.define
class Tracing(Observer):
    """Writes every hook call as one line of JSON.

    Attributes:
        path: File to write.
    """

    path: str
    _file: IO[str] | None = attrs.field(init=False, default=None, repr=False)
    _calls: _OpenCalls = attrs.field(init=False, factory=_OpenCalls, repr=False)
    _lock: Any = attrs.field(init=False, factory=threading.Lock, repr=False)

    def open(self) -> None:
        """Open the file."""
        from pathlib import Path

        Path(self.path).parent.mkdir(parents=True, exist_ok=True)
        self._file = open(self.path, "w", encoding="utf-8")  # noqa: SIM115 - closed in close()

    def close(self) -> None:
        """Close the file."""
        if self._file:
            self._file.close()

    def before(self, call: Call) -> None:
        """Store the start time of a call."""
        self._calls.stack.append(time.perf_counter())

    def after(self, call: Call, error: BaseException | None) -> None:
        """Write a line about the call."""
        starts = self._calls.stack
        seconds = time.perf_counter() - starts.pop()
        line = {**attrs.asdict(call), "depth": len(starts), "seconds": round(seconds, 6)}
        if error is not None:
            line["error"] = redacted(f"{type(error).__name__}: {error}")
        if self._file:
            with self._lock:
                self._file.write(json.dumps(line, ensure_ascii=False) + "\n")


@attrs.define
class Progress(Observer):
    """Shows on a terminal which driver is opened, and a bar for each method; nothing elsewhere."""

    _bar: Any = attrs.field(init=False, default=None, repr=False)
    _task: Any = attrs.field(init=False, default=None, repr=False)
    _opening: Any = attrs.field(init=False, default=None, repr=False)

    def open(self) -> None:
        """Start the display."""
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        columns = [
            TextColumn("{task.description}", style="bold", markup=False),
            BarColumn(bar_width=16),
            MofNCompleteColumn(),
            TextColumn("{task.fields[unit]}", markup=False),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[note]}", markup=False),
        ]
        screen = console(stderr=True)
        self._bar = Bar(*columns, console=screen, disable=not screen.is_terminal)
        self._bar.start()

    def close(self) -> None:
        """End the display."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def event(self, name: str, data: Mapping[str, Any]) -> None:
        """Move the bar."""
        if self._bar is None:
            return
        if name == "opening":
            if self._opening is None:
                self._opening = self._bar.add_task("opening", total=data["total"], unit="drivers", note="")
            note = f"{data['role']} {data['driver']}".replace("_", " ")
            self._bar.update(self._opening, completed=data["number"], note=note, refresh=True)
        elif name == "opened":
            if self._opening is not None:
                self._bar.remove_task(self._opening)
                self._opening = None
        elif name == "method":
            self._task = self._bar.add_task(
                data["name"], total=data["total"], completed=data["completed"], unit="questions", note="left"
            )
        elif name == "batch":
            note = f"left, {data['failed']} failed" if data["failed"] else "left"
            self._bar.update(self._task, completed=data["completed"], note=note)
        elif name == "done":
            self._bar.update(self._task, total=data["completed"], completed=data["completed"], note="")
