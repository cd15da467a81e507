"""Calls of inner linkers: which texts fail, what is said of it, and the order of links."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

import attrs
import pytest
from srtk_plugin_views.linkers.linker_calls import all_failed, by_place, link_texts, name_of, with_failures

from srtk_framework.roles import EntityLinker
from srtk_framework.values import DriverError, Link, LinkList, RunError

LOG = logging.getLogger(__name__)


@attrs.define(eq=False)
class Picky(EntityLinker):
    """Links each text to itself, and fails where one begins with a mark."""

    calls: list[Sequence[str]] = attrs.field(factory=list, repr=False)

    def link(self, texts: Sequence[str]) -> list[list[Link]]:
        self.calls.append(list(texts))
        for text in texts:
            if text.startswith("!"):
                raise DriverError(f"cannot read {text}")
        return [[Link(text)] for text in texts]


class Named(Picky):
    name = "picky"


def test_a_linker_is_called_by_its_name_or_that_of_its_class() -> None:
    assert name_of(Named()) == "picky"
    assert name_of(Picky()) == "Picky"


def test_texts_are_linked_in_one_call_and_no_texts_in_none(caplog: Any) -> None:
    linker = Picky()
    assert link_texts(linker, [], True, LOG) == []
    assert linker.calls == []
    assert link_texts(linker, ["a", "b"], False, LOG) == [[Link("a")], [Link("b")]]
    assert linker.calls == [["a", "b"]]
    assert caplog.records == []


def test_if_a_call_fails_each_text_is_linked_alone_and_one_warning_counts_the_failures(caplog: Any) -> None:
    linker = Named()
    found = link_texts(linker, ["a", "!b", "c", "!d"], False, LOG)
    assert [found[0], found[2]] == [[Link("a")], [Link("c")]]
    assert [str(one) for one in found[1::2] if isinstance(one, DriverError)] == ["cannot read !b", "cannot read !d"]
    assert linker.calls == [["a", "!b", "c", "!d"], ["a"], ["!b"], ["c"], ["!d"]]
    told = "the linker picky failed for 2 of 4 texts: cannot read !b"
    assert [record.getMessage() for record in caplog.records] == [told]


def test_a_single_text_that_fails_is_not_linked_again(caplog: Any) -> None:
    linker = Picky()
    assert [str(one) for one in link_texts(linker, ["!a"], False, LOG)] == ["cannot read !a"]
    assert linker.calls == [["!a"]]
    assert "failed for 1 of 1 texts" in caplog.text


@attrs.define(eq=False)
class Alone(Picky):
    """Fails for several texts at once."""

    def link(self, texts: Sequence[str]) -> list[list[Link]]:
        if len(texts) > 1:
            raise DriverError("too many texts")
        return [[Link(text)] for text in texts]


def test_a_linker_that_links_each_text_alone_has_not_failed(caplog: Any) -> None:
    assert link_texts(Alone(), ["a", "b"], True, LOG) == [[Link("a")], [Link("b")]]
    assert caplog.records == []


def test_a_required_linker_ends_the_run_with_its_first_failure() -> None:
    with pytest.raises(RunError) as caught:
        link_texts(Named(), ["a", "!b", "!c"], True, LOG)
    assert str(caught.value) == "the linker picky failed, and the recipe says `required: true`: cannot read !b"
    assert str(caught.value.__cause__) == "cannot read !b"


def test_the_links_of_a_text_carry_the_failures_of_all_its_linkers() -> None:
    inner = LinkList([Link("x")])
    inner.failed["inner"] = "was down"
    row = with_failures([Named(), Picky(), Picky()], [DriverError("down"), inner, [Link("y")]], [Link("x")])
    assert list(row) == [Link("x")]
    assert row.failed == {"inner": "was down", "picky": "down"}
    assert with_failures([Picky()], [[Link("y")]], []).failed == {}


def test_the_failure_of_all_names_each_reason_once_and_its_first_cause() -> None:
    failures = [DriverError("down"), DriverError("slow"), DriverError("down")]
    error = all_failed(failures)
    assert str(error) == "all linkers failed: down; slow"
    assert error.__cause__ is failures[0]


def test_links_without_a_place_come_first_then_by_start_score_entity_and_end() -> None:
    row = [Link("b", 0.5), Link("a", 0.5, 0), Link("a", 0.5, 0, 2), Link("b", 0.5, 0, 1), Link("a", 0.4, 0, 1)]
    row += [Link("a", 0.9, 1, 3)]
    turned = row[::-1]
    assert sorted(turned, key=by_place) == row
    assert by_place(Link("a", 0.5)) == (-1, -0.5, "a", 0)
    assert by_place(Link("a", 0.5, 3, 7)) == (3, -0.5, "a", 7)
