"""What can go wrong between a query and its answer; every error names endpoint, query and cause."""

from __future__ import annotations

from srtk_framework.values import DriverError

SHOWN = 240


class QueryError(DriverError):
    """A query has no answer that can be trusted.

    Args:
        cause: What went wrong, and what to do about it where something can be done.
        endpoint: Whom was asked, without user name and password.
        query: The query; the message shows its start.
        retry_after: Seconds that the server asks to wait, if it does.
    """

    transient = False
    """Whether the same query may succeed when it is asked again."""
    divisible = False
    """Whether a smaller query may succeed."""

    def __init__(self, cause: str, endpoint: str = "", query: str = "", retry_after: float | None = None) -> None:
        self.cause = cause
        self.endpoint = endpoint
        self.query = query
        self.retry_after = retry_after
        super().__init__(f"{endpoint}: {cause}; the query was: {shortened(query)}")


class RefusedError(QueryError):
    """The server does not answer this query or this client."""


class TooLargeError(QueryError):
    """The query itself is too large for the server, or not understood by it."""

    divisible = True


class ThrottledError(QueryError):
    """The server asks for fewer requests."""

    transient = True


class UnavailableError(QueryError):
    """The server cannot be reached, or failed."""

    transient = True


class DeadlineError(QueryError):
    """The answer did not come in time."""

    transient = True
    divisible = True


class MalformedError(QueryError):
    """What came back is not an answer to the query."""

    transient = True


class PartialError(QueryError):
    """The answer is not whole: broken off, or cut by the server."""

    transient = True
    divisible = True


class CappedError(PartialError):
    """The answer has as many rows as the server gives at most."""

    transient = False
    most = 1
    """How many rows that is."""


class CircuitOpenError(QueryError):
    """The server failed so often in a row that it is left alone for a while."""


class NotRecordedError(QueryError):
    """A run from a record asks what was not recorded."""


def shortened(query: str) -> str:
    """Show a query in one line of moderate length: its start and its end."""
    line = " ".join(query.split())
    if len(line) <= SHOWN:
        return line
    return f"{line[: SHOWN * 2 // 3]} ... {line[-SHOWN // 3 :]}"
