"""Failures of a run, summed up by reason."""

from __future__ import annotations

import re
from collections import Counter
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
    reasons: dict[str, Counter[str]] = {}
    for error in errors:
        clause = " ".join(error.split()).split("; ")[0]
        key = " ".join(_OWN.sub("*", clause).split()[:_WORDS])
        reasons.setdefault(key, Counter())[clause] += 1
    counts = [(_shared(list(clauses)), clauses.total()) for clauses in reasons.values()]
    return sorted(counts, key=lambda count: (-count[1], count[0]))


def _shared(clauses: list[str]) -> str:
    """Return the common beginning of the clauses, in whole words."""
    if len(clauses) == 1:
        return clauses[0]
    rows = [clause.split() for clause in clauses]
    shared: list[str] = []
    for words in zip(*rows, strict=False):
        if len(set(words)) > 1:
            break
        shared.append(words[0])
    return " ".join([*shared, "…"]) if shared else clauses[0]
