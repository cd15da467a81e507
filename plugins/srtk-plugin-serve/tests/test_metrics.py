"""Counts of several workers, of which some have been killed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from srtk_plugin_serve.metrics import Metrics


@pytest.mark.skipif(os.name != "posix", reason="a process is looked for by a signal that Windows lacks")
def test_what_a_killed_worker_wrote_of_its_queue_is_forgotten_and_its_counts_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    names = {f"{kind}_{process}.db" for kind in ("gauge_livesum", "counter") for process in (gone.pid, os.getpid())}
    for name in names:
        (tmp_path / name).write_bytes((8).to_bytes(8, "little"))  # a file without values
    monkeypatch.setenv("PROMETHEUS_MULTIPROC_DIR", str(tmp_path))
    Metrics().text()
    assert {file.name for file in tmp_path.iterdir()} == names - {f"gauge_livesum_{gone.pid}.db"}
