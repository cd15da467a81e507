"""HTTP over pooled connections: one deadline for a whole request, limited sizes, redirects within a host.

This module alone imports urllib3. Its own timeouts count from one received byte to the next, so that a server that
sends a byte a second never runs into them. Here the socket itself knows until when it may be read.
"""

from __future__ import annotations

import io
import socket
import threading
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import SplitResult, urljoin, urlsplit
from urllib.request import getproxies, proxy_bypass

import urllib3
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.util.connection import create_connection

from srtk_plugin_web.faults import (
    DeadlineError,
    DeniedError,
    OversizeError,
    PartialError,
    UnreachableError,
)
from srtk_plugin_web.messages import Request, Response

_CONNECT = 15.0  # Seconds; a host that does not answer by then is down, whatever the deadline
_BLOCK = 1 << 16
_ERROR_BYTES = 1 << 16  # Of an error's body so much is read and shown at most; the rest is not worth the time
_HOPS = 5
_PORTS = {"http": 80, "https": 443}
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


class _TimedReader(io.RawIOBase):
    """Raw bytes of a socket, until its deadline."""

    def __init__(self, sock: _TimedSocket) -> None:
        self._timed = sock
        self._raw = sock.sock.makefile("rb", buffering=0)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        self._timed.arm()
        return self._raw.readinto(buffer) or 0

    def close(self) -> None:
        self._raw.close()
        super().close()


class _TimedSocket:
    """A socket whose operations all end at one moment of the monotonic clock, ``until``."""

    def __init__(self, sock: socket.socket, until: float) -> None:
        self.sock = sock
        self.until = until
        self._unsent = bytearray()
        self._reader: io.BufferedReader | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self.sock, name)

    def arm(self) -> None:
        left = self.until - time.monotonic()
        if left <= 0:
            raise TimeoutError("the deadline of the request has passed")
        self.sock.settimeout(left)

    def sendall(self, data: Any) -> None:
        # Headers and a short body go in one packet.
        self._unsent += data
        if len(self._unsent) > _BLOCK:
            self._flush()

    def _flush(self) -> None:
        unsent, self._unsent = bytes(self._unsent), bytearray()
        self.arm()
        self.sock.sendall(unsent)

    def makefile(self, mode: str = "rb", *_: Any, **__: Any) -> io.BufferedReader:
        self._flush()
        self._reader = io.BufferedReader(_TimedReader(self))
        return self._reader

    def drop(self) -> None:
        """Close the socket and its reader, which alone would keep it open."""
        if self._reader is not None:
            self._reader.close()
        self.sock.close()


class _Current(threading.local):
    """The request of this thread: until when it may last, and the socket that it uses."""

    until = float("inf")
    sock: _TimedSocket | None = None


_current = _Current()


class _Timed(HTTPConnection):
    """A connection that keeps the deadline of the thread that uses it."""

    sock: Any

    def connect(self) -> None:
        super().connect()
        self.sock = _current.sock = _TimedSocket(self.sock, _current.until)

    def _new_conn(self) -> socket.socket:
        """Connect to the first address that answers; all of them, and a TLS handshake, share one timeout."""
        until = time.monotonic() + float(self.timeout or _CONNECT)
        failed: OSError | None = None
        try:
            found = socket.getaddrinfo(self._dns_host, self.port, type=socket.SOCK_STREAM)
        except socket.gaierror as error:
            raise urllib3.exceptions.NameResolutionError(self.host, self, error) from error
        for *_, address in found:
            left = until - time.monotonic()
            if left <= 0:
                break
            try:
                sock = create_connection((str(address[0]), self.port), left, socket_options=self.socket_options)
            except OSError as error:
                failed = error
                continue
            # A TLS handshake that follows has what is left of the same time.
            sock.settimeout(max(until - time.monotonic(), 0.001))
            return sock
        if failed is None or isinstance(failed, TimeoutError):
            raise urllib3.exceptions.ConnectTimeoutError(self, f"no connection to {self.host} in time") from failed
        raise urllib3.exceptions.NewConnectionError(self, str(failed)) from failed

    def request(self, *args: Any, **kwargs: Any) -> None:
        if self.sock is not None:
            self.sock.until = _current.until
            _current.sock = self.sock
        super().request(*args, **kwargs)


class _TimedTls(_Timed, HTTPSConnection):
    """The same over TLS."""


class _Pool(urllib3.HTTPConnectionPool):
    ConnectionCls = _Timed


class _TlsPool(urllib3.HTTPSConnectionPool):
    ConnectionCls = _TimedTls


class Transport:
    """Connections to the host of one address, usable from several threads.

    The proxies that the environment names for the address are used, except on loopback. The largest answer is
    counted after decompression.
    """

    def __init__(self, address: str, at_once: int, answer_bytes: int) -> None:
        place = urlsplit(address)
        host = place.hostname or ""
        self._answer_bytes = answer_bytes
        options: dict[str, Any] = {"num_pools": 2, "maxsize": at_once, "retries": False}
        proxy = None
        if host not in _LOOPBACK and not proxy_bypass(host):
            proxy = getproxies().get(place.scheme)
        self._manager: urllib3.PoolManager
        if proxy is None:
            self._manager = urllib3.PoolManager(**options)
        else:
            login = urllib3.util.parse_url(proxy).auth
            headers = urllib3.make_headers(proxy_basic_auth=login) if login else None
            self._manager = urllib3.ProxyManager(proxy, proxy_headers=headers, **options)
        self._manager.pool_classes_by_scheme = {"http": _Pool, "https": _TlsPool}

    def close(self) -> None:
        """Close the connections that no request uses."""
        self._manager.clear()

    def send(self, request: Request, headers: Mapping[str, str], seconds: float) -> Response:
        """Send a request and read the whole response, redirects included.

        A redirect is followed where it stays on the host and port, does not leave https, and keeps method and body;
        else it is returned. The deadline holds from connecting to the last byte.

        Raises:
            RequestError: If there is no whole response in time. Of a response whose status is an error, the part of
                the body that came is enough.
        """
        until = time.monotonic() + seconds
        url = request.url
        for _ in range(_HOPS):
            response = self._exchange(request, url, headers, until, seconds)
            target = _redirect(request.method, url, response)
            if target is None:
                return response
            url = target
        raise DeniedError(f"it redirects more than {_HOPS} times; correct the address")

    def _exchange(
        self, request: Request, url: str, headers: Mapping[str, str], until: float, seconds: float
    ) -> Response:
        late = f"no whole answer within {seconds:.3g} s"
        left = until - time.monotonic()
        if left <= 0:
            raise DeadlineError(late)
        try:
            response = self._open(request, url, headers, until, left)
        except urllib3.exceptions.ConnectTimeoutError as error:
            raise UnreachableError("no connection in time; is it up?") from error
        except urllib3.exceptions.TimeoutError as error:
            raise DeadlineError(late) from error
        except urllib3.exceptions.SSLError as error:
            raise DeniedError(f"no secure connection ({error})") from error
        except urllib3.exceptions.HTTPError as error:
            if time.monotonic() >= until:
                raise DeadlineError(late) from error
            raise UnreachableError(f"no connection, or it was reset ({error}); is it up?") from error
        received = {name.lower(): value for name, value in response.headers.items()}
        try:
            body = self._body(response, until, late)
        except BaseException:
            response.close()
            raise
        return Response(response.status, received, body)

    def _open(
        self, request: Request, url: str, headers: Mapping[str, str], until: float, left: float
    ) -> urllib3.BaseHTTPResponse:
        """Send a request and read the head of its response; where that fails, no socket stays open."""
        _current.until, _current.sock = until, None
        try:
            return self._manager.urlopen(
                request.method,
                url,
                body=request.body,
                headers=headers,
                timeout=urllib3.Timeout(total=left, connect=min(_CONNECT, left)),
                preload_content=False,
                redirect=False,
            )
        except BaseException:
            # Of a head that it cannot make sense of, urllib3 forgets the connection, but not the file that reads it.
            if _current.sock is not None:
                _current.sock.drop()
            raise
        finally:
            _current.sock = None

    def _body(self, response: urllib3.BaseHTTPResponse, until: float, late: str) -> bytes:
        """Read a body in time and up to the largest size."""
        fine = 200 <= response.status < 300
        largest = self._answer_bytes if fine else _ERROR_BYTES
        blocks: list[bytes] = []
        size = 0
        while True:
            try:
                # What has come is taken at once, so that the deadline is checked after each part.
                block = response.read1(_BLOCK)
            except urllib3.exceptions.HTTPError as error:
                if not fine:
                    # The status says that it failed; a message about it that breaks off changes nothing.
                    response.close()
                    break
                if isinstance(error, urllib3.exceptions.ReadTimeoutError):
                    raise DeadlineError(late) from error
                raise PartialError(f"the answer breaks off ({error})") from error
            if not block:
                response.release_conn()
                break
            blocks.append(block)
            size += len(block)
            if size > largest or time.monotonic() > until:
                if not fine:
                    response.close()
                    break
                if size > largest:
                    raise OversizeError(f"the answer is larger than {largest:,} bytes; raise `limits.answer_bytes`")
                raise DeadlineError(late)
        return b"".join(blocks)[:largest]


def _redirect(method: str, url: str, response: Response) -> str | None:
    """Return the URL that a response redirects to, if it may be followed."""
    place = response.headers.get("location")
    kept = response.status in (307, 308) or (method in ("GET", "HEAD") and response.status in (301, 302, 303))
    if place is None or not kept:
        return None
    try:
        here, there = urlsplit(url), urlsplit(urljoin(url, place))
        moved = (_origin(here), _origin(there))
    except ValueError:
        return None
    if there.username is not None or here.hostname != there.hostname:
        return None
    secured = (here.scheme, there.scheme) == ("http", "https") and (moved[0][1], moved[1][1]) == (80, 443)
    return there.geturl() if moved[0] == moved[1] or secured else None


def _origin(place: SplitResult) -> tuple[str, int | None]:
    return place.scheme, place.port or _PORTS.get(place.scheme)
