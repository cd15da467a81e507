"""Sends requests to one server until there is a reply: politely, within limits, never taking a failure for a reply."""

from __future__ import annotations

import json
import math
import random
import threading
import time
from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import attrs

from srtk_framework.web import Breaker, Gate, TokenBucket
from srtk_plugin_openai.answers import Answer, answer_of
from srtk_plugin_openai.connections import Connections
from srtk_plugin_openai.errors import (
    CutError,
    DownError,
    LateError,
    MalformedError,
    ServerError,
    SetUpError,
    ThrottledError,
    UnavailableError,
    UnreachableError,
)
from srtk_plugin_openai.limits import Limits
from srtk_plugin_openai.refusals import refusal_of

_LARGEST = 1 << 25
_REMEMBERED = 30.0
"""For so many seconds after a wrong key, model or address nothing more is sent."""
_HIDDEN = 8
"""A key of so many characters is taken out of what is shown; a shorter one is a word such as ``EMPTY``."""


@attrs.frozen
class Asked:
    """How a request ended.

    Attributes:
        answer: The reply.
        lost: How many replies the server has probably written, and counted, that did not arrive.
    """

    answer: Answer
    lost: int = 0


class Client:
    """One server, usable from several threads.

    Args:
        base_url: Its address, up to ``/v1``.
        key: The key, shown to nobody; empty for none.
        workers: Most requests in flight.
        limits: How hard to ask.
    """

    def __init__(self, base_url: str, key: str, workers: int, limits: Limits) -> None:
        place = urlsplit(base_url)
        if place.scheme not in ("http", "https") or not place.hostname:
            raise SetUpError(f"base_url {base_url!r} is not an http or https URL; correct it")
        if place.username is not None:
            raise SetUpError("base_url holds a login; take it out, and give the secret as `key`")
        self._key = key.strip()
        if not (self._key.isascii() and self._key.isprintable()):
            raise SetUpError("the key has characters that no request can carry; set `key` to the key alone")
        self.who = urlunsplit(place._replace(query=""))
        self._limits = limits
        self._connections = Connections(base_url, self._key, limits.deadline)
        self._gate = Gate(workers, TokenBucket(limits.per_second, limits.burst) if limits.per_second else None)
        self._breaker = Breaker(limits.failures, limits.pause)
        self._lock = threading.Lock()
        self._alarm = threading.Event()
        self._stopped: tuple[float, ServerError] | None = None
        self._succeeded = 0.0

    def close(self) -> None:
        """Close the connections."""
        with self._lock:
            self._stopped = (math.inf, DownError("the client is closed"))
            self._alarm.set()
        self._connections.close()

    def ask(self, body: Mapping[str, Any]) -> Asked:
        """Send a request until there is a reply.

        Raises:
            ServerError: When there is none; ``lost`` counts the replies that were probably written.
        """
        began = time.monotonic()
        until = began + self._limits.patience
        failures = tries = lost = 0
        while True:
            try:
                return Asked(self._attempt(body, until), lost)
            except ServerError as error:
                failed = error
            failures += 1
            tries += not isinstance(failed, ThrottledError)
            lost += failed.billed
            wait = self._wait(failures, failed.retry_after)
            if not failed.transient or tries >= self._limits.attempts or time.monotonic() + wait > until:
                last = self._last(failed, began)
                last.lost = lost
                raise last
            self._alarm.wait(wait)

    def models(self) -> list[str]:
        """List the names of the server's models, sorted; none where it does not tell."""
        import openai

        try:
            return self._connections.models()
        except openai.OpenAIError:  # only for a better message about another error
            return []

    def _wait(self, failures: int, asked: float | None) -> float:
        """Say how long to wait, with some chance in it so that those who failed together do not return together."""
        growing: float = min(self._limits.wait * 2 ** (failures - 1), self._limits.wait_most)
        if asked is not None:
            return asked + random.random() * self._limits.wait
        return growing * (1 + random.random())

    def _last(self, failed: ServerError, began: float) -> ServerError:
        """Make of the last failure of a request what it means for all others."""
        unreached = isinstance(failed, UnreachableError) and self._succeeded < began
        down = failed.transient and self._breaker.blocked_for() > 0
        if unreached or down:
            failed = DownError(f"{failed.cause}; nothing got through, so is the server up at {self.who}?")
        if failed.fatal and not failed.remembered:
            self.stop(failed)
        return failed

    def stop(self, failed: ServerError) -> None:
        """Send nothing for a while: all requests fail as this one did."""
        rest = self._limits.pause if isinstance(failed, DownError) else _REMEMBERED
        with self._lock:
            self._stopped = (time.monotonic() + rest, failed)
            self._alarm.set()

    def _stop_if_hopeless(self) -> None:
        """Send nothing more where all was found to be in vain a moment ago."""
        with self._lock:
            if self._stopped is None:
                return
            if time.monotonic() < self._stopped[0]:
                again = type(self._stopped[1])(self._stopped[1].cause)
                again.remembered = True
                raise again
            self._stopped = None
            self._alarm.clear()

    def _attempt(self, body: Mapping[str, Any], until: float) -> Answer:
        """Send once, when it is this request's turn."""
        self._stop_if_hopeless()
        with ExitStack() as stack:
            try:
                stack.enter_context(self._gate.passage(until))
            except TimeoutError as error:
                cause = f"the server asked to be left alone for {error} more, which is beyond `patience`"
                raise ThrottledError(cause, self._limits.patience) from error
            self._stop_if_hopeless()
            while blocked := self._breaker.blocked_for():
                if time.monotonic() + blocked > until:
                    raise UnavailableError("it failed too often in a row, and is left alone beyond `patience`")
                self._alarm.wait(blocked)
                self._stop_if_hopeless()
            try:
                answer = answer_of(*self._send(body))
            except ServerError as error:
                # A server that refuses or throttles is up.
                if error.transient and not isinstance(error, ThrottledError):
                    self._breaker.failed(error.cause)
                else:
                    self._breaker.succeeded()
                if isinstance(error, ThrottledError):
                    self._gate.hold(self._limits.wait if error.retry_after is None else error.retry_after)
                raise
            self._breaker.succeeded()
            self._succeeded = time.monotonic()
            return answer

    def _send(self, body: Mapping[str, Any]) -> tuple[str, bytes]:
        """Send one request; return content type and body of its response.

        What fails is told outside of the `except`: the transport's own errors may hold the key.
        """
        import httpx2

        until = time.monotonic() + self._limits.deadline
        sent = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
        failed: ServerError | None = None
        try:
            with self._connections.post(sent) as response:
                headers = response.headers
                if response.is_success:
                    data = self._read(response, until)
                else:
                    failed = self._refusal(response)
        except httpx2.TimeoutException as error:
            failed = self._late(error)
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            failed = UnreachableError(f"there is no connection to {self.who}, or it was reset ({error})")
        if failed is not None:
            raise failed
        # Of what is no reply the start is shown.
        shown = data if b'"choices"' in data else self._hidden(data)
        return headers.get("content-type", ""), shown

    def _read(self, response: Any, until: float) -> bytes:
        """Read all of a body, in time."""
        import httpx2

        blocks: list[bytes] = []
        size = 0
        try:
            # What is there is taken at once, so that a server that drips is stopped by the deadline.
            for block in response.iter_bytes():
                blocks.append(block)
                size += len(block)
                if time.monotonic() > until:
                    raise self._late(None)
                if size > _LARGEST:
                    raise MalformedError(f"the reply is larger than {_LARGEST:,} bytes")
        except httpx2.TimeoutException as error:
            raise self._late(error) from error
        except httpx2.HTTPError as error:
            raise CutError(f"the reply breaks off ({error})") from error
        return b"".join(blocks)

    def _refusal(self, response: Any) -> ServerError:
        """Read what a response says that is no reply."""
        import httpx2

        try:
            told = response.read()
        except httpx2.HTTPError as error:
            return UnavailableError(f"it failed, and the message about it breaks off ({error})")
        return refusal_of(response.status_code, response.headers, self._hidden(told), bool(self._key))

    def _late(self, error: BaseException | None) -> ServerError:
        import httpx2

        if isinstance(error, (httpx2.ConnectTimeout, httpx2.PoolTimeout)):
            return UnreachableError(f"there is no connection to {self.who} in time")
        return LateError(f"there is no whole reply within {self._limits.deadline:g} s")

    def _hidden(self, data: bytes) -> bytes:
        """Take the key out of what may be shown."""
        return data.replace(self._key.encode(), b"***") if len(self._key) >= _HIDDEN else data
