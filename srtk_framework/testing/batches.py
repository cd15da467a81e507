"""Checks of batches: alignment, order, independence of the split, unchanged input, repeatable answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import attrs
import pytest

from srtk_framework.testing.base import Answers, Conformance
from srtk_framework.testing.oracle import OracleGraph
from srtk_framework.testing.values import plain, same

FEW = 8
MANY = 70  # More than the usual batch of 64, so that an answer comes from two batches


@attrs.frozen
class Probe:
    """A method of a driver, with a batch to call it with.

    Attributes:
        name: Name of the method.
        method: The bound method.
        items: Distinct items of the batch, each a tuple of the arguments that go side by side.
        rest: Arguments that the whole batch shares.
        tolerance: How far numbers may differ between batches.
        related: Further items that share an id, text, entity or step with each other or with the first of ``items``.
            A cache whose key is that part alone gives a wrong answer for some of them.
    """

    name: str
    method: Callable[..., Any]
    items: Sequence[tuple[Any, ...]]
    rest: tuple[Any, ...] = ()
    tolerance: float = 0.0
    related: Sequence[tuple[Any, ...]] = ()

    def columns(self, items: Sequence[tuple[Any, ...]]) -> list[list[Any]]:
        """Turn items into one list for each argument."""
        return [[item[i] for item in items] for i in range(len(self.items[0]))]

    def ask(self, items: Sequence[tuple[Any, ...]]) -> tuple[Any, ...]:
        """Call the method and convert its answer into plain form."""
        answer: tuple[Any, ...] = plain(self.method(*self.columns(items), *self.rest))
        return answer

    def few(self) -> list[tuple[Any, ...]]:
        """Return some items in a fixed order."""
        return sorted(self.items[:FEW], key=lambda item: repr(plain(item)))

    def agree(self, one: Any, other: Any) -> bool:
        """Compare two answers."""
        return same(one, other, self.tolerance)


Probes = Callable[[Any], list[Probe]]


class BatchConformance(Conformance):
    """The checks of all roles whose methods take batches."""

    @pytest.fixture
    def graph(self) -> OracleGraph:
        """Return the opened sample graph, for drivers that need a graph."""
        graph = OracleGraph()
        graph.open()
        return graph

    @pytest.fixture
    def probes(self) -> Probes:
        """Return a function that lists, for a driver, the methods to call and the items to call them with."""
        pytest.fail("a conformance class must give the fixture `probes`")

    @pytest.fixture
    def answers(self, probes: Probes) -> Answers:
        """Call the methods of all probes with some items."""
        return lambda driver: tuple(probe.ask(probe.few()) for probe in probes(driver))

    def test_a_large_batch_gets_one_answer_for_each_item(self, driver: Any, probes: Probes) -> None:
        """A batch of 70 items or more gets one answer for each."""
        for probe in probes(driver):
            items = [probe.items[i % len(probe.items)] for i in range(max(MANY, len(probe.items)))]
            size = len(probe.method(*probe.columns(items), *probe.rest))
            assert size == len(items), f"{probe.name} got {len(items)} items and returned {size}"

    def test_the_order_of_a_batch_is_the_order_of_its_answers(self, driver: Any, probes: Probes) -> None:
        """A reversed batch gets reversed answers."""
        for probe in probes(driver):
            items = probe.few()
            forward, backward = probe.ask(items), probe.ask(items[::-1])
            assert probe.agree(backward, forward[::-1]), f"{probe.name} answers in another order than it was asked"

    def test_duplicates_in_a_batch_get_equal_answers(self, driver: Any, probes: Probes) -> None:
        """An item that occurs twice in a batch gets the same answer twice."""
        for probe in probes(driver):
            items = probe.few()
            once = probe.ask(items)
            twice = probe.ask([item for item in items for _ in range(2)])
            wanted = tuple(answer for answer in once for _ in range(2))
            assert probe.agree(twice, wanted), f"{probe.name} answers duplicates in one batch wrongly"

    def test_an_empty_batch_gets_an_empty_answer(self, driver: Any, probes: Probes) -> None:
        """An empty batch is no error and gets no answers."""
        for probe in probes(driver):
            answer = probe.method(*probe.columns([]), *probe.rest)
            assert len(answer) == 0, f"{probe.name} answers an empty batch with {answer!r}"

    def test_a_batch_is_answered_as_its_items_one_by_one(self, driver: Any, probes: Probes) -> None:
        """An answer depends on its item alone, not on the rest of the batch."""
        for probe in probes(driver):
            items = probe.few()
            together = probe.ask(items)
            for item, answer in zip(items, together, strict=True):
                alone = probe.ask([item])
                assert probe.agree(alone, (answer,)), (
                    f"{probe.name} answers {plain(item)!r} in a batch by {answer!r}, alone by {alone!r}"
                )

    def test_a_call_leaves_its_input_untouched(self, driver: Any, probes: Probes) -> None:
        """A driver changes neither the lists that it is given nor their items."""
        for probe in probes(driver):
            given = [[list(x) if isinstance(x, list) else x for x in column] for column in probe.columns(probe.few())]
            before = plain(given)
            probe.method(*given, *probe.rest)
            assert plain(given) == before, f"{probe.name} changed the lists that it was given"

    def test_the_same_call_gives_the_same_answer_twice(self, driver: Any, probes: Probes) -> None:
        """Repeating a call repeats its answer."""
        for probe in probes(driver):
            items = probe.few()
            first, second = probe.ask(items), probe.ask(items)
            assert first == second, f"{probe.name} answers the same call differently the second time"

    def test_no_answer_depends_on_what_was_asked_before(self, driver: Any, probes: Probes) -> None:
        """Two new drivers, asked in opposite orders about items that share an id, text or entity, agree."""
        with self.copy_of(driver) as one, self.copy_of(driver) as other:
            for forward, backward in zip(probes(one), probes(other), strict=True):
                items = [*forward.few(), *forward.related]
                first = [forward.ask([item]) for item in items]
                second = [backward.ask([item]) for item in reversed([*backward.few(), *backward.related])]
                for item, mine, its in zip(items, first, reversed(second), strict=True):
                    assert forward.agree(mine, its), (
                        f"{forward.name} answers {plain(item)!r} by {mine!r}, or by {its!r} where other items came"
                        " before; keep nothing between questions, or keep it under all that the answer depends on"
                    )

    def test_a_second_instance_answers_the_same(self, driver: Any, probes: Probes) -> None:
        """Two open drivers with equal settings give equal answers."""
        with self.copy_of(driver) as other:
            for mine, its in zip(probes(driver), probes(other), strict=True):
                first, second = mine.ask(mine.few()), its.ask(its.few())
                assert mine.agree(first, second), (
                    f"{mine.name} of a second driver with equal settings answers otherwise"
                )
