"""A generator without a model: answers by rule, and keeps the prompts."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import attrs

from srtk_framework.roles import Generator
from srtk_framework.text import count_tokens
from srtk_framework.values import Prompt, Reply

Script = Any
"""A text, a Reply, or a function that makes one of these from the prompt; None for no answer by this rule."""


@attrs.define(eq=False)
class ScriptedGenerator(Generator):
    """Replies by the first rule whose words occur in the prompt, and keeps all prompts.

    Attributes:
        rules: Pairs of words and the answer to a prompt with these words in any message.
        default: The answer where no rule applies.
        rater: Rates one option of a prompt, ``rater(prompt, option)``; None for a generator that does not rate.
        price: Cost of each call.
        prompts: All prompts in order, also those that were only rated.
    """

    rules: Sequence[tuple[str, Script]] = ()
    default: Script = ""
    rater: Callable[[Prompt, str], float] | None = None
    price: float = 0.0
    prompts: list[Prompt] = attrs.field(init=False, factory=list, repr=False)

    def generate(self, prompts: Sequence[Prompt]) -> list[Reply]:
        """Answer by rule."""
        self.prompts += prompts
        return [self._reply(prompt) for prompt in prompts]

    def rate(self, prompts: Sequence[Prompt]) -> Sequence[Sequence[float]]:
        """Rate by ``rater``."""
        if self.rater is None:
            return super().rate(prompts)
        self.prompts += prompts
        return [[float(self.rater(prompt, option)) for option in prompt.options] for prompt in prompts]

    def rates(self) -> bool:
        """Return whether there is a ``rater``."""
        return self.rater is not None

    def asked(self, words: str) -> list[Prompt]:
        """Return the prompts with some words in them, in order."""
        return [prompt for prompt in self.prompts if words in said(prompt)]

    def _reply(self, prompt: Prompt) -> Reply:
        shown = said(prompt)
        for answer in (*(answer for words, answer in self.rules if words in shown), self.default):
            made = answer(prompt) if callable(answer) else answer
            if isinstance(made, Reply):
                return made
            if made is not None:
                return Reply(str(made), None, "stop", count_tokens(shown), count_tokens(str(made)), self.price)
        return Reply(error="no rule has an answer to this prompt")


def picks(*wanted: str) -> Callable[[Prompt], str | None]:
    """Make a rule that chooses the options with these words: those that are equal, or else those that hold them.

    Where the prompt has no such option, the rule does not apply.
    """

    def choose(prompt: Prompt) -> str | None:
        found: list[int] = []
        for words in wanted:
            equal = [i for i, option in enumerate(prompt.options, 1) if option == words]
            found += equal or [i for i, option in enumerate(prompt.options, 1) if words in option]
        return json.dumps(list(dict.fromkeys(found))) if found else None

    return choose


def said(prompt: Prompt) -> str:
    """Join the messages of a prompt."""
    return "\n".join(message.content for message in prompt.messages)


def misnumbered(prompt: Prompt) -> list[str]:
    """List the options that do not stand on exactly one line of the prompt, ``N. option``, with their own number."""
    lines = said(prompt).splitlines()
    wrong = []
    for number, option in enumerate(prompt.options, 1):
        text = " ".join(option.split())
        places = [line for line in lines if line.strip().partition(". ")[2] == text]
        if len(places) != 1 or not places[0].strip().startswith(f"{number}. "):
            wrong.append(option)
    return wrong
