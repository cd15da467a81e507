"""The order of nodes: which triples find room under a budget, and their scores."""

import math

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from srtk_plugin_local.memory import MemoryGraph
from srtk_plugin_sr.node_mass import facts_by_node

from srtk_framework.graph import facts
from srtk_framework.roles import GraphView
from srtk_framework.values import Budget, RankedPath, RatedTriples, Step, Triple

# Three players of two clubs in one town; each has a number.
FACTS = [
    *([f"p{i}", "plays for", club] for i, club in enumerate(["c0", "c0", "c1"])),
    *([f"p{i}", "born in", "town"] for i in range(3)),
    *([f"p{i}", "number", f"n{i}"] for i in range(3)),
    ["c0", "seat", "town"],
]
BORN, CLUB, NUMBER = Step("born in", inverse=True), Step("plays for"), Step("number")


def path(*steps, score):
    return RankedPath("town", steps, score)


def read(facts, paths, **limits):
    graph = MemoryGraph(triples=facts)
    graph.open()
    return facts_by_node(graph, [paths], Budget(**limits), [{}], [{}])[0]


def test_one_instance_for_each_end_comes_before_further_instances():
    found = read(FACTS, [path(BORN, CLUB, score=0.0)], triples=4)
    assert [tuple(triple) for triple in found.triples] == [
        ("p0", "born in", "town"),
        ("p0", "plays for", "c0"),
        ("p2", "born in", "town"),
        ("p2", "plays for", "c1"),
    ]
    assert found.trace["cut"] == {"triples": 2}


def test_a_node_has_the_mass_of_all_paths_that_end_in_it():
    # Each path has half of the mass; c0 ends the second alone, and is one of two ends of the first.
    found = read(FACTS, [path(BORN, CLUB, score=0.0), path(Step("seat", inverse=True), score=0.0)], triples=3)
    first, second = math.log(0.5 / math.sqrt(2) + 0.5), math.log(0.5 / math.sqrt(2))
    assert [triple.object for triple in found.triples[:2]] == ["town", "c0"]
    assert found.scores[0] == pytest.approx(first, abs=1e-3)
    whole = read(FACTS, [path(BORN, CLUB, score=0.0), path(Step("seat", inverse=True), score=0.0)], triples=30)
    assert dict(zip(whole.triples, whole.scores, strict=True))["p2", "plays for", "c1"] == pytest.approx(
        second, abs=1e-3
    )


@attrs.define(eq=False)
class Doubtful(GraphView):
    """A graph in which some triples are not certain."""

    confidences: dict[Triple, float]

    def triples(self, frontiers, steps, limit):
        return [RatedTriples(row, self.confidences) for row in self.graph.triples(frontiers, steps, limit)]


def read_doubtful(facts, confidences, paths, **limits):
    graph = MemoryGraph(triples=facts)
    graph.open()
    return facts_by_node(Doubtful(graph, confidences), [paths], Budget(**limits), [{}], [{}])[0]


def test_ends_that_are_not_certain_take_no_mass_from_the_others():
    stored = [["town", "near", "z"], ["town", "on", "river"]]
    guesses = [["town", "near", f"a{i}"] for i in range(8)]
    confidences = {Triple(*fact): (i + 1) / 100 for i, fact in enumerate(guesses)}
    paths = [path(Step("near"), score=0.3), path(Step("on"), score=0.0)]
    found = read_doubtful([*stored, *guesses], confidences, paths, triples=5)
    certain = read(stored, paths, triples=5)
    assert [triple.object for triple in found.triples] == ["z", "river", "a7", "a6", "a5"]
    assert found.triples[:2] == certain.triples
    # The sum of the confidences is the number of ends that is expected: 1.36.
    [best] = certain.scores[:1]
    assert found.scores[0] == pytest.approx(best - math.log(1.36) / 2, abs=1e-3)


def test_a_node_is_read_along_the_surer_of_two_paths():
    facts = [["town", "near", "x"], ["town", "on", "x"]]
    found = read_doubtful(
        facts, {Triple("town", "near", "x"): 0.5}, [path(Step("near"), score=1.0), path(Step("on"), score=0.0)]
    )
    assert found.triples[0] == Triple("town", "on", "x")


def test_a_path_with_many_ends_leaves_room_for_others():
    many = [["hub", "near", f"n{i}"] for i in range(40)]
    paths = [RankedPath("hub", (Step("near"),), 3.0), RankedPath("hub", (Step("name"),), 0.0)]
    found = read([*many, ["hub", "name", "x"]], paths, triples=10)
    assert ("hub", "name", "x") in found.triples
    assert len(found.triples) == 10
    assert found.trace["cut"] == {"triples": 31}


def test_a_mirror_image_comes_after_what_joins_other_nodes():
    mirrored = [*FACTS, *([object_, f"{relation} of", subject] for subject, relation, object_ in FACTS[:3])]
    paths = [path(BORN, CLUB, score=0.0), path(BORN, Step("plays for of", inverse=True), score=0.0)]
    found = read(mirrored, paths, triples=6)
    assert not any(triple.relation == "plays for of" for triple in found.triples)


def test_paths_beyond_the_mass_are_not_read():
    paths = [path(BORN, score=math.log(0.9)), path(BORN, NUMBER, score=math.log(0.1))]
    found = read(FACTS, paths, triples=20, mass=0.8)
    assert {triple.relation for triple in found.triples} == {"born in"}
    assert found.trace["cut"] == {"mass": 1}


def test_without_a_budget_every_triple_of_the_paths_is_read():
    paths = [path(BORN, CLUB, score=0.0), path(BORN, NUMBER, score=-1.0)]
    found = read(FACTS, paths, triples=None)
    graph = MemoryGraph(triples=FACTS)
    graph.open()
    assert set(found.triples) == set(facts(graph, [paths], Budget(triples=None))[0].triples)


@given(scores=st.lists(st.floats(-900, 900), min_size=3, max_size=3), most=st.none() | st.integers(1, 12))
def test_scores_never_rise_and_every_prefix_is_connected(scores, most):
    steps = [(BORN,), (BORN, CLUB), (BORN, NUMBER)]
    ranked = sorted((path(*row, score=score) for row, score in zip(steps, scores, strict=True)), key=lambda p: -p.score)
    found = read(FACTS, ranked, triples=most)
    assert list(found.scores) == sorted(found.scores, reverse=True)
    assert all(math.isfinite(score) for score in found.scores)
    reached = {"town"}
    for triple in found.triples:
        assert triple.subject in reached or triple.object in reached
        reached |= {triple.subject, triple.object}
    assert len(found.triples) <= (most or 10)
