"""Quotas of paths under a budget of score mass."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from srtk_plugin_local.memory import MemoryGraph
from srtk_plugin_sr.triple_quota import facts_with_quota

from srtk_framework.values import Budget, RankedPath, Step

FACTS = [["ann", relation, f"{relation}{i}"] for relation in ("child", "job", "town") for i in range(4)]
PATHS = [
    RankedPath("ann", (Step(relation),), math.log(share))
    for relation, share in (("child", 0.6), ("job", 0.3), ("town", 0.1))
]


@pytest.fixture(scope="module")
def graph():
    made = MemoryGraph(triples=FACTS)
    made.open()
    return made


def shared(graph, **limits):
    return facts_with_quota(graph, [PATHS], Budget(**limits), 2, [{}], [{}])[0]


def test_paths_beyond_the_mass_get_no_share(graph):
    found = shared(graph, triples=20, mass=0.8)
    assert [triple.relation for triple in found.triples] == ["child"] * 4 + ["job"] * 4
    assert found.trace["cut"] == {"mass": 1}


def test_the_room_within_the_mass_is_still_shared(graph):
    found = shared(graph, triples=5, mass=0.8)
    assert [triple.relation for triple in found.triples] == ["child"] * 3 + ["job"] * 2
    assert found.trace["cut"] == {"mass": 1, "triples": 3}


@given(st.floats(0.001, 1.0), st.floats(0.001, 1.0))
def test_more_mass_never_gives_less(graph, one, other):
    least, most = sorted([one, other])
    assert set(shared(graph, triples=20, mass=least).triples) <= set(shared(graph, triples=20, mass=most).triples)


def test_the_whole_mass_is_no_limit(graph):
    assert shared(graph, triples=5, mass=1.0) == shared(graph, triples=5)
