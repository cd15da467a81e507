"""Orders by how many of something each has: which words ask for one, what is counted, and with what proof."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import pytest
from srtk_plugin_answers import counted_steps
from srtk_plugin_answers.answer_types import classes_asked
from srtk_plugin_answers.counted_steps import CountedSteps
from srtk_plugin_answers.graph_names import GraphNames
from srtk_plugin_answers.path_scores import PathScores
from srtk_plugin_answers.question_classes import role_words
from srtk_plugin_answers.question_kinds import kind_of
from srtk_plugin_answers.question_orders import CountedOrder, counted_order
from srtk_plugin_answers.reader import PathsReader
from srtk_plugin_local.memory import MemoryGraph

from srtk_framework.graph import facts
from srtk_framework.roles import PathScorer, SearchSettings
from srtk_framework.values import Answer, Budget, Link, Question, RankedPath, Schema, Step, Subgraph, Triple

RIVERS = {"estonia": ["narva"], "lithuania": ["neman", "neris", "minija"], "russia": ["volga", "ob"], "belarus": []}
LAKES = {"estonia": ["peipus", "ula"], "lithuania": ["druk"], "russia": ["baikal"]}
TRIPLES = [
    *(["latvia", "borders", country] for country in RIVERS),
    *([country, "river", one] for country, rivers in RIVERS.items() for one in rivers),
    *([one, "lake country", country] for country, lakes in LAKES.items() for one in lakes),
    *([c, "votes", f'"{n}"^^xsd:integer'] for c, n in {"estonia": 9, "lithuania": 4, "russia": 2}.items()),
]
FILMS = [
    *([film, "directed by", "mann"] for film in ("heat", "thief", "ali")),
    *([film, "directed by", "scott"] for film in ("alien", "legend")),
    *([film, "produced by", "scott"] for film in ("heat", "alien", "legend", "ali")),
    *[["thief", "produced by", "mann"], ["heat", "written by", "mann"]],
    *([film, "main actor", actor] for film, actor in (("heat", "pacino"), ("heat", "kilmer"), ("ali", "smith"))),
    *([film, "written by", "hill"] for film in ("alien", "ali")),
    *[["heat", "drawn by", "lee"], ["ali", "drawn by", "lee"], ["alien", "drawn by", "ann"]],
]
ORDERS = [["orders:1", "customer ID", "customers:a"], ["orders:2", "customer ID", "customers:b"]]
CITIES = [
    *([f"customers:{one}", "country", "peru"] for one in "ab"),
    *([f"suppliers:{one}", "country", "chile"] for one in "abc"),
    *[["customers:c", "country", "chile"], ["suppliers:d", "country", "peru"]],
]


@attrs.define(eq=False)
class Named(PathScorer):
    """Prefers relations that the question names, by one natural-log unit."""

    def search_settings(self) -> SearchSettings:
        return SearchSettings(scale=1.0)

    def score(self, questions: Any, paths: Any, candidates: Any) -> Any:
        return [[float(step.relation in text) for step in row] for text, row in zip(questions, candidates, strict=True)]


@attrs.define(eq=False)
class Listed(MemoryGraph):
    """Lists its relations, and the tables that it was made of."""

    relations: Sequence[str] = ()
    tables: Mapping[str, tuple[str, ...]] = attrs.field(factory=dict)

    def schema(self) -> Schema:
        return attrs.evolve(super().schema(), relations=tuple(self.relations), tables=self.tables)


def asked(
    text: str,
    *links: str,
    triples: Any = TRIPLES,
    paths: Any = ("borders",),
    tables: Mapping[str, tuple[str, ...]] | None = None,
    scorer: PathScorer | None = None,
    types: tuple[str, ...] = (),
) -> Answer:
    """Return the answer to a question, whose links are mentioned with a capital letter or without."""
    relations = sorted({relation for _, relation, _ in triples})
    labels = {"latvia": "Latvia", **{one: one.replace("_", " ") for one in relations}}
    graph = Listed(triples=triples, labels=labels, relations=relations, tables=tables or {}, type_relations=types)
    graph.open()
    small = text.casefold()
    spans = [(small.index(one), small.index(one) + len(one)) for one in links]
    linked = tuple(
        Link(one.removeprefix("lake "), start=start, end=end, name=one)
        for one, (start, end) in zip(links, spans, strict=True)
    )
    ranked = [RankedPath(link.entity, tuple(map(Step.parse, path.split())), 2.0) for link in linked for path in paths]
    [found] = facts(graph, [ranked], Budget()) if ranked else [Subgraph(triples=(), scores=(), paths=(), path_of=())]
    reader = PathsReader(graph, scorer or Named())
    reader.open()
    [answer] = reader.read([Question("q", text, linked)], [found])
    return answer


def proof(answer: Answer) -> set[Triple]:
    assert answer.subgraph is not None
    return {answer.subgraph.triples[place] for place in answer.support}


@pytest.mark.parametrize(
    ("text", "order"),
    [
        ("Which country has the most neighbours?", CountedOrder("neighbours", "Which country has neighbours")),
        ("the author with the fewest books", CountedOrder("books", "the author with books")),
        ("one with the most public parks", CountedOrder("public parks", "one with public parks")),
        ("Name the top three towns by number of mills.", CountedOrder("mills", "Name the three towns mills")),
        ("Which film has the highest number of votes?", CountedOrder("votes", "Which film has votes")),
        ("Who won most often?", CountedOrder("", "Who won often")),
        ("Of the towns in Peru, which has the least mills?", CountedOrder("mills", "which has mills")),
        ("What is the most populous country?", None),
        ("Name the most populous towns.", None),
        ("Which country has the most money?", None),
        ("Which country has the highest population?", None),
        ("When do most shops close?", None),
        ("Which towns have at least two mills?", None),
        ("What is the number of towns?", None),
    ],
)  # fmt: skip
def test_the_plural_of_the_most_and_the_fewest_is_what_may_be_counted(text: str, order: CountedOrder | None) -> None:
    assert counted_order(text) == order


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("Name the top three countries by number of cities.", 3),
        ("the two towns with the most mills", 2),
        ("Name the 5 largest cities.", 5),
        ("Name the three animals that sleep the least.", 3),
        ("Name 2 of the largest cities", 2),
        ("top 10 cities by greatest area", 10),
        ("Which is the largest city?", 1),
        ("Which of the two largest cities is older?", 1),
        ("Which of the two countries has the largest area?", 1),
        ("Which city of 2000 people is the largest?", 1),
    ],
)
def test_several_places_of_an_order_may_be_asked_for(text: str, places: int) -> None:
    assert kind_of(text).places == places


def test_the_noun_of_an_order_that_asks_nothing_is_the_class() -> None:
    assert classes_asked("the country with the most airports") == ("country",)
    assert classes_asked("Name the top three countries by number of cities.") == ("country",)
    assert classes_asked("the country with a king") == ()


def test_the_ends_of_a_step_are_counted_and_prove_the_answer() -> None:
    answer = asked("Which neighbour of Latvia has the most rivers?", "latvia")
    assert answer.entities == ("lithuania",)
    assert answer.trace["choice"]["counts"] == [3]
    counted = {Triple("lithuania", "river", one) for one in RIVERS["lithuania"]}
    nearest = {Triple("russia", "river", one) for one in RIVERS["russia"]}
    assert proof(answer) == counted | nearest | {Triple("latvia", "borders", one) for one in ("lithuania", "russia")}
    assert answer.complete


def test_a_step_against_its_direction_is_counted() -> None:
    answer = asked("Which neighbour of Latvia has the most lakes?", "latvia")
    assert answer.entities == ("estonia",)
    assert Triple("ula", "lake country", "estonia") in proof(answer)


def test_the_fewest_are_of_those_that_have_some_and_not_called_complete() -> None:
    answer = asked("Which neighbour of Latvia has the fewest rivers?", "latvia")
    assert answer.entities == ("estonia",)
    assert answer.complete is False


def test_as_many_places_are_answered_as_are_asked_for() -> None:
    answer = asked("Which two neighbours of Latvia have the most rivers?", "latvia")
    assert answer.entities == ("lithuania", "russia")
    assert answer.trace["choice"]["counts"] == [3, 2]
    assert asked("Which two neighbours of Latvia have the most votes?", "latvia").entities == ("estonia", "lithuania")


def test_a_noun_that_names_a_relation_with_numbers_is_a_value() -> None:
    answer = asked("Which neighbour of Latvia has the most votes?", "latvia")
    assert answer.entities == ("estonia",)
    assert "counts" not in answer.trace["choice"]


@pytest.mark.parametrize(
    ("text", "links"),
    [("Which neighbour of Latvia has the most museums?", ["latvia"]), ("Which lake has the most museums?", [])],
)
def test_an_order_by_what_the_graph_lacks_is_refused(text: str, links: list[str]) -> None:
    answer = asked(text, *links)
    assert not answer.enough
    assert "'museums'" in answer.missing


def test_a_relation_that_is_like_what_is_counted_may_be_meant() -> None:
    class Like(Named):
        def score(self, questions: Any, paths: Any, candidates: Any) -> Any:
            return super().score([text.replace("streams", "river") for text in questions], paths, candidates)

    answer = asked("Which neighbour of Latvia has the most streams?", "latvia", scorer=Like())
    assert answer.entities == ("lithuania",)


@pytest.mark.parametrize(
    ("text", "entity"),
    [
        ("Who directed the most films?", "mann"),
        ("Who produced the most films?", "scott"),
        ("Who wrote the most films?", "hill"),
        ("Who drew the most films?", "lee"),  # drawn by
        ("Which film has the most actors?", "heat"),
    ],
)
def test_without_a_class_the_relation_of_the_verb_or_of_the_noun_tells_of_what_the_order_is(
    text: str, entity: str
) -> None:
    assert asked(text, triples=FILMS).entities == (entity,)


def test_words_in_small_letters_that_are_linked_are_no_names_in_an_order_by_counts() -> None:
    triples = [*FILMS, ["most", "directed by", "nobody"]]
    assert asked("who directed the most films?", "most", triples=triples, paths=("directed by",)).entities == ("mann",)


def test_words_that_tell_the_set_or_are_in_a_name_tell_nothing_of_what_is_counted() -> None:
    rows = [
        *(["latvia", "speaks", country] for country in ("peru", "chile")),
        *([one, "speaks", "peru"] for one in ("quechua", "aymara")),
        *[["peru", "persons", '"9"^^xsd:integer'], ["chile", "persons", '"19"^^xsd:integer']],
    ]
    text = "Which country that speaks Latvia has the fewest people?"
    assert asked(text, "latvia", triples=rows, paths=("speaks",)).entities == ("peru",)
    mills = [["oslo", "city country", "norway"], ["rome", "city country", "norway"], ["rome", "city country", "peru"]]
    rows = [*mills, ["norway", "persons", '"9"^^xsd:integer'], ["peru", "persons", '"19"^^xsd:integer']]
    assert asked("country with the most people", triples=rows).entities == ("peru",)
    assert not asked("Which neighbour of Lake Latvia has the most museums?", "lake latvia").enough


def test_a_noun_that_is_also_asked_for_is_counted_by_the_relation_to_what_is_asked_for() -> None:
    rows = [*TRIPLES, ["russia", "borders", "china"], ["russia", "borders", "norway"], ["estonia", "borders", "russia"]]
    answer = asked("Which neighbour of Latvia has the most neighbours?", "latvia", triples=rows)
    assert answer.entities == ("russia",)


def test_a_relation_is_counted_of_what_it_calls_so_and_its_words_are_no_names() -> None:
    pairs = [("peru", "chile"), ("peru", "brazil"), ("brazil", "chile"), ("latvia", "peru"), ("latvia", "chile")]
    rows = [[one, "exporting_country", other] for one, other in pairs]
    assert asked("Which country exports to the most countries?", triples=rows).entities == ("peru",)
    text = "Which country next to Latvia exports to the most countries?"
    assert asked(text, "latvia", triples=rows, paths=("exporting_country",)).entities == ("peru",)


def test_who_does_something_is_preferred_among_relations_that_are_like_what_is_counted() -> None:
    class Like(Named):
        def score(self, questions: Any, paths: Any, candidates: Any) -> Any:
            return [[1.0 + (step.relation in text) for step in row] for text, row in zip(questions, candidates)]  # noqa: B905

    assert asked("Which producer made the most films?", triples=FILMS, scorer=Like()).entities == ("scott",)


def test_of_both_directions_of_a_relation_the_one_to_what_is_asked_for_is_not_counted() -> None:
    rows = [
        *(
            [film, "starred actor", actor]
            for film, actor in (("heat", "pacino"), ("heat", "kilmer"), ("ali", "kilmer"))
        ),
        *(["pacino", "starred actor", one] for one in ("anna", "kim", "lee")),
    ]
    assert asked("Which actor starred in the most movies?", triples=rows).entities == ("kilmer",)


def test_what_no_word_names_or_what_is_of_no_known_class_is_never_sure_or_complete() -> None:
    class Like(Named):
        def score(self, questions: Any, paths: Any, candidates: Any) -> Any:
            return super().score([text.replace("streams", "river") for text in questions], paths, candidates)

    rows = [*TRIPLES, *([c, "mill", m] for c, m in (("estonia", "a"), ("estonia", "b"), ("russia", "c")))]
    sure = asked("Which neighbour of Latvia has the most rivers?", "latvia", triples=rows)
    likely = asked("Which neighbour of Latvia has the most streams?", "latvia", triples=rows, scorer=Like())
    assert (sure.entities, sure.certainty, sure.complete) == (("lithuania",), "sure", True)
    assert (likely.entities, likely.certainty, likely.complete) == (("lithuania",), "likely", None)
    rows = [["one", "call", "a"], ["one", "call", "b"], ["two", "call", "a"], ["two", "name", '"2"']]
    stops = asked("At which stop do the most calls end?", triples=rows, tables={"trains": ("call", "name")})
    assert (stops.entities, stops.certainty, stops.complete) == (("one",), "likely", None)


def test_all_sets_that_have_the_class_are_tried() -> None:
    rows = [
        *[["one", "type", "city"], ["two", "type", "city"], ["one", "mill", "m"], ["two", "mill", "n"]],
        *([airport, "airport city", city] for airport, city in (("a", "riga"), ("b", "riga"), ("c", "oslo"))),
    ]
    answer = asked("Which city is served by the most airports?", triples=rows, types=("type",))
    assert answer.entities == ("riga",)
    rows += [["one", "in", "north"], ["two", "in", "north"]]
    # Of a set that more words narrow no other is tried, for it would not be narrowed.
    refused = asked("Which city in north is served by the most airports?", triples=rows, types=("type",))
    assert not refused.enough


def test_of_ends_of_several_tables_those_that_the_noun_names_are_counted() -> None:
    tables = {"customers": (), "suppliers": (), "orders": ("customer ID",)}
    answer = asked("Which country has the most customers?", triples=[*CITIES, *ORDERS], tables=tables)
    assert answer.entities == ("peru",)
    assert answer.trace["choice"]["counts"] == [2]
    text = "the top two countries by number of customers"
    assert asked(text, triples=[*CITIES, *ORDERS], tables=tables).entities == ("peru", "chile")


def test_ends_that_may_be_something_else_are_no_complete_count() -> None:
    answer = asked("Which country has the most customers?", triples=[*CITIES, *ORDERS])
    assert answer.entities == ("chile",)
    assert answer.complete is False


def test_a_column_of_ids_is_called_what_its_ids_are_of() -> None:
    assert role_words(["customer"], "customer ID", True) == 1
    assert role_words(["customer"], "customer ID", False) == 0


def test_an_order_of_which_not_all_was_read_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counted_steps, "_TRIED", 2)
    monkeypatch.setattr(counted_steps, "_MOST", 2)
    answer = asked("Which neighbour of Latvia has the most rivers?", "latvia")
    assert answer.complete is False
    assert answer.trace["choice"]["cut"] == 2


def test_a_verb_that_nothing_to_count_fits_orders_by_the_value_that_its_clause_tells() -> None:
    class Clause(Named):
        def score(self, questions: Any, paths: Any, candidates: Any) -> Any:
            texts = [text.replace("sleep least", "sleep total") for text in questions]
            return super().score([text if "total" in text else "sleep cycle" for text in texts], paths, candidates)

    rows = [
        *(["bat", "sleep cycle", '"1"^^xsd:integer'], ["cow", "sleep cycle", '"2"^^xsd:integer']),
        *(["bat", "sleep total", '"9"^^xsd:integer'], ["cow", "sleep total", '"4"^^xsd:integer']),
    ]
    tables = {"animals": ("sleep cycle", "sleep total")}
    text = "Name the animals that sleep the least."
    assert asked(text, triples=rows, tables=tables, scorer=Clause()).entities == ("cow",)


def test_the_noun_of_what_is_ordered_is_a_value_in_a_single_table_only() -> None:
    rows = [
        *(["rex", "kind", "dog"], ["bo", "kind", "dog"], ["tom", "kind", "cat"], ["bo", "toy", "rope"]),
        *(["rex", "toy", one] for one in ("ball", "bone")),
        *(["tom", "toy", one] for one in ("ball", "bell", "mouse")),
    ]
    text = "Which dog has the most toys?"
    assert asked(text, triples=rows, tables={"pets": ("kind", "toy")}).entities == ("rex",)
    assert asked(text, triples=rows).entities == ("tom",)


def test_a_step_that_is_as_like_as_half_of_its_own_name_may_be_meant() -> None:
    @attrs.define(eq=False)
    class Like(Named):
        like: float

        def score(self, questions: Any, paths: Any, candidates: Any) -> Any:
            likes = [{"river": self.like} if "streams" in text else {} for text in questions]
            named = super().score(questions, paths, candidates)
            return [
                [score or like.get(step.relation, 0.0) for score, step in zip(scores, row, strict=True)]
                for scores, row, like in zip(named, candidates, likes, strict=True)
            ]

    text = "Which neighbour of Latvia has the most streams?"
    assert asked(text, "latvia", scorer=Like(0.5)).entities == ("lithuania",)
    assert not asked(text, "latvia", scorer=Like(0.49)).enough


def counted(triples: Any, **schema: Any) -> CountedSteps:
    graph = MemoryGraph(triples=triples)
    graph.open()
    return CountedSteps(graph, GraphNames(graph, Schema(**schema)))


@pytest.mark.parametrize(("called", "is_sure"), [(10, True), (9, True), (8, False), (1, False), (0, True)])
def test_nine_of_ten_ends_that_are_called_so_are_all(called: int, is_sure: bool) -> None:
    rows = [[f"o{n}", "customer ID", f"c{n}"] for n in range(called)]
    steps = counted(rows, relations=("customer ID",))
    order = CountedOrder("customers", "which country has customers")
    assert steps._asked(order, Step("country", True), [f"c{n}" for n in range(10)]) == (frozenset(), is_sure)


def test_ends_that_have_the_class_by_their_table_are_surely_meant() -> None:
    steps = counted(ORDERS[:1], relations=("customer ID",), tables={"customers": ()})
    order = CountedOrder("customers", "which country has customers")
    ends = ["customers:a", "suppliers:a", "suppliers:b"]
    assert steps._asked(order, Step("country", True), ends) == (frozenset(["customers:a"]), True)


def test_an_order_is_as_like_a_step_as_its_noun_or_its_text_and_what_is_unlike_its_own_name_is_not_judged() -> None:
    @attrs.define(eq=False)
    class ByText(PathScorer):
        def score(self, questions: Any, paths: Any, candidates: Any) -> Any:
            known = {"mills": 1.0, "has mills": 0.5, "wins": 1.5, "river": 2.0, "low": -1.0}
            return [[known.get(text, 0.0) for _ in row] for text, row in zip(questions, candidates, strict=True)]

    def likeness(noun: str, text: str) -> list[float]:
        steps = [Step("river"), Step("none"), Step("low")]
        return counted(FILMS)._likeness(CountedOrder(noun, text), steps, PathScores(ByText(), ()))

    assert likeness("mills", "has mills") == [0.5, math.inf, math.inf]
    assert likeness("has mills", "mills") == [0.5, math.inf, math.inf]
    assert likeness("", "wins") == [0.75, math.inf, math.inf]


def test_what_is_asked_for_and_counted_is_behind_the_last_step_to_the_set() -> None:
    more = [("russia", "china"), ("russia", "norway"), ("estonia", "russia")]
    rows = [*TRIPLES, *([one, "borders", other] for one, other in more), ["latvia", "capital", "riga"]]
    text = "Which neighbour of riga has the most neighbours?"
    assert asked(text, "riga", triples=rows, paths=("^capital borders",)).entities == ("russia",)


def test_who_does_something_is_told_by_the_verb() -> None:
    answer = asked("Who wrote the most films?", triples=FILMS)
    assert (answer.entities, answer.certainty, answer.complete) == (("hill",), "sure", True)
