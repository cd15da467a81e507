from __future__ import annotations

import inspect

import attrs
import numpy as np
import pytest

from srtk_framework.host import port
from srtk_framework.host.discovery import check_class
from srtk_framework.host.ports import port_class
from srtk_framework.roles import ROLES, Expander, KnowledgeGraph, PathScorer, Reader, Role, Supervision, by_value, hook
from srtk_framework.roles.base import hook_names
from srtk_framework.values import (
    Answer,
    Budget,
    DriverError,
    HopState,
    Link,
    NodeSet,
    PluginError,
    Question,
    Step,
    Subgraph,
    Triple,
)

GOLD = Question(
    "1",
    "x",
    (Link("a"),),
    ("gold",),
    ((Step("r"),),),
    (Triple("a", "r", "gold"),),
    gold_links=(Link("a"),),
    extra={"k": 1},
)
BARE = Question("1", "x", (Link("a"),), extra={"k": 1})


@attrs.define
class Short(KnowledgeGraph):
    """Was written when ``steps`` had no ``inverse``, and ``follow`` and ``triples`` no ``limit``."""

    def frontiers(self, node_sets):
        return [NodeSet(nodes) for nodes in node_sets]

    def steps(self, frontiers):
        return [[Step("r")] for _ in frontiers]

    def follow(self, frontiers, steps):
        return [
            NodeSet([f"{node}/{step.relation}" for node in f.ids()]) for f, step in zip(frontiers, steps, strict=True)
        ]

    def triples(self, frontiers, steps):
        return [[Triple(n, s.relation, f"{n}/r") for n in f.ids()] for f, s in zip(frontiers, steps, strict=True)]

    def labels(self, ids):
        return ids

    def find(self, names):
        return [() for _ in names]

    def source(self):
        return "short"


@pytest.mark.parametrize("behind", [lambda graph: graph, lambda graph: port(graph, "knowledge_graph", "short")])
def test_hooks_that_take_fewer_arguments_than_the_role_are_called_with_all_of_them(behind):
    check_class(Short, "knowledge_graph", "short")
    graph = behind(Short())
    start = graph.frontiers([["a"]])
    assert graph.steps(start, True) == graph.steps(start, inverse=False) == [[Step("r")]]
    assert graph.follow(start, [Step("r")], limit=3)[0].ids() == ("a/r",)
    assert graph.neighbourhood(start, 2, Budget()) == [[Triple("a", "r", "a/r"), Triple("a/r", "r", "a/r/r")]]


@attrs.define
class Forgetful(Expander):
    """A hop-wise expander whose hooks the loop calls directly."""

    def start(self, questions):
        return [HopState() for _ in questions]

    def step(self):
        raise AssertionError("no state is left to step")

    def result(self, states):
        return [Subgraph(trace={"done": state.done}) for state in states]


def test_the_hop_loop_calls_a_hook_with_fewer_arguments_directly(monkeypatch):
    monkeypatch.setattr(HopState, "done", True)
    check_class(Forgetful, "expander", "forgetful")
    assert (
        Forgetful().expand([BARE])[0].trace
        == port(Forgetful(), "expander", "f").expand([BARE])[0].trace
        == {"done": True}
    )
    with pytest.raises(TypeError, match="states"):
        Forgetful().step()  # the hook has its argument for every caller


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (
            "self, node_sets, more",
            r"frontiers\(node_sets, more\) takes 'more', which the hook does not have; remove it",
        ),
        ("self, nodesets", r"takes 'nodesets', .* Did you mean 'node_sets'\?"),
        ("self, node_sets, more=1", "takes 'more'"),
        ("self, *node_sets", "must be an ordinary one"),
    ],
)
def test_more_or_misspelt_arguments_are_refused_with_a_sentence(arguments, text):
    scope: dict = {"Short": Short, "attrs": attrs}
    exec(f"@attrs.define\nclass Wrong(Short):\n    def frontiers({arguments}): return []", scope)
    with pytest.raises(PluginError, match=text):
        check_class(scope["Wrong"], "knowledge_graph", "wrong")


def test_arguments_in_another_order_are_refused():
    @attrs.define
    class Turned(Short):
        def follow(self, steps, frontiers, limit):
            return []

    with pytest.raises(PluginError, match=r"in the order of the hook: \(frontiers, steps, limit\)"):
        check_class(Turned, "knowledge_graph", "turned")


@attrs.define
class Row(PathScorer):
    row: object

    def score(self, questions, paths, candidates):
        return [self.row for _ in candidates]


@attrs.define
class Beam(Expander):
    scorer: PathScorer

    def expand(self, questions):
        return [Subgraph(scores=tuple(self.scorer.score(["q"], [()], [[Step("a"), Step("b")]])[0])) for _ in questions]


@pytest.mark.parametrize(
    "row",
    [
        [0.5, float("nan")],
        [0.5, float("inf")],
        [None, 0.5],
        ["0.5", "0.5"],
        None,
        "ab",
        [0.5],
        np.array([0.5, np.nan], np.float32),
        np.array(["a", "b"]),
        [[0.5, 0.5], [0.5, 0.5]],
    ],
)
def test_scores_that_are_not_finite_numbers_blame_the_scorer_not_the_expander(row):
    beam = port(Beam(port(Row(row), "path_scorer", "rows")), "expander", "beam")
    with pytest.raises(DriverError, match=r"^rows: score ") as caught:
        beam.expand([BARE])
    assert caught.value.driver == "rows"


@pytest.mark.parametrize("row", [[1, 0.5], [1e308, 1e308], np.array([1, 2]), np.array([1e38, 3e38], np.float32)])
def test_finite_scores_pass_as_they_are(row):
    assert port(Row(row), "path_scorer", "rows").score(["q"], [()], [[Step("a"), Step("b")]])[0] is row


@attrs.define
class Seeing(Expander):
    seen: list = attrs.field(init=False, factory=list)

    def start(self, questions):
        self.seen += questions
        return [HopState() for _ in questions]

    def step(self, states):
        for state in states:
            state.done = True
        return states

    def result(self, states):
        return [Subgraph() for _ in states]


@attrs.define
class SeeingReader(Reader):
    seen: list = attrs.field(init=False, factory=list)

    def read(self, questions, subgraphs):
        self.seen += questions
        return [Answer("x") for _ in questions]


@attrs.define
class SeeingSupervision(Supervision):
    seen: list = attrs.field(init=False, factory=list)

    def supervise(self, questions):
        self.seen += questions
        return [() for _ in questions]


def test_gold_reaches_a_supervision_but_no_expander_and_no_reader():
    expander, reader, supervision = Seeing(), SeeingReader(), SeeingSupervision()
    port(expander, "expander", "e").expand([GOLD, BARE])
    port(reader, "reader", "r").read([GOLD], [Subgraph()])
    port(supervision, "supervision", "s").supervise([GOLD])
    assert expander.seen == [BARE, BARE]
    assert reader.seen == [BARE]
    assert supervision.seen == [GOLD]


class Ranker(Role):
    role = "ranker"

    @hook(batch="questions", key=lambda question: question.text)
    def rank(self, questions, width):
        """Rank."""

    def note(self):
        """Return the width of the last call; no hook."""
        return "none"


@attrs.define
class ByText(Ranker):
    seen: list = attrs.field(init=False, factory=list)

    def rank(self, questions, width):
        self.seen.append((questions, width))
        return [f"{question.text}{width}" for question in questions]

    def note(self):
        return f"{len(self.seen)} calls"


def test_the_port_of_a_role_of_another_party_is_made_from_its_hooks():
    driver = ByText()
    ranker = port(driver, "ranker", "text")
    assert isinstance(ranker, Ranker)
    assert ranker.rank([GOLD, Question("2", "y"), BARE], width=3) == ["x3", "y3", "x3"]
    assert driver.seen == [([BARE, Question("2", "y")], 3)]
    assert ranker.note() == "1 calls"
    assert (Ranker.plural, Ranker.kit, Ranker.several) == ("rankers", "srtk_framework.testing.ranker", False)


def test_a_port_has_the_signatures_of_its_role():
    for role in ROLES.values():
        for name, spec in hook_names(role).items():
            assert inspect.signature(getattr(port_class(role), name)) == inspect.signature(spec)
    graph = port(Short(), "knowledge_graph", "short")
    start = graph.frontiers(node_sets=[["a"]])
    assert graph.follow(start, limit=None, steps=[Step("r")])[0].ids() == ("a/r",)
    with pytest.raises(TypeError, match="inverse"):
        graph.steps(start)


def test_frontiers_are_told_apart_by_identity_and_asked_about_once():
    seen = []

    @attrs.define
    class Watched(Short):
        def steps(self, frontiers, inverse):
            seen.append(len(frontiers))
            return [[Step(f.ids()[0])] for f in frontiers]

    graph = port(Watched(), "knowledge_graph", "w")
    one, two = graph.frontiers([["a"], ["b"]])
    assert graph.steps([two, one, two], True) == [[Step("b")], [Step("a")], [Step("b")]]
    assert graph.follow([one, two, one, one], [Step("r"), Step("r"), Step("r"), Step("s")], None)[3].ids() == ("a/s",)
    assert seen == [2]


@pytest.mark.parametrize("answer", [5, object(), (i for i in "ab"), {"a": 1.0}, {"a"}, "a"])
def test_an_answer_that_is_no_list_is_refused_by_name(answer):
    @attrs.define
    class Odd(Ranker):
        def rank(self, questions, width):
            return answer

    with pytest.raises(DriverError, match=r"^odd: rank returned \w+, not a list"):
        port(Odd(), "ranker", "odd").rank([BARE], 1)


def test_a_hook_whose_batch_is_no_argument_is_refused_where_it_is_declared():
    with pytest.raises(TypeError, match="has no argument 'texts'"):

        class Wrong(Role):
            role = "wrong"

            @hook(batch="texts", key=by_value)
            def rank(self, questions):
                """Rank."""
