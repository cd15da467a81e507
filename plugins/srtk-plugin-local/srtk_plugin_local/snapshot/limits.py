"""Limits of what is read of a file, whose author may be a stranger."""

from __future__ import annotations

import re

from srtk_framework.values import InputError

MAX_LITERAL = 16_000_000
"""Maximum number of bytes of a literal or a cell, and of a line of a format with a row or triple in each; pyoxigraph
holds 16 MiB."""

MAX_DEPTH = 100
"""Levels of JSON, and of triples within triples, whose parsers call themselves: a megabyte of stack is enough."""

MAX_ELEMENTS = 1000
"""Levels of XML; the time of some parsers grows with the square."""

MAX_LISTS = 100_000
"""Levels of lists in Turtle, whose parser holds each; a list of ten thousand values has one level."""

MAX_COLUMNS = 5000
"""Columns of a table."""

ROWS = 100_000
"""Rows of a table that a reader gives away at once."""

LONG_LITERALS = "literals above 16 MB"
LONG_LITERAL = "a literal may have 16 MB; shorten it, or leave it out"
LONG_LINES = "lines above 16 MB"
LONG_LINE = "a line of a table or of triples may have 16 MB; shorten or remove it"

_UNITS = {"b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12, "kib": 2**10, "mib": 2**20, "gib": 2**30}


def amount(memory: str) -> int:
    """Return an amount of memory such as 1GB in bytes.

    Raises:
        InputError: If it is none.
    """
    found = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]*)?)\s*([A-Za-z]+)\s*", memory)
    if not found or found[2].lower() not in _UNITS:
        raise InputError(f"{memory!r} is not an amount of memory; write one like 1GB or 500MB")
    return int(float(found[1]) * _UNITS[found[2].lower()])


def megabytes(size: int) -> str:
    """Write a number of bytes in megabytes."""
    return f"{size / 10**6:,.0f} MB"


def check_whole(name: str, size: int, memory: int, growth: int) -> None:
    """Refuse a file that is held in memory as a whole, and is too large for it.

    Args:
        name: Its name, for messages.
        size: Its unpacked bytes so far.
        memory: Bytes of memory for the build.
        growth: Bytes of memory for each byte of the file.

    Raises:
        InputError: If it is too large.
    """
    if size > memory // growth:
        raise InputError(
            f"{name}: is larger than {megabytes(memory // growth)}, of which {megabytes(memory)} of memory is "
            "enough for; give more with --memory, or write the graph as N-Triples or as a table"
        )


def check_width(name: str, columns: int) -> None:
    """Refuse a table with more than MAX_COLUMNS columns."""
    if columns > MAX_COLUMNS:
        raise InputError(
            f"{name}: has more than {MAX_COLUMNS:,} columns; check the separator, or write a line for each value: "
            "row, column, value"
        )
