"""Link prediction: how a completer ranks both ends of facts that its graph lacks, among all entities."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from srtk_framework.graph import TripleTable
from srtk_framework.roles import Completer
from srtk_framework.values import Pattern, Triple
from srtk_plugin_evaluation.rank_metrics import TiedRanks, filtered_ranks, hits, reciprocal_ranks

_CELLS = 2_000_000  # Most ratings of a call.


def link_prediction(completer: Completer, table: TripleTable, facts: Sequence[Triple]) -> dict[str, float]:
    """Rank both ends of facts among all entities, filtered by all facts of the table; ties at expectation.

    Args:
        completer: Rates the candidates; it is asked as it is, without its port.
        table: All facts that are known to be true.
        facts: Facts of the table to rank.

    Returns:
        ``mrr``, ``hits_at_1``, ``hits_at_3``, ``hits_at_10``, and the MRR of each end, ``mrr_object`` and
        ``mrr_subject``.
    """
    rows = table.numbers(facts)
    ends: dict[str, TiedRanks] = {}
    size = max(_CELLS // max(len(table.entities), 1), 1)
    for name, inverse in (("object", False), ("subject", True)):
        bound, right = (rows[:, 2], rows[:, 0]) if inverse else (rows[:, 0], rows[:, 2])
        parts = []
        for start in range(0, len(facts), size):
            some = slice(start, start + size)
            patterns = [Pattern(None, r, o) if inverse else Pattern(s, r, None) for s, r, o in facts[some]]
            rated = completer.rate(patterns, [table.entities] * len(patterns))
            known = [
                table.fillers(entity, relation, inverse)
                for entity, relation in zip(bound[some].tolist(), rows[some, 1].tolist(), strict=True)
            ]
            parts.append(filtered_ranks(np.array(rated, dtype=np.float64), right[some], known))
        ends[name] = TiedRanks(*(np.concatenate(column) for column in zip(*parts, strict=True)))
    both = TiedRanks(*(np.concatenate(column) for column in zip(*ends.values(), strict=True)))
    return {
        "mrr": float(reciprocal_ranks(both).mean()),
        **{f"hits_at_{k}": float(hits(both, k).mean()) for k in (1, 3, 10)},
        **{f"mrr_{name}": float(reciprocal_ranks(ranks).mean()) for name, ranks in ends.items()},
    }
