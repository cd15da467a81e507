"""Cells that hold a list: of objects with names, or as text in brackets, as pandas writes it: ``['Drama', 'War']``."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Sequence
from typing import Any

from srtk_plugin_local.snapshot.column_types import DOUBLE, INTEGER, NEARLY, share
from srtk_plugin_local.snapshot.headings import LABELS
from srtk_plugin_local.snapshot.plurals import singular

ONLY_NAMES = "of the objects in {!r} the names are read alone; write the rest as a table of its own"

_QUOTED = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""
_BARE = r"[^\s,:\[\]{}'\"][^,\[\]{}'\"]*"
_ITEM = re.compile(rf"{_QUOTED}|{_BARE}", re.DOTALL)
# NumPy writes no comma between texts. A part that was found is never tried otherwise, so that the time is linear.
_PLAIN = re.compile(rf"\[\s*(?>(?:{_QUOTED}|{_BARE})\s*(?:,\s*|(?=['\"\]])))*+\]", re.DOTALL)
_OBJECT = rf"\{{(?:{_QUOTED}|[^{{}}\[\]'\"])*\}}"
_OBJECTS = re.compile(rf"\[\s*{_OBJECT}(?:\s*,\s*{_OBJECT})*\s*\]|{_OBJECT}", re.DOTALL)
_EACH = re.compile(_OBJECT, re.DOTALL)
_PAIR = re.compile(rf"({_QUOTED})\s*:\s*({_QUOTED})", re.DOTALL)
# Keys of the names of persons: in CSL JSON, in contacts, and in users of GitHub and Jira.
_NAMES = (("given", "family"), ("first_name", "last_name"), ("firstname", "lastname"), ("login",), ("displayname",))
_NOTHING = ("None", "null", "nan", "NaN")


def list_items(cell: str) -> list[str] | None:
    """Return the items of a list in the syntax of Python, JSON or NumPy; None if a cell is no such list.

    Of objects, such as ``{'id': 18, 'name': 'Drama'}``, the name is the item.
    """
    if _OBJECTS.fullmatch(cell):
        names = [_name(found) for found in _EACH.findall(cell)]
        return names if all(names) else None
    if not _PLAIN.fullmatch(cell):
        return None
    return [text for item in _ITEM.findall(cell) if item not in _NOTHING and (text := _text(item))]


def has_lists(cells: Sequence[str]) -> bool:
    """Return whether nearly all cells are lists, some in quotation marks or with several items, and no vectors."""
    made = [items for cell in cells if (items := list_items(cell)) is not None]
    every = [item for items in made for item in items]
    if len(made) < NEARLY * len(cells) or not every or (share(every, DOUBLE) == 1 and share(every, INTEGER) < 1):
        return False
    return any(len(items) > 1 for items in made) or any("'" in cell or '"' in cell for cell in cells)


def name_of_object(value: Any, heading: str = "") -> str | None:
    """Return the name of an object of JSON or Parquet, such as ``{"id": 18, "name": "Drama"}``; None without a name.

    Args:
        value: The object.
        heading: Heading of the list with it, whose singular names it, too: ``ingredient`` of ``ingredients``.
    """
    if not isinstance(value, dict):
        return None
    names = {key.casefold(): name for key, name in value.items() if isinstance(name, str) and name.strip()}
    for keys in (*((key,) for key in (*LABELS, singular(heading.casefold()))), *_NAMES):
        if text := " ".join(names[key].strip() for key in keys if key in names):
            return text
    return None


def _name(text: str) -> str:
    return name_of_object({_text(key): _text(value) for key, value in _PAIR.findall(text)}) or ""


def _text(item: str) -> str:
    if item[0] not in "'\"":
        return item.strip()
    for read in (json.loads, ast.literal_eval):
        try:
            return str(read(item)).encode("utf-8", "replace").decode().strip()
        except (ValueError, SyntaxError):
            continue
    return item[1:-1].strip()
