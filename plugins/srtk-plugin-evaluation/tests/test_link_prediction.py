"""Link prediction against lists that are filtered and sorted by hand."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from srtk_plugin_evaluation import link_prediction

from srtk_framework.graph import TripleTable
from srtk_framework.roles import Completer
from srtk_framework.values import Completion, Pattern, Triple

names = st.sampled_from("abcdefgh")
facts = st.sets(st.builds(Triple, names, st.sampled_from("pqr"), names), min_size=1, max_size=40)


class Table(Completer):
    """Rates by a table of its own."""

    def complete(self, patterns: Sequence[Pattern], limit: int | None) -> Sequence[Sequence[Completion]]:
        return [() for _ in patterns]

    def rate(self, patterns: Sequence[Pattern], candidates: Sequence[Sequence[str]]) -> list[list[float]]:
        return [
            [((hash_of(pattern) + hash_of((name,))) % 4) / 4 for name in row]
            for pattern, row in zip(patterns, candidates, strict=True)
        ]


def hash_of(parts: Sequence[str | None]) -> int:
    return sum(ord(letter) for part in parts for letter in part or "?")


@given(facts)
def test_link_prediction_is_that_of_a_list_sorted_by_hand(triples: set[Triple]) -> None:
    table = TripleTable.from_triples(triples)
    asked = sorted(triples)[::2]
    found = link_prediction(Table(), table, asked)
    expected = []
    for end in (0, 2):
        for fact in asked:
            pattern = Pattern(*(None if place == end else part for place, part in enumerate(fact)))
            known = {t[end] for t in triples if all(p in (None, own) for p, own in zip(pattern, t, strict=True))}
            names = [name for name in table.entities if name == fact[end] or name not in known]
            [rates] = Table().rate([pattern], [names])
            own = rates[names.index(fact[end])]
            better, tied = sum(rate > own for rate in rates), sum(rate == own for rate in rates)
            expected.append(np.mean([1 / (better + place) for place in range(1, tied + 1)]))
    assert found["mrr"] == pytest.approx(np.mean(expected))
    assert found["mrr_subject"] == pytest.approx(np.mean(expected[: len(asked)]))
