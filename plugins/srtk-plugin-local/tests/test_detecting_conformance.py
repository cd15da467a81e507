"""The detectors of this plugin keep the contract of a mention detector."""

from __future__ import annotations

from pathlib import Path

import pytest
from srtk_plugin_local.detectors.capitals import CapitalsDetector
from srtk_plugin_local.detectors.names import NamesDetector
from srtk_plugin_local.detectors.ngrams import NgramDetector
from srtk_plugin_local.detectors.union import UnionDetector

from srtk_framework.testing import MentionDetectorConformance, OracleGraph


class TestCapitals(MentionDetectorConformance):
    name = "capitals"

    @pytest.fixture
    def driver(self) -> CapitalsDetector:
        return CapitalsDetector()


class TestNgrams(MentionDetectorConformance):
    name = "ngrams"

    @pytest.fixture
    def driver(self, graph: OracleGraph) -> NgramDetector:
        return NgramDetector(graph=graph)


class TestNames(MentionDetectorConformance):
    name = "names"

    @pytest.fixture
    def driver(self, tmp_path: Path) -> NamesDetector:
        (tmp_path / "names.txt").write_text("Riga\nOld Riga\n\nLast words\n", encoding="utf-8")
        detector = NamesDetector(str(tmp_path / "names.txt"))
        detector.open()
        return detector

    @pytest.fixture
    def faulty(self, tmp_path: Path) -> NamesDetector:
        return NamesDetector(str(tmp_path / "none.txt"))


class TestUnion(MentionDetectorConformance):
    name = "union"

    @pytest.fixture
    def driver(self, graph: OracleGraph) -> UnionDetector:
        return UnionDetector(detectors=[CapitalsDetector(), NgramDetector(graph=graph)])
