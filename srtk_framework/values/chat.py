"""What is said to a language model, and what it answers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, Literal

import attrs


@attrs.frozen
class Message:
    """One turn of a conversation.

    Attributes:
        role: Who speaks.
        content: The words.
    """

    role: Literal["system", "user", "assistant"]
    content: str


@attrs.frozen
class Prompt:
    """What a generator is asked to reply to.

    Attributes:
        messages: The conversation so far; the last message is the user's.
        options: What may be chosen, in the order in which the messages number it from 1; empty for a free reply. The
            reply is then a JSON list of numbers, best first, which drivers enforce where they can.
        least: Fewest options that must be chosen; 0 lets the reply be ``[]``.
        most: Most options that may be chosen.
        query: The words that the options are compared with, for drivers that choose without reading the messages.
        schema: JSON schema of a free reply, or None for text.
        length: Most tokens of the reply; None leaves it to the driver.
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
    """What a generator answered to one prompt.

    Attributes:
        text: The words; for a prompt with options a JSON list of numbers, if the driver kept to it.
        error: Why there is no reply, in one sentence; None when there is one. One bad prompt spoils no other.
        finish: ``stop``, or ``length`` when the reply was cut at its longest.
        tokens_in: Tokens read, as the driver counts them.
        tokens_out: Tokens written.
        cost: Price of the call, in the currency of the driver's settings; 0 when it is not known. A reply from a cache
            has the price that was paid when it was made, so that records do not depend on what a cache holds.
        cached: True when the reply was read from a cache, and so nothing was paid this time.
    """

    text: str = ""
    error: str | None = None
    finish: Literal["stop", "length"] = "stop"
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float = 0.0
    cached: bool = False


COST_DIGITS = 8
"""Prices are rounded to this many decimals where they are added up."""


def usage(replies: Iterable[Reply]) -> dict[str, Any]:
    """Add up what replies took, as a trace tells it: ``calls``, ``tokens_in``, ``tokens_out`` and ``cost``."""
    return total(
        {"calls": 1, "tokens_in": reply.tokens_in, "tokens_out": reply.tokens_out, "cost": reply.cost}
        for reply in replies
    )


def total(usages: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Add up what ``usage`` gave."""
    rows = list(usages)
    whole: dict[str, Any] = {
        name: sum(int(row.get(name, 0)) for row in rows) for name in ("calls", "tokens_in", "tokens_out")
    }
    whole["cost"] = round(math.fsum(float(row.get("cost", 0.0)) for row in rows), COST_DIGITS)
    return whole
