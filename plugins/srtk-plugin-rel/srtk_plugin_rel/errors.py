"""What can go wrong between a text and its links; every error names the service, the cause and the text."""

from __future__ import annotations

from srtk_framework.values import DriverError

SHOWN = 120


class ServiceError(DriverError):
    """A service gave no answer that can be trusted.

    Args:
        cause: What went wrong, and what to do about it where something can be done.
        service: Name and address of the service, without login and token.
        text: What was asked about; the message shows its start.
        retry_after: Seconds that the service asks to wait, if it does.
    """

    transient = False
    """Whether the same request may succeed when it is sent again."""

    def __init__(self, cause: str, service: str = "", text: str = "", retry_after: float | None = None) -> None:
        self.cause = cause
        self.service = service
        self.text = text
        self.retry_after = retry_after
        about = f"; the text was: {shortened(text)}" if text else ""
        super().__init__(f"{service}: {cause}{about}")


class RefusedError(ServiceError):
    """The service does not answer this request."""


class TokenError(RefusedError):
    """The service does not accept the token, or wants one."""


class ThrottledError(ServiceError):
    """The service asks for fewer requests."""

    transient = True


class UnavailableError(ServiceError):
    """The service cannot be reached, or failed."""

    transient = True


class DeadlineError(ServiceError):
    """The answer did not come in time."""

    transient = True


class MalformedError(ServiceError):
    """What came back is not an answer of the service."""

    transient = True


class EmptyError(MalformedError):
    """Nothing came back."""


class CircuitOpenError(ServiceError):
    """The service failed so often in a row that it is left alone for a while."""


class NotKeptError(ServiceError):
    """A run without the service asks what was not kept."""


def shortened(text: str) -> str:
    """Show a text in one line of moderate length."""
    line = " ".join(text.split())
    return line if len(line) <= SHOWN else f"{line[:SHOWN]} ..."
