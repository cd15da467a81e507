"""What the baselines read around the links, in which order, and what they count as cut."""

from __future__ import annotations

from typing import Any

import pytest
from srtk_plugin_baselines.bfs import BfsExpander
from srtk_plugin_baselines.ppr import PprExpander
from srtk_plugin_baselines.random_triples import RandomExpander

from srtk_framework.values import Budget, Link, Question, Subgraph, Triple

memory = pytest.importorskip("srtk_plugin_local.memory", reason="srtk-plugin-local is not installed")

TRIPLES = [
    ("riga", "capital_of", "latvia"),
    ("riga", "located_in", "latvia"),
    ("latvia", "borders", "estonia"),
    ("latvia", "borders", "lithuania"),
    ("tallinn", "capital_of", "estonia"),
    ("latvia", "population", '"1900000"^^xsd:integer'),
    ("latvia", "see_also", "noise"),
]
EVERY = [BfsExpander, PprExpander, RandomExpander]
OPEN = Budget(nodes=None, hub=None)


def graph(triples: Any = TRIPLES, **settings: Any) -> Any:
    made = memory.MemoryGraph(triples=triples, **settings)
    made.open()
    return made


def star(leaves: int) -> Any:
    """A hub with many leaves, each with one leaf of its own."""
    return graph(
        [("hub", "has", f"leaf{i:03}") for i in range(leaves)]
        + [(f"leaf{i:03}", "has", f"tip{i:03}") for i in range(leaves)]
    )


def ask(expander: Any, *entities: str | tuple[str, float], id_: str = "q") -> Subgraph:
    links = tuple(Link(entity) if isinstance(entity, str) else Link(*entity) for entity in entities)
    expander.open()
    found: Subgraph = expander.expand([Question(id_, "?", links)])[0]
    return found


def test_bfs_orders_a_hop_by_start_then_step_then_end() -> None:
    found = ask(BfsExpander(graph(), OPEN), "latvia")
    near = [triple for triple, score in zip(found.triples, found.scores, strict=True) if score == 1.0]
    assert [tuple(triple) for triple in near] == [
        ("latvia", "borders", "estonia"),
        ("latvia", "borders", "lithuania"),
        ("riga", "capital_of", "latvia"),
        ("riga", "located_in", "latvia"),
        ("latvia", "population", '"1900000"^^xsd:integer'),
        ("latvia", "see_also", "noise"),
    ]
    assert found.triples[len(near) :] == (Triple("tallinn", "capital_of", "estonia"),)
    assert found.scores[-1] == 0.5


def test_bfs_puts_the_stronger_link_first_within_a_hop_but_no_hop_before_a_nearer_one() -> None:
    chain = graph([("a", "r", "b"), ("b", "r", "c"), ("x", "r", "y"), ("y", "r", "z")])
    found = ask(BfsExpander(chain, OPEN), ("a", 0.3), ("x", 0.7))
    assert [triple.subject for triple in found.triples] == ["x", "a", "y", "b"]
    assert list(found.scores) == sorted(found.scores, reverse=True)


@pytest.mark.parametrize("kind", EVERY)
def test_noise_is_left_out(kind: Any) -> None:
    found = ask(kind(graph(noise=["see_*"]), OPEN), "latvia")
    assert len(found.triples) == len(TRIPLES) - 1
    assert "see_also" not in {triple.relation for triple in found.triples}


@pytest.mark.parametrize("kind", EVERY)
def test_without_inverse_only_the_relations_direction_is_walked(kind: Any) -> None:
    found = ask(kind(graph(), OPEN, inverse=False), "riga")
    assert {triple.subject for triple in found.triples} == {"riga", "latvia"}


@pytest.mark.parametrize("kind", EVERY)
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_depth_bounds_the_neighbourhood(kind: Any, depth: int) -> None:
    line = graph([(f"n{i}", "next", f"n{i + 1}") for i in range(6)])
    found = ask(kind(line, OPEN, depth=depth), "n0")
    assert {triple.subject for triple in found.triples} == {f"n{i}" for i in range(depth)}
    assert found.trace["hops"] == depth


@pytest.mark.parametrize("kind", EVERY)
def test_paths_are_none_and_every_triple_says_so(kind: Any) -> None:
    found = ask(kind(graph(), OPEN), "riga")
    assert found.paths == ()
    assert found.path_of == (-1,) * len(found.triples)
    assert len(found.provenance) == len(found.qualifiers) == len(found.triples)


@pytest.mark.parametrize("kind", EVERY)
def test_a_hub_gives_no_more_than_its_limit_and_the_rest_is_counted(kind: Any) -> None:
    found = ask(kind(star(50), Budget(hub=20, nodes=None), depth=1), "hub")
    assert sorted(triple.object for triple in found.triples) == [f"leaf{i:03}" for i in range(20)]
    assert found.trace["cut"] == {"hub": 30}


@pytest.mark.parametrize("kind", EVERY)
def test_a_hop_continues_from_no_more_nodes_than_the_limit_and_the_rest_is_counted(kind: Any) -> None:
    found = ask(kind(star(50), Budget(hub=None, nodes=7)), "hub")
    assert sorted(t.object for t in found.triples if t.subject != "hub") == [f"tip{i:03}" for i in range(7)]
    assert found.trace["cut"] == {"nodes": 43}


@pytest.mark.parametrize("kind", EVERY)
def test_the_budget_of_triples_holds_and_what_it_drops_is_counted(kind: Any) -> None:
    found = ask(kind(star(50), Budget(triples=9, hub=None, nodes=None)), "hub")
    assert len(found.triples) == 9
    assert found.trace["cut"]["triples"] > 0


@pytest.mark.parametrize("kind", EVERY)
def test_the_budget_of_tokens_holds_and_what_it_drops_is_counted(kind: Any) -> None:
    found = ask(kind(graph(), Budget(tokens=20)), "latvia")
    assert 0 < len(found.triples) < len(TRIPLES)
    assert found.trace["cut"]["tokens"] == len(TRIPLES) - len(found.triples)


def test_a_budget_that_just_holds_everything_counts_no_cut() -> None:
    found = ask(BfsExpander(graph(), Budget(triples=len(TRIPLES))), "latvia")
    assert len(found.triples) == len(TRIPLES)
    assert "cut" not in found.trace


def test_bfs_under_a_budget_is_the_beginning_of_bfs_without() -> None:
    whole = ask(BfsExpander(star(300), OPEN), "hub")
    for most in (1, 31, 300, 301, 333, 400):
        part = ask(BfsExpander(star(300), Budget(triples=most, hub=None, nodes=None)), "hub")
        assert part.triples == whole.triples[:most]
        assert part.trace["cut"]["triples"] > 0


@pytest.mark.parametrize("kind", [PprExpander, RandomExpander])
def test_no_more_than_most_read_is_looked_at_and_the_rest_is_counted(kind: Any) -> None:
    found = ask(kind(star(50), OPEN, most_read=60), "hub")
    assert len(found.triples) == 60
    assert found.trace["cut"]["read"] > 0


@pytest.mark.parametrize("kind", EVERY)
def test_a_question_without_link_gets_a_reason(kind: Any) -> None:
    found = ask(kind(graph(), OPEN))
    assert (found.triples, found.trace["reason"]) == ((), "the question has no link")


@pytest.mark.parametrize("kind", EVERY)
def test_unknown_entities_get_a_reason_and_do_not_hinder_known_ones(kind: Any) -> None:
    assert ask(kind(graph(), OPEN), "atlantis").trace["reason"] == "no linked entity is in the graph"
    found = ask(kind(graph(), OPEN), "atlantis", "riga")
    assert found.triples
    assert found.trace["unknown"] == 1


@pytest.mark.parametrize("kind", EVERY)
def test_a_question_gets_the_same_subgraph_alone_and_in_a_batch(kind: Any) -> None:
    expander = kind(star(40), Budget(triples=25, nodes=10, hub=30))
    questions = [Question(f"q{i}", "?", (Link(e),)) for i, e in enumerate(["hub", "leaf003", "no", "tip007", "hub"])]
    alone = [expander.expand([question])[0] for question in questions]
    assert expander.expand(questions) == alone


@pytest.mark.parametrize("kind", EVERY)
def test_a_depth_below_one_is_refused(kind: Any) -> None:
    with pytest.raises(ValueError, match="depth"):
        kind(graph(), depth=0)
