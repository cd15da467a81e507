"""The spacy detector keeps the contract of a mention detector, with a real model."""

from __future__ import annotations

import pytest
from srtk_plugin_spacy.detector import SpacyDetector

from srtk_framework.testing import MentionDetectorConformance


class TestSpacy(MentionDetectorConformance):
    name = "spacy"
    mention = "Berlin"

    @pytest.fixture
    def driver(self, english: SpacyDetector) -> SpacyDetector:
        return english

    @pytest.fixture
    def faulty(self) -> SpacyDetector:
        return SpacyDetector(model="no_such_model")
