"""Reads what came back over HTTP: an answer in JSON, or the error that it stands for."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import attrs

from srtk_plugin_rel.errors import (
    EmptyError,
    MalformedError,
    RefusedError,
    ServiceError,
    ThrottledError,
    TokenError,
    UnavailableError,
    shortened,
)


@attrs.frozen
class Reply:
    """A response that was read to its end.

    Attributes:
        status: Of HTTP.
        headers: With names in small letters.
        body: Decompressed.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes

    def start(self) -> str:
        """Return the start of the body, for errors."""
        return shortened(self.body[:1000].decode("utf-8", "replace"))


def checked(reply: Reply, who: str, text: str, hidden: Callable[[str], str] | None) -> Reply:
    """Pass a reply of status 200 on.

    Args:
        reply: What came back.
        who: The service, for errors.
        text: What was asked about.
        hidden: Takes the token out of a text; None where none was sent.

    Raises:
        ServiceError: Of the kind that the status stands for.
    """
    if reply.status != 200:
        raise _refusal(reply, who, text, hidden)
    if not reply.body.strip():
        raise EmptyError("the answer is empty", who, text)
    return reply


def parsed(reply: Reply, who: str, text: str, hidden: Callable[[str], str] | None) -> Any:
    """Parse the body as JSON; the arguments are those of ``checked``.

    Raises:
        MalformedError: If it is something else.
    """
    try:
        return json.loads(reply.body)
    except ValueError as error:
        kind = reply.headers.get("content-type", "no content type")
        start = (hidden or str)(reply.start())
        raise MalformedError(f"the answer is not JSON ({kind}): {start}", who, text) from error


def _refusal(reply: Reply, who: str, text: str, hidden: Callable[[str], str] | None) -> ServiceError:
    status = reply.status
    sent = hidden is not None
    hidden = hidden or str
    said = f" and says: {hidden(reply.start())}" if reply.body.strip() else ""
    wait = seconds_of(reply.headers.get("retry-after"))
    if status in (401, 403):
        what = "refuses the token" if sent else "wants a token, and no token is set"
        cause = f"it {what} ({status}){said}; set `token` to a valid one, such as {{env: NAME}}"
        return TokenError(cause, who, text)
    if status == 429 or (status == 503 and wait is not None):
        asked = "" if wait is None else f", with {wait:.0f} s of rest"
        return ThrottledError(f"it wants fewer requests ({status}{asked}); lower `limits`", who, text, wait)
    if status in (408, 425) or status >= 500:
        return UnavailableError(f"it failed ({status}){said}", who, text)
    if 300 <= status < 400:
        place = hidden(reply.headers.get("location", "another place"))
        return RefusedError(f"it has moved ({status}) to {place}; give that as `endpoint`", who, text)
    if status in (413, 414):
        return RefusedError(
            f"the text of {len(text):,} characters is too long for it ({status}); shorten it", who, text
        )
    return RefusedError(f"it does not answer this request ({status}){said}", who, text)


def seconds_of(retry_after: str | None) -> float | None:
    """Read ``Retry-After``: seconds, or a date; None where there is none or it says nothing."""
    if retry_after is None:
        return None
    if retry_after.strip().isdigit():
        return float(retry_after)
    try:
        moment = parsedate_to_datetime(retry_after)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())
