"""Generators that each break one rule of Generator."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import attrs
import pytest

from kit.checked import opened
from kit.rules import Fault, batch_faults, changed, kept_under, publish
from srtk_framework.testing.generator import GeneratorConformance, ToyGenerator
from srtk_framework.values import DriverError

GOOD = ToyGenerator


class Checked(GeneratorConformance):
    """Tests one of the generators."""

    under_test: ClassVar[type[ToyGenerator]] = GOOD

    @pytest.fixture
    def driver(self) -> ToyGenerator:
        """Open it."""
        return opened(self.under_test())


def _where(words: str, **changes: Any) -> Any:
    """Change the replies to prompts with some words in their query."""

    def method(self: Any, call: Any, prompts: Any) -> Any:
        pairs = zip(prompts, call(prompts), strict=True)
        return [attrs.evolve(reply, **changes) if words in prompt.query else reply for prompt, reply in pairs]

    return method


def _gives_up(self: Any, call: Any, prompts: Any) -> Any:
    if any(len(prompt.query) > 100_000 for prompt in prompts):
        raise DriverError("a prompt is too long")
    return call(prompts)


def _half_a_reply(self: Any, call: Any, prompts: Any) -> Any:
    pairs = zip(prompts, call(prompts), strict=True)
    return [attrs.evolve(reply, error="too long") if len(p.query) > 100_000 else reply for p, reply in pairs]


def _infinite(self: Any, call: Any, prompts: Any) -> Any:
    return [[-math.inf, *row[1:]] for row in call(prompts)]


def _too_few(self: Any, call: Any, prompts: Any) -> Any:
    return [row[:3] for row in call(prompts)]


def _with_marks(self: Any, call: Any, texts: Any) -> Any:
    return [count + 2 for count in call(texts)]


FAULTS: list[Fault] = [
    *batch_faults(GOOD, "generate"),
    changed(
        GOOD, "test_no_answer_depends_on_what_was_asked_before", generate=kept_under(lambda p: p.query or p.messages)
    ),
    changed(GOOD, "test_a_prompt_gets_a_reply_and_no_error", generate=_where("that begins with", text="", error="no")),
    changed(
        GOOD, "test_a_choice_is_a_json_list_of_numbers_of_options", generate=_where("capital of Latvia", text="capital")
    ),
    changed(GOOD, "test_a_choice_is_a_json_list_of_numbers_of_options", generate=_where("capital of", text="[5]")),
    changed(GOOD, "test_a_choice_is_a_json_list_of_numbers_of_options", generate=_where("border", text="[1, 1]")),
    changed(GOOD, "test_a_choice_is_a_json_list_of_numbers_of_options", generate=_where("How many", text="[1]")),
    changed(GOOD, "test_what_is_used_is_counted_from_nought", generate=_where("", tokens_in=-1)),
    changed(GOOD, "test_what_is_used_is_counted_from_nought", generate=_where("", cost=math.inf)),
    changed(GOOD, "test_the_length_of_a_reply_is_obeyed", generate=_where("long story", tokens_out=40)),
    changed(GOOD, "test_a_prompt_that_is_too_long_spoils_no_other", generate=_gives_up),
    changed(GOOD, "test_a_prompt_that_is_too_long_spoils_no_other", generate=_half_a_reply),
    changed(GOOD, "test_quotes_and_other_scripts_are_answered", generate=_where('"', text="", error="a quote")),
    changed(GOOD, "test_rates_tells_whether_options_are_rated", rates=lambda self, call: 1),
    changed(GOOD, "test_rates_tells_whether_options_are_rated", rates=lambda self, call: False),
    changed(GOOD, "test_every_option_has_a_finite_rate", rate=_infinite),
    changed(GOOD, "test_every_option_has_a_finite_rate", rate=_too_few),
    changed(GOOD, "test_tokens_of_a_text_are_counted", count_tokens=_with_marks),
]
publish(__name__, globals(), FAULTS)
