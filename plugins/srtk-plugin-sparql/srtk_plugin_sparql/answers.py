"""Reads what a server sent back, and tells a whole answer from all that only looks like one."""

from __future__ import annotations

import email.utils
import time
from collections.abc import Mapping
from typing import Any

import attrs
from SPARQLWrapper import JSON
from SPARQLWrapper.Wrapper import QueryResult

from srtk_plugin_sparql.errors import (
    CappedError,
    DeadlineError,
    MalformedError,
    PartialError,
    QueryError,
    RefusedError,
    ThrottledError,
    TooLargeError,
    UnavailableError,
)
from srtk_plugin_sparql.terms import Term

Rows = list[dict[str, Term]]

_KINDS = {"uri": "iri", "literal": "literal", "typed-literal": "literal", "bnode": "blank"}
_JSON = ("application/sparql-results+json", "application/json")
_TIMEOUTS = ("timeout", "timed out", "time-out", "estimated execution time", "deadline exceeded")
_UNFIT = (b"Virtuoso 37000", b"Virtuoso 22023")
"""Errors of Virtuoso's compiler, which come as status 500: asking the same again is no use, asking less may be."""
_STRING = "http://www.w3.org/2001/XMLSchema#string"
_SHOWN = 160


@attrs.frozen
class Reply:
    """What came over the wire; SPARQLWrapper reads it as it reads a response of urllib.

    Attributes:
        status: The HTTP status.
        headers: The HTTP headers; names in any case.
        body: All bytes, decompressed.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes

    def read(self) -> bytes:
        """Return the body."""
        return self.body

    def info(self) -> Mapping[str, str]:
        """Return the headers."""
        return self.headers


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Read ``Retry-After``, in seconds or as a date; None where it is missing or says nothing."""
    text = headers.get("retry-after", "").strip()
    if text.isdigit():
        return float(text)
    try:
        moment = email.utils.parsedate_to_datetime(text)
    except ValueError:
        return None
    return max(0.0, moment.timestamp() - time.time())


def read(reply: Reply, cap: int | None, broken: tuple[str, ...], endpoint: str, query: str) -> Rows:
    """Return the rows of a reply.

    Args:
        reply: What came back.
        cap: Rows that the server gives at most, where that is known.
        broken: Texts that an engine leaves in the body of a query it stopped.
        endpoint: For errors.
        query: For errors.

    Raises:
        QueryError: One of its kinds, unless the answer is whole.
    """
    if reply.status != 200:
        raise _status_error(reply, endpoint, query)
    kind = reply.headers.get("content-type", "").partition(";")[0].strip().lower()
    shown = _start(reply.body)
    if not reply.body.strip():
        raise MalformedError("the answer is empty, though the status is 200", endpoint, query)
    if kind not in _JSON:
        raise MalformedError(f"the answer is {kind or 'of no type'}, not JSON: {shown}", endpoint, query)
    interrupted = reply.headers.get("x-sql-message", "")
    if reply.headers.get("x-sql-state", "").upper().startswith("S1TAT") or "incomplete" in interrupted.lower():
        raise DeadlineError(f"the server stopped the query midway ({interrupted or 'S1TAT'})", endpoint, query)
    try:
        data: Any = QueryResult((reply, JSON)).convert()  # type: ignore[arg-type]
    except ValueError as error:
        if any(text.encode() in reply.body for text in broken):
            raise DeadlineError("the server stopped the query midway", endpoint, query) from error
        raise PartialError(f"the answer breaks off or is no JSON ({error})", endpoint, query) from error
    rows = _rows(data)
    if rows is None:
        raise MalformedError(f"the answer is JSON, but no table of results: {shown}", endpoint, query)
    most = _most(reply.headers.get("x-sparql-maxrows", ""), cap)
    if most is not None and len(rows) >= most:
        cause = f"the answer has {len(rows)} rows, which is what the server gives at most"
        capped = CappedError(cause, endpoint, query)
        capped.most = most
        raise capped
    return rows


def _most(header: str, cap: int | None) -> int | None:
    told = int(header) if header.strip().isdigit() else None
    return min((value for value in (told, cap) if value), default=None)


def _rows(data: Any) -> Rows | None:
    """Read the table; None where the data has another shape."""
    results = data.get("results") if isinstance(data, dict) else None
    bindings = results.get("bindings") if isinstance(results, dict) else None
    if not isinstance(bindings, list):
        return None
    rows: Rows = []
    for binding in bindings:
        if not isinstance(binding, dict):
            return None
        row: dict[str, Term] = {}
        for name, cell in binding.items():
            kind = _KINDS.get(cell.get("type", "")) if isinstance(cell, dict) else None
            if kind is None or not isinstance(cell.get("value"), str):
                return None
            datatype = cell.get("datatype", "")
            plain = datatype == _STRING
            row[name] = Term(kind, cell["value"], "" if plain else datatype, cell.get("xml:lang", ""))
        rows.append(row)
    return rows


def _status_error(reply: Reply, endpoint: str, query: str) -> QueryError:
    status, shown = reply.status, _start(reply.body)
    wait = retry_after(reply.headers)
    if status == 429 or (status == 503 and wait is not None):
        told = "" if wait is None else f" for {wait:g} s"
        return ThrottledError(f"HTTP {status}: the server asks to wait{told}", endpoint, query, wait)
    if status in (400, 413, 414) or any(text in reply.body[:100] for text in _UNFIT):
        return TooLargeError(f"HTTP {status}: the server does not take this query: {shown}", endpoint, query)
    slow = any(text in reply.body.decode("utf-8", "replace").lower() for text in _TIMEOUTS)
    if status in (408, 504) or (status >= 500 and slow):
        return DeadlineError(f"HTTP {status}: the query takes the server too long: {shown}", endpoint, query)
    if status >= 500:
        return UnavailableError(f"HTTP {status}: the server failed: {shown}", endpoint, query)
    if 300 <= status < 400:
        target = reply.headers.get("location", "another place")
        return RefusedError(f"HTTP {status}: it has moved; set `endpoint` to {target}", endpoint, query)
    advice = "; set a `user_agent` that names you, and ask less often" if status == 403 else ""
    return RefusedError(f"HTTP {status}: the server refuses{advice}: {shown}", endpoint, query)


def _start(body: bytes) -> str:
    """Show the start of a body in one line."""
    text = " ".join(body[: 4 * _SHOWN].decode("utf-8", "replace").split())
    return repr(text[:_SHOWN]) if text else "(nothing)"
