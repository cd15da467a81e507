"""What the dictionary linker weighs: mentions of names in a text, and the entities that each may stand for."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

import attrs

from srtk_framework.text import fold
from srtk_framework.values import rounded
from srtk_plugin_local.dictionary.word_spans import Words

LABEL, FOLDED_LABEL, ALIAS = 1.0, 0.7, 0.6
"""How well a text matches a name: letter by letter, but for case and marks, by another name."""

LENGTH_POWER = 1.5
"""Overlapping mentions weigh their score times their length to this power: above 1, one long name beats two short."""


@attrs.define
class Candidate:
    """An entity that a mention may stand for.

    Attributes:
        entity: Its id.
        label: Its name.
        degree: Triples at it.
        match: How well the text matches a name of it, from 0 to 1.
        popularity: Logarithm of the degree, as a share of that of the best known candidate.
        string: Likeness of the text to the name that was found, 1 where they are equal after folding.
        own: Cosine of the sentence and what the graph says about the entity in words.
        facts: Cosine of the sentence and the entity's facts.
        coherence: How closely it is connected with the other mentions of the text; from 0.
        context: The three together, from 0 to 1; 1 is best.
        score: What is compared and written.
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
    """A place in a text where names of the graph stand, with the entities of these names.

    Attributes:
        words: Of the text.
        start: First character.
        end: One past its last character.
        first: First word.
        last: Last word.
        names: The folded names that were found there.
        string: Likeness of the text to these names, 1 where they are equal.
        candidates: Entities, best first.
        detected: Score that a mention detector gave the place, 0 without one.
        looks: From 0 to 1, how much it looks like a name in its text.
        length: In words.
    """

    words: Words
    start: int
    end: int
    first: int
    last: int
    names: list[str] = attrs.field(factory=list)
    string: float = 1.0
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
        """The words of the mention."""
        return self.words.text[self.start : self.end]

    def match(self, label: str) -> float:
        """Tell how well the text matches a label; a name that is only like the text counts by its likeness."""
        if label in (self.text, self.text.replace("_", " ")):
            return LABEL
        return (FOLDED_LABEL if fold(label) in self.names else ALIAS) * self.string


def cover(mentions: Sequence[Mention]) -> list[Mention]:
    """Choose mentions that do not overlap and weigh most together (weighted interval scheduling).

    Ties go to what covers more characters, then to what ends earlier.
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
