"""Engines: their caps, and the limits that hold where the settings give none."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from srtk_framework.values import DriverError, close_matches


@attrs.frozen
class Profile:
    """Facts about an engine.

    Attributes:
        per_second: Requests a second; None for no limit.
        at_once: Requests in flight.
        rows: Rows of an answer at most, or None where no cap is usual.
        page: Rows asked for at a time.
        nodes: Most nodes named in one query.
        broken: Texts in a body that tell of a query stopped midway.
    """

    per_second: float | None
    at_once: int
    rows: int | None = None
    page: int = 10000
    nodes: int = 256
    broken: tuple[str, ...] = ()


AUTO = "auto"
"""Stands for the engine that a server says it is."""

PROFILES: Mapping[str, Profile] = {
    AUTO: Profile(per_second=5.0, at_once=2, nodes=128),
    "blazegraph": Profile(per_second=5.0, at_once=1, nodes=200, broken=("java.util.concurrent.TimeoutException",)),
    "qlever": Profile(per_second=5.0, at_once=2, nodes=500),
    "virtuoso": Profile(per_second=10.0, at_once=4, rows=10000, page=5000, nodes=100),
    "oxigraph": Profile(per_second=None, at_once=4, nodes=500),
}


def profile(engine: str) -> Profile:
    """Return the profile of an engine by its name.

    Raises:
        DriverError: If there is none of this name.
    """
    if engine not in PROFILES:
        known = sorted(PROFILES)
        raise DriverError(f"engine {engine!r} is not known; choose {', '.join(known)}.{close_matches(engine, known)}")
    return PROFILES[engine]
