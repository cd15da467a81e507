"""The file of a run's scores per question, from which runs are compared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import attrs
import cattrs

from srtk_framework.records import read_jsonl, shown, write_jsonl
from srtk_framework.values import InputError
from srtk_plugin_evaluation.rows import Row

FILE = "scores.jsonl"  # Name of the file in a run's folder.

# A field that this version does not know is a score of another version.
_CONVERTER = cattrs.Converter(forbid_extra_keys=True, detailed_validation=False)

_OPTIONAL = ("completion", "topics", "judged")  # Left out where None, as most questions lack them.


def write_scores(folder: Path, rows: Iterable[tuple[str, Row]]) -> Path:
    """Write a line for each method and row, the main method first; the file replaces an old one when complete.

    Raises:
        RunError: If the file cannot be written; its old content stays.
    """
    file = folder / FILE
    write_jsonl(file, ({"method": method, **_record(row)} for method, row in rows))
    return file


def _record(row: Row) -> dict[str, Any]:
    """Convert a row to a record, without optional fields that are None."""
    record = attrs.asdict(row)
    return {field: value for field, value in record.items() if value is not None or field not in _OPTIONAL}


def read_scores(folder: Path) -> dict[str, list[Row]]:
    """Read the scores of a run.

    Returns:
        Method to its rows, in the order of the file.

    Raises:
        InputError: If the folder has no scores, or the file is of another version.
    """
    file = folder / FILE
    if not file.exists():
        raise InputError(
            f"{folder} has no {FILE}; give the folder of a finished run whose recipe has `evaluate: true`, or a result"
            " file"
        )
    methods: dict[str, list[Row]] = {}
    for number, record in read_jsonl(file):
        methods.setdefault(str(record.get("method")), []).append(_row(record, f"{shown(file)}:{number}"))
    return methods


def _row(record: Mapping[str, Any], where: str) -> Row:
    try:
        return _CONVERTER.structure({field: value for field, value in record.items() if field != "method"}, Row)
    except (cattrs.ForbiddenExtraKeysError, LookupError, TypeError, ValueError, AttributeError) as error:
        raise InputError(f"{where}: not a score of this version ({error}); run the recipe again") from error
