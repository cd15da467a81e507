"""The order of nodes: which triples find room under a budget, and their scores."""

import itertools
import math

import attrs
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from srtk_plugin_local.memory import MemoryGraph
from srtk_plugin_sr import node_mass
from srtk_plugin_sr.node_mass import RankedSearch, facts_by_node
from srtk_plugin_sr.read_table import Interned, ReadTable

from srtk_framework.graph import Instance, facts
from srtk_framework.roles import BACKGROUND, GraphView
from srtk_framework.values import Budget, Join, RankedPath, RatedTriples, Step, Triple

# Three players of two clubs in one town; each has a number.
FACTS = [
    *([f"p{i}", "plays for", club] for i, club in enumerate(["c0", "c0", "c1"])),
    *([f"p{i}", "born in", "town"] for i in range(3)),
    *([f"p{i}", "number", f"n{i}"] for i in range(3)),
    ["c0", "seat", "town"],
]
BORN, CLUB, NUMBER = Step("born in", inverse=True), Step("plays for"), Step("number")


def path(*steps, score):
    return RankedPath("town", steps, score)


def searched(paths, numbers, spare=()):
    return RankedSearch(paths, numbers, {}, {}, spare)


def read(facts, paths, **limits):
    graph = MemoryGraph(triples=facts)
    graph.open()
    return facts_by_node(graph, [searched(paths, topics(paths))], Budget(**limits))[0]


def topics(paths):
    """Every linked entity is a topic of its own."""
    return {entity: number for number, entity in enumerate(dict.fromkeys(path.entity for path in paths))}


def test_one_instance_for_each_end_comes_before_further_instances():
    found = read(FACTS, [path(BORN, CLUB, score=0.0)], triples=4)
    assert [tuple(triple) for triple in found.triples] == [
        ("p0", "born in", "town"),
        ("p0", "plays for", "c0"),
        ("p2", "born in", "town"),
        ("p2", "plays for", "c1"),
    ]
    assert found.trace["cut"] == {"triples": 2}


def test_a_node_has_the_mass_of_all_paths_that_end_in_it():
    # Each path has half of the mass; c0 ends the second alone, and is one of two ends of the first.
    found = read(FACTS, [path(BORN, CLUB, score=0.0), path(Step("seat", inverse=True), score=0.0)], triples=30)
    first, second = math.log(0.5 / math.sqrt(2) + 0.5), math.log(0.5 / math.sqrt(2))
    assert [triple.object for triple in found.triples[:2]] == ["town", "c0"]
    assert found.scores[0] == pytest.approx(first, abs=1e-3)
    scores = dict(zip(found.triples, found.scores, strict=True))
    assert scores["p2", "plays for", "c1"] == pytest.approx(second, abs=1e-3)


def test_of_the_ends_of_a_path_those_at_which_most_was_read_come_first():
    facts = [["town", "near", "a"], ["town", "near", "b"], ["b", "near", "c"]]
    found = read(facts, [path(Step("near"), score=0.0), path(Step("near"), Step("near"), score=-9.0)], triples=9)
    assert [triple.object for triple in found.triples] == ["b", "a", "c"]


@attrs.define(eq=False)
class Doubtful(GraphView):
    """A graph in which some triples are not certain."""

    confidences: dict[Triple, float]

    def triples(self, frontiers, steps, limit):
        return [RatedTriples(row, self.confidences) for row in self.graph.triples(frontiers, steps, limit)]


def read_doubtful(facts, confidences, paths, **limits):
    graph = MemoryGraph(triples=facts)
    graph.open()
    return facts_by_node(Doubtful(graph, confidences), [searched(paths, topics(paths))], Budget(**limits))[0]


def test_ends_that_are_not_certain_take_no_mass_from_the_others():
    stored = [["town", "near", "z"], ["town", "on", "river"]]
    guesses = [["town", "near", f"a{i}"] for i in range(8)]
    confidences = {Triple(*fact): (i + 1) / 100 for i, fact in enumerate(guesses)}
    paths = [path(Step("near"), score=0.3), path(Step("on"), score=0.0)]
    found = read_doubtful([*stored, *guesses], confidences, paths, triples=5)
    certain = read(stored, paths, triples=5)
    assert [triple.object for triple in found.triples] == ["z", "river", "a7", "a6", "a5"]
    assert found.triples[:2] == certain.triples
    # The sum of the confidences is the number of ends that is expected: 1.36.
    [best] = certain.scores[:1]
    assert found.scores[0] == pytest.approx(best - math.log(1.36) / 2, abs=1e-3)


def test_a_node_is_read_along_the_surer_of_two_paths():
    facts = [["town", "near", "x"], ["town", "on", "x"]]
    found = read_doubtful(
        facts, {Triple("town", "near", "x"): 0.5}, [path(Step("near"), score=1.0), path(Step("on"), score=0.0)]
    )
    assert found.triples[0] == Triple("town", "on", "x")


def test_a_path_with_many_ends_leaves_room_for_others():
    many = [["hub", "near", f"n{i}"] for i in range(40)]
    paths = [RankedPath("hub", (Step("near"),), 3.0), RankedPath("hub", (Step("name"),), 0.0)]
    found = read([*many, ["hub", "name", "x"]], paths, triples=10)
    assert ("hub", "name", "x") in found.triples
    assert len(found.triples) == 10
    assert found.trace["cut"] == {"triples": 31}


def test_a_mirror_image_comes_after_what_joins_other_nodes():
    mirrored = [*FACTS, *([object_, f"{relation} of", subject] for subject, relation, object_ in FACTS[:3])]
    paths = [path(BORN, CLUB, score=0.0), path(BORN, Step("plays for of", inverse=True), score=0.0)]
    found = read(mirrored, paths, triples=6)
    assert not any(triple.relation == "plays for of" for triple in found.triples)


def test_paths_beyond_the_mass_are_not_read():
    paths = [path(BORN, score=math.log(0.9)), path(BORN, NUMBER, score=math.log(0.1))]
    found = read(FACTS, paths, triples=20, mass=0.8)
    assert {triple.relation for triple in found.triples} == {"born in"}
    assert found.trace["cut"] == {"mass": 1}


def test_without_a_budget_every_triple_of_the_paths_is_read():
    paths = [path(BORN, CLUB, score=0.0), path(BORN, NUMBER, score=-1.0)]
    found = read(FACTS, paths, triples=None)
    graph = MemoryGraph(triples=FACTS)
    graph.open()
    assert set(found.triples) == set(facts(graph, [paths], Budget(triples=None))[0].triples)


@given(scores=st.lists(st.floats(-900, 900), min_size=3, max_size=3), most=st.none() | st.integers(1, 12))
def test_scores_never_rise_and_every_prefix_is_connected(scores, most):
    steps = [(BORN,), (BORN, CLUB), (BORN, NUMBER)]
    ranked = sorted((path(*row, score=score) for row, score in zip(steps, scores, strict=True)), key=lambda p: -p.score)
    found = read(FACTS, ranked, triples=most)
    assert list(found.scores) == sorted(found.scores, reverse=True)
    assert all(math.isfinite(score) for score in found.scores)
    reached = {"town"}
    for triple in found.triples:
        assert triple.subject in reached or triple.object in reached
        reached |= {triple.subject, triple.object}
    assert len(found.triples) <= (most or 10)


# Two clubs of a town, and the countries that their players come from.
TWO = [
    ["ann", "plays for", "reds"],
    ["bob", "plays for", "reds"],
    ["cid", "plays for", "blues"],
    ["ann", "from", "peru"],
    ["cid", "from", "peru"],
    ["bob", "from", "mali"],
]
PLAYS, FROM = Step("plays for", inverse=True), Step("from", inverse=True)
REDS, PERU = RankedPath("reds", (PLAYS,), 0.0), RankedPath("peru", (FROM,), 0.0)


def test_a_node_where_paths_from_two_topics_meet_comes_first_with_the_triples_of_both():
    found = read(TWO, [REDS, PERU], triples=10)
    assert [tuple(triple) for triple in found.triples[:2]] == [("ann", "plays for", "reds"), ("ann", "from", "peru")]
    assert found.path_of[:2] == (0, 1)
    assert found.joins == (Join((0, 1), ("ann",)),)


def test_a_path_that_passes_where_another_topic_arrives_is_supported():
    paths = [RankedPath("reds", (PLAYS, Step("from")), 0.0), PERU]
    found = read(TWO, paths, triples=10)
    assert found.joins[0] == Join((0, 1), ("ann",))
    assert ("ann", "from", "peru") in found.triples[:2]


def test_a_path_from_one_topic_to_another_leads_to_the_nodes_that_join_them():
    two_of_peru = [*TWO, ["dan", "plays for", "reds"], ["dan", "from", "peru"]]
    paths = [RankedPath("reds", (PLAYS, Step("from")), 0.0), RankedPath("peru", (Step("in"),), 0.0)]
    found = read(two_of_peru, paths, triples=10)
    assert {triple.subject for triple in found.triples[:4]} == {"ann", "dan"}
    assert found.scores[0] == found.scores[3] > found.scores[4]


def test_a_path_of_one_step_to_another_topic_leads_there():
    paths = [RankedPath("ann", (Step("from"),), 0.0), RankedPath("peru", (FROM,), -9.0)]
    found = read(TWO, paths, triples=10)
    assert found.triples[0] == ("ann", "from", "peru")


def test_a_node_where_topics_meet_takes_the_whole_of_each_path_times_what_it_is_raised_by():
    # Each path ends there alone, and has half of the probability.
    found = read([["ann", "plays for", "reds"], ["ann", "from", "peru"]], [REDS, PERU], triples=2)
    assert found.scores == pytest.approx([math.log((BACKGROUND + 1) / BACKGROUND)] * 2, abs=1e-3)


def test_a_path_over_several_other_topics_leads_to_the_node_before_them():
    chain = [Triple("a", "r", "x"), Triple("x", "r", "b"), Triple("b", "r", "c")]
    instance = Instance(tuple(chain), "c", 1.0)
    paths, read = [RankedPath("a", (Step("r"),) * 3, 0.0)], {0: [instance]}
    table = ReadTable.of(paths, read, Interned())
    for numbers, end in (({"a": 0, "b": 1, "c": 2}, "x"), ({"a": 0}, "c")):
        joining = node_mass._joining(paths, read, table, numbers)
        assert table.graph.ids(table.numbers[joining.ends]) == [end]


def test_alternatives_of_one_topic_do_not_support_each_other():
    graph = MemoryGraph(triples=TWO)
    graph.open()
    [found] = facts_by_node(graph, [searched([REDS, PERU], {"reds": 0, "peru": 0})], Budget(triples=10))
    assert found.joins == ()
    assert len(set(found.scores)) > 1  # ann has the mass of both paths, but no boost
    assert found.scores[0] - found.scores[1] < math.log(3)


def read_with(background):
    graph = MemoryGraph(triples=TWO)
    graph.open()
    rows = [searched([REDS, PERU], topics([REDS, PERU]))]
    return facts_by_node(graph, rows, Budget(triples=10), background=background)[0]


def test_the_smaller_the_background_the_more_a_node_is_worth_where_topics_meet():
    little, usual, much = (read_with(background) for background in (0.01, BACKGROUND, 1.0))
    gaps = [found.scores[0] - min(found.scores) for found in (much, usual, little)]
    assert gaps == sorted(set(gaps))
    assert usual == read(TWO, [REDS, PERU], triples=10)


def test_without_a_background_topics_are_read_as_alternatives_of_one():
    graph = MemoryGraph(triples=TWO)
    graph.open()
    [one] = facts_by_node(graph, [searched([REDS, PERU], {"reds": 0, "peru": 0})], Budget(triples=10))
    assert read_with(None) == one


def test_the_reading_ends_with_the_share_of_the_mass_that_is_wanted():
    paths = [path(BORN, score=3.0), path(BORN, NUMBER, score=0.0)]
    whole, part = (read_until(FACTS, paths, recall) for recall in (1.0, 0.6))
    assert part.triples == whole.triples[: len(part.triples)]
    assert 0.6 <= part.expected_recall < 0.95 < whole.expected_recall == 1.0
    assert part.trace["cut"] == {"recall": len(whole.triples) - len(part.triples)}


def test_the_reading_ends_where_no_further_triple_is_worth_its_price():
    paths = [path(BORN, score=3.0), path(BORN, NUMBER, score=0.0)]
    whole, part, free = (read(FACTS, paths, triples=30, price=price) for price in (0.001, 0.05, 0))
    assert part.triples == whole.triples[: len(part.triples)]
    assert {triple.relation for triple in part.triples} == {"born in"}
    assert part.trace["cut"] == {"price": len(whole.triples) - len(part.triples)}
    assert 0.9 < part.expected_recall < whole.expected_recall == 1.0
    assert whole.triples == free.triples


def test_a_triple_that_is_worth_little_alone_is_read_for_those_that_it_leads_to():
    facts = [["town", "is", "big"], ["town", "near", "port"], *(["port", "has", f"ship{i}"] for i in range(4))]
    paths = [path(Step("is"), score=4.0), path(Step("near"), Step("has"), score=0.0)]
    # The first ship costs two triples for a share of .0088, and all four cost five for .0354.
    few, many = (read(facts, paths, triples=30, price=price) for price in (0.0075, 0.006))
    assert (len(few.triples), len(many.triples)) == (1, 6)


def test_of_a_recall_and_a_price_the_one_that_is_reached_first_ends_the_reading():
    paths = [path(BORN, score=3.0), path(BORN, NUMBER, score=0.0)]
    dear, little = (read(FACTS, paths, triples=30, **limits) for limits in ({"price": 0.05}, {"recall": 0.6}))
    assert len(little.triples) < len(dear.triples)
    assert read(FACTS, paths, triples=30, price=0.05, recall=0.6) == little
    assert read(FACTS, paths, triples=30, price=0.05, recall=0.99).triples == dear.triples


def test_a_long_list_is_read_at_any_price():
    facts = [[f"p{i}", "born in", "town"] for i in range(40)]
    found = read(facts, [path(BORN, score=0.0)], triples=100, price=0.5)
    assert (len(found.triples), found.trace.get("cut")) == (40, None)


def test_a_budget_that_ends_before_the_price_is_counted_as_what_it_is():
    facts = [[f"p{i}", "born in", "town"] for i in range(40)]
    found = read(facts, [path(BORN, score=0.0)], triples=30, price=0.5)
    assert (len(found.triples), found.trace["cut"]) == (30, {"triples": 10})


def test_the_expected_recall_counts_what_the_paths_do_not_lead_to():
    graph = MemoryGraph(triples=FACTS)
    graph.open()
    [found] = facts_by_node(graph, [searched([path(BORN, score=0.0)], {"town": 0})], Budget(), found=0.9)
    assert found.expected_recall == 0.9


def test_scores_and_expectation_of_a_thousand_topics_are_numbers():
    paths = [RankedPath(f"t{i}", (Step("r"),), 0.0) for i in range(1000)]
    found = read([(path.entity, "r", "x") for path in paths], paths, triples=50)
    assert all(map(math.isfinite, found.scores))
    assert 0 < found.expected_recall <= 1


def test_what_tokens_cut_is_not_expected():
    paths = [path(BORN, score=3.0), path(BORN, NUMBER, score=2.0)]
    whole, part = read(FACTS, paths), read(FACTS, paths, tokens=20)
    assert 0 < len(part.triples) < len(whole.triples)
    assert 0 < part.expected_recall < whole.expected_recall == 1.0


def test_nothing_is_expected_of_a_question_without_paths():
    assert read(FACTS, []).expected_recall is None


def read_until(facts, paths, recall):
    graph = MemoryGraph(triples=facts)
    graph.open()
    return facts_by_node(graph, [searched(paths, topics(paths))], Budget(triples=30, recall=recall))[0]


def test_other_scores_by_what_was_read_reorder_paths_and_triples():
    graph = MemoryGraph(triples=FACTS)
    graph.open()
    paths = [path(BORN, CLUB, score=2.0), path(BORN, NUMBER, score=1.0)]
    seen = []

    def rescore(rows, read):
        seen.append({rank: sorted(one.end for one in found) for rank, found in read[0].items()})
        return [[0.0, 5.0] for _ in rows]

    [found] = facts_by_node(graph, [searched(paths, topics(paths))], Budget(triples=4), rescore=rescore)
    assert seen == [{0: ["c0", "c0", "c1"], 1: ["n0", "n1", "n2"]}]
    assert [(one.steps, one.score) for one in found.paths] == [((BORN, NUMBER), 5.0), ((BORN, CLUB), 0.0)]
    assert found.triples[1] == Triple("p0", "number", "n0")
    assert found.paths[found.path_of[1]].steps == (BORN, NUMBER)


def test_the_mass_counts_paths_by_their_new_scores():
    graph = MemoryGraph(triples=FACTS)
    graph.open()
    paths = [path(BORN, CLUB, score=9.0), path(BORN, NUMBER, score=0.0)]
    [found] = facts_by_node(
        graph,
        [searched(paths, topics(paths))],
        Budget(triples=9, mass=0.9),
        rescore=lambda rows, read: [[0.0, 9.0] for _ in rows],
    )
    assert {triple.relation for triple in found.triples} == {"born in", "number"}
    assert found.trace["cut"] == {"mass": 1}


SEAT = path(Step("seat", inverse=True), score=-1.0)
SPARE = [path(BORN, NUMBER, score=0.5), SEAT]


def read_with_spare(paths, spare=SPARE, facts=FACTS, rescore=None, **limits):
    graph = MemoryGraph(triples=facts)
    graph.open()
    plain, filled = (
        facts_by_node(
            graph,
            [searched(paths, topics([*paths, *spare]), some)],
            Budget(**limits),
            found=0.9,
            rescore=rescore,
        )[0]
        for some in ((), spare)
    )
    return plain, filled


def test_room_is_filled_along_spare_paths_behind_what_is_read():
    plain, filled = read_with_spare([path(BORN, CLUB, score=0.0)], triples=20)
    assert filled.triples[:6] == plain.triples
    assert filled.scores[:6] == plain.scores
    assert {triple.relation for triple in filled.triples[6:]} == {"number", "seat"}
    assert filled.trace == {"filled": 4}
    assert list(filled.scores) == sorted(filled.scores, reverse=True)
    assert filled.expected_recall == plain.expected_recall == 0.9


def test_spare_paths_stand_behind_the_others_with_scores_that_are_no_greater():
    plain, filled = read_with_spare([path(BORN, CLUB, score=0.0)], triples=20)
    assert filled.paths[:1] == plain.paths
    assert filled.paths[1:] == (attrs.evolve(SPARE[0], score=0.0), SEAT)
    named = [filled.paths[rank].steps[-1].relation for rank in filled.path_of[6:]]
    assert named == [triple.relation for triple in filled.triples[6:]]


def test_a_spare_path_without_a_triple_of_its_own_is_not_named():
    _, filled = read_with_spare([path(BORN, CLUB, score=0.0)], [path(BORN, score=9.0), SEAT], triples=20)
    assert [one.steps for one in filled.paths] == [(BORN, CLUB), SEAT.steps]


@pytest.mark.parametrize("room", [0, 1, 2, 3])
def test_spare_paths_get_no_more_than_the_room(room):
    plain, filled = read_with_spare([path(BORN, CLUB, score=0.0)], triples=6 + room)
    assert len(filled.triples) == 6 + room
    assert (filled == plain) is (room == 0)


def test_spare_triples_that_tokens_cut_are_not_counted():
    paths = [path(BORN, CLUB, score=0.0)]
    whole, few, none = (read_with_spare(paths, triples=20, tokens=most)[1] for most in (999, 48, 40))
    assert whole.trace == {"filled": 4}
    assert 6 < len(few.triples) < 10
    assert few.trace["filled"] == len(few.triples) - 6
    assert len(none.triples) <= 6
    assert "filled" not in none.trace


@pytest.mark.parametrize("limits", [{"recall": 0.5}, {"price": 0.001}, {"mass": 0.9}])
def test_who_asks_for_less_is_given_no_more(limits):
    plain, filled = read_with_spare([path(BORN, CLUB, score=0.0)], triples=20, **limits)
    assert filled == plain


def test_without_a_limit_on_triples_there_is_no_room_to_fill():
    plain, filled = read_with_spare([path(BORN, CLUB, score=0.0)])
    assert filled == plain


def test_room_is_filled_behind_paths_with_other_scores():
    paths = [path(BORN, CLUB, score=2.0), path(BORN, score=1.0)]
    plain, filled = read_with_spare(paths, triples=20, rescore=lambda rows, read: [[-4.0, -3.0] for _ in rows])
    assert filled.triples[:6] == plain.triples
    assert [one.score for one in filled.paths] == [-3.0, -4.0, -4.0, -4.0]
    assert {filled.paths[rank].steps for rank in filled.path_of[6:]} == {one.steps for one in SPARE}


def test_of_spare_paths_the_node_of_most_mass_comes_first():
    likely, unlikely = path(NUMBER, score=-1.0), path(Step("near"), score=-3.0)
    facts = [*FACTS, ["town", "near", "x"], ["town", "number", "n9"]]
    _, filled = read_with_spare([path(BORN, CLUB, score=0.0)], [unlikely, likely], facts, triples=7)
    assert filled.triples[6] == Triple("town", "number", "n9")


def test_ends_are_reserved_by_the_order_of_nodes_as_far_as_half_of_the_room_suffices():
    first = [Triple("a", "r", name) for name in "pqs"]
    paths = [RankedPath("a", (Step("r"),), 0.0), RankedPath("a", (Step("r"), Step("t")), 0.0)]
    further = [(first[0], Triple("p", "t", "y")), (first[2], Triple("s", "t", "x")), (first[2], Triple("s", "t", "z"))]
    read = {0: [Instance((one,), one.object) for one in first], 1: [Instance(two, two[1].object) for two in further]}
    table = ReadTable.of(paths, read, Interned())
    nodes = node_mass._nodes(paths, read, table, {"a": 0}, BACKGROUND)

    def reserved(most, *before):
        held = np.array([triple in before for triple in table.named(np.arange(len(table.subjects)))])
        ends = node_mass._reserve(nodes, table, most, len(before), held)
        return set(table.graph.ids(table.numbers[ends]))

    # The best two of each path, s before p before q; each needs one more triple.
    assert reserved(8) == {"s", "p", "y", "x"}
    assert reserved(7) == {"s", "p", "y"}
    assert reserved(4) == {"s", "p"}
    # What was chosen before needs no room, and takes its own.
    assert reserved(3, first[2]) == {"s", "p"}


def test_a_triple_is_worth_what_the_steepest_way_on_from_it_brings():
    # The second brings .02, but both of the others together .25 each.
    assert node_mass._worth([1, 2, 3], [0.4, 0.42, 0.9], 0.15) == 3
    assert node_mass._worth([1, 2, 3], [0.4, 0.42, 0.6], 0.15) == 1


@given(st.lists(st.tuples(st.integers(1, 3), st.integers(0, 90)), min_size=1, max_size=8), st.integers(0, 60))
def test_the_reading_is_worth_its_price_up_to_the_first_end_that_no_later_one_repays(steps, price):
    ends = list(itertools.accumulate(size for size, _ in steps))
    added = [gain if last else 0 for size, gain in steps for last in [*[False] * (size - 1), True]]
    shares = [share / 1000 for share in itertools.accumulate(added)]

    def repaid(end):
        steepest = max((shares[later - 1] - shares[end - 1]) / (later - end) for later in ends if later > end)
        return round(steepest - min(price / 1000, 0.5 * shares[end - 1] / end), 9) >= 0

    wanted = next((end for end in ends[:-1] if not repaid(end)), ends[-1])
    assert node_mass._worth(ends, shares, price / 1000) == wanted


def test_of_spare_paths_two_are_read_for_each_triple_that_has_room():
    def filled(*relations):
        spare = [path(Step(name), score=-float(at)) for at, name in enumerate(relations)]
        return read_with_spare([], spare, [["town", "has", "x"]], triples=1)[1].triples

    assert filled("none", "has") == (("town", "has", "x"),)
    assert filled("none", "nor this", "has") == ()


def test_a_fifth_of_the_budget_is_read_along_each_spare_path():
    facts = [["town", "near", f"n{i}"] for i in range(9)]
    for most, read in ((10, 2), (11, 3), (5, 1)):
        filled = read_with_spare([], [path(Step("near"), score=0.0)], facts, triples=most)[1]
        assert len(filled.triples) == read


def test_four_instances_of_a_path_are_read_for_each_triple_of_the_budget():
    facts = [["town", "near", f"n{i}"] for i in range(30)]
    assert [read(facts, [path(Step("near"), score=0.0)], triples=n).trace["cut"]["triples"] for n in (1, 2)] == [3, 6]


def test_a_recall_of_one_is_no_end_of_the_reading():
    paths = [path(BORN, CLUB, score=0.0)]
    assert read(FACTS, paths, triples=20, recall=1.0) == read(FACTS, paths, triples=20)
    assert len(read(FACTS, paths, triples=20, recall=1.0).triples) == 6


def test_a_node_is_read_along_the_path_that_gives_it_most_with_what_raises_it():
    facts = [["a", "r", "x"], ["a", "s", "y"], ["y", "t", "x"], ["b", "u", "y"]]
    direct, over = RankedPath("a", (Step("r"),), 0.0), RankedPath("a", (Step("s"), Step("t")), -0.5)
    other = RankedPath("b", (Step("u"),), -0.2)
    found = read(facts, [direct, other, over], triples=9)
    way = [tuple(triple) for triple in found.triples]
    assert way.index(("y", "t", "x")) < way.index(("a", "r", "x"))
    assert read(facts, [direct, over], triples=9).triples[0] == Triple("a", "r", "x")
