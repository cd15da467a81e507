"""Say which triples an answer rests on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from srtk_framework.values import Answer, Subgraph
from srtk_plugin_structgpt.asking import Asked, choices, options_prompt
from srtk_plugin_structgpt.fitting import fitting
from srtk_plugin_structgpt.search_state import WalkState
from srtk_plugin_structgpt.wording import lines

if TYPE_CHECKING:
    from srtk_plugin_structgpt.expander_base import Walking

TEMPLATE = "support"


def marked(walking: Walking, answered: Sequence[tuple[WalkState, Answer, Subgraph]]) -> list[list[int]]:
    """Give the places of the triples that each answer rests on.

    They are those that the reader named, else those that the generator marks; none where it marks none, or its reply
    cannot be read.
    """
    marks = [list(answer.support) for _, answer, _ in answered]
    open_ = [i for i, mark in enumerate(marks) if not mark and answered[i][2].triples]
    rows = lines(walking.graph, [answered[i][2].triples for i in open_])
    template = walking.templates[TEMPLATE]
    asked = []
    for i, row, size in zip(open_, rows, fitting(walking.generator.count_tokens, rows, walking.tokens), strict=True):
        state, answer, _ = answered[i]
        state.drop("tokens", len(row) - max(size, 1))
        shown = row[: max(size, 1)]
        values = {"question": state.question.text, "answer": answer.text}
        asked.append(Asked(state, template, options_prompt(template, shown, values, 0, len(shown), state.query)))
    for i, choice in zip(open_, choices(walking.generator, walking.by, asked), strict=True):
        marks[i] = [number - 1 for number in choice.numbers]
    return marks
