"""How certain an answer is: by the score of its path, the next one's, and what the question says of it.

The thresholds were chosen on the demo's questions by kind (seeds 7 and 11), on half of its look-ups and on
``benchmarks/answers/certainty.jsonl``.
"""

from __future__ import annotations

import math

import attrs

_CLEAR, _NEAR = 1.0, 0.5
"""Least distance of a score from the next one's for a choice that is sure, or likely."""
_STRONG, _WEAK = 5.0, 2.5
"""Least score of a path none of whose words the question has, for a choice that is sure, or likely."""


@attrs.frozen
class Evidence:
    """What speaks for the path of an answer.

    Attributes:
        score: Score of the path and of the relation that decided; None where nothing was chosen.
        margin: Distance of that score from the next one's with another answer.
        named: Whether the question has a word of one of its relations.
        unused: Linked topics of the question that are not in the proof.
        joined: Whether a triple joins what the question names.
        operated: Whether an operation chose the set.
    """

    score: float | None = None
    margin: float = math.inf
    named: bool = True
    unused: int = 0
    joined: bool = False
    operated: bool = False

    @property
    def certainty(self) -> str:
        """Return ``sure``, ``likely`` or ``unsure``."""
        score = math.inf if self.score is None else self.score
        if self.unused or self.margin < _NEAR:
            return "unsure"
        if self.margin >= _CLEAR and (self.named or score >= _STRONG):
            return "sure"
        return "likely" if self.named or self.joined or score >= _WEAK else "unsure"

    @property
    def is_complete(self) -> bool:
        """Return whether a set that was read whole is the one that is asked for."""
        return self.certainty == "sure" or (self.certainty == "likely" and self.operated and self.margin >= _CLEAR)
