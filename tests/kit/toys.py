"""Shared fixtures: toy drivers, installed as a distribution of their own for the length of a test."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

TOYS = '''
"""Small drivers for the tests of the core."""
from __future__ import annotations
import attrs
from srtk_framework.values import DriverError
from srtk_framework.graph.path_facts import facts
from srtk_framework.roles import Encoder, EntityLinker, Expander, Exporter, KnowledgeGraph, PathScorer
from srtk_framework.values import Budget, Link, NodeSet, RankedPath, Step, Subgraph, Triple

@attrs.define
class Graph(KnowledgeGraph):
    """A few facts.

    Attributes:
        triples_: Facts as [s, r, o].
    """
    facts: list[list[str]] = attrs.field(factory=lambda: [
        ["paris", "capital_of", "france"], ["france", "currency", "euro"], ["rome", "capital_of", "italy"],
        ["italy", "currency", "euro"], ["lima", "capital_of", "peru"], ["peru", "currency", "sol"]])
    opened: list[str] = attrs.field(init=False, factory=list)
    def open(self):
        self.opened.append("open")
    def close(self):
        self.opened.append("close")
    def _read(self, node, step):
        return sorted(Triple(*t) for t in self.facts if t[1] == step.relation and t[2 if step.inverse else 0] == node)
    def frontiers(self, node_sets):
        known = {t[0] for t in self.facts} | {t[2] for t in self.facts}
        return [NodeSet(n for n in nodes if n in known) for nodes in node_sets]
    def steps(self, frontiers, inverse):
        return [sorted({Step(t[1]) for t in self.facts if t[0] in f.ids()}
                | {Step(t[1], True) for t in self.facts if inverse and t[2] in f.ids()}) for f in frontiers]
    def follow(self, frontiers, steps, limit):
        return [NodeSet(t.subject if s.inverse else t.object for n in f.ids() for t in self._read(n, s)[:limit])
                for f, s in zip(frontiers, steps)]
    def triples(self, frontiers, steps, limit):
        return [[t for n in f.ids() for t in self._read(n, s)[:limit]] for f, s in zip(frontiers, steps)]
    def labels(self, ids):
        return [i.replace("_", " ").title() for i in ids]
    def find(self, names):
        known = sorted({t[0] for t in self.facts} | {t[2] for t in self.facts})
        return [[k for k in known if k == n.lower()] for n in names]
    def source(self):
        return "toy"

@attrs.define
class View(KnowledgeGraph):
    """A graph that holds a graph."""
    graph: KnowledgeGraph
    helper: Encoder | None = None
    def frontiers(self, node_sets): return self.graph.frontiers(node_sets)
    def steps(self, frontiers, inverse): return self.graph.steps(frontiers, inverse)
    def follow(self, frontiers, steps, limit): return self.graph.follow(frontiers, steps, limit)
    def triples(self, frontiers, steps, limit): return self.graph.triples(frontiers, steps, limit)
    def labels(self, ids): return self.graph.labels(ids)
    def find(self, names): return self.graph.find(names)
    def source(self): return "view of " + self.graph.source()

@attrs.define
class Linker(EntityLinker):
    """Links words."""
    graph: KnowledgeGraph
    def link(self, texts):
        return [[Link(e, 1.0, t.lower().index(e), t.lower().index(e) + len(e)) for w in t.lower().rstrip("?").split()
                 for e in self.graph.find([w])[0]] for t in texts]

@attrs.define
class OneHop(Expander):
    """Reads one or two hops.

    Attributes:
        width: Unused number.
        poison: A text at which it fails.
    """
    graph: KnowledgeGraph
    budget: Budget
    width: int = 3
    poison: str = ""
    calls: list[int] = attrs.field(init=False, factory=list)
    def expand(self, questions):
        self.calls.append(len(questions))
        if self.poison and any(self.poison in q.text for q in questions):
            raise DriverError("poisoned; drink milk")
        paths = []
        for q in questions:
            found = []
            for link in q.links:
                start = self.graph.frontiers([[link.entity]])
                for step in self.graph.steps(start, True)[0]:
                    found.append(RankedPath(link.entity, (step,), -1.0))
            paths.append(found)
        return facts(self.graph, paths, self.budget)

@attrs.define
class Many(Expander):
    """Holds several linkers."""
    linkers: list[EntityLinker]
    graph: KnowledgeGraph
    def expand(self, questions):
        return [Subgraph() for _ in questions]

@attrs.define
class Lines(Exporter):
    """Writes ids.

    Attributes:
        path: File.
    """
    path: str
    lines: list[str] = attrs.field(init=False, factory=list)
    def write(self, retrievals):
        self.lines += [f"{r.question.id} {len(r.subgraph.triples)} {r.error or ''}" for r in retrievals]
        return len(retrievals)
    def abort(self):
        self.lines.clear()
        return True
    def close(self):
        with open(self.path, "w") as f:
            f.write("\\n".join(self.lines))

@attrs.define
class Vectors(Encoder):
    """Encodes length.

    Attributes:
        scale: Factor.
    """
    scale: float = 1.0
    def encode(self, texts):
        import numpy as np
        return np.array([[len(t) * self.scale] for t in texts], dtype=np.float32).reshape(len(texts), 1)

@attrs.define
class Scorer(PathScorer):
    """Scores by length."""
    encoder: Encoder
    def score(self, questions, paths, candidates):
        return [[0.0 for _ in row] for row in candidates]

class Undecorated(Encoder):
    def encode(self, texts): return None

@attrs.define
class Misspelt(Graph):
    def neighborhood(self, frontiers, hops, budget): return []

@attrs.define
class Loose(Encoder):
    def encode(self, texts=()): return None

@attrs.define
class Incomplete(Encoder):
    pass
'''

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
    learns = "paths"
    several_graphs = True
    sources: list[str] = attrs.field(init=False, factory=list)
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
        for one in task.elsewhere:
            self.sources.append(one.graph.source())
            for example in one.examples:
                for path in example.paths:
                    starts = one.graph.frontiers([[path.entity]])
                    if path.steps[0] in one.graph.steps(starts, True)[0]:
                        counts[path.steps[0].relation] = counts.get(path.steps[0].relation, 0) + 1
        self.known = sorted(name for name, count in counts.items() if count >= settings.least)
        (task.folder / "checkpoints").mkdir(exist_ok=True)
        figures = dict(task.validate()) if task.validate else {"seen": len(self.known)}
        if task.validate_topics:
            figures["of_several_topics"] = task.validate_topics()["answer_recall"]
        return figures
    def save(self, folder):
        folder.mkdir()
        (folder / "known.json").write_text(json.dumps(self.known))
    def load(self, folder):
        self.known = json.loads((folder / "known.json").read_text())
    def fingerprint(self):
        return f"counter({self.known})"

@attrs.define(eq=False)
class Homebody(Counter):
    """Learns from its own graph."""
    several_graphs = False

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

ENTRIES = {
    "knowledge_graph": {"toy": "Graph", "view": "View", "misspelt": "Misspelt"},
    "entity_linker": {"words": "Linker"},
    "expander": {"onehop": "OneHop", "many": "Many"},
    "exporter": {"lines": "Lines"},
    "encoder": {
        "vectors": "Vectors",
        "undecorated": "Undecorated",
        "loose": "Loose",
        "incomplete": "Incomplete",
        "absent": "Absent",
    },
    "path_scorer": {"lengths": "Scorer"},
}


def write_distribution(
    folder: Path,
    name: str,
    module: str,
    code: str,
    entries: dict[str, dict[str, str]],
    requires: tuple[str, ...] = ("srtk-framework>=0.1,<1",),
) -> None:
    """Lay out an installed distribution with one module."""
    (folder / f"{module}.py").write_text(code, encoding="utf-8")
    info = folder / f"{name.replace('-', '_')}-1.0.dist-info"
    info.mkdir(exist_ok=True)
    lines = ["Metadata-Version: 2.1", f"Name: {name}", "Version: 1.0", *(f"Requires-Dist: {r}" for r in requires)]
    (info / "METADATA").write_text("\n".join(lines) + "\n")
    text = "".join(
        f"[srtk.{role}]\n" + "".join(f"{key} = {module}:{cls}\n" for key, cls in row.items())
        for role, row in entries.items()
    )
    (info / "entry_points.txt").write_text(text)


@pytest.fixture
def install(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Install a distribution for the length of the test; returns its folder."""

    def do(name: str, module: str, code: str, entries: dict[str, dict[str, str]], **more: tuple[str, ...]) -> Path:
        folder = tmp_path_factory.mktemp(module)
        write_distribution(folder, name, module, code, entries, **more)
        monkeypatch.syspath_prepend(str(folder))
        monkeypatch.delitem(sys.modules, module, raising=False)
        return folder

    return do


@pytest.fixture
def toys(install: Callable[..., Path]) -> Iterator[Path]:
    """Install the toy drivers."""
    yield install("srtk-plugin-toys", "srtk_toys", TOYS, ENTRIES)
    sys.modules.pop("srtk_toys", None)


@pytest.fixture
def learners(toys: Path, install: Callable[..., Path]) -> None:
    """Install a scorer that learns by counting, and supervision from gold paths."""
    entries = {
        "path_scorer": {"counter": "Counter", "homebody": "Homebody"},
        "expander": {"walk": "Walk", "stay": "Stay"},
        "supervision": {"gold": "Gold"},
    }
    install("srtk-plugin-learners", "srtk_learners", LEARNERS, entries)
