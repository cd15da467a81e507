"""Limits of one call: as if the recipe had them, and gone after the call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs
import pytest

import srtk_framework
from srtk_framework.roles import Expander
from srtk_framework.run import Session
from srtk_framework.run.limits import Limits, limited
from srtk_framework.values import Budget, Link, Question, Subgraph

TRIPLES = [[f"n{i}", f"r{i % 3}", f"n{(i * 7 + j) % 20}"] for i in range(20) for j in range(1, 5)]
QUESTION = Question("q", "", (Link("n3"),))


def recipe(expander: str, **more: Any) -> dict[str, Any]:
    block = {"use": expander, "depth": more.pop("depth", 2)}
    graph = {"use": "memory", "triples": TRIPLES}
    return {"srtk": 1, "knowledge_graph": graph, "expander": block, "budget": more}


@pytest.mark.parametrize("expander", ["bfs", "ppr"])
@pytest.mark.parametrize("limits", [{"triples": 4}, {"tokens": 30}, {"depth": 1}, {"depth": 1, "triples": 2}])
def test_a_limited_call_gives_what_a_recipe_with_these_limits_gives(expander: str, limits: dict[str, Any]) -> None:
    with srtk_framework.open(recipe(expander, triples=30)) as session:
        free = session.retrieve([QUESTION])
        some = session.retrieve([QUESTION], limits=limits)
        assert session.retrieve([QUESTION]) == free
    with srtk_framework.open(recipe(expander, **{"triples": 30, **limits})) as session:
        assert some == session.retrieve([QUESTION])
    assert some != free


def test_no_limit_widens_what_the_recipe_allows() -> None:
    with srtk_framework.open(recipe("bfs", depth=1, triples=3)) as session:
        assert session.retrieve([QUESTION], limits={"triples": 50, "depth": 3}) == session.retrieve([QUESTION])


def test_limits_are_gone_after_a_call_that_fails() -> None:
    with srtk_framework.open(recipe("bfs")) as session:
        driver = session.methods["bfs"].driver  # type: ignore[attr-defined]

        def fails() -> None:
            with limited(Limits(triples=1, seconds=2.5), session.methods["bfs"]):
                assert (driver.budget.triples, driver.budget.seconds) == (1, 2.5)
                raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            fails()
        assert driver.budget == Budget(triples=50)


def test_calls_with_other_limits_share_no_batch() -> None:
    assert Limits(triples=3) == Limits(3)
    assert hash(Limits(triples=3)) == hash(Limits(3))
    assert Limits(triples=3) != Limits(triples=4)


@pytest.mark.parametrize("limits", [{"triples": 0}, {"depth": 0}, {"seconds": 0}, {"tokens": -1}])
def test_a_limit_below_one_is_refused_before_any_work(limits: dict[str, Any]) -> None:
    with srtk_framework.open(recipe("bfs")) as session, pytest.raises(ValueError, match="must be"):
        session.retrieve([QUESTION], limits=limits)


def test_a_limit_that_does_not_exist_is_refused() -> None:
    with srtk_framework.open(recipe("bfs")) as session, pytest.raises(TypeError, match="width"):
        session.retrieve([QUESTION], limits={"width": 3})


@pytest.mark.parametrize("limits", [{"triples": 2.5}, {"tokens": "3"}, {"depth": True}])
def test_a_limit_that_is_no_whole_number_is_refused(limits: dict[str, Any]) -> None:
    with srtk_framework.open(recipe("bfs")) as session, pytest.raises(ValueError, match="must be a whole number"):
        session.retrieve([QUESTION], limits=limits)


def test_a_driver_that_fails_while_limits_are_set_keeps_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    with srtk_framework.open(recipe("bfs")) as session:
        driver = session.methods["bfs"].driver  # type: ignore[attr-defined]
        monkeypatch.setattr(type(driver), "settings_in_force", lambda self: 1 / 0)
        monkeypatch.setattr(driver, "depth", "auto")
        with pytest.raises(ZeroDivisionError):
            session.retrieve([QUESTION], limits={"triples": 1, "depth": 1})
        assert driver.budget == Budget(triples=50)


@attrs.define(eq=False)
class Plain(Expander):
    """An expander of a stranger, which has no limits."""

    def expand(self, questions: Sequence[Question]) -> list[Subgraph]:
        return [Subgraph() for _ in questions]


@pytest.mark.parametrize("name", ["triples", "tokens", "depth", "seconds"])
def test_a_limit_that_no_driver_can_keep_stands_in_the_trace(name: str) -> None:
    graph = {"use": "memory", "triples": TRIPLES}
    with Session.of(graph=graph, expander=Plain()) as session:
        [found] = session.retrieve([QUESTION], limits={name: 2})
        assert found.subgraph.trace["limits_ignored"] == [name]
    with srtk_framework.open(recipe("bfs")) as session:
        assert "limits_ignored" not in session.retrieve([QUESTION], limits={name: 2})[0].subgraph.trace
