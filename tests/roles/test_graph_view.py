"""The base class of views."""

from __future__ import annotations

from typing import Any

import pytest

from srtk_framework.roles import GraphView, KnowledgeGraph
from srtk_framework.roles.base import hook_names
from srtk_framework.testing import OracleGraph
from srtk_framework.values import Budget, Pattern, Step, Triple

CALLS: dict[str, tuple[Any, ...]] = {
    "frontiers": ([["Latvia"]],),
    "steps": ("frontiers", True),
    "follow": ("frontiers", [Step("capital")], None),
    "triples": ("frontiers", [Step("capital")], None),
    "match": ([Pattern("Latvia")],),
    "neighbourhood": ("frontiers", 2, Budget()),
    "paths": ([["Latvia"]], [["Riga"]], 2, Budget(), True, True),
    "labels": (["Latvia"],),
    "other_names": (["Latvia"],),
    "own_ids": (["<Latvia>", "Riga"], False),
    "find": (["latvia"],),
    "near_names": (["latvja"], 3, True),
    "known_words": (["latvia"],),
    "degrees": (["Latvia"],),
    "qualifiers": ([Triple("Latvia", "capital", "Riga")],),
    "origins": ([Triple("Latvia", "capital", "Riga")],),
    "schema": (),
    "source": (),
}


@pytest.mark.parametrize("name", sorted(hook_names(KnowledgeGraph)))
def test_a_view_answers_as_its_graph_does(name: str) -> None:
    graph = OracleGraph()
    graph.open()
    frontiers = graph.frontiers([["Latvia"]])
    arguments = [frontiers if value == "frontiers" else value for value in CALLS[name]]

    def answer(driver: KnowledgeGraph) -> Any:
        found = getattr(driver, name)(*arguments)
        return [part.ids() for part in found] if name in ("frontiers", "follow") else found

    assert answer(GraphView(graph)) == answer(graph)
