"""Tables of nodes and edges as the data laboratory of Gephi exports them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from srtk_framework.values import InputError
from srtk_plugin_local.snapshot.build_settings import EDGE
from srtk_plugin_local.snapshot.tools.output import Output, literal_of
from srtk_plugin_local.snapshot.tools.rows import rows_of, text

if TYPE_CHECKING:
    import pyarrow as pa

    from srtk_plugin_local.snapshot.build_settings import BuildSettings
    from srtk_plugin_local.snapshot.input_report import FileReport, Meter

# Columns of edges that say what they join, their direction, their own number, and their relation.
_STRUCTURE = ("source", "target", "type", "id", "label", "kind")
_LAYOUT = ("timeset", "interval", "x", "y", "z", "size", "color")


def read(name: str, settings: BuildSettings, report: FileReport, meter: Meter) -> Iterator[pa.Table]:
    """Yield the names and properties of nodes, or edges whose relation is their label.

    Raises:
        InputError: If the table is neither.
    """
    headings, rows = rows_of(name, report, meter)
    by_word = {heading.lower(): heading for heading in headings}
    output = Output()
    wanted = settings.chosen_columns()[1] if len(settings.chosen_columns()) == 3 else None
    relation = wanted or by_word.get("label") or by_word.get("kind")
    report.unread = [heading for word, heading in by_word.items() if word in _LAYOUT]
    if {"source", "target"} <= set(by_word):
        directions: dict[str, set[str]] = {}
        for row in rows:
            start, end = text(row[by_word["source"]]), text(row[by_word["target"]])
            if start and end:
                fact = (start, (text(row.get(relation)) if relation else "") or EDGE, end)
                directions.setdefault(fact[1], set()).add(text(row.get(by_word.get("type", ""))).lower())
                output.fact(*fact, literal=False)
                for word, heading in by_word.items():
                    value = text(row[heading])
                    if value and word not in (*_STRUCTURE, *_LAYOUT) and heading != relation:
                        output.qualifier(fact, heading, literal_of(number_of(value)), literal=True)
            yield from output.full()
        report.symmetric = sorted(one for one, said in directions.items() if "directed" not in said)
    elif "id" in by_word:
        for row in rows:
            id_ = text(row[by_word["id"]])
            for word, heading in by_word.items() if id_ else ():
                value = text(row[heading])
                if word == "label":
                    output.name(id_, value)
                elif value and word != "id" and word not in _LAYOUT:
                    output.fact(id_, heading, literal_of(number_of(value)), literal=True)
            yield from output.full()
    else:
        raise InputError(f"{name}:1: has neither Id nor Source and Target, as tables of Gephi have; leave out --from")
    yield from output.rest()


def number_of(value: str) -> int | float | str:
    """Return a number as such, unless it begins with a needless zero, as codes do."""
    plain = value.lstrip("+-")
    if plain[:1] == "0" and plain[1:2].isdigit():
        return value
    try:
        return int(value) if plain.isascii() and plain.isdigit() else float(value) if "." in value else value
    except ValueError:
        return value
