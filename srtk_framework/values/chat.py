"""Prompts to language models, their replies, and the usage of models."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, Literal

import attrs


@attrs.frozen
class Message:
    """One turn of a conversation.

    Attributes:
        role: Author of the turn.
        content: Text of the turn.
    """

    role: Literal["system", "user", "assistant"]
    content: str


@attrs.frozen
class Prompt:
    """A request to a generator, for free text or for a choice among options.

    Attributes:
        messages: Conversation so far; the last message is the user's.
        options: Options as the messages number them, from 1; empty for a free reply. The reply to
            a prompt with options is a JSON list of their numbers, best first; drivers enforce this where they can.
        least: Minimum number of options to choose; with 0, the reply may be ``[]``.
        most: Maximum number of options to choose.
        query: Text to compare the options with, for drivers that choose without reading the messages.
        schema: JSON schema of a free reply, or None for text.
        length: Maximum number of tokens in the reply; None leaves the limit to the driver.
    """

    messages: tuple[Message, ...]
    options: tuple[str, ...] = ()
    least: int = 1
    most: int = 1
    query: str = ""
    schema: Mapping[str, Any] | None = attrs.field(default=None, hash=False)
    length: int | None = None


@attrs.frozen
class Reply:
    """A generator's reply to one prompt.

    Attributes:
        text: Text of the reply; for a prompt with options a JSON list of numbers, unless the model ignored the format.
        error: Why the prompt has no reply, in one sentence; None if it has a reply. An error concerns its own prompt
            only.
        finish: ``stop``, or ``length`` if the reply was truncated at its maximum length.
        tokens_in: Tokens of the prompt, as the driver counts them.
        tokens_out: Tokens of the reply.
        cost: Price of the call, in the currency of the driver's settings; 0 if unknown. A cached reply has the price
            of the original call, so that records do not depend on the contents of a cache.
        cached: True if the reply was read from a cache and cost nothing this time.
    """

    text: str = ""
    error: str | None = None
    finish: Literal["stop", "length"] = "stop"
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float = 0.0
    cached: bool = False


COST_DIGITS = 8
"""Number of decimals of a sum of prices."""


def usage(replies: Iterable[Reply]) -> dict[str, Any]:
    """Sum the usage of replies, as traces record it: ``calls``, ``tokens_in``, ``tokens_out`` and ``cost``."""
    return total(
        {"calls": 1, "tokens_in": reply.tokens_in, "tokens_out": reply.tokens_out, "cost": reply.cost}
        for reply in replies
    )


def total(usages: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Sum results of ``usage``."""
    rows = list(usages)
    whole: dict[str, Any] = {
        name: sum(int(row.get(name, 0)) for row in rows) for name in ("calls", "tokens_in", "tokens_out")
    }
    # The exact sum, which does not depend on the order of the questions.
    whole["cost"] = round(math.fsum(float(row.get("cost", 0.0)) for row in rows), COST_DIGITS)
    return whole


def use_of(trace: Mapping[str, Any]) -> dict[str, Any] | None:
    """Sum the usage of generators in the trace of a subgraph, including the reader's; None without a generator."""
    reader = trace.get("reader")
    usages = [trace.get("generator"), reader.get("generator") if isinstance(reader, Mapping) else None]
    used = [row for row in usages if isinstance(row, Mapping)]
    return total(used) if used else None
