"""The links of a question as starting points: their weight, and the question without their mention."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

from srtk_framework.values import Link, Question, rounded

_LEAST = 1e-6


def weighed(links: Sequence[Link], weight: float) -> dict[str, tuple[float, Link]]:
    """Give each entity a log-weight and the link that it comes from.

    Links of one span are alternatives: each weighs the logarithm of its share of their scores. A link
    without a span has no alternatives. An entity with several links keeps the best.
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
        score = rounded(weight * math.log(max(share, _LEAST)))
        if link.entity not in best or score > best[link.entity][0]:
            best[link.entity] = (score, link)
    return best


def without_mention(question: Question, link: Link, name: str, stand_in: str) -> str:
    """Replace the mention of a link in the question's text.

    Args:
        question: Its text is searched for ``name`` where the link has no span.
        link: The link whose mention goes.
        name: What the entity is called, in any case, with blanks or underscores.
        stand_in: What comes instead; may be empty.
    """
    text = question.text
    if link.start is not None and link.end is not None:
        text = text[: link.start] + stand_in + text[link.end :]
    elif name.strip():
        words = r"[\s_]+".join(re.escape(word) for word in re.split(r"[\s_]+", name.strip()))
        text = re.sub(rf"(?<!\w){words}(?!\w)", lambda _: stand_in, text, flags=re.IGNORECASE)
    shorter = " ".join(text.split())
    return shorter if any(char.isalnum() for char in shorter) else question.text


def names_needed(questions: Sequence[Question]) -> list[str]:
    """Return the linked entities whose mention can only be found by their label, sorted."""
    return sorted(
        {link.entity for question in questions for link in question.links if link.start is None and not link.name}
    )


def name_of(link: Link, labels: Mapping[str, str]) -> str:
    """Return what a link's entity is called."""
    return link.name or labels.get(link.entity, "")
