from __future__ import annotations

from srtk_framework.values import Link, LinkList

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
