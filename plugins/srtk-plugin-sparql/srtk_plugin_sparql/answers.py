"""Answers of SPARQL endpoints: accepted when whole, refused when they only look so."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from SPARQLWrapper import JSON, QueryResult
from srtk_plugin_web import (
    DeadlineError,
    DeniedError,
    EmptyError,
    MalformedError,
    PartialError,
    RequestError,
    Response,
    ThrottledError,
    UnavailableError,
    retry_after,
    whole_number,
)

from srtk_plugin_sparql.errors import TooLargeError
from srtk_plugin_sparql.terms import Row, Rows, Term

# Types that SPARQLWrapper asks for. Scripts are refused when they come: they are not JSON.
ACCEPTED = "application/sparql-results+json,application/json,text/javascript,application/javascript"
_KINDS = {"uri": "iri", "literal": "literal", "typed-literal": "literal", "bnode": "blank"}
_JSON = ("application/sparql-results+json", "application/json")
_TIMEOUTS = ("timeout", "timed out", "time-out", "estimated execution time", "deadline exceeded")
# Errors of Virtuoso's compiler, which come as status 500: asking the same again is no use, asking less may be.
_UNFIT = (b"Virtuoso 37000", b"Virtuoso 22023")
_STRING = "http://www.w3.org/2001/XMLSchema#string"


class Table(NamedTuple):
    """A table of results, each row once, and the numbers of rows that came and that the server returns at most."""

    rows: Rows
    sent: int
    most: int | None = None


class _Reply:
    """A response in the form of urllib's, which SPARQLWrapper reads."""

    def __init__(self, response: Response) -> None:
        self._response = response

    def read(self) -> bytes:
        return self._response.body

    def info(self) -> Mapping[str, str]:
        return self._response.headers


def read(response: Response, broken: tuple[str, ...]) -> Table:
    """Return the table of a response.

    The texts in ``broken`` are those that an engine leaves in the body of a query that it stopped.
    """
    if response.status != 200:
        raise _status_error(response)
    shown = response.start()
    if not response.body.strip():
        raise EmptyError("the answer is empty, though the status is 200")
    if response.kind not in _JSON:
        raise MalformedError(f"the answer is {response.kind or 'of no type'}, not JSON: {shown}")
    interrupted = response.headers.get("x-sql-message", "")
    if response.headers.get("x-sql-state", "").upper().startswith("S1TAT") or "incomplete" in interrupted.lower():
        raise DeadlineError(f"the server stopped the query midway ({interrupted or 'S1TAT'})")
    try:
        data: Any = QueryResult((_Reply(response), JSON)).convert()  # type: ignore[arg-type]
    except RecursionError as error:
        raise MalformedError("the answer is JSON that is nested too deeply") from error
    except TypeError as error:
        raise MalformedError(f"the answer is JSON, but no table of results: {shown}") from error
    except ValueError as error:
        if any(text.encode() in response.body for text in broken):
            raise DeadlineError("the server stopped the query midway") from error
        raise PartialError(f"the answer breaks off or is no JSON ({error})") from error
    rows = _rows(data)
    if rows is None:
        raise MalformedError(f"the answer is JSON, but no table of results: {shown}")
    return Table(_distinct(rows), len(rows), whole_number(response.headers.get("x-sparql-maxrows", "")) or None)


def _distinct(rows: Rows) -> Rows:
    """Drop repeated rows: no query asks for them, and they must not stand for rows that are missing."""
    # Where all rows name the same variables, their values tell them apart, and hash in a fifth of the time.
    if len({tuple(row) for row in rows}) <= 1 and len({tuple(row.values()) for row in rows}) == len(rows):
        return rows
    known = {frozenset(row.items()): row for row in rows}
    return rows if len(known) == len(rows) else list(known.values())


def _rows(data: Any) -> Rows | None:
    """Read the table; None where the data has another shape."""
    results = data.get("results") if isinstance(data, dict) else None
    bindings = results.get("bindings") if isinstance(results, dict) else None
    if not isinstance(bindings, list):
        return None
    rows: Rows = []
    # Most cells of an answer equal others, and are the same object: Python's collector then has fewer to visit.
    terms: dict[tuple[str, ...], Term] = {}
    for binding in bindings:
        if not isinstance(binding, dict):
            return None
        row = Row()
        for name, cell in binding.items():
            if not isinstance(cell, dict):
                return None
            kind, value = cell.get("type"), cell.get("value")
            datatype, language = cell.get("datatype", ""), cell.get("xml:lang", "")
            # All are texts; a loop over them would take twice as long, and answers have many cells.
            if not (type(kind) is type(value) is type(datatype) is type(language) is str) or kind not in _KINDS:
                return None
            cell = (kind, value, datatype, language)
            term = terms.get(cell)
            if term is None:
                plain = "" if datatype == _STRING else datatype
                term = terms[cell] = Term(_KINDS[kind], value, plain, language)
            row[name] = term
        rows.append(row)
    return rows


def _status_error(response: Response) -> RequestError:
    status, shown = response.status, response.start()
    wait = retry_after(response.headers)
    if status == 429 or (status == 503 and wait is not None):
        rest = "" if wait is None else f" for {wait:g} s"
        return ThrottledError(f"HTTP {status}: the server asks to wait{rest}", wait)
    if status in (400, 413, 414) or any(text in response.body[:100] for text in _UNFIT):
        return TooLargeError(f"HTTP {status}: the server does not take this query: {shown}")
    slow = any(text in response.body.decode("utf-8", "replace").lower() for text in _TIMEOUTS)
    if status in (408, 504) or (status >= 500 and slow):
        return DeadlineError(f"HTTP {status}: the query takes the server too long: {shown}")
    if status >= 500:
        return UnavailableError(f"HTTP {status}: the server failed: {shown}")
    if 300 <= status < 400:
        target = response.headers.get("location", "another place")
        return DeniedError(f"HTTP {status}: it has moved; set `endpoint` to {target}")
    advice = "; set a `user_agent` that names you, and ask less often" if status == 403 else ""
    return DeniedError(f"HTTP {status}: the server refuses{advice}: {shown}")
