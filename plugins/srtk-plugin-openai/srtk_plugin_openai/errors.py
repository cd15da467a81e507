"""What can go wrong between a prompt and its reply.

Three sorts: what passes (the request is sent again), what stops one prompt (its reply says so), and what stops all.
"""

from __future__ import annotations

from typing import ClassVar

from srtk_framework.values import DriverError

SHOWN = 300


class ServerError(DriverError):
    """A server gave no reply that can be used.

    Args:
        cause: What went wrong, and what to do about it where something can be done.
        retry_after: Seconds that the server asks to wait, if it does.
    """

    transient: ClassVar[bool] = False
    """Whether the same request may succeed when it is sent again."""

    fatal: ClassVar[bool] = False
    """Whether no other prompt can succeed either."""

    billed: ClassVar[bool] = False
    """Whether the server has probably written a reply, and counted it, that did not arrive."""

    def __init__(self, cause: str, retry_after: float | None = None) -> None:
        self.cause = cause
        self.retry_after = retry_after
        self.lost = 0
        """Replies of the same request that were probably written, and counted, and did not arrive."""
        self.remembered = False
        """Whether nothing was sent now, since the same stopped a request a moment ago."""
        super().__init__(cause)


class ThrottledError(ServerError):
    """The server asks for fewer requests."""

    transient = True


class UnavailableError(ServerError):
    """The server failed."""

    transient = True


class UnreachableError(ServerError):
    """There is no connection to the server, or it was reset."""

    transient = True


class LateError(ServerError):
    """The reply did not come in time."""

    transient = True
    billed = True


class CutError(ServerError):
    """The reply breaks off."""

    transient = True
    billed = True


class MalformedError(ServerError):
    """What came back is no reply."""

    transient = True


class RefusedError(ServerError):
    """The server does not answer this prompt.

    Args:
        cause: What went wrong.
        about: What the server names as the reason: a field of the request, a code, its words.
    """

    def __init__(self, cause: str, about: str = "") -> None:
        self.about = about
        super().__init__(cause)


class TooLongError(RefusedError):
    """The prompt and its reply do not fit into the model."""


class SpentError(ServerError):
    """The budget of the run is spent."""


class NotKeptError(ServerError):
    """A run without the server asks what was not kept."""


class SetUpError(ServerError):
    """Key, model, address or a setting is wrong: nothing will be answered."""

    fatal = True


class ModelError(SetUpError):
    """The server does not have the model, or nothing at this address."""


class DownError(ServerError):
    """The server failed, or could not be reached, so often that nothing more is sent for a while."""

    fatal = True


def shortened(text: str) -> str:
    """Show a text in one line of moderate length."""
    line = " ".join(text.split())
    return line if len(line) <= SHOWN else f"{line[:SHOWN]} ..."
