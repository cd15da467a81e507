"""Counts of the service for Prometheus."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from litestar.types import Message, Scope
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest, multiprocess

from srtk_framework.host import Observer

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)


class Metrics(Observer):
    """Counts requests, and the batches that the session answers."""

    def __init__(self) -> None:
        # Several workers write into one folder, and each gives the sum.
        self._shared = bool(os.environ.get("PROMETHEUS_MULTIPROC_DIR"))
        self._registry = CollectorRegistry()
        to: dict[str, Any] = {"registry": self._registry}
        self.requests = Counter("srtk_requests", "Requests by path and status", ["path", "status"], **to)
        self.questions = Counter("srtk_questions", "Questions answered, by outcome", ["outcome"], **to)
        self.batches = Histogram("srtk_batch_seconds", "Seconds of a batch of questions", buckets=_SECONDS, **to)
        self.waiting = Gauge("srtk_waiting", "Calls that wait", multiprocess_mode="livesum", **to)

    def event(self, name: str, data: Mapping[str, Any]) -> None:
        """Count a batch."""
        if name == "answered":
            self.questions.labels("failed").inc(data["failed"])
            self.questions.labels("found").inc(data["questions"] - data["failed"])
            self.batches.observe(data["seconds"])
            self.waiting.set(data["waiting"])

    async def count(self, message: Message, scope: Scope) -> None:
        """Count a request whose answer begins."""
        if message["type"] == "http.response.start":
            handler = scope.get("route_handler")
            # The path of the route, not of the request: a stranger's paths would be labels without end.
            path = next(iter(sorted(handler.paths)), "") if handler is not None else ""
            self.requests.labels(path, str(message["status"])).inc()

    def text(self) -> bytes:
        """Return the counts in the text format of Prometheus."""
        registry = self._registry
        if self._shared:
            _forget_dead_workers(Path(os.environ["PROMETHEUS_MULTIPROC_DIR"]))
            registry = CollectorRegistry()
            multiprocess.MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
        return generate_latest(registry)


def _forget_dead_workers(folder: Path) -> None:
    """Delete what workers that were killed wrote of their present state; their counts stay in the sums."""
    for file in folder.glob("gauge_live*_*.db"):
        process = int(file.stem.rpartition("_")[2])
        if os.name == "posix" and not _runs(process):  # elsewhere the signal 0 is a real one
            multiprocess.mark_process_dead(process)  # type: ignore[no-untyped-call]


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except OSError:  # there is none, or another user's process has the number now
        return False
    return True
