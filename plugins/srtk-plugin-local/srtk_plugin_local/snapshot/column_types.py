"""Types of the values of a column: numbers, dates, truth values, quantities, codes, texts or names of things.

A type is found from the whole column, never cell by cell: each pattern here is valid for Python and for DuckDB alike.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache

import attrs

from srtk_plugin_local.snapshot.units import CURRENCIES, MINUS, SINGULARS, SPACE, WITH_UNIT, unit_pattern

# Words of a missing value, in small letters; ``na`` is none of them, since it is Namibia and sodium.
USUAL = (
    *("null", "nan", "none", "n/a", "#n/a", "<na>", "nat", r"\n"),
    *("#value!", "#ref!", "#div/0!", "#name?", "#null!", "#num!"),  # errors of Excel
)

# How programs write them; ``Nan`` and ``Null`` are names of persons.
SPELLINGS = ("NULL", "null", "NaN", "nan", "NAN", "None", "none", "NONE", "N/A", "n/a", "#N/A", "<NA>", "NaT", r"\N")

# Share of the values that must fit a type; the others are kept as texts, and counted.
NEARLY = 0.95
# Mean length from which texts are descriptions, not names.
_LONG = 100

# First words of a heading that asks for yes or no.
_ASKS = ("is", "has", "was", "are", "can", "does", "should")
# Last words of a heading that tells of a state, besides participles in -ed: 0 and 1 under it are no and yes.
_STATES = frozenset(
    (
        *("active", "alive", "available", "dead", "female", "free", "male", "open", "optional", "organic", "private"),
        *("public", "smoker", "valid", "vegan", "vegetarian", "visible"),
        *("bought", "broken", "built", "chosen", "given", "hidden", "paid", "sent", "shown", "sold", "stolen"),
        *("taken", "used", "written"),
    )
)
# Words of headings under which two numbers with a colon are no time of day.
_SPANS = frozenset(
    (
        *("duration", "length", "runtime", "playtime", "elapsed", "lap", "laps", "pace", "split", "dauer", "duree"),
        *("score", "result", "ratio", "verse", "odds"),
    )
)

# Words of headings of digits in groups that are no number.
_CALLED = frozenset(("phone", "telephone", "tel", "telefon", "mobile", "cell", "fax", "siren", "siret", "iban", "zip"))
# Words of headings of codes, some of which are words for yes and no: NO and SI are Norway and Slovenia.
_CODED = frozenset(
    ("country", "countries", "nation", "nationality", "land", "pais", "pays", "paese", "language", "lang")
)

# A whole number; one that begins with a needless zero is a code.
WHOLE = r"[+-]?(0|[1-9][0-9]*)"
_DAY = r"(0?[1-9]|[12][0-9]|3[01])"
_MONTH = r"(0?[1-9]|1[0-2])"
_TIME = r"([01]?[0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\.[0-9]+)?)?"
# All months, those with a day 30, those with a day 31, and February.
_MONTHS_BY_DAY = (_MONTH, "(0?[13-9]|1[0-2])", "(0?[13578]|1[02])", "0?2")
_FOURTH = "(0[48]|[2468][048]|[13579][26])"
# All years, and those with a day more.
_YEARS = ("[0-9]{4}", f"([0-9]{{2}}{_FOURTH}|([02468][048]|[13579][26])00)")


def _real_day(form: str, months: Sequence[str] = _MONTHS_BY_DAY, years: Sequence[str] = _YEARS) -> str:
    """Return the regular expression of a day that the calendar has.

    Args:
        form: Regular expression with ``<y>``, ``<m>`` and ``<d>`` for year, month and day.
        months: Regular expressions of months, as ``_MONTHS_BY_DAY``.
        years: Those of all years, and of years in which February has a day 29.
    """
    every, some, long, february = months
    kinds = ((every, "(0?[1-9]|1[0-9]|2[0-8])"), (some, "(29|30)"), (long, "31"), (february, "29"))
    forms = (
        form.replace("<m>", month).replace("<d>", day).replace("<y>", years[month == february]) for month, day in kinds
    )
    return f"({'|'.join(forms)})"


# A day as 2001-02-03.
ISO_DAY = _real_day("<y>-<m>-<d>").replace("0?", "0")


@attrs.frozen
class ColumnType:
    """A type of values.

    Attributes:
        name: Its name in a plan.
        pattern: Regular expression of a value.
        datatype: Datatype of its literals in XSD; empty for plain texts.
        canonical: SQL expression of the canonical text; ``{}`` is the column.
        numeric: Whether values are numbers.
        unit: Unit that each value has, as it is written there.
    """

    name: str
    pattern: str
    datatype: str = ""
    canonical: str = "{}"
    numeric: bool = False
    unit: str = ""

    def fits(self, value: str) -> bool:
        """Return whether a value is of the type."""
        return re.fullmatch(self.pattern, value) is not None


_SHORT = r"regexp_replace(regexp_replace(ltrim({}, '+'), '(\.[0-9]*[1-9])0+$', '\1'), '\.0+$', '')"
_DMY = (
    "printf('%s-%02d-%02d', regexp_extract({0}, '[0-9][0-9][0-9][0-9]'), "
    "split_part({0}, '{1}', {2})::INT, split_part({0}, '{1}', {3})::INT)"
)

BOOLEAN = ColumnType("boolean", r"(?i)true|false", "boolean", "lower({})")
INTEGER = ColumnType(
    "integer", rf"{WHOLE}(\.0+)?", "integer", r"regexp_replace(ltrim({}, '+'), '\.0+$', '')", numeric=True
)
DECIMAL = ColumnType("decimal", rf"{WHOLE}(\.[0-9]+)?", "decimal", _SHORT, numeric=True)
DOUBLE = ColumnType("double", rf"{WHOLE}(\.[0-9]+)?([eE][+-]?[0-9]+)?", "double", "ltrim({}, '+')", numeric=True)


def _digits(point: str, comma: str) -> str:
    groups = "|".join(f"[1-9][0-9]{{0,2}}({mark}[0-9]{{3}})+" for mark in (comma, SPACE))
    return f"(0|[1-9][0-9]*|{groups})({point}[0-9]+)?"


_POINTED, _COMMAED = _digits(r"\.", ","), _digits(",", r"\.")
_MINUS = f"CASE WHEN regexp_matches({{0}}, '[({MINUS}]') THEN '-' ELSE '' END || "


def _written(name: str, digits: str, mark: str, unit: str = "") -> ColumnType:
    """Return the type of numbers with groups of digits, or in brackets, which accountants write for a minus."""
    end, sign = unit_pattern(unit), f"[+{MINUS}]"
    forms: tuple[str, ...] = (rf"{sign}?{digits}", rf"\({digits}\)")
    if unit:
        signed = (rf"{sign}?{end}{SPACE}?{digits}", rf"{end}{SPACE}?{sign}{digits}", rf"{sign}?{digits}{SPACE}?{end}")
        inner = rf"({end}{SPACE}?{digits}|{digits}{SPACE}?{end})"
        forms = (*signed, rf"\({inner}\)", rf"{end}{SPACE}?\({digits}\)", rf"\({digits}\){SPACE}?{end}")
    plain = f"replace(regexp_replace({{0}}, '[^0-9{mark}]', '', 'g'), '{mark}', '.')"
    name = f"{name} in {unit}" if unit else name
    return ColumnType(name, "|".join(forms), "decimal", _MINUS + _SHORT.replace("{}", plain), True, unit)


COMMA = _written("decimal comma", _COMMAED, ",")
GROUPED = _written("grouped number", _POINTED, ".")
DATE = ColumnType("date", rf"{ISO_DAY}([ T]00:00(:00(\.0+)?)?Z?)?", "date", "left({}, 10)")
_ZONE = "( ?(Z|UTC|[+-][0-9]{2}:?[0-9]{2}))?"
_ZONED = r"regexp_replace(regexp_replace(substr({0}, 12), ' ?UTC$', 'Z'), ' ?([+-][0-9][0-9]):?([0-9][0-9])$', '\1:\2')"
_AFTER = rf"regexp_replace({_ZONED}, '^([0-9]+:[0-9]+)(Z|[+-].*)?$', '\1:00\2')"
DATE_TIME = ColumnType("dateTime", rf"{ISO_DAY}[ T]{_TIME}{_ZONE}", "dateTime", f"left({{0}}, 10) || 'T' || {_AFTER}")
COMPACT = ColumnType(
    "date YYYYMMDD",
    _real_day("<y><m><d>", years=("(1[5-9]|20)[0-9]{2}", f"((1[5-9]|20){_FOURTH}|1600|2000)")).replace("0?", "0"),
    "date",
    "left({0}, 4) || '-' || substr({0}, 5, 2) || '-' || right({0}, 2)",
)
DOTTED = ColumnType("date D.M.Y", _real_day(r"<d>\.<m>\.<y>"), "date", _DMY.format("{0}", ".", 2, 1))
_SLASHED = "replace({0}, '-', '/')"
YEAR_FIRST = ColumnType(
    "date Y/M/D", f"{_real_day('<y>/<m>/<d>')}|{_real_day('<y>-<m>-<d>')}", "date", _DMY.format(_SLASHED, "/", 2, 3)
)
DAY_FIRST = ColumnType(
    "date D/M/Y", f"{_real_day('<d>/<m>/<y>')}|{_real_day('<d>-<m>-<y>')}", "date", _DMY.format(_SLASHED, "/", 2, 1)
)
MONTH_FIRST = ColumnType(
    "date M/D/Y", f"{_real_day('<m>/<d>/<y>')}|{_real_day('<m>-<d>-<y>')}", "date", _DMY.format(_SLASHED, "/", 1, 2)
)
_HOUR = (
    "CASE WHEN regexp_matches({0}, '(?i)pm$') THEN split_part({0}, ':', 1)::INT % 12 + 12 "
    "WHEN regexp_matches({0}, '(?i)am$') THEN split_part({0}, ':', 1)::INT % 12 ELSE split_part({0}, ':', 1)::INT END"
)
_MINUTES = "regexp_replace(substr({0}, strpos({0}, ':') + 1), '(?i) ?[ap]m$', '')"
TIME = ColumnType(
    "time",
    rf"{_TIME}( ?(?i:[ap]m))?",
    "time",
    f"printf('%02d:%s%s', {_HOUR}, {_MINUTES}, CASE WHEN contains({_MINUTES}, ':') THEN '' ELSE ':00' END)",
)
_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec"
_OF_31 = "january|march|may|july|august|october|december|jan|mar|jul|aug|oct|dec"
_OF_30 = f"{_OF_31}|april|june|september|november|sept|apr|jun|sep|nov"
_NAMES_BY_DAY = tuple(f"(?i:{n})\\.?" for n in (f"{_OF_30}|february|feb", _OF_30, _OF_31, "february|feb"))
_NTH = "(st|nd|rd|th)?"
MONTH_NAME = ColumnType(
    "date with the name of a month",
    _real_day(f"<m> <d>{_NTH},? <y>", _NAMES_BY_DAY)
    + "|"
    + _real_day(f"<d>{_NTH}([ /-])<m>(?:,? |[/-])<y>", _NAMES_BY_DAY),
    "date",
    "printf('%s-%02d-%02d', regexp_extract({0}, '[0-9][0-9][0-9][0-9]'), "
    f"(strpos('{_MONTHS.replace(' ', '')}', lower(regexp_extract({{0}}, '[A-Za-z][A-Za-z][A-Za-z]'))) + 2) // 3, "
    "regexp_extract({0}, '(?:^|[^0-9])([0-9][0-9]?)(?:[^0-9]|$)', 1)::INT)",
)


def _with_time(day: ColumnType) -> ColumnType:
    """Return the type of a day, in one form, and a time of that day."""
    date, time = "regexp_replace({0}, ',? [0-9]+:.*', '')", "regexp_extract({0}, '[0-9]+:.*')"
    made = f"{day.canonical.replace('{0}', date)} || 'T' || {TIME.canonical.replace('{0}', time)}"
    name, pattern = day.name.replace("date", "dateTime"), f"(?:{day.pattern}),? {TIME.pattern}"
    return ColumnType(name, pattern, "dateTime", made)


_YES = ("yes", "y", "true", "1", "ja", "oui", "sí", "si", "sim", "wahr", "vrai", "vero", "verdadero", "да")
_NO = ("no", "n", "false", "0", "nein", "nee", "nej", "nei", "non", "não", "falsch", "faux", "falso", "нет")
YES_NO = ColumnType(
    "yes or no",
    f"(?i){'|'.join(_YES + _NO)}",
    "boolean",
    f"CASE WHEN lower({{0}}) IN {_YES} THEN 'true' ELSE 'false' END",
)
ZERO_ONE = ColumnType(
    "0 or 1", r"[01](\.0+)?", "boolean", "CASE WHEN starts_with({0}, '1') THEN 'true' ELSE 'false' END"
)
ADDRESS = ColumnType("address", r"(?i)(https?|ftp|mailto|file)://?\S+|[^@\s]+@[^@\s]+\.[a-z]{2,}|\#\S*\.html?\#?")
PHONE = ColumnType("phone number", r"[+(]*[0-9][0-9 ()./+-]{4,}[0-9]")
CODE = ColumnType(
    "code",
    r"10\.[0-9]{4,9}/\S+|[A-Z0-9_./-]*[0-9][A-Z0-9_./-]*|0x[0-9a-f]+|[0-9a-fA-F]{8}-([0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}|[0-9a-f]{32,}",
)
QUANTITY = ColumnType(
    "quantity",
    r"[<>~≈±+-]?\s?[€$£¥]?\s?[0-9]+([.,:/' -]?[0-9]+)*\s?[^\s0-9][^0-9]{0,12}|[€$£¥]\s?[0-9.,]+|-?[0-9.,]+ ?%",
)
TEXT = ColumnType("text", r"(?s).*")
MIXED = ColumnType("mixed", r"(?s).*")
NAMES = ColumnType("names", r"(?s).*")

_GROUPED_BY_DOTS = ColumnType("", r"[+-]?[1-9][0-9]{0,2}(\.[0-9]{3})+")
_TIMES = {kind: _with_time(kind) for kind in (DOTTED, YEAR_FIRST, DAY_FIRST, MONTH_FIRST, MONTH_NAME)}
_PLAIN = (DOTTED, YEAR_FIRST, MONTH_NAME)
_EXACT = (BOOLEAN, INTEGER, DECIMAL, DOUBLE, DATE, DATE_TIME, *_PLAIN, *(_TIMES[kind] for kind in _PLAIN))
_LITERAL = (TIME, YES_NO, ADDRESS, CODE, PHONE, QUANTITY)

_TWO_DIGITS = ColumnType(
    "",
    rf"({_DAY}([./]){_MONTH}\3[0-9]{{2}}|{_MONTH}/{_DAY}/[0-9]{{2}}|{_DAY}[ /-]{_NAMES_BY_DAY[0]}[ /-][0-9]{{2}})"
    rf"(,? {TIME.pattern})?",
)
# What is written as a day, whether the calendar has it or not.
_LIKE_DAYS = ColumnType(
    "",
    rf"([0-9]{{4}}([-/]){_MONTH}\2{_DAY}|({_DAY}([-./]){_MONTH}|{_MONTH}([-./]){_DAY})[-./][0-9]{{4}}"
    rf"|[0-9]{{1,2}}{_NTH}[ /-]{_NAMES_BY_DAY[0]},?[ /-][0-9]{{4}}|{_NAMES_BY_DAY[0]} [0-9]{{1,2}}{_NTH},? [0-9]{{4}})"
    rf"([ T]00:00|[ T,]+{_TIME}.*)?",
)
# Nine digits in groups of three: telephone numbers and codes of companies are written so, too.
_NINE_DIGITS = ColumnType("", rf"[1-9][0-9]{{2}}{SPACE}[0-9]{{3}}{SPACE}[0-9]{{3}}")
# All types without a unit, by their names in a plan.
BY_NAME = {
    kind.name: kind
    for kinds in (_EXACT, _TIMES.values(), (COMMA, GROUPED, COMPACT, DAY_FIRST, MONTH_FIRST, ZERO_ONE), _LITERAL)
    for kind in (*kinds, TEXT, MIXED, NAMES)
}


@lru_cache(maxsize=256)
def with_unit(name: str, unit: str) -> ColumnType:
    """Return the type of numbers with a unit.

    Args:
        name: ``number``, or ``decimal comma``.
        unit: The unit, which stands before or after each number.
    """
    return _written(name, *((_COMMAED, ",") if name == COMMA.name else (_POINTED, ".")), unit)


def type_by_name(name: str) -> ColumnType | None:
    """Return the type of a name in a plan, such as ``integer`` or ``number in kg``; None for another name."""
    kind, _, unit = name.partition(" in ")
    return with_unit(kind, unit) if unit and kind in ("number", COMMA.name) else BY_NAME.get(name)


# Unlike the types of a column, these forms are found value by value, so a value keeps its form: 1.0 stays a decimal.
# Each has a regular expression, the local name of the XML Schema datatype, and the SQL expression of the lexical form.
NUMBERS = (
    (WHOLE, "integer", "{}"),
    (rf"{WHOLE}\.[0-9]+", "decimal", "{}"),
    (rf"{WHOLE}(\.[0-9]+)?[eE][+-]?[0-9]+", "double", "{}"),
    (ISO_DAY, "date", "{}"),
    (rf"{ISO_DAY}T[0-9:.]{{5,}}(Z|[+-][0-9]{{2}}:[0-9]{{2}})?", "dateTime", "{}"),
    (BOOLEAN.pattern, BOOLEAN.datatype, BOOLEAN.canonical),
)
_FORMS = [(re.compile(form), kind) for form, kind, _ in NUMBERS]


def number_datatype(text: str) -> str | None:
    """Return the datatype of a number, a date or a truth value, such as ``xsd:integer``; None for any other text."""
    return next((f"xsd:{kind}" for form, kind in _FORMS if form.fullmatch(text)), None)


def type_of(values: Sequence[str], separator: str) -> tuple[ColumnType, str]:
    """Find the type of values without missing values.

    Args:
        values: The values; repeated values count as often as they occur.
        separator: Separator of the file's columns, which decides the meaning of a comma in a number.

    Returns:
        The type, and why another type would be possible; empty if none is.
    """
    if not values:
        return TEXT, ""
    if separator == ";" and (doubt := _doubt_of_dots(values)):
        return (COMMA, doubt) if share(values, _GROUPED_BY_DOTS) == 1 else (DECIMAL, _AS_DECIMAL)
    if (exact := _first(values, _EXACT, 1.0)) is not None:
        return exact, ""
    if (found := _with_comma(values, separator) or _slashed(values) or _of_one_unit(values, separator)) is not None:
        return found
    if share(values, YES_NO) == 1 and _has_both(values):
        return YES_NO, ""
    if (nearly := _first(values, _EXACT, NEARLY)) is not None:
        return nearly, ""
    if share(values, _LIKE_DAYS) >= NEARLY:
        return TEXT, _doubt_of_days(values)
    if (literal := _first(values, _LITERAL, NEARLY)) is not None:
        return (TEXT if literal is YES_NO and not _has_both(values) else literal), ""
    if sum(map(len, values)) / len(values) > _LONG:
        return TEXT, ""
    if share(values, DOUBLE) >= 0.5:
        return MIXED, ""
    digits = sum(value[:1].isdigit() for value in values) / len(values)
    return QUANTITY if digits >= 0.9 else NAMES, ""


def type_by_heading(kind: ColumnType, words: Sequence[str], values: Collection[str]) -> ColumnType:
    """Return the type of a column by its heading, where its values leave it open.

    Values 0 and 1 are truth values under ``is_active`` and ``survived``, ``20240131`` is a day under ``start_date``,
    ``3:45`` is no time of day under ``duration``, and ``NO`` and ``SI`` are codes under ``country``.

    Args:
        kind: The type by the values.
        words: The words of the heading, in small letters.
        values: The values.
    """
    if kind is INTEGER and words[-1:] == ["date"] and share(list(values), COMPACT) == 1:
        return COMPACT
    if (
        kind is INTEGER
        and words
        and share(list(values), ZERO_ONE) == 1
        and (asks(words) or _tells_state(words, values))
    ):
        return ZERO_ONE
    if (kind is TIME and not _SPANS.isdisjoint(words)) or (kind in (GROUPED, COMMA) and not _CALLED.isdisjoint(words)):
        return TEXT
    if kind is YES_NO and not _CODED.isdisjoint(words):
        return NAMES
    return kind


def asks(words: Sequence[str]) -> bool:
    """Return whether a heading asks for yes or no."""
    return words[0] in _ASKS or words[-1] == "flag"


def _tells_state(words: Sequence[str], values: Collection[str]) -> bool:
    """Return whether a heading above 0 and 1 tells of a state; below *units sold* they may be numbers."""
    *before, last = words
    is_state = last in _STATES or (len(last) > 4 and last.endswith("ed") and not last.endswith("eed"))
    return is_state and len({*values}) > 1 and not any(word.endswith("s") for word in before)


def share(values: Sequence[str], kind: ColumnType) -> float:
    """Return the share of the values that fit a type."""
    return sum(map(kind.fits, values)) / len(values)


def _first(values: Sequence[str], kinds: Iterable[ColumnType], least: float) -> ColumnType | None:
    return next((kind for kind in kinds if share(values, kind) >= least), None)


_AS_DECIMAL = f"its numbers were read as decimal; {COMMA.name} would fit, too"


def _doubt_of_dots(values: Sequence[str]) -> str:
    """Return what to say of numbers if each that has a dot may have it between thousands; empty otherwise."""
    dotted = [value for value in values if "." in value]
    if not dotted or share(dotted, _GROUPED_BY_DOTS) < 1 or share(values, DECIMAL) < 1:
        return ""
    return f"its numbers were read as {COMMA.name}, such as {dotted[0]} with thousands; decimal would fit, too"


def _doubt_of_days(values: Sequence[str]) -> str:
    """Return why values that are written as days are no dates."""
    days = (DATE, DOTTED, YEAR_FIRST, DAY_FIRST, MONTH_FIRST, MONTH_NAME)
    for value in values:
        found = re.fullmatch(_LIKE_DAYS.pattern, value)
        if found and not any(kind.fits(found[1]) for kind in days):
            return f"not all of its days are in the calendar, such as {value}, so they stay texts"
    known = (*days, DATE_TIME, *_TIMES.values())
    if odd := [value for value in values if not any(kind.fits(value) for kind in known)]:
        return f"not all of its times have a known form, such as {odd[0]}, so its dates stay texts"
    return "its dates are written in several ways, so they stay texts"


def _has_both(values: Sequence[str]) -> bool:
    """Return whether there is a yes and a no; ``NO`` without any yes may be Norway."""
    cells = {value.lower() for value in values}
    return not (cells.isdisjoint(_YES) or cells.isdisjoint(_NO))


def _with_comma(values: Sequence[str], separator: str) -> tuple[ColumnType, str] | None:
    """Return the type of numbers with commas: decimal commas or groups of thousands."""
    marked = any(mark in value for value in values for mark in (",", "(", *MINUS[:-1], *SPACE[1:-1]))
    if not (marked or share(values, _GROUPED_BY_DOTS) >= NEARLY) or share(values, _NINE_DIGITS) == 1:
        return None
    in_brackets = [value for value in values if "(" in value]
    if len(in_brackets) == len(values):
        return None
    decimal, grouped = share(values, COMMA) >= NEARLY, share(values, GROUPED) >= NEARLY
    if decimal and grouped and any("," in value or "." in value for value in values):
        chosen = COMMA if separator == ";" else GROUPED
        other = GROUPED if chosen is COMMA else COMMA
        return chosen, f"its numbers were read as {chosen.name}; {other.name} would fit, too"
    told = f"its numbers in brackets were read as negative, such as {in_brackets[0]}" if in_brackets else ""
    return (GROUPED, told) if grouped else (COMMA, told) if decimal else None


def _of_one_unit(values: Sequence[str], separator: str) -> tuple[ColumnType, str] | None:
    """Return the type of numbers that have one unit, such as prices of a currency."""
    found = []
    for value in values:
        parts = WITH_UNIT.fullmatch(value)
        units = [unit for name in ("before", "inner", "after", "last") if (unit := parts[name])] if parts else []
        if parts and len(units) == 1:
            found.append((units[0], f"({parts['number']})" if "(" in value else parts["number"]))
    if len(found) < NEARLY * len(values):
        return None
    counts = Counter(SINGULARS.get(unit, unit) for unit, _ in found)
    [(unit, most)] = counts.most_common(1)
    unit = max((form for form, _ in found if SINGULARS.get(form, form) == unit), key=len)  # the plural, if it is there
    if most < NEARLY * len(values):
        several = ", ".join(sorted(counts)[:5])
        return QUANTITY, f"its numbers have several units ({several}), so they stay texts"
    numbers = [number for _, number in found]
    if unit in CURRENCIES and (doubt := _doubt_of_dots(numbers)):
        # Where the currency stands behind, and in most countries of the euro, thousands have dots; beside semicolons,
        # too, unless a number without a dot is among them.
        european = separator == ";" and share(numbers, _GROUPED_BY_DOTS) == 1
        if european or unit in ("€", "EUR") or all(value.endswith(unit) for value in values):
            return with_unit(COMMA.name, unit), doubt
        return with_unit("number", unit), _AS_DECIMAL
    kind, doubt = type_of(numbers, separator)
    name = {INTEGER: "number", DECIMAL: "number", GROUPED: "number", COMMA: COMMA.name}.get(kind)
    return (with_unit(name, unit), doubt) if name else None


def _slashed(values: Sequence[str]) -> tuple[ColumnType, str] | None:
    """Return the type of dates with slashes, maybe with times, whose order a day above 12 decides."""
    for first, second in ((DAY_FIRST, MONTH_FIRST), (_TIMES[DAY_FIRST], _TIMES[MONTH_FIRST])):
        day, month = share(values, first) >= NEARLY, share(values, second) >= NEARLY
        if day and month:
            return TEXT, "its dates may be D/M/Y or M/D/Y, so they stay texts"
        if day or month:
            return first if day else second, ""
    if share(values, _TWO_DIGITS) >= NEARLY:
        return TEXT, "its years have two digits, so its dates stay texts"
    return None


def is_missing(value: str, words: Sequence[str] | None) -> bool:
    """Return whether a value is a word for a missing value."""
    return value.casefold() in (USUAL if words is None else words)
