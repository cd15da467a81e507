"""`make bench` says what it skips, and writes what it measures."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import run
from benchmarks.figures import KEPT_IN, load, record_figure, topics, write

ROOT = Path(__file__).parents[2]


def bench(*arguments: str, data: Path) -> str:
    """Run `make bench` with other data and return what it prints."""
    environment = {**os.environ, "SRTK_DATA": str(data)}
    command = [sys.executable, "-m", "benchmarks.run", *arguments]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True).stdout


def test_without_data_a_benchmark_is_skipped_with_its_reason_and_writes_nothing(tmp_path: Path) -> None:
    said = bench("--only", "zero-shot", "encoder", "--results", str(tmp_path), data=tmp_path / "none")
    assert "encoder-share: skipped, no metaqa/2-hop/qa_dev.txt" in said
    assert said.count("skipped, no ") > 10
    assert "SRTK_DATA" in said
    assert not list(tmp_path.iterdir())


def test_without_data_the_benchmark_of_linkers_is_skipped_with_its_reason(tmp_path: Path) -> None:
    environment = {**os.environ, "SRTK_DATA": str(tmp_path / "none")}
    command = [sys.executable, "-m", "benchmarks.linking.linking"]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    assert "skipped: no entity_linking" in done.stderr


def test_each_part_is_a_benchmark_and_has_a_measurement_to_write_to() -> None:
    for part in run.PARTS.values():
        assert (ROOT / "benchmarks" / f"{part.module.replace('.', '/')}.py").exists()
        assert part.topic in topics()
        ids = [found["id"] for found in load(part.topic)["measurements"]]
        assert part.measurement is None or part.measurement in ids


def test_what_a_benchmark_records_is_written_with_its_origin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(load("speed"), tmp_path)
    kept = tmp_path / "records.jsonl"
    monkeypatch.setenv(KEPT_IN, str(kept))
    record_figure("MetaQA, 2 hops", "beam", "CPU ms a question", 1.23456, 300, (1.0, 1.5))
    run.write(run.PARTS["encoder-share"], [json.loads(line) for line in kept.read_text().splitlines()], tmp_path)
    (found,) = (one for one in load("speed", tmp_path)["measurements"] if one["id"] == "encoder-share")
    first, *others = found["records"]
    assert first == {**first, "method": "beam", "metric": "CPU ms a question", "figure": 1.2346, "interval": [1.0, 1.5]}
    assert "run" not in first
    assert {one["run"] for one in others} == {1}
    assert found["runs"][0]["measured_at"] >= found["runs"][1]["measured_at"]
    assert found["runs"][0]["versions"]["numpy"]
    assert found["command"] == "OMP_NUM_THREADS=1 python -m benchmarks.speed.encoder_share"


def test_a_benchmark_by_itself_records_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(KEPT_IN, raising=False)
    monkeypatch.chdir(tmp_path)
    record_figure("demo", "beam", "answer recall", 0.5, 1)
    assert not list(tmp_path.iterdir())
