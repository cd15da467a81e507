"""Asks each client of a web service something while the server on loopback misbehaves, and counts what became of it.

    python -m benchmarks.reliability.hostile_servers

Each fault is tried on each client (`sparql`, `wikidata-search`, `spotlight`, `rel`, `openai`). Three things may come of
it: the right answer, where the fault takes nothing from it; an error of the one tree that names the service; anything
else is printed, and the command fails.
"""

from __future__ import annotations

import gzip
import json
import socket
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import attrs
from srtk_plugin_dbpedia.spotlight_client import ANNOTATE, SpotlightClient
from srtk_plugin_dbpedia.spotlight_client import question as spotlight_question
from srtk_plugin_openai.client import ChatClient
from srtk_plugin_openai.limits import ServerLimits
from srtk_plugin_rel.rel import RelLinker
from srtk_plugin_rel.service import Service, ServiceRequest
from srtk_plugin_sparql.client import SparqlClient
from srtk_plugin_sparql.limits import SparqlLimits
from srtk_plugin_web import Limits, RequestError
from srtk_plugin_wikidata.search_client import SearchClient
from srtk_plugin_wikidata.search_client import question as search_question

QUICK: Mapping[str, Any] = {
    "deadline": 0.6,
    "attempts": 2,
    "wait": 0.01,
    "wait_most": 0.02,
    "patience": 2.0,
    "failures": 100,
    "answer_bytes": 1 << 20,
}
LONGEST = 15.0
"""Seconds after which a client hangs; two attempts and their waits take less than three."""
QUERY = "SELECT (COUNT(*) AS ?c) WHERE { { SELECT * WHERE { ?s ?p ?o } } }"
"""A count, whose answer is one row by itself."""


@attrs.frozen
class Asker:
    """A client and something to ask.

    Attributes:
        ask: Asks the server at a URL, and returns what the client made of the answer.
        body: A right answer.
        kind: Its content type.
        nothing: Faults of the answer that say that nothing was found, and are right.
    """

    ask: Callable[[str], Any]
    body: bytes
    kind: str = "application/json"
    nothing: tuple[str, ...] = ()


def _sparql(url: str) -> Any:
    client = SparqlClient(url, "oxigraph", SparqlLimits(**QUICK), "tests/1.0")
    try:
        return client.select(QUERY, False)
    finally:
        client.close()


def _search(url: str) -> Any:
    client = SearchClient(url, Limits(**QUICK), "tests/1.0", {})
    try:
        return client.select(search_question("Riga", "en", 7), False)
    finally:
        client.close()


def _spotlight(url: str) -> Any:
    client = SpotlightClient(url, Limits(**QUICK), "tests/1.0", {})
    try:
        return client.select(spotlight_question(ANNOTATE, "Where is Riga?", {"confidence": "0.5"}), False)
    finally:
        client.close()


def _rel(url: str) -> Any:
    service = Service("REL", url, Limits(**QUICK))
    try:
        return service.ask(ServiceRequest("Where is Riga?", body={"text": "Where is Riga?"}), RelLinker()._read)
    finally:
        service.close()


def _openai(url: str) -> Any:
    client = ChatClient(url, "", 1, ServerLimits(**QUICK))
    try:
        answer = client.ask({"model": "m", "messages": [{"role": "user", "content": "Where is Riga?"}]}).answer
        if isinstance(answer, RequestError):
            raise answer
        return answer
    finally:
        client.close()


def _json(data: Any) -> bytes:
    return json.dumps(data).encode()


ASKERS: Mapping[str, Asker] = {
    "sparql": Asker(
        _sparql,
        _json({"head": {"vars": ["c"]}, "results": {"bindings": [{"c": {"type": "literal", "value": "12"}}]}}),
        "application/sparql-results+json",
    ),
    "wikidata-search": Asker(
        _search, _json({"search": [{"id": "Q1773", "label": "Riga", "match": {"type": "label", "text": "Riga"}}]})
    ),
    "spotlight": Asker(
        _spotlight,
        _json(
            {
                "@text": "Where is Riga?",
                "Resources": [
                    {
                        "@URI": "http://dbpedia.org/resource/Riga",
                        "@similarityScore": "0.99",
                        "@surfaceForm": "Riga",
                        "@offset": "9",
                    }
                ],
            }
        ),
    ),
    "rel": Asker(_rel, _json([[9, 4, "Riga", "Riga", 0.9, 0.9, "LOC"]]), nothing=("an empty list",)),
    "openai": Asker(_openai, _json({"choices": [{"message": {"content": "In Latvia."}, "finish_reason": "stop"}]})),
}

Act = Callable[[socket.socket, Asker], None]
"""What the server does after it has read a request."""


def _head(status: str = "200 OK", length: int | None = None, kind: str = "application/json", more: str = "") -> bytes:
    lines = [f"HTTP/1.1 {status}", f"Content-Type: {kind}", "Connection: close"]
    lines += [f"Content-Length: {length}"] if length is not None else []
    return ("\r\n".join(lines) + "\r\n" + more + "\r\n").encode("latin-1")


def _whole(status: str, body: bytes, kind: str = "text/plain", more: str = "") -> Act:
    return lambda sock, asker: sock.sendall(_head(status, len(body), kind, more) + body)


def _under_200(make: Callable[[bytes], bytes], more: str = "") -> Act:
    def act(sock: socket.socket, asker: Asker) -> None:
        body = make(asker.body)
        sock.sendall(_head(length=len(body), kind=asker.kind, more=more) + body)

    return act


def _raw(make: Callable[[Asker], bytes]) -> Act:
    return lambda sock, asker: sock.sendall(make(asker))


def _drip(start: Callable[[Asker], bytes], rest: Callable[[Asker], bytes]) -> Act:
    """Send a byte every tenth of a second: each comes in time, the whole does not."""

    def act(sock: socket.socket, asker: Asker) -> None:
        sock.sendall(start(asker))
        for byte in rest(asker):
            time.sleep(0.1)
            sock.sendall(bytes([byte]))

    return act


def _endless(start: Callable[[Asker], bytes], block: bytes) -> Act:
    def act(sock: socket.socket, asker: Asker) -> None:
        sock.sendall(start(asker))
        until = time.monotonic() + LONGEST
        while time.monotonic() < until:
            sock.sendall(block)

    return act


def _chunk(data: bytes) -> bytes:
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


def _stall(sock: socket.socket, asker: Asker) -> None:
    time.sleep(1.5)


def _stall_midway(sock: socket.socket, asker: Asker) -> None:
    sock.sendall(_head(length=len(asker.body), kind=asker.kind) + asker.body[:9])
    time.sleep(1.5)


def _reset(sock: socket.socket, asker: Asker) -> None:
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")


def _nothing(sock: socket.socket, asker: Asker) -> None:
    """End the connection without a word."""


_CHUNKED = "Transfer-Encoding: chunked\r\n"
_BLOCK = b"x" * 65536

TIME: Mapping[str, Act] = {
    "a stall before the answer": _stall,
    "a stall within the answer": _stall_midway,
    "a byte every 100 ms under Content-Length": _drip(
        lambda a: _head(length=len(a.body), kind=a.kind), lambda a: a.body
    ),
    "a byte every 100 ms to the end of the connection": _drip(lambda a: _head(kind=a.kind), lambda a: a.body),
    "a byte every 100 ms in chunks": _drip(
        lambda a: _head(kind=a.kind, more=_CHUNKED), lambda a: b"".join(_chunk(bytes([one])) for one in a.body)
    ),
    "a status line that drips": _drip(lambda a: b"", lambda a: _head(length=len(a.body), kind=a.kind) + a.body),
    "headers that drip": _drip(lambda a: b"HTTP/1.1 200 OK\r\n", lambda a: b"X-A: 1\r\n" * 50),
    "an error that drips": _drip(lambda a: _head("500 No", 1000), lambda a: b"no" * 500),
    "interim answers without end": _endless(lambda a: b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 100),
}
SIZE: Mapping[str, Act] = {
    "an answer of 100 GB": _endless(lambda a: _head(length=10**11, kind=a.kind), _BLOCK),
    "an answer without end": _endless(lambda a: _head(kind=a.kind), _BLOCK),
    "chunks without end": _endless(lambda a: _head(kind=a.kind, more=_CHUNKED), _chunk(_BLOCK)),
    "an error without end": _endless(lambda a: _head("500 No"), _BLOCK),
    "an error of 100 GB": _endless(lambda a: _head("400 No", 10**11), _BLOCK),
    "headers without end": _endless(lambda a: b"HTTP/1.1 200 OK\r\n", b"X-A: 1\r\n" * 1000),
    "a header without end": _endless(lambda a: b"HTTP/1.1 200 OK\r\nX-A: ", _BLOCK),
    "a gzip bomb": _raw(
        lambda a: _head(kind=a.kind, more="Content-Encoding: gzip\r\n") + gzip.compress(b" " * (1 << 26) + a.body)
    ),
    "a gzip bomb in a gzip bomb": _raw(
        lambda a: (
            _head(kind=a.kind, more="Content-Encoding: gzip, gzip\r\n")
            + gzip.compress(gzip.compress(b" " * (1 << 26) + a.body))
        )
    ),
}
PROTOCOL: Mapping[str, Act] = {
    "no answer": _nothing,
    "a reset": _reset,
    "half of the answer": _raw(lambda a: _head(length=len(a.body), kind=a.kind) + a.body[: len(a.body) // 2]),
    "half of the chunks": _raw(lambda a: _head(kind=a.kind, more=_CHUNKED) + _chunk(a.body)[: len(a.body) // 2]),
    "chunks without an end mark": _raw(lambda a: _head(kind=a.kind, more=_CHUNKED) + _chunk(a.body)),
    "a chunk whose size is no number": _raw(lambda a: _head(kind=a.kind, more=_CHUNKED) + b"zz\r\n" + a.body),
    "a chunk whose size is below zero": _raw(lambda a: _head(kind=a.kind, more=_CHUNKED) + b"-5\r\n" + a.body),
    "a status line that is none": _raw(lambda a: b"ICY 200 OK\r\n\r\n" + a.body),
    "a status that is no number": _raw(lambda a: b"HTTP/1.1 2O0 OK\r\n\r\n" + a.body),
    "a status of superscripts": _raw(lambda a: "HTTP/1.1 ²00 OK\r\n\r\n".encode("latin-1") + a.body),
    "a body without headers": _raw(lambda a: a.body),
    "noise": _raw(lambda a: bytes(range(256)) * 4),
    "a length that is no number": _raw(lambda a: _head(kind=a.kind, more="Content-Length: ²\r\n") + a.body),
    "a length below zero": _raw(lambda a: _head(kind=a.kind, more="Content-Length: -1\r\n") + a.body),
    "two lengths": _raw(lambda a: _head(length=3, kind=a.kind, more=f"Content-Length: {len(a.body)}\r\n") + a.body),
    "a length that is too small": _raw(lambda a: _head(length=len(a.body) - 3, kind=a.kind) + a.body),
    "gzip that is none": _under_200(lambda body: body, "Content-Encoding: gzip\r\n"),
    "gzip that breaks off": _under_200(lambda body: gzip.compress(body)[:-12], "Content-Encoding: gzip\r\n"),
    "an encoding that nobody knows": _under_200(lambda body: body[::-1], "Content-Encoding: x-odd\r\n"),
}
_RESTS = ("²", "1²", "-1", "soon", "1e400", "٣", "Mon, 99 Foo 9999999 99:99:99 GMT", "99999999999")
STATUS: Mapping[str, Act] = {
    **{
        f"{status}": _whole(f"{status} No", b"no")
        for status in (
            *(201, 202, 204, 206, 300, 304, 305, 306),
            *(400, 401, 402, 403, 404, 405, 406, 408, 409, 410, 413, 414, 415, 418, 421, 422, 423, 425, 429, 431, 451),
            *(500, 501, 502, 503, 504, 505, 507, 508, 511, 599, 600, 999),
        )
    },
    **{
        f"{status}, Retry-After: {rest}": _raw(
            lambda a, status=status, rest=rest: (
                f"HTTP/1.1 {status} No\r\nContent-Length: 2\r\nConnection: close\r\nRetry-After: {rest}\r\n\r\nno"
            ).encode()
        )
        for status in (429, 503)
        for rest in _RESTS
    },
    **{
        f"an error under 500: {name}": _whole("500 No", body, "application/json")
        for name, body in (("null", b"null"), ("deep", b"[" * 300_000), ("list", b"[]"), ("digits", b"1" * 9999))
    },
    **{
        f"an error under 400: {name}": _whole("400 No", body, "application/json")
        for name, body in (("null", b"null"), ("deep", b'{"error":' * 100_000), ("error is a list", b'{"error": [1]}'))
    },
}
ANSWER: Mapping[str, Act] = {
    name: _under_200(make)
    for name, make in {
        "empty": lambda body: b"",
        "blank": lambda body: b" \n ",
        "null": lambda body: b"null",
        "true": lambda body: b"true",
        "a number": lambda body: b"0",
        "a text": lambda body: b'"no"',
        "an empty list": lambda body: b"[]",
        "an empty object": lambda body: b"{}",
        "lists, deep": lambda body: b"[" * 300_000 + b"]" * 300_000,
        "objects, deep": lambda body: b'{"results":' * 100_000,
        "a number of 10,000 digits": lambda body: b"1" * 10_000,
        "NaN": lambda body: b"NaN",
        "1e999": lambda body: b"1e999",
        "every number 1e999": lambda body: body.replace(b"9", b"1e999"),
        "HTML": lambda body: b"<html><body>Please wait</body></html>",
        "words": lambda body: b"please wait",
        "bytes that are no text": lambda body: b"\xff\xfe\xfa" + body,
        "zero bytes": lambda body: b"\0" * 100,
        "the first half": lambda body: body[: len(body) // 2],
        "all but the last character": lambda body: body[:-1],
        "the answer twice": lambda body: body + body,
        "the answer after a mark of byte order": lambda body: b"\xef\xbb\xbf" + body,
        "the answer in UTF-16": lambda body: body.decode().encode("utf-16"),
        "values are null": lambda body: _replaced(body, None),
        "values are lists": lambda body: _replaced(body, []),
        "values are objects": lambda body: _replaced(body, {}),
        "values are numbers": lambda body: _replaced(body, -1.5),
        "values are booleans": lambda body: _replaced(body, True),
        "an error under 200": lambda body: b'{"error": {"message": "no", "code": "no", "info": "no"}}',
    }.items()
}


def _replaced(body: bytes, value: Any) -> bytes:
    """Put one value in the place of all texts and numbers."""

    def inner(data: Any) -> Any:
        if isinstance(data, dict):
            return {name: inner(item) for name, item in data.items()}
        if isinstance(data, list):
            return [inner(item) for item in data]
        return value

    return _json(inner(json.loads(body)))


FAULTS: Mapping[str, Mapping[str, Act]] = {
    "time": TIME,
    "size": SIZE,
    "protocol": PROTOCOL,
    "status": STATUS,
    "answer": ANSWER,
}
REDIRECTS = (301, 302, 303, 307, 308)
RIGHT, TYPED = "right answer", "typed error"


class Hostile:
    """A server on loopback that does the same to every request.

    Attributes:
        act: What it does.
        asked: Requests so far.
    """

    def __init__(self, asker: Asker, act: Act) -> None:
        self.act = act
        self.asked = 0
        self._asker = asker
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}/ask"
        threading.Thread(target=self._listen, daemon=True).start()

    def close(self) -> None:
        """Take no more requests."""
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _listen(self) -> None:
        while True:
            try:
                sock, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(sock,), daemon=True).start()

    def _serve(self, sock: socket.socket) -> None:
        with sock:
            try:
                _read_request(sock)
                self.asked += 1
                self.act(sock, self._asker)
            except OSError:
                return  # The client has had enough.


def _read_request(sock: socket.socket) -> None:
    data = b""
    while b"\r\n\r\n" not in data:
        block = sock.recv(65536)
        if not block:
            return
        data += block
    head, _, body = data.partition(b"\r\n\r\n")
    length = next((int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")), 0)
    while len(body) < length:
        body += sock.recv(65536)


@contextmanager
def hostile(asker: Asker, act: Act) -> Iterator[Hostile]:
    """Run a hostile server."""
    server = Hostile(asker, act)
    try:
        yield server
    finally:
        server.close()


def outcome(asker: Asker, url: str, right: Any) -> str:
    """Ask, and say what came of it: one of the two fine things, or words about what is wrong."""
    found: list[str] = []

    def ask() -> None:
        try:
            made = asker.ask(url)
        except RequestError as error:
            placed = error.service and str(error).startswith(error.service) and error.cause
            found.append(TYPED if placed else f"an error without a place: {error!r}")
        except Exception as error:  # noqa: BLE001 - whatever it is, it is reported
            found.append(f"{type(error).__name__}: {error}"[:200])
        else:
            found.append(RIGHT if made == right else f"another answer: {made!r}"[:200])

    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    thread.join(LONGEST)
    return found[0] if found else f"no end within {LONGEST:g} s"


def right_answer(asker: Asker) -> Any:
    """Ask a server that answers well."""
    with hostile(asker, _under_200(lambda body: body)) as server:
        return asker.ask(server.url)


def tried(name: str, kind: str) -> Iterator[tuple[str, str]]:
    """Try all faults of a kind on a client; yield each with what became of it."""
    asker = ASKERS[name]
    right = right_answer(asker)
    for fault, act in FAULTS[kind].items():
        with hostile(asker, act) as server:
            yield fault, outcome(asker, server.url, [] if fault in asker.nothing else right)


def redirected(name: str) -> Iterator[tuple[str, str]]:
    """Redirect a client to another host, another port, and in a circle; yield what became of it."""
    asker = ASKERS[name]
    right = right_answer(asker)
    for status in REDIRECTS:
        with hostile(asker, _under_200(lambda body: body)) as trap:
            places = {
                "another host": f"http://localhost:{trap.port}/ask",
                "another port": trap.url,
                "another host, without a scheme": f"//127.0.0.2:{trap.port}/",
                "a file": "file:///etc/passwd",
                "no address": "http://[",
                "itself": "/ask",
            }
            for place, url in places.items():
                with hostile(asker, _whole(f"{status} Go", b"", more=f"Location: {url}\r\n")) as server:
                    came = outcome(asker, server.url, right)
                if trap.asked:
                    came = "the request went to another place"
                yield f"{status} to {place}", came


def main() -> int:
    """Try everything, and print the counts."""
    bad: list[str] = []
    print("| client | faults | faults tried | right answer | typed error |")
    print("| --- | --- | --: | --: | --: |")
    for name in ASKERS:
        for kind in (*FAULTS, "redirect"):
            counts: Counter[str] = Counter()
            for fault, came in redirected(name) if kind == "redirect" else tried(name, kind):
                counts[came] += 1
                if came not in (RIGHT, TYPED):
                    bad.append(f"{name}: {fault}: {came}")
            print(f"| {name} | {kind} | {counts.total()} | {counts[RIGHT]} | {counts[TYPED]} |", flush=True)
    print("\n".join(bad))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
