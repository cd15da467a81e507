"""The plan of columns as plain data: written as YAML to be changed and given back, and kept in the snapshot."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from srtk_framework.text import read_yaml
from srtk_framework.values import InputError, close_matches
from srtk_plugin_local.snapshot.build_settings import same_file
from srtk_plugin_local.snapshot.column_types import BY_NAME, type_by_name

FORMS = ("entities", "edges", "facts")
# What a column can be, besides the types of literals.
KINDS = (
    *("key", "name", "label", "alias", "link", "names", "type", "source", "target"),
    *("layout", "bookkeeping", "empty", "ignored"),
)


def plan_text(data: Mapping[str, Any]) -> str:
    """Write a plan as YAML."""
    import yaml

    return yaml.safe_dump(data, sort_keys=False, allow_unicode=True)


@lru_cache(maxsize=8)
def read_plan(name: str) -> Mapping[str, Any]:
    """Read a plan.

    Args:
        name: Path of the file.

    Raises:
        InputError: If it cannot be read, or is no plan.
    """
    try:
        text = Path(name).read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(f"{name}: cannot be read ({error.strerror}); check the path given as plan") from error
    data = read_yaml(text, name)
    tables = data.get("tables") if isinstance(data, dict) else None
    if not isinstance(tables, dict):
        raise InputError(f"{name}: is no plan of columns; it begins with `tables:`, as `--plan` writes it")
    for table, entry in tables.items():
        _check(f"{name}: tables.{table}", entry)
    return {"tables": tables}


def _check(place: str, entry: Any) -> None:
    if not isinstance(entry, dict) or not isinstance(entry.get("columns"), dict):
        raise InputError(f"{place}: must be a mapping with `columns`")
    if unknown := sorted(set(entry) - {"files", "rows", "key", "ids", "columns"}):
        raise InputError(f"{place}.{unknown[0]}: is no entry of a plan")
    if entry.get("rows", "entities") not in FORMS:
        raise InputError(f"{place}.rows: is {entry['rows']!r}; choose {', '.join(FORMS)}")
    for title, column in entry["columns"].items():
        kinds = (*KINDS, *BY_NAME)
        said = column.get("as") if isinstance(column, dict) else column
        if not isinstance(column, dict) or (said not in KINDS and type_by_name(str(said)) is None):
            raise InputError(
                f"{place}.columns.{title}: is {said!r}; choose as: {', '.join(kinds)}.{close_matches(str(said), kinds)}"
            )
        if unknown := sorted(set(column) - {"as", "to", "by", "split"}):
            raise InputError(f"{place}.columns.{title}.{unknown[0]}: is no entry of a column")


def table_of(data: Mapping[str, Any], file: str) -> str | None:
    """Return the name of the table in a plan to which a file belongs; None without a table."""
    tables = data.get("tables", {}).items()
    return next((name for name, entry in tables if any(same_file(str(f), file) for f in entry.get("files", ()))), None)


def entry_of(data: Mapping[str, Any], file: str, table: str = "") -> Mapping[str, Any] | None:
    """Return the part of a plan that is about a file; None without such a part."""
    for name, entry in data.get("tables", {}).items():
        if any(same_file(str(known), file) for known in entry.get("files", ())) or name == table:
            return dict(entry)
    return None
