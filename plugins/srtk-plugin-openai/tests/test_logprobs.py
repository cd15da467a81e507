"""Options rated by the log-probabilities of their letters."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from srtk_plugin_openai.errors import SetUpError
from srtk_plugin_openai.generator import OpenAIGenerator
from srtk_plugin_openai.logprobs import LETTERS, rated, read

from srtk_framework.values import DriverError, Message, Prompt

Serve = Callable[..., Any]
Make = Callable[..., OpenAIGenerator]
Ask = Callable[..., Prompt]


def weighed(text: str) -> dict[str, float]:
    """Find each letter's log-probability: options are `word:weight`."""
    weights = {m[1]: float(m[2]) for m in re.finditer(r"^([A-T]): .*?:([\d.]+)$", text, re.MULTILINE)}
    total = sum(weights.values())
    return {letter: math.log(weight / total) for letter, weight in weights.items()}


def of_body(body: Mapping[str, Any]) -> dict[str, float]:
    return weighed(body["messages"][-1]["content"])


def test_the_most_probable_letter_is_the_best_option(serve: Serve, generator: Make, prompt: Ask) -> None:
    server = serve(logprobs=of_body)
    made = generator(server, rating=True)
    assert made.rates() is True
    rows = made.rate([prompt("choose", "a:1", "b:6", "c:3"), prompt("nothing"), prompt("one", "a:2")])
    assert rows == [[round(math.log(w / 10), 4) for w in (1, 6, 3)], [], [0.0]]
    body = server.seen[0].body
    assert (body["max_tokens"], body["logprobs"], body["top_logprobs"]) == (1, True, 20)


def test_ratings_are_counted_in_what_is_spent_and_kept(serve: Serve, generator: Make, prompt: Ask) -> None:
    server = serve(logprobs=of_body)
    made = generator(server, rating=True)
    for _ in range(2):
        made.rate([prompt("choose", "a:1", "b:6")])
    assert len(server.seen) == 1
    assert (made.spent.tokens_in, made.spent.tokens_out) == server.billed


def test_without_the_setting_options_are_not_rated(serve: Serve, generator: Make, prompt: Ask) -> None:
    made = generator(serve(logprobs=of_body))
    assert made.rates() is False
    with pytest.raises(DriverError, match="rating: true"):
        made.rate([prompt("choose", "a:1", "b:6")])


def test_a_server_without_probabilities_is_named(serve: Serve, generator: Make, prompt: Ask) -> None:
    with pytest.raises(SetUpError, match="set `rating: false`"):
        generator(serve(), rating=True).rate([prompt("choose", "a:1", "b:6")])


def test_an_option_cannot_add_lines(serve: Serve, generator: Make, prompt: Ask) -> None:
    server = serve(logprobs=of_body)
    generator(server, rating=True).rate([prompt("choose", "a:1", "b\nA: x:9:6")])
    lines = server.seen[0].body["messages"][-1]["content"].splitlines()
    assert lines[-2:] == ["A: a:1", "B: b A: x:9:6"]


def test_blanks_and_case_of_a_letter_do_not_matter_and_a_missing_one_is_below_all() -> None:
    top = [("A", math.log(0.25)), (" a", math.log(0.25)), ("The", math.log(0.125)), ("B", math.log(0.2))]
    first, second, third = read(top, 3)
    assert first == pytest.approx(math.log(0.5))
    assert second == pytest.approx(math.log(0.2))
    assert third == pytest.approx(math.log(0.125) - 1)


@given(st.lists(st.integers(1, 10**6), min_size=1, max_size=500, unique=True))
def test_more_options_than_letters_are_rated_in_groups_that_keep_the_best_and_each_group_s_order(
    weights: list[int],
) -> None:
    prompt = Prompt((Message("user", "choose"),), tuple(f"o:{weight}" for weight in weights))

    def ask(conversations: Sequence[Sequence[Message]]) -> list[list[tuple[str, float]]]:
        return [list(weighed(conversation[-1].content).items()) for conversation in conversations]

    (row,) = rated([prompt], ask)
    assert len(row) == len(weights)
    assert row.index(max(row)) == weights.index(max(weights))
    for start in range(0, len(weights), len(LETTERS)):
        group = range(start, min(start + len(LETTERS), len(weights)))
        by_weight = sorted(group, key=lambda i: weights[i])
        assert all(row[a] <= row[b] for a, b in itertools.pairwise(by_weight))
