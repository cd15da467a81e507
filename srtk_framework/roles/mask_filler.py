"""The role of a mask filler."""

from __future__ import annotations

import itertools
import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from srtk_framework.roles.answer_checks import rows_of, truth
from srtk_framework.roles.base import Role, by_value, hook
from srtk_framework.values import DriverError, MaskedText, TokenScore, shortened

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


def a_mark(answer: Any, arguments: Mapping[str, Any], driver: str) -> str:
    """Refuse a mark that is no text without blanks."""
    if not isinstance(answer, str) or not answer or answer.split() != [answer]:
        raise DriverError(f"mask returned {shortened(repr(answer))}; return a text without blanks")
    return answer


def tokens_of_gaps(answer: Any, arguments: Mapping[str, Any], driver: str) -> Any:
    """Refuse more tokens than were asked for, tokens out of order, and logarithms of no probability."""
    most = arguments["k"]
    for text, gaps in zip(arguments["texts"], answer, strict=True):
        for row in gaps:
            if isinstance(row, str) or not hasattr(row, "__len__"):
                raise DriverError(f"fill returned {shortened(repr(row))} for a gap of {_shown(text)}; give TokenScores")
            if len(row) > most:
                raise DriverError(f"fill returned {len(row)} tokens for a gap of {_shown(text)}; k is {most}")
            if not all(isinstance(one, TokenScore) for one in row):
                raise DriverError(f"fill returned {shortened(repr(row))} for a gap of {_shown(text)}; give TokenScores")
            # NaN fails the comparison too.
            if wrong := next((one for one in row if not -math.inf < one.score <= 0), None):
                raise DriverError(f"fill gave {wrong!r} in {_shown(text)}; a score is the logarithm of a probability")
            order = [(-one.score, one.token) for one in row]
            if any(one >= other for one, other in itertools.pairwise(order)) or len({t for t, _ in row}) < len(row):
                raise DriverError(
                    f"fill returned tokens out of order for {_shown(text)}; return distinct ones by falling score,"
                    " ties by token"
                )
    return answer


def scores_of_fillings(answer: Any, arguments: Mapping[str, Any], driver: str) -> Any:
    """Convert the scores of fillings to float32 arrays, and refuse other shapes.

    Raises:
        DriverError: Where a text has not one finite number, at most 0, for each token of each filling.
    """
    import numpy as np  # here, so that the command line starts without it

    rows = []
    for text, fillings, row in zip(arguments["texts"], arguments["fillings"], answer, strict=True):
        scores = np.asarray(row, dtype=np.float32)
        shape = (len(fillings), len(fillings[0]) if fillings else 0)
        if scores.size == 0 and not all(shape):
            scores = scores.reshape(shape)
        if scores.shape != shape:
            raise DriverError(f"rate returned scores [{scores.shape}] for {_shown(text)}; return them as {shape}")
        if not (np.isfinite(scores).all() and (scores <= 0).all()):
            raise DriverError(f"rate returned for {_shown(text)} what is no logarithm of a probability")
        rows.append(scores)
    return rows


def _shown(text: Any) -> str:
    return shortened(repr(text.text if isinstance(text, MaskedText) else text))


class MaskFiller(Role):
    """Fills the gaps of texts with tokens, as a masked language model does.

    All gaps of a text are filled at once: the probability of a token in one gap depends on the other gaps, not
    on their fillings. The scores of a text depend on that text alone, not on the batch.
    """

    role = "mask_filler"

    @hook(answer=a_mark)
    @abstractmethod
    def mask(self) -> str:
        """Return the mark that stands for one gap in a text."""

    @hook(batch="texts", key=by_value, answer=rows_of("tokens", str, "tokens"))
    @abstractmethod
    def tokens(self, texts: Sequence[str]) -> Sequence[Sequence[str]]:
        """Return the tokens with which the filler would write each text after a blank, as in the middle of a sentence.

        Returns:
            Per text its tokens in order; none for an empty text, and for a text that it cannot write.
        """

    @hook(answer=truth)
    def fills(self) -> bool:
        """Return whether ``fill`` is supported; by default whether the driver implements it."""
        return type(self).fill is not MaskFiller.fill

    @hook(batch="texts", key=by_value, answer=tokens_of_gaps)
    def fill(self, texts: Sequence[MaskedText], k: int) -> Sequence[Sequence[Sequence[TokenScore]]]:
        """Find the best tokens for each gap of each text.

        Args:
            texts: Texts with any number of gaps.
            k: Most tokens for a gap, at least 1.

        Returns:
            Per text and gap, in the order of the text, the ``k`` most probable tokens, best first, ties by token.

        Raises:
            DriverError: If the filler only rates given tokens, or a text is too long to be read without losing a gap.
        """
        raise DriverError("this filler only rates given tokens; give it some by `rate`, or name another filler")

    @hook(batch=("texts", "fillings"), key=(by_value, tuple), answer=scores_of_fillings)
    @abstractmethod
    def rate(
        self, texts: Sequence[MaskedText], fillings: Sequence[Sequence[tuple[str, ...]]]
    ) -> Sequence[npt.NDArray[np.float32] | Sequence[Sequence[float]]]:
        """Rate given tokens in the gaps of each text.

        Args:
            texts: Texts with one gap or more.
            fillings: Per text, fillings of one token for each of its gaps, from ``tokens``.

        Returns:
            Per text one row for each filling, which has the natural logarithm of the probability of each of its
            tokens in its gap: float32 [fillings, gaps], at most 0, rounded to four decimals. A filler that knows no
            probability among all tokens returns that among the fillings of the text.

        Raises:
            DriverError: For a filling with more or fewer tokens than gaps, for an unknown token, and for a text that is
                too long to be read without losing a gap.
        """
