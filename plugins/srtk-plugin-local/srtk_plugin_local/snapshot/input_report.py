"""Report of each input file of a build, for the screen, the snapshot and ``srtk graph info``."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import attrs

from srtk_framework.values import InputError, shortened
from srtk_plugin_local.snapshot.plurals import singular

Meter = Callable[[int], None]
"""Receives the number of bytes read."""


@attrs.define
class FileReport:
    """Report of a file.

    Attributes:
        name: Path of the file.
        format: Its format.
        strict: Make whatever would be skipped an error.
        rows: Rows that were read: facts, or entities of a wide table.
        separator: Column separator of a table.
        header: Cells of the line taken as header; empty without a header.
        header_line: Number of that line; 0 without a header.
        sheet: Headings of a table whose rows are no facts; empty for any other table.
        properties: Headings of the columns after those of a fact, which hold its qualifiers.
        links: Tables by heading, where a container such as SQLite declares its links.
        key: Heading of the key, where a container declares it.
        columns: The columns that were read, in their order: ``column`` is the heading, ``as`` the meaning, ``example``
            a value.
        unread: Header names of the columns that were not read.
        notes: Further sentences for the screen.
        skipped: Count and first place of skipped rows, by reason.
        prefixes: Namespaces that the file declares, by prefix; the snapshot keeps them once for all files.
        symmetric: Relations whose edges have no direction, or none that is known.
    """

    name: str
    format: str
    strict: bool = False
    rows: int = 0
    separator: str = ""
    header: tuple[str, ...] = ()
    header_line: int = 0
    sheet: tuple[str, ...] = ()
    properties: tuple[str, ...] = ()
    links: dict[str, str] = attrs.field(factory=dict)
    key: str = ""
    columns: list[dict[str, str]] = attrs.field(factory=list)
    unread: list[str] = attrs.field(factory=list)
    notes: list[str] = attrs.field(factory=list)
    skipped: dict[str, list[Any]] = attrs.field(factory=dict)
    prefixes: dict[str, str] = attrs.field(factory=dict)
    symmetric: list[str] = attrs.field(factory=list)

    def skip(self, reason: str, line: int, sentence: str, unit: str = "") -> None:
        """Count a skipped row.

        Args:
            reason: Plural noun, such as "rows with an empty cell".
            line: Number of its line.
            sentence: The fault and the advice.
            unit: Word before the number, such as "row " in Parquet.

        Raises:
            InputError: With the place and the sentence, if the file is read strictly.
        """
        place = f"{self.name}: {unit}{line}" if unit else f"{self.name}:{line}"
        if self.strict:
            raise InputError(f"{place}: {sentence}")
        if reason in self.skipped:
            self.skipped[reason][0] += 1
        else:
            self.skipped[reason] = [1, place, sentence]

    def skip_all(self, reason: str, count: int, unit: str, sentence: str) -> None:
        """Count skipped rows that were found together.

        Args:
            reason: As of ``skip``.
            count: How often.
            unit: Place of the first, such as "row 7".
            sentence: As of ``skip``.

        Raises:
            InputError: With the place and the sentence, if the file is read strictly.
        """
        if self.strict:
            raise InputError(f"{self.name}: {unit}: {sentence}")
        self.skipped[reason] = [count, f"{self.name}: {unit}", sentence]

    def note(self, sentence: str) -> None:
        """Add a sentence, once."""
        if sentence not in self.notes:
            self.notes.append(sentence)

    def check(self) -> None:
        """Check that something of the file was understood.

        Raises:
            InputError: If all its rows were skipped.
        """
        wrong = [entry for reason, entry in self.skipped.items() if reason not in (COMMENTS, EMPTY_FILES)]
        if self.rows or not wrong:
            return
        _, place, sentence = wrong[0]
        count = sum(entry[0] for entry in wrong)
        raise InputError(f"{place}: {sentence}" + (f" (as {count:,} rows, which are all)" if count > 1 else ""))

    def data(self) -> dict[str, Any]:
        """Return the report as plain data."""
        inner = ("strict", "sheet", "properties", "links", "key", "prefixes")
        data = attrs.asdict(self, filter=lambda field, value: field.name not in inner, value_serializer=_plain)
        if not self.symmetric:
            del data["symmetric"]
        return data


# Reason of the lines that begin with ``#`` and are no row.
COMMENTS = "comment lines"

EMPTY_FILES = "empty files"
DIRECTIONS = "the directions of texts (ltr, rtl) are not kept"


def read_as(title: str, kind: str, example: str = "") -> dict[str, str]:
    """Return the entry of a column, or of a property of a graph, in a report."""
    return {"column": title, "as": kind, "kind": kind, "example": example}


def has_headings(report: Mapping[str, Any]) -> bool:
    """Return whether the columns of a report have headings, which a person can look for in the file."""
    return any(report["header_line"] or "kind" in column for column in report["columns"])


def _all(columns: Sequence[Mapping[str, str]]) -> str:
    return "columns: " + ", ".join(f"{column['column']} = {column['as']}" for column in columns)


def _summary(columns: Sequence[Mapping[str, str]]) -> str:
    """Return the part of a sheet's plan that a person should check: keys, names, links, lists and ends of edges."""
    plain = ("literal", "names", "property")
    told = [c for c in columns if c["kind"] not in plain or ", " in c["as"]]
    told = [c for c in told if c["kind"] not in ("layout", "bookkeeping", "ignored", "empty")]
    rest = [c["column"] for c in columns if c not in told and c["kind"] in plain]
    empty = [c["column"] for c in columns if c["kind"] == "empty"]
    more = f"; as facts: {', '.join(rest)}" if rest else ""
    return _all(told) + more + (f"; empty: {', '.join(empty)}" if empty else "")


def _plain(owner: Any, field: Any, value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def sentences(reports: Sequence[Mapping[str, Any]], doubts_only: bool = False, columns: bool = True) -> Iterator[str]:
    """Yield sentences on the files: headers, columns, doubts, and skipped rows.

    Args:
        reports: The reports as plain data.
        doubts_only: Leave out headers and columns, which need no look where a person asked for quiet.
        columns: Include the meaning of each column, where no table shows it.
    """
    for report in reports:
        name = report["name"]
        is_sheet = bool(report["columns"]) and "type" in report["columns"][0]
        if report["header_line"] and not doubts_only and not is_sheet:
            header = shortened(report["separator"].join(report["header"]))
            yield f"{name}:{report['header_line']}: taken as header: {header}"
        if has_headings(report) and columns and not doubts_only:
            yield f"{name}: {_summary(report['columns']) if is_sheet else _all(report['columns'])}"
        if report["unread"]:
            kept = any(column.get("kind") in ("layout", "bookkeeping") for column in report["columns"])
            remedy = "; --keep NAME reads one" if kept else ""
            yield f"{name}: columns not read: {', '.join(report['unread'])}{remedy}"
        for note in report["notes"]:
            yield f"{name}{note}" if note.startswith(":") else f"{name}: {note}"
        for reason, (count, place, _) in report["skipped"].items():
            if reason != EMPTY_FILES:
                where = "in" if count == 1 else "the first in"
                yield f"{name}: skipped {counted(count, reason)}, {where} {place.removeprefix(name).lstrip(': ')}"


_VERBS = {"are": "is", "were": "was", "have": "has", "hold": "holds", "come": "comes", "name": "names"}
# The first verb outside of quotation marks.
_VERB = re.compile(rf"((?:[^']|'[^']*')*?\b)({'|'.join(_VERBS)})\b")


def counted(count: int, words: str) -> str:
    """Return a number with words in the plural, noun before verb, which agree with it: ``1 node is nested``."""
    if count == 1:
        words = _VERB.sub(lambda found: found[1] + _VERBS[found[2]], _one(words), count=1)
    return f"{count:,} {words}"


def _one(reason: str) -> str:
    """Return the singular of a plural noun, such as "row with an empty cell"."""
    words = reason.split()
    place = next((at for at, word in enumerate(words) if singular(word) != word), None)
    return reason if place is None else " ".join([*words[:place], singular(words[place]), *words[place + 1 :]])
