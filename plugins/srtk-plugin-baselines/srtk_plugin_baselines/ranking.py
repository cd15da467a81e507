"""Turn scored triples into a subgraph, best first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from srtk_framework.values import Subgraph, Triple, rounded


def ranked(triples: Sequence[Triple], scores: Sequence[float], trace: Mapping[str, Any]) -> Subgraph:
    """Order triples by falling rounded score; equal ones keep their order."""
    final = [rounded(score) for score in scores]
    order = sorted(range(len(final)), key=lambda i: -final[i])
    return Subgraph(
        triples=tuple(triples[i] for i in order),
        scores=tuple(final[i] for i in order),
        path_of=(-1,) * len(order),
        trace=trace,
    )
