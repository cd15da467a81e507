"""Collect the facts of the demo's world graph and write them as tables."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from pathlib import Path

RELATIONS: Mapping[str, str] = {
    "airport_city": "airport serving city",
    "airport_country": "airport in country",
    "airport_subdivision": "airport in state or province",
    "area": "area in square kilometres",
    "calling_code": "telephone calling code",
    "capital": "capital",
    "city_country": "city in country",
    "city_subdivision": "city in state or province",
    "continent": "continent",
    "country_code": "ISO country code",
    "county_state": "county in state",
    "currency": "currency",
    "currency_code": "ISO currency code",
    "currency_symbol": "currency symbol",
    "demonym": "demonym",
    "direction": "writing direction",
    "elevation": "elevation in feet",
    "end": "end time",
    "fips_code": "FIPS code",
    "first_weekday": "first day of the week",
    "former_currency": "former currency",
    "iata_code": "IATA code",
    "icao_code": "ICAO code",
    "language_code": "ISO language code",
    "largest_city": "largest city",
    "latitude": "latitude",
    "longitude": "longitude",
    "nearest_big_city": "nearest big city",
    "official_language": "official language",
    "population": "population",
    "region": "world region",
    "regional_language": "regional official language",
    "script": "writing system",
    "share": "share of population in percent",
    "shares_border": "bordering country",
    "spoken_language": "language spoken",
    "standard_time": "standard time",
    "start": "start time",
    "status": "legal status",
    "subdivision_code": "ISO subdivision code",
    "subdivision_country": "province or state of country",
    "subdivision_parent": "part of larger division",
    "subdivision_type": "type of division",
    "summer_offset": "offset from UTC in summer",
    "time_zone": "time zone",
    "top_level_domain": "internet top-level domain",
    "utc_offset": "offset from UTC",
    "weekend_day": "weekend day",
    "zone_country": "time zone of country",
}
"""Every relation of the graph with its label."""

_WORDS = """
    a about above across after again airport all along alphabet also am an and any are area around as asked at
    away back bank be because been before being below between big border bordering both but by call called came
    can capital central centre chief city code coin coins come continent could country county creek currency date
    day did district do does doing done down each eastern either else end ever every far federal few find first
    flight foot for from full get give given go goes going gone good got great had has have having he her here
    hers high him his home how i if in into is island islands it its just keep kilometres kind know language
    languages large last left less let lies like line list little live local long look low made main make man many
    market may me mean men might mile mine mobile money month more most much must my name national near need
    neighbour neighbours never new next no none nor north northern not now number of off officer official often
    old on once one only open or other our out over own part pay people place police population port province put
    read region republic right river road rule run said same say school script sea second see set she should show
    side since small so some south southern speak speaker speakers state still store street such take telephone
    tell territory than that the their them then there these they thing this those though three through time to
    today together tongue tongues too top town travel two under union university until up upon us use used valley
    very village visitor walk want was water way we week weekend well went were west western what when where which
    while who whom whose why will with within without women word work would write year yet you young your zone
"""
STOP_WORDS = frozenset(_WORDS.split())
"""English words that are ambiguous as names; the label of a place with such a name includes its country."""


def fold(text: str) -> str:
    """Fold a name for comparison: case, diacritics and repeated blanks removed."""
    if text.isascii():
        return " ".join(text.lower().split())
    plain = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))
    return " ".join(plain.replace("’", "'").casefold().split())


def is_latin(text: str) -> bool:
    """Check whether all letters of a text are Latin."""
    return all(unicodedata.name(c, "").startswith("LATIN") for c in text if c.isalpha())


def number(value: float) -> str:
    """Write a whole number as a typed literal."""
    return f'"{round(value)}"^^xsd:integer'


def decimal(value: float) -> str:
    """Write a number with a fraction as a typed literal."""
    return f'"{float(value)}"^^xsd:decimal'


def text(value: str) -> str:
    """Write plain text as a literal."""
    return f'"{value}"'


def is_literal(node: str) -> bool:
    """Check whether an object is a value rather than an entity."""
    return node.startswith('"')


class World:
    """A builder of the graph: triples, labels, aliases and qualifiers without duplicates."""

    def __init__(self) -> None:
        self.triples: set[tuple[str, str, str]] = set()
        self.labels: dict[str, str] = dict(RELATIONS)
        self.aliases: set[tuple[str, str]] = set()
        self.qualifiers: set[tuple[str, str, str, str, str]] = set()

    def add(self, subject: str, relation: str, object_: str, **qualifiers: str) -> None:
        """Add a triple, with the qualifiers of its statement."""
        if relation not in RELATIONS:
            raise KeyError(f"relation {relation!r} has no label in RELATIONS")
        self.triples.add((subject, relation, object_))
        for name, value in qualifiers.items():
            self.qualifiers.add((subject, relation, object_, name, value))

    def name(self, id_: str, label: str, aliases: Iterable[str] = ()) -> None:
        """Set the label of an entity and add its unambiguous aliases."""
        self.labels[id_] = label
        for alias in aliases:
            clean = " ".join("".join(c for c in alias if unicodedata.category(c) != "Cf").split())
            if len(clean) > 1 and fold(clean) not in STOP_WORDS and clean != label:
                self.aliases.add((id_, clean))

    def drop_taken_aliases(self, safe: frozenset[str]) -> None:
        """Drop aliases that are the label of another entity, except for the safe ones."""
        owners: dict[str, set[str]] = {}
        for id_, label in self.labels.items():
            owners.setdefault(fold(label), set()).add(id_)
        self.aliases = {(i, a) for i, a in self.aliases if a in safe or owners.get(fold(a), {i}) == {i}}

    def objects(self, relation: str) -> dict[str, list[str]]:
        """Return a map from subject to sorted objects for one relation."""
        found: dict[str, list[str]] = {}
        for s, r, o in sorted(self.triples):
            if r == relation:
                found.setdefault(s, []).append(o)
        return found

    def write(self, folder: Path) -> dict[str, int]:
        """Write the four tables, sorted; return the number of lines of each."""
        nodes = {n for s, _, o in self.triples for n in (s, o) if not is_literal(n)}
        lost = sorted(nodes - self.labels.keys())
        if lost:
            raise KeyError(f"{len(lost)} entities have no label, the first is {lost[0]!r}")
        kept = nodes | RELATIONS.keys()
        tables: dict[str, list[tuple[str, ...]]] = {
            "triples.tsv": sorted(self.triples),
            "labels.tsv": sorted((i, label) for i, label in self.labels.items() if i in kept),
            "aliases.tsv": sorted((i, alias) for i, alias in self.aliases if i in kept),
            "qualifiers.tsv": sorted(self.qualifiers),
        }
        folder.mkdir(parents=True, exist_ok=True)
        for name, rows in tables.items():
            content = "".join("\t".join(_cell(value) for value in row) + "\n" for row in rows)
            partial = folder / (name + ".partial")
            partial.write_text(content, encoding="utf-8", newline="\n")
            partial.replace(folder / name)
        return {name: len(rows) for name, rows in tables.items()}


def _cell(value: str) -> str:
    if any(c in value for c in "\t\n\r"):
        raise ValueError(f"{value!r} holds a tab or a line break and cannot stand in a table")
    return value
