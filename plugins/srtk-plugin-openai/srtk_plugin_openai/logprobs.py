"""Ratings of options by the log-probability of their letters as the first token of a reply.

Numbers of two digits are one token or two, depending on the tokenizer; letters are single tokens. A server returns only
the 20 most probable tokens, so more options than that are rated in groups, and the best of the groups against
each other: `rating(o) = rating(best of o's group among the bests) + logp(o) - logp(best of its group)`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from srtk_framework.values import Message, Prompt

LETTERS = "ABCDEFGHIJKLMNOPQRST"
MISSING = 1.0  # Distance in log-probability at which a letter that is not returned stands below the last token that is

Top = Sequence[tuple[str, float]]
Ask = Callable[[Sequence[Sequence[Message]]], Sequence[Top]]
"""Asks for the first tokens of replies to conversations."""


def rated(prompts: Sequence[Prompt], ask: Ask) -> list[list[float]]:
    """Rate the options of each prompt, all prompts side by side."""
    rows: list[dict[int, float]] = [{} for _ in prompts]
    left = [(place, list(range(len(prompt.options)))) for place, prompt in enumerate(prompts) if prompt.options]
    # Each round rates the bests of the round before; shifts are added when the last group is known.
    rounds: list[list[tuple[int, dict[int, float]]]] = []
    while left:
        groups = [(place, options[i : i + len(LETTERS)]) for place, options in left for i in _starts(options)]
        tops = ask([lettered(prompts[place], options) for place, options in groups])
        found = [
            (place, dict(zip(options, read(top, len(options)), strict=True)))
            for (place, options), top in zip(groups, tops, strict=True)
        ]
        rounds.append(found)
        bests: dict[int, list[int]] = {}
        for place, ratings in found:
            bests.setdefault(place, []).append(_best(ratings))
        left = [(place, options) for place, options in bests.items() if len(options) > 1]
    for found in reversed(rounds):
        for place, ratings in found:
            best = _best(ratings)
            shift = rows[place].get(best, ratings[best]) - ratings[best]
            rows[place].update({option: rating + shift for option, rating in ratings.items()})
    return [[row[option] for option in range(len(prompt.options))] for row, prompt in zip(rows, prompts, strict=True)]


def lettered(prompt: Prompt, options: Sequence[int]) -> list[Message]:
    """Ask for one of some options by its letter."""
    lines = [f"{LETTERS[i]}: {' '.join(prompt.options[option].split())}" for i, option in enumerate(options)]
    tail = "Only these are left to choose from. Reply with the letter of the best one, and nothing else.\n"
    last = prompt.messages[-1]
    return [*prompt.messages[:-1], Message(last.role, f"{last.content}\n\n{tail}" + "\n".join(lines))]


def read(top: Top, count: int) -> list[float]:
    """Read the log-probability of each letter; blanks around it do not matter, and its case does not."""
    masses: dict[str, list[float]] = {}
    for token, value in top:
        masses.setdefault(token.strip().upper(), []).append(value)
    floor = min((value for _, value in top), default=0.0) - MISSING
    return [_sum(masses[letter]) if letter in masses else floor for letter in LETTERS[:count]]


def _starts(options: Sequence[int]) -> range:
    return range(0, len(options), len(LETTERS))


def _best(ratings: dict[int, float]) -> int:
    return min(ratings, key=lambda option: (-ratings[option], option))


def _sum(values: Sequence[float]) -> float:
    """Add probabilities that are given as logarithms."""
    most = max(values)
    return most + math.log(sum(math.exp(value - most) for value in values))
