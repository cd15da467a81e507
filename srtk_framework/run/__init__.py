"""A run of a recipe: session, pipeline, runner, journal, manifest."""

from __future__ import annotations

from srtk_framework.run.graph_source import Graph, cache_folder, data_files
from srtk_framework.run.manifest import COMPLETE
from srtk_framework.run.result import Result
from srtk_framework.run.retriever import Retriever, ask
from srtk_framework.run.runner import Outcome, Runner
from srtk_framework.run.session import Session, open_session

__all__ = [
    "COMPLETE",
    "Graph",
    "Outcome",
    "Result",
    "Retriever",
    "Runner",
    "Session",
    "ask",
    "cache_folder",
    "data_files",
    "open_session",
]
