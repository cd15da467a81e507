from __future__ import annotations

import pytest

from srtk_framework.values import Link, LinkList, Pattern, Question

RIGA = Link("riga")


def test_a_list_of_links_is_compared_by_its_links_alone():
    assert LinkList([RIGA], failed={"rel": "timeout"}) == [RIGA]


def test_a_derived_list_merges_the_reports_of_its_sources():
    first = LinkList([RIGA], failed={"rel": "timeout"}, unmapped=["Riga"])
    second = LinkList(failed={"spotlight": "refused"}, unmapped=["Oslo", "Riga"])
    merged = LinkList.of([RIGA], first, [RIGA], second)
    assert merged.failed == {"rel": "timeout", "spotlight": "refused"}
    assert merged.unmapped == ("Riga", "Oslo")


def test_a_list_derived_from_linkers_that_map_no_titles_reports_none():
    assert LinkList.of([RIGA], LinkList([RIGA]), [RIGA]).unmapped is None


def test_the_linker_of_a_link_does_not_matter_for_equality():
    assert Link("riga", by="rel") == Link("riga", by="spotlight")


def test_candidates_need_a_pattern():
    with pytest.raises(ValueError, match="question 1 has candidates and no pattern"):
        Question("1", "who", candidates=("a",))


def test_a_candidate_is_given_once():
    with pytest.raises(ValueError, match="question 1 has the candidate b twice"):
        Question("1", "who", pattern=Pattern("a", "r"), candidates=("b", "c", "b"))


def test_candidates_are_no_gold():
    question = Question("1", "who", answers=("b",), pattern=Pattern("a", "r"), candidates=("b", "c"))
    assert question.without_gold().candidates == ("b", "c")
