"""Names in small letters beside names in capitals: ``germany and Austria`` names two countries."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence

from srtk_framework.roles import KnowledgeGraph
from srtk_plugin_local.dictionary.candidates import Mention
from srtk_plugin_local.dictionary.entity_context import relation_stems
from srtk_plugin_local.dictionary.word_spans import SENTENCE_START

# Least share of the relations of the entity with fewer that both have, for two entities of one kind.
ALIKE = 0.5

_BETWEEN = re.compile(
    r" ?(?:,|&|/|,? ?\b(?:and|or|nor|vs\.?|versus|(?:more |less )?\w+ than)\b) ?(?:the )?", re.IGNORECASE
)


def raise_coordinated(graph: KnowledgeGraph, found: Sequence[Sequence[Mention]]) -> None:
    """Raise the looks of a mention in small letters that is joined to a name of the same kind, in place.

    In a text that capitalises names a word in small letters passes for a plain word. It is a name where `and`, `or`,
    `than`, `vs` or a comma joins it to a capitalised name whose entity has relations like its own.
    """
    pairs = [pair for mentions in found if mentions and mentions[0].words.marked for pair in _joined(mentions)]
    if not pairs:
        return
    ids = list(dict.fromkeys(mention.candidates[0].entity for pair in pairs for mention in pair))
    stems = dict(zip(ids, relation_stems(graph, ids), strict=True))
    # A list names one after the other: what was raised may raise its other neighbour.
    for _ in range(len(pairs)):
        raised = []
        for small, name in pairs:
            if _is_small(small) and not _is_small(name):
                first, second = (stems[mention.candidates[0].entity] for mention in (small, name))
                if len(first & second) >= ALIKE * max(1, min(len(first), len(second))):
                    raised.append(small)
        if not raised:
            return
        for mention in raised:
            mention.looks = SENTENCE_START


def _joined(mentions: Sequence[Mention]) -> Iterator[tuple[Mention, Mention]]:
    """Yield mentions in small letters, each with a mention that it is joined to."""
    places = sorted(range(len(mentions)), key=lambda at: mentions[at].start)
    starts = [mentions[at].start for at in places]
    for one in mentions:
        words = one.words
        # At most four words join two mentions (`more common than the`): a long text has few pairs to look at.
        reach = words.bounds[min(one.last + 5, len(words.bounds) - 1)][0]
        for other in (
            mentions[at] for at in sorted(places[bisect_left(starts, one.end) : bisect_right(starts, reach)])
        ):
            if _BETWEEN.fullmatch(words.text, one.end, other.start):
                for small, name in ((one, other), (other, one)):
                    if _is_small(small):
                        yield small, name


def _is_small(mention: Mention) -> bool:
    words = range(mention.first, mention.last + 1)
    small = not any(mention.words.capital[word] for word in words)
    return small and 0 < mention.looks < SENTENCE_START and mention.string == 1
