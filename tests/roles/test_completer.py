"""What the port of a completer refuses, and what the role's defaults do."""

from __future__ import annotations

import attrs
import pytest

from srtk_framework.host import port
from srtk_framework.roles import Completer
from srtk_framework.values import Completion, DriverError, Literal, Pattern, Step, Triple, open_end

BORN = Pattern("Ada", "born_in")


@attrs.define(eq=False)
class Scripted(Completer):
    """Answers what it is told.

    Attributes:
        rows: Completions of every pattern.
        rates: Rates of every pattern; None for the default.
        steps: Offers for every set.
    """

    rows: list = attrs.field(factory=list)
    steps: list = attrs.field(factory=list)
    asked: list = attrs.field(init=False, factory=list)

    def complete(self, patterns, limit):
        self.asked += [open_end(pattern) for pattern in patterns]
        return [list(self.rows) for _ in patterns]

    def offers(self, node_sets, inverse):
        return [list(self.steps) for _ in node_sets]


class Rated(Scripted):
    """Answers its rows as rates."""

    def rate(self, patterns, candidates):
        return [list(self.rows) for _ in patterns]


def born(place, confidence=0.5):
    return Completion(Triple("Ada", "born_in", place), confidence)


def behind(driver):
    return port(driver, "completer", "scripted")


@pytest.mark.parametrize(
    ("rows", "fault"),
    [
        ([("Ada", "born_in", "London")], "return a Completion"),
        ([Completion(Triple("Bob", "born_in", "London"), 0.5)], "that fit the pattern"),
        ([Completion(Triple("Ada", "died_in", "London"), 0.5)], "that fit the pattern"),
        ([born(Literal.make("London"))], "entities only"),
        ([born("London", 1.0)], "below 1"),
        ([born("London", -0.1)], "below 1"),
        ([born("London", float("nan"))], "below 1"),
        ([born("London", 1 / 3)], "round the confidence"),
        ([born("London"), born("London", 0.4)], "twice"),
        ([born("London", 0.4), born("Paris")], "after a completion that it precedes"),
        ([born("Paris"), born("London")], "after a completion that it precedes"),
        ([born("London"), born("Paris"), born("Rome")], "the limit is 2"),
    ],
)
def test_completions_that_break_the_contract_are_refused(rows, fault):
    with pytest.raises(DriverError, match=f"^scripted: .*{fault}"):
        behind(Scripted(rows)).complete([BORN], 2)


def test_completions_in_order_pass_and_each_pattern_is_asked_once():
    driver = Scripted([born("London"), born("Paris"), born("Rome", 0.4)])
    found = behind(driver).complete([BORN, BORN], None)
    assert found == [driver.rows, driver.rows]
    assert driver.asked == [("Ada", Step("born_in"))]


@pytest.mark.parametrize("rates", [[0.5], [0.5, 1.0], [0.5, -0.1], [0.5, float("nan")], [0.5, "high"]])
def test_rates_that_are_no_confidences_are_refused(rates):
    with pytest.raises(DriverError, match=r"^scripted: rate "):
        behind(Rated(rates)).rate([BORN], [["London", "Paris"]])


def test_the_default_rate_is_the_confidence_of_the_completion_or_nothing():
    completer = behind(Scripted([born("London"), born("Paris", 0.25)]))
    assert completer.rate([BORN, BORN], [["Paris", "Rome", "Paris"], ["London"]]) == [[0.25, 0.0, 0.25], [0.5]]


def test_the_default_rate_runs_on_checked_completions():
    with pytest.raises(DriverError, match="entities only"):
        behind(Scripted([born(Literal.make("London"))])).rate([BORN], [["London"]])


def test_the_default_rate_finds_open_subjects():
    found = [Completion(Triple("Ada", "born_in", "London"), 0.5)]
    assert behind(Scripted(found)).rate([Pattern(None, "born_in", "London")], [["Ada", "London"]]) == [[0.5, 0.0]]


@pytest.mark.parametrize(
    ("steps", "fault"),
    [
        ([Step("r"), Step("q")], "sorted and distinct"),
        ([Step("r"), Step("r")], "sorted and distinct"),
        ([Step("r", True)], "inverse"),
    ],
)
def test_offers_that_break_the_contract_are_refused(steps, fault):
    with pytest.raises(DriverError, match=fault):
        behind(Scripted(steps=steps)).offers([["Ada"]], False)


def test_a_completer_offers_nothing_by_default():
    class Silent(Scripted):
        offers = Completer.offers

    assert behind(Silent()).offers([["Ada"], ["Bob"]], True) == [(), ()]
