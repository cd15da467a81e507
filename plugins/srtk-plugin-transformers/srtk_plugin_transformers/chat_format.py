"""Format of a conversation: the text that a language model continues."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from srtk_framework.values import Message, best_first

_NAMES = {"system": "", "user": "User: ", "assistant": "Assistant: "}
NEXT = "\nUser:"  # Start of a user turn; where a model without a chat template writes one, its reply has ended
_SURROGATE = re.compile("[\ud800-\udfff]")


class TemplateError(ValueError):
    """Raised when a model's chat template refuses a conversation."""


def clean(text: str, marks: Sequence[str]) -> str:
    """Break up the special tokens (``marks``, longest first) in a text with a blank after their first character."""
    text = _SURROGATE.sub("\N{REPLACEMENT CHARACTER}", text)
    for mark in marks:
        if mark in text:
            text = text.replace(mark, f"{mark[0]} {mark[1:]}")
    return text


def marks_of(tokenizer: Any) -> list[str]:
    """Return the texts that a tokenizer reads as special tokens, longest first."""
    added = {token.content for token in tokenizer.added_tokens_decoder.values() if token.special}
    marks = {mark for mark in {*added, *tokenizer.all_special_tokens} if len(mark) > 1}
    return best_first(marks, len)


def plain(messages: Sequence[Message], named: bool) -> str:
    """Format a conversation for a model without a chat template.

    Speakers are named on request; an encoder-decoder gets a single turn without names.
    """
    if not named and not any(message.role == "assistant" for message in messages):
        return "\n\n".join(message.content for message in messages)
    turns = "".join(f"{_NAMES[message.role]}{message.content}\n\n" for message in messages)
    return f"{turns}Assistant:"


def templated(tokenizer: Any, messages: Sequence[Message]) -> str:
    """Format a conversation with a model's chat template.

    If the template refuses a system turn, its text becomes the beginning of the next turn.
    """
    from jinja2 import TemplateError as JinjaTemplateError

    turns = [{"role": message.role, "content": message.content} for message in messages]
    attempts = [turns]
    if len(turns) > 1 and turns[0]["role"] == "system":
        joined = f"{turns[0]['content']}\n\n{turns[1]['content']}"
        attempts.append([{"role": turns[1]["role"], "content": joined}, *turns[2:]])
    refusal: Exception | None = None
    for attempt in attempts:
        try:
            return str(tokenizer.apply_chat_template(attempt, tokenize=False, add_generation_prompt=True))
        except JinjaTemplateError as error:
            refusal = error
    raise TemplateError(f"the model's chat template refuses the conversation: {refusal}") from refusal
