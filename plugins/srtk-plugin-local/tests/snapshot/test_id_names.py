"""The folded names by which ids without a label are found."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from srtk_plugin_local.snapshot.id_names import IdNames
from srtk_plugin_local.snapshot.layout import Meta


@pytest.mark.parametrize(
    ("names", "prefixes", "id_", "folded"),
    [
        (True, {}, "Grey_Mill", ["grey mill"]),
        (False, {}, "GreyMill", ["greymill"]),
        (False, {"": "http://ex.org/"}, "GreyMill", ["grey mill", "greymill"]),
        (True, {}, "dbr:Grey_Mill", ["grey mill", "dbr:grey mill"]),
        (False, {}, "http://ex.org/GreyMill", ["grey mill"]),
        (False, {}, "http://ex.org/Q42", ["http://ex.org/q42"]),
        (False, {"": "http://ex.org/"}, "Q42", ["q42"]),
        (True, {}, "__a", ["a"]),
    ],
)
def test_an_id_is_found_by_the_name_in_it_and_in_short_form_as_it_is(
    names: bool, prefixes: Mapping[str, str], id_: str, folded: list[str]
) -> None:
    assert IdNames(names, prefixes).indexed(id_) == folded


EX = {"x": "http://ex.org/"}


@pytest.mark.parametrize(
    ("names", "prefixes", "id_", "entity", "relation"),
    [
        (True, {}, "Grey_Mill", "Grey Mill", "Grey Mill"),
        (True, {}, "GreyMill", "GreyMill", "GreyMill"),
        (True, {}, "_", "_", "_"),  # nothing is left of it
        (True, {}, "zz:Grey_Mill", "zz:Grey Mill", "zz:Grey Mill"),  # a prefix that nobody knows
        (True, {}, "http://ex.org/Grey_Mill", "http://ex.org/Grey Mill", "Grey Mill"),
        (True, EX, "http://ex.org/Grey_Mill", "Grey Mill", "Grey Mill"),
        (True, EX, "x:Grey_Mill", "Grey Mill", "Grey Mill"),
        (False, {}, "Grey_Mill", "Grey_Mill", "Grey_Mill"),
        (False, {}, "x:GreyMill", "x:GreyMill", "x:GreyMill"),
        (False, EX, "x:GreyMill", "Grey Mill", "GreyMill"),
        (False, {"": "http://ex.org/"}, "GreyMill", "Grey Mill", "GreyMill"),
        (False, {"": "http://ex.org/"}, "Q42", "Q42", "Q42"),
        (False, {}, "http://ex.org/Q42", "http://ex.org/Q42", "Q42"),
        (False, {}, "http://ex.org/", "http://ex.org/", "http://ex.org/"),
    ],
)
def test_an_id_shows_the_name_in_it_else_itself(
    names: bool, prefixes: Mapping[str, str], id_: str, entity: str, relation: str
) -> None:
    found = IdNames(names, prefixes)
    assert (found.entity(id_), found.relation(id_)) == (entity, relation)


def test_a_code_of_a_relation_has_a_prefix_of_the_graph_or_of_its_files_or_a_known_one() -> None:
    files = {"s": "http://shop.org/", "x": "http://files.org/"}
    for names in (True, False):
        found = IdNames(names, {"x": "http://graph.org/"}, files)
        assert found.relation("http://shop.org/P31") == "s:P31"
        assert found.relation("http://graph.org/P31") == "x:P31"
        assert found.relation("http://files.org/P31") == "P31"  # the prefix of the graph goes before that of a file
        assert found.relation("http://www.wikidata.org/prop/direct/P31") == "wdt:P31"
        assert found.relation("http://shop.org/lies_in") == "lies in"


def test_the_names_of_a_snapshot_are_by_its_own_settings() -> None:
    build = {"prefixes": {"s": "http://shop.org/"}}
    meta = Meta("", {}, False, {"prefixes": {"x": "http://ex.org/"}}, {}, build, {})
    assert IdNames.of(meta) == IdNames(False, {"x": "http://ex.org/"}, build["prefixes"])
    assert IdNames.of(Meta("", {}, True, {}, {}, {}, {})) == IdNames(True, {})
