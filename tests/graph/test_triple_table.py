"""The triple table: numbers of ids, fillers, membership, and tables without some triples, against plain lists."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from srtk_framework.graph import TripleTable
from srtk_framework.testing import SAMPLE, OracleGraph
from srtk_framework.values import DriverError, Literal, Step, Triple

ids = st.sampled_from([*"abcdef", "Ａ", "𝔊"])
triples = st.lists(st.builds(Triple, ids, st.sampled_from("rst"), st.one_of(ids, st.just(Literal('"1"')))))


@given(triples)
def test_the_rows_are_the_distinct_triples_between_entities(facts):
    table = TripleTable.from_triples(facts)
    wanted = sorted({t for t in facts if not isinstance(t.object, Literal)}, key=lambda t: (t[1], t[0], t[2]))
    assert table.named(table.triples) == wanted
    assert table.triples.dtype == np.int32
    assert list(table.entities) == sorted({end for t in wanted for end in (t.subject, t.object)})
    assert list(table.relations) == sorted({t.relation for t in wanted})
    assert table.numbers(wanted).tolist() == table.triples.tolist()


@given(triples)
def test_fillers_are_the_entities_that_a_step_reaches(facts):
    table = TripleTable.from_triples(facts)
    held = set(table.named(table.triples))
    for entity, e in table.entity_numbers.items():
        for relation, r in table.relation_numbers.items():
            objects = sorted(t.object for t in held if t[:2] == (entity, relation))
            subjects = sorted(t.subject for t in held if t[1:] == (relation, entity))
            assert [table.entities[n] for n in table.fillers(e, r).tolist()] == objects
            assert [table.entities[n] for n in table.fillers(e, r, inverse=True).tolist()] == subjects


@given(triples, triples)
def test_a_table_holds_its_triples_alone(facts, others):
    table = TripleTable.from_triples(facts)
    held = set(table.named(table.triples))
    asked = [*facts, *others, Triple("nobody", "r", "a"), Triple("a", "nothing", "a")]
    assert table.holds(table.numbers(asked)).tolist() == [triple in held for triple in asked]


@given(triples, triples)
def test_a_table_without_triples_keeps_all_numbers(facts, hidden):
    table = TripleTable.from_triples(facts)
    rest = table.without([*hidden, *facts[:2], Triple("nobody", "r", "a")])
    gone = {*hidden, *facts[:2]}
    assert rest.named(rest.triples) == [t for t in table.named(table.triples) if t not in gone]
    assert (rest.entities, rest.relations) == (table.entities, table.relations)


@given(triples)
def test_the_steps_of_entities_are_those_of_their_triples(facts):
    table = TripleTable.from_triples(facts)
    held = table.named(table.triples)
    wanted = {(t.subject, Step(t.relation)) for t in held} | {(t.object, Step(t.relation, True)) for t in held}
    nodes, steps = table.step_numbers()
    found = [(table.entities[n], table.step(s)) for n, s in zip(nodes.tolist(), steps.tolist(), strict=True)]
    assert found == sorted(wanted)
    assert [table.step_number(step) for _, step in found] == steps.tolist()
    assert table.step_number(Step("nothing")) == -1


def test_the_rows_of_a_relation_are_sorted_by_subject_and_object():
    table = TripleTable.from_triples([Triple(*row) for row in ("brz", "aqx", "arz", "ary", "asx")])
    assert table.named(table.of_relation(table.relation_numbers["r"])) == [
        Triple("a", "r", "y"),
        Triple("a", "r", "z"),
        Triple("b", "r", "z"),
    ]


def test_a_graph_is_read_whole_without_its_literals():
    graph = OracleGraph()
    graph.open()
    table = TripleTable.of(graph)
    assert sorted(table.named(table.triples)) == sorted(SAMPLE.without_literals().triples)


def test_a_graph_that_cannot_list_its_triples_is_an_error_that_names_the_way_out():
    class Endless(OracleGraph):
        def match(self, patterns):
            raise DriverError("bind an end")

    with pytest.raises(DriverError, match=r"oracle:\w+ cannot be listed \(bind an end\); make a snapshot"):
        TripleTable.of(Endless())


@given(triples, triples)
def test_the_hash_of_a_table_is_that_of_its_triples(some, others):
    table = TripleTable.from_triples([*some, *others])
    apart = TripleTable.from_triples(set(some) - set(others))
    assert table.without(others).content_hash() == apart.content_hash()
    same = table.named(table.triples) == apart.named(apart.triples)
    assert (table.content_hash() == apart.content_hash()) == same


@given(triples, triples)
def test_a_compact_table_has_the_triples_and_their_ids_alone(some, others):
    left = TripleTable.from_triples([*some, *others]).without(others)
    compact = left.compact()
    assert compact.named(compact.triples) == left.named(left.triples)
    assert list(compact.entities) == sorted({end for s, _, o in left.named(left.triples) for end in (s, o)})
    assert list(compact.relations) == sorted({r for _, r, _ in left.named(left.triples)})
