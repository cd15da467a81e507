"""Rules have the support and the body that reading the graph triple by triple gives."""

from __future__ import annotations

import attrs
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from srtk_plugin_patterns import rule_learner
from srtk_plugin_patterns.mining import mine
from srtk_plugin_patterns.path_patterns import MinedPath, MiningSettings, PathPatterns, RelationPaths
from srtk_plugin_patterns.rule_learner import RuleFitSettings, constant_rules, path_rules
from srtk_plugin_patterns.rules import NOTHING

from srtk_framework.graph import TripleTable
from srtk_framework.values import Step, Triple

MINED = MiningSettings(length=3, hub=None, least=1, most=None)
ALL = RuleFitSettings(least_support=1, least_confidence=0.0, paths=None, constants=None)
ids = st.sampled_from("abcdef")
tables = st.builds(
    TripleTable.from_triples, st.lists(st.builds(Triple, ids, st.sampled_from("rst"), ids), min_size=1, max_size=14)
)


def paths_of(table, relation, rules):
    number = table.relation_numbers[relation]
    return {
        ", ".join(str(table.step(step)) for step in steps if step != NOTHING): (support, body)
        for of, steps, support, body in zip(
            rules.relations.tolist(), rules.steps.tolist(), rules.support.tolist(), rules.body.tolist(), strict=True
        )
        if of == number
    }


def constants_of(table, relation, rules):
    number, name = table.relation_numbers[relation], [*table.entities, "any"]
    return {
        (
            "subject" if at else "object",
            name[c],
            "" if step == NOTHING else str(table.step(step)),
            "" if step == NOTHING else name[value],
        ): (support, body)
        for of, at, c, step, value, support, body in zip(
            *(getattr(rules, field.name).tolist() for field in attrs.fields(type(rules))), strict=True
        )
        if of == number
    }


def test_the_paths_of_nationality_have_the_pairs_counted_by_hand(people):
    rules, _ = path_rules(people, mine(people, MINED), ALL)
    found = paths_of(people, "nationality", rules)
    # Five people were born in a city of a country; four of them have that nationality.
    assert found["born_in, city_of"] == (4, 5)
    # Eve has no nationality but neighbours who do; ann's neighbours imply hers.
    assert found["born_in, ^born_in, nationality"] == (4, 5)
    assert found["works_in"] == (1, 2)
    # Actors ann and cid imply each other's; of the singers none works anywhere.
    assert found["profession, ^profession, works_in"] == (1, 2)


def test_the_constants_of_nationality_have_the_entities_counted_by_hand(people):
    rules, _ = constant_rules(people, ALL)
    found = constants_of(people, "nationality", rules)
    assert found["object", "latvia", "born_in", "riga"] == (2, 3)
    assert found["object", "latvia", "", ""] == (2, 4)
    assert found["object", "latvia", "profession", "any"] == (2, 4)
    # Of those who work anywhere but in Latvia there is none.
    assert ("object", "latvia", "works_in", "any") not in found
    assert found["object", "norway", "works_in", "any"] == (1, 2)
    assert found["subject", "ann", "^works_in", "cid"] == (1, 1)


@settings(max_examples=80, deadline=None)
@given(table=tables)
def test_paths_are_counted_as_by_walking_every_one(reader, table):
    rules, cut = path_rules(table, mine(table, MINED), ALL)
    plain = reader(table)
    assert not any(cut.values())
    for relation, steps, support, body in zip(
        rules.relations.tolist(), rules.steps.tolist(), rules.support, rules.body, strict=True
    ):
        pairs = plain.pairs(tuple(step for step in steps if step != NOTHING))
        assert (support, body) == (sum(plain.holds(s, relation, o) for s, o in pairs), len(pairs))


@settings(max_examples=80, deadline=None)
@given(table=tables)
def test_constants_are_found_and_counted_as_by_trying_every_one(reader, table):
    rules, _ = constant_rules(table, ALL)
    plain = reader(table)
    found = {
        row[:5]: row[5:]
        for row in zip(*(getattr(rules, field.name).tolist() for field in attrs.fields(type(rules))), strict=True)
    }
    wanted = {}
    every, anything = range(len(table.entities)), [*range(len(table.entities)), NOTHING]
    for relation in range(len(table.relations)):
        for at in (False, True):
            for constant in every:
                for step in range(NOTHING, 2 * len(table.relations)):
                    for value in [NOTHING] if step == NOTHING else anything:
                        if (step, value) == (2 * relation + at, constant):
                            continue
                        body = plain.body(relation, at, constant, step, value)
                        pairs = [(constant, node) if at else (node, constant) for node in body]
                        support = sum(plain.holds(s, relation, o) for s, o in pairs)
                        if support:
                            wanted[relation, at, constant, step, value] = (support, len(body))
    assert found == wanted


def test_a_body_too_large_for_the_least_confidence_is_counted_no_further_and_told(people):
    kept, cut = path_rules(people, mine(people, MINED), attrs.evolve(ALL, least_confidence=0.3))
    assert kept.confidence.min() >= 0.3
    every, _ = path_rules(people, mine(people, MINED), ALL)
    assert len(kept) == (every.confidence >= 0.3).sum()
    assert cut["weak_paths"] + cut["large_bodies"] >= 1


def test_patterns_mined_within_bounds_give_the_same_counts(people):
    bounded = mine(people, attrs.evolve(MINED, hub=1))
    rules, _ = path_rules(people, bounded, ALL)
    exact, _ = path_rules(people, mine(people, MINED), ALL)
    some, every = (paths_of(people, "nationality", one) for one in (rules, exact))
    assert some
    assert some.items() <= every.items()


def test_longer_paths_are_left_out_and_counted(people):
    long = MinedPath((Step("born_in"),) * 4, 3, 3)
    patterns = PathPatterns({"nationality": RelationPaths("nationality", 4, 4, (long,))}, MINED, "", {})
    rules, cut = path_rules(people, patterns, ALL)
    assert (len(rules), cut["long_paths"]) == (0, 1)


def test_the_most_confident_rules_of_each_relation_are_kept(people):
    patterns = mine(people, MINED)
    few, cut = path_rules(people, patterns, attrs.evolve(ALL, paths=2))
    every, _ = path_rules(people, patterns, ALL)
    for relation in np.unique(every.relations):
        mine_, all_ = few[few.relations == relation], every[every.relations == relation]
        assert mine_.confidence.tolist() == all_.confidence.tolist()[:2]
    assert cut["paths_over_most"] == len(every) - len(few)
    constants, dropped = constant_rules(people, attrs.evolve(ALL, constants=0))
    assert set(constants.steps.tolist()) == {NOTHING}
    assert dropped["constants_over_most"] > 0


def test_blocks_of_any_size_give_the_same_counts(people, monkeypatch):
    whole = path_rules(people, mine(people, MINED), ALL)[0], constant_rules(people, ALL)[0]
    monkeypatch.setattr(rule_learner, "_COST", 1)
    monkeypatch.setattr(rule_learner, "_FIRST_ROWS", 1)
    parts = path_rules(people, mine(people, MINED), ALL)[0], constant_rules(people, ALL)[0]
    for one, other in zip(whole, parts, strict=True):
        for field in attrs.fields(type(one)):
            assert np.array_equal(getattr(one, field.name), getattr(other, field.name))


@pytest.mark.parametrize(
    ("name", "value"),
    [("least_support", 0), ("least_confidence", 1.0), ("least_confidence", -0.1), ("paths", 0), ("constants", -1)],
)
def test_settings_out_of_range_are_refused(name, value):
    with pytest.raises(ValueError, match=name):
        RuleFitSettings(**{name: value})
