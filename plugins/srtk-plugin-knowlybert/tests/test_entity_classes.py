from __future__ import annotations

from srtk_plugin_knowlybert.entity_classes import entity_classes, expected_classes
from srtk_plugin_knowlybert.label_trie import LabelTrie

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


class Words:
    """Divides a name into its words; a hash alone has no token."""

    def tokens(self, texts):
        return [[] if text == "#" else text.lower().split() for text in texts]


def test_the_trie_has_the_labels_of_few_tokens_and_counts_the_others() -> None:
    names = {
        "a": ["Riga", "City of Riga", " "],
        "b": ["riga", "Riga", "#"],
        "c": ["one two three", "one two", "one two three four"],
        "d": [""],
    }
    trie = LabelTrie.of(names, Words(), 3)
    riga, city, two, three = ("riga",), ("city", "of", "riga"), ("one", "two"), ("one", "two", "three")
    assert trie.entities == {riga: ("a", "b"), city: ("a",), two: ("c",), three: ("c",)}
    assert trie.names == {riga: "Riga", city: "City of Riga", two: "one two", three: "one two three"}
    assert trie.labels == {"a": (riga, city), "b": (riga,), "c": (three, two)}
    assert (trie.too_long, trie.unwritten) == (1, 1)
    assert [trie.of_length(length) for length in range(5)] == [[], [riga], [two], [city, three], []]
    gaps = [{"one": -1.0, "city": -2.0}, {"two": -3.0, "of": -4.0}, {"riga": -5.0}]
    assert list(trie.found(gaps)) == [(city, (-2.0, -4.0, -5.0))]
    assert list(trie.found(gaps[:2])) == [(two, (-1.0, -3.0))]
