"""The budget of a run in tokens and money: the same prompts are answered whatever the concurrency."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from srtk_plugin_openai.budget import NOTHING, Prices, Purse, Size
from srtk_plugin_openai.errors import SpentError
from srtk_plugin_openai.generator import OpenAIGenerator
from srtk_plugin_openai.limits import ServerLimits

from srtk_framework.values import Prompt

Serve = Callable[..., Any]
Make = Callable[..., OpenAIGenerator]
Ask = Callable[..., Prompt]


def errors(made: OpenAIGenerator, prompts: list[Prompt]) -> list[str | None]:
    return [reply.error for reply in made.generate(prompts)]


def test_when_the_tokens_are_spent_the_replies_say_so(serve: Serve, generator: Make, prompt: Ask) -> None:
    server = serve()
    made = generator(server, max_tokens_total=100, length=5, workers=1)
    told = errors(made, [prompt(f"word {n}") for n in range(12)])
    answered = sum(error is None for error in told)
    assert 0 < answered < 12
    assert told[:answered] == [None] * answered
    assert all(
        error and "the budget of tokens is spent" in error and "max_tokens_total" in error for error in told[answered:]
    )
    assert len(server.seen) == answered
    assert sum(server.billed) <= 100


def test_when_the_money_is_spent_the_replies_say_so(serve: Serve, generator: Make, prompt: Ask) -> None:
    made = generator(serve(), max_cost=0.0004, price_in=2.0, price_out=10.0, length=4)
    told = errors(made, [prompt(f"word {n}") for n in range(20)])
    assert None in told
    assert told[-1] is not None
    assert "the budget of money is spent" in told[-1]
    assert "max_cost" in told[-1]
    assert made.cost <= 0.0004


def test_the_budget_holds_for_the_run_and_not_for_a_batch(serve: Serve, generator: Make, prompt: Ask) -> None:
    made = generator(serve(), max_tokens_total=100, length=5)
    assert errors(made, [prompt("one"), prompt("two")]) == [None, None]
    assert None not in errors(
        made, [prompt(f"word {n} and many more words, so that it is too much " * 6) for n in range(2)]
    )
    assert errors(made, [prompt("one")]) == [None]


@pytest.mark.parametrize("limit", [60, 150, 400])
def test_the_same_prompts_are_answered_whatever_the_concurrency(
    serve: Serve, generator: Make, prompt: Ask, quick: ServerLimits, limit: int
) -> None:
    prompts = [prompt(f"word {n} " * (1 + n % 4)) for n in range(30)]
    # A reply that comes too late is paid for twice, which a busy machine must not decide.
    limits = attrs.evolve(quick, deadline=60.0, patience=120.0)

    def told(workers: int) -> list[str | None]:
        server = serve(latency=0.002)
        return errors(generator(server, max_tokens_total=limit, length=9, workers=workers, limits=limits), prompts)

    assert told(1) == told(2) == told(12)


def test_what_is_kept_costs_no_budget(serve: Serve, generator: Make, prompt: Ask, tmp_path: Path) -> None:
    cache = str(tmp_path / "replies.db")
    prompts = [prompt(f"word {n}") for n in range(4)]
    server = serve()
    generator(server, cache=cache).generate(prompts)
    assert errors(generator(server, cache=cache, max_tokens_total=1), prompts) == [None] * 4


@given(
    st.lists(st.tuples(st.integers(1, 20), st.integers(1, 20), st.integers(0, 1000)), max_size=12),
    st.integers(1, 200),
    st.integers(1, 5),
)
def test_a_call_is_admitted_as_if_calls_were_made_one_by_one(
    calls: list[tuple[int, int, int]], limit: int, at_once: int
) -> None:
    def run(at_once: int) -> list[bool]:
        purse = Purse(limit, None, Prices())
        flying: list[tuple[Size, Size]] = []
        admitted = []
        for expected, more, share in calls:
            largest = Size(expected + more, 0)
            # What is in flight ends when a call has to wait for it, or there are no more places.
            while flying and (len(flying) >= at_once or purse._over([one for one, _ in flying] + [largest])):
                purse.settle(*flying.pop(0), NOTHING)
            try:
                purse.admit(Size(expected, 0), largest)
            except SpentError:
                admitted.append(False)
                continue
            admitted.append(True)
            flying.append((largest, Size((expected + more) * share // 1000, 0)))
        return admitted

    assert run(at_once) == run(1)


def test_each_of_four_processes_has_a_quarter_of_the_budget(
    serve: Serve, generator: Make, prompt: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    prompts = [prompt(f"word {n} ") for n in range(40)]

    def answered() -> int:
        return errors(generator(serve(), max_tokens_total=480, length=9), prompts).count(None)

    whole = answered()
    monkeypatch.setenv("SRTK_WORKERS", "4")
    assert 0 < 4 * answered() <= whole < len(prompts)
