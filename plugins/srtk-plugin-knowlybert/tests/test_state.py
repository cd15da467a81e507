"""The folder of a trained completer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from srtk_plugin_knowlybert.soft_prior import SoftPrior
from srtk_plugin_knowlybert.state import State, tokenizer_hash
from srtk_plugin_knowlybert.templates import Template, read_templates

from srtk_framework.testing.mask_filler import ToyMaskFiller


@pytest.mark.parametrize("threshold", [None, -1.5])
@pytest.mark.parametrize("prior", [None, SoftPrior(np.arange(11.0), 0.25)])
def test_what_is_saved_is_read_back(tmp_path: Path, threshold: float | None, prior: Any) -> None:
    filler = ToyMaskFiller(vocabulary=("a",))
    filler.open()
    templates = {"r": (Template("{subject} z {object}"), Template("{object} a {subject}"))}
    state = State(templates, threshold, prior, tokenizer_hash(filler))
    state.save(tmp_path)
    again = State.read(tmp_path, filler)
    assert again.to_json() == state.to_json()
    assert (again.threshold, again.templates) == (threshold, templates)
    assert (again.prior is None) == (prior is None)
    assert read_templates(tmp_path / "templates.json") == templates
