"""Ask a generator for choices, all questions at once, and keep what was asked, replied and used."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from srtk_framework.roles import Generator
from srtk_framework.text import FALLBACK, RATED, Choice, chosen, numbered
from srtk_framework.values import Prompt, Reply, total, usage
from srtk_plugin_structgpt.search_state import WalkState
from srtk_plugin_structgpt.templates import Template

By = Literal["reply", "rating"]

ONLY = "only"
"""How it was chosen where there was one option, and one was needed: nobody was asked."""


class Asked(NamedTuple):
    """One choice to be made for a question."""

    state: WalkState
    template: Template
    prompt: Prompt


def options_prompt(
    template: Template, options: Sequence[str], values: Mapping[str, str], least: int, most: int, query: str
) -> Prompt:
    """Fill in a template that shows options; each stands on a line of its own, behind its number."""
    most = min(most, len(options))
    filled = {**values, "options": numbered(options), "most": str(most)}
    return template.prompt(filled, options=tuple(options), least=least, most=most, query=query)


def choices(generator: Generator, by: By, asked: Sequence[Asked]) -> list[Choice]:
    """Have the generator choose, by one call for all, and record each choice with the state that it is made for."""
    open_ = [i for i, (_, _, prompt) in enumerate(asked) if len(prompt.options) > 1 or prompt.least == 0]
    made = [Choice((1,), FALLBACK) for _ in asked]
    for i, choice in zip(open_, chosen(generator, [asked[i].prompt for i in open_], by=by), strict=True):
        made[i] = choice
    for i, (state, template, prompt) in enumerate(asked):
        how = made[i].how if i in open_ else ONLY
        record(state, template, made[i].replies, options=prompt.options, numbers=made[i].numbers, how=how)
        if how == RATED:
            state.used = total([state.used, {"calls": 1}])
    return made


def unreadable(choice: Choice) -> bool:
    """Tell whether nothing could be read from the replies."""
    return choice.how == FALLBACK and not choice.numbers


def record(state: WalkState, template: Template, replies: Sequence[Reply], **what: Any) -> None:
    """Keep one call with its state."""
    state.calls.append(call(template, replies, state.hop + 1, **what))
    state.used = total([state.used, usage(replies)])
    state.errors += [reply.error for reply in replies if reply.error is not None]


def call(template: Template, replies: Sequence[Reply], hop: int | None = None, **what: Any) -> dict[str, Any]:
    """Write down one call, without times; ``cut`` counts replies that ended at their longest."""
    written: dict[str, Any] = {"template": template.name, "version": template.version}
    if hop is not None:
        written["hop"] = hop
    for name, value in what.items():
        written[name] = list(value) if isinstance(value, tuple) else value
    written["replies"] = [reply.text for reply in replies]
    if cut := sum(reply.finish == "length" for reply in replies):
        written["cut"] = cut
    if errors := [reply.error for reply in replies if reply.error is not None]:
        written["errors"] = errors
    return written
