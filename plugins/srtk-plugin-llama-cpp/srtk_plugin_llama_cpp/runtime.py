"""llama.cpp in this process: a model in memory that answers chats, and its port on loopback, which counts tokens."""

from __future__ import annotations

import http.client
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from srtk_framework.values import DriverError

_TIMEOUT = 60.0  # Seconds that a request to the port may take
ALL_LAYERS = -1


def start(
    path: Path,
    context: int | None,
    slots: int = 1,
    threads: int | None = None,
    layers: int | None = None,
    key: str = "",
) -> Any:
    """Load a model and start a server, in this process and at ``listening_address``; it stops when it is deleted.

    ``context`` is the maximum number of tokens of a prompt and its reply, by default the length of the model's
    training; ``slots`` prompts are processed at once. Requests at the address need the key, if any.
    """
    try:
        import xllamacpp  # type: ignore[import-untyped]
    except ImportError as error:
        raise DriverError(f"llama.cpp cannot be loaded ({error}); pip install xllamacpp") from error
    settings = xllamacpp.CommonParams()
    settings.model.path = str(path)
    settings.n_ctx = (context or 0) * slots
    settings.n_parallel = slots
    settings.n_gpu_layers = ALL_LAYERS if layers is None else layers
    if threads is not None:
        settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = threads
    if key:
        settings.api_keys = [key]
    settings.fit_params = False  # otherwise llama.cpp may change the settings to fit the memory
    settings.verbosity = 0
    settings.warmup = settings.ui = settings.endpoint_slots = False
    # A cached prompt would change the last bits of the next one.
    settings.cache_prompt = False
    settings.cache_ram_mib = 0
    try:
        server = xllamacpp.Server(settings)
    except RuntimeError as error:
        raise DriverError(
            f"llama.cpp cannot load {path.name} ({error}); the file may be broken, of an unknown architecture, or"
            " too large for the memory: try a smaller `context`"
        ) from error
    # Its loop must run before the server is deleted: a stop before the start is lost, and deleting would never return.
    server.handle_completions({"prompt": "a", "n_predict": 1})
    return server


def chat(server: Any, body: Mapping[str, Any]) -> dict[str, Any]:
    """Request one chat completion; an error has the key ``error`` instead of ``choices``."""
    completion: dict[str, Any] = server.handle_chat_completions(dict(body))
    return completion


class Tokenizer:
    """Token counter at a server's address on loopback, the only interface through which llama.cpp tokenizes."""

    def __init__(self, address: str, key: str) -> None:
        url = urlsplit(address)
        self._connection = http.client.HTTPConnection(url.hostname or "", url.port, timeout=_TIMEOUT)
        self._headers = {"Content-Type": "application/json", "Authorization": f"Bearer {key}"}

    def count(self, text: str) -> int:
        """Return the number of tokens of a text, without those that the model puts around every text."""
        body = json.dumps({"content": text}).encode()
        try:
            status, content = self._post(body)
        except (ConnectionError, http.client.HTTPException):
            # The server closes a connection that was idle for some seconds.
            self._connection.close()
            status, content = self._post(body)
        if status != http.client.OK:
            raise DriverError(f"llama.cpp does not count tokens ({status}: {content[:200]!r}); update xllamacpp")
        return len(json.loads(content)["tokens"])

    def _post(self, body: bytes) -> tuple[int, bytes]:
        self._connection.request("POST", "/tokenize", body, self._headers)
        response = self._connection.getresponse()
        return response.status, response.read()

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()
