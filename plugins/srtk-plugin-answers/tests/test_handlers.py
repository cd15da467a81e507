"""What each handler answers or refuses, and which paths and names it chooses from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import pytest
from srtk_plugin_answers.choices import (
    Choice,
    _first_steps,
    _returns,
    named_ends,
    named_value,
    other_names,
    place_of,
    unknown_names,
)
from srtk_plugin_answers.drafts import Draft
from srtk_plugin_answers.reader import PathsReader, _alternative, _listed, _text
from srtk_plugin_local.memory import MemoryGraph

from srtk_framework.graph import facts
from srtk_framework.roles import PathScorer
from srtk_framework.values import Answer, Budget, Link, Literal, Question, RankedPath, Schema, Step, Subgraph, Triple


@attrs.define(eq=False)
class Named(PathScorer):
    """Prefers relations that the question names, by one; with ``like`` all relations are like any question."""

    like: float = 0.0

    def score(self, questions: Any, paths: Any, candidates: Any) -> Any:
        return [
            [float(step.relation in text) + self.like * text.endswith("?") for step in row]
            for text, row in zip(questions, candidates, strict=True)
        ]


@attrs.define(eq=False)
class Listed(MemoryGraph):
    """Lists its relations, and the tables that it was made of."""

    relations: Sequence[str] = ()
    tables: Mapping[str, Sequence[str]] = attrs.field(factory=dict)

    def schema(self) -> Schema:
        return attrs.evolve(super().schema(), relations=tuple(self.relations), tables=self.tables)


def number(value: float, kind: str = "decimal") -> str:
    return f'"{value}"^^xsd:{kind}'


LAND = [
    *([one, "area", number(area, "integer")] for one, area in (("latvia", 64), ("estonia", 45), ("russia", 17098))),
    *([one, "peak", number(peak, "integer")] for one, peak in (("estonia", 318), ("russia", 5642))),
    *[["latvia", "borders", "estonia"], ["latvia", "borders", "russia"], ["latvia", "founded", number(1918)]],
    *[["latvia", "code", Literal('"LV"')], ["latvia", "edition", Literal('"3.4"')], ["latvia", "capital", "riga"]],
    *[["riga", "river", "daugava"], ["latvia", "open", Literal('"yes"')], ["estonia", "open", Literal('"no"')]],
]
NAMES = {name: name.capitalize() for name in ("latvia", "estonia", "russia", "riga")}


def asked(
    text: str,
    *links: str,
    triples: Any = LAND,
    paths: Sequence[str] = (),
    best: float = 6.0,
    apart: float = 1.0,
    scorer: PathScorer | None = None,
    tables: Any = None,
    scale: float | None = 1.0,
    listed: bool = False,
    **more: Any,
) -> Answer:
    relations = sorted({row[1] for row in triples}) if listed or tables else ()
    graph = Listed(triples=triples, labels=NAMES, relations=relations, tables=tables or {}, **more)
    graph.open()
    names = [(one, NAMES.get(one, one)) for one in links]
    linked = tuple(
        Link(one, start=text.index(name), end=text.index(name) + len(name), name=name) for one, name in names
    )
    ranked = [
        RankedPath(link.entity, tuple(map(Step.parse, path.split())), best - apart * rank)
        for rank, path in enumerate(paths)
        for link in linked
    ]
    [found] = facts(graph, [ranked], Budget()) if ranked else [Subgraph(triples=(), scores=(), paths=(), path_of=())]
    reader = PathsReader(graph, scorer or Named(), scale=scale)
    reader.open()
    [answer] = reader.read([Question("q", text, linked)], [found])
    return answer


def proof(answer: Answer, relation: str) -> set[str]:
    assert answer.subgraph is not None
    triples = [answer.subgraph.triples[place] for place in answer.support]
    return {triple.subject for triple in triples if triple.relation == relation}


@pytest.mark.parametrize(
    ("text", "truth"),
    [("Is the area of Latvia larger than 50?", True), ("Is the area of Latvia larger than 70?", False)],
)
def test_a_bound_on_a_value_of_a_link_is_answered_with_yes_or_no(text: str, truth: bool) -> None:
    answer = asked(text, "latvia", paths=("area",))
    assert (answer.truth, answer.entities, answer.complete) == (truth, (), True)
    assert answer.support


def test_a_difference_in_a_unit_that_no_relation_is_like_is_refused() -> None:
    links = ("estonia", "latvia")
    answer = asked("How many area units apart are Estonia and Latvia?", *links)
    assert (answer.number, answer.unit, answer.operation) == (19.0, "area", "distance")
    assert proof(answer, "area") == {"estonia", "latvia"}
    refused = asked("How many roses apart are Estonia and Latvia?", *links)
    assert refused.missing.startswith("the graph has no number of roses")


def test_how_many_is_answered_by_one_number_that_is_no_year() -> None:
    answer = asked("How many area has Latvia?", "latvia", paths=("area", "borders"))
    assert (answer.number, answer.text, answer.entities) == (64.0, "64", (number(64, "integer"),))
    assert asked("How many founded has Latvia?", "latvia", paths=("founded",)).number == 1.0
    assert asked("How many borders has Latvia?", "latvia", paths=("borders", "area")).number == 2.0
    two = [*LAND, ["latvia", "area", number(65, "integer")]]
    assert asked("How many area has Latvia?", "latvia", triples=two, paths=("area",)).number == 2.0
    refused = asked("How many roses has Latvia?", "latvia", paths=("area",), best=4.0)
    assert refused.missing == "the graph has no relation like 'rose' of what the question names"


def test_the_greatest_value_itself_is_asked_for_where_no_class_is() -> None:
    class Height(Named):
        def score(self, questions: Any, paths: Any, candidates: Any) -> Any:
            return super().score([text.replace("height", "peak") for text in questions], paths, candidates)

    for text in ("What is the highest peak next to Latvia?", "the highest peak next to Latvia"):
        answer = asked(text, "latvia", paths=("borders",), scorer=Height())
        assert answer.entities == (number(5642, "integer"),)
        assert proof(answer, "peak") == {"estonia", "russia"}
    named = asked("Which neighbour that borders Latvia has the highest peak?", "latvia", paths=("borders",))
    assert named.entities == ("russia",)


@pytest.mark.parametrize(
    ("text", "path", "truth", "triples"),
    [
        ("Is the code of Latvia LV?", "code", True, 1),
        ("Is the edition of Latvia 3.4?", "edition", True, 1),
        ("Is the edition of Latvia 3.5?", "edition", False, 1),
        ("Is Latvia open?", "open", True, 1),
        ("Is Estonia open?", "open", False, 1),
        ("Is the code of Latvia EE?", "code", None, 0),
        ("Is Latvia nice?", "", None, 0),
        ("Is Estonia shut?", "open", None, 0),
    ],
)
def test_yes_or_no_is_told_by_a_truth_or_by_a_value_that_the_question_names(
    text: str, path: str, truth: bool | None, triples: int
) -> None:
    link = "estonia" if "Estonia" in text else "latvia"
    answer = asked(text, link, paths=(path,) if path else ())
    assert (answer.truth, len(answer.support), answer.enough) == (truth, triples, truth is not None)
    if truth is not None:
        assert (answer.complete, answer.text) == (True, "Yes" if truth else "No")


FILMS = [
    *([film, "minutes", number(minutes)] for film, minutes in (("heat", 170), ("thief", 122), ("alien", 117.5))),
    *[["heat", "genre", "crime"], ["thief", "genre", "crime"], ["alien", "genre", "horror"]],
]


@pytest.mark.parametrize("scale", [1.0, None])
@pytest.mark.parametrize(
    ("text", "number_", "operation"),
    [
        ("What is the total minutes of all films?", 409.5, "sum"),
        ("What is the average minutes of all films?", 136.5, "average"),
        ("How many films are there?", 3.0, "count"),
        ("How many films of crime are there?", 2.0, "count"),
    ],
)
def test_numbers_of_a_whole_table_need_no_link(text: str, number_: float, operation: str, scale: float | None) -> None:
    answer = asked(text, triples=FILMS, tables={"films": ("minutes", "genre")}, scale=scale)
    assert (answer.number, answer.operation, answer.complete) == (number_, operation, True)
    assert answer.text == f"{number_:g}"


def test_an_order_without_a_value_or_a_count_leaves_the_path_to_answer() -> None:
    answer = asked("Which capital of Latvia is the largest?", "latvia", paths=("capital",))
    assert (answer.entities, answer.operation) == (("riga",), "superlative")
    refused = asked("Which capital of Latvia has the most roses?", "latvia", paths=("capital",))
    assert refused.missing == "the graph has no relation or number like 'roses' by which things could be ordered"


def test_more_than_ten_names_are_counted() -> None:
    names = {f"n{n:02}": f"N {n}" for n in range(12)}
    ids = list(names)
    assert _listed(ids[:1], names) == "N 0"
    assert _listed(ids[:2], names) == "N 0 and N 1"
    assert _listed(ids[:10], names) == ", ".join(f"N {n}" for n in range(9)) + " and N 9"
    assert _listed(ids, names) == ", ".join(f"N {n}" for n in range(10)) + " and 2 more"
    assert _listed([ids[0], ids[0], Literal('"x"'), "other"], names) == "N 0, x and other"


def test_a_number_is_written_with_up_to_four_places() -> None:
    assert [_text(Draft("count", number=one), {}) for one in (3.0, 2.5, 0.12344, 100.0, 0.0)] == [
        *("3", "2.5", "0.1234", "100", "0")
    ]
    assert _text(Draft("yes-no", truth=False, number=3.0), {}) == "No"


def test_an_alternative_names_the_place_of_its_path() -> None:
    paths = [RankedPath("x", (Step(one),), 1.0) for one in "ab"]
    assert _alternative(Choice(paths[1], {"y": ()}), {"y": "Y"}, paths).path == 1
    none = _alternative(Choice(RankedPath("z", (), 0.0), {"y": (), "w": ()}), {"y": "Y"}, paths)
    assert (none.path, none.text, none.entities) == (-1, "Y and w", ("y", "w"))


def test_a_reader_refuses_and_needs_no_links() -> None:
    reader = PathsReader(MemoryGraph(triples=LAND), Named())
    assert reader.refuses()
    assert not reader.needs_links()


def test_a_proof_that_is_in_the_subgraph_changes_it_not() -> None:
    assert asked("What is the capital of Latvia?", "latvia", paths=("capital",)).subgraph is None
    answer = asked("How many borders has Latvia?", "latvia", paths=("borders", "capital"))
    assert answer.subgraph is None
    assert len(answer.support) == 2


def test_the_class_that_is_asked_for_and_the_links_themselves_are_no_further_names() -> None:
    rows = [*LAND, ["latvia", "has", "castle"], ["latvia", "has", "kiln"], ["latvia", "near", "latvia"]]
    for text, named in (
        ("Which castle has Latvia?", []),
        ("Which kiln has latvia, Latvia?", []),
        ("Has Latvia kilns?", ["kiln"]),
    ):
        answer = asked(text, "latvia", triples=rows, paths=("has",))
        assert [link["entity"] for link in answer.trace.get("links", [])] == named


def test_a_plural_asks_for_a_set_of_several_beside_a_link_rather_than_for_a_likelier_one() -> None:
    rows = [["latvia", "town", "riga"], ["latvia", "old town", "ogre"], ["latvia", "old town", "cesis"]]
    rows += [["latvia", "borders", "estonia"]]
    answer = asked("Which towns are in Latvia?", "latvia", triples=rows, paths=("borders",))
    assert set(answer.entities) == {"ogre", "cesis"}
    one = asked("Which town is in Latvia?", "latvia", triples=rows[:1] + rows[3:], paths=("borders", "town"))
    assert one.entities == ("riga",)


def test_four_other_answers_are_shown() -> None:
    rows = [["latvia", f"r{n}", f"e{n}"] for n in range(7)]
    answer = asked("Where is r0 of Latvia?", "latvia", triples=rows, paths=[f"r{n}" for n in range(7)])
    assert [one.entities for one in answer.alternatives] == [(f"e{n}",) for n in range(1, 5)]
    assert [one.path for one in answer.alternatives] == [1, 2, 3, 4]


# Choices


def test_a_name_of_three_letters_or_more_outside_of_the_links_is_a_condition() -> None:
    text = "Which big films of Mann have Bo, Ann and sci-fi?"
    question = Question("q", text, (Link("mann", start=18, end=22),))
    names = {
        "bo": "Bo",
        "ann": "Ann",
        "sf": "Sci fi",
        "mann": "Mann",
        "film": "films",
        "big": "x",
        "films2": "Big films",
    }
    found = named_ends(question, [*names, Literal('"Ann"')], names)
    assert [(link.entity, text[link.start : link.end], link.name) for link in found] == [
        ("ann", "Ann", "Ann"),
        ("sf", "sci-fi", "Sci fi"),
    ]
    assert [link.entity for link in named_ends(question, ["ann"], {})] == ["ann"]


def test_a_place_is_that_of_the_first_words_that_fit() -> None:
    assert place_of("a big city, the big cities", "big city") == (2, 10)
    assert place_of("city", "city") == (0, 4)
    assert place_of("the city", "city") == (4, 8)
    assert place_of("big", "big city") == (0, 0)


def test_runs_are_of_one_to_three_words_that_carry_something() -> None:
    question = Question("q", "Which old red barns of Ann burn?", (Link("ann", start=23, end=26),))
    runs = ("old", "red", "barn", "burn", "old red", "red barn", "old red barn", "barn of burn")
    assert other_names(question) == [*runs]


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("Is it Riga?", "Riga"),
        ("Is it of kind 7?", '"7"'),
        ("Is it 77?", None),
        ("Are they rigas?", "Riga"),
        ("", None),
    ],
)
def test_the_first_end_that_stands_in_a_question_as_a_word_is_named(text: str, end: str | None) -> None:
    choice = Choice(RankedPath("x", (), 0.0), {"?": (), Literal('"7"'): (), "Riga": ()})
    assert named_value(Question("q", text), choice) == end


def test_the_single_steps_from_the_links_stand_for_paths_that_a_search_lacks() -> None:
    triples = tuple(Triple(*row) for row in (("y", "s", "z"), ("x", "r", "y"), ("x", "r", "z"), ("y", "r", "x")))
    found = Subgraph(triples=triples, scores=(4.0, 3.0, 2.0, 1.0), paths=(), path_of=(-1,) * 4)
    steps = _first_steps(Question("q", "?", (Link("x"), Link("x"))), found)
    assert steps == [RankedPath("x", (Step("r"),), 3.0), RankedPath("x", (Step("r", True),), 1.0)]
    bare = Subgraph(triples=triples, scores=(), paths=(), path_of=())
    assert {path.score for path in _first_steps(Question("q", "?", (Link("x"),)), bare)} == {0.0}


def test_a_path_returns_where_it_follows_a_relation_back() -> None:
    forth, back, other = Step("r"), Step("r", True), Step("s", True)
    assert _returns((forth, back))
    assert _returns((other, back, forth))
    assert not _returns((forth, other))
    assert not _returns((forth, forth))
    assert not _returns((back, other, forth))


@pytest.mark.parametrize(
    ("text", "spans", "unknown"),
    [
        ("Who met Emma", [(8, 12)], []),
        ("Who met Emma and Anna", [(8, 12)], ["Anna"]),
        ("Who met Emma and Anna", [(9, 21)], ["Emma"]),
        ("Who met Emma and Anna", [(8, 17)], ["Anna"]),
        ("Emma met who", [], []),
        ("Who met Al", [], []),  # of two letters
        ("We saw Emma", [], ["Emma"]),
        ("We do so, Emma", [], []),  # no word of three small letters
    ],
)
def test_capitalised_words_outside_of_the_spans_of_links_are_unknown(
    text: str, spans: list[tuple[int, int]], unknown: list[str]
) -> None:
    links = tuple(Link(f"l{start}", start=start, end=end) for start, end in spans)
    assert unknown_names(Question("q", text, links), ()) == unknown
