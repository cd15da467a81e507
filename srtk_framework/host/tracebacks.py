"""An observer that keeps the first exception of each driver, with its traceback."""

from __future__ import annotations

import threading
import traceback
from collections.abc import Mapping
from typing import Any

import attrs

from srtk_framework.host.observers import Call, Observer
from srtk_framework.values import DriverError, redacted


@attrs.define
class Tracebacks(Observer):
    """Keeps the first exception that each driver raised.

    An exception that passes through several drivers, such as a scorer's through the expander that holds the scorer,
    is kept for the driver that raised it.

    Attributes:
        table: ``role:driver`` to the lines of the traceback, which begins at the driver's hook.
    """

    table: dict[str, list[str]] = attrs.field(factory=dict, init=False)
    _lock: Any = attrs.field(factory=threading.Lock, init=False, repr=False)

    def after(self, call: Call, error: BaseException | None) -> None:
        """Keep the exception, unless it comes from another driver or is not the first."""
        if error is None or (isinstance(error, DriverError) and error.driver not in ("", call.driver)):
            return
        with self._lock:
            key = f"{call.role}:{call.driver}"
            if key not in self.table:
                self.table[key] = lines_of(error)

    def add(self, table: Mapping[str, list[str]]) -> None:
        """Add the tracebacks of another process, for drivers that have none yet."""
        with self._lock:
            self.table = {**table, **self.table}


def lines_of(error: BaseException) -> list[str]:
    """Format an exception with its causes, without secrets and without pluggy's frames above the driver."""
    frame = error.__traceback__
    while frame is not None and str(frame.tb_frame.f_globals.get("__name__", "")).split(".")[0] == "pluggy":
        frame = frame.tb_next
    return redacted("".join(traceback.format_exception(type(error), error, frame))).splitlines()
