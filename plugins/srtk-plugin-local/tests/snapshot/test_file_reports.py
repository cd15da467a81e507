"""What is said of each file of a build: headers, columns, notes and skipped rows."""

from __future__ import annotations

from typing import Any

import pytest
from srtk_plugin_local.snapshot.input_report import (
    COMMENTS,
    EMPTY_FILES,
    FileReport,
    counted,
    has_headings,
    read_as,
    sentences,
)

from srtk_framework.values import InputError


def report(**more: Any) -> FileReport:
    return FileReport("a.csv", "csv", separator=",", **more)


def said(made: FileReport, *flags: bool) -> list[str]:
    return list(sentences([made.data()], *flags))


def test_skipped_rows_are_counted_by_reason_with_the_first_place() -> None:
    made = report()
    for line in (3, 5, 9):
        made.skip("rows with an empty cell", line, "fill it")
    made.skip("rows of totals", 7, "remove it", "row ")
    made.skip_all("links", 1200, "row 4", "correct it")
    made.skip(EMPTY_FILES, 1, "leave it out")
    assert made.skipped["rows with an empty cell"] == [3, "a.csv:3", "fill it"]
    assert said(made) == [
        "a.csv: skipped 3 rows with an empty cell, the first in 3",
        "a.csv: skipped 1 row of totals, in row 7",
        "a.csv: skipped 1,200 links, the first in row 4",
    ]


def test_a_reason_without_a_plural_is_said_as_it_is() -> None:
    made = report()
    made.skip("text of no reader", 2, "remove it")
    assert said(made) == ["a.csv: skipped 1 text of no reader, in 2"]


def test_a_strict_report_refuses_at_the_place() -> None:
    with pytest.raises(InputError, match=r"^a\.csv:3: fill it$"):
        report(strict=True).skip("rows", 3, "fill it")
    with pytest.raises(InputError, match=r"^a\.csv: row 3: fill it$"):
        report(strict=True).skip("rows", 3, "fill it", "row ")
    with pytest.raises(InputError, match=r"^a\.csv: row 4: correct it$"):
        report(strict=True).skip_all("links", 7, "row 4", "correct it")


def test_a_file_is_refused_where_all_rows_were_skipped_but_not_where_there_are_none() -> None:
    for reason in (COMMENTS, EMPTY_FILES):
        made = report()
        made.skip(reason, 1, "remove it")
        made.check()
    made.skip("rows with an empty cell", 2, "fill it")
    with pytest.raises(InputError, match=r"^a\.csv:2: fill it$"):
        made.check()
    made.skip("rows of totals", 3, "remove it")
    with pytest.raises(InputError, match=r"^a\.csv:2: fill it \(as 2 rows, which are all\)$"):
        made.check()
    made.rows = 1
    made.check()


def test_a_header_its_columns_and_notes_are_said_unless_doubts_alone_are_wanted() -> None:
    columns = [{"column": "who", "as": "subject", "example": ""}, {"column": "whom", "as": "object", "example": ""}]
    made = report(header=("who", "does", "whom"), header_line=2, columns=columns, unread=["x", "y"])
    for note in ("is short", ":4: is long", "is short"):
        made.note(note)
    doubts = ["a.csv: columns not read: x, y", "a.csv: is short", "a.csv:4: is long"]
    header = "a.csv:2: taken as header: who,does,whom"
    assert said(made) == [header, "a.csv: columns: who = subject, whom = object", *doubts]
    assert said(made, False, False) == [header, *doubts]
    assert said(made, True) == doubts
    assert "columns" not in "".join(said(report(columns=columns)))  # numbers of columns are no headings


def test_of_a_sheet_the_columns_are_said_that_a_person_should_check() -> None:
    def column(title: str, as_: str, kind: str) -> dict[str, str]:
        return {"column": title, "as": as_, "kind": kind, "type": "text", "example": ""}

    columns = [
        *(column("id", "key", "key"), column("age", "integer", "literal"), column("club", "names of things", "names")),
        *(column("tags", "names of things, list split at ';'", "names"), column("x", "layout, not read", "layout")),
        *(column("no", "bookkeeping, not read", "bookkeeping"), column("y", "not read", "ignored")),
        *(column("since", "date of the edge", "property"), column("z", "empty", "empty")),
    ]
    made = report(header=("id",), header_line=1, columns=columns)
    told = "columns: id = key, tags = names of things, list split at ';'"
    assert said(made) == [f"a.csv: {told}; as facts: age, club, since; empty: z"]
    made.columns = columns[:1]
    assert said(made) == ["a.csv: columns: id = key"]
    assert has_headings(made.data())
    assert not has_headings(report(header_line=1).data())


@pytest.mark.parametrize(
    ("words", "one"),
    [
        ("triples", "1 triple"),
        ("entities", "1 entity"),
        ("nodes are nested in groups", "1 node is nested in groups"),
        ("named graphs were merged", "1 named graph was merged"),
        ("edges name no relation; it is called 'edge'", "1 edge names no relation; it is called 'edge'"),
        ("values of 'the name' are no row", "1 value of 'the name' is no row"),
        ("facts have a word that they hold", "1 fact has a word that they hold"),  # the first verb alone
    ],
)
def test_words_agree_with_their_number(words: str, one: str) -> None:
    assert counted(1, words) == one
    assert counted(2000, words) == f"2,000 {words}"
    assert counted(0, words) == f"0 {words}"


KEEP = "; --keep NAME reads one"


@pytest.mark.parametrize(("kind", "remedy"), [("bookkeeping", KEEP), ("layout", KEEP), ("ignored", "")])
def test_a_column_that_is_left_out_is_told_with_the_remedy(kind: str, remedy: str) -> None:
    made = report(unread=["made at"], columns=[read_as("made at", kind)])
    assert said(made, True) == [f"a.csv: columns not read: made at{remedy}"]
