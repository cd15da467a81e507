"""Name folding, word spans and token counts, which plugins must agree on."""

from __future__ import annotations

import re
import unicodedata

# Python's \w lacks combining marks, which would split words of many scripts and all decomposed text.
_LETTER = r"[\w\u0300-\u036f\u0483-\u0487\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0900-\u0903\u093a-\u094f]"
_WORD = re.compile(rf"{_LETTER}+(?:['’.&-]{_LETTER}+)*")
_TOKEN = re.compile(r"\w+|[^\w\s]", re.UNICODE)
_DIACRITIC = re.compile("[\u0300-\u036f]")
_SPACE = re.compile(r"[\s_]+")
_PLAIN_MARKS = str.maketrans(
    {**dict.fromkeys("‘’ʼ‛`´", "'"), **dict.fromkeys("“”„‟", '"'), **dict.fromkeys("‐‑‒–—―", "-")}
)


def fold(text: str) -> str:
    """Fold a name for comparison: NFKC, case-folded, no Latin diacritics, ASCII punctuation, single blanks.

    Underscores count as blanks, as in the names of many graphs. Combining marks of other scripts are kept, as they
    distinguish words there.
    """
    if text.isascii():
        return " ".join(text.replace("`", "'").replace("_", " ").split()).lower()
    plain = _DIACRITIC.sub("", unicodedata.normalize("NFKD", text.translate(_PLAIN_MARKS)))
    return _SPACE.sub(" ", unicodedata.normalize("NFKC", plain.casefold())).strip()


def words(text: str) -> list[tuple[int, int]]:
    """Return the (start, end) spans of the words of a text, in characters."""
    return [found.span() for found in _WORD.finditer(text)]


def count_tokens(text: str) -> int:
    """Count tokens without a tokenizer: runs of word characters and single punctuation marks."""
    return sum(1 for _ in _TOKEN.finditer(text))
