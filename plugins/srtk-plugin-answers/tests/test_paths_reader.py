"""The ``paths`` reader: answers from paths and operations, with what proves them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from srtk_plugin_answers.answer_types import asked_relation
from srtk_plugin_answers.path_scores import PathScores, ScoreUnit
from srtk_plugin_answers.reader import PathsReader
from srtk_plugin_answers.result_order import with_proof
from srtk_plugin_local.memory import MemoryGraph

from srtk_framework import Graph, Result, Retriever, ask
from srtk_framework.graph import facts
from srtk_framework.roles import KnowledgeGraph, PathScorer, SearchSettings
from srtk_framework.testing import ReaderConformance
from srtk_framework.values import Answer, Budget, Link, Literal, Question, RankedPath, Step, Subgraph, Triple


@attrs.define(eq=False)
class Named(PathScorer):
    """Prefers relations that the question names, by one natural-log unit.

    ``like`` is how like each step is to a whole question besides.
    """

    like: float = 0.0

    def search_settings(self) -> SearchSettings:
        return SearchSettings(scale=1.0)

    def score(self, questions: Any, paths: Any, candidates: Any) -> Any:
        return [
            [float(step.relation in text) + self.like * text.endswith("?") for step in row]
            for text, row in zip(questions, candidates, strict=True)
        ]


@attrs.define(eq=False)
class LogProbable(Named):
    """The same in log-probabilities."""

    def score(self, questions: Any, paths: Any, candidates: Any) -> Any:
        return [[score - 9 for score in row] for row in super().score(questions, paths, candidates)]


class TestPathsReader(ReaderConformance):
    name = "paths"

    @pytest.fixture
    def driver(self, graph: KnowledgeGraph) -> Iterator[PathsReader]:
        reader = PathsReader(graph, Named())
        reader.open()
        yield reader
        reader.close()


AREAS = {"latvia": 64, "estonia": 45, "lithuania": 65, "russia": 17098, "belarus": 208}
PEAKS = {"estonia": 318, "lithuania": 294, "russia": 318, "belarus": 200}
FOUNDED = {"latvia": "1918-11-18", "estonia": "1918-02-24", "lithuania": "1918-02-16", "russia": "1991-12-12"}
NEIGHBOURS = ["belarus", "estonia", "lithuania", "russia"]
TRIPLES = [
    *(["latvia", "borders", country] for country in NEIGHBOURS),
    *([country, "area", f'"{area}"^^xsd:integer'] for country, area in AREAS.items()),
    *([country, "peak", f'"{peak}"^^xsd:integer'] for country, peak in PEAKS.items()),
    *([country, "founded", f'"{date}"^^xsd:date'] for country, date in FOUNDED.items()),
    *([country, "currency", "euro"] for country in ("estonia", "latvia", "lithuania")),
    *[["russia", "currency", "ruble"], ["belarus", "currency", "rubel"]],
    *[["latvia", "capital", "riga"], ["finland", "borders", "russia"], ["latvia", "member", "union"]],
]
QUALIFIERS = [
    ["latvia", "member", "union", "start", '"2004-05-01"^^xsd:date'],
    ["latvia", "member", "union", "end", '"2030"^^xsd:gYear'],
]
NAMES = {name: name.capitalize() for name in [*AREAS, "finland", "riga", "union"]}


def asked(
    text: str,
    *links: str,
    triples: Any = TRIPLES,
    paths: Any = ("borders", "capital"),
    best: float = 2.0,
    scorer: PathScorer | None = None,
    apart: float = 1.0,
    types: Any = (),
    **more: Any,
) -> tuple[Answer, Subgraph]:
    """Return the answer to a question about the table, and the subgraph with its proof.

    ``best`` is the first score, from which the others are ``apart``, and how like each step is to the question;
    ``types`` are relations to classes.
    """
    graph = MemoryGraph(triples=triples, labels=NAMES, qualifiers=QUALIFIERS, type_relations=types)
    graph.open()
    spans = [(text.index(NAMES.get(one, one)), NAMES.get(one, one)) for one in links]
    linked = tuple(
        Link(one, start=start, end=start + len(name), name=name)
        for one, (start, name) in zip(links, spans, strict=True)
    )
    ranked = [
        RankedPath(link.entity, tuple(map(Step.parse, path.split())), best - apart * rank)
        for rank, path in enumerate(paths)
        for link in linked
    ]
    budget = more.get("budget", Budget())
    [found] = facts(graph, [ranked], budget)
    reader = PathsReader(graph, scorer or Named(best), **more)
    reader.open()
    [answer] = reader.read([Question("q", text, linked)], [found])
    return answer, answer.subgraph or found


def proof(answer: Answer, found: Subgraph) -> set[Triple]:
    return {found.triples[place] for place in answer.support}


def borders(*countries: str) -> set[Triple]:
    return {Triple("latvia", "borders", country) for country in countries}


def values(relation: str, of: dict[str, int], *countries: str) -> set[Triple]:
    return {Triple(country, relation, Literal(f'"{of[country]}"^^xsd:integer')) for country in countries}


def test_the_whole_set_is_counted_with_one_triple_for_each_member() -> None:
    answer, found = asked("How many countries borders Latvia?", "latvia")
    assert (answer.number, answer.text, answer.complete, answer.operation) == (4, "4", True, "count")
    assert set(answer.entities) == set(NEIGHBOURS)
    assert proof(answer, found) == borders(*NEIGHBOURS)


FILMS_OF_MANN = [
    *TRIPLES,
    *[["heat", "directed", "mann"], ["thief", "directed", "mann"], ["ali", "directed", "mann"]],
    *[["heat", "language", "english"], ["thief", "language", "french"], ["ali", "language", "french"]],
    *[["heat", "genre", "crime"], ["thief", "genre", "crime"], ["ali", "genre", "sport"]],
]


def test_a_sure_path_to_the_class_comes_before_a_single_step_and_leads_nowhere_back() -> None:
    text = "Which languages are spoken in the other films of the maker of heat?"
    paths = ("directed ^directed language", "directed")
    answer, _ = asked(text, "heat", triples=FILMS_OF_MANN, paths=paths, apart=1.5)
    assert answer.entities == ("french",)


def test_a_sure_path_to_the_class_comes_before_the_first_triple_of_the_class() -> None:
    text = "Which languages are spoken in the other films of the maker of heat?"
    paths = ("directed ^directed language", "language")
    answer, found = asked(text, "heat", triples=FILMS_OF_MANN, paths=paths, apart=1.5)
    assert answer.entities == ("french",)
    assert Triple("heat", "language", "english") in found.triples


def test_a_sure_path_to_the_class_is_no_detour_behind_another_node_of_the_class() -> None:
    triples = [*FILMS_OF_MANN, ["thief", "actor", "mann"], ["thief", "actor", "caan"], ["heat", "actor", "pacino"]]
    paths = ("directed ^directed actor", "directed")
    text = "Which actors are in the films of the maker of heat?"
    answer, _ = asked(text, "heat", triples=triples, paths=paths, apart=1.5)
    assert set(answer.entities) == {"caan", "mann"}


def test_a_search_that_is_sure_of_a_path_goes_on_from_the_things_of_the_question() -> None:
    text, paths = "Which moods have the films directed by mann?", ("^directed genre", "^directed")
    answer, _ = asked(text, "mann", triples=FILMS_OF_MANN, paths=paths)
    assert set(answer.entities) == {"heat", "thief", "ali"}
    answer, _ = asked(text, "mann", triples=FILMS_OF_MANN, paths=paths, best=9.0, apart=5.0)
    assert set(answer.entities) == {"crime", "sport"}


def test_types_of_things_are_not_the_things() -> None:
    paths = ("^directed genre", "^directed")
    answer, _ = asked("What types are the films directed by mann?", "mann", triples=FILMS_OF_MANN, paths=paths)
    assert set(answer.entities) == {"crime", "sport"}
    answer, _ = asked("What films are directed by mann?", "mann", triples=FILMS_OF_MANN, paths=paths)
    assert set(answer.entities) == {"heat", "thief", "ali"}


def test_a_set_that_the_limit_of_members_cuts_is_not_complete() -> None:
    answer, _ = asked("How many countries borders Latvia?", "latvia", members=3)
    assert (answer.number, answer.complete) == (3, False)


def test_all_with_the_same_greatest_value_are_the_answer() -> None:
    answer, found = asked("Which neighbour that borders Latvia has the highest peak?", "latvia")
    assert answer.entities == ("estonia", "russia")
    assert answer.text == "Estonia and Russia"
    assert proof(answer, found) == borders(*NEIGHBOURS) | values("peak", PEAKS, *NEIGHBOURS)


def test_the_first_of_an_order_are_answered_with_those_that_share_the_last_place() -> None:
    answer, _ = asked("Which two neighbours that borders Latvia have the largest area?", "latvia")
    assert answer.entities == ("russia", "belarus")
    tied, _ = asked("Which three neighbours that borders Latvia have the lowest peak?", "latvia")
    assert tied.entities == ("belarus", "lithuania", "estonia", "russia")


def test_a_place_in_the_order_is_answered_and_one_beyond_the_set_is_refused() -> None:
    answer, _ = asked("Which neighbour that borders Latvia has the second largest area?", "latvia")
    assert (answer.entities, answer.operation) == (("belarus",), "ordinal")
    beyond, _ = asked("Which neighbour that borders Latvia has the seventh largest area?", "latvia")
    assert (beyond.enough, beyond.entities) == (False, ())
    assert beyond.missing == "the set has no place 7: 4 of it have a value of 'area'"


@pytest.mark.parametrize(
    ("first", "second", "truth"), [("lithuania", "estonia", True), ("estonia", "lithuania", False)]
)
def test_whether_one_value_is_greater_is_answered_with_both_values(first: str, second: str, truth: bool) -> None:
    text = f"Is the area of {NAMES[first]} larger than the area of {NAMES[second]}?"
    answer, found = asked(text, first, second)
    assert (answer.truth, answer.text) == (truth, "Yes" if truth else "No")
    assert proof(answer, found) == values("area", AREAS, first, second)


def test_which_of_two_is_greater_is_answered_with_both_values() -> None:
    answer, found = asked("Which has the larger area, Estonia or Lithuania?", "estonia", "lithuania")
    assert (answer.entities, answer.truth) == (("lithuania",), None)
    assert proof(answer, found) == values("area", AREAS, "estonia", "lithuania")


def test_a_comparison_is_refused_where_no_relation_has_values_of_both() -> None:
    answer, _ = asked("Which has the larger area, Estonia or Finland?", "estonia", "finland")
    assert not answer.enough
    assert "number or a date" in answer.missing


def test_what_is_not_joined_to_the_second_name_is_left() -> None:
    text = "Which neighbours that borders Latvia do not have the currency euro?"
    answer, found = asked(text, "latvia", "euro")
    assert (set(answer.entities), answer.operation) == ({"belarus", "russia"}, "difference")
    assert borders("belarus", "russia") <= proof(answer, found)
    unlinked, _ = asked(text, "latvia", paths=("borders", "borders currency"))
    assert set(unlinked.entities) == {"belarus", "russia"}


def test_a_second_name_that_was_not_linked_is_a_condition() -> None:
    text = "Which neighbours that borders Latvia have the currency euro?"
    answer, found = asked(text, "latvia", paths=("borders", "borders currency"))
    assert set(answer.entities) == {"estonia", "lithuania"}
    joined = {Triple(country, "currency", "euro") for country in ("estonia", "lithuania")}
    assert proof(answer, found) == borders("estonia", "lithuania") | joined


def test_yes_is_proved_by_the_triple_that_joins_and_no_by_what_there_is_in_its_place() -> None:
    answer, found = asked("Does Latvia borders Russia?", "latvia", "russia")
    assert (answer.truth, answer.complete, proof(answer, found)) == (True, True, borders("russia"))
    answer, found = asked("Does Latvia borders Finland?", "latvia", "finland")
    assert (answer.truth, answer.complete, answer.entities) == (False, True, ())
    assert borders(*NEIGHBOURS) <= proof(answer, found)


@pytest.mark.parametrize(("word", "number"), [("total", 17416.0), ("average", 4354.0)])
def test_numbers_of_a_whole_set_are_added_up(word: str, number: float) -> None:
    answer, found = asked(f"What is the {word} area of the countries that borders Latvia?", "latvia")
    assert (answer.number, answer.unit, answer.complete) == (number, "area", True)
    assert answer.operation == {"total": "sum", "average": "average"}[word]
    assert proof(answer, found) == borders(*NEIGHBOURS) | values("area", AREAS, *NEIGHBOURS)


def test_dates_are_apart_by_years_and_numbers_by_their_difference() -> None:
    answer, found = asked("How many years are between the founded dates of Latvia and Russia?", "latvia", "russia")
    assert (answer.number, answer.unit, answer.operation) == (73, "years", "distance")
    assert {triple.subject for triple in proof(answer, found)} == {"latvia", "russia"}
    answer, _ = asked("What is the difference in area between Estonia and Lithuania?", "estonia", "lithuania")
    assert (answer.number, answer.unit) == (20, "area")


CAR = [
    *[["wheel", "part_of", "car"], ["door", "part_of", "car"], ["car", "part_of", "fleet"]],
    *[["sedan", "is a", "car"], ["car", "is a", "vehicle"], ["car", "made by", "ann"]],
    ["latvia", "member", "union"],
]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("What are the parts of a car?", "door and wheel"),
        ("How many parts of a car are there?", "2"),
        ("Which kinds of car exist?", "sedan"),
        ("What is a car part of?", "fleet"),
        ("What holds the parts of a car?", "fleet"),
    ],
)
def test_what_is_asked_for_by_the_noun_of_a_relation_is_its_subject(text: str, said: str) -> None:
    answer, _ = asked(text, "car", triples=CAR, paths=("part_of", "made by"))
    assert answer.text == said


BOAT = [
    *[["boat", "weight", '"900"^^xsd:integer'], ["boat", "seats", '"5"^^xsd:integer'], ["boat", "maker", "ann"]],
    *[["ann", "weight", '"60"^^xsd:integer'], ["latvia", "member", "union"]],
]


@pytest.mark.parametrize(
    ("text", "number"),
    [("How heavy is the boat?", "900"), ("How heavy are seats of the boat?", "5"), ("How big is the boat?", "5")],
)
def test_how_heavy_asks_for_a_weight_unless_another_relation_is_named(text: str, number: str) -> None:
    answer, _ = asked(text, "boat", triples=BOAT, paths=("maker", "seats", "weight", "maker weight"))
    assert answer.text == number


def test_members_within_a_bound_are_given_and_counted() -> None:
    answer, found = asked("Which countries that borders Latvia have an area of more than 100?", "latvia")
    assert set(answer.entities) == {"belarus", "russia"}
    assert proof(answer, found) == borders("belarus", "russia") | values("area", AREAS, "belarus", "russia")
    assert asked("How many countries that borders Latvia have an area of more than 100?", "latvia")[0].number == 2


def test_a_date_is_read_of_the_thing_itself_before_those_of_others() -> None:
    answer, found = asked("When was Latvia founded?", "latvia", paths=("founded", "borders founded"))
    assert answer.text == "1918-11-18"
    assert proof(answer, found) == {Triple("latvia", "founded", Literal('"1918-11-18"^^xsd:date'))}
    assert [len(other.entities) for other in answer.alternatives] == [3]


@pytest.mark.parametrize(("asks", "text"), [("become", "2004-05-01"), ("stop being", "2030")])
def test_a_statement_began_and_ended_by_the_dates_of_its_qualifiers(asks: str, text: str) -> None:
    answer, found = asked(f"When did Latvia {asks} a member of the Union?", "latvia", "union", paths=("member",))
    assert answer.text == text
    assert proof(answer, found) == {Triple("latvia", "member", "union")}


@pytest.mark.parametrize(
    ("text", "link", "missing"),
    [
        ("What is the anthem of Latvia?", "latvia", "no relation like 'anthem'"),
        ("What is the capital of Latvia and Narnia?", "latvia", "nothing of the graph is called Narnia"),
        ("When was Riga founded?", "riga", "no date"),
    ],
)
def test_what_the_graph_lacks_is_refused_by_name(text: str, link: str, missing: str) -> None:
    answer, _ = asked(text, link)
    assert missing in answer.missing
    assert (answer.enough, answer.text, answer.entities, answer.support, answer.number) == (False, "", (), (), None)


@pytest.mark.parametrize("text", ["Where does Latvia end?", "What is the anthem of Latvia?"])
def test_log_probabilities_do_not_say_that_nothing_is_like_a_question(text: str) -> None:
    assert "no relation like" in asked(text, "latvia", paths=["capital"], best=0.05)[0].missing
    answer, _ = asked(text, "latvia", paths=["capital"], best=-4.0, scorer=LogProbable())
    assert answer.entities == ("riga",)


@pytest.mark.parametrize(
    ("text", "path", "score"),
    [
        ("What is the name of the club of Latvia?", "member", 2.0),
        ("What is the subborders of Latvia?", "borders currency", 2.0),
        ("What is the anthem of Latvia?", "capital", 5.0),
    ],
)
def test_a_path_is_not_refused_for_a_noun_that_says_nothing_or_stands_for_another_step(
    text: str, path: str, score: float
) -> None:
    answer, _ = asked(text, "latvia", paths=[path], best=score)
    assert answer.enough, answer.missing


def test_another_of_the_kind_is_an_answer_though_its_path_goes_back_the_way_it_came() -> None:
    graph = MemoryGraph(triples=GENRES, labels={})
    graph.open()
    made = Step("directed by")
    paths = [
        RankedPath("alien", (made, Step("directed by", True)), 3.0),
        RankedPath("alien", (Step("genre"),), 1.0),
    ]
    [found] = facts(graph, [paths], Budget())
    reader = PathsReader(graph, Named(3.0))
    reader.open()
    question = Question("q", "Who shares a maker with alien?", (Link("alien", start=24, end=29),))
    [answer] = reader.read([question], [found])
    assert answer.entities == ("gladiator",)


@pytest.mark.parametrize(("distance", "certainty"), [(2.0, "sure"), (0.7, "likely"), (0.1, "unsure")])
def test_the_distance_from_the_next_choice_is_the_certainty(distance: float, certainty: str) -> None:
    graph = MemoryGraph(triples=TRIPLES, labels=NAMES)
    graph.open()
    paths = [RankedPath("latvia", (Step("capital"),), 9.0), RankedPath("latvia", (Step("member"),), 9.0 - distance)]
    [found] = facts(graph, [paths], Budget())
    reader = PathsReader(graph, Named(9.0))
    reader.open()
    link = Link("latvia", start=9, end=15)
    [answer] = reader.read([Question("q", "Where is Latvia?", (link,))], [found])
    assert (answer.entities, answer.certainty) == (("riga",), certainty)
    assert [other.entities for other in answer.alternatives] == [("union",)]


def test_a_triple_of_proof_that_does_not_fit_is_left_out_and_the_budget_kept() -> None:
    answer, found = asked("How many countries borders Latvia?", "latvia", budget=Budget(triples=2))
    assert (answer.number, len(found.triples)) == (4, 2)
    assert proof(answer, found) <= borders(*NEIGHBOURS)


@settings(max_examples=40, deadline=None)
@given(st.permutations(TRIPLES), st.integers(1, 12))
def test_the_order_of_the_triples_changes_no_count_and_the_proof_is_of_the_graph(triples: Any, most: int) -> None:
    text = "How many countries that borders Latvia have an area of more than 50?"
    answer, found = asked(text, "latvia", triples=triples, budget=Budget(triples=most))
    assert (answer.number, set(answer.entities)) == (3, {"belarus", "lithuania", "russia"})
    assert len(found.triples) <= most
    assert all(0 <= place < len(found.triples) for place in answer.support)
    assert {tuple(triple) for triple in found.triples} <= {tuple(triple) for triple in TRIPLES}


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(TRIPLES), unique_by=tuple), st.integers(1, 20), st.integers(0, 20))
def test_a_proof_that_fits_is_kept_whole_and_the_budget_never_exceeded(rows: Any, most: int, size: int) -> None:
    graph = MemoryGraph(triples=TRIPLES)
    graph.open()
    path = RankedPath("latvia", (Step("borders"),), 1.0)
    [found] = facts(graph, [[path]], Budget(triples=most))
    told = [(Triple(one, relation, Literal(end) if end[0] == '"' else end), None) for one, relation, end in rows[:size]]
    changed = with_proof(graph, found, told, Budget(triples=most))
    assert len(changed.triples) <= most
    assert len(set(changed.triples)) == len(changed.triples)
    assert {triple for triple, _ in told[:most]} <= set(changed.triples)
    assert all(len(getattr(changed, name)) in (0, len(changed.triples)) for name in Subgraph.COLUMNS)


FILMS = """title,director,year,genre,minutes
Alien,Ridley Scott,1979,horror,117
Heat,Michael Mann,1995,crime,170
Thief,Michael Mann,1981,crime,122
Fargo,Joel Coen,1996,crime,98
"""


@pytest.fixture(scope="module")
def films(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Retriever]:
    file = tmp_path_factory.mktemp("films") / "films.csv"
    file.write_text(FILMS, encoding="utf-8")
    with Retriever(Graph.from_csv(file), reader="paths") as retriever:
        yield retriever


@pytest.mark.parametrize(
    ("text", "entities"),
    [
        ("Which films are there?", {"Alien", "Heat", "Thief", "Fargo"}),
        ("Which genres are there?", {"crime", "horror"}),
        ("Which directors are there?", {"Joel Coen", "Michael Mann", "Ridley Scott"}),
        ("Which film is the longest?", {"Heat"}),
        ("What is the longest crime film?", {"Heat"}),
        ("Which films came out in 1981?", {"Thief"}),
        ("Which films are longer than 120 minutes?", {"Heat", "Thief"}),
        ('Which film has "horror"?', {"Alien"}),
        ("Who directed Heat?", {"Michael Mann"}),
    ],
)
def test_a_table_is_asked_by_class_value_quotation_and_order(films: Retriever, text: str, entities: set[str]) -> None:
    result: Result = films.ask(text)
    assert result.answer is not None
    assert set(result.answer.entities) == entities
    assert result.answer.complete or result.answer.certainty != "sure"
    assert all(0 <= place < len(result.triples) for place in result.answer.support)


ANIMALS = """name,kind,sleep_total,weight
Cat,pet,12.5,4
Horse,farm,3,500
Bat,wild,19.5,0.02
Giraffe,wild,2,900
"""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Which animals sleep less than 5 hours?", "Giraffe and Horse"),
        ("Name the two animals that sleep the least.", "Giraffe and Horse"),
        ("What is the second heaviest animal?", "Horse"),
        ("How many different kinds are in the table?", "3"),
        ("List all pets.", "Cat"),
        ("How many pets are there?", "1"),
        ("How many animals are there?", "4"),
    ],
)
def test_words_that_a_relation_or_an_order_explains_or_that_mean_the_table_name_nothing_else(
    text: str, said: str, tmp_path: Path
) -> None:
    file = tmp_path / "sleep.csv"
    file.write_text(ANIMALS, encoding="utf-8")
    answer = ask(Graph.from_csv(file), text, reader="paths").answer
    assert answer is not None
    assert answer.text == said


@pytest.mark.parametrize(
    "text", ["What is the sixth longest film?", "Which film was made by Zorro?", "Which films came out in 2020?"]
)
def test_a_table_without_the_answer_refuses(films: Retriever, text: str) -> None:
    answer = films.ask(text).answer
    assert answer is not None
    assert (answer.enough, answer.entities) == (False, ())
    assert answer.missing


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("How many films are there?", 4),
        ("How many films did Michael Mann direct?", 2),
        ("What is the average minutes of the crime films?", 130),
        ("What is the total minutes of Michael Mann's films?", 292),
    ],
)
def test_a_table_gives_numbers(films: Retriever, text: str, number: float) -> None:
    result = films.ask(text)
    answer = result.answer
    assert answer is not None
    assert answer.number == number
    assert ("answer: Perhaps (" in result.to_text()) == (answer.certainty == "unsure")
    assert answer.complete or answer.certainty != "sure"


def test_what_is_less_probable_than_asked_for_is_refused() -> None:
    sure, _ = asked("What is the capital of Latvia?", "latvia", paths=["capital"])
    probability = sure.trace["probability"]
    assert (sure.enough, 0 < probability < 1) == (True, True)
    refused, _ = asked("What is the capital of Latvia?", "latvia", paths=["capital"], least=probability + 0.001)
    assert (refused.enough, refused.entities) == (False, ())
    assert "'Riga'" in refused.missing
    assert refused.trace["probability"] == probability


GENRES = [
    ["alien", "directed by", "scott"],
    ["gladiator", "directed by", "scott"],
    ["alien", "genre", "horror"],
    ["gladiator", "genre", "drama"],
]


@pytest.mark.parametrize(
    ("text", "entities"),
    [
        ("Which films did Scott direct?", {"alien", "gladiator"}),
        ("How many films did Scott direct?", {"alien", "gladiator"}),
        ("Which genre has Scott directed?", {"horror", "drama"}),
    ],
)
def test_what_is_asked_for_is_not_passed_over_on_a_graph_without_classes(text: str, entities: set[str]) -> None:
    graph = MemoryGraph(triples=GENRES, labels={})
    graph.open()
    back = Step("directed by", True)
    paths = [RankedPath("scott", (back, Step("genre")), 3.0), RankedPath("scott", (back,), 1.0)]
    [found] = facts(graph, [paths], Budget())
    reader = PathsReader(graph, Named())
    reader.open()
    at = text.index("Scott")
    [answer] = reader.read([Question("q", text, (Link("scott", start=at, end=at + 5),))], [found])
    assert set(answer.entities) == entities


@attrs.define(eq=False)
class Renumbered(PathScorer):
    """Prefers relations that the question names, in numbers of a unit of its own, of which it says nothing."""

    factor: float = 1.0
    shift: float = 0.0

    def score(self, questions: Any, paths: Any, candidates: Any) -> Any:
        return [
            [self.factor * (2 * (step.relation in text) + len(step.relation) / 9) + self.shift for step in row]
            for text, row in zip(questions, candidates, strict=True)
        ]


@pytest.mark.parametrize(("factor", "shift"), [(0.1, 0.0), (1.0, -3.0), (20.0, 8.0)])
@pytest.mark.parametrize(
    ("text", "links"),
    [
        ("What is the capital of Latvia?", ["latvia"]),
        ("What is the anthem of Latvia?", ["latvia"]),
        ("Which neighbour that borders Latvia has the highest peak?", ["latvia"]),
        ("How many countries that borders Latvia have an area of more than 50?", ["latvia"]),
        ("Which has the larger area, Latvia or Estonia?", ["latvia", "estonia"]),
        ("Does Latvia borders Russia?", ["latvia", "russia"]),
        ("Which neighbours that borders Latvia have the currency Euro?", ["latvia"]),
    ],
)
def test_neither_a_factor_on_the_scores_nor_a_shift_changes_an_answer(
    text: str, links: list[str], factor: float, shift: float
) -> None:
    plain, _ = asked(text, *links, scorer=Renumbered())
    other, _ = asked(text, *links, scorer=Renumbered(factor, shift))
    assert other == plain


def test_a_unit_that_the_search_was_given_is_one_for_the_reader_too() -> None:
    text = "Which neighbour that borders Latvia has the highest peak?"
    tenth = Renumbered(0.1)
    assert asked(text, "latvia", scorer=tenth, scale=0.1)[0] == asked(text, "latvia", scorer=Renumbered(), scale=1.0)[0]
    with pytest.raises(ValueError, match="scale"):
        PathsReader(MemoryGraph(triples=TRIPLES), Named(), scale=0.0)


def test_scores_that_do_not_differ_say_nothing_of_how_sure_an_answer_is() -> None:
    unit = ScoreUnit.of(Renumbered(0.0), "Where?", [[Step("capital"), Step("member")], []])
    scores = PathScores(Renumbered(0.0), (), unit)
    assert scores.of([(Step("capital"),), (Step("member"), Step("start"))], "Where?") == [0.0, 0.0]


@pytest.mark.parametrize(
    ("text", "link", "paths", "missing"),
    [
        ("How much does Latvia weigh?", "latvia", ["borders", "capital"], "no number of what"),
        ("How old is Latvia?", "latvia", ["area", "capital"], "no age of what"),
        ("How old is Riga?", "riga", ["^capital founded"], "no age of what"),
        ("age structure in Latvia", "latvia", ["area"], "no relation like 'age structure'"),
    ],
)
def test_a_number_or_an_age_that_no_path_ends_in_is_refused(
    text: str, link: str, paths: list[str], missing: str
) -> None:
    answer, _ = asked(text, link, paths=paths)
    assert missing in answer.missing


def test_an_age_is_a_date_or_a_number_of_a_relation_like_it() -> None:
    assert asked("How old is Latvia?", "latvia", paths=["area", "founded"])[0].text == "1918-11-18"
    aged = [*TRIPLES[-1:], ["latvia", "age", '"107"^^xsd:integer'], ["latvia", "area", '"64"^^xsd:integer']]
    assert asked("How old is Latvia?", "latvia", paths=["area", "age"], triples=aged)[0].text == "107"


@pytest.mark.parametrize("text", ["Who works in Latvia?", "What is in Latvia?", "Which town in Latvia is it?"])
def test_a_question_that_asks_of_something_in_a_place_names_no_relation_to_it(text: str) -> None:
    assert asked_relation(text) is None
    assert asked_relation("life expectancy in Latvia") == "life expectancy"


@pytest.mark.parametrize(
    ("text", "foreign"),
    [
        ("Was ist die Hauptstadt von Latvia?", True),
        ("Wo liegt Latvia?", False),
        ("¿Cuál es la capital de Latvia?", True),
        ("What is the capital of Latvia?", False),
        ("Who directed De la Guerra in Latvia?", False),
    ],
)
def test_a_question_in_another_language_is_told_to_be_read_as_english(text: str, foreign: bool) -> None:
    answer, _ = asked(text, "latvia", paths=("capital",))
    assert ("notice" in answer.trace) == foreign
    assert answer.enough or ("not in English" in answer.missing) == foreign


def test_the_name_of_a_link_tells_nothing_of_the_language_of_a_question() -> None:
    graph = MemoryGraph(triples=[["film", "director", "lee"]])
    graph.open()
    text = "director La vida es de todos"
    reader = PathsReader(graph, Named(2.0))
    reader.open()
    [found] = facts(graph, [[RankedPath("film", (Step("director"),), 2.0)]], Budget())
    link = Link("film", start=9, end=len(text), name="La vida es de todos")
    [answer] = reader.read([Question("q", text, (link,))], [found])
    assert "notice" not in answer.trace


SIZES = [
    ["latvia", "member", "union"],
    ["latvia", "height", '"3"^^xsd:integer'],
    ["latvia", "mass", '"7"^^xsd:integer'],
]


@pytest.mark.parametrize(
    ("more", "paths", "text"),
    [
        ([], ("height", "mass"), "7"),  # how heavy is measured by the mass
        ([["latvia", "depth", '"5"^^xsd:integer']], ("height", "depth"), ""),  # neither is a mass
        ([["latvia", "mass", "much"]], ("height", "mass"), ""),  # not all of these are numbers
    ],
)
def test_how_heavy_asks_for_the_number_whose_relation_is_likest_or_is_refused(more: Any, paths: Any, text: str) -> None:
    answer, _ = asked("How heavy is Latvia?", "latvia", triples=[*SIZES, *more], paths=paths)
    assert answer.text == text


def test_the_values_of_several_things_that_are_named_are_added_up() -> None:
    answer, _ = asked("What is the total area of Latvia and Estonia?", "latvia", "estonia")
    assert answer.number == 64 + 45


@pytest.mark.parametrize(
    ("text", "size"), [("How many countries are allies of Latvia?", 2), ("Which countries are allies of Latvia?", 4)]
)
def test_a_single_step_that_the_question_names_is_counted_and_one_that_lists_a_class_is_kept(
    text: str, size: int
) -> None:
    rows = [*TRIPLES, *(["latvia", "allies", one] for one in ("belarus", "estonia"))]
    rows += [[one, "is_a", "country"] for one in AREAS]
    # The search followed the borders, and is not sure of them.
    answer, _ = asked(text, "latvia", triples=rows, types=["is_a"], apart=0.1)
    assert len(answer.entities) == size
