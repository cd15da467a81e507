"""The benchmarks of the choice of the path, of probabilities and of the default search: what they write and refuse."""

from __future__ import annotations

import importlib
import json
import math
import pickle
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from srtk_plugin_sr import path_choice
from srtk_plugin_sr.path_features import FEATURES


@pytest.fixture(params=["choice", "probability"])
def fitting(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    return module(request.param, monkeypatch)


def module(name: str, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    return importlib.import_module(f"benchmarks.{'search' if name == 'defaults' else 'answers'}.{name}")


def kept(fitting: ModuleType) -> bytes:
    """Return what a benchmark keeps of two questions, which can be fitted to."""
    if fitting.__name__.endswith("probability"):
        return json.dumps([[[1.0] * len(fitting.NAMES), True], [[0.5] * len(fitting.NAMES), False]]).encode()
    features = np.random.default_rng(0).normal(size=(2, len(FEATURES)))
    return pickle.dumps([(features, np.array([0.0, 1.0]), False)] * 2)


@pytest.mark.parametrize(
    ("there", "said"),
    [
        ([], "lacking: demo-7, metaqa-1,"),
        (["lcquad"], "lacking: demo-7, metaqa-1,"),
        (["metaqa-1", "metaqa-2"], "beside metaqa: one of these sets is lacking: demo-7, pathquestion-2,"),
        (["lcquad", "metaqa-1"], None),
    ],
)
def test_sets_that_a_fit_lacks_are_named_before_the_report(
    fitting: ModuleType,
    there: list[str],
    said: str | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    ending = "json" if fitting.__name__.endswith("probability") else "pickle"
    for name in there:
        for half in ("choose", "report"):
            (tmp_path / f"{name}-{half}.{ending}").write_bytes(kept(fitting))
    monkeypatch.setattr(fitting, "FOLDER", tmp_path)
    monkeypatch.setattr(sys, "argv", ["benchmark", "--fit"])
    if hasattr(fitting, "PathsReader"):
        monkeypatch.setattr(fitting.PathsReader, "_evidence", fitting.PathsReader._evidence)
    assert fitting.main() == (0 if said is None else 1)
    told = capsys.readouterr()
    assert (said or "") in told.err
    assert ("| set |" in told.out) is (said is None)


def test_the_weights_name_the_halves_that_they_are_fitted_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shipped, file = path_choice.SHIPPED, tmp_path / "path_choice.json"
    monkeypatch.setattr(path_choice, "SHIPPED", file)
    module("choice", monkeypatch).write(np.zeros(len(FEATURES)))
    [written, packed] = (json.loads(one.read_text())["fitted on"] for one in (file, shipped))
    assert written == packed
    assert "demo-1" in written


@pytest.mark.parametrize(
    ("flags", "name"),
    [([], "codex-report"), (["--half", "choose"], "codex-choose"), (["--told"], "codex-report-told")],
)
def test_figures_of_the_default_search_have_their_half_in_the_name_and_null_for_no_time(
    flags: list[str], name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    defaults = module("defaults", monkeypatch)
    row = dict.fromkeys([*(f"at {cut}" for cut in defaults.CUTS), "precision", "triples", "tokens"], 1.0)
    monkeypatch.setattr(defaults, "OUT", tmp_path)
    monkeypatch.setattr(defaults, "shown", str)
    monkeypatch.setattr(defaults.depths, "prepare", lambda *_: None)
    monkeypatch.setattr(defaults, "measure", lambda *_: {"beam": ([row], 2.0), "bfs": ([row], math.inf)})
    monkeypatch.setattr(sys, "argv", ["defaults.py", "--only", "codex", *flags])
    assert defaults.main() == 0
    [file] = (tmp_path / "defaults").iterdir()
    assert file.stem == name
    assert "Infinity" not in file.read_text()
    assert {method: spent for method, (_, spent) in json.loads(file.read_text()).items()} == {"beam": 2.0, "bfs": None}
