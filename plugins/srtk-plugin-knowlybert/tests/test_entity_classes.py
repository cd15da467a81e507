from __future__ import annotations

import math
from typing import Any

import pytest
from srtk_plugin_knowlybert.entity_classes import entity_classes, expected_classes
from srtk_plugin_knowlybert.filler_types import FillerTypes
from srtk_plugin_knowlybert.label_trie import LabelTrie

from srtk_framework.graph import TripleTable
from srtk_framework.values import Schema, Step, Triple

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


def test_the_types_of_a_class_go_before_its_own_superclasses() -> None:
    facts = [("city", "P31", "kind"), ("city", "P279", "place"), ("kind", "P279", "thing")]
    classes = entity_classes(TripleTable.from_triples([Triple(*fact) for fact in facts]), SCHEMA)
    assert classes["city"] == {"kind", "thing"}


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


def test_a_class_of_just_the_share_is_not_expected() -> None:
    assert expected_classes({"city": 10, "village": 4, "place": 5}, 0.5) == {"city"}


FACTS = [
    *[("ann", "born", "riga"), ("bob", "born", "riga"), ("cid", "born", "oslo"), ("dan", "lives", "ulm")],
    *[("riga", "P31", "city"), ("oslo", "P31", "city"), ("ulm", "P31", "city"), ("bonn", "P31", "village")],
    *[("ann", "lives", "oslo"), ("ann", "lives", "bonn")],
]
BORN, BORN_HERE = Step("born"), Step("born", True)


def types_of(schema: Schema = SCHEMA, **settings: Any) -> FillerTypes:
    return FillerTypes(TripleTable.from_triples([Triple(*fact) for fact in FACTS]), schema, **settings)


def test_fillers_are_those_of_each_triple_on_either_side() -> None:
    known = types_of()
    assert known.seen(BORN) == {"riga": 2, "oslo": 1}
    assert known.seen(BORN_HERE) == {"ann": 1, "bob": 1, "cid": 1}
    assert known.seen(Step("nothing")) == {}
    assert known.known("riga", BORN_HERE) == ["ann", "bob"]
    assert known.known("nobody", BORN) == known.known("ann", Step("nothing")) == []
    assert (known.popularity["riga"], known.popularity["ann"], known.popularity["city"]) == (2, 0, 3)


def test_each_way_lets_its_own_fillers_pass() -> None:
    ids = ["riga", "ulm", "bonn", "ann", "unheard"]
    known = types_of()

    def allowed(types: Any, of: FillerTypes = known, step: Step = BORN) -> list[str]:
        return [id_ for id_, fits in zip(ids, of.allowed(types, "dan", step, ids), strict=True) if fits]

    assert allowed("none") == allowed("soft") == ids
    assert allowed("seen") == ["riga"]
    assert allowed("classes") == ["riga", "ulm"]
    # Ulm and Bonn share the step of being lived in, or a type; what has no triple may be anything.
    assert allowed("signatures", types_of(Schema())) == ["riga", "ulm", "bonn", "unheard"]
    # People have no class, so that their signatures count.
    assert allowed("classes", step=BORN_HERE) == allowed("signatures", step=BORN_HERE) == ["ann", "unheard"]


def test_the_classes_of_known_answers_go_before_those_of_the_relation_where_they_count() -> None:
    lives = Step("lives")
    assert types_of().expected("ann", lives) == {"city", "village"}
    assert types_of().expected("dan", lives) == {"city"}
    assert types_of().expected("cid", lives) == {"city", "village"}  # one village beside two cities
    assert types_of(share=0.5).expected("cid", lives) == {"city"}
    assert types_of(share=0.5, of_answers=False).expected("ann", lives) == {"city"}


def test_the_prior_of_a_filler_is_worked_out_by_hand() -> None:
    rows = types_of().prior(BORN, ["riga", "ulm", "bonn", "ann", "unheard"]).tolist()
    log = math.log
    assert rows == [
        pytest.approx([1, log(2.5 / 4), 1, 1, log(3), 0]),
        pytest.approx([0, log(0.5 / 4), 1, 1, log(2), 0]),
        pytest.approx([0, log(0.5 / 4), rows[2][2], 0, log(2), 0]),
        pytest.approx([0, log(0.5 / 4), 0, 0, 0, 0]),
        pytest.approx([0, log(0.5 / 4), 0, 0, 0, 1]),
    ]
    (alone,) = types_of().prior(Step("nothing"), ["riga"]).tolist()
    assert alone == pytest.approx([0, log(0.5), 0, 0, log(3), 0])


def test_the_only_filler_of_a_relation_has_its_class_to_the_whole() -> None:
    facts = [("eve", "rules", "riga"), ("riga", "P31", "city"), ("oslo", "P31", "city")]
    known = FillerTypes(TripleTable.from_triples([Triple(*fact) for fact in facts]), SCHEMA)
    assert known.prior(Step("rules"), ["riga", "oslo", "eve"])[:, 3].tolist() == [1.0, 1.0, 0.0]
