"""The ``cloze`` mask filler: any generator that rates options chooses the label for a gap."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import attrs
import numpy as np

from srtk_framework.roles import Generator, MaskFiller
from srtk_framework.values import DriverError, MaskedText, Message, Prompt, TokenScore, rounded, shortened

if TYPE_CHECKING:
    import numpy.typing as npt

MASK = "____"
_TASK = "Which words belong in the gap of this sentence?"


def _texts(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value


@attrs.define(eq=False)
class ClozeMaskFiller(MaskFiller):
    """Rate whole labels in the gap of a text by the likelihood of a generator.

    A label is one token, so that a text has one gap. The generator reads the context, the sentence with its gap, and
    the labels as options. A score is the logarithm of the label's share among the labels of its text. To rate labels by
    their own text, set ``rating: texts`` where the generator has it.

    Attributes:
        generator: A generator that rates options.
        candidates: Labels among which ``fill`` chooses; without any it is refused.
    """

    generator: Generator
    candidates: tuple[str, ...] = attrs.field(default=(), converter=_texts)

    def open(self) -> None:
        """Check that the generator rates options.

        Raises:
            DriverError: If it does not, or a candidate is empty or comes twice.
        """
        if not self.generator.rates():
            raise DriverError("the generator rates no options; name one that does, such as `transformers`")
        if not all(self.candidates) or len(set(self.candidates)) < len(self.candidates):
            raise DriverError("candidates are distinct labels with a letter or more; correct the list")

    def mask(self) -> str:
        """Return four underscores."""
        return MASK

    def tokens(self, texts: Sequence[str]) -> list[list[str]]:
        """Return each text as one token; none for a text without words or with a gap."""
        whole = [" ".join(text.split()) for text in texts]
        return [[text] if text and MASK not in text else [] for text in whole]

    def fills(self) -> bool:
        """Return whether there are candidates."""
        return bool(self.candidates)

    def fill(self, texts: Sequence[MaskedText], k: int) -> list[list[list[TokenScore]]]:
        """Return the best candidates for the gap of each text.

        Raises:
            DriverError: If there are no candidates, or a text has two gaps or more.
        """
        if not self.candidates:
            raise DriverError("this filler only rates given labels; list some under `candidates` to have it fill gaps")
        open_ones = [text for text in texts if MASK in text.text]
        scores = iter(self._scores(open_ones, [self.candidates] * len(open_ones)))
        answers: list[list[list[TokenScore]]] = []
        for text in texts:
            if MASK not in text.text:
                answers.append([])
                continue
            row = sorted(zip(next(scores), self.candidates, strict=True), key=lambda pair: (-pair[0], pair[1]))
            answers.append([[TokenScore(label, score) for score, label in row[:k]]])
        return answers

    def rate(
        self, texts: Sequence[MaskedText], fillings: Sequence[Sequence[tuple[str, ...]]]
    ) -> list[npt.NDArray[np.float32]]:
        """Return the logarithm of the share of each label among the labels of its text.

        Raises:
            DriverError: If a text has no single gap, a filling no single label, or a label is none of the candidates.
        """
        labels = []
        for some in fillings:
            if wrong := next((one for one in some if len(one) != 1), None):
                raise DriverError(f"{wrong!r} has {len(wrong)} tokens for one gap; a label is one token of this filler")
            labels.append(tuple(one[0] for one in some))
        if not self.candidates:
            return [np.array(row, dtype=np.float32)[:, None] for row in self._scores(texts, labels)]
        known = {label: at for at, label in enumerate(self.candidates)}
        if unknown := next((label for row in labels for label in row if label not in known), None):
            raise DriverError(f"{unknown!r} is none of the candidates; add it, or leave `candidates` out")
        # All are rated, so that the scores are those of `fill`.
        scores = self._scores(texts, [self.candidates] * len(texts))
        return [
            np.array([row[known[label]] for label in some], dtype=np.float32)[:, None]
            for row, some in zip(scores, labels, strict=True)
        ]

    def _scores(self, texts: Sequence[MaskedText], labels: Sequence[Sequence[str]]) -> list[list[float]]:
        """Return the logarithms of shares; an empty list where there are no labels."""
        for text in texts:
            if (gaps := text.text.count(MASK)) != 1:
                raise DriverError(f"{shortened(repr(text.text))} has {gaps} gaps; this filler fills one with a label")
        asked = [(text, some) for text, some in zip(texts, labels, strict=True) if some]
        rates = iter(self.generator.rate([self._prompt(text, some) for text, some in asked]))
        return [_log_shares(next(rates)) if some else [] for some in labels]

    def _prompt(self, text: MaskedText, labels: Sequence[str]) -> Prompt:
        options = "\n".join(f"{number}. {label}" for number, label in enumerate(labels, start=1))
        parts = [text.context, f"{_TASK}\n{text.text}", options]
        content = "\n\n".join(part for part in parts if part.strip())
        return Prompt((Message("user", content),), tuple(labels), 1, 1, query=text.text)


def _log_shares(rates: Sequence[float]) -> list[float]:
    highest = max(rates)
    whole = highest + math.log(sum(math.exp(rate - highest) for rate in rates))
    return [rounded(min(rate - whole, 0.0)) for rate in rates]
