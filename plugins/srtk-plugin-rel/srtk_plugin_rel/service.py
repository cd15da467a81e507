"""Asks a web service that answers in JSON: politely, within limits, never taking a failure for an answer.

A driver makes one ``Service``, and asks it about a batch:

    service = Service("REL", endpoint, Limits(), AGENT)
    answers = service.ask_all([Request(text, body={"text": text}) for text in texts], read)

where ``read`` turns parsed JSON into what the driver wants, and raises ValueError for what is no answer.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote_plus, urlsplit, urlunsplit

import stamina
import urllib3

from srtk_framework.values import DriverError
from srtk_framework.web import Breaker, Gate, TokenBucket
from srtk_plugin_rel.errors import (
    CircuitOpenError,
    DeadlineError,
    MalformedError,
    NotKeptError,
    ServiceError,
    ThrottledError,
    TokenError,
    UnavailableError,
)
from srtk_plugin_rel.keeping import Kept
from srtk_plugin_rel.limits import Limits
from srtk_plugin_rel.replies import Reply, checked, parsed
from srtk_plugin_rel.requests import Credential, Request, key_of, parts

# Each retry is told to the logger of stamina, and shown by programs that set logging up; not to others.
logging.getLogger("stamina").addHandler(logging.NullHandler())

AGENT = "srtk-plugin-rel/0.1 (https://pypi.org/project/srtk-plugin-rel/) python-urllib3"

_CONNECT = 15.0
_BLOCK = 1 << 16
_LARGEST = 1 << 25
_AGAIN = 30.0
"""For so many seconds a text that failed in a batch is not asked about when it is asked for alone."""

T = TypeVar("T")


class Service:
    """One service, usable from several threads.

    Args:
        name: For errors.
        endpoint: An http or https URL; a user name and password in it are sent, and shown to nobody.
        limits: How hard to ask.
        user_agent: How the client calls itself.
        credential: The token, if the service wants one.
        cache: SQLite file for answers, used by later runs.
        days: After so many days an answer in the file is asked for again.
        offline: Answer from the file alone, whatever its age.
    """

    def __init__(
        self,
        name: str,
        endpoint: str,
        limits: Limits,
        user_agent: str = AGENT,
        credential: Credential | None = None,
        cache: Path | None = None,
        days: float = 30.0,
        offline: bool = False,
    ) -> None:
        place = urlsplit(endpoint)
        if place.scheme not in ("http", "https") or not place.hostname:
            raise DriverError(f"endpoint {endpoint!r} is not an http or https URL; correct it")
        if offline and cache is None:
            raise DriverError("offline answers come from a file; name it by `cache`")
        self._url = urlunsplit(place._replace(netloc=place.netloc.rpartition("@")[2]))
        self._who = f"{name} at {self._url.partition('?')[0]}"
        self._limits = limits
        self._credential = credential
        self._offline = offline
        self._headers = {"Accept": "application/json", "User-Agent": user_agent}
        self._headers.update(urllib3.make_headers(accept_encoding=True))
        if place.username is not None:
            self._headers.update(urllib3.make_headers(basic_auth=f"{place.username}:{place.password or ''}"))
        self._gate = Gate(limits.at_once, TokenBucket(limits.per_second, limits.burst) if limits.per_second else None)
        self._breaker = Breaker(limits.failures, limits.pause)
        self._kept = Kept(cache, None if offline else days)
        self._pool = urllib3.PoolManager(num_pools=1, maxsize=limits.at_once, retries=False)
        self._lock = threading.Lock()
        self._refused: tuple[float, TokenError] | None = None
        self._failed: dict[str, tuple[float, ServiceError]] = {}

    def close(self) -> None:
        """Close the connections and the file."""
        self._pool.clear()
        self._kept.close()

    def ask_all(self, requests: Sequence[Request], read: Callable[[Any], T]) -> list[T | ServiceError]:
        """Send requests side by side, each until there is an answer.

        An answer is kept for this run, so that a batch that is asked again in parts sends only what failed;
        and what failed in it is not sent again when it is asked for alone right afterwards, but fails alike.

        Returns:
            Per request what ``read`` made of its answer, or the error that stood in its way.
        """
        if len(requests) == 1:
            with self._lock:
                known = self._failed.pop(self._key(requests[0]), None)
            if known is not None and time.monotonic() - known[0] < _AGAIN:
                return [known[1]]
            return [self._one(requests[0], read)]
        with ThreadPoolExecutor(self._limits.at_once) as pool:
            answers = list(pool.map(lambda request: self._one(request, read), requests))
        now = time.monotonic()
        with self._lock:
            self._failed = {
                self._key(request): (now, answer)
                for request, answer in zip(requests, answers, strict=True)
                if isinstance(answer, ServiceError)
            }
        return answers

    def _one(self, request: Request, read: Callable[[Any], T]) -> T | ServiceError:
        try:
            return self.ask(request, read)
        except ServiceError as error:
            return error

    def ask(self, request: Request, read: Callable[[Any], T]) -> T:
        """Send a request until there is an answer that ``read`` accepts.

        Raises:
            ServiceError: When there is none.
        """
        key = self._key(request)
        kept = self._kept.get(key)
        if kept is not None:
            return self._understood(kept[0], read, request)
        if self._offline:
            raise NotKeptError("the file of `cache` has no answer to this; run once online", self._who, request.text)
        limits = self._limits
        until = time.monotonic() + limits.patience

        def again(error: Exception) -> bool:
            if not isinstance(error, ServiceError) or not error.transient:
                return False
            return time.monotonic() + (error.retry_after or 0.0) < until

        for attempt in stamina.retry_context(
            on=again,
            attempts=limits.attempts,
            timeout=limits.patience,
            wait_initial=limits.wait,
            wait_max=limits.wait_most,
            wait_jitter=limits.wait,
        ):
            with attempt:
                data, made = self._attempt(request, read, until)
                self._kept.put(key, data)
                return made
        raise AssertionError("a retry ends in an answer or an error")

    def _attempt(self, request: Request, read: Callable[[Any], T], until: float) -> tuple[Any, T]:
        """Send once, when it is this request's turn."""
        with ExitStack() as stack:
            try:
                stack.enter_context(self._gate.passage(until))
            except TimeoutError as error:
                cause = f"the service asked to be left alone for {error} more, which is beyond `patience`"
                raise ThrottledError(cause, self._who, request.text, self._limits.patience) from error
            self._stop_if_refused(request)
            blocked = self._breaker.blocked_for()
            if blocked:
                cause = f"it failed {self._limits.failures} times in a row, and is left alone for {blocked:.0f} s"
                raise CircuitOpenError(cause, self._who, request.text)
            try:
                hidden = self._hidden if self._credential else None
                reply = checked(self._send(request), self._who, request.text, hidden)
                data = parsed(reply, self._who, request.text, hidden)
                made = self._understood(data, read, request)
            except ServiceError as error:
                self._note(error)
                raise
            self._breaker.succeeded()
            return data, made

    def _understood(self, data: Any, read: Callable[[Any], T], request: Request) -> T:
        try:
            return read(data)
        except ValueError as error:
            cause = f"the answer is not understood: {self._hidden(str(error))}"
            raise MalformedError(cause, self._who, request.text) from error

    def _note(self, error: ServiceError) -> None:
        """Remember what a failure means for other requests."""
        if error.transient:
            self._breaker.failed(error.cause)
        else:
            self._breaker.succeeded()
        if isinstance(error, ThrottledError):
            self._gate.hold(self._limits.wait if error.retry_after is None else error.retry_after)
        if isinstance(error, TokenError):
            with self._lock:
                self._refused = (time.monotonic() + self._limits.pause, error)

    def _stop_if_refused(self, request: Request) -> None:
        """Send nothing more with a token that was refused a moment ago."""
        with self._lock:
            refused = self._refused
        if refused is not None and time.monotonic() < refused[0]:
            raise TokenError(refused[1].cause, self._who, request.text)

    def _send(self, request: Request) -> Reply:
        """Send one request and read all of its response."""
        until = time.monotonic() + self._limits.deadline
        try:
            response = self._pool.request(
                **parts(request, self._url, self._headers, self._credential),
                timeout=urllib3.Timeout(connect=min(_CONNECT, self._limits.deadline), read=self._limits.deadline),
                preload_content=False,
                redirect=False,
            )
        except urllib3.exceptions.ReadTimeoutError as error:
            raise self._late(request) from error
        except urllib3.exceptions.HTTPError as error:
            cause = f"no connection, or it was reset ({self._hidden(str(error))}); is the service up?"
            raise UnavailableError(cause, self._who, request.text) from error
        try:
            body = b"".join(self._blocks(response, until, request))
        except urllib3.exceptions.ReadTimeoutError as error:
            response.close()
            raise self._late(request) from error
        except urllib3.exceptions.HTTPError as error:
            response.close()
            raise MalformedError(f"the answer breaks off ({error})", self._who, request.text) from error
        response.release_conn()
        return Reply(response.status, {name.lower(): value for name, value in response.headers.items()}, body)

    def _blocks(self, response: urllib3.BaseHTTPResponse, until: float, request: Request) -> Iterator[bytes]:
        size = 0
        # What is there is taken at once, so that a service that drips is stopped by the deadline.
        while block := response.read1(_BLOCK):
            size += len(block)
            if time.monotonic() > until:
                response.close()
                raise self._late(request)
            if size > _LARGEST:
                response.close()
                raise MalformedError(f"the answer is larger than {_LARGEST:,} bytes", self._who, request.text)
            yield block

    def _late(self, request: Request) -> DeadlineError:
        return DeadlineError(f"no whole answer within {self._limits.deadline:g} s", self._who, request.text)

    def _hidden(self, text: str) -> str:
        """Take the token out of a text that is to be shown."""
        token = self._credential.value if self._credential else ""
        return text.replace(token, "***").replace(quote_plus(token), "***") if token else text

    def _key(self, request: Request) -> str:
        return key_of(request, self._url)


__all__ = ["AGENT", "Credential", "Limits", "Request", "Service", "ServiceError"]
