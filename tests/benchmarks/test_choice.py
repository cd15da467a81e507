"""The benchmark of the choice of the path: what it writes."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from srtk_plugin_sr import path_choice
from srtk_plugin_sr.path_features import FEATURES

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


def module(name: str, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    for folder in (BENCHMARKS, BENCHMARKS / "answers"):
        monkeypatch.syspath_prepend(str(folder))
    return importlib.import_module(name)


def test_the_weights_name_the_halves_that_they_are_fitted_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shipped, file = path_choice.SHIPPED, tmp_path / "path_choice.json"
    monkeypatch.setattr(path_choice, "SHIPPED", file)
    module("choice", monkeypatch).write(np.zeros(len(FEATURES)))
    [written, packed] = (json.loads(one.read_text())["fitted on"] for one in (file, shipped))
    assert written == packed
    assert "demo-1" in written
