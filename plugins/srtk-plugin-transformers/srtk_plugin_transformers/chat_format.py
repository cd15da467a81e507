"""Turn prompts into the text that a language model goes on from."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from srtk_framework.values import Message

_NAMES = {"system": "", "user": "User: ", "assistant": "Assistant: "}
NEXT = "\nUser:"
"""Where a model that has no template begins to speak for the user, its reply is at its end."""
_HALF = re.compile("[\ud800-\udfff]")


class TemplateError(ValueError):
    """A model's chat template refuses a conversation."""


def clean(text: str, marks: Sequence[str]) -> str:
    """Break what a tokenizer would read as one of a model's own marks, such as that for the end of a turn."""
    text = _HALF.sub("\N{REPLACEMENT CHARACTER}", text)
    for mark in marks:
        if mark in text:
            text = text.replace(mark, f"{mark[0]} {mark[1:]}")
    return text


def marks_of(tokenizer: Any) -> list[str]:
    """List the texts that a tokenizer reads as marks, longest first."""
    added = {token.content for token in tokenizer.added_tokens_decoder.values() if token.special}
    marks = {mark for mark in {*added, *tokenizer.all_special_tokens} if len(mark) > 1}
    return sorted(marks, key=lambda mark: (-len(mark), mark))


def plain(messages: Sequence[Message], named: bool) -> str:
    """Write a conversation for a model without a chat template.

    Args:
        messages: The conversation.
        named: Whether to say who speaks; a model that maps text to text gets one turn as it is.
    """
    if not named and not any(message.role == "assistant" for message in messages):
        return "\n\n".join(message.content for message in messages)
    turns = "".join(f"{_NAMES[message.role]}{message.content}\n\n" for message in messages)
    return f"{turns}Assistant:"


def templated(tokenizer: Any, messages: Sequence[Message]) -> str:
    """Write a conversation by a model's own chat template; one without a system turn gets that with the first other.

    Raises:
        TemplateError: If the template refuses the conversation.
    """
    from jinja2 import TemplateError as Refusal

    turns = [{"role": message.role, "content": message.content} for message in messages]
    try:
        return str(tokenizer.apply_chat_template(turns, tokenize=False, add_generation_prompt=True))
    except Refusal as error:
        if len(turns) < 2 or turns[0]["role"] != "system":
            raise TemplateError(f"the model's chat template refuses the conversation: {error}") from error
    first = {"role": turns[1]["role"], "content": f"{turns[0]['content']}\n\n{turns[1]['content']}"}
    try:
        return str(tokenizer.apply_chat_template([first, *turns[2:]], tokenize=False, add_generation_prompt=True))
    except Refusal as error:
        raise TemplateError(f"the model's chat template refuses the conversation: {error}") from error
