"""Instances of a path are the ways along it, found in order and from the start alone unless an end is given."""

from __future__ import annotations

import itertools

from hypothesis import given, settings
from hypothesis import strategies as st
from srtk_plugin_patterns.instances import gold_instances, prefix_instances

from srtk_framework.graph import TripleTable
from srtk_framework.values import Step, Triple

ids = st.sampled_from("abcde")
graphs = st.lists(st.builds(Triple, ids, st.sampled_from("rs"), ids), min_size=1, max_size=14)
paths = st.lists(st.builds(Step, st.sampled_from("rs"), st.booleans()), min_size=1, max_size=3).map(tuple)


def steps(*names: str) -> tuple[Step, ...]:
    return tuple(map(Step.parse, names))


BORN = steps("born_in", "^born_in", "nationality")


def test_prefix_instances_of_eve_go_by_those_born_where_she_was(people):
    assert prefix_instances(people, "eve", BORN) == [("riga", "ann"), ("riga", "bob")]
    assert prefix_instances(people, "eve", BORN, most=1) == [("riga", "ann")]


def test_a_prefix_needs_no_last_hop(people):
    path = steps("born_in", "^born_in", "works_in")
    assert prefix_instances(people, "eve", path) == [("riga", "ann"), ("riga", "bob")]


def test_gold_instances_lead_to_the_end(people):
    path = steps("profession", "^profession", "nationality")
    assert gold_instances(people, "ann", path, "norway") == [("actor", "cid")]
    assert gold_instances(people, "ann", path, "latvia") == []


def test_an_entity_that_the_graph_lacks_has_no_instances(people):
    assert prefix_instances(people, "nobody", BORN) == []
    assert gold_instances(people, "ann", BORN, "nowhere") == []


def test_a_path_of_one_step_has_an_instance_without_inner_nodes(people):
    assert prefix_instances(people, "eve", steps("nationality")) == [()]
    assert gold_instances(people, "ann", steps("nationality"), "latvia") == [()]
    assert gold_instances(people, "ann", steps("nationality"), "norway") == []


@settings(deadline=None, max_examples=150)
@given(graphs, paths)
def test_instances_are_those_of_trying_all_nodes(triples, path):
    table = TripleTable.from_triples(triples)
    nodes = sorted({end for s, _, o in triples for end in (s, o)})
    known = set(triples)

    def leads(walk, along):
        hops = zip(along, walk, walk[1:], strict=False)
        return len(set(walk)) == len(walk) and all(
            (Triple(there, step.relation, here) if step.inverse else Triple(here, step.relation, there)) in known
            for step, here, there in hops
        )

    for start in nodes:
        ways = [(start, *rest) for rest in itertools.product(nodes, repeat=len(path))]
        whole = [way for way in ways if leads(way, path)]
        begun = [(start, *rest) for rest in itertools.product(nodes, repeat=len(path) - 1)]
        assert prefix_instances(table, start, path, None) == [way[1:] for way in begun if leads(way, path[:-1])]
        for end in nodes:
            assert gold_instances(table, start, path, end, None) == [way[1:-1] for way in whole if way[-1] == end]
