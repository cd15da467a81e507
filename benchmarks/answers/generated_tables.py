"""Generated questions on generated tables: right, refused, wrong, and wrong though said to be sure; and a look-up.

    OMP_NUM_THREADS=1 python -m benchmarks.answers.generated_tables [--seeds 1 2] [--topics bridges cheeses] [--show]

A table has a column of links, of codes, of a quality, of percents, of negative numbers and of dates, two of plain
numbers, three of years, and empty cells. Every other seed writes it as Turtle, with a type. Each answer is computed
from the rows in plain Python. Questions about an empty cell, about a column without numbers or about what is no column
are to be refused. So are questions that name no column and mean several, or whose verb names none: there a likely
answer is fair too.

The rules of the reader were written with `lakes` and `robots`, and mended after one look at `bridges` and `cheeses`;
`orchards` and `trams` were reported before any rule was mended after a look at them; so were `kites`, the columns of
years and what no column is called as, and so are `wells` and `bells`.
"""

from __future__ import annotations

import argparse
import csv
import json
import random
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from benchmarks.answers.exact_match import is_exact
from benchmarks.answers.measure import _by_name, _said
from benchmarks.figures import record_figure
from srtk_framework import Graph, Retriever
from srtk_framework.values import Question

ROWS = 12
_EMPTY = 0.12
"""Share of empty cells."""
_STARTS = [
    "Bal",
    "Cor",
    "Dun",
    "Fen",
    "Gar",
    "Hol",
    "Jor",
    "Kel",
    "Lom",
    "Mar",
    "Nor",
    "Pel",
    "Quil",
    "Ras",
    "Sil",
    "Tor",
    "Ul",
    "Ver",
    "Wen",
    "Zam",
]
_ENDS = ["ado", "bek", "eno", "ighi", "orra", "usk", "ell", "iva", "omar", "und"]
_YEARLY, _YEARS = "turnover", (2004, 2011, 2018)
"""A number that has a column for each year."""
Row = Mapping[str, Any]
"""Cells by heading; an empty cell is None. Dates are (year, month, day)."""
Gold = Mapping[str, Any] | None


@attrs.frozen
class Topic:
    """What the rows of a table are, and what its columns are called.

    Attributes:
        noun: The rows in singular.
        link: Column of names that several rows share.
        code: Column of texts that are no numbers.
        quality: Column of a quality, and its values; the last one is never in the table.
        numbers: Columns of numbers, each with a comparative, a superlative, and the least and the greatest number.
        percent: Column of percents.
        negative: Column of numbers of which some are negative.
        date: Column of dates, called by a participle.
        absent: Nouns that are no column.
    """

    noun: str
    link: str
    code: str
    quality: tuple[str, Sequence[str]]
    numbers: Mapping[str, tuple[str, str, float, float]]
    percent: str
    negative: str
    date: str
    absent: Sequence[str]


TOPICS = {
    "lakes": Topic(
        "lake",
        "country",
        "code",
        ("colour", ("blue", "green", "brown", "purple")),
        {"depth": ("greater", "greatest", 1, 90), "area": ("larger", "largest", 900, 2600)},
        "salinity",
        "lowest temperature",
        "discovered",
        ("price", "weight"),
    ),
    "robots": Topic(
        "robot",
        "maker",
        "serial",
        ("shape", ("round", "square", "humanoid", "conical")),
        {"weight": ("greater", "greatest", 3, 80), "price": ("higher", "highest", 1000, 9000)},
        "accuracy",
        "drift",
        "built",
        ("depth", "population"),
    ),
    "bridges": Topic(
        "bridge",
        "river",
        "register",
        ("material", ("steel", "stone", "wooden", "concrete")),
        {"height": ("greater", "greatest", 4, 70), "length": ("greater", "greatest", 60, 3000)},
        "rust",
        "tilt",
        "opened",
        ("salinity", "income"),
    ),
    "trams": Topic(
        "tram",
        "depot",
        "plate",
        ("finish", ("matt", "glossy", "satin", "chrome")),
        {"capacity": ("greater", "greatest", 20, 300), "mileage": ("larger", "largest", 800, 2400)},
        "occupancy",
        "balance",
        "delivered",
        ("rent", "altitude"),
    ),
    "orchards": Topic(
        "orchard",
        "valley",
        "parcel",
        ("exposure", ("sunny", "shady", "windy", "misty")),
        {"altitude": ("higher", "highest", 5, 95), "yield": ("greater", "greatest", 700, 2600)},
        "loss",
        "coldest night",
        "planted",
        ("speed", "wage"),
    ),
    "kites": Topic(
        "kite",
        "workshop",
        "tag",
        ("outline", ("oval", "square", "winged", "spiral")),
        {"span": ("wider", "widest", 1, 40), "cost": ("higher", "highest", 200, 2600)},
        "humidity",
        "trim",
        "stitched",
        ("altitude", "salary"),
    ),
    "wells": Topic(
        "well",
        "parish",
        "register",
        ("lining", ("brick", "timber", "concrete", "tiled")),
        {"depth": ("deeper", "deepest", 3, 80), "volume": ("larger", "largest", 350, 2900)},
        "turbidity",
        "water level",
        "dug",
        ("postage", "wingspan"),
    ),
    "bells": Topic(
        "bell",
        "foundry",
        "mark",
        ("finish", ("polished", "rough", "gilded", "painted")),
        {"diameter": ("wider", "widest", 2, 75), "weight": ("greater", "greatest", 250, 2800)},
        "corrosion",
        "mistuning",
        "cast",
        ("population", "rainfall"),
    ),
    "cheeses": Topic(
        "cheese",
        "dairy",
        "label",
        ("texture", ("hard", "soft", "crumbly", "runny")),
        {"price": ("lower", "lowest", 2, 60), "output": ("larger", "largest", 500, 2500)},
        "fat",
        "storage temperature",
        "introduced",
        ("height", "mileage"),
    ),
}
HELD_OUT = ("orchards", "trams")


@attrs.frozen
class Asked:
    """A question with each answer that is right; an answer of None is a refusal.

    Attributes:
        kind: What it is about.
        text: The question.
        gold: The right answers.
        guess: An answer that is right as long as it is not said to be sure.
    """

    kind: str
    text: str
    gold: Sequence[Gold]
    guess: bool = False


def rows_of(topic: Topic, some: random.Random) -> list[dict[str, Any]]:
    """Draw the rows of a table; names differ, and each quality but the last is in some row."""
    names = some.sample([start + end for start in _STARTS for end in _ENDS], ROWS + 3)
    links, names = names[:3], names[3:]
    heading, qualities = topic.quality
    rows = []
    for place, name in enumerate(names):
        row: dict[str, Any] = {topic.noun: name, topic.link: some.choice(links)}
        row[topic.code] = f"{some.choice('KQXZ')}{some.choice('BDGH')}{some.randint(2, 9)}{some.choice('LMNP')}"
        row[heading] = qualities[place % (len(qualities) - 1)]
        for column, (_, _, low, high) in topic.numbers.items():
            row[column] = some.randint(int(low), int(high)) if high > 100 else round(some.uniform(low, high), 1)
        row[topic.percent] = some.randint(1, 99)
        row[topic.negative] = some.randint(-30, 20)
        row[topic.date] = (some.randint(1850, 2015), some.randint(1, 12), some.randint(1, 28))
        for column in [*row][1:]:
            if column != heading and some.random() < _EMPTY:
                row[column] = None
        rows.append(row)
    own = random.Random(f"{topic.noun} {names}")
    for row in rows:
        row |= {f"{_YEARLY} {year}": own.randint(100, 900) for year in _YEARS}
    # Two rows share the greatest number, and one row has a cell in each column.
    first = next(iter(topic.numbers))
    best = max((row for row in rows if row[first] is not None), key=lambda row: row[first])
    next(row for row in rows if row is not best)[first] = best[first]
    return rows


def _cell(topic: Topic, column: str, value: Any) -> str:
    if value is None:
        return ""
    if column == topic.date:
        return "{:04}-{:02}-{:02}".format(*value)
    return f"{value} %" if column == topic.percent else str(value)


def write_table(topic: Topic, rows: Sequence[Row], folder: Path) -> Path:
    """Write rows as CSV."""
    file = folder / f"{topic.noun}s.csv"
    with file.open("w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out)
        writer.writerow(rows[0])
        writer.writerows([_cell(topic, column, value) for column, value in row.items()] for row in rows)
    return file


def write_turtle(topic: Topic, rows: Sequence[Row], folder: Path) -> Path:
    """Write rows as Turtle, with types, labels and typed literals."""
    lines = ["@prefix : <http://example.org/> .", "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> ."]
    lines += ["@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .", f':{topic.noun} rdfs:label "{topic.noun}" .']
    for row in rows:
        node = f":{row[topic.noun]}"
        lines.append(f'{node} a :{topic.noun} ; rdfs:label "{row[topic.noun]}" .')
        for column, value in [*row.items()][1:]:
            text = _cell(topic, column, value)
            if value is None:
                continue
            if column == topic.link:
                lines.append(f':{value} rdfs:label "{value}" .')
                end = f":{value}"
            elif column == topic.date:
                end = f'"{text}"^^xsd:date'
            else:
                end = text if column in (*topic.numbers, topic.negative) else f'"{text}"'
            lines.append(f"{node} :{column.replace(' ', '_')} {end} .")
    file = folder / f"{topic.noun}s.ttl"
    file.write_text("\n".join(dict.fromkeys(lines)) + "\n", encoding="utf-8")
    return file


# The oracle: each function gives the right answers by the rows alone.


def _names(topic: Topic, rows: Sequence[Row]) -> Gold:
    """Return the names of rows as an answer; none are a refusal."""
    return {"entities": [row[topic.noun] for row in rows]} if rows else None


def _yes(truth: bool | None) -> list[Gold]:
    return [None if truth is None else {"yes": truth}]


def _bound(row: Row, column: str, test: Callable[[Any], bool]) -> list[Gold]:
    value = row[column]
    return _yes(None if value is None else test(value))


def _within(topic: Topic, rows: Sequence[Row], tests: Mapping[str, Callable[[Any], bool]]) -> list[Row]:
    return [row for row in rows if all(row[c] is not None and test(row[c]) for c, test in tests.items())]


def _ranked(topic: Topic, rows: Sequence[Row], column: str, greatest: bool, rank: int) -> list[Gold]:
    """Return the rows at a place of an order: by values, or by different values."""
    known = sorted((row for row in rows if row[column] is not None), key=lambda row: row[column], reverse=greatest)
    values = [row[column] for row in known]
    different = list(dict.fromkeys(values))
    return [
        _names(topic, [row for row in known if row[column] == order[rank - 1]])
        for order in (values, different)
        if len(order) >= rank
    ] or [None]


def _count(rows: Sequence[Row]) -> list[Gold]:
    return [{"number": len(rows)}, *([] if rows else [None])]


def questions(topic: Topic, rows: Sequence[Row], some: random.Random) -> Iterator[Asked]:
    """Yield questions on a table, with answers by its rows."""
    yield from _polar(topic, rows, some)
    yield from _sets(topic, rows, some)
    yield from _orders(topic, rows, some)
    yield from _others(topic, rows, some)
    yield from _of_years(topic, rows, some)


def _bounded(row: Row, name: str, column: str, limits: Sequence[int]) -> Iterator[Asked]:
    least, most = limits
    limit = limits[sum(map(ord, name)) % 2]
    value = row[column] if row[column] is not None else limit
    yield Asked("bound", f"Is the {column} of {name} larger than {limit}?", _bound(row, column, lambda v: v > limit))
    yield Asked("bound", f"Is {name}'s {column} at most {limit}?", _bound(row, column, lambda v: v <= limit))
    yield Asked(
        "two bounds",
        f"Is the {column} of {name} larger than {least} and smaller than {most}?",
        _bound(row, column, lambda v: least < v < most),
    )
    yield Asked(
        "two bounds",
        f"Is the {column} of {name} between {least} and {most}?",
        _bound(row, column, lambda v: least <= v <= most),
    )
    yield Asked(
        "two bounds",
        f"Is the {column} of {name} smaller than {least} or larger than {most}?",
        _bound(row, column, lambda v: v < least or v > most),
    )
    yield Asked("equality", f"Is the {column} of {name} exactly {value}?", _bound(row, column, lambda v: v == value))
    yield Asked("equality", f"Is the {column} of {name} exactly {limit}?", _bound(row, column, lambda v: v == limit))
    yield Asked(
        "negation",
        f"Is the {column} of {name} not larger than {limit}?",
        _bound(row, column, lambda v: v <= limit),
    )
    yield Asked(
        "decimal comma",
        f"Is the {column} of {name} at least {limit},5?",
        _bound(row, column, lambda v: v >= limit + 0.5),
    )
    yield Asked(
        "does",
        f"Does {name} have a {column} over {limit}?",
        _bound(row, column, lambda v: v > limit),
    )
    yield Asked(
        "multiplier",
        f"Is the {column} of {name} more than {limit // 100 / 10:g} thousand?",
        _bound(row, column, lambda v: v > limit // 100 * 100),
    )


def _told(topic: Topic, rows: Sequence[Row], row: Row, some: random.Random) -> Iterator[Asked]:
    noun = topic.noun
    name, limit = row[noun], some.randint(-20, 15)
    yield Asked(
        "negative",
        f"Is the {topic.negative} of {name} lower than {limit}?",
        _bound(row, topic.negative, lambda v: v < limit),
    )
    share = some.randint(10, 90)
    yield Asked(
        "percent",
        f"Is the {topic.percent} of {name} above {share} %?",
        _bound(row, topic.percent, lambda v: v > share),
    )
    yield Asked(
        "percent",
        f"Is the {topic.percent} of {name} above {share} percent?",
        _bound(row, topic.percent, lambda v: v > share),
    )
    for column in (topic.code, topic.link, topic.quality[0], *topic.absent):
        yield Asked("no number", f"Is the {column} of {name} larger than {share}?", [None])
        yield Asked("no number", f"Does {name} have a {column} below {share}?", [None])
    yield Asked("unnamed", f"Is {name} more than {share}?", [None], guess=True)
    year = some.randint(1880, 2000)
    date = topic.date
    yield Asked("date", f"Was {name} {date} before {year}?", _bound(row, date, lambda v: v < (year, 1, 1)))
    yield Asked("date", f"Was {name} {date} after {year}?", _bound(row, date, lambda v: v >= (year + 1, 1, 1)))
    yield Asked(
        "date",
        f"Was {name} {date} between {year} and {year + 15}?",
        _bound(row, date, lambda v: year <= v[0] <= year + 15),
    )
    day = (row[date] or (1900, 1, 1))[0], 6, 15
    yield Asked(
        "date",
        f"Was {name} {date} before {day[0]}-06-15?",
        _bound(row, date, lambda v: v < day),
    )
    heading, qualities = topic.quality
    for quality in some.sample(list(qualities), 2):
        yield Asked(
            "quality",
            f"Is {name} {quality}?",
            [*_yes(row[heading] == quality), *([None] * (quality == qualities[-1]))],
        )
        yield Asked(
            "quality",
            f"Is the {heading} of {name} {quality}?",
            [*_yes(row[heading] == quality), *([None] * (quality == qualities[-1]))],
        )
    yield Asked("quality", f"Is {name} not {qualities[0]}?", _yes(row[heading] != qualities[0]))
    link = some.choice([one[topic.link] for one in rows if one[topic.link]])
    yield Asked(
        "link",
        f"Is {link} the {topic.link} of {name}?",
        [*_yes(row[topic.link] == link), *([None] if row[topic.link] is None else [])],
    )


def _polar(topic: Topic, rows: Sequence[Row], some: random.Random) -> Iterator[Asked]:
    noun = topic.noun
    for column, (_, _, low, high) in topic.numbers.items():
        for row in some.sample(list(rows), 3):
            yield from _bounded(row, row[noun], column, sorted(some.sample(range(int(low), int(high) + 1), 2)))
    for row in some.sample(list(rows), 2):
        yield from _told(topic, rows, row, some)
    for column in (*topic.numbers, topic.negative):
        for _ in range(2):
            one, other = some.sample(list(rows), 2)
            values = one[column], other[column]
            known = None not in values
            yield Asked(
                "two things",
                f"Is the {column} of {one[noun]} larger than the {column} of {other[noun]}?",
                _yes(values[0] > values[1] if known else None),
            )
            yield Asked(
                "two things",
                f"Which has the lower {column}, {one[noun]} or {other[noun]}?",
                [None]
                if not known
                else [_names(topic, [one, other])]
                if values[0] == values[1]
                else [_names(topic, [one if values[0] < values[1] else other])],
            )
    one, other = some.sample(list(rows), 2)
    for column in (topic.code, topic.absent[0]):
        yield Asked("no number", f"Is the {column} of {one[noun]} larger than the {column} of {other[noun]}?", [None])
    earlier = one[topic.date] is not None and other[topic.date] is not None
    yield Asked(
        "date",
        f"Was {one[noun]} {topic.date} before {other[noun]}?",
        _yes(one[topic.date] < other[topic.date] if earlier else None),
    )


def _sets(topic: Topic, rows: Sequence[Row], some: random.Random) -> Iterator[Asked]:
    plural = f"{topic.noun}s"
    heading, qualities = topic.quality
    unknown = [row for row in rows if row[heading] is None]
    for quality in qualities:
        having = [row for row in rows if row[heading] == quality]
        yield Asked("modifier", f"Which {quality} {plural} are there?", [_names(topic, having)])
        yield Asked("modifier", f"How many {quality} {plural} are there?", _count(having))
        yield Asked("modifier", f"List all {quality} {plural}.", [_names(topic, having)])
        others = [row for row in rows if row[heading] not in (quality, None)]
        golds = [_names(topic, others), _names(topic, [*others, *unknown]), *([None] if not having else [])]
        yield Asked("negation", f"Which {plural} are not {quality}?", golds)
        link = some.choice([one[topic.link] for one in rows if one[topic.link]])
        of_link = [row for row in rows if row[topic.link] == link]
        yield Asked(
            "modifier and link",
            f"Which {quality} {plural} have the {topic.link} {link}?",
            [_names(topic, [row for row in of_link if row in having])],
        )
        yield Asked(
            "modifier and link",
            f"How many {quality} {plural} have the {topic.link} {link}?",
            _count([row for row in of_link if row in having]),
        )
        yield Asked("link", f"Which {plural} have the {topic.link} {link}?", [_names(topic, of_link)])
        without = [row for row in rows if row[topic.link] not in (link, None)]
        empty = [row for row in rows if row[topic.link] is None]
        yield Asked(
            "negation",
            f"Which {plural} do not have the {topic.link} {link}?",
            [_names(topic, without), _names(topic, [*without, *empty])],
        )
        column, (_, _, low, high) = some.choice(list(topic.numbers.items()))
        limit = some.randint(int(low), int(high))
        within = _within(topic, rows, {column: lambda v, limit=limit: v > limit})
        yield Asked(
            "two filters",
            f"Which {quality} {plural} have a {column} larger than {limit}?",
            [_names(topic, [row for row in within if row in having])],
        )
        yield Asked(
            "two filters",
            f"Which {plural} with the {topic.link} {link} have a {column} larger than {limit}?",
            [_names(topic, [row for row in within if row in of_link])],
        )
    for column, (_, _, low, high) in topic.numbers.items():
        values = sorted(row[column] for row in rows if row[column] is not None)
        for least, most in (some.sample(range(int(low), int(high)), 2) for _ in range(2)):
            least, most = min(least, most), max(least, most)
            tests = {
                f"Which {plural} have a {column} between {least} and {most}?": lambda v, a=least, b=most: a <= v <= b,
                f"How many {plural} have a {column} larger than {least}?": lambda v, a=least: v > a,
                f"Which {plural} have a {column} of at least {most}?": lambda v, b=most: v >= b,
                f"Which {plural} have a {column} of at most {least}?": lambda v, a=least: v <= a,
                f"Which {plural} have a {column} of over {least} and below {most}?": lambda v, a=least, b=most: (
                    a < v < b
                ),
                f"Which {plural} have a {column} of exactly {values[3]}?": lambda v, c=values[3]: v == c,
                f"Which {plural} have a {column} not larger than {most}?": lambda v, b=most: v <= b,
            }
            for text, test in tests.items():
                found = _within(topic, rows, {column: test})
                kind = "negation" if " not " in text else "set in bounds"
                golds = [_names(topic, found)]
                yield Asked(kind, text, _count(found) if text.startswith("How many") else golds)
        if high > 1000:
            found = _within(topic, rows, {column: lambda v: 1000 <= v <= 2000})
            for text in ("1 and 2 thousand", "1000 and 2000", "1,000 and 2,000", "one and two thousand"):
                yield Asked("multiplier", f"Which {plural} have a {column} between {text}?", [_names(topic, found)])
            yield Asked(
                "multiplier",
                f"Which {plural} have a {column} between 1000 and 2000 thousand?",
                [None, _names(topic, _within(topic, rows, {column: lambda v: 1e6 <= v <= 2e6}))],
            )
            yield Asked(
                "multiplier",
                f"How many {plural} have a {column} over 1.5 thousand?",
                _count(_within(topic, rows, {column: lambda v: v > 1500})),
            )
        yield Asked("set in bounds", f"Which {plural} have a {column} above {int(high) * 3}?", [None])
    (first, (_, _, low, high)), (second, (_, _, low2, high2)) = topic.numbers.items()
    a, b = some.randint(int(low), int(high)), some.randint(int(low2), int(high2))
    found = _within(topic, rows, {first: lambda v: v > a, second: lambda v: v < b})
    yield Asked(
        "two filters",
        f"Which {plural} have a {first} larger than {a} and a {second} smaller than {b}?",
        [_names(topic, found)],
    )
    limit = some.randint(-20, 15)
    found = _within(topic, rows, {topic.negative: lambda v: v < limit})
    yield Asked("negative", f"Which {plural} have a {topic.negative} below {limit}?", [_names(topic, found)])
    share = some.randint(10, 90)
    found = _within(topic, rows, {topic.percent: lambda v: v > share})
    yield Asked("percent", f"Which {plural} have a {topic.percent} above {share} %?", [_names(topic, found)])
    year = some.randint(1880, 1990)
    found = _within(topic, rows, {topic.date: lambda v: year <= v[0] <= year + 20})
    yield Asked("date", f"Which {plural} were {topic.date} between {year} and {year + 20}?", [_names(topic, found)])
    found = _within(topic, rows, {topic.date: lambda v: v[0] > year})
    yield Asked("date", f"Which {plural} were {topic.date} after {year}?", [_names(topic, found)])
    yield Asked("date", f"How many {plural} were {topic.date} after {year}?", _count(found))
    for column in (topic.code, topic.absent[0]):
        yield Asked("no number", f"Which {plural} have a {column} larger than {share}?", [None])
        yield Asked("no number", f"How many {plural} have a {column} below {share}?", [None])
    yield Asked("unnamed", f"Which {plural} are over {share}?", [None], guess=True)


def _orders(topic: Topic, rows: Sequence[Row], some: random.Random) -> Iterator[Asked]:
    noun, (heading, qualities) = topic.noun, topic.quality
    for column, (_, superlative, _, _) in topic.numbers.items():
        greatest = superlative != "lowest"
        for rank, word in ((1, ""), (2, "second "), (ROWS + 5, f"{ROWS + 5}th ")):
            yield Asked(
                "order",
                f"Which {noun} has the {word}{superlative} {column}?",
                _ranked(topic, rows, column, greatest, rank),
            )
        quality = some.choice(qualities)
        having = [row for row in rows if row[heading] == quality]
        yield Asked(
            "order",
            f"Which {quality} {noun} has the {superlative} {column}?",
            _ranked(topic, having, column, greatest, 1),
        )
        link = some.choice([one[topic.link] for one in rows if one[topic.link]])
        having = [row for row in rows if row[topic.link] == link]
        yield Asked(
            "order",
            f"Which {noun} with the {topic.link} {link} has the smallest {column}?",
            _ranked(topic, having, column, False, 1),
        )
        for one in some.sample(list(rows), 2):
            other = some.choice([row for row in rows if row is not one])
            if None in (one[column], other[column]):
                continue
            high = max(one[column], other[column])
            yield Asked(
                "two things",
                f"Which is the {noun} with the higher {column}, {one[noun]} or {other[noun]}?",
                [_names(topic, [row for row in (one, other) if row[column] == high])],
            )
    yield Asked(
        "negative", f"Which {noun} has the lowest {topic.negative}?", _ranked(topic, rows, topic.negative, False, 1)
    )
    yield Asked(
        "percent", f"Which {noun} has the highest {topic.percent}?", _ranked(topic, rows, topic.percent, True, 1)
    )
    yield Asked("date", f"Which {noun} was {topic.date} first?", _ranked(topic, rows, topic.date, False, 1))
    yield Asked("date", f"Which {noun} was {topic.date} last?", _ranked(topic, rows, topic.date, True, 1))
    for column in (topic.code, *topic.absent):
        yield Asked("no number", f"Which {noun} has the largest {column}?", [None])
    yield Asked("unnamed", f"Which is the greatest {noun}?", [None], guess=True)


def _others(topic: Topic, rows: Sequence[Row], some: random.Random) -> Iterator[Asked]:
    noun = topic.noun
    for row in some.sample(list(rows), 2):
        for column in [*row][1:]:
            value = row[column]
            gold = None if value is None else {"value": _cell(topic, column, value)}
            if column in (*topic.numbers, topic.negative, topic.percent) and value is not None:
                gold = {"number": value}
            readings = [gold, {"value": _cell(topic, column, value)}] if gold else [gold]
            yield Asked("look-up", f"What is the {column} of {row[noun]}?", readings)
        for column in topic.absent:
            yield Asked("look-up", f"What is the {column} of {row[noun]}?", [None])


def _of_years(topic: Topic, rows: Sequence[Row], some: random.Random) -> Iterator[Asked]:
    """Yield questions on the columns of years, and on what no column is called as."""
    noun = topic.noun
    for row in some.sample(list(rows), 2):
        name, year = row[noun], some.choice(_YEARS)
        value = row[f"{_YEARLY} {year}"]
        golds: list[Gold] = [{"number": value}, {"value": str(value)}]
        yield Asked("year column", f"What was the {_YEARLY} of {name} in {year}?", golds)
        yield Asked("year column", f"What was the {_YEARLY} of {name} in 1990?", [None])
        yield Asked("year column", f"Was the {_YEARLY} of {name} in {year} larger than 500?", _yes(value > 500))
        limit = some.randint(1880, 2000)
        late = _bound(row, topic.date, lambda v, limit=limit: v >= (limit, 1, 1))
        yield Asked("negation", f"Was {name} not {topic.date} before {limit}?", [*late, None])
        for text in (f"Who painted {name}?", f"Who owns {name}?", f"Who married {name}?"):
            yield Asked("no such column", text, [None], guess=True)
        yield Asked("no such column", f"What is the email of {name}?", [None])
        yield Asked("no such column", f"How many stars does {name} have?", [None])
    year, limit = some.choice(_YEARS), some.randint(100, 900)
    column = f"{_YEARLY} {year}"
    yield Asked(
        "year column", f"Which {noun} had the largest {_YEARLY} in {year}?", _ranked(topic, rows, column, True, 1)
    )
    found = _within(topic, rows, {column: lambda v: v > limit})
    yield Asked("year column", f"Which {noun}s had a {_YEARLY} over {limit} in {year}?", [_names(topic, found)])


# The measure


def made(name: str, seed: int, folder: Path) -> tuple[Path, list[Asked]]:
    """Write the table of a topic and a seed; return its file and the questions on it."""
    some = random.Random(f"{name} {seed}")
    topic = TOPICS[name]
    rows = rows_of(topic, some)
    write = write_turtle if seed % 2 else write_table
    every = {asked.text: asked for asked in questions(topic, rows, some)}
    return write(topic, rows, folder), list(every.values())


def outcome(asked: Asked, record: Mapping[str, Any]) -> str:
    """Return how an answer is to be called: right, refused, wrong, or sure and wrong."""
    answer = _said(record.get("answer"))
    if any(is_exact(_by_name(answer, record, gold), gold) for gold in asked.gold):
        return "right"
    if answer is None:
        return "refused"
    if record["answer"]["certainty"] == "sure":
        return "sure and wrong"
    return "right" if asked.guess else "wrong"


def looked_up(name: str, seed: int, asked: Sequence[Asked]) -> Counter[str]:
    """Answer each question by the simplest look-up: the cell of the row and of the column that it names, if any."""
    topic, found = TOPICS[name], Counter[str]()
    rows = rows_of(topic, random.Random(f"{name} {seed}"))
    for one in asked:
        words = set(re.findall(r"\w+", one.text))
        row = next((row for row in rows if row[topic.noun] in words), {})
        column = max(row, key=lambda heading: len(words & set(heading.split())), default="")
        named = words & set(column.split())
        value = row[column] if row and named else None
        said = None if value is None else _cell(topic, column, value)
        right = [None if gold is None else [str(part) for part in _parts(gold)] for gold in one.gold]
        is_right = (None if said is None else [said]) in right
        found["right" if is_right else "refused" if said is None else "wrong"] += 1
    return found


def _parts(gold: Mapping[str, Any]) -> Sequence[Any]:
    [value] = gold.values()
    return value if isinstance(value, list) else [value]


def measure(names: Sequence[str], seeds: Sequence[int], show: str) -> dict[str, Counter[str]]:
    """Ask the questions of each topic and seed; return the outcomes by kind."""
    found: dict[str, Counter[str]] = {}
    for name in names:
        for seed in seeds:
            with tempfile.TemporaryDirectory() as folder:
                file, every = made(name, seed, Path(folder))
                with Retriever(Graph.open(str(file)), reader={"use": "paths"}) as retriever:
                    results = retriever.ask_all([Question(str(i), one.text) for i, one in enumerate(every)])
            for asked, result in zip(every, results, strict=True):
                record = result.to_record()
                how = outcome(asked, record)
                found.setdefault(asked.kind, Counter())[how] += 1
                if how in show:
                    said = record.get("answer") or {}
                    text = said.get("text") or f"refused: {said.get('missing')}"
                    print(f"  {file.name} {how}: {asked.text} {text!r} {said.get('certainty', '')} gold {asked.gold}")
    return found


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--topics", nargs="+", choices=TOPICS, default=HELD_OUT)
    parser.add_argument("--show", nargs="*", default=(), help="print the questions with these outcomes")
    args = parser.parse_args()
    found = measure(args.topics, args.seeds, args.show)
    for kind, counts in sorted(found.items()):
        print(kind, json.dumps(counts))
    every = sum(found.values(), Counter())
    print("all", json.dumps(every))
    for how in ("right", "refused", "wrong", "sure and wrong"):
        record_figure("generated tables", "paths", how, every[how], every.total())
    simple: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for name in args.topics:
            for seed in args.seeds:
                simple += looked_up(name, seed, made(name, seed, Path(folder))[1])
    print("look-up", json.dumps(simple))
    for how in ("right", "refused", "wrong"):
        record_figure("generated tables", "look-up", how, simple[how], simple.total())
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
