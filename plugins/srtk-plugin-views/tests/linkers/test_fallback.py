"""The fallback: who is asked about which text, and what is kept of it."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import pytest
from srtk_plugin_views.linkers.fallback import FallbackLinker

from srtk_framework.roles import EntityLinker
from srtk_framework.values import DriverError, Link


@attrs.define(eq=False)
class Told(EntityLinker):
    """Links as told, and fails where None is told.

    Attributes:
        links: Entity and score of the link of a text.
    """

    links: Mapping[str, tuple[str, float] | None] = attrs.field(factory=dict)
    calls: list[Sequence[str]] = attrs.field(factory=list, repr=False)

    def link(self, texts: Sequence[str]) -> list[list[Link]]:
        self.calls.append(list(texts))
        if any(self.links.get(text, ()) is None for text in texts):
            raise DriverError(f"down for {texts[0]}")
        return [[Link(*row)] if (row := self.links.get(text)) else [] for text in texts]

    def suggest(self, texts: Sequence[str], limit: int) -> list[list[Link]]:
        self.calls.append([*texts, str(limit)])
        return [[Link(*row)][:limit] if (row := self.links.get(text)) else [] for text in texts]


def test_each_text_is_left_to_the_next_linker_until_one_finds_something(caplog: Any) -> None:
    first, second, third = Told({"a": ("x", 0.9)}), Told({"b": ("y", 0.5), "c": None}), Told({"c": ("z", 0.2)})
    with caplog.at_level(logging.INFO):
        found = FallbackLinker([first, second, third]).answered(["a", " ", "b", "c", "d"])
    assert [name for name, _ in found] == ["Told", "", "Told", "Told", ""]
    assert [[link.entity for link in row] for _, row in found] == [["x"], [], ["y"], ["z"], []]
    assert [row.failed for _, row in found] == [{}, {}, {}, {"Told": "down for c"}, {}]
    assert first.calls == [["a", "b", "c", "d"]]
    assert third.calls == [["c", "d"]]
    told = [record.getMessage() for record in caplog.records if record.levelno == logging.INFO]
    assert told == [f"the linker Told found links in 1 of {left} texts" for left in (4, 3, 2)]


def test_a_linker_is_asked_nothing_where_nothing_is_left(caplog: Any) -> None:
    first, second = Told({"a": ("x", 0.9)}), Told()
    with caplog.at_level(logging.INFO):
        FallbackLinker([first, second]).link(["a", ""])
    assert (first.calls, second.calls) == ([["a"]], [])
    assert [record.getMessage() for record in caplog.records] == ["the linker Told found links in 1 of 1 texts"]


@pytest.mark.parametrize(("least", "entity"), [(0.0, "x"), (0.4, "x"), (0.41, "y"), (1.0, None)])
def test_a_link_counts_from_the_least_score_on(least: float, entity: str | None) -> None:
    linker = FallbackLinker([Told({"a": ("x", 0.4)}), Told({"a": ("y", 0.5)})], least)
    assert [link.entity for link in linker.link(["a"])[0]] == [entity] * (entity is not None)


def test_a_text_is_an_error_only_if_all_linkers_fail_on_it() -> None:
    down, empty = Told({"a": None}), Told()
    assert FallbackLinker([down, empty]).link(["a"]) == [[]]
    assert FallbackLinker([empty, down]).link(["a"])[0].failed == {"Told": "down for a"}
    with pytest.raises(DriverError, match=r"^all linkers failed: down for a$"):
        FallbackLinker([down, down]).link(["b", "a"])


def test_suggestions_come_from_the_first_linker_that_has_some() -> None:
    first, second, third = Told({"a": ("x", 0.9)}), Told({"a": ("n", 1.0), "b": ("y", 0.5)}), Told()
    found = FallbackLinker([first, second, third]).suggest(["a", "b"], 2)
    assert found == [[Link("x", 0.9)], [Link("y", 0.5)]]
    assert (first.calls, second.calls, third.calls) == ([["a", "b", "2"]], [["b", "2"]], [])


def test_the_fingerprint_has_the_linkers_in_order_and_both_settings() -> None:
    one, two = Told(), Told({"a": ("x", 0.9)})
    every = [
        FallbackLinker([one, two]),
        FallbackLinker([two, one]),
        FallbackLinker([one, two], 0.5),
        FallbackLinker([one, two], required=True),
    ]
    assert len({linker.fingerprint() for linker in every}) == 4
    assert every[0].fingerprint() == f"FallbackLinker([{one.fingerprint()}, {two.fingerprint()}], 0.0, False)"
