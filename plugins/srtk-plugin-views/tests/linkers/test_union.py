"""The union: scores of several linkers, mentions that overlap, and failures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import pytest
from srtk_plugin_views.linkers.union import UnionLinker

from srtk_framework.roles import EntityLinker
from srtk_framework.values import DriverError, Link, RunError, SettingsError


@attrs.define(eq=False)
class Told(EntityLinker):
    """Links as told, and fails where nothing is told.

    Attributes:
        links: Links of a text.
    """

    links: Mapping[str, Sequence[Link]] = attrs.field(factory=dict)
    calls: list[Sequence[str]] = attrs.field(factory=list, repr=False)

    def link(self, texts: Sequence[str]) -> list[Sequence[Link]]:
        self.calls.append(list(texts))
        if any(text not in self.links for text in texts):
            raise DriverError("down")
        return [self.links[text] for text in texts]


def told(*links: Link) -> Told:
    return Told({"a": links})


def merged(*linkers: Told, **settings: Any) -> list[tuple[str, float, int | None, int | None]]:
    return [(one.entity, one.score, one.start, one.end) for one in UnionLinker(linkers, **settings).link(["a"])[0]]


ONE, TWO = told(Link("x", 0.5, 0, 1), Link("y", 0.2, 0, 1)), told(Link("x", 0.8, 0, 1))


@pytest.mark.parametrize(
    ("settings", "x", "y"),
    [
        ({}, 0.9, 0.2),
        ({"combine": "mean"}, 0.65, 0.1),
        ({"combine": "max"}, 0.8, 0.2),
        ({"weights": [2.0, 1.0]}, 0.7, 0.2),
        ({"weights": [1.0, 4.0]}, 0.825, 0.05),
        ({"weights": [1.0, 4.0], "combine": "mean"}, 0.74, 0.04),
        ({"weights": [1.0, 4.0], "combine": "max"}, 0.8, 0.05),
    ],
)
def test_scores_are_combined_by_weights_relative_to_the_greatest(settings: Any, x: float, y: float) -> None:
    assert merged(ONE, TWO, **settings) == [("x", x, 0, 1), ("y", y, 0, 1)]


def test_a_score_is_at_most_one_and_above_nothing() -> None:
    assert merged(told(Link("x", 1.0)), told(Link("x", 1.0)), combine="max") == [("x", 1.0, None, None)]
    assert merged(told(Link("x", 0.00001))) == [("x", 0.0001, None, None)]


@pytest.mark.parametrize(("least", "left"), [(0.2, ["x", "y"]), (0.21, ["x"]), (0.5, ["x"]), (0.51, [])])
def test_a_merged_link_counts_from_the_least_score_on(least: float, left: list[str]) -> None:
    assert [row[0] for row in merged(ONE, min_score=least)] == left


def test_a_failed_linker_does_not_count_in_the_mean_and_is_kept_with_the_links() -> None:
    linker = UnionLinker([ONE, Told(), TWO], combine="mean")
    [row] = linker.link(["a"])
    assert [(link.entity, link.score) for link in row] == [("x", 0.65), ("y", 0.1)]
    assert row.failed == {"Told": "down"}
    with pytest.raises(DriverError, match=r"^all linkers failed: down$"):
        UnionLinker([Told(), Told()]).link(["a"])
    with pytest.raises(RunError, match="required: true"):
        UnionLinker([ONE, Told()], required=True).link(["a"])


def test_empty_texts_are_not_linked_and_keep_their_place() -> None:
    linker = Told({"a": [Link("x")], "b": [Link("y")]})
    found = UnionLinker([linker]).link([" ", "a", "", "b"])
    assert [[link.entity for link in row] for row in found] == [[], ["x"], [], ["y"]]
    assert linker.calls == [["a", "b"]]


def test_an_entity_has_the_first_name_that_a_linker_gives_it() -> None:
    linkers = [told(Link("x", 0.5, 0, 1, name)) for name in ("", "One", "Two")]
    assert UnionLinker(linkers).link(["a"])[0][0].name == "One"
    assert UnionLinker(linkers[::-1]).link(["a"])[0][0].name == "Two"


@pytest.mark.parametrize(("most", "left"), [(None, "xyzu"), (3, "xyzu"), (2, "xyu"), (1, "xu")])
def test_the_best_entities_of_each_mention_are_kept(most: int | None, left: str) -> None:
    links = [Link("z", 0.1, 0, 1), Link("y", 0.2, 0, 1), Link("x", 0.3, 0, 1), Link("u", 0.1, 1, 2)]
    assert "".join(row[0] for row in merged(told(*links), n_best=most)) == left


@pytest.mark.parametrize(
    ("links", "left"),
    [
        # Mentions that touch do not overlap.
        ([("x", 0.5, 0, 2), ("y", 0.4, 2, 4), ("z", 0.3, 4, 5)], "xyz"),
        # The best goes before one that begins earlier, whichever end overlaps.
        ([("x", 0.5, 0, 3), ("y", 0.6, 2, 4)], "y"),
        ([("x", 0.6, 0, 3), ("y", 0.5, 2, 4)], "x"),
        # Of equal scores the longest, then the first.
        ([("x", 0.5, 0, 2), ("y", 0.5, 1, 4)], "y"),
        ([("x", 0.5, 0, 2), ("y", 0.5, 1, 3)], "x"),
        # One within another, and one that only overlaps what has lost.
        ([("x", 0.5, 0, 9), ("y", 0.6, 3, 4), ("z", 0.1, 4, 5)], "yz"),
        # A mention is as good as its best entity, and keeps all of them.
        ([("x", 0.9, 0, 2), ("w", 0.1, 0, 2), ("y", 0.5, 1, 3)], "xw"),
        # Links without a place overlap nothing.
        ([("n", 0.1, None, None), ("m", 0.2, 0, None), ("x", 0.5, 0, 2)], "nmx"),
    ],
)
def test_of_overlapping_mentions_the_best_stays(links: list[Any], left: str) -> None:
    found = [row[0] for row in merged(told(*(Link(*row) for row in links)), overlaps="best")]
    assert sorted(found) == sorted(left)
    assert len(merged(told(*(Link(*row) for row in links)))) == len(links)


def test_each_linker_needs_a_weight() -> None:
    with pytest.raises(SettingsError, match="there are 2 linkers and 1 weights; give one for each"):
        UnionLinker([ONE, TWO], [1.0])


def test_the_fingerprint_has_the_linkers_and_all_settings() -> None:
    every = [
        UnionLinker([ONE, TWO], **settings)
        for settings in (
            {},
            {"weights": [1.0, 2.0]},
            {"combine": "max"},
            {"overlaps": "best"},
            {"n_best": 1},
            {"min_score": 0.5},
            {"required": True},
        )
    ]
    assert len({linker.fingerprint() for linker in every}) == 7
    inner = f"{ONE.fingerprint()}, {TWO.fingerprint()}"
    assert every[0].fingerprint() == f"UnionLinker([{inner}], ((), 'any', 'keep', None, 0.0, False))"
