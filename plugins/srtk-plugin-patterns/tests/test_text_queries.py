"""Queries for what a triple lacks, and whether a text tells it."""

from __future__ import annotations

import pytest
from srtk_plugin_patterns.text_queries import VARIANTS, name_of, query, tells

FORMS = ["born in", "born in", "nationality"]
"""Of the path born_in, ^born_in, nationality."""


@pytest.mark.parametrize(
    ("variant", "nodes", "wanted"),
    [
        ("s+r", ["Riga", "Ann"], "Eve nationality"),
        ("s+r+p", ["Riga", "Ann"], "Eve nationality born in"),
        ("s+r+n", ["Riga", "Ann"], "Eve nationality Riga Ann"),
        ("s+r+n", ["Riga", "Bob"], "Eve nationality Riga Bob"),
        ("s+r+p+n", ["Riga", "Ann"], "Eve nationality born in Riga Ann"),
    ],
)
def test_queries_are_the_golden_ones(variant, nodes, wanted):
    assert query(variant, "Eve", "nationality", FORMS, nodes) == wanted


def test_entity_and_relation_change_places_where_the_subject_is_asked_for():
    assert query("s+r+p+n", "Latvia", "nationality", FORMS[::-1], ["Ann"], inverse=True) == (
        "nationality Latvia born in Ann"
    )


def test_relations_of_the_path_keep_their_order_and_come_once():
    forms = ["works in", "Nationality", "born in", "works in", "city of"]
    assert query("s+r+p", "Eve", "nationality", forms, []) == "Eve nationality works in born in city of"


def test_a_path_without_inner_nodes_adds_none():
    for variant in VARIANTS:
        assert query(variant, "Eve", "nationality", [], []) == "Eve nationality"


@pytest.mark.parametrize(
    ("id_", "label", "name"),
    [
        ("Q42", "Douglas  Adams", "Douglas Adams"),
        ("Q42", "Q42", ""),
        ("/m/02mjmr", "/m/02mjmr", ""),
        ("m.0abc_1", "m.0abc_1", ""),
        ("_:b0", "_:b0", ""),
        ("http://x.example/1", "http://x.example/1", ""),
        ("Aaron_S._Daggett", "Aaron_S._Daggett", "Aaron S. Daggett"),
        ("Poland", "Poland", "Poland"),
        ("Apollo_11", "Apollo_11", "Apollo 11"),
        ("x", "", ""),
    ],
)
def test_an_entity_whose_label_only_repeats_an_opaque_id_has_no_name(id_, label, name):
    assert name_of(id_, label) == name


@pytest.mark.parametrize(
    ("text", "names", "told"),
    [
        ("you must go", ["US"], False),
        ("in the US, he", ["US"], True),
        ("the us army", ["US"], True),
        ("ＵＳ troops", ["us"], True),
        ("die Straße", ["STRASSE"], True),
        ("born in Riga", ["Latvia", "Riga"], True),
        ("born in Riga", ["Rig", "iga", ""], False),
        ("New\nYork City", ["new york"], True),
        ("C++ code", ["C++"], True),
        ("a", [], False),
    ],
)
def test_a_text_tells_a_name_that_it_has_as_whole_words(text, names, told):
    assert tells(text, names) is told
