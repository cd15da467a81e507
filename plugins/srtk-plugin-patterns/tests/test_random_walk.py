"""Probabilities of random walks are those of the worked example, and those of walking edge by edge."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from srtk_plugin_patterns.random_walk import RandomWalk

from srtk_framework.graph import TripleTable
from srtk_framework.values import Step, Triple

ids = st.sampled_from("abcd")
graphs = st.lists(st.builds(Triple, ids, st.sampled_from("rs"), ids), min_size=1, max_size=12)
PATH = ("born_in", "^born_in", "nationality")


def probabilities(table, start, names, simple, without=None):
    walk = RandomWalk(table, simple)
    path = [table.step_number(Step.parse(name)) for name in names]
    held_out = None if without is None else table.numbers([without]).astype(np.int64)
    row = walk.ends(np.array([table.entity_numbers[start]]), path, held_out).toarray()[0]
    return {table.entities[at]: float(row[at]) for at in np.flatnonzero(row > 1e-12)}


def test_a_person_reaches_the_nationality_of_those_born_in_the_same_town(people):
    assert probabilities(people, "eve", PATH, simple=False) == {"latvia": pytest.approx(2 / 3)}
    assert probabilities(people, "eve", PATH, simple=True) == {"latvia": pytest.approx(1)}


def test_a_triple_that_is_held_out_is_not_walked(people):
    own = Triple("ann", "nationality", "latvia")
    assert probabilities(people, "ann", PATH, simple=False, without=own) == {"latvia": pytest.approx(1 / 3)}
    assert probabilities(people, "ann", PATH, simple=True, without=own) == {"latvia": pytest.approx(1 / 2)}


def walked(triples, start, names, simple, without):
    edges = defaultdict(list)
    for s, r, o in sorted(set(triples) - {without}):
        if s != o:
            edges[s, r].append(o)
            edges[o, "^" + r].append(s)
    found = defaultdict(Fraction)

    def go(nodes, left, weight):
        if not left:
            found[nodes[-1]] += weight
            return
        ends = [end for end in edges[nodes[-1], left[0]] if not (simple and end in nodes)]
        for end in ends:
            go([*nodes, end], left[1:], weight / len(ends))

    go([start], names, Fraction(1))
    return {end: float(weight) for end, weight in found.items()}


@settings(deadline=None, max_examples=300)
@given(graphs, st.lists(st.sampled_from(["r", "^r", "s", "^s"]), min_size=1, max_size=4), st.booleans(), st.data())
def test_probabilities_are_those_of_walking_edge_by_edge(triples, names, simple, data):
    table = TripleTable.from_triples([*triples, Triple("a", "r", "b"), Triple("a", "s", "b")])
    facts = table.named(table.triples)
    starts = data.draw(st.lists(st.sampled_from(table.entities), min_size=1, max_size=4))
    without = [data.draw(st.sampled_from(facts)) for _ in starts]
    walk = RandomWalk(table, simple)
    path = [table.step_number(Step.parse(name)) for name in names]
    numbers = np.array([table.entity_numbers[start] for start in starts])
    found = walk.ends(numbers, path, table.numbers(without).astype(np.int64)).toarray()
    plain = walk.ends(numbers, path).toarray()
    for row, other, start, fact in zip(found, plain, starts, without, strict=True):
        for wanted, mine in (
            (walked(facts, start, names, simple, fact), row),
            (walked(facts, start, names, simple, None), other),
        ):
            assert mine == pytest.approx([wanted.get(entity, 0.0) for entity in table.entities], abs=1e-9)
            assert mine.sum() <= 1 + 1e-9


def test_the_others_share_what_would_go_along_a_triple_that_is_held_out():
    own = Triple("a", "r", "b")
    table = TripleTable.from_triples([own, Triple("a", "r", "c"), Triple("a", "r", "d"), Triple("a", "r", "e")])
    assert probabilities(table, "a", ["r"], simple=False, without=own) == dict.fromkeys("cde", pytest.approx(1 / 3))
