"""Entries of indexes and corpora, and the hits of a search."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import attrs

from srtk_framework.values.triples import Triple

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


def _bytes(vector: Any) -> bytes | None:
    return None if vector is None else vector.tobytes()


class EntityMention(NamedTuple):
    """A span of an entry's text that names an entity.

    Attributes:
        start: Offset of the first character.
        end: Offset after the last character.
        entity: Id of the entity.
    """

    start: int
    end: int
    entity: str


@attrs.frozen
class Entry:
    """One thing to be found: a document, an entity, a triple in words, a subgraph.

    Attributes:
        id: Unique within its corpus and its index; not empty.
        text: The text that a search compares with; may be empty where there is a vector.
        triples: Triples of the graph that the entry stands for, which are retrieved with it.
        vector: float32 [d], where the entry brings its own; None where its text is to be encoded.
        mentions: Where its text names entities, as far as the corpus knows: in order, and no two overlap.
    """

    id: str
    text: str
    triples: tuple[Triple, ...] = ()
    vector: npt.NDArray[np.float32] | None = attrs.field(default=None, eq=_bytes, repr=False)
    mentions: tuple[EntityMention, ...] = ()


@attrs.frozen
class Hit:
    """An entry that a search found.

    Attributes:
        entry: The entry as it was added; its vector is there if the index keeps vectors.
        score: How well it fits, higher is better, rounded to four decimals; comparable within one search only.
        span: Start and end in the entry's text of the passage that fits best, in characters; None for the whole text.
        ranks: Where several indexes were fused: the rank in each of them, from 1; None in an index that did not find
            it.
    """

    entry: Entry
    score: float
    span: tuple[int, int] | None = None
    ranks: tuple[int | None, ...] = ()

    @property
    def snippet(self) -> str:
        """The passage of the entry's text that fits best, as it stands there."""
        return self.entry.text if self.span is None else self.entry.text[slice(*self.span)]
