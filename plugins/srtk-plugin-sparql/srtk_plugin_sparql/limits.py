"""Limits of a client towards a SPARQL endpoint."""

from __future__ import annotations

from typing import ClassVar

import attrs
from srtk_plugin_web import Limits

from srtk_framework.values import positive


@attrs.frozen
class SparqlLimits(Limits):
    """Limits towards one endpoint; null takes the value of the engine's profile.

    Attributes:
        per_second: Requests begun per second, averaged over time; null for no limit on this machine or in a private
            network.
        rows: Most rows that the server returns; an answer with as many counts as cut.
        page: Rows requested at a time where a node has very many neighbours.
    """

    polite: ClassVar[float | None] = None

    at_once: int | None = attrs.field(default=None, validator=positive)
    attempts: int = attrs.field(default=6, validator=positive)
    patience: float = attrs.field(default=600.0, validator=positive)
    failures: int = attrs.field(default=20, validator=positive)
    pause: float = attrs.field(default=60.0, validator=positive)
    answer_bytes: int = attrs.field(default=1 << 28, validator=positive)
    rows: int | None = attrs.field(default=None, validator=positive)
    page: int | None = attrs.field(default=None, validator=positive)
