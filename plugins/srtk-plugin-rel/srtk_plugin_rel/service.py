"""One web service that answers in JSON, asked about batches of texts.

A driver makes one ``Service``, and asks it about a batch:

    service = Service("REL", endpoint, Limits(), AGENT)
    answers = service.ask_all([ServiceRequest(text, body={"text": text}) for text in texts], read)

where ``read`` turns parsed JSON into the driver's own answer, or raises ValueError.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypeVar
from urllib.parse import urlencode

import attrs
from srtk_plugin_web import (
    Cache,
    Client,
    CredentialError,
    Limits,
    MalformedError,
    NotCachedError,
    RefusedError,
    Request,
    RequestError,
    Response,
    checked,
)

from srtk_framework.values import DriverError

AGENT = "srtk-plugin-rel/0.1 (https://pypi.org/project/srtk-plugin-rel/) python-urllib3"

_AGAIN = 30.0  # For so many seconds a text that failed in a batch fails again at once when it is asked about alone

T = TypeVar("T")


@attrs.frozen
class ServiceRequest:
    """A request about one text, a POST with a form or JSON in its body; the service adds the credential."""

    text: str
    query: tuple[tuple[str, str], ...] = ()
    form: tuple[tuple[str, str], ...] | None = None
    body: Any = None


@attrs.frozen
class Credential:
    """A token and the place where the service wants it.

    Attributes:
        where: ``header``, ``query`` or ``form``.
        name: Name of the header or parameter.
        value: The token, shown to nobody.
    """

    where: Literal["header", "query", "form"]
    name: str
    value: str = attrs.field(repr=False)


class Service:
    """One service, usable from several threads.

    A login in the endpoint is sent, and shown to nobody. Answers in the file ``cache`` serve later runs for so many
    ``days``; with ``offline``, they are used alone and at any age.
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
        if offline and cache is None:
            raise DriverError("offline answers come from a file; name it by `cache`")
        headers = {"Accept": "application/json"}
        if credential is not None and credential.where == "header":
            headers[credential.name] = credential.value
        secrets = [credential.value] if credential else []
        self._client = Client(endpoint, limits, user_agent, name=name, headers=headers, secrets=secrets, noun="text")
        self._credential = credential
        self._offline = offline
        self._workers = limits.at_once or 1
        self._cache = Cache(cache, "rel", days=None if offline else days)
        self._lock = threading.Lock()
        self._failed: dict[str, tuple[float, RequestError]] = {}

    def close(self) -> None:
        """Close the connections and the file."""
        self._client.close()
        self._cache.close()

    def ask_all(self, requests: Sequence[ServiceRequest], read: Callable[[Any], T]) -> list[T | RequestError]:
        """Send requests side by side, each until there is an answer; return the results of ``read``, or errors.

        Answers are kept for this run, so that a batch that is asked again in parts sends only the requests that
        failed. Such a request is not sent again when it is asked alone right afterwards; it fails with the same
        error.
        """
        if len(requests) == 1:
            with self._lock:
                known = self._failed.pop(self._key(requests[0]), None)
            if known is not None and time.monotonic() - known[0] < _AGAIN:
                return [known[1]]
            return [self._one(requests[0], read)]
        with ThreadPoolExecutor(self._workers) as pool:
            answers = list(pool.map(lambda request: self._one(request, read), requests))
        now = time.monotonic()
        with self._lock:
            self._failed = {
                self._key(request): (now, answer)
                for request, answer in zip(requests, answers, strict=True)
                if isinstance(answer, RequestError)
            }
        return answers

    def _one(self, request: ServiceRequest, read: Callable[[Any], T]) -> T | RequestError:
        try:
            return self.ask(request, read)
        except RequestError as error:
            return error

    def ask(self, request: ServiceRequest, read: Callable[[Any], T]) -> T:
        """Send a request until there is an answer that ``read`` accepts."""
        key = self._key(request)
        kept = self._cache.get(key)
        if kept is not None:
            try:
                return _understood(kept, read)
            except MalformedError as error:
                raise error.about(self._client.service, request.text, "text") from error.__cause__
        if self._offline:
            missing = NotCachedError("the file of `cache` has no answer to this; run once online")
            raise missing.about(self._client.service, request.text, "text")
        data, made = self._client.ask(self._message(request), partial(self._read, request, read))
        self._cache.put(key, data)
        return made

    def _read(self, request: ServiceRequest, read: Callable[[Any], T], response: Response) -> tuple[Any, T]:
        """Return the JSON of a response, and the result of ``read``."""
        status = response.status
        if status in (401, 403):
            what = "refuses the token" if self._credential else "wants a token, and no token is set"
            says = f" and says: {response.start()}" if response.body.strip() else ""
            raise CredentialError(f"it {what} ({status}){says}; set `token` to a valid one, such as {{env: NAME}}")
        if status in (413, 414):
            raise RefusedError(
                f"the text of {len(request.text):,} characters is too long for it ({status}); shorten it"
            )
        data = checked(response).json()
        return data, _understood(data, read)

    def _message(self, request: ServiceRequest) -> Request:
        """Write a request, with the token in its place."""
        token = self._credential
        headers: dict[str, str] = {}
        query, form, body = list(request.query), request.form, None
        if token is not None and token.where == "query":
            query.append((token.name, token.value))
        elif token is not None and token.where == "form":
            form = (*(form or ()), (token.name, token.value))
        if form is not None:
            headers["Content-Type"] = "application/x-www-form-urlencoded; charset=utf-8"
            body = urlencode(form).encode()
        elif request.body is not None:
            headers["Content-Type"] = "application/json"
            body = json.dumps(request.body, ensure_ascii=False).encode()
        url = self._client.url
        whole = f"{url}{'&' if '?' in url else '?'}{urlencode(query)}" if query else url
        return Request(whole, request.text, "GET" if body is None else "POST", headers, body)

    def _key(self, request: ServiceRequest) -> str:
        """Name the question, whoever asks."""
        return json.dumps([self._client.url, request.query, request.form, request.body], sort_keys=True)


def _understood(data: Any, read: Callable[[Any], T]) -> T:
    try:
        return read(data)
    except ValueError as error:
        raise MalformedError(f"the answer is not understood: {error}") from error
