"""The random expander: its draws depend on seed and question alone, and follow the weights of links."""

from __future__ import annotations

from typing import Any

import pytest
from srtk_plugin_baselines.random_triples import RandomExpander

from srtk_framework.values import Budget, Link, Question

memory = pytest.importorskip("srtk_plugin_local.memory", reason="srtk-plugin-local is not installed")


def expand(triples: Any, *links: Link, id_: str = "q", **settings: Any) -> Any:
    graph = memory.MemoryGraph(triples=triples)
    graph.open()
    expander = RandomExpander(graph, Budget(), **settings)
    expander.open()
    return expander.expand([Question(id_, "?", links)])[0]


def test_random_depends_on_seed_and_question_alone() -> None:
    triples = [("a", "r", f"b{i}") for i in range(30)]
    one = expand(triples, Link("a"))
    assert one == expand(triples, Link("a"))
    assert one.triples != expand(triples, Link("a"), seed=1).triples
    assert one.triples != expand(triples, Link("a"), id_="other").triples
    assert list(one.scores) == sorted(one.scores, reverse=True)


def test_random_draws_each_triple_first_about_equally_often() -> None:
    triples = [("a", "r", f"b{i}") for i in range(4)]
    firsts = [expand(triples, Link("a"), seed=seed).triples[0].object for seed in range(400)]
    assert all(60 <= firsts.count(f"b{i}") <= 140 for i in range(4))


def test_random_draws_by_the_weights_of_links() -> None:
    triples = [("a", "r", "x"), ("b", "r", "y")]
    links = (Link("a", 0.25), Link("b", 0.75))
    firsts = [expand(triples, *links, seed=seed).triples[0].subject for seed in range(400)]
    assert 60 <= firsts.count("a") <= 140
