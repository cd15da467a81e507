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
_DIGITS = r"\d{1,3}(?:[,' ]\d{3}(?!\d))+(?:\.\d+)?|\d{1,3}(?:\.\d{3}){2,}(?!\d)|\d+,\d{1,2}(?!\d)|\d+(?:\.\d+)?"
_PERCENT = ("percent", "per cent")
_MEASURES = "|".join(
    (*_PERCENT, "%", "km/h", "km²", "km", "cm", "mm", "m²", "m", "kg", "g", "t", "l", "ml", "°c", "°f")
)
_LABEL_UNIT = re.compile(rf"\((?P<unit>{_MEASURES})\)$", re.IGNORECASE)
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_WORDS = "|".join(_UNITS)
_TIMES = rf"(?:[ -](?:{'|'.join(_SCALES)}))*"
_LEAD = r"(?:the )?(?:year )?"


def _number(place: int) -> str:
    value = rf"(?P<sign{place}>[-−–])?[$€£]?(?P<digits{place}>{_DIGITS})|(?P<word{place}>{_WORDS})(?!\w)"
    unit = rf"(?: ?(?P<unit{place}>{_MEASURES})(?![\w/²]))?"
    return rf"(?:{value})(?P<scales{place}>{_TIMES}){unit}(?!\d|[.,]\d)"


def _year(place: int) -> str:
    month = rf"(?P<month{place}>(?:{'|'.join(_MONTHS)})[a-z]*)"
    day = rf"(?:(?:the )?(?P<day{place}>\d\d?)(?:st|nd|rd|th)? (?:of )?)?{month}"
    day = rf"{day}(?: (?P<late{place}>\d\d?)(?:st|nd|rd|th)?)?,? "
    iso = rf"(?:-(?P<mm{place}>0\d|1[0-2])(?:-(?P<dd{place}>\d\d))?)?"
    number = rf" ?(?:{'|'.join(_SCALES)}|{_MEASURES})(?!\w)"
    return rf"(?:{day}|{_LEAD})(?P<year{place}>1\d\d\d|20\d\d){iso}(?![\d,.]\d|\w|{number})"


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
    ("in", rf"(?:in|during|from|on) (?!the \d{{4}}){_year(1)}"),
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

    An open bound is itself excluded. ``end`` is the place behind the last character, ``unit`` the unit of a number,
    and ``noun`` the value's name in the question, if it has one; ``verb`` is the participle before it, and ``behind``
    what is counted (*inhabitants*). Years that may as well be numbers, as in *between 1000 and 2000*, are ``plain``.
    """

    low: float = -math.inf
    high: float = math.inf
    open_low: bool = False
    open_high: bool = False
    date: bool = False
    start: int = 0
    end: int = 0
    unit: str = ""
    plain: bool = False
    noun: str = ""
    verb: str = ""
    behind: str = ""

    def of_numbers(self) -> ValueConstraint:
        """Return the bounds for a relation whose values are no dates."""
        return attrs.evolve(self, high=self.high - 1, open_high=False, date=False) if self.plain else self

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

    Numbers may be words up to twelve, have a minus, thousands separators or a decimal comma (one or two figures behind
    it), and be followed by *hundred* up to *trillion* and a unit; units are not converted. A year is of four digits and
    after a word of time (*before*, *in*, *older than*), with or without a month and a day; elsewhere it is a number. A
    negated bound (*not released in 1999*) is no constraint.
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
    found.sort(key=lambda one: one.start)
    noun = ""
    for place, one in enumerate(found):
        # Larger than 5 and smaller than 9: both bounds are about the same.
        is_joined = place and _JOINS.search(text, found[place - 1].end, one.start)
        noun = _bounded_noun(text, one) or (noun if is_joined else "")
        verb = _VERB.search(text, max(0, one.start - _NEAR), one.start)
        behind = _BEHIND.match(text, one.end, found[place + 1].start if found[place + 1 :] else len(text))
        unit = behind.group().strip() if behind else ""
        found[place] = attrs.evolve(one, noun=noun, verb=verb[1] if verb else "", behind=unit)
    return tuple(found)


def unit_of_label(label: str) -> str:
    """Return the unit in brackets that ends the label of a relation, such as km of *length (km)*; else nothing."""
    found = _LABEL_UNIT.search(label)
    return found["unit"].casefold() if found else ""


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


_NO_NOUN = (
    r"(?!(?:with|of|in|on|at|by|for|and|or|that|which|who|whose|has|have|had|is|are|was|were|the|an?|to|from|than)\b)"
)
_NOUN = rf"(?P<noun>number of [\w-]+|{_NO_NOUN}[^\W\d_][\w-]*(?: {_NO_NOUN}[\w-]+){{0,2}}?)"
_PROPERTY = re.compile(
    rf"(?:\b(?:the|an?|its|their|whose|with|having)|['’]s) (?:the |an? )?{_NOUN}"
    r"(?: of (?:(?!of\b)[\w¤'’.-]+ ?){1,4}?)?(?: ?\b(?:is|are|was|were|be|that|which|of|not))* *$",
    re.IGNORECASE,
)
_JOINS = re.compile(r"(?:\b(?:and|or|but)\b|,)(?: (?:is|are|was|were|also|not|at))*\W*$")
_VERB = re.compile(r"([\w-]+(?:ed|en|ilt|ade|orn|un|wn)) $")
_COMPARES = rf"(?:{_GREATER}|{_LESSER}|better|earlier|later|newer|older|younger)"
_COMPARED = re.compile(
    rf"\b(?:the|an?) {_COMPARES} {_NOUN} ?(?=[,:;?¤]|$|\b(?:than|of|is|in|at))"
    rf"|\bthe {_NOUN.replace('noun', 'other')} of (?:(?!of\b)[\w¤'’.-]+ ?){{1,4}}? ?(?:not )?{_COMPARES} than\b"
    rf"|['’]s {_NOUN.replace('noun', 'own')} (?:not )?{_COMPARES} than\b",
    re.IGNORECASE,
)


def _bounded_noun(text: str, bound: ValueConstraint) -> str:
    """Return the noun that a bound is about: *the area of X larger than 50*; else nothing."""
    found = _PROPERTY.search(" ".join(text[max(0, bound.start - _NEAR) : bound.start].split()))
    return found["noun"] if found else ""


_ORDERED = re.compile(rf"({_VERB.pattern[1:-3]}) (?:before|after|earlier than|later than)\b", re.IGNORECASE)


def compared_verb(text: str) -> str:
    """Return the participle by whose dates a question compares two things: *built before X*; else nothing."""
    found = _ORDERED.search(text)
    return found[1].casefold() if found else ""


def compared_noun(text: str) -> str:
    """Return the noun by which a question in English compares two things: *a larger area than X*; else nothing."""
    found = _COMPARED.search(" ".join(text.split()))
    return next((noun.casefold() for noun in found.groups() if noun), "") if found else ""


def _dated(form: str, match: re.Match[str]) -> ValueConstraint | None:
    if form == "decade":
        year = float(match["year1"]) * 10
        return ValueConstraint(year, year + 10, False, True, True, *match.span())
    first, behind = _time(match, 1 if match["year1"] else 3)
    low, high = -math.inf, math.inf
    if form in ("in", "since"):
        low, high = first, behind if form == "in" else math.inf
    elif form == "after":
        low = behind
    elif form in ("before", "until"):
        high = first if form == "before" else behind
    else:
        low, high = first, _time(match, 2)[1]
        if high <= low:
            return None
    # Only of years without a word of time is it open what they are.
    plain = (
        match.group().startswith("between") and low == int(low) and high == int(high) and "year" not in match.group()
    )
    return ValueConstraint(low, high, False, True, True, *match.span(), plain=plain)


def _time(match: re.Match[str], place: int) -> tuple[float, float]:
    """Return the beginning of a year, a month or a day, and of the next one, as years with a fraction."""
    groups = match.groupdict()
    year, name = float(match[f"year{place}"]), groups.get(f"month{place}")
    month = _MONTHS.index(name[:3]) + 1 if name else int(groups.get(f"mm{place}") or 0)
    day = int(next((groups[key] for key in (f"day{place}", f"late{place}", f"dd{place}") if groups.get(key)), 0))
    # As values of dates are written as years.
    first = year + max(0, month - 1) / 12 + max(0, day - 1) / 372
    return first, first + (1 / 372 if day else 1 / 12 if month else 1)


def _numbered(form: str, match: re.Match[str]) -> ValueConstraint | None:
    value = _value(match, 1)
    if value is None:
        return None
    span = match.span()
    unit = next((found for key, found in match.groupdict().items() if key.startswith("unit") and found), "")
    unit = "%" if unit in _PERCENT else unit
    if form == "between":
        other = _value(match, 2)
        # Of "between two and three million" both are millions.
        if other is not None and not match["scales1"] and value <= other / _scale(match["scales2"]):
            value *= _scale(match["scales2"])
        if other is None or other < value:
            return None
        return ValueConstraint(value, other, start=span[0], end=span[1], unit=unit)
    low = value if form in ("more", "least", "equal") else -math.inf
    high = value if form in ("less", "most", "equal") else math.inf
    return ValueConstraint(low, high, form == "more", form == "less", False, *span, unit)


def _value(match: re.Match[str], place: int) -> float | None:
    digits, word, scales = (match[f"{name}{place}"] for name in ("digits", "word", "scales"))
    if digits is None:
        # "More than a century" has no number.
        return None if word in ("a", "an", "half a") and not scales else _UNITS[word] * _scale(scales)
    dots = digits.count(".")
    if re.fullmatch(r"\d+,\d\d?", digits):
        digits = digits.replace(",", ".")
    plain = re.sub(r"[,' .]" if dots > 1 else r"[,' ]", "", digits)
    return (-1 if match[f"sign{place}"] else 1) * float(plain) * _scale(scales)


def _scale(scales: str) -> float:
    return math.prod(_SCALES[word] for word in re.split(r"[ -]", scales.strip(" -")) if word)


def _shown(value: float) -> str:
    return repr(value) if math.isfinite(value) and value != int(value) else f"{value:.0f}"
