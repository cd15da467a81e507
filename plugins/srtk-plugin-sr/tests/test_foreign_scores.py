"""Searches by foreign scores: a scorer that does not say its unit is searched alike whatever numbers it writes."""

import math

import attrs
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from srtk_plugin_local.memory import MemoryGraph
from srtk_plugin_sr.beam import BeamExpander
from srtk_plugin_sr.search_settings import SearchBlock

from srtk_framework.roles import PLAIN, PathScorer, SearchSettings
from srtk_framework.values import Link, Question

names, relations = st.sampled_from("abcdef"), st.sampled_from(["capital", "borders", "currency", "language", "mayor"])
FACTS = st.lists(st.tuples(names, relations, names), min_size=1, max_size=24)


@attrs.define(eq=False)
class Numbers(PathScorer):
    """Score by the text of path and step, times a factor and shifted, and say nothing of it."""

    factor: float = 1.0
    shift: float = 0.0
    says: SearchSettings | None = None

    def score(self, questions, paths, candidates):
        return [
            [self.factor * (sum(map(ord, f"{path}{step}")) % 41 / 7) + self.shift for step in row]
            for path, row in zip(paths, candidates, strict=True)
        ]

    def search_settings(self):
        return self.says


def searched(facts, scorer, *entities, **settings):
    graph = MemoryGraph(triples=facts)
    graph.open()
    beam = BeamExpander(graph, scorer, width=4, **settings)
    beam.open()
    [found] = beam.expand([Question("q", "What is it?", tuple(map(Link, entities or (facts[0][0],))))])
    return found


@settings(max_examples=150, deadline=None)
@given(
    facts=FACTS,
    factor=st.sampled_from([0.01, 0.1, 0.5, 3.0, 10.0, 1000.0]),
    shift=st.sampled_from([-30.0, -3.0, 0.0, 0.5, 8.0]),
    hop_margin=st.sampled_from([None, 1.5]),
    variant=st.sampled_from(["default", "srtk"]),
)
def test_a_factor_on_all_scores_and_a_shift_of_them_change_no_search(facts, factor, shift, hop_margin, variant):
    changes = {"search": SearchBlock(hop_margin=hop_margin), "variant": variant}
    entities = sorted({facts[0][0], facts[-1][2]})
    plain = searched(facts, Numbers(), *entities, **changes)
    other = searched(facts, Numbers(factor, shift), *entities, **changes)
    # Scores are rounded at each step, so that equal ones may differ in the last digit.
    wanted, found = ({(path.entity, path.steps): path.score for path in one.paths} for one in (plain, other))
    near = [abs(a - b) for a in wanted.values() for b in wanted.values() if a != b]
    assume(not near or min(near) > 1e-2)
    assert found.keys() == wanted.keys()
    assert found == pytest.approx(wanted, abs=1e-3)


LINE = [("a", "capital", "b"), ("a", "borders", "c"), ("b", "mayor", "d"), ("c", "mayor", "e")]


def test_a_scale_that_is_said_divides_the_scores_and_leaves_them_as_they_are():
    plain = searched(LINE, Numbers(says=PLAIN))
    tenfold = searched(LINE, Numbers(10.0, says=attrs.evolve(PLAIN, scale=10.0)))
    assert [(path.steps, path.score) for path in tenfold.paths] == [(path.steps, path.score) for path in plain.paths]
    # Under depth 2 each of these paths is two scores: two steps, or a step and END.
    shifted = searched(LINE, Numbers(1.0, -3.0, says=PLAIN))
    assert [path.score for path in shifted.paths] == pytest.approx([path.score - 6.0 for path in plain.paths])


def test_a_recipe_can_say_the_scale_in_place_of_the_scorer():
    block = SearchBlock(scale=1.0)
    assert searched(LINE, Numbers(), search=block).paths == searched(
        LINE, Numbers(says=SearchSettings(scale=1.0))
    ).paths  # fmt: skip


def test_where_the_first_scores_are_equal_the_next_ones_set_the_unit():
    @attrs.define(eq=False)
    class Late(Numbers):
        def score(self, questions, paths, candidates):
            rows = super().score(questions, paths, candidates)
            return [row if path else [1.0] * len(row) for path, row in zip(paths, rows, strict=True)]

    plain, tenfold = (searched(LINE, Late(factor), search=SearchBlock(long_cost=0.5)) for factor in (1.0, 10.0))
    assert [path.score for path in plain.paths] == pytest.approx([path.score for path in tenfold.paths], abs=1e-3)
    assert len({path.score for path in plain.paths}) > 1


def test_a_forced_end_costs_nothing_where_the_unit_is_measured():
    @attrs.define(eq=False)
    class Ending(Numbers):
        def scores_end(self):
            return True

    measured, said = searched(LINE, Ending(), depth=1), searched(LINE, Ending(says=PLAIN), depth=1)
    assert max(path.score for path in measured.paths) <= 0.0
    ends = {path.steps: path.score for path in searched(LINE, Numbers(says=PLAIN), depth=1).paths}
    assert all(path.score != ends[path.steps] for path in said.paths)
    assert math.isfinite(sum(path.score for path in said.paths))
