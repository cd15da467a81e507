"""Questions without a linked entity: the class, the texts and the words that name their answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import pytest
from srtk_plugin_answers import unlinked
from srtk_plugin_answers.counted_steps import CountedSteps
from srtk_plugin_answers.deciding_values import DecidingValues
from srtk_plugin_answers.graph_names import GraphNames
from srtk_plugin_answers.node_sets import Lead
from srtk_plugin_answers.path_scores import PathScores
from srtk_plugin_answers.question_kinds import kind_of
from srtk_plugin_answers.shared_names import SharedNames
from srtk_plugin_answers.unlinked import UnlinkedSets, _is_written, _last_words, _set
from srtk_plugin_local.memory import MemoryGraph

from srtk_framework.roles import PathScorer
from srtk_framework.values import Literal, Question, Schema, Triple


@attrs.define(eq=False)
class Named(PathScorer):
    """Prefers relations that the question names, by one natural-log unit."""

    def score(self, questions: Any, paths: Any, candidates: Any) -> Any:
        return [[float(step.relation in text) for step in row] for text, row in zip(questions, candidates, strict=True)]


@attrs.define(eq=False)
class Listed(MemoryGraph):
    """Lists its relations, and the tables that it was made of."""

    relations: Sequence[str] = ()
    tables: Mapping[str, Sequence[str]] = attrs.field(factory=dict)

    def schema(self) -> Schema:
        return attrs.evolve(super().schema(), relations=tuple(self.relations), tables=self.tables)


FILMS = [
    *[["heat", "director", "mann"], ["thief", "director", "mann"], ["alien", "director", "scott"]],
    *[["heat", "genre", "crime"], ["thief", "genre", "crime"], ["alien", "genre", "horror"]],
    *[["heat", "minutes", '"170"^^xsd:integer'], ["thief", "minutes", '"122"^^xsd:integer']],
    *[["heat", "code", '"X-1"'], ["thief", "code", '"Z 9"'], ["alien", "code", '"A 9"'], ["alien", "sequel", "heat"]],
    *[["thief", "motto", '"so be it"'], ["alien", "motto", '"In Space Nobody"'], ["heat", "motto", '"Space"']],
]
COLUMNS = ("director", "genre", "minutes", "code", "sequel", "motto")
TABLE = {"films": COLUMNS}


def sets(triples: Any = FILMS, tables: Any = TABLE, **more: Any) -> UnlinkedSets:
    relations = sorted({row[1] for row in triples})
    graph = Listed(triples=triples, relations=relations, tables=tables or {}, labels=more.pop("labels", {}), **more)
    graph.open()
    schema = graph.schema()
    counted = CountedSteps(graph, GraphNames(graph, schema))
    values = DecidingValues(graph, PathScores(Named(), ()), counted)
    return UnlinkedSets(graph, schema, values, SharedNames(graph, schema))


def led(text: str, triples: Any = FILMS, tables: Any = TABLE, **more: Any) -> tuple[Lead, str]:
    return sets(triples, tables, **more).lead(Question("q", text), kind_of(text))


@pytest.mark.parametrize(
    ("text", "answers"),
    [
        ("Which films are there?", ["alien", "heat", "thief"]),
        ("How many things are there?", ["alien", "heat", "thief"]),  # a noun of a single table means its rows
        ("Which directors are there?", ["mann", "scott"]),
        ("Which films of crime are there?", ["heat", "thief"]),
        ("How many films by mann in crime are there?", ["heat", "thief"]),
        ("Which films are longer than 150 minutes?", ["heat"]),
        ("Which film has the most minutes?", ["heat"]),
        ("Which crime film has the least minutes?", ["thief"]),
        ('Which film has the code "X-1"?', ["heat"]),
        ("Which film has Z 9?", ["thief"]),
        ('Which director has "X-1"?', ["mann"]),
        ("Which film says so be it?", []),
        ("Which film has in space nobody?", ["alien"]),  # in small letters, of several words
    ],
)
def test_a_table_answers_by_its_rows_its_columns_and_their_texts(text: str, answers: list[str]) -> None:
    lead, missing = led(text)
    assert list(lead.answers) == answers, missing
    assert not (missing and answers)


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("Which films of crime by scott are there?", "nothing of the class has all that the question names"),
        ("Which films in purple are there?", "nothing of the graph is called purple"),
        ("Which films in purple wax are there?", "nothing of the graph is called purple, wax"),
        ("Which films are said to be filed?", "nothing of the graph is called filed, said"),
        ("Which films of crime are said to be filed?", "nothing of the graph is called said"),
        ("Do films exist?", "no entity of the graph was found in the question"),
        ("Which film has the most roses?", "the graph has no relation or number like 'roses'"),
    ],
)
def test_why_nothing_fits_is_told(text: str, missing: str) -> None:
    lead, said = led(text)
    assert said.startswith(missing)
    assert not lead.rows
    assert not lead.answers


PLACES = [
    *[["riga", "is a", "city"], ["tartu", "is a", "city"], ["ogre", "is a", "town"], ["riga", "in", "latvia"]],
    *[["riga", "twin", "tartu"], ["ogre", "twin", "riga"], ["tartu", "in", "estonia"]],
]


def test_without_tables_a_class_is_of_the_types_or_of_the_names_of_relations() -> None:
    typed = {"triples": PLACES, "tables": None, "type_relations": ["is a"]}
    assert led("Which cities are there?", labels={"city": "city"}, **typed)[0].answers == ["riga", "tartu"]
    lead, _ = led("Which cities in Latvia are there?", labels={"city": "city", "latvia": "Latvia"}, **typed)
    assert lead.answers == ["riga"]
    assert [triple for triple, _ in lead.proof] == [Triple("riga", "in", "latvia")]
    assert lead.facts == {"members": 1, "complete": True}
    assert led("Which twins are there?", PLACES, None)[0].answers == ["riga", "tartu"]
    nothing = "no entity of the graph was found in the question, and no class of entities"
    assert led("Which lakes are there?", PLACES, None) == (Lead(), nothing)
    assert led("What is it?", PLACES, None) == (Lead(), nothing)
    assert led("Which lakes are there?", PLACES, {"a": ("in",), "b": ("twin",)}) == (Lead(), nothing)
    assert led("Which bs are there?", PLACES, {"as": ("in",), "bs": ("twin",)})[0].answers == ["ogre", "riga"]


def test_a_bound_needs_numbers_or_dates() -> None:
    told = "the graph has no number or date that the question's bound is about"
    assert led("Which cities have more than 50 thousand people?", PLACES, {"cities": ("in",)}) == (Lead(), told)


def test_of_several_texts_the_nodes_with_all_are_meant_or_those_with_the_longest() -> None:
    both = sets().of_value(Question("q", 'What has "X-1" and "Space"?'))
    assert both is not None
    assert both.answers == ["heat"]
    assert [triple for triple, _ in both.proof] == [
        Triple("heat", "motto", Literal('"Space"')),
        Triple("heat", "code", Literal('"X-1"')),
    ]
    assert both.facts == {"members": 1, "complete": True}
    apart = sets().of_value(Question("q", "What has Z 9 or A 9?"))
    assert apart is not None
    assert apart.answers == ["alien"]  # of texts as long as each other the first by its letters
    longest = sets().of_value(Question("q", "What has X-1 or Z 9?"))
    assert longest is not None
    assert longest.answers == ["heat"]


def test_a_text_is_of_up_to_three_words_beyond_the_first_and_no_part_of_a_longer_one() -> None:
    def texts(text: str) -> list[str]:
        return [Literal(row[0].object).lexical for row in sets()._with_texts(Question("q", text))]

    assert texts("Say: In Space Nobody!") == ["In Space Nobody"]
    assert texts("Say: Space, In Space Nobody!") == ["In Space Nobody"]
    assert texts("Say Space.") == ["Space"]
    assert texts("Space is what?") == []
    assert texts("What is space?") == []
    assert texts("What is Z 9") == ["Z 9"]
    assert texts("Is it in Space Nobody hears") == ["Space"]


@pytest.mark.parametrize(
    ("text", "written"),
    [
        *[("riga", False), ("Riga", True), ("a7", True), ("“riga”", True), ("c+", True), ("so-called", False)],
        *[("don't", False), ("what?", False), ("", False), ("no. one", False)],
    ],
)
def test_a_capital_a_figure_a_sign_or_quotation_marks_make_a_text_a_value(text: str, written: bool) -> None:
    assert _is_written(text) is written


def test_a_set_has_the_first_triple_of_each_node_and_counts_what_is_beyond_the_most(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(unlinked, "_MOST", 2)
    rows = [(one, Triple(one, "r", str(place))) for place, one in enumerate("cabac")]
    found = _set([*rows, (Literal('"x"'), rows[0][1])])
    assert found is not None
    assert (list(found.instances), found.cut) == (["a", "b"], 1)
    assert found.values == {"a": ((rows[1][1], None),), "b": ((rows[2][1], None),)}
    assert _set([]) is None
    assert _set([(Literal('"x"'), rows[0][1])]) is None


def test_the_last_words_of_a_phrase_name_its_class_as_far_as_it_has_them() -> None:
    assert _last_words(("big crime film", "film"), 2) == {"crime", "film"}
    assert _last_words(("crime film",), 1) == {"film"}


def test_of_columns_with_the_same_name_the_one_that_most_members_have_is_meant() -> None:
    rows = [*FILMS, ["alien", "star", "crime"], ["heat", "star", "mann"]]
    lead, _ = led("Which films of crime are there?", rows, {"films": (*COLUMNS, "star")})
    assert lead.answers == ["heat", "thief"]
    assert {triple.relation for triple, _ in lead.proof} == {"genre"}


def test_a_name_within_a_longer_name_of_the_question_names_nothing_else() -> None:
    rows = [*FILMS, ["alien", "genre", "crime drama"], ["alien", "sequel", "thief"]]
    assert led("Which films of crime drama are there?", rows)[0].answers == ["alien"]
    assert led("Which films of crime are there?", rows)[0].answers == ["heat", "thief"]
    # A member of the set is no condition on another.
    assert "thief" in led("Which films of thief are there?", rows)[1]


@pytest.mark.parametrize(
    ("text", "answers", "missing"),
    [
        ("Which films over 150 minutes are said to be filed?", [], "nothing of the graph is called said"),
        ("Which filed film has the highest minutes?", [], "nothing of the graph is called filed"),  # an adjective
        ("Which film filed has the highest minutes?", ["heat"], ""),
        ("Which films with 7 are there?", ["alien", "heat", "thief"], ""),
        ("Which film with minutes has the highest minutes?", ["heat"], ""),
    ],
)
def test_of_what_is_narrowed_or_ordered_a_participle_names_nothing_nor_does_a_number_or_what_decides(
    text: str, answers: list[str], missing: str
) -> None:
    lead, said = led(text)
    assert (list(lead.answers), said) == (answers, missing)


def test_a_set_of_which_some_lack_the_value_or_were_not_read_is_not_complete(monkeypatch: pytest.MonkeyPatch) -> None:
    lead, _ = led("Which films are longer than 100 minutes?")
    assert (lead.answers, lead.facts["complete"]) == (["heat", "thief"], False)
    monkeypatch.setattr(unlinked, "_MOST", 2)
    lead, _ = led("Which films are there?")
    assert (lead.answers, lead.facts["complete"]) == (["alien", "heat"], False)


def test_each_name_of_the_question_is_proved_in_place_of_the_class() -> None:
    lead, _ = led("How many films by mann in crime are there?")
    named = [("director", "mann"), ("genre", "crime")]
    assert [tuple(triple) for triple, _ in lead.proof] == [(one, *end) for one in ("heat", "thief") for end in named]


def test_of_columns_that_as_many_members_have_the_first_is_meant() -> None:
    rows = [*FILMS, ["alien", "star", "crime"], ["heat", "star", "crime"]]
    lead, _ = led("Which films of crime are there?", rows, {"films": (*COLUMNS, "star")})
    assert lead.answers == ["heat", "thief"]


def test_the_values_of_a_column_are_behind_what_has_the_text_alone() -> None:
    lead = sets().of_value(Question("q", 'Which sequel has "X-1"?'))
    assert lead is not None
    assert (lead.answers, lead.proof) == (["heat"], [(Triple("heat", "code", Literal('"X-1"')), None)])
    lead = sets().of_value(Question("q", 'Which director has "X-1"?'))
    assert lead is not None
    assert [triple for triple, _ in lead.proof][1:] == [Triple("heat", "director", "mann")]


def test_the_longest_text_is_meant_and_not_the_first_by_its_letters() -> None:
    lead = sets().of_value(Question("q", 'What has "A 9" or "so be it"?'))
    assert lead is not None
    assert lead.answers == ["thief"]


@pytest.mark.parametrize(
    ("text", "likened"),
    [("Who edited X-1?", True), ("Who has the code X-1?", None), ("Which film was edited with X-1?", None)],
)
def test_what_has_a_text_is_not_surely_who_did_something_with_it(text: str, likened: bool | None) -> None:
    lead, _ = led(text)
    assert (list(lead.answers), lead.facts.get("likened")) == (["heat"], likened)
