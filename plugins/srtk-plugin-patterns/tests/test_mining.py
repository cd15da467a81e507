"""Mined paths are those of the worked example, and those that walking every path by itself finds."""

from __future__ import annotations

import math
import weakref
from collections import Counter, defaultdict
from itertools import pairwise

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from srtk_plugin_local.memory import MemoryGraph
from srtk_plugin_patterns import mining
from srtk_plugin_patterns.instances import gold_instances, prefix_instances
from srtk_plugin_patterns.mining import describe, mine, mine_graph
from srtk_plugin_patterns.path_patterns import MiningSettings

from srtk_framework.graph import TripleTable, find_paths
from srtk_framework.roles import Executor
from srtk_framework.values import Budget, DriverError, Literal, Step, Triple

ALL = MiningSettings(length=3, hub=None, least=1, most=None, twins=None)
ids = st.sampled_from("abcdef")
graphs = st.lists(st.builds(Triple, ids, st.sampled_from("rst"), ids), min_size=1, max_size=14)


def steps(*names: str) -> tuple[Step, ...]:
    return tuple(map(Step.parse, names))


def walked(triples, length, hub):
    """Walk every simple path by itself; return the pairs that each path joins, without the triple of the pair."""
    edges = defaultdict(set)
    for s, r, o in triples:
        if s != o:
            edges[s, Step(r)].add(o)
            edges[o, Step(r, True)].add(s)
    found = defaultdict(set)

    def wide(node, step):
        return hub is not None and len(edges[node, step]) > hub

    def allowed(nodes, taken):
        for ahead in {len(taken) // 2, (len(taken) + 1) // 2}:
            forward = all(not wide(nodes[i], taken[i]) for i in range(ahead))
            backward = all(
                not wide(nodes[i + 1], Step(taken[i].relation, not taken[i].inverse)) for i in range(ahead, len(taken))
            )
            if forward and backward:
                return True
        return False

    def go(nodes, taken):
        if taken and allowed(nodes, taken):
            found[nodes[0], nodes[-1]].add(tuple(taken))
        if len(taken) < length:
            for (node, step), ends in list(edges.items()):
                if node == nodes[-1]:
                    for end in ends:
                        if end not in nodes:
                            go([*nodes, end], [*taken, step])

    for start in {end for s, _, o in triples for end in (s, o)}:
        go([start], [])
    counts = defaultdict(Counter)
    for s, r, o in set(triples):
        for path in found[s, o]:
            if path != (Step(r),):
                counts[r][path] += 1
    return counts


def as_counts(patterns):
    return {name: {path.steps: path.pairs for path in one.paths} for name, one in patterns.relations.items()}


def test_the_paths_of_nationality_are_those_of_the_worked_example(people):
    found = mine(people, ALL).of("nationality")
    table = [(path.steps, (path.pairs, found.mined), (path.pairs, path.total)) for path in found.paths]
    assert table == [
        (steps("born_in", "city_of"), (4, 4), (4, 5)),
        (steps("born_in", "^born_in", "nationality"), (4, 4), (4, 5)),
        (steps("works_in"), (1, 4), (1, 1)),
        (steps("born_in", "^born_in", "works_in"), (1, 4), (1, 1)),
        (steps("profession", "^profession", "works_in"), (1, 4), (1, 3)),
    ]
    scores = [(found.score2(path), found.score1(path)) for path in found.paths]
    assert scores == [(1, 0.8), (1, 0.8), (0.25, 1), (0.25, 1), (0.25, pytest.approx(1 / 3))]


def test_two_steps_choose_a_productive_path_where_exclusiveness_alone_would_not(people):
    found = mine(people, ALL).of("nationality")
    assert found.best(1, productive=2)[0].steps == steps("born_in", "city_of")
    assert found.best(1, productive=20)[0].steps == steps("works_in")


def test_the_lower_bound_prefers_the_path_that_joins_more_pairs(people):
    found = mine(people, ALL).of("nationality")
    assert found.best(1, productive=20, bounded=True)[0].steps == steps("born_in", "city_of")
    assert all(0 <= found.bound1(path) <= found.score1(path) for path in found.paths)


def test_smoothing_draws_scores_to_the_mean(people):
    patterns = mine(people, ALL)
    found = patterns.of("nationality")
    rare = next(path for path in found.paths if path.steps == steps("works_in"))
    assert found.smoothed1(rare, len(patterns.relations)) == pytest.approx(2 / 6)


@settings(deadline=None, max_examples=150)
@given(graphs, st.integers(1, 5), st.sampled_from([None, 1, 2]))
def test_counts_are_those_of_walking_every_path(triples, length, hub):
    table = TripleTable.from_triples(triples)
    patterns = mine(table, attrs.evolve(ALL, length=length, hub=hub))
    wanted = walked(triples, length, hub)
    assert as_counts(patterns) == {name: dict(wanted[name]) for name in patterns.relations}
    for one in patterns.relations.values():
        for path in one.paths:
            assert path.total == sum(wanted[name][path.steps] for name in wanted)


@settings(deadline=None, max_examples=40)
@given(graphs, st.integers(6, 7))
def test_long_paths_are_found_as_well(triples, length):
    patterns = mine(TripleTable.from_triples(triples), attrs.evolve(ALL, length=length))
    wanted = walked(triples, length, None)
    assert as_counts(patterns) == {name: dict(wanted[name]) for name in patterns.relations}


@settings(deadline=None, max_examples=60)
@given(graphs)
def test_scores_keep_their_bounds(triples):
    patterns = mine(TripleTable.from_triples(triples), ALL)
    sums = Counter()
    for one in patterns.relations.values():
        for path in one.paths:
            assert 0 <= one.score2(path) <= 1
            sums[path.steps] += one.score1(path)
    assert all(math.isclose(whole, 1) for whole in sums.values())


@settings(deadline=None, max_examples=60)
@given(graphs, st.sampled_from([None, 1, 2]))
def test_reversed_pairs_have_reversed_paths(triples, hub):
    chosen = attrs.evolve(ALL, length=4, hub=hub)
    there = as_counts(mine(TripleTable.from_triples(triples), chosen))
    back = as_counts(mine(TripleTable.from_triples([Triple(o, r, s) for s, r, o in triples]), chosen))
    # Turning all triples round turns pairs and steps round: a path keeps its relations in the other order.
    turned = {name: {tuple(path[::-1]): n for path, n in paths.items()} for name, paths in back.items()}
    assert there == turned


@settings(deadline=None, max_examples=60)
@given(graphs)
def test_the_shortest_paths_are_those_of_the_core(triples):
    """The core's search for one question finds the same shortest paths in a graph without the pair's triple."""
    patterns = mine(TripleTable.from_triples(triples), attrs.evolve(ALL, pairs=1))
    for name, one in patterns.relations.items():
        pairs = mining._pairs(
            table := TripleTable.from_triples(triples), attrs.evolve(ALL, pairs=1), table.triples
        ).tolist()
        number = table.relation_numbers[name]
        ((s, _, o),) = [row for row in pairs if row[1] == number]
        fact = Triple(table.entities[s], name, table.entities[o])
        graph = MemoryGraph(triples=[triple for triple in triples if triple != fact])
        graph.open()
        (found,) = find_paths(graph, [[fact.subject]], [[fact.object]], 3, Budget(nodes=None, hub=None))
        least = min((len(path.steps) for path in one.paths), default=None)
        assert set(found.paths) == {path.steps for path in one.paths if len(path.steps) == least}


def test_another_pair_may_use_the_triple_that_is_held_out_for_its_own(people):
    """(ann, nationality, latvia) is no path of ann's own pair, and lies on the path that joins bob's."""
    found = mine(people, ALL).of("nationality")
    assert steps("nationality") not in {path.steps for path in found.paths}
    assert steps("born_in", "^born_in", "nationality") in {path.steps for path in found.paths}


def test_a_hub_is_not_left_and_what_that_cuts_is_counted(people):
    found = mine(people, attrs.evolve(ALL, hub=2))
    assert found.cut["hub_steps"] == 1  # riga, from which three were born
    assert found.cut["hub_edges"] == 3
    assert "3 edges at 1 hubs were not walked" in describe(found)


def test_rare_paths_are_dropped_and_counted_and_totals_stay_exact(people):
    whole, some = mine(people, ALL), mine(people, attrs.evolve(ALL, least=2, most=1))
    for name, one in some.relations.items():
        assert one.paths == tuple(path for path in whole.relations[name].paths if path.pairs >= 2)[:1]
    kept = sum(len(one.paths) for one in some.relations.values())
    assert some.cut["paths"] == sum(len(one.paths) for one in whole.relations.values()) - kept


def test_pairs_are_drawn_by_the_seed_and_their_number_is_kept(people):
    one, again, other = (mine(people, attrs.evolve(ALL, pairs=2, seed=seed)) for seed in (1, 1, 2))
    assert one == again
    assert (one.of("nationality").facts, one.of("nationality").mined) == (4, 2)
    assert one.relations != other.relations


@settings(deadline=None, max_examples=80)
@given(graphs, st.integers(1, 6), st.sampled_from([None, 2]), st.sampled_from([1, 2, 7]))
def test_small_parts_give_the_same_counts(triples, length, hub, most):
    table, chosen = TripleTable.from_triples(triples), attrs.evolve(ALL, length=length, hub=hub)
    whole = mine(table, chosen)
    with pytest.MonkeyPatch.context() as patch:
        for bound in ("JOINED", "WALKED", "COUNTED"):
            patch.setattr(mining, bound, most)
        assert mine(table, chosen) == whole


AROUND = [f"e{number}" for number in range(30)]
HUBS = [
    *(Triple(hub, "near", end) for hub in ("h", "i") for end in AROUND),
    *(Triple(one, "next", other) for one, other in pairwise(AROUND)),
    Triple("h", "twin", "i"),
]
"""Thirty entities around two hubs, with thousands of paths of 3 steps each; none has more than 33 edges."""

LAYERS = [
    *(Triple("s", "r", f"m{number}") for number in range(12)),
    *(Triple(f"m{number}", "r", f"n{other}") for number in range(12) for other in range(12)),
    *(Triple(f"n{number}", "r", "t") for number in range(12)),
    Triple("s", "r", "t"),
]
"""One relation, so that all paths from an end begin with the same step."""


@pytest.mark.parametrize("length", [5, 6, 7])
@pytest.mark.parametrize("facts", [HUBS, LAYERS])
def test_what_is_walked_and_joined_at_once_is_bounded(monkeypatch, facts, length):
    table = TripleTable.from_triples(facts)
    chosen = attrs.evolve(ALL, length=length)
    sizes = {"walked": [], "joined": [], "held": []}
    alive = weakref.WeakSet()
    walk, match = mining.walked_on, mining._Join._keys

    def walked_on(*given):
        found = walk(*given)
        alive.add(found)
        sizes["walked"].append(len(found))
        sizes["held"].append(sum(map(len, alive)))
        return found

    def keys(self, forward, backward, starts, matches, *given):
        sizes["joined"].append(int(matches.sum()))
        return match(self, forward, backward, starts, matches, *given)

    monkeypatch.setattr(mining, "walked_on", walked_on)
    monkeypatch.setattr(mining._Join, "_keys", keys)
    whole = mine(table, chosen, None, facts[-1:])
    assert min(max(row) for row in sizes.values()) > 1000
    for row in sizes.values():
        row.clear()
    for bound in ("JOINED", "WALKED"):
        monkeypatch.setattr(mining, bound, 200)
    assert mine(table, chosen, None, facts[-1:]) == whole
    assert max(sizes["walked"]) <= 200
    assert max(sizes["joined"]) <= 200
    # From each end: at most 3 lengths, and the path on the way to each.
    assert max(sizes["held"]) <= 2 * 3 * 200


def test_a_graph_without_pairs_has_no_patterns():
    assert mine(TripleTable.from_triples([Triple("a", "r", "a")]), ALL).relations == {}
    assert mine(TripleTable.from_triples([]), ALL).relations == {}


def test_too_many_relations_for_the_length_are_refused():
    table = TripleTable.from_triples([Triple("a", f"r{number}", "b") for number in range(1000)])
    for length in (5, 7):
        said = f"1,000 relations allow paths of at most 4 steps here; give a lower length than {length}"
        with pytest.raises(DriverError, match=said):
            mine(table, attrs.evolve(ALL, length=length))
    assert mine(table, attrs.evolve(ALL, length=4), only=table.named(table.triples)[:1]).relations


def test_progress_tells_subjects(people):
    told = []
    mine(people, ALL, lambda done, whole: told.append((done, whole)))
    assert told == [(0, 7), (7, 7)]


class Listless(MemoryGraph):
    """A graph that lists the triples of a relation and no others, as a server may."""

    def match(self, patterns):
        if any(pattern.relation is None for pattern in patterns):
            raise DriverError("this server lists no triples without a relation")
        return super().match(patterns)


def test_a_graph_that_cannot_list_its_triples_is_mined_around_pairs(people):
    facts = people.named(people.triples)
    listless = Listless(triples=[*facts, Triple("ann", "height", Literal('"170"'))])
    listless.open()
    with pytest.raises(DriverError, match="or name relations and a number of pairs"):
        mine_graph(listless, ALL)
    found = mine_graph(listless, attrs.evolve(ALL, pairs=10), ["nationality", "born_in"])
    whole = mine(people, ALL)
    for name in ("nationality", "born_in"):
        assert as_counts(found)[name] == as_counts(whole)[name]
    assert set(found.relations) == {"nationality", "born_in"}


def test_only_named_relations_are_mined_and_unknown_ones_are_refused(people):
    graph = MemoryGraph(triples=people.named(people.triples))
    graph.open()
    found = mine_graph(graph, ALL, ["nationality"])
    assert as_counts(found)["nationality"] == as_counts(mine_graph(graph, ALL))["nationality"]
    assert set(found.relations) == {"nationality"}
    with pytest.raises(DriverError, match="no relation 'nationalty' between entities"):
        mine_graph(graph, ALL, ["nationalty"])


@attrs.define(eq=False)
class Several(Executor):
    """Computes here, as if in so many places."""

    number: int
    sizes: list[int] = attrs.field(init=False, factory=list)

    def places(self):
        return self.number

    def map(self, task, items):
        for item in items:
            self.sizes.append(len(item))
            yield task(item)


@given(graphs, st.integers(1, 4))
@settings(deadline=None)
def test_parts_of_the_subjects_add_up_to_the_patterns_of_all(triples, places):
    table = TripleTable.from_triples(triples)
    executor = Several(places)
    assert mine(table, ALL, executor=executor) == mine(table, ALL)
    assert sum(executor.sizes) == len({fact for fact in triples if fact.subject != fact.object})
    assert len(executor.sizes) <= mining.PARTS * places


def test_progress_tells_every_64th_subject_or_each_part():
    table = TripleTable.from_triples([Triple(f"s{n:03}", "r", "o") for n in range(130)])
    told = []
    mine(table, ALL, lambda *row: told.append(row))
    assert told == [(0, 130), (64, 130), (128, 130), (130, 130)]
    told.clear()
    mine(table, ALL, lambda *row: told.append(row), executor=Several(2))
    assert told == [(number, 8) for number in range(8)]


@attrs.define(eq=False)
class Parts(Several):
    """Keeps the subjects of each part."""

    subjects: list[list[int]] = attrs.field(init=False, factory=list)

    def map(self, task, items):
        rows = list(items)
        self.subjects += [row[:, 0].tolist() for row in rows]
        return super().map(task, rows)


def test_parts_have_whole_subjects_and_much_the_same_size():
    even = Parts(1)
    mine(TripleTable.from_triples([Triple(f"s{n:02}", "r", f"o{n}") for n in range(40)]), ALL, executor=even)
    assert [len(part) for part in even.subjects] == [10, 10, 10, 10]
    hub = [Triple("a", "r", f"o{n:02}") for n in range(30)]
    uneven = Parts(1)
    mine(TripleTable.from_triples([*hub, *(Triple(f"s{n}", "r", "t") for n in range(10))]), ALL, executor=uneven)
    assert len([part for part in uneven.subjects if 0 in part]) == 1
    assert sum(map(len, uneven.subjects)) == 40
    assert len({subject for part in uneven.subjects for subject in part}) == sum(
        len(set(part)) for part in uneven.subjects
    )


@given(graphs, st.integers(1, 4), st.sampled_from([1, 2, 9]), st.integers(0, 3))
@settings(deadline=None, max_examples=80)
def test_what_surrounds_some_pairs_is_mined_as_in_the_whole_graph(triples, length, pairs, seed):
    chosen = attrs.evolve(ALL, length=length, pairs=pairs, seed=seed)
    plain = MemoryGraph(triples=triples)
    listless = Listless(triples=triples)
    for graph in (plain, listless):
        graph.open()
    names = sorted({fact.relation for fact in triples if fact.subject != fact.object})
    if names:
        # How many facts a relation has, such a graph does not say.
        found, whole = (
            {name: (one.mined, one.paths) for name, one in mine_graph(graph, chosen, names).relations.items()}
            for graph in (listless, plain)
        )
        assert found == whole
    loops = {fact.relation for fact in triples} - set(names)
    for name in loops:
        with pytest.raises(DriverError, match=f"has no pair of two entities with '{name}'"):
            mine_graph(listless, chosen, [name])


def test_a_node_with_as_many_neighbours_as_the_bound_is_no_hub_of_a_graph_that_is_read_in_parts():
    facts = [Triple("a", "r", end) for end in "bcd"] + [Triple("x", "s", "b"), Triple("x", "t", "a")]
    listless = Listless(triples=facts)
    listless.open()
    plain = TripleTable.from_triples(facts)
    for hub in (2, 3, 4):
        chosen = attrs.evolve(ALL, length=2, hub=hub, pairs=9)
        found = mine_graph(listless, chosen, ["r", "s", "t"])
        assert as_counts(found) == as_counts(mine(plain, chosen))


def test_a_graph_without_a_list_needs_both_relations_and_a_number_of_pairs(people):
    listless = Listless(triples=people.named(people.triples))
    listless.open()
    for pairs, relations in ((3, None), (None, ["nationality"])):
        with pytest.raises(DriverError, match="or name relations and a number of pairs"):
            mine_graph(listless, attrs.evolve(ALL, pairs=pairs), relations)


def test_the_neighbourhoods_of_many_ends_are_read_in_several_calls():
    facts = [Triple(f"s{n}", relation, f"o{n}") for n in range(100) for relation in "rs"]
    listless = Listless(triples=facts)
    listless.open()
    found = mine_graph(listless, attrs.evolve(ALL, length=1, pairs=100), ["r"])
    assert as_counts(found) == {"r": {steps("s"): 100}}


def test_a_description_counts_what_is_there_and_what_is_not(people):
    assert describe(mine(people, ALL)) == "20 paths of 5 relations, mined from 17 pairs"
    cut = mine(people, attrs.evolve(ALL, least=2, hub=2))
    kept = sum(len(one.paths) for one in cut.relations.values())
    assert describe(cut) == (
        f"{kept} paths of 5 relations, mined from 17 pairs; 3 edges at 1 hubs were not walked;"
        f" {cut.cut['paths']} rarer paths were not kept"
    )


def test_an_instance_is_sought_up_to_ten_times():
    table = TripleTable.from_triples(
        [Triple("a", "r", f"m{n:02}") for n in range(12)] + [Triple(f"m{n:02}", "s", "z") for n in range(12)]
    )
    ten = [(f"m{n:02}",) for n in range(10)]
    assert prefix_instances(table, "a", steps("r", "s")) == ten
    assert gold_instances(table, "a", steps("r", "s"), "z") == ten
