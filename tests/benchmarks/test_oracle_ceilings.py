"""The ceilings of the expanders on a few real questions: what an oracle makes them find."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
DATA = Path(os.environ.get("SRTK_DATA", ROOT.parent / "shared" / "data"))


@pytest.fixture(scope="module")
def figures(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Measure forty questions of three hops."""
    if not (DATA / "pathquestion").is_dir():
        pytest.skip("no pathquestion in the data folder; set SRTK_DATA")
    out = tmp_path_factory.mktemp("ceilings")
    script = [sys.executable, "-m", "benchmarks.search.oracle_ceilings", "--limit", "40", "--only", "pathquestion-3"]
    methods = ["beam", "rerank", "structgpt", "tog", "bfs"]
    command = [*script, "--out", str(out), "--methods", *methods]
    environment = {**os.environ, "SRTK_DATA": str(DATA)}
    subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    [result] = json.loads((out / "ceilings.json").read_text(encoding="utf-8"))
    found: dict[str, Any] = result["figures"]
    return found


@pytest.mark.parametrize(
    "method", ["beam, width 1", "beam, width 10", "rerank", "structgpt, revisit", "tog, revisit, no limits", "bfs"]
)
def test_an_expander_that_may_go_everywhere_finds_every_gold_triple(figures: dict[str, Any], method: str) -> None:
    assert figures[method]["questions"] == 40
    assert figures[method]["answer_recall"]["mean"] == 1.0
    assert figures[method]["triple_recall"]["mean"] == 1.0


@pytest.mark.parametrize("method", ["structgpt", "tog, no limits"])
def test_a_search_that_does_not_come_back_misses_some(figures: dict[str, Any], method: str) -> None:
    assert 0.5 < figures[method]["answer_recall"]["mean"] < 0.95
    assert figures[method]["cut"]["back"] > 0


@pytest.mark.parametrize("method", ["beam, width 1", "rerank"])
def test_a_perfect_choice_of_whole_paths_has_nothing_but_gold_triples(figures: dict[str, Any], method: str) -> None:
    assert figures[method]["triple_precision"]["mean"] == 1.0


def test_without_a_choice_precision_is_that_of_the_neighbourhood(figures: dict[str, Any]) -> None:
    assert figures["bfs"]["triple_precision"]["mean"] < 0.2
