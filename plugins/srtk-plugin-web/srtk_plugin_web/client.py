"""A polite HTTP client: it keeps limits, tries again after failures that may pass, and takes none for an answer."""

from __future__ import annotations

import base64
import logging
import math
import random
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import quote, quote_plus, unquote, urlsplit, urlunsplit

from srtk_framework.values import MASK, DriverError, best_first, note_secrets, part_of_run, redacted, secrets_in
from srtk_plugin_web.breaker import Breaker
from srtk_plugin_web.faults import (
    CircuitOpenError,
    ClosedError,
    RequestError,
    ThrottledError,
)
from srtk_plugin_web.limits import Limits
from srtk_plugin_web.messages import Request, Response
from srtk_plugin_web.rate_limit import Gate, TokenBucket

if TYPE_CHECKING:
    from srtk_plugin_web.transport import Transport

_REMEMBERED = 30.0  # Seconds for which nothing is sent after a fatal error
_SECRET = 8  # A header's value of so many characters is taken out of messages; a shorter one is a word such as ``gzip``
_WORD = 3  # A secret of so few characters is a word that messages have for other reasons

_log = logging.getLogger(__name__)

T = TypeVar("T")


class Client:
    """One server, usable from several threads.

    Args:
        address: An http or https URL; a login in it is sent, and shown to nobody.
        limits: How often to ask, for how long, how much to read.
        user_agent: How the client names itself.
        name: Name of the service, for errors.
        headers: Headers of every request. Their values are shown to nobody.
        secrets: Further texts to take out of messages.
        noun: Subject of a request, for errors: ``query``, ``text``.
        patient: Wait for a server that throttles or whose breaker is open, up to ``limits.patience``. By default each
            answer that throttles is an attempt, and an open breaker an error at once.
        setting: The setting that holds the address, for errors.

    Raises:
        DriverError: If the address is no such URL, or a header cannot be sent.
    """

    def __init__(
        self,
        address: str,
        limits: Limits,
        user_agent: str,
        *,
        name: str = "",
        headers: Mapping[str, str] | None = None,
        secrets: Sequence[str] = (),
        noun: str = "request",
        patient: bool = False,
        setting: str = "endpoint",
    ) -> None:
        place = urlsplit(address)
        if place.scheme not in ("http", "https") or not place.hostname:
            raise DriverError(f"{setting} {redacted(address)!r} is not an http or https URL; correct it")
        place = place._replace(netloc=place.netloc.rpartition("@")[2])
        self.url = urlunsplit(place)
        shown = urlunsplit(place._replace(query="", fragment=""))
        self.service = f"{name} at {shown}" if name else shown
        own = dict(headers or {})
        hidden = [*secrets, *(text for text in secrets_in(own, "headers") if len(text) >= _SECRET)]
        login = urlsplit(address)
        if login.username is not None:
            user, word = unquote(login.username), unquote(login.password or "")
            basic = base64.b64encode(f"{user}:{word}".encode()).decode()
            own.setdefault("Authorization", f"Basic {basic}")
            hidden += [basic, word]
        self._secrets = best_first({text for text in hidden if len(text) > _WORD}, len)
        note_secrets([*hidden, *secrets_in(address)])
        self._headers = _merged({"User-Agent": user_agent, "Accept-Encoding": "gzip, deflate"}, own)
        for title, value in self._headers.items():
            if not (value.isprintable() and _is_latin(value) and title.isascii() and title.isprintable()):
                raise DriverError(f"the header {title!r} has characters that no request can carry; correct it")
        self._limits = limits
        self._noun = noun
        self._patient = patient
        self._alarm = threading.Event()
        rate = limits.rate(self.url)
        part = part_of_run()
        bucket = TokenBucket(rate * part, max(1, int(limits.burst * part))) if rate else None
        self._gate = Gate(max(1, int((limits.at_once or 1) * part)), bucket, self._alarm)
        self._breaker = Breaker(limits.failures, limits.pause)
        self._lock = threading.Lock()
        self._stopped: tuple[float, RequestError] | None = None
        self._transport = _transport(self.url, limits)

    @property
    def is_down(self) -> bool:
        """Return whether the breaker is open."""
        return self._breaker.is_open

    def close(self) -> None:
        """Close the connections; requests that wait end with an error."""
        self.stop(ClosedError("the client is closed; open it again"), math.inf)
        self._transport.close()

    def ask(
        self,
        request: Request,
        read: Callable[[Response], T],
        again: Callable[[RequestError], bool] = lambda error: error.transient,
    ) -> T:
        """Send a request until its answer can be read.

        ``read`` makes the result of a response, whatever its status, or raises a `RequestError`. ``again`` is
        called for each failed attempt, and decides on a further one.
        """
        limits = self._limits
        until = time.monotonic() + limits.patience
        failures = tries = 0
        while True:
            try:
                return self._attempt(request, read, until)
            except RequestError as error:
                failed = error.about(self.service, request.subject, self._noun)
            failures += 1
            tries += not (self._patient and isinstance(failed, ThrottledError))
            wait = self._wait(failures, failed.retry_after)
            more = again(failed) and tries < limits.attempts
            if not more or time.monotonic() + wait > until:
                raise failed
            _log.info("%s: attempt %d failed (%s); waiting %.1f s", self.service, failures, failed.cause, wait)
            self._alarm.wait(wait)

    def send_once(self, request: Request) -> Response:
        """Send a request once, past the limits and the breaker, such as to explain another error better."""
        return self._transport.send(request, _merged(self._headers, request.headers), self._limits.deadline)

    def stop(self, error: RequestError, seconds: float = _REMEMBERED) -> None:
        """Send nothing for some seconds: every request fails with this error."""
        with self._lock:
            self._stopped = (time.monotonic() + seconds, error)
            self._alarm.set()

    def _wait(self, failures: int, asked: float | None) -> float:
        """Return the seconds before the next attempt, with jitter so that requests that failed together part."""
        if asked is not None:
            return asked + random.random() * min(self._limits.wait, self._limits.wait_most)
        growing: float = min(self._limits.wait * 2.0 ** min(failures - 1, 30), self._limits.wait_most)
        return growing * (1 + random.random())

    def _raise_if_stopped(self) -> None:
        with self._lock:
            if self._stopped is None:
                return
            moment, error = self._stopped
            if time.monotonic() < moment:
                again = type(error)(error.cause)
                again.remembered = True
                raise again
            self._stopped = None
            self._alarm.clear()

    def _attempt(self, request: Request, read: Callable[[Response], T], until: float) -> T:
        """Send once, when it is this request's turn."""
        self._raise_if_stopped()
        limits = self._limits
        with ExitStack() as stack:
            try:
                stack.enter_context(self._gate.passage(until))
            except TimeoutError as error:
                cause = f"the server asked to be left alone for {error} more, which is beyond `patience`"
                raise ThrottledError(cause, limits.patience) from error
            self._raise_if_stopped()
            self._pass_breaker(until)
            seconds = min(limits.deadline, until - time.monotonic())
            if seconds <= 0:
                raise ThrottledError(
                    f"no turn came within `patience` of {limits.patience:g} s; raise it, or lower the load"
                )
            try:
                made = read(self._transport.send(request, _merged(self._headers, request.headers), seconds))
            except RequestError as error:
                self._note(error)
                raise
            self._breaker.succeeded()
            return made

    def _pass_breaker(self, until: float) -> None:
        """Wait until the breaker lets a request pass, or raise where waiting is of no use."""
        while blocked := self._breaker.blocked_for():
            if not self._patient or time.monotonic() + blocked > until:
                raise CircuitOpenError(
                    f"it failed {self._limits.failures} times in a row and is left alone for {blocked:.0f} s; the last "
                    f"failure was: {self._breaker.reason}"
                )
            self._alarm.wait(blocked)
            self._raise_if_stopped()

    def _note(self, error: RequestError) -> None:
        """Take secrets out of an error, and remember a fatal error for other requests."""
        error.cause = self._without_secrets(error.cause)
        if error.counted:
            self._breaker.failed(error.cause)
        else:
            # A server that throttles or refuses is up.
            self._breaker.succeeded()
        if isinstance(error, ThrottledError):
            self._gate.hold(self._limits.wait if error.retry_after is None else error.retry_after)
        if error.fatal:
            self.stop(error)

    def _without_secrets(self, text: str) -> str:
        for secret in self._secrets:
            for form in (secret, quote_plus(secret), quote(secret, safe="")):
                text = text.replace(form, MASK)
        return redacted(text)


def _transport(url: str, limits: Limits) -> Transport:
    from srtk_plugin_web.transport import Transport

    return Transport(url, limits.at_once or 1, limits.answer_bytes)


def _merged(first: Mapping[str, str], then: Mapping[str, str]) -> dict[str, str]:
    """Join headers; of equal names, in any case, the later one counts."""
    if not then:
        return dict(first)
    names = {name.lower() for name in then}
    return {name: value for name, value in first.items() if name.lower() not in names} | dict(then)


def _is_latin(text: str) -> bool:
    return all(ord(character) < 256 for character in text)
