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
from srtk_plugin_patterns.rules import NOTHING, ConstantRules, PathRules, Rules

from srtk_framework.graph import TripleTable
from srtk_framework.values import Step, Triple, confidence

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


@attrs.frozen
class ByHand:
    """Rules r <- s0, r <- s1, ... with given confidences; which of them lead from a to each of some ends."""

    confidences: list[float]
    ends: dict[str, list[int]]

    def found(self) -> dict[str, float]:
        facts = [Triple("a", f"s{number}", end) for end, numbers in self.ends.items() for number in numbers]
        table = TripleTable.from_triples([*facts, Triple("x", "r", "y")])
        r, steps = table.relation_numbers["r"], [(name, n) for name, n in table.relation_numbers.items() if name != "r"]
        shares = [self.confidences[int(name[1:])] for name, _ in steps]
        rows = np.array([[2 * number, -1, -1] for _, number in steps])
        support = np.array([round(share * 100_000) for share in shares])
        paths = PathRules(np.full(len(steps), r), rows, support, np.full(len(steps), 100_000 - 5))
        nothing = np.zeros(0, dtype=np.int64)
        constants = ConstantRules(nothing, nothing.astype(bool), *[nothing] * 5)
        application = RuleApplication(table, Rules(table.entities, table.relations, paths, constants, "", ""))
        row = application.confidences(r, False, np.array([table.entity_numbers["a"]]))[0]
        return {end: row[table.entity_numbers[end]] for end in self.ends}


@pytest.mark.parametrize("number", range(2, 11))
def test_one_more_rule_decides_among_the_first_eight(number):
    found = ByHand([0.3] * number, {"b": [*range(number)], "c": [*range(number - 1)]}).found()
    assert (found["b"] > found["c"]) == (number <= 8)
    assert (found["b"] == found["c"]) == (number > 8)


@pytest.mark.parametrize("number", range(2, 9))
def test_a_better_rule_decides_at_each_of_the_first_eight_places(number):
    # At the last place c has a worse rule than b, and then as many as there may be.
    worse = [number, *range(number + 1, 11)]
    shares = [0.3] * number + [0.2] * 11
    found = ByHand(shares, {"b": [*range(number)], "c": [*range(number - 1), *worse]}).found()
    assert found["b"] > found["c"]


def test_ties_are_ranked_evenly_below_the_third_digit():
    shares = [0.3004, 0.2, 0.1, 0.0503]
    found = ByHand(shares, {"b": [0, 1], "c": [0, 2], "d": [0], "e": [0, 2], "f": [3]}).found()
    # Three distinct lists share the digits between .300 and .301; a single one of .0503 has those from .0503 on.
    wanted = {"b": 0.300750, "c": 0.300500, "e": 0.300500, "d": 0.300250, "f": 0.0503 + 0.0000500}
    assert found == pytest.approx(wanted, abs=1e-9)


@pytest.mark.parametrize("share", [0.1, 0.01])
def test_a_power_of_ten_has_three_digits_as_the_numbers_above_it(share):
    found = ByHand([share], {"b": [0]}).found()
    assert found["b"] == pytest.approx(share * 1.005, rel=1e-9)  # half of the unit of the third digit


def test_confidences_that_agree_in_three_digits_are_ranked_by_the_fourth():
    found = ByHand([0.30011, 0.30019, 0.3007], {"b": [0], "c": [1], "d": [2]}).found()
    assert found["b"] == found["c"] < found["d"] < 0.301


@settings(max_examples=40, deadline=None)
@given(table=tables, overlap=st.sampled_from([0.2, 0.5, 1.0]))
def test_a_rule_joins_the_first_cluster_whose_opening_rule_predicts_much_the_same_facts(reader, table, overlap):
    rules = learnt(table)
    application, proposed = RuleApplication(table, rules, "clustered", overlap), reader(table).proposals(rules)
    for relation in range(len(table.relations)):
        of = shares(rules, relation)
        predicted = [set() for _ in of]
        for s, _, o in table.of_relation(relation).tolist():
            for place in proposed[s, relation, o] if s != o else ():
                predicted[place].add((s, o))
        wanted, opening = [-1] * len(of), []
        for place in sorted(range(len(of)), key=lambda place: (-of[place], place)):
            near = [
                number
                for number, one in enumerate(opening)
                if len(predicted[one] & predicted[place]) >= overlap * len(predicted[one] | predicted[place]) > 0
            ]
            if not near:
                opening.append(place)
            wanted[place] = near[0] if near else len(opening) - 1
        assert application.clusters_of(relation).tolist() == wanted


def test_a_step_is_lacking_where_a_rule_may_lead_to_an_entity_that_a_node_has_not():
    facts = [*(Triple("a", "r", end) for end in "bc"), Triple("b", "r", "c"), Triple("c", "r", "c")]
    facts += [Triple("a", "s", "b"), Triple("b", "t", "b")]
    table = TripleTable.from_triples(facts)
    paths = PathRules(np.array([0]), np.array([[2, -1, -1]]), np.array([1]), np.array([1]))
    nothing = np.zeros(0, dtype=np.int64)
    constants = ConstantRules(nothing, nothing.astype(bool), *[nothing] * 5)
    application = RuleApplication(table, Rules(table.entities, table.relations, paths, constants, "", ""))
    a, b, c = range(3)
    # Of r the objects are b and c, and the subjects a and b; no node is its own.
    assert [application.lacks(node, Step("r")) for node in (a, b, c)] == [False, False, True]
    assert [application.lacks(node, Step("r", True)) for node in (a, b, c)] == [True, False, False]
    assert not application.lacks(c, Step("s"))
    one = [np.array([value]) for value in (1, 1, NOTHING, NOTHING, 1, 1)]
    known = ConstantRules(np.array([1]), np.array([False]), *one[1:])
    application = RuleApplication(table, Rules(table.entities, table.relations, paths, known, "", ""))
    assert application.lacks(c, Step("s"))
    assert not application.lacks(b, Step("t"))
