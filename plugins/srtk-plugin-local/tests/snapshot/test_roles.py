"""Which properties of nodes and edges are relations, names and types, by their names and values."""

from __future__ import annotations

from collections import Counter

import pytest
from srtk_plugin_local.snapshot.property_graphs.roles import (
    is_code,
    keys_are_relations,
    names,
    promises_relation,
    relations,
    types,
)


def once(*values: str) -> Counter[str]:
    return Counter(values)


def words(count: int, mark: str = "x") -> str:
    return " ".join([mark * 2] * count)


@pytest.mark.parametrize(
    ("values", "is_relation"),
    [
        (once("knows", "7"), True),  # half of them numbers
        (once("knows", "7", "8"), False),
        (once("knows", "n1"), True),  # half of them codes
        (once("knows", "n1", "n2"), False),
        (Counter({"n1": 2, "n2": 2}), True),  # codes that come twice are kinds
        (Counter({"n1": 2, "n2": 1}), False),
        (once(words(4)), True),
        (once(words(5)), False),
        (Counter({words(5): 2}), True),  # a sentence that comes twice is a kind
        (once("x" * 40), True),
        (once("x" * 41), False),
        (once("Directed", "mutual"), False),
        (once("Directed", "knows"), True),
        (once(), False),
    ],
)
def test_a_label_of_edges_is_their_relation_unless_its_values_are_codes_or_sentences(
    values: Counter[str], is_relation: bool
) -> None:
    assert relations({"label": values}, 9) == ((["label"] if is_relation else []), "")


def test_a_name_that_means_a_relation_alone_may_have_codes_but_no_sentences() -> None:
    assert relations({"predicate": once("P1", "P2", "7")}, 9)[0] == ["predicate"]
    assert relations({"labelE": once("P1", "P2")}, 9)[0] == ["labelE"]
    assert relations({"predicate": once(words(5))}, 9)[0] == []
    assert relations({"type": once("P1", "P2")}, 9)[0] == []


def test_relations_come_by_the_rank_of_their_names() -> None:
    every = ("interaction", "kind", "type", "label", "relation", "edge label", "colour")
    found, doubt = relations({name: once("knows", "likes") for name in every}, 2)
    assert (found, doubt) == (["edge label", "relation", "interaction", "label", "type", "kind"], "")


@pytest.mark.parametrize(
    ("values", "is_relation"),
    [(once(words(8)), True), (once(words(9)), False), (once("x" * 60), True), (once("x" * 61), False)],
)
def test_keywords_are_the_relation_up_to_eight_words(values: Counter[str], is_relation: bool) -> None:
    wanted = (["keywords"], "the relation of an edge is its property 'keywords'") if is_relation else ([], "")
    assert relations({"keywords": values}, 9) == wanted


def test_of_several_spare_names_the_best_is_the_relation() -> None:
    assert relations({"title": once("one"), "role": once("two"), "class": once("three")}, 3)[0] == ["role"]


@pytest.mark.parametrize(
    ("values", "edges", "is_relation"),
    [
        (Counter(ally=3, foe=3), 12, True),  # three times each, for half of the edges
        (Counter(ally=3, foe=2), 9, False),
        (Counter(ally=3, foe=3), 13, False),
        (Counter(ally=6), 6, False),
        (Counter({"ally": 3, "7": 3}), 6, False),
        (Counter({"ally": 3, "n7": 3}), 6, False),
        (Counter({words(5): 3, words(5, "y"): 3}), 6, False),
    ],
)
def test_few_short_values_of_many_edges_are_their_relation(values: Counter[str], edges: int, is_relation: bool) -> None:
    found, said = relations({"dealing": values}, edges)
    assert found == (["dealing"] if is_relation else [])
    assert said == ("the relation of an edge is its property 'dealing', which has few values" if is_relation else "")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        *(("12", True), ("n12", True), ("AB-12:3", True), ("x", True), ("-", True), ("http://x.org/a b", True)),
        *(("0b1c2d3e-0000-4000-8000-00000000000a", True), ("ab", False), ("母", False), ("part 2 of it", False)),
    ],
)
def test_a_code_has_no_two_letters_that_are_a_word(text: str, found: bool) -> None:
    assert is_code(text) is found


@pytest.mark.parametrize(
    ("keys", "found"),
    [
        (["knows", "likes"], True),
        (["is in", "likes"], True),
        (["knows", ""], True),
        (["a", "b"], False),  # single letters tell nothing, unless they come again
        (["a", "a", "b", "b"], True),
        (["knows", "k1"], False),
        (["-", "knows"], False),
        ([words(5)], False),
        ([""], False),
        ([], False),
    ],
)
def test_keys_of_edges_are_relations_where_they_are_words(keys: list[str], found: bool) -> None:
    assert keys_are_relations(keys) is found


def test_names_come_by_their_rank_without_a_label_that_many_nodes_share() -> None:
    shared, own = Counter(a=2, b=2), Counter(a=1, b=1, c=2)
    assert names({"title": own, "label": own, "name": own, "x": own}, False) == ["name", "label", "title"]
    assert names({"name": own, "label": shared}, False) == ["name"]
    assert names({"label": shared}, True) == []
    assert names({"label": shared}, False) == ["label"]
    assert names({"label": Counter(a=2, b=1)}, True) == ["label"]
    assert names({"title": shared}, True) == ["title"]  # a title is a name, whoever shares it


def test_the_type_of_nodes_is_a_sure_name_or_the_first_spare_one_whose_values_repeat() -> None:
    twice, own = Counter(a=2, b=2), Counter(a=1, b=1, c=1, d=1)
    assert types({"labels": own, "rdf:type": twice, "kind": twice}, []) == ["labels", "rdf:type"]
    assert types({"labels": own, "kind": twice, "type": twice}, ["labels"]) == ["type"]
    assert types({"kind": own}, []) == []
    assert types({"kind": Counter(a=1, b=1, c=1)}, []) == ["kind"]  # of three values none need repeat
    assert types({"labels": Counter({"1": 2}), "kind": Counter({words(5): 2})}, []) == []


def test_the_name_of_a_property_may_promise_a_relation() -> None:
    found = [promises_relation(name) for name in ("labelE", "interaction", "predicate", "since")]
    assert found == [True, True, True, False]
