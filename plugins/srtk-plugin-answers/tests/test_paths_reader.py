"""The ``paths`` reader: answers from paths and operations, with what proves them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import attrs
import pytest
from srtk_plugin_answers.reader import PathsReader

from srtk_framework.roles import KnowledgeGraph, PathScorer
from srtk_framework.testing import ReaderConformance


@attrs.define(eq=False)
class Named(PathScorer):
    """Prefers relations that the question names."""

    def score(self, questions: Any, paths: Any, candidates: Any) -> Any:
        return [[float(step.relation in text) for step in row] for text, row in zip(questions, candidates, strict=True)]


class TestPathsReader(ReaderConformance):
    name = "paths"

    @pytest.fixture
    def driver(self, graph: KnowledgeGraph) -> Iterator[PathsReader]:
        reader = PathsReader(graph, Named())
        reader.open()
        yield reader
        reader.close()
