"""Failures between a request and its answer: one tree of errors for all web services.

Readers of answers raise these errors with the cause alone; the client adds the service and the question.
"""

from __future__ import annotations

from typing import ClassVar, Self

from srtk_framework.values import DriverError

_SHOWN = 240  # Characters; an error page of HTML would fill the screen


class RequestError(DriverError):
    """A request has no answer that can be trusted.

    Args:
        cause: The failure, and a remedy if known.
        retry_after: Seconds that the server asks to wait; None where it asks for none.

    Attributes:
        service: Name or address of the service, without login and token; empty until the client adds it.
        asked: Subject of the request; the message shows its start.
        remembered: Whether nothing was sent, because the same error stopped a request a moment ago.
    """

    transient: ClassVar[bool] = False
    """Whether the same request may succeed when it is sent again."""
    divisible: ClassVar[bool] = False
    """Whether a smaller request may succeed."""
    counted: ClassVar[bool] = False
    """Whether the error counts towards the failures that open the breaker."""
    fatal: ClassVar[bool] = False
    """Whether no other request can succeed either, so that nothing is sent for a while."""

    def __init__(self, cause: str, retry_after: float | None = None) -> None:
        self.cause = cause
        self.retry_after = retry_after
        self.service = ""
        self.asked = ""
        self.noun = "request"
        self.remembered = False
        super().__init__(cause)

    def about(self, service: str, asked: str, noun: str = "request") -> Self:
        """Add the service and the question; the first call wins.

        ``noun`` is the kind of thing that was asked: ``query``, ``text``.
        """
        if not self.service:
            self.service, self.asked, self.noun = service, asked, noun
        return self

    def __str__(self) -> str:
        start = f"{self.service}: " if self.service else ""
        end = f"; the {self.noun} was: {shortened(self.asked)}" if self.asked else ""
        return f"{start}{self.cause}{end}"


class RefusedError(RequestError):
    """The server does not answer this request."""


class DeniedError(RefusedError):
    """The server does not answer this client, or has moved, or there is nothing at this address."""

    counted = True


class CredentialError(DeniedError):
    """The server does not accept the credential, or lacks it."""

    fatal = True


class ThrottledError(RequestError):
    """The server asks for fewer requests."""

    transient = True


class UnavailableError(RequestError):
    """The server failed."""

    transient = True
    counted = True


class UnreachableError(UnavailableError):
    """There is no connection to the server, or it was reset before an answer came."""


class DeadlineError(RequestError):
    """The answer did not come in time."""

    transient = True
    counted = True
    divisible = True


class OversizeError(RequestError):
    """The answer is larger than the limit."""

    divisible = True


class MalformedError(RequestError):
    """The response is not an answer to the request."""

    transient = True
    counted = True


class EmptyError(MalformedError):
    """The body of the answer is empty."""


class PartialError(MalformedError):
    """The answer is not whole: it breaks off, or the server cut it."""

    divisible = True


class CircuitOpenError(RequestError):
    """The server failed so often in a row that nothing is sent for a while."""


class NotCachedError(RequestError):
    """A run without the server has a question that the cache lacks."""


class ClosedError(RequestError):
    """The client was closed."""

    fatal = True


def shortened(text: str, most: int = _SHOWN) -> str:
    """Show a text in one line of at most about ``most`` characters: its start and its end."""
    line = " ".join(text.split())
    if len(line) <= most:
        return line
    return f"{line[: most * 2 // 3]} ... {line[-most // 3 :]}"
