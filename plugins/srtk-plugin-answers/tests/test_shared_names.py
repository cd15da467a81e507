"""Nodes with a name that many have: what they hold is the answer, and what they belong to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from srtk_plugin_answers.choices import place_of
from srtk_plugin_answers.shared_names import SharedNames
from srtk_plugin_local.memory import MemoryGraph

from srtk_framework import Graph, Retriever
from srtk_framework.values import Literal, Schema, Step, Triple

COLOURS = ["Red", "Blue", "Green", "Amber", "Black", "White", "Grey", "Pink", "Brown", "Ivory", "Olive", "Teal"]
WRITERS = {"Red": ["Ann Lee", "Bo Falk"], "Blue": ["Ann Lee"], "Green": ["Cy Doe"]}
LABEL = "<http://www.w3.org/2000/01/rdf-schema#label>"


def lines(named: bool) -> Iterator[str]:
    for number, colour in enumerate(COLOURS):
        yield f'<http://x/b{number}> {LABEL} "{colour} Harbour" .'
        yield f"<http://x/b{number}> <http://x/writers> <http://x/l{number}> ."
        yield f'<http://x/b{number}> <http://x/year> "{2001 + number % 3}" .'
        if named:
            yield f'<http://x/l{number}> {LABEL} "writers list" .'
        for writer in WRITERS.get(colour, ["Di Roe"]):
            yield f'<http://x/l{number}> <http://x/item> "{writer}" .'


@pytest.fixture(scope="module", params=[True, False], ids=["many have its name", "it has none"])
def books(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Iterator[Retriever]:
    file = tmp_path_factory.mktemp("books") / "books.nt"
    file.write_text("\n".join(lines(request.param)) + "\n", encoding="utf-8")
    with Retriever(Graph.open([str(file)]), reader="paths") as retriever:
        yield retriever


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Who wrote Red Harbour?", {"Ann Lee", "Bo Falk"}),
        ("Who are the writers of Red Harbour?", {"Ann Lee", "Bo Falk"}),
        ("Which books did Ann Lee write?", {"Red Harbour", "Blue Harbour"}),
        ("books by ann lee", {"Red Harbour", "Blue Harbour"}),
        ("Which books did Ann Lee write in 2002?", {"Blue Harbour"}),
        ("How many writers does Red Harbour have?", 2),
        ("How many books has Ann Lee written?", 2),
        ("Is Ann Lee a writer of Red Harbour?", True),
        ("Is Ann Lee a writer of Green Harbour?", False),
    ],
)
def test_a_node_whose_name_tells_nothing_stands_for_what_it_holds_or_belongs_to(
    books: Retriever, text: str, said: Any
) -> None:
    result = books.ask(text)
    answer = result.answer
    assert answer is not None
    if isinstance(said, set):
        labels = result.to_record()["labels"]
        assert {end.lexical if isinstance(end, Literal) else labels[end] for end in answer.entities} == said
    else:
        assert said in (answer.truth, answer.number)
    assert answer.support


def shared(rows: list[tuple[str, str, str]], labels: dict[str, str]) -> SharedNames:
    graph = MemoryGraph(triples=[*map(list, rows)], labels=labels)
    graph.open()
    return SharedNames(graph, Schema(relations=("has",)))


def twelve(name: str = "part") -> tuple[list[tuple[str, str, str]], dict[str, str]]:
    return [(f"b{n}", "has", f"p{n}") for n in range(12)], {f"p{n}": name for n in range(12)}


def test_a_name_tells_nothing_where_each_who_has_it_belongs_to_another_by_one_relation() -> None:
    rows, labels = twelve()
    assert not shared(rows, labels).are_meaningful(["p1"], labels)
    assert shared(rows, labels).leading(["p1", "p2"]) == "has"


@pytest.mark.parametrize(
    ("rows", "labels"),
    [
        (twelve()[0][:9], {f"p{n}": "part" for n in range(9)}),
        (twelve()[0][:3], twelve()[1]),
        ([("b", "has", f"p{n}") for n in range(12)], twelve()[1]),
        ([*twelve()[0], *((f"c{n}", "has", f"p{n}") for n in range(12))], twelve()[1]),
        (twelve()[0], {f"p{n}": f"part {n}" for n in range(12)}),
    ],
    ids=["few have the name", "it leads to few of them", "all are of one", "they are of two", "each has a name"],
)
def test_other_names_tell_something(rows: list[tuple[str, str, str]], labels: dict[str, str]) -> None:
    assert shared(rows, labels).are_meaningful(["p1"], labels)


def test_ends_of_several_names_or_of_none_that_is_known_and_values_are_meaningful() -> None:
    rows, labels = twelve()
    found = shared(rows, labels)
    assert found.are_meaningful(["p1", "p2"], {"p1": "part", "p2": "other"})
    assert found.are_meaningful(["p1"], {})
    assert found.are_meaningful([Literal.make("part")], labels)


def test_a_node_that_is_called_by_its_id_shares_no_name_and_others_are_not_looked_for() -> None:
    no_graph: Any = None
    assert SharedNames(no_graph, Schema()).are_meaningful(["part"], {"part": "part"})


def test_an_iri_is_no_name_and_what_holds_it_is_known_where_one_relation_leads_to_it() -> None:
    nodes = ["http://x/1", "http://x/2"]
    rows = [("a", "has", nodes[0]), ("b", "has", nodes[1]), ("a", "sees", nodes[1])]
    assert not shared(rows, {}).are_meaningful(nodes, dict(zip(nodes, nodes, strict=True)))
    assert shared(rows, {}).are_meaningful(["a"], {"a": "a"})
    assert shared(rows[:2], {}).leading(nodes) == "has"
    assert shared(rows, {}).leading(nodes) is None


def test_a_name_stands_where_its_words_stand_in_singular() -> None:
    assert place_of("Is Mo an author of it?", "author") == (9, 15)
    assert place_of("Which big cities are there?", "big city") == (6, 16)
    assert place_of("Is it?", "author") == (0, 0)


def parts(owned: set[int], count: int, name: str = "part") -> tuple[list[tuple[str, str, str]], dict[str, str]]:
    """Return as many nodes of one name, and which of them a node of its own leads to."""
    labels = {f"p{n:02}": name for n in range(count)}
    return [*((f"b{n:02}", "has", f"p{n:02}") for n in owned), *((one, "is", "thing") for one in labels)], labels


@pytest.mark.parametrize(
    ("owned", "count", "meaningful"),
    [
        (set(range(10)), 10, False),
        (set(range(9)), 9, True),  # ten are many
        (set(range(9)), 10, False),  # nine of ten are nearly all
        (set(range(8)), 10, True),
        ({*range(44), 49}, 60, False),  # of the first fifty
        ({*range(44), 50}, 60, True),
        ({*range(44)}, 60, True),
    ],
)
def test_a_name_tells_nothing_where_nearly_all_of_many_belong_to_one_each(
    owned: set[int], count: int, meaningful: bool
) -> None:
    rows, labels = parts(owned, count)
    found = shared(rows, labels)
    assert found.are_meaningful(["p03"], labels) is meaningful
    assert found.leading(["p03"]) == (None if meaningful else "has")


def test_a_node_that_two_lead_to_or_a_relation_of_classes_leads_to_belongs_to_none() -> None:
    rows, labels = parts(set(range(10)), 10)
    for twice in ("p00", "p09"):
        assert shared([*rows, ("c", "has", twice)], labels).leading(["p03"]) is None
    assert shared([*rows, ("b00", "has", "p09")], labels).leading(["p03"]) is None
    graph = MemoryGraph(triples=[*map(list, rows)], labels=labels)
    graph.open()
    assert SharedNames(graph, Schema(type_relations=("has",))).leading(["p03"]) is None


def test_nodes_of_two_names_are_told_apart_by_them_and_up_to_five_may_lead_to_one_relation() -> None:
    rows = [(f"b{n:02}", "has", f"p{n:02}") for n in range(60)]
    labels = {f"p{n:02}": f"part {n % 6}" for n in range(60)}
    found = shared(rows, labels)
    assert found.are_meaningful(["p00", "p01"], labels)
    assert not found.are_meaningful(["p00", "p06"], labels)
    assert found.leading([f"p0{n}" for n in range(5)]) == "has"
    assert found.leading([f"p0{n}" for n in range(6)]) is None
    other = [(f"c{n:02}", "holds", f"p{n:02}") for n in range(60) if n % 6 == 1]
    mixed = shared([*(row for row in rows if int(row[2][1:]) % 6 != 1), *other], labels)
    assert mixed.leading(["p00"]) == "has"
    assert mixed.leading(["p01"]) == "holds"
    assert mixed.leading(["p00", "p01"]) is None


def test_of_many_nodes_the_names_of_the_first_fifty_are_looked_at() -> None:
    rows, labels = parts(set(range(60)), 60)
    nodes = [f"p{n:02}" for n in range(60)]
    assert shared(rows, {**labels, "p50": "own"}).leading(nodes) == "has"
    assert shared(rows, {**labels, "p49": "own"}).leading(nodes) is None


def test_what_leads_on_from_nodes_is_read_by_step_without_what_ends_in_one_node() -> None:
    rows = [
        ("l1", "item", "ann"),
        ("l1", "item", "bo"),
        ("l2", "item", "ann"),
        ("l1", "of", "book"),
        ("z", "item", "y"),
    ]
    found = shared(rows, {})
    assert found.onward(["l1", "l2"], "book") == {Step("item"): [Triple(*row) for row in rows[:3]]}
    assert found.onward(["l1"], "ann") == {
        Step("item"): [Triple("l1", "item", "bo")],
        Step("of"): [Triple("l1", "of", "book")],
    }
    assert found.owners(["ann"], "item") == [Triple("l1", "item", "ann"), Triple("l2", "item", "ann")]
    assert found.are_meaningful([], {})
