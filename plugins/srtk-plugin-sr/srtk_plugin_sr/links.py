"""Linked entities as starting points of a search, with their weights."""

from __future__ import annotations

import math
from collections.abc import Sequence

from srtk_framework.text import link_shares
from srtk_framework.values import Link, rounded

_LEAST_SHARE = 1e-6
"""Replaces a share of 0, which has no logarithm."""


def weighted_entities(links: Sequence[Link], weight: float) -> dict[str, tuple[float, Link]]:
    """Return each linked entity with its log-weight and the link that gives it.

    A link weighs the logarithm of its share among the alternatives for its span; a link without a span weighs 0. An
    entity with several links keeps the best.

    Args:
        links: Links of one question.
        weight: Factor on the logarithms.
    """
    best: dict[str, tuple[float, Link]] = {}
    for link, share in zip(links, link_shares(links), strict=True):
        score = rounded(weight * math.log(max(share, _LEAST_SHARE)))
        if link.entity not in best or score > best[link.entity][0]:
            best[link.entity] = (score, link)
    return best
