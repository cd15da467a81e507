"""Engines: their caps, and the limits that hold where the settings give none."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from srtk_framework.values import DriverError, close_matches


@attrs.frozen
class Profile:
    """Facts about an engine.

    Texts in ``broken`` are in the body of a query that was stopped midway. An engine with ``late_exists`` tests EXISTS
    after all other patterns of its group. None is no limit.
    """

    per_second: float | None
    at_once: int
    rows: int | None = None
    page: int = 10000
    nodes: int = 256
    broken: tuple[str, ...] = ()
    late_exists: bool = False


AUTO = "auto"  # Stands for the engine that a server says it is

PROFILES: Mapping[str, Profile] = {
    AUTO: Profile(per_second=5.0, at_once=2, nodes=128),
    # Wikidata allows 60 s of processing a minute
    "blazegraph": Profile(per_second=5.0, at_once=1, nodes=200, broken=("java.util.concurrent.TimeoutException",)),
    "qlever": Profile(per_second=5.0, at_once=2, nodes=500),
    # 10,000 rows is its usual cap; a page must stay below
    "virtuoso": Profile(per_second=10.0, at_once=4, rows=10000, page=5000, nodes=100),
    "oxigraph": Profile(per_second=None, at_once=4, nodes=500, late_exists=True),  # a local server
}


def profile(engine: str) -> Profile:
    """Return the profile of an engine by its name."""
    if engine not in PROFILES:
        known = sorted(PROFILES)
        raise DriverError(f"engine {engine!r} is not known; choose {', '.join(known)}.{close_matches(engine, known)}")
    return PROFILES[engine]
