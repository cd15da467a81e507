"""A run of a recipe: session, pipeline, runner, journal, manifest."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from srtk_framework.run.batch_task import elsewhere
    from srtk_framework.run.default_drivers import default_encoder
    from srtk_framework.run.graph_source import Graph, cache_folder, data_files, looks_like_file
    from srtk_framework.run.journal import journal_file
    from srtk_framework.run.limits import Limits
    from srtk_framework.run.manifest import COMPLETE
    from srtk_framework.run.pipeline import Pipeline
    from srtk_framework.run.result import WIDTH, Result, aresult_of, result_of, write_page
    from srtk_framework.run.retriever import Retriever, ask
    from srtk_framework.run.runner import Run, Runner
    from srtk_framework.run.session import Session, open_session
    from srtk_framework.run.stages import StageHooks, is_follower

__all__ = [
    "COMPLETE",
    "WIDTH",
    "Graph",
    "Limits",
    "Pipeline",
    "Result",
    "Retriever",
    "Run",
    "Runner",
    "Session",
    "StageHooks",
    "aresult_of",
    "ask",
    "cache_folder",
    "data_files",
    "default_encoder",
    "elsewhere",
    "is_follower",
    "journal_file",
    "looks_like_file",
    "open_session",
    "result_of",
    "write_page",
]

# Files of the names. A file is imported when a name of it is first used: a program that imports ``Retriever`` starts at
# once, and loads drivers, recipes and graphs when it makes one.
_FILES = {
    "batch_task": ("elsewhere",),
    "default_drivers": ("default_encoder",),
    "graph_source": ("Graph", "cache_folder", "data_files", "looks_like_file"),
    "journal": ("journal_file",),
    "limits": ("Limits",),
    "manifest": ("COMPLETE",),
    "pipeline": ("Pipeline",),
    "result": ("WIDTH", "Result", "aresult_of", "result_of", "write_page"),
    "retriever": ("Retriever", "ask"),
    "runner": ("Run", "Runner"),
    "session": ("Session", "open_session"),
    "stages": ("StageHooks", "is_follower"),
}

if not TYPE_CHECKING:  # a type checker would take any name for a public one

    def __getattr__(name: str) -> Any:
        """Import a public name from its file when it is first used."""
        for file, names in _FILES.items():
            if name in names:
                globals()[name] = value = getattr(import_module(f"{__name__}.{file}"), name)
                return value
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
