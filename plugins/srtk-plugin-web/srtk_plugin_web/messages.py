"""HTTP requests and responses as values, and the meaning of their headers and statuses."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Any

import attrs

from srtk_plugin_web.faults import (
    DeadlineError,
    DeniedError,
    EmptyError,
    MalformedError,
    PartialError,
    RefusedError,
    RequestError,
    ThrottledError,
    UnavailableError,
    shortened,
)

_LONGEST_REST = 86400.0  # Seconds; a server that asks for more is taken to ask for this
_START = 1000  # Bytes, at least 240 characters of four bytes, for ``shortened``


@attrs.frozen
class Request:
    """One HTTP request; errors name its subject, and headers are added to those that the client always sends."""

    url: str
    subject: str = ""
    method: str = "GET"
    headers: Mapping[str, str] = attrs.field(factory=dict)
    body: bytes | None = attrs.field(default=None, repr=False)


@attrs.frozen
class Response:
    """One HTTP response, read to its end and decompressed; of an error the body may be its start only."""

    status: int
    headers: Mapping[str, str]
    body: bytes = attrs.field(repr=False)

    @property
    def kind(self) -> str:
        """Return the content type in small letters, without parameters."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    def start(self) -> str:
        """Return the start of the body in one line, for errors."""
        return shortened(self.body[:_START].decode("utf-8", "replace"))

    def json(self) -> Any:
        """Parse the body as JSON.

        Raises:
            PartialError: If it begins as JSON and breaks off.
            MalformedError: If it is something else, or nested too deeply.
        """
        try:
            return json.loads(self.body)
        except RecursionError as error:
            raise MalformedError("the answer is JSON that is nested too deeply") from error
        except ValueError as error:
            cause = f"the answer is not JSON ({self.kind or 'no content type'}): {self.start()}"
            if self.body.lstrip()[:1] in (b"{", b"["):
                raise PartialError(f"{cause}; it breaks off, or is malformed ({error})") from error
            raise MalformedError(cause) from error


def whole_number(text: str) -> int | None:
    """Read a whole number of ASCII digits, at most 18 of them; None for any other text."""
    text = text.strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 18 else None


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Read for how many seconds a server asks to wait, at most a day; None where no header can be read.

    The headers are ``Retry-After-Ms``, and ``Retry-After`` in seconds or as a date; their names are in small
    letters.
    """
    for name, divisor in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        text = headers.get(name, "").strip()
        if text.isascii() and text.replace(".", "", 1).isdigit():
            return min(float(text) / divisor, _LONGEST_REST)
    try:
        moment = parsedate_to_datetime(headers.get("retry-after", ""))
    except (TypeError, ValueError, IndexError, OverflowError):
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return min(max(0.0, moment.timestamp() - time.time()), _LONGEST_REST)


def checked(response: Response) -> Response:
    """Return a response of status 200 with a body.

    Raises:
        RequestError: Of the kind that the status stands for; `EmptyError` where there is no body.
    """
    if response.status != 200:
        raise status_error(response)
    if not response.body.strip():
        raise EmptyError("the answer is empty, though the status is 200")
    return response


def status_error(response: Response) -> RequestError:
    """Make the error for a status that is not 200."""
    status = response.status
    says = f" and says: {response.start()}" if response.body.strip() else ""
    wait = retry_after(response.headers)
    if status == 429 or (status == 503 and wait is not None):
        rest = "" if wait is None else f", with {wait:.0f} s of rest"
        return ThrottledError(f"it wants fewer requests ({status}{rest}); lower `limits`", wait)
    if status in (408, 504):
        return DeadlineError(f"it took too long ({status}){says}")
    if status == 425 or status >= 500:
        return UnavailableError(f"it failed ({status}){says}")
    if 300 <= status < 400:
        place = response.headers.get("location", "another place")
        return DeniedError(f"it has moved ({status}) to {place}; set the address to that if you trust it")
    if status in (401, 403, 404, 405, 410):
        advice = "; set a `user_agent` that names you, and ask less often" if status == 403 else ""
        return DeniedError(f"it does not answer this client ({status}){says}{advice}")
    return RefusedError(f"it does not answer this request ({status}){says}")
