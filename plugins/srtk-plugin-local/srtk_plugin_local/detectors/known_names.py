"""Finds the runs of words of texts that are known names."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set

from srtk_framework.text import best_apart
from srtk_framework.values import Mention, rounded
from srtk_plugin_local.dictionary.stop_words import STOP_WORDS
from srtk_plugin_local.dictionary.word_spans import Words

Known = Callable[[Sequence[str]], Sequence[bool]]
"""Tells of each folded name whether it is known; asked about many at once."""


def stop_words(languages: Sequence[str]) -> frozenset[str]:
    """Gather the function words of some languages.

    Raises:
        ValueError: For a language without a list.
    """
    if unknown := sorted(set(languages) - STOP_WORDS.keys()):
        raise ValueError(f"languages has {unknown[0]!r}; known are {', '.join(sorted(STOP_WORDS))}")
    return frozenset(word for language in languages for word in STOP_WORDS[language])


def known_mentions(
    texts: Sequence[str], known: Known, stop: Set[str], max_words: int, apart: bool, min_score: float
) -> list[list[Mention]]:
    """Ask once about all runs of words of all texts.

    Args:
        texts: Any texts.
        known: Tells which names are known.
        stop: Words in small letters that name nothing by themselves.
        max_words: Most words of a name.
        apart: Whether of overlapping mentions only the best is kept.
        min_score: Mentions with a lower score are dropped.

    Returns:
        Mentions of the kind ``name``; the score tells how much one looks like a name in its text.
    """
    parsed = [Words(text, stop) for text in texts]
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
