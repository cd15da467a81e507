"""How likely patterns lack a fact: counted by what is left of them, and scaled to what is believed."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from srtk_plugin_completers.lacking_shares import _PRIOR, LackingShares, stored_numbers

from srtk_framework.graph import TripleTable
from srtk_framework.values import Pattern, Step, Triple

# Each film has one year, which many of them share or few, and each of half of them forty actors.
YEARS = [Triple(f"film{n:03}", "year", str(1900 + n * n // 1600)) for n in range(400)]
CAST = [Triple(f"film{n:03}", "actor", f"actor{n}_{m}") for n in range(200) for m in range(40)]
FACTS = [*YEARS, *CAST]
DRAWN = np.random.default_rng(0).random(len(FACTS)) < 0.1
HIDDEN = [fact for fact, out in zip(FACTS, DRAWN, strict=True) if out]
WHOLE = TripleTable.from_triples(FACTS)


@pytest.fixture(scope="module")
def learnt() -> LackingShares:
    return LackingShares.learn(WHOLE.without(HIDDEN), HIDDEN)


def test_a_film_with_its_year_lacks_none_and_one_with_many_actors_does(learnt: LackingShares) -> None:
    assert learnt.held_out == pytest.approx(len(HIDDEN) / len(FACTS))
    assert learnt.share(Step("year"), 1, 0.1, 1.0) < 0.05
    assert learnt.share(Step("actor"), 36, 0.1, 1.0) > 0.9


def test_the_share_is_that_of_patterns_of_which_as_much_is_left(learnt: LackingShares) -> None:
    table = WHOLE.without(HIDDEN)
    patterns = [Pattern(None, "year", str(year)) for year in range(1900, 2000)]
    lacks = {Pattern(None, fact.relation, fact.object) for fact in HIDDEN}
    left = stored_numbers(table, patterns)
    for low, high in ((2, 4), (5, 19)):
        some = [pattern in lacks for pattern, count in zip(patterns, left, strict=True) if low <= count <= high]
        assert len(some) >= 5
        found = learnt.share(Step("year", True), low, learnt.held_out, 1.0)
        assert found == pytest.approx(sum(some) / len(some), abs=0.1)


@given(st.floats(0.001, 0.999), st.floats(0.001, 0.999), st.integers(1, 100), st.floats(0.01, 1))
def test_more_missing_is_likelier_lacking_and_nothing_stored_is_as_believed(
    one: float, other: float, stored: int, empty: float
) -> None:
    shares = LackingShares(0.1, (0.01, 0.05, 0.2, 0.9), {})
    step = Step("unknown")
    assert shares.share(step, 0, one, empty) == empty
    low, high = sorted([one, other])
    assert 0 < shares.share(step, stored, low, empty) <= shares.share(step, stored, high, empty) < 1
    if stored == 1:
        assert shares.share(step, stored, 0.1, empty) == pytest.approx(0.01)


def test_a_step_that_is_seldom_seen_has_nearly_the_share_of_all() -> None:
    rare = [Triple("film000", "remake_of", "film001")]
    learnt = LackingShares.learn(TripleTable.from_triples([*FACTS, *rare]).without(HIDDEN), HIDDEN)
    assert learnt.of_step[Step("remake_of")][0] == pytest.approx(learnt.everywhere[0], rel=0.1)


def test_facts_that_the_graph_never_had_are_counted_where_their_ends_are_known() -> None:
    left = WHOLE.without(HIDDEN)
    foreign = [*HIDDEN, Triple("nobody", "year", "1950"), Triple("film001", "seen_by", "actor0_0")]
    assert LackingShares.learn(left, foreign).of_step == LackingShares.learn(left, HIDDEN).of_step


def test_what_was_learnt_is_read_as_it_was_written(learnt: LackingShares) -> None:
    assert LackingShares.from_json(json.loads(json.dumps(learnt.to_json()))) == learnt


def test_stored_facts_are_counted_at_both_ends_and_unknown_ones_are_none() -> None:
    patterns = [
        Pattern("film000", "actor"),
        Pattern(None, "year", "1900"),
        Pattern("film300", "actor"),
        Pattern("nobody", "actor"),
        Pattern("film000", "unknown"),
    ]
    assert stored_numbers(WHOLE, patterns) == [40, 40, 0, 0, 0]


def test_the_shares_of_a_few_facts_are_the_ones_counted_by_hand() -> None:
    facts = [Triple(*row.split()) for row in ("a r x", "b r x", "c r y", "c q z")]
    learnt = LackingShares.learn(TripleTable.from_triples(facts), [Triple("a", "r", "y")])
    # Of 7 patterns with a fact, a and y lack one; 6 of them have one fact, and x has two.
    rate = (2 + 1) / (7 + 2)
    single, several = (2 + _PRIOR * rate) / (6 + _PRIOR), _PRIOR * rate / (1 + _PRIOR)
    assert learnt.held_out == 1 / 5
    assert learnt.everywhere[:2] == pytest.approx((single, several))
    assert learnt.of_step[Step("r")][0] == pytest.approx((1 + _PRIOR * single) / (3 + _PRIOR))
    assert learnt.of_step[Step("r", True)][0] == pytest.approx((1 + _PRIOR * single) / (1 + _PRIOR))
    assert learnt.of_step[Step("q")][0] == pytest.approx(_PRIOR * single / (1 + _PRIOR))


def test_the_odds_grow_as_the_odds_of_what_is_missing() -> None:
    # Odds of 1 to 4 with a tenth held out; with half missing, the odds of which are nine times as high, 9 to 4.
    assert LackingShares(0.1, (0.2, 0.2, 0.2, 0.2), {}).share(Step("r"), 3, 0.5, 1.0) == pytest.approx(9 / 13)
