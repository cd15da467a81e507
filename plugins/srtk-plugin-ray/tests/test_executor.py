from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from srtk_plugin_ray.executor import RayExecutor

from srtk_framework.cli import main
from srtk_framework.recipe import from_data
from srtk_framework.run import Runner
from srtk_framework.testing.executor import ExecutorConformance

ray = pytest.importorskip("ray")


@pytest.fixture(scope="module", autouse=True)
def cluster() -> Iterator[None]:
    """Keep one cluster for all tests of the file: each start takes seconds."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    ray.init(num_cpus=8, include_dashboard=False, logging_level="ERROR", log_to_driver=False)
    yield
    ray.shutdown()


class TestRayExecutor(ExecutorConformance):
    name = "ray"

    @pytest.fixture
    def driver(self) -> Iterator[RayExecutor]:
        executor = RayExecutor(workers=2)
        executor.open()
        yield executor
        executor.close()


def test_a_closed_executor_leaves_no_thread_that_waits_for_an_actor() -> None:
    executor = RayExecutor(workers=2)
    executor.open()
    with pytest.raises(TypeError):
        list(executor.map(time.sleep, ["no number", 600]))
    executor.close()
    for thread in threading.enumerate():
        if thread.name.startswith("srtk-place"):
            thread.join(20)
            assert not thread.is_alive()


def test_two_actors_leave_the_files_of_one_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # The cluster was started elsewhere.
    facts = "".join(
        f"town{i}\tlies in\tcountry{i % 3}\ncountry{i % 3}\tborders\tcountry{(i + 1) % 3}\n" for i in range(9)
    )
    tmp_path.joinpath("facts.tsv").write_text(facts)
    rows = [{"id": f"q{i}", "question": f"Which country borders that of town{i}?"} for i in range(20)]
    tmp_path.joinpath("q.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert main(["graph", "build", str(tmp_path / "facts.tsv"), "--out", str(tmp_path / "graph")]) == 0

    def journals(place: str, **more: object) -> list[bytes]:
        recipe = {
            "srtk": 1,
            "questions": str(tmp_path / "q.jsonl"),
            "output": str(tmp_path / place),
            "knowledge_graph": {"use": "local", "path": "graph"},
            "entity_linker": "dictionary",
            "expander": {"use": "bfs", "depth": 2},
            "batch": 2,
            **more,
        }
        run = Runner(from_data(recipe)).run()
        assert run.finished == 20
        return [file.read_bytes() for file in sorted((tmp_path / place / "journal").glob("*.jsonl"))]

    assert journals("spread", executor={"use": "ray", "workers": 2}) == journals("alone")


def test_two_actors_mine_and_rank_for_a_training_as_one_process(tmp_path: Path) -> None:
    facts = [
        *([f"p{n}", "born_in", f"town{n % 7}"] for n in range(70)),
        *([f"p{n}", "nationality", f"land{n % 7 % 3}"] for n in range(70)),
        *([f"town{n}", "city_of", f"land{n % 3}"] for n in range(7)),
    ]

    def trained(place: str, **more: object) -> list[object]:
        recipe = {
            "srtk": 1,
            "output": str(tmp_path / place),
            "knowledge_graph": {"use": "memory", "triples": facts},
            "completer": "path-walk",
            "train": {"driver": "completer", "held_out": {"share": 0.2}, "fit": {"least": 1}},
            **more,
        }
        found = Runner(from_data(recipe), train_only=True).run().stages["train"]
        return [found.figures, (found.model / "walks.json").read_bytes()]

    assert trained("spread", executor={"use": "ray", "workers": 2}) == trained("alone")
