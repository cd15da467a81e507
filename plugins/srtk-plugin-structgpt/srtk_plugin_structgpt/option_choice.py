"""Choices of a generator among numbered options, parsed from any reply."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from typing import Any, Literal

import attrs

from srtk_framework.roles import Generator
from srtk_framework.text import fold
from srtk_framework.values import DriverError, Message, Prompt, Reply, best_first, rounded

How = Literal["first", "repaired", "rated", "fallback"]
FIRST: How = "first"
REPAIRED: How = "repaired"
RATED: How = "rated"
FALLBACK: How = "fallback"

_ECHO = 2000
"""Maximum number of characters of an unclear reply that are repeated in the second prompt."""
# Longer digits are no number of an option, and Python's conversion of thousands is slow.
_DIGITS = 9
_FENCE = re.compile(r"```[^\n`]*\n(.*?)```", re.DOTALL)
_LIST = re.compile(r"\[[0-9\s,\"']*\]")
_BARE = re.compile(r"[\s(*`\"']*([0-9]+(?:[\s,;]+[0-9]+)*)[\s).*`\"',;:]*")
_QUOTED = re.compile(r"\"([^\"\n]+)\"|“([^”\n]+)”|`([^`\n]+)`|\[([^\[\]\n]+)\]")
_AROUND = " \t.*-\"'`“”"
"""Characters stripped from around the text of an option."""
_ITEM = re.compile(r"\s*(?:[-*]\s+)?[(\[]?([0-9]+)[\]).:]+(?:\s|$)")
_WORDED = re.compile(
    r"\W*(?:the\s+)?(?:answer|choice|option|number|no\.)(?:\s+is)?\s*[:#]?\s*(?:option|number)?\s*[(\[\"'*]*([0-9]+)\W*",
    re.IGNORECASE,
)


@attrs.frozen
class Choice:
    """The options that a generator chose for one prompt.

    Attributes:
        numbers: Numbers of the chosen options, from 1, best first; empty if no reply was clear or nothing was chosen.
        how: Source of the choice: the ``first`` reply, the second (``repaired``), or ``rated`` likelihoods;
            ``fallback`` if no reply was clear.
        replies: Replies of the generator, in order; empty for rated options.
        rates: Rates of all options, in their order; empty unless rated.
    """

    numbers: tuple[int, ...]
    how: How
    replies: tuple[Reply, ...] = ()
    rates: tuple[float, ...] = ()


def numbered(options: Sequence[str]) -> str:
    """Return options as numbered lines; line breaks within an option become blanks."""
    return "\n".join(f"{i}. {' '.join(option.split())}" for i, option in enumerate(options, 1))


def numbers(text: str, count: int, least: int, most: int) -> tuple[int, ...] | None:
    """Parse the numbers of options from a reply.

    Accepted forms are a JSON list of numbers, alone, in prose, in a code fence, or as the only list of an object. Bare
    numbers and lines that each start with a number are accepted too. Text before a closing ``</think>`` is ignored.

    Args:
        text: Text of the reply.
        count: Number of options.
        least: Minimum number of options to choose.
        most: Maximum number of options; further options are dropped.

    Returns:
        Distinct numbers between 1 and ``count`` in the order of the reply; None if the reply is unclear, has a number
        out of range, or has fewer than ``least`` numbers.
    """
    found = _found(text.rpartition("</think>")[2].strip(), most)
    if found is None or any(not 1 <= number <= count for number in found):
        return None
    distinct = tuple(dict.fromkeys(found))
    return None if len(distinct) < least else distinct[:most]


def named(text: str, options: Sequence[str], least: int, most: int) -> tuple[int, ...] | None:
    """Parse options that a reply gives by their text instead of their numbers.

    Accepted forms are a reply of options only, one per line, and options in quotation marks or brackets. An option
    must match as a whole: ``spouse_s`` does not match the option ``spouse``.

    Args:
        text: Text of the reply.
        options: Options in the order of their numbers.
        least: Minimum number of options to choose.
        most: Maximum number of options to choose.

    Returns:
        Their numbers in the order of the reply; None if the reply has no option, too few, or too many.
    """
    text = text.rpartition("</think>")[2].strip()
    places: dict[str, list[int]] = {}
    for number, option in enumerate(options, 1):
        places.setdefault(fold(option), []).append(number)
    lines = [fold(line.strip(_AROUND)) for line in text.splitlines() if line.strip(_AROUND)]
    if not all(line in places for line in lines):
        lines = [part for parts in _QUOTED.findall(text) for part in map(fold, parts) if part in places]
    found = [number for line in dict.fromkeys(lines) for number in places[line]]
    unclear = any(len(places[line]) > 1 for line in lines)
    return tuple(found) if found and not unclear and least <= len(found) <= most else None


def chosen(
    generator: Generator, prompts: Sequence[Prompt], repair: bool = True, by: Literal["reply", "rating"] = "reply"
) -> list[Choice]:
    """Let a generator choose among the options of each prompt.

    Args:
        generator: The generator.
        prompts: Prompts with options.
        repair: Whether to repeat prompts with unclear replies once, in one batch; errors are not repeated.
        by: ``reply`` parses replies; ``rating`` takes the ``most`` options with the best rates, ties by position.

    Returns:
        One choice per prompt.

    Raises:
        DriverError: If ``by`` is ``rating`` and the generator does not rate options.
    """
    if by == "rating":
        return _rated(generator, prompts)
    first = generator.generate(prompts) if prompts else []
    read = [_read(reply, prompt) for reply, prompt in zip(first, prompts, strict=True)]
    choices = [
        Choice(row or (), FALLBACK if row is None else FIRST, (reply,)) for row, reply in zip(read, first, strict=True)
    ]
    unclear = [i for i, choice in enumerate(choices) if repair and choice.how == FALLBACK and first[i].error is None]
    second = generator.generate([repaired(prompts[i], first[i].text) for i in unclear]) if unclear else []
    for i, reply in zip(unclear, second, strict=True):
        row = _read(reply, prompts[i])
        choices[i] = Choice(row or (), FALLBACK if row is None else REPAIRED, (first[i], reply))
    return choices


def repaired(prompt: Prompt, reply: str) -> Prompt:
    """Build the second prompt, with the unclear reply and a correction."""
    several = "one number" if prompt.most == 1 else f"at most {prompt.most} numbers"
    none = "; reply [] if none fits" if prompt.least == 0 else ""
    correction = (
        f"This could not be read. Reply with nothing but a JSON list of {several} from 1 to {len(prompt.options)},"
        f" such as [1]{none}."
    )
    return corrected(prompt, reply, correction)


def corrected(prompt: Prompt, reply: str, correction: str) -> Prompt:
    """Build the prompt that asks once more, with the reply that could not be taken and a correction."""
    if reply.strip():
        turns = (Message("assistant", reply[:_ECHO]), Message("user", correction))
        return attrs.evolve(prompt, messages=(*prompt.messages, *turns))
    # Many chat templates refuse an empty turn, and two consecutive turns of one role.
    last = prompt.messages[-1]
    again = attrs.evolve(last, content=f"{last.content}\n\n{correction}")
    return attrs.evolve(prompt, messages=(*prompt.messages[:-1], again))


def _read(reply: Reply, prompt: Prompt) -> tuple[int, ...] | None:
    if reply.error is not None:
        return None
    row = numbers(reply.text, len(prompt.options), prompt.least, prompt.most)
    return named(reply.text, prompt.options, prompt.least, prompt.most) if row is None else row


def _rated(generator: Generator, prompts: Sequence[Prompt]) -> list[Choice]:
    if not generator.rates():
        raise DriverError("the generator does not rate options; choose by its reply")
    choices = []
    for prompt, row in zip(prompts, generator.rate(prompts) if prompts else [], strict=True):
        if any(math.isnan(rate) for rate in row):
            raise DriverError("rate returned NaN; return a number for each option")
        rates = tuple(rounded(rate) for rate in row)
        order = best_first(range(len(rates)), rates.__getitem__)
        choices.append(Choice(tuple(i + 1 for i in order[: prompt.most]), RATED, (), rates))
    return choices


def _found(text: str, most: int) -> list[int] | None:
    """Return the numbers in a reply, in range or not; None if the reply is unclear."""
    whole = _json(text)
    if whole is not None:
        return _numbers_of(whole)
    fenced = [part for part in (_json(body.strip()) for body in _FENCE.findall(text)) if part is not None]
    if len(fenced) == 1:
        return _numbers_of(fenced[0])
    lists = [_numbers_of(value) for value in map(_json, _LIST.findall(text)) if value is not None]
    if lists:
        return lists[0] if all(one == lists[0] for one in lists) else None
    bare = _BARE.fullmatch(text) or _WORDED.fullmatch(text)
    if bare:
        return _integers(re.findall("[0-9]+", bare[1]))
    lines = [line for line in text.splitlines() if line.strip()]
    items = [item for item in map(_ITEM.match, lines) if item]
    if lines and len(items) == len(lines) <= most:  # more lines than ``most`` repeat the options
        return _integers([item[1] for item in items])
    return None


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):  # replies are untrusted text
        return None


def _numbers_of(value: Any) -> list[int] | None:
    """Return the numbers of a list, of the only list in an object, or of the only number in an object."""
    if isinstance(value, dict):
        lists = [item for item in value.values() if isinstance(item, list)]
        lone = [item for item in value.values() if isinstance(item, int) and not isinstance(item, bool)]
        value = lists[0] if len(lists) == 1 else lone if not lists and len(lone) == 1 else None
    if isinstance(value, int | float | str) and not isinstance(value, bool):
        value = [value]
    if not isinstance(value, list):
        return None
    return _integers(value)


def _integers(items: Sequence[Any]) -> list[int] | None:
    found: list[int] = []
    for item in items:
        text = str(item).strip()
        if isinstance(item, float) and item.is_integer():
            text = str(int(item))
        if isinstance(item, bool) or not (text.isascii() and text.isdigit()) or len(text) > _DIGITS:
            return None
        found.append(int(text))
    return found
