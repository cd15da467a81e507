"""Typed readers of the fields of records."""

from __future__ import annotations

import pytest

from srtk_framework.records import record_fields as fields
from srtk_framework.values import NIL, InputError, Link, Literal, RankedPath, Step, Triple


@pytest.mark.parametrize(
    ("read", "value", "found"),
    [
        (fields.string, "a", "a"),
        (fields.term, "Q1", "Q1"),
        (fields.term, '"1"', Literal('"1"')),
        (fields.term, '"', '"'),
        (fields.number, 3, 3.0),
        (fields.index, -1, -1),
        (fields.path, ["r", "^s"], (Step("r"), Step("s", True))),
        (fields.ranked_path, ["r"], RankedPath("", (Step("r"),), 0.0)),
        (fields.ranked_path, {"entity": "e", "steps": [], "score": 1}, RankedPath("e", (), 1.0)),
        (fields.triple, ["a", "r", '"x"@en'], Triple("a", "r", Literal('"x"@en'))),
        (fields.scored_triple, ["a", "r", "b"], (Triple("a", "r", "b"), None)),
        (fields.scored_triple, ["a", "r", "b", 2], (Triple("a", "r", "b"), 2.0)),
        (fields.qualifiers, [["since", '"1"']], (("since", Literal('"1"')),)),
        (fields.labels, None, {}),
        (fields.labels, {"a": "A"}, {"a": "A"}),
        (fields.gold_link, {"entity": None, "optional": True}, Link(NIL, 0.0)),
        (fields.gold_link, {"entity": "e", "start": 0, "end": 2, "name": "E"}, Link("e", 1.0, 0, 2, "E")),
    ],
)
def test_a_value_is_read_with_its_type(read, value, found):
    got = read(value, "f:1", "x")
    assert got == found
    assert type(got) is type(found)


@pytest.mark.parametrize(
    ("read", "value", "text"),
    [
        (fields.string, None, "field 'x' is missing; it must be a string"),
        (fields.number, True, "field 'x' must be a number, not True"),
        (fields.number, 10**400, "field 'x' must be a number that a float can hold"),
        (fields.index, -2, "field 'x' must be a whole number from -1"),
        (fields.index, 1.0, "field 'x' must be a whole number from -1"),
        (fields.path, ["r", 1], r"field 'x\[1\]' must be a string"),
        (fields.ranked_path, {"steps": []}, "field 'x.entity' is missing"),
        (fields.triple, ["a", "r", "b", 1.0], r"field 'x' must be a list \[subject, relation, object\]"),
        (fields.qualifiers, [["since"]], r"field 'x\[0\]' must be a list \[relation, value\]"),
        (fields.labels, {"a": 1}, "field 'x.a' must be a string"),
        (fields.gold_link, {"entity": "e", "start": 1}, "field 'x' has a start or an end alone"),
        (fields.gold_link, {"entity": "e", "start": 1, "end": 1}, r"field 'x' has the span \[1, 1\]"),
    ],
)
def test_a_value_of_another_form_is_refused_with_place_and_field(read, value, text):
    with pytest.raises(InputError, match=f"^f:1: {text}"):
        read(value, "f:1", "x")


def test_a_long_value_is_cut_in_the_message():
    with pytest.raises(InputError) as caught:
        fields.string(["x" * 10_000], "f:1", "x")
    assert len(str(caught.value)) < 200


def test_a_parallel_list_must_be_as_long_as_its_items():
    assert fields.column({}, "spans", "names", 2, "f:1", fields.string) is None
    assert fields.column({"spans": ["a", "b"]}, "spans", "names", 2, "f:1", fields.string) == ["a", "b"]
    with pytest.raises(InputError, match="field 'spans' has 1 items and 'names' has 2; give one for each"):
        fields.column({"spans": ["a"]}, "spans", "names", 2, "f:1", fields.string)


def test_links_take_their_span_name_and_score_from_parallel_fields():
    record = {"question_entities": ["a", "b"], "spans": [[0, 1], None], "entity_names": [None, "B"]}
    assert fields.links(record, "f:1") == (Link("a", 1.0, 0, 1), Link("b", 1.0, None, None, "B"))
    assert fields.links({}, "f:1") == ()
