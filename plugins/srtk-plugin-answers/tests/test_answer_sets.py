"""Sets by roles and rows, topics that join, values of links, dates of statements, and the choices of a reader."""

from __future__ import annotations

from typing import Any

import attrs
import pytest
from srtk_plugin_answers import graph_names
from srtk_plugin_answers.choices import Choice, named_ends, named_value, other_names, unknown_names
from srtk_plugin_answers.counted_steps import CountedSteps
from srtk_plugin_answers.deciding_values import DecidingValues
from srtk_plugin_answers.end_classes import of_role, of_rows
from srtk_plugin_answers.graph_names import GraphNames, words_of_role
from srtk_plugin_answers.joined_topics import JoinedTopics
from srtk_plugin_answers.node_sets import Lead
from srtk_plugin_answers.path_ends import PathEnds
from srtk_plugin_answers.path_reads import PathReads
from srtk_plugin_answers.path_scores import PathScores, is_clear
from srtk_plugin_answers.question_kinds import QuestionKind
from srtk_plugin_answers.result_order import with_proof
from srtk_plugin_answers.statement_years import dates_of
from srtk_plugin_answers.statement_years import ends as asks_for_end
from srtk_plugin_local.memory import MemoryGraph

from srtk_framework.graph import facts
from srtk_framework.roles import PathScorer
from srtk_framework.values import Budget, Link, Literal, Question, RankedPath, Schema, Step, Triple

ROWS = [
    *[["heat", "director", "mann"], ["heat", "minutes", Literal('"170"')], ["thief", "director", "mann"]],
    *[["alien", "director", "scott"], ["alien", "minutes", Literal('"117"')], ["mann", "award", "oscar"]],
]
SCHEMA = Schema(relations=("director", "minutes", "award"), tables={"films": ("director", "minutes")})


@attrs.define(eq=False)
class Named(PathScorer):
    """Prefers relations that the question names, by two."""

    def score(self, questions: Any, paths: Any, candidates: Any) -> Any:
        return [
            [2.0 * (step.relation in text) for step in row] for text, row in zip(questions, candidates, strict=True)
        ]


def memory(triples: Any = ROWS, **more: Any) -> MemoryGraph:
    graph = MemoryGraph(triples=triples, **more)
    graph.open()
    return graph


def question(text: str, *links: str) -> Question:
    return Question("q", text, tuple(Link(one) for one in links))


def reads() -> PathReads:
    return PathReads(memory(), 100)


NODES = ["alien", "heat", "mann", "oscar", "scott", "thief"]


def test_what_a_relation_leads_to_is_called_by_it() -> None:
    assert of_role(reads(), GraphNames(memory(), SCHEMA), [["director"], ["award"], []], [NODES] * 3) == [
        {"mann", "scott"},
        {"oscar"},
        frozenset(),
    ]


def test_what_has_a_column_of_a_table_is_called_by_its_name() -> None:
    [found] = of_role(reads(), GraphNames(memory(), SCHEMA), [["film"]], [NODES])
    assert found == {"alien", "heat", "thief"}
    assert words_of_role(SCHEMA, ["film"], Step("award"), "award") == 0
    assert words_of_role(SCHEMA, ["film"], Step("director", True), "director") == 0


def test_the_rows_of_tables_are_the_subjects_of_their_columns() -> None:
    assert of_rows(reads(), SCHEMA, [NODES, [], ["mann", "heat"]]) == [
        {"alien", "heat", "thief"},
        frozenset(),
        {"heat"},
    ]
    assert of_rows(reads(), Schema(), [NODES]) == [frozenset()]


def topics(triples: Any) -> JoinedTopics:
    return JoinedTopics(memory(triples), PathScores(Named(), ()), 100)


def test_links_that_the_asked_relation_joins_are_confirmed_with_its_triple() -> None:
    lead = topics([*ROWS, ["mann", "knows", "heat"]]).confirmed(question("x", "heat", "mann"), "the director of")
    assert lead is not None
    assert [triple for triple, _ in lead.proof] == [("heat", "director", "mann")]
    assert set(lead.answers) == {"heat", "mann"}


def test_links_that_another_relation_joins_are_not_confirmed() -> None:
    lead = topics([*ROWS, ["scott", "knows", "heat"]]).confirmed(question("x", "heat", "scott"), "the director of")
    assert lead is not None
    assert list(lead.answers) == []
    assert {triple.relation for triple, _ in lead.proof} == {"director"}


def test_fewer_than_two_links_confirm_nothing() -> None:
    assert topics(ROWS).confirmed(question("x", "heat"), "the director of") == Lead()
    assert topics(ROWS).confirmed(question("x", "nowhere", "nothing"), "the director of") == Lead()


def deciding(triples: Any) -> DecidingValues:
    graph = memory(triples)
    counted = CountedSteps(graph, GraphNames(graph, graph.schema()))
    return DecidingValues(graph, PathScores(Named(), ()), counted)


def compared(triples: Any, *, greatest: bool, **namesakes: list[str]) -> list[str]:
    asked = question("Which has more minutes?", *namesakes)
    kind = QuestionKind("comparison", greatest)
    return list(deciding(triples).compared_links(asked, kind, asked.text, namesakes).answers)


def test_links_are_compared_by_a_relation_that_all_have() -> None:
    assert compared(ROWS, greatest=True, heat=["heat"], alien=["alien"]) == ["heat"]
    assert compared(ROWS, greatest=False, heat=["heat"], alien=["alien"]) == ["alien"]


def test_a_link_without_a_value_is_not_compared_unless_a_namesake_has_one() -> None:
    assert compared(ROWS, greatest=True, heat=["heat"], thief=["thief"]) == []
    more = [*ROWS, ["thief_2", "minutes", Literal('"180"')]]
    assert compared(more, greatest=True, heat=["heat"], thief=["thief", "thief_2"]) == ["thief_2"]


def test_one_link_is_not_compared() -> None:
    assert compared(ROWS, greatest=True, heat=["heat"]) == []


def test_values_in_another_unit_than_most_are_not_compared() -> None:
    lengths = [
        ["a", "minutes", Literal('"2 cm"')],
        ["b", "minutes", Literal('"3 cm"')],
        ["c", "minutes", Literal('"1 km"')],
    ]
    assert compared(lengths, greatest=True, a=["a"], b=["b"]) == ["b"]
    assert compared(lengths, greatest=True, a=["a"], c=["c"]) == []


DATED = [
    ["ann", "led", "team", "start time", '"2001"^^xsd:gYear'],
    ["ann", "led", "team", "end time", '"2004"^^xsd:gYear'],
    ["bo", "led", "team", "rank", '"1"^^xsd:integer'],
]


@pytest.mark.parametrize(("ended", "date"), [(False, "2001"), (True, "2004")])
def test_the_qualifiers_of_statements_give_their_first_and_last_dates(ended: bool, date: str) -> None:
    graph = memory([row[:3] for row in DATED[1:]], qualifiers=DATED)
    triples = [Triple("ann", "led", "team"), Triple("bo", "led", "team")]
    assert dates_of(graph, triples, ended) == [(triples[0], Literal(f'"{date}"^^xsd:gYear'))]
    assert dates_of(graph, [], ended) == []


@pytest.mark.parametrize("text", ["Until when did Ann lead it?", "When did it stop?", "When was it abandoned?"])
def test_some_words_ask_for_the_end(text: str) -> None:
    assert asks_for_end(text)


@pytest.mark.parametrize("text", ["When did it begin?", "When was Ann born?", "When is the weekend?"])
def test_other_words_ask_for_the_beginning(text: str) -> None:
    assert not asks_for_end(text)


def test_a_path_ends_behind_its_last_step_alone_also_in_literals() -> None:
    paths = [
        RankedPath("mann", (Step("director", True), Step("minutes")), 1.0),
        RankedPath("mann", (Step("award"),), 0.5),
        RankedPath("mann", (Step("minutes"),), 0.1),
    ]
    [found] = facts(memory(), [paths], Budget())
    minutes, award, none = map(PathEnds(found).of, paths)
    assert {end: [tuple(found.triples[place]) for place in way] for end, way in minutes.items()} == {
        '"170"': [("heat", "director", "mann"), ("heat", "minutes", '"170"')]
    }
    assert (list(award), none) == (["oscar"], {})


def test_a_way_forth_and_back_gives_way_to_another_way_to_the_same_end() -> None:
    triples = [["heat", "director", "mann"], ["thief", "director", "mann"], ["heat", "at", "la"], ["thief", "at", "la"]]
    path = RankedPath("heat", (Step("director"), Step("director", True), Step("at")), 1.0)
    [found] = facts(memory(triples), [[path]], Budget())
    only = PathEnds(found).of(path)
    assert [tuple(found.triples[place]) for place in only["la"]] == [*map(tuple, triples[:2]), tuple(triples[3])]


def test_a_proof_comes_before_what_was_found_and_gives_way_at_its_end() -> None:
    path = RankedPath("mann", (Step("award"),), 1.0)
    [found] = facts(memory(), [[path]], Budget())
    told = [(Triple(*row), None) for row in ROWS[:1] + ROWS[2:4]]
    assert with_proof(memory(), found, told, Budget()).triples == (*(one for one, _ in told), *found.triples)
    assert with_proof(memory(), found, told, Budget(triples=2)).triples == tuple(one for one, _ in told[:2])
    assert with_proof(memory(), found, [], Budget()).triples == found.triples


def linked(text: str, name: str) -> Question:
    start = text.index(name)
    return Question("q", text, (Link(name.lower(), start=start, end=start + len(name), name=name),))


def test_nodes_that_the_question_names_besides_its_links_are_conditions() -> None:
    asked = linked("Which films of Mann are crime films?", "Mann")
    names = {"mann": "Mann", "g1": "Crime", "g2": "Horror", "f": "Film", "x": "of"}
    assert [link.entity for link in named_ends(asked, list(names), names)] == ["g1"]


def test_runs_of_words_beside_the_links_may_name_something() -> None:
    runs = other_names(linked("Which films of Mann have pink posters?", "Mann"), {})
    assert "pink poster" in runs
    assert not any("mann" in run.split() for run in runs)


@pytest.mark.parametrize(
    ("text", "unknown"),
    [
        ("Which films of Mann has Narnia?", ["Narnia"]),
        ("Which films of Mann are there?", []),
        ("Which films of Mann are on DVD?", []),
        ("Which films of Mann have Directors?", []),
        ("FILMS OF Mann", []),
    ],
)
def test_capitalised_words_that_nothing_covers_are_unknown(text: str, unknown: list[str]) -> None:
    assert unknown_names(linked(text, "Mann"), {"director"}) == unknown


def test_the_end_of_a_path_that_stands_in_the_question_is_named() -> None:
    choice = Choice(RankedPath("mann", (Step("award"),), 1.0), {"oscar": (), Literal('"170"'): ()})
    assert named_value(question("Has Mann won an Oscar?"), choice) == "oscar"
    assert named_value(question("Is it 170 minutes?"), choice) == '"170"'
    assert named_value(question("Is it 17 minutes?"), choice) is None


@attrs.define(eq=False)
class Counted(MemoryGraph):
    """Keeps the ids whose labels are read."""

    read: list[str] = attrs.field(factory=list)

    def labels(self, ids: Any) -> Any:
        self.read += ids
        return super().labels(ids)


def test_names_of_relations_and_classes_and_what_fits_a_phrase_are_read_once() -> None:
    graph = Counted(triples=ROWS, labels={})
    graph.open()
    names = GraphNames(graph, SCHEMA)
    for _ in range(2):
        assert names.labels(["director", "award"]) == {"director": "director", "award": "award"}
        assert names.of_classes(["film"]) == {"film": ("film",)}
        assert names.steps(["director"]) == [(Step("director", True), 1)]
        assert names.steps(["film"]) == [(Step("director"), 1), (Step("minutes"), 1)]
    assert names.steps(["film"]) is names.steps(["film"])
    assert sorted(graph.read) == ["award", "director", "film", "minutes"]


def test_names_that_are_too_many_are_read_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graph_names, "_KEPT", 1)
    names = GraphNames(memory(), SCHEMA)
    assert names.labels(["director", "award"]) == names.labels(["director", "award"])
    assert names.labels(["minutes", "award"]) == {"minutes": "minutes", "award": "award"}
    assert [names.of_classes([one]) for one in "abc"] == [{one: (one,)} for one in "abc"]
    assert [len(names.steps([one])) for one in ("director", "award", "film", "director")] == [1, 1, 2, 1]


def test_roles_are_found_where_the_graph_lists_no_relations() -> None:
    assert of_role(reads(), GraphNames(memory(), Schema()), [["director"]], [NODES]) == [{"mann", "scott"}]


@pytest.mark.parametrize(("other", "clear"), [(-0.5, True), (0.0, False)])
def test_a_path_is_clearly_the_best_from_one_and_a_half_units_of_scores_on(other: float, clear: bool) -> None:
    best, next_ = RankedPath("mann", (Step("award"),), 1.0), RankedPath("mann", (Step("director", True),), other)
    assert is_clear(best, [next_, best, RankedPath("mann", (), 2.0)]) is clear
    assert not is_clear(next_, [next_, best])
    assert not is_clear(None, [best])
    assert not is_clear(best, [])
