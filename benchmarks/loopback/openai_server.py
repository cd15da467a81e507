"""A server on loopback that speaks the OpenAI chat protocol, answers by a rule, with planned faults.

In one process with its client: `with serve(rule, latency=0.05) as server: ... server.url ...`. As a process of its
own, so that both have a core: `with process("--latency", "0.05") as url: ...`, or on the command line

    python -m benchmarks.loopback.openai_server --latency 0.05 --fault-share 0.2 --rule package.module:function
"""

from __future__ import annotations

import argparse
import importlib
import json
import math
import random
import socket
import struct
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.loopback.openai_forms import (
    FAULTS,
    PERMANENT,
    UNUSUAL,
    Rule,
    body_of,
    events_of,
    instance,
    plain,
    said,
    tokens_of,
)
from benchmarks.loopback.serving import running

__all__ = [
    "FAULTS",
    "PERMANENT",
    "UNUSUAL",
    "Rule",
    "Seen",
    "Server",
    "instance",
    "plain",
    "process",
    "said",
    "serve",
    "tokens_of",
]


class Seen(NamedTuple):
    """One request: moment of the monotonic clock, path, headers in small letters, body, fault that it got."""

    at: float
    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]
    fault: str | None


class Handler(BaseHTTPRequestHandler):
    """Reads one request after the other from a connection, and answers each by the rule of the server."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1
    server: Server

    def log_message(self, *_: Any) -> None:
        """Suppress the log."""

    def do_GET(self) -> None:
        """List the models."""
        data = [{"id": name, "object": "model", "created": 0, "owned_by": "here"} for name in self.server.models]
        found = self.path == "/v1/models"
        self._json(200, {"object": "list", "data": data}) if found else self._refuse(404, "Not found", None, None)

    def do_POST(self) -> None:
        """Answer a chat."""
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        headers = {name.lower(): value for name, value in self.headers.items()}
        server = self.server
        with server.lock:
            server.flying += 1
            server.most = max(server.most, server.flying)
        try:
            fault = server.draw(body, self.path, headers)
            time.sleep(server.latency)
            if not self._refused(body, headers, fault):
                self._answer(body, fault)
        finally:
            with server.lock:
                server.flying -= 1

    def _refused(self, body: Mapping[str, Any], headers: Mapping[str, str], fault: str | None) -> bool:
        server, sent = self.server, headers.get("authorization", "").removeprefix("Bearer ")
        tokens = sum(len(tokens_of(str(message["content"]))) for message in body["messages"])
        form = (body.get("response_format") or {}).get("type")
        foreign = next((name for name in server.refuses if name in body), None)
        if self.path != "/v1/chat/completions":
            self._refuse(404, f"Invalid URL (POST {self.path})", None, None)
        elif server.key and sent != server.key:
            self._refuse(401, f"Incorrect API key provided: {sent}", "invalid_api_key", None)
        elif body["model"] not in server.models:
            self._refuse(404, f"The model `{body['model']}` does not exist", "model_not_found", "model")
        elif foreign is not None:
            other = " Use 'max_completion_tokens' instead." if foreign == "max_tokens" else ""
            message = f"Unsupported parameter: '{foreign}' is not supported with this model.{other}"
            self._refuse(400, message, "unsupported_parameter", foreign)
        elif form is not None and form not in server.forms:
            message = f"response_format type {form} is not supported by this server"
            self._refuse(400, message, None, "response_format")
        elif server.context is not None and tokens > server.context:
            message = f"This model's maximum context length is {server.context} tokens, your messages have {tokens}"
            self._refuse(400, message, "context_length_exceeded", "messages")
        elif fault is not None and fault in PERMANENT:
            status, message, code, param = PERMANENT[fault]
            self._refuse(status, message.format(key=sent, tokens=tokens), code, param)
        elif fault == "500, cut midway":
            self._send(500, "application/json", b'{"error": {"mess', {"Content-Length": "100"})
            self.close_connection = True
        elif fault is not None and fault.startswith(("429", "500", "503")):
            seconds = server.retry_after
            moment = format_datetime(datetime.now(UTC) + timedelta(seconds=math.ceil(seconds)), usegmt=True)
            headers = {"Retry-After": {"Retry-After": f"{seconds:g}"}, "date": {"Retry-After": moment},
                       "ms": {"retry-after-ms": f"{seconds * 1000:g}"}}  # fmt: skip
            self._refuse(int(fault[:3]), "try again", None, None, headers.get(fault.partition(", ")[2], {}))
        elif fault == "reset":
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.close_connection = True
            self.connection.close()
        else:
            return False
        return True

    def _answer(self, body: Mapping[str, Any], fault: str | None) -> None:
        server = self.server
        if fault == "HTML under 200":
            return self._send(
                200, "text/html; charset=utf-8", f"<html><body>Please wait {server.echo}</body></html>".encode()
            )
        if fault == "empty 200":
            return self._send(200, "application/json", b"")
        if fault == "error under 200":
            return self._json(200, {"error": {"message": f"Provider returned error {server.echo}", "code": 502}})
        if fault == "no choices":
            return self._json(200, {"id": "chat-0", "object": "chat.completion", "created": 0, "model": body["model"],
                                    "choices": [], "usage": None})  # fmt: skip
        text = server.rule(body)
        pieces = tokens_of(text)
        longest = 1 if fault == "cut at length" else body.get("max_completion_tokens", body.get("max_tokens"))
        reason = "length" if longest is not None and len(pieces) > longest else "stop"
        pieces = pieces[:longest]
        tokens = sum(3 + len(tokens_of(str(message["content"]))) for message in body["messages"])
        server.bill(tokens, len(pieces))
        counts = {"prompt_tokens": tokens, "completion_tokens": len(pieces), "total_tokens": tokens + len(pieces)}
        usage = counts if server.usage else None
        silent = fault in ("null content", "refusal")
        refusal = "I will not" if fault == "refusal" else None
        if fault == "stall":
            time.sleep(server.stall)
        if body.get("stream"):
            usage = usage if (body.get("stream_options") or {}).get("include_usage") else None
            kept = self._stream(events_of(body["model"], [] if silent else pieces, reason, usage, refusal), fault)
        else:
            content = None if silent else "".join(pieces)
            whole = body_of(body["model"], content, reason, usage, refusal, self._logprobs(body))
            kept = self._whole(json.dumps(whole).encode(), fault)
        if kept and not silent and fault != "stall":
            with server.lock:
                server.answered[said(body)] += 1
        return None

    def _logprobs(self, body: Mapping[str, Any]) -> dict[str, Any] | None:
        if not body.get("logprobs") or self.server.logprobs is None:
            return None
        ranked = sorted(self.server.logprobs(body).items(), key=lambda pair: (-pair[1], pair[0]))
        ranked = ranked[: body.get("top_logprobs", 0)]
        top = [{"token": token, "logprob": value, "bytes": None} for token, value in ranked]
        return {"content": [{**top[0], "top_logprobs": top}], "refusal": None}

    def _whole(self, data: bytes, fault: str | None) -> bool:
        """Send an answer in one piece, as far as the fault allows; return whether it is complete."""
        if fault == "JSON cut midway":
            self._send(200, "application/json", data[: len(data) * 2 // 3])
        elif fault == "connection ends midway":
            self._send(200, "application/json", data[: len(data) // 2], {"Content-Length": str(len(data))})
            self.close_connection = True
        elif fault == "drip":
            self._head(200, "application/json", {"Content-Length": str(len(data))})
            self._drip(bytes([byte]) for byte in data)
        else:
            self._send(200, "application/json", data)
            return True
        return False

    def _stream(self, events: Sequence[bytes], fault: str | None) -> bool:
        """Send an answer as server-sent events; return whether it is complete."""
        self._head(200, "text/event-stream", {"Transfer-Encoding": "chunked"})
        middle = b"".join(events[: 2 + (len(events) - 2) // 2])
        if fault == "drip":
            self._drip(_chunk(bytes([byte])) for byte in b"".join(events))
        elif fault == "JSON cut midway":
            self.wfile.write(_chunk(middle[:-20]) + b"0\r\n\r\n")
        elif fault == "connection ends midway":
            self.wfile.write(_chunk(middle))
            self.close_connection = True
        else:
            self.wfile.write(_chunk(b"".join(events)) + b"0\r\n\r\n")
            return True
        return False

    def _drip(self, parts: Iterator[bytes]) -> None:
        for part in parts:
            self.wfile.write(part)
            self.wfile.flush()
            time.sleep(self.server.stall / 20)

    def _refuse(
        self, status: int, message: str, code: str | None, param: str | None, more: Mapping[str, str] | None = None
    ) -> None:
        kind = "invalid_request_error" if status < 500 else "server_error"
        self._json(status, {"error": {"message": message, "type": kind, "param": param, "code": code}}, more)

    def _json(self, status: int, data: Any, more: Mapping[str, str] | None = None) -> None:
        self._send(status, "application/json", json.dumps(data).encode(), more)

    def _send(self, status: int, kind: str, body: bytes, more: Mapping[str, str] | None = None) -> None:
        self._head(status, kind, {"Content-Length": str(len(body)), **(more or {})})
        self.wfile.write(body)

    def _head(self, status: int, kind: str, more: Mapping[str, str]) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": kind, **more}.items():
            self.send_header(name, value)
        self.end_headers()


def _chunk(data: bytes) -> bytes:
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


class Server(ThreadingHTTPServer):
    """Answers ``POST /v1/chat/completions`` and ``GET /v1/models``.

    Args:
        rule: Function from request to reply.
        latency: Seconds from a request to its reply.
        key: Required API key; empty for none.
        models: Names of its models; any other name gets a 404.
        plan: Faults of the next requests, in order of arrival; None for an ordinary answer. May be changed at any time.
        bad: Word to fault: every prompt with the word gets the fault.
        share: Share of requests that get a random fault, by the weights of ``faults``.
        faults: Names and weights.
        seed: Random seed of requests and faults.
        stall: Seconds that a stalled answer takes.
        retry_after: Value of `Retry-After`, in seconds.
        context: Maximum number of tokens of a prompt; None for no limit.
        forms: Accepted ``response_format`` types.
        logprobs: Whether it gives log-probabilities; a number rates the options, a function of (body, letter).
        usage: Whether replies include the usage.
        refuses: Fields that get a 400, such as ``max_tokens``.
        rate: Requests per second above which it answers 429; None for no limit.
    """

    daemon_threads = True
    request_queue_size = 256

    def __init__(
        self,
        rule: Rule = plain,
        *,
        latency: float = 0.0,
        key: str = "",
        models: Sequence[str] = ("tiny",),
        plan: Sequence[str | None] = (),
        bad: Mapping[str, str] | None = None,
        share: float = 0.0,
        faults: Mapping[str, int] = FAULTS,
        seed: int = 0,
        stall: float = 2.0,
        retry_after: float = 1.0,
        context: int | None = None,
        forms: Sequence[str] = ("json_schema", "json_object", "text"),
        logprobs: Callable[[Mapping[str, Any]], Mapping[str, float]] | None = None,
        usage: bool = True,
        refuses: Sequence[str] = (),
        rate: float | None = None,
        port: int = 0,
    ) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.rule, self.latency, self.key, self.models = rule, latency, key, tuple(models)
        self.plan, self.bad = list(plan), dict(bad or {})
        self.share, self.faults, self.stall, self.retry_after = share, dict(faults), stall, retry_after
        self.context, self.forms, self.logprobs, self.usage = context, tuple(forms), logprobs, usage
        self.refuses, self.rate = tuple(refuses), rate
        self.seen: list[Seen] = []
        self.answered: Counter[str] = Counter()
        """Per last user message, how many whole answers it got."""
        self.served: Counter[str] = Counter()
        """Per fault, how often it came."""
        self.billed = (0, 0)
        """Tokens in and out of all that was generated, whether or not it arrived whole."""
        self.flying = self.most = 0
        """Requests in flight now, and at most."""
        self.connections = 0
        """How many were opened."""
        self.echo = ""
        """What faults under status 200 say besides."""
        self.lock = threading.Lock()
        self._chance = random.Random(seed)
        self._recent: list[float] = []

    @property
    def url(self) -> str:
        """URL of the server: the `base_url` of clients."""
        return f"http://127.0.0.1:{self.server_port}/v1"

    def process_request(self, request: Any, client_address: Any) -> None:
        """Count a connection, and answer what comes over it in a thread."""
        self.connections += 1
        super().process_request(request, client_address)

    def draw(self, body: Mapping[str, Any], path: str, headers: Mapping[str, str]) -> str | None:
        """Record a request, and choose its fault or None."""
        text = said(body)
        with self.lock:
            fault = next((fault for word, fault in self.bad.items() if word in text), None)
            now = time.monotonic()
            if self.rate is not None:
                self._recent = [at for at in self._recent if at > now - 1.0]
                if len(self._recent) >= self.rate:
                    fault = "429, Retry-After"
                else:
                    self._recent.append(now)
            if fault is None and self.plan:
                fault = self.plan.pop(0)
            elif fault is None and self.share and self._chance.random() < self.share:
                fault = self._chance.choices(list(self.faults), list(self.faults.values()))[0]
            if fault is not None:
                self.served[fault] += 1
            self.seen.append(Seen(now, path, headers, body, fault))
            return fault

    def bill(self, tokens_in: int, tokens_out: int) -> None:
        """Count what was generated."""
        with self.lock:
            self.billed = (self.billed[0] + tokens_in, self.billed[1] + tokens_out)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore the error: clients disconnect when a response stalls."""


@contextmanager
def serve(rule: Rule = plain, **settings: Any) -> Iterator[Server]:
    """Run a server in a thread of this process; the settings are the arguments of ``Server``."""
    with running(Server(rule, **settings)) as made:
        yield made


@contextmanager
def process(*arguments: str) -> Iterator[str]:
    """Run a server in a process of its own; the arguments are command-line options. Yields its URL."""
    command = [sys.executable, "-m", "benchmarks.loopback.openai_server", *arguments]
    root = Path(__file__).resolve().parents[2]
    child = subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    try:
        yield child.stdout.readline().strip()
    finally:
        child.terminate()
        child.wait()
        child.stdout.close()


def main() -> None:
    """Serve until stopped; the first line written is the URL."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--latency", type=float, default=0.0, help="seconds per reply")
    parser.add_argument("--model", action="append", help="name of a model; may be repeated")
    parser.add_argument("--key", default="")
    parser.add_argument("--rule", default="", help="package.module:function that answers")
    parser.add_argument("--fault-share", type=float, default=0.0)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    module, _, name = given.rule.partition(":")
    rule = getattr(importlib.import_module(module), name) if module else plain
    server = Server(
        rule,
        port=given.port,
        latency=given.latency,
        models=given.model or ("tiny",),
        key=given.key,
        share=given.fault_share,
        seed=given.seed,
    )
    print(server.url, flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
