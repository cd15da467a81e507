"""Ask for answers without the graph, where a walk found none."""

from __future__ import annotations

from collections.abc import Sequence

from srtk_framework.roles import Generator
from srtk_framework.values import Answer
from srtk_plugin_structgpt.asking import record
from srtk_plugin_structgpt.search_state import WalkState
from srtk_plugin_structgpt.templates import Template

CLOSED_BOOK = "closed-book"
"""The template, and why such a search ended."""


def close_book(generator: Generator, template: Template, states: Sequence[WalkState]) -> None:
    """Give the states what the generator answers by itself; they are done then."""
    if not states:
        return
    prompts = [template.prompt({"question": state.question.text}, query=state.query) for state in states]
    for state, reply in zip(states, generator.generate(prompts), strict=True):
        record(state, template, (reply,))
        state.done = True
        text = reply.text.rpartition("</think>")[2].strip()
        if reply.error is None and text:
            state.answer = Answer(text=text)
            state.stop = CLOSED_BOOK
