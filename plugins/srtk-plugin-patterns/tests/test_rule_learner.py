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


def ordered(rules):
    """Return what rules are sorted by: their relation and end, then the most confident first."""
    steps = rules.steps.tolist()
    if hasattr(rules, "at_subject"):
        places = zip(rules.relations.tolist(), rules.at_subject.tolist(), strict=True)
        ties = list(zip(steps, rules.values.tolist(), rules.constants.tolist(), strict=True))
    else:
        places = zip(rules.relations.tolist(), strict=True)
        ties = [(len([step for step in row if step != NOTHING]), *row) for row in steps]
    columns = zip(places, (-rules.confidence).tolist(), (-rules.support).tolist(), ties, strict=True)
    return list(columns)


@settings(max_examples=60, deadline=None)
@given(
    table=tables,
    support=st.integers(1, 3),
    share=st.sampled_from([0.0, 0.1, 0.125, 0.2, 0.25]),
    hub=st.sampled_from([None, 1]),
    pairs=st.sampled_from([None, 1]),
    most=st.sampled_from([None, 1, 2]),
)
def test_the_paths_that_are_kept_are_those_of_all_that_are_right_often_enough(table, support, share, hub, pairs, most):
    mined = mine(table, attrs.evolve(MINED, hub=hub, pairs=pairs))
    asked = attrs.evolve(ALL, least_support=support, least_confidence=share)
    whole, _ = path_rules(table, mined, ALL)
    kept, cut = path_rules(table, mined, asked)
    strong = whole[(whole.support >= support) & (whole.support >= share * (whole.body + 5))]
    assert ordered(kept) == ordered(strong) == sorted(ordered(strong))
    paths = sum(len(one.paths) for one in mined.relations.values())
    assert cut["paths_over_most"] == 0
    assert len(kept) + cut.get("weak_paths", 0) + cut.get("large_bodies", 0) <= paths
    if not cut.get("large_bodies"):
        assert len(kept) + cut.get("weak_paths", 0) == paths
    few, cut = path_rules(table, mined, attrs.evolve(asked, paths=most))
    first = [row for number in range(3) for row in [one for one in ordered(kept) if one[0] == (number,)][:most]]
    assert ordered(few) == first
    assert cut["paths_over_most"] == len(kept) - len(few)


@settings(max_examples=60, deadline=None)
@given(
    table=tables,
    support=st.integers(1, 3),
    share=st.sampled_from([0.0, 0.1, 0.125, 0.2, 0.25]),
    most=st.integers(0, 3),
)
def test_the_constants_that_are_kept_are_those_of_all_that_are_right_often_enough(table, support, share, most):
    asked = attrs.evolve(ALL, least_support=support, least_confidence=share)
    whole, plain = constant_rules(table, attrs.evolve(asked, least_confidence=0.0))
    every, _ = constant_rules(table, ALL)
    often = every[every.support >= support]
    assert ordered(whole) == ordered(often) == sorted(ordered(often))
    kept, cut = constant_rules(table, asked)
    # A rule without a body is kept whatever its confidence.
    strong = often[(often.steps == NOTHING) | (often.support >= share * (often.body + 5))]
    assert ordered(kept) == ordered(strong)
    assert len(kept) + cut["weak_constants"] == len(whole) + plain["weak_constants"]
    few, over = constant_rules(table, attrs.evolve(asked, constants=most))
    bodies = kept.steps != NOTHING
    firsts = []
    for relation in range(len(table.relations)):
        for at in (False, True):
            mine_ = (kept.relations == relation) & (kept.at_subject == at)
            firsts += sorted(ordered(kept[mine_ & bodies])[:most] + ordered(kept[mine_ & ~bodies]))
    assert ordered(few) == firsts
    assert over["constants_over_most"] == len(kept) - len(few)


def test_a_body_is_too_large_where_even_its_mined_pairs_would_not_be_enough():
    # Eight pairs of the path s, of which r has two: 2 / (8 + 5).
    facts = [Triple(f"a{n}", "s", f"b{n}") for n in range(8)]
    facts += [Triple(f"a{n}", "r", f"b{n}") for n in range(2)]
    table = TripleTable.from_triples(facts)
    (path,) = mine(table, attrs.evolve(MINED, length=1, twins=None)).of("r").paths
    patterns = PathPatterns({"r": RelationPaths("r", 2, 2, (path,))}, attrs.evolve(MINED, length=1), "", {})
    for share, kept, cut in ((2 / 13, 1, {}), (0.16, 0, {"large_bodies": 1})):
        rules, told = path_rules(table, patterns, attrs.evolve(ALL, least_confidence=share))
        assert (len(rules), told) == (kept, {**cut, "paths_over_most": 0})
    # Pairs that were mined within bounds are fewer than there are; the relation has no more than its facts.
    for bound in ({"hub": 9}, {"pairs": 1}):
        some = PathPatterns(
            {"r": RelationPaths("r", 2, 1, (attrs.evolve(path, pairs=1),))}, attrs.evolve(MINED, **bound), "", {}
        )
        rules, told = path_rules(table, some, attrs.evolve(ALL, least_support=2, least_confidence=2 / 13))
        assert (rules.support.tolist(), told) == ([2], {"paths_over_most": 0})
        rules, told = path_rules(table, some, attrs.evolve(ALL, least_support=3))
        assert (len(rules), told) == (0, {"weak_paths": 1, "paths_over_most": 0})


def test_a_rare_relation_of_a_path_with_many_pairs_is_counted_alike(reader):
    people = [f"p{n:02}" for n in range(60)]
    facts = [Triple(person, "born_in", f"c{n % 3}") for n, person in enumerate(people)]
    facts += [Triple(f"c{n}", "city_of", f"l{n % 2}") for n in range(3)]
    facts += [Triple("p05", "lives", "l0"), Triple("p40", "lives", "l1"), Triple("p41", "lives", "l1")]
    facts += [Triple("c2", "lives", "l0"), Triple("l1", "lives", "c1")]
    table = TripleTable.from_triples(facts)
    rules, _ = path_rules(table, mine(table, attrs.evolve(MINED, twins=None)), ALL)
    plain = reader(table)
    assert paths_of(table, "lives", rules)["born_in, city_of"] == (2, 60)
    for relation, steps, support, body in zip(
        rules.relations.tolist(), rules.steps.tolist(), rules.support, rules.body, strict=True
    ):
        pairs = plain.pairs(tuple(step for step in steps if step != NOTHING))
        assert (support, body) == (sum(plain.holds(s, relation, o) for s, o in pairs), len(pairs))


def test_of_equally_confident_rules_the_one_that_was_right_more_often_comes_first():
    # Of seven with s two have r, and of one with q one: 2 / (7 + 5) and 1 / (1 + 5).
    facts = [Triple(f"a{n}", "s", f"b{n}") for n in range(7)] + [Triple(f"a{n}", "r", f"b{n}") for n in range(2)]
    table = TripleTable.from_triples([*facts, Triple("a0", "q", "b0")])
    settings_ = attrs.evolve(ALL, twins=None)
    rules, _ = path_rules(table, mine(table, attrs.evolve(MINED, length=1, twins=None)), settings_)
    mine_ = rules[rules.relations == table.relation_numbers["r"]]
    assert list(zip(mine_.support.tolist(), mine_.body.tolist(), strict=True)) == [(2, 7), (1, 1)]
    facts = [Triple(f"a{n}", "s", "v") for n in range(7)] + [Triple(f"a{n}", "r", "c") for n in range(2)]
    table = TripleTable.from_triples([*facts, Triple("a0", "q", "w")])
    for most, wanted in ((None, [(2, 7), (2, 7), (1, 1), (1, 1)]), (2, [(2, 7), (2, 7)]), (1, [(2, 7)])):
        rules, _ = constant_rules(table, attrs.evolve(settings_, constants=most))
        own = (rules.relations == table.relation_numbers["r"]) & ~rules.at_subject & (rules.steps != NOTHING)
        found = list(zip(rules.support[own].tolist(), rules.body[own].tolist(), strict=True))
        assert found == wanted
