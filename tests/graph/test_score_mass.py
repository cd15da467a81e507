"""The budget of score mass: worked by hand, its laws, and the same cut wherever it is made."""

from __future__ import annotations

import math

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from srtk_framework.graph.path_facts import facts, finish, paths_within, reaching, within_mass
from srtk_framework.recipe.recipe import from_data
from srtk_framework.testing.oracle import OracleGraph
from srtk_framework.values import Budget, RankedPath, Step, Subgraph, Triple, rounded

FALLING = st.lists(st.floats(-30, 30), min_size=1, max_size=12).map(lambda row: sorted(map(rounded, row), reverse=True))
MASS = st.floats(0.001, 1.0)
HALF, QUARTER = math.log(0.5), math.log(0.25)


@pytest.fixture(scope="module")
def graph():
    made = OracleGraph()
    made.open()
    return made


def ranked(*rows):
    return [RankedPath("Latvia", tuple(Step(name) for name in names), score) for names, score in rows]


PATHS = ranked((["capital"], HALF), (["part_of"], QUARTER), (["borders"], QUARTER))


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
    assert paths_within([*ranked(([], 5.0)), *PATHS], 0.5) == 2


def test_paths_beyond_the_mass_are_counted_but_not_read(graph):
    found = facts(graph, [PATHS], Budget(mass=0.6))[0]
    assert {triple.relation for triple in found.triples} == {"capital", "part_of"}
    assert found.trace["cut"] == {"mass": 1}
    assert len(found.paths) == 3


def test_the_whole_mass_reads_every_path(graph):
    assert facts(graph, [PATHS], Budget(mass=1.0)) == facts(graph, [PATHS], Budget())


def test_triples_with_scores_of_their_own_make_up_the_mass(graph):
    triples = (Triple("a", "r", "b"), Triple("b", "r", "c"), Triple("c", "r", "d"))
    found = Subgraph(triples, (HALF, QUARTER, QUARTER), path_of=(-1, -1, -1))
    kept = finish(graph, [found], Budget(mass=0.7))[0]
    assert kept.triples == triples[:2]
    assert kept.trace["cut"] == {"mass": 1}


@given(st.permutations(range(3)), MASS)
def test_a_subgraph_within_the_mass_stays_as_it_is(order, mass):
    triples = tuple(Triple("a", "r", str(i)) for i in range(3))
    paths = tuple(attrs.evolve(path, score=rounded(path.score)) for path in PATHS)
    found = Subgraph(triples, tuple(paths[i].score for i in order), paths=paths, path_of=tuple(order))
    once = within_mass(found, mass)
    assert within_mass(once, mass) == once
    assert set(once.path_of) == set(range(paths_within(paths, mass)))


@pytest.mark.parametrize("mass", [0, -0.5, 1.5, math.nan])
def test_a_mass_outside_0_to_1_is_refused(mass):
    with pytest.raises(ValueError, match="budget mass"):
        Budget(mass=mass)


def test_a_recipe_gives_the_mass():
    assert from_data({"srtk": 1, "budget": {"mass": 0.9}}).options.budget == Budget(mass=0.9)
