"""Offsets of a service converted to spans of the original text.

Services count characters, bytes or UTF-16 units, in the text or in a form of it that they made for
themselves. A *scheme* is one such way of counting. The scheme that puts most of the mentions in their
places wins; the rest of the mentions are looked up near their places.
"""

from __future__ import annotations

import html
import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, pairwise

import attrs

Span = tuple[int, int]


@attrs.frozen
class Claim:
    """The place of a mention and its text by the account of a service, as far as it gives them."""

    start: int | None
    end: int | None
    spot: str = ""


class _Pieces:
    """A text cut into pieces at ``cuts``, each with its length as the service counts."""

    def __init__(self, text: str, cuts: Sequence[int], lengths: Sequence[int]) -> None:
        self._cuts = [*cuts, len(text)]
        self._at = list(accumulate(lengths, initial=0))

    def span(self, start: int, end: int) -> Span | None:
        """Return the pieces that hold ``start`` to ``end``, or None outside of the text."""
        if not 0 <= start < end <= self._at[-1]:
            return None
        first = bisect_right(self._at, start) - 1
        last = bisect_left(self._at, end)
        return self._cuts[first], self._cuts[last]


Lengths = Callable[[str], tuple[list[int], list[int]]]


def _each(size: Callable[[str], int]) -> Lengths:
    return lambda text: (list(range(len(text))), [size(character) for character in text])


def _rewritten(pattern: str, form: Callable[[str], str]) -> Lengths:
    """Count as if each match of a pattern had another form."""
    regex = re.compile(pattern)

    def lengths(text: str) -> tuple[list[int], list[int]]:
        cuts: list[int] = []
        sizes: list[int] = []
        at = 0
        for match in regex.finditer(text):
            cuts += range(at, match.start())
            sizes += [1] * (match.start() - at)
            cuts.append(match.start())
            sizes.append(len(form(match[0])))
            at = match.end()
        cuts += range(at, len(text))
        sizes += [1] * (len(text) - at)
        return cuts, sizes

    return lengths


def _clusters(text: str) -> Iterator[Span]:
    """Yield the parts that normalise on their own: a character with the marks and vowels that join it."""
    starts = [
        at
        for at, character in enumerate(text)
        if at == 0 or not (unicodedata.combining(character) or "\u1160" <= character <= "\u11ff")
    ]
    yield from pairwise([*starts, len(text)])


def _normalised(form: Callable[[str], str]) -> Lengths:
    def lengths(text: str) -> tuple[list[int], list[int]]:
        spans = list(_clusters(text)) if text else []
        return [start for start, _ in spans], [len(form(text[start:end])) for start, end in spans]

    return lengths


def _form(name: str) -> Callable[[str], str]:
    return lambda text: unicodedata.normalize(name, text)  # type: ignore[arg-type]


SCHEMES: dict[str, Lengths] = {
    "characters": _each(lambda _: 1),
    "utf16": _each(lambda character: 2 if character > "\uffff" else 1),
    "bytes": _each(lambda character: len(character.encode("utf-8", "replace"))),
    "ampersands": _rewritten("&amp;", lambda _: "&"),
    "unescaped": _rewritten(r"&(?:#\d+|#[xX][0-9a-fA-F]+|\w+);", html.unescape),
    "stripped": _rewritten(r"^\s+", lambda _: ""),
    "collapsed": _rewritten(r"^\s+|\s+", lambda blank: " " if blank else ""),
    "nfc": _normalised(_form("NFC")),
    "nfd": _normalised(_form("NFD")),
    "nfkc": _normalised(_form("NFKC")),
    "nfkd": _normalised(_form("NFKD")),
    "lower": _each(lambda character: len(character.lower())),
    "folded": _each(lambda character: len(character.casefold())),
}
"""Ways of counting, the likely ones first."""


def locate(text: str, claims: Sequence[Claim], scheme: str = "auto") -> list[Span | None]:
    """Find the spans of mentions in the text that was sent, without blanks around; None where a mention is not in it.

    The scheme ``auto`` takes the one that fits best.
    """
    best: list[Span | None] = [None] * len(claims)
    most = -1
    for name in SCHEMES if scheme == "auto" else [scheme]:
        pieces = _Pieces(text, *SCHEMES[name](text))
        spans = [
            None if claim.start is None or claim.end is None else pieces.span(claim.start, claim.end)
            for claim in claims
        ]
        fits = sum(_fits(text, span, claim) for span, claim in zip(spans, claims, strict=True))
        if fits > most:
            best, most = spans, fits
        if most == len(claims):
            break
    return [_settled(text, span, claim) for span, claim in zip(best, claims, strict=True)]


def _fits(text: str, span: Span | None, claim: Claim) -> bool:
    return span is not None and (not claim.spot or _plain(text[span[0] : span[1]]) == _plain(claim.spot))


def _settled(text: str, span: Span | None, claim: Claim) -> Span | None:
    """Take the span if the mention stands there, else the place of the mention that is nearest to it."""
    if not _fits(text, span, claim):
        near = span[0] if span else claim.start or 0
        span = min(_places(text, claim.spot), key=lambda place: abs(place[0] - near), default=None)
    return None if span is None else _trimmed(text, span)


def _places(text: str, spot: str) -> list[Span]:
    """Find a mention letter by letter, else but for case, marks' order, widths and blanks."""
    spot = spot.strip()
    if not spot:
        return []
    exact = [(found.start(), found.end()) for found in re.finditer(f"(?={re.escape(spot)})", text)]
    if exact:
        return [(start, start + len(spot)) for start, _ in exact]
    wanted = _plain(spot)
    spans = list(_clusters(text)) if text else []
    forms = [_plain_letters(text[start:end]) for start, end in spans]
    pieces = _Pieces(text, [start for start, _ in spans], [len(form) for form in forms])
    joined = "".join(forms)
    found = re.finditer(f"(?=({_loose(wanted)}))", joined) if wanted else iter(())
    places = [pieces.span(match.start(1), match.end(1)) for match in found]
    return [place for place in places if place is not None]


def _loose(plain: str) -> str:
    return r"\s+".join(re.escape(word) for word in plain.split())


def _plain_letters(text: str) -> str:
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


def _plain(text: str) -> str:
    return " ".join(_plain_letters(text).split())


def _trimmed(text: str, span: Span) -> Span | None:
    mention = text[span[0] : span[1]]
    start = span[0] + len(mention) - len(mention.lstrip())
    end = span[1] - len(mention) + len(mention.rstrip())
    return (start, end) if start < end else None
