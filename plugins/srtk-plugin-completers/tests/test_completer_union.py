"""The ``union`` completer: the greatest confidence, all evidence, and the contract of a completer."""

from __future__ import annotations

from typing import Any

import attrs
import pytest
from srtk_plugin_baselines.frequency import FrequencyCompleter
from srtk_plugin_completers.completer_union import REASONS, UnionCompleter

from srtk_framework.roles import Completer
from srtk_framework.testing import OracleGraph, ToyCompleter
from srtk_framework.testing.completer import CompleterConformance
from srtk_framework.values import Completion, Evidence, Pattern, Step, Triple, open_end

BORN = Pattern("Ada", "born_in")


@attrs.define(eq=False)
class Scripted(Completer):
    """Proposes places of birth, each with a reason.

    Attributes:
        places: Confidence by place.
        reason: Text of the evidence.
    """

    places: dict[str, float]
    reason: str

    def complete(self, patterns: Any, limit: Any) -> Any:
        ranked = sorted(self.places.items(), key=lambda pair: (-pair[1], pair[0]))
        assert all(open_end(pattern) for pattern in patterns)
        evidence = (Evidence("model", self.reason), Evidence("model", "both"))
        row = [Completion(Triple("Ada", "born_in", place), share, evidence) for place, share in ranked]
        return [row[:limit] for _ in patterns]

    def offers(self, node_sets: Any, inverse: Any) -> Any:
        return [[Step(self.reason)] for _ in node_sets]


@pytest.fixture
def union() -> UnionCompleter:
    return UnionCompleter([Scripted({"Paris": 0.5, "Rome": 0.2}, "one"), Scripted({"Rome": 0.7, "Bonn": 0.5}, "two")])


def test_a_triple_of_several_has_the_greatest_confidence(union: UnionCompleter) -> None:
    (row,) = union.complete([BORN], None)
    assert [(one.triple.object, one.confidence) for one in row] == [("Rome", 0.7), ("Bonn", 0.5), ("Paris", 0.5)]
    assert union.complete([BORN], 2) == [row[:2]]


def test_the_evidence_of_all_is_kept_once_that_of_the_most_confident_first(union: UnionCompleter) -> None:
    (row,) = union.complete([BORN], 1)
    assert [reason.text for reason in row[0].evidence] == ["two", "both", "one"]


def test_long_lists_are_not_read_to_their_end_and_the_limit_changes_no_evidence() -> None:
    limits = []

    class Counted(Scripted):
        def complete(self, patterns: Any, limit: Any) -> Any:
            limits.append(limit)
            return super().complete(patterns, limit)

    shares = {f"p{place:03}": round(0.9 - place / 1000, 3) for place in range(300)}
    backwards = {name: shares[other] / 2 for name, other in zip(shares, reversed(shares), strict=True)}
    union = UnionCompleter([Counted(shares, "one"), Counted(backwards, "two")])
    (row,) = union.complete([BORN], None)
    assert [len(one.evidence) for one in row[:3]] == [2, 2, 2]  # "one" and "both"
    assert {len(one.evidence) for one in row[210:220]} == {3}
    for limit in (1, 3, 99, 101, 250):
        assert union.complete([BORN], limit) == [row[:limit]]
    assert limits[2:] == [100] * 6 + [101] * 2 + [250] * 2


def test_a_candidate_has_the_greatest_rate(union: UnionCompleter) -> None:
    assert union.rate([BORN], [["Rome", "Oslo", "Paris"]]) == [[0.7, 0.0, 0.5]]


def test_a_step_that_one_offers_is_offered(union: UnionCompleter) -> None:
    assert union.offers([["Ada"]], False) == [[Step("one"), Step("two")]]


def test_a_union_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="completers"):
        UnionCompleter([])


def test_the_mean_of_log_odds_prefers_what_both_find_likely() -> None:
    union = UnionCompleter(
        [Scripted({"Paris": 0.8, "Rome": 0.5}, "one"), Scripted({"Rome": 0.8, "Bonn": 0.7}, "two")], "log-odds"
    )
    (row,) = union.complete([BORN], None)
    # The odds of Rome are the root of 1 * 4; those of Paris the root of 4 / 999,999.
    assert [(one.triple.object, one.confidence) for one in row] == [
        ("Rome", 0.666667),
        ("Paris", 0.00199601),
        ("Bonn", 0.00152520),
    ]
    assert union.rate([BORN], [["Rome", "Oslo", "Paris"]]) == [[0.666667, 0.0, 0.00199601]]
    assert [reason.text for reason in row[0].evidence] == ["two", "both", "one"]


def test_with_the_mean_of_log_odds_a_limit_returns_the_first_though_they_stand_deep_in_each_list() -> None:
    shares = {f"p{place:03}": round(0.9 - place / 1000, 3) for place in range(600)}
    backwards = {name: shares[other] for name, other in zip(shares, reversed(shares), strict=True)}
    union = UnionCompleter([Scripted(shares, "one"), Scripted(backwards, "two")], "log-odds")
    (row,) = union.complete([BORN], None)
    for limit in (0, 1, 3, 120, 700):
        assert union.complete([BORN], limit) == [row[:limit]]
    # The two lists are each other's reverse, so that both ends of them are the most likely.
    assert {row[0].triple.object, row[1].triple.object} == {"p000", "p599"}


def test_an_unknown_method_is_refused() -> None:
    with pytest.raises(ValueError, match="method"):
        UnionCompleter([Scripted({}, "one")], "mean")  # type: ignore[arg-type]


class TestUnion(CompleterConformance):
    name = "union"

    @pytest.fixture
    def driver(self, graph: OracleGraph) -> UnionCompleter:
        inner = [FrequencyCompleter(graph=graph), ToyCompleter(graph=graph)]
        for one in inner:
            one.open()
        return UnionCompleter(inner)


class TestUnionByLogOdds(CompleterConformance):
    name = "union"

    @pytest.fixture
    def driver(self, graph: OracleGraph) -> UnionCompleter:
        inner = [FrequencyCompleter(graph=graph), ToyCompleter(graph=graph)]
        for one in inner:
            one.open()
        return UnionCompleter(inner, "log-odds")


def test_what_follows_with_an_equal_mean_comes_first_by_its_triple() -> None:
    # Confidences that are equal in six digits: the first by name stands behind a hundred others.
    places = {f"Z{number:03}": 0.5 for number in range(REASONS)} | {"Aachen": 0.5 - 1e-9}
    (row,) = UnionCompleter([Scripted(places, "one")], method="log-odds").complete([BORN], 1)
    assert [one.triple.object for one in row] == ["Aachen"]


def test_the_mean_of_log_odds_is_the_one_worked_out_by_hand() -> None:
    # Odds of 4 and 1/9: their geometric mean is 2/3.
    both = UnionCompleter([Scripted({"Rome": 0.8}, "one"), Scripted({"Rome": 0.1}, "two")], method="log-odds")
    assert both.rate([BORN], [["Rome"]]) == [[pytest.approx(0.4)]]
