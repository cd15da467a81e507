"""What each handler answers or refuses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import pytest
from srtk_plugin_answers.choices import (
    Choice,
)
from srtk_plugin_answers.drafts import Draft
from srtk_plugin_answers.reader import PathsReader, _alternative, _listed, _text
from srtk_plugin_local.memory import MemoryGraph

from srtk_framework.graph import facts
from srtk_framework.roles import PathScorer
from srtk_framework.values import Answer, Budget, Link, Literal, Question, RankedPath, Schema, Step, Subgraph


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
    several = asked("How many area has Latvia?", "latvia", triples=two, paths=("area",))
    assert (several.number, several.text, several.certainty) == (None, "64 and 65", "likely")
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


# Edges of handlers

CODES = [*FILMS, ["heat", "code", Literal('"X-1"')], ["thief", "code", Literal('"Z 9"')]]


def test_a_text_in_quotes_answers_whether_a_link_has_it_or_what_has_it() -> None:
    for link, truth in (("heat", True), ("thief", False)):
        answer = asked(f'Is {link} "X-1"?', link, triples=CODES, paths=("genre",))
        assert (answer.truth, answer.entities, answer.complete) == (truth, (), True)
        assert len(answer.support) == 1
    assert asked('Is there a film with "X-1"?', triples=CODES).truth is True
    for text, size in (("Which film of crime has", None), ("How many films of crime have", 1)):
        answer = asked(f'{text} "X-1"?', "crime", triples=CODES, paths=("^genre",))
        assert (answer.entities, answer.truth, answer.number) == (("heat",), None, size)
    assert asked("What is the total of X-1?", triples=CODES).entities == ("heat",)  # without numbers nothing is added


def test_what_cannot_be_calculated_is_a_comparison_without_values() -> None:
    refused = asked("How many roses apart are Riga and daugava?", "riga", "daugava")
    assert refused.missing.startswith("the graph has no relation with a number or a date for each")
    assert (
        asked("How many roses apart are Riga and Estonia?", "riga", "estonia", paths=("river",)).missing
        == refused.missing
    )
    alone = asked("How many roses apart is Riga?", "riga")
    assert alone.missing.startswith("the question compares or joins two things")
    three = asked("How many area units apart are Estonia, Latvia and Russia?", "estonia", "latvia", "russia")
    assert (three.number, three.entities) == (17098 - 64, ("russia", "latvia", "estonia"))
    assert asked("Which has an area above 50, Latvia or Estonia?", "latvia", "estonia", paths=("area",)).truth is None


def test_an_order_of_no_noun_and_a_single_member_within_bounds_are_answered() -> None:
    assert asked("Which capital of Latvia won most often?", "latvia", paths=("capital",)).entities == ("riga",)
    text = "Which neighbour that borders Latvia with an area above 1,000 has the highest peak?"
    assert asked(text, "latvia", paths=("borders",)).entities == ("russia",)


def test_a_value_that_the_question_has_no_word_of_orders_nodes() -> None:
    class Height(Named):
        def score(self, questions: Any, paths: Any, candidates: Any) -> Any:
            return super().score([text.replace("height", "peak") for text in questions], paths, candidates)

    answer = asked("What is the highest next to Latvia?", "latvia", paths=("borders",), scorer=Height())
    assert answer.entities == ("russia",)


def test_a_number_answers_how_many_only_where_no_bound_and_no_class_is_named() -> None:
    text = "How many neighbours that border Latvia have an area above 50?"
    bounded = asked(text, "latvia", paths=("area", "borders"))
    assert (bounded.number, bounded.entities) == (1, ("russia",))
    rows = [["latvia", "city", "riga"], ["latvia", "city", "ogre"], ["latvia", "area", number(64, "integer")]]
    assert asked("How many cities has Latvia?", "latvia", triples=rows, paths=("area", "city")).number == 2
    # Of paths that are as good as each other the number is meant.
    assert asked("How many area has Latvia?", "latvia", paths=("area", "borders"), apart=0.0).number == 64


def test_of_the_statements_of_a_year_only_they_answer_though_all_have_the_class() -> None:
    rows = [["latvia", "money", "lats"], ["latvia", "money", "euro"], ["latvia", "borders", "estonia"]]
    dates = [("lats", "start", "1993"), ("lats", "end", "2013"), ("euro", "start", "2014")]
    dated = [["latvia", "money", one, what, f'"{year}"^^xsd:gYear'] for one, what, year in dates]
    text = "Which money did Latvia have in 2001?"
    answer = asked(text, "latvia", triples=rows, paths=("money", "borders"), qualifiers=dated)
    assert (answer.entities, answer.complete, answer.operation) == (("lats",), None, "time-bound")


def test_the_members_of_a_linked_class_are_meant_and_not_what_they_lead_to() -> None:
    rows = [["heat", "type", "film"], ["thief", "type", "film"], ["heat", "genre", "crime"], ["thief", "genre", "noir"]]
    known: dict[str, Any] = {"triples": rows, "paths": ("^type genre", "^type"), "type_relations": ["type"]}
    for text, ends in (("Which film is known?", {"heat", "thief"}), ("What is known of film?", {"crime", "noir"})):
        assert set(asked(text, "film", scorer=Named(like=9.0), **known).entities) == ends


SHOTS = [
    *([film, "director", "mann"] for film in ("heat", "thief", "ali")),
    *[["heat", "minutes", number(170)], ["thief", "minutes", number(122)], ["ali", "minutes", number(122)]],
    *[["heat", "colour", "blue"], ["ali", "colour", "blue"]],
]


@pytest.mark.parametrize(
    ("text", "blue", "entities"),
    [
        ("Which blue films are by mann?", "", {"heat", "ali"}),
        ("Which blue film by mann is the second longest?", "", set()),  # of films that share the place, one is not blue
        ("Which blue film by mann is the second longest?", "thief", {"thief", "ali"}),
        ("Which blue film by mann is the shortest?", "", {"ali"}),
    ],
)
def test_what_stands_before_the_noun_of_the_class_narrows_the_answers_but_no_place_of_an_order(
    text: str, blue: str, entities: set[str]
) -> None:
    rows = [*SHOTS, *([one, "colour", "blue"] for one in [blue] if one)]
    answer = asked(text, "mann", triples=rows, paths=("^director",))
    assert set(answer.entities) == entities
    assert answer.missing == ("" if entities else "nothing of what the question asks for is known to be blue")


@pytest.mark.parametrize(
    "text", [f"When was {which} Latvia built?" for which in ("later or earlier", "the oldest wall of", "the last of")]
)
def test_an_order_that_asks_when_is_answered_by_a_date_alone(text: str) -> None:
    assert asked(text, "latvia", paths=("capital", "founded")).entities == (number(1918),)
    refused = asked(text, "latvia", paths=("capital",))
    assert refused.missing == "the graph has no date of what the question names"


def test_the_value_of_a_year_is_a_number_where_it_is_counted_and_else_a_value() -> None:
    rows = [["latvia", "rooms 2005", number(2, "integer")], ["latvia", "rooms 2015", number(3, "integer")]]
    for text, value in (("How many rooms had Latvia in 2015?", 3.0), ("What are the rooms of Latvia in 2015?", None)):
        answer = asked(text, "latvia", triples=rows, paths=("rooms 2005", "rooms 2015"), listed=True)
        assert (answer.entities, answer.number) == ((number(3, "integer"),), value)


DIRECTED = [
    *[["heat", "directed", "mann"], ["thief", "directed", "mann"], ["ann", "liked", "heat"]],
    *[["heat", "genre", "crime"], ["thief", "genre", "sport"], ["mann", "award", "oscar"]],
]


@pytest.mark.parametrize(
    ("text", "link", "path", "entities"),
    [
        ("Which moods have the films directed by mann?", "mann", "^directed genre", {"heat", "thief"}),
        ("What music types are the films directed by mann?", "mann", "^directed genre", {"crime", "sport"}),
        ("Which moods of genre are directed by mann?", "mann", "^directed genre", {"crime", "sport"}),
        ("Which moods has mann?", "mann", "^directed genre", {"crime", "sport"}),
        ("Which moods have the films directed by mann?", "mann", "^directed ^liked", {"ann"}),
        ("Which moods are directed by mann in heat?", "heat", "directed award", {"oscar"}),
    ],
)
def test_a_path_goes_on_behind_the_answer_if_its_last_step_but_one_alone_is_named_and_leads_back(
    text: str, link: str, path: str, entities: set[str]
) -> None:
    answer = asked(text, link, triples=DIRECTED, paths=(path, path.rpartition(" ")[0]), scorer=Named(6.0))
    assert set(answer.entities) == entities


def test_truths_that_differ_confirm_nothing() -> None:
    both = [*LAND, ["latvia", "open", Literal('"no"')]]
    answer = asked("Is Latvia open 3?", "latvia", triples=both, paths=("open",))
    assert (answer.truth, answer.enough) == (None, False)


def test_the_whole_of_a_path_has_neither_its_start_nor_ends_behind_a_triple_that_it_went_back() -> None:
    rows = [["latvia", "borders", "estonia"], ["estonia", "trades", "latvia"], ["estonia", "trades", "russia"]]
    like = Named(6.0)
    answer = asked("Where do borders of Latvia trade?", "latvia", triples=rows, paths=("borders trades",), scorer=like)
    assert (answer.entities, answer.complete) == (("russia",), True)
    rows = [["latvia", "borders", "estonia"], ["finland", "borders", "estonia"], ["finland", "borders", "norway"]]
    paths = ("borders ^borders borders",)
    assert asked("Where is Latvia?", "latvia", triples=rows, paths=paths, scorer=like).entities == ("norway",)


def test_without_a_path_no_number_is_missed_and_an_age_has_the_other_paths_beside_it() -> None:
    assert asked("How much does Latvia weigh?", "latvia").missing == "no path leads to an answer"
    rows = [["latvia", "area", number(64)], ["latvia", "founded", '"1918-11-18"^^xsd:date']]
    answer = asked("How old is Latvia?", "latvia", triples=rows, paths=("area", "founded"))
    assert answer.entities == ('"1918-11-18"^^xsd:date',)
    assert [one.entities for one in answer.alternatives] == [(number(64),)]


def test_the_noun_of_a_relation_is_of_one_link_alone() -> None:
    rows = [["wheel", "part_of", "car"], ["door", "part_of", "car"], ["car", "made by", "ann"]]
    parts = asked("Which parts of a car are there?", "car", triples=rows, paths=("made by",))
    assert set(parts.entities) == {"door", "wheel"}
    assert not asked("Which parts of a car are ann?", "car", "ann", triples=rows, paths=("made by",)).entities


def test_a_measure_compares_numbers_of_one_thing_alone() -> None:
    rows = [["boat", "seats", number(5)], ["boat", "maker", "ann"], ["ann", "weight", number(60)]]
    answer = asked(
        "How heavy is the boat?", "boat", triples=rows, paths=("maker", "seats", "maker weight"), scorer=Named(6.0)
    )
    assert answer.missing == "the graph has no relation like 'weight or mass' of what the question names"
    rows += [["ann", "seats", number(2)]]
    paths = ("maker", "maker seats", "maker weight")
    answer = asked("How heavy is the boat?", "boat", triples=rows, paths=paths, scorer=Named(6.0))
    assert answer.entities == (number(60),)


def test_what_the_last_relation_of_the_best_path_calls_by_the_class_may_be_a_text() -> None:
    rows = [["latvia", "code", Literal('"LV"')], ["latvia", "capital", "riga"], ["riga", "code", Literal('"R"')]]
    for path, code in (("code", '"LV"'), ("capital code", '"R"')):
        answer = asked("Which codes has Latvia?", "latvia", triples=rows, paths=(path, "capital"))
        assert answer.entities == (code,)


def test_a_date_behind_a_way_back_to_alike_nodes_comes_after_the_others() -> None:
    rows = [[one, "founded", f'"{year}"^^xsd:gYear'] for one, year in (("latvia", 1918), ("finland", 1917))]
    rows += [["latvia", "borders", "russia"], ["finland", "borders", "russia"]]
    paths = ("borders ^borders founded", "founded")
    answer = asked("When was Latvia founded?", "latvia", triples=rows, paths=paths)
    assert answer.entities == ('"1918"^^xsd:gYear',)


def test_the_answer_before_the_end_is_behind_the_link_of_the_best_path() -> None:
    rows = [*DIRECTED, ["scott", "award", "prize"]]
    text = "Which moods have the films directed by mann and scott?"
    paths = ("^directed genre", "^directed", "award")
    answer = asked(text, "mann", "scott", triples=rows, paths=paths, scorer=Named(6.0))
    assert set(answer.entities) == {"heat", "thief"}


def test_who_did_something_is_told_by_the_rows_of_the_table_that_is_called_so() -> None:
    rows = [["rents:1", "cart", "rover"], ["rents:1", "client", "ida"], ["rents:1", "paid", Literal('"yes"')]]
    rows += [["repairs:1", "vehicle", "rover"], ["repairs:1", "mechanic", "bo"]]
    tables = {"rents": ("cart", "client", "paid"), "repairs": ("vehicle", "mechanic")}
    assert asked("Who rented rover?", "rover", triples=rows, tables=tables).entities == ("ida",)
    assert asked("Who repaired rover?", "rover", triples=rows, tables=tables).entities == ("bo",)
    plain = [[name.removeprefix("rents:"), *rest] for name, *rest in rows[:3]]
    assert asked("Who rented rover?", "rover", triples=plain, tables={"rents": tables["rents"]}).entities == ("ida",)
