"""Take the mentions of linked entities out of a question: what is left is what is asked."""

from __future__ import annotations

import re
from collections.abc import Mapping

from srtk_framework.values import Question


def without_mentions(question: Question, names: Mapping[str, str], stand_in: str) -> str:
    """Replace what the links of a question mention.

    Args:
        question: Its text is searched for a link's name where the link has no span.
        names: Labels of the linked entities.
        stand_in: What comes instead; may be empty.
    """
    text = question.text
    spans = {(link.start, link.end) for link in question.links if link.start is not None and link.end is not None}
    last = len(text)
    for start, end in sorted(((s, e) for s, e in spans if s is not None and e is not None), reverse=True):
        if end <= last:  # of spans that overlap, the one that begins last
            text = text[:start] + stand_in + text[end:]
            last = start
    for link in question.links:
        words = [re.escape(word) for word in re.split(r"[\s_]+", (link.name or names.get(link.entity, "")).strip())]
        if link.start is None and any(words):
            name = r"[\s_]+".join(words)
            text = re.sub(rf"(?<!\w){name}(?!\w)", lambda _: stand_in, text, flags=re.IGNORECASE)
    shorter = " ".join(text.split())
    return shorter if any(char.isalnum() for char in shorter) else question.text
