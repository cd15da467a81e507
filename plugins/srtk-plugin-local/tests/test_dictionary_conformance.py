"""The dictionary linker against the conformance kit."""

from __future__ import annotations

import pytest
from srtk_plugin_local.dictionary.linker import DictionaryLinker

from srtk_framework.testing import EntityLinkerConformance, OracleGraph


class TestDictionaryLinker(EntityLinkerConformance):
    name = "dictionary"

    @pytest.fixture
    def driver(self, graph: OracleGraph) -> DictionaryLinker:
        return DictionaryLinker(graph)
