"""The ``operations`` expander: whole sets with the values that decide, what is asked for first."""

from __future__ import annotations

import math
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import attrs
import pytest
from srtk_plugin_answers import OperationsExpander, operations
from srtk_plugin_answers.node_sets import NodeSet
from srtk_plugin_answers.path_reads import PathReads
from srtk_plugin_answers.path_scores import ScoreUnit
from srtk_plugin_answers.question_kinds import QuestionKind, kind_of
from srtk_plugin_baselines.bfs import BfsExpander
from srtk_plugin_local.memory import MemoryGraph

from srtk_framework.graph import facts
from srtk_framework.roles import Expander, KnowledgeGraph, PathScorer, SearchSettings
from srtk_framework.run import Session
from srtk_framework.testing import ExpanderConformance
from srtk_framework.values import END, Budget, Link, Question, RankedPath, Schema, Step, Subgraph, Triple

AREAS = {"estonia": 45, "lithuania": 65, "russia": 17098, "belarus": 208}
FOUNDED = {"estonia": "1918-02-24", "lithuania": "1918-02-16", "russia": "1991-12-12", "belarus": "1991-08-25"}
TRIPLES = [
    *(["latvia", "borders", country] for country in AREAS),
    *([country, "area", f'"{area}"^^xsd:integer'] for country, area in AREAS.items()),
    *([country, "founded", f'"{date}"^^xsd:date'] for country, date in FOUNDED.items()),
    *([country, "currency", "euro"] for country in ("estonia", "lithuania")),
    ["russia", "currency", "ruble"],
    ["belarus", "currency", "ruble_by"],
    ["latvia", "capital", "riga"],
    ["latvia", "area", '"64"^^xsd:integer'],
    ["russia", "code", '"RU"'],
    ["estonia", "code", '"EE"'],
]
STEP = {"borders": -1.0, "capital": -1.5, "area": -1.0, "founded": -2.0, "code": -0.5, "currency": -1.2}


@attrs.define(eq=False)
class ByName(PathScorer):
    """Scores a step by its relation; a word of the text that is a relation adds to it."""

    def score(self, questions: Any, paths: Any, candidates: Any) -> Any:
        return [
            [STEP.get(step.relation, -3.0) + 2.0 * (step.relation in text and step != END) for step in row]
            for text, row in zip(questions, candidates, strict=True)
        ]


@attrs.define(eq=False)
class Scripted(Expander):
    """Reads the triples of scripted paths from each link.

    Attributes:
        graph: Graph to read.
        paths: Relations of each path, best first.
        budget: Limits.
    """

    graph: KnowledgeGraph
    paths: tuple[str, ...] = ("borders", "capital")
    budget: Budget = attrs.field(factory=Budget)

    def expand(self, questions: Sequence[Question]) -> list[Subgraph]:
        rows = [
            [
                RankedPath(link.entity, tuple(map(Step.parse, path.split())), -1.0 - rank)
                for rank, path in enumerate(self.paths)
                for link in question.links
            ]
            for question in questions
        ]
        return facts(self.graph, rows, self.budget)


def memory(triples: Any = TRIPLES, **more: Any) -> MemoryGraph:
    graph = MemoryGraph(triples=triples, **more)
    graph.open()
    return graph


def expanded(text: str, *links: str, graph: MemoryGraph | None = None, paths: Any = None, **more: Any) -> Subgraph:
    graph = graph or memory()
    inner = Scripted(graph, **({} if paths is None else {"paths": paths}))
    driver = OperationsExpander(inner=inner, graph=graph, scorer=ByName(), **more)
    driver.open()
    [found] = driver.expand([Question("q", text, tuple(Link(link) for link in links or ("latvia",)))])
    assert list(found.scores) == sorted(found.scores, reverse=True)
    return found


def subjects(found: Subgraph, relation: str) -> list[str]:
    return [triple.subject for triple in found.triples if triple.relation == relation]


class TestOperations(ExpanderConformance):
    name = "operations"

    @pytest.fixture
    def driver(self, graph: Any, scorer: Any, budget: Budget) -> OperationsExpander:
        inner = BfsExpander(graph=graph, budget=budget)
        inner.open()
        driver = OperationsExpander(inner=inner, graph=graph, scorer=scorer, budget=budget)
        driver.open()
        return driver

    def limited(self, driver: Any, budget: Budget) -> Any:
        return self.copy_of(driver, inner=attrs.evolve(driver.inner, budget=budget), budget=budget)


def test_the_largest_comes_first_with_the_area_of_each_member_of_the_set() -> None:
    found = expanded("Which neighbour of Latvia has the largest area?")
    assert found.triples[:2] == (
        Triple("latvia", "borders", "russia"),
        Triple("russia", "area", '"17098"^^xsd:integer'),
    )
    assert subjects(found, "area") == ["russia", "belarus", "lithuania", "estonia"]
    assert found.trace["kind"] == "superlative"
    assert found.trace["set"] == {
        "relation": "area",
        "order": "descending",
        "rank": 1,
        "entity": "latvia",
        "path": ["borders"],
        "members": 4,
        "with_value": 4,
        "complete": True,
        "shown": 4,
    }
    assert [str(step) for step in found.paths[found.path_of[1]].steps] == ["borders", "area"]


@pytest.mark.parametrize(
    ("text", "order"),
    [
        ("Which neighbour has the smallest area?", ["estonia", "lithuania", "belarus", "russia"]),
        ("Which neighbour has the second largest area?", ["belarus", "russia", "lithuania", "estonia"]),
        ("Which neighbour is third by area?", ["lithuania", "russia", "belarus", "estonia"]),
    ],
)
def test_the_words_decide_the_order(text: str, order: list[str]) -> None:
    assert subjects(expanded(text), "area") == order


def test_the_first_in_time_is_the_earliest() -> None:
    found = expanded("Which neighbour was founded first?")
    assert subjects(found, "founded") == ["lithuania", "estonia", "belarus", "russia"]
    assert found.trace["set"]["order"] == "ascending"


@pytest.mark.parametrize(
    ("text", "order"), [("largest", ["estonia", "lithuania"]), ("smallest", ["estonia", "lithuania"])]
)
def test_of_several_values_the_one_at_the_end_that_is_asked_for_counts(text: str, order: list[str]) -> None:
    # Each of Estonia's other values would come behind.
    areas = [("estonia", 1), ("estonia", 99), ("estonia", 50), ("lithuania", 65), ("lithuania", 40)]
    graph = memory([*TRIPLES[:2], *([who, "area", f'"{area}"^^xsd:integer'] for who, area in areas)])
    found = expanded(f"Which neighbour has the {text} area?", graph=graph)
    assert list(dict.fromkeys(subjects(found, "area")))[:2] == order
    assert found.triples[1].object == ('"99"^^xsd:integer' if text == "largest" else '"1"^^xsd:integer')


def test_values_in_another_unit_than_most_decide_nothing() -> None:
    areas = [("estonia", "45 km"), ("lithuania", "65 km"), ("russia", "9 mi")]
    graph = memory([*TRIPLES[:3], *([who, "area", f'"{area.split()[0]}"^^xsd:integer'] for who, area in areas)])
    assert subjects(expanded("Which neighbour has the largest area?", graph=graph), "area")[0] == "lithuania"


def test_a_member_with_a_value_within_bounds_stays_whatever_its_others_are() -> None:
    graph = memory([*TRIPLES, ["estonia", "area", '"4500"^^xsd:integer'], ["estonia", "area", '"450"^^xsd:integer']])
    found = expanded("How many neighbours have an area of less than 100?", graph=graph)
    assert found.trace["set"]["members"] == 2


@pytest.mark.parametrize("likely", ["latvia", "norway"])
def test_the_set_of_the_likelier_link_is_meant(likely: str) -> None:
    areas = [["sweden", "area", '"450"^^xsd:integer'], ["finland", "area", '"338"^^xsd:integer']]
    graph = memory([*TRIPLES, *areas, *(["norway", "borders", one] for one in ("sweden", "finland"))])
    driver = OperationsExpander(inner=Scripted(graph), graph=graph, scorer=ByName())
    driver.open()
    # Candidates of one mention; otherwise alike.
    links = tuple(Link(name, score=0.9 if name == likely else 0.1, start=0, end=5) for name in ("latvia", "norway"))
    [found] = driver.expand([Question("q", "Which neighbour has the largest area?", links)])
    assert found.trace["set"]["entity"] == likely


def test_the_path_of_the_value_gives_the_set_that_lacks_its_last_step() -> None:
    found = expanded("Which neighbour has the largest area?", paths=("borders area", "capital"))
    assert found.trace["set"]["path"] == ["borders"]
    assert subjects(found, "area")[0] == "russia"


def test_a_set_without_a_value_for_each_member_is_not_complete() -> None:
    found = expanded("Which neighbour has the largest area?", graph=memory(TRIPLES[:4] + TRIPLES[5:]))
    facts = found.trace["set"]
    assert (facts["members"], facts["with_value"], facts["complete"]) == (4, 3, False)
    assert ("latvia", "borders", "estonia") in found.triples


def test_a_set_of_which_members_were_left_unread_is_not_complete_and_says_how_many() -> None:
    found = expanded("Which neighbour has the largest area?", members=3)
    assert found.trace["set"]["complete"] is False
    assert found.trace["set"]["cut"] == 1


def test_a_set_that_does_not_fit_takes_half_of_the_budget() -> None:
    found = expanded("Which neighbour has the largest area?", budget=Budget(triples=6))
    assert (len(found.triples), found.trace["set"]["shown"]) == (6, 1)
    assert found.triples[0] == ("latvia", "borders", "russia")


def test_what_is_asked_for_of_another_set_comes_second() -> None:
    triples = [*TRIPLES, ["latvia", "rival_of", "estonia"], ["latvia", "rival_of", "lithuania"]]
    found = expanded("Which neighbour has the largest area?", graph=memory(triples), paths=("borders", "rival_of"))
    assert [triple[2] for triple in found.triples if triple[0] == "latvia"][:2] == ["russia", "lithuania"]


def test_noise_relations_decide_nothing() -> None:
    found = expanded("Which neighbour has the largest area?", graph=memory(noise=["area"]))
    assert found.trace["set"]["relation"] == "founded"


def test_without_numbers_or_dates_nothing_is_put_first() -> None:
    plain = [triple for triple in TRIPLES if triple[1] not in ("area", "founded")]
    found = expanded("Which neighbour has the largest area?", graph=memory(plain))
    assert "set" not in found.trace
    assert found.triples == expanded("Name a neighbour.", graph=memory(plain)).triples


def test_the_value_of_each_link_is_compared() -> None:
    found = expanded("Which has the larger area, Estonia or Lithuania?", "estonia", "lithuania")
    assert found.triples[:2] == (
        Triple("lithuania", "area", '"65"^^xsd:integer'),
        Triple("estonia", "area", '"45"^^xsd:integer'),
    )
    assert found.trace["set"]["complete"] is True


def test_the_whole_of_the_best_path_is_counted() -> None:
    found = expanded("How many countries border on Latvia?", paths=("borders", "capital"))
    assert {triple.object for triple in found.triples[:4]} == set(AREAS)
    assert found.trace["set"] == {
        "entity": "latvia",
        "path": ["borders"],
        "members": 4,
        "complete": True,
        "shown": 4,
    }


def test_what_the_last_link_is_joined_to_comes_after_the_rest() -> None:
    found = expanded("Which neighbours of Latvia do not use the euro?", "latvia", "euro")
    ends = [triple.object for triple in found.triples if triple.relation == "borders"]
    assert ends[:2] == ["belarus", "russia"]
    assert found.trace["set"]["without"] == {"step": "currency", "entity": "euro"}
    assert (found.trace["set"]["members"], found.trace["set"]["left"]) == (4, 2)
    joined = found.triples.index(Triple("estonia", "currency", "euro"))
    assert found.triples[joined - 1] == Triple("latvia", "borders", "estonia")


def test_a_negation_without_a_second_link_reads_the_whole_of_the_best_path() -> None:
    found = expanded("Which neighbours of Latvia are not large?")
    assert found.trace["set"]["members"] == 4


def test_the_triples_that_join_two_links_come_first() -> None:
    found = expanded("Does Latvia border on Russia?", "latvia", "russia", paths=("capital",))
    assert found.triples[0] == Triple("latvia", "borders", "russia")


def test_statements_that_held_in_the_year_come_first_and_others_last() -> None:
    rows = [
        (("latvia", "money", "ruble"), [("start", '"1940"^^xsd:gYear'), ("end", '"1992"^^xsd:gYear')]),
        (("latvia", "money", "lats"), [("start", '"1993"^^xsd:gYear'), ("end", '"2013"^^xsd:gYear')]),
        (("latvia", "money", "euro"), [("start", '"2014"^^xsd:gYear')]),
        (("latvia", "money", "cash"), []),
    ]
    graph = memory([list(triple) for triple, _ in rows], qualifiers=[[*t, *q] for t, pairs in rows for q in pairs])
    found = expanded("What was the money of Latvia in 2001?", graph=graph, paths=("money",))
    assert [triple.object for triple in found.triples] == ["lats", "cash", "euro", "ruble"]
    assert found.trace["kind"] == "time-bound"


def test_the_label_of_a_qualifier_tells_whether_it_is_the_first_or_the_last_date() -> None:
    rows = [
        ["latvia", "money", "a_ruble", "p582", '"1992"^^xsd:gYear'],
        ["latvia", "money", "lats", "p7", '"1"^^xsd:gYear'],
    ]
    graph = memory([row[:3] for row in rows], qualifiers=rows, labels={"p582": "end time", "p7": "calendar"})
    found = expanded("What was the money of Latvia in 2001?", graph=graph, paths=("money",))
    assert [triple.object for triple in found.triples] == ["lats", "a_ruble"]


def test_a_lookup_is_what_the_inner_expander_finds() -> None:
    found = expanded("What borders on Latvia?")
    [inner] = Scripted(memory()).expand([Question("q", "", (Link("latvia"),))])
    assert (found.triples, found.scores, found.paths) == (inner.triples, inner.scores, inner.paths)
    assert found.trace["kind"] == "lookup"


def test_what_joins_two_topics_comes_first_by_a_path_that_was_found() -> None:
    found = expanded("Which neighbours have the currency?", "latvia", "euro", paths=("capital", "borders currency"))
    assert {triple.object for triple in found.triples[:4] if triple.relation == "borders"} == {"estonia", "lithuania"}
    assert {triple.subject for triple in found.triples[:4] if triple.relation == "currency"} == {"estonia", "lithuania"}
    facts = found.trace["set"]
    assert (facts["with"], facts["left"]) == ({"step": "currency", "entity": "euro"}, 2)
    assert (facts["members"], facts["complete"], facts["shown"]) == (4, True, 2)


def test_a_path_between_topics_may_be_found_from_either() -> None:
    found = expanded("Which neighbours have the currency?", "latvia", "euro", paths=("capital", "^currency ^borders"))
    assert found.trace["set"]["left"] == 2


def test_a_path_between_topics_that_was_not_found_joins_nothing() -> None:
    found = expanded("Which neighbours have the currency?", "latvia", "euro")
    assert "set" not in found.trace


def test_what_joins_two_topics_stays_behind_if_limits_left_nodes_out() -> None:
    found = expanded("Which have it?", "latvia", "euro", paths=("capital", "borders currency"), members=3)
    assert "set" not in found.trace


def test_alternatives_of_one_mention_are_not_joined() -> None:
    links = (Link("latvia", start=0, end=5), Link("euro", start=0, end=5))
    driver = OperationsExpander(inner=Scripted(memory(), ("borders currency",)), graph=memory(), scorer=ByName())
    driver.open()
    [found] = driver.expand([Question("q", "Which neighbours?", links)])
    assert "set" not in found.trace


def test_the_result_does_not_depend_on_the_batch() -> None:
    graph = memory()
    driver = OperationsExpander(inner=Scripted(graph), graph=graph, scorer=ByName())
    driver.open()
    texts = ["Which has the largest area?", "How many are there?", "Which do not use the euro?", "Which is second?"]
    links = (Link("latvia"), Link("euro"))
    questions = [Question(str(i), text, links) for i, text in enumerate(texts)]
    assert driver.expand(questions) == [driver.expand([question])[0] for question in questions]


def test_a_limit_below_one_is_refused() -> None:
    with pytest.raises(ValueError, match="members must be at least 1, not 0"):
        OperationsExpander(inner=Scripted(memory()), graph=memory(), scorer=ByName(), members=0)


CLASSES = [
    ["estonia", "is_a", "republic"],
    ["lithuania", "is_a", "republic"],
    ["russia", "is_a", "federation"],
    ["republic", "kind_of", "state"],
    ["riga", "is_a", "city"],
]
TYPED: dict[str, Any] = {"type_relations": ["is_a"], "subclass_relations": ["kind_of"]}


def ends(found: Subgraph) -> list[str]:
    return [triple.object for triple in found.triples if triple.relation in ("borders", "capital")]


def test_ends_of_the_class_that_is_named_come_first() -> None:
    graph = memory([*TRIPLES, *CLASSES], **TYPED)
    assert ends(expanded("Which city is in Latvia?", graph=graph))[0] == "riga"
    found = expanded("Which states border on Latvia?", graph=graph)
    assert ends(found)[:2] == ["estonia", "lithuania"]
    assert found.trace["class"] == {"asked": ["state"], "nodes": 5, "of_class": 2, "behind": 3}


def test_all_of_the_class_come_first_though_the_inner_expander_cut_them() -> None:
    graph = memory([*TRIPLES, *CLASSES], **TYPED)
    inner = Scripted(graph, budget=Budget(triples=2))
    driver = OperationsExpander(inner=inner, graph=graph, scorer=ByName(), budget=Budget(triples=20))
    driver.open()
    [found] = driver.expand([Question("q", "Which federations border on Latvia?", (Link("latvia"),))])
    assert ends(found)[0] == "russia"
    assert found.trace["set"]["behind"] == {"class": 3}


def test_without_a_node_of_the_class_nothing_changes_but_the_trace() -> None:
    graph = memory([*TRIPLES, *CLASSES], **TYPED)
    found, plain = (expanded("Which lakes are in Latvia?", graph=graph, types=types) for types in (True, False))
    assert (found.triples, found.scores) == (plain.triples, plain.scores)
    assert found.trace["class"]["of_class"] == 0
    assert "class" not in plain.trace


def test_what_follows_from_a_named_class_keeps_the_way_to_it() -> None:
    triples = [["latvia", "borders", "estonia"], ["estonia", "capital", "tallinn"], ["tallinn", "is_a", "city"]]
    found = expanded(
        "Which city is meant?",
        graph=memory([["latvia", "capital", "riga"], *triples], **TYPED),
        paths=("capital", "borders capital"),
    )
    assert [triple.object for triple in found.triples] == ["estonia", "tallinn", "riga"]


def test_only_members_of_the_class_are_counted() -> None:
    found = expanded("How many republics border on Latvia?", graph=memory([*TRIPLES, *CLASSES], **TYPED))
    facts = found.trace["set"]
    assert (facts["members"], facts["behind"], facts["complete"]) == (2, {"class": 2}, True)
    assert ends(found)[:2] == ["estonia", "lithuania"]


def test_only_members_of_the_class_are_compared() -> None:
    found = expanded("Which republic has the largest area?", graph=memory([*TRIPLES, *CLASSES], **TYPED))
    assert subjects(found, "area")[:2] == ["lithuania", "estonia"]


def test_what_has_no_values_is_not_compared_though_it_has_the_class() -> None:
    triples = [*TRIPLES, ["latvia", "capital", "ogre"], ["riga", "is_a", "town"], ["ogre", "is_a", "town"]]
    found = expanded("Which town has the largest area?", graph=memory(triples, **TYPED))
    assert subjects(found, "area")[0] == "russia"


def test_what_joins_two_topics_is_of_the_class_first() -> None:
    classes = [["estonia", "is_a", "kingdom"], ["lithuania", "is_a", "republic"]]
    found = expanded(
        "Which republics have it?",
        "latvia",
        "euro",
        graph=memory([*TRIPLES, *classes], **TYPED),
        paths=("capital", "borders currency"),
    )
    assert ends(found)[:2] == ["lithuania", "estonia"]


def test_nodes_beyond_the_limit_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(operations, "_TYPED", 2)
    found = expanded("Which city is there?", graph=memory([*TRIPLES, *CLASSES], **TYPED))
    assert found.trace["class"]["cut"] == 3


def test_a_graph_without_type_relations_is_asked_for_no_classes(monkeypatch: pytest.MonkeyPatch) -> None:
    reads: list[str] = []
    graph = memory([*TRIPLES, *CLASSES])
    for name in ("labels", "other_names", "triples", "frontiers"):
        read = getattr(graph, name)
        monkeypatch.setattr(graph, name, lambda *given, _name=name, _read=read: (reads.append(_name), _read(*given))[1])
    found, read_for = [], []
    for types in (True, False):
        found.append(expanded("Which city is in Latvia?", graph=graph, types=types))
        read_for.append(list(reads))
        reads.clear()
    assert read_for[0] == read_for[1]
    assert found[0] == found[1]


def test_the_classes_of_all_questions_are_read_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = memory([*TRIPLES, *CLASSES], **TYPED)
    driver = OperationsExpander(inner=Scripted(graph), graph=graph, scorer=ByName())
    driver.open()
    calls: list[int] = []
    read = graph.other_names
    monkeypatch.setattr(graph, "other_names", lambda ids: (calls.append(len(ids)), read(ids))[1])
    texts = ["Which city is in Latvia?", "Which states border on it?", "How many republics?"]
    questions = [Question(str(i), text, (Link("latvia"),)) for i, text in enumerate(texts)]
    together = driver.expand(questions)
    assert len(calls) == 1
    assert together == [driver.expand([question])[0] for question in questions]


def test_members_with_a_value_within_bounds_come_first_with_it() -> None:
    found = expanded("Which neighbours have an area of more than two hundred?")
    assert found.triples[:4] == (
        Triple("latvia", "borders", "belarus"),
        Triple("belarus", "area", '"208"^^xsd:integer'),
        Triple("latvia", "borders", "russia"),
        Triple("russia", "area", '"17098"^^xsd:integer'),
    )
    assert found.trace["kind"] == "lookup"
    assert found.trace["set"] == {
        "entity": "latvia",
        "path": ["borders"],
        "members": 2,
        "bounds": [{"relation": "area", "within": "(200, inf)"}],
        "behind": {"value": 2},
        "complete": True,
        "shown": 4,
    }


def test_a_year_bounds_the_dates_of_members() -> None:
    found = expanded("Which neighbours were founded before 1950?")
    assert subjects(found, "founded")[:2] == ["estonia", "lithuania"]
    assert found.trace["set"]["bounds"] == [{"relation": "founded", "within": "(-inf, 1950)"}]


def test_members_without_a_value_are_counted_and_the_set_is_not_complete() -> None:
    triples = [triple for triple in TRIPLES if triple[:2] != ["estonia", "area"]]
    found = expanded("Which neighbours have an area above 100?", graph=memory(triples))
    facts = found.trace["set"]
    assert (facts["members"], facts["behind"], facts["complete"]) == (2, {"value": 1, "no value": 1}, False)


def test_only_members_within_bounds_are_counted_and_compared() -> None:
    found = expanded("How many neighbours have an area of less than 100?")
    assert (found.trace["kind"], found.trace["set"]["members"]) == ("count", 2)
    assert ends(found)[:2] == ["estonia", "lithuania"]
    found = expanded("Which neighbour with an area of less than 1,000 was founded last?")
    assert subjects(found, "founded")[0] == "belarus"
    assert "russia" not in subjects(found, "founded")[:3]


def test_a_value_of_the_link_answers_whether_it_is_within_bounds() -> None:
    found = expanded("Is the area of Latvia larger than 50?")
    assert found.triples[0] == Triple("latvia", "area", '"64"^^xsd:integer')
    assert (found.trace["kind"], found.trace["set"]["members"]) == ("yes-no", 1)


def test_a_date_of_the_link_answers_whether_it_is_before_a_year() -> None:
    found = expanded("Was Estonia founded before 1920?", "estonia", paths=("currency",))
    assert found.triples[0] == Triple("estonia", "founded", '"1918-02-24"^^xsd:date')
    assert found.trace["kind"] == "comparison"


def test_a_number_of_things_is_no_bound_on_values_that_are_all_within_it() -> None:
    assert "set" not in expanded("Which neighbours have won at least three cups?").trace


def test_a_bound_that_nothing_meets_leaves_the_set_empty() -> None:
    found = expanded("Which neighbours have an area above one million?")
    assert (found.trace["set"]["members"], found.trace["set"]["behind"]) == (0, {"value": 4})


def test_a_number_in_the_name_of_a_link_bounds_nothing() -> None:
    links = (Link("latvia", name="Over 100", start=6, end=14),)
    driver = OperationsExpander(inner=Scripted(memory()), graph=memory(), scorer=ByName())
    driver.open()
    [found] = driver.expand([Question("q", "Which Over 100 neighbours have an area?", links)])
    assert "set" not in found.trace


def test_a_year_that_decides_between_statements_bounds_no_values() -> None:
    triples = [["latvia", "money", "lats"], ["lats", "founded", '"1993-01-01"^^xsd:date']]
    rows = [["latvia", "money", "lats", "start", '"1993"^^xsd:gYear']]
    graph = memory(triples, qualifiers=rows)
    assert "set" not in expanded("What was the money in 1993?", graph=graph, paths=("money",)).trace
    graph = memory(triples)
    assert expanded("What was the money in 1993?", graph=graph, paths=("money",)).trace["set"]["members"] == 1


def test_limits_of_a_call_reach_the_choice_of_the_set() -> None:
    def session(triples: int) -> Session:
        graph, budget = MemoryGraph(triples=TRIPLES), Budget(triples=triples)
        driver = OperationsExpander(inner=Scripted(graph, budget=budget), graph=graph, scorer=ByName(), budget=budget)
        return Session.of(graph=graph, expander=driver)

    question = Question("q", "Which neighbour of Latvia has the largest area?", (Link("latvia"),))
    with session(30) as wide, session(3) as tight:
        assert wide.retrieve([question], limits={"triples": 3}) == tight.retrieve([question])
        holder: Any = next(iter(wide.methods.values()))
        assert holder.driver._operations.budget.triples == 3
        assert len(wide.retrieve([question])[0].subgraph.triples) > 3


def test_a_lead_that_fills_the_budget_fits() -> None:
    whole = expanded("How many countries border on Latvia?", budget=Budget(triples=4))
    assert whole.trace["set"]["shown"] == 4
    # Of four, two are for the set: one member with its value.
    assert expanded("Which neighbour has the largest area?", budget=Budget(triples=4)).trace["set"]["shown"] == 1


def test_a_class_decides_nothing_where_types_are_not_to_be_read_also_beside_a_bound() -> None:
    graph = memory([*TRIPLES, *CLASSES], **TYPED)
    text = "Which states have an area above 50?"
    assert expanded(text, graph=graph).trace["class"]["of_class"] == 2
    assert "class" not in expanded(text, graph=graph, types=False).trace


def test_a_plural_is_of_sets_with_several_members_if_there_are_any() -> None:
    triples = [
        *[["latvia", "borders", "estonia"], ["latvia", "capital", "riga"], ["latvia", "capital", "ogre"]],
        *([one, "area", f'"{area}"^^xsd:integer'] for one, area in (("estonia", 65), ("ogre", 45), ("riga", 304))),
    ]
    for what, path in (("towns have", "capital"), ("has", "borders")):
        found = expanded(f"Which {what} an area above 50?", graph=memory(triples))
        assert found.trace["set"]["path"] == [path]
        assert found.trace["set"]["members"] == 1


@pytest.mark.parametrize(("most", "shown"), [(9, True), (8, True), (7, False)])
def test_the_whole_of_a_class_takes_at_most_half_of_the_budget(most: int, shown: bool) -> None:
    typed = [[country, "is_a", "state"] for country in AREAS]
    graph = memory([*TRIPLES, *typed], **TYPED)
    found = expanded("Which states border on Latvia?", graph=graph, budget=Budget(triples=most))
    assert ("set" in found.trace) is shown


def test_neither_a_comparison_nor_yes_or_no_asks_for_a_class() -> None:
    graph = memory([*TRIPLES, *CLASSES], **TYPED)
    for text in ("Which state is larger by area, Estonia or Lithuania?", "Is the state of Estonia large?"):
        assert "class" not in expanded(text, "estonia", "lithuania", graph=graph).trace


def test_a_set_of_two_goes_before_one_of_one_where_several_are_asked_for() -> None:
    areas = [("riga", 5000), ("estonia", 4500), ("lithuania", 6500)]
    triples = [["latvia", "capital", "riga"], *TRIPLES[:2]]
    graph = memory([*triples, *([who, "area", f'"{area}"^^xsd:integer'] for who, area in areas)])

    def members(noun: str) -> int:
        found = expanded(f"Which {noun} an area above 4,000?", graph=graph, paths=("capital", "borders"))
        return int(found.trace["set"]["members"])

    assert (members("capitals have"), members("capital has")) == (2, 1)


def test_the_likeness_of_a_path_is_the_scorers_own_whatever_a_search_counts_from() -> None:
    path = RankedPath("latvia", (Step("borders"), Step("area")), 0.0)
    kinds = []
    for unit in (ScoreUnit(), ScoreUnit(lift=1.5)):
        ops = operations.Operations(memory(), ByName(), Budget())
        question = Question("q", "Which neighbour has it?", (Link("latvia"),))
        [one] = ops.of([question], Scripted(memory()).expand([question]))
        one.scores = attrs.evolve(one.scores, unit=unit)
        kinds.append((one.likeness(path), one.scores.of([path.steps], one.text)))
    assert kinds == [(-2.0, [-2.0]), (-2.0, [-3.5])]


def test_a_thousand_nodes_are_looked_at_for_their_class() -> None:
    graph = memory([["latvia", "borders", f"n{number:04}"] for number in range(1001)] + CLASSES, **TYPED)
    inner = Scripted(graph, ("borders",), Budget(triples=None, hub=None))
    driver = OperationsExpander(inner=inner, graph=graph, scorer=ByName(), budget=Budget(triples=None))
    driver.open()
    [found] = driver.expand([Question("q", "Which states border on Latvia?", (Link("latvia"),))])
    assert found.trace["class"]["cut"] == 1


def test_a_single_member_within_bounds_is_the_first_of_them() -> None:
    found = expanded("Which neighbour with an area above 1,000 was founded first?")
    assert found.trace["set"]["members"] == 1
    assert found.triples[0] == Triple("latvia", "borders", "russia")
    assert "russia" in subjects(found, "area")[:1] + subjects(found, "founded")[:1]


def test_the_ends_of_paths_are_those_of_the_result_with_the_class_first() -> None:
    graph = memory([["latvia", "borders", "belarus"], *TRIPLES, *CLASSES], **TYPED)
    ops = operations.Operations(graph, ByName(), Budget())
    question = Question("q", "Which federations border on Latvia?", (Link("latvia"),))
    [one] = ops.of([question], Scripted(graph).expand([question]))
    assert next(iter(one.ends.reached())) == one.found.triples[0].object == "russia"


# Kinds, roles and near sets for an answer


def linked(text: str, *links: str) -> Question:
    return Question("q", text, tuple(Link(link) for link in links))


def test_arithmetic_is_a_kind_of_its_own_for_an_answer_alone() -> None:
    answers, expands = (operations.Operations(memory(), ByName(), Budget(), by_role=one) for one in (True, False))
    kinds: dict[str, Any] = {"What is the total of all?": "superlative", "How many years apart are they?": "comparison"}
    for text, kind in kinds.items():
        question = linked(text, "latvia")
        assert answers.kind(question) == QuestionKind(kind, True)
        assert expands.kind(question) == kind_of(text) != QuestionKind(kind, True)
    found = expanded("What is the total area of Estonia and Lithuania?", "estonia", "lithuania", paths=("currency",))
    assert found.trace == {"kind": "lookup"}


def test_what_the_scorer_says_of_its_scale_and_of_mentions_counts_before_the_setting() -> None:
    @attrs.define(eq=False)
    class Told(ByName):
        told: SearchSettings

        def search_settings(self) -> SearchSettings:
            return self.told

    question = Question("q", "What borders on Latvia?", (Link("latvia", start=16, end=22),))
    for told, size, text in (
        (SearchSettings(scale=2.0, mention="it"), 2.0, "What borders on it?"),
        (SearchSettings(mention=None), 5.0, "What borders on Latvia?"),
    ):
        ops = operations.Operations(memory(), Told(told), Budget(), scale=5.0)
        [one] = ops.of([question], Scripted(memory()).expand([question]))
        assert (one.scores.unit.size, one.text) == (size, text)


def test_a_sure_detour_is_a_set_of_the_class_and_comes_first_for_an_answer_alone() -> None:
    rows = [["x", "r", "a"], ["a", "s", "b"], ["a", "is_a", "state"], ["b", "is_a", "state"], ["x", "r", "c"]]
    graph = memory(rows, **TYPED)
    paths = [RankedPath("x", (Step("r"), Step("s")), 5.0), RankedPath("x", (Step("r"),), 1.0)]
    for by_role, sure, named in ((True, True, [2, 1]), (False, False, [1])):
        ops = operations.Operations(graph, ByName(), Budget(), by_role=by_role)
        [one] = ops.of([linked("Which states are there?", "x")], facts(graph, [paths], Budget()))
        assert ([len(some.steps) for some in one.named], one.is_sure()) == (named, sure)
        assert one.lead.answers == (["b"] if sure else ["a"])


@attrs.define(eq=False)
class Tabled(MemoryGraph):
    """Was made of a table of films."""

    def schema(self) -> Schema:
        return attrs.evolve(super().schema(), relations=("directed", "genre"), tables={"films": ("directed", "genre")})


@pytest.mark.parametrize(
    ("text", "phrases", "fit", "by_role", "called"),
    [
        ("Which movies did mann make?", ["movie"], "", True, {"heat"}),
        ("Which movies did mann make?", [], "", True, set()),
        ("Which movies did mann make?", ["movie"], "mann", True, set()),
        ("What is the movie of mann?", ["movie"], "", True, set()),
        ("Which genres did mann make?", ["genre"], "", True, {"crime"}),
        ("Which movies did mann make?", ["movie"], "", False, set()),
    ],
)
def test_a_noun_that_nothing_has_means_the_rows_of_a_table_where_things_are_asked_for(
    text: str, phrases: list[str], fit: str, by_role: bool, called: set[str]
) -> None:
    graph = Tabled(triples=[["heat", "directed", "mann"], ["heat", "genre", "crime"]])
    graph.open()
    ops = operations.Operations(graph, ByName(), Budget(), by_role=by_role)
    one: Any = SimpleNamespace(phrases=phrases, question=Question("q", text))
    nodes = [["heat", "mann", "crime"]]
    assert ops._of_roles(PathReads(graph, 9), [one], [frozenset([fit] if fit else [])], nodes) == [called]


def several(steps: str, *members: str) -> NodeSet:
    return NodeSet(RankedPath("x", tuple(map(Step.parse, steps.split())), 0.0), dict.fromkeys(members, ()))


@pytest.mark.parametrize(
    ("change", "wanted"),
    [
        ({}, True),
        ({"named": [several("r", "a", "b")]}, False),  # the search listed them
        ({"named": [several("r", "a", "b")], "kind": "count"}, True),
        ({"named": [several("r", "a")]}, True),
        ({"named": [several("r", "a"), several("s", "a", "b")]}, True),
        ({"named": [several("r s", "a", "b")]}, True),
        *[({"text": "Which town is in Latvia?", "kind": kind}, kind != "lookup") for kind in ("lookup", "ordinal")],
        *[({"text": "Which town is in Latvia?", "kind": kind}, True) for kind in ("count", "superlative")],
        ({"text": "Which town is in Latvia?", "by_role": False}, True),
        ({"phrases": []}, False),
        ({"links": ()}, False),
        ({"sure": True}, False),
    ],
)
def test_sets_next_to_the_links_are_read_for_several_of_a_class_that_the_search_did_not_list(
    change: dict[str, Any], wanted: bool
) -> None:
    one: dict[str, Any] = {"named": [], "kind": "lookup", "text": "Which towns are in Latvia?", "by_role": True}
    one |= {"phrases": ["town"], "links": ("latvia",), "sure": False, **change}
    ops = operations.Operations(memory(), ByName(), Budget(), by_role=one["by_role"])
    operated: Any = SimpleNamespace(
        named=one["named"],
        kind=QuestionKind(one["kind"]),
        question=linked(one["text"], *one["links"]),
        phrases=one["phrases"],
        is_sure=lambda: one["sure"],
    )
    assert ops._wants_near(operated) is wanted


def test_a_sure_set_is_led_by_itself_and_not_measured_against_the_next() -> None:
    ops = operations.Operations(memory(), ByName(), Budget(), by_role=True)
    for is_sure, answers in ((True, ["a"]), (False, ["b"])):
        one: Any = SimpleNamespace(
            named=[several("r", "a"), several("s", "b")],
            is_sure=lambda is_sure=is_sure: is_sure,
            ends=SimpleNamespace(reached=lambda: ["b"]),
        )
        lead = ops._whole(one)
        assert (lead.answers, lead.margin) == (answers, math.inf)


def test_sets_next_to_a_link_are_of_its_steps_either_way_the_likest_first() -> None:
    graph = memory([["x", "capital", "a"], ["b", "borders", "x"]])
    ops = operations.Operations(graph, ByName(), Budget(), by_role=True)
    question = linked("Which towns?", "x", "x")
    [one] = ops.of([question], facts(graph, [[RankedPath("x", (Step("capital"),), 1.0)]], Budget()))
    assert [(some.steps, list(some.instances)) for some in ops._near_sets(one)] == [
        ((Step("borders", True),), ["b"]),
        ((Step("capital"),), ["a"]),
    ]


def test_things_with_the_name_of_a_link_are_compared_for_an_answer_alone() -> None:
    graph = memory(labels={"riga": "Riga", "latvia": "Riga", "estonia": "Estonia"})
    links = (Link("riga", name="Riga"), Link("estonia", name="Estonia"))
    question = Question("q", "Which has the larger area, Riga or Estonia?", links)
    for by_role, answers in ((True, ["latvia"]), (False, [])):
        ops = operations.Operations(graph, ByName(), Budget(), by_role=by_role)
        [one] = ops.of([question], Scripted(graph).expand([question]))
        assert [node for node in one.lead.answers if node == "latvia"] == answers
