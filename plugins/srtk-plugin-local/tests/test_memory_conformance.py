"""The memory graph against the conformance kit."""

from __future__ import annotations

import pytest
from srtk_plugin_local.memory import MemoryGraph

from srtk_framework.testing import KnowledgeGraphConformance
from srtk_framework.testing.sample import Sample


class TestMemoryGraph(KnowledgeGraphConformance):
    name = "memory"

    @pytest.fixture
    def driver(self, sample: Sample) -> MemoryGraph:
        return MemoryGraph(
            triples=sample.triples,
            labels=sample.labels,
            aliases=sample.aliases,
            qualifiers=[(*triple, *pair) for triple, pairs in sample.qualifiers.items() for pair in pairs],
            noise=["code"],
        )
