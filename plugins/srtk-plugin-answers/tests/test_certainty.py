"""How certain an answer is, and which answers are refused for a name, a noun or a value that the graph lacks."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import attrs
import pytest
from srtk_plugin_answers.answer_types import value_kind
from srtk_plugin_answers.certainty import Evidence
from srtk_plugin_answers.choices import Choice, other_words
from srtk_plugin_answers.drafts import Draft
from srtk_plugin_answers.graph_names import GraphNames
from srtk_plugin_answers.joined_topics import JoinedTopics
from srtk_plugin_answers.literal_values import is_missing
from srtk_plugin_answers.node_sets import Lead, NodeSet, margin, whole_set
from srtk_plugin_answers.path_reads import PathReads
from srtk_plugin_answers.path_scores import SURE, PathScores, ScoreUnit, is_clear, scores_of_questions, share_of
from srtk_plugin_answers.reader import PathsReader
from srtk_plugin_answers.relation_likeness import RelationLikeness
from srtk_plugin_local.memory import MemoryGraph

from srtk_framework.graph import Instance, facts
from srtk_framework.roles import PathScorer
from srtk_framework.values import Answer, Budget, Link, Literal, Question, RankedPath, Schema, Step, Triple


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


@pytest.mark.parametrize(
    ("evidence", "certainty"),
    [
        (Evidence(), "sure"),
        (Evidence(2.0, 0.9, first=True, classed=True), "sure"),
        (Evidence(0.6, 0.6, first=True), "likely"),
        (Evidence(0.1, 0.2, first=True), "unsure"),
        (Evidence(1.0, 0.5, unused=1), "unsure"),
    ],
)
def test_an_answer_is_sure_likely_or_unsure_by_its_probability(evidence: Evidence, certainty: str) -> None:
    assert evidence.certainty == certainty


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        (Evidence(2.0), Evidence(1.0)),
        (Evidence(), Evidence(1.0)),
        (Evidence(1.0, 0.8), Evidence(1.0, 0.2)),
        (Evidence(1.0), Evidence(1.0, named=False)),
        (Evidence(1.0), Evidence(1.0, unused=1)),
        (Evidence(1.0, classed=True), Evidence(1.0)),
    ],
)
def test_distance_share_words_links_and_class_make_an_answer_probable(better: Evidence, worse: Evidence) -> None:
    assert 0 < worse.probability < better.probability < 1


def test_a_likely_set_of_an_operation_is_complete_where_the_next_is_far() -> None:
    likely = Evidence(1.0, 0.5, operated=True)
    assert (likely.certainty, likely.is_complete) == ("likely", True)
    assert not attrs.evolve(likely, margin=0.9).is_complete
    assert not attrs.evolve(likely, operated=False, first=True).is_complete
    assert Evidence().is_complete


def test_a_share_of_0_or_1_and_a_great_distance_are_no_certainty() -> None:
    assert Evidence(0.0, 0.0).probability > 0
    assert Evidence(100.0, 1.0, classed=True).probability == Evidence(4.0, 1.0, classed=True).probability < 1


def of(score: float, path: str, *members: str) -> NodeSet:
    steps = tuple(map(Step.parse, path.split()))
    some = {one: (Instance((Triple("x", steps[-1].relation, one),), one),) for one in members}
    return NodeSet(RankedPath("x", steps, score), some)


def test_a_set_is_as_far_ahead_as_the_next_set_of_other_members_by_other_relations() -> None:
    best = of(5.0, "borders", "a", "b")
    assert whole_set([best, of(4.5, "^borders", "a"), of(4.4, "near", "a", "b"), of(3.0, "near", "a")]).margin == 2.0
    assert whole_set([best]).margin == math.inf


def test_sets_of_a_type_have_rivals_of_that_type_alone() -> None:
    lead = whole_set([of(5.0, "borders", "a", "b")])
    assert lead.among([of(6.0, "near", "c")], frozenset("ab")).margin == math.inf
    assert lead.among([of(6.0, "near", "c")], frozenset("abc")).margin == -1.0


def test_a_lead_is_as_far_ahead_as_the_next_one_with_another_answer() -> None:
    first = Lead(answers=["a"], score=3.0)
    assert margin(first, [Lead(answers=["a"], score=2.9), Lead(answers=["b"], score=2.0)]) == 1.0
    assert margin(first, [Lead(answers=["a"], score=2.9)]) == math.inf


@pytest.mark.parametrize("text", ["?", "n/a", "k. A.", "TBA", "not yet", Literal('"unknown"')])
def test_some_texts_stand_for_no_value(text: str) -> None:
    assert is_missing(text)


@pytest.mark.parametrize("text", ["no", "0", "Nadia", "-5", "Tba Street"])
def test_other_texts_are_values(text: str) -> None:
    assert not is_missing(text)


def test_a_link_whose_mention_begins_otherwise_than_its_names_is_another_thing() -> None:
    graph = memory(
        [["akanda", "in", "gabon"]], labels={"akanda": "Akanda"}, aliases={"gabon": ["The Gabonese Republic"]}
    )

    def mention(text: str, entity: str, name: str) -> list[str]:
        return other_words(graph, Question("q", text, (Link(entity, start=0, end=len(text), name=name),)))

    assert mention("Wakanda", "akanda", "Akanda") == ["Wakanda"]
    assert mention("Akandaa", "akanda", "Akanda") == []
    assert mention("The Gabonese Republic", "gabon", "Gabon") == []


@pytest.mark.parametrize("text", ["Since when has it been so?", "Until when was it?", "When was it?"])
def test_since_when_asks_for_a_date(text: str) -> None:
    assert value_kind(text) == "date"


LOANS = [
    ["l1", "borrower", "gus"],
    ["l1", "game", "kiln"],
    ["poland", "borders", "germany"],
    ["germany", "pays", "euro"],
]


def confirmed(tables: dict[str, list[str]], *links: str) -> bool:
    scores = Table({("borrow", "borrower"): 9.0, ("pay", "pays"): 9.0})
    topics = JoinedTopics(memory(LOANS), PathScores(scores, ()), 100, tables)
    lead = topics.confirmed(Question("q", "x", tuple(map(Link, links))), "did they borrow or pay it")
    assert lead is not None
    return bool(lead.answers)


def test_cells_of_one_row_are_joined_and_what_a_neighbour_has_is_not() -> None:
    tables = {"loans": ["borrower", "game"]}
    assert confirmed(tables, "gus", "kiln")
    assert not confirmed({}, "gus", "kiln")
    assert not confirmed(tables, "poland", "euro")
    assert not confirmed({"loans": ["borders", "pays"]}, "poland", "euro")


LAND = [
    ["land", "population", Literal('"7"^^xsd:integer')],
    ["land", "money", "crown"],
    ["land", "largest city", "town"],
    ["land", "open", Literal('"yes"')],
    ["land", "motto", Literal('"n/a"')],
    ["land", "flag", "lion"],
]


def read(
    text: str,
    *paths: tuple[str, float],
    scores: dict[tuple[str, str], float],
    scale: float | None = None,
    triples: Any = LAND,
) -> Answer:
    graph = memory(triples)
    ranked = [RankedPath("land", tuple(map(Step, path.split("/"))), score) for path, score in paths]
    [found] = facts(graph, [ranked], Budget())
    reader = PathsReader(graph, Table(scores), scale=scale)
    reader.open()
    start = text.index("Land")
    [answer] = reader.read([Question("q", text, (Link("land", start=start, end=start + 4, name="Land"),))], [found])
    return answer


OWN = {(name, name): 10.0 for name in ("population", "money", "largest city", "open")}


def test_a_noun_that_is_more_like_another_relation_is_refused_where_no_path_is_ahead() -> None:
    scores = {**OWN, ("gdp", "population"): 4.6, ("gdp", "money"): 4.9}
    near, far = ("money", 5.9), ("money", 4.0)
    assert "'gdp'" in read("gdp of Land", ("population", 6.0), near, scores=scores).missing
    assert read("gdp of Land", ("population", 6.0), far, scores=scores).enough
    scores |= {("gdp", "population"): 4.5, ("gdp", "money"): 4.0}
    assert read("gdp of Land", ("population", 6.0), near, scores=scores).enough


@pytest.mark.parametrize(("mayor", "money", "enough"), [(4.0, 3.9, True), (4.0, 4.1, False), (5.0, 5.1, True)])
def test_a_noun_is_doubted_by_the_last_step_of_a_path(mayor: float, money: float, enough: bool) -> None:
    scores = {**OWN, ("mayor", "mayor"): 10.0, ("chief", "mayor"): mayor, ("chief", "money"): money}
    rows = [*LAND, ["town", "mayor", "ann"]]
    answer = read("chief of Land", ("largest city/mayor", 6.0), ("money", 5.9), scores=scores, triples=rows)
    assert (answer.enough, answer.entities) == (enough, ("ann",) if enough else ())


@pytest.mark.parametrize(("value", "itself"), [(9.9, True), (10.0, False), (None, True)])
def test_a_relation_orders_by_itself_where_no_value_is_as_like_the_order(value: float | None, itself: bool) -> None:
    scores = {**OWN, ("largest city", "population"): value or 0.0}
    lead = Lead(facts={} if value is None else {"relation": "population"})
    one: Any = SimpleNamespace(lead=lead, scores=PathScores(Table(scores), ()))
    likeness = RelationLikeness(GraphNames(memory(LAND), Schema()))
    question = Question("q", "What is the largest city in Land?")
    for path, orders in (("largest city", itself), ("money", False)):
        best = Choice(RankedPath("land", (Step(path),), 1.0), {})
        assert likeness.orders_itself(question, one, best) is orders


def test_what_a_relation_that_orders_does_not_order_is_refused() -> None:
    scores = {**OWN, ("mountain", "largest city"): 3.5, ("metropolis", "largest city"): 5.0}
    path = ("largest city", 6.0)
    assert "'mountain'" in read("What is the highest mountain in Land?", path, scores=scores).missing
    assert read("What is the biggest metropolis in Land?", path, scores=scores).entities == ("town",)


def test_yes_of_a_relation_that_the_question_neither_names_nor_is_like_is_refused() -> None:
    assert not read("Is Land married?", ("open", 2.0), scores=OWN).enough
    assert read("Is Land accessible?", ("open", 2.0), scores=OWN | {("accessible", "open"): 6.0}).truth is True
    assert read("Is Land open?", ("open", 2.0), scores=OWN).truth is True


def test_a_text_that_stands_for_no_value_is_no_answer() -> None:
    assert "'n/a'" in read("What is the motto of Land?", ("motto", 6.0), scores=OWN).missing


def test_a_linked_name_that_the_proof_lacks_leaves_an_answer_unsure() -> None:
    graph = memory([*LAND, ["crown", "kind", "coin"]])
    [found] = facts(graph, [[RankedPath("land", (Step("money"),), 9.0)]], Budget())
    reader = PathsReader(graph, Table(OWN))
    reader.open()
    text = "What money has Land with elsa?"
    land = Link("land", start=15, end=19, name="Land")
    elsa = Link("elsa", start=25, end=29, name="elsa")
    for links, certainty in (((land,), "sure"), ((land, elsa), "unsure")):
        [answer] = reader.read([Question("q", text, links)], [found])
        assert (answer.entities, answer.certainty) == (("crown",), certainty)


def test_links_that_the_reader_adds_and_what_decided_are_in_the_trace() -> None:
    graph = memory([*LAND, ["sea", "money", "crown"], ["sea", "population", Literal('"9"^^xsd:integer')]])
    money = Step("money")
    back = Step("money", True)
    paths = [RankedPath("land", (money, back), 6.0), RankedPath("land", (Step("largest city"),), 2.0)]
    [found] = facts(graph, [paths], Budget())
    reader = PathsReader(graph, Table({**OWN, ("money", "money"): 6.0}))
    reader.open()
    text = "Which money has Land and the sea?"
    [answer] = reader.read([Question("q", text, (Link("land", start=16, end=20, name="Land"),))], [found])
    assert answer.trace["links"] == [{"entity": "sea", "name": "sea"}]
    [plain] = reader.read([Question("q", "What money has Land?", (Link("land", start=15, end=19),))], [found])
    assert "links" not in plain.trace
    assert plain.trace["choice"] == {"entity": "land", "path": ["money", "^money"], "score": 6.0, "margin": 4.0}


@pytest.mark.parametrize(
    ("draft", "choice"),
    [
        (Draft("lookup"), {}),
        (
            Draft("superlative", path=RankedPath("x", (Step("a", True),), 1.0), relation="b", score=2.0, margin=0.5),
            {"entity": "x", "path": ["^a"], "relation": "b", "score": 2.0, "margin": 0.5},
        ),
        (Draft("comparison", relation="b", score=2.0), {"relation": "b", "score": 2.0}),
    ],
)
def test_a_choice_is_written_with_what_decided_it(draft: Draft, choice: dict[str, Any]) -> None:
    assert draft.choice() == choice


def test_the_probability_is_the_logistic_sum_of_the_weights() -> None:
    # .61 + .74 + .03 + .61 ln 4 - .92; and .61 - 1.62 - .8 + .94 with a part of the question unused.
    near = Evidence(margin=1.0, share=0.8, first=True)
    assert near.probability == pytest.approx(1 / (1 + math.exp(-(0.46 + 0.61 * math.log(4)))))
    unused = Evidence(share=0.9, named=False, unused=2, operated=True, classed=True)
    assert unused.probability == pytest.approx(1 / (1 + math.exp(0.87)))
    assert Evidence(named=False).probability == pytest.approx(1 / (1 + math.exp(-(0.61 + 1.52))))


@pytest.mark.parametrize(
    ("evidence", "probability"),
    [
        (Evidence(), 1 / (1 + math.exp(-(0.61 + 1.52 + 0.03)))),
        (Evidence(margin=1.0), 1 / (1 + math.exp(-(0.61 + 0.74 + 0.03)))),
        (Evidence(margin=9.0, first=True), 1 / (1 + math.exp(-(0.61 + 4 * 0.74 + 0.03 - 0.92)))),
        (Evidence(named=False, classed=True), 1 / (1 + math.exp(-(0.61 + 1.52 + 0.94)))),
        (Evidence(unused=2, share=0.9), 1 / (1 + math.exp(-(0.61 + 0.03 - 1.62)))),
        (Evidence(operated=True), 1 / (1 + math.exp(-(0.61 + 1.52 + 0.03 - 0.8)))),
        (Evidence(share=0.8), 1 / (1 + math.exp(-(0.61 + 1.52 + 0.03 + 0.61 * math.log(4))))),
        (Evidence(likened=True), 0.69),
    ],
)
def test_the_probability_of_some_evidence_is_as_worked_out_by_hand(evidence: Evidence, probability: float) -> None:
    assert evidence.probability == pytest.approx(probability)


@pytest.mark.parametrize(
    ("text", "path", "scores", "enough"),
    [
        # .45 of the likeness of a relation with its own name is enough for a noun that a single step is to have,
        ("gdp of Land", ("population", 6.0), {("population", "population"): 1.0, ("gdp", "population"): 0.45}, True),
        ("gdp of Land", ("population", 6.0), {("population", "population"): 1.0, ("gdp", "population"): 0.44}, False),
        # or a path as near to the whole question as 5;
        ("gdp of dear Land", ("population", 6.0), {("dear", "population"): 5.0}, True),
        ("gdp of dear Land", ("population", 6.0), {("dear", "population"): 4.9}, False),
        # where no noun names the relation, .08 of it for the whole question.
        ("Where is Land?", ("money", 6.0), {("Where", "money"): 0.8}, True),
        ("Where is Land?", ("money", 6.0), {("Where", "money"): 0.7}, False),
        ("What is the name of Land?", ("money", 6.0), {("Land", "money"): 0.7}, False),
        # What is ordered must be as like to a relation that orders as .4,
        ("What is the highest mountain in Land?", ("largest city", 6.0), {("mountain", "largest city"): 4.0}, True),
        ("What is the highest mountain in Land?", ("largest city", 6.0), {("mountain", "largest city"): 3.9}, False),
        # and the question to one that it answers with yes as 5.
        ("Is Land accessible?", ("open", 2.0), {("accessible", "open"): 5.0}, True),
        ("Is Land accessible?", ("open", 2.0), {("accessible", "open"): 4.9}, False),
        # A relation that is not like its own name cannot be judged.
        ("anthem of Land", ("flag", 6.0), {}, True),
        ("Where is Land?", ("flag", 6.0), {("Where", "flag"): -1.0}, True),
    ],
)
def test_a_relation_must_be_so_like_to_what_is_asked(
    text: str, path: tuple[str, float], scores: dict[tuple[str, str], float], enough: bool
) -> None:
    assert read(text, path, scores=OWN | scores, scale=1.0).enough is enough


@pytest.mark.parametrize(
    ("like", "apart", "enough"), [(5.0, 0.4, True), (4.9, 0.4, False), (4.9, 0.5, True), (3.2, 0.5, False)]
)
def test_a_noun_that_is_more_like_another_relation_must_be_half_as_like_to_the_best_unless_it_is_ahead(
    like: float, apart: float, enough: bool
) -> None:
    scores = {**OWN, ("gdp", "population"): like, ("gdp", "money"): 6.0}
    answer = read("gdp of Land", ("population", 6.0), ("money", 6.0 - apart), scores=scores, scale=1.0)
    assert answer.enough is enough


def test_a_likeness_of_a_path_is_a_share_of_all_and_half_where_it_is_none_of_them() -> None:
    best, other, none = (
        RankedPath("x", tuple(map(Step, steps)), score) for steps, score in (("a", 2), ("b", 1), ("", 9))
    )
    assert share_of(best, [none, best, other]) == pytest.approx(1 / (1 + math.exp(-1)))
    assert share_of(other, [none, best, other]) == pytest.approx(math.exp(-1) / (1 + math.exp(-1)))
    assert share_of(best, [other]) == share_of(best, []) == share_of(none, [none]) == 0.5


def test_a_search_is_surely_right_from_4_6_units_on() -> None:
    best = RankedPath("x", (Step("a"),), 4.6)
    for score, sure in ((0.0, True), (0.1, False)):
        assert is_clear(best, [RankedPath("x", (Step("b"),), score), best], SURE) is sure


def test_a_path_scores_the_sum_of_its_steps_less_the_lift_of_the_search() -> None:
    scores = Table({("q", "a"): 2.0, ("q", "b"): 3.0})
    paths = [(Step("a"),), (Step("a"), Step("b")), ()]
    assert PathScores(scores, ()).of(paths, "q") == [2.0, 5.0, 0.0]
    measured = PathScores(scores, (), ScoreUnit(2.0, measured=True, lift=0.5))
    assert measured.of(paths, "q") == [0.5, 2.0, -0.5]
    assert PathScores(scores, ("n*", "x")).without_noise([Step("a"), Step("no"), Step("x")]) == [Step("a")]


def test_the_unit_of_a_question_is_measured_by_the_steps_of_its_links_or_by_all_relations() -> None:
    graph = memory([["x", "a", "y"], ["x", "b", "y"], ["y", "c", "z"], ["w", "d", "x"]])
    scorer = Table({("q", one): score for one, score in (("a", 1.0), ("b", 3.0), ("c", 5.0), ("d", 9.0), ("END", 0.5))})
    questions = [Question("1", "q", (Link("x"), Link("x"))), Question("2", "q"), Question("3", "q", (Link("z"),))]

    def lifts(schema: Schema, scale: float | None = None, noise: tuple[str, ...] = ()) -> list[float]:
        units = scores_of_questions(
            PathScores(scorer, noise), scale, PathReads(graph, 9), schema, questions, ["q"] * len(questions)
        )
        return [one.unit.lift * one.unit.size for one in units]

    best = Schema(relations=("a", "b", "c"))
    assert lifts(best)[:2] == pytest.approx([9.0, 5.0])  # also against its direction
    assert lifts(best, noise=("d", "c"))[:2] == pytest.approx([3.0, 3.0])
    assert lifts(best, 2.0) == [0.0] * 3


def test_each_step_is_scored_behind_the_steps_before_it_once() -> None:
    asked = []

    def score(texts: Any, paths: Any, candidates: Any) -> Any:
        asked.extend((path, *row) for path, row in zip(paths, candidates, strict=True))
        return [[float(len(path) + 1)] for path in paths]

    scorer: Any = SimpleNamespace(score=score)
    one, two, three = Step("a"), Step("b", True), Step("c")
    assert PathScores(scorer, ()).of([(one, two, three), (one, three)], "q") == [6.0, 3.0]
    assert asked == [((), one), ((one,), two), ((one, two), three), ((one,), three)]
