"""The ``frequency`` completer: shares, order, what is held, and where steps are offered."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from srtk_plugin_baselines.frequency import FrequencyCompleter
from srtk_plugin_local.memory import MemoryGraph

from srtk_framework.testing import OracleGraph
from srtk_framework.values import DriverError, Pattern, Step, Triple

FACTS = [
    ["Ada", "speaks", "English"],
    ["Ben", "speaks", "English"],
    ["Cem", "speaks", "Turkish"],
    ["Cem", "speaks", "English"],
    ["Dia", "works_as", "nurse"],
    ["Ada", "works_as", "nurse"],
    ["Ada", "height", '"170"^^xsd:integer'],
]


def completer(facts=FACTS, unknown=False, **settings):
    made = FrequencyCompleter(graph=MemoryGraph(triples=facts, **settings), unknown=unknown)
    made.open()
    return made


def shares(row):
    return [(one.triple, one.confidence) for one in row]


def test_the_confidence_is_the_share_of_the_relations_triples():
    (row,) = completer().complete([Pattern("Dia", "speaks")], None)
    assert shares(row) == [(Triple("Dia", "speaks", "English"), 0.75), (Triple("Dia", "speaks", "Turkish"), 0.25)]
    assert row[0].evidence[0].text == "3 of 4 triples have it"


def test_what_is_held_is_passed_over_before_the_limit_counts():
    found = completer().complete([Pattern("Ada", "speaks"), Pattern("Cem", "speaks")], 1)
    assert [shares(row) for row in found] == [[(Triple("Ada", "speaks", "Turkish"), 0.25)], []]


def test_the_open_subject_is_counted_as_well():
    (row,) = completer().complete([Pattern(None, "speaks", "Turkish")], None)
    assert shares(row) == [(Triple("Ada", "speaks", "Turkish"), 0.25), (Triple("Ben", "speaks", "Turkish"), 0.25)]


def test_entities_that_the_graph_lacks_get_the_most_frequent_fillers_if_they_are_wanted():
    patterns = [Pattern("Eva", "speaks"), Pattern(None, "speaks", "Finnish"), Pattern("Eva", "height")]
    assert completer().complete(patterns, None) == [[], [], []]
    found = completer(unknown=True).complete(patterns, 2)
    assert [shares(row) for row in found] == [
        [(Triple("Eva", "speaks", "English"), 0.75), (Triple("Eva", "speaks", "Turkish"), 0.25)],
        [(Triple("Cem", "speaks", "Finnish"), 0.5), (Triple("Ada", "speaks", "Finnish"), 0.25)],
        [],
    ]
    assert found[0][0].evidence[0].text == "3 of 4 triples have it"


def test_entities_of_the_graph_are_completed_alike_whether_others_are_or_not():
    patterns = [Pattern("Ada", "speaks"), Pattern("Cem", "speaks"), Pattern(None, "works_as", "nurse")]
    assert completer(unknown=True).complete(patterns, None) == completer().complete(patterns, None)


def test_literals_are_neither_counted_nor_proposed():
    assert completer().complete([Pattern("Ben", "height")], None) == [[]]


def test_a_relation_with_one_filler_stays_below_one():
    (row,) = completer().complete([Pattern("Ben", "works_as")], None)
    assert shares(row) == [(Triple("Ben", "works_as", "nurse"), 0.999999)]


def test_a_step_is_offered_to_entities_alike_unless_all_its_fillers_are_held():
    made = completer()
    assert made.offers([["Ben"], ["Ada"], ["Cem"], ["Dia"], ["English"], ["Ben", "Ada"]], False) == [
        [Step("speaks"), Step("works_as")],  # Ada speaks too, and works
        [Step("speaks")],  # the only profession is hers
        [Step("works_as")],  # speaks every language
        [Step("speaks")],
        [],
        [Step("speaks"), Step("works_as")],
    ]
    assert made.offers([["Turkish"]], True) == [[Step("speaks", True)]]


def test_classes_decide_where_the_schema_has_type_relations():
    facts = [*FACTS, ["Ada", "type", "Person"], ["Ben", "type", "Person"], ["Cem", "type", "Robot"]]
    made = completer(facts, type_relations=["type"])
    assert made.offers([["Ben"], ["Cem"]], False) == [[Step("speaks"), Step("type"), Step("works_as")], [Step("type")]]


def test_a_completer_that_is_not_open_says_so():
    made = FrequencyCompleter(graph=MemoryGraph(triples=FACTS))
    with pytest.raises(DriverError, match="not open"):
        made.complete([Pattern("Ada", "speaks")], 1)
    with pytest.raises(DriverError, match="not open"):
        made.offers([["Ada"]], False)


def test_a_graph_that_cannot_list_its_triples_is_refused():
    class Endless(OracleGraph):
        def match(self, patterns):
            raise DriverError("bind an end")

    with pytest.raises(DriverError, match="make a snapshot"):
        FrequencyCompleter(graph=Endless()).open()


names = st.sampled_from("abcdef")


@given(st.lists(st.tuples(names, st.sampled_from("rs"), names), min_size=1), st.sampled_from([None, 1, 2]))
def test_completions_and_rates_are_those_of_a_plain_count(facts, limit):
    made = completer(facts)
    held = {Triple(*fact) for fact in facts}
    for entity in sorted({end for t in held for end in (t.subject, t.object)}):
        for relation in "rs":
            counts = Counter(t.object for t in held if t.relation == relation)
            ranked = sorted(counts, key=lambda end: (-counts[end], end))
            lacking = [end for end in ranked if Triple(entity, relation, end) not in held]
            (row,) = made.complete([Pattern(entity, relation)], limit)
            assert [one.triple.object for one in row] == lacking[:limit]
            (rates,) = made.rate([Pattern(entity, relation)], [[*"abcdef", "z"]])
            total = max(sum(counts.values()), 1)
            assert rates == pytest.approx([counts[end] / total for end in "abcdef"] + [0], abs=1e-5)
