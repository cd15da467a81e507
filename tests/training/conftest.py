"""A scorer that learns by counting, and supervision from gold paths, installed as a distribution."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

LEARNERS = '''
"""Drivers that learn and supervise, without any model."""
from __future__ import annotations
import json
import attrs
from srtk_framework.graph.path_facts import facts
from srtk_framework.roles import TrainingTask, Expander, KnowledgeGraph, PathScorer, Supervision
from srtk_framework.values import Budget, RankedPath, Step

@attrs.frozen
class Settings:
    """How it counts.

    Attributes:
        least: Examples that a relation needs.
        inverse: As the expander.
    """
    least: int = attrs.field(default=1, validator=attrs.validators.ge(1))
    inverse: bool | None = attrs.field(default=None, metadata={"as": "expander"})

@attrs.define(eq=False)
class Counter(PathScorer):
    """Knows the relations that it has seen."""
    known: list[str] = attrs.field(init=False, factory=list)
    fits: list[Settings] = attrs.field(init=False, factory=list)
    def score(self, questions, paths, candidates):
        return [[1.0 if step.relation in self.known else 0.0 for step in row] for row in candidates]
    def fit(self, task: TrainingTask, settings: Settings):
        self.fits.append(settings)
        counts = {}
        for example in task.examples:
            for path in example.paths:
                for step in path.steps:
                    counts[step.relation] = counts.get(step.relation, 0) + 1
        self.known = sorted(name for name, count in counts.items() if count >= settings.least)
        (task.folder / "checkpoints").mkdir(exist_ok=True)
        return dict(task.validate()) if task.validate else {"seen": len(self.known)}
    def save(self, folder):
        folder.mkdir()
        (folder / "known.json").write_text(json.dumps(self.known))
    def load(self, folder):
        self.known = json.loads((folder / "known.json").read_text())
    def fingerprint(self):
        return f"counter({self.known})"

@attrs.define(eq=False)
class Walk(Expander):
    """Reads the steps that score."""
    graph: KnowledgeGraph
    scorer: PathScorer
    budget: Budget
    inverse: bool = True
    def expand(self, questions):
        paths = []
        for q in questions:
            starts = self.graph.frontiers([[link.entity] for link in q.links])
            rows = self.graph.steps(starts, self.inverse)
            scores = self.scorer.score([q.text] * len(rows), [()] * len(rows), rows)
            paths.append([RankedPath(link.entity, (step,), value) for link, row, values in zip(q.links, rows, scores)
                          for step, value in zip(row, values) if value > 0])
        return facts(self.graph, paths, self.budget)

@attrs.define(eq=False)
class Stay(Expander):
    """Goes nowhere."""
    graph: KnowledgeGraph
    budget: Budget
    def expand(self, questions):
        return facts(self.graph, [[] for _ in questions], self.budget)

@attrs.define(eq=False)
class Gold(Supervision):
    """Takes the gold paths."""
    graph: KnowledgeGraph
    def supervise(self, questions):
        return [[RankedPath(link.entity, path, 1.0) for link in q.links for path in q.gold_paths or ()]
                for q in questions]
'''


@pytest.fixture
def learners(toys: Path, install: Callable[..., Path]) -> None:
    """Install the drivers for the length of a test."""
    entries = {
        "path_scorer": {"counter": "Counter"},
        "expander": {"walk": "Walk", "stay": "Stay"},
        "supervision": {"gold": "Gold"},
    }
    install("srtk-plugin-learners", "srtk_learners", LEARNERS, entries)
