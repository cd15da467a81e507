"""An index of names by how they are written: names one slip away, names that hold words, names that have initials.

Names are compared by their letters and digits alone, so that blanks, hyphens, apostrophes and full stops make no
difference. Each name, and each word of it, has a polynomial hash. The hashes of all texts within one edit of a name
follow from its prefix sums, and are looked up at once. So the index holds numbers only, some 34 bytes for a name of two
or three words.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Sequence
from difflib import SequenceMatcher
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from srtk_framework.values import batched, best_first, rounded
from srtk_plugin_local.snapshot.name_table import Keys, NameTable

Numbers = npt.NDArray[np.int64]
NamesOf = Callable[[npt.NDArray[np.int64]], Sequence[Iterable[str]]]
"""Returns the folded names of each owner."""

# Shorter names have too many others within one edit; they are found only where marks or blanks differ.
LEAST_LETTERS = 4

# A word in more names than this tells too little to list them all.
MOST_OWNERS = 2000

# Words in small letters between the capitalised words of a name.
JOINING = frozenset(
    ("a", "and", "da", "de", "del", "der", "des", "di", "do", "du", "for", "la", "le", "of", "on", "the", "to", "und")
)

# Longer abbreviations are words of their own rather than initials, and each would have an entry.
MOST_INITIALS = 6

# Greatest likeness of a name and a part of it.
PART = 0.6

_BASE = 0x9E3779B97F4A7C15  # odd, so that it has an inverse modulo 2**64
_INVERSE = pow(_BASE, -1, 1 << 64)
# Odd factors, which make keys of different kinds of one hash.
_NAME, _WORD_IN, _INITIALS = (np.uint64(some) for some in (0xA0761D6478BD642F, 0xE7037ED1A0B428DB, 0x8EBC6AF09C88C6E3))
_HALF, _BEGINNING, _END = (np.uint64(some) for some in (0xBF58476D1CE4E5B9, 0x94D049BB133111EB, 0xD6E8FEB86659FD93))
# Names whose hashes, hundreds each, are held at once.
_AT_ONCE = 1024
# Names whose keys are made at once, from some MB of numbers.
_MADE_AT_ONCE = 1 << 14
_NONE = np.zeros(0, dtype=np.int64)
_WORD = re.compile(r"[^\W_]+")
_ALPHABETS = tuple(
    (frozenset(letters), np.array([ord(letter) for letter in letters], dtype=np.uint64))
    for letters in ("abcdefghijklmnopqrstuvwxyz", "абвгдежзийклмнопрстуфхцчшщъыьэюяё", "αβγδεζηθικλμνξοπρσςτυφχψω")
)


def letters_of(folded: str) -> str:
    """Return the letters and digits of a folded name."""
    return folded if folded.isalnum() else "".join(filter(str.isalnum, folded))


def words_of(folded: str) -> list[str]:
    """Return the words of a folded name."""
    return _WORD.findall(folded)


def initials_of(folded: str) -> set[str]:
    """Return the initials by which a folded name of several words is abbreviated, without small joining words.

    Initials of all words, and initials up to a joining word: USA and US for United States of America.
    """
    words = _WORD.findall(folded)
    if len(words) < 2:
        return set()
    joining = next((at for at, word in enumerate(words) if word in JOINING), len(words))
    every = "".join(word[0] for word in words if word not in JOINING)
    begun = "".join(word[0] for word in words[:joining])
    return {initials for initials in (every, begun) if len(initials) > 1}


def likeness(one: str, other: str) -> float:
    """Compare two folded names by their letters and digits, from 0 to 1; one edit costs one letter of the longer."""
    first, second = letters_of(one), letters_of(other)
    if first == second:
        return 1.0
    longest = max(len(first), len(second))
    if is_one_edit(first, second):
        return rounded(1 - 1 / longest)
    return rounded(min(SequenceMatcher(None, first, second, autojunk=False).ratio(), 1 - 1.5 / longest))


def is_one_edit(first: str, second: str) -> bool:
    """Return whether one insertion, deletion or substitution of a letter, or one transposition, makes them equal."""
    if len(first) > len(second):
        first, second = second, first
    # Most pairs end here: an edit leaves one end of three letters as it is.
    if len(second) > len(first) + 1 or (len(second) > 2 and first[:1] != second[:1] and first[-1:] != second[-1:]):
        return False
    at = 0
    for a, b in zip(first, second, strict=False):
        if a != b:
            break
        at += 1
    if len(first) < len(second):
        return first[at:] == second[at + 1 :]
    return first[at + 1 :] == second[at + 1 :] or (
        first[at : at + 2] == second[at : at + 2][::-1] and first[at + 2 :] == second[at + 2 :]
    )


class NameIndex:
    """Names by the hashes of their letters and of their words.

    Args:
        table: Owners of the keys of ``keyed``.
        names_of: Reads the folded names of owners, by which hits are checked and compared.
    """

    def __init__(self, table: NameTable, names_of: NamesOf) -> None:
        self._table = table
        self._names_of = names_of

    def near(self, names: Sequence[str], limit: int, whole: bool = False) -> list[list[str]]:
        """Find the names most like each folded name; see ``KnowledgeGraph.near_names``."""
        if len(names) > _AT_ONCE:
            return [row for some in batched(names, _AT_ONCE) for row in self.near(some, limit, whole)]
        squeezed = [letters_of(name) for name in names]
        hopeful = self._have_near_half(squeezed)
        keys, rows = within_one_edit([name if has else "" for name, has in zip(squeezed, hopeful, strict=True)])
        slips = self._table.owners(keys * _NAME, rows, len(names))
        parts = shorts = [_NONE] * len(names)
        if not whole:
            parts = self._holding(names, keys, rows)
            shorts = self._owners_of([name if 1 < len(name) <= MOST_INITIALS else "" for name in squeezed], _INITIALS)
        every = sorted({int(owner) for row in (*slips, *parts, *shorts) for owner in row})
        numbers = np.array(every, dtype=np.int64)
        known = dict(zip(every, self._names_of(numbers), strict=True)) if every else {}
        return [
            _nearest(name, [[known[int(number)] for number in row] for row in rows], limit)
            if any(map(len, rows))
            else []
            for name, *rows in zip(names, slips, parts, shorts, strict=True)
        ]

    def knows(self, words: Sequence[str]) -> list[bool]:
        """Return whether each folded word is a word of some name."""
        filled = [letters_of(word) for word in words]
        found = self._table.have_owners(hashes([word or " " for word in filled]) * _WORD_IN)
        return [bool(word) and hit for word, hit in zip(filled, found.tolist(), strict=True)]

    def _owners_of(self, texts: Sequence[str], kind: np.uint64) -> list[npt.NDArray[Any]]:
        """Find the owners of each text of a kind, sorted; an empty text has none."""
        filled = np.array([at for at, text in enumerate(texts) if text], dtype=np.int64)
        return self._table.owners(hashes([text for text in texts if text]) * kind, filled, len(texts))

    def _have_near_half(self, texts: Sequence[str]) -> list[bool]:
        """Return whether a name or a word of one may be within one edit of each text.

        An edit leaves the beginning or the end of a name as it is, or swaps the two letters between them. Of nearly all
        runs of words neither is there, and hundreds of hashes need not be looked up.
        """
        found = np.ones(len(texts), dtype=bool)
        long = np.array([at for at, text in enumerate(texts) if len(text) >= LEAST_LETTERS], dtype=np.int64)
        if len(long):
            sums = _Sums.of([texts[at] for at in long.tolist()])
            keys = np.concatenate([_half_keys(sums, step) for step in (-1, 0, 1)] + [_swapped_keys(sums)])
            there = np.zeros(keys.size, dtype=bool)
            there[self._table.maybe(keys.ravel())] = True
            found[long] = there.reshape(keys.shape).any(axis=0)
        return found.tolist()

    def _holding(self, names: Sequence[str], keys: Keys, rows: Numbers) -> list[npt.NDArray[Any]]:
        """Find the owners of names that hold all words of a name; a single word may be within one edit, by its keys."""
        split = [_WORD.findall(name) for name in names]
        long = [any(len(word) >= LEAST_LETTERS for word in words) for words in split]
        single = np.array([one and len(words) == 1 for one, words in zip(long, split, strict=True)], dtype=bool)
        chosen = single[rows]
        found = self._table.owners(keys[chosen] * _WORD_IN, rows[chosen], len(names))
        found = [row if len(row) <= MOST_OWNERS else _NONE for row in found]
        several = [at for at, words in enumerate(split) if long[at] and len(words) > 1]
        known = list(dict.fromkeys(word for at in several for word in split[at]))  # of spans that overlap
        owners = dict(zip(known, self._owners_of(known, _WORD_IN), strict=True))
        for at in several:
            found[at] = _shared([owners[word] for word in split[at]])
        return found


def _shared(rows: list[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    """Return the numbers that all sorted rows have; none where each row has too many."""
    rows.sort(key=len)
    shared = rows[0]
    if len(shared) > MOST_OWNERS:
        return _NONE
    for row in rows[1:]:
        if not len(shared):
            return _NONE
        shared = shared[row[np.minimum(np.searchsorted(row, shared), len(row) - 1)] == shared]
    return shared


def _nearest(name: str, rows: Sequence[Sequence[Iterable[str]]], limit: int) -> list[str]:
    """Rank names of owners: those one edit away, those that hold the words of the name, those that it abbreviates."""
    (slips, parts, shorts), letters, found = rows, letters_of(name), {}
    for other in (other for row in slips for other in row):
        squeezed = letters_of(other)
        if other != name and (squeezed == letters or is_one_edit(squeezed, letters)):
            found[other] = likeness(name, other)
    best = best_first(found, found.__getitem__)
    words = _WORD.findall(name)
    held, abbreviated = ({other for row in rows for other in row} for rows in (parts, shorts))
    others = (held | abbreviated) - found.keys() - {name}
    like = {other: rounded(PART * len(letters) / max(len(letters), len(letters_of(other)))) for other in others}
    for other in best_first(like, like.__getitem__):  # all less like than a slip, so that few need be compared
        if len(best) >= limit:
            break
        if (other in held and _holds(_WORD.findall(other), words)) or (
            other in abbreviated and letters in initials_of(other)
        ):
            best.append(other)
    return best[:limit]


def _holds(words: Sequence[str], part: Sequence[str]) -> bool:
    """Return whether words hold a part: a single word within one edit, several words in a row or from end to end."""
    if words and len(part) > 1 and part[0] == words[0] and part[-1] == words[-1]:
        left = iter(words)
        return all(word in left for word in part)
    return any(
        all(a == b or (len(part) == 1 and is_one_edit(a, b)) for a, b in zip(words[at:], part, strict=False))
        for at in range(len(words) - len(part) + 1)
    )


def within_one_edit(names: Sequence[str]) -> tuple[Keys, Numbers]:
    """Return the hashes of texts and of all texts within one edit of them; digits are neither changed nor made.

    Returns:
        Hashes, some twice, and for each the place of its text.
    """
    sums = _Sums.of(names)
    sizes, codes, powers, row, place = sums.sizes, sums.codes, sums.powers, sums.row, sums.place
    filled = np.flatnonzero(sizes)
    if not len(filled):
        return np.zeros(0, dtype=np.uint64), np.zeros(0, dtype=np.int64)
    whole, start = sums.whole, sums.added[sums.begins]
    before, after = sums.added[:-1] - start[row], sums.added[1:] - start[row]
    found = [(whole[filled], filled)]
    large = sizes[row] >= LEAST_LETTERS
    free = large & ~np.fromiter(map(str.isdigit, "".join(names)), dtype=bool, count=len(codes))
    at = np.flatnonzero(free)
    found.append((before[at] + (whole[row[at]] - after[at]) * np.uint64(_INVERSE), row[at]))
    at = np.flatnonzero(free[:-1] & free[1:] & (row[:-1] == row[1:]))
    change = (codes[at + 1] - codes[at]) * powers[place[at]] + (codes[at] - codes[at + 1]) * powers[place[at] + 1]
    found.append((whole[row[at]] + change, row[at]))
    alphabets = [next((n for n, (some, _) in enumerate(_ALPHABETS) if some & set(name)), -1) for name in names]
    for number in sorted({*alphabets} - {-1}):
        letters = _ALPHABETS[number][1]
        own = (np.array(alphabets) == number) & (sizes >= LEAST_LETTERS)
        at = np.flatnonzero(free & own[row])
        changed = whole[row[at], None] + (letters[None, :] - codes[at, None]) * powers[place[at], None]
        found.append((changed.ravel(), np.repeat(row[at], len(letters))))
        at, last = np.flatnonzero(own[row]), np.flatnonzero(own)
        left = np.concatenate([before[at], whole[last]])
        power, there = powers[np.concatenate([place[at], sizes[last]])], np.concatenate([row[at], last])
        behind = (whole[there] - left) * np.uint64(_BASE)
        made = left[:, None] + letters[None, :] * power[:, None] + behind[:, None]
        found.append((made.ravel(), np.repeat(there, len(letters))))
    keys, rows = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return keys, rows


class _Sums:
    """The sums of which the hashes of texts and of their beginnings and ends are made.

    Args:
        sizes: Length of each text.
        codes: Characters of all texts.

    Attributes:
        begins: Place of the first character of each text in `codes`.
        powers: Powers of the base, one more than the longest text has characters.
        row: Text of each character.
        place: Place of each character in its text.
        added: Sum of all terms before each character, modulo 2**64, so that differences are of one text alone.
        whole: Hash of each text.
    """

    def __init__(self, sizes: Numbers, codes: Keys) -> None:
        self.sizes, self.codes = sizes, codes
        self.begins = np.cumsum(self.sizes) - self.sizes
        self.powers = _powers(int(self.sizes.max(initial=0)) + 1)
        self.row = np.repeat(np.arange(len(sizes)), self.sizes)
        self.place = np.arange(len(self.codes)) - self.begins[self.row]
        self.added = np.zeros(len(self.codes) + 1, dtype=np.uint64)
        np.cumsum(self.codes * self.powers[self.place], out=self.added[1:])
        self.whole = self.beginning(self.sizes)

    @classmethod
    def of(cls, texts: Sequence[str]) -> _Sums:
        """Sum the characters of texts."""
        return cls(_sizes(texts), _codes("".join(texts)))

    def beginning(self, lengths: Numbers) -> Keys:
        """Return the hash of the first characters of each text."""
        return np.asarray(self.added[self.begins + lengths] - self.added[self.begins])


def _half_keys(sums: _Sums, step: int) -> Keys:
    """Return the keys of the beginning and the end of names as long as the texts and ``step``; shape (2, texts)."""
    lengths = sums.sizes + step
    cut = lengths // 2
    left = sums.sizes - lengths + cut
    inverse = np.full(len(sums.powers), _INVERSE, dtype=np.uint64)
    inverse[0] = 1
    end = (sums.whole - sums.beginning(left)) * np.cumprod(inverse)[left]
    return np.stack([_key(sums.beginning(cut), lengths, _BEGINNING), _key(end, lengths, _END)])


def _swapped_keys(sums: _Sums) -> Keys:
    """Return the key of the beginning of each text, the letters before and after its end swapped; shape (1, texts)."""
    cut = sums.sizes // 2
    after = sums.begins + cut
    change = (sums.codes[after] - sums.codes[after - 1]) * sums.powers[cut - 1]
    return _key(sums.beginning(cut) + change, sums.sizes, _BEGINNING)[None]


def _key(half: Keys, lengths: Numbers, side: np.uint64) -> Keys:
    return (half + lengths.astype(np.uint64) * side) * _HALF


def hashes(texts: Sequence[str]) -> Keys:
    """Hash each text, none of them empty, to the sum of its characters times powers of an odd base."""
    if not texts:
        return np.zeros(0, dtype=np.uint64)
    lengths = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
    starts = np.cumsum(lengths) - lengths
    place = np.arange(int(lengths.sum())) - np.repeat(starts, lengths)
    terms = _codes("".join(texts)) * _powers(int(lengths.max()))[place]
    return np.asarray(np.add.reduceat(terms, starts), dtype=np.uint64)


def _sizes(texts: Sequence[str]) -> Numbers:
    return np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))


def _codes(text: str) -> Keys:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4").astype(np.uint64)


def _powers(count: int) -> Keys:
    factors = np.full(count, _BASE, dtype=np.uint64)
    factors[:1] = 1
    return np.cumprod(factors, dtype=np.uint64)


_JOINING = hashes(sorted(JOINING))


def keyed(names: Sequence[str], owners: Numbers) -> tuple[Keys, Numbers]:
    """Return the keys by which folded names are found, in no order, and the owner of each.

    They are of each name, of its words and of its initials. Those of the beginnings and ends of names and words have
    owner -1: the index only asks whether they are there.
    """
    found = [(np.zeros(0, dtype=np.uint64), _NONE)]
    for start in range(0, len(names), _MADE_AT_ONCE):
        found += _keyed(names[start : start + _MADE_AT_ONCE], owners[start : start + _MADE_AT_ONCE])
    keys, numbers = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return keys, numbers


def _keyed(names: Sequence[str], owners: Numbers) -> list[tuple[Keys, Numbers]]:
    sizes, codes = _sizes(names), _codes("".join(names))
    inside = np.flatnonzero(_are_written(codes))
    row, letters = np.repeat(np.arange(len(names)), sizes)[inside], codes[inside]
    first = np.ones(len(inside), dtype=bool)
    first[1:] = (inside[1:] > inside[:-1] + 1) | (row[1:] != row[:-1])
    begins = np.flatnonzero(first)
    whole = _Sums(np.bincount(row, minlength=len(names)), letters)
    words, word_row = _Sums(np.diff(begins, append=len(letters)), letters), row[begins]
    joining = np.isin(words.whole, _JOINING)
    of_row = np.bincount(word_row, minlength=len(names))
    before: Numbers = np.cumsum(joining) - joining
    at_first = before == before[(np.cumsum(of_row) - of_row)[word_row]]  # no joining word is before it
    initials = _Sums(np.bincount(word_row[~joining], minlength=len(names)), letters[begins[~joining]])
    begun = np.bincount(word_row[~joining & at_first], minlength=len(names))
    found = [(words.whole * _WORD_IN, owners[word_row])]
    for sums, lengths, kind, least, most in (
        (whole, whole.sizes, _NAME, 1, None),
        (initials, initials.sizes, _INITIALS, 2, MOST_INITIALS),
        (initials, begun, _INITIALS, 2, MOST_INITIALS),
    ):
        chosen = (lengths >= least) & (lengths <= (most or lengths))
        found.append(((sums.beginning(lengths) * kind)[chosen], owners[chosen]))
    several = np.flatnonzero(of_row[word_row] > 1)  # the only word of a name begins and ends as the name does
    several = several[np.unique(words.whole[several], return_index=True)[1]]
    for sums, some in ((whole, np.arange(len(names))), (words, several)):
        halves = _half_keys(sums, 0)[:, some[sums.sizes[some] >= LEAST_LETTERS - 1]].ravel()
        found.append((halves, np.full(len(halves), -1)))
    return found


def _are_written(codes: Keys) -> npt.NDArray[np.bool_]:
    """Return which characters are letters or digits."""
    return _letters(int(codes.max(initial=0)).bit_length())[codes]


@cache
def _letters(bits: int) -> npt.NDArray[np.bool_]:
    """Return which of the first characters, numbered in so many bits, are letters or digits."""
    count = min(1 << bits, sys.maxunicode + 1)
    return np.fromiter(map(str.isalnum, map(chr, range(count))), dtype=bool, count=count)
