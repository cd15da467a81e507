"""Chat requests to one server of the OpenAI protocol, each sent until there is a reply."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import attrs
from srtk_plugin_web import (
    CircuitOpenError,
    Client,
    DeadlineError,
    MalformedError,
    PartialError,
    Request,
    RequestError,
    Response,
    UnreachableError,
)

from srtk_plugin_openai.completions import Completion, completion_of
from srtk_plugin_openai.errors import DownError, SetUpError
from srtk_plugin_openai.http_errors import error_of
from srtk_plugin_openai.limits import ServerLimits

AGENT = "srtk-plugin-openai/0.1 (https://pypi.org/project/srtk-plugin-openai/)"


@attrs.frozen
class Outcome:
    """A reply or error, and the number of replies that were probably written and billed, and did not arrive."""

    answer: Completion | RequestError
    lost: int = 0


class ChatClient:
    """One server, usable from several threads."""

    def __init__(self, base_url: str, key: str, workers: int, limits: ServerLimits) -> None:
        place = urlsplit(base_url)
        if place.scheme not in ("http", "https") or not place.hostname:
            raise SetUpError(f"base_url {base_url!r} is not an http or https URL; correct it")
        if place.username is not None:
            raise SetUpError("base_url holds a login; take it out, and give the secret as `key`")
        key = key.strip()
        if not (key.isascii() and key.isprintable()):
            raise SetUpError("the key has characters that no request can carry; set `key` to the key alone")
        self._keyed = bool(key)
        headers = {"Accept": "application/json", "Content-Type": "application/json"}
        if key:
            headers["Authorization"] = f"Bearer {key}"
        self._pause = limits.pause
        # All but the body of a request is made here, once.
        self._client = Client(
            base_url, limits.with_workers(workers), AGENT, headers=headers, patient=True, setting="base_url"
        )
        self._chats = _below(base_url, "chat/completions")
        self._models = _below(base_url, "models")
        self._succeeded = 0.0

    @property
    def address(self) -> str:
        """The server's address, for errors."""
        return self._client.service

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def ask(self, body: Mapping[str, Any]) -> Outcome:
        """Send a chat until there is a reply, or none can be expected."""
        began = time.monotonic()
        lost = 0

        def again(error: RequestError) -> bool:
            nonlocal lost
            lost += isinstance(error, (DeadlineError, PartialError))
            return error.transient

        sent = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
        try:
            reply = self._client.ask(Request(self._chats, method="POST", body=sent), self._read, again)
        except RequestError as error:
            return Outcome(self._judged(error, began), lost)
        self._succeeded = time.monotonic()
        return Outcome(reply, lost)

    def stop(self, error: RequestError) -> None:
        """Send nothing for a while: every request fails with this error."""
        self._client.stop(error)

    def models(self) -> list[str]:
        """List the names of the server's models, sorted; none where it does not list them."""
        try:
            data = self._client.send_once(Request(self._models)).json()
        except RequestError:  # only for a better message about another error
            return []
        models = data.get("data") if isinstance(data, dict) else None
        named = models if isinstance(models, list) else []
        return sorted(str(model["id"]) for model in named if isinstance(model, dict) and "id" in model)

    def _read(self, response: Response) -> Completion:
        if not 200 <= response.status < 300:
            raise error_of(response, self._keyed)
        try:
            return completion_of(response.headers.get("content-type", ""), response.body)
        except RecursionError as error:
            raise MalformedError("the reply is JSON that is nested too deeply") from error

    def _judged(self, error: RequestError, began: float) -> RequestError:
        """Return the error, or that the server is down where nothing got through to it since ``began``."""
        unreached = isinstance(error, UnreachableError) and self._succeeded < began
        down = isinstance(error, CircuitOpenError) or (error.transient and self._client.is_down)
        if not (unreached or down):
            return error
        gone = DownError(f"{error.cause}; nothing got through, so is the server up at {self.address}?")
        gone.about(error.service, error.asked, error.noun)
        self._client.stop(gone, self._pause)
        return gone


def _below(base_url: str, path: str) -> str:
    """Return an address below the base, with the query of the base."""
    place = urlsplit(base_url)
    return urlunsplit(place._replace(path=f"{place.path.rstrip('/')}/{path}", fragment=""))
