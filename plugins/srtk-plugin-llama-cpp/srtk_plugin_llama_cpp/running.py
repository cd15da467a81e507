"""Run llama.cpp in this process: a model in memory that takes chats, and a port on loopback."""

from __future__ import annotations

import http.client
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from srtk_framework.values import DriverError

_PATIENCE = 60.0
ALL_LAYERS = -1


def start(
    path: Path,
    context: int | None,
    slots: int = 1,
    threads: int | None = None,
    layers: int | None = None,
    key: str = "",
) -> Any:
    """Load a model and begin to take chats, in process and at ``listening_address``; it ends when it is let go.

    Args:
        path: GGUF file.
        context: Most tokens of a prompt and its reply; None for what the model was trained with.
        slots: Prompts worked on at once.
        threads: Of the processor; None for what llama.cpp finds best.
        layers: On a GPU; None for all.
        key: That requests at the address must have; empty for none.

    Raises:
        DriverError: If xllamacpp is not installed or cannot load the model.
    """
    try:
        import xllamacpp
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
    settings.fit_params = False  # it would take other settings than those asked for
    settings.verbosity = 0
    settings.warmup = settings.ui = settings.endpoint_slots = False
    # What is kept of one prompt would decide the last bits of the next.
    settings.cache_prompt = False
    settings.cache_ram_mib = 0
    try:
        server = xllamacpp.Server(settings)
    except RuntimeError as error:
        raise DriverError(
            f"llama.cpp cannot load {path.name} ({error}); the file may be broken, of a kind that this version does not"
            " know, or too large for the memory: try a smaller `context`"
        ) from error
    # Its loop must run before it is let go: an end that comes before the begin is lost, and waited for in vain.
    server.handle_completions({"prompt": "a", "n_predict": 1})
    return server


def chat(server: Any, body: Mapping[str, Any]) -> dict[str, Any]:
    """Ask for one reply; an error has the key ``error`` in the place of ``choices``."""
    told: dict[str, Any] = server.handle_chat_completions(dict(body))
    return told


class Tokenizer:
    """Counts tokens at a server's address on loopback, the one place where llama.cpp tells them.

    Args:
        address: Of the server.
        key: Of its requests.
    """

    def __init__(self, address: str, key: str) -> None:
        place = urlsplit(address)
        self._connection = http.client.HTTPConnection(place.hostname or "", place.port, timeout=_PATIENCE)
        self._headers = {"Content-Type": "application/json", "Authorization": f"Bearer {key}"}

    def count(self, text: str) -> int:
        """Count the tokens of a text, without those around every text."""
        body = json.dumps({"content": text}).encode()
        try:
            status, told = self._post(body)
        except (ConnectionError, http.client.HTTPException):
            # The server hangs up on a connection that was idle for some seconds.
            self._connection.close()
            status, told = self._post(body)
        if status != http.client.OK:
            raise DriverError(f"llama.cpp does not count tokens ({status}: {told[:200]!r}); update xllamacpp")
        return len(json.loads(told)["tokens"])

    def _post(self, body: bytes) -> tuple[int, bytes]:
        self._connection.request("POST", "/tokenize", body, self._headers)
        answer = self._connection.getresponse()
        return answer.status, answer.read()

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()
