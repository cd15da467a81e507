"""Answers held out: what is hidden, what stays, and what the questions ask for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from srtk_plugin_views.held_out_answers import HeldOut, hold_out

from srtk_framework.graph import TripleTable
from srtk_framework.values import Pattern, Triple

names = st.sampled_from("abcdefgh")
graphs = st.sets(st.builds(Triple, names, st.sampled_from("pq"), names), min_size=1, max_size=40)
BOTH = ("object", "subject")


def answers(triples: set[Triple], pattern: Pattern) -> set[str]:
    fitting = [t for t in triples if all(part in (None, own) for part, own in zip(pattern, t, strict=True))]
    return {t.subject if pattern.subject is None else t.object for t in fitting}


def split(triples: set[Triple], **settings: object) -> HeldOut:
    table = TripleTable.from_triples(triples)
    return hold_out(table, table.relations, BOTH, **settings)  # type: ignore[arg-type]


@given(graphs, st.integers(1, 5), st.floats(0.01, 1), st.integers(1, 4), st.integers(0, 3))
def test_gold_is_what_is_hidden_and_every_entity_stays(
    triples: set[Triple], queries: int, share: float, most: int, seed: int
) -> None:
    found = split(triples, queries=queries, share=share, most=most, seed=seed)
    hidden = set(found.triples)
    left = triples - hidden
    assert hidden <= triples
    assert {end for t in left for end in (t.subject, t.object)} == {e for t in triples for e in (t.subject, t.object)}
    for question in found.questions:
        assert question.pattern is not None
        assert question.answers
        assert set(question.answers) == answers(hidden, question.pattern)
        assert not set(question.answers) & answers(left, question.pattern)
    asked = {answer for question in found.questions for answer in (question.pattern,)}
    assert len(asked) == len(found.questions)
    # Each hidden triple is asked for.
    assert hidden <= {
        question.pattern.filled(answer)
        for question in found.questions
        for answer in question.answers or ()
        if question.pattern is not None
    }
    assert found == split(triples, queries=queries, share=share, most=most, seed=seed)


# Every entity has many triples, so that nothing is spared.
STARS = {Triple(f"s{i}", "p", f"o{j}") for i in range(10) for j in range(12)}


@pytest.mark.parametrize(
    ("settings", "each"),
    [({}, 8), ({"share": 0.5}, 6), ({"share": 0.01}, 1), ({"count": 3}, 3), ({"count": 50, "most": 2}, 2)],
)
def test_a_query_loses_a_share_or_a_number_of_its_answers(settings: dict[str, float], each: int) -> None:
    table = TripleTable.from_triples(STARS)
    most = int(settings.pop("most", 8))
    found = hold_out(table, ["p"], ["object"], queries=4, most=most, **settings)  # type: ignore[arg-type]
    assert [len(question.answers or ()) for question in found.questions] == [each] * 4
    assert found.spared == 0
    assert len(found.triples) == 4 * each


def test_ends_and_relations_are_those_asked_for() -> None:
    table = TripleTable.from_triples(STARS | {Triple(o, "q", s) for s, _, o in STARS})
    found = hold_out(table, ["q"], ["subject"], queries=2, count=1)
    assert {triple.relation for triple in found.triples} == {"q"}
    assert [question.pattern and question.pattern.subject for question in found.questions] == [None, None]
    assert all(question.links[0].entity == question.pattern.object for question in found.questions if question.pattern)


def test_another_seed_asks_for_others() -> None:
    assert split(STARS, queries=2, count=1, seed=0).triples != split(STARS, queries=2, count=1, seed=1).triples


def test_the_only_triple_of_an_entity_is_spared() -> None:
    found = split({Triple("a", "p", "b"), Triple("c", "p", "d")})
    assert found == HeldOut((), (), found.spared)
    assert found.spared == 4
    assert len(split({Triple("a", "p", "b"), Triple("a", "q", "b")}).triples) == 1
