"""The executor of processes on this machine."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from srtk_framework.run.processes import Processes
from srtk_framework.testing.executor import ExecutorConformance


class TestProcesses(ExecutorConformance):
    name = "processes"

    @pytest.fixture
    def driver(self) -> Iterator[Processes]:
        executor = Processes(workers=2)
        executor.open()
        yield executor
        executor.close()
