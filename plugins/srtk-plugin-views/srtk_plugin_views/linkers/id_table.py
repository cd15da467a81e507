"""The mapping of Freebase to Wikidata ids, as two sorted tables of numbers with 32 bytes for each pair."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Iterator
from typing import Any

from srtk_framework.records import base_suffix, parse_json, read_lines
from srtk_framework.values import InputError, shortened
from srtk_plugin_views.linkers import freebase_ids

_BEFORE = r"(?:^|(?<=[\s/:<\",]))"
_AFTER = r"(?=$|[\s>\",])"
_MID = re.compile(_BEFORE + freebase_ids.MID + _AFTER)
_LONG = re.compile(rf"{_BEFORE}\S*9202a8c04000641f8[0-9a-f]{{15}}{_AFTER}", re.IGNORECASE)
_ITEM = re.compile(_BEFORE + r"Q(?P<number>[1-9][0-9]{0,11})" + _AFTER)
# Matching common lines from their start is ten times faster than searching them.
_USUAL = re.compile(
    rf'"?(?:<http://rdf\.freebase\.com/ns/|/)?{freebase_ids.MID}[>"]?[\t ,]+(?:<[^<>]*>[\t ]+)?'
    r'"?(?:<https?://www\.wikidata\.org/entity/)?Q(?P<number>[1-9][0-9]{0,11})' + _AFTER
)


class IdTable:
    """Pairs of ids, looked up from either side; an id may have several counterparts.

    Args:
        pairs: Number of a Freebase id and of a Wikidata id.
    """

    def __init__(self, pairs: Iterable[tuple[int, int]]) -> None:
        import numpy as np

        flat = array("q")
        for pair in pairs:
            flat.extend(pair)
        table = np.unique(np.array(flat, dtype=np.int64).reshape(-1, 2), axis=0)
        self._by_freebase = table
        self._by_wikidata = table[np.lexsort((table[:, 0], table[:, 1]))][:, ::-1].copy()

    def __len__(self) -> int:
        return len(self._by_freebase)

    def wikidata(self, freebase: int) -> list[int]:
        """Return the Wikidata ids of a Freebase id, lowest first."""
        return _counterparts(self._by_freebase, freebase)

    def freebase(self, wikidata: int) -> list[int]:
        """Return the Freebase ids of a Wikidata id, lowest first."""
        return _counterparts(self._by_wikidata, wikidata)


def _counterparts(table: Any, key: int) -> list[int]:
    keys = table[:, 0]
    return [int(other) for other in table[keys.searchsorted(key) : keys.searchsorted(key, "right"), 1]]


def item(text: str) -> int | None:
    """Return the number of a Wikidata item, written as ``Q76``, ``wd:Q76`` or an IRI; None for other texts."""
    found = re.fullmatch(r"(?:<?https?://(?:www\.)?wikidata\.org/(?:entity|wiki)/|wd:)?Q([1-9][0-9]{0,11})>?", text)
    return int(found[1]) if found else None


def read(path: str) -> IdTable:
    """Read a mapping.

    Args:
        path: Text with an id of each side in each line, in any order: TSV, CSV or N-Triples. Lines that start with
            ``#`` and a first line without ids are skipped. Or a JSON object by Freebase id, of Wikidata ids or of
            objects with a ``wikidata_id``. All also as .gz, .bz2, .xz and .zst.

    Raises:
        InputError: With the line that cannot be read.
    """
    pairs = _from_json(path) if base_suffix(path) == ".json" else _from_lines(path, read_lines(path))
    table = IdTable(pairs)
    if not len(table):
        raise InputError(f"{path}: has no pair of a Freebase and a Wikidata id; give another file")
    return table


def _from_lines(path: str, lines: Iterable[tuple[int, str]]) -> Iterator[tuple[int, int]]:
    for place, line in lines:
        usual = _USUAL.match(line)
        if usual:
            yield freebase_ids.value(usual["kind"], usual["digits"]), int(usual["number"])
            continue
        mid, wikidata = _MID.search(line), _ITEM.search(line)
        long = None if mid else _LONG.search(line)
        freebase = freebase_ids.value(mid["kind"], mid["digits"]) if mid else None
        if long:
            freebase = freebase_ids.number(long[0].strip('",'))
        if freebase is not None and wikidata is not None:
            yield freebase, int(wikidata["number"])
        elif line.strip() and not line.startswith("#") and (place > 1 or mid or long or wikidata):
            missing = "Freebase" if freebase is None else "Wikidata"
            raise InputError(f"{path}:{place}: has no {missing} id: {line.strip()[:80]!r}; correct or remove it")


def _from_json(path: str) -> Iterator[tuple[int, int]]:
    rows = dict(read_lines(path))
    # Blank lines stay, so that an error names the line of the file.
    data = parse_json("\n".join(rows.get(number, "") for number in range(1, max(rows, default=0) + 1)), path)
    if not isinstance(data, dict):
        raise InputError(f"{path}: is not a JSON object of ids; give another file")
    for key, entry in data.items():
        id_ = entry.get("wikidata_id") if isinstance(entry, dict) else entry
        freebase, wikidata = freebase_ids.number(key), item(id_) if isinstance(id_, str) else None
        if freebase is None or wikidata is None:
            raise InputError(
                f"{path}: {key!r}: {shortened(repr(id_))} is not a pair of a Freebase and a Wikidata id; correct it"
            )
        yield freebase, wikidata
