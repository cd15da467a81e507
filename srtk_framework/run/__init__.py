"""A run of a recipe: session, pipeline, runner, journal, manifest."""

from __future__ import annotations

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
    "is_follower",
    "journal_file",
    "looks_like_file",
    "open_session",
    "result_of",
    "write_page",
]
