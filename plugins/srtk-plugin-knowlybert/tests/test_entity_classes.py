from __future__ import annotations

from srtk_plugin_knowlybert.entity_classes import entity_classes, expected_classes

from srtk_framework.graph import TripleTable
from srtk_framework.values import Schema, Triple

SCHEMA = Schema(type_relations=("P31",), subclass_relations=("P279",))


def test_frequent_classes_are_expected() -> None:
    assert expected_classes({"city": 10, "settlement": 5, "village": 4}, 0.4) == {"city", "settlement"}
    assert expected_classes({}, 0.4) == frozenset()


def test_the_classes_of_an_entity_are_its_types_and_their_direct_superclasses() -> None:
    facts = [("riga", "P31", "city"), ("city", "P279", "place"), ("place", "P279", "thing"), ("oslo", "P19", "riga")]
    classes = entity_classes(TripleTable.from_triples([Triple(*fact) for fact in facts]), SCHEMA)
    assert classes["riga"] == {"city", "place"}
    assert classes["city"] == {"place", "thing"}
    assert "oslo" not in classes
