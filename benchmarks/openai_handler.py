"""Speaks the OpenAI chat protocol over HTTP for the loopback server, and breaks it where a fault says so."""

from __future__ import annotations

import json
import math
import socket
import struct
import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING, Any

from openai_forms import PERMANENT, body_of, events_of, said, tokens_of

if TYPE_CHECKING:
    from openai_server import Server


class Handler(BaseHTTPRequestHandler):
    """Reads one request after the other from a connection, and answers each as the server says."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1
    server: Server

    def log_message(self, *_: Any) -> None:
        """Say nothing."""

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
            told = {"Retry-After": {"Retry-After": f"{seconds:g}"}, "date": {"Retry-After": moment},
                    "ms": {"retry-after-ms": f"{seconds * 1000:g}"}}  # fmt: skip
            self._refuse(int(fault[:3]), "try again", None, None, told.get(fault.partition(", ")[2], {}))
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
        told = {"prompt_tokens": tokens, "completion_tokens": len(pieces), "total_tokens": tokens + len(pieces)}
        usage = told if server.usage else None
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
        told = sorted(self.server.logprobs(body).items(), key=lambda pair: (-pair[1], pair[0]))
        told = told[: body.get("top_logprobs", 0)]
        top = [{"token": token, "logprob": value, "bytes": None} for token, value in told]
        return {"content": [{**top[0], "top_logprobs": top}], "refusal": None}

    def _whole(self, data: bytes, fault: str | None) -> bool:
        """Send an answer in one piece, as far as the fault lets it; tell whether it is whole."""
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
        """Send an answer as server-sent events; tell whether it is whole."""
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
