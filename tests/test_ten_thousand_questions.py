"""Many questions through a server that fails now and then: none is lost, and none has a smaller answer."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.loopback import servers
from benchmarks.reliability import faults as bench

ROOT = Path(__file__).parents[1]


pytestmark = pytest.mark.skipif(
    servers.oxigraph_binary() is None, reason="the oxigraph server is not installed (pip install oxigraph)"
)


@pytest.mark.parametrize(
    ("questions", "share", "faults"),
    [
        pytest.param(300, 0.2, 30, id="300 questions"),
        pytest.param(10_000, 0.05, 100, id="10,000 questions", marks=[pytest.mark.slow, pytest.mark.timeout(3000)]),
    ],
)
def test_random_faults_change_no_byte(tmp_path: Path, questions: int, share: float, faults: int) -> None:
    store, asked = bench.prepare("generated", tmp_path, questions, seed=1)
    outcome = bench.measure(store, asked, tmp_path, share, seed=1, batch=4)
    assert outcome.questions == questions
    assert outcome.failed == 0
    assert outcome.differing == []
    assert outcome.sha256[0] == outcome.sha256[1]
    assert outcome.triples > 5 * questions
    assert sum(outcome.faults.values()) >= faults
    assert len(outcome.faults) >= 9
