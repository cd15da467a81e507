"""Constraints on numbers and dates that a question names: more than two million, before 1900, in the 1960s."""

from __future__ import annotations

import functools
import math
import re

import attrs

from srtk_plugin_answers.question_classes import KEPT_TEXTS

_UNITS = {
    word: float(value)
    for value, word in enumerate(
        ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
    )
} | {"a": 1.0, "an": 1.0, "half a": 0.5}
# A bound up to a dozen is as likely on a number of things ("more than three films") as on a value.
_MOST_COUNTED = 12.0
_SCALES = {"hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12}
_DIGITS = r"\d{1,3}(?:[,' ]\d{3}(?!\d))+(?:\.\d+)?|\d{1,3}(?:\.\d{3}){2,}(?!\d)|\d+(?:\.\d+)?"
_WORDS = "|".join(_UNITS)
_TIMES = rf"(?:[ -](?:{'|'.join(_SCALES)}))*"
_LEAD = r"(?:the )?(?:year )?"


def _number(place: int) -> str:
    value = rf"[$€£]?(?P<digits{place}>{_DIGITS})|(?P<word{place}>{_WORDS})(?!\w)"
    return rf"(?:{value})(?P<scales{place}>{_TIMES})(?!\d|[.,]\d| ?%)"


def _year(place: int) -> str:
    return rf"{_LEAD}(?P<year{place}>1\d\d\d|20\d\d)(?![\d,.]\d|\w)"


_GREATER = (
    r"bigger|broader|colder|dearer|deeper|farther|faster|further|greater|heavier|higher|hotter|larger|longer|more|richer|taller"
    r"|warmer|wider"
)
_LESSER = r"cheaper|fewer|less|lighter|lower|narrower|nearer|poorer|shallower|shorter|slower|smaller"
_NOT = r"(?:no|not|n't|never) "
_FORMS: tuple[tuple[str, str], ...] = (
    # Where two begin at the same place, the first decides.
    ("between", rf"between {_number(1)} and {_number(2)}"),
    ("most", rf"{_NOT}(?:{_GREATER}) than {_number(1)}"),
    ("least", rf"{_NOT}(?:{_LESSER}) than {_number(1)}"),
    ("more", rf"(?:(?:{_GREATER}) than|over|above|exceeding|upwards of) {_number(1)}"),
    ("less", rf"(?:(?:{_LESSER}) than|under|below) {_number(1)}"),
    ("least", rf"(?:at least|a minimum of|minimum) {_number(1)}"),
    ("most", rf"(?:at most|up to|a maximum of|maximum) {_number(1)}"),
    ("equal", rf"exactly {_number(1)}"),
)
_DATE_FORMS: tuple[tuple[str, str], ...] = (
    ("between", rf"between {_year(1)} (?:and|to) {_year(2)}"),
    ("between", rf"(?:from {_year(1)} (?:to|until|till|through)|(?:from|in|during) {_year(3)} ?[-–]) ?{_year(2)}"),
    ("decade", r"(?:in|during) (?:the )?(?P<year1>1\d\d|20\d)0'?s\b"),
    ("after", rf"(?:after|later than|newer than|younger than) {_year(1)}"),
    ("before", rf"(?:before|earlier than|older than|prior to) {_year(1)}"),
    ("since", rf"since {_year(1)}"),
    ("until", rf"(?:until|till|by) {_year(1)}"),
    ("in", rf"(?:in|during|from) (?!the \d){_year(1)}"),
)


def _pattern(forms: tuple[tuple[str, str], ...]) -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple((form, re.compile(rf"(?<![\w-]){pattern}")) for form, pattern in forms)


_NUMBERS = _pattern(_FORMS)
_DATES = _pattern(_DATE_FORMS)
_BEHIND = re.compile(
    r"(?:\s+(?!(?:is|are|was|were|has|have|had|do|does|did|which|that|who|what|where|and|or|but|in|of|on|at|by|with|to"
    r"|from|for|the|can|whose|lies?|live|next|near|among|bordering|borders?|won|win)\b)[\w'’-]+)*",
    re.IGNORECASE,
)
_BEFORE = re.compile(
    r",?\s*\b(?:(?:with|having|whose)\s+(?:an?\s+|the\s+)?|(?:and|has|have|had)\s+(?:an?|the)\s+)(?:[\w-]+\s+){0,3}$"
    r"|\b[\w-]+ed\s+$|\bborn\s+$",
    re.IGNORECASE,
)
"""What belongs to a constraint before and behind it: with a population of | over | two million people."""
# With all characters before a constraint, a long question would take quadratic time.
_NEAR = 100
_NEGATED = re.compile(r"(?:\bnot|n't|\bnever)(?:\s+[\w-]+){0,2}\s*$", re.IGNORECASE)
_NAME = re.compile(r" [A-Z]")
"""What follows a year that is part of a name: in 2021 Grammy Awards."""
_MARKS = str.maketrans("’\u00a0\u202f\u2009", "'   ")


@attrs.frozen
class ValueConstraint:
    """Bounds on a number, or on a date as a year with a fraction, and their place in the question.

    An open bound is itself excluded. ``end`` is the place behind the last character.
    """

    low: float = -math.inf
    high: float = math.inf
    open_low: bool = False
    open_high: bool = False
    date: bool = False
    start: int = 0
    end: int = 0

    def allows(self, value: float) -> bool:
        """Return whether a value is within the bounds."""
        above = value > self.low if self.open_low else value >= self.low
        return above and (value < self.high if self.open_high else value <= self.high)

    @property
    def is_small(self) -> bool:
        """Whether it is a bound on a number such as things are counted by."""
        return not self.date and all(math.isinf(one) or one <= _MOST_COUNTED for one in (self.low, self.high))

    def __str__(self) -> str:
        """Write the bounds as an interval."""
        left, right = "(" if self.open_low or self.low == -math.inf else "[", ")" if self.open_high else "]"
        right = ")" if self.high == math.inf else right
        return f"{left}{_shown(self.low)}, {_shown(self.high)}{right}"


@functools.lru_cache(maxsize=KEPT_TEXTS)
def value_constraints(question: str) -> tuple[ValueConstraint, ...]:
    """Read the constraints on numbers and dates that a question in English names, in order.

    Numbers may be words up to twelve, have thousands separators, and be followed by *hundred* up to *trillion*; units
    of measure are not converted. A year is of four digits and after a word of time (*before*, *in*, *older than*);
    elsewhere it is a number. A negated bound (*not released in 1999*) is no constraint.
    """
    text = question.translate(_MARKS).lower()
    if len(text) != len(question):
        text = question  # a letter whose small form is longer would move the places
    found: list[ValueConstraint] = []
    taken = bytearray(len(text))
    for forms, made in ((_DATES, _dated), (_NUMBERS, _numbered)):
        for form, pattern in forms:
            for match in pattern.finditer(text):
                one = made(form, match)
                if one is None or taken.find(1, one.start, one.end) >= 0:
                    continue
                named = form == "in" and _NAME.match(question, one.end)
                if not named and not _NEGATED.search(text, max(0, one.start - _NEAR), one.start):
                    found.append(one)
                    taken[one.start : one.end] = b"\1" * (one.end - one.start)
    return tuple(sorted(found, key=lambda one: one.start))


def clauses(text: str) -> tuple[str, list[str]]:
    """Return a text without its constraints, and each constraint with the words around it that name its value."""
    every = value_constraints(text)
    starts = []
    for floor, one in zip([0, *(one.end for one in every)], every, strict=False):
        before = _BEFORE.search(text, max(floor, one.start - _NEAR), one.start)
        starts.append(before.start() if before else one.start)
    found: list[str] = []
    rest: list[str] = []
    end = 0
    for start, limit, one in zip(starts, [*starts[1:], len(text)], every, strict=False):
        rest.append(text[end:start])
        behind = _BEHIND.match(text, one.end, limit)
        end = behind.end() if behind else one.end
        found.append(text[start:end].strip(" ,"))
    return " ".join(" ".join([*rest, text[end:]]).split()), found


def _dated(form: str, match: re.Match[str]) -> ValueConstraint | None:
    year = float(match["year1"] or match["year3"])
    low, high = -math.inf, math.inf
    if form == "decade":
        low, high = year * 10, year * 10 + 10
    elif form in ("in", "since"):
        low, high = year, year + 1 if form == "in" else math.inf
    elif form == "after":
        low = year + 1
    elif form in ("before", "until"):
        high = year if form == "before" else year + 1
    else:
        low, high = year, float(match["year2"]) + 1
        if high <= low:
            return None
    return ValueConstraint(low, high, False, True, True, *match.span())


def _numbered(form: str, match: re.Match[str]) -> ValueConstraint | None:
    value = _value(match, 1)
    if value is None:
        return None
    span = match.span()
    if form == "between":
        other = _value(match, 2)
        # Of "between two and three million" both are millions.
        if other is not None and not match["scales1"] and value < 1000:
            value *= _scale(match["scales2"])
        return None if other is None or other < value else ValueConstraint(value, other, start=span[0], end=span[1])
    low = value if form in ("more", "least", "equal") else -math.inf
    high = value if form in ("less", "most", "equal") else math.inf
    return ValueConstraint(low, high, form == "more", form == "less", False, *span)


def _value(match: re.Match[str], place: int) -> float | None:
    digits, word, scales = (match[f"{name}{place}"] for name in ("digits", "word", "scales"))
    if digits is None:
        # "More than a century" has no number.
        return None if word in ("a", "an", "half a") and not scales else _UNITS[word] * _scale(scales)
    dots = digits.count(".")
    plain = re.sub(r"[,' .]" if dots > 1 else r"[,' ]", "", digits)
    return float(plain) * _scale(scales)


def _scale(scales: str) -> float:
    return math.prod(_SCALES[word] for word in re.split(r"[ -]", scales.strip(" -")) if word)


def _shown(value: float) -> str:
    return repr(value) if math.isfinite(value) and value != int(value) else f"{value:.0f}"
