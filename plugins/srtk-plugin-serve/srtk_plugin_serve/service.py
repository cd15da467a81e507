"""The application: routes around one session, errors as JSON, a token, metrics."""

from __future__ import annotations

import asyncio
import hmac
import logging
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from contextlib import asynccontextmanager
from http import HTTPStatus
from math import ceil
from typing import Any
from urllib.parse import SplitResult, urlsplit

import attrs
from litestar import Litestar, Request, Response
from litestar.connection import ASGIConnection
from litestar.exceptions import HTTPException, NotAuthorizedException, PermissionDeniedException
from litestar.handlers import BaseRouteHandler
from litestar.openapi import OpenAPIConfig
from litestar.openapi.plugins import JsonRenderPlugin
from litestar.types import Message, Send

from srtk_framework.host import __version__
from srtk_framework.run import Session
from srtk_framework.values import BusyError, InputError, LateError, SrtkError, redacted, shortened
from srtk_plugin_serve import chat, question_page, routes
from srtk_plugin_serve.bodies import check, schemas
from srtk_plugin_serve.gone import body_of
from srtk_plugin_serve.metrics import Metrics

_log = logging.getLogger(__name__)

LARGEST = 1_000_000
"""Bytes of a request's body; 10,000 questions of a hundred characters fit."""


@attrs.frozen
class Access:
    """Who may ask.

    Attributes:
        hosts: Names and addresses under which the service is called, at any port; a request with another ``Host`` is
            refused, so that no page of a stranger reaches a service on loopback by a name of its own, and so is one
            with another ``Origin``. Empty for any name.
        token: Text that each request must bring as a bearer token; empty for none.
    """

    hosts: tuple[str, ...] = ()
    token: str = attrs.field(default="", repr=False)


def service(
    make: Callable[[Metrics], Session], access: Access | None = None, metrics: Metrics | None = None
) -> Litestar:
    """Make the application.

    Args:
        make: Makes the session, with the metrics among its observers. The application opens it where it is not open,
            and closes it.
        access: Who may ask; by default everyone.
        metrics: Counts that the session has already.

    Returns:
        An ASGI application.
    """
    access = access or Access()
    counts = metrics or Metrics()

    @asynccontextmanager
    async def opened(app: Litestar) -> AsyncIterator[None]:
        session = make(counts)
        try:
            app.state.session, app.state.metrics = session if session.is_open else session.open(), counts
            yield
        finally:
            # The loop goes on, so that calls that were cancelled leave the queue and are answered.
            await asyncio.to_thread(session.close)

    def guard(connection: ASGIConnection[Any, Any, Any, Any], handler: BaseRouteHandler) -> None:
        if access.hosts:
            _check_origin(connection, access.hosts)
        kind = connection.headers.get("content-type", "application/json").partition(";")[0].strip().lower()
        if connection.scope.get("method") == "POST" and kind != "application/json" and not kind.endswith("+json"):
            raise HTTPException("send the body as application/json", status_code=415)
        if not access.token or handler.opt.get(routes.OPEN):
            return
        scheme, _, given = connection.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not hmac.compare_digest(given.encode(), access.token.encode()):
            raise NotAuthorizedException("send the token of the service as `Authorization: Bearer TOKEN`")

    async def checked(request: Request[Any, Any, Any]) -> None:
        if (wanted := request.route_handler.parsed_data_field) is not None:
            check(await body_of(request), wanted.annotation)

    return _Service(
        [*routes.HANDLERS, *chat.HANDLERS, *question_page.HANDLERS],
        before_request=checked,  # Litestar takes 0 for false, and "5" for 5
        lifespan=[opened],
        guards=[guard],
        exception_handlers={Exception: _failed},
        before_send=[counts.count],
        request_max_body_size=LARGEST,
        openapi_config=OpenAPIConfig(
            "srtk", __version__, path="/schema", use_handler_docstrings=True, render_plugins=[_Described()]
        ),
        logging_config=None,
    )


class _Service(Litestar):
    """An application that answers HEAD as it answers GET, without the body, and ends quietly when it is stopped."""

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http" and scope["method"] == "HEAD":
            scope, send = {**scope, "method": "GET"}, _without_body(send)
        try:
            await super().__call__(scope, receive, send)
        except asyncio.CancelledError:
            if scope["type"] != "http":
                raise
            # The last line of a stream has said so; the server would log where it was cut off.
            _log.warning("%s %s was stopped before its end", scope["method"], scope["path"])


def _without_body(send: Send) -> Send:
    async def sent(message: Message) -> None:
        if message["type"] == "http.response.body":
            message["body"] = b""
        await send(message)

    return sent


def _check_origin(connection: ASGIConnection[Any, Any, Any, Any], hosts: Collection[str]) -> None:
    """Refuse what a stranger's page may send: forms and plain texts without being asked, or all by a name of its own.

    Raises:
        PermissionDeniedException: If the request names another host, or comes from another page, or one without a name.
    """
    host = connection.headers.get("host", "").lower()
    if _split(f"//{host}").hostname not in hosts:
        raise PermissionDeniedException(f"the service is called {' or '.join(hosts)}, and not {host!r}")
    origin = connection.headers.get("origin", "").lower()
    if origin and _split(origin).netloc != host:
        raise PermissionDeniedException(f"pages of {origin} may not ask")


def _split(address: str) -> SplitResult:
    """Return the parts of an address; one that is none, as with half a bracket, has no parts."""
    try:
        return urlsplit(address)
    except ValueError:
        return urlsplit("")


def _failed(request: Request[Any, Any, Any], error: Exception) -> Response[Any]:
    """Answer with the error as JSON; an error that nobody foresaw is logged, and its text stays here."""
    status: int = 500
    headers: dict[str, str] = {}
    message = redacted(str(error))
    if isinstance(error, BusyError):
        status, headers = 503, {"Retry-After": str(max(1, ceil(error.retry_after)))}
    elif isinstance(error, LateError):
        status = 504
    elif isinstance(error, HTTPException):
        status, headers = error.status_code, dict(error.headers or {})
        message = _told(request, status, headers) if error.detail == HTTPStatus(status).phrase else error.detail
    elif isinstance(error, InputError | ValueError | TypeError | RecursionError | OverflowError):
        status = 400
    elif not isinstance(error, SrtkError):
        _log.error("%s %s failed", request.method, request.url.path, exc_info=error)
        message = f"the service failed with {type(error).__name__}; its log has more"
    body: dict[str, Any] = {"error": message}
    if request.url.path.startswith("/v1/"):  # as clients of OpenAI read it
        body = {"error": {"message": message, "type": "error", "param": None, "code": status}}
    return Response(body, status_code=status, headers=headers, media_type="application/json")


def _told(request: Request[Any, Any, Any], status: int, headers: Mapping[str, str]) -> str:
    """Return the sentence for an error of which the server says no more than the phrase of its status."""
    path = shortened(request.url.path)
    if status == HTTPStatus.NOT_FOUND:
        return f"there is nothing at {path}; /schema/openapi.json describes the routes"
    if status == HTTPStatus.METHOD_NOT_ALLOWED:
        return f"{path} takes {headers.get('allow', 'another method')}, not {request.method}"
    if status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE:
        return f"the body has more than {LARGEST:,} bytes; send less at once"
    return HTTPStatus(status).phrase


class _Described(JsonRenderPlugin):
    """Describes the bodies with their bounds, and the stream of a chat, which Litestar leaves out."""

    def render(self, request: Request[Any, Any, Any], openapi_schema: dict[str, Any]) -> bytes:
        openapi_schema["components"]["schemas"] |= schemas()
        chat = openapi_schema["paths"]["/v1/chat/completions"]["post"]["responses"]["200"]["content"]
        chat["text/event-stream"] = {}
        return super().render(request, openapi_schema)
