"""The benchmark of shared sessions counts batches, and compares results."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_eight_calls_at_once_make_one_batch_and_threads_get_the_results_of_serial_calls() -> None:
    command = [
        sys.executable,
        "-m",
        "benchmarks.speed.shared_session",
        "--seconds",
        "0.2",
        "--calls",
        "90",
        "--questions",
        "1000",
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    found = json.loads(done.stdout)
    assert found["waits"]["8 at once by aretrieve"]["scorer_calls"] == 1
    assert found["waits"]["one by retrieve"]["scorer_calls"] == 1
    assert found["equality"]["different"] == 0
    assert found["equality"]["overlapping_hook_calls"] == 0
    assert found["equality"]["hook_calls"] > 90
