"""The benchmarks say what they skip."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_without_data_a_benchmark_is_skipped_with_its_reason(tmp_path: Path) -> None:
    command = [
        sys.executable,
        "benchmarks/run.py",
        "--only",
        "metaqa",
        "pathquestion",
        "encoder",
        "--out",
        str(tmp_path),
    ]
    environment = {**os.environ, "SRTK_DATA": str(tmp_path / "none")}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    assert "encoder-share: skipped, no metaqa/2-hop/qa_dev.txt" in done.stdout
    found = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))["benchmarks"]
    assert len(found) > 10
    assert all("SRTK_DATA" in result["skipped"] and result["command"] for result in found.values())


def test_without_data_the_benchmark_of_linkers_is_skipped_with_its_reason(tmp_path: Path) -> None:
    environment = {**os.environ, "SRTK_DATA": str(tmp_path / "none")}
    command = [sys.executable, "benchmarks/linking.py"]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    assert "skipped: no entity_linking" in done.stderr
