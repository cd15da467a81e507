"""Sends bodies over connections of the openai client, one for each request in flight."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

AGENT = "srtk-plugin-openai/0.1 (https://pypi.org/project/srtk-plugin-openai/)"

_CONNECT = 15.0


class Connections:
    """The openai client's address, headers and transport, without its way of building a request.

    Building the request anew for each call takes the client more time than sending it, which keeps many requests from
    being in flight; here all of a request but its body is made once. And a pool that is shared looks through all of
    its connections for each request, so every request in flight has one of its own.

    Args:
        base_url: Address of the server, up to ``/v1``.
        key: Its key; empty for none.
        deadline: Seconds for each step of a request.
    """

    def __init__(self, base_url: str, key: str, deadline: float) -> None:
        import httpx2
        import openai

        omit: Any = openai.Omit()
        # What the environment says about OpenAI's own service is not for other servers: the recipe alone decides.
        unsent = dict.fromkeys(("OpenAI-Organization", "OpenAI-Project"), omit)
        self._timeout = openai.Timeout(deadline, connect=min(_CONNECT, deadline))
        self._trusted = httpx2.create_ssl_context()
        self._unkeyed: dict[str, Any] = {} if key else {"Authorization": omit}
        self._client = openai.OpenAI(
            api_key=key or "none",
            base_url=base_url,
            timeout=self._timeout,
            max_retries=0,
            default_headers={"User-Agent": AGENT, **unsent},
            http_client=self._connection(),
        )
        headers = {name: value for name, value in self._client.default_headers.items() if isinstance(value, str)}
        self._headers = httpx2.Headers(headers | (self._client.auth_headers if key else {}))
        address = httpx2.URL(base_url)
        self._url = address.copy_with(path=address.path.rstrip("/") + "/chat/completions")
        self._lock = threading.Lock()
        self._idle: list[Any] = []
        self._all: list[Any] = []
        self._closed = False

    def close(self) -> None:
        """Close all connections."""
        with self._lock:
            self._closed = True
            every, self._all, self._idle = self._all, [], []
        for connection in every:
            connection.close()
        self._client.close()

    def models(self) -> list[str]:
        """List the names of the server's models, sorted.

        Raises:
            openai.OpenAIError: If it does not tell.
        """
        told = self._client.models.list(extra_headers=self._unkeyed)
        return sorted(model.id for model in told.data or ())

    @contextmanager
    def post(self, body: bytes) -> Iterator[Any]:
        """Send a chat; yield the response, whose body is still to be read.

        Args:
            body: JSON.

        Raises:
            httpx2.HTTPError: If there is no response.
        """
        with self._lock:
            connection = self._idle.pop() if self._idle else None
        if connection is None:
            connection = self._connection()
            with self._lock:
                self._all.append(connection)
        try:
            request = connection.build_request("POST", self._url, content=body, headers=self._headers)
            response = connection.send(request, stream=True)
            try:
                yield response
            finally:
                response.close()
        finally:
            with self._lock:
                closed = self._closed
                if not closed:
                    self._idle.append(connection)
            if closed:
                connection.close()

    def _connection(self) -> Any:
        import openai

        return openai.DefaultHttpxClient(verify=self._trusted, timeout=self._timeout)
