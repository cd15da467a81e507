"""A service on loopback that links by a word list, speaks REL, TagMe or WAT, and misbehaves as planned."""

from __future__ import annotations

import html
import json
import re
import threading
import time
import unicodedata
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from srtk_plugin_rel.index_builder import build
from srtk_plugin_web import Limits

NAMES = {
    "Hakata Ward": ("Hakata-ku,_Fukuoka", 1001),
    "Riga": ("Riga", 25508),
    "日本国": ("Japan", 15573),
    "ירושלים": ("Jerusalem", 16043),
    "AC/DC": ("AC%2FDC", 44),
    "iPod": ("iPod", 77),
    "Nowhere": ("Nowhere_Land", 999999),
}
QUICK = Limits(per_second=None, wait=0.01, wait_most=0.02, deadline=5.0, patience=20.0, attempts=3)


class Service:
    """One service.

    Attributes:
        form: ``rel-lists``, ``rel-objects``, ``tagme`` or ``wat``.
        count: What a text counts up to an offset: ``characters``, ``utf16``, ``bytes``, ``nfc``.
        token: Which token it wants, if any.
        plan: Faults of the next requests, in order; each a function that answers in place of the service, or None.
        bad: Texts that are always answered by 500.
        seen: (method, path, headers, text) of each request.
        most: Most requests that were in flight at once.
    """

    def __init__(self, form: str) -> None:
        self.form = form
        self.count = "characters"
        self.token = ""
        self.plan: list[Callable[[BaseHTTPRequestHandler], None] | None] = []
        self.bad: set[str] = set()
        self.seen: list[tuple[str, str, dict[str, str], str]] = []
        self.moments: list[float] = []
        self.most = self.flying = 0
        self.slow = 0.0
        self.lock = threading.Lock()
        service = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_GET(self) -> None:
                service.handle(self, b"")

            def do_POST(self) -> None:
                service.handle(self, self.rfile.read(int(self.headers["Content-Length"])))

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}/tag"
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()

    def handle(self, handler: BaseHTTPRequestHandler, body: bytes) -> None:
        with self.lock:
            self.flying += 1
            self.most = max(self.most, self.flying)
        try:
            self.answer(handler, body)
        except BrokenPipeError:
            handler.close_connection = True
        finally:
            with self.lock:
                self.flying -= 1

    def answer(self, handler: BaseHTTPRequestHandler, body: bytes) -> None:
        headers = dict(handler.headers.items())
        fields = parse_qs(urlsplit(handler.path).query) | parse_qs(body.decode() if self.form == "tagme" else "")
        text = json.loads(body)["text"] if self.form.startswith("rel") else fields.get("text", [""])[0]
        token = headers.get("gcube-token", fields.get("gcube-token", [""])[0])
        with self.lock:
            self.seen.append((handler.command, handler.path, headers, text))
            self.moments.append(time.monotonic())
            fault = self.plan.pop(0) if self.plan else None
        time.sleep(self.slow)
        if self.token and token != self.token:
            send(handler, 401, f"<h1>Unauthorized</h1> invalid token {token}", "text/html")
        elif text in self.bad:
            send(handler, 500, "it broke")
        elif fault is not None:
            fault(handler)
        else:
            send(handler, 200, json.dumps(self.links(text), ensure_ascii=False))

    def size(self, text: str) -> int:
        if self.count == "bytes":
            return len(text.encode())
        if self.count == "utf16":
            return len(text.encode("utf-16-le")) // 2
        if self.count == "nfc":
            return len(unicodedata.normalize("NFC", text))
        return len(html.unescape(text)) if self.count == "unescaped" else len(text)

    def links(self, text: str) -> Any:
        pattern = "|".join(map(re.escape, NAMES))
        found = [(self.size(text[: m.start()]), self.size(text[: m.end()]), m[0]) for m in re.finditer(pattern, text)]
        if self.form == "rel-lists":
            return [[s, e - s, n, NAMES[n][0], 0.75, 0.9, "LOC"] for s, e, n in found]
        if self.form == "rel-objects":
            return [
                {"start_pos": s, "mention_length": e - s, "mention": n, "prediction": NAMES[n][0], "conf_ed": 0.75,
                 "conf_md": 0.9, "tag": "LOC", "candidates": [NAMES[n][0], "Riga_(Michigan)", "Riga_Black_Balsam"],
                 "scores": [0.75, 0.1, 0.2]}
                for s, e, n in found
            ]  # fmt: skip
        annotations = [
            {"spot": n, "start": s, "end": e, "rho": 0.75, "link_probability": 0.4, "id": NAMES[n][1],
             "title": NAMES[n][0].replace("_", " ") if self.form == "tagme" else NAMES[n][0]}
            for s, e, n in found
        ]  # fmt: skip
        return {"annotations": annotations, "lang": "en", "time": 3, "timestamp": "2024-01-01T00:00:00"}


def send(
    handler: BaseHTTPRequestHandler, status: int, body: str, kind: str = "application/json", **headers: str
) -> None:
    data = body.encode()
    handler.send_response(status)
    handler.send_header("Content-Type", kind)
    handler.send_header("Content-Length", str(len(data)))
    for name, value in headers.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.end_headers()
    handler.wfile.write(data)


@pytest.fixture(scope="session")
def reply() -> Callable[..., Callable[[BaseHTTPRequestHandler], None]]:
    """Return what makes a fault of a status, a body and headers."""

    def make(status: int, body: str = "", kind: str = "application/json", **headers: str) -> Any:
        return lambda handler: send(handler, status, body, kind, **headers)

    return make


@pytest.fixture
def service() -> Iterator[Callable[[str], Service]]:
    """Return what starts services, by their form."""
    started: list[Service] = []

    def start(form: str) -> Service:
        started.append(Service(form))
        return started[-1]

    yield start
    for one in started:
        one.close()


@pytest.fixture(scope="session")
def quick() -> Limits:
    """Return limits for services on loopback."""
    return QUICK


@pytest.fixture
def index(tmp_path: Path) -> Path:
    """Return an index of the titles that the services give."""
    titles = {"Hakata-ku,_Fukuoka": "Q1330839", "Riga": "Q1773", "Japan": "Q17", "AC/DC": "Q27593", "IPod": "Q9479"}
    table = tmp_path / "titles.tsv"
    table.write_text("".join(f"{title}\t{id_}\n" for title, id_ in titles.items()), encoding="utf-8")
    build([table], [], tmp_path / "index.db", force=False)
    return tmp_path / "index.db"
