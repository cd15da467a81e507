"""Path search between two sets of entities, compared with walking every path."""

from __future__ import annotations

import itertools
import os
from collections.abc import Sequence
from pathlib import Path as FilePath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from srtk_framework.graph.path_search import find_paths, follow_path, path_sort_key
from srtk_framework.roles import KnowledgeGraph
from srtk_framework.testing.oracle import OracleGraph
from srtk_framework.testing.sample import Sample
from srtk_framework.values import Budget, DriverError, Literal, Path, Step, Triple

FREE = Budget(nodes=None, hub=None)
DATA = FilePath(os.environ.get("SRTK_DATA", FilePath(__file__).parents[2] / "../shared/data"))


def graph_of(*facts: Sequence[str]) -> OracleGraph:
    graph = OracleGraph(Sample(tuple(sorted({Triple(*fact) for fact in facts}))))
    graph.open()
    return graph


def parse(*paths: str) -> list[Path]:
    return [tuple(Step.parse(step) for step in path.split()) for path in paths]


def walked(triples: Sequence[Triple], start: Sequence[str], path: Path) -> set[str]:
    """Walk a path over a list of triples."""
    nodes = set(start)
    for step in path:
        ends = [
            (t.object, t.subject) if step.inverse else (t.subject, t.object)
            for t in triples
            if t.relation == step.relation
        ]
        nodes = {end for begin, end in ends if begin in nodes}
    return nodes


def every_path(
    triples: Sequence[Triple], start: Sequence[str], end: Sequence[str], hops: int, inverse: bool
) -> list[Path]:
    """Try every sequence of steps."""
    relations = sorted({t.relation for t in triples})
    steps = [Step(r, way) for r in relations for way in ((False, True) if inverse else (False,))]
    tried = (path for length in range(1, hops + 1) for path in itertools.product(steps, repeat=length))
    return sorted((path for path in tried if walked(triples, start, path) & set(end)), key=path_sort_key)


def shortest_of(paths: Sequence[Path]) -> list[Path]:
    return [path for path in paths if len(path) == len(paths[0])]


nodes = st.sampled_from("abcdef")
facts = st.lists(st.builds(Triple, nodes, st.sampled_from(["r", "s", "^t"]), nodes), min_size=1, max_size=14)
sets = st.lists(nodes, max_size=3)


@given(facts, st.lists(st.tuples(sets, sets), max_size=3), st.integers(1, 4), st.booleans())
def test_all_paths_equal_the_result_of_brute_force(
    triples: list[Triple], pairs: list[tuple[list[str], list[str]]], hops: int, inverse: bool
) -> None:
    hops = min(hops, 3) if inverse else hops
    found = find_paths(
        graph_of(*triples), [a for a, _ in pairs], [b for _, b in pairs], hops, FREE, shortest=False, inverse=inverse
    )
    assert [list(row) for row in found] == [every_path(triples, a, b, hops, inverse) for a, b in pairs]
    assert all(not row.cut for row in found)


@given(facts, sets, sets, st.booleans())
def test_shortest_paths_are_all_paths_of_minimum_length(
    triples: list[Triple], start: list[str], end: list[str], inverse: bool
) -> None:
    found = find_paths(graph_of(*triples), [start], [end], 3, FREE, inverse=inverse)[0]
    assert list(found) == shortest_of(every_path(triples, start, end, 3, inverse))


@given(facts, sets, sets, st.integers(1, 3), st.integers(1, 3))
def test_limits_hide_no_path_without_a_count_and_invent_none(
    triples: list[Triple], start: list[str], end: list[str], hub: int, nodes_: int
) -> None:
    whole = every_path(triples, start, end, 3, True)
    found = find_paths(graph_of(*triples), [start], [end], 3, Budget(nodes=nodes_, hub=hub), shortest=False)[0]
    assert set(found) <= set(whole)
    assert found.cut or list(found) == whole
    short = find_paths(graph_of(*triples), [start], [end], 3, Budget(nodes=nodes_, hub=hub))[0]
    assert set(short) <= set(whole)
    assert short.cut or list(short) == shortest_of(whole)


@given(facts, st.lists(st.tuples(sets, sets), min_size=2, max_size=4))
def test_a_batch_finds_the_same_paths_as_single_searches(
    triples: list[Triple], pairs: list[tuple[list[str], list[str]]]
) -> None:
    graph, budget = graph_of(*triples), Budget(nodes=2, hub=2)
    together = find_paths(graph, [a for a, _ in pairs], [b for _, b in pairs], 3, budget)
    assert together == [find_paths(graph, [a], [b], 3, budget)[0] for a, b in pairs]


@given(facts, st.lists(st.tuples(sets, st.lists(st.builds(Step, st.sampled_from("rs"), st.booleans()), max_size=3))))
def test_followed_paths_reach_the_same_nodes_as_brute_force(
    triples: list[Triple], pairs: list[tuple[list[str], list[Step]]]
) -> None:
    graph = graph_of(*triples)
    known = set(graph.sample.entities)
    reached = follow_path(graph, [a for a, _ in pairs], [tuple(p) for _, p in pairs], FREE)
    assert [set(row.ids()) for row in reached] == [walked(triples, set(a) & known, tuple(p)) for a, p in pairs]
    assert all(not row.cut for row in reached)


def test_a_path_against_the_direction_needs_inverse() -> None:
    graph = graph_of(("film", "actor", "ann"), ("film", "year", "1998"))
    assert list(find_paths(graph, [["ann"]], [["1998"]], 3, FREE)[0]) == parse("^actor year")
    assert not find_paths(graph, [["ann"]], [["1998"]], 3, FREE, inverse=False)[0]


def test_a_self_loop_is_a_path_of_one_step() -> None:
    graph = graph_of(("a", "likes", "a"))
    assert list(find_paths(graph, [["a"]], [["a"]], 2, FREE)[0]) == parse("^likes", "likes")


def test_a_cycle_is_walked_as_often_as_the_hops_allow() -> None:
    graph = graph_of(("a", "next", "b"), ("b", "next", "a"))
    found = find_paths(graph, [["a"]], [["b"]], 5, FREE, shortest=False, inverse=False)[0]
    assert list(found) == parse("next", "next next next", "next next next next next")


def test_a_start_among_the_ends_is_reached_by_walking_back_to_it() -> None:
    graph = graph_of(("a", "r", "b"))
    assert list(find_paths(graph, [["a"]], [["a"]], 2, FREE)[0]) == parse("r ^r")
    assert list(find_paths(graph, [["a"]], [["a", "b"]], 2, FREE)[0]) == parse("r")


def test_unknown_ids_and_literals_have_no_path() -> None:
    year = Literal.make("1998", "xsd:gYear")
    graph = graph_of(("film", "year", year))
    found = find_paths(graph, [["film"], ["nobody"], []], [[year], ["film"], ["film"]], 3, FREE)
    assert [list(row) for row in found] == [[], [], []]


def test_an_empty_batch_has_an_empty_result() -> None:
    assert find_paths(graph_of(("a", "r", "b")), [], [], 3, FREE) == []
    assert follow_path(graph_of(("a", "r", "b")), [], [], FREE) == []


def hub(size: int) -> list[tuple[str, str, str]]:
    return [(f"city{i:03}", "country", "usa") for i in range(size)]


def test_a_hub_at_one_end_is_read_from_the_other() -> None:
    graph = graph_of(*hub(50), ("ann", "born", "city049"))
    budget = Budget(nodes=3, hub=3)
    found = find_paths(graph, [["ann"], ["usa"]], [["usa"], ["ann"]], 2, budget)
    assert [list(row) for row in found] == [parse("born country"), parse("^country ^born")]
    assert not any(row.cut for row in found)


def test_neighbours_of_a_hub_in_the_middle_are_counted_as_cut() -> None:
    graph = graph_of(*hub(50))
    found = find_paths(graph, [["usa"]], [["usa"]], 2, Budget(nodes=100, hub=3))[0]
    assert list(found) == parse("^country country")
    far = graph_of(*hub(50), ("city049", "twin", "city048"), ("city048", "twin", "city047"))
    lost = find_paths(far, [["usa"]], [["usa"]], 3, Budget(nodes=100, hub=3), shortest=False)[0]
    assert list(lost) == parse("^country country")
    assert lost.cut == {"hub": 94}


def test_nodes_that_a_limit_leaves_out_are_counted() -> None:
    graph = graph_of(*hub(50), ("city049", "twin", "x"), ("x", "twin", "y"))
    lost = find_paths(graph, [["usa"]], [["y"]], 3, Budget(nodes=10, hub=None), shortest=False)[0]
    assert lost.cut == {"nodes": 40}
    assert follow_path(graph, [["usa"]], parse("^country twin"), Budget(nodes=10, hub=None))[0].cut == 40
    assert follow_path(graph, [["usa"]], parse("^country"), Budget(hub=20))[0].cut == 30


def test_arguments_of_unequal_length_are_refused() -> None:
    graph = graph_of(("a", "r", "b"))
    with pytest.raises(DriverError, match="1 sets of starts and 0 of ends"):
        find_paths(graph, [["a"]], [], 3, FREE)
    with pytest.raises(DriverError, match="at least 1"):
        find_paths(graph, [["a"]], [["b"]], 0, FREE)
    with pytest.raises(DriverError, match="1 sets of starts and 0 paths"):
        follow_path(graph, [["a"]], [], FREE)


PEOPLE = [
    *(Triple(name, "born_in", "riga") for name in ("ann", "bob", "eve")),
    *(Triple(name, "born_in", "oslo") for name in ("cid", "dan")),
    Triple("riga", "city_of", "latvia"),
    Triple("oslo", "city_of", "norway"),
    *(Triple(name, "nationality", "latvia") for name in ("ann", "bob")),
    *(Triple(name, "nationality", "norway") for name in ("cid", "dan")),
    *(Triple(name, "works_in", "latvia") for name in ("ann", "cid")),
    *(Triple(name, "profession", "actor") for name in ("ann", "cid")),
    *(Triple(name, "profession", "singer") for name in ("bob", "dan")),
]


def simple_walks(triples: Sequence[Triple], nodes: tuple[str, ...], path: Path, end: str) -> bool:
    """Tell whether a path has a walk to the end that passes no node twice."""
    if not path:
        return nodes[-1] == end
    onward = walked(triples, nodes[-1:], path[:1]) - set(nodes)
    return any(simple_walks(triples, (*nodes, node), path[1:], end) for node in onward)


def test_paths_of_people_are_those_of_the_paper_with_the_own_edge_held_out() -> None:
    connected: dict[str, int] = {}
    for pair in (t for t in PEOPLE if t.relation == "nationality"):
        rest = [t for t in PEOPLE if t != pair]
        found = find_paths(graph_of(*rest), [[pair.subject]], [[pair.object]], 3, FREE, shortest=False)[0]
        for path in found:
            if simple_walks(rest, (pair.subject,), path, pair.object):
                text = " ".join(map(str, path))
                connected[text] = connected.get(text, 0) + 1
    assert connected == {
        "born_in city_of": 4,
        "born_in ^born_in nationality": 4,
        "works_in": 1,
        "born_in ^born_in works_in": 1,
        "profession ^profession works_in": 1,
    }


def test_the_shortest_path_of_a_pair_is_its_own_edge_unless_held_out() -> None:
    assert list(find_paths(graph_of(*PEOPLE), [["bob"]], [["latvia"]], 3, FREE)[0]) == parse("nationality")
    rest = [t for t in PEOPLE if t != Triple("bob", "nationality", "latvia")]
    assert list(find_paths(graph_of(*rest), [["bob"]], [["latvia"]], 3, FREE)[0]) == parse("born_in city_of")


def test_paths_from_the_object_are_those_from_the_subject_turned_round() -> None:
    there = find_paths(graph_of(*PEOPLE), [["eve"]], [["latvia"]], 3, FREE, shortest=False)[0]
    back = find_paths(graph_of(*PEOPLE), [["latvia"]], [["eve"]], 3, FREE, shortest=False)[0]
    turned = [tuple(Step(s.relation, not s.inverse) for s in reversed(path)) for path in back]
    assert sorted(turned) == sorted(there)


@pytest.fixture(scope="module")
def films() -> KnowledgeGraph:
    folder = DATA / "metaqa"
    if not (folder / "kb_from_splits.txt").is_file():
        pytest.skip("no metaqa in the data folder; name another one by the environment variable SRTK_DATA")
    memory = pytest.importorskip("srtk_plugin_local.memory")
    names = ("kb_from_splits.txt", "kb_from_1hop_answers.txt")
    rows = [line.split("|") for name in names for line in (folder / name).read_text(encoding="utf-8").splitlines()]
    graph: KnowledgeGraph = memory.MemoryGraph(triples=rows)
    return graph


@pytest.mark.parametrize("hops", [1, 2, 3])
def test_gold_paths_of_metaqa_are_found_in_its_graph(films: KnowledgeGraph, hops: int) -> None:
    metaqa = pytest.importorskip("srtk_plugin_datasets.metaqa")
    read = metaqa.MetaQA(str(DATA / "metaqa"), hops=hops, answers="reachable", gold_triples=False, limit=25).read()
    asked = [question for question in read if question.answers]
    topics, golds = [[q.links[0].entity] for q in asked], [q.gold_paths[0] for q in asked]
    found = find_paths(films, topics, [q.answers for q in asked], hops, Budget(), shortest=False)
    assert len(asked) > 15
    assert all(gold in row or row.cut for gold, row in zip(golds, found, strict=True))
    assert sum(gold in row for gold, row in zip(golds, found, strict=True)) > 0.9 * len(asked)
    reached = follow_path(films, topics, golds, FREE)
    assert all(set(q.answers) <= set(row.ids()) for q, row in zip(asked, reached, strict=True))


def test_where_both_ends_are_cut_alike_the_neighbours_of_the_start_are_counted() -> None:
    rows = [("a", "r", f"m{i}") for i in range(9)] + [(f"A{i}", "r", "z") for i in range(10)]
    graph = graph_of(("a", "r", "z"), *rows)
    there, back = find_paths(graph, [["a"], ["z"]], [["z"], ["a"]], 1, Budget(nodes=None, hub=3))
    # The edge itself is behind the first three from either end: a has ten neighbours, z eleven.
    assert (list(there), there.cut, list(back), back.cut) == ([], {"hub": 7}, [], {"hub": 8})
