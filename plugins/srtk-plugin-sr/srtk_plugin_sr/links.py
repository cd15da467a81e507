"""Links of a question as starting points: their weights, and the question with their mentions masked."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

from srtk_framework.values import Link, Question, rounded

_LEAST_SHARE = 1e-6
"""Replaces a share of 0, which has no logarithm."""


def weighted_entities(links: Sequence[Link], weight: float) -> dict[str, tuple[float, Link]]:
    """Return each linked entity with its log-weight and the link that gives it.

    Links with the same span are alternatives: each weighs the logarithm of its share of their scores. A link without a
    span has no alternatives and weighs 0. An entity with several links keeps the best.

    Args:
        links: Links of one question.
        weight: Factor on the logarithms.
    """
    spans: dict[tuple[int, int], dict[str, float]] = {}
    for link in links:
        if link.start is not None and link.end is not None:
            rivals = spans.setdefault((link.start, link.end), {})
            rivals[link.entity] = max(link.score, rivals.get(link.entity, 0.0))
    best: dict[str, tuple[float, Link]] = {}
    for link in links:
        share = 1.0
        if link.start is not None and link.end is not None:
            total = sum(spans[link.start, link.end].values())
            share = link.score / total if total > 0 else 1.0 / len(spans[link.start, link.end])
        score = rounded(weight * math.log(max(share, _LEAST_SHARE)))
        if link.entity not in best or score > best[link.entity][0]:
            best[link.entity] = (score, link)
    return best


def mask_mention(question: Question, link: Link, name: str, mask: str) -> str:
    """Replace the mention of a link in the question's text.

    The text stays as it is if nothing but the mention is in it.

    Args:
        question: Question whose text is searched for ``name`` if the link has no span.
        link: Link whose mention is replaced.
        name: Name of the entity; case is ignored, and blanks match underscores.
        mask: Replacement; may be empty.
    """
    text = question.text
    if link.start is not None and link.end is not None:
        text = text[: link.start] + mask + text[link.end :]
    elif name.strip():
        words = r"[\s_]+".join(re.escape(word) for word in re.split(r"[\s_]+", name.strip()))
        text = re.sub(rf"(?<!\w){words}(?!\w)", lambda _: mask, text, flags=re.IGNORECASE)
    shorter = " ".join(text.split())
    return shorter if any(char.isalnum() for char in shorter) else question.text


def unnamed_entities(questions: Sequence[Question]) -> list[str]:
    """Return the linked entities whose mention can be found only by their label, sorted."""
    return sorted(
        {link.entity for question in questions for link in question.links if link.start is None and not link.name}
    )


def link_name(link: Link, labels: Mapping[str, str]) -> str:
    """Return the name of a link, else the label of its entity."""
    return link.name or labels.get(link.entity, "")
