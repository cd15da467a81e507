"""Replies of the server on loopback, and what a client is asked."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from typing import Any

from srtk_plugin_web import Client, Request, checked

Make = Callable[..., Client]


def said(body: bytes, status: str = "200 OK", *headers: str) -> bytes:
    """Write a response."""
    lines = [f"HTTP/1.1 {status}", "Content-Type: application/json", f"Content-Length: {len(body)}", *headers]
    return "\r\n".join([*lines, "", ""]).encode() + body


def data(client: Client, **request: Any) -> Any:
    return client.ask(Request(client.url, **request), lambda response: checked(response).json())


def drip(start: bytes, part: bytes) -> Callable[[socket.socket], None]:
    """Send a part of a response every 50 ms, for ten seconds."""

    def write(sock: socket.socket) -> None:
        sock.sendall(start)
        for _ in range(200):
            sock.sendall(part)
            time.sleep(0.05)

    return write


def flood(server: Any, start: bytes, block: bytes, most: int) -> Callable[[socket.socket], None]:
    """Send blocks as fast as they are taken, and count them."""

    def write(sock: socket.socket) -> None:
        sock.sendall(start)
        while server.written < most:
            sock.sendall(block)
            server.written += len(block)

    return write
