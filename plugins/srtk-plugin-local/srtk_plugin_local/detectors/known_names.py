"""Mentions of known names: the runs of words of texts that a dictionary contains."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from srtk_framework.text import best_apart
from srtk_framework.values import Mention, rounded
from srtk_plugin_local.dictionary.stop_words import FunctionWords

Known = Callable[[Sequence[str]], Sequence[bool]]
"""Returns for each folded name whether it is known."""


def known_mentions(
    texts: Sequence[str], known: Known, function_words: FunctionWords, max_words: int, apart: bool, min_score: float
) -> list[list[Mention]]:
    """Find the known names of all texts with one lookup.

    Args:
        texts: Any texts.
        known: The lookup.
        function_words: Function words of the texts.
        max_words: Maximum number of words of a name.
        apart: Whether to keep only the best of overlapping mentions.
        min_score: Minimum score of a mention.

    Returns:
        Mentions of the kind ``name``. A score is how much the words look like a name in their text.
    """
    parsed = [function_words.parse(text) for text in texts]
    spans = [words.spans(max_words) for words in parsed]
    names = list(dict.fromkeys(span[0] for row in spans for span in row))
    good = {name for name, is_known in zip(names, known(names), strict=True) if is_known}
    rows = []
    for words, row in zip(parsed, spans, strict=True):
        scores = {
            (start, end): rounded(words.looks(first, last)) for name, start, end, first, last in row if name in good
        }
        good_enough = ((span, score) for span, score in sorted(scores.items()) if score > 0 and score >= min_score)
        found = [Mention(*span, score, "name") for span, score in good_enough]
        rows.append(best_apart(found) if apart else found)
    return rows
