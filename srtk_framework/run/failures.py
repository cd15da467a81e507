"""Failures of a run, summed up by reason."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable

_OWN = re.compile(r"'[^']*'|\"[^\"]*\"|\S*\d\S*")
"""What differs from question to question in a message: quoted texts, numbers, ids."""
# Messages that begin with the same words have the same reason.
_WORDS = 6


def failures_by_reason(errors: Iterable[str]) -> list[tuple[str, int]]:
    """Count errors by reason, the most frequent first.

    An error's reason is its first clause. Errors whose first words agree, apart from ids and numbers, count as the
    same, with the remedy once; where they differ later, their common words are given.
    """
    counts: dict[str, int] = {}
    texts: dict[str, tuple[str, str]] = {}  # the clause and the remedy
    for error in errors:
        clause, _, remedy = " ".join(error.split()).partition("; ")
        key = " ".join(_OWN.sub("*", clause).split()[:_WORDS])
        before = texts.get(key, (clause, remedy))
        counts[key] = counts.get(key, 0) + 1
        texts[key] = (_common(before[0], clause), _common(before[1], remedy))
    reasons = [("; ".join(part for part in texts[key] if part), number) for key, number in counts.items()]
    return sorted(reasons, key=lambda reason: (-reason[1], reason[0]))


def _common(one: str, other: str) -> str:
    """Return the words with which both texts begin; the first text where there are none."""
    if one == other:
        return one
    pairs = zip(one.split(), other.split(), strict=False)
    words = [word for word, same in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs)]
    return " ".join([*words, "…"]) if words else one or other
