"""Counts the lines of Python that a call runs, which are the same in each run, as seconds are not."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest


@pytest.fixture
def lines_of() -> Callable[[Callable[[], Any]], int]:
    """Return the number of lines of Python that a call runs."""

    def counted(call: Callable[[], Any]) -> int:
        count = 0

        def trace(frame: Any, event: str, argument: Any) -> Any:
            nonlocal count
            count += event == "line"
            return trace

        before = sys.gettrace()
        sys.settrace(trace)
        try:
            call()
        finally:
            sys.settrace(before)
        return count

    return counted
