"""A run of a recipe: session, pipeline, runner, journal, manifest."""

from __future__ import annotations

from srtk_framework.run.manifest import COMPLETE
from srtk_framework.run.runner import Outcome, Runner
from srtk_framework.run.session import Session, open_session

__all__ = [
    "COMPLETE",
    "Outcome",
    "Runner",
    "Session",
    "open_session",
]
