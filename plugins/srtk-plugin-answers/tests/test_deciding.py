"""Which value or count decides an order, which is within bounds, and which topics are joined."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import attrs
import pytest
from srtk_plugin_answers import counted_steps
from srtk_plugin_answers.counted_steps import CountedSteps, Decider, _phrases, verb_stems
from srtk_plugin_answers.deciding_values import DecidingValues, _decides
from srtk_plugin_answers.graph_names import GraphNames
from srtk_plugin_answers.joined_topics import JoinedTopics, _as_mentioned, triples_between
from srtk_plugin_answers.node_sets import Lead, NodeSet
from srtk_plugin_answers.path_scores import PathScores
from srtk_plugin_answers.question_kinds import QuestionKind
from srtk_plugin_answers.question_orders import CountedOrder
from srtk_plugin_answers.question_values import ValueConstraint, value_constraints
from srtk_plugin_local.memory import MemoryGraph

from srtk_framework.graph import Instance
from srtk_framework.roles import PathScorer
from srtk_framework.values import Link, Literal, Question, RankedPath, Step, Subgraph, Triple


@attrs.define(eq=False)
class Table(PathScorer):
    """Scores a relation by a table of texts; what the table lacks has 0."""

    scores: dict[tuple[str, str], float] = attrs.field(factory=dict)

    def score(self, questions: Any, paths: Any, candidates: Any) -> Any:
        return [
            [
                max((s for (word, of), s in self.scores.items() if of == step.relation and word in text), default=0.0)
                for step in row
            ]
            for text, row in zip(questions, candidates, strict=True)
        ]


def memory(triples: Any, **more: Any) -> MemoryGraph:
    graph = MemoryGraph(triples=triples, **more)
    graph.open()
    return graph


def number(value: float, kind: str = "decimal") -> str:
    return f'"{value}"^^xsd:{kind}'


SIZES = [
    *[["a", "size", number(1)], ["b", "size", number(2)], ["c", "size", number(3)], ["d", "size", number(3)]],
    *[["a", "built", '"1990"^^xsd:gYear'], ["b", "built", '"1980"^^xsd:gYear'], ["c", "built", '"2000"^^xsd:gYear']],
    *[["a", "age", number(7)], ["b", "age", number(9)], ["a", "name", '"A"'], ["e", "size", Literal('"4 km"')]],
]


def deciding(triples: Any = SIZES, scores: dict[tuple[str, str], float] | None = None) -> DecidingValues:
    graph = memory(triples)
    scorer = Table({("size", "size"): 2.0, ("built", "built"): 2.0, ("age", "age"): 2.0, **(scores or {})})
    return DecidingValues(graph, PathScores(scorer, ()), CountedSteps(graph, GraphNames(graph, graph.schema())))


def members(steps: str, *nodes: str, score: float = 0.0, entity: str = "x", **more: Any) -> NodeSet:
    path = RankedPath(entity, tuple(map(Step.parse, steps.split())), score)
    return NodeSet(path, {one: (Instance((Triple(entity, "r", one),), one),) for one in nodes}, **more)


ASKED = Question("q", "which of x?", (Link("x"),))


@pytest.mark.parametrize(
    ("kind", "nodes", "answers", "order"),
    [
        (QuestionKind("superlative", True), "abc", "c", "cba"),
        (QuestionKind("superlative", False), "abc", "a", "abc"),
        (QuestionKind("superlative", True), "abcd", "cd", "cdba"),  # with the same value
        (QuestionKind("ordinal", True, 2), "abc", "b", "bca"),
        (QuestionKind("ordinal", True, 3), "abcd", "b", "bcda"),
        (QuestionKind("ordinal", False, 2), "abcd", "b", "bacd"),
        (QuestionKind("ordinal", True, 4), "abc", "", "cba"),
        (QuestionKind("superlative", True, places=2), "abc", "cb", "cba"),
        (QuestionKind("superlative", False, places=3), "abcd", "abcd", "abcd"),
        (QuestionKind("superlative"), "abc", "c", "cba"),  # of numbers the first is the greatest
    ],
)
def test_the_places_of_an_order_come_first_with_all_that_share_the_last(
    kind: QuestionKind, nodes: str, answers: str, order: str
) -> None:
    lead = deciding().compared(ASKED, kind, [members("r", *nodes)], "the size of it")
    assert "".join(lead.answers) == answers
    assert "".join(row[0][0].object for row in lead.rows) == order
    assert lead.facts == {
        "relation": "size",
        "order": "ascending" if kind.greatest is False else "descending",
        "rank": kind.rank,
        "entity": "x",
        "path": ["r"],
        "members": len(nodes),
        "with_value": len(nodes),
        "complete": True,
    }
    assert "".join(lead.values) == order
    assert [triple.object for triple, _ in lead.proof[::2]] == [*order]
    assert (lead.before, lead.score) == (1, 2.0)
    assert lead.rows[0][1][1] == RankedPath("x", (Step("r"), Step("size")), 0.0)


def test_members_without_a_value_come_last_and_a_set_of_one_is_not_compared() -> None:
    kind = QuestionKind("superlative", True)
    lead = deciding().compared(ASKED, kind, [members("r", "e", "z", "b", "a", cut=2)], "the size of it")
    assert [row[0][0].object for row in lead.rows] == ["b", "a", "e", "z"]  # another unit is no value
    assert (lead.facts["with_value"], lead.facts["cut"], lead.facts["complete"]) == (2, 2, False)
    assert len(lead.proof) == 4
    assert deciding().compared(ASKED, kind, [members("r", "a")], "the size of it") == Lead()
    assert deciding().compared(ASKED, kind, [members("r", "z", "y")], "the size of it") == Lead()
    linked = NodeSet.of_links(Question("q", "?", (Link("a"), Link("b"))))
    assert deciding().compared(ASKED, kind, [linked], "the size of it").before == 2


@pytest.mark.parametrize(
    ("text", "kind", "nodes", "order"),
    [
        ("which was built first", QuestionKind("ordinal", None), "abc", "bac"),
        ("which is the oldest, built", QuestionKind("superlative", False), "abc", "bac"),
        ("which is the oldest by age", QuestionKind("superlative", False), "ab", "ba"),  # in years
        ("which is the youngest by age", QuestionKind("superlative", True), "ab", "ab"),
        ("which has been built the longest", QuestionKind("superlative", True), "abc", "bac"),
        ("which has been built the shortest", QuestionKind("superlative", False), "abc", "cab"),
        ("which is the longest by size", QuestionKind("superlative", True), "abc", "cba"),
    ],
)
def test_age_and_length_turn_the_order_of_dates_or_of_numbers(
    text: str, kind: QuestionKind, nodes: str, order: str
) -> None:
    lead = deciding().compared(Question("q", text, (Link("x"),)), kind, [members("r", *nodes)], text)
    assert "".join(lead.values) == order


def test_the_oldest_by_a_number_that_may_be_a_year_is_the_least() -> None:
    years = [["a", "year", number(1990)], ["b", "year", number(1980)], ["c", "year", number(1985)]]
    text, kind = "which is the oldest", QuestionKind("superlative", False)
    lead = deciding(years).compared(Question("q", text, (Link("x"),)), kind, [members("r", *"abc")], text)
    assert "".join(lead.values) == "bca"


def test_of_several_values_the_greatest_or_the_least_counts_in_the_unit_of_most() -> None:
    rows = [["a", "size", Literal(value)] for value in ('"1 cm"', '"5 cm"', '"9 km"')] + [
        ["b", "size", Literal('"3 cm"')]
    ]
    for greatest, order in ((True, "ab"), (False, "ab")):
        kind = QuestionKind("superlative", greatest)
        lead = deciding(rows).compared(ASKED, kind, [members("r", "a", "b")], "size")
        assert "".join(lead.values) == order
        assert lead.values["a"].object == ('"5 cm"' if greatest else '"1 cm"')


@pytest.mark.parametrize("greatest", [True, False])
def test_of_equal_values_that_are_written_differently_the_first_is_shown(greatest: bool) -> None:
    rows = [["a", "size", one] for one in (number(5), number(5.0, "double"))] + [["b", "size", number(7)]]
    first = min(number(5), number(5.0, "double"))
    lead = deciding(rows).compared(ASKED, QuestionKind("superlative", greatest), [members("r", "a", "b")], "size")
    assert lead.values["a"].object == first


def test_up_to_three_sets_may_be_meant_the_likeliest_first() -> None:
    sets = [members(f"r{n}", *nodes) for n, nodes in enumerate(("ab", "bc", "ac", "abc", "ab"))]
    scores = {("size", f"r{n}"): score for n, score in enumerate((1.0, 4.0, 2.0, 3.0, 0.9))}
    lead = deciding(scores=scores).compared(ASKED, QuestionKind("superlative", True), sets, "size")
    assert (lead.path, lead.score) == (sets[1].path, 6.0)
    assert [row[0][1].steps[0].relation for row in lead.others] == ["r3", "r1"]  # r1 by another relation
    assert (lead.margin, lead.answers) == (math.inf, ["c"])
    assert lead.facts["path"] == ["r1"]


def test_a_set_counts_less_the_less_its_link_is_sure() -> None:
    question = Question("q", "size", (Link("x", 0.9, start=0, end=3), Link("y", 0.1, start=0, end=3)))
    sets = [members("r", "a", "b", entity="y"), members("r", "b", "c", entity="x")]
    lead = deciding().compared(question, QuestionKind("superlative", True), sets, "size")
    assert lead.answers == ["c"]
    assert lead.score == pytest.approx(2.0 + math.log(0.9), abs=1e-4)
    assert deciding()._weights(question, [*sets, NodeSet(None, {}), members("r", entity="z")]) == pytest.approx(
        [math.log(0.1), math.log(0.9), 0.0, 0.0]
    )
    none = Question("q", "size", (Link("x", 1.0, start=0, end=3), Link("y", 0.0, start=0, end=3)))
    assert deciding()._weights(none, sets)[0] == pytest.approx(math.log(1e-6))


def test_links_are_compared_by_the_likeliest_relation_alone_as_far_as_the_next_is() -> None:
    asked = Question("q", "size", (Link("a"), Link("c")))
    kind, names = QuestionKind("comparison", True), {"a": ["a"], "c": ["c"]}
    lead = deciding().compared_links(asked, kind, "size", names)
    assert (lead.answers, lead.score, lead.margin) == (["c"], 2.0, 2.0)
    alone = deciding([row for row in SIZES if row[1] == "size"]).compared_links(asked, kind, "size", names)
    assert alone.margin == math.inf
    assert deciding().compared_links(asked, kind, "age", {"a": ["a", "b"], "c": ["c"]}) == Lead()
    other = deciding().compared_links(asked, kind, "size", {"z": ["z", "a"], "c": ["c", "b"]})
    assert [*other.values] == ["c", "a"]


@pytest.mark.parametrize(
    ("values", "bound", "decides"),
    [
        ([("a", number(1)), ("b", number(2))], None, True),
        ([("a", number(1)), ("a", number(2))], None, False),
        ([("a", number(1)), ("b", '"x"')], None, False),
        ([("a", number(1))], ValueConstraint(low=1), True),
        ([("a", '"1990"^^xsd:gYear')], ValueConstraint(low=1), False),
        ([("a", '"1990"^^xsd:gYear')], ValueConstraint(low=1, date=True), True),
        ([("a", number(1990)), ("b", '"1990"^^xsd:gYear')], ValueConstraint(low=1, date=True), True),
        ([("a", number(1990)), ("b", number(7))], ValueConstraint(low=1, date=True), False),
        ([("a", '"x"')], ValueConstraint(low=1, date=True), False),
        ([("a", '"x"')], ValueConstraint(low=1), False),
    ],
)
def test_an_order_needs_two_values_and_a_bound_values_of_its_kind(
    values: list[tuple[str, str]], bound: ValueConstraint | None, decides: bool
) -> None:
    assert _decides([Triple(node, "r", Literal(value)) for node, value in values], bound) is decides


def within(text: str, *sets: NodeSet, triples: Any = SIZES, scores: Any = None) -> list[NodeSet]:
    question = Question("q", text, (Link("x"),))
    return deciding(triples, scores).bounded(question, sets, value_constraints(text), text)


def test_members_within_bounds_are_kept_and_others_counted_by_reason() -> None:
    [one] = within("size of more than 1.5", members("r", *"azbc", behind={"class": 3}))
    assert list(one.instances) == ["b", "c"]
    assert one.behind == {"class": 3, "value": 1, "no value": 1}
    assert one.bounds == [{"relation": "size", "within": "(1.5, inf)"}]
    assert [row[0][0].object for row in one.rest] == ["z", "a"]
    assert [len(row) for row in one.rest] == [1, 2]
    assert one.values["b"] == [(Triple("b", "size", number(2)), RankedPath("x", (Step("r"), Step("size")), 0.0))]
    [none] = within("size of more than 99", members("r", *"abc"))
    assert (none.instances, none.behind["value"]) == ({}, 2)
    [both] = within("size of more than 1.5 and age of less than 50", members("r", *"abc"))
    assert list(both.instances) == ["b"]
    assert both.behind == {"value": 1, "no value": 1}
    assert [triple.relation for triple, _ in both.values["b"]] == ["size", "age"]
    assert len(both.bounds) == 2


def test_a_small_number_of_things_is_a_bound_only_where_a_value_is_beyond_it() -> None:
    assert within("size of more than 0.5", members("r", *"abc")) == []
    assert list(within("size of more than 1", members("r", *"abc"))[0].instances) == ["b", "c"]
    large = [[one, "size", number(value)] for one, value in (("a", 20), ("b", 30))]
    assert list(within("size of more than 13", members("r", "a", "b"), triples=large)[0].instances) == ["a", "b"]


def test_of_several_values_one_within_bounds_is_enough() -> None:
    rows = [["a", "size", number(20)], ["a", "size", number(40)], ["b", "size", number(40)], ["b", "size", number(20)]]
    [one] = within("size of more than 30", members("r", "a", "b"), triples=rows)
    assert [one.values[member][0][0].object for member in "ab"] == [number(40)] * 2
    [one] = within("size of less than 30", members("r", "a", "b"), triples=rows)
    assert [one.values[member][0][0].object for member in "ab"] == [number(20)] * 2


def test_up_to_three_sets_within_bounds_are_kept_each_by_its_best_relation() -> None:
    sets = [members(f"r{n}", *"abc") for n in range(5)]
    scores = {("size", f"r{n}"): float(n) for n in range(5)}
    found = within("size of more than 1.5", *sets, scores=scores)
    assert [one.path for one in found] == [one.path for one in sets[:1:-1]]
    assert {one.bounds[0]["relation"] for one in found} == {"size"}


def test_the_value_of_a_link_proves_whether_it_is_within_a_bound() -> None:
    for text, answers in (("size of more than 1.5", ["b"]), ("size of less than 5", ["a", "b"])):
        question = Question("q", text, (Link("a"), Link("b"), Link("z")))
        lead = deciding().valued(question, text, value_constraints(text))
        assert lead.answers == answers
        assert {triple.subject for triple, _ in lead.proof} == {"a", "b"}
        assert (lead.members, lead.score, lead.facts["complete"]) == (["a", "b"], 2.0, False)
    only = Question("q", "size", (Link("b"),))
    assert deciding().valued(only, "size", [ValueConstraint(low=1)]).facts["complete"] is True
    none = Question("q", "size", (Link("z"),))
    assert deciding().valued(none, "size", [ValueConstraint(low=1)]) == Lead()


def test_the_first_eight_members_show_which_relations_have_values(monkeypatch: pytest.MonkeyPatch) -> None:
    nodes = [f"m{n}" for n in range(10)]
    kind = QuestionKind("superlative", True)
    for some, shown in ((nodes[7:], False), (nodes[6:], True)):
        rows = [[one, "size", number(n)] for n, one in enumerate(some)]
        lead = deciding(rows).compared(ASKED, kind, [members("r", *nodes)], "size")
        assert bool(lead.rows) is shown


# Counts


def counted(triples: Any) -> CountedSteps:
    graph = memory(triples)
    return CountedSteps(graph, GraphNames(graph, graph.schema()))


LAKES = [
    *[["a", "lake", "l1"], ["a", "lake", "l2"], ["b", "lake", "l3"], ["l4", "in", "b"], ["l5", "in", "b"]],
    *[["l6", "in", "c"], ["a", "depth", number(3)], ["b", "depth", number(4)]],
]


def test_the_ends_of_a_step_are_counted_for_each_member_that_has_some() -> None:
    order = CountedOrder("lakes", "which has lakes")
    one = counted(LAKES).counted(members("r", *"abcz"), Step("lake"), order)
    assert {member: count for member, (count, _) in one.numbers.items()} == {"a": 2.0, "b": 1.0}
    assert one.numbers["b"][1] == (Triple("b", "lake", "l3"),)
    assert (one.cut, one.is_sure) == (0, True)
    back = counted(LAKES).counted(members("r", *"abc"), Step("in", True), CountedOrder("", "which"))
    assert {member: count for member, (count, _) in back.numbers.items()} == {"b": 2.0, "c": 1.0}


@pytest.mark.parametrize(
    ("most", "numbers", "cut"), [(7, "abc", 0), (6, "ab", 1), (4, "a", 2), (3, "a", 2), (2, "", 3)]
)
def test_members_that_are_not_counted_for_want_of_room_are_told(
    monkeypatch: pytest.MonkeyPatch, most: int, numbers: str, cut: int
) -> None:
    monkeypatch.setattr(counted_steps, "_TRIED", 1)
    monkeypatch.setattr(counted_steps, "_MOST", most)
    rows = [[one, "lake", f"{one}{n}"] for one in "abc" for n in range(2)]
    found = counted(rows).counted(members("r", *"abc"), Step("lake"), CountedOrder("lakes", "lakes"))
    assert ("".join(found.numbers), found.cut) == (numbers, cut)


def test_an_order_may_mean_values_or_ends_that_a_member_has_several_of() -> None:
    def candidates(noun: str, text: str, *sets: NodeSet) -> tuple[list[tuple[int, Decider]], bool]:
        return counted(LAKES).candidates(CountedOrder(noun, text), sets, PathScores(Table(), ()))

    some = members("r", *"abc")
    assert candidates("lakes", "which has lakes", some) == ([(0, Decider(Step("lake"), True))], True)
    assert candidates("depths", "which has depths", some) == ([(0, Decider(Step("depth")))], True)
    assert candidates("roses", "which has roses") == ([], False)
    offered = counted(LAKES)._offered([some, members("r", "c")], PathScores(Table(), ()))
    assert [(place, decider) for place, decider, _ in offered] == [
        (0, Decider(Step("depth"))),
        (0, Decider(Step("in", True), True)),
        (0, Decider(Step("lake"), True)),
    ]
    assert [ends for _, _, ends in offered] == [[], ["l4", "l5", "l6"], ["l1", "l2", "l3"]]


@pytest.mark.parametrize(
    ("noun", "phrases"),
    [("official languages", ["official language"]), ("rivers", ["river"]), ("", [])],
)
def test_the_last_word_of_a_counted_noun_is_in_singular(noun: str, phrases: list[str]) -> None:
    assert _phrases(CountedOrder(noun, "")) == phrases


def test_verbs_have_the_stems_of_their_participles() -> None:
    assert verb_stems("Who wrote and directed it?") == {"writ", "dire"}


@pytest.mark.parametrize(("called", "sure"), [(10, True), (9, True), (8, False), (1, False), (0, True)])
def test_a_count_is_sure_where_nearly_all_ends_or_none_are_called_by_the_noun(called: int, sure: bool) -> None:
    ends = [f"l{n}" for n in range(10)]
    rows = [*(["a", "has", one] for one in ends), *(["w", "lake", one] for one in ends[:called])]
    order = CountedOrder("lakes", "which has lakes")
    assert counted(rows)._asked(order, Step("has"), ends) == (frozenset(), sure)
    assert counted(rows)._asked(order, Step("lake"), ends) == (frozenset(), True)
    assert counted(rows)._asked(CountedOrder("", "which"), Step("has"), ends) == (frozenset(), True)


def test_words_of_the_path_to_the_first_set_name_no_counted_step_of_another() -> None:
    rows = [["c", "exports", "x"], ["c", "exports", "y"], ["d", "exports", "x"]]
    order, scores = CountedOrder("lakes", "has lakes and exported"), PathScores(Table(), ())
    for first, by_words in (("exports", False), ("near", True)):
        sets = [members(first, "a", "b"), members("other", "c", "d")]
        assert counted(rows).candidates(order, sets, scores)[1] is by_words


def test_members_all_over_a_set_show_its_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counted_steps, "_TRIED", 2)
    rows = [[one, "depth", number(place)] for place, one in enumerate("ad")]
    rows += [[one, "size", number(place)] for place, one in enumerate("bce")]
    rows += [["d", "lake", f"l{n}"] for n in range(9)]
    rows += [
        ["a", "rank", number(1)],
        ["b", "port", "p"],
        ["c", "port", "q"],
    ]  # a single value, and an end each, order nothing
    offered = counted(rows)._offered([members("r", *"abcde")], PathScores(Table(), ()))
    assert [(decider.step.relation, len(ends)) for _, decider, ends in offered] == [("depth", 0), ("lake", 2)]
    monkeypatch.setattr(counted_steps, "_TRIED", 20)
    offered = counted(rows)._offered([members("r", *"abcde")], PathScores(Table(), ()))
    assert [decider.step.relation for _, decider, _ in offered] == ["depth", "lake", "size"]


# Topics

JOINS = [
    *[["x", "has", "a"], ["x", "has", "b"], ["x", "has", "c"], ["a", "uses", "y"], ["b", "uses", "y"]],
    *[["y", "likes", "c"], ["x", "knows", "y"], ["y", "knows", "x"], ["c", "uses", "z"]],
]


def topics(members: int = 100, scores: Any = None) -> JoinedTopics:
    return JoinedTopics(memory(JOINS), PathScores(Table({("use", "uses"): 2.0, **(scores or {})}), ()), members)


def linked(*entities: str, text: str = "use") -> Question:
    return Question("q", text, tuple(Link(one) for one in entities))


def test_the_triples_between_links_join_them_either_way() -> None:
    both = [Triple("x", "knows", "y"), Triple("y", "knows", "x")]
    assert triples_between(memory(JOINS), linked("x", "y", "x")) == both
    assert triples_between(memory(JOINS), linked("x")) == []
    lead = topics().joining(linked("x", "y"))
    assert (lead.rows, lead.facts) == ([[(one, None)] for one in both], {"members": 2, "complete": True})
    none = topics().joining(linked("x", "z"))
    assert (none.rows, none.facts) == ([], {})


def test_a_relation_confirms_links_unless_another_stands_clearly_above_it() -> None:
    for score, confirmed in ((1.0, True), (1.1, False)):
        lead = topics(scores={("use", "uses"): 0.0, ("use", "likes"): score}).confirmed(linked("x", "y"), "use")
        assert bool(lead.answers) is confirmed
        assert lead.score == score
    lead = topics().confirmed(linked("x", "a"), "use")
    assert (list(lead.answers), lead.score, lead.margin) == ([], 2.0, 2.0)
    assert [triple for triple, _ in lead.proof] == [Triple("a", "uses", "y")]
    assert lead.proof[0][1] == RankedPath("a", (Step("uses"),), 2.0)
    # The relation leads on to the other link, so that no is not sure.
    assert lead.facts == {"complete": True, "likened": True}
    assert topics(1).confirmed(linked("x", "a"), "use").facts["complete"] is False
    alone = JoinedTopics(memory([["a", "uses", "y"], ["b", "uses", "z"]]), PathScores(Table(), ()), 9)
    assert alone.confirmed(linked("a", "b"), "use").margin == math.inf


def test_members_that_are_joined_to_the_last_topic_are_left_out_or_kept() -> None:
    question = linked("x", "y", text="x without use of y")
    lead = topics().excluding(question, [], "use")
    assert lead.answers == ["c"]
    assert [row[0][0].object for row in lead.rows] == ["c", "a", "b"]
    assert lead.facts == {
        "entity": "x",
        "path": ["has"],
        "members": 3,
        "without": {"step": "uses", "entity": "y"},
        "left": 1,
        "complete": True,
    }
    path = RankedPath("x", (Step("has"), Step("uses")), 2.0)
    assert lead.rows[1] == [(Triple("x", "has", "a"), lead.path), (Triple("a", "uses", "y"), path)]
    assert (lead.score, lead.members, lead.nodes) == (2.0, ["a", "b", "c"], ["c"])
    assert topics().excluding(linked("x"), [], "use") == Lead()
    found = Subgraph(triples=(), scores=(), paths=(path,), path_of=())
    both = topics().intersecting(question, found, "use")
    assert (both.answers, both.before, both.others, both.margin) == (["a", "b"], 2, [], math.inf)
    assert both.facts["with"] == {"step": "uses", "entity": "y"}
    assert both.facts["left"] == 2
    assert topics().intersecting(linked("x"), found, "use") == Lead()
    assert topics().intersecting(question, attrs.evolve(found, paths=()), "use") == Lead()
    for most, whole in ((3, True), (2, False)):
        assert bool(topics(most).intersecting(question, found, "use").rows) is whole


def test_of_another_path_between_topics_the_first_member_comes_too() -> None:
    paths = tuple(RankedPath("x", (Step("has"), last), 1.0) for last in (Step("uses"), Step("likes", True)))
    found = Subgraph(triples=(), scores=(), paths=paths, path_of=())
    question = linked("x", "y", text="x without use of y")
    lead = topics(scores={("use", "likes"): 3.0}).intersecting(question, found, "use")
    assert lead.answers == ["c"]
    assert [[triple for triple, _ in row] for row in lead.others] == [
        [Triple("x", "has", "a"), Triple("a", "uses", "y")]
    ]


def test_paths_between_topics_have_two_steps_and_no_noise_and_end_at_the_topic_that_is_mentioned_last() -> None:
    def joining(*entities: str, noise: tuple[str, ...] = ()) -> tuple[list[str], str]:
        scores = PathScores(Table({("use", "uses"): 2.0}), noise)
        paths, last = JoinedTopics(memory(JOINS), scores, 100)._joining_paths(linked(*entities), "use")
        return [f"{path.entity} {' '.join(map(str, path.steps))}" for path in paths], last

    assert joining("x", "y") == (["x has uses", "x has ^likes"], "y")
    assert joining("y", "x") == (["y ^uses ^has", "y likes ^has"], "x")
    assert joining("x", "y", noise=("use*",)) == (["x has ^likes"], "y")
    assert joining("x") == ([], "x")
    assert joining() == ([], "")


def test_cells_of_a_row_are_joined_by_the_path_of_the_relation_that_is_asked_about() -> None:
    rows = [["l1", "borrower", "gus"], ["l1", "clerk", "gus"], ["l1", "game", "kiln"]]
    own = {"borrower": 2.0, "clerk": 1.0}

    def score(texts: Any, paths: Any, candidates: Any) -> Any:
        behind = [5.0 * (path[-1:] == (Step("clerk", True),)) for path in paths]
        return [[own.get(step.relation, more) for step in row] for row, more in zip(candidates, behind, strict=True)]

    scorer: Any = SimpleNamespace(score=score)
    topics = JoinedTopics(memory(rows), PathScores(scorer, ()), 100, {"loans": ("borrower", "clerk", "game")})
    lead = topics.confirmed(linked("gus", "kiln"), "use")
    assert [triple.relation for triple, _ in lead.proof] == ["borrower", "game"]


def test_links_are_in_the_order_of_their_mentions() -> None:
    text = "Ann and Bo, or cy and Di"
    links = (Link("c", name="Cy"), Link("b", start=8), Link("d"), Link("a", name="Ann"), Link("e"), Link("b", start=0))
    assert _as_mentioned(Question("q", text, links), {"d": "Di", "e": ""}) == ["e", "a", "b", "c", "d"]


def test_of_steps_that_are_as_likely_the_first_by_its_name_is_counted() -> None:
    rows = [
        [one, relation, f"{one}{n}"]
        for one, relation, count in (("a", "lake", 2), ("b", "big lake", 2), ("b", "lake", 1))
        for n in range(count)
    ]
    kind, order = QuestionKind("superlative", True), CountedOrder("lakes", "which has lakes")
    lead = deciding(rows).compared(ASKED, kind, [members("r", "a", "b")], "which has lakes", order)
    assert (lead.answers, lead.facts["counted"], lead.facts["counts"]) == (["b"], "big lake", [2])
    assert sorted([Decider(Step("b")), Decider(Step("a"), True), Decider(Step("a"))]) == [
        *(Decider(Step("a")), Decider(Step("a"), True), Decider(Step("b")))
    ]
