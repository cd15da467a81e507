from __future__ import annotations

from srtk_framework.values import (
    Completion,
    Entry,
    Hit,
    Link,
    Triple,
    best_first,
    completion_order,
    hit_order,
    link_order,
)


def test_the_greatest_score_comes_first_and_equal_ones_in_their_order() -> None:
    scores = {"b": 1.0, "c": 2.0, "a": 1.0}
    assert best_first(scores, scores.__getitem__) == ["c", "a", "b"]


def test_a_tie_may_be_broken_by_something_else() -> None:
    assert best_first(["bb", "a", "cc"], len, lambda text: -ord(text[0])) == ["cc", "bb", "a"]


def test_links_hits_and_completions_have_one_order() -> None:
    links = [Link("b", 0.5), Link("a", 0.5), Link("c", 0.9)]
    assert [link.entity for link in sorted(links, key=link_order)] == ["c", "a", "b"]
    hits = [Hit(Entry(id_, id_), score) for id_, score in (("b", 1.0), ("a", 1.0), ("c", 2.0))]
    assert [hit.entry.id for hit in sorted(hits, key=hit_order)] == ["c", "a", "b"]
    found = [Completion(Triple("s", "r", id_), rate, ()) for id_, rate in (("b", 0.5), ("a", 0.5), ("c", 0.9))]
    assert [one.triple.object for one in sorted(found, key=completion_order)] == ["c", "a", "b"]
