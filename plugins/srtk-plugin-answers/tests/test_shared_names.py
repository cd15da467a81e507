"""Nodes with a name that many have: what they hold is the answer, and what they belong to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from srtk_plugin_answers.choices import place_of
from srtk_plugin_answers.shared_names import SharedNames
from srtk_plugin_local.memory import MemoryGraph

from srtk_framework import Graph, Retriever
from srtk_framework.values import Literal, Schema

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
