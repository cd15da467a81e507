from __future__ import annotations

import math

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from srtk_framework.graph.path_facts import (
    facts,
    finish,
    instances_among,
    path_order,
    paths_within,
    reaching,
    within_mass,
)
from srtk_framework.recipe.recipe import from_data
from srtk_framework.roles import GraphView
from srtk_framework.testing.oracle import OracleGraph
from srtk_framework.testing.sample import Sample
from srtk_framework.values import Budget, Origin, RankedPath, RatedTriples, Step, Subgraph, Triple, rounded

TRIPLES = [
    ("ann", "knows", "bob"),
    ("ann", "knows", "cid"),
    ("ann", "knows", "dan"),
    ("bob", "lives_in", "riga"),
    ("cid", "lives_in", "oslo"),
    ("cid", "lives_in", "rome"),
]


@pytest.fixture
def graph():
    oracle = OracleGraph(Sample(triples=tuple(Triple(*t) for t in TRIPLES)))
    oracle.open()
    return oracle


def path(score, *steps):
    return RankedPath("ann", tuple(Step.parse(s) for s in steps), score)


def read(graph, *paths, **budget):
    return facts(graph, [list(paths)], Budget(**budget))[0]


def test_only_complete_instances_of_a_path_are_kept_one_after_the_other(graph):
    subgraph = read(graph, path(-1.0, "knows", "lives_in"))
    assert [tuple(t) for t in subgraph.triples] == [
        ("ann", "knows", "bob"),
        ("bob", "lives_in", "riga"),
        ("ann", "knows", "cid"),
        ("cid", "lives_in", "oslo"),
        ("cid", "lives_in", "rome"),
    ]
    assert subgraph.scores == (-1.0,) * 5


def test_a_triple_keeps_its_best_path(graph):
    subgraph = read(graph, path(-1.0, "knows", "lives_in"), path(-2.0, "knows"))
    assert dict(zip(subgraph.triples, subgraph.path_of, strict=True))[Triple("ann", "knows", "bob")] == 0
    assert dict(zip(subgraph.triples, subgraph.path_of, strict=True))[Triple("ann", "knows", "dan")] == 1


def test_the_budget_cuts_triples_and_counts_them_and_the_unread_paths(graph):
    subgraph = read(graph, path(-1.0, "knows", "lives_in"), path(-2.0, "knows"), triples=3)
    assert len(subgraph.triples) == 3
    assert subgraph.trace["cut"] == {"paths": 1, "triples": 2}


def test_a_hub_on_the_last_hop_is_cut_and_counted(graph):
    subgraph = read(graph, path(-1.0, "knows"), hub=2)
    assert [t.object for t in subgraph.triples] == ["bob", "cid"]
    assert subgraph.trace["cut"] == {"hub": 1}


def test_a_hub_on_an_earlier_hop_is_cut_and_counted(graph):
    subgraph = read(graph, path(-1.0, "knows", "lives_in"), hub=1)
    assert [t.object for t in subgraph.triples] == ["bob", "riga"]
    assert subgraph.trace["cut"] == {"hub": 2}


def test_inverse_steps_give_triples_in_their_own_direction(graph):
    subgraph = facts(graph, [[RankedPath("riga", (Step("lives_in", True), Step("knows", True)), -1.0)]], Budget())[0]
    assert set(subgraph.triples) == {Triple("bob", "lives_in", "riga"), Triple("ann", "knows", "bob")}


def test_paths_are_ordered_by_score_then_steps_then_entity():
    best, tie_a, tie_b = path(-0.5, "x"), path(-1.0, "a"), path(-1.0, "b")
    assert sorted([tie_b, tie_a, best], key=path_order) == [best, tie_a, tie_b]


FALLING = st.lists(st.floats(-30, 30), min_size=1, max_size=12).map(lambda row: sorted(map(rounded, row), reverse=True))
MASS = st.floats(0.001, 1.0)
HALF, QUARTER = math.log(0.5), math.log(0.25)


@pytest.fixture(scope="module")
def nations():
    made = OracleGraph()
    made.open()
    return made


def ranked(*rows):
    return [RankedPath("Latvia", tuple(Step(name) for name in names), score) for names, score in rows]


RANKED = ranked((["capital"], HALF), (["part_of"], QUARTER), (["borders"], QUARTER))


@pytest.mark.parametrize(("mass", "kept"), [(0.1, 1), (0.5, 1), (0.51, 2), (0.75, 2), (0.76, 3), (1.0, 3), (None, 3)])
def test_the_fewest_scores_that_reach_the_share_are_kept(mass, kept):
    assert reaching([HALF, QUARTER, QUARTER], mass) == kept
    assert reaching([HALF + 7, QUARTER + 7, QUARTER + 7], mass) == kept


@given(FALLING, MASS)
def test_the_kept_scores_reach_the_share_and_the_last_is_needed(scores, mass):
    kept = reaching(scores, mass)
    weights = [math.exp(score - scores[0]) for score in scores]
    assert sum(weights[:kept]) >= mass * sum(weights) * (1 - 1e-6)
    assert mass == 1.0 or sum(weights[: kept - 1]) < mass * sum(weights) * (1 + 1e-6)


@given(FALLING, MASS, MASS)
def test_more_mass_never_keeps_less(scores, one, other):
    least, most = sorted([one, other])
    assert reaching(scores, least) <= reaching(scores, most)


@given(FALLING)
def test_the_whole_mass_is_no_limit(scores):
    assert reaching(scores, 1.0) == len(scores)


def test_paths_without_steps_have_no_mass():
    assert paths_within([*ranked(([], 5.0)), *RANKED], 0.5) == 2


def test_paths_beyond_the_mass_are_counted_but_not_read(nations):
    found = facts(nations, [RANKED], Budget(mass=0.6))[0]
    assert {triple.relation for triple in found.triples} == {"capital", "part_of"}
    assert found.trace["cut"] == {"mass": 1}
    assert len(found.paths) == 3


def test_the_whole_mass_reads_every_path(nations):
    assert facts(nations, [RANKED], Budget(mass=1.0)) == facts(nations, [RANKED], Budget())


def test_triples_with_scores_of_their_own_make_up_the_mass(nations):
    triples = (Triple("a", "r", "b"), Triple("b", "r", "c"), Triple("c", "r", "d"))
    found = Subgraph(triples, (HALF, QUARTER, QUARTER), path_of=(-1, -1, -1))
    kept = finish(nations, [found], Budget(mass=0.7))[0]
    assert kept.triples == triples[:2]
    assert kept.trace["cut"] == {"mass": 1}


@given(st.permutations(range(3)), MASS)
def test_a_subgraph_within_the_mass_stays_as_it_is(order, mass):
    triples = tuple(Triple("a", "r", str(i)) for i in range(3))
    paths = tuple(attrs.evolve(path, score=rounded(path.score)) for path in RANKED)
    found = Subgraph(triples, tuple(paths[i].score for i in order), paths=paths, path_of=tuple(order))
    once = within_mass(found, mass)
    assert within_mass(once, mass) == once
    assert set(once.path_of) == set(range(paths_within(paths, mass)))


@pytest.mark.parametrize("mass", [0, -0.5, 1.5, math.nan])
def test_a_mass_outside_0_to_1_is_refused(mass):
    with pytest.raises(ValueError, match="mass must be above 0 and at most 1"):
        Budget(mass=mass)


def test_a_recipe_gives_the_mass():
    assert from_data({"srtk": 1, "budget": {"mass": 0.9}}).options.budget == Budget(triples=50, mass=0.9)


SURE, UNSURE = Triple("ann", "knows", "bob"), Triple("ann", "knows", "cid")
DOUBTS = {SURE: 0.9, Triple("bob", "lives_in", "riga"): 0.9, UNSURE: 0.85}


@attrs.define(eq=False)
class Doubted(GraphView):
    """A graph in which some triples are not certain."""

    def triples(self, frontiers, steps, limit):
        return [RatedTriples(row, DOUBTS) for row in self.graph.triples(frontiers, steps, limit)]


@pytest.mark.parametrize(("triples", "ends"), [(None, ["oslo", "rome", "riga"]), (2, ["oslo"]), (3, ["oslo", "rome"])])
def test_instances_come_by_the_product_of_their_confidences_and_fill_the_budget(graph, triples, ends):
    # Whole by 0.85 and 0.81, although the second begins surer; a budget of 2 has room for an instance of 2.
    subgraph = read(Doubted(graph), path(-1.0, "knows", "lives_in"), triples=triples)
    assert [triple.object for triple in subgraph.triples if triple.relation == "lives_in"] == ends
    assert len(subgraph.triples) == (triples or 5)


def test_an_instance_has_the_end_and_the_confidence_of_its_whole_chain():
    rated = RatedTriples([Triple(*t) for t in TRIPLES], DOUBTS)
    found = instances_among(rated, path(-1.0, "knows", "lives_in"), ["ann"], None)
    assert [one.end for one in found] == ["oslo", "rome", "riga"]
    assert [one.confidence for one in found] == pytest.approx([0.85, 0.85, 0.81])


@attrs.define(eq=False)
class SurerBack(GraphView):
    """A graph that is surer of one triple where it is asked for from its object."""

    def triples(self, frontiers, steps, limit):
        rows = self.graph.triples(frontiers, steps, limit)
        shares = [{SURE: 0.8 if step.inverse else 0.5, UNSURE: 0.7} for step in steps]
        return [RatedTriples(row, share) for row, share in zip(rows, shares, strict=True)]


def test_a_triple_that_was_read_both_ways_is_as_sure_as_the_surer_reading(graph):
    subgraph = read(SurerBack(graph), path(-1.0, "knows", "^knows"))
    assert subgraph.triples[0] == Triple("ann", "knows", "dan")  # it is stored
    assert subgraph.triples[1:] == (SURE, UNSURE)


def test_each_step_of_each_path_is_read_once(graph):
    read_steps = []

    @attrs.define(eq=False)
    class Counting(GraphView):
        def triples(self, frontiers, steps, limit):
            read_steps.extend(
                (tuple(frontier.ids()), step.relation) for frontier, step in zip(frontiers, steps, strict=True)
            )
            return self.graph.triples(frontiers, steps, limit)

    found = read(Counting(graph), path(-1.0, "knows", "lives_in"))
    assert len(found.triples) == 5
    assert sorted(read_steps) == [(("ann",), "knows"), (("bob", "cid", "dan"), "lives_in")]


def test_qualifiers_and_origins_go_to_their_own_subgraphs_and_those_that_have_them_keep_theirs(graph):
    class Known(GraphView):
        def qualifiers(self, triples):
            return [[("of", triple.object)] for triple in triples]

        def origins(self, triples):
            return [Origin(f"read {triple.object}", 0.5 if triple.object == "rome" else 1.0) for triple in triples]

    rows = [Triple(*row) for row in TRIPLES]
    first = Subgraph(tuple(rows[:2]), (0.0, 0.0))
    own = Subgraph((rows[2],), (0.0,), provenance=("own",), qualifiers=(((("at", "home")),),))
    last = Subgraph(tuple(rows[4:]), (0.0, 0.0))
    found = finish(Known(graph), [first, own, last], Budget(triples=None))
    assert [one.provenance for one in found] == [("read bob", "read cid"), ("own",), ("read oslo", "read rome")]
    assert [one.confidences for one in found] == [(), (), (1.0, 0.5)]
    assert found[1].qualifiers == own.qualifiers
    assert [one.qualifiers for one in (found[0], found[2])] == [
        ((("of", "bob"),), (("of", "cid"),)),
        ((("of", "oslo"),), (("of", "rome"),)),
    ]


def test_the_text_of_qualifiers_counts_among_the_tokens(graph):
    rows = tuple(Triple(*row) for row in TRIPLES[:2])
    plain = Subgraph(rows, (0.0, 0.0))
    with_words = attrs.evolve(plain, qualifiers=((("since", "long ago in the past"),), ()))
    kept = [len(finish(graph, [one], Budget(tokens=14))[0].triples) for one in (plain, with_words)]
    assert kept == [2, 1]
