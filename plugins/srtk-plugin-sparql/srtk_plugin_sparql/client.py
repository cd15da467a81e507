"""Asks a SPARQL endpoint over HTTP: politely, within limits, and never taking a failure for an answer."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from typing import cast
from urllib.parse import urlsplit, urlunsplit

import stamina
import urllib3
from SPARQLWrapper import JSON, POST, SPARQLWrapper

from srtk_framework.values import DriverError
from srtk_framework.web import Breaker, Gate, TokenBucket
from srtk_plugin_sparql import answers
from srtk_plugin_sparql.answers import Reply, Rows
from srtk_plugin_sparql.errors import (
    CircuitOpenError,
    DeadlineError,
    PartialError,
    QueryError,
    RefusedError,
    ThrottledError,
    UnavailableError,
)
from srtk_plugin_sparql.limits import Limits
from srtk_plugin_sparql.profiles import PROFILES, profile

# Each retry is told to the logger of stamina, and shown by programs that set logging up; not to others.
logging.getLogger("stamina").addHandler(logging.NullHandler())

_CONNECT = 15.0
_BLOCK = 1 << 16


class Client:
    """One endpoint, usable from several threads.

    Args:
        endpoint: An http or https URL; a user name and password in it are sent, and shown to nobody.
        engine: Name of a profile.
        limits: How hard to ask; what is None there comes from the profile.
        user_agent: How the client calls itself.
        headers: Further HTTP headers.
    """

    def __init__(
        self, endpoint: str, engine: str, limits: Limits, user_agent: str, headers: Mapping[str, str] | None = None
    ) -> None:
        parts = urlsplit(endpoint)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise DriverError(f"endpoint {endpoint!r} is not an http or https URL; correct it")
        self._profile = profile(engine)
        self._limits = limits
        self._url = urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))
        self._agent = user_agent
        self._headers = dict(headers or {})
        if parts.username is not None:
            login = f"{parts.username}:{parts.password or ''}"
            self._headers.update(urllib3.make_headers(basic_auth=login))
        self._cap = limits.rows or self._profile.rows
        self._auto = engine == "auto" and limits.rows is None
        at_once = limits.at_once or self._profile.at_once
        rate = limits.per_second or self._profile.per_second
        self._gate = Gate(at_once, TokenBucket(rate, limits.burst) if rate else None)
        self._breaker = Breaker(limits.failures, limits.pause)
        self._pool = urllib3.PoolManager(num_pools=1, maxsize=at_once, retries=False)

    @property
    def endpoint(self) -> str:
        """The URL, without user name and password."""
        return self._url

    def close(self) -> None:
        """Close the connections."""
        self._pool.clear()

    def select(self, query: str, divisible: bool, fresh: bool = False) -> Rows:
        """Ask a SELECT query until there is a whole answer.

        Args:
            query: The query.
            divisible: The caller can ask for less, so that a query that takes too long is not asked again.
            fresh: Only there for sources that keep answers.

        Raises:
            QueryError: When there is none.
        """
        limits = self._limits
        until = time.monotonic() + limits.patience

        def again(error: Exception) -> bool:
            if not isinstance(error, QueryError) or not error.transient:
                return False
            if divisible and isinstance(error, DeadlineError):
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
                return self._attempt(query, until)
        raise AssertionError("a retry ends in an answer or an error")

    def _attempt(self, query: str, until: float) -> Rows:
        """Ask once, when it is this query's turn."""
        with ExitStack() as stack:
            try:
                stack.enter_context(self._gate.passage(until))
            except TimeoutError as error:
                raise ThrottledError(
                    f"the server asked to be left alone for {error} more, which is beyond `patience`",
                    self._url,
                    query,
                    self._limits.patience,
                ) from error
            blocked = self._breaker.blocked_for()
            if blocked:
                cause = f"it failed {self._limits.failures} times in a row, and is left alone for {blocked:.0f} s"
                raise CircuitOpenError(cause, self._url, query)
            try:
                rows = self._read(self._send(query), query)
            except QueryError as error:
                # Who is refused, say for a wrong token, is refused the next time as well.
                if error.transient or isinstance(error, RefusedError):
                    self._breaker.failed(error.cause)
                else:
                    self._breaker.succeeded()
                if isinstance(error, ThrottledError):
                    self._gate.hold(self._limits.wait if error.retry_after is None else error.retry_after)
                raise
            self._breaker.succeeded()
            return rows

    def _read(self, reply: Reply, query: str) -> Rows:
        """Read a reply; the server's name may tell its cap."""
        if self._cap is None and self._auto and reply.headers.get("server", "").lower().startswith("virtuoso"):
            self._cap = PROFILES["virtuoso"].rows
        return answers.read(reply, self._cap, self._profile.broken, self._url, query)

    def _send(self, query: str) -> Reply:
        """Send one request and read all of its response."""
        wrapper = SPARQLWrapper(self._url, agent=self._agent)
        wrapper.setMethod(POST)
        wrapper.setReturnFormat(JSON)
        wrapper.setOnlyConneg(True)
        wrapper.setQuery(query)
        request = wrapper._createRequest()
        return self._transfer(query, "POST", self._url, dict(request.header_items()), cast(bytes, request.data))

    def _transfer(
        self, query: str, method: str, url: str, headers: Mapping[str, str], body: bytes | None = None
    ) -> Reply:
        """Send one HTTP request and read all of its response; ``query`` is named by errors."""
        until = time.monotonic() + self._limits.deadline
        try:
            response = self._pool.request(
                method,
                url,
                body=body,
                headers={**urllib3.make_headers(accept_encoding=True), **headers, **self._headers},
                timeout=urllib3.Timeout(connect=min(_CONNECT, self._limits.deadline), read=self._limits.deadline),
                preload_content=False,
                redirect=False,
            )
        except urllib3.exceptions.ReadTimeoutError as error:
            raise self._late(query) from error
        except urllib3.exceptions.SSLError as error:
            raise RefusedError(f"no secure connection ({error})", self._url, query) from error
        except urllib3.exceptions.HTTPError as error:
            raise UnavailableError(f"no connection, or it was reset ({error})", self._url, query) from error
        try:
            content = b"".join(self._blocks(response, until, query))
        except urllib3.exceptions.ReadTimeoutError as error:
            response.close()
            raise self._late(query) from error
        except urllib3.exceptions.HTTPError as error:
            response.close()
            raise PartialError(f"the answer breaks off ({error})", self._url, query) from error
        response.release_conn()
        return Reply(response.status, {name.lower(): value for name, value in response.headers.items()}, content)

    def _blocks(self, response: urllib3.BaseHTTPResponse, until: float, query: str) -> Iterator[bytes]:
        for block in response.stream(_BLOCK):
            if time.monotonic() > until:
                response.close()
                raise self._late(query)
            yield block

    def _late(self, query: str) -> DeadlineError:
        return DeadlineError(f"no whole answer within {self._limits.deadline:g} s", self._url, query)
