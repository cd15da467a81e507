"""Let a generator choose among numbered options, whatever it replies."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from typing import Any, Literal

import attrs

from srtk_framework.text.folding import fold
from srtk_framework.values import DriverError, GeneratorLike, Message, Prompt, Reply, rounded

How = Literal["first", "repaired", "rated", "fallback"]
FIRST: How = "first"
REPAIRED: How = "repaired"
RATED: How = "rated"
FALLBACK: How = "fallback"

_ECHO = 2000
"""Of a reply that could not be read, so many characters are shown to the generator again."""
_DIGITS = 9
_FENCE = re.compile(r"```[^\n`]*\n(.*?)```", re.DOTALL)
_LIST = re.compile(r"\[[0-9\s,\"']*\]")
_BARE = re.compile(r"[\s(*`\"']*([0-9]+(?:[\s,;]+[0-9]+)*)[\s).*`\"',;:]*")
_QUOTED = re.compile(r"\"([^\"\n]+)\"|“([^”\n]+)”|`([^`\n]+)`|\[([^\[\]\n]+)\]")
_AROUND = " \t.*-\"'`“”"
"""Marks that may stand around the words of an option."""
_ITEM = re.compile(r"\s*(?:[-*]\s+)?[(\[]?([0-9]+)[\]).:]+(?:\s|$)")
_WORDED = re.compile(
    r"\W*(?:the\s+)?(?:answer|choice|option|number|no\.)(?:\s+is)?\s*[:#]?\s*(?:option|number)?\s*[(\[\"'*]*([0-9]+)\W*",
    re.IGNORECASE,
)


@attrs.frozen
class Choice:
    """What was chosen among the options of one prompt.

    Attributes:
        numbers: Of the chosen options, from 1, best first; empty where nothing could be read, or none was wanted.
        how: By the ``first`` reply, by the second (``repaired``), ``rated`` by likelihood; ``fallback``: none was read.
        replies: Of the generator, in order; none where it rated.
        rates: Of all options in their order, where it rated.
    """

    numbers: tuple[int, ...]
    how: How
    replies: tuple[Reply, ...] = ()
    rates: tuple[float, ...] = ()


def numbered(options: Sequence[str]) -> str:
    """Write options as numbered lines; a line break inside of one becomes a blank, so that no option looks like two."""
    return "\n".join(f"{i}. {' '.join(option.split())}" for i, option in enumerate(options, 1))


def numbers(text: str, count: int, least: int, most: int) -> tuple[int, ...] | None:
    """Read the reply to a prompt with options.

    Understood are a JSON list of numbers, by itself, in prose, in a code fence or as the one list of an object; bare
    numbers; and lines that each start with a number. What comes before a closing ``</think>`` is passed over.

    Args:
        text: The reply.
        count: Number of options.
        least: Fewest numbers that will do.
        most: How many are kept.

    Returns:
        Distinct numbers between 1 and ``count`` in the order of the reply; None where it says nothing clear, names a
        number that no option has, or fewer than ``least``.
    """
    found = _found(text.rpartition("</think>")[2].strip(), most)
    if found is None or any(not 1 <= number <= count for number in found):
        return None
    distinct = tuple(dict.fromkeys(found))
    return None if len(distinct) < least else distinct[:most]


def named(text: str, options: Sequence[str], least: int, most: int) -> tuple[int, ...] | None:
    """Read a reply that names options by their words in the place of numbers.

    Understood are a reply that is nothing but such words, one option a line, and options that stand by themselves in
    quotes or brackets. Parts of words are never looked for: ``spouse`` is not named by ``spouse_s``.

    Args:
        text: The reply.
        options: In the order of their numbers.
        least: Fewest that will do.
        most: Most that will do.

    Returns:
        Their numbers in the order of the reply; None where it names none of them, too few or too many.
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
    generator: GeneratorLike,
    prompts: Sequence[Prompt],
    repair: bool = True,
    by: Literal["reply", "rating"] = "reply",
) -> list[Choice]:
    """Have a generator choose among the options of each prompt.

    Args:
        generator: Who chooses.
        prompts: Each with options.
        repair: Ask once more, all together, where a reply cannot be read; a reply that is an error is left as it is.
        by: ``rating`` takes the ``most`` options with the best rates, of equal ones the first, and reads no text.

    Returns:
        One for each prompt.

    Raises:
        DriverError: If the generator cannot rate, and is to.
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
    """Make the prompt that asks once more, with the reply that could not be read and what was wrong with it."""
    several = "one number" if prompt.most == 1 else f"at most {prompt.most} numbers"
    none = "; reply [] if none fits" if prompt.least == 0 else ""
    correction = (
        f"This could not be read. Reply with nothing but a JSON list of {several} from 1 to {len(prompt.options)},"
        f" such as [1]{none}."
    )
    if reply.strip():
        turns = (Message("assistant", reply[:_ECHO]), Message("user", correction))
        return attrs.evolve(prompt, messages=(*prompt.messages, *turns))
    # Many chat templates refuse an empty turn, and two turns of one speaker.
    last = prompt.messages[-1]
    again = attrs.evolve(last, content=f"{last.content}\n\n{correction}")
    return attrs.evolve(prompt, messages=(*prompt.messages[:-1], again))


def _read(reply: Reply, prompt: Prompt) -> tuple[int, ...] | None:
    if reply.error is not None:
        return None
    row = numbers(reply.text, len(prompt.options), prompt.least, prompt.most)
    return named(reply.text, prompt.options, prompt.least, prompt.most) if row is None else row


def _rated(generator: GeneratorLike, prompts: Sequence[Prompt]) -> list[Choice]:
    if not generator.rates():
        raise DriverError("the generator does not rate options; let it choose by its reply")
    choices = []
    for prompt, row in zip(prompts, generator.rate(prompts) if prompts else [], strict=True):
        if any(math.isnan(rate) for rate in row):
            raise DriverError("rate returned a value that is not a number")
        rates = tuple(rounded(rate) for rate in row)
        order = sorted(range(len(rates)), key=lambda i: (-rates[i], i))
        choices.append(Choice(tuple(i + 1 for i in order[: prompt.most]), RATED, (), rates))
    return choices


def _found(text: str, most: int) -> list[int] | None:
    """Find the numbers that a reply names, whatever they are; None where it is not clear which."""
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
    if lines and len(items) == len(lines) <= most:  # more lines than may be chosen: it repeats the options
        return _integers([item[1] for item in items])
    return None


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):  # a reply is what anybody may have made it
        return None


def _numbers_of(value: Any) -> list[int] | None:
    """Take the numbers out of a list, of the one list of an object, or of the one number in it."""
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
