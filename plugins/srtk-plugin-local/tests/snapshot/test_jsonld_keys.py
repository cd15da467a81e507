"""Keys of JSON-LD that stand for no relation are counted, as far as the contexts of the file tell."""

from __future__ import annotations

import json
from typing import Any

import pytest
from srtk_plugin_local.snapshot.input_report import DIRECTIONS, FileReport
from srtk_plugin_local.snapshot.jsonld_keys import note_lost_keys
from srtk_plugin_local.snapshot.limits import MAX_DEPTH

from srtk_framework.values import InputError

BARE, BLANK = "keys without an IRI", "keys that are blank nodes"


def read(data: Any) -> FileReport:
    report = FileReport("a.jsonld", "jsonld")
    note_lost_keys(data if isinstance(data, bytes) else json.dumps(data, indent=0).encode(), report)
    return report


def lost(context: Any, **more: Any) -> dict[str, int]:
    """Count the keys of a document with this context that are lost, by reason."""
    report = read({"@context": context, "@id": "http://x/a", **more})
    return {reason: entry[0] for reason, entry in report.skipped.items()}


@pytest.mark.parametrize(
    ("context", "counted"),
    [
        ({}, True),
        (None, True),
        ({"q": "http://x/q"}, True),
        ({"p": "http://x/p"}, False),
        ([{"q": "http://x/q"}, {"p": "http://x/p"}], False),
        ("http://x/context", False),  # elsewhere, where any key may be defined
        ([{"q": "http://x/q"}, "http://x/context"], False),
        ({"@vocab": "http://x/"}, False),
        ({"q": {"@id": "http://x/q", "@context": {"p": "http://x/p"}}}, False),
        ({"q": {"@id": "http://x/q", "@context": {"r": "http://x/p"}}}, True),
        ({"q": {"@id": "http://x/q", "@container": "@language"}}, False),  # whose keys are languages
        ({"q": {"@id": "http://x/q", "@container": ["@index", "@set"]}}, False),
        ({"q": {"@id": "http://x/q", "@container": "@list"}}, True),
        ({"q": {"@id": "http://x/q", "@container": ["@set"]}}, True),
        ({"q": {"@id": "http://x/q", "@type": "@json"}}, False),
        ({"q": {"@id": "http://x/q", "@type": "@id"}}, True),
    ],
)
def test_a_key_counts_where_no_context_may_define_it(context: Any, counted: bool) -> None:
    assert lost(context, p="x") == ({BARE: 1} if counted else {})


def test_keys_with_a_colon_an_at_sign_or_without_a_value_are_not_counted() -> None:
    assert lost({}, **{"http://x/p": "x", "x:y": "x", "@type": "http://x/T", "gone": None}) == {}
    assert lost({}, p=1, q={"r": [{"s": 2}], "@id": "http://x/b"}) == {BARE: 4}


@pytest.mark.parametrize(
    ("context", "keys", "counted"),
    [
        ({}, ("_:p", "_:"), 2),
        ({"b": "_:b"}, ("b", "b:x", "c:x"), 2),
        ({"b": {"@id": "_:b"}, "c": "http://x/c"}, ("b", "c"), 1),
        ({"@vocab": "_:"}, ("p", "q"), 2),
        ({"@vocab": "_:", "p": "http://x/p"}, ("p", "p:x", "q"), 1),
        ({"@vocab": "http://x/"}, ("p",), 0),
    ],
)
def test_a_key_that_is_a_blank_node_is_counted_as_one(context: Any, keys: tuple[str, ...], counted: int) -> None:
    assert lost(context, **dict.fromkeys(keys, "x")) == ({BLANK: counted} if counted else {})


def test_what_stands_in_a_plain_value_is_no_key() -> None:
    assert lost({"v": "@value"}, **{"http://x/p": [{"@value": {"p": 1}}, {"v": {"p": 1}}]}) == {}
    assert lost({"w": "@id"}, **{"http://x/p": {"w": {"p": 1}}}) == {BARE: 1}


def test_the_line_of_the_first_key_of_each_kind_is_told() -> None:
    report = read({"@id": "http://x/a", "a": 1, "b": 2, "_:c": 3})
    assert {reason: entry[:2] for reason, entry in report.skipped.items()} == {
        BARE: [2, "a.jsonld:3"],
        BLANK: [1, "a.jsonld:5"],
    }
    assert next(iter(read({"@id": "http://x/a", "ä": 1}).skipped.values()))[1] == "a.jsonld:1"  # written as \\u00e4
    text = '{"@id": "http://x/a",\n"ä": 1}'.encode()
    assert next(iter(read(text).skipped.values()))[1:] == [
        "a.jsonld:2",
        "no @context says what 'ä' stands for; add it, or an @vocab",
    ]
    assert next(iter(read(b'{"_:c": 1}').skipped.values()))[2] == "'_:c' is a blank node; a relation needs an IRI"


def test_directions_and_contexts_of_classes_in_maps_by_type_are_noted() -> None:
    assert read({"http://x/p": {"@value": "x", "@direction": "rtl"}}).notes == [DIRECTIONS]
    by_type, scoped = {"p": {"@container": "@type"}}, {"C": {"@id": "http://x/C", "@context": {}}}
    told = ["in maps by type, the contexts of classes may not reach what is nested; compare the relations"]
    for terms, notes in ((by_type, []), (scoped, []), ({**by_type, **scoped}, told)):
        assert read({"@context": terms}).notes == notes


@pytest.mark.parametrize(("levels", "refused"), [(MAX_DEPTH, False), (MAX_DEPTH + 1, True)])
@pytest.mark.parametrize(("start", "end"), [('{"@list":\n', "}"), ("[\n", "]")])
def test_objects_and_lists_nest_up_to_a_number_of_levels(start: str, end: str, levels: int, refused: bool) -> None:
    for text in (start * levels + '"x"' + end * levels, start * levels):  # the second is broken
        if refused:
            with pytest.raises(InputError, match=r"^a\.jsonld:101: objects and lists nest deeper than 100 levels; fl"):
                read(text.encode())
        else:
            assert read(text.encode()).skipped == {}


def test_brackets_side_by_side_or_in_texts_are_no_levels() -> None:
    assert read(b"[" + b"[],{}," * 200 + b'"' + b"[{" * 200 + b'\\""]').skipped == {}
    assert read(b"[" + b"[],{}," * 200 + b'"' + b"[{" * 200).skipped == {}
