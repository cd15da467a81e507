"""Texts with gaps, and the tokens that fill them."""

from __future__ import annotations

from typing import NamedTuple

import attrs


@attrs.frozen
class MaskedText:
    """A text with gaps, each for one token.

    Attributes:
        text: The text, with the mark of the filler (``MaskFiller.mask``) at each gap.
        context: Read beside the text, such as a paragraph about the entity that it names. Too long
            a text is cut from the end of the context first.
    """

    text: str
    context: str = ""


class TokenScore(NamedTuple):
    """A token in a gap.

    Attributes:
        token: The token, as the filler writes it.
        score: Natural logarithm of its probability there, at most 0, rounded to four decimals.
    """

    token: str
    score: float
