"""Sets, leads and the order of their triples, where the counts of the record and the cuts of a budget come from."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from srtk_plugin_answers import OperationsExpander, graph_names
from srtk_plugin_answers.choices import Choice
from srtk_plugin_answers.drafts import Draft, margin_of
from srtk_plugin_answers.end_classes import of_class, of_role, of_rows
from srtk_plugin_answers.graph_names import GraphNames, objects_of
from srtk_plugin_answers.node_sets import Lead, NodeSet, classed, margin, set_paths, whole_set, without_detours
from srtk_plugin_answers.path_ends import PathEnds, turns_back
from srtk_plugin_answers.path_reads import PathReads
from srtk_plugin_answers.question_kinds import QuestionKind
from srtk_plugin_answers.result_order import in_order, merged, of_class_first, with_proof
from srtk_plugin_answers.statement_years import dates_of, in_year
from srtk_plugin_local.memory import MemoryGraph

from srtk_framework.graph import Instance
from srtk_framework.values import Budget, Literal, Question, RankedPath, Schema, Step, Subgraph, Triple


def memory(triples: Any, **more: Any) -> MemoryGraph:
    graph = MemoryGraph(triples=triples, **more)
    graph.open()
    return graph


def path(text: str, score: float = 0.0, entity: str = "x") -> RankedPath:
    return RankedPath(entity, tuple(map(Step.parse, text.split())), score)


def chain(*nodes: str) -> Instance:
    return Instance(tuple(Triple(one, "r", other) for one, other in pairwise(nodes)), nodes[-1])


def of(steps: str, *members: str, score: float = 0.0, **more: Any) -> NodeSet:
    return NodeSet(path(steps, score), {one: (chain("x", one),) for one in members}, **more)


# Sets


def test_the_ends_of_a_path_are_nodes_and_neither_links_nor_where_it_turns_back() -> None:
    turned = Instance((Triple("x", "r", "a"),) * 2, "b")
    some = [chain("x", "a"), chain("x", "c", "a"), chain("x", "l"), turned, chain("x", Literal('"1"'))]
    assert NodeSet.at_ends(path("r"), some, {"l"}, 3) == NodeSet(path("r"), {"a": (some[0], some[1])}, 3)


def test_a_chain_is_of_the_first_instance_or_of_all_with_the_values_last() -> None:
    value = (Triple("a", "size", Literal('"7"')), path("r size"))
    one = NodeSet(path("r"), {"a": (chain("x", "a"), chain("x", "c", "a"))}, values={"a": [value]})
    first = [(Triple("x", "r", "a"), one.path), value]
    assert one.chain("a") == first
    others = [(Triple("x", "r", "c"), one.path), (Triple("c", "r", "a"), one.path)]
    assert one.chain("a", None) == [first[0], *others, value]


def test_the_record_of_a_set_has_what_there_is_of_it() -> None:
    assert NodeSet(None, {"a": ()}).facts() == {"members": 1}
    full = of("r ^s", "a", "b", cut=2, behind={"class": 1}, bounds=[{"relation": "size", "within": "(1, inf)"}])
    assert full.facts() == {
        "entity": "x",
        "path": ["r", "^s"],
        "members": 2,
        "bounds": [{"relation": "size", "within": "(1, inf)"}],
        "behind": {"class": 1},
        "cut": 2,
    }
    assert full.is_known()
    assert not attrs.evolve(full, behind={"no value": 1}).is_known()


def test_a_whole_set_comes_with_the_first_member_of_each_further_set_within_bounds() -> None:
    value = {one: [(Triple(one, "size", Literal('"7"')), None)] for one in "abcd"}
    rest = [[(Triple("x", "r", "z"), None)]]
    best = attrs.evolve(of("r", "a", "b", score=3.0), rest=rest, values=value)
    further = [of("s", "e", "f"), attrs.evolve(of("t", "c", "d", score=1.0), values=value)]
    lead = whole_set([best, *further])
    assert lead.rows == [best.chain("a"), best.chain("b"), *rest]
    assert (lead.others, lead.before) == ([further[1].chain("c")], 2)
    assert lead.proof == [*best.chain("a"), *best.chain("b")]
    assert (lead.answers, lead.members, lead.path, lead.score) == (["a", "b"], ["a", "b"], best.path, 3.0)
    assert lead.facts["complete"] is True
    assert whole_set([attrs.evolve(best, cut=1)]).facts["complete"] is False
    assert whole_set([attrs.evolve(best, behind={"no value": 1})]).facts["complete"] is False
    assert whole_set([]) == Lead()
    assert whole_set([NodeSet(None, {"a": ()})]).score is None


def test_a_lead_is_as_far_ahead_as_the_nearest_rival_of_the_sets_and_of_the_leads() -> None:
    lead = Lead(path=path("r", 5.0), members=["a"], score=5.0, margin=3.0)
    assert lead.among([of("s", "b", score=3.5), of("t", "b", score=4.0)]).margin == 1.0
    assert lead.among([of("s", "b", score=1.0)]).margin == 3.0
    assert lead.among([NodeSet(None, {"b": ()})]).margin == 3.0
    for kept in ({"values": {"a": Triple("a", "b", "c")}}, {"facts": {"bounds": []}}, {"score": None}, {"path": None}):
        one = attrs.evolve(lead, **kept)
        assert one.among([of("s", "b", score=4.0)]) == one


def test_the_distance_of_leads_needs_a_score_and_another_answer() -> None:
    assert margin(Lead(score=None), [Lead(score=1.0, answers=["a"])]) == math.inf
    assert margin(Lead(score=3.0), [Lead(score=None, answers=["a"])]) == math.inf
    first = Lead(score=3.0, answers=["a", "b"])
    others = [Lead(score=2.5, answers=["b", "a"]), Lead(score=1.0, answers=["a"]), Lead(score=0.0, answers=["c"])]
    assert margin(first, others) == 2.0


def test_rows_of_the_class_come_first_and_only_its_members_answer_if_there_are_any() -> None:
    rows = [[(Triple("x", "r", one), None)] for one in "abcd"]
    lead = Lead(rows, nodes=["a", "b", "c"], answers=["a", "b", "c"])
    led = lead.class_first(frozenset("bc"))
    assert led.rows == [rows[1], rows[2], rows[0], rows[3]]
    assert (led.answers, led.facts) == (["b", "c"], {"of_class": 2})
    assert lead.class_first(frozenset("z")).answers == ["a", "b", "c"]
    assert lead.class_first(frozenset()) is lead


def test_a_set_is_of_a_class_by_its_typed_members_or_by_a_quarter_that_relations_call_so() -> None:
    [typed] = classed([of("r", "a", "b", "c")], frozenset("bz"), frozenset("a"))
    assert (list(typed.instances), typed.behind) == (["b"], {"class": 2})
    assert classed([of("r", "a")], frozenset("a"), frozenset())[0].behind == {}
    four, five = of("r", *"abcd"), of("r", *"abcde")
    assert classed([four, five, of("r")], frozenset(), frozenset("a")) == [four]
    assert classed([four, five], frozenset(), frozenset("ab")) == [four, five]
    assert classed([four], frozenset(), frozenset("z")) == []


def test_a_set_behind_another_set_of_the_same_entity_is_a_detour() -> None:
    first, behind, far = of("r", "a"), of("r s", "b"), of("r s t", "c")
    elsewhere = attrs.evolve(behind, path=path("r s", entity="y"))
    linked = NodeSet(None, {"a": ()})
    assert without_detours([behind, first, elsewhere, linked]) == [first, elsewhere, linked]
    assert without_detours([behind, far]) == [behind]
    assert without_detours([first, far]) == [first]
    assert without_detours([of("s", "a"), behind]) == [of("s", "a"), behind]


def test_ten_paths_may_lead_to_a_set_and_those_before_a_deciding_value_too() -> None:
    paths = [path(f"r{n} s", -n) for n in range(12)]
    count, lookup = QuestionKind("count"), QuestionKind("lookup")
    assert set_paths(count, False, False, [*paths[::-1], path("", 9.0)]) == paths[:10]
    assert set_paths(lookup, False, True, paths) == paths[:10]
    assert set_paths(QuestionKind("difference"), False, False, paths) == paths[:10]
    for kind in ("lookup", "time-bound"):
        assert set_paths(QuestionKind(kind), False, False, paths) == []
    for kind in ("comparison", "yes-no"):
        assert set_paths(QuestionKind(kind), True, True, paths) == []
    some = [path("r s t", 3.0), path("r s", 2.0), path("u", 1.0)]
    for kind, bounded in ((lookup, True), (QuestionKind("superlative"), False), (QuestionKind("ordinal"), False)):
        assert set_paths(kind, bounded, False, some) == [*some, path("r", 2.0)]


# Ways, and the order of a result


def test_the_nodes_behind_all_steps_come_by_the_place_of_the_last_triple_on_their_first_way() -> None:
    triples = [("a", "r", "b"), ("a", "r", "b2"), ("b", "s", "c"), ("b2", "s", "c"), ("a", "t", "c")]
    triples += [("c", "u", Literal('"7"')), ("c", "r", "d"), ("e", "t", "c"), ("e", "v", "z"), ("b", "w", "z")]
    rows = tuple(Triple(*row) for row in triples)
    paths = [path("r s", entity="a"), path("t r", entity="a"), path("t u", entity="a"), path("t ^t", entity="e")]
    paths += [path("r w", entity="a"), path("v", entity="e")]
    for order in (paths, paths[::-1]):
        ends = PathEnds(Subgraph(triples=rows, scores=(1.0,) * len(rows), paths=tuple(order), path_of=()))
        assert list(ends.reached().items()) == [("b", (0,)), ("b2", (1,)), ("c", (0, 2)), ("d", (4, 6)), ("z", (8,))]
        assert ends.reached() is ends.reached()
    assert turns_back((1, 2, 1))
    assert not turns_back((1, 2))


def result(size: int = 4) -> Subgraph:
    rows = tuple(Triple("x", "r", f"{n}") for n in range(size))
    return Subgraph(
        triples=rows, scores=tuple(5.0 - n for n in range(size)), paths=(path("r", 5.0),), path_of=(0,) * size
    )


def test_no_triple_scores_more_than_the_one_before_it_and_the_first_ones_score_most() -> None:
    changed = in_order(result(), [0, 2, 1, 3], 1)
    assert (changed.triples, changed.scores) == (
        tuple(result().triples[i] for i in (0, 2, 1, 3)),
        (5.0, 3.0, 3.0, 2.0),
    )
    assert in_order(result(), [3, 1, 0, 2], 2).scores == (5.0, 5.0, 5.0, 3.0)
    assert in_order(result(), [3, 1, 0, 2], 0).scores == (2.0, 2.0, 2.0, 2.0)


def test_what_is_of_the_class_comes_first_with_the_counts_of_the_others() -> None:
    found = result()
    ends = PathEnds(found)
    assert of_class_first(ends, (), frozenset("2"), 0) is found
    led = of_class_first(ends, ("thing",), frozenset("2"), 7)
    assert [triple.object for triple in led.triples] == ["2", "0", "1", "3"]
    assert led.scores == (5.0, 5.0, 4.0, 2.0)
    assert led.trace["class"] == {"asked": ["thing"], "nodes": 4, "of_class": 1, "behind": 3, "cut": 7}
    none = of_class_first(ends, ("thing",), frozenset("9"), 0)
    assert (none.triples, none.trace["class"]) == (found.triples, {"asked": ["thing"], "nodes": 4, "of_class": 0})


def test_merged_triples_have_the_best_score_of_both_and_their_paths_a_place() -> None:
    new, known = Triple("x", "s", "n"), Triple("x", "r", "1")
    found = merged(result(3), {new: path("s", 9.0), known: path("r", 5.0), Triple("y", "s", "n"): None}, {"a": 1})
    assert [triple.object for triple in found.triples] == ["n", "1", "n", "0", "2"]
    assert found.scores == (9.0, 9.0, 9.0, 5.0, 3.0)
    assert found.paths == (path("s", 9.0), path("r", 5.0))
    assert (found.path_of, found.trace) == ((0, 1, -1, 1, 1), {"a": 1})
    lower = merged(result(2), {new: path("s", 1.0)}, {})
    assert (lower.scores, lower.paths, lower.path_of) == (
        (5.0, 5.0, 4.0),
        (path("r", 5.0), path("s", 1.0)),
        (1, 0, 0),
    )
    unpathed = attrs.evolve(result(1), path_of=(-1,))
    assert merged(unpathed, {new: None}, {}).path_of == (-1, -1)


def test_a_proof_takes_the_places_of_triples_of_the_search_and_fills_columns_that_it_lacks() -> None:
    graph = memory([["x", "r", f"{n}"] for n in range(4)] + [["x", "s", "n"], ["x", "s", "m"]])
    found = attrs.evolve(result(), confidences=(0.5, 0.6, 0.7, 0.8), evidence=(("e",), (), (), ("f",)))
    proof = [(Triple("x", "s", "n"), path("s", 1.0)), (found.triples[3], path("r", 5.0))]
    changed = with_proof(graph, found, proof, Budget(triples=4))
    assert [triple.object for triple in changed.triples] == ["n", "0", "1", "3"]
    assert changed.scores == (5.0, 5.0, 4.0, 2.0)
    assert changed.path_of == (1, 0, 0, 0)
    assert changed.confidences == (1.0, 0.5, 0.6, 0.8)
    assert changed.evidence == ((), ("e",), (), ("f",))
    assert changed.paths == (path("r", 5.0), path("s", 1.0))
    assert len(with_proof(graph, found, proof, Budget(triples=5)).triples) == 5
    assert [t.object for t in with_proof(graph, found, proof, Budget(triples=1)).triples] == ["n"]
    empty = Subgraph(triples=(), scores=(), paths=(), path_of=())
    alone = with_proof(graph, empty, [(Triple("x", "s", "n"), None)], Budget())
    assert (alone.scores, alone.path_of) == ((0.0,), (-1,))


@given(st.lists(st.integers(1, 3), max_size=5), st.lists(st.integers(1, 3), max_size=2), st.integers(1, 30))
def test_a_lead_fits_whole_or_has_half_of_the_budget_for_its_first_rows(
    sizes: list[int], further: list[int], most: int
) -> None:
    numbers = iter(range(99))
    rows, others = (
        [[(Triple("y", "r", f"{next(numbers)}"), None) for _ in range(size)] for size in some]
        for some in (sizes, further)
    )
    expander: Any = OperationsExpander(inner=None, graph=None, scorer=None, budget=Budget(triples=most))
    found = expander._led(result(), QuestionKind("count"), Lead(rows, {"members": 1}, others, before=1))
    if not rows:
        assert found.trace == {"kind": "count"}
        return
    whole = sum(sizes) + sum(further)
    room = whole if whole <= most else max(1, most // 2)
    order = [*rows[:1], *others, *rows[1:]]
    fit = [row for at, row in enumerate(order) if sum(map(len, order[: at + 1])) <= room]
    assert found.triples == (*(triple for row in fit for triple, _ in row), *result().triples)
    assert found.trace == {"kind": "count", "set": {"members": 1, "shown": sum(row in rows for row in fit)}}


def test_no_question_is_expanded_to_nothing() -> None:
    expander: Any = OperationsExpander(inner=None, graph=None, scorer=None)
    assert expander.expand([]) == []


# Drafts


def test_a_draft_of_a_lead_has_what_the_lead_says() -> None:
    assert Draft.of_lead("lookup", Lead()) == Draft("lookup", complete=False)
    facts = {"complete": True, "relation": "r", "counts": [3], "likened": True, "cut": 2}
    draft = Draft.of_lead("count", Lead(facts=facts, answers=["a"], score=1.0, margin=0.5, path=path("r")))
    assert (draft.complete, draft.relation, draft.counts, draft.likened, draft.cut) == (True, "r", [3], True, 2)
    assert draft.choice() == {
        "entity": "x",
        "path": ["r"],
        "relation": "r",
        "counts": [3],
        "cut": 2,
        "score": 1.0,
        "margin": 0.5,
    }
    assert "cut" not in attrs.evolve(draft, cut=0).choice()
    assert "cut" not in attrs.evolve(draft, counts=()).choice()
    assert Draft("lookup", margin=0.5).choice() == {}
    others = [Choice(path("r"), {"b": (), "c": ()})]
    assert attrs.evolve(draft, others=others).ids() == {"a", "b", "c"}


def test_the_margin_of_choices_is_between_the_first_two() -> None:
    some = [Choice(path("r", score), {}) for score in (3.0, 1.0, 0.5)]
    assert margin_of(some) == 2.0
    assert margin_of(some[:1]) == math.inf


# Classes, roles and names

TYPED = Schema(type_relations=("type",), subclass_relations=("above",))


def test_nodes_without_a_class_are_of_none_and_values_are_no_classes() -> None:
    graph = memory([["riga", "type", "city"], ["riga", "type", Literal('"town"')], ["tartu", "near", "riga"]])
    names = GraphNames(graph, TYPED)
    reads = PathReads(graph, 100)
    assert of_class(reads, names, [["lake"]], [["tartu", "nowhere"]]) == [frozenset()]
    assert of_class(reads, names, [["lake"], []], [[], ["riga"]]) == [frozenset()] * 2
    assert of_class(reads, GraphNames(graph, Schema()), [["city"]], [["riga"]]) == [frozenset()]
    assert objects_of(graph, graph.frontiers([["riga"]]), ["type", "near"]) == {"riga": ["city"]}
    assert objects_of(graph, [], ["type"]) == {}


def test_the_rows_of_tables_are_told_among_the_nodes_that_are_asked_about_alone() -> None:
    schema = Schema(relations=("director",), tables={"films": ("director",)})
    reads = PathReads(memory([["heat", "director", "mann"], ["mann", "friend", "scott"]]), 100)
    assert of_rows(reads, schema, [["mann", "scott"]]) == [frozenset()]
    assert of_rows(reads, schema, [["mann", "heat"], []]) == [{"heat"}, frozenset()]
    names = GraphNames(reads.graph, schema)
    assert of_role(reads, names, [["director"], ["director"]], [[], ["heat", "mann"]]) == [frozenset(), {"mann"}]
    assert of_role(reads, names, [["award"], []], [["heat"], ["heat"]]) == [frozenset()] * 2


class WithoutRelations(MemoryGraph):
    """Has no list of its relations, as a server has none, and gives no triples."""

    def triples(self, frontiers: Any, steps: Any, limit: Any) -> Any:
        raise AssertionError("the triples of a relation may be many")


def test_relations_that_call_nodes_by_the_class_are_seen_in_the_steps_of_a_graph_that_does_not_list_them() -> None:
    graph = WithoutRelations(triples=[["heat", "director", "mann"], ["alien", "director", "scott"], ["heat", "r", "x"]])
    graph.open()
    reads, names = PathReads(graph, 9), GraphNames(graph, Schema())
    nodes = [["heat", "mann", "x"], ["alien", "scott"], ["x"]]
    found = of_role(reads, names, [["director"], ["director", "film"], ["director"]], nodes)
    assert found == [{"mann"}, {"scott"}, frozenset()]


@pytest.mark.parametrize("is_listed", [True, False])
def test_of_relations_that_call_nodes_by_a_class_the_longest_names_count(is_listed: bool) -> None:
    rows = [["heat", "a film director", "mann"], ["heat", "director", "mann"], ["ali", "director", "ann"]]
    rows += [["heat", "a film director", "scott"], ["ali", "writer", "roth"]]
    graph = memory(rows) if is_listed else WithoutRelations(triples=rows)
    graph.open()
    schema = Schema(relations=("a film director", "director", "writer")) if is_listed else Schema()
    asked = [["film director"], ["director"], ["writer"]]
    found = of_role(PathReads(graph, 9), GraphNames(graph, schema), asked, [["mann", "scott", "ann", "roth"]] * 3)
    assert found == [{"mann", "scott"}, {"mann", "scott", "ann"}, {"roth"}]


YEARLY = Schema(
    relations=("2005", "2015", "population 2015", "income 2015", "the income", "mayor"), tables={"rents": ("2005",)}
)


@pytest.mark.parametrize(
    ("text", "noun", "relations"),
    [
        ("the population in 2015", "population", {"population 2015"}),
        ("the population in 2005", "population", {"2005"}),
        ("the income in 2015", "income", {"income 2015"}),
        ("how many in 2015", "", {"2015"}),
        ("the mayor in 2015", "mayor", set()),
        ("the population in 1990", "population", set()),
        ("2005 or 2015", "debt", {"2005", "2015"}),
    ],
)
def test_a_noun_and_a_year_name_a_column_together_or_the_year_alone(text: str, noun: str, relations: set[str]) -> None:
    assert GraphNames(memory([]), YEARLY).of_year(text, noun) == relations


def test_what_the_values_of_a_year_are_is_told_by_its_column_or_by_its_table() -> None:
    names = GraphNames(memory([]), YEARLY)
    told = [(noun, one) for noun in ("population", "rents") for one in YEARLY.relations if names.is_measure(noun, one)]
    assert told == [("population", "population 2015"), ("rents", "2005")]


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("towns with many people in 2015", "towns with many people "),
        ("towns in 2005 and in 2015 by area", "towns  and  by area"),
        ("towns founded before 2015", None),
        ("towns that exist since 2015", None),
        ("towns founded in May 2015", None),
        ("towns founded in 1999", None),
        ("towns with over 2015 people", None),
        ("towns with exactly 2015 people", None),
    ],
)
def test_a_year_that_is_a_column_is_no_bound_on_a_date(text: str, left: str | None) -> None:
    assert GraphNames(memory([]), YEARLY).without_years(text) == (text if left is None else left)
    assert GraphNames(memory([]), Schema(relations=("2015", "mayor"))).without_years(text) == text


@attrs.define(eq=False)
class Read(MemoryGraph):
    """Keeps the ids whose labels are read."""

    read: list[str] = attrs.field(factory=list)

    def labels(self, ids: Any) -> Any:
        self.read += ids
        return super().labels(ids)


def test_names_are_kept_until_there_are_too_many_and_new_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graph_names, "_KEPT", 2)
    graph = Read(triples=[["a", "r", "b"]])
    graph.open()
    names = GraphNames(graph, Schema())
    for ids, read in (("ab", "ab"), ("ba", ""), ("c", "c"), ("cab", ""), ("d", "d"), ("da", "a")):
        graph.read.clear()
        assert list(names.labels(ids)) == list(ids)
        assert graph.read == list(read)


def test_a_path_is_cut_where_it_has_more_instances_than_members_are_read() -> None:
    graph = memory([["x", "r", a] for a in "ab"] + [[a, "s", f"{a}{n}"] for a in "ab" for n in range(3)])
    for members, left in ((6, False), (7, False), (5, True), (4, True)):
        [read] = PathReads(graph, members).of([path("r s")])
        assert (len(read.instances), read.cut > 0) == (min(6, members), left)


def test_the_frontiers_of_all_links_are_read_with_the_first_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = memory([["a", "r", "b"]])
    calls: list[list[tuple[str, ...]]] = []
    read = graph.frontiers
    monkeypatch.setattr(graph, "frontiers", lambda rows: (calls.append([tuple(row) for row in rows]), read(rows))[1])
    reads = PathReads(graph, 9, links=["a", "b"])
    for nodes in ([["b", "a"], ["b"]], [["a"]], [["c"]]):
        assert [list(one.ids()) for one in reads.frontiers(nodes)] == [sorted({*row} - {"c"}) for row in nodes]
    assert calls == [[("b", "a"), ("b",), ("a",)], [("c",)]]


# Years of statements

YEARS = [
    ["a", "led", "t", "start", '"1990"^^xsd:gYear'],
    ["b", "led", "t", "rank", '"1"^^xsd:integer'],
    ["c", "led", "t", "start", '"2000"^^xsd:gYear'],
    ["d", "led", "t", "start", '"2001"^^xsd:gYear'],
]


@pytest.mark.parametrize(
    ("year", "order", "held"),
    [(2000, "acbd", 2), (1995, "abcd", 1), (1980, "bacd", -1), (2010, "acdb", 3), (None, "abcd", 0)],
)
def test_statements_of_a_year_are_counted_and_come_first(year: int | None, order: str, held: int) -> None:
    graph = memory([row[:3] for row in YEARS], qualifiers=YEARS)
    triples = tuple(Triple(one, "led", "t") for one in "abcd")
    found = Subgraph(triples=triples, scores=(4.0, 3.0, 2.0, 1.0), paths=(), path_of=(-1,) * 4)
    changed, count = in_year(graph, found, year)
    assert ("".join(triple.subject for triple in changed.triples), count) == (order, held)
    assert changed.scores[: max(0, held)] == (4.0,) * max(0, held) or year is None
    [undated] = [attrs.evolve(found, triples=triples[1:2], scores=(3.0,), path_of=(-1,))]
    assert in_year(graph, undated, year)[1] == 0


def test_dates_are_of_qualifiers_that_begin_or_end_and_of_no_other_value() -> None:
    rows = [
        ["a", "led", "t", "start", '"soon"'],
        ["a", "led", "t", "start end", '"1990"^^xsd:gYear'],
        ["a", "led", "t", "other", '"1991"^^xsd:gYear'],
        ["a", "led", "t", "until", '"1992"^^xsd:gYear'],
        ["a", "led", "t", "since", '"1993"^^xsd:gYear'],
    ]
    graph = memory([["a", "led", "t"]], qualifiers=rows)
    triples = [Triple("a", "led", "t")]
    assert [value.lexical for _, value in dates_of(graph, triples, False)] == ["1993"]
    assert [value.lexical for _, value in dates_of(graph, triples, True)] == ["1992"]


def test_linked_entities_are_a_set_without_a_path() -> None:
    from srtk_framework.values import Link

    linked = NodeSet.of_links(Question("q", "?", (Link("a"), Link("b"), Link("a"))))
    assert (linked.path, list(linked.instances), linked.steps, linked.chain("a")) == (None, ["a", "b"], (), [])
