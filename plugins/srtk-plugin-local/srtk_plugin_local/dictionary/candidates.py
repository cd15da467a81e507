"""Mentions of names in a text, their candidate entities, and the choice among overlapping mentions."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

import attrs

from srtk_framework.text import fold
from srtk_framework.values import rounded
from srtk_plugin_local.dictionary.word_spans import Words

LABEL, FOLDED_LABEL, ALIAS = 1.0, 0.7, 0.6
"""Match of a text and a name: the label exactly, the label after folding, an alias."""

# Exponent of the length in the weight of a mention; above 1, one long name outweighs two short ones.
LENGTH_POWER = 1.5


@attrs.define
class Candidate:
    """An entity that a mention may refer to.

    Attributes:
        entity: Id of the entity.
        label: Label of the entity.
        degree: Number of its triples.
        match: Match of the text and a name of the entity, from 0 to 1.
        popularity: Logarithm of the degree, relative to the most connected candidate.
        string: Similarity of the text to the name found, 1 if they are equal after folding.
        own: Cosine of the sentence and the entity's description, else its types, else its label.
        facts: Cosine of the sentence and the entity's facts.
        coherence: Strength of its ties to the other mentions of the text, at least 0.
        context: The three features combined, from 0 to 1, relative to the best candidate.
        score: Score of the link.
    """

    entity: str
    label: str
    degree: int
    match: float
    popularity: float
    string: float = 1.0
    own: float = 0.0
    facts: float = 0.0
    coherence: float = 0.0
    context: float = 1.0
    score: float = 0.0


@attrs.define
class Mention:
    """A span of a text that is a name in the graph, with the entities of that name.

    Attributes:
        words: Words of the text.
        start: First character.
        end: One past the last character.
        first: First word.
        last: Last word.
        names: Folded names of the span.
        string: Similarity of the text to these names, 1 if they are equal.
        short: Whether the span is a short name: initials of these names, or a part of them.
        candidates: Entities, best first.
        detected: Score of the span by the mention detector, 0 without a detector.
        looks: How much the span looks like a name in its text, from 0 to 1.
        length: Length in words.
    """

    words: Words
    start: int
    end: int
    first: int
    last: int
    names: list[str] = attrs.field(factory=list)
    string: float = 1.0
    short: bool = False
    candidates: list[Candidate] = attrs.field(factory=list)
    detected: float = 0.0
    looks: float = attrs.field(init=False)
    length: float = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self.looks = self.words.looks(self.first, self.last)
        self.length = self.words.length(self.first, self.last)

    @property
    def score(self) -> float:
        """Score of the best candidate."""
        return self.candidates[0].score

    @property
    def text(self) -> str:
        """Text of the mention."""
        return self.words.text[self.start : self.end]

    def match(self, label: str) -> float:
        """Return the match of the text and a label, scaled by the similarity of the name found."""
        if label in (self.text, self.text.replace("_", " ")):
            return LABEL
        return (FOLDED_LABEL if fold(label) in self.names else ALIAS) * self.string


def cover(mentions: Sequence[Mention]) -> list[Mention]:
    """Choose mentions without overlap and of the greatest total weight (weighted interval scheduling).

    Ties go to the mentions that cover more characters, then to those that end earlier.
    """
    ordered = sorted(mentions, key=lambda mention: (mention.end, mention.start))
    ends = [mention.end for mention in ordered]
    best: list[tuple[float, int, int]] = [(0.0, 0, -1)]  # weight, characters, last mention chosen
    before: list[int] = [0]
    for place, mention in enumerate(ordered):
        free = bisect_right(ends, mention.start, 0, place)
        weight = rounded(best[free][0] + mention.score * mention.length**LENGTH_POWER)
        taken = (weight, best[free][1] + mention.end - mention.start)
        if taken > best[-1][:2]:
            best.append((*taken, place))
            before.append(free)
        else:
            best.append(best[-1])
            before.append(before[-1])
    chosen = []
    at = len(best) - 1
    while best[at][2] >= 0:
        chosen.append(ordered[best[at][2]])
        at = before[at]
    return chosen[::-1]
