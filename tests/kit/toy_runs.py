"""Runs of the toy drivers of tests/conftest.py."""

from __future__ import annotations

from srtk_framework.host.observers import Observer
from srtk_framework.recipe.recipe import from_data
from srtk_framework.run.runner import Runner

TEXTS = [f"what about {w} {i}?" for i in range(4) for w in ("paris", "rome", "lima", "nowhere")]


class StopAfter(Observer):
    """Stops a runner after some batches."""

    def __init__(self, batches):
        self.left, self.runner = batches, None

    def event(self, name, data):
        if name == "batch":
            self.left -= 1
            if not self.left:
                self.runner.stop()


def data(tmp_path, questions, **more):
    return {
        "srtk": 1,
        "questions": str(questions),
        "output": str(tmp_path / "run"),
        "knowledge_graph": "toy",
        "entity_linker": "words",
        "expander": "onehop",
        "exporters": [{"use": "lines", "path": str(tmp_path / "lines.txt")}],
        **more,
    }


def run(recipe, resume=False, observers=(), fresh=False):
    return Runner(from_data(recipe), resume, observers, fresh=fresh).run()


def journal(tmp_path):
    return (tmp_path / "run" / "journal" / "onehop.jsonl").read_bytes()
