"""A dump of Wikidata in JSON, or of another Wikibase: one entity in each line of a list."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from srtk_framework.values import InputError
from srtk_plugin_local.snapshot.build_settings import DESCRIPTION
from srtk_plugin_local.snapshot.input_files import Input, blocks
from srtk_plugin_local.snapshot.tools.output import Output

if TYPE_CHECKING:
    import pyarrow as pa

    from srtk_plugin_local.snapshot.build_settings import BuildSettings
    from srtk_plugin_local.snapshot.input_report import FileReport, Meter

SITELINKS, UNIT = "sitelinks", "unit"
_YEAR, _MONTH = 9, 10
_WKT = "http://www.opengis.net/ont/geosparql#wktLiteral"
_NO_JSON = "lines without an entity"


def read(name: str, settings: BuildSettings, report: FileReport, meter: Meter) -> Iterator[pa.Table]:
    """Yield the names, descriptions, best statements with qualifiers, and the number of pages of each entity.

    Raises:
        InputError: If no line is an entity.
    """
    output, left_out = Output(), Counter[str]()
    with Input(name) as source:
        for line, entity in _entities(source, report):
            if not isinstance(entity, dict) or not isinstance(entity.get("id"), str):
                report.skip(_NO_JSON, line, "is no entity of Wikidata; correct or remove the line")
                continue
            report.rows += 1
            _names(entity, settings.languages, output)
            _statements(entity, output, left_out)
            for table in output.full():
                yield table
                meter(source.done)
        meter(source.size)
    for what, count in sorted(left_out.items()):
        report.note(f"left out {count:,} {what}")
    report.check()
    yield from output.rest()


def _entities(source: Input, report: FileReport) -> Iterator[tuple[int, Any]]:
    """Yield the objects of the lines; with the key ``entities``, as on a page of an entity, a line holds several."""
    for first, block in blocks(source, report):
        for line, text in enumerate(block.split(b"\n"), start=first):
            bare = text.strip().removesuffix(b",").strip()
            if bare in (b"", b"[", b"]"):
                continue
            try:
                data = json.loads(bare.removeprefix(b"[").removesuffix(b"]") if bare[:2] == b"[{" else bare)
            except (ValueError, RecursionError) as error:
                report.skip(_NO_JSON, line, f"is not JSON ({error}); a dump has one entity in each line")
                continue
            inner = data.get("entities") if isinstance(data, dict) else None
            for entity in inner.values() if isinstance(inner, dict) else [data]:
                yield line, entity


def _names(entity: Mapping[str, Any], languages: tuple[str, ...], output: Output) -> None:
    id_ = entity["id"]
    labels = _texts(entity.get("labels") or entity.get("lemmas"), languages)
    for place, (_, text) in enumerate(labels):
        output.name(id_, text, alias=place > 0)
    for _, text in _texts(entity.get("aliases"), languages):
        output.name(id_, text, alias=True)
    for language, text in _texts(entity.get("descriptions"), languages):
        output.fact(id_, DESCRIPTION, f'"{text}"@{language}', literal=True)
    sitelinks = entity.get("sitelinks")
    if isinstance(sitelinks, dict) and sitelinks:
        output.fact(id_, SITELINKS, f'"{len(sitelinks)}"^^xsd:integer', literal=True)


def _texts(terms: Any, languages: tuple[str, ...]) -> list[tuple[str, str]]:
    """Return language and text of terms, best language first: the wanted languages, else English before all."""
    if not isinstance(terms, dict):
        return []
    wanted = [language.lower() for language in languages] or ["en"]
    found = []
    for language, values in terms.items():
        rank = _rank(language.lower(), wanted)
        if rank is None and languages:
            continue
        for value in values if isinstance(values, list) else [values]:
            if isinstance(value, dict) and isinstance(value.get("value"), str):
                found.append((len(wanted) if rank is None else rank, language, value["value"]))
    return [(language, text) for _, language, text in sorted(found, key=lambda entry: entry[0])]


def _rank(language: str, wanted: list[str]) -> float | None:
    """Return the place of a language among the wanted, a dialect after its language; `mul` fits every language."""
    if language == "mul":
        return len(wanted) - 0.25
    for place, one in enumerate(wanted):
        if language == one:
            return place
        if language.startswith(f"{one}-"):
            return place + 0.5
    return None


def _statements(entity: Mapping[str, Any], output: Output, left_out: Counter[str]) -> None:
    claims = entity.get("claims") or entity.get("statements")
    for statements in claims.values() if isinstance(claims, dict) else ():
        for statement in _best(statements, left_out):
            _statement(entity["id"], statement, output, left_out)


def _best(statements: list[Mapping[str, Any]], left_out: Counter[str]) -> list[Mapping[str, Any]]:
    """Return the statements of the best rank; the deprecated are never among them."""
    ranks = [statement.get("rank", "normal") for statement in statements]
    best = "preferred" if "preferred" in ranks else "normal"
    left_out["deprecated statements"] += ranks.count("deprecated")
    left_out["statements beside preferred ones"] += ranks.count("normal") if best == "preferred" else 0
    for what in [what for what, count in left_out.items() if not count]:
        del left_out[what]
    return [statement for statement, rank in zip(statements, ranks, strict=True) if rank == best]


def _statement(id_: str, statement: Mapping[str, Any], output: Output, left_out: Counter[str]) -> None:
    snak = statement.get("mainsnak") or {}
    value = _value(snak)
    if value is None:
        left_out["statements without a known value"] += 1
        return
    fact = (id_, str(snak.get("property")), value[0])
    output.fact(*fact, literal=value[1])
    if unit := _unit(snak):
        output.qualifier(fact, UNIT, unit, literal=False)
    for relation, snaks in (statement.get("qualifiers") or {}).items():
        for qualifier in snaks:
            if (found := _value(qualifier)) is None:
                left_out["qualifiers without a known value"] += 1
            else:
                output.qualifier(fact, relation, *found)


def _value(snak: Mapping[str, Any]) -> tuple[str, bool] | None:
    """Return the value of a snak in the form of ids and literals, and whether it is a literal; None without a value."""
    data = snak.get("datavalue")
    if snak.get("snaktype") != "value" or not isinstance(data, dict):
        return None
    kind, value = data.get("type"), data.get("value")
    try:
        return _of_kind(str(kind), value)
    except (KeyError, TypeError, ValueError) as error:
        property_ = snak.get("property")
        raise InputError(
            f"a value of {property_}, of type {kind}, is damaged ({error}); fetch the dump again"
        ) from error


def _of_kind(kind: str, value: Any) -> tuple[str, bool]:
    if kind == "wikibase-entityid":
        letter = {"item": "Q", "property": "P"}.get(value.get("entity-type"), "")
        return value.get("id") or f"{letter}{value['numeric-id']}", False
    if kind == "time":
        return _time(value["time"], value["precision"]), True
    if kind == "quantity":
        amount = value["amount"].removeprefix("+")
        return f'"{amount}"^^xsd:{"decimal" if "." in amount else "integer"}', True
    if kind == "monolingualtext":
        return f'"{value["text"]}"@{value["language"]}', True
    if kind == "globecoordinate":
        return f'"Point({value["longitude"]} {value["latitude"]})"^^{_WKT}', True
    return f'"{value if isinstance(value, str) else json.dumps(value, sort_keys=True)}"', True


def _time(text: str, precision: int) -> str:
    """Return a time of Wikidata, such as +1879-03-14T00:00:00Z, with the given precision."""
    sign = "-" if text.startswith("-") else ""
    found = re.fullmatch(r"[+-]?0*(\d{4,}|\d+)-(\d\d)-(\d\d)T.*", text)
    if found is None:
        return f'"{text}"'
    year, month, day = found.groups()
    year = f"{sign}{year.zfill(4)}"
    if precision <= _YEAR or month == "00":
        return f'"{year}"^^xsd:gYear'
    if precision == _MONTH or day == "00":
        return f'"{year}-{month}"^^xsd:gYearMonth'
    return f'"{year}-{month}-{day}"^^xsd:date'


def _unit(snak: Mapping[str, Any]) -> str | None:
    data = snak.get("datavalue") or {}
    unit = data["value"].get("unit", "") if data.get("type") == "quantity" else ""
    return unit.rpartition("/")[2] if "/" in unit else None
