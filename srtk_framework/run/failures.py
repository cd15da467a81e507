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

    An error's reason is its first clause, without the remedy. Errors whose first words agree, apart from ids and
    numbers, count as the same; where they differ later, their common words are given.
    """
    reasons: dict[str, tuple[int, str, list[str]]] = {}  # number, first clause, common words
    # The empty word at the end of a clause is common as long as all clauses are the same.
    for error in errors:
        clause = " ".join(error.split()).split("; ")[0]
        key = " ".join(_OWN.sub("*", clause).split()[:_WORDS])
        number, first, words = reasons.get(key, (0, clause, [*clause.split(), ""]))
        if clause != first:
            pairs = zip(words, clause.split(), strict=False)
            words = [word for word, other in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs)]
        reasons[key] = (number + 1, first, words)
    counts = [
        (first if not words or not words[-1] else " ".join([*words, "…"]), number)
        for number, first, words in reasons.values()
    ]
    return sorted(counts, key=lambda count: (-count[1], count[0]))
