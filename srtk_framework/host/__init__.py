"""Drivers found, loaded, watched and called: discovery, hooks, ports, observers."""

from __future__ import annotations

from srtk_framework.host.discovery import Plugin, find, load
from srtk_framework.host.observers import Call, Observer, Progress, Timing, Tracing, share_of_time
from srtk_framework.host.ports import KnowledgeGraphPort, port
from srtk_framework.host.versions import __version__

__all__ = [
    "Call",
    "KnowledgeGraphPort",
    "Observer",
    "Plugin",
    "Progress",
    "Timing",
    "Tracing",
    "__version__",
    "find",
    "load",
    "port",
    "share_of_time",
]
