"""Facts that are hidden by their hashes, and the patterns that ask for them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal

from srtk_framework.records import place
from srtk_framework.values import Pattern, Question, Triple

Ends = Literal["object", "subject", "both"]


def by_hash(facts: Iterable[Triple], seed: int) -> list[Triple]:
    """Return distinct facts in the order of the hashes of seed and fact, so that any first part is random."""
    return sorted(set(facts), key=lambda fact: (place("\t".join(fact), seed), fact))


def hidden_facts(facts: Iterable[Triple], share: float, seed: int) -> list[Triple]:
    """Return the share of distinct facts with the lowest hashes, rounded to a whole number, sorted.

    A smaller share hides a part of the same facts.
    """
    order = by_hash(facts, seed)
    return sorted(order[: round(share * len(order))])


def patterns_of(fact: Triple, ends: Ends = "both") -> Iterator[tuple[Pattern, str]]:
    """Yield the patterns of a fact with an open end, each with its answer."""
    if ends != "subject":
        yield Pattern(fact.subject, fact.relation), fact.object
    if ends != "object":
        yield Pattern(None, fact.relation, fact.object), fact.subject


def questions_of(hidden: Iterable[Triple], ends: Ends) -> Iterator[Question]:
    """Yield each pattern of hidden facts once, in the order of its first fact; its answers are all that are hidden."""
    asked: dict[Pattern, dict[str, None]] = {}
    for fact in hidden:
        for pattern, answer in patterns_of(fact, ends):
            asked.setdefault(pattern, {})[answer] = None
    for pattern, answers in asked.items():
        yield Question(str(pattern), str(pattern), answers=tuple(answers), pattern=pattern)
