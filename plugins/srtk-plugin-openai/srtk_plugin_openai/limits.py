"""Limits of a client towards a server of the OpenAI protocol."""

from __future__ import annotations

from typing import ClassVar

import attrs
from srtk_plugin_web import Limits

from srtk_framework.values import positive


@attrs.frozen
class ServerLimits(Limits):
    """Limits towards one server; how many requests are in flight is the generator's setting `workers`.

    Attributes:
        per_second: Requests begun per second, averaged over time; null for no limit.
        attempts: Requests sent for one prompt before it fails, without throttled requests.
        failures: Consecutive failures that open the breaker; all requests then wait.
        pause: Seconds for which the breaker stays open, before one request goes ahead as a trial.
    """

    polite: ClassVar[float | None] = None

    burst: int = attrs.field(default=8, validator=positive)
    at_once: int | None = attrs.field(init=False, default=None)
    deadline: float = attrs.field(default=120.0, validator=positive)
    attempts: int = attrs.field(default=6, validator=positive)
    patience: float = attrs.field(default=600.0, validator=positive)
    failures: int = attrs.field(default=12, validator=positive)
    pause: float = attrs.field(default=5.0, validator=positive)

    def with_workers(self, workers: int) -> Limits:
        """Return the limits for so many requests in flight."""
        return _WorkerLimits(**{**attrs.asdict(self), "at_once": workers})


@attrs.frozen
class _WorkerLimits(Limits):
    """The same with requests in flight."""

    polite: ClassVar[float | None] = None
