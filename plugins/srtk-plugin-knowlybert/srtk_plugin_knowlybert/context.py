"""Context of a sentence: texts about its known entity."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from srtk_framework.roles import Index
from srtk_framework.text import clean, sentences
from srtk_framework.values import batched

_HITS = 10  # Among which the text about an entity is sought by its first sentence.
_BATCH = 256


@attrs.frozen
class Paragraph:
    """The first sentences about an entity.

    Attributes:
        text: The sentences.
        source: Id of the entry that they were read from; empty without any.
    """

    text: str = ""
    source: str = ""


def paragraphs(index: Index, names: Sequence[str], count: int) -> list[Paragraph]:
    """Find the first sentences about entities by their names.

    Of the best hits of a name, the first that has the name in its first sentence is about the entity; if there is none,
    the entity has no paragraph.

    Args:
        index: Searches texts.
        names: Name of each entity.
        count: Most sentences.
    """
    found: dict[str, Paragraph] = {}
    for part in batched(sorted(set(names)), _BATCH):
        for name, hits in zip(part, index.search(part, _HITS), strict=True):
            found[name] = Paragraph()
            for hit in hits:
                text = hit.entry.text
                spans = sentences(text)[:count]
                if spans and name in text[slice(*spans[0])]:
                    found[name] = Paragraph(clean(text[spans[0][0] : spans[-1][1]]), hit.entry.id)
                    break
    return [found[name] for name in names]
