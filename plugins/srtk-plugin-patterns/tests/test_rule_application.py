"""Rules propose what reading them one by one proposes, aggregated as is written."""

from __future__ import annotations

import math
from functools import cache

import attrs
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from srtk_plugin_patterns import rule_application
from srtk_plugin_patterns.mining import mine
from srtk_plugin_patterns.path_patterns import MiningSettings
from srtk_plugin_patterns.rule_application import RuleApplication
from srtk_plugin_patterns.rule_clusters import rule_clusters
from srtk_plugin_patterns.rule_learner import RuleFitSettings, constant_rules, path_rules
from srtk_plugin_patterns.rules import ConstantRules, PathRules, Rules

from srtk_framework.graph import TripleTable
from srtk_framework.values import Triple, confidence

ids = st.sampled_from("abcdef")
tables = st.builds(
    TripleTable.from_triples, st.lists(st.builds(Triple, ids, st.sampled_from("rst"), ids), min_size=1, max_size=14)
)


def learnt(table, least=1):
    patterns = mine(table, MiningSettings(length=3, hub=None, least=1, most=None))
    kept = RuleFitSettings(least_support=least, least_confidence=0.0, paths=None, constants=None)
    hashed = table.content_hash()
    paths, constants = path_rules(table, patterns, kept)[0], constant_rules(table, kept)[0]
    return Rules(table.entities, table.relations, paths, constants, hashed, hashed)


def every(application, relation, inverse):
    starts = np.arange(len(application.table.entities))
    return application.confidences(relation, inverse, starts)


def shares(rules, relation):
    paths = rules.paths[rules.paths.relations == relation].confidence
    return np.concatenate([paths, rules.constants[rules.constants.relations == relation].confidence])


@settings(max_examples=60, deadline=None)
@given(table=tables)
def test_noisy_or_multiplies_the_doubts_of_the_rules_that_read_one_by_one_apply(reader, table):
    rules = learnt(table)
    application, proposed = RuleApplication(table, rules, "noisy-or"), reader(table).proposals(rules)
    for relation in range(len(table.relations)):
        found, of = every(application, relation, False), shares(rules, relation)
        held = table.of_relation(relation)
        # A question says that its bound end has the relation; only then rules without a body apply.
        for s in set(held[held[:, 0] != held[:, 2], 0].tolist()):
            for o in set(held[held[:, 0] != held[:, 2], 2].tolist()) - {s}:
                wanted = 1 - math.prod(1 - of[place] for place in proposed[s, relation, o])
                assert found[s, o] == pytest.approx(wanted, abs=1e-12)


@settings(max_examples=60, deadline=None)
@given(table=tables)
def test_max_ranks_by_the_lists_of_confidences(reader, table):
    rules = learnt(table)
    application, proposed = RuleApplication(table, rules, "max"), reader(table).proposals(rules)
    for relation in range(len(table.relations)):
        found, of = every(application, relation, False), shares(rules, relation)
        facts = table.of_relation(relation)
        facts = facts[facts[:, 0] != facts[:, 2]]
        for s in set(facts[:, 0].tolist()):
            lists = {
                o: sorted((of[place] for place in proposed[s, relation, o]), reverse=True)
                for o in set(facts[:, 2].tolist()) - {s}
            }
            # Four digits of a confidence are compared, and eight rules.
            rough = {o: [_down(value, 4) for value in row[:8]] for o, row in lists.items()}
            some = [o for o in rough if rough[o] and found[s, o]]
            for one in some:
                assert _down(found[s, one], 3) == pytest.approx(_down(lists[one][0], 3))
                for other in some:
                    assert (found[s, one] > found[s, other]) == (rough[one] > rough[other])


def _down(value, digits):
    unit = 10.0 ** (math.floor(math.log10(value) + 1e-9) - digits + 1)
    return round(math.floor(value / unit + 1e-6) * unit, 12)


@settings(max_examples=60, deadline=None)
@given(tables)
def test_noisy_or_is_never_below_clusters_nor_these_below_the_best_rule(table):
    rules = learnt(table)
    best, clustered, noisy = (RuleApplication(table, rules, how) for how in ("max", "clustered", "noisy-or"))
    for relation in range(len(table.relations)):
        for inverse in (False, True):
            one, two, three = (every(how, relation, inverse) for how in (best, clustered, noisy))
            # The digits after the third of `max` rank ties.
            assert (one * (1 - 0.01) <= two + 1e-12).all()
            assert (two <= three + 1e-12).all()
            assert np.array_equal(one > 0, three > 0)


@settings(max_examples=60, deadline=None)
@given(tables)
def test_a_question_from_the_other_end_gets_the_same_confidence(table):
    application = RuleApplication(table, learnt(table), "noisy-or")
    for relation in range(len(table.relations)):
        facts = table.of_relation(relation)
        facts = facts[facts[:, 0] != facts[:, 2]]
        ahead, back = every(application, relation, False), every(application, relation, True)
        for s in set(facts[:, 0].tolist()):
            for o in set(facts[:, 2].tolist()):
                assert ahead[s, o] == pytest.approx(back[o, s], abs=1e-12)


@settings(max_examples=60, deadline=None)
@given(tables)
def test_a_triple_is_no_reason_for_itself(table):
    """Over the graph without a triple its confidence is the same, but for what a question says: that its end occurs."""
    rules = learnt(table)
    for row in table.triples.tolist()[:4]:
        s, r, o = row
        if s == o:
            continue
        (triple,) = table.named(np.array([row], dtype=np.int32))
        with_body = attrs.evolve(rules, constants=rules.constants[rules.constants.steps >= 0])
        apart = [RuleApplication(one, with_body, "noisy-or") for one in (table, table.without([triple]))]
        one, other = (every(how, r, False)[s, o] for how in apart)
        assert one == pytest.approx(other, abs=1e-12)


@settings(max_examples=30, deadline=None)
@given(table=tables)
def test_the_rules_of_a_proposal_are_those_that_make_it(reader, table):
    rules = learnt(table)
    application, proposed = RuleApplication(table, rules), reader(table).proposals(rules)
    ends = np.arange(len(table.entities))
    for relation in range(len(table.relations)):
        facts = table.of_relation(relation)
        for s in set(facts[facts[:, 0] != facts[:, 2], 0].tolist()):
            known = set(facts[facts[:, 0] != facts[:, 2], 2].tolist())
            (row,) = application.rules_of(relation, False, np.array([s]), [ends])
            for o, places in enumerate(row):
                if o in known and o != s:
                    assert sorted(places.tolist()) == sorted(proposed[s, relation, o])
                    assert (np.diff(shares(rules, relation)[places]) <= 0).all()


@pytest.mark.parametrize("how", ["max", "noisy-or", "clustered"])
def test_what_is_gathered_in_parts_is_the_same(people, monkeypatch, how):
    rules = learnt(people)
    number = people.relation_numbers["nationality"]
    whole = every(RuleApplication(people, rules, how), number, False)
    monkeypatch.setattr(rule_application, "_GATHERED", 3)
    parts = every(RuleApplication(people, rules, how), number, False)
    assert np.allclose(whole, parts, atol=1e-12)


@pytest.mark.parametrize("how", ["max", "noisy-or", "clustered"])
def test_no_answer_depends_on_the_other_questions(people, how):
    application, number = RuleApplication(people, learnt(people), how), people.relation_numbers["nationality"]
    whole = every(application, number, False)
    for start in range(len(people.entities)):
        assert np.allclose(application.confidences(number, False, np.array([start])), whole[[start]], atol=1e-12)


def test_ties_go_to_the_next_rule_within_the_last_three_digits(people):
    """Both cities are proposed with the same best rule; what more rules say decides."""
    rules = learnt(people)
    application, number = RuleApplication(people, rules), people.relation_numbers["nationality"]
    eve = people.entity_numbers["eve"]
    row = application.confidences(number, False, np.array([eve]))[0]
    latvia, norway = (row[people.entity_numbers[name]] for name in ("latvia", "norway"))
    assert latvia > norway > 0
    assert str(latvia)[:5] == "0.400"
    assert confidence(latvia) == pytest.approx(latvia, abs=1e-6)


def test_rules_that_predict_the_same_facts_are_one_cluster():
    from scipy.sparse import csr_array

    predicted = csr_array(np.array([[1, 1, 0, 0], [1, 1, 1, 0], [0, 0, 0, 1], [0, 0, 0, 0], [0, 0, 1, 1]]))
    confidences = np.array([0.9, 0.8, 0.7, 0.6, 0.5])
    assert rule_clusters(predicted, confidences, 0.5).tolist() == [0, 0, 1, 2, 1]
    assert len(set(rule_clusters(predicted, confidences, 0.99).tolist())) == 5


@cache
def chain():
    table = TripleTable.from_triples([Triple("a", "r", "b"), Triple("a", "s", "b"), Triple("a", "t", "c")])
    nothing = np.zeros(0, dtype=np.int64)
    constants = ConstantRules(nothing, nothing.astype(bool), *[nothing] * 5)
    return table, constants


def test_a_rule_given_by_hand_proposes_the_ends_of_its_path():
    table, constants = chain()
    r, s, t = (table.relation_numbers[name] for name in "rst")
    paths = PathRules(np.array([r]), np.array([[2 * s + 1, 2 * t, -1]]), np.array([3]), np.array([5]))
    application = RuleApplication(table, Rules(table.entities, table.relations, paths, constants, "", ""), "noisy-or")
    b, c = (table.entity_numbers[name] for name in "bc")
    ahead, back = every(application, r, False), every(application, r, True)
    assert ahead[b, c] == back[c, b] == pytest.approx(0.3)
    assert (np.count_nonzero(ahead), np.count_nonzero(back)) == (1, 1)


@pytest.mark.parametrize("how", ["max", "noisy-or", "clustered"])
def test_no_rule_proposes_a_start_for_itself(people, how):
    application = RuleApplication(people, learnt(people), how)
    for relation in range(len(people.relations)):
        for inverse in (False, True):
            assert not np.diagonal(every(application, relation, inverse)).any()
