"""Edges of KGTK: ``node1``, ``label``, ``node2``, ``id``, with names in further columns, and qualifiers as edges."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from srtk_framework.values import InputError
from srtk_plugin_local.snapshot.input_files import Input
from srtk_plugin_local.snapshot.tools.output import Output
from srtk_plugin_local.snapshot.tools.rows import Row, rows_of, text

if TYPE_CHECKING:
    import pyarrow as pa

    from srtk_plugin_local.snapshot.build_settings import BuildSettings
    from srtk_plugin_local.snapshot.input_report import FileReport, Meter

_SYNONYMS = {
    "node1": ("node1", "from", "subject"),
    "label": ("label", "predicate", "relation", "relationship"),
    "node2": ("node2", "to", "object"),
}
_LABELS, _ALIASES = ("label", "labels", "rdfs:label", "prefLabel"), ("alias", "aliases", "altLabel", "skos:altLabel")
_TEXT = re.compile(r"'((?:[^'\\]|\\.)*)'@([A-Za-z][A-Za-z0-9-]*)", re.DOTALL)
_TIME = re.compile(r"\^([0-9+-]?[^/\s]*)(?:/(\d+))?")
_PLACE = re.compile(r"@([+-]?[0-9.]+)/([+-]?[0-9.]+)")
_QUANTITY = re.compile(r"([+-]?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)(\[[^\]]*\])?([A-Za-z].*|Q[0-9]+)?")
_YEAR, _MONTH = 9, 10


def has_label_columns(name: str) -> bool:
    """Return whether a file has the headings of KGTK's edges, with names of its nodes in columns of their own."""
    try:
        with Input(name) as source:
            first = source.peek().partition(b"\n")[0].decode("utf-8", "replace")
    except InputError:  # of a damaged file, whose reader says what is wrong
        return False
    headings = first.strip().split("\t")
    return {"node1", "label", "node2"} <= set(headings) and any(heading.endswith(";label") for heading in headings)


def read(
    name: str, settings: BuildSettings, report: FileReport, meter: Meter, edges: dict[str, tuple[str, str, str]]
) -> Iterator[pa.Table]:
    """Yield facts, names and qualifiers; an edge whose ``node1`` is the id of an earlier edge qualifies it.

    Raises:
        InputError: If it is no table of edges.
    """
    headings, rows = rows_of(name, report, meter, quoted=False)
    places = {role: next((word for word in words if word in headings), None) for role, words in _SYNONYMS.items()}
    ends = tuple(places[role] for role in _SYNONYMS)
    if any(end is None for end in ends):
        raise InputError(f"{name}:1: has no columns node1, label and node2, as edges of KGTK have; leave out --from")
    output = Output()
    languages = {language.lower() for language in settings.languages}
    for row in rows:
        cells = [unescaped(text(row[end or ""])) for end in ends]
        if all(cells):
            _edge(cells, text(row.get("id")), edges, output, languages)
            _names(row, ends, output)
        yield from output.full()
    yield from output.rest()


def _edge(
    cells: list[str], id_: str, edges: dict[str, tuple[str, str, str]], output: Output, languages: set[str]
) -> None:
    start, relation, end = cells
    value, literal = value_of(end)
    if start in edges:
        output.qualifier(edges[start], relation, value, literal)
    elif literal and relation in (*_LABELS, *_ALIASES):
        found = _TEXT.fullmatch(end)
        if found is None or not languages or found[2].lower() in languages:
            output.name(start, found[1] if found else value.strip('"'), alias=relation in _ALIASES)
    else:
        output.fact(start, relation, value, literal)
        if id_:
            edges[id_] = (start, relation, value)


def _names(row: Row, ends: tuple[str | None, ...], output: Output) -> None:
    for end in ends:
        name = unescaped(text(row.get(f"{end};label")))
        for part in name.split("|") if name else ():
            found = _TEXT.fullmatch(part)
            output.name(text(row[end or ""]), found[1] if found else part.strip('"'))


def unescaped(cell: str) -> str:
    """Return a cell without the marks around a whole quoted cell, as spreadsheets write them."""
    if cell.startswith("\"'") and cell.endswith('"'):
        cell = cell[1:-1].replace('""', '"')
    return cell.replace("\\|", "|")


def value_of(cell: str) -> tuple[str, bool]:
    """Return a value of KGTK as an id, or in the form of ``Literal``, and whether it is a literal."""
    if found := _TEXT.fullmatch(cell):
        return f'"{found[1]}"@{found[2]}', True
    if cell.startswith('"') and cell.endswith('"') and len(cell) > 1:
        return cell, True
    if cell.startswith("^") and (found := _TIME.fullmatch(cell)):
        return _time(found[1], int(found[2] or 11)), True
    if found := _PLACE.fullmatch(cell):
        return f'"Point({found[2]} {found[1]})"^^http://www.opengis.net/ont/geosparql#wktLiteral', True
    if found := _QUANTITY.fullmatch(cell):
        return _quantity(found[1], found[3]), True
    if cell in ("True", "False"):
        return f'"{cell.lower()}"^^xsd:boolean', True
    return cell, False


def _time(value: str, precision: int) -> str:
    day = value.partition("T")[0].removeprefix("+")
    if precision <= _YEAR or re.fullmatch(r"-?\d{4,}(-00-00)?", day):
        return f'"{re.match(r"-?[0-9]*", day)[0]}"^^xsd:gYear'  # type: ignore[index]
    if precision == _MONTH or day.endswith("-00"):
        return f'"{day[: day.rindex("-")]}"^^xsd:gYearMonth'
    return f'"{day}"^^xsd:date'


def _quantity(amount: str, unit: str | None) -> str:
    """Return a number; with a unit it is a text, since a number alone would lose the unit."""
    plain = amount.removeprefix("+")
    if unit:
        return f'"{plain} {unit}"'
    kind = "double" if "e" in plain.lower() else "decimal" if "." in plain else "integer"
    return f'"{plain}"^^xsd:{kind}'
