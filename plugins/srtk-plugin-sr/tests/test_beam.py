"""The beam search: worked by hand under a scorer of given numbers, and its laws on random graphs."""

import math
from types import SimpleNamespace

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from srtk_plugin_local.memory import MemoryGraph
from srtk_plugin_sr.beam import BeamExpander, _in_units
from srtk_plugin_sr.search_settings import SearchBlock

from srtk_framework.roles import PLAIN, PathScorer, SearchSettings
from srtk_framework.values import END, Budget, Link, Question, RankedPath, SettingsError, Step, rounded

FAMILY = [
    ["ann", "child", "bob"],
    ["ann", "child", "cid"],
    ["bob", "job", "baker"],
    ["cid", "job", "smith"],
    ["ann", "job", "judge"],
    ["bob", "born", "riga"],
    ["bob", "wikiPage", "page"],
]
CHILD, JOB, BORN = Step("child"), Step("job"), Step("born")


@attrs.define(eq=False)
class Given(PathScorer):
    """Score steps by a table of (path, step), then of steps, else -9; keep what was asked; they add up as they are."""

    table: dict
    end: bool = False
    asked: list = attrs.field(factory=list)

    def score(self, questions, paths, candidates):
        self.asked.append((list(questions), list(paths), [list(row) for row in candidates]))
        return [
            [self.table.get((path, step), self.table.get(step, -9.0)) for step in row]
            for path, row in zip(paths, candidates, strict=True)
        ]

    def scores_end(self):
        return self.end

    def search_settings(self):
        return PLAIN


@attrs.define(eq=False)
class Counting(MemoryGraph):
    """Count calls by method."""

    calls: list = attrs.field(factory=list)

    def steps(self, frontiers, inverse):
        self.calls.append("steps")
        return super().steps(frontiers, inverse)

    def follow(self, frontiers, steps, limit):
        self.calls.append("follow")
        return super().follow(frontiers, steps, limit)


SEARCH = {field.name for field in attrs.fields(SearchBlock)}


def beam(triples, table, graph=None, **changes):
    scorer = table if isinstance(table, PathScorer) else Given(table)
    block = {name: changes.pop(name) for name in list(changes) if name in SEARCH}
    changes = {"inverse": False, "search": SearchBlock(**block), **changes}
    made = BeamExpander(graph=graph or MemoryGraph(triples=triples), scorer=scorer, **changes)
    made.open()
    return made


def ask(*entities, text="Who?"):
    return Question("q", text, tuple(Link(entity) for entity in entities))


@attrs.define(eq=False)
class Suiting(Given):
    """Also say which settings of a search suit the scores; they may change, as by a training."""

    suits: SearchSettings | None = PLAIN

    def search_settings(self):
        return self.suits


HAND = {CHILD: -1.0, JOB: -2.0, ((CHILD,), JOB): -0.5, ((CHILD,), BORN): -3.0, END: -1.5}


def test_settings_that_are_left_open_are_those_that_suit_the_scorer_at_the_time():
    scorer = Suiting(HAND, suits=attrs.evolve(PLAIN, mention="someone", margin=1.0))
    search = beam(FAMILY, scorer)
    asked = ask("ann", text="Who is ann?")
    assert [path.steps for path in search.expand([asked])[0].paths] == [(CHILD, JOB), (CHILD,)]
    scorer.suits = attrs.evolve(PLAIN, margin=0.5)
    assert [path.steps for path in search.expand([asked])[0].paths] == [(CHILD, JOB)]


def test_the_depth_that_is_left_open_suits_the_scorer():
    line = [("a", "p", "b"), ("b", "p", "c"), ("c", "p", "d"), ("d", "p", "e")]
    scorer = Suiting({Step("p"): -1.0, END: -1.0}, suits=attrs.evolve(PLAIN, depth=3))
    search = beam(line, scorer)
    assert max(len(path.steps) for path in search.expand([ask("a")])[0].paths) == 3
    assert search.settings_in_force()["depth"] == 3
    scorer.suits = PLAIN
    assert max(len(path.steps) for path in search.expand([ask("a")])[0].paths) == 2
    assert max(len(path.steps) for path in beam(line, scorer, depth=4).expand([ask("a")])[0].paths) == 4


def test_a_depth_that_is_given_makes_long_paths_cost_nothing_more():
    line = [("a", "p", "b"), ("b", "p", "c"), ("c", "p", "d")]
    scorer = Suiting({Step("p"): -1.0, END: 0.0}, suits=attrs.evolve(PLAIN, depth=3, long_cost=0.5, long_width=4))
    left_open, known = beam(line, scorer), beam(line, scorer, depth=3)
    assert [left_open.settings_in_force()["search"][name] for name in ("long_cost", "long_width")] == [0.5, 4]
    assert [known.settings_in_force()["search"][name] for name in ("long_cost", "long_width")] == [0.0, None]
    assert min(path.score for path in left_open.expand([ask("a")])[0].paths) == -3.5
    assert min(path.score for path in known.expand([ask("a")])[0].paths) == -3.0


def test_each_step_beyond_the_second_is_charged_for():
    line = [("a", "p", "b"), ("b", "p", "c"), ("c", "p", "d"), ("d", "p", "e")]
    found = beam(line, {Step("p"): -1.0, END: 0.0}, depth=4, long_cost=0.25).expand([ask("a")])[0]
    assert {len(path.steps): path.score for path in found.paths} == {1: -1.0, 2: -2.0, 3: -3.25, 4: -4.5}


FORK = [("a", "good", "b"), ("a", "bad", "c"), ("b", "p", "d"), ("c", "p", "e"), ("d", "q", "f"), ("e", "q", "g")]
FORK_SCORES = {Step("good"): -1.0, Step("bad"): -2.0, Step("p"): -0.1, Step("q"): -0.1, END: -0.2}


def test_only_the_best_paths_are_extended_beyond_the_second_step_and_the_others_end():
    paths = {path.steps for path in beam(FORK, FORK_SCORES, depth=3, long_width=1).expand([ask("a")])[0].paths}
    assert (Step("good"), Step("p"), Step("q")) in paths
    assert (Step("bad"), Step("p")) in paths
    assert (Step("bad"), Step("p"), Step("q")) not in paths


def test_the_best_paths_of_each_topic_are_extended_beyond_the_second_step():
    other = [(f"{one}2", relation, f"{two}2") for one, relation, two in FORK]
    scores = {**FORK_SCORES, Step("good"): -5.0}
    found = beam([*FORK, *other], scores, depth=3, long_width=1).expand([ask("a", "a2")])[0]
    assert {path.entity for path in found.paths if len(path.steps) == 3} == {"a", "a2"}


def test_a_choice_names_the_long_width_that_ends_a_path():
    driver = beam(FORK, FORK_SCORES, depth=3, long_width=1)
    states = driver.start([ask("a")])
    for _ in range(2):
        states = driver.step(states)
    why = {steps: reason for steps, _, reason in explained(driver.choices(states)[0])}
    assert (why["good/p/q"], why["bad/p/q"]) == ("", "expander.search.long_width")


def test_settings_that_are_given_stand_whatever_suits_the_scorer():
    scorer = Suiting(
        HAND, suits=attrs.evolve(PLAIN, mention="someone", margin=0.5, hop_margin=0.5, order="nodes", fan_cost=9.0)
    )
    given_ = beam(FAMILY, scorer, mention=None, margin=None, hop_margin=None, order="paths", fan_cost=0.0)
    assert given_.expand([ask("ann")])[0].paths == beam(FAMILY, HAND).expand([ask("ann")])[0].paths


@pytest.mark.parametrize("suits", [{"price": 0.1}])
def test_the_reading_ends_where_suits_the_scorer_unless_the_budget_says_where(suits):
    def read(**budget):
        scorer = Suiting(HAND, suits=attrs.evolve(PLAIN, order="nodes", **suits))
        return beam(FAMILY, scorer, budget=Budget(**budget)).expand([ask("ann")])[0]

    few = read()
    assert few.trace["cut"] == {next(iter(suits)): 7 - len(few.triples)}
    assert read(**suits) == few
    for whole in ({"recall": 1.0}, {"price": 0}):
        assert len(read(**whole).triples) == 7


def test_a_search_by_hand():
    # Hop 1: child -1, job -2. Hop 2: child, job -1.5; child, END -2.5; child, born -4; job ends for END's -1.5.
    found = beam(FAMILY, HAND).expand([ask("ann")])[0]
    assert [(path.steps, path.score) for path in found.paths] == [
        ((CHILD, JOB), -1.5),
        ((CHILD,), -2.5),
        ((JOB,), -3.5),
        ((CHILD, BORN), -4.0),
        ((CHILD, Step("wikiPage")), -10.0),
    ]
    assert found.triples == (
        ("ann", "child", "bob"),
        ("bob", "job", "baker"),
        ("ann", "child", "cid"),
        ("cid", "job", "smith"),
        ("ann", "job", "judge"),
        ("bob", "born", "riga"),
        ("bob", "wikiPage", "page"),
    )
    assert found.scores == (-1.5, -1.5, -1.5, -1.5, -3.5, -4.0, -10.0)


def test_the_beam_keeps_its_width_and_the_result_its_paths():
    found = beam(FAMILY, HAND, width=2, paths=1).expand([ask("ann")])[0]
    assert [path.steps for path in found.paths] == [(CHILD, JOB)]
    assert found.trace["paths"] == 1


def test_end_counts_in_the_width_of_its_hop():
    found = beam(FAMILY, HAND, width=2).expand([ask("ann")])[0]
    assert [path.steps for path in found.paths] == [(CHILD, JOB), (CHILD,)]


def test_noise_of_the_graph_is_never_offered():
    scorer = Given(HAND)
    beam([], scorer, graph=MemoryGraph(triples=FAMILY, noise=["wiki*"])).expand([ask("ann")])
    offered = {step for _, _, rows in scorer.asked for row in rows for step in row}
    assert offered == {CHILD, JOB, BORN, END}


def test_end_is_offered_from_the_second_hop_on_or_from_the_first():
    later, first = Given(HAND), Given(HAND)
    beam(FAMILY, later).expand([ask("ann")])
    beam(FAMILY, first, variant="srtk").expand([ask("ann")])
    assert [END in rows[0] for _, _, rows in later.asked] == [False, True]
    assert [END in rows[0] for _, _, rows in first.asked] == [True, True]


def test_an_open_path_ends_for_free_where_the_scorer_says_so_and_else_for_its_score():
    free = beam(FAMILY, Given(HAND), depth=1).expand([ask("ann")])[0]
    scored = beam(FAMILY, Given(HAND, end=True), depth=1).expand([ask("ann")])[0]
    assert [path.score for path in free.paths] == [-1.0, -2.0]
    assert [path.score for path in scored.paths] == [-2.5, -3.5]


def test_srtk_stops_when_the_beam_is_full_of_ended_paths():
    table = {END: -0.1, CHILD: -1.0, JOB: -1.0}
    full = beam(FAMILY, table, width=1, depth=3, variant="srtk").expand([ask("ann")])[0]
    assert [path.steps for path in full.paths] == [()]
    assert full.trace["hops"] == 1


def test_each_hop_is_one_call_to_graph_and_scorer_for_the_whole_batch():
    graph, scorer = Counting(triples=FAMILY), Given(HAND)
    driver = beam([], scorer, graph=graph)
    states = driver.start([ask("ann"), ask("bob"), ask("ann", "bob")])
    states = driver.step(states)
    assert graph.calls == ["steps", "follow"]
    assert len(scorer.asked) == 1
    assert all(not state.done for state in states)
    states = driver.step(states)
    assert graph.calls == ["steps", "follow", "steps"]
    assert len(scorer.asked) == 2
    assert all(state.done for state in states)


def test_states_are_left_as_they_were():
    driver = beam(FAMILY, HAND)
    before = driver.start([ask("ann")])
    once = driver.result(driver.step(before))
    assert before[0].depth == 0
    assert driver.result(driver.step(before)) == once


def test_each_topic_keeps_its_best_paths_in_one_ranking():
    found = beam(FAMILY, {JOB: -1.0, CHILD: -2.0}, depth=1, width=1).expand([ask("bob", "ann")])[0]
    assert [(path.entity, path.steps) for path in found.paths] == [("ann", (JOB,)), ("bob", (JOB,))]


def test_alternatives_for_one_mention_share_a_width():
    question = Question("q", "ann", (Link("ann", 0.6, 0, 3), Link("bob", 0.4, 0, 3)))
    found = beam(FAMILY, {JOB: -1.0, CHILD: -2.0}, depth=1, width=1).expand([question])[0]
    assert [path.entity for path in found.paths] == ["ann"]


def test_a_margin_is_from_the_best_path_of_the_topic():
    table = {JOB: -1.0, CHILD: -2.0}
    question = Question("q", "ann bob", (Link("ann", 1.0, 0, 3), Link("bob", 1.0, 4, 7)))
    ranked = beam(FAMILY, table, depth=1, width=9, margin=0.5).expand([question])[0].paths
    assert {path.entity for path in ranked} == {"ann", "bob"}
    assert {path.steps for path in ranked} == {(JOB,)}


def test_the_weight_of_a_link_is_in_the_score_of_its_paths():
    question = Question("q", "ann", (Link("ann", 0.5, 0, 3), Link("bob", 0.5, 0, 3)))
    found = beam(FAMILY, {JOB: -1.0}, depth=1, width=1).expand([question])[0]
    assert found.paths == (RankedPath("ann", (JOB,), -1.6931),)


def test_the_scorer_may_read_the_question_without_the_mention():
    scorer = Given(HAND)
    question = Question("q", "Who is  Ann's child?", (Link("ann", 1.0, 8, 11), Link("bob", 1.0, 14, 19)))
    beam(FAMILY, scorer, mention="X").expand([question])
    assert scorer.asked[0][0] == ["Who is X's child?", "Who is Ann's X?"]


def test_a_mention_without_span_is_found_by_the_label():
    scorer = Given(HAND)
    graph = MemoryGraph(triples=FAMILY, labels={"ann": "Ann_Lee"})
    beam([], scorer, graph=graph, mention="").expand([ask("ann", text="Who is ann lee the mother of?")])
    assert scorer.asked[0][0] == ["Who is the mother of?"]


@pytest.mark.parametrize(
    ("question", "reason"),
    [
        (ask(), "the question has no link"),
        (ask("nobody"), "no linked entity is in the graph"),
        (ask("page"), "no step leaves a linked entity"),
    ],
)
def test_an_empty_result_says_why(question, reason):
    found = beam(FAMILY, HAND).expand([question])[0]
    assert found.triples == ()
    assert found.trace["reason"] == reason


def test_the_trace_counts_links_hops_and_scored_steps():
    driver = beam(FAMILY, HAND)
    hop_1, hop_2 = 2, 3 + 2  # child and job; then job, born, wikiPage and END after child, and END after job
    assert driver.expand([ask("ann")])[0].trace == {"links": 1, "hops": 2, "scored": hop_1 + hop_2, "paths": 5}
    assert driver.expand([ask()])[0].trace == {
        "links": 0, "hops": 0, "scored": 0, "paths": 0, "reason": "the question has no link",
    }  # fmt: skip
    assert driver.expand([ask("nobody", "ann", "none")])[0].trace["unknown"] == 2


def test_each_question_of_a_batch_counts_its_own_steps():
    driver, questions = beam(FAMILY, HAND), [ask("bob"), ask("ann"), ask(), ask("ann", "bob")]
    assert [found.trace for found in driver.expand(questions)] == [
        driver.expand([question])[0].trace for question in questions
    ]


def test_the_settings_of_a_recipe_that_names_none():
    wide = [["x", f"r{i:02}", f"y{i:02}"] for i in range(12)] + [["y00", "s", "z"], ["z", "t", "end"], ["w", "u", "x"]]
    table = {Step("u", True): -1.0, Step("r00"): -1.0, Step("s"): -1.0, Step("t"): 9.0}
    driver = BeamExpander(MemoryGraph(triples=wide), Given(table))
    driver.open()
    found = driver.expand([ask("x")])[0]
    assert len(found.paths) == 15
    assert max(len(path.steps) for path in found.paths) == 2
    assert any(path.steps[0] == Step("u", True) for path in found.paths)
    assert found.trace["hops"] == 2


CHAIN = [[f"n{i}", "next", f"n{i + 1}"] for i in range(6)]


def test_as_many_ended_paths_as_the_width_stop_the_search_only_where_that_is_set():
    table = {Step("next"): -0.2, END: -0.1}
    hops = [
        beam(CHAIN, table, width=2, depth=5, **settings).expand([ask("n0")])[0].trace["hops"]
        for settings in ({}, {"variant": "default"}, {"variant": "srtk"})
    ]
    assert hops == [5, 5, 2]


def test_only_the_documented_settings_can_be_given_and_are_shown():
    driver = beam(FAMILY, HAND)
    assert not [name for name in ("noise", "clear", "end_is_scored") if f"_{name}=" in repr(driver)]
    for name in ("noise", "clear", "end_is_scored"):
        with pytest.raises(TypeError, match="unexpected keyword argument"):
            BeamExpander(MemoryGraph(), Given({}), **{name: ()})


def test_a_beam_equals_itself_alone():
    graph, scorer = MemoryGraph(triples=FAMILY), Given(HAND)
    one, same = BeamExpander(graph, scorer), BeamExpander(graph, scorer)
    assert one != same
    assert len({one, same}) == 2


def test_entities_that_the_graph_lacks_are_counted():
    assert beam(FAMILY, HAND).expand([ask("ann", "nobody")])[0].trace["unknown"] == 1


STAR = [["hub", "has", f"n{i}"] for i in range(6)] + [[f"n{i}", "is", f"m{i}"] for i in range(6)]
ON = {Step("has"): -1.0, ((Step("has"),), Step("is")): 0.0}


def test_a_frontier_above_the_budget_is_cut_and_counted():
    found = beam(STAR, ON, budget=Budget(nodes=2)).expand([ask("hub")])[0]
    assert {triple.object for triple in found.triples if triple.relation == "is"} == {"m0", "m1"}
    assert found.trace["cut"] == {"nodes": 4}


def test_a_frontier_above_the_budget_drops_its_path_as_in_srtk():
    found = beam(STAR, ON, budget=Budget(nodes=2), variant="srtk").expand([ask("hub")])[0]
    assert [path.steps for path in found.paths] == [()]
    assert found.trace["cut"] == {"nodes": 6}


def test_the_hub_limit_is_obeyed_and_counted():
    found = beam(STAR, ON, budget=Budget(hub=2)).expand([ask("hub")])[0]
    assert {triple.object for triple in found.triples if triple.relation == "is"} == {"m0", "m1"}
    assert found.trace["cut"] == {"hub": 4}


def test_an_unknown_order_is_refused():
    with pytest.raises(ValueError, match="order must be paths or nodes, not 'best'"):
        beam(FAMILY, HAND, order="best")


@pytest.mark.parametrize("name", ["width", "depth", "paths"])
def test_a_number_below_one_is_refused(name):
    with pytest.raises(SettingsError, match=f"{name} must be at least 1, not 0"):
        beam(FAMILY, HAND, **{name: 0})


def test_a_background_of_nought_is_refused():
    with pytest.raises(ValueError, match="topic_background must be above 0, not 0"):
        beam(FAMILY, {}, topic_background=0)


def test_the_background_of_topics_is_that_of_the_scorer_unless_given():
    asked = ask("judge", "baker")
    facts = [*FAMILY, ["bob", "job", "judge"]]

    def found(suits=0.05, **changes):
        scorer = Suiting({}, suits=attrs.evolve(PLAIN, order="nodes", topic_background=suits))
        return beam(facts, scorer, inverse=True, **changes).expand([asked])[0]

    assert found(0.01).scores == found(topic_background=0.01).scores != found().scores
    assert found(None) == found(topic_background=None)
    assert found().joins
    assert not found(None).joins


def test_an_unknown_variant_is_refused():
    with pytest.raises(ValueError, match="variant must be default or srtk, not 'keep'"):
        beam(FAMILY, HAND, variant="keep")


TWINS = [
    ["riga", "capital_of", "latvia"],
    ["riga", "mentioned_in", "book"],
    *[["riga", "twin_city", f"city{i}"] for i in range(8)],
    ["latvia", "currency", "euro"],
]


@attrs.define
class Even(PathScorer):
    """Give every step the same score; scores add up as they are."""

    def search_settings(self):
        return PLAIN

    def score(self, questions, paths, candidates):
        return [[-1.0] * len(row) for row in candidates]


@pytest.fixture
def twins():
    return MemoryGraph(triples=TWINS)


def fan_paths(twins, **settings):
    search = beam([], Even(), graph=twins, **settings)
    [subgraph] = search.expand([Question("q", "riga?", (Link("riga"),))])
    return {path.steps: path.score for path in subgraph.paths}


def test_a_step_costs_the_logarithm_of_the_nodes_that_it_reaches(twins):
    found = fan_paths(twins, depth=1, fan_cost=0.5)
    assert found[(Step("capital_of"),)] == -1.0
    assert found[(Step("twin_city"),)] == round(-1.0 - 0.5 * math.log(8), 4)


def test_neighbours_that_the_hub_limit_leaves_out_count_too(twins):
    found = fan_paths(twins, depth=1, fan_cost=0.5, budget=Budget(hub=2))
    assert found[(Step("twin_city"),)] == round(-1.0 - 0.5 * math.log(8), 4)


def test_without_a_cost_the_number_of_nodes_does_not_matter(twins):
    assert set(fan_paths(twins, depth=1).values()) == {-1.0}


def test_a_cheaper_continuation_from_beyond_the_beam_can_still_win(twins):
    # By text alone 'twin_city' stands last in a beam of 2; by cost it falls away and the others stay.
    assert set(fan_paths(twins, depth=1, width=2, fan_cost=0.5)) == {(Step("capital_of"),), (Step("mentioned_in"),)}


def test_the_cost_adds_up_along_the_path(twins):
    assert fan_paths(twins, depth=2, fan_cost=0.5)[(Step("capital_of"), Step("currency"))] == -2.0


SCORES = {"near": -0.1, "second": -1.0, "far": -4.0, "": -0.5}


@attrs.define(eq=False)
class Table(PathScorer):
    """Score a step by the name of its relation; scores add up as they are."""

    def search_settings(self):
        return PLAIN

    def score(self, questions, paths, candidates):
        return [[SCORES[step.relation] if step != END else -0.5 for step in row] for row in candidates]


@pytest.fixture
def chain():
    graph = MemoryGraph(triples=[[a, r, b] for a, b in ("xy", "yz") for r in ("near", "second", "far")])
    graph.open()
    yield graph
    graph.close()


def margin_search(chain, **settings):
    search = beam([], Table(), graph=chain, width=20, depth=2, **settings)
    return search.expand([Question("q", "?", (Link("x"),))])[0]


def test_paths_far_below_the_best_are_left_out(chain):
    every = margin_search(chain).paths
    near = margin_search(chain, margin=1.0).paths
    assert len(every) > len(near) > 1
    assert near == tuple(path for path in every if path.score >= every[0].score - 1.0)


def test_a_margin_of_zero_keeps_the_best_alone(chain):
    assert len(margin_search(chain, margin=0.0).paths) == 1


def test_a_margin_at_each_hop_follows_fewer_paths_and_keeps_the_best(chain):
    every, few = margin_search(chain), margin_search(chain, hop_margin=1.0)
    assert few.trace["scored"] < every.trace["scored"]
    assert few.paths[0] == every.paths[0]
    assert all(path.steps[0].relation != "far" for path in few.paths)


@pytest.mark.parametrize("name", ["margin", "hop_margin", "long_cost"])
def test_a_margin_below_zero_is_refused(chain, name):
    with pytest.raises(ValueError, match=f"{name} must be at least 0, not -1.0"):
        margin_search(chain, **{name: -1.0})


NODES = [f"n{i}" for i in range(7)]
edges = st.lists(
    st.tuples(st.sampled_from(NODES), st.sampled_from(["r", "s", "t"]), st.sampled_from(NODES)), min_size=1, max_size=25
)


@attrs.define(eq=False)
class Hashed(PathScorer):
    """Score by the text of question, path and step, never above 0."""

    def score(self, questions, paths, candidates):
        return [
            [-rounded(sum(map(ord, question + "".join(map(str, path)) + str(step))) % 37 / 7) for step in row]
            for question, path, row in zip(questions, paths, candidates, strict=True)
        ]


@given(
    triples=edges,
    starts=st.lists(st.lists(st.sampled_from(NODES), max_size=3, unique=True), max_size=4),
    width=st.integers(1, 5),
    depth=st.integers(1, 3),
    most=st.integers(1, 6),
    order=st.sampled_from([{"order": "paths"}, {"order": "nodes"}]),
)
@settings(max_examples=60, deadline=None)
def test_laws_of_the_search(triples, starts, width, depth, most, order):
    graph = MemoryGraph(triples=triples)
    questions = [Question(f"q{i}", f"Question {i}?", tuple(map(Link, row))) for i, row in enumerate(starts)]
    driver = beam(
        [], Hashed(), graph=graph, inverse=True, width=width, depth=depth, budget=Budget(triples=most), **order
    )
    found = driver.expand(questions)
    assert found == [driver.expand([question])[0] for question in questions], "a batch is answered as its questions"
    for question, subgraph in zip(questions, found, strict=True):
        assert len(subgraph.triples) <= most
        assert set(subgraph.triples) <= {tuple(row) for row in triples}
        assert list(subgraph.scores) == sorted(subgraph.scores, reverse=True)
        kept = subgraph.trace.get("paths", 0)
        assert kept <= width * max(1, len(question.links))
        assert set(subgraph.path_of) >= set(range(kept, len(subgraph.paths))), "spare paths are there for their triples"
        reached = {link.entity for link in question.links}
        left = set(subgraph.triples)
        while near := {t for t in left if t.subject in reached or t.object in reached}:
            reached |= {end for t in near for end in (t.subject, t.object)}
            left -= near
        assert not left, "every triple is connected to a link"
        for path in subgraph.paths:
            assert len(path.steps) <= depth
            assert tuple(Step.parse(str(step)) for step in path.steps) == path.steps


@attrs.define(eq=False)
class Reading(MemoryGraph):
    """Keep which steps were followed, and along which triples were read."""

    followed: set = attrs.field(factory=set)
    read: set = attrs.field(factory=set)

    def follow(self, frontiers, steps, limit):
        self.followed.update((tuple(at.ids()), step) for at, step in zip(frontiers, steps, strict=True))
        return super().follow(frontiers, steps, limit)

    def triples(self, frontiers, steps, limit):
        self.read.update((tuple(at.ids()), step) for at, step in zip(frontiers, steps, strict=True))
        return super().triples(frontiers, steps, limit)


@given(
    triples=edges,
    starts=st.lists(st.sampled_from(NODES), min_size=1, max_size=3, unique=True),
    width=st.integers(1, 4),
    depth=st.integers(1, 3),
    most=st.integers(1, 12),
)
@settings(max_examples=60, deadline=None)
def test_laws_of_the_room(triples, starts, width, depth, most):
    graph = Reading(triples=triples)
    block = {"order": "nodes", "fan_cost": 0.2}
    made = {"width": width, "depth": depth, "budget": Budget(triples=most), **block}
    [filled] = beam([], Hashed(), graph=graph, **made).expand([ask(*starts)])
    assert graph.read <= graph.followed, "nothing is read that the search has not followed"
    # As many paths as the width is what is read by default, and said aloud a limit.
    [plain] = beam([], Hashed(), graph=graph, paths=width, **made).expand([ask(*starts)])
    before = len(plain.triples)
    assert filled.ordered(range(before)).triples == plain.triples
    assert filled.scores[:before] == plain.scores
    assert filled.path_of[:before] == plain.path_of
    assert filled.paths[: len(plain.paths)] == plain.paths
    assert list(filled.scores) == sorted(filled.scores, reverse=True)
    assert list(filled.paths) == sorted(filled.paths, key=lambda path: -path.score)
    assert filled.expected_recall == plain.expected_recall
    assert filled.trace.get("filled", 0) == len(filled.triples) - before <= most - before
    for triple, rank in zip(filled.triples, filled.path_of, strict=True):
        assert triple.relation in {step.relation for step in filled.paths[rank].steps}


ROOM = {"width": 1, "depth": 1, "order": "nodes", "fan_cost": 0.2, "budget": Budget(triples=9)}


def test_a_path_that_was_followed_and_left_out_fills_the_room():
    [found] = beam(FAMILY, HAND, **ROOM).expand([ask("ann")])
    assert [triple.relation for triple in found.triples] == ["child", "child", "job"]
    assert found.trace["filled"] == 1
    assert found.paths[found.path_of[2]].steps == (JOB,)


@pytest.mark.parametrize(
    "limit", [{"paths": 1}, {"margin": 9.0}, {"hop_margin": 9.0}, {"variant": "srtk"}, {"fan_cost": 0.0}]
)
def test_the_room_stays_where_paths_are_limited_or_were_not_followed(limit):
    [found] = beam(FAMILY, HAND, **{**ROOM, **limit}).expand([ask("ann")])
    assert "filled" not in found.trace
    assert {triple.relation for triple in found.triples} == {"child"}


def test_a_path_whose_end_was_left_out_fills_the_room():
    table = {CHILD: -1.0, JOB: -9.0, ((CHILD,), JOB): -0.1, ((CHILD,), END): -9.0}
    lone = [["ann", "child", "bob"], ["bob", "job", "baker"], ["ann", "child", "cid"]]
    [found] = beam(lone, table, **{**ROOM, "depth": 2}).expand([ask("ann")])
    assert [path.steps for path in found.paths] == [(CHILD, JOB), (CHILD,)]
    assert ("ann", "child", "cid") in found.triples


def test_a_search_ends_when_no_path_can_be_extended():
    assert beam(FAMILY, HAND, depth=9).expand([ask("ann")])[0].trace["hops"] == 3


LINE = [["a", "r", "b"], ["b", "s", "c"], ["c", "t", "d"], ["d", "u", "e"]]


@pytest.mark.parametrize("settings", [{}, {"fan_cost": 0.5}, {"variant": "srtk"}])
def test_each_step_of_a_long_path_is_followed_from_where_the_last_one_led(settings):
    table = {Step(name): -0.1 for name in "rstu"}
    found = beam(LINE, table, depth=4, **settings).expand([ask("a")])[0]
    assert found.paths[0] == RankedPath("a", tuple(map(Step, "rstu")), -0.4)
    assert found.triples == tuple(map(tuple, LINE))
    assert found.trace["hops"] == 4


@attrs.define(eq=False)
class Promising(MemoryGraph):
    """Offer a step that leads nowhere."""

    def steps(self, frontiers, inverse):
        return [[*row, Step("void")] for row in super().steps(frontiers, inverse)]


def test_a_step_that_leads_nowhere_costs_nothing():
    graph = Promising(triples=LINE)
    found = beam([], {Step("void"): -0.5, Step("r"): -1.0}, graph=graph, depth=1, fan_cost=1.0).expand([ask("a")])[0]
    assert [(path.steps[0].relation, path.score) for path in found.paths] == [("void", -0.5), ("r", -1.0)]


@pytest.mark.parametrize("variant", ["default", "srtk"])
@pytest.mark.parametrize("nodes", [6, 7, None])
def test_a_frontier_within_the_budget_is_whole(variant, nodes):
    found = beam(STAR, ON, budget=Budget(nodes=nodes), variant=variant).expand([ask("hub")])[0]
    assert {triple.object for triple in found.triples if triple.relation == "is"} == {f"m{i}" for i in range(6)}
    assert "cut" not in found.trace


def test_only_paths_to_large_frontiers_are_dropped():
    triples = [*STAR, ["hub", "name", "x"], ["x", "of", "z"]]
    table = {**ON, Step("name"): -2.0, Step("of"): -0.1}
    found = beam(triples, table, budget=Budget(nodes=5), variant="srtk").expand([ask("hub")])[0]
    assert {path.steps[0].relation for path in found.paths if path.steps} == {"name"}
    assert found.trace["cut"] == {"nodes": 6}


def test_each_open_path_of_a_batch_gets_the_score_of_its_own_end():
    table = {Step(name): -1.0 for name in "rst"} | {((Step("r"),), END): -0.25, ((Step("s"),), END): -0.5}
    questions = [ask("a"), ask("nobody"), ask("a", "b"), ask("b")]
    found = beam(LINE, Given(table, end=True), depth=1).expand(questions)
    assert [[(path.entity, path.score) for path in subgraph.paths] for subgraph in found] == [
        [("a", -1.25)], [], [("a", -1.25), ("b", -1.5)], [("b", -1.5)],
    ]  # fmt: skip


def fans(*sizes):
    """Relations r1, r2, … from x, each to as many nodes of its own; r1 scores best, by a small margin."""
    triples = [["x", f"r{i}", f"y{i}-{n}"] for i, size in enumerate(sizes, 1) for n in range(size)]
    return triples, {Step(f"r{i}"): -i / 10 for i in range(1, len(sizes) + 1)}


def test_three_continuations_for_each_place_are_weighed_by_their_fan():
    triples, table = fans(50, 50, 50, 50, 50, 1, 1)
    found = beam(triples, table, width=2, depth=1, fan_cost=1.0).expand([ask("x")])[0]
    assert [path.steps[0].relation for path in found.paths] == ["r6", "r1"]


def test_an_ended_path_has_no_fan_and_leaves_that_of_others_alone():
    triples = [["x", "r", "y"], *[["y", "s", f"z{i}"] for i in range(8)], ["y", "t", "w"]]
    table = {Step("r"): -1.0, Step("s"): -0.2, Step("t"): -0.3, END: -0.1}
    found = beam(triples, table, fan_cost=1.0).expand([ask("x")])[0]
    assert [(path.steps[1:], path.score) for path in found.paths] == [
        ((), -1.1),
        ((Step("t"),), -1.3),
        ((Step("s"),), rounded(-1.2 - math.log(8))),
    ]


def explained(choice):
    return [
        ("/".join(map(str, path.steps)), path.score, why)
        for path, why in zip(choice.ranked, choice.dropped, strict=True)
    ]


def first_choice(triples, table, **settings):
    driver = beam(triples, table, **settings)
    [choice] = driver.choices(driver.start([ask(triples[0][0])]))
    return explained(choice)


def test_a_choice_names_the_width_that_drops_a_step():
    assert first_choice(FAMILY, HAND, width=1) == [("child", -1.0, ""), ("job", -2.0, "expander.width")]
    assert first_choice(FAMILY, HAND, width=2) == [("child", -1.0, ""), ("job", -2.0, "")]


def test_a_choice_names_the_margin_that_drops_a_step():
    assert first_choice(FAMILY, HAND, hop_margin=0.5) == [
        ("child", -1.0, ""),
        ("job", -2.0, "expander.search.hop_margin"),
    ]
    assert first_choice(FAMILY, HAND, hop_margin=1.0) == [("child", -1.0, ""), ("job", -2.0, "")]


def test_a_choice_names_the_nodes_that_drop_a_path():
    limits = {"budget": Budget(nodes=1), "variant": "srtk"}
    assert first_choice(FAMILY, HAND, **limits) == [
        ("child", -1.0, "budget.nodes"),
        ("END", -1.5, ""),
        ("job", -2.0, ""),
    ]


def test_a_choice_names_the_fan_cost_that_drops_a_step():
    triples, table = fans(50, 1, 1)
    assert first_choice(triples, table, width=2, depth=1, fan_cost=1.0) == [
        ("r2", -0.2, ""),
        ("r3", -0.3, ""),
        ("r1", rounded(-0.1 - math.log(50)), "expander.search.fan_cost"),
    ]


def test_steps_beyond_those_weighed_by_their_fan_come_last_at_no_cost():
    triples, table = fans(50, 1, 1, 1, 1)
    assert first_choice(triples, table, width=1, depth=1, fan_cost=1.0) == [
        ("r2", -0.2, ""),
        ("r3", -0.3, "expander.width"),
        ("r1", rounded(-0.1 - math.log(50)), "expander.search.fan_cost"),
        ("r4", -0.4, "expander.width"),
        ("r5", -0.5, "expander.width"),
    ]


def test_a_choice_at_a_later_hop_ranks_the_ends_too():
    driver = beam(FAMILY, HAND, width=3)
    [choice] = driver.choices(driver.step(driver.start([ask("ann")])))
    assert explained(choice) == [
        ("child/job", -1.5, ""),
        ("child/END", -2.5, ""),
        ("job/END", -3.5, ""),
        ("child/born", -4.0, "expander.width"),
        ("child/wikiPage", -10.0, "expander.width"),
    ]


def test_explaining_a_hop_leaves_the_beam_and_its_state_as_they_were():
    graph = Counting(triples=FAMILY)
    driver = beam([], Given(HAND), graph=graph, width=1)
    states = driver.start([ask("ann")])
    driver.choices(states)
    assert graph.calls == ["steps", "follow", "steps"], "what is only ranked is not followed"
    assert (driver.width, states[0].depth) == (1, 0)
    assert driver.expand([ask("ann")]) == beam(FAMILY, HAND, width=1).expand([ask("ann")])


@pytest.mark.parametrize(
    ("settings", "dropped"),
    [
        ({}, ["", "", "", "", ""]),
        ({"paths": 2}, ["", "", "expander.paths", "expander.paths", "expander.paths"]),
        ({"margin": 1.0}, ["", "", "expander.search.margin", "expander.search.margin", "expander.search.margin"]),
        ({"margin": 1.0, "paths": 4}, ["", "", "expander.search.margin", "expander.search.margin", "expander.paths"]),
        ({"budget": Budget(triples=1, tokens=1)}, ["", "", "", "", ""]),
    ],
)
def test_the_last_choice_names_what_keeps_a_path_from_being_read(settings, dropped):
    driver = beam(FAMILY, HAND, **settings)
    states = driver.start([ask("ann")])
    while not states[0].done:
        states = driver.step(states)
    [choice] = driver.last_choices(states)
    assert [score for _, score, _ in explained(choice)] == [-1.5, -2.5, -3.5, -4.0, -10.0]
    assert list(choice.dropped) == dropped


def test_the_last_choice_names_the_width_where_it_limits_the_paths():
    driver = beam(FAMILY, HAND, width=2)
    states = driver.start([ask("ann")])
    while not states[0].done:
        states = driver.step(states)
    [choice] = driver.last_choices(states)
    assert explained(choice) == [("child/job", -1.5, ""), ("child", -2.5, "")]
    # From the second hop on one path ends beside the one that goes on, so that three are left of a width of two.
    chain = beam(CHAIN, {Step("next"): -0.2, END: -0.1}, width=2, depth=3)
    states = chain.start([ask("n0")])
    while not states[0].done:
        states = chain.step(states)
    [choice] = chain.last_choices(states)
    assert [why for _, _, why in explained(choice)] == ["", "", "expander.width"]


def test_scores_of_an_unknown_scale_are_counted_in_the_unit_of_the_question() -> None:
    state = SimpleNamespace(unit=2.0)
    assert _in_units(state, [[Step("r"), END, Step("s")]], [[3.0, 0.5, 0.0]], None) == [[1.25, 0.0, -0.25]]
