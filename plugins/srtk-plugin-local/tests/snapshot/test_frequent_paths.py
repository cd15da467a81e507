"""Paths counted by relations, against walks over the triples."""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from srtk_plugin_local.snapshot import frequent_paths as module
from srtk_plugin_local.snapshot.arrays import Snapshot
from srtk_plugin_local.snapshot.build import build
from srtk_plugin_local.snapshot.build_settings import BuildSettings
from srtk_plugin_local.snapshot.frequent_paths import frequent_paths

from srtk_framework.values import Step

Facts = set[tuple[str, str, str]]
FACTS = st.sets(
    st.tuples(st.sampled_from("abcdef"), st.sampled_from("pqr"), st.sampled_from("abcdef")), min_size=1, max_size=25
)


def snapshot(facts: Facts, folder: str | Path) -> Snapshot:
    file = Path(folder) / "facts.tsv"
    file.write_text("".join("\t".join(fact) + "\n" for fact in sorted(facts)))
    build(BuildSettings(files=(str(file),), header=False), Path(folder) / "graph")
    return Snapshot(Path(folder) / "graph")


def by_walking(facts: Facts) -> tuple[Counter[tuple[Step, ...]], set[tuple[Step, ...]]]:
    """Return the frequency of each path of two steps, and all paths of three."""
    edges = defaultdict(set)
    for subject, relation, object_ in facts:
        edges[subject].add((Step(relation), object_))
        edges[object_].add((Step(relation, True), subject))
    two: Counter[tuple[Step, ...]] = Counter()
    three = set()
    for start in list(edges):
        for first, middle in edges[start]:
            two.update({(first, second): 1 for second, _ in edges[middle]})
            for second, end in edges[middle]:
                three |= {(first, second, third) for third, _ in edges[end]}
    return two, three


@settings(max_examples=8, deadline=None)
@given(FACTS)
def test_paths_of_two_steps_come_by_their_number_of_edges(facts: Facts) -> None:
    with TemporaryDirectory() as folder:
        found = frequent_paths(snapshot(facts, folder), 10_000)[0]
    two, three = by_walking(facts)
    lengths = [len(path) for path in found]
    assert lengths == sorted(lengths)
    assert len(found) == len(set(found))
    assert {path for path in found if len(path) == 1} == {
        (Step(relation, inverse),) for _, relation, _ in facts for inverse in (False, True)
    }
    listed = [path for path in found if len(path) == 2]
    assert listed == sorted(two, key=lambda path: (-two[path], path))
    assert {path for path in found if len(path) == 3} <= three


def test_the_number_limits_longer_paths_and_never_relations(tmp_path: Path) -> None:
    graph = snapshot({("a", "p", "b"), ("b", "q", "c"), ("d", "p", "b")}, tmp_path)
    assert [len(path) for path in frequent_paths(graph, 0)[0]] == [1] * 4
    assert frequent_paths(graph, 1)[0][4:] == [(Step("p"), Step("p", True))]
    assert frequent_paths(graph, 3)[0] == frequent_paths(graph, 10_000)[0][:7]


def test_a_sample_and_blocks_find_the_frequent_paths_of_all_nodes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    facts = {(f"s{n}", "p" if n % 3 else "q", f"m{n}") for n in range(300)} | {
        (f"m{n}", "r", f"e{n % 7}") for n in range(300)
    }
    graph = snapshot(facts, tmp_path)
    whole = frequent_paths(graph, 8)[0]
    monkeypatch.setattr(module, "_BLOCK", 64)
    assert frequent_paths(graph, 8)[0] == whole
    monkeypatch.setattr(module, "_PATHS", 600)
    assert frequent_paths(graph, 2)[0] == whole[:8]


P, Q, R = (Step(name) for name in "pqr")
BACK = {step: Step(step.relation, True) for step in (P, Q, R)}
THROUGH = {
    "a": {(BACK[P], P)},
    "b": {(P, Q), (P, BACK[P]), (BACK[Q], Q), (BACK[Q], BACK[P])},
    "c": {(Q, R), (Q, BACK[Q]), (BACK[R], R), (BACK[R], BACK[Q])},
    "d": {(R, BACK[R])},
}
"""The paths of two steps whose first step ends in a node of the chain."""


@pytest.mark.parametrize(
    ("bound", "value", "nodes", "dense"),
    [
        ("_NODES", 4, "abcd", 0),
        ("_NODES", 3, "ac", 0),  # every second node
        ("_NODES", 1, "a", 0),
        ("_PATHS", 10, "abcd", 0),  # ten paths
        ("_PATHS", 9, "ac", 0),
        ("_PATHS", 3, "a", 0),
        ("_BLOCK", 4, "abcd", 0),  # four paths through the densest nodes
        ("_BLOCK", 3, "ad", 2),
    ],
)
def test_every_nth_node_stands_for_all_where_they_are_too_many_and_dense_ones_are_left_out(
    bound: str, value: int, nodes: str, dense: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = snapshot({("a", "p", "b"), ("b", "q", "c"), ("c", "r", "d")}, tmp_path)
    monkeypatch.setattr(module, bound, value)
    paths, left_out = frequent_paths(graph, 1000)
    assert {path for path in paths if len(path) == 2} == set.union(*(THROUGH[node] for node in nodes))
    assert left_out >= dense if bound == "_BLOCK" else left_out == 0


def test_no_path_starts_at_a_literal_or_goes_on_from_it(tmp_path: Path) -> None:
    year = '"1990"^^<http://www.w3.org/2001/XMLSchema#gYear>'
    graph = snapshot({("a", "born", year), ("b", "born", year), ("c", "knows", "a")}, tmp_path)
    assert graph.has_literals
    to, back, born = Step("knows"), Step("knows", True), Step("born")
    two, three = [(to, born), (to, back), (back, to)], [(to, back, to), (back, to, born), (back, to, back)]
    assert frequent_paths(graph, 100)[0][4:] == [*two, *three]


def test_the_nodes_that_are_left_out_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = snapshot({(f"s{n}", f"r{n}", "hub") for n in range(9)} | {("a", "p", "b"), ("b", "p", "c")}, tmp_path)
    assert frequent_paths(graph, 100)[1] == 0
    monkeypatch.setattr(module, "_BLOCK", 80)
    assert frequent_paths(graph, 0)[1] == 0
    paths, dense = frequent_paths(graph, 100)
    assert dense == 1
    assert (Step("r0"), Step("r1", True)) not in paths
    assert (Step("p"), Step("p")) in paths


def test_a_graph_of_no_node_has_no_path(tmp_path: Path) -> None:
    assert frequent_paths(snapshot(set(), tmp_path), 9) == ([], 0)


def test_relations_are_left_where_all_nodes_are_too_dense(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = snapshot({("a", "p", "b")}, tmp_path)
    monkeypatch.setattr(module, "_BLOCK", 0.5)
    assert frequent_paths(graph, 9) == ([(Step("p"),), (Step("p", True),)], 2)
