"""A run of a recipe: session, pipeline, runner, journal, manifest."""

from __future__ import annotations

from srtk_framework.run.graph_source import Graph, data_files
from srtk_framework.run.journal import journal_file
from srtk_framework.run.manifest import COMPLETE
from srtk_framework.run.pipeline import Pipeline
from srtk_framework.run.recipe_schema import SchemaWriter
from srtk_framework.run.result import Result
from srtk_framework.run.retriever import Retriever, ask
from srtk_framework.run.runner import Run, Runner
from srtk_framework.run.session import Session, open_session
from srtk_framework.run.stages import StageHooks, is_follower

__all__ = [
    "COMPLETE",
    "Graph",
    "Pipeline",
    "Result",
    "Retriever",
    "Run",
    "Runner",
    "SchemaWriter",
    "Session",
    "StageHooks",
    "ask",
    "data_files",
    "is_follower",
    "journal_file",
    "open_session",
]
