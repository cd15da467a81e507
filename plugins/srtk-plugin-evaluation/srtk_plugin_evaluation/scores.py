"""The file of a run's scores per question, from which runs are compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from srtk_framework.records import read_jsonl, shown, write_jsonl
from srtk_framework.values import InputError
from srtk_plugin_evaluation.completion import Completed
from srtk_plugin_evaluation.curves import Ranks
from srtk_plugin_evaluation.rows import Row
from srtk_plugin_evaluation.selective_answers import Judged

FILE = "scores.jsonl"
"""Name of the file in a run's folder."""

_OPTIONAL = ("completion", "topics", "judged")


def write_scores(folder: Path, methods: Mapping[str, Sequence[Row]]) -> Path:
    """Write one line per method and question, the main method first; the file replaces an old one when complete.

    Raises:
        RunError: If the file cannot be written; its old content stays.
    """
    file = folder / FILE
    write_jsonl(file, ({"method": method, **_record(row)} for method, rows in methods.items() for row in rows))
    return file


def _record(row: Row) -> dict[str, Any]:
    """Convert a row to a record, without what is known of some questions only."""
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
    known = {field: value for field, value in record.items() if field != "method"}
    try:
        ranks = known.pop("ranks")
        return Row(
            **{
                **known,
                "ranks": None if ranks is None else Ranks(**{field: _tuples(part) for field, part in ranks.items()}),
                "paths": _tuples(known["paths"]),
                "relations": _tuples(known["relations"]),
                "linking": _shares(known["linking"]),
                "completion": _completion(known.get("completion")),
                "judged": None if known.get("judged") is None else Judged(**known["judged"]),
                "fields": {field: _tuples(values) for field, values in known["fields"].items()},
            }
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{where}: not a score of this version ({error}); run the recipe again") from error


def _shares(value: Any) -> Any:
    return None if value is None else {metric: _tuples(share) for metric, share in value.items()}


def _completion(value: Any) -> Completed | None:
    if value is None:
        return None
    parts = {
        name: {group: _shares(shares) for group, shares in groups.items()} for name, groups in value["parts"].items()
    }
    return Completed(_shares(value["shares"]), _tuples(value["bins"]), value["groups"], parts)


def _tuples(value: Any) -> Any:
    return tuple(_tuples(item) for item in value) if isinstance(value, list) else value
