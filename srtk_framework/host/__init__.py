"""Discovery, hooks, ports and observers of drivers."""

from __future__ import annotations

from srtk_framework.host.discovery import (
    OBSERVER,
    STAGE,
    distributions_of,
    find,
    known_names,
    load,
    role_class,
    role_names,
)
from srtk_framework.host.docstrings import meanings
from srtk_framework.host.module_source import module_file
from srtk_framework.host.observers import Call, Observer, Progress, Tracing, notify
from srtk_framework.host.ports import Port, driver_of, port
from srtk_framework.host.tracebacks import Tracebacks
from srtk_framework.host.versions import __version__, libraries

__all__ = [
    "OBSERVER",
    "STAGE",
    "Call",
    "Observer",
    "Port",
    "Progress",
    "Tracebacks",
    "Tracing",
    "__version__",
    "distributions_of",
    "driver_of",
    "find",
    "known_names",
    "libraries",
    "load",
    "meanings",
    "module_file",
    "notify",
    "port",
    "role_class",
    "role_names",
]
