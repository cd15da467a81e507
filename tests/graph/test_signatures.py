"""Signatures: steps that entities can have, by their classes or by the steps that they have, against plain sets."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from srtk_framework.graph import Signatures, TripleTable, signatures
from srtk_framework.values import Schema, Step, Triple

ids = st.sampled_from("abcdef")
triples = st.lists(st.builds(Triple, ids, st.sampled_from(["r", "s", "type"]), ids), max_size=12)
TYPED = Schema(type_relations=("type", "absent"))


def steps_of(facts, node):
    forward = {Step(t.relation) for t in facts if t.subject == node}
    return forward | {Step(t.relation, True) for t in facts if t.object == node}


def can_have(facts, node, types):
    """Say plainly which steps an entity can have."""
    nodes = {end for t in facts for end in (t.subject, t.object)}
    classes = {t.object for t in facts if t.subject == node and t.relation in types}
    if classes:
        alike = {t.subject for t in facts if t.relation in types and t.object in classes}
        return set().union(*(steps_of(facts, other) for other in alike))
    mine = steps_of(facts, node)
    return set().union(*(found for other in nodes if (found := steps_of(facts, other)) & mine))


@given(triples, st.sampled_from([Schema(), TYPED]), st.booleans())
def test_offers_are_the_steps_of_entities_alike(facts, schema, inverse):
    found = Signatures.of(TripleTable.from_triples(facts), schema)
    for nodes in (["a"], ["b", "c"], ["nobody"], []):
        known = [n for n in nodes if any(n in (t.subject, t.object) for t in facts)]
        wanted = set().union(*(can_have(facts, node, schema.type_relations) for node in known))
        assert found.offers([nodes], inverse) == [sorted(step for step in wanted if inverse or not step.inverse)]


@given(triples, st.sampled_from([Schema(), TYPED]))
def test_what_can_have_a_step_is_what_it_is_offered_at(facts, schema):
    table = TripleTable.from_triples(facts)
    found = Signatures.of(table, schema)
    offered = found.offers([[entity] for entity in table.entities], True)
    for relation in (*table.relations, "nothing"):
        for step in (Step(relation), Step(relation, True)):
            assert found.can_have(step).tolist() == [step in row for row in offered]


@given(triples)
def test_entities_joined_in_parts_give_the_same(facts):
    table = TripleTable.from_triples(facts)
    whole = Signatures.of(table, Schema()).offers([[entity] for entity in table.entities], True)
    kept, signatures._PART = signatures._PART, 3
    try:
        parts = Signatures.of(table, Schema()).offers([[entity] for entity in table.entities], True)
    finally:
        signatures._PART = kept
    assert parts == whole


def test_a_person_without_a_birthplace_is_offered_one_and_a_town_is_not():
    facts = [
        Triple("Ada", "born_in", "London"),
        Triple("Ada", "works_as", "writer"),
        Triple("Ben", "works_as", "writer"),
        Triple("London", "part_of", "England"),
    ]
    table = TripleTable.from_triples(facts)
    found = Signatures.of(table, Schema())
    assert found.offers([["Ben"], ["London"]], False) == [[Step("born_in"), Step("works_as")], [Step("part_of")]]
    # What may fill (Ben, born_in, ?) is what can be born in.
    can = found.can_have(Step("born_in", True))
    assert [entity for entity, fits in zip(table.entities, can.tolist(), strict=True) if fits] == ["London"]
