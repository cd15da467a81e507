"""A graph with arrays gives the subgraphs that its hooks give, whatever the limits."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from srtk_plugin_baselines.bfs import BfsExpander
from srtk_plugin_baselines.ppr import PprExpander
from srtk_plugin_baselines.random_triples import RandomExpander

from srtk_framework.values import Budget, Link, Question

graphs = pytest.importorskip("srtk_plugin_local.snapshot.graph", reason="srtk-plugin-local is not installed")

KINDS = [BfsExpander, PprExpander, RandomExpander]


class Hooks(graphs.LocalGraph):  # type: ignore[misc,name-defined]
    """The same graph, read by its hooks alone."""

    def arrays(self) -> None:
        """Have no arrays."""


@pytest.fixture(scope="module", params=range(3))
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A graph with hubs, loops, parallel edges, literals and a noise relation."""
    from srtk_plugin_local.snapshot.build import build
    from srtk_plugin_local.snapshot.build_settings import BuildSettings

    draw, path = random.Random(request.param), tmp_path_factory.mktemp("graph")
    rows = set()
    for _ in range(400):
        start, end = f"n{int(60 * draw.random() ** 3)}", f"n{int(60 * draw.random() ** 2)}"
        rows.add((start, f"r{draw.randrange(4)}", '"value"' if draw.random() < 0.1 else end))
    (path / "triples.tsv").write_text("".join("\t".join(row) + "\n" for row in sorted(rows)), encoding="utf-8")
    settings = BuildSettings(files=(str(path / "triples.tsv"),), literals="quoted", noise=("r3",))
    return build(settings, path / "snapshot").folder


def asked(draw: random.Random) -> Question:
    """Ask about up to three nodes, some of which the graph lacks, with weights that tie or differ."""
    links = [Link(f"n{draw.randrange(66)}", draw.choice([1.0, 0.5, 0.5, 0.0])) for _ in range(draw.randrange(4))]
    return Question(f"q{draw.random()}", "?", tuple(links))


@pytest.mark.parametrize("kind", KINDS)
def test_arrays_give_the_subgraphs_of_the_hooks(folder: Path, kind: Any) -> None:
    draw = random.Random(0)
    both = Hooks(str(folder)), graphs.LocalGraph(str(folder))
    for graph in both:
        graph.open()
    for _ in range(60):
        budget = Budget(
            triples=draw.choice([None, 1, 20, 100]),
            hub=draw.choice([None, 1, 3, 8]),
            nodes=draw.choice([None, 2, 10]),
            mass=draw.choice([None, None, 0.5]),
        )
        settings: dict[str, Any] = {"depth": draw.randrange(1, 4), "inverse": draw.random() < 0.7}
        if kind is not BfsExpander:
            settings["most_read"] = draw.choice([None, 5, 90])
        questions = [asked(draw) for _ in range(4)]
        by_hooks, by_arrays = (kind(graph, budget, **settings).expand(questions) for graph in both)
        assert by_arrays == by_hooks, (budget, settings, questions)
