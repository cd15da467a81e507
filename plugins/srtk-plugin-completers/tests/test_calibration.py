"""Maps from confidences to probabilities, and conformal cuts, against what they promise."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from srtk_plugin_completers.calibration import LEAST_FACTS, Calibration, Cut, ProbabilityMap, draw
from srtk_plugin_evaluation import calibration_error

from srtk_framework.values import Step, Triple

FITS = {"isotonic": ProbabilityMap.isotonic, "platt": ProbabilityMap.platt}
samples = st.lists(st.tuples(st.sampled_from([0.0, 0.1, 0.2, 0.5, 0.9, 0.999999]), st.booleans()), min_size=2)


@pytest.mark.parametrize("method", FITS)
@given(samples)
@settings(deadline=None)
def test_a_map_keeps_the_order_and_gives_probabilities(method, pairs):
    confidences, right = (np.array(column, dtype=float) for column in zip(*pairs, strict=True))
    mapped = FITS[method](confidences, right)(np.linspace(0, 1, 50))
    assert (np.diff(mapped) >= 0).all()
    assert mapped.min() >= 0
    assert mapped.max() <= 1


@pytest.mark.parametrize("method", FITS)
def test_a_map_makes_overconfident_numbers_probabilities_on_other_draws(method):
    random = np.random.default_rng(0)

    def drawn(count):
        confidences = random.random(count)
        return confidences, (random.random(count) < confidences * 0.3).astype(float)

    fitted = FITS[method](*drawn(4000))
    confidences, right = drawn(4000)
    assert calibration_error(confidences, right) > 0.3
    assert calibration_error(fitted(confidences), right) < 0.05


def test_the_isotonic_map_pools_neighbours_and_draws_each_block_to_the_mean():
    confidences = np.array([0.1, 0.2, 0.2, 0.3, 0.8])
    right = np.array([0.0, 1.0, 1.0, 0.0, 1.0])
    # The mean is 0.6. Blocks: {0.1}, {0.2, 0.2, 0.3} with 2 of 3, {0.8}; each gets 2 * 0.6 of 2 more.
    wanted = {0.1: 1.2 / 3, 0.2: 3.2 / 5, 0.3: 3.2 / 5, 0.8: 2.2 / 3}
    fitted = ProbabilityMap.isotonic(confidences, right)
    assert fitted(list(wanted)) == pytest.approx([0.999 * p + 0.001 * c for c, p in wanted.items()])


def test_the_isotonic_map_weighs_each_confidence_by_its_proposals():
    # 1 of 1, 1 of 4 and 1 of 2 are right: together the first two are below the last; without weights they are not.
    confidences = np.array([0.1, *[0.2] * 4, *[0.3] * 2])
    right = np.array([1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0])
    wanted = {0.1: 20 / 49, 0.2: 20 / 49, 0.3: 13 / 28}
    fitted = ProbabilityMap.isotonic(confidences, right)
    assert fitted(list(wanted)) == pytest.approx([0.999 * p + 0.001 * c for c, p in wanted.items()])


def test_the_logistic_map_has_the_mean_of_the_smoothed_targets():
    # Three right ones count 4/5 each, and a wrong one 1/3.
    fitted = ProbabilityMap.platt(np.full(4, 0.5), np.array([1.0, 1.0, 1.0, 0.0]))
    assert fitted(0.5) == pytest.approx(0.999 * (3 * 4 / 5 + 1 / 3) / 4 + 0.001 * 0.5, abs=1e-5)


@given(st.integers(1, 300), st.sampled_from([0.05, 0.1, 0.5]))
def test_a_cut_keeps_the_promised_share_of_the_facts_it_was_made_of(count, alpha):
    facts = [Triple(f"s{number}", "r", "o") for number in range(count)]
    rates = [number % 3 / 10 for number in range(count)]  # most are tied
    cut = Cut.of([(rate, draw(fact)) for rate, fact in zip(rates, facts, strict=True)], alpha)
    kept = sum(cut.keeps(rate, fact) for rate, fact in zip(rates, facts, strict=True))
    assert kept == count - max(int(alpha * (count + 1) + 1e-9) - 1, 0)


def test_a_cut_covers_new_facts_as_often_as_promised_though_rates_are_tied():
    facts = [Triple(f"s{number}", "r", "o") for number in range(4000)]
    rates = np.random.default_rng(1).choice([0.0, 0.2, 0.4], 4000, p=[0.3, 0.3, 0.4]).tolist()
    pairs = list(zip(rates, facts, strict=True))
    cut = Cut.of([(rate, draw(fact)) for rate, fact in pairs[:2000]], 0.1)
    covered = sum(cut.keeps(rate, fact) for rate, fact in pairs[2000:]) / 2000
    assert 0.88 <= covered <= 0.92


def test_a_step_has_its_own_map_and_cut_from_fifty_facts_on():
    often, seldom = Step("often"), Step("seldom", True)
    proposals = [(step, share, share > 0.5) for step in (often, seldom) for share in np.linspace(0, 0.9, 100).tolist()]
    fillers = [(often, 0.9, 0.5)] * LEAST_FACTS + [(seldom, 0.1, 0.5)] * (LEAST_FACTS - 1)
    learnt = Calibration.learn("isotonic", 0.1, proposals, fillers)
    assert (list(learnt.maps), list(learnt.cuts)) == ([often], [often])
    assert learnt.cut_of(often) == Cut(0.9, 0.5)
    assert learnt.cut_of(seldom) == learnt.cut == Cut(0.1, 0.5)
    assert Calibration.learn("isotonic", None, proposals, fillers).cut_of(often) is None


def test_rare_steps_without_enough_facts_for_alpha_cut_nothing():
    proposals = [(Step("often"), share, share > 0.5) for share in np.linspace(0, 0.9, 100).tolist()]
    often = [(Step("often"), 0.9, 0.5)] * LEAST_FACTS
    for fillers in (often, [*often, *[(Step("seldom"), 0.9, 0.5)] * 8]):
        learnt = Calibration.learn("isotonic", 0.1, proposals, fillers)
        assert learnt.cut_of(Step("seldom")).keeps(0.0, Triple("s", "seldom", "o"))


@pytest.mark.parametrize("alpha", [0.1, 0.2, 0.3])
def test_answer_sets_keep_their_level_overall_and_for_rare_relations(alpha):
    # Two frequent relations with high rates, 60 rare ones with low rates, of which a quarter are tied at 0.
    steps = [Step(f"r{number}") for number in range(62)]
    covered = []
    for seed in range(20):
        random = np.random.default_rng(seed)

        def drawn(random=random):
            places = np.where(random.random(1500) < 0.6, random.integers(0, 2, 1500), random.integers(2, 62, 1500))
            rates = np.where(
                random.random(1500) < np.where(places < 2, 0.02, 0.25),
                0.0,
                random.random(1500) ** np.where(places < 2, 0.2, 3),
            )
            return [(steps[p], r, u) for p, r, u in zip(places, rates.tolist(), random.random(1500), strict=True)]

        fillers = drawn()
        learnt = Calibration.learn("isotonic", alpha, [(steps[0], 0.5, True)], fillers)
        kept = [
            (step in learnt.cuts, (rate, -number) >= (learnt.cut_of(step).rate, -learnt.cut_of(step).draw))
            for step, rate, number in drawn()
        ]
        covered.append([np.mean([good for _, good in kept]), np.mean([good for own, good in kept if not own])])
    overall, rare = np.mean(covered, axis=0)
    assert 1 - alpha - 0.01 <= overall <= 1 - alpha + 0.03
    assert 1 - alpha - 0.01 <= rare <= 1 - alpha + 0.03


@pytest.mark.parametrize("method", FITS)
def test_what_was_learnt_is_the_same_after_json(method):
    step = Step("r", True)
    proposals = [(step, share, share > 0.5) for share in np.linspace(0, 0.9, 100).tolist()]
    learnt = Calibration.learn(method, 0.1, proposals, [(step, 0.1 + n / 100, n / 60) for n in range(60)])
    assert Calibration.from_json(json.loads(json.dumps(learnt.to_json()))) == learnt
