"""Link prediction: how a completer ranks both ends of facts that its graph lacks, among all entities."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import attrs
import numpy as np

from srtk_framework.graph import TripleTable
from srtk_framework.roles import Completer
from srtk_framework.values import Pattern, Triple, batched
from srtk_plugin_evaluation.rank_metrics import TiedRanks, filtered_ranks, hits, reciprocal_ranks

_CELLS = 2_000_000  # Most ratings of a call.
_FACTS = 128  # Most facts of a call: few enough that several places have work.


@attrs.frozen
class FactEnds:
    """Facts whose entity at one end is ranked, in a call of the completer.

    Attributes:
        facts: The facts.
        subject: Whether their subjects are ranked, not their objects.
    """

    facts: Sequence[Triple]
    subject: bool


def link_prediction(
    completer: Completer,
    table: TripleTable,
    facts: Sequence[Triple],
    spread: Callable[[Iterable[FactEnds]], Iterable[TiedRanks]] | None = None,
) -> dict[str, float]:
    """Rank both ends of facts among all entities, filtered by all facts of the table; ties at expectation.

    Args:
        completer: Rates the candidates; it is asked as it is, without its port.
        table: All facts that are known to be true.
        facts: Facts of the table to rank.
        spread: Computes ``ranks_of`` of each part in another place, in order; None ranks here. The parts are the same.

    Returns:
        ``mrr``, ``hits_at_1``, ``hits_at_3``, ``hits_at_10``, and the MRR of each end, ``mrr_object`` and
        ``mrr_subject``.
    """
    size = min(max(_CELLS // max(len(table.entities), 1), 1), _FACTS)
    parts = [FactEnds(some, subject) for subject in (False, True) for some in batched(facts, size)]
    found = (ranks_of(completer, table, part) for part in parts) if spread is None else spread(parts)
    both = TiedRanks(*(np.concatenate(column) for column in zip(*found, strict=True)))
    ends = {"object": slice(None, len(facts)), "subject": slice(len(facts), None)}
    return {
        "mrr": float(reciprocal_ranks(both).mean()),
        **{f"hits_at_{k}": float(hits(both, k).mean()) for k in (1, 3, 10)},
        **{
            f"mrr_{name}": float(reciprocal_ranks(TiedRanks(both.better[some], both.tied[some])).mean())
            for name, some in ends.items()
        },
    }


def ranks_of(completer: Completer, table: TripleTable, part: FactEnds) -> TiedRanks:
    """Rank an end of some facts among all entities; see ``link_prediction``."""
    rows = table.numbers(part.facts)
    bound, right = (rows[:, 2], rows[:, 0]) if part.subject else (rows[:, 0], rows[:, 2])
    patterns = [Pattern(None, r, o) if part.subject else Pattern(s, r, None) for s, r, o in part.facts]
    rated = completer.rate(patterns, [table.entities] * len(patterns))
    known = [
        table.fillers(entity, relation, part.subject)
        for entity, relation in zip(bound.tolist(), rows[:, 1].tolist(), strict=True)
    ]
    return filtered_ranks(np.array(rated, dtype=np.float64), right, known)
