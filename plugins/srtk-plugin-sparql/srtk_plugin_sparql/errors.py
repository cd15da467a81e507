"""Errors of SPARQL queries beside the errors of every web service."""

from __future__ import annotations

from srtk_plugin_web import PartialError, RefusedError, RequestError


class TooLargeError(RefusedError):
    """The query itself is too large for the server, or not understood by it."""

    divisible = True


class CappedError(PartialError):
    """The answer has as many rows as the server returns at most (``most``)."""

    transient = False
    counted = False

    def __init__(self, cause: str, most: int = 1) -> None:
        self.most = most
        super().__init__(cause)


class NotRecordedError(RequestError):
    """A replay of a record is asked a query that was not recorded."""
