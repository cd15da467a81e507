"""Words of a text, the spans that may be names, and how much each looks like a name."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Set
from functools import cache

from srtk_framework.text import by_form, fold
from srtk_plugin_local.dictionary import german

# In scripts without spaces, and in Hangul, which joins particles to names, every character is a word.
_UNSPACED = (
    "\u0e01-\u0e30\u0e32\u0e33\u0e40-\u0e46\u0e81-\u0eb0\u0eb2\u0eb3\u0ec0-\u0ec6\u1000-\u102a\u1780-\u17b3"
    "\u3005-\u3007\u3041-\u3096\u309d-\u30fa\u30fc-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff"
    "\uff66-\uff9d\U00020000-\U0003ffff"
)
# Symbols between spaces may be names: `$`, an emoji, `!!!`; marks that end a sentence or a quotation are left out.
_SYMBOLS = r"(?<!\S)(?:[^\w\s?!.,;:…]+?(?=[?!.,;:…'’\"”)\]}]*(?!\S)|['’])|[^\w\s]+(?!\S))"
_ASCII_WORD = re.compile(rf"\w+|{_SYMBOLS}")
_IS_UNSPACED = re.compile(f"[{_UNSPACED}]")
_NOT_A_WORD = frozenset("?!.,;:&'\"-–—…/|()[]{}")
_UNEVEN = re.compile(r"[\t-\r\x1c-\x1f]|[ _]{2}|(?<![^\W_])_|_(?![^\W_])")
_PLAIN_MARKS = str.maketrans("’‘ʼ“”„–—‑‐", "'''\"\"\"----")
_APOSTROPHES = frozenset("'’")
_PARTS = frozenset("'’.&-‐‑*@")
_JOINERS = _PARTS | frozenset(":/,")
_NO_END = frozenset(",;:")
_SUFFIX = re.compile(r"['’](?:s|t|d|m|re|ve|ll)\b", re.IGNORECASE)
_ENCLOSING = dict(zip("([{「『《〈【“‘„«‹\"'", ")]}」』》〉】”’“»›\"'", strict=True))
_MOST_MARKS = 3  # punctuation marks at one end of a name, as in "...All the Marbles"
_MOST_ELIDED = 4  # letters of an elided article before an apostrophe: "dell'Arte", "l'Italie"

# Factors of a span's looks. Plain words are in lower case in a text that capitalises names.
PLAIN_WORD = 0.35
PLAIN_WORDS = 0.6
# A capital there says less: every sentence has one.
SENTENCE_START = 0.8
STOP_WORD = 0.6
# Below a plain word's, since names of function words alone ("It", "The Who") are rarely meant.
STOP_WORDS = 0.4
PART_OF_WORD = 0.5


Span = tuple[str, int, int, int, int]
"""A span to look up: folded name, start and end character, first and last word."""


@cache
def _word_pattern() -> re.Pattern[str]:
    """Compile the pattern of words in any script; words of ``re`` lack combining marks."""
    planes = (*range(0x300, 0x20000), *range(0xE0100, 0xE01F0))
    marks = "".join(chr(c) for c in planes if unicodedata.category(chr(c))[0] == "M")
    glue = f"[{marks}\u200c\u200d]*"
    return re.compile(rf"[{_UNSPACED}]{glue}|(?:[^\W{_UNSPACED}]{glue})+|{_SYMBOLS}")


class Words:
    """The words of a text, compounds split into their parts, with features by which names differ from other words.

    Args:
        text: Any text.
        stop: Function words in lower case.
        language: Code of the language.
    """

    def __init__(self, text: str, stop: Set[str], language: str = "en") -> None:
        pattern = _ASCII_WORD if text.isascii() else _word_pattern()
        found = (match.span() for match in pattern.finditer(text))
        self.text = text
        self.bounds = [(s, e) for s, e in found if e - s > 1 or text[s] not in _NOT_A_WORD]
        self.halves = [0]
        self.stop: list[bool] = []
        self.lower: list[bool] = []
        self.capital: list[bool] = []
        self.opens: list[bool] = []
        before = 0
        for start, end in self.bounds:
            word = text[start:end]
            small = word.lower()
            self.halves.append(self.halves[-1] + (2 if word.isascii() or not _IS_UNSPACED.match(word) else 1))
            # A word after a leading full stop, as in the domain `.is`, is a name rather than a plain word.
            dotted = start > 0 and text[start - 1] == "." and (start == 1 or text[start - 2].isspace())
            self.stop.append(small in stop and not dotted)
            self.lower.append(word == small != word.upper() and not dotted)
            self.capital.append(word != small)
            gap = text[before:start]
            self.opens.append(before == 0 or (len(gap) > 1 and gap[-1].isspace() and any(c in ".?!:" for c in gap)))
            before = end
        self.has_capitals = any(self.capital)
        inner = [capital and not opens for capital, opens in zip(self.capital, self.opens, strict=True)]
        self.marked = (any(inner) and any(self.lower)) or "_" in text
        self.german = language == german.LANGUAGE

    def spans(self, most: int) -> list[Span]:
        """Return the spans to look up.

        Args:
            most: Maximum number of words of a span; two characters of an unspaced script count as one word.

        Returns:
            Spans by first word, then last word. A span with typographic quotes or dashes comes again with plain marks,
            and a compound with blanks for its hyphens.
        """
        text = self.text
        # The whole text can be folded at once where folding keeps lengths: in ASCII with single spaces.
        flat = None
        if text.isascii() and not _UNEVEN.search(text):
            flat = text.lower().replace("_", " ").replace("`", "'")
        plain = text if flat is not None else text.translate(_PLAIN_MARKS)
        ends = [self._ends(last) for last in range(len(self.bounds))]
        found: list[Span] = []
        for first in range(len(self.bounds)):
            starts = self._starts(first)
            beyond = bisect_right(self.halves, self.halves[first] + 2 * most) - 1
            # A function word is no name by itself in small letters, unless it is quoted.
            begin = self.bounds[first][0]
            quoted = begin > 0 and text[begin - 1] in _ENCLOSING
            plain_stop = self.stop[first] and ((self.lower[first] and not quoted) or not self.looks(first, first))
            for last in range(first + plain_stop, beyond):
                for start in starts:
                    for end in ends[last]:
                        if flat is not None:
                            found.append((flat[start:end], start, end, first, last))
                            continue
                        found.append((fold(text[start:end]), start, end, first, last))
                        if plain[start:end] != text[start:end]:
                            found.append((fold(plain[start:end]), start, end, first, last))
        compounds = [span for span in found if "-" in span[0] and span[3] < span[4]]
        return found + [
            (name.replace("-", " "), start, end, first, last) for name, start, end, first, last in compounds
        ]

    def _starts(self, word: int) -> list[int]:
        """Return the possible starts of a name at a word: the word, or the marks before it."""
        text, start = self.text, self.bounds[word][0]
        if start == 0 or text[start - 1] == " ":
            return [start]
        if _SUFFIX.match(text, start - 1):
            return []
        limit = self.bounds[word - 1][1] if word else 0
        at = start
        while at > limit and start - at < _MOST_MARKS and not text[at - 1].isspace():
            at -= 1
        if start - at == 1 and at == limit and word and text[at] in _JOINERS:
            at = start
        return list(range(start, at - 1, -1))

    def _ends(self, word: int) -> list[int]:
        """Return the possible ends of a name at a word: the word, or the marks after it."""
        text, end = self.text, self.bounds[word][1]
        if end == len(text) or text[end] == " ":
            return [end]
        limit = self.bounds[word + 1][0] if word + 1 < len(self.bounds) else len(text)
        at = end
        while at < limit and at - end < _MOST_MARKS and not text[at].isspace():
            at += 1
        if at - end == 1 and at == limit < len(text) and text[end] in _JOINERS:
            at = end
        return [end, *(stop for stop in range(end + 1, at + 1) if text[stop - 1] not in _NO_END)]

    def length(self, first: int, last: int) -> float:
        """Return the length of a span in words; stop words and characters of unspaced scripts count half."""
        stop = sum(self.stop[k] and not self.capital[k] for k in range(first, last + 1))
        return (self.halves[last + 1] - self.halves[first] - stop) / 2

    def looks(self, first: int, last: int) -> float:
        """Return how much the words from ``first`` to ``last`` look like a name in this text, from 0 to 1."""
        words = range(first, last + 1)
        start, end = self.bounds[first][0], self.bounds[last][1]
        content = sum(not self.stop[k] for k in words)
        stop = not content
        single = first == last
        factor = self._part(first, last)
        if start and end < len(self.text) and _ENCLOSING.get(self.text[start - 1]) == self.text[end]:
            return factor
        if self.marked and (any(self.capital[k] and not self.opens[k] for k in words) or "_" in self.text[start:end]):
            plain = PLAIN_WORD if single and self.is_common_noun(first) else 1.0
            return factor * (STOP_WORD if stop and single else plain)
        if stop:
            return 0.0 if single else factor * STOP_WORDS * (PLAIN_WORDS if self.marked else 1.0)
        if not self.marked or not any(self.lower[k] or self.capital[k] for k in words):
            return factor
        if any(self.capital[k] for k in words):
            return factor * SENTENCE_START
        return factor * (PLAIN_WORD if content == 1 else PLAIN_WORDS)

    def is_common_noun(self, word: int) -> bool:
        """Return whether a word with a capital is likely a plain noun: in German, after a determiner or adjective."""
        if not (self.german and word and self.capital[word]):
            return False
        start, end = self.bounds[word - 1]
        before = self.text[start:end]
        if self.text[end : self.bounds[word][0]] != " ":
            return False
        return german.is_determined(before.lower() if self.opens[word - 1] else before, self.stop[word - 1])

    def formed(self) -> list[tuple[int, int]]:
        """Return the places of names by their form, in German also the runs of capitals between small words in them.

        *Tochter von Robert Kennedy* has the form of a name in English.
        """
        places = [(mention.start, mention.end) for mention in by_form([self.text])[0]]
        if not self.german:
            return places
        inside = [at for at, (low, high) in enumerate(self.bounds) if any(s <= low and high <= e for s, e in places)]
        runs: list[tuple[int, int]] = []
        for at in (at for at in inside if self.capital[at] and not self.stop[at]):
            low, high = self.bounds[at]
            if runs and self.text[runs[-1][1] : low] == " ":
                runs[-1] = (runs[-1][0], high)
            else:
                runs.append((low, high))
        return list(dict.fromkeys([*places, *runs]))

    def _part(self, first: int, last: int) -> float:
        """Return the factor for a span that is part of a compound, such as ``known`` in ``well-known``."""
        text, (start, _), (_, end) = self.text, self.bounds[first], self.bounds[last]
        cut = 0
        if first and start - self.bounds[first - 1][1] == 1 and text[start - 1] in _PARTS:
            before, after = self.bounds[first - 1]
            elided = text[start - 1] in _APOSTROPHES and after - before <= _MOST_ELIDED and self.lower[first - 1]
            cut += not elided
        if last + 1 < len(self.bounds) and self.bounds[last + 1][0] - end == 1:
            cut += text[end] in _PARTS and text[end] not in _APOSTROPHES
        return PART_OF_WORD**cut

    def names_beside(self, first: int, last: int) -> list[int]:
        """Return the capitalised words next to a span, if the text capitalises names."""
        beside = []
        if self.marked and any(self.capital[first : last + 1]):
            for word, gap in ((first - 1, (first - 1, first)), (last + 1, (last, last + 1))):
                if 0 <= word < len(self.bounds) and self.capital[word] and not self.stop[word] and not self.opens[word]:
                    between = self.text[self.bounds[gap[0]][1] : self.bounds[gap[1]][0]]
                    beside += [word] if between == " " else []
        return beside
